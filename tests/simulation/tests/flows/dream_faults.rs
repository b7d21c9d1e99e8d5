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
use memdir_core::dream::{Awake, Dream, DreamOptions, DreamOutcome, DreamUndone};
use memdir_core::error::Error;
use memdir_core::flow::{Effect, Failure, FailureCode, Flow, Outcome};
use memdir_core::store::{OpenOptions, Store};
use memdir_simulation::{
    Attempt, DREAM_LOCK, FAILURES, FaultKind, Folder, Process, Progress, STORE, SimHost, Traced,
    Tree, at_once, call, dream_lock, dream_store, dream_store_options, dream_tree, dreamt_memory,
    merging, say, turn,
};
use serde_json::json;

const DAY: i64 = 86_400_000;
const BEFORE: &str = "/mem/.memdir/dream-before.json";

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

const SESSIONS: u32 = 5;

/// A store that dreams by itself, as its project has transcripts.
fn due_store() -> Store {
    Store::new(OpenOptions {
        home: Some("/home/ada".to_owned()),
        ..dream_store_options()
    })
}

/// Its disk; the sessions were held since the last dream and before the one that is disturbed.
fn due_tree(prior: Option<i64>) -> Tree {
    let mut tree = tree(prior);
    for number in 0..SESSIONS {
        let path = format!("/home/ada/.claude/projects/-code-shop/s{number}.jsonl");
        tree.file(path, "{}\n").at(start() - 3_600_000);
    }
    tree
}

fn dream_when_due(host: &mut SimHost, pid: u32) -> Ended<Dream> {
    run(host, pid, due_store().dream(DreamOptions::default()))
}

#[test]
fn whatever_ends_a_dream_the_next_one_is_as_due_as_it_was() {
    let kinds = [
        FaultKind::Crash,
        FaultKind::Tear,
        FaultKind::Cancel,
        FaultKind::Fail(FailureCode::Other),
    ];
    for prior in PRIORS {
        for kind in kinds {
            for at in 0.. {
                let mut host = SimHost::with_tree(7, due_tree(prior)).with_fault(at, kind);
                say(&mut host, merging());
                let result = dream_when_due(&mut host, 11);
                if host.trace.len() <= at && result.is_some() {
                    assert!(at > 60, "{at}");
                    break;
                }
                host.faults.clear();
                let last = host.trace.last();
                let what = format!("{prior:?}: {kind:?} at {at}, {last:?}: {result:?}");
                let is_done =
                    matches!(&result, Some(Ok(dream)) if dream.outcome == DreamOutcome::Done);
                // A crash after everything was done, and that was noted.
                let is_noted = result.is_none()
                    && memories(&host.tree).contains_key("new.md")
                    && !host.tree.nodes().contains_key(BEFORE.as_bytes());
                // What is in use is not cleared away.
                host.clock_ms += 900_000;
                say(&mut host, Vec::new());
                let next = dream_when_due(&mut host, 22).unwrap().unwrap();
                if is_done || is_noted {
                    assert_eq!(next.reason, Some(Awake::TooSoon), "{what}");
                } else if result.as_ref().is_some_and(Result::is_err)
                    && next.reason == Some(Awake::TooSoon)
                {
                    // Cancelled when it was applied already.
                    assert!(memories(&host.tree).contains_key("new.md"), "{what}");
                } else {
                    let seen = (next.outcome, next.sessions);
                    assert_eq!(seen, (DreamOutcome::Done, SESSIONS), "{what}: {next:?}");
                }
            }
        }
    }
}

/// A dream that is killed while the model is asked.
fn killed(host: &mut SimHost, pid: Option<u32>) {
    say(host, merging());
    let process = Process::new(pid, pid.unwrap_or_default().into());
    let mut running = host.start_in(process, due_store().dream(DreamOptions::default()));
    let before = host.trace.len();
    let is_model = |traced: &Traced| matches!(traced.effect, Effect::Model { .. });
    while !host.trace[before..].iter().any(is_model) {
        assert!(matches!(host.step(&mut running), Progress::Working));
    }
    host.processes.retain(|known| Some(*known) != pid);
}

#[test]
fn one_crash_after_another_delays_nobody() {
    for prior in PRIORS {
        let mut host = SimHost::with_tree(7, due_tree(prior));
        for pid in 11..15 {
            killed(&mut host, Some(pid));
        }
        let dreamt = dream_when_due(&mut host, 22).unwrap().unwrap();
        let seen = (dreamt.outcome, dreamt.sessions);
        assert_eq!(seen, (DreamOutcome::Done, SESSIONS), "{dreamt:?}");
        // That was one.
        host.clock_ms += DAY - 1;
        let next = dream_when_due(&mut host, 22).unwrap().unwrap();
        assert_eq!(next.reason, Some(Awake::TooSoon));
    }
}

#[test]
fn a_crash_and_then_a_failure_give_the_time_back_from_before_both() {
    for prior in PRIORS {
        let mut host = SimHost::with_tree(7, due_tree(prior));
        killed(&mut host, Some(11));
        host.model = Some(Box::new(|_| Attempt::fail(FailureCode::Other)));
        let failed = dream_when_due(&mut host, 22).unwrap().unwrap();
        assert_eq!(failed.outcome, DreamOutcome::Failed, "{failed:?}");
        is_not_delayed(&host, prior, "after both");
        assert!(!host.tree.nodes().contains_key(BEFORE.as_bytes()));
    }
}

#[test]
fn a_crash_is_waited_for_as_long_as_its_lock_is_held() {
    let hour = 3_600_000;
    // Its number is another process's by now, or there are no numbers.
    for pid in [Some(11), None] {
        let mut host = SimHost::with_tree(7, due_tree(Some(2 * DAY)));
        if pid.is_none() {
            host.pid = None;
            host.script = Some(Box::new(|effect, _| {
                let failure = Failure::new(FailureCode::Unsupported, "no processes");
                let asks = matches!(effect, Effect::ProcessAlive { .. });
                asks.then_some(Outcome::Failed(failure))
            }));
        }
        killed(&mut host, pid);
        host.processes.insert(11);
        say(&mut host, Vec::new());
        let lock = dream_lock(&host);
        let mut next = |by: i64| {
            host.clock_ms += by;
            let next = host.run(due_store().dream(DreamOptions::default()));
            next.unwrap().reason
        };
        assert_eq!(next(0), Some(Awake::TooSoon));
        assert_eq!(next(hour - 1), Some(Awake::TooSoon));
        assert_eq!(next(1), None, "{lock:?}");
    }
}

#[test]
fn a_lock_of_somebody_else_says_what_it_always_says() {
    let hour = 3_600_000;
    let reason = |host: &mut SimHost| dream_when_due(host, 22).unwrap().unwrap().reason;
    // No crash of ours: the time counts, whoever died.
    let mut host = SimHost::with_tree(7, due_tree(None));
    host.tree.file(DREAM_LOCK, "77").at(start() - hour);
    assert_eq!(reason(&mut host), Some(Awake::TooSoon));
    // After a crash of ours Claude Code has dreamt, also where numbers are small.
    for body in ["77", "11"] {
        let mut host = SimHost::with_tree(7, due_tree(None));
        killed(&mut host, Some(11));
        host.clock_ms += 2 * hour;
        let now = host.clock_ms;
        host.tree.overwrite(DREAM_LOCK, body, now);
        host.clock_ms += hour;
        assert_eq!(reason(&mut host), Some(Awake::TooSoon), "{body}");
        host.clock_ms += DAY;
        assert_eq!(reason(&mut host), Some(Awake::FewSessions), "{body}");
    }
    // It has taken the lock after our crash, failed, and given back what it had found.
    let mut host = SimHost::with_tree(7, due_tree(None));
    killed(&mut host, Some(11));
    let (_, taken) = dream_lock(&host).unwrap();
    host.tree.overwrite(DREAM_LOCK, "", taken);
    host.clock_ms += 2 * hour;
    say(&mut host, Vec::new());
    assert_eq!(reason(&mut host), None);
}

#[test]
fn what_lies_where_the_time_before_is_kept_is_not_believed_blindly() {
    let at = start() - 60_000;
    let sound = format!(r#"{{"body":"11","atMs":{at},"priorMs":null}}"#);
    for (what, text, wanted) in [
        ("sound", sound.clone(), None),
        ("empty", String::new(), Some(Awake::TooSoon)),
        ("garbage", "{\"body\":11}".to_owned(), Some(Awake::TooSoon)),
        ("torn", sound.replace("}", ""), Some(Awake::TooSoon)),
        (
            "huge",
            format!("{}{sound}", " ".repeat(3 * 1024 * 1024)),
            Some(Awake::TooSoon),
        ),
        (
            "of another one",
            sound.replace("11", "12"),
            Some(Awake::TooSoon),
        ),
        (
            "times that are none",
            sound.replace(&at.to_string(), &i64::MIN.to_string()),
            Some(Awake::TooSoon),
        ),
    ] {
        let mut host = SimHost::with_tree(7, due_tree(None));
        host.tree.file(DREAM_LOCK, "11").at(at);
        host.tree.file(BEFORE, text);
        say(&mut host, Vec::new());
        let next = dream_when_due(&mut host, 22).unwrap().unwrap();
        assert_eq!(next.reason, wanted, "{what}");
    }
    let mut host = SimHost::with_tree(7, due_tree(None));
    host.tree.file(DREAM_LOCK, "11").at(at);
    host.tree.file("/code/shop/forged.json", sound);
    host.tree.link(BEFORE, "/code/shop/forged.json");
    let next = dream_when_due(&mut host, 22).unwrap().unwrap();
    assert_eq!(next.reason, Some(Awake::TooSoon));
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
