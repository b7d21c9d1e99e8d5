//! Notes of one session (document 001 §3.2, facts 8): a model keeps them up to date while the conversation
//! grows, so that a compaction can put them in place of a summary. When that is done is decided in [`session_notes_due`],
//! what a compaction keeps in [`compaction_cut`]; both for agents that run the conversation.

mod compaction;
mod due;
pub(crate) mod file;
mod sections;
mod template;
mod tokens;

use serde::{Deserialize, Serialize};

pub use compaction::{Compaction, CompactionQuestion, CompactionReason, compaction_cut};
pub use due::{NotesDue, session_notes_due};
pub(crate) use sections::frame;
pub use sections::{NotesMeasure, NotesSection, measure_notes, notes_are_empty};
pub(crate) use template::TEMPLATE;
pub use template::{TemplateValues, fill_template};
pub use tokens::estimate_tokens;
pub(crate) use tokens::message_tokens;

use crate::error::{Error, ErrorCode};
use crate::extract::RunEnd;
use crate::limits::{SESSION_ID_BYTES, STORE_FOLDER};
use crate::model::Usage;
use crate::report::ReportEntry;
use crate::team::is_device;
use crate::text::is_hostile;
use crate::write::secret_in_path;

/// How notes are brought up to date.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NotesOptions {
    /// Whether it is done now, whatever [`session_notes_due`] says.
    pub force: bool,
    /// Whether the end of a turn counts as much as calls of tools, see [`NotesDue::natural_break`].
    pub natural_break: bool,
    /// The request that the conversation would be continued with, as in
    /// [`crate::extract::ExtractOptions::request`].
    pub request: Option<String>,
    /// What the last update of this session gave, after a restart. A store that knows better does not look
    /// at it.
    pub state: Option<NotesState>,
}

/// How far the notes of a session have come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NotesState {
    /// The tokens that the conversation had at the last update, without those of messages that were left to the
    /// next one; fewer when it has become shorter since. Null before the first one.
    pub last_tokens: Option<u64>,
    /// The last message that an update has looked at which came to its end. What comes behind it is shown to the
    /// next one, and calls of tools are counted from there.
    pub cursor: Option<String>,
    /// The last message of which the notes have what matters, for [`compaction_cut`]: the end of a turn, and
    /// not behind `cursor`. Null as long as there is none.
    pub last_summarised: Option<String>,
}

/// What became of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotesOutcome {
    /// A model has looked at what is new. When it has changed nothing, or was at its limits (`ended`), or left
    /// it at a call that was refused, the same messages are looked at again when the conversation has grown.
    Done,
    /// There was nothing to be done; `reason` says why.
    Skipped,
    /// It did not come to its end. What was written by then stays, and the same messages are looked at
    /// again the next time.
    Failed,
}

/// Why there was nothing to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotesSkip {
    /// Memory is off.
    Disabled,
    /// No message has come since the last one.
    NothingNew,
    /// It is not yet time, see [`session_notes_due`].
    NotDue,
    /// Another one of the same session is under way.
    Running,
    /// The model's provider had no more to give a moment ago.
    Paused,
    /// The store was closed before it was their turn.
    Closed,
}

impl NotesSkip {
    /// The same for a person.
    pub(crate) fn told(self) -> &'static str {
        match self {
            Self::Disabled => "memory is off",
            Self::NothingNew => "no message has come since the last time",
            Self::NotDue => "the conversation has not grown enough; --force does it anyway",
            Self::Running => "another update of the same session is under way",
            Self::Paused => "the model's provider had no more to give a moment ago",
            Self::Closed => "the store was closed before it was their turn",
        }
    }
}

/// The result of an update.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NotesResult {
    /// What became of it.
    pub outcome: NotesOutcome,
    /// Why it was skipped; null otherwise.
    pub reason: Option<NotesSkip>,
    /// The file of the notes, absolute; null when memory is off.
    pub path: Option<String>,
    /// Whether the notes are others than before.
    pub changed: bool,
    /// How many turns the model took.
    pub turns: u32,
    /// How the run ended; null when there was none.
    pub ended: Option<RunEnd>,
    /// The tokens that it took.
    pub usage: Usage,
    /// Why it failed; null otherwise.
    pub code: Option<ErrorCode>,
    /// The same for a person; null otherwise.
    pub message: Option<String>,
    /// The sections that are longer than they should be afterwards; the next update is told to shorten
    /// them.
    pub over_limit: Vec<NotesSection>,
    /// How far it has come, for [`NotesOptions::state`].
    pub state: NotesState,
    /// What else should be known: what looks like a secret, a template that cannot be read, messages that are
    /// left to the next update.
    pub report: Vec<ReportEntry>,
}

impl NotesResult {
    pub(crate) fn new(outcome: NotesOutcome, path: Option<String>, state: NotesState) -> Self {
        Self {
            outcome,
            reason: None,
            path,
            changed: false,
            turns: 0,
            ended: None,
            usage: Usage::default(),
            code: None,
            message: None,
            over_limit: Vec::new(),
            state,
            report: Vec::new(),
        }
    }

    pub(crate) fn skipped(reason: NotesSkip, path: Option<String>, state: NotesState) -> Self {
        Self {
            reason: Some(reason),
            ..Self::new(NotesOutcome::Skipped, path, state)
        }
    }
}

/// What is asked when a conversation is about to be compacted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct CompactionOptions {
    /// The message that the last compaction has put in place of others, see
    /// [`CompactionQuestion::boundary`].
    pub boundary: Option<usize>,
    /// As [`NotesOptions::state`].
    pub state: Option<NotesState>,
}

/// Refuses an id that could name more than one folder of its own on some system.
///
/// # Errors
/// `invalid-argument`.
pub(crate) fn check_id(id: &str) -> Result<(), Error> {
    let refuse = |what: &str| {
        let message = format!("the id of a session {what}; give the one that the conversation has");
        Err(Error::new(ErrorCode::InvalidArgument, message))
    };
    if id.is_empty() || id.trim() != id {
        return refuse("is empty, or begins or ends with a blank");
    }
    if id.len() > SESSION_ID_BYTES {
        return refuse(&format!("has more than {SESSION_ID_BYTES} bytes"));
    }
    let is_bad = |c: char| {
        is_hostile(c)
            || matches!(
                c,
                '/' | '\\' | '.' | ':' | '<' | '>' | '"' | '|' | '?' | '*'
            )
    };
    if id.chars().any(is_bad) || is_device(id) {
        return refuse("is a file name of its own, without separators, dots and signs");
    }
    // The store itself lies beside the folders of the sessions.
    if id.eq_ignore_ascii_case(STORE_FOLDER) {
        return refuse(&format!("is not {STORE_FOLDER}, where memories are"));
    }
    if secret_in_path(id).is_some() {
        return refuse("looks like a secret");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check_id;
    use crate::ErrorCode;

    #[test]
    fn an_id_is_one_folder_everywhere() {
        for id in [
            "5f0c1d2e-77aa-4b7e-9d2b-0f6f3c7b8a11",
            "a",
            "Sitzung 3",
            "ü_1",
            &"x".repeat(128),
        ] {
            assert!(check_id(id).is_ok(), "{id}");
        }
        for id in [
            "",
            " ",
            " a",
            "a ",
            ".",
            "..",
            "a/b",
            "a\\b",
            "a.b",
            "../x",
            "a\0",
            "a\nb",
            "a\u{202E}b",
            "C:",
            "con",
            "memory",
            "Memory",
            "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
            &"x".repeat(129),
        ] {
            let code = check_id(id).map_err(|error| error.code);
            assert_eq!(code, Err(ErrorCode::InvalidArgument), "{id:?}");
        }
    }
}
