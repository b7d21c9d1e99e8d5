//! What was said between an agent and its model, as far as memory needs it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, ErrorCode};
use crate::model::Role;

/// One message of a conversation. In JSON also `isMeta` and `tokens` may be left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// What it is recognised by, also after a compaction; null for one without, which is recognised by
    /// what it says.
    #[serde(default)]
    pub id: Option<String>,
    /// Whose it is.
    pub role: Role,
    /// What it says.
    pub content: Content,
    /// Whether the agent's program wrote it instead of a person or a model.
    #[serde(default)]
    pub is_meta: bool,
    /// How many tokens it takes, where that is known.
    #[serde(default)]
    pub tokens: Option<u64>,
}

/// What a message says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// Text, calls of tools, and their results.
    Blocks(Vec<Block>),
}

/// A part of a message. Further members of a block, and blocks of other types (thinking, images), say
/// nothing to memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Text.
    Text {
        /// It.
        text: String,
    },
    /// The model calls a tool.
    ToolUse {
        /// What the result names.
        id: String,
        /// The tool.
        name: String,
        /// Its arguments, an object.
        #[serde(default)]
        input: Value,
    },
    /// What a tool answered.
    ToolResult {
        /// The call.
        tool_use_id: String,
        /// A text, or blocks.
        #[serde(default)]
        content: Value,
        /// Whether it failed.
        #[serde(default)]
        is_error: bool,
    },
    /// Anything else.
    #[serde(other)]
    Other,
}

/// A list of messages that need not be read whole: deciding that there is nothing to do looks at its end
/// only.
pub trait Conversation {
    /// How many there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the message at a place is recognised by.
    ///
    /// # Errors
    /// `invalid-argument` when it has no such form.
    fn id(&self, at: usize) -> Result<Option<String>, Error>;

    /// The message at a place.
    ///
    /// # Errors
    /// `invalid-argument` when it is none.
    fn message(&self, at: usize) -> Result<Message, Error>;

    /// The request that it would be continued with, as [`crate::extract::ExtractOptions::request`], which comes
    /// before it. Asked for only when there is something to do, since it holds the whole conversation.
    ///
    /// # Errors
    /// `invalid-argument` when it is none.
    fn request(&self) -> Result<Option<String>, Error> {
        Ok(None)
    }
}

impl Conversation for Vec<Message> {
    fn len(&self) -> usize {
        self.as_slice().len()
    }

    fn id(&self, at: usize) -> Result<Option<String>, Error> {
        Ok(self.get(at).and_then(|message| message.id.clone()))
    }

    fn message(&self, at: usize) -> Result<Message, Error> {
        self.get(at)
            .cloned()
            .ok_or_else(|| Error::new(ErrorCode::Internal, format!("there is no message {at}")))
    }
}
