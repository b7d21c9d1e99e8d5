//! A team's server that is slow, broken or hostile, and what a sync makes of it: a clear error or a report,
//! no partial file, nothing outside the team folder.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::cell::Cell;
use std::rc::Rc;

use memdir_core::ErrorCode;
use memdir_core::flow::{Bytes, Clock, Effect, FailureCode, HttpAnswer, Outcome};
use memdir_core::report::ReportCode;
use memdir_core::store::{OpenOptions, Store};
use memdir_core::team::{TeamSync, checksum};
use memdir_simulation::{
    Attempt, Body, Exchange, Fault, FaultKind, HOST_ID, Network, SimHost, TeamServer, Tree,
    team_files, team_options,
};

fn tree(files: &[(&str, &str)]) -> Tree {
    let mut tree = Tree::new();
    tree.file("/mem/private.md", "private\n");
    for (key, content) in files {
        tree.file(format!("/mem/team/{key}"), content);
    }
    tree
}

fn machine(network: Network, files: &[(&str, &str)]) -> SimHost {
    let mut host = SimHost::with_tree(1, tree(files));
    host.network = Some(network);
    host
}

fn scripted(attempts: Vec<Attempt<HttpAnswer>>) -> SimHost {
    machine(Network::scripted(attempts), &[("a.md", "a\n")])
}

fn pull(host: &mut SimHost) -> Result<TeamSync, ErrorCode> {
    let result = host.run(Store::new(team_options()).team_pull());
    result.map_err(|error| {
        assert!(!error.message.contains("t0ken"), "{error}");
        error.code
    })
}

fn push(host: &mut SimHost) -> Result<TeamSync, ErrorCode> {
    let result = host.run(Store::new(team_options()).team_push());
    result.map_err(|error| error.code)
}

/// An answer with one entry.
fn entry(key: &str, content: &str) -> String {
    let entries = serde_json::json!({ key: content });
    serde_json::json!({ "version": 1, "checksum": "v1", "content": { "entries": entries } })
        .to_string()
}

fn asked(host: &SimHost) -> usize {
    let http = |effect: &&Effect| matches!(effect, Effect::Http { .. });
    host.trace
        .iter()
        .map(|traced| &traced.effect)
        .filter(http)
        .count()
}

#[test]
fn what_is_no_answer_is_an_error_and_changes_nothing() {
    let good = entry("b.md", "b\n");
    let cases = [
        (
            Attempt::http(200, &[], "<html>Sign in</html>"),
            ErrorCode::TeamAnswer,
        ),
        (
            Attempt::http(200, &[], &good).cut(40),
            ErrorCode::TeamAnswer,
        ),
        (Attempt::http(200, &[], "{}"), ErrorCode::TeamAnswer),
        (Attempt::http(200, &[], "[1]"), ErrorCode::TeamAnswer),
        (Attempt::fail(FailureCode::TooLarge), ErrorCode::TeamAnswer),
        (
            Attempt::http(302, &[("location", "https://evil.example/")], ""),
            ErrorCode::TeamRefused,
        ),
        (Attempt::http(400, &[], "no"), ErrorCode::TeamRefused),
        (
            Attempt::http(401, &[], "{\"error\":{\"message\":\"bad t0ken\"}}"),
            ErrorCode::TeamAuth,
        ),
        (Attempt::http(403, &[], ""), ErrorCode::TeamAuth),
        (Attempt::http(304, &[], ""), ErrorCode::TeamRefused),
        (
            Attempt::fail(FailureCode::Unsupported),
            ErrorCode::Unsupported,
        ),
    ];
    for (attempt, code) in cases {
        let shown = format!("{attempt:?}");
        let mut host = scripted(vec![attempt]);
        let before = team_files(&host.tree);
        assert_eq!(pull(&mut host), Err(code), "{shown}");
        assert_eq!(asked(&host), 1, "{shown}: not worth another try");
        assert_eq!(team_files(&host.tree), before);
    }
}

#[test]
fn what_may_mend_itself_is_tried_three_more_times() {
    let good = entry("b.md", "b\n");
    for attempt in [
        Attempt::http(500, &[], ""),
        Attempt::http(503, &[], ""),
        Attempt::http(429, &[], ""),
        Attempt::fail(FailureCode::Network),
        Attempt::hang(),
    ] {
        let mut attempts = vec![attempt.clone(); 3];
        attempts.push(Attempt::http(200, &[], &good));
        let mut host = scripted(attempts);
        assert_eq!(pull(&mut host).unwrap().received, ["b.md"], "{attempt:?}");

        let mut host = scripted(vec![attempt.clone(); 5]);
        let before = host.clock_ms;
        let code = pull(&mut host).unwrap_err();
        let known = [ErrorCode::TeamBusy, ErrorCode::Network, ErrorCode::Timeout];
        assert!(known.contains(&code), "{attempt:?}: {code:?}");
        assert_eq!(asked(&host), 4);
        let pauses: u64 = sleeps(&host).iter().sum();
        // 500, 1,000, 2,000 ms, each up to a quarter more.
        assert!((3_500..=4_375).contains(&pauses), "{pauses}");
        let silent = if attempt == Attempt::hang() {
            4 * 30_000
        } else {
            0
        };
        assert!(host.clock_ms - before <= 4_375 + silent);
    }
}

fn sleeps(host: &SimHost) -> Vec<u64> {
    let sleep = |effect: &Effect| match effect {
        Effect::Sleep { ms } => Some(*ms),
        _ => None,
    };
    host.trace
        .iter()
        .filter_map(|traced| sleep(&traced.effect))
        .collect()
}

#[test]
fn a_server_says_when_to_come_back() {
    let good = entry("b.md", "b\n");
    let mut host = scripted(vec![
        Attempt::http(429, &[("retry-after", "7")], ""),
        Attempt::http(200, &[], &good),
    ]);
    pull(&mut host).unwrap();
    assert_eq!(sleeps(&host), [7_000]);
    // Nobody waits for an hour.
    let mut host = scripted(vec![Attempt::http(503, &[("retry-after", "3600")], "")]);
    assert_eq!(pull(&mut host), Err(ErrorCode::TeamBusy));
    assert_eq!(sleeps(&host), [0; 0]);
}

#[test]
fn what_is_not_what_its_checksum_says_is_left_out() {
    let body = serde_json::json!({
        "checksum": "v1",
        "content": {
            "entries": { "a.md": "forged\n", "b.md": "b\n" },
            "entryChecksums": { "a.md": checksum("true\n"), "b.md": checksum("b\n") },
        },
    });
    let mut host = scripted(vec![Attempt::http(200, &[], &body.to_string())]);
    let result = pull(&mut host).unwrap();
    assert_eq!(result.received, ["b.md"]);
    assert_eq!(result.report[0].code, ReportCode::TeamChecksum);
    assert_eq!(team_files(&host.tree)["a.md"], "a\n");
}

#[test]
fn one_entry_that_is_no_text_does_not_keep_the_others_away() {
    for entry in [
        r#""a.md":null"#,
        r#""a.md":{"b":[1]}"#,
        // Half of a surrogate pair, which JSON can say and no text can hold.
        r#""a.md":"\ud800""#,
        r#""a.md":"x\udc00\ud800\ny""#,
        r#""\ud800.md":"a\n""#,
    ] {
        let body = format!(
            r#"{{"content":{{"entries":{{{entry},"b.md":"b\n","é\u00e9\ud83d\ude00.md":"\ud83d\ude00"}}}}}}"#
        );
        let mut host = scripted(vec![Attempt::http(200, &[], &body)]);
        let result = pull(&mut host).unwrap();
        assert_eq!(
            result.received,
            ["b.md", "\u{e9}\u{e9}\u{1f600}.md"],
            "{entry}"
        );
        assert_eq!(
            team_files(&host.tree)["\u{e9}\u{e9}\u{1f600}.md"],
            "\u{1f600}"
        );
        let codes: Vec<_> = result.report.iter().map(|entry| entry.code).collect();
        assert_eq!(codes, [ReportCode::TeamChecksum], "{entry}");
    }
    // What is no JSON at all is no answer.
    let body = r#"{"content":{"entries":{"a.md":"\ud8","b.md":"b\n"}}}"#;
    let mut host = scripted(vec![Attempt::http(200, &[], body)]);
    assert_eq!(pull(&mut host), Err(ErrorCode::TeamAnswer));
}

/// Each fails by itself, and what comes after them comes all the same.
#[test]
fn entries_below_a_link_that_leads_in_a_circle_are_left_out() {
    let server = TeamServer::with(&[("zz.md", "z\n")]);
    for number in 0..40 {
        server.set(&format!("loop/{number}.md"), "x\n");
    }
    let mut tree = tree(&[]);
    tree.link("/mem/team/loop", "loop");
    let mut host = SimHost::with_tree(1, tree);
    host.network = Some(server.network());
    let result = pull(&mut host).unwrap();
    assert_eq!(result.received, ["zz.md"]);
    assert_eq!(result.report.len(), 40);
}

#[test]
fn ten_thousand_entries_come_in_one_go() {
    let server = TeamServer::default();
    for number in 0..10_000 {
        server.set(&format!("m{number}.md"), "x\n");
    }
    let mut host = machine(server.network(), &[]);
    assert_eq!(pull(&mut host).unwrap().received.len(), 10_000);
    assert_eq!(team_files(&host.tree).len(), 10_000);
}

#[test]
fn a_full_disk_leaves_whole_files_and_the_next_pull_goes_on() {
    let server = TeamServer::default();
    for number in 0..100 {
        server.set(&format!("m{number}.md"), "long enough\n");
    }
    let mut host = machine(server.network(), &[]);
    // Somewhere in the second portion.
    host.faults.push(Fault {
        at: 150,
        kind: FaultKind::Fail(FailureCode::NoSpace),
    });
    assert_eq!(pull(&mut host), Err(ErrorCode::NoSpace));
    let files = team_files(&host.tree);
    assert!(files.len() < 100);
    assert!(files.values().all(|text| text == "long enough\n"));
    host.faults.clear();
    pull(&mut host).unwrap();
    assert_eq!(team_files(&host.tree).len(), 100);
}

#[test]
fn a_team_folder_that_is_a_link_is_refused_and_links_in_it_are_left_out() {
    let server = TeamServer::with(&[("a.md", "theirs\n"), ("b.md", "b\n")]);
    let mut tree = Tree::new();
    tree.file("/elsewhere/a.md", "mine\n");
    tree.link("/mem/team", "/elsewhere");
    let mut host = SimHost::with_tree(1, tree);
    host.network = Some(server.network());
    assert_eq!(pull(&mut host), Err(ErrorCode::LinkOutside));
    assert_eq!(push(&mut host), Err(ErrorCode::LinkOutside));

    let mut tree = Tree::new();
    tree.file("/mem/private.md", "private\n");
    tree.link("/mem/team/a.md", "/mem/private.md");
    tree.put("/mem/team/deep", Body::Link(b"/elsewhere".to_vec()));
    let mut host = SimHost::with_tree(1, tree);
    host.network = Some(server.network());
    let result = pull(&mut host).unwrap();
    assert_eq!(result.received, ["b.md"]);
    assert_eq!(result.report[0].code, ReportCode::TeamLink);
    let result = push(&mut host).unwrap();
    let links = result
        .report
        .iter()
        .filter(|entry| entry.code == ReportCode::TeamLink);
    assert_eq!((links.count(), result.sent.len()), (2, 0));
    let private = host
        .tree
        .nodes()
        .get(b"/mem/private.md".as_slice())
        .unwrap();
    assert_eq!(private.body, Body::File(b"private\n".to_vec()));
}

/// Somebody is faster every time, with another memory than ours.
#[test]
fn a_storm_of_other_edits_ends_in_a_conflict_and_the_next_push_goes_on() {
    let server = TeamServer::with(&[("other.md", "0")]);
    let storm = server.clone();
    let mut left = 100;
    let network = Network::new(move |request: &Exchange| {
        if request.method == "PUT" && left > 0 {
            left -= 1;
            storm.set("other.md", &left.to_string());
        }
        storm.answer(request)
    });
    let mut host = machine(network, &[("a.md", "a\n")]);
    assert_eq!(push(&mut host), Err(ErrorCode::TeamConflict));
    let puts = server
        .requests()
        .iter()
        .filter(|line| line.starts_with("PUT"))
        .count();
    assert_eq!(puts, 3, "the first try and two more");
    host.network = Some(server.network());
    assert_eq!(push(&mut host).unwrap().sent, ["a.md"]);
}

#[test]
fn a_file_that_changes_while_it_is_uploaded_goes_next_time() {
    let server = TeamServer::default();
    let mut host = machine(server.network(), &[("a.md", "first\n")]);
    host.script = Some(Box::new(|effect, tree| {
        if matches!(effect, Effect::Http { method, .. } if method == "PUT") {
            tree.overwrite("/mem/team/a.md", "second\n", 1_773_570_700_000);
        }
        None
    }));
    push(&mut host).unwrap();
    host.script = None;
    assert_eq!(server.entries()["a.md"], "first\n");
    assert_eq!(push(&mut host).unwrap().sent, ["a.md"]);
    assert_eq!(server.entries()["a.md"], "second\n");
}

#[test]
fn a_token_is_asked_for_and_once_more_when_it_is_refused() {
    let server = TeamServer::with(&[("a.md", "a\n")]);
    let mut open = team_options();
    if let Some(team) = &mut open.team {
        team.token = None;
        team.ask_token = true;
    }
    let mut host = machine(server.network(), &[]);
    let mut tokens = vec!["t0ken", "old"];
    host.token = Some(Box::new(move || {
        Attempt::answer(tokens.pop().unwrap_or("none").to_owned())
    }));
    let result = host.run(Store::new(open.clone()).team_pull()).unwrap();
    assert_eq!(result.received, ["a.md"]);
    // Neither the old nor the new one is said back.
    let mut network = Network::new(|request: &Exchange| {
        let token = request
            .headers
            .iter()
            .find(|header| header.name == "authorization");
        let said = token.map_or("", |header| header.value.as_str());
        let (status, said) = if said.ends_with("old") {
            (401, said)
        } else {
            (403, "old and new")
        };
        let body = serde_json::json!({ "error": { "message": said } });
        HttpAnswer {
            status,
            headers: Vec::new(),
            body: Bytes(body.to_string().into_bytes()),
        }
    });
    std::mem::swap(&mut network, host.network.as_mut().unwrap());
    let mut tokens = vec!["new", "old"];
    host.token = Some(Box::new(move || {
        Attempt::answer(tokens.pop().unwrap_or("none").to_owned())
    }));
    let error = host.run(Store::new(open.clone()).team_pull()).unwrap_err();
    assert!(error.message.contains("((token) and (token))"), "{error}");
    host.network = Some(network);
    host.token = Some(Box::new(|| Attempt::answer("never".to_owned())));
    let error = host.run(Store::new(open.clone()).team_pull()).unwrap_err();
    assert_eq!(error.code, ErrorCode::TeamAuth);
    host.token = Some(Box::new(|| Attempt::answer(" ".to_owned())));
    let error = host.run(Store::new(open).team_pull()).unwrap_err();
    assert_eq!(error.code, ErrorCode::NoToken);
}

#[test]
fn what_is_missing_is_said() {
    let pull = |edit: &dyn Fn(&mut OpenOptions)| {
        let mut options = team_options();
        edit(&mut options);
        let mut host = machine(TeamServer::default().network(), &[]);
        host.run(Store::new(options).team_pull()).unwrap_err().code
    };
    let team = |options: &mut OpenOptions, edit: &dyn Fn(&mut memdir_core::team::TeamOptions)| {
        edit(options.team.as_mut().unwrap());
    };
    assert_eq!(pull(&|o| team(o, &|t| t.url = None)), ErrorCode::NoServer);
    assert_eq!(pull(&|o| team(o, &|t| t.token = None)), ErrorCode::NoToken);
    assert_eq!(
        pull(&|o| team(o, &|t| t.repository = None)),
        ErrorCode::NoRepository
    );
    let wrong = |o: &mut OpenOptions| team(o, &|t| t.repository = Some("app".to_owned()));
    assert_eq!(pull(&wrong), ErrorCode::InvalidArgument);
    let off = |o: &mut OpenOptions| o.settings = Some("{\"autoMemoryEnabled\":false}".to_owned());
    assert_eq!(pull(&off), ErrorCode::Disabled);
}

#[test]
fn the_repository_is_that_of_the_git_remote() {
    let server = TeamServer::with(&[("a.md", "a\n")]);
    let mut tree = Tree::new();
    tree.file(
        "/code/app/.git/config",
        "[remote \"origin\"]\n\turl = git@git.example:acme/app.git\n",
    );
    tree.file("/code/app/src/x", "");
    let mut host = SimHost::with_tree(1, tree);
    host.network = Some(server.network());
    let mut options = team_options();
    options.cwd = Some("/code/app/src".to_owned());
    options.team.as_mut().unwrap().repository = None;
    let store = Store::new(options);
    let status = host.run(store.team_status()).unwrap();
    assert_eq!(status.repository.as_deref(), Some("acme/app"));
    host.run(store.team_pull()).unwrap();
    assert_eq!(server.requests(), ["GET repo=acme/app 200"]);
}

#[test]
fn closing_uploads_what_is_left_and_says_what_it_could_not() {
    let server = TeamServer::default();
    let mut host = machine(server.network(), &[("a.md", "a\n")]);
    let store = Store::new(team_options());
    host.run(store.team_sync()).unwrap();
    host.tree
        .overwrite("/mem/team/a.md", "new\n", 1_773_570_700_000);
    host.run(store.close()).unwrap();
    assert_eq!(server.entries()["a.md"], "new\n");

    let store = Store::new(team_options());
    host.run(store.team_sync()).unwrap();
    host.tree
        .overwrite("/mem/team/a.md", "newer\n", 1_773_570_800_000);
    host.network = Some(Network::serving(|_| Attempt::hang()));
    let before = host.clock_ms;
    host.events.clear();
    host.run(store.close()).unwrap();
    assert!(host.clock_ms - before <= 2_000);
    let told: Vec<_> = host
        .events
        .iter()
        .map(|event| event.path.as_deref())
        .collect();
    assert_eq!(told, [Some("team/a.md")]);
    // A store that never spoke to the server does not begin to when it is closed.
    let before = asked(&host);
    host.run(Store::new(team_options()).close()).unwrap();
    assert_eq!(asked(&host), before);
}

/// A machine on which this was edited since the last sync, with the store that is to be closed.
fn edited(server: &TeamServer, edits: &[(&str, &str)]) -> (SimHost, Store) {
    let mut host = machine(server.network(), &[("old.md", "old\n")]);
    let store = Store::new(team_options());
    host.run(store.team_sync()).unwrap();
    for (key, text) in edits {
        let now = host.clock_ms;
        host.tree.overwrite(format!("/mem/team/{key}"), text, now);
    }
    (host, store)
}

/// Closes a store: how long it takes, and what it says of which file.
fn close(host: &mut SimHost, store: &Store) -> (i64, Vec<(Option<String>, String)>) {
    let before = host.clock_ms;
    host.events.clear();
    host.run(store.close()).unwrap();
    let events = host.events.drain(..);
    let told = events.map(|event| {
        assert_eq!(event.code.as_deref(), Some("team-not-sent"));
        (event.path, event.message)
    });
    let told = told.collect();
    (host.clock_ms - before, told)
}

/// A lock of a program that runs.
fn hold_the_lock(host: &mut SimHost) {
    host.processes.insert(99);
    let body = format!("{{\"token\":\"00\",\"hostId\":\"{HOST_ID}\",\"pid\":99}}");
    host.tree.file("/mem/.memdir/lock", &body);
}

#[test]
fn closing_waits_no_longer_for_the_lock_than_for_the_server() {
    let server = TeamServer::default();
    let (mut host, store) = edited(&server, &[("a.md", "a\n")]);
    hold_the_lock(&mut host);
    let (took_ms, told) = close(&mut host, &store);
    // One pause for the lock, of at most 32 ms, may have begun.
    assert!((2_000..=2_032).contains(&took_ms), "{took_ms}");
    assert_eq!(server.entries()["a.md"], "a\n");
    assert_eq!(told, [], "the server has it");
    // What could not be written down is found out the next time, and not uploaded again.
    host.tree.take("/mem/.memdir/lock");
    let uploaded = server.uploaded();
    push(&mut host).unwrap();
    assert_eq!(server.uploaded(), uploaded);
    assert_eq!(push(&mut host).unwrap(), TeamSync::default());

    // What is too much for one upload is told, as far as it did not go.
    let large = "x".repeat(150_000);
    let edits = [("b.md", large.as_str()), ("c.md", large.as_str())];
    let (mut host, store) = edited(&server, &edits);
    hold_the_lock(&mut host);
    let (took_ms, told) = close(&mut host, &store);
    assert!((2_000..=2_032).contains(&took_ms), "{took_ms}");
    assert!(server.entries().contains_key("b.md") && !server.entries().contains_key("c.md"));
    let paths: Vec<_> = told.iter().map(|(path, _)| path.as_deref()).collect();
    assert_eq!(paths, [Some("team/c.md")]);
}

#[test]
fn closing_knows_what_an_upload_before_has_reached() {
    let server = TeamServer::default();
    let (mut host, store) = edited(&server, &[("a.md", "a\n"), ("b.md", "b\n")]);
    // A teammate has written the same as one of them.
    server.set("a.md", "a\n");
    hold_the_lock(&mut host);
    let (took_ms, told) = close(&mut host, &store);
    assert!((2_000..=2_032).contains(&took_ms), "{took_ms}");
    let paths: Vec<_> = told.iter().map(|(path, _)| path.as_deref()).collect();
    assert_eq!(paths, [Some("team/b.md")]);
}

#[test]
fn closing_takes_two_seconds_whatever_the_server_does() {
    let slow = |ms: u64| {
        let server = TeamServer::default();
        let mut host = machine(Network::serving(|_| Attempt::hang()), &[("a.md", "a\n")]);
        let store = Store::new(team_options());
        // What the server has is not known.
        host.run(store.team_pull()).unwrap_err();
        let answering = server.clone();
        host.network = Some(Network::serving(move |request| {
            Attempt::answer(answering.answer(request)).after(ms)
        }));
        let (took_ms, told) = close(&mut host, &store);
        let paths: Vec<_> = told.into_iter().map(|(path, _)| path).collect();
        (took_ms, paths, server.requests().len())
    };
    let told = vec![Some("team/a.md".to_owned())];
    assert_eq!(slow(900), (1_800, vec![], 2));
    assert_eq!(slow(1_500), (2_000, told.clone(), 2));
    assert_eq!(slow(60_000), (2_000, told, 1));
}

#[test]
fn closing_does_not_read_a_large_folder_to_its_end() {
    let server = TeamServer::default();
    let (mut host, store) = edited(&server, &[]);
    let _ = server.requests();
    for number in 0..2_000 {
        host.tree.file(format!("/mem/team/m{number}.md"), "x\n");
    }
    // A disk that takes 10 ms for each file.
    let (start_ms, reads) = (host.clock_ms, Rc::new(Cell::new(0)));
    let counted = Rc::clone(&reads);
    host.script = Some(Box::new(move |effect, _| match effect {
        Effect::Now => Some(Outcome::Now(Clock {
            ms: start_ms + 10 * counted.get(),
            offset_minutes: 0,
        })),
        Effect::Read { .. } => {
            counted.set(counted.get() + 1);
            None
        }
        _ => None,
    }));
    let (_, told) = close(&mut host, &store);
    // What was asked for at once is read, twice.
    assert!(
        reads.get() <= (2_000 + 250) / 10 + 2 * 64 + 20,
        "{}",
        reads.get()
    );
    let [(None, message)] = told.as_slice() else {
        panic!("{told:?}");
    };
    assert!(
        message.starts_with("the team's memories are not uploaded: "),
        "{message}"
    );
    assert_eq!(server.requests(), [""; 0]);
}

#[test]
fn a_watched_folder_is_uploaded_when_it_rests() {
    let server = TeamServer::default();
    let mut host = machine(server.network(), &[("a.md", "a\n")]);
    let store = Store::new(team_options());
    let closing = store.clone();
    let mut looks = 0;
    host.script = Some(Box::new(move |effect, tree| {
        // Each sleep is a look at the folder: two edits close to each other, and later the end.
        if matches!(effect, Effect::Sleep { .. }) {
            looks += 1;
            match looks {
                2 => tree.overwrite("/mem/team/a.md", "one\n", 1_773_570_700_000),
                3 => tree.overwrite("/mem/team/a.md", "two\n", 1_773_570_701_000),
                9 => drop(closing.close()),
                _ => {}
            }
        }
        None
    }));
    host.run(store.team_watch(None)).unwrap();
    assert!(server.took("a.md", "two\n") && !server.took("a.md", "one\n"));
    let puts = server
        .requests()
        .iter()
        .filter(|line| line.starts_with("PUT"))
        .count();
    assert_eq!(puts, 2, "one at the beginning, one for both edits");
}

#[test]
fn what_will_not_mend_itself_stops_the_uploads_until_a_file_goes() {
    let mut host = machine(
        Network::serving(|_| Attempt::http(403, &[], "")),
        &[("a.md", "a\n"), ("b.md", "b\n")],
    );
    let store = Store::new(team_options());
    let closing = store.clone();
    let mut looks = 0;
    host.script = Some(Box::new(move |effect, tree| {
        if matches!(effect, Effect::Sleep { .. }) {
            looks += 1;
            match looks {
                2 => tree.overwrite("/mem/team/a.md", "one\n", 1_773_570_700_000),
                6 => tree.take("/mem/team/b.md"),
                10 => drop(closing.close()),
                _ => {}
            }
        }
        None
    }));
    host.run(store.team_watch(None)).unwrap();
    assert_eq!(asked(&host), 2, "at the beginning, and when a file went");
}

/// Who may read and not write hears of what teammates do all the same.
#[test]
fn a_watch_whose_uploads_are_refused_still_brings_what_comes() {
    let server = TeamServer::with(&[("theirs.md", "one\n")]);
    let guarded = server.clone();
    let refused = Rc::new(Cell::new(0));
    let counted = Rc::clone(&refused);
    let network = Network::serving(move |request: &Exchange| {
        if request.method == "PUT" {
            counted.set(counted.get() + 1);
            return Attempt::http(403, &[], "");
        }
        Attempt::answer(guarded.answer(request))
    });
    let mut host = machine(network, &[("a.md", "a\n")]);
    let store = Store::new(team_options());
    let closing = store.clone();
    let (teammate, mut looks) = (server.clone(), 0);
    host.script = Some(Box::new(move |effect, tree| {
        if matches!(effect, Effect::Sleep { .. }) {
            looks += 1;
            match looks {
                1 => tree.overwrite("/mem/team/a.md", "edited\n", 1_773_570_700_000),
                // The period is 20 s, and each look takes one.
                5 => teammate.set("theirs.md", "two\n"),
                70 => drop(closing.close()),
                _ => {}
            }
        }
        None
    }));
    host.run(store.team_watch(Some(20_000))).unwrap();
    assert_eq!(team_files(&host.tree)["theirs.md"], "two\n");
    assert_eq!(team_files(&host.tree)["a.md"], "edited\n");
    assert_eq!(refused.get(), 1);
    // At the beginning and every 20 s; the first upload asks for checksums.
    let whole = server.requests();
    let whole = whole
        .iter()
        .filter(|line| line.starts_with("GET repo=acme/app "));
    assert_eq!(whole.count(), 4);
    let warnings = host.events.iter().filter(|event| event.kind == "warning");
    assert_eq!(warnings.count(), 1, "{:?}", host.events);
}
