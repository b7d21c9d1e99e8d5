//! The last answers with all entries of a repository, ready to send: after an upload a whole team pulls
//! the same. An answer counts only while the database says its version.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use axum::body::Bytes;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::limits::WRITE_TIME;
use crate::problem::Problem;
use crate::storage::Head;

/// Bytes that are kept.
const KEPT: usize = 64 * 1024 * 1024;
/// Answers that are made at a time: each takes a few times its size.
const MAKERS: usize = 2;

/// The answers that are kept.
#[derive(Debug)]
pub(crate) struct Answers {
    known: Mutex<BTreeMap<String, Answer>>,
    makers: Semaphore,
}

/// A whole repository as JSON.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub version: i64,
    pub checksum: String,
    pub body: Bytes,
}

impl Default for Answers {
    fn default() -> Self {
        Self {
            known: Mutex::default(),
            makers: Semaphore::new(MAKERS),
        }
    }
}

impl Answers {
    /// The answer for what the database has.
    pub fn get(&self, head: &Head) -> Option<Answer> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = known.get(&head.name)?;
        let is_true = answer.version == head.version && answer.checksum == head.checksum;
        is_true.then(|| answer.clone())
    }

    pub fn keep(&self, repository: &str, answer: Answer) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.remove(repository);
        let size: usize = known.values().map(|answer| answer.body.len()).sum();
        if size.saturating_add(answer.body.len()) > KEPT {
            known.clear();
        }
        known.insert(repository.to_owned(), answer);
    }

    /// Leave to make one. Who has waited for it looks first whether another one has made it.
    pub async fn leave(&self) -> Result<SemaphorePermit<'_>, Problem> {
        let leave = tokio::time::timeout(WRITE_TIME, self.makers.acquire()).await;
        leave.ok().and_then(Result::ok).ok_or_else(Problem::busy)
    }
}
