//! How a dream is taken back: to the byte, where nobody has changed anything since, and what becomes of what
//! somebody has.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::collections::BTreeMap;

use memdir_core::ErrorCode;
use memdir_core::dream::{Dream, DreamOutcome, DreamUndone};
use memdir_core::flow::{Effect, Failure, FailureCode, Outcome};
use memdir_core::store::{Features, OpenOptions, Store};
use memdir_simulation::{
    FaultKind, Folder, Process, Progress, STORE, SimHost, Tree, answering, at_once, call,
    dream_store, dream_store_options, dream_tree, dreamt_memory, end, merging, results, say, turn,
};
use serde_json::{Value, json};

fn memories(host: &SimHost) -> BTreeMap<String, String> {
    let mut files = Folder::new(&host.tree, STORE).files();
    files.retain(|path, _| path.ends_with(".md"));
    files
}

fn dream(host: &mut SimHost) -> Dream {
    let dreamt = host.run(dream_store().dream(at_once())).unwrap();
    assert_eq!(dreamt.outcome, DreamOutcome::Done, "{dreamt:?}");
    host.clock_ms += 1_000;
    dreamt
}

fn undo(host: &mut SimHost) -> DreamUndone {
    host.run(dream_store().undo_dream()).unwrap()
}

/// A dream of these turns in a store, and what was there before.
fn dreamt(tree: Tree, turns: Vec<Value>) -> (SimHost, BTreeMap<String, String>, Dream) {
    let (mut host, _) = answering(tree, turns);
    let before = memories(&host);
    let dreamt = dream(&mut host);
    (host, before, dreamt)
}

fn file(tool: &str, path: &str) -> Value {
    call(tool, &json!({"file_path": format!("/mem/{path}")}))
}

fn write(path: &str, content: &str) -> Value {
    let input = json!({"file_path": format!("/mem/{path}"), "content": content});
    call("Write", &input)
}

fn edit(path: &str, old: &str, new: &str) -> Value {
    let path = format!("/mem/{path}");
    call(
        "Edit",
        &json!({"file_path": path, "old_string": old, "new_string": new}),
    )
}

/// What is removed was read.
fn removing(path: &str) -> [Value; 2] {
    [file("Read", path), file("Delete", path)]
}

/// It is taken back without a conflict, and everything is as before.
fn comes_back(host: &mut SimHost, before: &BTreeMap<String, String>) {
    let undone = undo(host);
    assert_eq!(undone.conflicts, [""; 0], "{undone:?}");
    assert_eq!(memories(host), *before, "{undone:?}");
}

#[test]
fn a_memory_that_a_person_has_changed_since_stays_theirs() {
    let (mut host, mut before, _) = dreamt(dream_tree(), merging());
    host.tree.file("/mem/a.md", "mine\n");
    let undone = undo(&mut host);
    assert_eq!(undone.conflicts, ["a.md"]);
    before.insert("a.md".to_owned(), "mine\n".to_owned());
    assert_eq!(memories(&host), before);
    // It was dealt with.
    assert_eq!(undo(&mut host), DreamUndone::default());
    assert_eq!(memories(&host), before);
}

#[test]
fn a_memory_that_a_person_has_written_in_place_of_a_removed_one_stays_theirs() {
    let (mut host, mut before, _) = dreamt(dream_tree(), merging());
    host.tree.file("/mem/b.md", "mine\n");
    host.tree.take("/mem/new.md");
    let undone = undo(&mut host);
    assert_eq!(undone.conflicts, ["b.md"]);
    before.insert("b.md".to_owned(), "mine\n".to_owned());
    assert_eq!(memories(&host), before);
}

#[test]
fn of_an_index_that_a_person_has_changed_only_the_entries_of_the_dream_go_back() {
    let (mut host, mut before, _) = dreamt(dream_tree(), merging());
    let index = memories(&host)["MEMORY.md"].clone();
    host.tree.file("/mem/mine.md", "mine\n");
    let line = "- [Mine](mine.md) — mine\n";
    host.tree.file("/mem/MEMORY.md", format!("{index}{line}"));
    let undone = undo(&mut host);
    assert_eq!(undone.conflicts, [""; 0]);
    let wanted = format!("{}{line}", before["MEMORY.md"]);
    before.insert("MEMORY.md".to_owned(), wanted);
    before.insert("mine.md".to_owned(), "mine\n".to_owned());
    assert_eq!(memories(&host), before);
}

#[test]
fn two_dreams_are_taken_back_one_after_the_other() {
    let (mut host, first, _) = dreamt(dream_tree(), merging());
    let second = memories(&host);
    say(
        &mut host,
        vec![turn(&[
            file("Read", "new.md"),
            write("new.md", &dreamt_memory("newer", "")),
            file("Read", "c.md"),
            file("Delete", "c.md"),
        ])],
    );
    let dreamt = dream(&mut host);
    assert_eq!(
        (dreamt.improved, dreamt.removed),
        (vec!["new.md".to_owned()], vec!["c.md".to_owned()])
    );
    comes_back(&mut host, &second);
    comes_back(&mut host, &first);
    assert_eq!(undo(&mut host), DreamUndone::default());
    assert_eq!(memories(&host), first);
}

#[test]
fn the_bytes_of_an_index_and_of_memories_come_back_whatever_they_are() {
    let index = "\u{FEFF}# Mine\r\n\r\n* [B](b.md)\r\n- [A]( a.md ) — a  \r\n\r\n\r\n- [C](./c.md)\n- [gone](new.md) — not there\n- [B](b.md) again";
    let memory = "\u{FEFF}---\r\nname: b\r\n---\r\nno line end";
    let mut tree = dream_tree();
    tree.file("/mem/MEMORY.md", index);
    tree.file("/mem/b.md", memory);
    tree.file("/mem/empty.md", "");
    let turns = vec![
        turn(&[
            file("Read", "MEMORY.md"),
            file("Read", "a.md"),
            file("Read", "b.md"),
            file("Read", "empty.md"),
        ]),
        turn(&[
            file("Delete", "b.md"),
            write("a.md", &dreamt_memory("a and b", "")),
            write("new.md", &dreamt_memory("new", "")),
            write("empty.md", "not any more\n"),
            // What is removed gets its line again from a model that does not know what it does.
            edit("MEMORY.md", "# Mine", "# Yours\n- [B](b.md) — once more"),
        ]),
    ];
    let (mut host, before, dreamt) = dreamt(tree, turns);
    assert_eq!(dreamt.removed, ["b.md"], "{dreamt:?}");
    assert_eq!(dreamt.improved, ["a.md", "empty.md", "new.md"]);
    let after = memories(&host);
    assert!(!after["MEMORY.md"].contains("(b.md)"), "{after:?}");
    comes_back(&mut host, &before);
}

#[test]
fn an_index_that_was_read_can_be_written_after_a_removal() {
    // Its line is gone by then, which is no change of somebody else's.
    let index = "- [P](pinned.md) — p\n- [A](a.md) — a and b\n- [C](c.md) — c\n";
    let reads = [file("Read", "MEMORY.md"), file("Read", "a.md")];
    let changes = [
        write("a.md", &dreamt_memory("a and b", "")),
        write("MEMORY.md", index),
    ];
    for in_one_turn in [true, false] {
        let mut turns = vec![reads.to_vec(), removing("b.md").to_vec(), changes.to_vec()];
        if in_one_turn {
            turns = vec![turns.concat()];
        }
        let turns = turns.iter().map(|calls| turn(calls)).collect();
        let (mut host, before, dreamt) = dreamt(dream_tree(), turns);
        assert_eq!(dreamt.removed, ["b.md"], "{dreamt:?}");
        assert_eq!(memories(&host)["MEMORY.md"], index);
        comes_back(&mut host, &before);
    }
}

#[test]
fn a_removal_hides_no_change_of_an_index() {
    let calls = [vec![file("Read", "MEMORY.md")], removing("b.md").to_vec()];
    let turns = vec![
        turn(&calls.concat()),
        turn(&[write("MEMORY.md", "- [A](a.md) — a\n- [C](c.md) — c\n")]),
    ];
    // Somebody adds an entry at any moment after the run has read the index.
    for at in 0.. {
        let (mut host, asked) = answering(dream_tree(), turns.clone());
        let mut running = host.start(dream_store().dream(at_once()));
        let reads = |host: &SimHost| {
            let is_index = |effect: &Effect| matches!(effect, Effect::Read { path, .. } if path == "/mem/MEMORY.md");
            host.trace.iter().any(|traced| is_index(&traced.effect))
        };
        while asked.all().is_empty() || !reads(&host) {
            assert!(matches!(host.step(&mut running), Progress::Working));
        }
        for _ in 0..at {
            let _ = host.step(&mut running);
        }
        if asked.all().len() > 1 {
            assert!(at > 5, "{at}");
            break;
        }
        let added = format!("{}- [Mine](mine.md) — mine\n", memories(&host)["MEMORY.md"]);
        let now = host.clock_ms;
        host.tree.overwrite("/mem/MEMORY.md", added, now);
        end(&mut host, &mut running).unwrap().unwrap();
        let index = memories(&host)["MEMORY.md"].clone();
        assert!(
            index.contains("- [Mine](mine.md) — mine\n"),
            "{at}: {index}"
        );
        assert!(!index.contains("b.md"), "{at}: {index}");
    }
}

#[test]
fn what_would_not_be_written_today_comes_back_too() {
    let token = format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
    for old in [
        "---\nname: t\ndescription: d\ntype: user\n---\nlikes tea\n".to_owned(),
        format!("---\nname: t\ndescription: d\ntype: project\n---\n{token}\n"),
    ] {
        let clean = dreamt_memory("t", "");
        let changes = [
            vec![file("Delete", "team/t.md")],
            vec![write("team/t.md", &clean)],
        ];
        for calls in changes {
            let mut tree = dream_tree();
            tree.file("/mem/team/t.md", old.clone());
            tree.file("/mem/team/MEMORY.md", "- [T](t.md) — t\n");
            let calls = [vec![file("Read", "team/t.md")], calls].concat();
            let (mut host, _) = answering(tree, vec![turn(&calls)]);
            let before = memories(&host);
            let store = Store::new(OpenOptions {
                features: Features {
                    team: true,
                    dream: true,
                    ..Features::default()
                },
                ..dream_store_options()
            });
            host.run(store.dream(at_once())).unwrap();
            assert_ne!(memories(&host), before);
            let undone = host.run(store.undo_dream()).unwrap();
            assert_eq!(undone.conflicts, [""; 0]);
            assert_eq!(memories(&host), before);
        }
    }
}

#[test]
fn a_new_memory_that_a_person_has_added_to_keeps_its_line() {
    let (mut host, before, _) = dreamt(dream_tree(), merging());
    let now = host.clock_ms;
    let mine = format!("{}and mine\n", dreamt_memory("new", ""));
    host.tree.overwrite("/mem/new.md", mine.clone(), now);
    let undone = undo(&mut host);
    assert_eq!(undone.conflicts, ["new.md"]);
    let mut after = memories(&host);
    assert_eq!(after.remove("new.md"), Some(mine));
    let index = after.remove("MEMORY.md").unwrap();
    let mut wanted = before;
    let old = wanted.remove("MEMORY.md").unwrap();
    assert_eq!(after, wanted);
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let (with, without) = lines(&index)
        .into_iter()
        .partition::<Vec<_>, _>(|line| line.contains("(new.md)"));
    assert_eq!((with.len(), without), (1, lines(&old)), "{index}");
}

#[test]
fn a_dream_that_ended_before_it_changed_anything_is_none_to_take_back() {
    for kind in [FaultKind::Cancel, FaultKind::Crash] {
        let (mut host, before, _) = dreamt(dream_tree(), merging());
        let first = memories(&host);
        let second = vec![turn(&[
            file("Read", "c.md"),
            write("c.md", &dreamt_memory("other", "")),
        ])];
        let is_record = |effect: &Effect| matches!(effect, Effect::Write { path, .. } if path.contains("/.memdir/dreams/"));
        // Where it is written is seen on a machine of its own.
        let mut other = SimHost::with_tree(3, host.tree.clone());
        other.clock_ms = host.clock_ms;
        say(&mut other, second.clone());
        dream(&mut other);
        let place = other
            .trace
            .iter()
            .position(|traced| is_record(&traced.effect));
        say(&mut host, second);
        let at = host.trace.len() + place.unwrap();
        let mut host = host.with_fault(at, kind);
        let process = Process::new(Some(11), 11);
        let mut running = host.start_in(process, dream_store().dream(at_once()));
        while matches!(host.step(&mut running), Progress::Working) {}
        host.faults.clear();
        assert!(is_record(&host.trace[at].effect), "{:?}", host.trace[at]);
        assert_eq!(memories(&host), first, "{kind:?}");
        comes_back(&mut host, &before);
    }
}

#[test]
fn a_dream_that_takes_effect_elsewhere_is_not_taken_back_meanwhile() {
    let (mut host, _) = answering(dream_tree(), merging());
    let before = memories(&host);
    let process = Process::new(Some(11), 11);
    let mut running = host.start_in(process, dream_store().dream(at_once()));
    let mut is_seen = false;
    let mut refused = 0;
    let dreamt = loop {
        match host.step(&mut running) {
            Progress::Ended(dreamt) => break dreamt.unwrap(),
            other => assert!(matches!(other, Progress::Working)),
        }
        let files = Folder::new(&host.tree, STORE).everything();
        is_seen |= files.keys().any(|path| path.starts_with(".memdir/dreams/"));
        let lock = memdir_simulation::dream_lock(&host);
        let is_under_way = lock.is_some_and(|(body, _)| body == "11");
        if is_seen && is_under_way && refused < 3 {
            let error = host.run(dream_store().undo_dream()).unwrap_err();
            assert_eq!(error.code, ErrorCode::Busy);
            refused += 1;
        }
    };
    assert_eq!((refused, dreamt.conflicts), (3, Vec::new()));
    assert_eq!(memories(&host)["a.md"], dreamt_memory("a and b", ""));
    comes_back(&mut host, &before);
}

#[test]
fn a_person_who_writes_a_removed_memory_anew_meanwhile_keeps_its_line() {
    for entry in ["- [B](b.md) — b\n", "- [B](b.md) — mine\n"] {
        let (mut host, _) = answering(dream_tree(), merging());
        let mut running = host.start(dream_store().dream(at_once()));
        while memories(&host).contains_key("b.md") {
            assert!(matches!(host.step(&mut running), Progress::Working));
        }
        let now = host.clock_ms;
        host.tree.overwrite("/mem/b.md", "mine\n", now);
        let index = memories(&host)["MEMORY.md"].replace("- [B](b.md) — b\n", entry);
        host.tree.overwrite("/mem/MEMORY.md", index, now);
        end(&mut host, &mut running).unwrap().unwrap();
        let after = memories(&host);
        assert_eq!(after["b.md"], "mine\n");
        assert!(after["MEMORY.md"].contains(entry), "{}", after["MEMORY.md"]);
    }
}

#[test]
fn a_disk_that_fails_in_the_middle_leaves_nothing_or_says_what() {
    // Once, so that what was done can be undone at once; and from then on for a while.
    for stays_full in [false, true] {
        let mut told = 0;
        for at in 0.. {
            let (mut host, _) = answering(dream_tree(), merging());
            let before = memories(&host);
            let mut running = host.start(dream_store().dream(at_once()));
            let is_new = |host: &SimHost| memories(host)["a.md"] != before["a.md"];
            while !is_new(&host) {
                assert!(matches!(host.step(&mut running), Progress::Working));
            }
            let mut left = at;
            host.script = Some(Box::new(move |effect, _| {
                let writes = matches!(effect, Effect::Write { .. });
                if !writes {
                    return None;
                }
                left -= 1;
                let fails = left == -1 || (stays_full && left < 0);
                let failure = Failure::new(FailureCode::NoSpace, "no space");
                fails.then_some(Outcome::Failed(failure))
            }));
            let dreamt = end(&mut host, &mut running).unwrap();
            host.script = None;
            let what = format!("{at}: {dreamt:?}");
            match dreamt {
                Ok(dreamt) if dreamt.outcome == DreamOutcome::Done => {
                    assert!(at > 5, "{what}");
                    break;
                }
                Ok(dreamt) => {
                    assert!(stays_full && dreamt.id.is_some(), "{what}");
                    let seen = (dreamt.outcome, dreamt.code);
                    let wanted = (DreamOutcome::Failed, Some(ErrorCode::NoSpace));
                    assert_eq!(seen, wanted, "{what}");
                    told += 1;
                    comes_back(&mut host, &before);
                }
                Err(error) => {
                    assert_eq!(error.code, ErrorCode::NoSpace, "{what}");
                    assert_eq!(memories(&host), before, "{what}");
                }
            }
        }
        assert_eq!(told > 0, stays_full);
    }
}

#[test]
fn an_index_and_folders_that_the_dream_has_made_go() {
    let mut tree = Tree::new();
    tree.file("/mem/deep/a.md", dreamt_memory("a", ""));
    tree.file("/code/shop/main.rs", "");
    let turns = vec![turn(&[
        file("Read", "deep/a.md"),
        write("MEMORY.md", "- [A](deep/a.md) — a\n- [N](far/new.md) — n\n"),
        write("far/new.md", &dreamt_memory("new", "")),
        file("Delete", "deep/a.md"),
    ])];
    let (mut host, before, dreamt) = dreamt(tree, turns);
    assert_eq!(dreamt.removed, ["deep/a.md"]);
    assert_eq!(memories(&host)["MEMORY.md"], "- [N](far/new.md) — n\n");
    comes_back(&mut host, &before);
}

#[test]
fn a_team_folder_comes_back_too() {
    let mut tree = dream_tree();
    tree.file("/mem/team/t.md", dreamt_memory("t", ""));
    tree.file("/mem/team/MEMORY.md", "- [T](t.md) — t\n");
    let (mut host, _) = answering(
        tree,
        vec![turn(&[
            file("Read", "team/t.md"),
            file("Delete", "team/t.md"),
            write("team/n.md", &dreamt_memory("n", "")),
            file("Read", "team/MEMORY.md"),
        ])],
    );
    let store = Store::new(OpenOptions {
        features: Features {
            team: true,
            dream: true,
            ..Features::default()
        },
        ..dream_store_options()
    });
    let before = memories(&host);
    let dreamt = host.run(store.dream(at_once())).unwrap();
    assert_eq!(dreamt.removed, ["team/t.md"], "{dreamt:?}");
    assert_eq!(dreamt.improved, ["team/n.md"], "{dreamt:?}");
    assert_eq!(memories(&host)["team/MEMORY.md"], "");
    let undone = host.run(store.undo_dream()).unwrap();
    assert_eq!(undone.conflicts, [""; 0]);
    assert_eq!(memories(&host), before);
}

#[test]
fn what_a_person_links_to_meanwhile_is_merged_and_comes_back() {
    let (mut host, _) = answering(dream_tree(), merging());
    let line = "- [B](b.md) — my favourite\n";
    host.script = Some(Box::new(move |effect, tree| {
        let request = match effect {
            Effect::Model { request, .. } if request.contains("will be removed") => request,
            _ => return None,
        };
        assert!(!request.is_empty());
        let index = "- [A](a.md) — a\n- [C](c.md) — c\n- [P](pinned.md) — p\n";
        tree.file("/mem/MEMORY.md", format!("{index}{line}"));
        None
    }));
    let dreamt = dream(&mut host);
    assert_eq!(dreamt.removed, ["b.md"], "{dreamt:?}");
    let index = memories(&host)["MEMORY.md"].clone();
    assert!(
        !index.contains("b.md") && index.contains("new.md"),
        "{index}"
    );
    host.script = None;
    undo(&mut host);
    let index = memories(&host)["MEMORY.md"].clone();
    assert!(index.contains(line), "{index}");
}

#[test]
fn a_removal_that_a_person_prevents_keeps_its_line() {
    let (mut host, _) = answering(dream_tree(), merging());
    host.script = Some(Box::new(|effect, tree| {
        if matches!(effect, Effect::Model { request, .. } if request.contains("will be removed")) {
            tree.file("/mem/b.md", "mine\n");
        }
        None
    }));
    let before = memories(&host);
    let dreamt = dream(&mut host);
    assert_eq!(dreamt.conflicts, ["b.md"], "{dreamt:?}");
    let after = memories(&host);
    assert!(
        after["MEMORY.md"].contains("- [B](b.md) — b\n"),
        "{after:?}"
    );
    host.script = None;
    let undone = undo(&mut host);
    assert_eq!(undone.conflicts, [""; 0]);
    let mut wanted = before;
    wanted.insert("b.md".to_owned(), "mine\n".to_owned());
    assert_eq!(memories(&host), wanted);
}

#[test]
fn a_removal_that_is_refused_keeps_its_line() {
    // It was changed after it was read: what is there is not what the model wants to remove.
    let (mut host, asked) = answering(dream_tree(), merging());
    host.script = Some(Box::new(|effect, tree| {
        if matches!(effect, Effect::Model { request, .. } if request.contains("tool_result")) {
            tree.file("/mem/b.md", "mine\n");
        }
        None
    }));
    let dreamt = dream(&mut host);
    assert_eq!(dreamt.removed, [""; 0], "{dreamt:?}");
    let answers = results(&asked.all()[2]);
    assert!(answers[4].1, "{answers:?}");
    let index = memories(&host)["MEMORY.md"].clone();
    assert!(index.contains("- [B](b.md) — b\n"), "{index}");
}

#[test]
fn what_is_gone_already_is_not_brought_back() {
    let (mut host, _) = answering(dream_tree(), merging());
    host.script = Some(Box::new(|effect, tree| {
        if matches!(effect, Effect::Model { request, .. } if request.contains("will be removed")) {
            tree.take("/mem/b.md");
        }
        None
    }));
    let mut before = memories(&host);
    dream(&mut host);
    host.script = None;
    let undone = undo(&mut host);
    assert_eq!(undone.conflicts, [""; 0]);
    before.remove("b.md");
    assert_eq!(memories(&host), before);
}

fn records(host: &SimHost) -> Vec<String> {
    let everything = Folder::new(&host.tree, STORE).everything();
    let records = everything.into_keys();
    records
        .filter(|path| path.starts_with(".memdir/dreams/"))
        .collect()
}

#[test]
fn a_damaged_record_takes_nothing_back() {
    let long = format!("[{}", "[".repeat(100_000));
    let escaping = |path: &str| {
        let change = json!({"path": path, "before": "evil", "after": null});
        json!({"atMs": 1, "changes": [change]}).to_string()
    };
    let damages = [
        String::new(),
        "{".to_owned(),
        "null".to_owned(),
        "{\"atMs\":1}".to_owned(),
        long,
        escaping("../x.md"),
        escaping("/etc/x.md"),
        escaping("a/../../x.md"),
        escaping(".memdir/lock"),
        escaping(".memdir/x.md"),
        escaping(".consolidate-lock"),
        escaping("x.txt"),
        escaping(""),
    ];
    for damage in damages {
        let (mut host, _, _) = dreamt(dream_tree(), merging());
        let after = memories(&host);
        let record = format!("{STORE}/{}", records(&host)[0]);
        host.tree.file(&record, &damage);
        let before: Vec<Vec<u8>> = host.tree.nodes().keys().cloned().collect();
        let undone = undo(&mut host);
        assert_eq!(undone, DreamUndone::default(), "{damage:.80}");
        assert_eq!(memories(&host), after, "{damage:.80}");
        let names: Vec<Vec<u8>> = host.tree.nodes().keys().cloned().collect();
        assert_eq!(names, before, "{damage:.80}");
    }
}

#[test]
fn twenty_dreams_can_be_taken_back() {
    let (mut host, _) = answering(dream_tree(), Vec::new());
    let mut before = Vec::new();
    for number in 0..21 {
        let content = dreamt_memory(&format!("a{number}"), "");
        let turns = vec![turn(&[file("Read", "a.md"), write("a.md", &content)])];
        say(&mut host, turns);
        before.push(memories(&host));
        dream(&mut host);
        assert_eq!(records(&host).len(), (number + 1).min(20), "{number}");
    }
    for number in (1..21).rev() {
        comes_back(&mut host, &before[number]);
    }
    assert_eq!(undo(&mut host), DreamUndone::default());
    assert_eq!(memories(&host), before[1]);
}

#[test]
fn a_clock_that_is_set_back_does_not_change_which_one_was_last() {
    let (mut host, first, _) = dreamt(dream_tree(), merging());
    let second = memories(&host);
    host.clock_ms -= 1_000_000_000;
    say(
        &mut host,
        vec![turn(&[
            file("Read", "a.md"),
            write("a.md", &dreamt_memory("later", "")),
        ])],
    );
    dream(&mut host);
    comes_back(&mut host, &second);
    comes_back(&mut host, &first);
}

/// A store with so many memories and entries.
fn many(count: usize) -> Tree {
    let mut tree = dream_tree();
    let mut index = String::new();
    for number in 0..count {
        tree.file(
            format!("/mem/m{number}.md"),
            dreamt_memory(&format!("m{number}"), ""),
        );
        index.push_str(&format!("- [M{number}](m{number}.md) — m{number}\n"));
    }
    tree.file("/mem/MEMORY.md", index);
    tree
}

/// How many memories there are without an entry.
fn unlinked(host: &SimHost) -> usize {
    let files = memories(host);
    let index = files.get("MEMORY.md").cloned().unwrap_or_default();
    let missing = files
        .keys()
        .filter(|path| path.starts_with('m') && !index.contains(&format!("({path})")));
    missing.count()
}

#[test]
fn twenty_memories_go_and_no_more() {
    let deletes: Vec<Value> = (0..30)
        .flat_map(|number| removing(&format!("m{number}.md")))
        .collect();
    let (mut host, before, dreamt) = dreamt(many(30), vec![turn(&deletes)]);
    assert_eq!(dreamt.removed.len(), 20);
    assert_eq!(unlinked(&host), 0);
    comes_back(&mut host, &before);
}

#[test]
fn twenty_entries_go_without_their_memories_and_no_more() {
    for (kept, is_allowed) in [(10, true), (9, false), (0, false)] {
        let entries: String = (0..kept)
            .map(|number| format!("- [M{number}](m{number}.md)\n"))
            .collect();
        let turns = vec![turn(&[
            file("Read", "MEMORY.md"),
            write("MEMORY.md", &entries),
        ])];
        let (mut host, before, _) = dreamt(many(30), turns);
        assert_eq!(unlinked(&host), if is_allowed { 20 } else { 0 }, "{kept}");
        comes_back(&mut host, &before);
    }
}

#[test]
fn no_detour_takes_more_entries() {
    // Twenty entries without their memories, twenty with them, and then these are there again.
    let deletes = (0..20).flat_map(|number| removing(&format!("m{number}.md")));
    let kept: String = (0..45)
        .filter(|number| *number >= 40)
        .map(|number| format!("- [M{number}](m{number}.md)\n"))
        .collect();
    let index = [file("Read", "MEMORY.md"), write("MEMORY.md", &kept)];
    let again = (0..20).map(|number| {
        let name = format!("m{number}");
        write(&format!("{name}.md"), &dreamt_memory(&name, "  \n"))
    });
    for is_first in [true, false] {
        let mut calls: Vec<Value> = deletes.clone().collect();
        calls.splice(if is_first { 0..0 } else { 40..40 }, index.clone());
        calls.extend(again.clone());
        let (mut host, before, dreamt) = dreamt(many(45), vec![turn(&calls)]);
        assert!(unlinked(&host) <= 20, "{}: {dreamt:?}", unlinked(&host));
        comes_back(&mut host, &before);
    }
}

#[test]
fn a_removal_is_possible_beside_twenty_lost_entries() {
    let kept: String = (0..25)
        .filter(|number| !(0..20).contains(number))
        .map(|number| format!("- [M{number}](m{number}.md)\n"))
        .collect();
    let calls = [
        file("Read", "MEMORY.md"),
        write("MEMORY.md", &kept),
        file("Read", "m24.md"),
        file("Delete", "m24.md"),
    ];
    let (mut host, before, dreamt) = dreamt(many(25), vec![turn(&calls)]);
    assert_eq!(dreamt.removed, ["m24.md"], "{dreamt:?}");
    assert_eq!(unlinked(&host), 20);
    comes_back(&mut host, &before);
}
