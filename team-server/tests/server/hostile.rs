//! What nobody honest sends.

use crate::bed::{API, Bed, Kind, body};
use crate::on_both;

const REPO: &str = "acme/app";
const FIRST: &[(&str, &str)] = &[("if-none-match", "*")];

on_both!(
    keys_that_are_a_danger_somewhere_are_refused,
    keys_must_fit_beside_all_others,
    bodies_that_are_not_what_they_should_be_are_refused,
    names_that_come_twice_are_refused,
    secrets_are_refused_and_shown_nowhere,
    too_many_headers_are_refused,
);

/// Put together here, so that no scanner takes this file for a leak.
pub fn secret() -> String {
    format!("ghp_{}", "x7Kq2mP9vL4nR8tW1yB5cD3fG6hJ0sA2eU4z")
}

async fn keys_that_are_a_danger_somewhere_are_refused(kind: Kind) {
    let bed = Bed::new(kind).await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    let long = "a".repeat(1_025);
    let keys = [
        ("", "path-empty"),
        ("a\0.md", "path-nul"),
        (&long, "key-too-long"),
        ("../a.md", "key-traversal"),
        ("a/./b.md", "key-traversal"),
        ("a//b.md", "key-traversal"),
        ("/etc/passwd", "key-absolute"),
        ("C:/a.md", "key-absolute"),
        ("a\\b.md", "key-separator"),
        ("a%2e%2e%2fb.md", "key-encoded"),
        ("%252e%252e%252fb.md", "key-encoded"),
        ("a\u{FF0F}b.md", "key-lookalike"),
        ("\u{FF0E}\u{FF0E}/a.md", "key-lookalike"),
        ("a\u{202E}b.md", "key-character"),
        ("a\nb.md", "key-character"),
        ("a?.md", "key-character"),
        ("e\u{301}.md", "key-normal-form"),
        ("a./b.md", "key-ending"),
        ("con.md", "key-reserved"),
        (".git/config", "key-reserved"),
        (".memdir/team.json", "key-own"),
        ("memory.md", "key-twin"),
    ];
    for (key, rule) in keys {
        let refused = ada.put(REPO, FIRST, &[("good.md", "a"), (key, "b")]).await;
        refused.is(422, "invalid-key");
        let details = &refused.json()["error"]["details"];
        assert_eq!(
            (&details["rule"], &details["key"]),
            (&rule.into(), &key.into())
        );
        assert_eq!(details["error_code"], "team_memory_invalid_key");
    }
    ada.pull(REPO).await.is(404, "no-data");
}

async fn keys_must_fit_beside_all_others(kind: Kind) {
    let bed = Bed::new(kind).await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    ada.put(REPO, FIRST, &[("a/b.md", "a"), ("Straße.md", "s")])
        .await
        .is(200, "");
    for key in ["A/b.md", "a", "a/B.md", "a/b.md/c.md", "STRASSE.md"] {
        let refused = ada.force(REPO, &[("fine.md", "x"), (key, "x")]).await;
        refused.is(422, "invalid-key");
        assert_eq!(
            refused.json()["error"]["details"]["rule"],
            "key-twin",
            "{key}"
        );
    }
    // Two of one upload, too.
    ada.force(REPO, &[("x/a.md", "1"), ("X/b.md", "2")])
        .await
        .is(422, "invalid-key");
    let all = ada.pull(REPO).await.json();
    assert_eq!(
        (
            all["content"]["entries"].as_object().unwrap().len(),
            &all["version"]
        ),
        (2, &1.into())
    );
    // A refusal leaves nothing behind that would stand in the way.
    ada.force(REPO, &[("X/b.md", "2"), ("fine.md", "x")])
        .await
        .is(200, "");
}

async fn bodies_that_are_not_what_they_should_be_are_refused(kind: Kind) {
    let bed = Bed::new(kind).await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    let bodies: [&[u8]; 19] = [
        b"",
        b"null",
        b"[]",
        b"7",
        b"{}",
        b"{\"entries\":null}",
        b"{\"entries\":[]}",
        b"{\"entries\":\"hunter2\"}",
        b"{\"entries\":{\"a.md\":null}}",
        b"{\"entries\":{\"a.md\":7}}",
        b"{\"entries\":{\"a.md\":[\"hunter2\"]}}",
        b"{\"entries\":{\"a.md\":{}}}",
        b"{\"entries\":{\"a.md\":\"x\"}",
        b"{\"entries\":{\"a.md\":\"hunter2",
        b"{\"entries\":{\"a.md\":\"x\"}} {}",
        b"{\"entries\":{\"a.md\":\"\xFF\xFE\"}}",
        b"{\"entries\":{\"\xC3(.md\":\"x\"}}",
        b"{\"entries\":{\"a.md\":\"\\ud800\"}}",
        b"{\"entries\":{\"a.md\":\"\x01\"}}",
    ];
    for body in bodies {
        let refused = ada.put_body(REPO, FIRST, body.to_vec()).await;
        refused.is(400, "invalid-request");
        // Where it is wrong, not what is there.
        assert!(!refused.text.contains("hunter2"), "{}", refused.text);
    }
    ada.pull(REPO).await.is(404, "no-data");
    // What a newer client may say besides is no mistake.
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let more = format!(r#"{{"note":{deep},"entries":{{"a.md":"x"}}}}"#);
    ada.put_body(REPO, FIRST, more).await.is(200, "");
}

async fn names_that_come_twice_are_refused(kind: Kind) {
    let bed = Bed::new(kind).await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    for body in [
        r#"{"entries":{"a.md":"one","a.md":"two"}}"#,
        r#"{"entries":{"a.md":"one","\u0061.md":"one"}}"#,
        r#"{"entries":{"a.md":"one"},"entries":{"b.md":"two"}}"#,
        r#"{"entries":{},"\u0065ntries":{}}"#,
    ] {
        let refused = ada.put_body(REPO, FIRST, body).await;
        refused.is(400, "invalid-request");
        assert!(refused.text.contains("twice"), "{}", refused.text);
    }
    ada.pull(REPO).await.is(404, "no-data");
}

async fn secrets_are_refused_and_shown_nowhere(kind: Kind) {
    let bed = Bed::new(kind).await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    let secret = secret();
    let content = format!("first\nsecond {secret}\n");
    let refused = ada
        .put(REPO, FIRST, &[("a.md", "a"), ("b.md", &content)])
        .await;
    refused.is(422, "secrets-found");
    assert!(!refused.text.contains(&secret), "{}", refused.text);
    let details = &refused.json()["error"]["details"];
    assert_eq!(details["error_code"], "team_memory_secrets_found");
    let found = &details["secrets"][0];
    assert_eq!(
        (&found["key"], &found["rule"], &found["line"]),
        (&"b.md".into(), &"github-pat".into(), &2.into())
    );
    assert_eq!(details["secrets"].as_array().unwrap().len(), 1);

    // In a key, and with a key that would be refused for itself and named.
    for key in [format!("notes/{secret}.md"), format!("../{secret}.md")] {
        let refused = ada.put(REPO, FIRST, &[(&key, &content)]).await;
        refused.is(422, "secrets-found");
        assert!(!refused.text.contains(&secret), "{}", refused.text);
        let secrets = &refused.json()["error"]["details"]["secrets"];
        assert_eq!(
            (
                secrets.as_array().unwrap().len(),
                secrets[0]["key"].is_null()
            ),
            (2, true)
        );
    }
    ada.pull(REPO).await.is(404, "no-data");
    let many: Vec<_> = (0..200)
        .map(|number| (format!("{number}.md"), content.as_str()))
        .collect();
    let many: Vec<_> = many
        .iter()
        .map(|(key, content)| (key.as_str(), *content))
        .collect();
    let refused = ada.put(REPO, FIRST, &many).await;
    assert_eq!(
        refused.json()["error"]["details"]["secrets"]
            .as_array()
            .unwrap()
            .len(),
        50
    );
}

async fn too_many_headers_are_refused(kind: Kind) {
    let bed = Bed::new(kind).await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    let path = format!("{API}?repo={REPO}");
    let names: Vec<String> = (0..150).map(|number| format!("x-flood-{number}")).collect();
    let many: Vec<_> = names.iter().map(|name| (name.as_str(), "x")).collect();
    ada.send("GET", &path, &many, "")
        .await
        .is(431, "headers-too-large");
    let long = "x".repeat(40_000);
    ada.send("GET", &path, &[("x-flood", &long)], "")
        .await
        .is(431, "headers-too-large");
    ada.send("PUT", &path, &many, body(&[("a.md", "a")]))
        .await
        .is(431, "headers-too-large");
    ada.pull(REPO).await.is(404, "no-data");
}
