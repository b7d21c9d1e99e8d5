//! A database that goes away, comes back, or has no space left.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use memdir_team_server::{Address, Limits, Server};
use tokio::task::JoinSet;

use crate::bed::{Answer, Bed, Folder, Kind, User, temporary, unhurried};
use crate::postgres::Postgres;

const REPO: &str = "acme/app";
const FIRST: &[(&str, &str)] = &[("if-none-match", "*")];

#[tokio::test(flavor = "multi_thread")]
async fn postgresql_may_go_and_come_back() {
    let Some(mut postgres) = tokio::task::spawn_blocking(Postgres::start).await.unwrap() else {
        return;
    };
    let data = Address::Postgres(postgres.database());
    let bed = Bed::over(data, temporary(), unhurried()).await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    ada.put(REPO, FIRST, &[("a.md", "a")]).await.is(200, "");
    bed.client.get("/ready").await.is(200, "");

    let mut postgres = tokio::task::spawn_blocking(move || {
        postgres.stop();
        postgres
    })
    .await
    .unwrap();
    bed.client.get("/health").await.is(200, "");
    bed.client.get("/ready").await.is(503, "unavailable");
    let refused = ada.pull(REPO).await;
    refused.is(503, "unavailable");
    assert!(!refused.header("retry-after").is_empty());
    assert!(!refused.text.contains("postgres") && !refused.text.contains("socket"));
    ada.put(REPO, &[("if-match", "*")], &[("a.md", "lost")])
        .await
        .is(503, "unavailable");
    bed.client.get("/metrics").await.is(200, "");

    let postgres = tokio::task::spawn_blocking(move || {
        postgres.run();
        postgres
    })
    .await
    .unwrap();
    let begun = Instant::now();
    while bed.client.get("/ready").await.status != 200 {
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "it does not recover"
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(
        ada.pull(REPO).await.json()["content"]["entries"]["a.md"],
        "a"
    );
    ada.force(REPO, &[("a.md", "b")]).await.is(200, "");
    drop(postgres);
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_hang_are_given_up() {
    let Some(postgres) = tokio::task::spawn_blocking(Postgres::start).await.unwrap() else {
        return;
    };
    let data = Address::Postgres(postgres.database());
    let bed = Bed::over(data, temporary(), unhurried()).await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    ada.put(REPO, FIRST, &[("a.md", "a")]).await.is(200, "");
    let held = postgres.hold();
    let begun = Instant::now();
    let put = ada.put(REPO, &[("if-match", "*")], &[("a.md", "b")]);
    let ready = bed.client.get("/ready");
    let (put, ready) = tokio::join!(put, ready);
    assert!(matches!(put.status.as_u16(), 200 | 503), "{put:?}");
    assert!(matches!(ready.status.as_u16(), 200 | 503), "{ready:?}");
    loop {
        let put = ada.put(REPO, &[("if-match", "*")], &[("a.md", "c")]).await;
        if put.status == 200 {
            break;
        }
        put.is(503, "unavailable");
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "it does not recover"
        );
    }
    bed.client.get("/ready").await.is(200, "");
    assert_eq!(
        ada.pull(REPO).await.json()["content"]["entries"]["a.md"],
        "c"
    );
    drop(held);
}

/// Pulls at once, more than there are connections for reading.
async fn pulls(user: &User) -> Vec<Answer> {
    let mut asking = JoinSet::new();
    for _ in 0..32 {
        let user = user.clone();
        asking.spawn(async move { user.pull(REPO).await });
    }
    asking.join_all().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_gone_takes_nothing_with_it() {
    let bed = Bed::new(Kind::Sqlite).await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    ada.put(REPO, FIRST, &[("a.md", "a")]).await.is(200, "");
    let Address::File { path, .. } = &bed.data else {
        panic!("no file")
    };
    let away = path.with_extension("away");
    std::fs::rename(path, &away).unwrap();
    bed.client.get("/ready").await.is(503, "unavailable");
    ada.put(REPO, &[("if-match", "*")], &[("a.md", "lost")])
        .await
        .is(503, "unavailable");
    // Another file in its place is not the same one.
    std::fs::write(path, "").unwrap();
    ada.put(REPO, &[("if-match", "*")], &[("a.md", "lost")])
        .await
        .is(503, "unavailable");
    // So many at once that each needs a connection of its own: none may stay that leads into it.
    for answer in pulls(&ada).await {
        answer.is(503, "unavailable");
    }
    std::fs::rename(&away, path).unwrap();
    bed.client.get("/ready").await.is(200, "");
    for answer in pulls(&ada).await {
        answer.is(200, "");
    }
    ada.force(REPO, &[("a.md", "b")]).await.is(200, "");
    assert_eq!(ada.pull(REPO).await.json()["version"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_space_nothing_is_written_by_half() {
    let folder = temporary();
    let path = folder.path().join("team.db");
    let data = Address::File {
        path: path.clone(),
        max_bytes: Some(1_000_000),
    };
    let mut bed = Bed::over(data, folder, unhurried()).await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    let text = "x".repeat(100_000);
    let mut taken = 0;
    let full = loop {
        let put = ada
            .force(
                REPO,
                &[
                    (&format!("{taken}.md"), &text),
                    ("last.md", &taken.to_string()),
                ],
            )
            .await;
        match put.status.as_u16() {
            200 => taken += 1,
            _ => break put,
        }
        assert!(taken < 20);
    };
    full.is(507, "storage-full");
    assert!(taken > 3, "{taken}");
    bed.client.get("/ready").await.is(200, "");
    let all = ada.pull(REPO).await.json();
    assert_eq!(all["version"], taken);
    assert_eq!(
        all["content"]["entries"]["last.md"],
        (taken - 1).to_string()
    );
    assert_eq!(
        all["content"]["entries"].as_object().unwrap().len(),
        taken + 1
    );
    // A small one still fits; and with more space everything does.
    ada.force(REPO, &[("last.md", "small")]).await.is(200, "");
    bed.server.take().unwrap().stop().await;
    bed.data = crate::bed::file(&path);
    let server = Server::start(&bed.data, "127.0.0.1:0", unhurried())
        .await
        .unwrap();
    let ada = ada.at(&crate::bed::Http::new(&server.address().to_string()));
    ada.force(REPO, &[("more.md", &text)]).await.is(200, "");
    assert_eq!(ada.pull(REPO).await.json()["version"], taken + 2);
    server.stop().await;
}

/// A disk of its own in memory, so small that it is full at once.
struct Disk(Folder);

impl Disk {
    fn mount() -> Option<Self> {
        let disk = Self(temporary());
        let is_mounted = disk.call("mount", &["-t", "tmpfs", "-o", "size=1m", "tmpfs"]);
        if !is_mounted {
            let line = "\nSKIPPED: no disk can be mounted here, so none is filled\n";
            std::io::stderr().write_all(line.as_bytes()).unwrap();
        }
        is_mounted.then_some(disk)
    }

    fn call(&self, program: &str, arguments: &[&str]) -> bool {
        let mut command = Command::new(program);
        let status = command
            .args(arguments)
            .arg(self.0.path())
            .stderr(Stdio::null())
            .status();
        status.is_ok_and(|status| status.success())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // What is still open in it goes with the last that has it open.
        self.call("umount", &["-l"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_told_and_a_larger_one_is_used() {
    let Some(disk) = Disk::mount() else { return };
    let data = crate::bed::file(&disk.0.path().join("team.db"));
    let bed = Bed::over(data, temporary(), unhurried()).await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    let text = "x".repeat(100_000);
    let mut taken = 0;
    let full = loop {
        let put = ada.force(REPO, &[(&format!("{taken}.md"), &text)]).await;
        match put.status.as_u16() {
            200 => taken += 1,
            _ => break put,
        }
        assert!(taken < 20);
    };
    full.is(507, "storage-full");
    let all = ada.pull(REPO).await.json();
    assert_eq!(all["content"]["entries"].as_object().unwrap().len(), taken);
    assert_eq!(all["version"], taken);
    assert!(disk.call("mount", &["-o", "remount,size=10m"]));
    bed.client.get("/ready").await.is(200, "");
    ada.force(REPO, &[("more.md", &text)]).await.is(200, "");
    assert_eq!(ada.pull(REPO).await.json()["version"], taken + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_locked_file_is_waited_for_and_then_given_up() {
    let bed = Bed::with(
        Kind::Sqlite,
        Limits {
            waiting: 1,
            ..unhurried()
        },
    )
    .await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    let Address::File { path, .. } = &bed.data else {
        panic!("no file")
    };
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path);
    let mut blocker = sqlx::ConnectOptions::connect(&options).await.unwrap();
    sqlx::query("BEGIN IMMEDIATE")
        .execute(&mut blocker)
        .await
        .unwrap();
    let put = |key: &'static str| {
        let ada = ada.clone();
        tokio::spawn(async move { ada.put(REPO, FIRST, &[(key, "x")]).await })
    };
    let first = put("a.md");
    tokio::time::sleep(Duration::from_millis(300)).await;
    let second = put("b.md");
    tokio::time::sleep(Duration::from_millis(300)).await;
    // One is under way and one waits: there is no place for a third.
    put("c.md").await.unwrap().is(503, "busy");
    ada.pull(REPO).await.is(404, "no-data");
    first.await.unwrap().is(503, "unavailable");
    sqlx::query("ROLLBACK").execute(&mut blocker).await.unwrap();
    second.await.unwrap().is(200, "");
    assert_eq!(
        ada.pull(REPO).await.json()["content"]["entries"]["b.md"],
        "x"
    );
}
