//! Everything that can go wrong with one dream, at every effect: each failure that a host can give, a
//! cancellation, a crash, a crash in the middle of a write. Then it is taken back, or the next one comes.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests fail as tests do"
)]

use std::collections::BTreeMap;

use memdir_core::ErrorCode;
use memdir_core::dream::{Dream, DreamOutcome, DreamUndone};
use memdir_core::error::Error;
use memdir_core::flow::{Effect, FailureCode, Flow};
use memdir_simulation::{
    DREAM_LOCK, FAILURES, FaultKind, Folder, Process, Progress, STORE, SimHost, Tree, at_once,
    call, dream_lock, dream_store, dream_tree, dreamt_memory, merging, say, turn,
};
use serde_json::json;

const DAY: i64 = 86_400_000;

/// The disk before, where the last dream succeeded so long ago.
fn tree(prior: Option<i64>) -> Tree {
    let mut tree = dream_tree();
    if let Some(prior) = prior {
        tree.file(DREAM_LOCK, "").at(start() - prior);
    }
    tree
}

fn start() -> i64 {
    SimHost::new(0).clock_ms
}

/// The memories and indexes, by path.
fn memories(tree: &Tree) -> BTreeMap<String, String> {
    let mut files = Folder::new(tree, STORE).files();
    files.retain(|path, _| path.ends_with(".md"));
    files
}

/// What is wrong with the memories of a store that was disturbed. In the middle of a dream the line of a
/// memory that goes may be gone before it.
fn wrong(host: &SimHost, in_the_middle: bool) -> Vec<String> {
    let files = memories(&host.tree);
    let old = memories(&dream_tree());
    let mut wrong = Vec::new();
    for (path, content) in &files {
        let new = match path.as_str() {
            "MEMORY.md" => continue,
            "a.md" => dreamt_memory("a and b", ""),
            "new.md" => dreamt_memory("new", ""),
            "three.md" => dreamt_memory("three", ""),
            _ => String::new(),
        };
        if old.get(path) != Some(content) && *content != new {
            wrong.push(format!("{path} is torn: {content:?}"));
        }
    }
    for path in ["a.md", "c.md", "pinned.md"] {
        if !files.contains_key(path) {
            wrong.push(format!("{path} is gone"));
        }
    }
    if !Folder::new(&host.tree, STORE).holds(&old["b.md"]) {
        wrong.push("what was removed is not kept".to_owned());
    }
    let index = files.get("MEMORY.md").cloned().unwrap_or_default();
    let lines: Vec<&str> = index.lines().collect();
    let known = [
        "- [A](a.md) — a",
        "- [A](a.md) — a and b",
        "- [N](new.md) — new",
        "- [B](b.md) — b",
        "- [C](c.md) — c",
        "- [P](pinned.md) — p",
    ];
    let linked = |path: &str| {
        let link = format!("({path})");
        lines.iter().filter(|line| line.contains(&link)).count()
    };
    if lines.iter().any(|line| !known.contains(line)) || !index.ends_with('\n') {
        wrong.push(format!("the index is torn: {index:?}"));
    }
    if ["a.md", "c.md", "pinned.md"]
        .iter()
        .any(|path| linked(path) != 1)
    {
        wrong.push(format!("a line is lost: {index:?}"));
    }
    if linked("b.md") == 0 && files.contains_key("b.md") && !in_the_middle {
        wrong.push(format!(
            "the line of a memory that stays is lost: {index:?}"
        ));
    }
    wrong
}

type Ended<T> = Option<Result<T, Error>>;

fn run<T: Send + 'static>(host: &mut SimHost, pid: u32, flow: Flow<T>) -> Ended<T> {
    let mut running = host.start_in(Process::new(Some(pid), u64::from(pid)), flow);
    loop {
        match host.step(&mut running) {
            Progress::Working => {}
            Progress::Ended(result) => return Some(result),
            Progress::Crashed => return None,
        }
    }
}

/// One dream with a fault; none when it was over before that.
fn disturbed(prior: Option<i64>, at: usize, kind: FaultKind) -> Option<(SimHost, Ended<Dream>)> {
    let mut host = SimHost::with_tree(7, tree(prior)).with_fault(at, kind);
    say(&mut host, merging());
    let result = run(&mut host, 11, dream_store().dream(at_once()));
    if host.trace.len() <= at && result.is_some() {
        return None;
    }
    host.faults.clear();
    Some((host, result))
}

fn undo(host: &mut SimHost, what: &str) -> DreamUndone {
    let undone = run(host, 22, dream_store().undo_dream());
    undone
        .unwrap()
        .unwrap_or_else(|error| panic!("{what}: then {error:?}"))
}

/// Taking it back gives every byte back, and changes nothing when there is nothing to take back.
fn is_taken_back(host: &mut SimHost, what: &str) {
    let before = memories(&host.tree);
    let undone = undo(host, what);
    assert_eq!(undone.conflicts, [""; 0], "{what}: {undone:?}");
    assert_eq!(
        memories(&host.tree),
        memories(&dream_tree()),
        "{what}: {undone:?}"
    );
    if undone.id.is_none() {
        assert_eq!(before, memories(&dream_tree()), "{what}");
    }
    let again = undo(host, what);
    assert_eq!(again, DreamUndone::default(), "{what}: again");
}

/// The next dream, of another process, runs at once and ends well.
fn goes_on(host: &mut SimHost, what: &str) {
    let write = json!({"file_path": "/mem/three.md", "content": dreamt_memory("three", "")});
    say(host, vec![turn(&[call("Write", &write)])]);
    // What is in use is not cleared away.
    host.clock_ms += 900_000;
    let before = host.clock_ms;
    let dreamt = run(host, 22, dream_store().dream(at_once())).unwrap();
    let dreamt = dreamt.unwrap_or_else(|error| panic!("{what}: then {error:?}"));
    assert_eq!(
        dreamt.outcome,
        DreamOutcome::Done,
        "{what}: then {dreamt:?}"
    );
    assert_eq!(dreamt.improved, ["three.md"], "{what}: then {dreamt:?}");
    assert_eq!(dreamt.conflicts, [""; 0], "{what}: then {dreamt:?}");
    assert!(
        host.clock_ms - before < 6_000,
        "{what}: {} ms",
        host.clock_ms - before
    );
    assert_eq!(wrong(host, true), [""; 0], "{what}, after the next one");
    assert_eq!(
        Folder::new(&host.tree, STORE).left_over(),
        [""; 0],
        "{what}, after the next one"
    );
    let lock = dream_lock(host);
    assert_eq!(
        lock,
        Some((String::new(), host.clock_ms)),
        "{what}, after the next one"
    );
}

/// The lock is as it was before.
fn is_not_delayed(host: &SimHost, prior: Option<i64>, what: &str) {
    let before = prior.map(|prior| (String::new(), start() - prior));
    assert_eq!(dream_lock(host), before, "{what}");
}

/// Whether a failure says of a file that it is not there, which is then taken for true.
fn is_told_to_be_gone(effect: &Effect, code: FailureCode) -> bool {
    let is_on_its_way =
        |effect: &Effect| matches!(effect, Effect::Rename { from, .. } if from.ends_with(".bytes"));
    (matches!(
        effect,
        Effect::RealPath { .. } | Effect::Lstat { .. } | Effect::Read { .. } | Effect::List { .. }
    ) || is_on_its_way(effect))
        && matches!(code, FailureCode::NotFound | FailureCode::NotADirectory)
}

/// Whether the effect changes the lock of dreams: a failure of that can leave it as it is.
fn is_on_lock(effect: &Effect) -> bool {
    match effect {
        Effect::Write { path, .. }
        | Effect::Remove { path, .. }
        | Effect::SetMtime { path, .. } => path == DREAM_LOCK,
        _ => false,
    }
}

const PRIORS: [Option<i64>; 2] = [None, Some(2 * DAY)];

#[test]
fn each_failure_at_each_effect() {
    for (number, code) in FAILURES.into_iter().enumerate() {
        // Each with one of them: most effects have nothing to do with the lock.
        for prior in [PRIORS[number % 2]] {
            for at in 0.. {
                let kind = FaultKind::Fail(code);
                let Some((mut host, result)) = disturbed(prior, at, kind) else {
                    assert!(at > 60, "{at}");
                    break;
                };
                let effect = host.trace[at].effect.clone();
                let result = result.unwrap();
                let what = format!("{prior:?}: {code:?} at {at}, {effect:?}: {result:?}");
                if is_told_to_be_gone(&effect, code) {
                    continue;
                }
                assert_eq!(wrong(&host, false), [""; 0], "{what}");
                let failed = result.as_ref().err().map(|error| error.code);
                let failed = failed.or(result.as_ref().ok().and_then(|result| result.code));
                assert!(
                    !matches!(failed, Some(ErrorCode::Internal | ErrorCode::Protocol)),
                    "{what}"
                );
                let left = Folder::new(&host.tree, STORE).left_over();
                let stays = matches!(effect, Effect::Remove { .. });
                assert!(stays || left.is_empty(), "{what}: {left:?}");
                let is_done = matches!(&result, Ok(dream) if dream.outcome == DreamOutcome::Done);
                if is_done && !is_on_lock(&effect) {
                    assert_eq!(
                        dream_lock(&host),
                        Some((String::new(), host.clock_ms)),
                        "{what}"
                    );
                } else if !is_done && !is_on_lock(&effect) {
                    is_not_delayed(&host, prior, &what);
                }
                is_taken_back(&mut host, &what);
                if number % 3 > 0 {
                    continue;
                }
                // That of the process that is still there is in the way for an hour.
                if dream_lock(&host).is_none_or(|(body, _)| body.is_empty()) {
                    let (mut host, _) = disturbed(prior, at, kind).unwrap();
                    goes_on(&mut host, &what);
                } else {
                    assert!(is_on_lock(&effect), "{what}");
                }
            }
        }
    }
}

#[test]
fn a_cancellation_at_each_effect() {
    for prior in PRIORS {
        for at in 0.. {
            let Some((mut host, result)) = disturbed(prior, at, FaultKind::Cancel) else {
                assert!(at > 60, "{at}");
                break;
            };
            let what = format!("{prior:?}: cancelled at {at}, {:?}", host.trace[at].effect);
            let result = result.unwrap();
            assert_eq!(
                result.as_ref().err().map(|error| error.code),
                Some(ErrorCode::Aborted),
                "{what}: {result:?}"
            );
            assert_eq!(wrong(&host, false), [""; 0], "{what}");
            let left = Folder::new(&host.tree, STORE).left_over();
            assert_eq!(left, [""; 0], "{what}");
            // Once it takes effect it is brought to its end.
            let mut is_over = memories(&host.tree).contains_key("new.md");
            is_over &= dream_lock(&host) == Some((String::new(), host.clock_ms));
            if !is_over {
                is_not_delayed(&host, prior, &what);
            }
            is_taken_back(&mut host, &what);
            let (mut host, _) = disturbed(prior, at, FaultKind::Cancel).unwrap();
            goes_on(&mut host, &what);
        }
    }
}

#[test]
fn a_crash_at_each_effect() {
    for prior in PRIORS {
        for kind in [FaultKind::Crash, FaultKind::Tear] {
            for at in 0.. {
                let Some((mut host, result)) = disturbed(prior, at, kind) else {
                    assert!(at > 60, "{at}");
                    break;
                };
                let what = format!("{prior:?}: {kind:?} at {at}, {:?}", host.trace.last());
                assert!(result.is_none(), "{what}: {result:?}");
                assert_eq!(wrong(&host, true), [""; 0], "{what}");
                is_taken_back(&mut host, &what);
                let (mut host, _) = disturbed(prior, at, kind).unwrap();
                goes_on(&mut host, &what);
            }
        }
    }
}

/// Taking a dream back with a fault; none when it was over before that.
fn taken_back_with(at: usize, kind: FaultKind) -> Option<(SimHost, Ended<DreamUndone>)> {
    let mut host = SimHost::with_tree(7, tree(None));
    say(&mut host, merging());
    let dreamt = run(&mut host, 11, dream_store().dream(at_once())).unwrap();
    assert_eq!(dreamt.unwrap().outcome, DreamOutcome::Done);
    let at = host.trace.len() + at;
    let mut host = host.with_fault(at, kind);
    let result = run(&mut host, 22, dream_store().undo_dream());
    if host.trace.len() <= at && result.is_some() {
        return None;
    }
    host.faults.clear();
    Some((host, result))
}

#[test]
fn what_disturbs_the_way_back_leaves_it_open() {
    let failures = [
        FailureCode::Permission,
        FailureCode::NoSpace,
        FailureCode::Busy,
        FailureCode::Other,
        FailureCode::Aborted,
        FailureCode::Exists,
    ];
    let kinds = [FaultKind::Cancel, FaultKind::Crash, FaultKind::Tear];
    for kind in kinds.into_iter().chain(failures.map(FaultKind::Fail)) {
        for at in 0.. {
            let Some((mut host, result)) = taken_back_with(at, kind) else {
                assert!(at > 60, "{at}");
                break;
            };
            let number = host.trace.len().saturating_sub(1);
            let what = format!("{kind:?} at {at} of {number}: {result:?}");
            assert_eq!(wrong(&host, true), [""; 0], "{what}");
            host.clock_ms += 900_000;
            let undone = undo(&mut host, &what);
            assert_eq!(undone.conflicts, [""; 0], "{what}: {undone:?}");
            assert_eq!(
                memories(&host.tree),
                memories(&dream_tree()),
                "{what}: {undone:?}"
            );
        }
    }
}
