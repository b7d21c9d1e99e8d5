//! Another program that edits an index at one boundary of a forgetting and the memory at a later one, so
//! that the forgetting begins anew with lines in its hands. No line of the index is lost by that: it is
//! there when the forgetting did not come about, and otherwise when it was undone.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use memdir_core::write::WriteOutcome;
use memdir_simulation::{
    Act, Body, Ended, FaultKind, Folder, STORE, SimHost, Tree, end, hash_of, meddled_often,
    written_tree,
};

const LINES: [&str; 3] = [
    "- [Old](a.md) — as somebody put it",
    "- [B](b.md) — b",
    "- also [the old one](a.md)",
];
const EDITED: &str = "---\nname: Old\ndescription: old hook\ntype: project\n---\nedited\n";

/// What the other program makes of the index as it finds it, and the line that is new in it.
struct Edit {
    line: &'static str,
    new: fn(&str, &str) -> String,
}

const EDITS: [Edit; 4] = [
    Edit {
        line: "- [Again](a.md) — by hand",
        new: |index, line| format!("{index}{line}\n"),
    },
    Edit {
        line: "See [this](a.md) and [that](b.md).",
        new: |index, line| format!("{line}\n{index}"),
    },
    Edit {
        line: "- [Mine](mine.md) — by hand",
        new: |index, line| format!("{index}{line}\n"),
    },
    // From what it had read before.
    Edit {
        line: "- [Mine](mine.md) — by hand",
        new: |_, line| format!("{}{line}\n", index()),
    },
];

fn index() -> String {
    LINES.map(|line| format!("{line}\n")).concat()
}

fn tree() -> Tree {
    let mut tree = written_tree();
    tree.file("/mem/MEMORY.md", index());
    tree
}

fn file(tree: &Tree, path: &str) -> Option<String> {
    match &tree.nodes().get(path.as_bytes())?.body {
        Body::File(bytes) => Some(String::from_utf8(bytes.clone()).unwrap()),
        _ => None,
    }
}

/// Every pair of boundaries: how the forgetting ended, and what is there then.
fn each(edit: &'static Edit, act: &Act, mut check: impl FnMut(String, Ended, SimHost)) {
    let mut pairs = 0;
    for first in 0.. {
        let mut second = first;
        loop {
            let in_index = move |tree: &mut Tree| {
                let now = file(tree, "/mem/MEMORY.md").unwrap_or_default();
                tree.overwrite("/mem/MEMORY.md", (edit.new)(&now, edit.line), 5);
            };
            let in_memory = |tree: &mut Tree| {
                // What is forgotten already is not brought back.
                if file(tree, "/mem/a.md").is_some() {
                    tree.overwrite("/mem/a.md", EDITED, 5);
                }
            };
            let meddles: Vec<(usize, memdir_simulation::Meddle)> =
                vec![(first, Box::new(in_index)), (second, Box::new(in_memory))];
            let Some((ended, host)) = meddled_often(&tree(), act.flow(STORE), true, meddles) else {
                break;
            };
            pairs += 1;
            let what = format!("{:?} at {first} and {second}: {ended:?}", edit.line);
            check(what, ended, host);
            second += 1;
        }
        if second == first {
            break;
        }
    }
    assert!(pairs > 500, "{pairs}");
}

/// Every line that somebody has written is in the index once, and the memory is there.
fn is_whole(tree: &Tree, edit: &Edit, what: &str) {
    let index = file(tree, "/mem/MEMORY.md").unwrap_or_default();
    for line in LINES.iter().chain([&edit.line]) {
        let count = index.lines().filter(|known| known == line).count();
        // What is written in place behind the last look is kept in the trash.
        let trash = Folder::new(tree, STORE).trash();
        let mut kept = trash.iter().filter_map(|item| item.bytes.as_ref());
        let is_kept = *line == edit.line && kept.any(|bytes| bytes.contains(line));
        assert!(
            count == 1 || count == 0 && is_kept,
            "{line}: {what}\n{index}"
        );
    }
    assert!(file(tree, "/mem/a.md").is_some(), "{what}");
}

#[test]
fn undoing_brings_every_line_back() {
    for edit in &EDITS {
        each(edit, &Act::forget("a.md"), |what, ended, mut host| {
            assert_eq!(ended.unwrap().outcome, WriteOutcome::Written, "{what}");
            assert_eq!(file(&host.tree, "/mem/a.md"), None, "{what}");
            let undone = host.run(Act::undo("a.md").flow(STORE)).unwrap();
            assert_eq!(undone.outcome, WriteOutcome::Written, "{what}");
            is_whole(&host.tree, edit, &what);
        });
    }
}

#[test]
fn a_conflict_leaves_every_line() {
    let hash = hash_of(&tree(), "a.md").unwrap();
    let mut conflicts = 0;
    for edit in &EDITS {
        let act = Act::forget("a.md").expecting(&hash);
        each(edit, &act, |what, ended, host| {
            if ended.unwrap().outcome == WriteOutcome::Conflict {
                conflicts += 1;
                is_whole(&host.tree, edit, &what);
            }
        });
    }
    assert!(conflicts > 500, "{conflicts}");
}

// A process that dies between two attempts leaves enough for the way back.
#[test]
fn a_crash_between_two_attempts_loses_no_line() {
    let edited = |tree: &mut Tree| {
        tree.overwrite("/mem/a.md", EDITED, 5);
    };
    for at in 0.. {
        // The memory is edited when its lines have gone.
        let mut host = SimHost::with_tree(1, tree()).with_fault(at, FaultKind::Crash);
        let mut done = false;
        host.script = Some(Box::new(move |_, tree| {
            let index = file(tree, "/mem/MEMORY.md").unwrap();
            if !done && !index.contains("a.md") {
                done = true;
                edited(tree);
            }
            None
        }));
        let mut flow = host.start(Act::forget("a.md").flow(STORE));
        let ended = end(&mut host, &mut flow);
        host.script = None;
        host.faults.clear();
        if ended.is_some() {
            assert!(at > 30, "{at}");
            break;
        }
        let mut flow = host.start(Act::forget("a.md").flow(STORE));
        let _ = end(&mut host, &mut flow);
        let undone = host.run(Act::undo("a.md").flow(STORE)).unwrap();
        assert_eq!(undone.outcome, WriteOutcome::Written, "{at}");
        let index = file(&host.tree, "/mem/MEMORY.md").unwrap();
        let all = LINES.iter().all(|line| index.contains(line));
        assert!(
            all,
            "{at}: {index} {:?}",
            Folder::new(&host.tree, STORE).everything()
        );
    }
}
