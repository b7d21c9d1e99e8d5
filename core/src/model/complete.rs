//! One question to a model, with a limit of time for all tries together.

use super::{HttpModel, Model, ModelHttp, ModelRequest, decode};
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
        Model::Function => call_function(host, request, limit_ms).await,
        Model::Http(model) => ask(host, model, request, limit_ms).await,
    };
    host.stop_if_cancelled()?;
    answer
}

async fn call_function(
    host: &Host,
    request: &ModelRequest,
    limit_ms: u64,
) -> Result<String, Error> {
    let request = serde_json::to_string(request).map_err(|error| {
        Error::new(
            ErrorCode::Internal,
            format!("the request is no JSON: {error}"),
        )
    })?;
    host.model(request, limit_ms)
        .await
        .map_err(|failure| Error::from_failure(&failure, "asking", "the model function"))
}

async fn ask(
    host: &Host,
    model: &HttpModel,
    request: &ModelRequest,
    limit_ms: u64,
) -> Result<String, Error> {
    let name = format!("{}/{}", model.provider.name(), model.model);
    let mut request = request.clone();
    let start = now(host).await?;
    let mut retries = 0;
    let mut left = limit_ms;
    loop {
        let ModelHttp { url, headers, body } = model.encode(&request);
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
                match decode(&name, status, &text, |said| model.hide(said)) {
                    Ok(text) => return Ok(text),
                    // Many servers know no schemas; the prompt asks for the same shape.
                    Err(error)
                        if matches!(status, 400 | 422) && request.schema.take().is_some() =>
                    {
                        left = limit_ms.saturating_sub(since(host, start).await?);
                        if left == 0 {
                            return Err(error);
                        }
                        continue;
                    }
                    Err(error) if error.code == ErrorCode::ModelBusy => (error, headers),
                    Err(error) => return Err(error),
                }
            }
            Err(failure) => {
                let error = Error::from_failure(&failure, "asking", &name);
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
