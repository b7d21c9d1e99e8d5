//! The store that most tests of writing begin with, and what must hold after every run on it.

use std::collections::BTreeMap;

use memdir_core::flow::{Effect, Flow};
use memdir_core::store::{OpenOptions, Store};

use crate::{Body, Folder, SimHost, Tree};

/// Where it is.
pub const STORE: &str = "/mem";
/// Its memory `a.md`.
pub const OLD: &str = "---\nname: Old\ndescription: old hook\ntype: project\n---\nold body\n";
/// Its memory `b.md`.
pub const B: &str = "---\nname: B\ndescription: b\ntype: user\n---\nb\n";
/// Its index.
pub const INDEX: &str = "# Index\n- [Old](a.md) — old hook\n- [B](b.md) — b\n";

/// A new disk with it, on which memdir has written before.
#[must_use]
pub fn written_tree() -> Tree {
    let mut tree = Tree::new();
    tree.file("/mem/MEMORY.md", INDEX);
    tree.file("/mem/a.md", OLD);
    tree.file("/mem/b.md", B);
    tree.file("/mem/.memdir/.gitignore", "*\n");
    tree
}

/// The hash of a file, as reading gives it; none when it cannot be read.
#[must_use]
pub fn hash_of(tree: &Tree, path: &str) -> Option<String> {
    let store = Store::new(OpenOptions {
        directory: Some(STORE.to_owned()),
        ..OpenOptions::default()
    });
    let read: Flow<_> = store.read(path.to_owned());
    let file = SimHost::with_tree(1, tree.clone()).run(read).ok()?;
    Some(file.hash)
}

/// What is wrong with a store that no writer is at: something temporary, a file that is none of the
/// versions that somebody wrote whole, a line that somebody else's write brought twice.
#[must_use]
pub fn torn(tree: &Tree, whole: &[&BTreeMap<String, String>]) -> Vec<String> {
    let files = Folder::new(tree, STORE).files();
    let mut wrong = Vec::new();
    for (path, content) in files {
        let known = whole.iter().any(|files| files.get(&path) == Some(&content));
        if known {
            continue;
        }
        if path.ends_with("index.md") || path.ends_with("MEMORY.md") {
            let mut lines: Vec<&str> = content.lines().collect();
            lines.sort_unstable();
            let twice = lines.windows(2).any(|pair| pair.first() == pair.last());
            let lines = lines.into_iter().all(|line| {
                let mut indexes = whole.iter().filter_map(|files| files.get(&path));
                indexes.any(|index| index.lines().any(|known| known == line))
            });
            if twice || !lines || !content.ends_with('\n') {
                wrong.push(format!("{path}: {content:?}"));
            }
        } else {
            wrong.push(format!("{path}: {content:?}"));
        }
    }
    wrong
}

/// Who can do what with what a writer made new: everything below the store that was not there
/// before, with its permission bits.
#[must_use]
pub fn new_modes(before: &Tree, after: &Tree) -> Vec<(String, u32)> {
    let nodes = after.nodes().iter();
    nodes
        .filter(|(path, _)| !before.nodes().contains_key(*path))
        .filter(|(_, node)| !matches!(node.body, Body::Link(_)))
        .map(|(path, node)| (String::from_utf8_lossy(path).into_owned(), node.mode))
        .collect()
}

/// Whether an effect puts something new at a path of the store itself.
#[must_use]
pub fn renames_to(effect: &Effect, path: &str) -> bool {
    matches!(effect, Effect::Rename { to, .. } if to == path)
}
