//! The wire format of OpenAI's chat completions, which most servers speak.

use serde_json::{Value, json};

use super::{HttpModel, ModelHttp, ModelRequest, Provider, header};

pub(super) fn encode(model: &HttpModel, request: &ModelRequest) -> ModelHttp {
    let mut headers = vec![header("content-type", "application/json")];
    headers.extend(
        model
            .key()
            .map(|key| header("authorization", format!("Bearer {key}"))),
    );
    let mut messages = vec![json!({"role": "system", "content": request.system})];
    messages.extend(request.messages.iter().map(|message| json!(message)));
    // OpenAI itself refuses the old name for its newer models, other servers know no other.
    let is_own = model.base_url == Provider::OpenAi.defaults().0;
    let limit = if is_own {
        "max_completion_tokens"
    } else {
        "max_tokens"
    };
    let mut body = json!({"model": model.model, "messages": messages, limit: request.max_tokens});
    if let (Some(schema), Some(body)) = (&request.schema, body.as_object_mut()) {
        let format = json!({"name": "answer", "strict": true, "schema": schema});
        body.insert(
            "response_format".to_owned(),
            json!({"type": "json_schema", "json_schema": format}),
        );
    }
    ModelHttp {
        url: format!("{}/chat/completions", model.base_url),
        headers,
        body: body.to_string(),
    }
}

/// The text of the first choice, a string or parts of it; reasoning is none.
pub(super) fn decode(answer: &Value) -> Option<String> {
    let content = answer.pointer("/choices/0/message/content")?;
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
