//! What a writer is asked to do, as a value, so that the same can be done again elsewhere.

use memdir_core::flow::Flow;
use memdir_core::memory::MemoryType;
use memdir_core::store::{ForgetOptions, OpenOptions, Store};
use memdir_core::write::{SaveOptions, WriteResult};

/// One operation that writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// A save.
    Save(SaveOptions),
    /// A forgetting of this path, with what is expected of it.
    Forget(String, Option<String>),
    /// The undoing of the last forgetting, of this path or of any.
    Undo(Option<String>),
}

impl Act {
    /// The save of a whole memory at this path, of type project. The word is in its name, its
    /// description and its body.
    #[must_use]
    pub fn save(path: &str, word: &str) -> Self {
        Self::Save(SaveOptions {
            path: Some(path.to_owned()),
            name: Some(format!("Name {word}")),
            description: Some(format!("hook {word}")),
            kind: Some(MemoryType::Project),
            body: Some(format!("body {word}")),
            ..SaveOptions::default()
        })
    }

    /// The same where this is expected.
    #[must_use]
    pub fn expecting(mut self, what: &str) -> Self {
        match &mut self {
            Self::Save(SaveOptions { expect, .. }) | Self::Forget(_, expect) => {
                *expect = Some(what.to_owned());
            }
            Self::Undo(_) => {}
        }
        self
    }

    /// A forgetting that expects nothing.
    #[must_use]
    pub fn forget(path: &str) -> Self {
        Self::Forget(path.to_owned(), None)
    }

    /// The undoing of the forgetting of this path.
    #[must_use]
    pub fn undo(path: &str) -> Self {
        Self::Undo(Some(path.to_owned()))
    }

    /// The flow of it on a store.
    #[must_use]
    pub fn of(&self, store: &Store) -> Flow<WriteResult> {
        match self.clone() {
            Self::Save(options) => store.save(options),
            Self::Forget(path, expect) => store.forget(path, ForgetOptions { expect }),
            Self::Undo(path) => store.undo_forget(path),
        }
    }

    /// The same on a store at this folder, opened by a process of its own.
    #[must_use]
    pub fn flow(&self, directory: &str) -> Flow<WriteResult> {
        self.of(&Store::new(OpenOptions {
            directory: Some(directory.to_owned()),
            ..OpenOptions::default()
        }))
    }
}
