//! What lies in a store, as a test of writing compares it.

use std::collections::BTreeMap;

use crate::{Body, Node, Tree};

/// A store on a disk.
#[derive(Clone, Copy, Debug)]
pub struct Folder<'a> {
    tree: &'a Tree,
    directory: &'a str,
}

/// One item of the trash: the record as it is written, and the bytes. Either can be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// JSON.
    pub record: Option<String>,
    /// What was replaced or forgotten.
    pub bytes: Option<String>,
}

impl<'a> Folder<'a> {
    /// The store at this path, which has no slash at its end.
    #[must_use]
    pub fn new(tree: &'a Tree, directory: &'a str) -> Self {
        Self { tree, directory }
    }

    /// Its own files, and those of others: everything but folders, by path below the store. A link
    /// is shown as an arrow and where it leads.
    #[must_use]
    pub fn everything(&self) -> BTreeMap<String, String> {
        self.nodes()
            .filter_map(|(path, node)| Some((path, shown(node)?)))
            .collect()
    }

    /// The same without what is memdir's.
    #[must_use]
    pub fn files(&self) -> BTreeMap<String, String> {
        let mut files = self.everything();
        files.retain(|path, _| path.split('/').all(|part| part != ".memdir"));
        files
    }

    /// What no writer may leave behind: the lock, and everything temporary.
    #[must_use]
    pub fn left_over(&self) -> Vec<String> {
        self.nodes()
            .map(|(path, _)| path)
            .filter(|path| path == ".memdir/lock" || path.ends_with("memdir-tmp"))
            .collect()
    }

    /// The trash, older items first.
    #[must_use]
    pub fn trash(&self) -> Vec<Kept> {
        let mut items: BTreeMap<String, Kept> = BTreeMap::new();
        for (path, content) in self.everything() {
            let Some(name) = path.strip_prefix(".memdir/trash/") else {
                continue;
            };
            if let Some(name) = name.strip_suffix(".json") {
                items.entry(name.to_owned()).or_default().record = Some(content);
            } else {
                let name = name.strip_suffix(".bytes").unwrap_or(name);
                items.entry(name.to_owned()).or_default().bytes = Some(content);
            }
        }
        items.into_values().collect()
    }

    /// Everywhere that a version of a file can be: in the store or in its trash.
    #[must_use]
    pub fn holds(&self, content: &str) -> bool {
        let everything = self.everything();
        let mut holding = everything
            .iter()
            .filter(|(_, found)| *found == content)
            .map(|(path, _)| path);
        // What a forgetting has taken waits in its own folder until it, or the next holder of the lock,
        // brings it to the trash.
        holding.any(|path| {
            let on_its_way = path.starts_with(".memdir/write-") && path.ends_with(".bytes");
            !path.starts_with(".memdir/") || path.starts_with(".memdir/trash/") || on_its_way
        })
    }

    fn nodes(self) -> impl Iterator<Item = (String, &'a Node)> {
        self.tree.nodes().iter().filter_map(move |(path, node)| {
            let below = path.strip_prefix(self.directory.as_bytes())?;
            let below = below.strip_prefix(b"/")?;
            Some((String::from_utf8_lossy(below).into_owned(), node))
        })
    }
}

fn shown(node: &Node) -> Option<String> {
    match &node.body {
        Body::Folder => None,
        Body::File(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        Body::Link(target) => Some(format!("-> {}", String::from_utf8_lossy(target))),
        Body::Sparse(_, size) => Some(format!("{size} bytes")),
        Body::Other => Some("a FIFO".to_owned()),
    }
}
