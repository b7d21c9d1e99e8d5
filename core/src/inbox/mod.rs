//! The inbox: what a background run would change in a store and has left for a person, who applies or drops
//! it. Decides how a proposal is kept, how it is shown, and what of an index may be applied while other
//! parts of it still wait.

mod diff;
mod index;
mod storage;

use serde::{Deserialize, Deserializer, Serialize};

pub(crate) use self::index::{held_back, merged};
pub(crate) use self::storage::{chosen, ids, item, keep, put, read, remove};
use crate::report::ReportEntry;
use crate::write::{WriteResult, indexed_folder};

/// What a run would change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Proposal {
    /// What the run was for: `extract`.
    pub purpose: String,
    /// When it ended, milliseconds since the epoch; 0 without a clock.
    pub at_ms: i64,
    /// Each about another file.
    pub changes: Vec<ProposedChange>,
}

/// What is to become of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposedChange {
    /// Relative to the store, with `/`, ending in `.md`.
    pub path: String,
    /// `sha256:` and hex of the file that the run saw; null when there was none.
    #[serde(deserialize_with = "required")]
    pub before: Option<String>,
    /// Its text; null when there was none, or when it was no text.
    #[serde(deserialize_with = "required")]
    pub old: Option<String>,
    /// The whole text that it is to have; null when it is to go.
    #[serde(deserialize_with = "required")]
    pub new: Option<String>,
}

/// Null must be said: what is missing in a damaged file is not to be taken for "it is to go".
fn required<'de, D: Deserializer<'de>>(value: D) -> Result<Option<String>, D::Error> {
    Option::deserialize(value)
}

impl ProposedChange {
    /// The folder that it is the index of, if it is one. An index is merged, where a memory is replaced.
    pub(crate) fn indexed_folder(&self) -> Option<&'static str> {
        indexed_folder(&self.path)
    }

    /// Whether the file would be another one afterwards. What was there and is no text has a hash alone.
    pub(crate) fn is_change(&self) -> bool {
        self.old != self.new || self.before.is_some() != self.old.is_some()
    }
}

/// What waits in the inbox.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Inbox {
    /// Oldest first.
    pub items: Vec<InboxItem>,
    /// Files of the inbox that are no proposals (`inbox-damaged`).
    pub report: Vec<ReportEntry>,
}

/// One proposal, as a person looks at it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InboxItem {
    /// What it is called; later ones come after earlier ones.
    pub id: String,
    /// What the run was for: `extract`.
    pub purpose: String,
    /// When the run ended, milliseconds since the epoch; 0 without a clock.
    pub at_ms: i64,
    /// What still waits of it.
    pub changes: Vec<InboxChange>,
}

/// What is to become of one file, as a person looks at it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InboxChange {
    /// Relative to the store, with `/`.
    pub path: String,
    /// What kind of change.
    pub kind: InboxChangeKind,
    /// From what the run saw to what it proposes: a unified diff with three lines of context, its headers
    /// `a/PATH` and `b/PATH` or `/dev/null`, its lines as they are; empty when no line differs.
    pub diff: String,
    /// Lines that come.
    pub added: u32,
    /// Lines that go.
    pub removed: u32,
    /// Whether the file is neither what the run saw nor what it proposes: applying is a conflict then, but
    /// for an index, which is merged.
    pub is_stale: bool,
}

/// What kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InboxChangeKind {
    /// The run saw no such file.
    Created,
    /// It gets another text.
    Changed,
    /// It goes.
    Deleted,
}

/// What came of applying a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InboxResult {
    /// One for each change that was tried, memories first. `conflict` and `refused` ones stay in the inbox.
    pub results: Vec<WriteResult>,
    /// The paths that still wait: those, what was not chosen, and an index as long as a memory waits whose
    /// lines it changes.
    pub left: Vec<String>,
}
