//! Lists the memories of a store (facts 4.4, document 000 §6) and says of every file that should
//! have been one why it is not.

use serde::Serialize;

use super::{Place, stop_if_cancelled};
use crate::error::Error;
use crate::flow::{
    Bytes, Entry, Failure, FailureCode, FileKind, Head, Host, Listing, Stat, join_all,
};
use crate::limits::{
    FRONTMATTER_MAX_BYTES, HEAD_BYTES, INDEX_NAME, LARGE_MEMORY_BYTES, OWN_FOLDER, SCAN_MAX_DEPTH,
    SCAN_MAX_MEMORIES, SCAN_READ_FILES, TEMPORARY_ENDING,
};
use crate::memory::{MemoryHeader, needs_more, parse_frontmatter};
use crate::report::{ReportCode, ReportEntry};

/// What a scan found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Scan {
    /// Newest first, by modification time; at equal times by path.
    pub memories: Vec<MemoryHeader>,
    /// By path.
    pub report: Vec<ReportEntry>,
}

/// A file that may be a memory.
struct Candidate {
    /// Relative to the store.
    path: String,
    /// What is opened: the path itself, or where a link inside the store leads.
    file: String,
    stat: Stat,
}

/// Collects what the walk finds.
#[derive(Default)]
struct Found {
    candidates: Vec<Candidate>,
    links: Vec<String>,
    folders: Vec<String>,
    report: Vec<ReportEntry>,
}

pub(super) async fn scan(place: &Place, host: &Host) -> Result<Scan, Error> {
    let mut found = walk(place, host).await?;
    follow_links(place, host, &mut found).await?;
    let Found {
        mut candidates,
        mut report,
        ..
    } = found;

    candidates.sort_unstable_by(|a, b| {
        (b.stat.mtime_ms, b.stat.mtime_ns)
            .cmp(&(a.stat.mtime_ms, a.stat.mtime_ns))
            .then_with(|| a.path.cmp(&b.path))
    });
    if candidates.len() > SCAN_MAX_MEMORIES {
        let over = candidates.len().saturating_sub(SCAN_MAX_MEMORIES);
        candidates.truncate(SCAN_MAX_MEMORIES);
        report.push(ReportEntry::new(
            "",
            ReportCode::OverLimit,
            format!("{over} memories beyond the {SCAN_MAX_MEMORIES} newest were left out; merge or remove old ones"),
        ));
    }
    let memories = read_headers(host, candidates, &mut report).await?;
    report
        .sort_unstable_by(|a, b| (&a.path, a.code, &a.message).cmp(&(&b.path, b.code, &b.message)));
    Ok(Scan { memories, report })
}

/// Lists folder by folder, level by level; the folders of a level share a step.
async fn walk(place: &Place, host: &Host) -> Result<Found, Error> {
    let mut found = Found::default();
    let mut level = vec![String::new()];
    for depth in 0.. {
        if level.is_empty() {
            break;
        }
        if depth > SCAN_MAX_DEPTH {
            for folder in level {
                found.report.push(ReportEntry::new(
                    folder,
                    ReportCode::TooDeep,
                    format!(
                        "folders deeper than {SCAN_MAX_DEPTH} are not entered; move its memories up"
                    ),
                ));
            }
            break;
        }
        let paths: Vec<String> = level.iter().map(|folder| place.path(folder)).collect();
        let listings = join_all(paths.iter().map(|path| host.list(path))).await;
        stop_if_cancelled(host)?;
        for (folder, listing) in level.iter().zip(listings) {
            match listing {
                Ok(listing) => found.take_listing(place, folder, listing),
                Err(failure) => found.report.push(unlistable(folder, &failure)),
            }
        }
        level = std::mem::take(&mut found.folders);
    }
    Ok(found)
}

impl Found {
    fn take_listing(&mut self, place: &Place, folder: &str, listing: Listing) {
        if listing.incomplete {
            self.report.push(ReportEntry::new(
                folder,
                ReportCode::ListingIncomplete,
                "the folder could not be listed to its end, so memories may be missing; rename files whose names are not UTF-8",
            ));
        }
        for entry in listing.entries {
            if entry.name == OWN_FOLDER || entry.name.ends_with(TEMPORARY_ENDING) {
                continue;
            }
            let path = if folder.is_empty() {
                entry.name.clone()
            } else {
                format!("{folder}/{}", entry.name)
            };
            self.take_entry(place, path, entry);
        }
    }

    fn take_entry(&mut self, place: &Place, path: String, entry: Entry) {
        let is_memory = entry.name.ends_with(".md") && entry.name != INDEX_NAME;
        if entry.invalid_name {
            self.note(
                path,
                ReportCode::InvalidName,
                "the name is not UTF-8, so the file cannot be used; rename it",
            );
            return;
        }
        let Some(stat) = entry.stat else {
            if is_memory {
                self.note(
                    path,
                    ReportCode::Vanished,
                    "it went away while the folder was listed",
                );
            }
            return;
        };
        match stat.kind {
            FileKind::File if is_memory => {
                let file = place.path(&path);
                self.candidates.push(Candidate { path, file, stat });
            }
            FileKind::Directory => {
                if is_memory {
                    self.note(
                        path.clone(),
                        ReportCode::NotAFile,
                        "it is a folder with the name of a memory; rename it",
                    );
                }
                self.folders.push(path);
            }
            FileKind::Link => self.links.push(path),
            FileKind::Other if is_memory => {
                self.note(
                    path,
                    ReportCode::NotAFile,
                    "it is no regular file and was not opened; replace it by one",
                );
            }
            FileKind::File | FileKind::Other => {}
        }
    }

    fn note(&mut self, path: String, code: ReportCode, message: &str) {
        self.report.push(ReportEntry::new(path, code, message));
    }
}

/// A link to a file inside the store is a memory like any other; every other link is reported.
async fn follow_links(place: &Place, host: &Host, found: &mut Found) -> Result<(), Error> {
    let links = std::mem::take(&mut found.links);
    if links.is_empty() {
        return Ok(());
    }
    let root = host.real_path(&place.directory).await;
    stop_if_cancelled(host)?;
    let Ok(root) = root else {
        for path in links {
            found.note(
                path,
                ReportCode::Unreadable,
                "the store's own path cannot be resolved, so its links are not followed",
            );
        }
        return Ok(());
    };
    let targets = join_all(links.iter().map(|path| resolve(host, place.path(path)))).await;
    stop_if_cancelled(host)?;
    for (path, target) in links.into_iter().zip(targets) {
        let is_memory = path.ends_with(".md")
            && path != INDEX_NAME
            && !path.ends_with(&format!("/{INDEX_NAME}"));
        match target {
            Ok((_, stat)) if stat.kind == FileKind::Directory => {
                found.note(
                    path,
                    ReportCode::LinkToFolder,
                    "it is a link to a folder, which is not entered; move the folder here",
                );
            }
            _ if !is_memory => {}
            Ok((file, _)) if !place.platform.is_inside(&file, &root) => {
                found.note(
                    path,
                    ReportCode::LinkOutside,
                    "it is a link that leaves the store; keep the file itself in the store",
                );
            }
            Ok((file, stat)) if stat.kind == FileKind::File => {
                found.candidates.push(Candidate { path, file, stat })
            }
            Ok(_) => found.note(
                path,
                ReportCode::NotAFile,
                "it leads to no regular file and was not opened",
            ),
            Err(failure) if failure.code == FailureCode::NotFound => {
                found.note(
                    path,
                    ReportCode::LinkDangling,
                    "it is a link to nothing; remove it",
                );
            }
            Err(failure) if failure.code == FailureCode::Loop => {
                found.note(
                    path,
                    ReportCode::LinkLoop,
                    "it is a link that leads in a circle; remove it",
                );
            }
            Err(failure) => {
                let message = format!("its target cannot be found: {}", failure.message);
                found.note(path, ReportCode::Unreadable, &message);
            }
        }
    }
    Ok(())
}

async fn resolve(host: &Host, path: String) -> Result<(String, Stat), Failure> {
    let target = host.real_path(&path).await?;
    let stat = host.lstat(&target).await?;
    Ok((target, stat))
}

/// Reads the heads of all candidates in few steps, and more of those whose frontmatter is longer.
async fn read_headers(
    host: &Host,
    candidates: Vec<Candidate>,
    report: &mut Vec<ReportEntry>,
) -> Result<Vec<MemoryHeader>, Error> {
    let mut memories = Vec::with_capacity(candidates.len());
    for chunk in candidates.chunks(SCAN_READ_FILES) {
        let files = chunk
            .iter()
            .map(|candidate| candidate.file.clone())
            .collect();
        let heads = host.read_many(files, HEAD_BYTES as u64).await;
        stop_if_cancelled(host)?;
        let mut heads = match heads {
            Ok(heads) => heads,
            Err(failure) => chunk
                .iter()
                .map(|_| Head::Failed(failure.clone()))
                .collect(),
        };
        // A host that answers with another number of heads broke its contract.
        heads.resize(
            chunk.len(),
            Head::Failed(Failure::new(
                FailureCode::Other,
                "the host gave no answer for it",
            )),
        );
        read_longer(host, chunk, &mut heads).await?;
        for (candidate, head) in chunk.iter().zip(heads) {
            memories.extend(header(candidate, head, report));
        }
    }
    Ok(memories)
}

/// Reads more of the files whose frontmatter goes on beyond their heads.
async fn read_longer(host: &Host, chunk: &[Candidate], heads: &mut [Head]) -> Result<(), Error> {
    let short: Vec<(&Candidate, &mut Head)> = chunk
        .iter()
        .zip(heads)
        .filter(|(candidate, head)| is_short(candidate, head))
        .collect();
    // A closing line may begin at the last byte allowed; a head more lets it end.
    let length = (FRONTMATTER_MAX_BYTES + HEAD_BYTES) as u64;
    let longer = join_all(
        short
            .iter()
            .map(|(candidate, _)| host.read(&candidate.file, 0, length)),
    )
    .await;
    stop_if_cancelled(host)?;
    for ((_, head), longer) in short.into_iter().zip(longer) {
        *head = match longer {
            Ok(bytes) => Head::Content(Bytes(bytes)),
            Err(failure) => Head::Failed(failure),
        };
    }
    Ok(())
}

fn is_short(candidate: &Candidate, head: &Head) -> bool {
    let Head::Content(bytes) = head else {
        return false;
    };
    let cut = (bytes.0.len() as u64) < candidate.stat.size;
    cut && head_text(&bytes.0, false).is_ok_and(needs_more)
}

fn header(
    candidate: &Candidate,
    head: Head,
    report: &mut Vec<ReportEntry>,
) -> Option<MemoryHeader> {
    let mut note =
        |code, message: String| report.push(ReportEntry::new(&candidate.path, code, message));
    let bytes = match head {
        Head::Content(bytes) => bytes.0,
        Head::Failed(failure) => {
            match failure.code {
                FailureCode::NotFound => note(
                    ReportCode::Vanished,
                    "it went away before it was read".into(),
                ),
                _ => note(
                    ReportCode::Unreadable,
                    format!("it could not be read: {}", failure.message),
                ),
            }
            return None;
        }
    };
    let whole = bytes.len() as u64 >= candidate.stat.size;
    let text = match head_text(&bytes, whole) {
        Ok(text) => text,
        Err((code, message)) => {
            note(code, format!("it {message}"));
            return None;
        }
    };
    if bytes.is_empty() {
        note(
            ReportCode::Empty,
            "it is empty; write it or remove it".into(),
        );
    }
    if candidate.stat.size > LARGE_MEMORY_BYTES {
        note(
            ReportCode::Large,
            format!(
                "it has {} bytes, of which only the head was read; a memory should fit a page",
                candidate.stat.size
            ),
        );
    }
    let frontmatter = parse_frontmatter(text);
    for problem in &frontmatter.problems {
        note(problem.code, problem.message.clone());
    }
    Some(MemoryHeader::new(
        candidate.path.clone(),
        &candidate.stat,
        frontmatter,
    ))
}

/// The text of a file, or of its beginning when the rest was not read.
pub(super) fn check_text(bytes: &[u8], whole: bool) -> Result<&str, (ReportCode, &'static str)> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // Only the last character of a head may be incomplete.
        Err(error) if !whole && error.error_len().is_none() => bytes
            .get(..error.valid_up_to())
            .and_then(|valid| std::str::from_utf8(valid).ok())
            .unwrap_or_default(),
        Err(_) if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) => {
            return Err((ReportCode::NotUtf8, "is UTF-16 text; convert it to UTF-8"));
        }
        Err(_) => {
            return Err((
                ReportCode::NotUtf8,
                "is not UTF-8 text; convert it to UTF-8",
            ));
        }
    };
    if bytes.contains(&0) {
        return Err((
            ReportCode::NulByte,
            "holds NUL characters, so it is no text; remove them or the file",
        ));
    }
    Ok(text)
}

/// The text of a memory, or the whole lines of its head when the rest was not read: a line that
/// goes on beyond the head may look like a fence and be none.
fn head_text(bytes: &[u8], whole: bool) -> Result<&str, (ReportCode, &'static str)> {
    let text = check_text(bytes, whole)?;
    let end = match text.rfind('\n') {
        _ if whole => text.len(),
        Some(end) => end.saturating_add(1),
        None => 0,
    };
    Ok(text.get(..end).unwrap_or_default())
}

fn unlistable(folder: &str, failure: &Failure) -> ReportEntry {
    let message = match (folder, failure.code) {
        ("", FailureCode::NotFound) => {
            "the memory folder does not exist; it is created with the first prompt or memory"
                .to_owned()
        }
        _ => format!("the folder could not be listed: {}", failure.message),
    };
    ReportEntry::new(folder, ReportCode::Unlistable, message)
}
