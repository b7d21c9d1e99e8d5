//! Conversations in which a model calls tools, for the loop that runs them: what goes over the wire, and
//! what an answer says. A conversation may go on behind somebody else's, whose bytes are kept, so that the
//! provider finds them in its prompt cache.

use serde::{Deserialize, Serialize};

use super::{
    HttpModel, Model, ModelHttp, ModelOptions, Provider, answer_error, answering, anthropic,
    invalid, openai,
};
use crate::error::Error;
use crate::json::{ObjectWriter, Written, elements, extended};
use crate::limits::MODEL_MAX_TOKENS;
use crate::paths::Environment;
use crate::text::list;

/// A tool that a model may call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolDefinition {
    /// What the model calls it by.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The JSON schema of its input, an object.
    pub input_schema: serde_json::Value,
}

/// What a model with tools is asked next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolRequest {
    /// What it is for, such as `extract-memories`.
    pub purpose: String,
    /// The request that another conversation would send next, as JSON text in the provider's own form: an
    /// object with a list `messages`, and `system`, `tools`, `thinking` or whatever else it has. This
    /// conversation goes on behind its messages. Null for one that stands alone.
    #[serde(default)]
    pub prefix: Option<String>,
    /// The system prompt; with a prefix it is not used, as that has its own.
    pub system: String,
    /// The tools. With a prefix, those that are to be put behind its own, which moves everything out of the
    /// cache: none when its own will do. One whose name is there already (ASCII case aside) is left out.
    #[serde(default)]
    pub tools: Vec<ToolDefinition>,
    /// The user's turn that this conversation begins with.
    pub prompt: String,
    /// What came since.
    #[serde(default)]
    pub turns: Vec<ToolTurn>,
    /// Of the next answer; thinking that a prefix has a budget for is not counted.
    pub max_tokens: u32,
}

/// An answer of the model, and what its calls gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolTurn {
    /// [`ToolAnswer::answer`].
    pub answer: String,
    /// One for each call, in their order.
    pub results: Vec<ToolResult>,
}

/// What a tool gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolResult {
    /// That of the call.
    pub id: String,
    /// That of the tool.
    pub name: String,
    /// For the model.
    pub content: String,
    /// Whether it failed. Not every provider is told so: the content says it too.
    #[serde(default)]
    pub is_error: bool,
}

/// What a model with tools answered. Neither text nor calls: it has nothing to say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolAnswer {
    /// What it said, maybe nothing.
    pub text: String,
    /// What it wants to be done; without any it is done.
    pub calls: Vec<ToolCall>,
    /// The answer as a message of the conversation, JSON text to send back as it is: thinking in it is
    /// signed.
    pub answer: String,
    /// What it cost.
    pub usage: Usage,
    /// Whether it ended because there was no room for more, so that its last call may be incomplete.
    pub is_cut: bool,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolCall {
    /// What its result names.
    pub id: String,
    /// The tool, maybe one that does not exist.
    pub name: String,
    /// JSON text as the model wrote it, so maybe broken or no object.
    pub input: String,
}

/// Tokens that an answer cost. What the provider did not say is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Usage {
    /// Read, without those of the cache.
    pub input: u64,
    /// Written by the model.
    pub output: u64,
    /// Read from the prompt cache.
    pub cached: u64,
    /// Put into the prompt cache; read, but not among `input`.
    pub written: u64,
}

impl Usage {
    /// Those of another answer besides.
    pub(crate) fn add(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached = self.cached.saturating_add(other.cached);
        self.written = self.written.saturating_add(other.written);
    }

    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        let read = self.input.saturating_add(self.cached);
        read.saturating_add(self.written)
            .saturating_add(self.output)
    }
}

/// The next request of a conversation as it goes over the wire to `anthropic/` or `openai/`. What a prefix
/// says stays as it is written, but for the limit of tokens, streaming, and a choice of tools that leaves the
/// model none.
///
/// # Errors
/// `invalid-argument`: those of a model that is not one, a prefix that is no object with a list of messages or
/// that has a member twice, a turn whose answer is no object.
pub fn encode_tool_request(
    model: &ModelOptions,
    request: &ToolRequest,
) -> Result<ModelHttp, Error> {
    match Model::new(model, &Environment::new())? {
        Model::Http(model) => encode(&model, request),
        Model::Function => Err(invalid(
            "a function has no wire format; name a model of a provider",
        )),
    }
}

/// What a provider's answer says. `name` is the model's, `body` what came with `status`.
///
/// # Errors
/// Those of [`super::decode_model_answer`]; an answer without text is none here.
pub fn decode_tool_answer(name: &str, status: u16, body: &str) -> Result<ToolAnswer, Error> {
    decode(name, status, body, &|said| said.to_owned())
}

/// `hide` takes out of a provider's words for an error what must not be shown.
pub(super) fn decode(
    name: &str,
    status: u16,
    body: &str,
    hide: &dyn Fn(&str) -> String,
) -> Result<ToolAnswer, Error> {
    let provider = answering(name, status, body, hide)?;
    let json = Written::read(body).ok_or_else(|| answer_error("is no JSON object"))?;
    let answer = match provider {
        Provider::Anthropic => anthropic::decode_tools(&json),
        Provider::OpenAi => openai::decode_tools(&json),
    };
    answer.ok_or_else(|| answer_error("has no message in it"))
}

pub(super) fn encode(model: &HttpModel, request: &ToolRequest) -> Result<ModelHttp, Error> {
    check_turns(request)?;
    let own = match model.provider {
        Provider::Anthropic => anthropic::beginning(&request.system),
        Provider::OpenAi => openai::beginning(&request.system),
    };
    let prefix = read_prefix(request.prefix.as_deref().unwrap_or(&own))?;
    let (limit_name, limit) = match model.provider {
        Provider::Anthropic => ("max_tokens", anthropic::limit(&prefix, request.max_tokens)),
        Provider::OpenAi => {
            // Its own request went to the same server, under the name that this one takes.
            let names = ["max_completion_tokens", "max_tokens"];
            let given = names.into_iter().find(|name| prefix.get(name).is_some());
            let name = given.unwrap_or_else(|| openai::limit_name(model));
            (name, u64::from(request.max_tokens))
        }
    };
    let messages = match model.provider {
        Provider::Anthropic => anthropic::messages(request, anthropic::free_marks(&prefix)),
        Provider::OpenAi => openai::messages(request),
    };
    let tools = more_tools(model.provider, request, &prefix)?;

    let mut body = ObjectWriter::new();
    for member in prefix.members() {
        let value = member.value;
        match member.name.as_str() {
            // The answer is read whole.
            "stream" | "stream_options" | "max_tokens" | "max_completion_tokens" => {}
            "model" if !value.starts_with('"') => {}
            "tool_choice" | "function_call" if !is_free(value) => {}
            "messages" => body.written(member.key, &extend(value, &messages)?),
            "tools" if value == "null" => {}
            "tools" => body.written(member.key, &extend(value, &tools)?),
            _ => body.written(member.key, value),
        }
    }
    let has = |name: &str, sign: char| {
        let value = prefix.get(name);
        value.is_some_and(|value| value.starts_with(sign))
    };
    // OpenAI refuses an empty list.
    if !has("tools", '[') && !tools.is_empty() {
        body.member("tools", &extend("[]", &tools)?);
    }
    if !has("model", '"') {
        body.member("model", &serde_json::json!(model.model).to_string());
    }
    body.member(limit_name, &limit.to_string());
    let body = body.end();
    Ok(match model.provider {
        Provider::Anthropic => anthropic::http(model, body),
        Provider::OpenAi => openai::http(model, body),
    })
}

/// A prefix that is one.
pub(super) fn read_prefix(text: &str) -> Result<Written<'_>, Error> {
    let Some(prefix) = Written::read(text) else {
        return Err(invalid(
            "the prefix is no JSON object; pass the body of the conversation's next request",
        ));
    };
    let mut names: Vec<&str> = prefix
        .members()
        .iter()
        .map(|member| &*member.name)
        .collect();
    names.sort_unstable();
    let twice = names.windows(2).find_map(|pair| match pair {
        [one, other] if one == other => Some((*one).to_owned()),
        _ => None,
    });
    if let Some(name) = twice {
        return Err(invalid(format!(
            "the prefix has a member twice: {}",
            list(&[name])
        )));
    }
    if prefix.list("messages").is_none() {
        return Err(invalid(
            "the prefix has no list \"messages\"; pass the body of the conversation's next request",
        ));
    }
    Ok(prefix)
}

/// What is sent back goes out as it is, so it must be a message at least by its form.
pub(super) fn check_turns(request: &ToolRequest) -> Result<(), Error> {
    let mut turns = request.turns.iter();
    if turns.any(|turn| Written::read(&turn.answer).is_none()) {
        return Err(invalid(
            "the answer of a turn is no JSON object; pass the answer of the model as it was given",
        ));
    }
    Ok(())
}

/// The names of the tools that a prefix has.
///
/// # Errors
/// `invalid-argument` for what is no prefix.
pub(crate) fn prefix_tools(prefix: &str) -> Result<Vec<String>, Error> {
    tool_names(&read_prefix(prefix)?)
}

fn tool_names(prefix: &Written<'_>) -> Result<Vec<String>, Error> {
    let own = match prefix.get("tools") {
        None | Some("null") => Vec::new(),
        Some(tools) => {
            elements(tools).ok_or_else(|| invalid("the prefix's \"tools\" are no list"))?
        }
    };
    Ok(own.into_iter().filter_map(tool_name).collect())
}

/// The tools that are put behind those of the prefix.
fn more_tools(
    provider: Provider,
    request: &ToolRequest,
    prefix: &Written<'_>,
) -> Result<Vec<String>, Error> {
    let own = tool_names(prefix)?;
    let more = request
        .tools
        .iter()
        .filter(|tool| !own.iter().any(|own| own.eq_ignore_ascii_case(&tool.name)));
    Ok(more
        .map(|tool| match provider {
            Provider::Anthropic => anthropic::tool(tool).to_string(),
            Provider::OpenAi => openai::tool(tool).to_string(),
        })
        .collect())
}

/// OpenAI's tools have their name one level below.
fn tool_name(tool: &str) -> Option<String> {
    let tool = Written::read(tool)?;
    let below = ["function", "custom"].into_iter();
    tool.text("name").or_else(|| {
        below
            .filter_map(|kind| tool.object(kind)?.text("name"))
            .next()
    })
}

/// Whether the model may choose between tools and an answer. When it must call one (`any`, `required`, one by
/// name) the loop never ends; when it may call none it cannot do what it is asked.
fn is_free(choice: &str) -> bool {
    let kind: Option<String> = match Written::read(choice) {
        Some(choice) => choice.text("type"),
        None => serde_json::from_str(choice).unwrap_or_default(),
    };
    choice == "null" || kind.as_deref() == Some("auto")
}

fn extend(list: &str, more: &[String]) -> Result<String, Error> {
    extended(list, more).ok_or_else(|| invalid("a member of the prefix is no list"))
}

/// The id of a call, or its place for servers that give none.
pub(super) fn call_id(call: &Written<'_>, at: usize) -> String {
    let id = call.text("id").filter(|id| !id.is_empty());
    id.unwrap_or_else(|| format!("call_{at}"))
}

/// A count of tokens; 0 for what is none, or cannot be one.
pub(super) fn tokens(usage: &Written<'_>, name: &str) -> u64 {
    let tokens = usage.number(name);
    tokens
        .filter(|tokens| *tokens <= MODEL_MAX_TOKENS)
        .unwrap_or_default()
}
