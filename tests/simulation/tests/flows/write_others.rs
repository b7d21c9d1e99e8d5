//! Another program that knows nothing of locks, at every effect boundary of a writer: it edits a file in
//! place, replaces it by a rename, deletes it, makes a folder of it, or swaps a folder for a link.
//! What it wrote is in place, merged, or in the trash, but for one boundary.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests fail as tests do"
)]

use std::collections::BTreeMap;

use memdir_core::ErrorCode;
use memdir_core::flow::Effect;
use memdir_core::write::WriteOutcome;
use memdir_simulation::{
    Act, Body, Ended, Folder, INDEX, STORE, SimHost, Tree, end, meddled, renames_to, torn,
    written_tree,
};

const THEIRS: &str = "---\nname: Theirs\n---\nfrom another program\n";
const THEIR_LINE: &str = "- [Mine](mine.md) — by hand\n";

type Meddle = fn(&mut Tree, &str, &str);

const IN_PLACE: Meddle = |tree, path, content| tree.overwrite(path, content, 5);
const BY_RENAME: Meddle = |tree, path, content| {
    tree.file(path, content);
};
const DELETED: Meddle = |tree, path, _| tree.take(path);
const TO_FOLDER: Meddle = |tree, path, content| {
    tree.take(path);
    tree.file(format!("{path}/inner.txt"), content);
};

/// A writer, and a file that another program is at.
struct Case {
    tree: Tree,
    act: Act,
    target: &'static str,
}

impl Case {
    fn theirs(&self) -> String {
        if self.is_index() {
            format!("{INDEX}{THEIR_LINE}")
        } else {
            THEIRS.to_owned()
        }
    }

    fn is_index(&self) -> bool {
        self.target.ends_with("MEMORY.md")
    }

    fn meddle(&self, meddle: Meddle) -> impl Fn(&mut Tree) + 'static {
        let (target, theirs) = (self.target, self.theirs());
        move |tree| meddle(tree, target, &theirs)
    }

    /// Whether what the other program wrote is still somewhere.
    fn is_kept(&self, tree: &Tree) -> bool {
        let folder = Folder::new(tree, STORE);
        let is_merged = || {
            let index = folder.files().remove("MEMORY.md");
            index.is_some_and(|index| index.contains(THEIR_LINE))
        };
        folder.holds(&self.theirs()) || (self.is_index() && is_merged())
    }

    /// Every version of every file that comes of the writer and the other program, in any order.
    fn versions(&self, meddle: Meddle) -> Vec<BTreeMap<String, String>> {
        let mut trees = vec![self.tree.clone()];
        let act = |tree: &Tree| {
            let mut host = SimHost::with_tree(3, tree.clone());
            let _ = host.run(self.act.flow(STORE));
            host.tree
        };
        let other = |tree: &Tree| {
            let mut tree = tree.clone();
            self.meddle(meddle)(&mut tree);
            tree
        };
        trees.extend([act(&self.tree), other(&self.tree)]);
        trees.extend([act(&trees[2]), other(&trees[1])]);
        trees
            .iter()
            .map(|tree| Folder::new(tree, STORE).files())
            .collect()
    }

    /// Every boundary: how it ended, what is there, what would have been next.
    fn each(&self, meddle: Meddle, links: bool, mut check: impl FnMut(Ended, &SimHost, &Effect)) {
        let versions = self.versions(meddle);
        let whole: Vec<_> = versions.iter().collect();
        for at in 0.. {
            let flow = self.act.flow(STORE);
            let Some((ended, mut host)) = meddled(&self.tree, flow, at, links, self.meddle(meddle))
            else {
                return;
            };
            let next = host.trace[at].effect.clone();
            let what = format!("{:?} at {at}, {next:?}: {ended:?}", self.act);
            assert_eq!(torn(&host.tree, &whole), [""; 0], "{what}");
            assert_eq!(
                Folder::new(&host.tree, STORE).left_over(),
                [""; 0],
                "{what}"
            );
            check(ended, &host, &next);
            // Nothing of it is swept by the next one.
            let kept = self.is_kept(&host.tree);
            let flow = Act::save("z.md", "z").flow(STORE);
            let mut flow = host.start(flow);
            let _ = end(&mut host, &mut flow);
            assert_eq!(self.is_kept(&host.tree), kept, "{what}");
        }
    }

    /// The effects before which what the other program wrote is lost.
    fn lost(&self, meddle: Meddle, links: bool) -> Vec<Effect> {
        let mut lost = Vec::new();
        self.each(meddle, links, |_, host, next| {
            if !self.is_kept(&host.tree) {
                lost.push(next.clone());
            }
        });
        lost
    }
}

/// Saves, forgettings and undoings, each with its memory and with the index.
fn cases() -> Vec<Case> {
    let plain = written_tree();
    let mut host = SimHost::with_tree(3, plain.clone());
    host.run(Act::forget("a.md").flow(STORE)).unwrap();
    let forgotten = host.tree;
    let mut cases = Vec::new();
    for (tree, act, memory) in [
        (&plain, Act::save("a.md", "x"), "/mem/a.md"),
        (&plain, Act::save("x.md", "x"), "/mem/x.md"),
        (&plain, Act::forget("a.md"), "/mem/a.md"),
        (&forgotten, Act::undo("a.md"), "/mem/a.md"),
    ] {
        cases.extend([memory, "/mem/MEMORY.md"].map(|target| Case {
            tree: tree.clone(),
            act: act.clone(),
            target,
        }));
    }
    cases
}

#[test]
fn what_is_written_in_place_is_never_lost() {
    for case in cases() {
        assert_eq!(case.lost(IN_PLACE, true), [], "{:?}", case.act);
    }
}

// The accepted boundary: between the last look and the rename nothing portable can look again.
#[test]
fn what_is_renamed_into_place_is_lost_before_the_rename_only() {
    for case in cases() {
        for links in [true, false] {
            let lost = case.lost(BY_RENAME, links);
            let expected = usize::from(case.replaces());
            assert_eq!(lost.len(), expected, "{:?}: {lost:#?}", case.act);
            let all = lost.iter().all(|effect| renames_to(effect, case.target));
            assert!(all, "{:?}: {lost:#?}", case.act);
        }
    }
}

// Where a file cannot have a second name, the same holds for an edit in place.
#[test]
fn without_links_an_edit_is_lost_before_the_rename_only() {
    for case in cases() {
        let lost = case.lost(IN_PLACE, false);
        let all = lost.iter().all(|effect| renames_to(effect, case.target));
        assert!(all && lost.len() <= 1, "{:?}: {lost:#?}", case.act);
    }
}

impl Case {
    /// Whether the writer renames over the file: neither over a new memory nor over one that it takes
    /// away or brings back.
    fn replaces(&self) -> bool {
        self.is_index() || self.act == Act::save("a.md", "x")
    }
}

#[test]
fn what_is_deleted_stays_or_is_made_anew_whole() {
    for case in cases() {
        case.each(DELETED, true, |ended, _, _| {
            let code = ended.map_err(|error| error.code);
            assert!(code.is_ok(), "{:?}: {code:?}", case.act);
        });
    }
}

#[test]
fn a_folder_in_the_place_of_a_file_is_left_alone() {
    for case in cases() {
        case.each(TO_FOLDER, true, |ended, host, next| {
            let inner = format!("{}/inner.txt", case.target);
            let found = host.tree.nodes().get(inner.as_bytes());
            let what = format!("{:?}, {next:?}: {ended:?}", case.act);
            assert!(found.is_some(), "{what}");
            let said = match &ended {
                Ok(result) => result.code,
                Err(error) => Some(error.code),
            };
            assert!(
                matches!(
                    said,
                    None | Some(
                        ErrorCode::IsADirectory
                            | ErrorCode::Exists
                            | ErrorCode::NotADirectory
                            | ErrorCode::NotEmpty
                    )
                ),
                "{what}"
            );
        });
    }
}

#[test]
fn nothing_is_written_through_a_file_that_became_a_link() {
    const TO_LINK: Meddle = |tree, path, _| {
        tree.file("/outside/theirs.md", "not yours\n");
        tree.take(path);
        tree.link(path, "/outside/theirs.md");
    };
    for case in cases() {
        case.each(TO_LINK, true, |ended, host, next| {
            let what = format!("{:?}, {next:?}: {ended:?}", case.act);
            let [(_, found)] = &outside_files(&host.tree)[..] else {
                panic!("{what}");
            };
            assert_eq!(found, &Body::File(b"not yours\n".to_vec()), "{what}");
            // What the author is told is true: it is written where the link was, or refused.
            let said = match &ended {
                Ok(result) => result.code,
                Err(error) => Some(error.code),
            };
            let is_typed = matches!(
                said,
                None | Some(ErrorCode::LinkOutside | ErrorCode::Loop | ErrorCode::Exists)
            );
            assert!(is_typed, "{what}");
        });
    }
}

fn outside_files(tree: &Tree) -> Vec<(Vec<u8>, Body)> {
    let mut files = outside(tree);
    files.retain(|(_, body)| matches!(body, Body::File(_)));
    files
}

/// Everything outside the store, as bytes.
fn outside(tree: &Tree) -> Vec<(Vec<u8>, Body)> {
    let nodes = tree.nodes().iter();
    nodes
        .filter(|(path, _)| path.starts_with(b"/outside"))
        .map(|(path, node)| (path.clone(), node.body.clone()))
        .collect()
}

#[test]
fn nothing_is_written_through_a_folder_that_became_a_link() {
    let mut tree = written_tree();
    tree.file("/mem/sub/c.md", "---\nname: C\ntype: user\n---\nc\n");
    tree.file("/outside/c.md", "---\nname: not yours\n---\n");
    let mut host = SimHost::with_tree(3, tree.clone());
    host.run(Act::forget("sub/c.md").flow(STORE)).unwrap();
    let forgotten = host.tree;
    for (tree, act) in [
        (&tree, Act::save("sub/c.md", "x")),
        (&tree, Act::save("sub/new.md", "x")),
        (&tree, Act::forget("sub/c.md")),
        (&forgotten, Act::undo("sub/c.md")),
    ] {
        for at in 0.. {
            let swap = |tree: &mut Tree| {
                tree.shift("/mem/sub", "/mem/moved");
                tree.link("/mem/sub", "/outside");
            };
            let Some((ended, host)) = meddled(tree, act.flow(STORE), at, true, swap) else {
                break;
            };
            let what = format!("{act:?} at {at}: {ended:?}");
            assert_eq!(outside(&host.tree), outside(tree), "{what}");
            assert_eq!(
                Folder::new(&host.tree, STORE).left_over(),
                [""; 0],
                "{what}"
            );
            // Either it was done before, or its author is told.
            let moved = Folder::new(&host.tree, STORE).files();
            let is_done = match &act {
                Act::Save(save) => moved
                    .values()
                    .any(|text| text.contains(save.body.as_deref().unwrap())),
                Act::Forget(..) => !moved.contains_key("moved/c.md"),
                Act::Undo(_) => moved.contains_key("moved/c.md"),
            };
            let is_told = !matches!(&ended, Ok(result) if result.outcome == WriteOutcome::Written);
            assert!(is_done || is_told, "{what} {moved:#?}");
        }
    }
}
