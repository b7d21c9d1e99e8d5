//! Two writers in two processes under every schedule with at most three interruptions, each of which
//! may last longer than the other waits before it takes the lock over: what is on the disk in the
//! end is what one after the other leaves there, or an author was told. `MEMDIR_INTERRUPTIONS` sets
//! another bound.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests fail as tests do"
)]

use std::collections::BTreeMap;

use memdir_core::ErrorCode;
use memdir_core::write::WriteOutcome;
use memdir_simulation::{
    Act, Body, Ended, Explorer, Folder, STORE, Serial, SimHost, Tree, hash_of, torn, written_tree,
};

fn interruptions(otherwise: u32) -> u32 {
    let bound = std::env::var("MEMDIR_INTERRUPTIONS").ok();
    bound.map_or(otherwise, |bound| bound.parse().unwrap())
}

/// What is there before, after each act alone, and after both in each order.
fn versions(tree: &Tree, acts: &[Act]) -> Vec<BTreeMap<String, String>> {
    let mut versions = vec![Folder::new(tree, STORE).files()];
    for (first, second) in [(0, 1), (1, 0)] {
        let mut host = SimHost::with_tree(7, tree.clone());
        for act in [first, second] {
            let _ = host.run(acts[act].flow(STORE));
            versions.push(Folder::new(&host.tree, STORE).files());
        }
    }
    versions
}

fn text<'a>(tree: &'a Tree, path: &str) -> Option<&'a [u8]> {
    match &tree.nodes().get(path.as_bytes())?.body {
        Body::File(bytes) => Some(bytes),
        _ => None,
    }
}

/// Goes through all schedules of two acts.
fn every_schedule(tree: &Tree, acts: [Act; 2], bound: u32) {
    let versions = versions(tree, &acts);
    let whole: Vec<_> = versions.iter().collect();
    // The index is looked at in the end: on the way a line may be there that is not yet in order.
    let memories = ["/mem/a.md", "/mem/x.md", "/mem/y.md", "/mem/team/t.md"];
    let is_whole = |now: &Tree| {
        for path in memories {
            let Some(found) = text(now, path) else {
                continue;
            };
            let name = path.strip_prefix("/mem/").unwrap();
            let mut known = versions.iter().filter_map(|files| files.get(name));
            assert!(
                known.any(|known| known.as_bytes() == found),
                "{path}: {}",
                String::from_utf8_lossy(found)
            );
        }
    };
    let mut serial = Serial::new(STORE, tree, &acts);
    // Each kind of wrong end once.
    let mut wrong = BTreeMap::new();
    let end = |now: &Tree, a: &Ended, b: &Ended| {
        let folder = Folder::new(now, STORE);
        let mut what = torn(now, &whole);
        what.extend(folder.left_over());
        if !serial.explains(&[(0, Some(a)), (1, Some(b))], now) {
            what.push("no order gives this".to_owned());
        }
        // Both versions are somewhere, also when the second one replaced the first.
        let everything = folder.everything();
        for (path, content) in Folder::new(tree, STORE).everything() {
            let is_memory =
                path.ends_with(".bytes") || (path.ends_with(".md") && !path.ends_with("MEMORY.md"));
            if is_memory && !folder.holds(&content) {
                what.push(format!("{path} is gone"));
            }
        }
        // What is in the trash can be had back.
        if folder.trash().iter().any(|item| item.record.is_none()) {
            what.push("bytes without a record".to_owned());
        }
        for (act, ended) in acts.iter().zip([a, b]) {
            if let (Act::Save(save), Ok(result)) = (act, ended)
                && let (WriteOutcome::Written, Some(body)) = (result.outcome, &save.body)
                && !everything.values().any(|text| text.contains(body))
            {
                what.push(format!("{body} is gone"));
            }
        }
        if !what.is_empty() {
            let (a, b) = (told(a), told(b));
            wrong.insert(
                format!("{what:?} {:?} {a:?} {b:?}", folder.files()),
                everything,
            );
        }
    };
    let mut explorer = Explorer::new(STORE, [&acts[0], &acts[1]], interruptions(bound));
    let explored = explorer.explore(tree, is_whole, end);
    assert!(wrong.is_empty(), "{wrong:#?}");
    // They do meet.
    assert!(explored.takeovers > 20, "{explored:?}");
}

fn told(ended: &Ended) -> Result<WriteOutcome, ErrorCode> {
    let result = ended.as_ref().map_err(|error| error.code)?;
    Ok(result.outcome)
}

#[test]
fn two_saves_of_different_memories() {
    let acts = [Act::save("x.md", "x"), Act::save("y.md", "y")];
    every_schedule(&written_tree(), acts, 3);
}

#[test]
fn two_saves_of_one_memory() {
    let acts = [Act::save("a.md", "x"), Act::save("a.md", "y")];
    every_schedule(&written_tree(), acts, 3);
}

#[test]
fn two_saves_of_one_memory_that_expect_the_old_one() {
    let tree = written_tree();
    let hash = hash_of(&tree, "a.md").unwrap();
    let acts = ["x", "y"].map(|word| Act::save("a.md", word).expecting(&hash));
    every_schedule(&tree, acts, 3);
}

#[test]
fn two_saves_of_one_memory_that_expect_none() {
    let acts = ["x", "y"].map(|word| Act::save("x.md", word).expecting("absent"));
    every_schedule(&written_tree(), acts, 3);
}

#[test]
fn a_save_and_a_forgetting() {
    let acts = [Act::save("a.md", "x"), Act::forget("a.md")];
    every_schedule(&written_tree(), acts, 3);
}

/// The store after `a.md` was forgotten.
fn forgotten(tree: Tree, path: &str) -> Tree {
    let mut host = SimHost::with_tree(9, tree);
    host.run(Act::forget(path).flow(STORE)).unwrap();
    host.tree
}

#[test]
fn a_forgetting_and_an_undoing() {
    let tree = forgotten(written_tree(), "a.md");
    let acts = [Act::forget("a.md"), Act::undo("a.md")];
    every_schedule(&tree, acts, 3);
}

#[test]
fn a_forgetting_and_its_undoing() {
    every_schedule(&written_tree(), [Act::forget("a.md"), Act::undo("a.md")], 2);
}

#[test]
fn two_forgettings() {
    every_schedule(
        &written_tree(),
        [Act::forget("a.md"), Act::forget("a.md")],
        2,
    );
}

#[test]
fn two_undoings() {
    let tree = forgotten(written_tree(), "a.md");
    every_schedule(&tree, [Act::undo("a.md"), Act::undo("a.md")], 2);
}

#[test]
fn a_save_and_an_undoing() {
    let tree = forgotten(written_tree(), "a.md");
    every_schedule(&tree, [Act::save("a.md", "x"), Act::undo("a.md")], 2);
}

#[test]
fn writers_of_team_memories() {
    let mut tree = written_tree();
    for name in ["t", "u"] {
        let memory =
            format!("---\nname: {name}\ndescription: {name}\ntype: project\n---\n{name}\n");
        tree.file(format!("/mem/team/{name}.md"), memory);
    }
    let acts = [Act::forget("team/t.md"), Act::forget("team/u.md")];
    every_schedule(&tree, acts, 2);
    let tree = forgotten(tree, "team/t.md");
    let acts = [Act::save("team/t.md", "x"), Act::forget("team/u.md")];
    every_schedule(&tree, acts, 2);
}
