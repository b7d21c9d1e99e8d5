//! Lists the memories of a store (facts 4.4, document 000 §6) and says of every file that should
//! have been one why it is not.

use std::sync::Arc;

use serde::Serialize;

use super::cache::{Headers, Known};
use super::{Place, stop_if_cancelled};
use crate::error::Error;
use crate::flow::{
    Bytes, Failure, FailureCode, FileKind, Head, Host, Listing, Stat, join, join_all,
};
use crate::limits::{
    FRONTMATTER_MAX_BYTES, HEAD_BYTES, INDEX_NAME, LARGE_MEMORY_BYTES, LINT_READ_BYTES, OWN_FOLDER,
    SCAN_MAX_DEPTH, SCAN_MAX_MEMORIES, SCAN_READ_FILES, TEMPORARY_ENDING,
};
use crate::memory::{MemoryHeader, needs_more, parse_frontmatter};
use crate::order;
use crate::paths::is_own;
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
    /// Where a link leads, relative to the store; none for what is no link.
    target: Option<String>,
    stat: Stat,
}

impl Candidate {
    /// What is opened.
    fn file(&self, place: &Place) -> String {
        place.path(self.target.as_ref().unwrap_or(&self.path))
    }
}

/// Collects what the walk finds.
#[derive(Default)]
struct Found {
    candidates: Vec<Candidate>,
    links: Vec<String>,
    folders: Vec<String>,
    report: Vec<ReportEntry>,
    /// Whether there is no such folder at all.
    missing: bool,
    /// When the listing began, milliseconds since the epoch; the least value without a clock, so
    /// that nothing that is read now is trusted later.
    listed_ms: i64,
}

/// Lists the store and reads the heads of its newest memories, but for those that `known` still
/// holds for. Gives what is now known besides.
pub(super) async fn scan(
    place: &Place,
    host: &Host,
    known: &Headers,
) -> Result<(Scan, Headers), Error> {
    let Found {
        mut candidates,
        mut report,
        listed_ms,
        ..
    } = list(place, host).await?;
    if candidates.len() > SCAN_MAX_MEMORIES {
        let over = candidates.len().saturating_sub(SCAN_MAX_MEMORIES);
        candidates.truncate(SCAN_MAX_MEMORIES);
        report.push(ReportEntry::new(
            "",
            ReportCode::OverLimit,
            format!("{over} memories beyond the {SCAN_MAX_MEMORIES} newest were left out; merge or remove old ones"),
        ));
    }
    let mut now: Vec<Option<Arc<Known>>> = candidates
        .iter()
        .map(|candidate| known.get(&candidate.path, &candidate.stat).cloned())
        .collect();
    let mut cold: Vec<(&Candidate, &mut Option<Arc<Known>>)> = candidates
        .iter()
        .zip(&mut now)
        .filter(|(_, known)| known.is_none())
        .collect();
    let unchanged = cold.is_empty() && known.count() == candidates.len();
    for chunk in cold.chunks_mut(SCAN_READ_FILES) {
        let files: Vec<&Candidate> = chunk.iter().map(|(candidate, _)| *candidate).collect();
        let heads = read_heads(place, host, &files, HEAD_BYTES).await?;
        for ((candidate, known), head) in chunk.iter_mut().zip(heads) {
            let mut said = Vec::new();
            // What failed may work the next time, with the same stamp.
            let listed_ms = if matches!(head, Head::Failed(_)) {
                i64::MIN
            } else {
                listed_ms
            };
            let header = header(candidate, head, &mut said);
            **known = Some(Known::new(candidate.stat.clone(), listed_ms, header, said));
        }
    }

    let mut memories = Vec::with_capacity(candidates.len());
    for known in now.iter().flatten() {
        memories.extend(known.header.clone());
        report.extend(known.report.iter().cloned());
    }
    let headers = if unchanged {
        known.clone()
    } else {
        let found = candidates.into_iter().zip(now);
        Headers::new(
            found
                .filter_map(|(candidate, known)| Some((candidate.path, known?)))
                .collect(),
        )
    };
    sort(&mut report);
    Ok((Scan { memories, report }, headers))
}

/// What reading a whole store left to say.
pub(super) struct Everything {
    pub report: Vec<ReportEntry>,
    /// Whether there is no such folder at all.
    pub missing: bool,
}

/// Reads all memories, however many there are, and hands each on: its path, the beginning of its
/// text, and whether the file is empty.
pub(super) async fn read_all(
    place: &Place,
    host: &Host,
    mut each: impl FnMut(&str, &str, bool),
) -> Result<Everything, Error> {
    let Found {
        candidates,
        mut report,
        missing,
        ..
    } = list(place, host).await?;
    let candidates: Vec<&Candidate> = candidates.iter().collect();
    for chunk in candidates.chunks(SCAN_READ_FILES) {
        let heads = read_heads(place, host, chunk, LINT_READ_BYTES).await?;
        for (candidate, head) in chunk.iter().zip(heads) {
            if let Some(bytes) = bytes_of(candidate, head, &mut report)
                && let Some(text) = text_of(candidate, &bytes, &mut report)
            {
                each(&candidate.path, text, bytes.is_empty());
            }
        }
    }
    Ok(Everything { report, missing })
}

/// What is in the store, links followed, newest first.
async fn list(place: &Place, host: &Host) -> Result<Found, Error> {
    let mut found = walk(place, host).await?;
    follow_links(place, host, &mut found).await?;
    order::sort(&mut found.candidates, |a, b| {
        (b.stat.mtime_ms, b.stat.mtime_ns)
            .cmp(&(a.stat.mtime_ms, a.stat.mtime_ns))
            .then_with(|| a.path.cmp(&b.path))
    });
    Ok(found)
}

fn sort(report: &mut Vec<ReportEntry>) {
    order::sort(report, |a, b| {
        (&a.path, a.code, &a.message).cmp(&(&b.path, b.code, &b.message))
    });
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
        let within = Some(place.directory.as_str());
        let lists = join_all(paths.iter().map(|path| host.list(path, within)));
        let listings = if depth == 0 {
            let (now, listings) = join(host.now(), lists).await;
            found.listed_ms = now.map_or(i64::MIN, |now| now.ms);
            listings
        } else {
            lists.await
        };
        stop_if_cancelled(host)?;
        for (folder, listing) in level.iter().zip(listings) {
            match listing {
                Ok(listing) => found.take_listing(folder, listing),
                Err(failure) => {
                    found.missing |= folder.is_empty() && failure.code == FailureCode::NotFound;
                    found.report.push(unlistable(folder, &failure));
                }
            }
        }
        level = std::mem::take(&mut found.folders);
    }
    Ok(found)
}

impl Found {
    fn take_listing(&mut self, folder: &str, listing: Listing) {
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
            let is_memory = entry.name.ends_with(".md") && entry.name != INDEX_NAME;
            let path = if folder.is_empty() {
                entry.name
            } else {
                format!("{folder}/{}", entry.name)
            };
            self.take_entry(path, is_memory, entry.invalid_name, entry.stat);
        }
    }

    fn take_entry(
        &mut self,
        path: String,
        is_memory: bool,
        invalid_name: bool,
        stat: Option<Stat>,
    ) {
        if invalid_name {
            self.note(
                path,
                ReportCode::InvalidName,
                "the name is not UTF-8, so the file cannot be used; rename it",
            );
            return;
        }
        let Some(stat) = stat else {
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
                let target = None;
                self.candidates.push(Candidate { path, target, stat });
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
        let target = target.map(|(file, stat)| {
            let inside = place.platform.below(&file, &root).map(str::to_owned);
            (inside, stat)
        });
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
            Err(failure) if path == INDEX_NAME && failure.code == FailureCode::NotFound => {
                found.note(
                    path,
                    ReportCode::LinkDangling,
                    "it is a link to nothing; remove it",
                );
            }
            _ if !is_memory => {}
            Ok((None, _)) => {
                found.note(
                    path,
                    ReportCode::LinkOutside,
                    "it is a link that leaves the store; keep the file itself in the store",
                );
            }
            Ok((Some(file), _)) if is_own(&file, place.platform) => {
                found.note(
                    path,
                    ReportCode::LinkOutside,
                    "it is a link to one of memdir's own files; remove it",
                );
            }
            Ok((target, stat)) if stat.kind == FileKind::File => {
                found.candidates.push(Candidate { path, target, stat });
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

/// The heads of a few files in one step, and more of those whose frontmatter is longer.
async fn read_heads(
    place: &Place,
    host: &Host,
    chunk: &[&Candidate],
    length: usize,
) -> Result<Vec<Head>, Error> {
    let files = chunk
        .iter()
        .map(|candidate| candidate.file(place))
        .collect();
    let within = Some(place.directory.as_str());
    let heads = host.read_many(files, within, length as u64).await;
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
    read_longer(place, host, chunk, &mut heads).await?;
    Ok(heads)
}

/// Reads more of the files whose frontmatter goes on beyond their heads.
async fn read_longer(
    place: &Place,
    host: &Host,
    chunk: &[&Candidate],
    heads: &mut [Head],
) -> Result<(), Error> {
    let short: Vec<(String, &mut Head)> = chunk
        .iter()
        .zip(heads)
        .filter(|(candidate, head)| is_short(candidate, head))
        .map(|(candidate, head)| (candidate.file(place), head))
        .collect();
    // A closing line may begin at the last byte allowed; a head more lets it end.
    let length = (FRONTMATTER_MAX_BYTES + HEAD_BYTES) as u64;
    let within = Some(place.directory.as_str());
    let longer = join_all(
        short
            .iter()
            .map(|(file, _)| host.read(file, within, length)),
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
    let bytes = bytes_of(candidate, head, report)?;
    let text = text_of(candidate, &bytes, report)?;
    let mut note =
        |code, message: String| report.push(ReportEntry::new(&candidate.path, code, message));
    if bytes.is_empty() {
        note(
            ReportCode::Empty,
            "it is empty; write it or remove it".into(),
        );
    }
    if candidate.stat.size > LARGE_MEMORY_BYTES {
        let message = format!(
            "it has {} bytes, of which only the head was read; a memory should fit a page",
            candidate.stat.size
        );
        note(ReportCode::Large, message);
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

/// What was read of a memory; none, and an entry in the report, when it could not be.
fn bytes_of(candidate: &Candidate, head: Head, report: &mut Vec<ReportEntry>) -> Option<Vec<u8>> {
    let failure = match head {
        Head::Content(bytes) => return Some(bytes.0),
        Head::Failed(failure) => failure,
    };
    let (code, message) = match failure.code {
        FailureCode::NotFound => (
            ReportCode::Vanished,
            "it went away before it was read".to_owned(),
        ),
        _ => (
            ReportCode::Unreadable,
            format!("it could not be read: {}", failure.message),
        ),
    };
    report.push(ReportEntry::new(&candidate.path, code, message));
    None
}

/// What was read as text; none, and an entry in the report, when it is no text.
fn text_of<'a>(
    candidate: &Candidate,
    bytes: &'a [u8],
    report: &mut Vec<ReportEntry>,
) -> Option<&'a str> {
    let whole = bytes.len() as u64 >= candidate.stat.size;
    match head_text(bytes, whole) {
        Ok(text) => Some(text),
        Err((code, message)) => {
            report.push(ReportEntry::new(
                &candidate.path,
                code,
                format!("it {message}"),
            ));
            None
        }
    }
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
            "the memory folder does not exist; it is created with the first prompt".to_owned()
        }
        _ => format!("the folder could not be listed: {}", failure.message),
    };
    ReportEntry::new(folder, ReportCode::Unlistable, message)
}
