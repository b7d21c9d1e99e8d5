//! How the caller's own function has a conversation with tools: one JSON object in, one text out.

use serde_json::json;

use super::tools::{check_turns, read_prefix};
use super::{ToolAnswer, ToolRequest, Usage, anthropic};
use crate::error::Error;
use crate::json::{ObjectWriter, Written, extended};

/// `{purpose, system, prefix, tools, messages, maxTokens}`: the prefix as it was given, or null, and the
/// messages behind it in Anthropic's form.
pub(super) fn encode(request: &ToolRequest) -> Result<String, Error> {
    check_turns(request)?;
    if let Some(prefix) = &request.prefix {
        read_prefix(prefix)?;
    }
    let messages = anthropic::messages(request, 0);
    let mut object = ObjectWriter::new();
    object.member("purpose", &json!(request.purpose).to_string());
    object.member("system", &json!(request.system).to_string());
    object.member("prefix", request.prefix.as_deref().unwrap_or("null"));
    object.member("tools", &json!(request.tools).to_string());
    object.member("messages", &extended("[]", &messages).unwrap_or_default());
    object.member("maxTokens", &request.max_tokens.to_string());
    Ok(object.end())
}

/// An object with a list `content` is a message of Anthropic's; anything else is a text, the final answer.
pub(super) fn decode(said: &str) -> ToolAnswer {
    let message = Written::read(said).and_then(|message| anthropic::decode_tools(&message));
    message.unwrap_or_else(|| ToolAnswer {
        text: said.to_owned(),
        calls: Vec::new(),
        answer: json!({"role": "assistant", "content": said}).to_string(),
        usage: Usage::default(),
        is_cut: false,
    })
}
