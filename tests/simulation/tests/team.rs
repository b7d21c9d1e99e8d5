//! The team's memories on simulated machines: what goes which way, what is kept, and what a server is asked.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use memdir_core::ErrorCode;
use memdir_core::report::ReportCode;
use memdir_core::store::Store;
use memdir_core::team::{TeamDeletions, TeamSync};
use memdir_simulation::{SimHost, TeamServer, Tree, team_files, team_options};

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
fn a_token_goes_over_no_open_line() {
    let mut open = team_options();
    if let Some(team) = &mut open.team {
        team.url = Some("http://team.example".to_owned());
    }
    let mut ada = machine(1, &TeamServer::default(), &[]);
    let error = ada.run(Store::new(open).team_pull()).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidArgument);
}
