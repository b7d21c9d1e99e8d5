//! What happens around every request: its id, one line in the log, the counters, the headers that every
//! answer has, and the bodies of refusals. The log says who asked for what and how it went; it never
//! holds contents, keys, tokens, or an address as it was sent.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tracing::Instrument;
use tracing::field::Empty;

use crate::app::App;
use crate::limits::{HEADER_BYTES, HEADERS};
use crate::problem::Problem;
use crate::token::random_hex;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

pub(crate) async fn observe(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let start = Instant::now();
    let id = request_id(&request);
    let method = method(request.method());
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or_else(|| "other".to_owned(), |path| path.as_str().to_owned());
    let span = tracing::info_span!(
        "request",
        request_id = %id,
        method,
        route,
        token = Empty,
        person = Empty,
        repository = Empty
    );
    let mut response = if has_too_many_headers(&request) {
        Problem::headers_too_large().into_response()
    } else {
        next.run(request).instrument(span.clone()).await
    };
    let problem = response.extensions_mut().remove::<Problem>();
    let code = problem.as_ref().map(Problem::code);
    if let Some(problem) = problem {
        let answer = problem.answer(&id);
        response = with_headers_of(answer, &response);
    }
    let took = start.elapsed();
    let status = response.status();
    app.metrics.answered(method, &route, status.as_u16(), took);
    span.in_scope(|| {
        tracing::info!(
            status = status.as_u16(),
            code,
            ms = took.as_secs_f64() * 1000.0,
            "answered"
        );
    });
    let headers = response.headers_mut();
    let nosniff = HeaderValue::from_static("nosniff");
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
    if let Ok(id) = HeaderValue::from_str(&id) {
        headers.insert(REQUEST_ID, id);
    }
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

/// What the router itself said, as which methods there are.
fn with_headers_of(mut answer: Response, from: &Response) -> Response {
    if let Some(allow) = from.headers().get(header::ALLOW) {
        answer.headers_mut().insert(header::ALLOW, allow.clone());
    }
    answer
}

/// That of a proxy or the client, if it can stand in a log; else a new one.
fn request_id(request: &Request) -> String {
    let given = request.headers().get(REQUEST_ID);
    let given = given.and_then(|id| id.to_str().ok()).filter(|id| {
        (1..=64).contains(&id.len())
            && id
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
    });
    match given {
        Some(id) => id.to_owned(),
        None => random_hex::<8>().unwrap_or_else(|_| "none".to_owned()),
    }
}

fn has_too_many_headers(request: &Request) -> bool {
    let headers = request.headers();
    let bytes: usize = headers
        .iter()
        .map(|(name, value)| name.as_str().len().saturating_add(value.len()))
        .sum();
    headers.len() > HEADERS || bytes > HEADER_BYTES
}

/// Only known words become labels.
fn method(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "PUT" => "PUT",
        "POST" => "POST",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        "PATCH" => "PATCH",
        _ => "other",
    }
}
