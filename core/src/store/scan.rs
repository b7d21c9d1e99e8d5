//! Lists the memories of a store (facts 4.4, document 000 §6) and says of every file that should
//! have been one why it is not.

use std::sync::Arc;

use serde::Serialize;

use super::Place;
use super::cache::{Headers, Known};
use super::heads::{Memory, memory, read_heads, text_of, whole_lines};
use super::listing::{Candidate, Found, list, look, sort_by_age};
use crate::error::Error;
use crate::flow::{Head, Host};
use crate::limits::{HEAD_BYTES, MEMORY_READ_BYTES, SCAN_MAX_MEMORIES, SCAN_READ_FILES};
use crate::memory::MemoryHeader;
use crate::order;
use crate::report::{ReportCode, ReportEntry};

/// What a scan found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Scan {
    /// Newest first, by modification time; at equal times by path.
    pub memories: Vec<MemoryHeader>,
    /// By path.
    pub report: Vec<ReportEntry>,
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
    let holds = |candidate: &Candidate| known.get(&candidate.path, &candidate.stat).is_some();
    let unchanged = known.count() == candidates.len() && candidates.iter().all(holds);
    let now = read_cold(
        place,
        host,
        &candidates,
        known,
        (listed_ms, HEAD_BYTES),
        |_, _| (),
    )
    .await?;

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
    let now = read_cold(
        place,
        host,
        &candidates,
        known,
        (listed_ms, MEMORY_READ_BYTES),
        |path, memory| match memory {
            Some(Memory { header, text, body }) => change(Change::Memory {
                header,
                text,
                body: *body,
            }),
            None => change(Change::Unreadable(path)),
        },
    )
    .await?;
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

/// What is known of each candidate. Those for which `known` does not hold are read, a few in one step
/// and at most so many bytes of each, and `each` is told what became of them.
async fn read_cold(
    place: &Place,
    host: &Host,
    candidates: &[Candidate],
    known: &Headers,
    (listed_ms, most): (i64, usize),
    mut each: impl FnMut(&str, Option<&Memory>),
) -> Result<Vec<Option<Arc<Known>>>, Error> {
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
        let longest = files.iter().map(|file| file.stat.size).max();
        let longest = usize::try_from(longest.unwrap_or_default()).unwrap_or(usize::MAX);
        let length = longest.clamp(HEAD_BYTES, most);
        let heads = read_heads(place, host, &files, length).await?;
        for ((candidate, known), head) in chunk.iter_mut().zip(heads) {
            let mut said = Vec::new();
            // What failed may work the next time, with the same stamp.
            let failed = matches!(head, Head::Failed(_));
            let listed_ms = if failed { i64::MIN } else { listed_ms };
            let memory = memory(candidate, head, &mut said);
            each(&candidate.path, memory.as_ref());
            **known = Some(candidate.known(listed_ms, memory.map(|memory| memory.header), said));
        }
    }
    Ok(now)
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

pub(super) fn sort(report: &mut Vec<ReportEntry>) {
    order::sort(report, |a, b| {
        (&a.path, a.code, &a.message).cmp(&(&b.path, b.code, &b.message))
    });
}
