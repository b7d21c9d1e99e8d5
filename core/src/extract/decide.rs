//! Whether the end of a turn is the time for an extraction (facts 6.1). Cheap reasons against it come first, and
//! only what was said since the last one is looked at.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use unicode_segmentation::UnicodeSegmentation;

use super::{AgentRole, ExtractionState, Skip};
use crate::conversation::{Block, Content, Conversation, Message};
use crate::error::Error;
use crate::limits::{EXTRACT_LEAST_WORDS, MESSAGE_ID_BYTES, MESSAGE_WINDOW};
use crate::model::Role;
use crate::paths::{MemoryPlaces, PathKind, ToolAction, classify_tool_call};
use crate::write::hash;

/// What decides besides the messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExtractionGate {
    /// Whose conversation it is.
    pub agent: AgentRole,
    /// Whether a person takes part.
    pub interactive: bool,
    /// Whether it runs on somebody else's machine.
    pub remote: bool,
    /// The feature `extract`.
    pub extract: bool,
    /// The feature `extractNonInteractive`.
    pub extract_non_interactive: bool,
    /// The feature `extractEvery`: 1 for every turn.
    pub every: u32,
    /// Whether an extraction of this conversation is under way.
    pub running: bool,
    /// Whether one has just ended, and this is what came meanwhile.
    pub trailing: bool,
    /// Where memories are; null when memory is off.
    #[serde(default)]
    pub places: Option<MemoryPlaces>,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// An extraction.
    Run,
    /// The messages are kept until the one under way is done.
    Queue,
    /// Nothing.
    Skip,
}

/// The answer of [`decide_extraction`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExtractionDecision {
    /// What is to be done.
    pub verdict: Verdict,
    /// Why nothing is; null otherwise.
    pub reason: Option<Skip>,
    /// How far the extractions have come now. One that runs moves the cursor when it has succeeded.
    pub state: ExtractionState,
    /// How many messages are new, of users and assistants.
    pub new_messages: u32,
    /// The last message, where the cursor goes.
    pub last: Option<String>,
}

/// Decides at the end of a turn (facts 6.1; where the sources disagree, writes of the agent are looked for
/// before the throttle, so that they use up no turn).
///
/// # Errors
/// `invalid-argument` for what is no message.
pub fn decide_extraction(
    messages: &dyn Conversation,
    state: &ExtractionState,
    gate: &ExtractionGate,
) -> Result<ExtractionDecision, Error> {
    let decided =
        |verdict, reason, state: ExtractionState, new_messages, last| ExtractionDecision {
            verdict,
            reason,
            state,
            new_messages,
            last,
        };
    let skip = |reason| Ok(decided(Verdict::Skip, Some(reason), state.clone(), 0, None));
    let closed = [
        (gate.agent == AgentRole::Sub, Skip::SubAgent),
        (!gate.extract, Skip::Off),
        (gate.places.is_none(), Skip::Disabled),
        (
            !gate.interactive && !gate.extract_non_interactive,
            Skip::NotInteractive,
        ),
        (gate.remote, Skip::Remote),
    ];
    if let Some((_, reason)) = closed.into_iter().find(|(is_so, _)| *is_so) {
        return skip(reason);
    }
    let Some(at) = messages.len().checked_sub(1) else {
        return skip(Skip::NothingNew);
    };
    let last = messages.message(at)?;
    if !is_final(&last) {
        return skip(Skip::NotFinal);
    }
    if gate.running {
        return Ok(decided(Verdict::Queue, None, state.clone(), 0, None));
    }
    let from = first_new(messages, state.cursor.as_deref())?;
    let new = (from..messages.len()).map(|at| messages.message(at));
    let new: Vec<Message> = new.collect::<Result<_, _>>()?;
    let spoken = new.iter().filter(|message| !message.is_meta);
    let count = u32::try_from(spoken.clone().count()).unwrap_or(u32::MAX);
    if count == 0 {
        return skip(Skip::NothingNew);
    }
    let last = Some(recognised(messages, at)?);
    let moved = ExtractionState {
        cursor: last.clone(),
        turns: state.turns,
    };
    let failed = failed_calls(&new);
    let is_written = |places| new.iter().any(|message| writes(message, places, &failed));
    if gate.places.as_ref().is_some_and(is_written) {
        let reason = Some(Skip::DirectWrite);
        return Ok(decided(Verdict::Skip, reason, moved, count, last));
    }
    if !spoken.clone().any(is_prose) {
        let reason = Some(Skip::TooLittle);
        return Ok(decided(Verdict::Skip, reason, state.clone(), count, last));
    }
    let turns = state.turns.saturating_add(1);
    let (verdict, reason, turns) = if !gate.trailing && turns < gate.every {
        (Verdict::Skip, Some(Skip::Throttled), turns)
    } else {
        (
            Verdict::Run,
            None,
            if gate.trailing { state.turns } else { 0 },
        )
    };
    let state = ExtractionState {
        turns,
        ..state.clone()
    };
    Ok(decided(verdict, reason, state, count, last))
}

/// Where the messages begin that came after the cursor; all are new when it is not among them, as after a
/// compaction.
pub(crate) fn first_new(messages: &dyn Conversation, cursor: Option<&str>) -> Result<usize, Error> {
    let at = cursor.map_or(Ok(None), |cursor| place_of(messages, cursor))?;
    Ok(at.map_or(0, |at| at.saturating_add(1)))
}

/// Where the message is that is recognised by this; the last one, should there be several, as it is the nearest to
/// what is new.
fn place_of(messages: &dyn Conversation, cursor: &str) -> Result<Option<usize>, Error> {
    find_place(messages, cursor, (0..messages.len()).rev())
}

/// The same for whoever must not pass anything over: the first one, since in a conversation without ids the same
/// is said again ("continue", "ok"), and an answer in parts gives all of them one id.
pub(crate) fn first_place_of(
    messages: &dyn Conversation,
    cursor: &str,
) -> Result<Option<usize>, Error> {
    find_place(messages, cursor, 0..messages.len())
}

fn find_place(
    messages: &dyn Conversation,
    cursor: &str,
    places: impl Iterator<Item = usize>,
) -> Result<Option<usize>, Error> {
    for at in places {
        let is_it = match messages.id(at)? {
            Some(id) => id == cursor || known_by(id) == cursor,
            None => cursor.starts_with("sha256:") && recognised(messages, at)? == cursor,
        };
        if is_it {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// Leaves of a conversation what is worth an extraction when somebody asks for one: what was said after the
/// agent's own last writing, up to the last answer.
pub(crate) fn finished(messages: &mut Vec<Message>, places: &MemoryPlaces) {
    let end = messages.iter().rposition(is_final);
    messages.truncate(end.map_or(messages.len(), |at| at.saturating_add(1)));
    let failed = failed_calls(messages);
    let written = messages
        .iter()
        .rposition(|message| writes(message, places, &failed));
    // The results and the answer that belong to it say no more than it.
    let rest = written.map(|at| messages.split_off(at.saturating_add(1)));
    if let Some(rest) = rest {
        let next = rest.iter().position(is_prose);
        let rest = rest.into_iter().skip(next.unwrap_or(usize::MAX));
        *messages = rest.collect();
    }
}

/// What a message is recognised by: its id, or a hash of what it and the few before it say, since one alone is
/// often said again ("Done.").
pub(crate) fn recognised(messages: &dyn Conversation, at: usize) -> Result<String, Error> {
    if let Some(id) = messages.id(at)? {
        return Ok(known_by(id));
    }
    let first = at.saturating_sub(MESSAGE_WINDOW.saturating_sub(1));
    let mut said = Vec::new();
    for at in first..=at {
        let message = messages.message(at)?;
        said.push((message.role, message.content));
    }
    let said = serde_json::to_string(&said).unwrap_or_default();
    Ok(hash(said.as_bytes()))
}

/// An id as it is kept.
fn known_by(id: String) -> String {
    if id.len() <= MESSAGE_ID_BYTES {
        return id;
    }
    hash(id.as_bytes())
}

/// The calls of tools that came to nothing.
fn failed_calls(messages: &[Message]) -> BTreeSet<&str> {
    let blocks = messages.iter().flat_map(|message| match &message.content {
        Content::Blocks(blocks) => blocks.as_slice(),
        Content::Text(_) => &[],
    });
    blocks
        .filter_map(|block| match block {
            Block::ToolResult {
                tool_use_id,
                is_error: true,
                ..
            } => Some(tool_use_id.as_str()),
            _ => None,
        })
        .collect()
}

/// Whether a message ends a turn: the model calls no tool.
pub(crate) fn is_final(message: &Message) -> bool {
    let calls = match &message.content {
        Content::Text(_) => false,
        Content::Blocks(blocks) => blocks
            .iter()
            .any(|block| matches!(block, Block::ToolUse { .. })),
    };
    message.role == Role::Assistant && !message.is_meta && !calls
}

/// Whether the agent writes memories with a tool, Claude Code's or the memory tool.
fn writes(message: &Message, places: &MemoryPlaces, failed: &BTreeSet<&str>) -> bool {
    let Content::Blocks(blocks) = &message.content else {
        return false;
    };
    message.role == Role::Assistant
        && blocks.iter().any(|block| {
            let Block::ToolUse { id, name, input } = block else {
                return false;
            };
            if failed.contains(id.as_str()) {
                return false;
            }
            if name == "memory" {
                let command = input.get("command").and_then(serde_json::Value::as_str);
                return matches!(
                    command,
                    Some("create" | "str_replace" | "insert" | "delete" | "rename")
                );
            }
            let class = classify_tool_call(name, &input.to_string(), places);
            let is_here = match class.kind {
                PathKind::Auto | PathKind::Team => true,
                // What an agent keeps for itself is not in this store, unless this is an agent's.
                PathKind::Agent => places.store.is_none(),
                _ => false,
            };
            class.action == ToolAction::Write && is_here
        })
}

/// Whether a person has written something of which there could be something to remember (facts 6.4).
fn is_prose(message: &Message) -> bool {
    let words = |text: &str| text.unicode_words().take(EXTRACT_LEAST_WORDS).count();
    let count = match &message.content {
        Content::Text(text) => words(text),
        Content::Blocks(blocks) => blocks
            .iter()
            .map(|block| match block {
                Block::Text { text } => words(text),
                _ => 0,
            })
            .sum(),
    };
    message.role == Role::User && count >= EXTRACT_LEAST_WORDS
}
