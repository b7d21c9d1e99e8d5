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
    FRONTMATTER_MAX_BYTES, HEAD_BYTES, INDEX_NAME, LARGE_MEMORY_BYTES, MEMORY_READ_BYTES,
    OWN_FOLDER, SCAN_MAX_DEPTH, SCAN_MAX_MEMORIES, SCAN_READ_FILES, TEMPORARY_ENDING,
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

    fn known(
        &self,
        listed_ms: i64,
        header: Option<MemoryHeader>,
        report: Vec<ReportEntry>,
    ) -> Arc<Known> {
        Known::new(
            self.target.clone(),
            self.stat.clone(),
            listed_ms,
            header,
            report,
        )
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
            let header = memory(candidate, head, &mut said).map(|memory| memory.header);
            **known = Some(candidate.known(listed_ms, header, said));
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
        headers(candidates, now)
    };
    sort(&mut report);
    Ok((Scan { memories, report }, headers))
}

/// What is new about a store.
pub(super) enum Change<'a> {
    /// That something is: what is handed on is incomplete until the reading has ended.
    Begins,
    /// A memory that is new or has changed: its beginning, of which `body` bytes are frontmatter.
    Memory {
        header: &'a MemoryHeader,
        text: &'a str,
        body: usize,
    },
    /// One that cannot be read any more.
    Unreadable(&'a str),
}

/// What is known of a whole store.
#[derive(Clone, Debug, Default)]
pub(super) struct Catalogue {
    pub known: Headers,
    /// The same, newest first.
    pub newest: Arc<Vec<Arc<Known>>>,
    /// Whether every folder could be listed to its end.
    pub complete: bool,
    /// What was said about its files.
    said: Arc<Vec<ReportEntry>>,
}

/// Lists the store and reads the beginnings of all its memories, however many there are, but for
/// those for which `catalogue` still holds; hands on what is new. None when nothing has changed.
pub(super) async fn read_changed(
    place: &Place,
    host: &Host,
    catalogue: &Catalogue,
    report: &mut Vec<ReportEntry>,
    mut change: impl FnMut(Change<'_>),
) -> Result<Option<Catalogue>, Error> {
    let known = &catalogue.known;
    let Found {
        mut candidates,
        report: listed,
        listed_ms,
        ..
    } = look(place, host).await?;
    report.extend(listed);
    let holds = |candidate: &Candidate| known.get(&candidate.path, &candidate.stat).is_some();
    if known.count() == candidates.len() && candidates.iter().all(holds) {
        report.extend(catalogue.said.iter().cloned());
        return Ok(None);
    }
    sort_by_age(&mut candidates);
    let complete = !report.iter().any(|entry| {
        matches!(
            entry.code,
            ReportCode::Unlistable | ReportCode::ListingIncomplete | ReportCode::TooDeep
        )
    });
    change(Change::Begins);
    let mut now: Vec<Option<Arc<Known>>> = candidates
        .iter()
        .map(|candidate| known.get(&candidate.path, &candidate.stat).cloned())
        .collect();
    let mut cold: Vec<(&Candidate, &mut Option<Arc<Known>>)> = candidates
        .iter()
        .zip(&mut now)
        .filter(|(_, known)| known.is_none())
        .collect();
    for chunk in cold.chunks_mut(SCAN_READ_FILES) {
        let files: Vec<&Candidate> = chunk.iter().map(|(candidate, _)| *candidate).collect();
        let longest = files
            .iter()
            .map(|file| file.stat.size)
            .max()
            .unwrap_or_default();
        let length = usize::try_from(longest)
            .unwrap_or(usize::MAX)
            .clamp(HEAD_BYTES, MEMORY_READ_BYTES);
        let heads = read_heads(place, host, &files, length).await?;
        for ((candidate, known), head) in chunk.iter_mut().zip(heads) {
            let mut said = Vec::new();
            // What failed may work the next time, with the same stamp.
            let listed_ms = if matches!(head, Head::Failed(_)) {
                i64::MIN
            } else {
                listed_ms
            };
            let memory = memory(candidate, head, &mut said);
            match &memory {
                Some(Memory { header, text, body }) => change(Change::Memory {
                    header,
                    text,
                    body: *body,
                }),
                None => change(Change::Unreadable(&candidate.path)),
            }
            **known = Some(candidate.known(listed_ms, memory.map(|memory| memory.header), said));
        }
    }
    let newest: Vec<Arc<Known>> = now.iter().flatten().cloned().collect();
    let said: Vec<ReportEntry> = newest
        .iter()
        .flat_map(|known| known.report.iter().cloned())
        .collect();
    report.extend(said.iter().cloned());
    Ok(Some(Catalogue {
        known: headers(candidates, now),
        newest: Arc::new(newest),
        complete,
        said: Arc::new(said),
    }))
}

fn headers(candidates: Vec<Candidate>, known: Vec<Option<Arc<Known>>>) -> Headers {
    let known = candidates.into_iter().zip(known);
    Headers::new(known.filter_map(|(candidate, known)| Some((candidate.path, known?))))
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
        let heads = read_heads(place, host, chunk, MEMORY_READ_BYTES).await?;
        for (candidate, head) in chunk.iter().zip(heads) {
            match text_of(&candidate.path, candidate.stat.size, head) {
                Ok(text) => {
                    let whole = text.len() as u64 >= candidate.stat.size;
                    each(&candidate.path, whole_lines(&text, whole), text.is_empty());
                }
                Err(entry) => report.push(entry),
            }
        }
    }
    Ok(Everything { report, missing })
}

/// What is in the store, links followed, newest first.
async fn list(place: &Place, host: &Host) -> Result<Found, Error> {
    let mut found = look(place, host).await?;
    sort_by_age(&mut found.candidates);
    Ok(found)
}

/// What is in the store, links followed, in any order.
async fn look(place: &Place, host: &Host) -> Result<Found, Error> {
    let mut found = walk(place, host).await?;
    follow_links(place, host, &mut found).await?;
    Ok(found)
}

fn sort_by_age(candidates: &mut Vec<Candidate>) {
    order::sort(candidates, |a, b| {
        (b.stat.mtime_ms, b.stat.mtime_ns)
            .cmp(&(a.stat.mtime_ms, a.stat.mtime_ns))
            .then_with(|| a.path.cmp(&b.path))
    });
}

pub(super) fn sort(report: &mut Vec<ReportEntry>) {
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

/// As much of the bytes as is text.
fn beginning(bytes: &[u8]) -> &str {
    bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid())
}

fn is_short(candidate: &Candidate, head: &Head) -> bool {
    let Head::Content(bytes) = head else {
        return false;
    };
    let cut = (bytes.0.len() as u64) < candidate.stat.size;
    cut && needs_more(whole_lines(beginning(&bytes.0), false))
}

/// A memory as far as it was read.
struct Memory {
    header: MemoryHeader,
    text: String,
    /// Where the body begins in it.
    body: usize,
}

fn memory(candidate: &Candidate, head: Head, report: &mut Vec<ReportEntry>) -> Option<Memory> {
    let path = &candidate.path;
    let text = match text_of(path, candidate.stat.size, head) {
        Ok(text) => text,
        Err(entry) => {
            report.push(entry);
            return None;
        }
    };
    let mut note = |code, message: String| report.push(ReportEntry::new(path, code, message));
    if text.is_empty() {
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
    let whole = text.len() as u64 >= candidate.stat.size;
    let frontmatter = parse_frontmatter(whole_lines(&text, whole));
    for problem in &frontmatter.problems {
        note(problem.code, problem.message.clone());
    }
    let body = frontmatter.body;
    let header = MemoryHeader::new(path.clone(), &candidate.stat, frontmatter);
    Some(Memory { header, text, body })
}

/// What was read of a file as text; an entry for the report when it could not be read, or is no text.
/// `size` is that of the whole file.
pub(super) fn text_of(path: &str, size: u64, head: Head) -> Result<String, ReportEntry> {
    let (code, message) = match head {
        Head::Content(Bytes(bytes)) => {
            let whole = bytes.len() as u64 >= size;
            match into_text(bytes, whole) {
                Ok(text) => return Ok(text),
                Err((code, message)) => (code, format!("it {message}")),
            }
        }
        Head::Failed(failure) if failure.code == FailureCode::NotFound => (
            ReportCode::Vanished,
            "it went away before it was read".to_owned(),
        ),
        Head::Failed(failure) => (
            ReportCode::Unreadable,
            format!("it could not be read: {}", failure.message),
        ),
    };
    Err(ReportEntry::new(path, code, message))
}

/// The text of a file, or of its beginning when the rest was not read.
pub(super) fn into_text(bytes: Vec<u8>, whole: bool) -> Result<String, (ReportCode, &'static str)> {
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let valid = error.utf8_error();
            let bytes = error.into_bytes();
            // Only the last character of a head may be incomplete.
            if !whole && valid.error_len().is_none() {
                let mut bytes = bytes;
                bytes.truncate(valid.valid_up_to());
                String::from_utf8(bytes).unwrap_or_default()
            } else if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) {
                return Err((ReportCode::NotUtf8, "is UTF-16 text; convert it to UTF-8"));
            } else {
                return Err((
                    ReportCode::NotUtf8,
                    "is not UTF-8 text; convert it to UTF-8",
                ));
            }
        }
    };
    if text.contains('\0') {
        return Err((
            ReportCode::NulByte,
            "holds NUL characters, so it is no text; remove them or the file",
        ));
    }
    Ok(text)
}

/// The text of a memory, or the whole lines of its head when the rest was not read: a line that
/// goes on beyond the head may look like a fence and be none.
fn whole_lines(text: &str, whole: bool) -> &str {
    let end = match text.rfind('\n') {
        _ if whole => text.len(),
        Some(end) => end.saturating_add(1),
        None => 0,
    };
    text.get(..end).unwrap_or_default()
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
