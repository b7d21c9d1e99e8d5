//! One question to a model, or one turn of a conversation, with a limit of time for all tries together.

use super::{
    HttpModel, Model, ModelHttp, ModelRequest, ToolAnswer, ToolRequest, decode, function, tools,
};
use crate::error::{Error, ErrorCode};
use crate::flow::{Content, Host, HttpAnswer};
use crate::limits::{MODEL_ANSWER_BYTES, RETRIES};
use crate::retry::pause_ms;

/// The text that a model answers with, within `limit_ms`. What is worth another try (busy, time-outs,
/// a connection that broke) is tried again with growing pauses as long as there is time.
///
/// # Errors
/// Those of [`super::decode_model_answer`], of the host (`timeout`, `network`, `too-large`, `unsupported`),
/// `aborted`. No message holds the key.
pub(crate) async fn complete(
    host: &Host,
    model: &Model,
    request: &ModelRequest,
    limit_ms: u64,
) -> Result<String, Error> {
    let answer = match model {
        Model::Function => {
            let request = serde_json::to_string(request).map_err(|error| {
                Error::new(
                    ErrorCode::Internal,
                    format!("the request is no JSON: {error}"),
                )
            })?;
            call_function(host, request, limit_ms).await
        }
        Model::Http(model) => {
            // Many servers know no schemas; the prompt asks for the same shape.
            let plainer = request.schema.is_some().then(|| ModelRequest {
                schema: None,
                ..request.clone()
            });
            let plainer = plainer.map(|request| model.encode(&request));
            let requests = (model.encode(request), plainer);
            ask(host, model, requests, limit_ms, decode).await
        }
    };
    host.stop_if_cancelled()?;
    answer
}

/// What a model with tools answers with next, within `limit_ms`, tried again as in [`complete`].
///
/// # Errors
/// Those of [`super::encode_tool_request`] and [`super::decode_tool_answer`], of the host as in [`complete`],
/// `aborted`. No message holds the key.
pub(crate) async fn converse(
    host: &Host,
    model: &Model,
    request: &ToolRequest,
    limit_ms: u64,
) -> Result<ToolAnswer, Error> {
    let answer = match model {
        Model::Function => {
            let said = call_function(host, function::encode(request)?, limit_ms).await;
            said.map(|said| function::decode(&said))
        }
        Model::Http(model) => {
            let request = tools::encode(model, request)?;
            ask(host, model, (request, None), limit_ms, tools::decode).await
        }
    };
    host.stop_if_cancelled()?;
    answer
}

async fn call_function(host: &Host, request: String, limit_ms: u64) -> Result<String, Error> {
    host.model(request, limit_ms)
        .await
        .map_err(|failure| Error::from_failure(&failure, "asking", "the model function"))
}

/// Takes the model's name, the status, the body, and what hides the key.
type Decode<T> = fn(&str, u16, &str, &dyn Fn(&str) -> String) -> Result<T, Error>;

/// Asks with the first request until there is an answer; with the second from then on when the server does
/// not understand the first.
async fn ask<T>(
    host: &Host,
    model: &HttpModel,
    (mut request, mut plainer): (ModelHttp, Option<ModelHttp>),
    limit_ms: u64,
    decode: Decode<T>,
) -> Result<T, Error> {
    let name = format!("{}/{}", model.provider.name(), model.model);
    let start = now(host).await?;
    let mut retries = 0;
    let mut left = limit_ms;
    loop {
        let ModelHttp { url, headers, body } = request.clone();
        let body = Some(Content::Text(body));
        let answer = host
            .http("POST", &url, headers, body, (left, MODEL_ANSWER_BYTES))
            .await;
        host.stop_if_cancelled()?;
        let (error, headers) = match answer {
            Ok(HttpAnswer {
                status,
                headers,
                body,
            }) => {
                let text = String::from_utf8_lossy(&body.0);
                let error = match decode(&name, status, &text, &|said| model.hide(said)) {
                    Ok(answer) => return Ok(answer),
                    Err(error) => error,
                };
                if matches!(status, 400 | 422)
                    && let Some(plainer) = plainer.take()
                {
                    request = plainer;
                    left = limit_ms.saturating_sub(since(host, start).await?);
                    if left == 0 {
                        return Err(error);
                    }
                    continue;
                }
                if error.code != ErrorCode::ModelBusy {
                    return Err(error);
                }
                (error, headers)
            }
            Err(failure) => {
                // A host may say what it sent.
                let mut error = Error::from_failure(&failure, "asking", &name);
                error.message = model.hide(&error.message);
                if !matches!(error.code, ErrorCode::Timeout | ErrorCode::Network) {
                    return Err(error);
                }
                (error, Vec::new())
            }
        };
        let wait = pause_ms(host, retries, &headers).await;
        if retries >= RETRIES || since(host, start).await?.saturating_add(wait) >= limit_ms {
            return Err(error);
        }
        retries = retries.saturating_add(1);
        // A pause that fails is a pause of no length.
        let _ = host.sleep(wait).await;
        host.stop_if_cancelled()?;
        left = limit_ms.saturating_sub(since(host, start).await?);
        if left == 0 {
            return Err(error);
        }
    }
}

/// Milliseconds since then.
async fn since(host: &Host, start: i64) -> Result<u64, Error> {
    Ok(u64::try_from(now(host).await?.saturating_sub(start)).unwrap_or_default())
}

async fn now(host: &Host) -> Result<i64, Error> {
    let clock = host
        .now()
        .await
        .map_err(|failure| Error::from_failure(&failure, "asking for", "the time"))?;
    Ok(clock.ms)
}
