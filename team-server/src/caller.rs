//! Who sends a request: the token must be known and not have asked too often. It is looked up each time,
//! so a token that is revoked is refused from that moment on.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;

use crate::app::App;
use crate::problem::Problem;
use crate::rights::Repository;
use crate::token::{Person, Token};

/// Somebody with a token.
#[derive(Debug)]
pub(crate) struct Caller(pub Person);

impl FromRequestParts<Arc<App>> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let value = parts.headers.get(header::AUTHORIZATION);
        let hash = value
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .and_then(|(_, token)| Token::hash_of(token.trim()))
            .ok_or_else(Problem::unauthorized)?;
        let person = app.storage.person(&hash).await?;
        let person = person.ok_or_else(Problem::unauthorized)?;
        let span = tracing::Span::current();
        span.record("token", &person.id);
        span.record("person", &person.name);
        app.rate
            .take(&person.id, Instant::now())
            .map_err(Problem::rate_limited)?;
        Ok(Self(person))
    }
}

impl Caller {
    /// Fails before anything is known of the repository.
    pub fn check_read(&self, repository: &Repository) -> Result<(), Problem> {
        if !self.0.may_read(repository.name()) {
            return Err(Problem::forbidden("read"));
        }
        tracing::Span::current().record("repository", repository.name());
        Ok(())
    }

    /// The same for writing.
    pub fn check_write(&self, repository: &Repository) -> Result<(), Problem> {
        if !self.0.may_write(repository) {
            return Err(Problem::forbidden("write"));
        }
        tracing::Span::current().record("repository", repository.name());
        Ok(())
    }
}
