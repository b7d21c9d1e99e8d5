//! The simulated disk: what a path leads to, and what each file operation does, as on POSIX.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};

use memdir_core::flow::FailureCode as Code;
use memdir_core::flow::{Entry, FileKind, Stat};

use crate::failures::{Answer, fail};

/// Links followed on one path before it counts as a loop, as on Linux.
const MAX_LINKS: u32 = 40;
/// When every simulated disk was made and every simulated clock begins.
pub(crate) const START_MS: i64 = 1_773_570_600_000;
/// Bytes of one name, as on Linux.
const MAX_NAME: usize = 255;

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A folder; its entries are the paths below it.
    Folder,
    /// A regular file.
    File(Vec<u8>),
    /// A regular file of this size with this beginning; the rest is the letter `x`.
    Sparse(Vec<u8>, u64),
    /// A symbolic link, as written.
    Link(Vec<u8>),
    /// A FIFO.
    Other,
}

/// One file of any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it is.
    pub body: Body,
    /// Milliseconds since the epoch.
    pub mtime_ms: i64,
    /// Nanoseconds within that millisecond.
    pub mtime_ns: u32,
    /// Milliseconds since the epoch.
    pub ctime_ms: i64,
    /// Permission bits; those of the owner count.
    pub mode: u32,
    /// Its number, never given twice.
    pub inode: u64,
}

/// A disk. Paths are bytes, absolute, without a slash at the end; the root is the empty path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    nodes: BTreeMap<Vec<u8>, Node>,
    next_inode: u64,
    /// Files that have had more than one name. Each name has its own copy, kept the same.
    linked: BTreeSet<u64>,
}

impl Default for Tree {
    fn default() -> Self {
        Self::new()
    }
}

/// The paths of a test's own set-up: nothing is followed, whatever is in the way is replaced,
/// missing folders are made.
impl Tree {
    /// A disk with nothing but its root.
    #[must_use]
    pub fn new() -> Self {
        let mut tree = Self {
            nodes: BTreeMap::new(),
            next_inode: 1,
            linked: BTreeSet::new(),
        };
        tree.create(Vec::new(), Body::Folder, 0o755, START_MS);
        tree
    }

    /// Puts something at a path.
    pub fn put(&mut self, path: impl AsRef<[u8]>, body: Body) -> &mut Node {
        let mut at = Vec::new();
        for name in names(path.as_ref()) {
            if self
                .nodes
                .get(&at)
                .is_none_or(|node| node.body != Body::Folder)
            {
                self.create(at.clone(), Body::Folder, 0o755, START_MS);
            }
            at = child(&at, name);
        }
        let mode = if body == Body::Folder { 0o755 } else { 0o644 };
        self.create(at, body, mode, START_MS)
    }

    /// Puts a new file at a path, as a program does that replaces what was there by a rename.
    pub fn file(&mut self, path: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> &mut Node {
        self.put(path, Body::File(content.as_ref().to_vec()))
    }

    /// Writes into the file at a path, as an editor does that keeps it the same file: what it holds
    /// then shows under all its names. Where nothing is, as [`Self::file`].
    pub fn overwrite(&mut self, path: impl AsRef<[u8]>, content: impl AsRef<[u8]>, now: i64) {
        if let Some(mut node) = self.node(&path) {
            node.body = Body::File(content.as_ref().to_vec());
            node.mtime_ms = now;
            node.mtime_ns = 0;
            node.ctime_ms = now;
        } else {
            self.file(path, content).at(now).ctime_ms = now;
        }
    }

    /// Gives the file at a path, where there is one, a second name.
    pub fn hard_link(&mut self, path: impl AsRef<[u8]>, name: impl AsRef<[u8]>) {
        if let Some(node) = self.nodes.get(path.as_ref()).cloned() {
            self.linked.insert(node.inode);
            *self.put(name, Body::Folder) = node;
        }
    }

    /// Puts a link at a path.
    pub fn link(&mut self, path: impl AsRef<[u8]>, target: impl AsRef<[u8]>) -> &mut Node {
        self.put(path, Body::Link(target.as_ref().to_vec()))
    }

    /// Takes away what is at a path, and below it.
    pub fn take(&mut self, path: impl AsRef<[u8]>) {
        let below = child(path.as_ref(), b"");
        self.nodes
            .retain(|key, _| key != path.as_ref() && !key.starts_with(&below));
    }

    /// Moves what is at a path, and below it, to a path where nothing is.
    pub fn shift(&mut self, from: impl AsRef<[u8]>, to: impl AsRef<[u8]>) {
        let from = from.as_ref();
        let inside = child(from, b"");
        let moved: Vec<Vec<u8>> = self
            .nodes
            .keys()
            .filter(|key| *key == from || key.starts_with(&inside))
            .cloned()
            .collect();
        for key in moved {
            if let (Some(node), Some(rest)) = (self.nodes.remove(&key), key.get(from.len()..)) {
                self.nodes.insert([to.as_ref(), rest].concat(), node);
            }
        }
    }

    /// What is at a path, to change it.
    pub fn node(&mut self, path: impl AsRef<[u8]>) -> Option<NodeMut<'_>> {
        let node = self.nodes.get(path.as_ref())?.clone();
        Some(NodeMut {
            inode: node.inode,
            path: path.as_ref().to_vec(),
            node,
            tree: self,
        })
    }

    /// Everything on the disk, by path.
    #[must_use]
    pub fn nodes(&self) -> &BTreeMap<Vec<u8>, Node> {
        &self.nodes
    }

    fn create(&mut self, path: Vec<u8>, body: Body, mode: u32, now: i64) -> &mut Node {
        let inode = self.next_inode;
        self.next_inode += 1;
        let node = Node {
            body,
            mtime_ms: now,
            mtime_ns: 0,
            ctime_ms: now,
            mode,
            inode,
        };
        self.nodes.entry(path).insert_entry(node).into_mut()
    }
}

/// What the flows ask for.
impl Tree {
    /// Where a path leads, every link in it resolved, the last one only when `follow`. The last
    /// name may be missing, its folder not.
    pub(crate) fn resolve(&self, path: &[u8], follow: bool) -> Answer<Vec<u8>> {
        if path.contains(&0) {
            return fail(Code::InvalidName);
        }
        if !path.starts_with(b"/") {
            return fail(Code::NotFound);
        }
        let must_be_folder = path.ends_with(b"/");
        let mut todo: Vec<Vec<u8>> = names(path).rev().map(<[u8]>::to_vec).collect();
        let mut at = Vec::new();
        let mut links = 0;
        while let Some(name) = todo.pop() {
            self.folder(&at, 0o100)?;
            if name == b".." {
                at.truncate(at.iter().rposition(|byte| *byte == b'/').unwrap_or(0));
                continue;
            }
            if name.len() > MAX_NAME {
                return fail(Code::NameTooLong);
            }
            let next = child(&at, &name);
            match self.nodes.get(&next).map(|node| &node.body) {
                Some(Body::Link(target)) if follow || must_be_folder || !todo.is_empty() => {
                    links += 1;
                    if links > MAX_LINKS {
                        return fail(Code::Loop);
                    }
                    if target.starts_with(b"/") {
                        at.clear();
                    }
                    todo.extend(names(target).rev().map(<[u8]>::to_vec));
                }
                _ => at = next,
            }
        }
        if must_be_folder
            && self
                .nodes
                .get(&at)
                .is_some_and(|node| node.body != Body::Folder)
        {
            return fail(Code::NotADirectory);
        }
        Ok(at)
    }

    /// The same path, with `within` resolved, if there is no link from there on.
    pub(crate) fn within<'a>(&self, path: &'a [u8], within: Option<&str>) -> Answer<Cow<'a, [u8]>> {
        let Some(within) = within.map(str::as_bytes) else {
            return Ok(path.into());
        };
        if path.contains(&0) {
            return fail(Code::InvalidName);
        }
        let mut rest = names(path);
        if !names(within).all(|name| rest.next() == Some(name)) {
            return fail(Code::InvalidName);
        }
        let (mut at, _) = self.find(within, true)?;
        for name in rest {
            if name == b".." {
                return fail(Code::InvalidName);
            }
            at = child(&at, name);
            if matches!(self.nodes.get(&at), Some(node) if matches!(node.body, Body::Link(_))) {
                return fail(Code::Loop);
            }
        }
        if at.is_empty() {
            at.push(b'/');
        }
        Ok(at.into())
    }

    /// The same for a file that is written: its own name may be a link, which is not followed.
    pub(crate) fn place(&self, path: &[u8], within: Option<&str>) -> Answer<Vec<u8>> {
        if within.is_none() {
            return Ok(path.to_vec());
        }
        let folder = self.within(parent(path), within)?;
        let name = path.rsplit(|byte| *byte == b'/').next();
        match name.unwrap_or_default() {
            b"" | b"." | b".." => fail(Code::InvalidName),
            name if name.contains(&0) => fail(Code::InvalidName),
            name => Ok(child(&folder, name)),
        }
    }

    /// The path as [`Self::resolve`] finds it, and what is there.
    pub(crate) fn find(&self, path: &[u8], follow: bool) -> Answer<(Vec<u8>, &Node)> {
        let at = self.resolve(path, follow)?;
        match self.nodes.get(&at) {
            Some(node) => Ok((at, node)),
            None => fail(Code::NotFound),
        }
    }

    /// Checks that a resolved path is a folder whose owner has these rights.
    fn folder(&self, at: &[u8], rights: u32) -> Answer<()> {
        match self.nodes.get(at) {
            None => fail(Code::NotFound),
            Some(node) if node.body != Body::Folder => fail(Code::NotADirectory),
            Some(node) if node.mode & rights != rights => fail(Code::Permission),
            Some(_) => Ok(()),
        }
    }

    /// Checks that entries of the folder of a resolved path can be made and removed.
    fn writable(&self, at: &[u8]) -> Answer<()> {
        self.folder(parent(at), 0o300)
    }

    pub(crate) fn list(&self, path: &[u8]) -> Answer<Vec<Entry>> {
        let (at, _) = self.find(path, true)?;
        self.folder(&at, 0o400)?;
        Ok(self
            .below(&at)
            .map(|(key, node)| {
                let name = key.get(at.len() + 1..).unwrap_or_default();
                Entry {
                    name: String::from_utf8_lossy(name).into_owned(),
                    invalid_name: std::str::from_utf8(name).is_err(),
                    stat: Some(node.stat()),
                }
            })
            .collect())
    }

    /// The entries of a folder.
    fn below<'a>(&'a self, at: &'a [u8]) -> impl Iterator<Item = (&'a Vec<u8>, &'a Node)> {
        self.nodes
            .iter()
            .filter(move |(key, _)| !key.is_empty() && parent(key) == at)
    }

    pub(crate) fn read(&self, path: &[u8], offset: u64, length: u64) -> Answer<Vec<u8>> {
        let (_, node) = self.find(path, false)?;
        match &node.body {
            Body::Folder => return fail(Code::IsADirectory),
            Body::Link(_) => return fail(Code::Loop),
            Body::Other => return fail(Code::Unsupported),
            Body::File(_) | Body::Sparse(..) if node.mode & 0o400 == 0 => {
                return fail(Code::Permission);
            }
            Body::File(_) | Body::Sparse(..) => {}
        }
        let end = offset.saturating_add(length).min(node.size());
        Ok((offset..end).map(|index| node.byte(index)).collect())
    }

    pub(crate) fn write(
        &mut self,
        path: &[u8],
        content: &[u8],
        via: Option<&[u8]>,
        mode: u32,
        now: i64,
    ) -> Answer<()> {
        let Some(via) = via else {
            return self.create_file(path, content, mode, now);
        };
        self.create_file(via, content, mode, now)?;
        let renamed = self.rename(via, path, true, now);
        if renamed.is_err() {
            self.remove(via, now)?;
        }
        renamed
    }

    fn create_file(&mut self, path: &[u8], content: &[u8], mode: u32, now: i64) -> Answer<()> {
        let at = self.resolve(path, false)?;
        self.writable(&at)?;
        if self.nodes.contains_key(&at) {
            return fail(Code::Exists);
        }
        self.create(at, Body::File(content.to_vec()), mode, now);
        Ok(())
    }

    pub(crate) fn append(
        &mut self,
        path: &[u8],
        content: &[u8],
        mode: u32,
        now: i64,
    ) -> Answer<()> {
        let at = self.resolve(path, false)?;
        let Some(mut node) = self.node(&at) else {
            return self.create_file(path, content, mode, now);
        };
        let mode = node.mode;
        match &mut node.body {
            Body::File(_) | Body::Sparse(..) if mode & 0o200 == 0 => fail(Code::Permission),
            Body::File(bytes) => {
                bytes.extend_from_slice(content);
                node.mtime_ms = now;
                node.ctime_ms = now;
                Ok(())
            }
            Body::Folder => fail(Code::IsADirectory),
            Body::Link(_) => fail(Code::Loop),
            Body::Sparse(..) | Body::Other => fail(Code::Unsupported),
        }
    }

    pub(crate) fn make_dir(&mut self, path: &[u8], mode: u32, now: i64) -> Answer<()> {
        let mut prefix = Vec::new();
        for name in names(path) {
            prefix = child(&prefix, name);
            let at = self.resolve(&prefix, true)?;
            match self.nodes.get(&at).map(|node| &node.body) {
                Some(Body::Folder) => {}
                Some(_) if names(path).count() == names(&prefix).count() => {
                    return fail(Code::Exists);
                }
                Some(_) => return fail(Code::NotADirectory),
                None => {
                    self.writable(&at)?;
                    self.create(at, Body::Folder, mode, now);
                }
            }
        }
        Ok(())
    }

    pub(crate) fn remove(&mut self, path: &[u8], now: i64) -> Answer<()> {
        let (at, _) = self.find(path, false)?;
        self.writable(&at)?;
        if self.below(&at).next().is_some() {
            return fail(Code::NotEmpty);
        }
        self.take_name(&at, now);
        Ok(())
    }

    /// Takes a name away; other names of the file stay.
    fn take_name(&mut self, at: &[u8], now: i64) {
        if let Some(mut node) = self.node(at) {
            node.ctime_ms = now;
        }
        self.nodes.remove(at);
    }

    pub(crate) fn rename(&mut self, from: &[u8], to: &[u8], replace: bool, now: i64) -> Answer<()> {
        let (from, node) = self.find(from, false)?;
        let to = self.resolve(to, false)?;
        let there = self.nodes.get(&to);
        if there.is_some() && !replace {
            return fail(Code::Exists);
        }
        self.writable(&from)?;
        self.writable(&to)?;
        let is_folder = node.body == Body::Folder;
        match there.map(|there| (there, there.body == Body::Folder)) {
            // Two names of one file: POSIX leaves both.
            Some((there, _)) if there.inode == node.inode => return Ok(()),
            _ if to.starts_with(&child(&from, b"")) => return fail(Code::Other),
            Some((_, true)) if !is_folder => return fail(Code::IsADirectory),
            Some((_, false)) if is_folder => return fail(Code::NotADirectory),
            Some((_, true)) if self.below(&to).next().is_some() => return fail(Code::NotEmpty),
            _ => {}
        }
        self.take_name(&to, now);
        self.shift(&from, &to);
        if let Some(mut node) = self.node(&to) {
            node.ctime_ms = now;
        }
        Ok(())
    }

    pub(crate) fn add_name(&mut self, from: &[u8], to: &[u8], now: i64) -> Answer<()> {
        let (from, node) = self.find(from, false)?;
        if node.body == Body::Folder {
            return fail(Code::IsADirectory);
        }
        let to = self.resolve(to, false)?;
        if self.nodes.contains_key(&to) {
            return fail(Code::Exists);
        }
        self.writable(&to)?;
        self.hard_link(&from, &to);
        if let Some(mut node) = self.node(&to) {
            node.ctime_ms = now;
        }
        Ok(())
    }

    pub(crate) fn set_mtime(&mut self, path: &[u8], mtime_ms: i64, now: i64) -> Answer<()> {
        let (at, _) = self.find(path, false)?;
        if let Some(mut node) = self.node(&at) {
            node.mtime_ms = mtime_ms;
            node.mtime_ns = 0;
            node.ctime_ms = now;
        }
        Ok(())
    }
}

/// A file that is changed: when this is dropped, the change shows under all its names.
#[derive(Debug)]
pub struct NodeMut<'a> {
    tree: &'a mut Tree,
    path: Vec<u8>,
    /// As it was given out.
    inode: u64,
    node: Node,
}

impl Deref for NodeMut<'_> {
    type Target = Node;

    fn deref(&self) -> &Node {
        &self.node
    }
}

impl DerefMut for NodeMut<'_> {
    fn deref_mut(&mut self) -> &mut Node {
        &mut self.node
    }
}

impl Drop for NodeMut<'_> {
    fn drop(&mut self) {
        let nodes = &mut self.tree.nodes;
        if self.tree.linked.contains(&self.inode) {
            for node in nodes.values_mut().filter(|node| node.inode == self.inode) {
                node.clone_from(&self.node);
            }
        } else if let Some(node) = nodes.get_mut(&self.path) {
            node.clone_from(&self.node);
        }
    }
}

impl Node {
    /// The same with another modification time.
    pub fn at(&mut self, mtime_ms: i64) -> &mut Self {
        self.mtime_ms = mtime_ms;
        self
    }

    /// The same with other permissions.
    pub fn mode(&mut self, mode: u32) -> &mut Self {
        self.mode = mode;
        self
    }

    fn size(&self) -> u64 {
        match &self.body {
            Body::File(bytes) | Body::Link(bytes) => bytes.len() as u64,
            Body::Sparse(_, size) => *size,
            Body::Folder | Body::Other => 0,
        }
    }

    fn byte(&self, index: u64) -> u8 {
        let (Body::File(bytes) | Body::Sparse(bytes, _)) = &self.body else {
            return 0;
        };
        usize::try_from(index)
            .ok()
            .and_then(|index| bytes.get(index))
            .copied()
            .unwrap_or(b'x')
    }

    pub(crate) fn stat(&self) -> Stat {
        Stat {
            kind: match self.body {
                Body::Folder => FileKind::Directory,
                Body::File(_) | Body::Sparse(..) => FileKind::File,
                Body::Link(_) => FileKind::Link,
                Body::Other => FileKind::Other,
            },
            size: self.size(),
            mtime_ms: self.mtime_ms,
            mtime_ns: self.mtime_ns,
            ctime_ms: Some(self.ctime_ms),
            inode: Some(self.inode),
            mode: Some(self.mode),
        }
    }
}

fn names(path: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/')
        .filter(|name| !matches!(name, [] | [b'.']))
}

fn child(folder: &[u8], name: &[u8]) -> Vec<u8> {
    [folder, b"/", name].concat()
}

fn parent(at: &[u8]) -> &[u8] {
    at.iter()
        .rposition(|byte| *byte == b'/')
        .and_then(|end| at.get(..end))
        .unwrap_or_default()
}
