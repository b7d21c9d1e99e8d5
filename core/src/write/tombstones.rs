//! Which team memories were forgotten here, so that a pull does not bring them back before the server's
//! copy changes.

use std::collections::BTreeMap;

use super::commit::End;
use super::lock::Lock;
use crate::error::Error;
use crate::flow::{FailureCode, Host};
use crate::limits::{FILE_MAX_BYTES, TOMBSTONES_NAME};

/// By path, relative to the store: the hash of what was forgotten.
type Tombstones = BTreeMap<String, String>;

/// Marks a team memory as forgotten, with its hash; or, with null, as there again.
pub(super) async fn mark(
    host: &Host,
    lock: &Lock<'_>,
    path: &str,
    forgotten: Option<String>,
) -> Result<End, Error> {
    let file = lock.path(TOMBSTONES_NAME);
    let mut tombstones = match host.read(&file, lock.within(), FILE_MAX_BYTES).await {
        Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_default(),
        Err(failure) if failure.code == FailureCode::NotFound => Tombstones::new(),
        Err(failure) => return Err(Error::from_failure(&failure, "reading", TOMBSTONES_NAME)),
    };
    let before = match &forgotten {
        Some(hash) => tombstones.insert(path.to_owned(), hash.clone()),
        None => tombstones.remove(path),
    };
    if before == forgotten {
        return Ok(End::Done);
    }
    let json = serde_json::to_string(&tombstones).unwrap_or_default();
    lock.replace(host, TOMBSTONES_NAME, json).await
}
