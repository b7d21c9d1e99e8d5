//! The client of every package against this server: what one side means, the other one understands.

use std::io::{Read, Write};
use std::net::TcpStream;

use memdir_core::ErrorCode;
use memdir_core::flow::{Bytes, Header, HttpAnswer};
use memdir_core::model::Key;
use memdir_core::report::ReportCode;
use memdir_core::store::{OpenOptions, Store};
use memdir_core::team::TeamOptions;
use memdir_simulation::{Exchange, Network, SimHost, Tree, team_files, team_options};
use memdir_team_server::Limits;

use crate::bed::{Bed, Kind, unhurried};
use crate::on_both;

const REPO: &str = "acme/app";

on_both!(
    two_folders_come_to_have_the_same,
    a_client_learns_how_many_entries_are_taken,
    a_client_without_rights_is_told,
    ten_clients_at_once_lose_nothing,
);

/// One exchange of the simulated host over a real socket.
fn over_socket(address: &str, request: &Exchange) -> HttpAnswer {
    let path = request.url.strip_prefix("https://team.example").unwrap();
    let body = request
        .body
        .as_ref()
        .map_or(&[][..], |body| body.as_bytes());
    let mut text = format!(
        "{} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n",
        request.method
    );
    for Header { name, value } in &request.headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(&[text.as_bytes(), body].concat()).unwrap();
    let mut said = Vec::new();
    stream.read_to_end(&mut said).unwrap();
    let end = said
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .unwrap();
    let head = String::from_utf8(said[..end].to_vec()).unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap();
    HttpAnswer {
        status: status.parse().unwrap(),
        headers: lines
            .map(|line| line.split_once(": ").unwrap())
            .map(|(name, value)| Header {
                name: name.to_owned(),
                value: value.to_owned(),
            })
            .collect(),
        body: Bytes(said[end + 4..].to_vec()),
    }
}

/// A machine with a team folder of these files; to be made on the thread that uses it.
struct Machine {
    host: SimHost,
    options: OpenOptions,
}

impl Machine {
    fn new(seed: u64, address: &str, token: &str, files: &[(&str, &str)]) -> Self {
        let mut tree = Tree::new();
        for (key, content) in files {
            tree.file(format!("/mem/team/{key}"), content);
        }
        let mut host = SimHost::with_tree(seed, tree);
        let address = address.to_owned();
        host.network = Some(Network::new(move |request| over_socket(&address, request)));
        let options = OpenOptions {
            team: Some(TeamOptions {
                token: Some(Key(token.to_owned())),
                ..team_options().team.unwrap()
            }),
            ..team_options()
        };
        Self { host, options }
    }

    fn sync(&mut self) -> Result<memdir_core::team::TeamSync, memdir_core::Error> {
        self.host.run(Store::new(self.options.clone()).team_sync())
    }

    fn edit(&mut self, key: &str, content: &str) {
        let now = self.host.clock_ms;
        self.host
            .tree
            .overwrite(format!("/mem/team/{key}"), content, now);
    }

    fn files(&self) -> std::collections::BTreeMap<String, String> {
        let mut files = team_files(&self.host.tree);
        files.retain(|key, _| !key.starts_with(".memdir/"));
        files
    }
}

/// A bed, its address and tokens of people who may write.
async fn bed(kind: Kind, limits: Limits, names: &[&str]) -> (Bed, String, Vec<String>) {
    let bed = Bed::with(kind, limits).await;
    let mut tokens = Vec::new();
    for name in names {
        tokens.push(bed.user(name, &["write acme/app"]).await.token);
    }
    let address = bed.client.address.clone();
    (bed, address, tokens)
}

async fn two_folders_come_to_have_the_same(kind: Kind) {
    let (bed, address, tokens) = bed(kind, unhurried(), &["ada", "bob"]).await;
    tokio::task::spawn_blocking(move || {
        let mut ada = Machine::new(
            1,
            &address,
            &tokens[0],
            &[("a.md", "a\n"), ("b/c.md", "c\n")],
        );
        let mut bob = Machine::new(2, &address, &tokens[1], &[]);
        assert_eq!(ada.sync().unwrap().sent, ["a.md", "b/c.md"]);
        assert_eq!(bob.sync().unwrap().received, ["a.md", "b/c.md"]);
        assert_eq!(bob.sync().unwrap(), memdir_core::team::TeamSync::default());
        bob.edit("a.md", "new\n");
        ada.edit("d.md", "d\n");
        assert_eq!(bob.sync().unwrap().sent, ["a.md"]);
        let result = ada.sync().unwrap();
        assert_eq!(
            (result.received, result.sent),
            (vec!["a.md".to_owned()], vec!["d.md".to_owned()])
        );
        bob.sync().unwrap();
        assert_eq!(bob.files(), ada.files());
        assert_eq!(bob.files()["a.md"], "new\n");
        // What both have changed is kept.
        bob.edit("a.md", "bob\n");
        ada.edit("a.md", "ada\n");
        bob.sync().unwrap();
        assert_eq!(ada.sync().unwrap().conflicts.len(), 1);
        assert_eq!(ada.files()["a.md"], "bob\n");
    })
    .await
    .unwrap();
    drop(bed);
}

async fn a_client_learns_how_many_entries_are_taken(kind: Kind) {
    let (bed, address, tokens) = bed(
        kind,
        Limits {
            entries: 2,
            ..unhurried()
        },
        &["ada"],
    )
    .await;
    tokio::task::spawn_blocking(move || {
        let files = [("a.md", "a"), ("b.md", "b"), ("c.md", "c")];
        let mut ada = Machine::new(1, &address, &tokens[0], &files);
        let result = ada.sync().unwrap();
        assert_eq!(result.sent, ["a.md", "b.md"]);
        assert!(!result.report.is_empty(), "{result:?}");
        // What is no entry for the team stays here, and the rest goes.
        let secret = crate::hostile::secret();
        ada.edit("b.md", &secret);
        ada.edit("a.md", "new");
        let result = ada.sync().unwrap();
        assert_eq!(result.sent, ["a.md"]);
        assert!(
            result
                .report
                .iter()
                .any(|entry| entry.code == ReportCode::SecretFound)
        );
    })
    .await
    .unwrap();
    drop(bed);
}

async fn a_client_without_rights_is_told(kind: Kind) {
    let (bed, address, _) = bed(kind, unhurried(), &[]).await;
    let reader = bed.user("rita", &["read acme/app"]).await.token;
    let stranger = bed.user("eve", &["write evil/app"]).await.token;
    tokio::task::spawn_blocking(move || {
        let unknown = format!("mdt_{}", "a".repeat(64));
        for token in [reader, stranger, unknown] {
            let mut machine = Machine::new(1, &address, &token, &[("a.md", "a")]);
            let error = machine.sync().unwrap_err();
            assert_eq!(error.code, ErrorCode::TeamAuth, "{error}");
            assert!(!error.message.contains(&token));
            assert_eq!(machine.files()["a.md"], "a");
        }
    })
    .await
    .unwrap();
    drop(bed);
}

async fn ten_clients_at_once_lose_nothing(kind: Kind) {
    let names: Vec<String> = (0..10).map(|number| format!("person {number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (bed, address, tokens) = bed(kind, unhurried(), &names).await;
    let threads: Vec<_> = tokens
        .iter()
        .enumerate()
        .map(|(number, token)| {
            let (address, token) = (address.clone(), token.clone());
            std::thread::spawn(move || {
                let seed = u64::try_from(number).unwrap();
                let mut machine = Machine::new(seed, &address, &token, &[]);
                for round in 0..4 {
                    let text = format!("{number} {round}\n");
                    machine.edit(&format!("{number}/{round}.md"), &text);
                    machine.edit(&format!("{number}/last.md"), &text);
                    // Whoever is overtaken too often says so, and is right the next time.
                    while let Err(error) = machine.sync() {
                        assert_eq!(error.code, ErrorCode::TeamConflict, "{error}");
                    }
                }
            })
        })
        .collect();
    let joined = tokio::task::spawn_blocking(move || {
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
    });
    joined.await.unwrap();
    let ada = bed.user("ada", &["read acme/app"]).await;
    let all = ada.pull(REPO).await.json();
    let entries = all["content"]["entries"].as_object().unwrap();
    assert_eq!(entries.len(), 50);
    for number in 0..10 {
        assert_eq!(
            entries[&format!("{number}/last.md")],
            format!("{number} 3\n")
        );
    }
}
