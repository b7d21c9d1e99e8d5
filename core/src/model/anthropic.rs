//! The wire format of Anthropic's Messages API, version 2023-06-01.

use serde_json::{Value, json};

use super::{HttpModel, ModelHttp, ModelRequest, header};

pub(super) fn encode(model: &HttpModel, request: &ModelRequest) -> ModelHttp {
    let mut headers = vec![
        header("anthropic-version", "2023-06-01"),
        header("content-type", "application/json"),
    ];
    headers.extend(model.key().map(|key| header("x-api-key", key)));
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
    ModelHttp {
        url: format!("{}/v1/messages", model.base_url),
        headers,
        body: body.to_string(),
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
