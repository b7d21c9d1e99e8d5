//! Asking a language model: which one, in which wire format, how often again. A model costs money
//! and sees notes, so one is asked only when the store was opened with it; the environment adds the
//! key and the address, never the choice.
//!
//! A question is a [`ModelRequest`], answered once with text. A conversation is a [`ToolRequest`], in which
//! the model may call tools before it answers.

mod anthropic;
mod complete;
mod function;
mod openai;
#[cfg(test)]
mod tests;
mod tools;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use tools::{
    ToolAnswer, ToolCall, ToolDefinition, ToolRequest, ToolResult, ToolTurn, Usage,
    decode_tool_answer, encode_tool_request,
};

pub(crate) use complete::{complete, converse};
pub(crate) use tools::prefix_tools;

use crate::address::base_address;
use crate::error::{Error, ErrorCode};
use crate::flow::Header;
use crate::paths::{Environment, variable};
use crate::text::quoted;

/// A model to ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModelOptions {
    /// `function` for the caller's own function, else `anthropic/` or `openai/` and the name that the
    /// provider gives it. `openai/` speaks to every server with OpenAI's chat completions.
    pub name: String,
    /// Without it, `ANTHROPIC_API_KEY` or `OPENAI_API_KEY`.
    #[serde(default)]
    pub api_key: Option<Key>,
    /// Without it, `ANTHROPIC_BASE_URL` or `OPENAI_BASE_URL`, else the provider's own. For
    /// `anthropic/` without, for `openai/` with `/v1` at its end.
    #[serde(default)]
    pub base_url: Option<String>,
}

/// A secret that can be sent and compared, and never shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Key(pub String);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(hidden)")
    }
}

/// What a model is asked. A caller's function gets it as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModelRequest {
    /// What it is for; today only `select-memories`.
    pub purpose: String,
    /// The system prompt.
    pub system: String,
    /// The conversation, ending with the user's turn.
    pub messages: Vec<Message>,
    /// Of the answer.
    pub max_tokens: u32,
    /// The JSON schema of the answer; null for free text.
    #[serde(default)]
    pub schema: Option<serde_json::Value>,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// Whose it is.
    pub role: Role,
    /// Its text.
    pub content: String,
}

/// Whose a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The caller's.
    User,
    /// The model's.
    Assistant,
}

/// A request to a model as it goes over the wire, a POST with a JSON body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModelHttp {
    /// The address.
    pub url: String,
    /// Names in lower case; the key is in one of them.
    pub headers: Vec<Header>,
    /// JSON.
    pub body: String,
}

/// The model that a store asks, ready to be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    /// The caller's function.
    Function,
    /// A provider over HTTP.
    Http(HttpModel),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HttpModel {
    provider: Provider,
    model: String,
    key: Option<Key>,
    base_url: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Provider {
    Anthropic,
    OpenAi,
}

impl Provider {
    fn of(name: &str) -> Option<(Self, &str)> {
        let (provider, model) = name.split_once('/')?;
        let provider = match provider {
            "anthropic" => Self::Anthropic,
            "openai" => Self::OpenAi,
            _ => return None,
        };
        (!model.trim().is_empty()).then_some((provider, model))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
        }
    }

    /// Its own address, and the variables that hold key and address.
    fn defaults(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Anthropic => (
                "https://api.anthropic.com",
                "ANTHROPIC_API_KEY",
                "ANTHROPIC_BASE_URL",
            ),
            Self::OpenAi => (
                "https://api.openai.com/v1",
                "OPENAI_API_KEY",
                "OPENAI_BASE_URL",
            ),
        }
    }
}

impl Model {
    /// The model that was chosen, completed from the environment.
    ///
    /// # Errors
    /// `invalid-argument` for a name that names no model, an address that is none, and when a
    /// provider's own address is to be asked without a key.
    pub(crate) fn new(options: &ModelOptions, env: &Environment) -> Result<Self, Error> {
        if options.name == "function" {
            return Ok(Self::Function);
        }
        // What was passed may be a key by mistake, so it is not said back.
        let Some((provider, model)) = Provider::of(&options.name) else {
            return Err(invalid(
                "the name of the model is none; name it anthropic/NAME or openai/NAME",
            ));
        };
        let (own_url, key_name, url_name) = provider.defaults();
        let key = options
            .api_key
            .clone()
            .or_else(|| variable(env, key_name).map(|key| Key(key.to_owned())));
        let key = key.filter(|key| !key.0.trim().is_empty());
        if key
            .as_ref()
            .is_some_and(|key| !key.0.trim().bytes().all(|byte| byte.is_ascii_graphic()))
        {
            return Err(invalid(format!(
                "the key for {} holds characters that no key has; copy it again",
                options.name
            )));
        }
        let given = options
            .base_url
            .as_deref()
            .or_else(|| variable(env, url_name));
        let base_url = base_address(given.unwrap_or(own_url), &options.name)?;
        if key.is_none() && given.is_none() {
            return Err(invalid(format!(
                "there is no key for {}; set {key_name} or pass one",
                options.name
            )));
        }
        Ok(Self::Http(HttpModel {
            provider,
            model: model.to_owned(),
            key,
            base_url,
        }))
    }
}

impl Model {
    /// The text without the key, which a server or a model may say back.
    pub(crate) fn hide(&self, text: &str) -> String {
        match self {
            Self::Http(model) => model.hide(text),
            Self::Function => text.to_owned(),
        }
    }
}

impl HttpModel {
    fn hide(&self, text: &str) -> String {
        match self.key() {
            Some(key) => text.replace(key, "(key)"),
            None => text.to_owned(),
        }
    }

    fn encode(&self, request: &ModelRequest) -> ModelHttp {
        match self.provider {
            Provider::Anthropic => anthropic::encode(self, request),
            Provider::OpenAi => openai::encode(self, request),
        }
    }

    fn key(&self) -> Option<&str> {
        self.key.as_ref().map(|key| key.0.trim())
    }
}

/// The request as it goes over the wire to `anthropic/` or `openai/`.
///
/// # Errors
/// Those of a model that is not one, `invalid-argument`.
pub fn encode_model_request(
    model: &ModelOptions,
    request: &ModelRequest,
) -> Result<ModelHttp, Error> {
    match Model::new(model, &Environment::new())? {
        Model::Http(model) => Ok(model.encode(request)),
        Model::Function => Err(invalid(
            "a function has no wire format; name a model of a provider",
        )),
    }
}

/// The text of a provider's answer. `name` is the model's, `body` what came with `status`.
///
/// # Errors
/// `model-auth` (401, 403), `model-not-found` (404), `model-busy` (408, 409, 429, 5xx: worth another try),
/// `model-refused` (any other status), `model-answer` (no JSON, no text in it), `invalid-argument`.
pub fn decode_model_answer(name: &str, status: u16, body: &str) -> Result<String, Error> {
    decode(name, status, body, &|said| said.to_owned())
}

/// `hide` takes out of a provider's words what must not be shown.
fn decode(
    name: &str,
    status: u16,
    body: &str,
    hide: &dyn Fn(&str) -> String,
) -> Result<String, Error> {
    let provider = answering(name, status, body, hide)?;
    let json: serde_json::Value = serde_json::from_str(body)
        .map_err(|error| answer_error(&format!("is no JSON: {error}")))?;
    let text = match provider {
        Provider::Anthropic => anthropic::decode(&json),
        Provider::OpenAi => openai::decode(&json),
    };
    text.filter(|text| !text.trim().is_empty())
        .ok_or_else(|| answer_error("has no text in it"))
}

/// The provider whose answer it is, or what its status says.
fn answering(
    name: &str,
    status: u16,
    body: &str,
    hide: &dyn Fn(&str) -> String,
) -> Result<Provider, Error> {
    let Some((provider, _)) = Provider::of(name) else {
        return Err(invalid(format!("there is no model {}", quoted(name))));
    };
    let code = match status {
        200..=299 => return Ok(provider),
        401 | 403 => ErrorCode::ModelAuth,
        404 => ErrorCode::ModelNotFound,
        408 | 409 | 429 | 500..=599 => ErrorCode::ModelBusy,
        _ => ErrorCode::ModelRefused,
    };
    let said = said(body, hide);
    let remedy = match code {
        ErrorCode::ModelAuth => "; check its key",
        ErrorCode::ModelNotFound => "; check the model's name and address",
        _ => "",
    };
    Err(Error::new(
        code,
        format!("{name} answered with status {status}{said}{remedy}"),
    ))
}

/// The provider's own words for an error, which both have in the same place; cut, on one line.
fn said(body: &str, hide: &dyn Fn(&str) -> String) -> String {
    let json: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
    let message = json
        .pointer("/error/message")
        .and_then(serde_json::Value::as_str);
    message.map_or_else(String::new, |message| {
        let message = hide(&crate::text::one_line(message));
        let message: String = message.chars().take(200).collect();
        format!(" ({message})")
    })
}

fn answer_error(what: &str) -> Error {
    Error::new(ErrorCode::ModelAnswer, format!("the model's answer {what}"))
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::InvalidArgument, message)
}

fn header(name: &str, value: impl Into<String>) -> Header {
    Header {
        name: name.to_owned(),
        value: value.into(),
    }
}
