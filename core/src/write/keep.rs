//! Our versions of what a teammate changed too: kept in `.memdir/conflicts`, two files for each, the bytes
//! and a record of what they were, until somebody has dealt with them.

use serde::{Deserialize, Serialize};

use super::lock::Lock;
use crate::error::Error;
use crate::flow::{Bytes, Content, Host};
use crate::limits::{CONFLICTS_FOLDER, FILE_MODE, FOLDER_MODE};

/// Endings of the two.
pub(crate) const KEPT_BYTES: &str = ".bytes";
pub(crate) const KEPT_RECORD: &str = ".json";

/// What a kept version was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KeptRecord {
    /// Relative to the store.
    pub path: String,
    /// When, milliseconds since the epoch; 0 without a clock.
    pub at_ms: i64,
}

/// A version that was kept.
pub(super) struct Kept(String);

/// Keeps a version of a file.
pub(super) async fn keep_conflict(
    host: &Host,
    lock: &Lock<'_>,
    path: &str,
    bytes: &[u8],
    at_ms: i64,
) -> Result<Kept, Error> {
    let failed = |failure| Error::from_failure(&failure, "keeping our version of", path);
    let folder = lock.path(CONFLICTS_FOLDER);
    let made = host.make_dir(&folder, lock.within(), FOLDER_MODE).await;
    host.stop_if_cancelled()?;
    made.map_err(failed)?;
    let (token, number) = (lock.token(), lock.number());
    let kept = Kept(format!(
        "{CONFLICTS_FOLDER}/{at_ms:015}-{token}-{number:03}"
    ));
    let record = KeptRecord {
        path: path.to_owned(),
        at_ms,
    };
    let record = serde_json::to_string(&record).unwrap_or_default();
    // A record without bytes says nothing, so the bytes come last.
    for (ending, content) in [
        (KEPT_RECORD, Content::Text(record)),
        (KEPT_BYTES, Content::Bytes(Bytes(bytes.to_vec()))),
    ] {
        let file = lock.path(&format!("{}{ending}", kept.0));
        let written = host
            .write(&file, lock.within(), content, None, (FILE_MODE, true))
            .await;
        if let Err(failure) = written {
            kept.remove(&host.shielded(), lock).await;
            host.stop_if_cancelled()?;
            return Err(failed(failure));
        }
    }
    Ok(kept)
}

impl Kept {
    /// Best effort.
    pub async fn remove(&self, host: &Host, lock: &Lock<'_>) {
        for ending in [KEPT_BYTES, KEPT_RECORD] {
            let file = lock.path(&format!("{}{ending}", self.0));
            let _ = host.remove(&file, lock.within()).await;
        }
    }
}
