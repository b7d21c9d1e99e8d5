//! What people and machines look at: the history, the page, the counters, the description.

use std::collections::BTreeSet;

use memdir_team_server::commands;
use serde_json::Value;

use crate::bed::{Bed, Kind, User, openapi, unhurried};
use crate::on_both;

const REPO: &str = "acme/app";

on_both!(
    every_accepted_entry_has_an_author_and_a_time,
    what_was_can_be_restored,
    a_long_history_comes_in_pages,
    the_counters_count,
    machines_learn_how_it_is,
    every_answer_can_be_found_in_the_log,
);

async fn history(user: &User, query: &str) -> Value {
    let path = format!("/api/history?repo={REPO}{query}");
    let answer = user.send("GET", &path, &[], "").await;
    answer.is(200, "");
    answer.json()
}

/// Key, version and author of each.
fn lines(history: &Value) -> Vec<String> {
    let revisions = history["revisions"].as_array().unwrap().iter();
    let line = |one: &Value| format!("{} {} {}", one["key"], one["version"], one["author"]);
    revisions.map(|one| line(one).replace('"', "")).collect()
}

async fn every_accepted_entry_has_an_author_and_a_time(kind: Kind) {
    let bed = Bed::new(kind).await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    let bob = bed.user("bob ü", &["write acme/app"]).await;
    ada.force(REPO, &[("a.md", "one"), ("b.md", "b")])
        .await
        .is(200, "");
    bob.force(REPO, &[("a.md", "two"), ("b.md", "b")])
        .await
        .is(200, "");
    ada.force(REPO, &[("a.md", "one")]).await.is(200, "");
    // What is refused is no history.
    ada.force(REPO, &[("a.md", "three"), ("A.md", "twin")])
        .await
        .is(422, "invalid-key");

    let all = history(&ada, "").await;
    let expected = ["a.md 3 ada", "a.md 2 bob ü", "a.md 1 ada", "b.md 1 ada"];
    assert_eq!(lines(&all), expected);
    assert_eq!(all["more"], false);
    assert_eq!(lines(&history(&bob, "&key=a.md").await), expected[..3]);
    assert_eq!(
        lines(&history(&bob, "&key=a.md&before=3").await),
        expected[1..3]
    );
    assert_eq!(lines(&history(&bob, "&key=none.md").await), [""; 0]);
    let one = history(&ada, "&key=a.md&version=2").await;
    assert_eq!(
        (
            &one["revisions"][0]["content"],
            &one["revisions"][0]["bytes"]
        ),
        (&"two".into(), &3.into())
    );
    let written = one["revisions"][0]["writtenAt"].as_str().unwrap();
    assert!(written.ends_with('Z'), "{written}");
    assert!(all["revisions"][0].get("content").is_none());

    for query in ["&key=a.md&version=9", "&key=b.md&version=3"] {
        let path = format!("/api/history?repo={REPO}{query}");
        ada.send("GET", &path, &[], "").await.is(404, "no-data");
    }
    for query in [
        "&version=1",
        "&key=a.md&version=x",
        "&before=-1",
        "&key=a.md&key=b.md",
        "&key=a%00",
        "&before=99999999999999999999",
    ] {
        let path = format!("/api/history?repo={REPO}{query}");
        ada.send("GET", &path, &[], "")
            .await
            .is(400, "invalid-request");
    }
}

async fn what_was_can_be_restored(kind: Kind) {
    let bed = Bed::new(kind).await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    ada.force(REPO, &[("a.md", "one"), ("b.md", "b")])
        .await
        .is(200, "");
    let second = ada.force(REPO, &[("a.md", "two")]).await;
    let storage = bed.server().storage();
    let limits = unhurried();
    let restored = commands::restore(storage, &limits, REPO, "a.md", 1)
        .await
        .unwrap();
    assert_eq!(restored, 3);
    // The running server knows at once, and so do its clients.
    let all = ada.pull(REPO).await.json();
    let entries = serde_json::json!({ "a.md": "one", "b.md": "b" });
    assert_eq!(
        (&all["content"]["entries"], &all["version"]),
        (&entries, &3.into())
    );
    let late = ada
        .put(
            REPO,
            &[("if-match", second.header("etag"))],
            &[("a.md", "x")],
        )
        .await;
    late.is(412, "outdated");
    ada.force(REPO, &[("A/x.md", "fits")]).await.is(200, "");
    let all = history(&ada, "&key=a.md").await;
    assert_eq!(lines(&all), ["a.md 3 operator", "a.md 2 ada", "a.md 1 ada"]);

    for (key, version) in [("a.md", 4), ("none.md", 1)] {
        commands::restore(storage, &limits, REPO, key, version)
            .await
            .unwrap_err();
    }
    let mut printed = Vec::new();
    commands::history(storage, REPO, Some("a.md"), &mut printed)
        .await
        .unwrap();
    let printed = String::from_utf8(printed).unwrap();
    assert_eq!(printed.lines().count(), 3, "{printed}");
    assert!(
        printed.starts_with("3\t") && printed.contains("\toperator\t3\ta.md\n"),
        "{printed}"
    );
    commands::history(storage, "acme/none", None, &mut Vec::new())
        .await
        .unwrap_err();
}

async fn a_long_history_comes_in_pages(kind: Kind) {
    let bed = Bed::new(kind).await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    for number in 0..503 {
        ada.force(REPO, &[("a.md", &number.to_string())])
            .await
            .is(200, "");
    }
    let newest = history(&ada, "&key=a.md").await;
    let count = |page: &Value| page["revisions"].as_array().unwrap().len();
    assert_eq!((count(&newest), &newest["more"]), (500, &true.into()));
    let last = newest["revisions"][499]["version"].as_i64().unwrap();
    let rest = history(&ada, &format!("&key=a.md&before={last}")).await;
    assert_eq!((count(&rest), &rest["more"]), (3, &false.into()));
    let mut printed = Vec::new();
    commands::history(bed.server().storage(), REPO, None, &mut printed)
        .await
        .unwrap();
    assert_eq!(String::from_utf8(printed).unwrap().lines().count(), 503);
}

async fn the_counters_count(kind: Kind) {
    let bed = Bed::new(kind).await;
    let ada = bed.user("ada", &["write *"]).await;
    ada.force(REPO, &[("a.md", "four"), ("b.md", "b")])
        .await
        .is(200, "");
    ada.force("acme/two", &[("a.md", "ä")]).await.is(200, "");
    bed.client
        .get("/nowhere/secret-name")
        .await
        .is(404, "not-found");
    let text = bed.client.get("/metrics").await.text;
    for line in [
        "memdir_team_repositories 2",
        "memdir_team_entries 3",
        "memdir_team_entry_bytes 7",
        "memdir_team_commit_uploads_count 2",
        "memdir_team_requests_total{method=\"PUT\",route=\"/api/claude_code/team_memory\",status=\"200\"} 2",
        "memdir_team_requests_total{method=\"GET\",route=\"other\",status=\"404\"} 1",
        "memdir_team_request_duration_seconds_count{method=\"PUT\",route=\"/api/claude_code/team_memory\"} 2",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} in {text}");
    }
    assert!(text.ends_with("# EOF\n"));
    for hidden in ["acme", "ada", "secret-name", "a.md"] {
        assert!(!text.contains(hidden), "{hidden}");
    }
}

async fn machines_learn_how_it_is(kind: Kind) {
    let bed = Bed::new(kind).await;
    assert_eq!(bed.client.get("/health").await.text, r#"{"status":"ok"}"#);
    assert_eq!(bed.client.get("/ready").await.text, r#"{"status":"ready"}"#);
    bed.client.get("/nothing").await.is(404, "not-found");
    let post = bed.client.send("POST", "/health", &[], "").await;
    post.is(405, "method-not-allowed");
    assert_eq!(post.header("allow"), "GET,HEAD");
    bed.client
        .send("HEAD", "/health", &[], "")
        .await
        .is(200, "");
}

async fn every_answer_can_be_found_in_the_log(kind: Kind) {
    let bed = Bed::new(kind).await;
    let given = bed
        .client
        .send("GET", "/health", &[("x-request-id", "proxy-1_a.b")], "")
        .await;
    assert_eq!(given.header("x-request-id"), "proxy-1_a.b");
    let long = "a".repeat(65);
    let mut ids = BTreeSet::new();
    for bad in ["", "a b", "a\"b", "a{b}", &long] {
        let answer = bed
            .client
            .send("GET", "/health", &[("x-request-id", bad)], "")
            .await;
        let id = answer.header("x-request-id").to_owned();
        assert!(
            id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit()),
            "{id}"
        );
        assert!(ids.insert(id));
    }
}

#[test]
fn the_description_names_every_route() {
    let description = openapi();
    let paths: Vec<&String> = description["paths"].as_object().unwrap().keys().collect();
    assert_eq!(
        paths,
        [
            "/api/claude_code/team_memory",
            "/api/history",
            "/api/repositories",
            "/health",
            "/metrics",
            "/openapi.json",
            "/ready",
        ]
    );
    let scheme = &description["components"]["securitySchemes"]["token"];
    assert_eq!(
        (&scheme["type"], &scheme["scheme"]),
        (&"http".into(), &"bearer".into())
    );
    // Whatever a description refers to is in it.
    let text = description.to_string();
    for part in text.split("#/components/schemas/").skip(1) {
        let name = part.split('"').next().unwrap();
        assert!(
            description["components"]["schemas"][name].is_object(),
            "{name}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_loads_nothing_else_and_makes_no_markup_of_texts() {
    let bed = Bed::new(Kind::Sqlite).await;
    let files = [
        ("/", "text/html"),
        ("/app.js", "text/javascript"),
        ("/app.css", "text/css"),
    ];
    for (path, kind) in files {
        let answer = bed.client.get(path).await;
        answer.is(200, "");
        assert_eq!(
            answer.header("content-type"),
            format!("{kind}; charset=utf-8")
        );
        let policy = answer.header("content-security-policy");
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self';"),
            "{policy}"
        );
        assert!(
            !policy.contains("unsafe") && !policy.contains("http"),
            "{policy}"
        );
        assert_eq!(answer.header("referrer-policy"), "no-referrer");
        for outside in [
            "http://",
            "https://",
            "//cdn",
            "innerHTML",
            "insertAdjacentHTML",
            "eval(",
        ] {
            assert!(!answer.text.contains(outside), "{outside} in {path}");
        }
    }
    let html = bed.client.get("/").await.text;
    assert_eq!(html.matches("<script").count(), 1);
    assert!(html.contains("<script src=\"/app.js\" defer></script>"));
    assert!(!html.contains("<style") && !html.contains("style=") && !html.contains("onclick"));
    let script = bed.client.get("/app.js").await.text;
    assert!(script.contains(memdir_core::limits::TEAM_DELETED.trim_end()));
    let served = bed.client.get("/openapi.json").await.json();
    assert_eq!(&served, openapi());
}
