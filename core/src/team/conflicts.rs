//! Our versions that a sync has kept: which there are, what is in them, and how one becomes the memory again.

use serde::Serialize;

use crate::error::{Error, ErrorCode};
use crate::flow::{FailureCode, Host, join_all};
use crate::limits::{CONFLICTS_FOLDER, FILE_MAX_BYTES, OWN_FOLDER};
use crate::order;
use crate::store::Place;
use crate::text::quoted;
use crate::write::{KEPT_BYTES, KEPT_RECORD, KeptRecord};

/// A version that was kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Conflict {
    /// What it is called; later ones come after earlier ones.
    pub id: String,
    /// The memory that it is a version of, relative to the store.
    pub path: String,
    /// When it was kept, milliseconds since the epoch.
    pub at_ms: i64,
    /// Bytes.
    pub size: u64,
}

/// A version that was kept, with its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConflictFile {
    /// What it is called.
    pub id: String,
    /// The memory that it is a version of, relative to the store.
    pub path: String,
    /// When it was kept, milliseconds since the epoch.
    pub at_ms: i64,
    /// Our text.
    pub content: String,
}

/// All of them, oldest first.
pub(crate) async fn list(host: &Host, place: &Place) -> Result<Vec<Conflict>, Error> {
    let within = Some(place.directory.as_str());
    let listing = host.list(&folder(place), within).await;
    host.stop_if_cancelled()?;
    let listing = match listing {
        Ok(listing) => listing,
        Err(failure)
            if matches!(
                failure.code,
                FailureCode::NotFound | FailureCode::NotADirectory
            ) =>
        {
            return Ok(Vec::new());
        }
        Err(failure) => return Err(Error::from_failure(&failure, "listing", CONFLICTS_FOLDER)),
    };
    let items: Vec<(String, u64)> = listing
        .entries
        .into_iter()
        .filter_map(|entry| {
            let id = entry.name.strip_suffix(KEPT_BYTES)?.to_owned();
            Some((id, entry.stat?.size))
        })
        .collect();
    let records = join_all(items.iter().map(|(id, _)| record(host, place, id))).await;
    host.stop_if_cancelled()?;
    let mut conflicts: Vec<Conflict> = items
        .into_iter()
        .zip(records)
        .filter_map(|((id, size), record)| {
            let KeptRecord { path, at_ms } = record?;
            Some(Conflict {
                id,
                path,
                at_ms,
                size,
            })
        })
        .collect();
    order::sort(&mut conflicts, |a, b| a.id.cmp(&b.id));
    Ok(conflicts)
}

/// One of them.
///
/// # Errors
/// `not-found`, `not-text`, or what reading gave.
pub(crate) async fn read(host: &Host, place: &Place, id: &str) -> Result<ConflictFile, Error> {
    let Conflict {
        id, path, at_ms, ..
    } = find(host, place, id).await?;
    let file = file(place, &id, KEPT_BYTES);
    let bytes = host
        .read(&file, Some(&place.directory), FILE_MAX_BYTES)
        .await;
    host.stop_if_cancelled()?;
    let bytes = bytes.map_err(|failure| Error::from_failure(&failure, "reading", &id))?;
    let content = String::from_utf8(bytes).map_err(|_| {
        let message = format!("our version of {path} is not UTF-8 text; it lies in {file}");
        Error::new(ErrorCode::NotText, message).at(&path)
    })?;
    Ok(ConflictFile {
        id,
        path,
        at_ms,
        content,
    })
}

/// One of them, without its text.
///
/// # Errors
/// `not-found`.
pub(crate) async fn find(host: &Host, place: &Place, id: &str) -> Result<Conflict, Error> {
    let known = list(host, place).await?;
    let found = known.into_iter().find(|conflict| conflict.id == id);
    found.ok_or_else(|| {
        let message = format!(
            "there is no kept version {}; memdir team conflicts lists what there is",
            quoted(id)
        );
        Error::new(ErrorCode::NotFound, message)
    })
}

/// Lets go of one that somebody has dealt with.
pub(crate) async fn remove(host: &Host, place: &Place, id: &str) -> Result<(), Error> {
    // The record goes last, so that bytes without one are never left.
    for ending in [KEPT_BYTES, KEPT_RECORD] {
        let file = file(place, id, ending);
        let removed = host.remove(&file, Some(&place.directory)).await;
        host.stop_if_cancelled()?;
        match removed {
            Err(failure) if failure.code != FailureCode::NotFound => {
                return Err(Error::from_failure(&failure, "removing", id));
            }
            _ => {}
        }
    }
    Ok(())
}

async fn record(host: &Host, place: &Place, id: &str) -> Option<KeptRecord> {
    let file = file(place, id, KEPT_RECORD);
    let bytes = host
        .read(&file, Some(&place.directory), FILE_MAX_BYTES)
        .await;
    serde_json::from_slice(&bytes.ok()?).ok()
}

fn folder(place: &Place) -> String {
    place.path(&format!("{OWN_FOLDER}/{CONFLICTS_FOLDER}"))
}

fn file(place: &Place, id: &str, ending: &str) -> String {
    place.path(&format!("{OWN_FOLDER}/{CONFLICTS_FOLDER}/{id}{ending}"))
}
