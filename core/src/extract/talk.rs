//! A conversation as text, for a model that has not taken part in it.

use crate::conversation::{Block, Content, Conversation, Message};
use crate::error::Error;
use crate::limits::{EXTRACT_RESULT_BYTES, EXTRACT_TALK_BYTES};
use crate::model::Role;
use crate::tool::cut;

/// A conversation as it is shown to a model that has not taken part in it: who said what, calls of tools and their
/// results cut to 2,000 bytes each, the newest 120,000 bytes of all. What the agent's program has put in
/// (`isMeta`), thinking and images are left out.
///
/// # Errors
/// `invalid-argument` for what is no message.
pub fn conversation_text(messages: &dyn Conversation) -> Result<String, Error> {
    let all = (0..messages.len()).map(|at| messages.message(at));
    let all: Vec<Message> = all.collect::<Result<_, _>>()?;
    Ok(talk(&all).0)
}

/// The newest of the messages that fit, and how many did not. What the agent's program has put into the
/// conversation is left out: recalled memories are not to be saved once more.
pub(crate) fn talk(messages: &[Message]) -> (String, usize) {
    let mut parts = Vec::new();
    let mut room = EXTRACT_TALK_BYTES;
    let mut left: usize = 0;
    let spoken = messages.iter().rev().filter(|message| !message.is_meta);
    for message in spoken {
        let part = one(message);
        if part.is_empty() {
            continue;
        }
        if left > 0 || (part.len() > room && !parts.is_empty()) {
            left = left.saturating_add(1);
            continue;
        }
        let (shown, rest) = cut(&part, room);
        let more = if rest.is_empty() { "" } else { "…" };
        room = room.saturating_sub(shown.len());
        parts.push(format!("{shown}{more}"));
    }
    if left > 0 {
        parts.push(format!(
            "(messages before these that are not shown: {left})"
        ));
    }
    parts.reverse();
    (parts.join("\n\n"), left)
}

/// The first of the messages that fit, and how many they are. For a reader who is to miss nothing: each is there
/// whole but for calls and results, at least one is, and so is what the agent's program has put in, as the summary
/// of what was compacted.
pub(crate) fn beginning(messages: &[Message]) -> (String, usize) {
    let mut parts = Vec::new();
    let mut room = EXTRACT_TALK_BYTES;
    let mut shown: usize = 0;
    for message in messages {
        let part = one(message);
        if part.len() > room && !parts.is_empty() {
            break;
        }
        room = room.saturating_sub(part.len());
        shown = shown.saturating_add(1);
        if !part.is_empty() {
            parts.push(part);
        }
    }
    let left = messages.len().saturating_sub(shown);
    if left > 0 {
        parts.push(format!(
            "(messages behind these that are shown the next time: {left})"
        ));
    }
    (parts.join("\n\n"), shown)
}

fn one(message: &Message) -> String {
    let who = match message.role {
        _ if message.is_meta => "Program",
        Role::User => "User",
        Role::Assistant => "Assistant",
    };
    let said = |text: &str| {
        let text = text.trim();
        (!text.is_empty()).then(|| format!("{who}: {text}"))
    };
    let parts: Vec<String> = match &message.content {
        Content::Text(text) => said(text).into_iter().collect(),
        Content::Blocks(blocks) => blocks
            .iter()
            .filter_map(|block| match block {
                Block::Text { text } => said(text),
                Block::ToolUse { name, input, .. } => {
                    Some(format!("{who} calls {name}: {}", short(&input.to_string())))
                }
                Block::ToolResult {
                    content, is_error, ..
                } => {
                    let what = if *is_error { "Error" } else { "Result" };
                    Some(format!("{what}: {}", short(&result(content))))
                }
                Block::Other => None,
            })
            .collect(),
    };
    parts.join("\n")
}

/// The text of a tool's result, which is a text or a list of blocks.
pub(crate) fn result(content: &serde_json::Value) -> String {
    match content {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(blocks) => {
            let texts = blocks
                .iter()
                .filter_map(|block| block.get("text")?.as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        serde_json::Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn short(text: &str) -> String {
    let (shown, rest) = cut(text.trim(), EXTRACT_RESULT_BYTES);
    if rest.is_empty() {
        return shown.to_owned();
    }
    format!("{shown}… ({} more bytes)", rest.len())
}
