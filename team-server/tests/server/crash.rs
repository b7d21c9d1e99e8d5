//! A server that is killed under load has everything that it said it has.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::task::JoinSet;

use crate::bed::{User, temporary};
use crate::command::{Process, printed};

/// Writes until the server is gone; gives what was acknowledged, and the one that may have been taken.
async fn write(user: User, writer: usize) -> (Vec<String>, String) {
    let mut acknowledged = Vec::new();
    // Half of them share a repository, the others have one each.
    let repo = if writer.is_multiple_of(2) {
        "acme/shared".to_owned()
    } else {
        format!("acme/{writer}")
    };
    for number in 0.. {
        let key = format!("{writer}/{number}.md");
        let path = format!("/api/claude_code/team_memory?repo={repo}");
        let body = crate::bed::body(&[(&key, &key)]);
        loop {
            let condition = match user
                .try_send("GET", &format!("{path}&view=hashes"), &[], "")
                .await
            {
                Ok(answer) if answer.status == 404 => ("if-none-match", "*".to_owned()),
                Ok(answer) => ("if-match", answer.header("etag").to_owned()),
                Err(_) => return (acknowledged, key),
            };
            let headers = [(condition.0, condition.1.as_str())];
            match user.try_send("PUT", &path, &headers, body.clone()).await {
                Ok(answer) if answer.status == 200 => break acknowledged.push(key),
                Ok(answer) => answer.is(412, "outdated"),
                Err(_) => return (acknowledged, key),
            }
        }
    }
    (acknowledged, String::new())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_survives_a_kill() {
    let folder = temporary();
    let create = ["token", "create", "--name", "ada", "--repo", "*", "--write"];
    let token = printed(folder.path(), &create).trim().to_owned();
    let mut expected: BTreeMap<usize, (Vec<String>, Vec<String>)> = BTreeMap::new();
    for round in 0..5 {
        let process = Process::start(folder.path(), &[]);
        let ada = User {
            token: token.clone(),
            http: process.http.clone(),
        };
        let mut writers = JoinSet::new();
        for writer in (round * 10)..(round * 10 + 10) {
            let ada = ada.clone();
            writers.spawn(async move { (writer, write(ada, writer).await) });
        }
        tokio::time::sleep(Duration::from_millis(
            700 + 130 * u64::try_from(round).unwrap(),
        ))
        .await;
        process.signal("KILL");
        drop(process);
        let mut total = 0;
        for (writer, (acknowledged, unsure)) in writers.join_all().await {
            total += acknowledged.len();
            expected.insert(writer, (acknowledged, vec![unsure]));
        }
        assert!(total > 10, "only {total} uploads in round {round}");

        let process = Process::start(folder.path(), &[]);
        let ada = User {
            token: token.clone(),
            http: process.http.clone(),
        };
        let listed = ada.send("GET", "/api/repositories", &[], "").await.json();
        let mut found = BTreeMap::new();
        for head in listed["repositories"].as_array().unwrap() {
            let all = ada.pull(head["repo"].as_str().unwrap()).await.json();
            let entries: BTreeMap<String, String> =
                serde_json::from_value(all["content"]["entries"].clone()).unwrap();
            // Each upload had one entry, so there are as many versions; none is there by half.
            assert_eq!(all["version"], entries.len());
            found.extend(entries);
        }
        for (acknowledged, _) in expected.values() {
            for key in acknowledged {
                assert_eq!(found.get(key), Some(key), "round {round}");
            }
        }
        let known: usize = expected
            .values()
            .map(|(known, unsure)| known.len() + unsure.len())
            .sum();
        assert!(found.len() <= known);
    }
}
