//! The team's memories on simulated machines: what goes which way, what is kept, and what a server is asked.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use memdir_core::ErrorCode;
use memdir_core::flow::FailureCode;
use memdir_core::report::ReportCode;
use memdir_core::store::Store;
use memdir_core::team::{TeamDeletions, TeamSync};
use memdir_core::write::WriteOutcome;
use memdir_simulation::{
    Attempt, Body, Network, SimHost, TeamServer, Tree, team_files, team_options,
};

const REPO: &str = "repo=acme/app";

/// One machine with a team folder of these files, and a line to the server.
fn machine(seed: u64, server: &TeamServer, files: &[(&str, &str)]) -> SimHost {
    let mut tree = Tree::new();
    for (key, content) in files {
        tree.file(format!("/mem/team/{key}"), content);
    }
    let mut host = SimHost::with_tree(seed, tree);
    host.network = Some(server.network());
    host
}

fn pull(host: &mut SimHost) -> TeamSync {
    host.run(Store::new(team_options()).team_pull()).unwrap()
}

fn push(host: &mut SimHost) -> TeamSync {
    host.run(Store::new(team_options()).team_push()).unwrap()
}

fn sync(host: &mut SimHost) -> TeamSync {
    host.run(Store::new(team_options()).team_sync()).unwrap()
}

fn file(host: &SimHost, key: &str) -> Option<String> {
    team_files(&host.tree).remove(key)
}

fn edit(host: &mut SimHost, key: &str, content: &str) {
    let now = host.clock_ms;
    host.tree
        .overwrite(format!("/mem/team/{key}"), content, now);
}

#[test]
fn two_folders_come_to_have_the_same() {
    let server = TeamServer::default();
    let mut ada = machine(1, &server, &[("a.md", "a\n"), ("b/c.md", "c\n")]);
    let mut bob = machine(2, &server, &[]);
    assert_eq!(sync(&mut ada).sent, ["a.md", "b/c.md"]);
    assert_eq!(sync(&mut bob).received, ["a.md", "b/c.md"]);
    assert_eq!(file(&bob, "b/c.md").as_deref(), Some("c\n"));
    let _ = server.requests();
    // Nothing new is one question, and nothing is written.
    assert_eq!(sync(&mut bob), TeamSync::default());
    assert_eq!(server.requests(), [format!("GET {REPO} 304")]);

    edit(&mut bob, "a.md", "new\n");
    assert_eq!(sync(&mut bob).sent, ["a.md"]);
    assert_eq!(
        server.requests(),
        [format!("GET {REPO} 304"), format!("PUT {REPO} 200")]
    );
    assert_eq!(sync(&mut ada).received, ["a.md"]);
    assert_eq!(file(&ada, "a.md").as_deref(), Some("new\n"));
}

#[test]
fn what_both_have_changed_is_kept() {
    let server = TeamServer::default();
    let mut ada = machine(1, &server, &[("a.md", "old\n")]);
    sync(&mut ada);
    server.set("a.md", "theirs\n");
    edit(&mut ada, "a.md", "ours\n");
    let result = push(&mut ada);
    assert_eq!(
        (result.sent.len(), result.conflicts.len()),
        (0, 1),
        "{result:?}"
    );
    assert_eq!(file(&ada, "a.md").as_deref(), Some("theirs\n"));
    assert_eq!(server.entries()["a.md"], "theirs\n");
    let store = Store::new(team_options());
    let kept = ada.run(store.team_conflicts()).unwrap();
    assert_eq!((kept.len(), kept[0].path.as_str()), (1, "team/a.md"));
    let shown = ada.run(store.team_conflict(kept[0].id.clone())).unwrap();
    assert_eq!(shown.content, "ours\n");
    ada.run(store.team_restore(kept[0].id.clone())).unwrap();
    assert_eq!(file(&ada, "a.md").as_deref(), Some("ours\n"));
    assert_eq!(push(&mut ada).sent, ["a.md"]);
    assert_eq!(server.entries()["a.md"], "ours\n");
    assert!(ada.run(store.team_conflicts()).unwrap().is_empty());
}

/// The copy is ours and stays; the team folder is what teammates read.
#[test]
fn a_kept_version_with_a_secret_is_not_put_back() {
    let secret = format!(
        "ghp_{}",
        "aB3dE5gH7j".repeat(4).get(..36).unwrap_or_default()
    );
    let server = TeamServer::default();
    let mut ada = machine(1, &server, &[("a.md", "old\n")]);
    sync(&mut ada);
    server.set("a.md", "theirs\n");
    edit(&mut ada, "a.md", &format!("token: {secret}\n"));
    assert_eq!(sync(&mut ada).conflicts, ["a.md"]);
    let store = Store::new(team_options());
    let kept = ada.run(store.team_conflicts()).unwrap();
    let result = ada.run(store.team_restore(kept[0].id.clone())).unwrap();
    assert_eq!(
        (result.outcome, result.code),
        (WriteOutcome::Refused, Some(ErrorCode::SecretFound))
    );
    assert!(!format!("{result:?}").contains(&secret));
    assert_eq!(file(&ada, "a.md").as_deref(), Some("theirs\n"));
    assert_eq!(ada.run(store.team_conflicts()).unwrap(), kept);
}

#[test]
fn the_index_is_merged() {
    let server = TeamServer::default();
    let mut ada = machine(1, &server, &[("MEMORY.md", "# Team\n- [A](a.md)\n")]);
    sync(&mut ada);
    server.set("MEMORY.md", "# Team\n- [A](a.md)\n- [B](b.md)\n");
    edit(&mut ada, "MEMORY.md", "# Team\n- [A](a.md)\n- [C](c.md)\n");
    let result = sync(&mut ada);
    assert_eq!(
        (result.sent, result.conflicts.len()),
        (vec!["MEMORY.md".to_owned()], 0)
    );
    let merged = server.entries()["MEMORY.md"].clone();
    assert_eq!(file(&ada, "MEMORY.md"), Some(merged.clone()));
    for line in ["# Team", "- [A](a.md)", "- [B](b.md)", "- [C](c.md)"] {
        assert_eq!(
            merged.lines().filter(|known| *known == line).count(),
            1,
            "{merged}"
        );
    }
}

#[test]
fn a_secret_stays_here_and_the_rest_goes() {
    let secret = format!(
        "ghp_{}",
        "aB3dE5gH7j".repeat(4).get(..36).unwrap_or_default()
    );
    let server = TeamServer::default();
    let mut ada = machine(1, &server, &[("a.md", &secret), ("b.md", "b\n")]);
    let result = push(&mut ada);
    assert_eq!(result.sent, ["b.md"]);
    let codes: Vec<_> = result
        .report
        .iter()
        .map(|entry| (entry.path.as_str(), entry.code))
        .collect();
    assert_eq!(codes, [("team/a.md", ReportCode::SecretFound)]);
    assert!(!format!("{result:?}").contains(&secret));
    assert!(result.report[0].message.contains("github-pat"));
}

#[test]
fn an_emptied_folder_takes_nothing_from_the_server() {
    let server = TeamServer::default();
    let mut ada = machine(1, &server, &[("a.md", "a\n"), ("b.md", "b\n")]);
    let mut open = team_options();
    if let Some(team) = &mut open.team {
        team.deletions = TeamDeletions::Propagate;
    }
    ada.run(Store::new(open.clone()).team_sync()).unwrap();
    for key in ["a.md", "b.md"] {
        ada.tree.take(format!("/mem/team/{key}"));
    }
    ada.clock_ms += 30 * 86_400_000;
    let result = ada.run(Store::new(open).team_sync()).unwrap();
    assert_eq!(result.received, ["a.md", "b.md"]);
    assert_eq!(server.entries().len(), 2);
}

#[test]
fn a_forgotten_memory_goes_from_the_server_when_it_is_asked_for() {
    let server = TeamServer::default();
    let mut ada = machine(1, &server, &[("a.md", "a\n"), ("b.md", "b\n")]);
    let mut bob = machine(2, &server, &[]);
    let mut open = team_options();
    if let Some(team) = &mut open.team {
        team.deletions = TeamDeletions::Propagate;
    }
    let store = Store::new(open);
    ada.run(store.team_sync()).unwrap();
    sync(&mut bob);
    ada.run(store.forget("team/a.md".to_owned(), Default::default()))
        .unwrap();
    assert_eq!(ada.run(store.team_sync()).unwrap().deleted, [""; 0]);
    ada.clock_ms += 7 * 86_400_000;
    assert_eq!(ada.run(store.team_sync()).unwrap().deleted, ["a.md"]);
    assert_eq!(sync(&mut bob).removed, ["a.md"]);
    assert_eq!(
        (file(&bob, "a.md"), file(&bob, "b.md").as_deref()),
        (None, Some("b\n"))
    );
    assert_eq!(sync(&mut bob), TeamSync::default());
    assert_eq!(ada.run(store.team_sync()).unwrap(), TeamSync::default());
}

#[test]
fn what_a_server_cannot_mean_is_left_out() {
    let server = TeamServer::with(&[
        ("../x.md", "x"),
        ("/abs.md", "x"),
        ("a\\b.md", "x"),
        ("con.md", "x"),
        ("A.md", "x"),
        ("a.md", "x"),
        ("large.md", &"x".repeat(250_001)),
        ("ok.md", "ok\n"),
    ]);
    let mut ada = machine(1, &server, &[]);
    let result = pull(&mut ada);
    assert_eq!(result.received, ["A.md", "ok.md"]);
    assert_eq!(result.report.len(), 6, "{:?}", result.report);
    let all = ada.tree.nodes().keys();
    let outside = all.filter(|path| !path.starts_with(b"/mem") && path.len() > 1);
    assert_eq!(outside.count(), 0);
}

/// Where case does not count they would be one file.
#[test]
fn a_name_that_differs_from_the_servers_by_case_only_is_not_shared() {
    let server = TeamServer::with(&[("a.md", "theirs\n")]);
    let mut ada = machine(1, &server, &[("A.md", "ours\n")]);
    let result = sync(&mut ada);
    assert_eq!(
        (result.received.len(), result.sent.len()),
        (0, 0),
        "{result:?}"
    );
    let codes: Vec<_> = result.report.iter().map(|entry| entry.code).collect();
    assert_eq!(codes, [ReportCode::TeamKey; 2]);
    assert_eq!(server.entries().len(), 1);
    assert_eq!(file(&ada, "A.md").as_deref(), Some("ours\n"));
}

#[test]
fn a_server_that_takes_less_is_given_less() {
    let server = TeamServer::default();
    server.limit_entries(2);
    let mut ada = machine(1, &server, &[("a.md", "a"), ("b.md", "b"), ("c.md", "c")]);
    let result = push(&mut ada);
    assert_eq!(result.sent, ["a.md", "b.md"]);
    assert_eq!(result.report[0].code, ReportCode::TeamOverLimit);

    let server = TeamServer::default();
    server.limit_body(70);
    let mut bob = machine(
        1,
        &server,
        &[
            ("a.md", "a"),
            ("b.md", "b"),
            ("c.md", &"c".repeat(100)),
            ("d.md", "d"),
        ],
    );
    let result = push(&mut bob);
    assert_eq!(result.sent, ["a.md", "b.md", "d.md"]);
    assert_eq!(result.report[0].code, ReportCode::TeamTooLarge);
}

#[test]
fn a_server_that_finds_everything_too_large_is_not_asked_for_each_entry() {
    let server = TeamServer::default();
    server.limit_body(10);
    let files: Vec<(String, &str)> = (0..2_000).map(|n| (format!("m{n:04}.md"), "x\n")).collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(key, text)| (key.as_str(), *text))
        .collect();
    let mut ada = machine(1, &server, &files);
    let result = push(&mut ada);
    assert_eq!((result.sent.len(), result.report.len()), (0, 2_000));
    let codes = result.report.iter().map(|entry| entry.code);
    assert!(
        codes
            .into_iter()
            .all(|code| code == ReportCode::TeamTooLarge)
    );
    let requests = server.requests();
    let puts = requests.iter().filter(|line| line.starts_with("PUT"));
    // Halves of 2,000, down to one; all of them are of one size.
    assert!(puts.clone().count() <= 12, "{}", puts.count());
}

#[test]
fn large_entries_keep_no_small_one_back() {
    let server = TeamServer::default();
    server.limit_body(70);
    let large: Vec<String> = (1..=6).map(|n| "x".repeat(1_000 - 100 * n)).collect();
    let keys = ["a.md", "b.md", "c.md", "d.md", "e.md", "f.md"];
    let mut files: Vec<(&str, &str)> = keys
        .into_iter()
        .zip(large.iter().map(String::as_str))
        .collect();
    files.extend([("g.md", "small"), ("h.md", "smaller"), ("i.md", "x")]);
    let mut ada = machine(1, &server, &files);
    let mut sent = push(&mut ada).sent;
    sent.sort();
    assert_eq!(sent, ["g.md", "h.md", "i.md"]);
}

#[test]
fn a_token_goes_over_no_open_line() {
    let mut open = team_options();
    if let Some(team) = &mut open.team {
        team.url = Some("http://team.example".to_owned());
    }
    let mut ada = machine(1, &TeamServer::default(), &[]);
    let error = ada.run(Store::new(open).team_pull()).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidArgument);
}

/// What is forgotten here alone stays in the index that teammates see.
#[test]
fn forgetting_takes_no_line_from_teammates() {
    let server = TeamServer::default();
    let index = "- [A](a.md)\n- [B](b.md)\n";
    let mut ada = machine(
        1,
        &server,
        &[("a.md", "a\n"), ("b.md", "b\n"), ("MEMORY.md", index)],
    );
    sync(&mut ada);
    let store = Store::new(team_options());
    ada.run(store.forget("team/a.md".to_owned(), Default::default()))
        .unwrap();
    assert_eq!(file(&ada, "MEMORY.md").as_deref(), Some("- [B](b.md)\n"));
    assert_eq!(sync(&mut ada), TeamSync::default());
    assert!(ada.run(store.team_status()).unwrap().to_send.is_empty());
    assert_eq!(server.entries()["MEMORY.md"], index);
    // Edits on either side go the usual way.
    server.set("MEMORY.md", "- [A](a.md)\n- [B](b.md)\n- [C](c.md)\n");
    sync(&mut ada);
    assert_eq!(
        file(&ada, "MEMORY.md").as_deref(),
        Some("- [B](b.md)\n- [C](c.md)\n")
    );
    edit(
        &mut ada,
        "MEMORY.md",
        "- [B](b.md)\n- [C](c.md)\n- [D](d.md)\n",
    );
    assert_eq!(sync(&mut ada).sent, ["MEMORY.md"]);
    let all = "- [A](a.md)\n- [B](b.md)\n- [C](c.md)\n- [D](d.md)\n";
    assert_eq!(server.entries()["MEMORY.md"], all);
    assert_eq!(sync(&mut ada), TeamSync::default());
    // Brought back, nothing is to be sent either.
    ada.run(store.undo_forget(None)).unwrap();
    let back = file(&ada, "MEMORY.md").unwrap();
    assert_eq!(back.matches("- [A](a.md)").count(), 1, "{back}");
}

/// An old folder that is put back is older than what the state says.
#[test]
fn a_backup_does_not_overwrite_the_server() {
    let server = TeamServer::default();
    let mut ada = machine(1, &server, &[("a.md", "old\n")]);
    sync(&mut ada);
    let backup = ada.tree.clone();
    server.set("a.md", "new\n");
    sync(&mut ada);
    for path in ["/mem/team/a.md", "/mem/team/.memdir/.gitignore"] {
        let Some(Body::File(bytes)) = backup
            .nodes()
            .get(path.as_bytes())
            .map(|node| node.body.clone())
        else {
            panic!("{path} is not in the backup");
        };
        let now = ada.clock_ms;
        ada.tree.overwrite(path, bytes, now);
    }
    let result = sync(&mut ada);
    assert_eq!(
        (result.sent.len(), result.conflicts.len()),
        (0, 1),
        "{result:?}"
    );
    assert_eq!(server.entries()["a.md"], "new\n");
    assert_eq!(file(&ada, "a.md").as_deref(), Some("new\n"));
}

#[test]
fn a_folder_of_another_repository_is_not_shared() {
    let server = TeamServer::default();
    let mut ada = machine(1, &server, &[("a.md", "a\n")]);
    sync(&mut ada);
    let mut other = team_options();
    if let Some(team) = &mut other.team {
        team.repository = Some("acme/other".to_owned());
    }
    let error = ada.run(Store::new(other).team_sync()).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidArgument);
    assert!(error.message.contains("acme/app"), "{error}");
}

#[test]
fn what_is_there_again_is_not_forgotten_any_more() {
    let server = TeamServer::default();
    let mut ada = machine(1, &server, &[("a.md", "a\n")]);
    sync(&mut ada);
    let store = Store::new(team_options());
    ada.run(store.forget("team/a.md".to_owned(), Default::default()))
        .unwrap();
    ada.tree.file("/mem/team/a.md", "written again\n");
    assert_eq!(sync(&mut ada).sent, ["a.md"]);
    // Taken away by hand, it comes back.
    ada.tree.take("/mem/team/a.md");
    assert_eq!(sync(&mut ada).received, ["a.md"]);
}

#[test]
fn teammates_cannot_empty_a_folder_at_once() {
    let server = TeamServer::default();
    let files: Vec<(String, &str)> = (0..30).map(|n| (format!("m{n:02}.md"), "x\n")).collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(key, text)| (key.as_str(), *text))
        .collect();
    let mut ada = machine(1, &server, &files);
    sync(&mut ada);
    for (key, _) in &files {
        server.set(key, "<!-- memdir: deleted -->\n");
    }
    assert_eq!(sync(&mut ada).removed.len(), 10);
    assert_eq!(sync(&mut ada).removed.len(), 10);
}

/// An answer that was lost leaves the state of a version that is not known whole.
#[test]
fn a_lost_answer_hides_no_later_change() {
    let server = TeamServer::default();
    let mut ada = machine(1, &server, &[("a.md", "one\n")]);
    sync(&mut ada);
    edit(&mut ada, "a.md", "two\n");
    let lossy = server.clone();
    let mut lose = true;
    ada.network = Some(Network::serving(move |request| {
        let answer = lossy.answer(request);
        if request.method == "PUT" && std::mem::take(&mut lose) {
            return Attempt::fail(FailureCode::Network);
        }
        Attempt::answer(answer)
    }));
    assert_eq!(push(&mut ada).sent, ["a.md"]);
    ada.network = Some(server.network());
    // Back to what it was: the version of before.
    server.set("a.md", "one\n");
    assert_eq!(sync(&mut ada).received, ["a.md"]);
    assert_eq!(file(&ada, "a.md").as_deref(), Some("one\n"));
}

#[test]
fn a_full_server_still_takes_edits() {
    let server = TeamServer::default();
    let mut ada = machine(1, &server, &[("b.md", "b"), ("c.md", "c")]);
    sync(&mut ada);
    server.limit_entries(2);
    ada.tree.file("/mem/team/a.md", "new");
    edit(&mut ada, "b.md", "b2");
    edit(&mut ada, "c.md", "c2");
    let result = sync(&mut ada);
    assert_eq!(result.sent, ["b.md", "c.md"]);
    let codes: Vec<_> = result
        .report
        .iter()
        .map(|entry| (entry.path.as_str(), entry.code))
        .collect();
    assert_eq!(codes, [("team/a.md", ReportCode::TeamOverLimit)]);
}

#[test]
fn what_a_name_here_kept_away_comes_when_that_is_gone() {
    let server = TeamServer::with(&[("foo.md", "theirs\n")]);
    let mut ada = machine(1, &server, &[("Foo.md", "ours\n")]);
    sync(&mut ada);
    ada.tree.shift("/mem/team/Foo.md", "/mem/team/other.md");
    let result = sync(&mut ada);
    assert_eq!(
        (result.received.as_slice(), result.sent.as_slice()),
        (
            ["foo.md".to_owned()].as_slice(),
            ["other.md".to_owned()].as_slice()
        )
    );
}

#[test]
fn a_name_that_is_a_secret_is_neither_sent_nor_said() {
    let secret = format!(
        "ghp_{}",
        "aB3dE5gH7j".repeat(4).get(..36).unwrap_or_default()
    );
    let server = TeamServer::default();
    let mut ada = machine(1, &server, &[(&format!("{secret}.md"), "x\n")]);
    let result = push(&mut ada);
    assert!(result.sent.is_empty());
    assert_eq!(result.report[0].code, ReportCode::SecretFound);
    assert!(!format!("{result:?}").contains(&secret));
}
