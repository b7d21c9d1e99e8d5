//! How far the transcripts have come that the command line has extracted from, so that a transcript that has
//! grown is looked at from there on. Kept in the store's own folder; what cannot be read is not known.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Found, Store, own};
use crate::error::Error;
use crate::extract::ExtractionState;
use crate::flow::{Content, Host};
use crate::limits::{EXTRACTIONS_KEPT, EXTRACTIONS_MAX_BYTES, EXTRACTIONS_NAME, FOLDER_MODE};
use crate::write::hash;

/// By the hash of the transcript's path.
type Known = BTreeMap<String, Cursor>;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cursor {
    state: ExtractionState,
    /// When it was kept, milliseconds since the epoch.
    at_ms: i64,
}

impl Store {
    /// How far the extractions from a transcript have come.
    pub(crate) async fn cursor_of(
        &self,
        host: &Host,
        transcript: &str,
    ) -> Result<Option<ExtractionState>, Error> {
        let found = self.found(host).await?;
        let known = read(host, &found).await;
        host.stop_if_cancelled()?;
        let cursor = known.get(&hash(transcript.as_bytes()));
        Ok(cursor.map(|cursor| cursor.state.clone()))
    }

    /// Keeps how far they have come. Best effort: without it messages are looked at once more.
    pub(crate) async fn keep_cursor(
        &self,
        host: &Host,
        transcript: &str,
        state: ExtractionState,
    ) -> Result<(), Error> {
        let found = self.found(host).await?;
        let mut known = read(host, &found).await;
        let at_ms = host.now().await.map_or(0, |now| now.ms);
        known.insert(hash(transcript.as_bytes()), Cursor { state, at_ms });
        while known.len() > EXTRACTIONS_KEPT {
            let oldest = known.iter().min_by_key(|(_, cursor)| cursor.at_ms);
            let Some(oldest) = oldest.map(|(name, _)| name.clone()) else {
                break;
            };
            known.remove(&oldest);
        }
        let text = serde_json::to_string(&known).unwrap_or_default();
        // A store that has no memory yet has no folder either.
        let directory = &found.opened.directory;
        let _ = host.make_dir(directory, None, FOLDER_MODE).await;
        if own::prepare(host, &found).await.is_ok() {
            let _ = own::replace(host, &found, EXTRACTIONS_NAME, Content::Text(text)).await;
        }
        host.stop_if_cancelled()
    }
}

async fn read(host: &Host, found: &Found) -> Known {
    let directory = &found.opened.directory;
    let file = own::own_path(found.platform, directory, EXTRACTIONS_NAME);
    let bytes = host
        .read(&file, Some(directory), EXTRACTIONS_MAX_BYTES)
        .await;
    let bytes = bytes.unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}
