//! What the tests of dreaming begin with: a store, what lies in it, and a model that puts it in order.

use memdir_core::dream::DreamOptions;
use memdir_core::store::{Features, OpenOptions, Store};
use serde_json::{Value, json};

use crate::{Body, SimHost, Tree, call, extract_options, turn};

/// The lock of dreams in the store at `/mem`.
pub const DREAM_LOCK: &str = "/mem/.consolidate-lock";

/// A store at `/mem` that dreams with the caller's function as its model.
#[must_use]
pub fn dream_store() -> Store {
    Store::new(dream_store_options())
}

/// How it is opened.
#[must_use]
pub fn dream_store_options() -> OpenOptions {
    OpenOptions {
        features: Features {
            dream: true,
            ..Features::default()
        },
        ..extract_options(Features::default())
    }
}

/// A dream that a person asks for.
#[must_use]
pub fn at_once() -> DreamOptions {
    DreamOptions {
        force: true,
        ..DreamOptions::default()
    }
}

/// A memory of this name; `more` goes into its frontmatter.
#[must_use]
pub fn dreamt_memory(name: &str, more: &str) -> String {
    format!("---\nname: {name}\ndescription: about {name}\ntype: project\n{more}---\n{name}.\n")
}

/// Three memories, one that is pinned, their index, and a project.
#[must_use]
pub fn dream_tree() -> Tree {
    let mut tree = Tree::new();
    for name in ["a", "b", "c"] {
        tree.file(format!("/mem/{name}.md"), dreamt_memory(name, ""));
    }
    let pinned = dreamt_memory("pinned", "metadata:\n  pinned: true\n");
    tree.file("/mem/pinned.md", pinned);
    tree.file(
        "/mem/MEMORY.md",
        "- [A](a.md) — a\n- [B](b.md) — b\n- [C](c.md) — c\n- [P](pinned.md) — p\n",
    );
    tree.file("/code/shop/main.rs", "fn main() {}\n");
    tree
}

/// What a model does that merges `a.md` and `b.md` and writes `new.md`: it reads, writes, removes, and edits
/// the index.
#[must_use]
pub fn merging() -> Vec<Value> {
    let read = |path: &str| call("Read", &json!({"file_path": path}));
    let write = |path: &str, content: String| {
        let input = json!({"file_path": path, "content": content});
        call("Write", &input)
    };
    vec![
        turn(&[read("/mem/MEMORY.md"), read("/mem/a.md"), read("/mem/b.md")]),
        turn(&[
            write("/mem/a.md", dreamt_memory("a and b", "")),
            call("Delete", &json!({"file_path": "/mem/b.md"})),
            write("/mem/new.md", dreamt_memory("new", "")),
            call(
                "Edit",
                &json!({"file_path": "/mem/MEMORY.md",
                "old_string": "- [A](a.md) — a\n", "new_string": "- [A](a.md) — a and b\n- [N](new.md) — new\n"}),
            ),
        ]),
    ]
}

/// The lock of dreams: its text, and its time.
#[must_use]
pub fn dream_lock(host: &SimHost) -> Option<(String, i64)> {
    let node = host.tree.nodes().get(DREAM_LOCK.as_bytes())?;
    match &node.body {
        Body::File(bytes) => Some((String::from_utf8_lossy(bytes).into_owned(), node.mtime_ms)),
        other => Some((format!("{other:?}"), node.mtime_ms)),
    }
}
