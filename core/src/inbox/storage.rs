//! Proposals on the disk: one JSON file each in `.memdir/inbox`, which is only read when it holds nothing but
//! changes that a run can make.

use std::collections::BTreeSet;

use super::diff::{Diff, unified};
use super::{InboxChange, InboxChangeKind, InboxItem, Proposal, ProposedChange};
use crate::agent::check_memory_path;
use crate::error::{Error, ErrorCode};
use crate::flow::{Content, Failure, FailureCode, Host};
use crate::limits::{
    FILE_MAX_BYTES, FOLDER_MODE, INBOX_FOLDER, INBOX_MAX_BYTES, OWN_FOLDER, TOKEN_BYTES,
};
use crate::order;
use crate::paths::{Platform, check_relative};
use crate::store::{Found, Place, own};
use crate::text::quoted;
use crate::write::{hash, is_one_of};

const ENDING: &str = ".json";

/// Keeps what a run proposes, and gives its id. A file that stays as it is is no part of it; none when
/// nothing is left.
///
/// # Errors
/// `invalid-argument`, `path-outside-store` and its kin, and `too-large` for changes that no run can make; what
/// the disk gave.
pub(crate) async fn put(
    host: &Host,
    found: &Found,
    mut proposal: Proposal,
) -> Result<Option<String>, Error> {
    proposal.changes.retain(ProposedChange::is_change);
    check(&proposal, found.platform)?;
    if proposal.changes.is_empty() {
        return Ok(None);
    }
    let json = json(&proposal);
    if json.len() as u64 > INBOX_MAX_BYTES {
        let message =
            format!("the proposal has more than {INBOX_MAX_BYTES} bytes; let the run do less");
        return Err(Error::new(ErrorCode::TooLarge, message));
    }
    let made = make_folder(host, found).await;
    host.stop_if_cancelled()?;
    made.map_err(|failure| failed(&failure))?;
    // Without a random source the number alone tells two of the same time apart.
    let token = host.random(TOKEN_BYTES).await.unwrap_or_default();
    let at_ms = proposal.at_ms.max(0);
    let begin = format!("{at_ms:015}-{}", own::hex(&token));
    for number in 0..1000 {
        let id = format!("{begin}-{number:03}");
        let stat = host.lstat(&file(&found.place(), &id)).await;
        host.stop_if_cancelled()?;
        match stat {
            Ok(_) => {}
            Err(failure) if failure.code == FailureCode::NotFound => {
                write(host, found, &id, json).await?;
                return Ok(Some(id));
            }
            Err(failure) => return Err(failed(&failure)),
        }
    }
    let message = "there are too many proposals of the same time; apply or drop some";
    Err(Error::new(ErrorCode::Exists, message))
}

async fn make_folder(host: &Host, found: &Found) -> Result<(), Failure> {
    let directory = &found.opened.directory;
    // The first run of a project may come before its first memory.
    host.make_dir(directory, None, FOLDER_MODE).await?;
    own::prepare(host, found).await?;
    let folder = folder(&found.place());
    host.make_dir(&folder, Some(directory), FOLDER_MODE).await
}

/// The ids of all proposals, oldest first, whether they can be read or not.
pub(crate) async fn ids(host: &Host, place: &Place) -> Result<Vec<String>, Error> {
    let listing = host.list(&folder(place), Some(&place.directory)).await;
    host.stop_if_cancelled()?;
    let listing = match listing {
        Ok(listing) => listing,
        Err(failure) if is_missing(&failure) => return Ok(Vec::new()),
        Err(failure) => return Err(Error::from_failure(&failure, "listing", &shown(""))),
    };
    let names = listing.entries.iter();
    let mut ids: Vec<String> = names
        .filter_map(|entry| entry.name.strip_suffix(ENDING))
        .filter(|id| is_id(id))
        .map(str::to_owned)
        .collect();
    order::sort(&mut ids, Ord::cmp);
    Ok(ids)
}

/// One proposal.
///
/// # Errors
/// `invalid-argument` for what is no id, `not-found`, `not-text` for a file that is no proposal, or what
/// reading gave.
pub(crate) async fn read(host: &Host, place: &Place, id: &str) -> Result<Proposal, Error> {
    check_id(id)?;
    let length = INBOX_MAX_BYTES.saturating_add(1);
    let bytes = host
        .read(&file(place, id), Some(&place.directory), length)
        .await;
    host.stop_if_cancelled()?;
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(failure) if is_missing(&failure) => return Err(unknown(id)),
        Err(failure) => return Err(Error::from_failure(&failure, "reading", &shown(id))),
    };
    let proposal = Some(bytes)
        .filter(|bytes| bytes.len() as u64 <= INBOX_MAX_BYTES)
        .and_then(|bytes| serde_json::from_slice::<Proposal>(&bytes).ok())
        .filter(|proposal| check(proposal, place.platform).is_ok());
    // What is wrong with it may hold anything, so it is not told.
    proposal.ok_or_else(|| {
        let message = format!(
            "{} is damaged, and no proposal; look at it, or drop it",
            shown(id)
        );
        Error::new(ErrorCode::NotText, message).at(shown(id))
    })
}

/// A proposal as a person looks at it.
pub(crate) async fn item(
    host: &Host,
    place: &Place,
    id: &str,
    proposal: &Proposal,
) -> Result<InboxItem, Error> {
    let mut changes = Vec::new();
    for ProposedChange {
        path,
        before,
        old,
        new,
    } in &proposal.changes
    {
        let after = new.as_ref().map(|new| hash(new.as_bytes()));
        let is_known = is_one_of(host, place, path, &[before.clone(), after]).await;
        host.stop_if_cancelled()?;
        let kind = match (before, new) {
            (_, None) => InboxChangeKind::Deleted,
            (None, Some(_)) => InboxChangeKind::Created,
            (Some(_), Some(_)) => InboxChangeKind::Changed,
        };
        // The text of what is no text is not known, but the file is.
        let old = old.as_deref().or(before.as_ref().map(|_| ""));
        let Diff {
            text,
            added,
            removed,
        } = unified(path, old, new.as_deref());
        changes.push(InboxChange {
            path: path.clone(),
            kind,
            diff: text,
            added,
            removed,
            is_stale: !is_known.unwrap_or(false),
        });
    }
    Ok(InboxItem {
        id: id.to_owned(),
        purpose: proposal.purpose.clone(),
        at_ms: proposal.at_ms,
        changes,
    })
}

/// The paths of a proposal that were chosen: all, or these.
///
/// # Errors
/// `not-found` for a path that it has not.
pub(crate) fn chosen(
    id: &str,
    proposal: &Proposal,
    paths: Option<Vec<String>>,
) -> Result<BTreeSet<String>, Error> {
    let known = proposal.changes.iter().map(|change| change.path.clone());
    let known: BTreeSet<String> = known.collect();
    let Some(paths) = paths else {
        return Ok(known);
    };
    match paths.iter().find(|path| !known.contains(*path)) {
        None => Ok(paths.into_iter().collect()),
        Some(path) => {
            let message = format!(
                "the proposal {id} says nothing of {}; memdir inbox lists what waits",
                quoted(path)
            );
            Err(Error::new(ErrorCode::NotFound, message).at(path))
        }
    }
}

/// Writes down what is left of a proposal; one of which nothing is left goes.
pub(crate) async fn keep(
    host: &Host,
    found: &Found,
    id: &str,
    proposal: &Proposal,
) -> Result<(), Error> {
    if !proposal.changes.is_empty() {
        return write(host, found, id, json(proposal)).await;
    }
    match remove(host, &found.place(), id).await {
        // Somebody else has come to the same end.
        Err(error) if error.code == ErrorCode::NotFound => Ok(()),
        removed => removed,
    }
}

/// Removes a proposal, whatever is in it.
///
/// # Errors
/// `invalid-argument` for what is no id, `not-found`, or why it cannot be removed.
pub(crate) async fn remove(host: &Host, place: &Place, id: &str) -> Result<(), Error> {
    check_id(id)?;
    let removed = host.remove(&file(place, id), Some(&place.directory)).await;
    host.stop_if_cancelled()?;
    match removed {
        Ok(()) => Ok(()),
        Err(failure) if is_missing(&failure) => Err(unknown(id)),
        Err(failure) => Err(Error::from_failure(&failure, "removing", &shown(id))),
    }
}

async fn write(host: &Host, found: &Found, id: &str, json: String) -> Result<(), Error> {
    let name = format!("{INBOX_FOLDER}/{id}{ENDING}");
    let written = own::replace(host, found, &name, Content::Text(json)).await;
    host.stop_if_cancelled()?;
    written.map_err(|failure| failed(&failure))
}

/// Refuses what no run can have proposed, whoever has written it.
fn check(proposal: &Proposal, platform: Platform) -> Result<(), Error> {
    let mut paths = BTreeSet::new();
    for ProposedChange {
        path,
        before,
        old,
        new,
    } in &proposal.changes
    {
        check_relative(path, platform)?;
        let wrong = |what: &str| {
            let message = format!("{} {what}", quoted(path));
            Err(Error::new(ErrorCode::InvalidArgument, message).at(path))
        };
        if let Err(error) = check_memory_path(path) {
            return wrong(&format!("cannot be proposed: {}", error.message));
        }
        if !paths.insert(path) {
            return wrong("is proposed twice; propose what it is to be in the end");
        }
        let is_large = |text: &Option<String>| {
            text.as_ref()
                .is_some_and(|text| text.len() as u64 > FILE_MAX_BYTES)
        };
        if is_large(old) || is_large(new) {
            let message = format!(
                "{} has more than {FILE_MAX_BYTES} bytes; split it up",
                quoted(path)
            );
            return Err(Error::new(ErrorCode::TooLarge, message).at(path));
        }
        // A person is shown the text, and the hash decides what is replaced.
        let seen = old.as_ref().map(|old| hash(old.as_bytes()));
        if seen != *before {
            return wrong("has another hash than its old text; give the hash of what was read");
        }
    }
    Ok(())
}

/// An id is a name that [`put`] can give, so it leads nowhere else.
fn is_id(id: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_digit() || matches!(b, b'a'..=b'f' | b'-');
    !id.is_empty() && id.len() <= 64 && id.bytes().all(is_plain)
}

fn check_id(id: &str) -> Result<(), Error> {
    if is_id(id) {
        return Ok(());
    }
    let message = format!(
        "{} is no id of a proposal; memdir inbox lists what waits",
        quoted(id)
    );
    Err(Error::new(ErrorCode::InvalidArgument, message))
}

fn unknown(id: &str) -> Error {
    let message = format!("there is no proposal {id}; memdir inbox lists what waits");
    Error::new(ErrorCode::NotFound, message)
}

fn failed(failure: &Failure) -> Error {
    Error::from_failure(failure, "writing", &shown(""))
}

fn is_missing(failure: &Failure) -> bool {
    matches!(
        failure.code,
        FailureCode::NotFound | FailureCode::NotADirectory
    )
}

fn json(proposal: &Proposal) -> String {
    serde_json::to_string(proposal).unwrap_or_default()
}

fn folder(place: &Place) -> String {
    place.path(&format!("{OWN_FOLDER}/{INBOX_FOLDER}"))
}

fn file(place: &Place, id: &str) -> String {
    place.path(&shown(id))
}

/// The file of a proposal, or with an empty id their folder, relative to the store.
fn shown(id: &str) -> String {
    match id {
        "" => format!("{OWN_FOLDER}/{INBOX_FOLDER}"),
        id => format!("{OWN_FOLDER}/{INBOX_FOLDER}/{id}{ENDING}"),
    }
}
