//! Why a request is not answered as its sender hoped: one typed shape for all of it,
//! `{error: {code, message, request_id, details?}}`. A message may name a key or a number; it never
//! holds a content, a token or a secret.

use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::limits::SECRETS;
use crate::storage::{Refusal, StorageError};

/// The body of every answer that is no success.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ErrorBody {
    pub error: ErrorDetail,
}

/// What went wrong.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ErrorDetail {
    /// Stable; what programs decide by.
    #[schema(example = "outdated")]
    pub code: &'static str,
    /// One sentence for a person, with the remedy.
    pub message: String,
    /// The `x-request-id` of the answer, which is in the log of the server, too.
    pub request_id: String,
    /// More for programs, where there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
}

/// What a program needs to do something about it. Which members there are follows from `error_code`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Details {
    #[schema(example = "team_memory_too_many_entries")]
    pub error_code: &'static str,
    /// The entry that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The rule that a key breaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_entries: Option<usize>,
    /// How many the repository would have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub received_entries: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub received_bytes: Option<u64>,
    /// Where secrets are, never what they are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<Secret>,
}

/// Where a secret is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Secret {
    /// The entry; none when the secret is in a key.
    pub key: Option<String>,
    /// Which rule found it.
    #[schema(example = "github-pat")]
    pub rule: String,
    /// What it is, for people.
    pub label: String,
    /// The line that it begins in, from 1.
    pub line: usize,
}

/// An answer that is no success, before it knows the id of its request.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    code: &'static str,
    message: String,
    details: Option<Box<Details>>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Problem {
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            code,
            message: message.into(),
            details: None,
            headers: Vec::new(),
        }
    }

    fn details(mut self, details: Details) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Asks to come back after so many seconds.
    fn after(self, seconds: u64) -> Self {
        self.header(header::RETRY_AFTER, HeaderValue::from(seconds.max(1)))
    }

    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid-request", message)
    }

    pub fn unauthorized() -> Self {
        let bearer = HeaderValue::from_static("Bearer");
        Self::new(
            StatusCode::UNAUTHORIZED,
            "unauthorized",
            "this needs a token of this server that was not revoked, as `Authorization: Bearer …`",
        )
        .header(header::WWW_AUTHENTICATE, bearer)
    }

    /// The same whether there is such a repository or not.
    pub fn forbidden(what: &str) -> Self {
        let message = format!("the token has no right to {what} this repository");
        Self::new(StatusCode::FORBIDDEN, "forbidden", message)
    }

    pub fn no_data() -> Self {
        let message = "nothing was uploaded for this repository yet";
        Self::new(StatusCode::NOT_FOUND, "no-data", message)
    }

    pub fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", "there is nothing here")
    }

    pub fn method() -> Self {
        let message = "this address is not asked in this way";
        Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "method-not-allowed",
            message,
        )
    }

    pub fn slow() -> Self {
        let message = "the body did not arrive in time";
        Self::new(StatusCode::REQUEST_TIMEOUT, "timeout", message)
            .header(header::CONNECTION, HeaderValue::from_static("close"))
    }

    pub fn headers_too_large() -> Self {
        Self::new(
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            "headers-too-large",
            "the request has too many headers",
        )
    }

    pub fn body_too_large(max: usize) -> Self {
        let message = format!("the body has more than {max} bytes; upload fewer entries at a time");
        Self::too_large("body-too-large", message).details(Details {
            error_code: "team_memory_body_too_large",
            max_bytes: u64::try_from(max).ok(),
            ..Details::default()
        })
    }

    pub fn entry_too_large(key: &str, max: u64, received: u64) -> Self {
        let message = format!("an entry has {received} bytes, and at most {max} are taken");
        Self::too_large("entry-too-large", message).details(Details {
            error_code: "team_memory_entry_too_large",
            key: Some(key.to_owned()),
            max_bytes: Some(max),
            received_bytes: Some(received),
            ..Details::default()
        })
    }

    pub fn too_many_entries(max: usize, received: usize) -> Self {
        let message =
            format!("the repository would have {received} entries, and at most {max} are taken");
        Self::too_large("too-many-entries", message).details(Details {
            error_code: "team_memory_too_many_entries",
            max_entries: Some(max),
            received_entries: Some(received),
            ..Details::default()
        })
    }

    fn repository_too_large(max: u64, received: u64) -> Self {
        let message =
            format!("the repository would have {received} bytes, and at most {max} are taken");
        Self::too_large("repository-too-large", message).details(Details {
            error_code: "team_memory_repository_too_large",
            max_bytes: Some(max),
            received_bytes: Some(received),
            ..Details::default()
        })
    }

    fn too_large(code: &'static str, message: String) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, code, message)
    }

    pub fn invalid_key(error: &memdir_core::Error) -> Self {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        Self::new(status, "invalid-key", error.message.clone()).details(Details {
            error_code: "team_memory_invalid_key",
            key: error.path.clone(),
            rule: Some(error.code.name().to_owned()),
            ..Details::default()
        })
    }

    pub fn secrets(mut secrets: Vec<Secret>) -> Self {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        secrets.truncate(SECRETS);
        let message = "there are secrets in what was sent; remove them, as everybody with a token \
            of the repository could read them";
        Self::new(status, "secrets-found", message).details(Details {
            error_code: "team_memory_secrets_found",
            secrets,
            ..Details::default()
        })
    }

    pub fn rate_limited(wait: Duration) -> Self {
        let seconds = wait.as_secs().saturating_add(1);
        let message = "the token has sent too many requests; wait and try again";
        Self::new(StatusCode::TOO_MANY_REQUESTS, "rate-limited", message).after(seconds)
    }

    /// It is not known, or not sure, whether it was done.
    pub fn busy() -> Self {
        let message = "the server cannot keep up; try again soon";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message).after(1)
    }

    pub fn unavailable() -> Self {
        let message = "the server cannot reach its data; try again soon";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message).after(2)
    }

    pub fn internal() -> Self {
        let message = "the server has failed; its log tells more under this request id";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    }

    pub fn refused(refusal: Refusal, limits: &crate::limits::Limits) -> Self {
        let outdated = |code, message: &str, there: Option<String>| {
            let problem = Self::new(StatusCode::PRECONDITION_FAILED, code, message);
            let etag = there.and_then(|there| HeaderValue::from_str(&format!("\"{there}\"")).ok());
            match etag {
                Some(etag) => problem.header(header::ETAG, etag),
                None => problem,
            }
        };
        match refusal {
            Refusal::Outdated(there) => outdated(
                "outdated",
                "the repository has another version than the one that was named; pull first",
                there,
            ),
            Refusal::Unconditional(there) => outdated(
                "condition-missing",
                "the repository has data, so If-Match must name the version that is replaced",
                Some(there),
            ),
            Refusal::TooMany(received) => Self::too_many_entries(limits.entries, received),
            Refusal::TooLarge(received) => {
                Self::repository_too_large(limits.repository_bytes, received)
            }
            Refusal::Key(error) => Self::invalid_key(&error),
        }
    }

    /// Stable; what programs decide by.
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// The answer, once the id of the request is known.
    pub fn answer(self, request_id: &str) -> Response {
        let body = ErrorBody {
            error: ErrorDetail {
                code: self.code,
                message: self.message,
                request_id: request_id.to_owned(),
                details: self.details.map(|details| *details),
            },
        };
        // Texts and numbers always become JSON.
        let body = serde_json::to_string(&body).unwrap_or_default();
        let json = HeaderValue::from_static("application/json");
        let mut response = (self.status, body).into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, json);
        response.headers_mut().extend(self.headers);
        response
    }
}

/// The body is written by [`crate::observe`], which knows the id of the request.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<StorageError> for Problem {
    fn from(error: StorageError) -> Self {
        tracing::error!(error = %error, "the database failed");
        match error {
            StorageError::Full => {
                let message = "the server has no space left; tell who runs it";
                Self::new(StatusCode::INSUFFICIENT_STORAGE, "storage-full", message).after(30)
            }
            StorageError::Damaged(_) | StorageError::Migration(_) => Self::internal(),
            StorageError::File { .. } | StorageError::Moved | StorageError::Unavailable(_) => {
                Self::unavailable()
            }
        }
    }
}
