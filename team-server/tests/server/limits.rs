//! How much is taken, and what those are told who send more.

use memdir_team_server::Limits;

use crate::bed::{Bed, Kind, body, unhurried};
use crate::on_both;

const REPO: &str = "acme/app";
const FIRST: &[(&str, &str)] = &[("if-none-match", "*")];

on_both!(
    an_entry_has_250_000_bytes_at_most,
    a_repository_has_10_000_entries_at_most,
    the_known_limit_is_told_as_clients_read_it,
    a_body_has_a_mebibyte_at_most,
    a_repository_stays_within_what_clients_take,
);

async fn an_entry_has_250_000_bytes_at_most(kind: Kind) {
    let bed = Bed::new(kind).await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    // Bytes count, not characters.
    let most = "ä".repeat(125_000);
    let more = format!("{most}x");
    let refused = ada
        .put(REPO, FIRST, &[("a.md", "a"), ("big.md", &more)])
        .await;
    refused.is(413, "entry-too-large");
    let details = serde_json::json!({
        "error_code": "team_memory_entry_too_large",
        "key": "big.md",
        "max_bytes": 250_000,
        "received_bytes": 250_001,
    });
    assert_eq!(refused.json()["error"]["details"], details);
    ada.pull(REPO).await.is(404, "no-data");
    ada.put(REPO, FIRST, &[("big.md", &"x".repeat(251_000))])
        .await
        .is(413, "entry-too-large");
    ada.put(REPO, FIRST, &[("big.md", &most)]).await.is(200, "");
}

async fn a_repository_has_10_000_entries_at_most(kind: Kind) {
    let bed = Bed::new(kind).await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    let keys: Vec<String> = (0..10_001)
        .map(|n| format!("notes/{}/{n}.md", n % 100))
        .collect();
    let entries: Vec<_> = keys.iter().map(|key| (key.as_str(), "x")).collect();
    ada.put(REPO, FIRST, &entries)
        .await
        .is(413, "too-many-entries");
    ada.pull(REPO).await.is(404, "no-data");
    ada.put(REPO, FIRST, &entries[..10_000]).await.is(200, "");
    let all = ada.pull(REPO).await.json();
    assert_eq!(all["content"]["entries"].as_object().unwrap().len(), 10_000);
    let hashes = ada.hashes(REPO).await.json();
    assert_eq!(hashes["entryChecksums"], all["content"]["entryChecksums"]);

    let refused = ada.force(REPO, &entries[10_000..]).await;
    refused.is(413, "too-many-entries");
    let details = serde_json::json!({
        "error_code": "team_memory_too_many_entries",
        "max_entries": 10_000,
        "received_entries": 10_001,
    });
    assert_eq!(refused.json()["error"]["details"], details);
    // What is there already may change, and all keys are looked at beside it.
    ada.force(REPO, &[("notes/0/0.md", "new")])
        .await
        .is(200, "");
    ada.force(REPO, &[("NOTES/0/0.md", "twin")])
        .await
        .is(422, "invalid-key");
    assert_eq!(ada.pull(REPO).await.json()["version"], 2);
}

async fn the_known_limit_is_told_as_clients_read_it(kind: Kind) {
    let bed = Bed::with(
        kind,
        Limits {
            entries: 3,
            ..unhurried()
        },
    )
    .await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    ada.put(REPO, FIRST, &[("a", "a"), ("b", "b")])
        .await
        .is(200, "");
    let refused = ada
        .force(REPO, &[("b", "new"), ("c", "c"), ("d", "d")])
        .await;
    refused.is(413, "too-many-entries");
    assert_eq!(refused.json()["error"]["details"]["received_entries"], 4);
    assert_eq!(
        ada.pull(REPO).await.json()["content"]["entries"]["b"],
        "b",
        "all or nothing"
    );
    ada.force(REPO, &[("b", "new"), ("c", "c")])
        .await
        .is(200, "");
}

async fn a_body_has_a_mebibyte_at_most(kind: Kind) {
    let bed = Bed::new(kind).await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    let padded = |size: usize| {
        let body = body(&[("a.md", "a")]);
        format!("{body}{}", " ".repeat(size - body.len()))
    };
    let most = 1024 * 1024;
    // The answer arrives although the client still sends.
    for size in [most + 1, 2 * most, 7 * most] {
        let refused = ada.put_body(REPO, FIRST, padded(size)).await;
        refused.is(413, "body-too-large");
        assert_eq!(refused.json()["error"]["details"]["max_bytes"], most);
        assert!(
            refused.json()["error"]["details"]
                .get("max_entries")
                .is_none()
        );
    }
    ada.pull(REPO).await.is(404, "no-data");
    ada.put_body(REPO, FIRST, padded(most)).await.is(200, "");
}

async fn a_repository_stays_within_what_clients_take(kind: Kind) {
    let bed = Bed::with(
        kind,
        Limits {
            repository_bytes: 1_000,
            ..unhurried()
        },
    )
    .await;
    let ada = bed.user("ada", &["write *"]).await;
    ada.put(REPO, FIRST, &[("a", &"x".repeat(600))])
        .await
        .is(200, "");
    let refused = ada.force(REPO, &[("b", &"x".repeat(401))]).await;
    refused.is(413, "repository-too-large");
    let details = &refused.json()["error"]["details"];
    assert_eq!(
        (&details["max_bytes"], &details["received_bytes"]),
        (&1_000.into(), &1_001.into())
    );
    ada.force(REPO, &[("a", &"y".repeat(500)), ("b", &"x".repeat(500))])
        .await
        .is(200, "");
    ada.put("acme/two", FIRST, &[("a", &"x".repeat(1_000))])
        .await
        .is(200, "");
}
