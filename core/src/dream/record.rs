//! What a dream has changed, kept in the store's own folder before it is changed, so that it can be taken back
//! to the byte, also after a crash in the middle.

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorCode};
use crate::flow::{Content, Failure, FailureCode, Host};
use crate::limits::{
    DREAMS_FOLDER, DREAMS_KEPT, FOLDER_MODE, INBOX_MAX_BYTES, OWN_FOLDER, TOKEN_BYTES,
};
use crate::order;
use crate::paths::check_relative;
use crate::store::{Found, Place, own};

const ENDING: &str = ".json";
/// Digits of the time that an id begins with, so that ids are in order as texts.
const DIGITS: usize = 15;
/// The last time that has so many.
const LAST_MS: i64 = 999_999_999_999_999;

/// One dream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Record {
    /// When it ended, milliseconds since the epoch; 0 without a clock.
    pub at_ms: i64,
    /// Whether they are made, or as many of them as could be. Of one that is not, nothing may be made yet.
    #[serde(default)]
    pub is_made: bool,
    /// In the order in which they are made.
    pub changes: Vec<Recorded>,
}

/// One file that is changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Recorded {
    /// Relative to the store.
    pub path: String,
    /// Its text before; none when there was no such file.
    pub before: Option<String>,
    /// Its text after; none when it is removed.
    pub after: Option<String>,
}

fn folder(place: &Place) -> String {
    place.path(&format!("{OWN_FOLDER}/{DREAMS_FOLDER}"))
}

fn name(id: &str) -> String {
    format!("{DREAMS_FOLDER}/{id}{ENDING}")
}

/// Keeps a record, a new one when it has no id yet, which comes after all others whatever the clock says; gives
/// the id. Those that are too many go.
///
/// # Errors
/// What the disk gave, and `too-large`: what cannot be taken back is not done.
pub(crate) async fn keep(
    host: &Host,
    found: &Found,
    id: Option<&str>,
    record: &Record,
) -> Result<String, Error> {
    let failed = |failure: &Failure| Error::from_failure(failure, "keeping", DREAMS_FOLDER);
    let mut known = Vec::new();
    let is_new = id.is_none();
    let id = match id {
        Some(id) => id.to_owned(),
        None => {
            own::prepare(host, found)
                .await
                .map_err(|failure| failed(&failure))?;
            let made = host
                .make_dir(
                    &folder(&found.place()),
                    Some(&found.opened.directory),
                    FOLDER_MODE,
                )
                .await;
            host.stop_if_cancelled()?;
            made.map_err(|failure| failed(&failure))?;
            // Where they cannot be listed, the clock has to do.
            known = ids(host, &found.place()).await.unwrap_or_default();
            host.stop_if_cancelled()?;
            let after = known.iter().find_map(|id| at_of(id)).unwrap_or_default();
            let at = record.at_ms.max(after.saturating_add(1)).min(LAST_MS);
            let token = host.random(TOKEN_BYTES).await.unwrap_or_default();
            format!("{at:0DIGITS$}-{}", own::hex(&token))
        }
    };
    let json = serde_json::to_string(record).unwrap_or_default();
    if json.len() as u64 > INBOX_MAX_BYTES {
        let message = format!(
            "the changes have more than {INBOX_MAX_BYTES} bytes, too much to be taken back"
        );
        return Err(Error::new(ErrorCode::TooLarge, message));
    }
    let kept = own::replace(host, found, &name(&id), Content::Text(json)).await;
    if is_new && (kept.is_err() || host.cancelled()) {
        // It may be there all the same, and nothing of it is made.
        remove(host, found, &id).await;
    }
    host.stop_if_cancelled()?;
    kept.map_err(|failure| failed(&failure))?;
    for old in known.iter().skip(DREAMS_KEPT.saturating_sub(1)) {
        remove(host, found, old).await;
    }
    Ok(id)
}

/// All of them, the newest first.
async fn ids(host: &Host, place: &Place) -> Result<Vec<String>, Failure> {
    let listing = host.list(&folder(place), Some(&place.directory)).await?;
    let entries = listing.entries.iter();
    let ids = entries.filter_map(|entry| entry.name.strip_suffix(ENDING));
    let mut ids: Vec<String> = ids.map(str::to_owned).collect();
    order::sort(&mut ids, |a, b| b.cmp(a));
    Ok(ids)
}

/// The time that an id begins with; none of what is no id of ours.
fn at_of(id: &str) -> Option<i64> {
    let (at, _) = id.split_once('-').filter(|(at, _)| at.len() == DIGITS)?;
    at.parse().ok()
}

/// The last one that can be taken back, and its id; of those before another one, if one is named.
pub(crate) async fn newest(
    host: &Host,
    found: &Found,
    before: Option<&str>,
) -> Result<Option<(String, Record)>, Error> {
    let place = found.place();
    let within = Some(place.directory.as_str());
    let ids = ids(host, &place).await;
    host.stop_if_cancelled()?;
    let ids = match ids {
        Ok(ids) => ids,
        Err(failure)
            if matches!(
                failure.code,
                FailureCode::NotFound | FailureCode::NotADirectory
            ) =>
        {
            return Ok(None);
        }
        Err(failure) => return Err(Error::from_failure(&failure, "listing", DREAMS_FOLDER)),
    };
    let is_meant = |id: &String| before.is_none_or(|before| id.as_str() < before);
    for id in ids.into_iter().filter(is_meant) {
        let bytes = host
            .read(
                &own::own_path(place.platform, &place.directory, &name(&id)),
                within,
                INBOX_MAX_BYTES,
            )
            .await;
        host.stop_if_cancelled()?;
        let record: Option<Record> = bytes
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok());
        // What somebody has put there must not lead elsewhere.
        let is_sound = |record: &Record| {
            let mut changes = record.changes.iter();
            changes.all(|change| {
                change.path.ends_with(".md") && check_relative(&change.path, place.platform).is_ok()
            })
        };
        if let Some(record) = record.filter(is_sound) {
            return Ok(Some((id, record)));
        }
    }
    Ok(None)
}

/// Removes one, whoever cancels. Best effort.
pub(crate) async fn remove(host: &Host, found: &Found, id: &str) {
    let place = found.place();
    let file = own::own_path(place.platform, &place.directory, &name(id));
    let _ = host.shielded().remove(&file, Some(&place.directory)).await;
}
