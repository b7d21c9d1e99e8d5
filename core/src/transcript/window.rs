//! Keeps the end of a conversation while it goes by: joins the lines of one answer, drops branches that
//! were gone back from, and forgets the oldest messages when there are too many.

use std::collections::{HashMap, VecDeque};

use rapidhash::v3::{DEFAULT_RAPID_SECRETS, rapidhash_v3_nano_inline};
use rustc_hash::FxBuildHasher;

use super::held::size;
use super::line::{Place, Said};
use crate::conversation::{Block, Content, Message};
use crate::limits::{TRANSCRIPT_MESSAGES, TRANSCRIPT_PARENTS, TRANSCRIPT_WINDOW_BYTES};
use crate::model::Role;

#[derive(Debug, Default)]
pub(super) struct Window {
    /// In the order of their numbers, which are never given again.
    kept: VecDeque<Kept>,
    bytes: usize,
    left_out: u64,
    next: u64,
    parents: Parents,
}

#[derive(Debug)]
struct Kept {
    number: u64,
    message: Message,
    bytes: usize,
    /// By which lines of the same answer are known, hashed.
    answer: Option<u64>,
}

impl Window {
    pub fn push(&mut self, said: Said) {
        let Said {
            message,
            place,
            answer,
        } = said;
        let answer = answer.as_deref().map(hash);
        if let Some(at) = self.parent_of(&place)
            && !self.stands_beside(at, &message, answer)
        {
            self.drop_after(at);
        }
        let bytes = size(&message);
        let number = match self.kept.back_mut() {
            // One answer of any length must not grow without end.
            Some(last)
                if answer.is_some()
                    && last.answer == answer
                    && message.role == Role::Assistant
                    && last.message.role == Role::Assistant
                    && last.bytes.saturating_add(bytes) <= TRANSCRIPT_WINDOW_BYTES =>
            {
                join(&mut last.message, message);
                last.bytes = last.bytes.saturating_add(bytes);
                last.number
            }
            _ => {
                let number = self.next;
                self.next = self.next.saturating_add(1);
                self.kept.push_back(Kept {
                    number,
                    message,
                    bytes,
                    answer,
                });
                number
            }
        };
        self.bytes = self.bytes.saturating_add(bytes);
        if let Some(id) = &place.id {
            self.parents.insert(hash(id), number);
        }
        self.forget_oldest();
    }

    /// Something that is no message, and that a message may follow.
    pub fn pass(&mut self, place: Place) {
        if let (Some(id), Some(parent)) = (place.id, place.parent)
            && let Some(number) = self.parents.get(hash(&parent))
        {
            self.parents.insert(hash(&id), number);
        }
    }

    /// The messages, and how many older ones there were.
    pub fn into_messages(self) -> (Vec<Message>, u64) {
        let messages = self.kept.into_iter().map(|kept| kept.message);
        (messages.collect(), self.left_out)
    }

    /// Where the message stands that a line follows, if it is known and kept.
    fn parent_of(&self, place: &Place) -> Option<usize> {
        let number = self.parents.get(hash(place.parent.as_deref()?))?;
        self.kept
            .binary_search_by_key(&number, |kept| kept.number)
            .ok()
    }

    /// Whether a message belongs beside those that follow its parent: results of calls that were made
    /// at once each follow the line of their call, and so does the next call of the same answer.
    fn stands_beside(&self, parent: usize, message: &Message, answer: Option<u64>) -> bool {
        let is_result = match &message.content {
            Content::Blocks(blocks) => blocks
                .iter()
                .any(|block| matches!(block, Block::ToolResult { .. })),
            Content::Text(_) => false,
        };
        let parent = self.kept.get(parent).and_then(|parent| parent.answer);
        is_result || (answer.is_some() && parent == answer)
    }

    fn drop_after(&mut self, at: usize) {
        while self.kept.len() > at.saturating_add(1)
            && let Some(dropped) = self.kept.pop_back()
        {
            self.bytes = self.bytes.saturating_sub(dropped.bytes);
        }
    }

    /// The newest message stays, however large it is.
    fn forget_oldest(&mut self) {
        while self.kept.len() > 1
            && (self.bytes > TRANSCRIPT_WINDOW_BYTES || self.kept.len() > TRANSCRIPT_MESSAGES)
            && let Some(oldest) = self.kept.pop_front()
        {
            self.bytes = self.bytes.saturating_sub(oldest.bytes);
            self.left_out = self.left_out.saturating_add(1);
        }
    }
}

/// Adds a further line of an answer to it.
fn join(answer: &mut Message, line: Message) {
    let Message {
        id,
        role: _,
        content,
        is_meta: _,
        tokens,
    } = line;
    answer.id = id.or_else(|| answer.id.take());
    // Each line says how much there was up to it.
    answer.tokens = tokens.or(answer.tokens);
    let before = std::mem::replace(&mut answer.content, Content::Blocks(Vec::new()));
    let mut blocks = into_blocks(before);
    blocks.extend(into_blocks(content));
    answer.content = Content::Blocks(blocks);
}

fn into_blocks(content: Content) -> Vec<Block> {
    match content {
        Content::Text(text) => vec![Block::Text { text }],
        Content::Blocks(blocks) => blocks,
    }
}

/// To which message the newest lines belong, or the lines that they follow.
#[derive(Debug, Default)]
struct Parents {
    numbers: HashMap<u64, u64, FxBuildHasher>,
    order: VecDeque<u64>,
}

impl Parents {
    fn get(&self, line: u64) -> Option<u64> {
        self.numbers.get(&line).copied()
    }

    fn insert(&mut self, line: u64, number: u64) {
        if self.numbers.insert(line, number).is_some() {
            return;
        }
        self.order.push_back(line);
        if self.order.len() > TRANSCRIPT_PARENTS
            && let Some(oldest) = self.order.pop_front()
        {
            self.numbers.remove(&oldest);
        }
    }
}

fn hash(id: &str) -> u64 {
    rapidhash_v3_nano_inline::<true, false>(id.as_bytes(), &DEFAULT_RAPID_SECRETS)
}
