//! What the simulation tests share.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::ops::Range;

use memdir_core::conversation::Message;
use memdir_core::store::{Features, OpenOptions, Recall, Store};
use memdir_simulation::{OLD_MS, Session, SimHost, Tree, memory, said};

/// A store that has not seen its host yet, as after a start of the process.
pub fn store(directory: &str) -> Store {
    Store::new(OpenOptions {
        directory: Some(directory.to_owned()),
        ..OpenOptions::default()
    })
}

/// What a scan for secrets takes for one; in parts, so that this file holds none.
pub fn token() -> String {
    format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a")
}

/// The seeds of a storm: so many, or those that `MEMDIR_SEED` and `MEMDIR_SEEDS` name.
pub fn seeds(count: u64) -> Range<u64> {
    let number = |name: &str| std::env::var(name).ok().map(|given| given.parse().unwrap());
    let first: u64 = number("MEMDIR_SEED").unwrap_or(0);
    first..first + number("MEMDIR_SEEDS").unwrap_or(count)
}

/// A conversation of so many turns.
pub fn turns(count: usize) -> Vec<Message> {
    let turn = |number: usize| {
        said(&[
            (
                &format!("u{number}"),
                "user",
                &format!("question number {number} of mine"),
            ),
            (&format!("a{number}"), "", "An answer."),
        ])
    };
    (1..=count).flat_map(turn).collect()
}

/// What the recalls over [`recalled_tree`] ask.
pub const QUERY: &str = "harbour pipeline";

/// Two memories that the query finds, and a few that it does not.
pub fn recalled_tree() -> Tree {
    let mut tree = Tree::new();
    for (name, description, body) in [
        (
            "best.md",
            "the harbour pipeline",
            "The harbour pipeline builds images.",
        ),
        (
            "good.md",
            "deployment",
            "It goes through the harbour pipeline.",
        ),
        ("one.md", "numbering of invoices", "They begin at 1000."),
        ("sub/two.md", "colours", "Teal and sand."),
        ("team/three.md", "reviewers", "Grace, then Edsger."),
        ("four.md", "products", "An inverted list finds them."),
    ] {
        tree.file(format!("/mem/{name}"), memory(description, body))
            .at(OLD_MS);
    }
    tree
}

/// Without use counts, so that a store that knows nothing gives the same to the last digit.
pub fn session_on(tree: Tree) -> Session {
    let options = OpenOptions {
        directory: Some("/mem".to_owned()),
        features: Features {
            count_uses: false,
            ..Features::default()
        },
        ..OpenOptions::default()
    };
    Session::with(SimHost::with_tree(5, tree), options)
}

/// What is found is what a store finds that knows nothing.
pub fn same_as_fresh(session: &mut Session, query: &str) -> Recall {
    let recall = session.recall(query).unwrap();
    assert_eq!(recall, session.fresh().recall(query).unwrap());
    recall
}
