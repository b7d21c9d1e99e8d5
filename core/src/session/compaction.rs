//! What of a conversation a compaction keeps when the notes take the place of the rest (facts 8.4).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::sections::{cut_sections, notes_are_empty};
use super::tokens::{estimate_tokens, message_tokens};
use crate::conversation::{Block, Content, Message};
use crate::error::Error;
use crate::extract::place_of;
use crate::limits::{SESSION_KEEP_LEAST_TOKENS, SESSION_KEEP_MESSAGES, SESSION_KEEP_MOST_TOKENS};
use crate::model::Role;

/// What decides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CompactionQuestion {
    /// The conversation.
    pub messages: Vec<Message>,
    /// The last message of which the notes have what matters; null when that is not known, as in a session
    /// that was taken up again.
    #[serde(default)]
    pub last_summarised: Option<String>,
    /// The notes; null when there are none.
    #[serde(default)]
    pub notes: Option<String>,
    /// What they began as.
    pub template: String,
    /// The message that the last compaction has put in place of others, by its index; what is kept reaches
    /// back to the one behind it at most. Null when there was none, or it need not be heeded.
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
    /// The last message that they have is not in the conversation any more, or nobody knows which it is, as no update
    /// has come to its end yet.
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
/// one answer are kept together.
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
    let covered = match &question.last_summarised {
        None => messages.len(),
        Some(id) => match place_of(messages, id)? {
            Some(at) => at.saturating_add(1),
            None => return Ok(Compaction::without_notes(CompactionReason::UnknownMessage)),
        },
    };
    let floor = question
        .boundary
        .map_or(0, |boundary| boundary.saturating_add(1));
    let (after, before) = (messages.iter().skip(covered), messages.iter().take(covered));
    let mut kept = Kept::default();
    after.for_each(|message| kept.add(message));
    let mut from = covered;
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

/// Goes so far back that each result that is kept has its call, and each answer all of its parts. This goes
/// behind a boundary if it must: a provider refuses a conversation without the calls.
fn whole(messages: &[Message], mut from: usize) -> usize {
    loop {
        let back = with_parts(messages, with_calls(messages, from));
        if back == from {
            return from;
        }
        from = back;
    }
}

fn with_calls(messages: &[Message], mut from: usize) -> usize {
    let kept = messages.get(from..).unwrap_or_default();
    let calls: BTreeSet<&str> = kept.iter().flat_map(blocks).filter_map(call).collect();
    let results = kept.iter().flat_map(blocks).filter_map(answered);
    let mut wanted: BTreeSet<&str> = results.filter(|id| !calls.contains(id)).collect();
    // Results of what was gone by, which matter once it is kept.
    let mut passed: BTreeSet<&str> = BTreeSet::new();
    for (at, message) in messages.iter().enumerate().take(from).rev() {
        if wanted.is_empty() {
            break;
        }
        let mut is_wanted = false;
        for id in blocks(message).filter_map(call) {
            is_wanted |= wanted.remove(id);
            passed.remove(id);
        }
        passed.extend(blocks(message).filter_map(answered));
        if is_wanted {
            from = at;
            wanted.append(&mut passed);
        }
    }
    from
}

/// Between the parts of one answer stand at most the results of its calls.
fn with_parts(messages: &[Message], mut from: usize) -> usize {
    let mut kept = messages.iter().skip(from).skip_while(|it| is_results(it));
    let answer = |message: &Message| {
        let is_answer = message.role == Role::Assistant;
        message.id.clone().filter(|_| is_answer)
    };
    let Some(first) = kept.next().and_then(answer) else {
        return from;
    };
    for (at, message) in messages.iter().enumerate().take(from).rev() {
        if answer(message).is_some_and(|id| id == first) {
            from = at;
        } else if !is_results(message) {
            break;
        }
    }
    from
}

/// Whether a message holds nothing but results of tools.
fn is_results(message: &Message) -> bool {
    let mut all = blocks(message).peekable();
    all.peek().is_some() && all.all(|block| answered(block).is_some())
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
