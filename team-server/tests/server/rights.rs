//! Who may do what, and what those learn who may not.

use std::time::Duration;

use memdir_team_server::{Limits, commands};

use crate::bed::{API, Bed, Kind, User};
use crate::on_both;

const FIRST: &[(&str, &str)] = &[("if-none-match", "*")];
const READING: [&str; 5] = [
    "/api/claude_code/team_memory?repo=acme/app",
    "/api/claude_code/team_memory?repo=acme/app&view=hashes",
    "/api/history?repo=acme/app",
    "/api/history?repo=acme/app&key=a.md",
    "/api/history?repo=acme/app&key=a.md&version=1",
];

on_both!(
    without_a_token_of_this_server_there_is_nothing,
    a_token_is_for_its_repositories_only,
    to_read_is_not_to_write,
    a_pattern_is_about_what_it_covers,
    a_revoked_token_is_refused_at_once,
    who_asks_too_often_is_told_to_wait,
);

async fn without_a_token_of_this_server_there_is_nothing(kind: Kind) {
    let bed = Bed::new(kind).await;
    let ada = bed.user("ada", &["write *"]).await;
    ada.put("acme/app", FIRST, &[("a.md", "a")])
        .await
        .is(200, "");
    let unknown = format!("mdt_{}", "0".repeat(64));
    let token = &ada.token;
    let wrong = [
        None,
        Some(String::new()),
        Some(token.clone()),
        Some(format!("Basic {token}")),
        Some(format!("Bearer {}", token.to_uppercase())),
        Some(format!("Bearer {token} {token}")),
        Some(format!("Bearer {token}0")),
        Some(format!("Bearer {unknown}")),
        Some("Bearer '; DROP TABLE tokens;--".to_owned()),
    ];
    for value in wrong {
        let header = value
            .as_ref()
            .map(|value| ("authorization", value.as_str()));
        let headers: Vec<_> = header.into_iter().collect();
        for path in READING.into_iter().chain(["/api/repositories"]) {
            let refused = bed.client.send("GET", path, &headers, "").await;
            refused.is(401, "unauthorized");
            assert_eq!(refused.header("www-authenticate"), "Bearer");
            assert!(!refused.text.contains(token.as_str()));
        }
        let path = format!("{API}?repo=acme/app");
        let put = bed
            .client
            .send("PUT", &path, &headers, r#"{"entries":{"a.md":"x"}}"#)
            .await;
        put.is(401, "unauthorized");
    }
    for scheme in ["bearer", "BEARER"] {
        let value = format!("{scheme} {token}");
        let answer = bed
            .client
            .send("GET", READING[0], &[("authorization", &value)], "")
            .await;
        assert_eq!(answer.json()["content"]["entries"]["a.md"], "a");
    }
}

async fn a_token_is_for_its_repositories_only(kind: Kind) {
    let bed = Bed::new(kind).await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    let eve = bed.user("eve", &["write evil/app"]).await;
    ada.put("acme/app", FIRST, &[("a.md", "a")])
        .await
        .is(200, "");
    // Word for word the same, whether it is there or not.
    let refusal = async |user: &User, method: &str, path: &str| {
        let answer = user
            .send(
                method,
                path,
                &[("x-request-id", "one")],
                r#"{"entries":{}}"#,
            )
            .await;
        answer.is(403, "forbidden");
        assert_eq!(answer.header("etag"), "");
        answer.text
    };
    for path in READING {
        let there = refusal(&eve, "GET", path).await;
        let nowhere = refusal(&eve, "GET", &path.replace("acme/app", "acme/nothing")).await;
        assert_eq!(there, nowhere);
    }
    let there = refusal(&eve, "PUT", &format!("{API}?repo=acme/app")).await;
    assert_eq!(
        there,
        refusal(&eve, "PUT", &format!("{API}?repo=acme/nothing")).await
    );
    let listed = eve.send("GET", "/api/repositories", &[], "").await.json();
    assert_eq!(listed["repositories"], serde_json::json!([]));
    assert_eq!(ada.pull("acme/app").await.json()["version"], 1);
}

async fn to_read_is_not_to_write(kind: Kind) {
    let bed = Bed::new(kind).await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    let bob = bed.user("bob", &["read acme/app"]).await;
    bob.pull("acme/app").await.is(404, "no-data");
    bob.put("acme/app", FIRST, &[("a.md", "b")])
        .await
        .is(403, "forbidden");
    ada.put("acme/app", FIRST, &[("a.md", "a")])
        .await
        .is(200, "");
    assert_eq!(
        bob.pull("acme/app").await.json()["content"]["entries"]["a.md"],
        "a"
    );
    bob.force("acme/app", &[("a.md", "b")])
        .await
        .is(403, "forbidden");
    assert_eq!(
        ada.pull("acme/app").await.json()["content"]["entries"]["a.md"],
        "a"
    );
}

async fn a_pattern_is_about_what_it_covers(kind: Kind) {
    let bed = Bed::new(kind).await;
    let ada = bed
        .user("ada", &["read *", "write acme/*", "write other/app"])
        .await;
    let may = [
        ("acme/app", 200),
        ("acme/group/app", 200),
        ("acme2/app", 403),
        ("other/app", 200),
        ("other/app2", 403),
    ];
    for (repo, status) in may {
        let put = ada.put(repo, FIRST, &[("a.md", repo)]).await;
        assert_eq!(put.status.as_u16(), status, "{repo}");
        let expected = if status == 200 { 200 } else { 404 };
        assert_eq!(ada.pull(repo).await.status.as_u16(), expected, "{repo}");
    }
    let bob = bed.user("bob", &["read acme/*"]).await;
    let listed = bob.send("GET", "/api/repositories", &[], "").await.json();
    let repos: Vec<&str> = listed["repositories"]
        .as_array()
        .unwrap()
        .iter()
        .map(|head| head["repo"].as_str().unwrap())
        .collect();
    assert_eq!(repos, ["acme/app", "acme/group/app"]);
}

async fn a_revoked_token_is_refused_at_once(kind: Kind) {
    let bed = Bed::new(kind).await;
    let (ada, id) = bed.user_and_id("ada", &["write acme/app"]).await;
    let (other, _) = bed.user_and_id("ada", &["write acme/app"]).await;
    ada.put("acme/app", FIRST, &[("a.md", "a")])
        .await
        .is(200, "");
    let storage = bed.server().storage();
    commands::revoke_token(storage, &id).await.unwrap();
    ada.pull("acme/app").await.is(401, "unauthorized");
    ada.put("acme/app", FIRST, &[("a.md", "b")])
        .await
        .is(401, "unauthorized");
    other.pull("acme/app").await.is(200, "");

    // Once more is no mistake, and one that there is not is.
    commands::revoke_token(storage, &id).await.unwrap();
    commands::revoke_token(storage, "nobody").await.unwrap_err();
    let mut listed = Vec::new();
    commands::list_tokens(storage, &mut listed).await.unwrap();
    let listed = String::from_utf8(listed).unwrap();
    assert_eq!(listed.matches("ada\twrite acme/app").count(), 2, "{listed}");
    assert_eq!(listed.matches("revoked").count(), 1, "{listed}");
    assert!(
        !listed.contains(&ada.token) && !listed.contains("sha256"),
        "{listed}"
    );
}

async fn who_asks_too_often_is_told_to_wait(kind: Kind) {
    let limits = Limits {
        rate: 1,
        burst: 3,
        ..Limits::default()
    };
    let bed = Bed::with(kind, limits).await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    let bob = bed.user("bob", &["write acme/app"]).await;
    for _ in 0..3 {
        ada.pull("acme/app").await.is(404, "no-data");
    }
    let refused = ada.put("acme/app", FIRST, &[("a.md", "a")]).await;
    refused.is(429, "rate-limited");
    let wait: u64 = refused.header("retry-after").parse().unwrap();
    assert!((1..=2).contains(&wait));
    bob.pull("acme/app").await.is(404, "no-data");
    tokio::time::sleep(Duration::from_secs(wait)).await;
    ada.put("acme/app", FIRST, &[("a.md", "a")])
        .await
        .is(200, "");
}
