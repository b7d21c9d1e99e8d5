//! The three requests of the clients, and what they promise each other.

use memdir_core::team::checksum;

use crate::bed::{API, Bed, Kind};
use crate::on_both;

const REPO: &str = "acme/app";
const FIRST: &[(&str, &str)] = &[("if-none-match", "*")];

on_both!(
    what_is_uploaded_is_pulled,
    a_version_is_replaced_by_who_knows_it,
    without_a_condition_only_the_first_upload_is_taken,
    the_version_follows_from_the_contents_alone,
    the_same_again_is_no_new_version,
    every_text_comes_back_as_it_was,
    repositories_know_nothing_of_each_other,
    a_restart_changes_nothing,
);

async fn what_is_uploaded_is_pulled(kind: Kind) {
    let bed = Bed::new(kind).await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    ada.pull(REPO).await.is(404, "no-data");
    ada.hashes(REPO).await.is(404, "no-data");

    let stored = ada
        .put(REPO, FIRST, &[("a.md", "a\n"), ("b/c.md", "c\n")])
        .await;
    stored.is(200, "");
    let version = stored.json()["checksum"].as_str().unwrap().to_owned();
    assert_eq!(stored.header("etag"), format!("\"{version}\""));
    assert_eq!(
        stored.json().as_object().unwrap().len(),
        2,
        "checksum and lastModified"
    );

    let all = ada.pull(REPO).await;
    all.is(200, "");
    assert_eq!(all.header("etag"), format!("\"{version}\""));
    assert_eq!(all.header("cache-control"), "private, no-cache");
    let all = all.json();
    assert_eq!(all["organizationId"], "acme");
    assert_eq!(all["repo"], REPO);
    assert_eq!(all["version"], 1);
    assert_eq!(all["checksum"], version);
    assert_eq!(all["lastModified"], stored.json()["lastModified"]);
    let modified = all["lastModified"].as_str().unwrap();
    assert!(
        modified.ends_with('Z') && modified.contains('T'),
        "{modified}"
    );
    let entries = serde_json::json!({ "a.md": "a\n", "b/c.md": "c\n" });
    assert_eq!(all["content"]["entries"], entries);
    let sums = serde_json::json!({ "a.md": checksum("a\n"), "b/c.md": checksum("c\n") });
    assert_eq!(all["content"]["entryChecksums"], sums);

    let hashes = ada.hashes(REPO).await;
    hashes.is(200, "");
    let expected = serde_json::json!({ "version": 1, "checksum": version, "entryChecksums": sums });
    assert_eq!(hashes.json(), expected);

    for known in [format!("\"{version}\""), format!("W/\"{version}\", \"x\"")] {
        for view in ["", "&view=hashes"] {
            let path = format!("{API}?repo={REPO}{view}");
            let same = ada
                .send("GET", &path, &[("if-none-match", &known)], "")
                .await;
            same.is(304, "");
            assert_eq!(same.text, "");
            assert_eq!(same.header("etag"), format!("\"{version}\""));
        }
    }
    let path = format!("{API}?repo={REPO}");
    ada.send("GET", &path, &[("if-none-match", "\"other\"")], "")
        .await
        .is(200, "");
    ada.send("GET", &path, &[("if-none-match", "other")], "")
        .await
        .is(400, "invalid-request");
    ada.send("GET", &format!("{path}&view=all"), &[], "")
        .await
        .is(400, "invalid-request");
    let head = ada
        .send("GET", &format!("{path}&repo=acme/app"), &[], "")
        .await;
    head.is(400, "invalid-request");
}

async fn a_version_is_replaced_by_who_knows_it(kind: Kind) {
    let bed = Bed::new(kind).await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    ada.put(REPO, &[("if-match", "\"x\"")], &[("a.md", "a")])
        .await
        .is(412, "outdated");
    ada.put(REPO, &[("if-match", "*")], &[("a.md", "a")])
        .await
        .is(412, "outdated");
    ada.pull(REPO).await.is(404, "no-data");

    let first = ada.put(REPO, FIRST, &[("a.md", "a"), ("b.md", "b")]).await;
    let first = first.header("etag").to_owned();
    ada.put(REPO, FIRST, &[("c.md", "c")])
        .await
        .is(412, "outdated");
    let second = ada
        .put(REPO, &[("if-match", &first)], &[("a.md", "new")])
        .await;
    second.is(200, "");
    // What was not named stays.
    let all = ada.pull(REPO).await.json();
    let entries = serde_json::json!({ "a.md": "new", "b.md": "b" });
    assert_eq!(
        (&all["content"]["entries"], &all["version"]),
        (&entries, &2.into())
    );

    let late = ada
        .put(REPO, &[("if-match", &first)], &[("a.md", "late")])
        .await;
    late.is(412, "outdated");
    assert_eq!(
        late.header("etag"),
        second.header("etag"),
        "what is there instead"
    );
    assert_eq!(ada.pull(REPO).await.json(), all);

    let both = [("if-match", first.as_str()), ("if-none-match", "*")];
    ada.put(REPO, &both, &[("a.md", "x")])
        .await
        .is(400, "invalid-request");
    ada.put(REPO, &[("if-match", "unquoted")], &[("a.md", "x")])
        .await
        .is(400, "invalid-request");
    ada.put(REPO, &[("if-match", "*")], &[("a.md", "x")])
        .await
        .is(200, "");
}

async fn without_a_condition_only_the_first_upload_is_taken(kind: Kind) {
    let bed = Bed::new(kind).await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    ada.put(REPO, &[], &[("a.md", "a")]).await.is(200, "");
    let second = ada.put(REPO, &[], &[("a.md", "b")]).await;
    second.is(412, "condition-missing");
    assert_eq!(
        ada.pull(REPO).await.json()["content"]["entries"]["a.md"],
        "a"
    );
}

async fn the_version_follows_from_the_contents_alone(kind: Kind) {
    let bed = Bed::new(kind).await;
    let ada = bed.user("ada", &["write acme/*"]).await;
    let keys = ["a.md", "B.md", "ä/ö.md", "a/b.md", "a.txt", "z\u{1F600}.md"];
    for key in keys {
        ada.force("acme/one", &[(key, key)]).await.is(200, "");
    }
    let all: Vec<_> = keys.iter().rev().map(|key| (*key, *key)).collect();
    let two = ada.put("acme/two", FIRST, &all).await;
    assert_eq!(
        ada.pull("acme/one").await.header("etag"),
        two.header("etag")
    );
    // The rule, so that it does not change unnoticed between versions of the server.
    let mut sorted = keys.to_vec();
    sorted.sort_unstable();
    let pairs: String = sorted
        .iter()
        .map(|key| format!("{key}\0{}\n", checksum(key)))
        .collect();
    assert_eq!(two.json()["checksum"], checksum(&pairs));
    // Back to what it was is the version that it was.
    ada.force("acme/two", &[("a.md", "other")])
        .await
        .is(200, "");
    let back = ada.force("acme/two", &[("a.md", "a.md")]).await;
    assert_eq!(back.header("etag"), two.header("etag"));
    assert_eq!(ada.hashes("acme/two").await.json()["version"], 3);
}

async fn the_same_again_is_no_new_version(kind: Kind) {
    let bed = Bed::new(kind).await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    let first = ada.put(REPO, FIRST, &[("a.md", "a")]).await;
    let again = ada.force(REPO, &[("a.md", "a")]).await;
    assert_eq!(again.json(), first.json());
    ada.force(REPO, &[]).await.is(200, "");
    assert_eq!(ada.pull(REPO).await.json()["version"], 1);
    // Nothing at all is something once it was uploaded.
    let bob = bed.user("bob", &["write acme/empty"]).await;
    bob.put("acme/empty", FIRST, &[]).await.is(200, "");
    let empty = bob.pull("acme/empty").await;
    assert_eq!(empty.json()["content"]["entries"], serde_json::json!({}));
    assert_eq!(
        bob.hashes("acme/empty").await.json()["entryChecksums"],
        serde_json::json!({})
    );
}

async fn every_text_comes_back_as_it_was(kind: Kind) {
    let bed = Bed::new(kind).await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    let long = "x".repeat(250_000);
    let texts = [
        ("empty.md", ""),
        ("zero.md", "a\0b"),
        ("ends.md", "\r\n\n\r"),
        (
            "signs.md",
            "\u{FEFF}\u{2028}\u{202E}\u{1F600}\u{10FFFF}\"\\/<script>'; DROP TABLE entries;--",
        ),
        ("long.md", &long),
        ("deleted.md", memdir_core::limits::TEAM_DELETED),
        ("ä 100%/$1.md", "ä"),
    ];
    ada.put(REPO, FIRST, &texts).await.is(200, "");
    let all = ada.pull(REPO).await.json();
    for (key, text) in texts {
        assert_eq!(all["content"]["entries"][key], text, "{key}");
        assert_eq!(
            all["content"]["entryChecksums"][key],
            checksum(text),
            "{key}"
        );
    }
}

async fn repositories_know_nothing_of_each_other(kind: Kind) {
    let bed = Bed::new(kind).await;
    let ada = bed.user("ada", &["write *"]).await;
    let repos = ["acme/app", "acme/App", "acme/app/sub", "other/app"];
    for repo in repos {
        ada.put(repo, FIRST, &[("a.md", repo)]).await.is(200, "");
    }
    for repo in repos {
        let all = ada.pull(repo).await.json();
        assert_eq!(
            all["content"]["entries"],
            serde_json::json!({ "a.md": repo })
        );
        assert_eq!(all["version"], 1);
    }
    for repo in [
        "",
        "acme",
        "acme/..",
        "acme//app",
        "a/b%00",
        "a/%FF",
        "a/b%0Ac",
    ] {
        ada.pull(repo).await.is(400, "invalid-request");
    }
    ada.send("GET", API, &[], "")
        .await
        .is(400, "invalid-request");
}

async fn a_restart_changes_nothing(kind: Kind) {
    let mut bed = Bed::new(kind).await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    ada.put(REPO, FIRST, &[("a.md", "a")]).await.is(200, "");
    let before = ada.pull(REPO).await;
    bed.restart(crate::bed::unhurried()).await;
    let ada = ada.at(&bed.client);
    let after = ada.pull(REPO).await;
    assert_eq!(
        (after.json(), after.header("etag")),
        (before.json(), before.header("etag"))
    );
    ada.force(REPO, &[("A/b.md", "b")]).await.is(200, "");
    ada.force(REPO, &[("a/c.md", "c")])
        .await
        .is(422, "invalid-key");
}
