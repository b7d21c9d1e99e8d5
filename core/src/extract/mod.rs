//! Background extraction (document 000 §4, facts 6): after a turn of the agent, a model writes down what later
//! conversations should know. When that happens is decided in [`decide_extraction`], what the model is told in
//! [`crate::prompt`], and what it may do in [`crate::agent`].

mod decide;
mod talk;

use serde::{Deserialize, Serialize};

pub use decide::{ExtractionDecision, ExtractionGate, Verdict, decide_extraction};
pub(crate) use decide::{finished, first_new, first_place_of, is_final, recognised};
pub use talk::conversation_text;
pub(crate) use talk::{beginning, result as result_text, talk};

use crate::error::ErrorCode;
use crate::model::{ToolDefinition, Usage};
use crate::report::ReportEntry;

/// Whose conversation it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentRole {
    /// The user's own agent.
    #[default]
    Main,
    /// An agent that another one has started.
    Sub,
}

/// How an extraction is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ExtractOptions {
    /// Whose conversation it is; only the main agent's is looked at.
    pub agent: AgentRole,
    /// Whether a person takes part in it. Without one the feature `extractNonInteractive` is needed.
    pub interactive: bool,
    /// Whether it runs on somebody else's machine; so it is too when `CLAUDE_CODE_REMOTE` is set.
    pub remote: bool,
    /// Which conversation it is, where a store has several at once. Each has its own state.
    pub session: String,
    /// What the last extraction of this conversation gave, after a restart. A store that knows better
    /// does not look at it.
    pub state: Option<ExtractionState>,
    /// The request that the conversation would be continued with, in the provider's own form, as JSON text
    /// of an object with `messages`, and `system` and `tools` where there are any. With it the run goes on
    /// with the conversation, and the provider's prompt cache is used. Without it the model is shown the
    /// new messages only.
    pub request: Option<String>,
    /// Folders besides the working directory and the store that may be read in, absolute.
    pub read_roots: Vec<String>,
    /// Whether changes wait in the inbox until somebody applies them.
    pub review: bool,
}

impl Default for ExtractOptions {
    fn default() -> Self {
        Self {
            agent: AgentRole::Main,
            interactive: true,
            remote: false,
            session: String::new(),
            state: None,
            request: None,
            read_roots: Vec::new(),
            review: false,
        }
    }
}

/// How far the extractions of a conversation have come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ExtractionState {
    /// The last message that was looked at.
    pub cursor: Option<String>,
    /// Turns since then that were left out because of `extractEvery`.
    pub turns: u32,
}

/// What became of an extraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExtractionOutcome {
    /// A model has looked at the new messages; it may have written nothing.
    Done,
    /// There was nothing to be done; `reason` says why.
    Skipped,
    /// Another one of the same conversation is under way, and goes on with these messages afterwards.
    Queued,
    /// It did not come to its end; the same messages are looked at again the next time.
    Failed,
}

/// Why there was nothing to be done, in the order in which it is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Skip {
    /// It is not the main agent's conversation.
    SubAgent,
    /// The feature `extract` is off.
    Off,
    /// Memory is off.
    Disabled,
    /// Nobody takes part, and the feature `extractNonInteractive` is off.
    NotInteractive,
    /// It runs on somebody else's machine.
    Remote,
    /// The last message is no final answer: the agent is in the middle of something.
    NotFinal,
    /// No message has come since the last one.
    NothingNew,
    /// The agent has written memories itself, so what was to be kept is kept.
    DirectWrite,
    /// No person has written as much as three words.
    TooLittle,
    /// It is not yet the turn of `extractEvery`.
    Throttled,
    /// The model's provider had no more to give a moment ago.
    Paused,
}

impl Skip {
    /// The same for a person.
    pub(crate) fn told(self) -> &'static str {
        match self {
            Self::SubAgent => "it is the conversation of a sub agent",
            Self::Off => "the feature extract is off",
            Self::Disabled => "memory is off",
            Self::NotInteractive => {
                "nobody takes part in the conversation, and the feature extractNonInteractive is off"
            }
            Self::Remote => "the agent runs on somebody else's machine",
            Self::NotFinal => "the conversation does not end with an answer",
            Self::NothingNew => "no message has come since the last time",
            Self::DirectWrite => "the agent has saved memories itself",
            Self::TooLittle => "nobody has written as much as three words",
            Self::Throttled => "it is not yet its turn",
            Self::Paused => "the model's provider had no more to give a moment ago",
        }
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunEnd {
    /// The model had nothing more to do.
    Answered,
    /// It had all the turns that it may take.
    Turns,
    /// It had used up its tokens.
    Tokens,
    /// It was stopped, because nobody waited for it any longer. Memories that an extraction and notes that an update
    /// had written by then stay; of a dream nothing takes effect.
    Stopped,
}

/// The result of an extraction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Extraction {
    /// What became of it.
    pub outcome: ExtractionOutcome,
    /// Why it was skipped; null otherwise.
    pub reason: Option<Skip>,
    /// The memories that were written, relative to the store, without indexes.
    pub paths: Vec<String>,
    /// Those that were removed.
    pub removed: Vec<String>,
    /// What a user is told: "Memory updated in …"; null when nothing was changed.
    pub notice: Option<String>,
    /// The entries of the inbox in which the changes wait, of runs that are reviewed.
    pub inbox: Vec<String>,
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
    /// How far it has come, for [`ExtractOptions::state`].
    pub state: ExtractionState,
    /// What else should be known.
    pub report: Vec<ReportEntry>,
}

impl Extraction {
    pub(crate) fn new(outcome: ExtractionOutcome, state: ExtractionState) -> Self {
        Self {
            outcome,
            reason: None,
            paths: Vec::new(),
            removed: Vec::new(),
            notice: None,
            inbox: Vec::new(),
            turns: 0,
            ended: None,
            usage: Usage::default(),
            code: None,
            message: None,
            state,
            report: Vec::new(),
        }
    }

    pub(crate) fn skipped(reason: Skip, state: ExtractionState) -> Self {
        Self {
            reason: Some(reason),
            ..Self::new(ExtractionOutcome::Skipped, state)
        }
    }
}

/// A run that somebody's own model is to make.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtractionTask {
    /// What its calls of tools and its end are told with.
    pub run: u32,
    /// The system prompt for a conversation of its own.
    pub system: String,
    /// The user's turn: what is to be done. It is for a fork of the conversation when the extraction was
    /// given a `request`, and holds the messages otherwise.
    pub prompt: String,
    /// The tools.
    pub tools: Vec<ToolDefinition>,
    /// How many turns the model may take.
    pub max_turns: u32,
    /// How many tokens it may take.
    pub max_tokens: u64,
}

/// Where an extraction stands that somebody's own model makes: there is a task, or the result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtractionStep {
    /// What is to be run next.
    pub task: Option<ExtractionTask>,
    /// What came of it, when there is nothing more to run.
    pub result: Option<Extraction>,
}

/// What became of a run that somebody's own model has made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RunReport {
    /// Why it failed; null when it came to its end.
    pub error: Option<String>,
    /// How many turns it took.
    pub turns: u32,
    /// The tokens that it took.
    pub usage: Usage,
}
