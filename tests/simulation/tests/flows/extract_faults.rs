//! Everything that can go wrong with one extraction, at every effect: each failure that a host can give, a
//! cancellation, a crash, a crash in the middle of a write; in a run that writes and in one that proposes. Then
//! the next extraction comes.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests fail as tests do"
)]

use std::collections::{BTreeMap, BTreeSet};

use crate::common;
use memdir_core::ErrorCode;
use memdir_core::error::Error;
use memdir_core::extract::{ExtractOptions, Extraction, ExtractionOutcome};
use memdir_core::flow::{Effect, FailureCode};
use memdir_core::store::{Features, Store};
use memdir_simulation::{
    FAILURES, FaultKind, Folder, Process, Progress, STORE, SimHost, Tree, call, extract_options,
    extract_tree, say, turn,
};
use serde_json::{Value, json};

const GONE: &str = "---\nname: Gone\ndescription: no longer so\ntype: project\n---\nOld news.\n";
const TESTS: &str = "- [Tests](feedback_tests.md) — how";
const OTHER: &str = "- [Gone](gone.md) — old";
const LINES: [&str; 2] = ["- [One](one.md) — one", "- [Two](two.md) — two"];

fn memory(name: &str) -> String {
    format!("---\nname: {name}\ndescription: {name}\ntype: project\n---\nThe text of {name}.\n")
}

fn tree() -> Tree {
    let mut tree = extract_tree();
    tree.file("/mem/gone.md", GONE);
    tree.file("/mem/MEMORY.md", format!("{TESTS}\n{OTHER}\n"));
    tree
}

/// Reads, writes two memories and their lines, and removes one.
fn turns() -> Vec<Value> {
    let write = |name: &str| {
        let input = json!({"file_path": format!("/mem/{name}.md"), "content": memory(name)});
        call("Write", &input)
    };
    let edit = |old: &str, new: &str| {
        let input = json!({"file_path": "/mem/MEMORY.md", "old_string": old, "new_string": new});
        call("Edit", &input)
    };
    let file = |name: &str, path: &str| call(name, &json!({"file_path": path}));
    vec![
        turn(&[file("Read", "/mem/MEMORY.md"), file("Read", "/mem/gone.md")]),
        turn(&[
            write("one"),
            write("two"),
            edit(TESTS, &format!("{TESTS}\n{}\n{}", LINES[0], LINES[1])),
            file("Delete", "/mem/gone.md"),
        ]),
    ]
}

fn store() -> Store {
    Store::new(extract_options(Features::default()))
}

fn options(review: bool) -> ExtractOptions {
    ExtractOptions {
        review,
        ..ExtractOptions::default()
    }
}

fn files(host: &SimHost) -> BTreeMap<String, String> {
    Folder::new(&host.tree, STORE).files()
}

/// What is wrong with the files of a store that was disturbed.
fn wrong(host: &SimHost) -> Vec<String> {
    let files = files(host);
    let mut wrong = Vec::new();
    let mut known: BTreeMap<&str, String> = BTreeMap::from([("gone.md", GONE.to_owned())]);
    known.insert(
        "feedback_tests.md",
        files_of(&tree())["feedback_tests.md"].clone(),
    );
    for name in ["one", "two", "three"] {
        known.insert(
            match name {
                "one" => "one.md",
                "two" => "two.md",
                _ => "three.md",
            },
            memory(name),
        );
    }
    for (path, content) in &files {
        if path != "MEMORY.md" && known.get(path.as_str()) != Some(content) {
            wrong.push(format!("{path} is torn: {content:?}"));
        }
    }
    if !files.contains_key("feedback_tests.md") {
        wrong.push("a memory that nobody was at is gone".to_owned());
    }
    if !Folder::new(&host.tree, STORE).holds(GONE) {
        wrong.push("what was removed is not kept".to_owned());
    }
    let index = files.get("MEMORY.md").cloned().unwrap_or_default();
    let lines: Vec<&str> = index.lines().collect();
    let unique: BTreeSet<&str> = lines.iter().copied().collect();
    let strange = lines
        .iter()
        .any(|line| ![TESTS, OTHER, LINES[0], LINES[1]].contains(line));
    let is_pair = lines.contains(&LINES[0]) == lines.contains(&LINES[1]);
    if strange || unique.len() != lines.len() || !is_pair || !index.ends_with('\n') {
        wrong.push(format!("the index is torn: {index:?}"));
    }
    // That of a memory that is to go may go first.
    if !lines.contains(&TESTS) {
        wrong.push(format!("a line is lost: {index:?}"));
    }
    wrong
}

fn files_of(tree: &Tree) -> BTreeMap<String, String> {
    Folder::new(tree, STORE).files()
}

/// What a run has in truth written and removed.
fn in_truth(host: &SimHost) -> (Vec<String>, Vec<String>) {
    let files = files(host);
    let written = ["one.md", "two.md"]
        .into_iter()
        .filter(|path| files.contains_key(*path));
    let removed = ["gone.md"]
        .into_iter()
        .filter(|path| !files.contains_key(*path));
    (
        written.map(str::to_owned).collect(),
        removed.map(str::to_owned).collect(),
    )
}

type Ended = Option<Result<Extraction, Error>>;

/// One extraction with a fault; none when it was over before that.
fn disturbed(review: bool, at: usize, kind: FaultKind) -> Option<(SimHost, Store, Ended)> {
    let mut host = SimHost::with_tree(7, tree()).with_fault(at, kind);
    say(&mut host, turns());
    let store = store();
    let flow = store.extract(&common::turns(1), options(review));
    let running = host.start_in(Process::new(Some(11), 11), flow);
    let result = host.finish(running);
    if host.trace.len() <= at && result.is_some() {
        return None;
    }
    host.faults.clear();
    Some((host, store, result))
}

/// The next extraction on the same machine: it ends well, and names what it has written.
fn recovers(host: &mut SimHost, store: &Store, cursor: Option<&str>, what: &str) {
    // Whatever was paused is over.
    host.clock_ms += 900_000;
    let input = json!({"file_path": "/mem/three.md", "content": memory("three")});
    let asked = say(host, vec![turn(&[call("Write", &input)])]);
    let before = host.clock_ms;
    let flow = store.extract(&common::turns(2), options(false));
    let mut running = host.start_in(Process::new(Some(22), 22), flow);
    let result = loop {
        match host.step(&mut running) {
            Progress::Working => {}
            Progress::Ended(result) => break result,
            Progress::Crashed => panic!("{what}"),
        }
    };
    let result = result.unwrap_or_else(|error| panic!("{what}: then {error:?}"));
    assert_eq!(
        result.outcome,
        ExtractionOutcome::Done,
        "{what}: then {result:?}"
    );
    assert_eq!(
        result.paths,
        ["three.md"],
        "{what}: then {result:?}, {:?}",
        asked.all().last()
    );
    assert_eq!(result.removed, [""; 0], "{what}");
    assert_eq!(result.state.cursor.as_deref(), Some("a2"), "{what}");
    assert!(
        host.clock_ms - before < 6_000,
        "{what}: {} ms",
        host.clock_ms - before
    );
    let shown = asked.all()[0]["messages"][0].to_string();
    assert!(shown.contains("question number 2 of mine"), "{what}");
    assert_eq!(
        shown.contains("question number 1 of mine"),
        cursor.is_none(),
        "{what}"
    );
    assert_eq!(wrong(host), [""; 0], "{what}, after the next one");
    assert_eq!(
        Folder::new(&host.tree, STORE).left_over(),
        [""; 0],
        "{what}, after the next one"
    );
}

/// What waits in the inbox is whole, and can be applied.
fn applies(host: &mut SimHost, store: &Store, told: Option<&[String]>, what: &str) {
    let inbox = host.run(store.inbox()).unwrap();
    assert!(
        inbox.items.len() <= 1 && inbox.report.is_empty(),
        "{what}: {inbox:?}"
    );
    let ids: Vec<&String> = inbox.items.iter().map(|item| &item.id).collect();
    if let Some(told) = told {
        assert_eq!(ids, told.iter().collect::<Vec<_>>(), "{what}");
    }
    for item in &inbox.items {
        let mut paths: Vec<&str> = item
            .changes
            .iter()
            .map(|change| change.path.as_str())
            .collect();
        paths.sort_unstable();
        let changed = ["MEMORY.md", "gone.md", "one.md", "two.md"];
        assert!(
            paths.iter().all(|path| changed.contains(path)),
            "{what}: {paths:?}"
        );
        let result = host
            .run(store.apply_proposal(item.id.clone(), None))
            .unwrap();
        assert_eq!(result.left, [""; 0], "{what}: {result:?}");
    }
    assert_eq!(wrong(host), [""; 0], "{what}, applied");
}

/// Whether a failure says of a file that it is not there, which is then taken for true.
fn is_told_to_be_gone(effect: &Effect, code: FailureCode) -> bool {
    let is_on_its_way =
        |effect: &Effect| matches!(effect, Effect::Rename { from, .. } if from.ends_with(".bytes"));
    (matches!(effect, Effect::Lstat { .. } | Effect::Read { .. }) || is_on_its_way(effect))
        && matches!(code, FailureCode::NotFound | FailureCode::NotADirectory)
}

#[test]
fn without_a_fault_all_is_done() {
    for review in [false, true] {
        let (mut host, store, result) = {
            let mut host = SimHost::with_tree(7, tree());
            say(&mut host, turns());
            let store = store();
            let result = host
                .run(store.extract(&common::turns(1), options(review)))
                .unwrap();
            (host, store, result)
        };
        assert_eq!(result.paths, ["one.md", "two.md"], "{result:?}");
        assert_eq!(result.removed, ["gone.md"]);
        if review {
            assert_eq!(files(&host), files_of(&tree()));
            applies(&mut host, &store, Some(&result.inbox), "no fault");
        }
        let index = files(&host)["MEMORY.md"].clone();
        assert_eq!(index, format!("{TESTS}\n{}\n{}\n", LINES[0], LINES[1]));
        assert_eq!(in_truth(&host), (result.paths, result.removed));
    }
}

#[test]
fn each_failure_at_each_effect() {
    for review in [false, true] {
        for code in FAILURES {
            for at in 0.. {
                let Some((mut host, store, result)) = disturbed(review, at, FaultKind::Fail(code))
                else {
                    break;
                };
                let effect = host.trace[at].effect.clone();
                let result = result.unwrap();
                let what = format!("{review}: {code:?} at {at}, {effect:?}: {result:?}");
                if is_told_to_be_gone(&effect, code) {
                    continue;
                }
                assert_eq!(wrong(&host), [""; 0], "{what}");
                if review {
                    assert_eq!(files(&host), files_of(&tree()), "{what}");
                }
                let failed = result.as_ref().err().map(|error| error.code);
                let failed = failed.or(result.as_ref().ok().and_then(|result| result.code));
                assert!(
                    !matches!(failed, Some(ErrorCode::Internal | ErrorCode::Protocol)),
                    "{what}"
                );
                if let Ok(result) = &result
                    && !review
                {
                    let told = (result.paths.clone(), result.removed.clone());
                    assert_eq!(told, in_truth(&host), "{what}");
                }
                let stays = match &effect {
                    Effect::Remove { .. } => true,
                    Effect::Read { path, .. } => {
                        code == FailureCode::NotFound && path.ends_with("/lock")
                    }
                    _ => false,
                };
                let left = Folder::new(&host.tree, STORE).left_over();
                assert!(stays || left.is_empty(), "{what}: {left:?}");
                let cursor = result
                    .as_ref()
                    .ok()
                    .and_then(|result| result.state.cursor.clone());
                recovers(&mut host, &store, cursor.as_deref(), &what);
                if review {
                    let told = result.ok().map(|result| result.inbox);
                    applies(&mut host, &store, told.as_deref(), &what);
                }
            }
        }
    }
}

#[test]
fn a_cancellation_at_each_effect() {
    for review in [false, true] {
        for at in 0.. {
            let Some((mut host, store, result)) = disturbed(review, at, FaultKind::Cancel) else {
                assert!(at > 60, "{at}");
                break;
            };
            let what = format!("{review}: cancelled at {at}, {:?}", host.trace[at].effect);
            let result = result.unwrap();
            assert_eq!(
                result.as_ref().err().map(|error| error.code),
                Some(ErrorCode::Aborted),
                "{what}: {result:?}"
            );
            assert_eq!(wrong(&host), [""; 0], "{what}");
            assert_eq!(
                Folder::new(&host.tree, STORE).left_over(),
                [""; 0],
                "{what}"
            );
            if review {
                assert_eq!(files(&host), files_of(&tree()), "{what}");
            }
            // Only the very last effects come after the run has succeeded.
            let tells = |effect: &Effect| matches!(effect, Effect::Emit { event } if !event.message.contains(": turn "));
            let last = host.trace[..=at].iter().any(|traced| tells(&traced.effect));
            let cursor = last.then_some("a1");
            recovers(&mut host, &store, cursor, &what);
            if review {
                applies(&mut host, &store, None, &what);
            }
        }
    }
}

#[test]
fn a_crash_at_each_effect() {
    for review in [false, true] {
        for kind in [FaultKind::Crash, FaultKind::Tear] {
            for at in 0.. {
                let Some((mut host, _, result)) = disturbed(review, at, kind) else {
                    break;
                };
                let what = format!("{review}: {kind:?} at {at}");
                assert!(result.is_none(), "{what}: {result:?}");
                assert_eq!(wrong(&host), [""; 0], "{what}");
                if review {
                    assert_eq!(files(&host), files_of(&tree()), "{what}");
                }
                // A new process knows of nothing.
                let store = store();
                recovers(&mut host, &store, None, &what);
                if review {
                    applies(&mut host, &store, None, &what);
                }
            }
        }
    }
}
