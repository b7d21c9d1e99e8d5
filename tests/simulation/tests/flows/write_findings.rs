//! The smallest run for each fault that was found in the writing of a store. Each says what must
//! hold, so each fails until the fault is mended.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests fail as tests do"
)]

use crate::common::store;
use memdir_core::flow::{Effect, FailureCode, Flow};
use memdir_core::memory::MemoryType;
use memdir_core::store::ForgetOptions;
use memdir_core::write::{SaveOptions, WriteOutcome, WriteResult};
use memdir_simulation::{
    FaultKind, Folder, INDEX, OLD, STORE, Session, SimHost, Tree, meddled, stalled, written_tree,
};

const OTHERS: &str = "---\nname: X\n---\nfrom another program\n";

fn save() -> Flow<WriteResult> {
    store(STORE).save(SaveOptions {
        path: Some("a.md".to_owned()),
        name: Some("New".to_owned()),
        description: Some("new hook".to_owned()),
        kind: Some(MemoryType::Project),
        body: Some("new body".to_owned()),
        ..SaveOptions::default()
    })
}

fn forget(path: &str) -> Flow<WriteResult> {
    store(STORE).forget(path.to_owned(), ForgetOptions::default())
}

fn undo() -> Flow<WriteResult> {
    store(STORE).undo_forget(None)
}

/// The number of the first effect of a run that this holds for.
fn number(tree: &Tree, flow: Flow<WriteResult>, is_it: impl Fn(&Effect) -> bool) -> usize {
    let mut host = SimHost::with_tree(1, tree.clone());
    host.run(flow).unwrap();
    let mut trace = host.trace.iter();
    trace.position(|traced| is_it(&traced.effect)).unwrap()
}

/// Runs a flow with a fault, then a save by a new process.
fn fault_then_save(tree: &Tree, flow: Flow<WriteResult>, at: usize, kind: FaultKind) -> Tree {
    let mut host = SimHost::with_tree(1, tree.clone()).with_fault(at, kind);
    host.run_to_end(flow);
    let mut host = SimHost::with_tree(2, host.tree);
    host.run(save()).unwrap();
    host.tree
}

/// Every boundary at which what the other program wrote is gone, each by the effect after it.
fn lost(links: bool, meddle: fn(&mut Tree)) -> Vec<String> {
    let mut lost = Vec::new();
    for at in 0.. {
        let Some((_, host)) = meddled(&written_tree(), save(), at, links, meddle) else {
            return lost;
        };
        if !Folder::new(&host.tree, STORE).holds(OTHERS) {
            lost.push(format!("{:?}", host.trace[at].effect));
        }
    }
    lost
}

// 1. Where files have one name only, the last look is at the writer's own copy.
#[test]
fn without_links_an_edit_in_place_is_seen_by_the_last_look() {
    let lost = lost(false, |tree| tree.overwrite("/mem/a.md", OTHERS, 5));
    // Without a second name, what is written after the last look is lost; nothing before it.
    assert!(
        lost.len() <= 3 && lost.iter().all(|it| !it.contains("Link")),
        "{lost:#?}"
    );
}

// 2. The last look is at the second name: a program that replaces the file after the link, and
//    before the look, is not seen.
#[test]
fn a_replacement_before_the_last_look_is_seen() {
    let lost = lost(true, |tree| {
        tree.file("/mem/a.md", OTHERS);
    });
    assert!(lost.iter().all(|it| !it.contains("Link")), "{lost:#?}");
}

// 3. A writer that lost the lock between its two renames writes an empty file when the memory was
//    forgotten meanwhile.
#[test]
fn a_stalled_save_does_not_bring_an_empty_file() {
    for after in 0.. {
        let Some((host, _)) = stalled(&written_tree(), save(), after, forget("a.md")) else {
            break;
        };
        let files = Folder::new(&host.tree, STORE).files();
        assert_ne!(files.get("a.md").map(String::as_str), Some(""), "{after}");
    }
}

// 4. The same writer leaves the old line in the index.
#[test]
fn a_stalled_save_brings_its_index_line() {
    let other = || {
        store(STORE).save(SaveOptions {
            path: Some("b.md".to_owned()),
            description: Some("bb".to_owned()),
            ..SaveOptions::default()
        })
    };
    for after in 0.. {
        let Some((host, _)) = stalled(&written_tree(), save(), after, other()) else {
            break;
        };
        let files = Folder::new(&host.tree, STORE).files();
        assert_eq!(
            files["MEMORY.md"], "# Index\n- [New](a.md) — new hook\n- [B](b.md) — bb\n",
            "{after}"
        );
    }
}

// 5. With a clock that has gone back, what was forgotten last counts as the oldest and is pruned.
#[test]
fn what_was_just_forgotten_is_not_pruned() {
    let mut tree = written_tree();
    for number in 0..100_i64 {
        let item = format!(
            "/mem/.memdir/trash/{:015}-{number:016x}-0",
            1_773_570_600_001 + number
        );
        tree.file(format!("{item}.json"), "{}");
        tree.file(format!("{item}.bytes"), "");
    }
    let mut session = Session::new(tree, STORE);
    session.forget("a.md", None).unwrap();
    assert_eq!(session.undo(None).unwrap().outcome, WriteOutcome::Written);
    assert_eq!(session.file("/mem/a.md").unwrap(), OLD);
}

// 6. The item of an index that was edited in the last moment and that of the file have one name.
#[test]
fn an_index_edited_in_the_last_moment_does_not_stop_a_forgetting() {
    for at in 0.. {
        let edit = |tree: &mut Tree| tree.overwrite("/mem/MEMORY.md", "- [B](b.md) mine\n", 5);
        let Some((result, _)) = meddled(&written_tree(), forget("a.md"), at, true, edit) else {
            break;
        };
        assert_eq!(
            result.map(|it| it.outcome),
            Ok(WriteOutcome::Written),
            "{at}"
        );
    }
}

// 7. What is temporary and not staged by a commit is never swept.
#[test]
fn no_temporary_file_of_a_dead_writer_stays() {
    let is_staging =
        |effect: &Effect| matches!(effect, Effect::Write { path, .. } if path.contains("write-"));
    let torn = number(&written_tree(), save(), is_staging);
    let mut with_lock = written_tree();
    with_lock.file("/mem/.memdir/lock", "garbage");
    let is_take =
        |effect: &Effect| matches!(effect, Effect::Rename { from, .. } if from.ends_with("/lock"));
    let aside = number(&with_lock, save(), is_take);
    for (tree, at, kind) in [
        (written_tree(), torn, FaultKind::Tear),
        (with_lock, aside, FaultKind::Crash),
    ] {
        let after = fault_then_save(&tree, save(), at, kind);
        assert_eq!(Folder::new(&after, STORE).left_over(), [""; 0], "{kind:?}");
    }
}

// 8. A forgetting that is told to expect something says conflict, and has taken the line away.
#[test]
fn a_conflict_leaves_the_index_alone() {
    let hash = SimHost::with_tree(1, written_tree())
        .run(store(STORE).read("a.md".to_owned()))
        .unwrap()
        .hash;
    for at in 0.. {
        let options = ForgetOptions {
            expect: Some(hash.clone()),
        };
        let flow = store(STORE).forget("a.md".to_owned(), options);
        let edit = |tree: &mut Tree| tree.overwrite("/mem/a.md", OTHERS, 5);
        let Some((result, host)) = meddled(&written_tree(), flow, at, true, edit) else {
            break;
        };
        if result.unwrap().outcome == WriteOutcome::Conflict {
            assert_eq!(
                Folder::new(&host.tree, STORE).files()["MEMORY.md"],
                INDEX,
                "{at}"
            );
        }
    }
}

// 9. Two forgettings of team memories, the first stalled in its tombstones: one mark is lost.
#[test]
fn a_stalled_forgetting_keeps_the_marks_of_others() {
    let mut tree = written_tree();
    for name in ["t", "u"] {
        let text = format!("---\nname: {name}\ndescription: {name}\ntype: project\n---\n{name}\n");
        tree.file(format!("/mem/team/{name}.md"), text);
    }
    for after in 0.. {
        let Some((host, _)) = stalled(&tree, forget("team/t.md"), after, forget("team/u.md"))
        else {
            break;
        };
        let marks = &Folder::new(&host.tree, STORE).everything()[".memdir/tombstones.json"];
        assert!(
            marks.contains("team/t.md") && marks.contains("team/u.md"),
            "{after}: {marks}"
        );
    }
}

// 10. An index edited in place just before its rename, and a crash just after: the next writer
//     sweeps what was edited.
#[test]
fn what_another_program_wrote_survives_a_crash() {
    let is_rename =
        |effect: &Effect| matches!(effect, Effect::Rename { to, .. } if to.ends_with("MEMORY.md"));
    let at = number(&written_tree(), save(), is_rename);
    let mut host = SimHost::with_tree(1, written_tree()).with_fault(at, FaultKind::Crash);
    host.script = Some(Box::new(move |effect, tree| {
        if is_rename(effect) {
            tree.overwrite("/mem/MEMORY.md", OTHERS, 5);
        }
        None
    }));
    assert!(host.run_to_end(save()).is_none());
    let mut host = SimHost::with_tree(2, host.tree);
    host.run(save()).unwrap();
    assert!(Folder::new(&host.tree, STORE).holds(OTHERS));
}

// 11. An undoing that fails or dies between file and line cannot be done again: the line is gone.
#[test]
fn an_undoing_that_did_not_end_can_be_done_again() {
    let mut session = Session::new(written_tree(), STORE);
    session.forget("a.md", None).unwrap();
    let forgotten = session.host.tree;
    let effects = number(
        &forgotten,
        undo(),
        |effect| matches!(effect, Effect::Rename { to, .. } if to.ends_with("MEMORY.md")),
    );
    for at in 0..=effects {
        for kind in [FaultKind::Crash, FaultKind::Fail(FailureCode::Permission)] {
            let mut host = SimHost::with_tree(1, forgotten.clone()).with_fault(at, kind);
            host.run_to_end(undo());
            let mut host = SimHost::with_tree(2, host.tree);
            host.run(undo()).unwrap();
            let files = Folder::new(&host.tree, STORE).files();
            assert!(
                files.contains_key("a.md") && files["MEMORY.md"].contains("(a.md)"),
                "{kind:?} at {at}: {}",
                files["MEMORY.md"]
            );
        }
    }
}

// 12. A lock that cannot be read once, at the end, stays.
#[test]
fn a_lock_that_could_not_be_read_at_the_end_is_removed() {
    let last =
        |effect: &Effect| matches!(effect, Effect::Remove { path, .. } if path.ends_with("/lock"));
    let at = number(&written_tree(), save(), last) - 1;
    let kind = FaultKind::Fail(FailureCode::TooManyOpen);
    let mut host = SimHost::with_tree(1, written_tree()).with_fault(at, kind);
    host.run(save()).unwrap();
    assert_eq!(Folder::new(&host.tree, STORE).left_over(), [""; 0]);
}
