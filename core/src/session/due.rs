//! Whether it is time to bring the notes of a session up to date (facts 8.1).

use serde::{Deserialize, Serialize};

use crate::limits::{SESSION_FIRST_TOKENS, SESSION_GROWTH_TOKENS, SESSION_TOOL_CALLS};

/// What decides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NotesDue {
    /// Tokens of the whole conversation.
    pub tokens: u64,
    /// How many it had at the last update; null before the first one.
    pub last_tokens: Option<u64>,
    /// Calls of tools since then.
    pub tool_calls: u64,
    /// Whether an answer without calls of tools counts as much as enough of them.
    #[serde(default)]
    pub natural_break: bool,
    /// Whether the model calls a tool in its last turn.
    #[serde(default)]
    pub last_turn_calls: bool,
}

/// Whether it is time: the conversation is long enough, has grown enough since the last update, and so many
/// tools were called since then (the design: all three hold); with `natural_break`, in place of the calls
/// also an answer that calls none. Neither alone is enough in a conversation that has not grown.
#[must_use]
pub fn session_notes_due(question: &NotesDue) -> bool {
    let grown = question
        .tokens
        .saturating_sub(question.last_tokens.unwrap_or_default());
    let is_break = question.natural_break && !question.last_turn_calls;
    question.tokens >= SESSION_FIRST_TOKENS
        && grown >= SESSION_GROWTH_TOKENS
        && (question.tool_calls >= SESSION_TOOL_CALLS || is_break)
}
