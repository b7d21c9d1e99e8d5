//! Dreaming (documents 000 §10 and 001 §3.3, facts 7): now and then, at the end of a turn, a model looks over all
//! of the memory and what was said since, and puts it in order. It works on drafts; what it did is applied under
//! the store's lock, recorded, and can be taken back. Whether it is time is decided in [`decide_dream`], who may
//! do it in `lock`.

mod due;
mod lock;
mod record;

use serde::{Deserialize, Serialize};

pub use due::{DreamGate, decide_dream};
pub use lock::{LockLook, lock_is_held};
pub(crate) use lock::{Taken, is_under_way, last_success, take};
pub(crate) use record::{Record, Recorded, keep, newest, remove};

use crate::error::ErrorCode;
use crate::extract::RunEnd;
use crate::inbox::InboxChange;
use crate::model::Usage;
use crate::report::ReportEntry;

/// How dreaming is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct DreamOptions {
    /// Whether it is done whatever time it is, as when a person asks for it. One that is under way keeps it
    /// from being done all the same.
    pub force: bool,
    /// Whether nothing is changed, and the result says what would be.
    pub dry_run: bool,
    /// Whether only the daily logs are distilled into memories.
    pub logs: bool,
    /// The session that it is asked in, whose transcript is still being written; null where there is none.
    pub session: Option<String>,
    /// Whether it runs on somebody else's machine; so it is too when `CLAUDE_CODE_REMOTE` is set.
    pub remote: bool,
    /// Folders besides the working directory, the store and the transcripts that may be read in, absolute.
    pub read_roots: Vec<String>,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DreamOutcome {
    /// A model has looked over the memory; it may have changed nothing.
    Done,
    /// There was nothing to be done; `reason` says why.
    Skipped,
    /// It did not come to its end, and nothing was changed; the next one does not wait for it. Where `id` is given the
    /// disk failed while it took effect, and again when that was to be taken back.
    Failed,
}

/// Why there was nothing to be done, in the order in which it is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Awake {
    /// It was the turn of another agent than the main one.
    SubAgent,
    /// Dreaming is off: by the setting `autoDreamEnabled`, or the feature `dream` when that says nothing.
    Off,
    /// Memory is off.
    Disabled,
    /// It runs on somebody else's machine.
    Remote,
    /// Notes go to daily logs, which are distilled when somebody asks for it.
    DailyLog,
    /// The last one was less than 24 hours ago.
    TooSoon,
    /// Sessions were counted less than 10 minutes ago.
    Counted,
    /// Fewer than five sessions have been held since.
    FewSessions,
    /// Another one is under way.
    Locked,
    /// The store was closed before it was its turn, after an extraction.
    Closed,
}

impl Awake {
    /// The same for a person.
    pub(crate) fn told(self) -> &'static str {
        match self {
            Self::SubAgent => "it was the turn of a sub agent",
            Self::Off => "dreaming is off (the setting autoDreamEnabled, else the feature dream)",
            Self::Disabled => "memory is off",
            Self::Remote => "the agent runs on somebody else's machine",
            Self::DailyLog => "notes go to daily logs; distil them with --logs",
            Self::TooSoon => "the last time is less than 24 hours ago",
            Self::Counted => "sessions were counted less than 10 minutes ago",
            Self::FewSessions => "fewer than five sessions have been held since the last time",
            Self::Locked => "another one is under way",
            Self::Closed => "the store was closed before it was its turn",
        }
    }
}

/// The result of dreaming.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Dream {
    /// What became of it.
    pub outcome: DreamOutcome,
    /// Why it was skipped; null otherwise.
    pub reason: Option<Awake>,
    /// What it can be taken back by; null when nothing was changed.
    pub id: Option<String>,
    /// The memories that were changed or made, relative to the store, without indexes.
    pub improved: Vec<String>,
    /// Those that were removed.
    pub removed: Vec<String>,
    /// What was to be changed and was not, because somebody else had changed it meanwhile; and removals then, as
    /// in a run that its turns or tokens cut, since what goes may stand nowhere else yet.
    pub conflicts: Vec<String>,
    /// What a user is told: "Improved 3 memories"; null when nothing was changed.
    pub notice: Option<String>,
    /// What would be changed, of a dry run.
    pub changes: Vec<InboxChange>,
    /// How many sessions there were to look at.
    pub sessions: u32,
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
    /// What else should be known.
    pub report: Vec<ReportEntry>,
}

impl Dream {
    pub(crate) fn new(outcome: DreamOutcome) -> Self {
        Self {
            outcome,
            reason: None,
            id: None,
            improved: Vec::new(),
            removed: Vec::new(),
            conflicts: Vec::new(),
            notice: None,
            changes: Vec::new(),
            sessions: 0,
            turns: 0,
            ended: None,
            usage: Usage::default(),
            code: None,
            message: None,
            report: Vec::new(),
        }
    }

    pub(crate) fn skipped(reason: Awake) -> Self {
        Self {
            reason: Some(reason),
            ..Self::new(DreamOutcome::Skipped)
        }
    }
}

/// What came of taking a dream back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DreamUndone {
    /// Which one; null when there is none to take back.
    pub id: Option<String>,
    /// What is as it was before.
    pub restored: Vec<String>,
    /// What somebody has changed since, and stays as it is.
    pub conflicts: Vec<String>,
}
