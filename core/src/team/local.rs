//! What is in the team folder: every file that can be an entry, and of every other why it is none
//! (facts 11.4: all file types, unreadable and large ones are skipped).

use std::collections::BTreeMap;

use super::key::Keys;
use crate::error::{Error, ErrorCode};
use crate::flow::{FailureCode, FileKind, Host, Listing, join_all};
use crate::limits::{
    INDEX_NAME, OWN_FOLDER, SCAN_MAX_DEPTH, SCAN_READ_FILES, TEAM_ENTRY_BYTES, TEAM_FOLDER,
    TEMPORARY_ENDING,
};
use crate::report::{ReportCode, ReportEntry};
use crate::store::Place;
use crate::write::hash;

/// The entries of the team folder.
#[derive(Debug, Default)]
pub(super) struct Local {
    /// Key to checksum.
    pub checksums: BTreeMap<String, String>,
    /// Key to content, of those that the reader asked for.
    pub contents: BTreeMap<String, String>,
    pub report: Vec<ReportEntry>,
}

/// What tells whether a file has changed: size and time.
pub(super) type Snapshot = BTreeMap<String, (u64, i64, u32)>;

/// Reads the folder. The contents of those are kept whose checksum is not the one in `known`, which are the
/// server's.
///
/// # Errors
/// `link-outside` or `not-a-directory` when the team folder is none, or what listing it gave.
pub(super) async fn read(
    host: &Host,
    place: &Place,
    known: &BTreeMap<String, String>,
) -> Result<Local, Error> {
    let (files, report) = list(host, place).await?;
    let mut local = Local {
        report,
        ..Local::default()
    };
    let mut keys = Keys::default();
    for key in known.keys() {
        // What the server has first keeps its twins out; that itself may be anything.
        let _ = keys.accept(key);
    }
    let mut wanted = Vec::new();
    for (key, (size, ..)) in files {
        if size > TEAM_ENTRY_BYTES {
            local.report.push(too_large(&key));
        } else if let Err(error) = keys.accept(&key) {
            let message = format!("it is not uploaded: {}", error.message);
            let entry = ReportEntry::new(path_of(&key), ReportCode::TeamKey, message);
            local.report.push(entry);
        } else {
            wanted.push(key);
        }
    }
    for chunk in wanted.chunks(SCAN_READ_FILES) {
        let paths: Vec<String> = chunk.iter().map(|key| place.path(&path_of(key))).collect();
        let within = Some(place.directory.as_str());
        let length = TEAM_ENTRY_BYTES.saturating_add(1);
        let reads = join_all(paths.iter().map(|path| host.read(path, within, length))).await;
        host.stop_if_cancelled()?;
        for (key, bytes) in chunk.iter().zip(reads) {
            local.take(key, bytes, known);
        }
    }
    Ok(local)
}

impl Local {
    fn take(
        &mut self,
        key: &str,
        bytes: Result<Vec<u8>, crate::flow::Failure>,
        known: &BTreeMap<String, String>,
    ) {
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(failure) if failure.code == FailureCode::NotFound => return,
            Err(failure) => {
                let message = format!("it is not uploaded: {}", failure.message);
                let entry = ReportEntry::new(path_of(key), ReportCode::Unreadable, message);
                self.report.push(entry);
                return;
            }
        };
        if bytes.len() as u64 > TEAM_ENTRY_BYTES {
            self.report.push(too_large(key));
            return;
        }
        let checksum = hash(&bytes);
        match String::from_utf8(bytes) {
            Ok(text) => {
                if known.get(key) != Some(&checksum) || key == INDEX_NAME {
                    self.contents.insert(key.to_owned(), text);
                }
                self.checksums.insert(key.to_owned(), checksum);
            }
            Err(_) => self.report.push(ReportEntry::new(
                path_of(key),
                ReportCode::NotUtf8,
                "it is not uploaded: it is not UTF-8 text; convert it to UTF-8",
            )),
        }
    }
}

/// The path of an entry, relative to the store.
pub(super) fn path_of(key: &str) -> String {
    format!("{TEAM_FOLDER}/{key}")
}

/// The regular files below the team folder, by key.
pub(super) async fn list(
    host: &Host,
    place: &Place,
) -> Result<(Snapshot, Vec<ReportEntry>), Error> {
    let (mut files, mut report) = (Snapshot::new(), Vec::new());
    let root = place.path(TEAM_FOLDER);
    let stat = host.lstat(&root).await;
    host.stop_if_cancelled()?;
    match stat.map(|stat| stat.kind) {
        Ok(FileKind::Directory) => {}
        Ok(FileKind::Link) => {
            let message = "the team folder is a link, which is not followed; keep the folder itself in the store";
            return Err(Error::new(ErrorCode::LinkOutside, message).at(TEAM_FOLDER));
        }
        Ok(_) => {
            let message = "the team folder is no folder; remove what has its name";
            return Err(Error::new(ErrorCode::NotADirectory, message).at(TEAM_FOLDER));
        }
        Err(failure)
            if matches!(
                failure.code,
                FailureCode::NotFound | FailureCode::NotADirectory
            ) =>
        {
            return Ok((files, report));
        }
        Err(failure) => return Err(Error::from_failure(&failure, "looking at", TEAM_FOLDER)),
    }
    let mut level = vec![String::new()];
    for depth in 0.. {
        if level.is_empty() {
            break;
        }
        if depth > SCAN_MAX_DEPTH {
            let message = format!("folders deeper than {SCAN_MAX_DEPTH} are not entered");
            report.extend(level.iter().map(|folder| {
                ReportEntry::new(path_of(folder), ReportCode::TooDeep, message.clone())
            }));
            break;
        }
        let within = Some(place.directory.as_str());
        let paths: Vec<String> = level.iter().map(|key| place.path(&path_of(key))).collect();
        let paths: Vec<&str> = paths
            .iter()
            .map(|path| path.trim_end_matches('/'))
            .collect();
        let listings = join_all(paths.iter().map(|path| host.list(path, within))).await;
        host.stop_if_cancelled()?;
        let mut next = Vec::new();
        for (folder, listing) in level.iter().zip(listings) {
            match listing {
                Ok(listing) => take(folder, listing, &mut files, &mut next, &mut report),
                Err(failure) if folder.is_empty() => {
                    return Err(Error::from_failure(&failure, "listing", TEAM_FOLDER));
                }
                Err(failure) => {
                    let message = format!("the folder could not be listed: {}", failure.message);
                    let entry = ReportEntry::new(path_of(folder), ReportCode::Unlistable, message);
                    report.push(entry);
                }
            }
        }
        level = next;
    }
    Ok((files, report))
}

fn take(
    folder: &str,
    listing: Listing,
    files: &mut Snapshot,
    folders: &mut Vec<String>,
    report: &mut Vec<ReportEntry>,
) {
    if listing.incomplete {
        report.push(ReportEntry::new(
            path_of(folder),
            ReportCode::ListingIncomplete,
            "the folder could not be listed to its end; rename files whose names are not UTF-8",
        ));
    }
    for entry in listing.entries {
        if entry.name == OWN_FOLDER || entry.name.ends_with(TEMPORARY_ENDING) {
            continue;
        }
        let key = if folder.is_empty() {
            entry.name
        } else {
            format!("{folder}/{}", entry.name)
        };
        let mut skip = |code, message: &str| {
            report.push(ReportEntry::new(path_of(&key), code, message));
        };
        match entry.stat {
            _ if entry.invalid_name => {
                skip(ReportCode::InvalidName, "its name is not UTF-8; rename it");
            }
            None => {}
            Some(stat) => match stat.kind {
                FileKind::File => {
                    let seen = (stat.size, stat.mtime_ms, stat.mtime_ns);
                    files.insert(key, seen);
                }
                FileKind::Directory => folders.push(key),
                FileKind::Link => skip(
                    ReportCode::TeamLink,
                    "it is a link, which is neither uploaded nor written to; keep the file itself in the team folder",
                ),
                FileKind::Other => skip(ReportCode::NotAFile, "it is no regular file"),
            },
        }
    }
}

fn too_large(key: &str) -> ReportEntry {
    let message =
        format!("it is not uploaded: it has more than {TEAM_ENTRY_BYTES} bytes; split it up");
    ReportEntry::new(path_of(key), ReportCode::TeamTooLarge, message)
}
