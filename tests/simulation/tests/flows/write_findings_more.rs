//! The smallest run for each fault that the larger tests of writing found. Each says what must hold, so
//! each fails until the fault is mended.

use memdir_core::ErrorCode;
use memdir_core::flow::{Effect, Failure, FailureCode, Outcome};
use memdir_core::memory::MemoryType;
use memdir_core::write::{SaveOptions, WriteOutcome};
use memdir_simulation::{
    Act, FaultKind, Folder, STORE, SimHost, Tree, hash_of, meddled, stalled, written_tree,
};

const OTHERS: &str = "---\nname: X\n---\nfrom another program\n";

fn files(tree: &Tree) -> std::collections::BTreeMap<String, String> {
    Folder::new(tree, STORE).files()
}

fn team_tree() -> Tree {
    let mut tree = written_tree();
    tree.file(
        "/mem/team/t.md",
        "---\nname: t\ndescription: t\ntype: project\n---\nt\n",
    );
    tree.file("/mem/team/MEMORY.md", "- [t](t.md) — t\n");
    tree
}

/// What is in the store already, once more.
fn save_old() -> Act {
    Act::Save(SaveOptions {
        path: Some("a.md".to_owned()),
        name: Some("Old".to_owned()),
        description: Some("old hook".to_owned()),
        kind: Some(MemoryType::Project),
        body: Some("old body".to_owned()),
        ..SaveOptions::default()
    })
}

// 1. The move to the trash comes after one look at the lock and nothing stops it when it comes too
//    late: a forgetting that stalls in between takes the file from under a save that has just
//    given it its line, and both are told that it is done.
#[test]
fn a_stalled_forgetting_leaves_no_line_that_leads_nowhere() {
    for after in 0.. {
        let (first, second) = (Act::forget("a.md").flow(STORE), save_old().flow(STORE));
        let Some((host, ends)) = stalled(&written_tree(), first, after, second) else {
            break;
        };
        let files = files(&host.tree);
        assert_eq!(
            files.contains_key("a.md"),
            files["MEMORY.md"].contains("(a.md)"),
            "{after}: {ends:#?} {files:#?}"
        );
    }
}

// The same with an undoing, which takes the record of the one that stalls for that of one that died:
// what is moved then has none, and no undoing finds it.
#[test]
fn a_stalled_forgetting_can_be_undone() {
    for after in 0.. {
        let flows = (
            Act::forget("a.md").flow(STORE),
            Act::undo("a.md").flow(STORE),
        );
        let Some((mut host, ends)) = stalled(&written_tree(), flows.0, after, flows.1) else {
            break;
        };
        if !files(&host.tree).contains_key("a.md") {
            let undone = host.run(Act::undo("a.md").flow(STORE)).unwrap();
            assert_eq!(undone.outcome, WriteOutcome::Written, "{after}: {ends:#?}");
        }
    }
}

// 2. Items of one millisecond are in the order of their random names. So they are all the time
//    after a clock has gone back, and without a clock.
#[test]
fn the_last_of_two_forgettings_is_undone() {
    for seed in 0..16 {
        // Once at the same time, once after the clock has gone back.
        let clock = if seed % 2 == 0 { 0 } else { -1_000 };
        let mut host = SimHost::with_tree(seed, written_tree());
        host.run(Act::forget("a.md").flow(STORE)).unwrap();
        host.clock_ms += clock;
        host.run(Act::forget("b.md").flow(STORE)).unwrap();
        let undone = host.run(Act::Undo(None).flow(STORE)).unwrap();
        assert_eq!(
            undone.path.as_deref(),
            Some("b.md"),
            "{clock} ms, seed {seed}"
        );
    }
}

// 3. An undoing that was overtaken between file and line does not begin again, as a save does: the
//    line is given up, and what it was is thrown away.
#[test]
fn a_stalled_undoing_brings_its_line() {
    let mut forgotten = SimHost::with_tree(3, written_tree());
    forgotten.run(Act::forget("a.md").flow(STORE)).unwrap();
    for after in 0.. {
        let (first, second) = (
            Act::undo("a.md").flow(STORE),
            Act::save("b.md", "b").flow(STORE),
        );
        let Some((host, _)) = stalled(&forgotten.tree, first, after, second) else {
            break;
        };
        assert!(files(&host.tree)["MEMORY.md"].contains("(a.md)"), "{after}");
    }
}

// 4. A forgetting that ends in a conflict, "nothing was touched", leaves its tombstone.
#[test]
fn a_conflict_leaves_no_tombstone() {
    let hash = hash_of(&team_tree(), "team/t.md").unwrap();
    for at in 0.. {
        let flow = Act::forget("team/t.md").expecting(&hash).flow(STORE);
        let edit = |tree: &mut Tree| tree.overwrite("/mem/team/t.md", OTHERS, 5);
        let Some((result, host)) = meddled(&team_tree(), flow, at, true, edit) else {
            break;
        };
        if result.unwrap().outcome == WriteOutcome::Conflict {
            let marks = Folder::new(&host.tree, STORE)
                .everything()
                .remove(".memdir/tombstones.json");
            assert!(
                marks
                    .as_deref()
                    .is_none_or(|marks| !marks.contains("team/t.md")),
                "{at}: {marks:?}"
            );
        }
    }
}

/// A store whose folder `sub` lies on another disk.
fn two_disks(mut host: SimHost, at: Option<usize>) -> SimHost {
    let mut number = 0;
    host.script = Some(Box::new(move |effect, tree| {
        if at == Some(number) {
            tree.overwrite("/mem/sub/c.md", OTHERS, 5);
        }
        number += 1;
        let (Effect::Rename { from, to, .. } | Effect::Link { from, to, .. }) = effect else {
            return None;
        };
        let below = |path: &str| path.starts_with("/mem/sub/");
        (below(from) != below(to))
            .then(|| Outcome::Failed(Failure::new(FailureCode::CrossDevice, "another disk")))
    }));
    host
}

fn two_disks_tree() -> Tree {
    let mut tree = written_tree();
    tree.file("/mem/sub/c.md", "---\nname: C\ntype: user\n---\nc\n");
    tree
}

// 5. Onto another disk the rename is the third effect after the last look: what another program
//    writes before the new content is there, which takes an fsync, is lost.
#[test]
fn nothing_comes_between_the_last_look_and_the_rename_to_another_disk() {
    let mut lost = Vec::new();
    for at in 0.. {
        let mut host = two_disks(SimHost::with_tree(1, two_disks_tree()), Some(at));
        host.run(Act::save("sub/c.md", "x").flow(STORE)).unwrap();
        if host.trace.len() <= at {
            break;
        }
        if !Folder::new(&host.tree, STORE).holds(OTHERS) {
            lost.push(format!("{:?}", host.trace[at].effect));
        }
    }
    // Files have one name there, so the rename itself is the accepted boundary.
    assert!(lost.len() <= 1, "{lost:#?}");
}

// 6. What is staged there is swept by nobody.
#[test]
fn no_temporary_file_stays_on_another_disk() {
    for at in 0.. {
        let host = SimHost::with_tree(1, two_disks_tree()).with_fault(at, FaultKind::Crash);
        let mut host = two_disks(host, None);
        if host
            .run_to_end(Act::save("sub/c.md", "x").flow(STORE))
            .is_some()
        {
            break;
        }
        let mut host = two_disks(SimHost::with_tree(2, host.tree), None);
        host.run(Act::save("sub/c.md", "y").flow(STORE)).unwrap();
        assert_eq!(Folder::new(&host.tree, STORE).left_over(), [""; 0], "{at}");
    }
}

// 7. Of two forgettings one takes the line and the other the file: the record that stays knows no line,
//    and undoing brings none.
#[test]
fn what_two_forgot_together_comes_back_with_its_line() {
    for after in 0.. {
        let flow = || Act::forget("a.md").flow(STORE);
        let Some((mut host, _)) = stalled(&written_tree(), flow(), after, flow()) else {
            break;
        };
        host.run(Act::undo("a.md").flow(STORE)).unwrap();
        let files = files(&host.tree);
        assert!(files["MEMORY.md"].contains("(a.md)"), "{after}: {files:#?}");
    }
}

// 8. A cancellation while the folder gets its first files leaves one of them staged.
#[test]
fn a_cancellation_of_the_first_write_leaves_nothing_staged() {
    for at in 0.. {
        let mut host = SimHost::new(1).with_fault(at, FaultKind::Cancel);
        let _ = host.run(Act::save("x.md", "x").flow(STORE));
        if host.trace.len() <= at {
            break;
        }
        assert_eq!(Folder::new(&host.tree, STORE).left_over(), [""; 0], "{at}");
    }
}

// 9. The line that is kept for the way back has the byte order mark of the index in it, and the index
//    has kept it too.
#[test]
fn a_byte_order_mark_does_not_come_back_with_a_line() {
    let index = "\u{FEFF}- [Old](a.md) — old hook\n- [B](b.md) — b\n";
    let mut tree = written_tree();
    tree.file("/mem/MEMORY.md", index);
    let mut host = SimHost::with_tree(1, tree);
    host.run(Act::forget("a.md").flow(STORE)).unwrap();
    host.run(Act::undo("a.md").flow(STORE)).unwrap();
    assert_eq!(files(&host.tree)["MEMORY.md"], index);
}

// 10. A lock that nobody can take away, on a disk that can no longer be written, is waited for until
//     the end, and then somebody else is said to hold it.
#[test]
fn a_read_only_disk_with_a_dead_lock_is_said_to_be_read_only() {
    let mut tree = written_tree();
    tree.file("/mem/.memdir/lock", "left behind");
    let mut host = SimHost::with_tree(1, tree);
    host.script = Some(Box::new(|effect, _| {
        let changes = matches!(
            effect,
            Effect::Rename { .. } | Effect::Remove { .. } | Effect::MakeDir { .. }
        );
        changes.then(|| Outcome::Failed(Failure::new(FailureCode::ReadOnly, "read-only")))
    }));
    let error = host.run(Act::save("x.md", "x").flow(STORE)).unwrap_err();
    assert_eq!(error.code, ErrorCode::ReadOnly);
}
