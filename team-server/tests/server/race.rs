//! Many at once: each version has one winner, nothing that was taken is lost, and many uploads share one
//! commit.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use memdir_team_server::{Address, Server};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::bed::{Bed, Kind, User, temporary, unhurried};
use crate::on_both;

const REPO: &str = "acme/app";
const FIRST: &[(&str, &str)] = &[("if-none-match", "*")];

on_both!(
    servers_that_start_at_once_make_one_database,
    each_version_has_one_winner,
    the_first_upload_has_one_winner,
    two_replicas_lose_nothing,
    one_replica_sees_at_once_what_another_has_taken,
);

async fn servers_that_start_at_once_make_one_database(kind: Kind) {
    let folder = temporary();
    for round in 0..5 {
        let data = match kind {
            Kind::Sqlite => crate::bed::file(&folder.path().join(format!("{round}.db"))),
            Kind::Postgres => Address::Postgres(crate::postgres::shared().unwrap().database()),
        };
        let mut starting = JoinSet::new();
        for _ in 0..4 {
            let data = data.clone();
            starting.spawn(async move { Server::start(&data, "127.0.0.1:0", unhurried()).await });
        }
        for server in starting.join_all().await {
            server.unwrap().stop().await;
        }
    }
}

async fn each_version_has_one_winner(kind: Kind) {
    let bed = Bed::new(kind).await;
    let (other, there) = bed.replica().await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    let mut version = ada
        .put(REPO, FIRST, &[("a.md", "start")])
        .await
        .header("etag")
        .to_owned();
    for round in 0..10 {
        let mut racing = JoinSet::new();
        let start = Arc::new(Barrier::new(12));
        for number in 0..12 {
            let user = if number % 2 == 0 {
                ada.clone()
            } else {
                ada.at(&there)
            };
            let (start, version) = (Arc::clone(&start), version.clone());
            racing.spawn(async move {
                start.wait().await;
                let text = format!("{round} {number}");
                let put = user
                    .put(REPO, &[("if-match", &version)], &[("a.md", &text)])
                    .await;
                (text, put)
            });
        }
        let answers = racing.join_all().await;
        let (won, lost): (Vec<_>, Vec<_>) = answers
            .into_iter()
            .partition(|(_, put)| put.status.is_success());
        assert_eq!((won.len(), lost.len()), (1, 11), "round {round}");
        let (text, put) = &won[0];
        put.header("etag").clone_into(&mut version);
        for (_, put) in lost {
            put.is(412, "outdated");
            assert_eq!(put.header("etag"), version);
        }
        let all = ada.pull(REPO).await.json();
        assert_eq!(all["content"]["entries"]["a.md"], *text);
        assert_eq!(all["version"], round + 2);
    }
    other.stop().await;
}

async fn the_first_upload_has_one_winner(kind: Kind) {
    let bed = Bed::new(kind).await;
    let (other, there) = bed.replica().await;
    let ada = bed.user("ada", &["write acme/*"]).await;
    for round in 0..10 {
        let mut racing = JoinSet::new();
        for number in 0..8 {
            let user = if number % 2 == 0 {
                ada.clone()
            } else {
                ada.at(&there)
            };
            let condition: &'static [_] = if number % 4 < 2 { FIRST } else { &[] };
            racing.spawn(async move {
                let repo = format!("acme/{round}");
                user.put(&repo, condition, &[(&format!("{number}.md"), "x")])
                    .await
                    .status
                    .as_u16()
            });
        }
        let mut statuses = racing.join_all().await;
        statuses.sort_unstable();
        assert_eq!(
            statuses,
            [200, 412, 412, 412, 412, 412, 412, 412],
            "round {round}"
        );
    }
    other.stop().await;
}

/// Writes one entry after the other, each on top of what is there.
async fn append(user: User, writer: usize, count: usize) -> Vec<(String, String)> {
    let mut written = Vec::new();
    for number in 0..count {
        let key = format!("{writer}/{number}.md");
        loop {
            let put = user.force(REPO, &[(&key, &key)]).await;
            match put.status.as_u16() {
                200 => break written.push((key, put.header("etag").to_owned())),
                412 => {}
                _ => panic!("{put:?}"),
            }
        }
    }
    written
}

async fn two_replicas_lose_nothing(kind: Kind) {
    let bed = Bed::new(kind).await;
    let (other, there) = bed.replica().await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    let mut racing = JoinSet::new();
    for writer in 0..6 {
        let user = if writer % 2 == 0 {
            ada.clone()
        } else {
            ada.at(&there)
        };
        racing.spawn(append(user, writer, 15));
    }
    let written: Vec<_> = racing.join_all().await.into_iter().flatten().collect();
    assert_eq!(written.len(), 90);
    for user in [&ada, &ada.at(&there)] {
        let all = user.pull(REPO).await.json();
        assert_eq!(all["version"], 90);
        let entries: BTreeMap<String, String> =
            serde_json::from_value(all["content"]["entries"].clone()).unwrap();
        assert_eq!(entries.len(), 90);
        assert!(written.iter().all(|(key, _)| entries.get(key) == Some(key)));
    }
    // No two were told the same version, and the history has each once.
    let etags: BTreeSet<_> = written.iter().map(|(_, etag)| etag).collect();
    assert_eq!(etags.len(), 90);
    let path = format!("/api/history?repo={REPO}");
    let history = ada.send("GET", &path, &[], "").await.json();
    let versions: Vec<i64> = history["revisions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|revision| revision["version"].as_i64().unwrap())
        .collect();
    assert_eq!(versions, (1..=90).rev().collect::<Vec<_>>());
    other.stop().await;
}

async fn one_replica_sees_at_once_what_another_has_taken(kind: Kind) {
    let bed = Bed::new(kind).await;
    let (other, there) = bed.replica().await;
    let here = bed.user("ada", &["write acme/app"]).await;
    let there = here.at(&there);
    // What a replica remembers of a repository must not be what it answers by.
    for round in 0..5 {
        for (one, two) in [(&here, &there), (&there, &here)] {
            let text = round.to_string();
            let key = format!("a{round}/b.md");
            one.force(REPO, &[(&key, &text), ("shared.md", &text)])
                .await;
            let seen = two.pull(REPO).await;
            assert_eq!(seen.json()["content"]["entries"]["shared.md"], text);
            assert_eq!(seen.text, one.pull(REPO).await.text);
            let twin = format!("A{round}/c.md");
            two.force(REPO, &[(&twin, "x")])
                .await
                .is(422, "invalid-key");
        }
    }
    other.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_uploads_share_a_few_commits() {
    let bed = Bed::new(Kind::Sqlite).await;
    let ada = bed.user("ada", &["write acme/*"]).await;
    // While somebody else writes, all fifty come to wait.
    let Address::File { path, .. } = &bed.data else {
        panic!("no file")
    };
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path);
    let mut blocker = sqlx::ConnectOptions::connect(&options).await.unwrap();
    sqlx::query("BEGIN IMMEDIATE")
        .execute(&mut blocker)
        .await
        .unwrap();
    let mut racing = JoinSet::new();
    for number in 0..50 {
        let ada = ada.clone();
        racing.spawn(async move {
            // Every fifth one is refused, and takes nobody with it.
            let (repo, key) = match number % 5 {
                0 => (format!("acme/{number}"), "a.md"),
                1 => (format!("acme/{}", number - 1), "MEMORY.MD"),
                _ => (format!("acme/{number}"), "b.md"),
            };
            (
                number,
                ada.put(&repo, FIRST, &[(key, "x")]).await.status.as_u16(),
            )
        });
    }
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    sqlx::query("ROLLBACK").execute(&mut blocker).await.unwrap();
    for (number, status) in racing.join_all().await {
        assert_eq!(status, if number % 5 == 1 { 422 } else { 200 }, "{number}");
    }
    let metrics = bed.client.get("/metrics").await.text;
    let commits = metrics
        .lines()
        .find_map(|line| line.strip_prefix("memdir_team_commit_uploads_count "))
        .unwrap();
    let commits: u32 = commits.parse().unwrap();
    assert!((1..=5).contains(&commits), "{commits} commits");
    let repositories = ada.send("GET", "/api/repositories", &[], "").await.json();
    assert_eq!(repositories["repositories"].as_array().unwrap().len(), 40);
}
