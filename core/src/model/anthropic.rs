//! The wire format of Anthropic's Messages API, version 2023-06-01.

use serde_json::{Value, json};

use super::{
    HttpModel, ModelHttp, ModelRequest, ToolAnswer, ToolCall, ToolDefinition, ToolRequest, Usage,
    header, tools,
};
use crate::json::{ObjectWriter, Written, elements};
use crate::limits::CACHE_MARKS;

pub(super) fn encode(model: &HttpModel, request: &ModelRequest) -> ModelHttp {
    let mut body = json!({
        "model": model.model,
        "max_tokens": request.max_tokens,
        "system": request.system,
        "messages": request.messages,
    });
    if let (Some(schema), Some(body)) = (&request.schema, body.as_object_mut()) {
        body.insert(
            "output_config".to_owned(),
            json!({"format": {"type": "json_schema", "schema": schema}}),
        );
    }
    http(model, body.to_string())
}

pub(super) fn http(model: &HttpModel, body: String) -> ModelHttp {
    let mut headers = vec![
        header("anthropic-version", "2023-06-01"),
        header("content-type", "application/json"),
    ];
    headers.extend(model.key().map(|key| header("x-api-key", key)));
    ModelHttp {
        url: format!("{}/v1/messages", model.base_url),
        headers,
        body,
    }
}

/// The text blocks of an answer; thinking and tool calls are none.
pub(super) fn decode(answer: &Value) -> Option<String> {
    let blocks = answer.get("content")?.as_array()?;
    let texts = blocks
        .iter()
        .filter(|block| block.get("type").and_then(Value::as_str) == Some("text"))
        .filter_map(|block| block.get("text")?.as_str());
    Some(texts.collect())
}

/// What a conversation of our own begins with.
pub(super) fn beginning(system: &str) -> String {
    json!({"system": system, "messages": []}).to_string()
}

pub(super) fn tool(tool: &ToolDefinition) -> Value {
    json!({"name": tool.name, "description": tool.description, "input_schema": tool.input_schema})
}

/// A model that thinks within a budget wants a limit above it: the budget comes on top of what the answer
/// may take.
pub(super) fn limit(prefix: &Written<'_>, max_tokens: u32) -> u64 {
    let thinking = prefix.object("thinking");
    let budget = thinking.and_then(|thinking| thinking.number("budget_tokens"));
    budget
        .unwrap_or_default()
        .saturating_add(u64::from(max_tokens))
}

/// How many more places of a request may be marked for the prompt cache.
pub(super) fn free_marks(prefix: &Written<'_>) -> usize {
    // One at the top has the end of every request marked, and bears no other mark there.
    if is_marked(prefix) {
        return 0;
    }
    let lists = ["system", "tools", "messages"];
    let marks: usize = lists.iter().map(|list| marks(prefix.list(list), 3)).sum();
    CACHE_MARKS.saturating_sub(marks)
}

/// The marks in messages or blocks, and in blocks within them: results of tools and documents have some.
fn marks(list: Option<Vec<&str>>, depth: u8) -> usize {
    let objects = list.into_iter().flatten().filter_map(Written::read);
    objects
        .map(|object| {
            let source = object.object("source");
            let lists = [
                object.list("content"),
                source.and_then(|source| source.list("content")),
            ];
            let below: usize = match depth.checked_sub(1) {
                Some(depth) => lists.map(|list| marks(list, depth)).iter().sum(),
                None => 0,
            };
            below.saturating_add(usize::from(is_marked(&object)))
        })
        .sum()
}

fn is_marked(object: &Written<'_>) -> bool {
    object
        .get("cache_control")
        .is_some_and(|mark| mark != "null")
}

/// Our prompt and what came since. The prompt is marked, so that what stands before it is looked up in the
/// cache, and the newest results are, so that the next turn finds them there.
pub(super) fn messages(request: &ToolRequest, free_marks: usize) -> Vec<String> {
    let mut prompt = json!({"type": "text", "text": request.prompt});
    if free_marks > 0 {
        mark(&mut prompt);
    }
    let mut messages = vec![user(vec![prompt])];
    let last = request.turns.len().saturating_sub(1);
    for (at, turn) in request.turns.iter().enumerate() {
        messages.push(turn.answer.clone());
        let mut results: Vec<Value> = turn
            .results
            .iter()
            .map(|result| {
                let mut block = json!({"type": "tool_result", "tool_use_id": result.id, "content": result.content});
                if let (true, Some(block)) = (result.is_error, block.as_object_mut()) {
                    block.insert("is_error".to_owned(), Value::Bool(true));
                }
                block
            })
            .collect();
        if at == last
            && free_marks > 1
            && let Some(result) = results.last_mut()
        {
            mark(result);
        }
        // A turn without results is one that the provider interrupted: it goes on where it stopped.
        if !results.is_empty() {
            messages.push(user(results));
        }
    }
    messages
}

fn user(blocks: Vec<Value>) -> String {
    json!({"role": "user", "content": blocks}).to_string()
}

fn mark(block: &mut Value) {
    if let Some(block) = block.as_object_mut() {
        block.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
    }
}

/// None when there is no list of blocks.
pub(super) fn decode_tools(answer: &Written<'_>) -> Option<ToolAnswer> {
    let content = answer.get("content")?;
    let blocks: Vec<Written<'_>> = elements(content)?
        .into_iter()
        .filter_map(Written::read)
        .collect();
    let of_type = |wanted: &'static str| {
        let blocks = blocks.iter();
        blocks.filter(move |block| block.text("type").as_deref() == Some(wanted))
    };
    let calls = of_type("tool_use").enumerate().map(|(at, call)| ToolCall {
        id: tools::call_id(call, at),
        name: call.text("name").unwrap_or_default(),
        input: call.get("input").unwrap_or("{}").to_owned(),
    });
    let mut message = ObjectWriter::new();
    message.member("role", "\"assistant\"");
    message.member("content", content);
    let stop = answer.text("stop_reason");
    Some(ToolAnswer {
        text: of_type("text")
            .filter_map(|block| block.text("text"))
            .collect(),
        calls: calls.collect(),
        answer: message.end(),
        usage: usage(answer),
        is_cut: matches!(
            stop.as_deref(),
            Some("max_tokens" | "model_context_window_exceeded")
        ),
    })
}

fn usage(answer: &Written<'_>) -> Usage {
    let Some(usage) = answer.object("usage") else {
        return Usage::default();
    };
    Usage {
        input: tools::tokens(&usage, "input_tokens"),
        output: tools::tokens(&usage, "output_tokens"),
        cached: tools::tokens(&usage, "cache_read_input_tokens"),
        written: tools::tokens(&usage, "cache_creation_input_tokens"),
    }
}
