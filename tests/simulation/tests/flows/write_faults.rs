//! Everything that can go wrong with one writer, at every effect: each failure that a host can give, a
//! cancellation, a crash, a crash in the middle of a write. Then comes another writer.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests fail as tests do"
)]

use std::collections::BTreeMap;

use memdir_core::ErrorCode;
use memdir_core::flow::{Effect, FailureCode};
use memdir_core::report::ReportCode;
use memdir_core::write::WriteOutcome;
use memdir_simulation::{
    Act, Ended, FAILURES, FaultKind, Folder, Process, Progress, STORE, SimHost, Tree, end, torn,
    written_tree,
};

/// A store and what is done to it.
struct Case {
    name: &'static str,
    tree: Tree,
    act: Act,
}

fn cases() -> Vec<Case> {
    let case = |name, tree: &Tree, act| Case {
        name,
        tree: tree.clone(),
        act,
    };
    let plain = written_tree();
    let forgotten = after(&plain, &Act::forget("a.md"));
    let mut team = written_tree();
    team.file("/mem/team/t.md", "---\nname: t\ntype: project\n---\nt\n");
    team.file("/mem/team/MEMORY.md", "- [t](t.md) — t\n- [u](u.md) — u\n");
    let mut linked = written_tree();
    linked.take("/mem/MEMORY.md");
    linked.file(
        "/mem/sub/index.md",
        "- [Old](a.md) — old hook\n- [B](b.md) — b\n",
    );
    linked.link("/mem/MEMORY.md", "sub/index.md");
    vec![
        case("new", &plain, Act::save("sub/x.md", "x")),
        case("first", &Tree::new(), Act::save("x.md", "x")),
        case("update", &plain, Act::save("a.md", "x")),
        case("forget", &plain, Act::forget("a.md")),
        case("undo", &forgotten, Act::undo("a.md")),
        case("team save", &team, Act::save("team/t.md", "x")),
        case("team forget", &team, Act::forget("team/t.md")),
        case(
            "team undo",
            &after(&team, &Act::forget("team/t.md")),
            Act::Undo(None),
        ),
        case("linked index", &linked, Act::save("a.md", "x")),
    ]
}

fn after(tree: &Tree, act: &Act) -> Tree {
    let mut host = SimHost::with_tree(3, tree.clone());
    host.run(act.flow(STORE)).unwrap();
    host.tree
}

fn files(tree: &Tree) -> BTreeMap<String, String> {
    Folder::new(tree, STORE).files()
}

/// The versions of all files: before, after, and after on a host that has no clock.
fn versions(case: &Case) -> Vec<BTreeMap<String, String>> {
    let done = files(&after(&case.tree, &case.act));
    let mut without_clock = done.clone();
    for content in without_clock.values_mut() {
        *content = untimed(content);
    }
    vec![files(&case.tree), done, without_clock]
}

/// What is wrong with a store in which one writer was disturbed.
fn wrong(case: &Case, tree: &Tree) -> Vec<String> {
    let versions = versions(case);
    let whole: Vec<_> = versions.iter().collect();
    let mut wrong = torn(tree, &whole);
    let files = files(tree);
    // Every memory that was there is there or in the trash, and nothing that nobody was at is gone.
    for (path, content) in &versions[0] {
        let is_index = path.ends_with("MEMORY.md") || path.ends_with("index.md");
        let is_kept = Folder::new(tree, STORE).holds(content);
        let is_gone = versions[1].contains_key(path) && !files.contains_key(path);
        if is_gone || !(is_index || is_kept) {
            wrong.push(format!("{path} is gone"));
        }
    }
    // A line leads to a memory at any time.
    for (path, folder) in [("MEMORY.md", ""), ("team/MEMORY.md", "team/")] {
        let index = files.get(path).map_or("", String::as_str);
        for name in ["a.md", "x.md", "sub/x.md", "t.md"] {
            let file = format!("{folder}{name}");
            if index.contains(&format!("({name})")) && !files.contains_key(&file) {
                wrong.push(format!("a line leads to {file}, which is not there"));
            }
        }
    }
    wrong
}

/// Runs the act with a fault at every effect: which, the result, none after a crash, and the host.
fn each_effect(case: &Case, kind: FaultKind, mut check: impl FnMut(usize, Option<Ended>, SimHost)) {
    for at in 0.. {
        let mut host = SimHost::with_tree(1, case.tree.clone()).timeless();
        host = host.with_fault(at, kind);
        let mut flow = host.start_in(Process::new(Some(11), 11), case.act.flow(STORE));
        let result = end(&mut host, &mut flow);
        if host.trace.len() <= at && !matches!(kind, FaultKind::Tear if result.is_none()) {
            return;
        }
        host.faults.clear();
        check(at, result, host);
    }
}

/// The same act again, by another process on the same machine, and how long it waited.
fn again(host: &mut SimHost, act: &Act) -> (Result<WriteOutcome, ErrorCode>, i64) {
    let before = host.clock_ms;
    let mut flow = host.start_in(Process::new(Some(22), 22), act.flow(STORE));
    let result = loop {
        match host.step(&mut flow) {
            Progress::Working => {}
            Progress::Ended(result) => break result,
            Progress::Crashed => return (Err(ErrorCode::Internal), 0),
        }
    };
    let result = result
        .map(|result| result.outcome)
        .map_err(|error| error.code);
    (result, host.clock_ms - before)
}

/// A memory without the time of its last change.
fn untimed(content: &str) -> String {
    let lines = content.split_inclusive('\n');
    lines
        .filter(|line| !line.starts_with("modified:"))
        .collect()
}

/// Without what differs when it is done in two parts: of an index, which memories it leads to. A save
/// that finds its memory written does not know that its line is still the old one.
fn comparable(tree: &Tree) -> BTreeMap<String, String> {
    let mut files = files(tree);
    for (path, content) in &mut files {
        if path.ends_with("MEMORY.md") || path.ends_with("index.md") {
            let mut targets: Vec<&str> = content
                .split("](")
                .skip(1)
                .filter_map(|rest| rest.split(')').next())
                .collect();
            targets.sort_unstable();
            *content = targets.join(" ");
        } else {
            *content = untimed(content);
        }
    }
    files
}

#[test]
fn each_failure_at_each_effect() {
    for case in cases() {
        let done = comparable(&after(&case.tree, &case.act));
        for code in FAILURES {
            let kind = FaultKind::Fail(code);
            each_effect(&case, kind, |at, result, mut host| {
                let effect = host.trace[at].effect.clone();
                let line_missing = lacks_its_line(result.as_ref());
                let result = told(result);
                let what = format!("{}: {code:?} at {at}, {effect:?}: {result:?}", case.name);
                if is_told_to_be_gone(&effect, code) {
                    return;
                }
                assert_eq!(wrong(&case, &host.tree), [""; 0], "{what}");
                assert_ne!(result, Some(Err(ErrorCode::Internal)), "{what}");
                assert_ne!(result, Some(Err(ErrorCode::Protocol)), "{what}");
                // Only what could not be removed stays, and a lock that is said to be gone.
                let stays = match &effect {
                    Effect::Remove { .. } => true,
                    Effect::Read { path, .. } => {
                        code == FailureCode::NotFound && path.ends_with("/lock")
                    }
                    _ => false,
                };
                let left = Folder::new(&host.tree, STORE).left_over();
                assert!(stays || left.is_empty(), "{what}: {left:?}");
                if line_missing {
                    return;
                }
                if result == Some(Ok(WriteOutcome::Written)) {
                    assert_eq!(comparable(&host.tree), done, "{what}");
                }
                // It can be done again, and then it is done.
                let (second, _) = again(&mut host, &case.act);
                let was_done = matches!(case.act, Act::Forget(..) | Act::Undo(_))
                    && second == Ok(WriteOutcome::Refused);
                assert!(
                    was_done
                        || matches!(second, Ok(WriteOutcome::Written | WriteOutcome::Unchanged)),
                    "{what}, then {second:?}"
                );
                assert_eq!(comparable(&host.tree), done, "{what}");
                let left = Folder::new(&host.tree, STORE).left_over();
                assert_eq!(left, [""; 0], "{what}");
            });
        }
    }
}

/// Whether its author was told that the memory is there without its line.
fn lacks_its_line(ended: Option<&Ended>) -> bool {
    let Some(Ok(result)) = ended else {
        return false;
    };
    let mut report = result.report.iter();
    report.any(|entry| entry.code == ReportCode::NotIndexed)
}

/// What was said, in short.
fn told(ended: Option<Ended>) -> Option<Result<WriteOutcome, ErrorCode>> {
    let ended = ended?;
    Some(ended.map(|it| it.outcome).map_err(|error| error.code))
}

/// Whether a failure says of a file that it is not there, which is then taken for true.
fn is_told_to_be_gone(effect: &Effect, code: FailureCode) -> bool {
    let is_on_its_way =
        |effect: &Effect| matches!(effect, Effect::Rename { from, .. } if from.ends_with(".bytes"));
    (matches!(effect, Effect::Lstat { .. } | Effect::Read { .. }) || is_on_its_way(effect))
        && matches!(code, FailureCode::NotFound | FailureCode::NotADirectory)
}

#[test]
fn a_cancellation_at_each_effect() {
    for case in cases() {
        let versions = versions(&case);
        each_effect(&case, FaultKind::Cancel, |at, result, host| {
            let what = format!("{}: at {at}, {:?}", case.name, host.trace[at].effect);
            assert_eq!(told(result), Some(Err(ErrorCode::Aborted)), "{what}");
            assert_eq!(
                Folder::new(&host.tree, STORE).left_over(),
                [""; 0],
                "{what}"
            );
            assert_eq!(wrong(&case, &host.tree), [""; 0], "{what}");
            let files = files(&host.tree);
            let only_index_is_missing = files.iter().all(|(path, content)| {
                path.ends_with("MEMORY.md") || versions[1].get(path) == Some(content)
            });
            assert!(
                versions.contains(&files) || only_index_is_missing,
                "{what}: {files:#?}"
            );
        });
    }
}

#[test]
fn a_crash_at_each_effect() {
    for case in cases() {
        let done = comparable(&after(&case.tree, &case.act));
        for kind in [FaultKind::Crash, FaultKind::Tear] {
            each_effect(&case, kind, |at, result, mut host| {
                let what = format!("{}: {kind:?} at {at}", case.name);
                assert_eq!(result, None, "{what}");
                assert_eq!(wrong(&case, &host.tree), [""; 0], "{what}");
                // Another memory first: what is missing at most is what the dead one was at.
                let mut other = SimHost::with_tree(2, host.tree.clone()).timeless();
                other.processes = host.processes.clone();
                let (second, waited) = again(&mut other, &Act::save("z.md", "z"));
                assert_eq!(second, Ok(WriteOutcome::Written), "{what}");
                assert!(waited < 5_100, "{what}: {waited} ms");
                assert_eq!(
                    Folder::new(&other.tree, STORE).left_over(),
                    [""; 0],
                    "{what}"
                );
                let files = files(&other.tree);
                assert!(files.contains_key("z.md"), "{what}");
                assert!(
                    files["MEMORY.md"].contains("(z.md)") || case.name == "linked index",
                    "{what}"
                );
                // The same: then it is done.
                let (second, waited) = again(&mut host, &case.act);
                assert!(
                    second.is_ok() && waited < 5_100,
                    "{what}: {second:?} after {waited} ms"
                );
                assert_eq!(comparable(&host.tree), done, "{what}");
                assert_eq!(
                    Folder::new(&host.tree, STORE).left_over(),
                    [""; 0],
                    "{what}"
                );
            });
        }
    }
}
