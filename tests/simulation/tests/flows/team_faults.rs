//! Everything that can go wrong with one sync, at every effect: each failure that a host can give, a
//! cancellation, a crash, a crash in the middle of a write. Then the fault is gone, and a sync or two later
//! both sides agree and no edit is lost.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests fail as tests do"
)]

use memdir_core::flow::{Clock, Effect, Outcome};
use memdir_core::store::Store;
use memdir_core::team::TeamSync;
use memdir_simulation::{
    FAILURES, Fault, FaultKind, Folder, STORE, SimHost, TeamServer, Tree, team_files, team_options,
};

const DELETED: &str = "<!-- memdir: deleted -->\n";

fn store() -> Store {
    Store::new(team_options())
}

/// A folder in which, since the last sync, one memory has changed here, one there, one on both sides, one
/// is new here, one there, one was deleted there, and both have changed the index.
fn begun() -> (Tree, Vec<(&'static str, &'static str)>) {
    let server = TeamServer::default();
    let mut tree = Tree::new();
    for key in ["here.md", "there.md", "both.md", "deleted.md"] {
        tree.file(format!("/mem/team/{key}"), "old\n");
    }
    tree.file("/mem/team/MEMORY.md", "- [old](old.md)\n");
    let mut host = SimHost::with_tree(1, tree);
    host.network = Some(server.network());
    host.run(store().team_sync()).unwrap();
    let mut tree = host.tree;
    let now = host.clock_ms;
    for (key, text) in [
        ("here.md", "ours\n"),
        ("both.md", "ours\n"),
        ("new-here.md", "new\n"),
        ("MEMORY.md", "- [old](old.md)\n- [ours](ours.md)\n"),
    ] {
        tree.overwrite(format!("/mem/team/{key}"), text, now);
    }
    let theirs = vec![
        ("here.md", "old\n"),
        ("there.md", "theirs\n"),
        ("both.md", "theirs\n"),
        ("deleted.md", DELETED),
        ("new-there.md", "new\n"),
        ("MEMORY.md", "- [old](old.md)\n- [theirs](theirs.md)\n"),
    ];
    (tree, theirs)
}

/// One sync with a fault; how many effects it had.
fn one_fault(at: Option<usize>, kind: FaultKind) -> usize {
    let (tree, theirs) = begun();
    let server = TeamServer::with(&theirs);
    let mut host = SimHost::with_tree(7, tree);
    host.network = Some(server.network());
    host.faults.extend(at.map(|at| Fault { at, kind }));
    let _ = host.run_to_end(store().team_sync());
    let count = host.trace.len();
    host.faults.clear();

    agree(&mut host, &server, &format!("{kind:?} at {at:?}"));
    count
}

/// A sync or two later both sides have the same, and no edit is lost.
fn agree(host: &mut SimHost, server: &TeamServer, what: &str) {
    let show = |host: &SimHost| {
        let everything = Folder::new(&host.tree, STORE).everything();
        format!("{what}\n{:#?}\n{everything:#?}", server.entries())
    };
    for round in 0.. {
        let result = host.run(store().team_sync()).unwrap();
        if result == TeamSync::default() {
            break;
        }
        assert!(round < 4, "no rest: {}", show(host));
    }
    let mut wanted = server.entries();
    wanted.retain(|_, text| text != DELETED);
    assert_eq!(team_files(&host.tree), wanted, "{}", show(host));
    let expected = [
        ("there.md", "theirs\n"),
        ("both.md", "theirs\n"),
        ("new-here.md", "new\n"),
        ("new-there.md", "new\n"),
    ];
    for (key, text) in expected {
        assert_eq!(wanted[key], text, "{key}: {}", show(host));
    }
    for line in [
        "- [old](old.md)",
        "- [ours](ours.md)",
        "- [theirs](theirs.md)",
    ] {
        let times = wanted["MEMORY.md"].lines().filter(|known| *known == line);
        assert_eq!(times.count(), 1, "{line}: {}", show(host));
    }
    // Ours of what both have changed is kept.
    let conflicts = host.run(store().team_conflicts()).unwrap();
    let mut kept = Vec::new();
    for conflict in conflicts {
        kept.push(host.run(store().team_conflict(conflict.id)).unwrap());
    }
    let is_kept = |path| {
        kept.iter()
            .any(|file| file.path == path && file.content == "ours\n")
    };
    assert!(is_kept("team/both.md"), "{}", show(host));
    // A folder that does not look like the one of the last sync takes no risks.
    let is_safe = wanted["here.md"] == "ours\n" || is_kept("team/here.md");
    assert!(is_safe, "{}", show(host));
    host.run(store().log("over".to_owned())).unwrap();
    let left = Folder::new(&host.tree, STORE).left_over();
    assert_eq!(left, [""; 0], "{}", show(host));
}

#[test]
fn whatever_happens_at_any_effect_of_a_sync_both_sides_agree_in_the_end() {
    let count = one_fault(None, FaultKind::Cancel);
    assert!(count > 60, "{count}");
    let failures = FAILURES.into_iter().map(FaultKind::Fail);
    let kinds: Vec<FaultKind> = [FaultKind::Cancel, FaultKind::Crash, FaultKind::Tear]
        .into_iter()
        .chain(failures)
        .collect();
    for at in 0..count {
        for kind in &kinds {
            one_fault(Some(at), *kind);
        }
    }
}

/// The last upload, whose time is up from the effect with this number on; how many effects it had.
fn late(at: usize) -> usize {
    let (tree, theirs) = begun();
    let server = TeamServer::with(&theirs);
    let mut host = SimHost::with_tree(7, tree);
    let store = store();
    // It has spoken to the server.
    host.run(store.team_push()).unwrap_err();
    host.network = Some(server.network());
    let (start_ms, mut done) = (host.clock_ms, 0);
    host.script = Some(Box::new(move |effect, _| {
        let ms = start_ms + if done < at { 0 } else { 2_000 };
        done += 1;
        matches!(effect, Effect::Now).then_some(Outcome::Now(Clock {
            ms,
            offset_minutes: 0,
        }))
    }));
    let before = host.trace.len();
    host.run(store.close()).unwrap();
    let count = host.trace.len() - before;
    host.script = None;
    for (key, text) in [("here.md", "ours\n"), ("new-here.md", "new\n")] {
        let is = |path: Option<&str>| host.events.iter().any(|told| told.path.as_deref() == path);
        let is_told = is(None) || is(Some(&format!("team/{key}")));
        assert_eq!(
            is_told,
            !server.took(key, text),
            "{key}, late at {at}: {:?}",
            host.events
        );
    }
    agree(&mut host, &server, &format!("late at {at}"));
    count
}

#[test]
fn whenever_the_time_of_the_last_upload_is_up_what_it_says_is_true() {
    let count = late(usize::MAX);
    assert!(count > 60, "{count}");
    for at in 0..count {
        late(at);
    }
}
