//! The wire format of OpenAI's chat completions, which most servers speak.

use serde_json::{Value, json};

use super::{
    HttpModel, ModelHttp, ModelRequest, Provider, ToolAnswer, ToolCall, ToolDefinition,
    ToolRequest, Usage, header, tools,
};
use crate::json::{Written, elements};

pub(super) fn encode(model: &HttpModel, request: &ModelRequest) -> ModelHttp {
    let mut messages = vec![json!({"role": "system", "content": request.system})];
    messages.extend(request.messages.iter().map(|message| json!(message)));
    let mut body = json!({
        "model": model.model,
        "messages": messages,
        limit_name(model): request.max_tokens,
    });
    if let (Some(schema), Some(body)) = (&request.schema, body.as_object_mut()) {
        let format = json!({"name": "answer", "strict": true, "schema": schema});
        body.insert(
            "response_format".to_owned(),
            json!({"type": "json_schema", "json_schema": format}),
        );
    }
    http(model, body.to_string())
}

pub(super) fn http(model: &HttpModel, body: String) -> ModelHttp {
    let mut headers = vec![header("content-type", "application/json")];
    headers.extend(
        model
            .key()
            .map(|key| header("authorization", format!("Bearer {key}"))),
    );
    ModelHttp {
        url: format!("{}/chat/completions", model.base_url),
        headers,
        body,
    }
}

/// OpenAI itself refuses the old name for its newer models, other servers know no other.
pub(super) fn limit_name(model: &HttpModel) -> &'static str {
    if model.base_url == Provider::OpenAi.defaults().0 {
        "max_completion_tokens"
    } else {
        "max_tokens"
    }
}

/// The text of the first choice, a string or parts of it; reasoning is none.
pub(super) fn decode(answer: &Value) -> Option<String> {
    text(answer.pointer("/choices/0/message/content")?)
}

fn text(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => Some(
            parts
                .iter()
                .filter_map(|part| part.get("text")?.as_str())
                .collect(),
        ),
        _ => None,
    }
}

/// What a conversation of our own begins with.
pub(super) fn beginning(system: &str) -> String {
    json!({"messages": [{"role": "system", "content": system}]}).to_string()
}

pub(super) fn tool(tool: &ToolDefinition) -> Value {
    json!({"type": "function", "function": {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.input_schema,
    }})
}

/// Our prompt and what came since. Whether a tool failed has no place here but the result's text.
pub(super) fn messages(request: &ToolRequest) -> Vec<String> {
    let mut messages = vec![json!({"role": "user", "content": request.prompt}).to_string()];
    for turn in &request.turns {
        messages.push(turn.answer.clone());
        messages.extend(turn.results.iter().map(|result| {
            json!({"role": "tool", "tool_call_id": result.id, "content": result.content})
                .to_string()
        }));
    }
    messages
}

/// None when there is no message, or one whose content or calls have another form.
pub(super) fn decode_tools(answer: &Written<'_>) -> Option<ToolAnswer> {
    let choice = Written::read(answer.list("choices")?.first()?)?;
    let message = choice.object("message")?;
    let text = match message.get("content") {
        None | Some("null") => String::new(),
        Some(content) => text(&serde_json::from_str(content).ok()?)?,
    };
    let calls = match message.get("tool_calls") {
        None | Some("null") => Vec::new(),
        Some(calls) => elements(calls)?,
    };
    let calls = calls.into_iter().filter_map(Written::read);
    Some(ToolAnswer {
        text,
        calls: calls
            .enumerate()
            .map(|(at, call)| decode_call(&call, at))
            .collect(),
        answer: choice.get("message")?.to_owned(),
        usage: usage(answer),
        is_cut: choice.text("finish_reason").as_deref() == Some("length"),
    })
}

/// Arguments are JSON within a text, broken or not; some servers send the JSON itself. A custom tool, which
/// only a parent's conversation has, gets any text. Every call must be answered, so none is left out.
fn decode_call(call: &Written<'_>, at: usize) -> ToolCall {
    let (tool, arguments) = match call.object("function") {
        Some(function) => (Some(function), "arguments"),
        None => (call.object("custom"), "input"),
    };
    let name = tool.as_ref().and_then(|tool| tool.text("name"));
    let input = tool.and_then(|tool| {
        tool.text(arguments)
            .or_else(|| tool.get(arguments).map(str::to_owned))
    });
    ToolCall {
        id: tools::call_id(call, at),
        name: name.unwrap_or_default(),
        input: input.unwrap_or_else(|| "{}".to_owned()),
    }
}

fn usage(answer: &Written<'_>) -> Usage {
    let Some(usage) = answer.object("usage") else {
        return Usage::default();
    };
    let prompt = tools::tokens(&usage, "prompt_tokens");
    let details = usage.object("prompt_tokens_details");
    let cached = details.map_or(0, |details| tools::tokens(&details, "cached_tokens"));
    // A part that is more than the whole is no count.
    let cached = if cached > prompt { 0 } else { cached };
    Usage {
        input: prompt.saturating_sub(cached),
        output: tools::tokens(&usage, "completion_tokens"),
        cached,
        written: 0,
    }
}
