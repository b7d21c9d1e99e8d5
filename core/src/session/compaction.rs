//! What of a conversation a compaction keeps when the notes take the place of the rest (facts 8.4).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::sections::{cut_sections, notes_are_empty};
use super::tokens::{estimate_tokens, message_tokens};
use crate::conversation::{Block, Content, Message};
use crate::error::Error;
use crate::extract::first_place_of;
use crate::limits::{SESSION_KEEP_LEAST_TOKENS, SESSION_KEEP_MESSAGES, SESSION_KEEP_MOST_TOKENS};
use crate::model::Role;

/// What decides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CompactionQuestion {
    /// The conversation.
    pub messages: Vec<Message>,
    /// The last message of which the notes have what matters; null when that is not known, as in a session
    /// that was taken up again without its state. Where several messages have this id, the first counts.
    #[serde(default)]
    pub last_summarised: Option<String>,
    /// The notes; null when there are none.
    #[serde(default)]
    pub notes: Option<String>,
    /// What they began as.
    pub template: String,
    /// The message that the last compaction has put in place of others, by its index. What is kept reaches
    /// back to the one behind it at most; it is kept itself when the notes end before it, as it stands for what
    /// they do not cover. Null when there was none, or it need not be heeded; what is no message's index counts
    /// as null.
    #[serde(default)]
    pub boundary: Option<usize>,
}

/// Why the notes cannot be used, and the conversation is compacted with a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CompactionReason {
    /// They are switched off: memory is off, or `DISABLE_CLAUDE_CODE_SM_COMPACT` is set.
    Off,
    /// There are none.
    NoNotes,
    /// Nothing was written into them yet.
    EmptyNotes,
    /// They cannot be read.
    Unreadable,
    /// Which messages they cover is not known, or the last of them is not in the conversation any more.
    UnknownMessage,
}

/// What comes in place of the conversation: the notes, and behind them its messages from a place on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Compaction {
    /// The notes, sections that are far too long cut; null when they cannot be used.
    pub notes: Option<String>,
    /// The index of the first message that stays, the number of messages when none does; null without
    /// notes.
    pub keep_from: Option<usize>,
    /// Why there are no notes; null otherwise.
    pub reason: Option<CompactionReason>,
    /// Tokens of the notes and of what stays. An agent that would have to compact these too does better with
    /// a summary.
    pub tokens: u64,
}

impl Compaction {
    pub(crate) fn without_notes(reason: CompactionReason) -> Self {
        Self {
            notes: None,
            keep_from: None,
            reason: Some(reason),
            tokens: 0,
        }
    }
}

/// Puts notes in place of the messages that they cover (facts 8.4). What came after the last message that they
/// cover is kept, and so many messages before it that there are 10,000 tokens and five messages with text,
/// but none more once there are 40,000 tokens. A result of a tool is kept with its call, and the parts of
/// one answer are kept together, with the results between them.
///
/// # Errors
/// `invalid-argument` for what is no message.
pub fn compaction_cut(question: &CompactionQuestion) -> Result<Compaction, Error> {
    let messages = &question.messages;
    let Some(notes) = &question.notes else {
        return Ok(Compaction::without_notes(CompactionReason::NoNotes));
    };
    if notes_are_empty(notes, &question.template) {
        return Ok(Compaction::without_notes(CompactionReason::EmptyNotes));
    }
    let last = match &question.last_summarised {
        Some(id) => first_place_of(messages, id)?,
        None => None,
    };
    // Old notes may cover little of a session that was taken up again, and nobody would miss the rest in time.
    let Some(last) = last else {
        return Ok(Compaction::without_notes(CompactionReason::UnknownMessage));
    };
    let covered = last.saturating_add(1);
    let boundary = question.boundary.filter(|at| *at < messages.len());
    let floor = boundary.map_or(0, |boundary| boundary.saturating_add(1));
    let mut from = boundary.map_or(covered, |boundary| covered.max(boundary));
    let (after, before) = (messages.iter().skip(from), messages.iter().take(from));
    let mut kept = Kept::default();
    after.for_each(|message| kept.add(message));
    for message in before.rev() {
        if from <= floor || kept.is_enough() {
            break;
        }
        kept.add(message);
        from = from.saturating_sub(1);
    }
    let from = whole(messages, from);
    let notes = cut_sections(notes);
    let stays = messages.iter().skip(from).map(message_tokens);
    let tokens = stays.fold(estimate_tokens(&notes), u64::saturating_add);
    Ok(Compaction {
        notes: Some(notes),
        keep_from: Some(from),
        reason: None,
        tokens,
    })
}

#[derive(Default)]
struct Kept {
    tokens: u64,
    with_text: usize,
}

impl Kept {
    fn add(&mut self, message: &Message) {
        self.tokens = self.tokens.saturating_add(message_tokens(message));
        let has_text = match &message.content {
            Content::Text(text) => !text.trim().is_empty(),
            Content::Blocks(blocks) => blocks
                .iter()
                .any(|block| matches!(block, Block::Text { text } if !text.trim().is_empty())),
        };
        self.with_text = self.with_text.saturating_add(usize::from(has_text));
    }

    fn is_enough(&self) -> bool {
        self.tokens >= SESSION_KEEP_MOST_TOKENS
            || (self.tokens >= SESSION_KEEP_LEAST_TOKENS && self.with_text >= SESSION_KEEP_MESSAGES)
    }
}

/// Goes so far back that each result that is kept has its call, and each answer all of its parts: those with its
/// id, between which nobody speaks. This goes behind a boundary if it must: a provider refuses a conversation without
/// the calls.
fn whole<'a>(messages: &'a [Message], mut from: usize) -> usize {
    let kept = messages.get(from..).unwrap_or_default();
    let calls: BTreeSet<&str> = kept.iter().flat_map(blocks).filter_map(call).collect();
    let results = kept.iter().flat_map(blocks).filter_map(answered);
    let mut wanted: BTreeSet<&str> = results.filter(|id| !calls.contains(id)).collect();
    // Results of what was gone by, which matter once it is kept.
    let mut passed: BTreeSet<&str> = BTreeSet::new();
    let answer_of = |message: &'a Message| {
        let id = message.id.as_deref();
        id.filter(|_| message.role == Role::Assistant)
    };
    // The answer that the next message further back may be a part of.
    let mut answer = kept
        .iter()
        .find(|message| speaks(message))
        .and_then(answer_of);
    for (at, message) in messages.iter().enumerate().take(from).rev() {
        if wanted.is_empty() && answer.is_none() {
            break;
        }
        let id = answer_of(message);
        let mut is_wanted = id.is_some() && id == answer;
        for id in blocks(message).filter_map(call) {
            is_wanted |= wanted.remove(id);
            passed.remove(id);
        }
        passed.extend(blocks(message).filter_map(answered));
        if is_wanted {
            from = at;
            wanted.append(&mut passed);
        }
        if speaks(message) {
            answer = id.filter(|_| is_wanted);
        }
    }
    from
}

/// Whether a message is a person's or a model's, and not only results of tools or what the agent's program says.
fn speaks(message: &Message) -> bool {
    let mut blocks = blocks(message).peekable();
    let is_results = blocks.peek().is_some() && blocks.all(|block| answered(block).is_some());
    !message.is_meta && !is_results
}

fn blocks(message: &Message) -> impl Iterator<Item = &Block> {
    match &message.content {
        Content::Text(_) => [].iter(),
        Content::Blocks(blocks) => blocks.iter(),
    }
}

fn call(block: &Block) -> Option<&str> {
    match block {
        Block::ToolUse { id, .. } => Some(id),
        _ => None,
    }
}

fn answered(block: &Block) -> Option<&str> {
    match block {
        Block::ToolResult { tool_use_id, .. } => Some(tool_use_id),
        _ => None,
    }
}
