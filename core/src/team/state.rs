//! What this folder knows of the last sync, in `.memdir/team.json`: whose version each entry had, so that a
//! local edit is recognised as such. It counts only for the server and the folder that it was made with.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorCode};
use crate::flow::{FailureCode, Host};
use crate::limits::{
    OWN_FOLDER, TEAM_API, TEAM_FOLDER, TEAM_MARKER, TEAM_STATE_MAX_BYTES, TEAM_STATE_NAME,
    TOMBSTONES_NAME,
};
use crate::store::Place;
use crate::text::quoted;

/// The state of the last sync.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SyncState {
    /// The address of the repository's memories.
    pub origin: String,
    /// What the team folder is marked with. A folder that was swapped has another mark, one that was
    /// emptied none.
    pub mark: String,
    /// The server's version, if all of it is here.
    pub etag: Option<String>,
    /// Key to the checksum that both sides had.
    pub entries: BTreeMap<String, String>,
    /// What else the server has: key to checksum of what cannot be a file here.
    pub left_out: BTreeMap<String, String>,
    /// The index that both sides had.
    pub index: Option<String>,
    /// Milliseconds since the epoch.
    pub synced_ms: i64,
    /// Forgotten entries that are to go from the server: when that was first seen.
    pub leaving: BTreeMap<String, i64>,
}

/// A state, and the bytes that it was read from: whoever changes it sees by them whether another was
/// faster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Known {
    pub state: SyncState,
    pub seen: Option<Vec<u8>>,
    /// Whether it is of this very folder and server.
    pub is_ours: bool,
}

/// Reads the state; one of another server or folder says nothing about entries.
pub(crate) async fn read(host: &Host, place: &Place, origin: &str) -> Result<Known, Error> {
    let marker = read_file(host, place, &format!("{TEAM_FOLDER}/{TEAM_MARKER}")).await?;
    let marker = marker.and_then(|bytes| String::from_utf8(bytes).ok());
    if let Some(other) = marker.as_deref().and_then(repository_of)
        && repository_of(&marker_text("", origin)).is_some_and(|ours| ours != other)
    {
        let message = format!(
            "the team folder is that of {}; to share what is in it with another repository, remove {TEAM_FOLDER}/{TEAM_MARKER}",
            quoted(other)
        );
        return Err(Error::new(ErrorCode::InvalidArgument, message).at(TEAM_FOLDER));
    }
    let seen = read_file(host, place, &format!("{OWN_FOLDER}/{TEAM_STATE_NAME}")).await?;
    let state: Option<SyncState> = seen
        .as_ref()
        .and_then(|seen| serde_json::from_slice(seen).ok());
    let is_ours = state.as_ref().is_some_and(|state| {
        state.origin == origin && marker == Some(marker_text(&state.mark, origin))
    });
    let state = match state {
        Some(state) if is_ours => state,
        _ => SyncState {
            origin: origin.to_owned(),
            ..SyncState::default()
        },
    };
    Ok(Known {
        state,
        seen,
        is_ours,
    })
}

/// By key: the checksums of the team memories that were forgotten here.
pub(crate) async fn forgotten(
    host: &Host,
    place: &Place,
) -> Result<BTreeMap<String, String>, Error> {
    let name = format!("{OWN_FOLDER}/{TOMBSTONES_NAME}");
    let bytes = read_file(host, place, &name).await?.unwrap_or_default();
    let paths: BTreeMap<String, String> = serde_json::from_slice(&bytes).unwrap_or_default();
    let keys = paths.into_iter().filter_map(|(path, hash)| {
        let key = path.strip_prefix(TEAM_FOLDER)?.strip_prefix('/')?;
        Some((key.to_owned(), hash))
    });
    Ok(keys.collect())
}

/// One of memdir's own files; none when it is not there.
async fn read_file(host: &Host, place: &Place, name: &str) -> Result<Option<Vec<u8>>, Error> {
    let bytes = host
        .read(
            &place.path(name),
            Some(&place.directory),
            TEAM_STATE_MAX_BYTES,
        )
        .await;
    host.stop_if_cancelled()?;
    match bytes {
        Ok(bytes) => Ok(Some(bytes)),
        Err(failure)
            if matches!(
                failure.code,
                FailureCode::NotFound | FailureCode::NotADirectory | FailureCode::Loop
            ) =>
        {
            Ok(None)
        }
        Err(failure) => Err(Error::from_failure(&failure, "reading", name)),
    }
}

/// Where the mark of the team folder is.
pub(crate) fn marker_path(place: &Place) -> String {
    place.path(&format!("{TEAM_FOLDER}/{TEAM_MARKER}"))
}

/// A file that keeps itself out of a repository, and holds the mark and whose memories these are. The mark is
/// another one after each sync, so that a folder that comes back from a backup is not taken for the one that
/// the state is about.
pub(crate) fn marker_text(mark: &str, origin: &str) -> String {
    let repository = origin
        .rsplit_once(TEAM_API)
        .map_or("", |(_, repository)| repository);
    format!("*\n# {mark} {repository}\n")
}

fn repository_of(marker: &str) -> Option<&str> {
    let (_, repository) = marker.strip_prefix("*\n# ")?.trim_end().split_once(' ')?;
    (!repository.is_empty()).then_some(repository)
}
