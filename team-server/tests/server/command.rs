//! The program itself: what it prints, what it keeps to itself, and how it ends.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use crate::bed::{Http, User, temporary};
use crate::hostile::secret;

const REPO: &str = "acme/app";
const FIRST: &[(&str, &str)] = &[("if-none-match", "*")];

/// The program, in a folder, with nothing of the environment that it reads.
pub fn program(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memdir-team-server"));
    command.args(arguments).current_dir(folder);
    command.env_remove("MEMDIR_TEAM_DATABASE");
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    program(folder, arguments).output().unwrap()
}

/// What it printed, if it ended well.
pub fn printed(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// A server as a process of its own.
pub struct Process {
    child: Child,
    pub http: Http,
    log: BufReader<std::process::ChildStdout>,
}

impl Process {
    pub fn start(folder: &Path, arguments: &[&str]) -> Self {
        let all = [
            arguments,
            &[
                "--listen",
                "127.0.0.1:0",
                "--rate",
                "100000",
                "--burst",
                "100000",
            ],
        ];
        let mut command = program(folder, &all.concat());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut log = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        log.read_line(&mut line).unwrap();
        let line: Value = serde_json::from_str(&line).unwrap();
        let address = line["address"].as_str().unwrap();
        let http = Http::new(address.strip_prefix("http://").unwrap());
        Self { child, http, log }
    }

    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let mut kill = Command::new("kill");
        assert!(kill.args(["-s", name, &id]).status().unwrap().success());
    }

    /// What it said until its end: code, log, standard error.
    pub fn end(&mut self) -> (Option<i32>, String, String) {
        let (mut log, mut told) = (String::new(), String::new());
        self.log.read_to_string(&mut log).unwrap();
        let mut stderr = self.child.stderr.take().unwrap();
        stderr.read_to_string(&mut told).unwrap();
        (self.child.wait().unwrap().code(), log, told)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_but_a_token_is_needed() {
    let folder = temporary();
    let mut process = Process::start(folder.path(), &["--data", "./my team.db"]);
    let create = [
        "token", "create", "--name", "ada", "--repo", REPO, "--write",
    ];
    let data = ["--data", "./my team.db"];
    let output = run(folder.path(), &[&create[..], &data].concat());
    let token = String::from_utf8(output.stdout).unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        !told.contains(token.trim()) && told.contains("ada"),
        "{told}"
    );
    let ada = User {
        token: token.trim().to_owned(),
        http: process.http.clone(),
    };
    ada.put(REPO, FIRST, &[("a.md", "one")]).await.is(200, "");
    ada.force(REPO, &[("a.md", "two")]).await.is(200, "");

    let history = printed(
        folder.path(),
        &[&["history", REPO, "a.md"][..], &data].concat(),
    );
    assert_eq!(history.lines().count(), 2, "{history}");
    let restored = printed(
        folder.path(),
        &[&["restore", REPO, "a.md", "1"][..], &data].concat(),
    );
    assert_eq!(restored, "3\n");
    assert_eq!(
        ada.pull(REPO).await.json()["content"]["entries"]["a.md"],
        "one"
    );
    let tokens = printed(folder.path(), &[&["token", "list"][..], &data].concat());
    let id = tokens.split('\t').next().unwrap();
    printed(
        folder.path(),
        &[&["token", "revoke", id][..], &data].concat(),
    );
    ada.pull(REPO).await.is(401, "unauthorized");

    process.signal("TERM");
    let (code, log, told) = process.end();
    assert_eq!(code, Some(0), "{told}");
    assert!(log.contains("stopping") && log.contains("stopped"), "{log}");
    // The exact lines to copy.
    let address = format!("http://{}", process.http.address);
    for line in [
        "  memdir-team-server token create --name ada --repo acme/app --write --data './my team.db'",
        &format!("  export MEMDIR_TEAM_URL={address}"),
        "  export MEMDIR_TEAM_TOKEN=...",
    ] {
        assert!(told.lines().any(|found| found == line), "{line} in {told}");
    }
    // All is in the one file again, and nobody told a second time.
    let names = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["my team.db"]);
    let mut again = Process::start(folder.path(), &data);
    again.signal("INT");
    assert_eq!(again.end().2, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn logs_hold_no_contents_no_keys_and_no_tokens() {
    let folder = temporary();
    let create = [
        "token", "create", "--name", "ada", "--repo", REPO, "--write",
    ];
    let token = printed(folder.path(), &create);
    let mut process = Process::start(folder.path(), &[]);
    let ada = User {
        token: token.trim().to_owned(),
        http: process.http.clone(),
    };
    let secret = secret();
    ada.put(REPO, FIRST, &[("private-key-name.md", "private-content")])
        .await
        .is(200, "");
    ada.force(REPO, &[("b.md", &secret)])
        .await
        .is(422, "secrets-found");
    ada.force(REPO, &[(&format!("{secret}.md"), "x")])
        .await
        .is(422, "secrets-found");
    ada.put_body(REPO, FIRST, format!("{{\"entries\":[\"{secret}\"]}}"))
        .await
        .is(400, "invalid-request");
    ada.force(REPO, &[("../private-key-name", "x")])
        .await
        .is(422, "invalid-key");
    let path = format!("/api/history?repo={REPO}&key={secret}&token={}", ada.token);
    ada.send("GET", &path, &[("x-secret", &secret)], "")
        .await
        .is(200, "");
    ada.send("GET", &format!("/{secret}"), &[], "")
        .await
        .is(404, "not-found");
    ada.pull(&format!("acme/{secret}"))
        .await
        .is(403, "forbidden");
    let last = ada.pull(REPO).await;
    process.signal("TERM");
    let (_, log, told) = process.end();
    for hidden in [
        secret.as_str(),
        ada.token.as_str(),
        "private-content",
        "private-key-name",
    ] {
        assert!(
            !log.contains(hidden) && !told.contains(hidden),
            "{hidden} in {log}{told}"
        );
    }
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let id = last.header("x-request-id");
    let line = lines
        .iter()
        .find(|line| line["span"]["request_id"] == id)
        .unwrap();
    assert_eq!(
        (&line["status"], &line["message"]),
        (&200.into(), &"answered".into())
    );
    let span = &line["span"];
    assert_eq!(
        (&span["person"], &span["repository"]),
        (&"ada".into(), &REPO.into())
    );
    // Nor does the data hold what was refused.
    let data = std::fs::read(folder.path().join("team.db")).unwrap();
    for hidden in [secret.as_bytes(), ada.token.as_bytes()] {
        assert!(!data.windows(hidden.len()).any(|window| window == hidden));
    }
}

#[test]
fn what_cannot_be_done_is_said_in_one_line() {
    let folder = temporary();
    let cases: [(&[&str], i32, &str); 8] = [
        (&["--nonsense"], 2, "nonsense"),
        (&["token", "create", "--name", "ada"], 2, "--repo"),
        (&["token", "revoke", "nobody"], 1, "no token"),
        (&["history", "acme/none"], 1, "no such"),
        (&["restore", REPO, "a.md", "1"], 1, "no such version"),
        (&["--data", "/nowhere/team.db"], 1, "/nowhere/team.db"),
        (&["--data", "other.db", "--listen", "nowhere"], 1, "nowhere"),
        (
            &["--database", "postgres://ada:hunter2@127.0.0.1:1/x"],
            1,
            "database",
        ),
    ];
    for (arguments, code, said) in cases {
        let output = run(folder.path(), arguments);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {told}");
        assert!(
            told.contains(said) && told.lines().count() == 1,
            "{arguments:?}: {told}"
        );
        assert!(!told.contains("hunter2"), "{told}");
        assert!(output.stdout.is_empty());
    }
    assert!(printed(folder.path(), &["--help"]).contains("usage: memdir-team-server"));
    let version = format!("memdir-team-server {}\n", memdir_core::VERSION);
    assert_eq!(printed(folder.path(), &["--version"]), version);
    let description: Value = serde_json::from_str(&printed(folder.path(), &["openapi"])).unwrap();
    assert_eq!(&description, crate::bed::openapi());
}
