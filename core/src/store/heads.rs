//! Reads the beginnings of memories, as much of each as is needed, and makes texts and headers of them.

use super::Place;
use super::listing::Candidate;
use crate::error::Error;
use crate::flow::{Bytes, Failure, FailureCode, Head, Host, join_all};
use crate::limits::{FRONTMATTER_MAX_BYTES, HEAD_BYTES, LARGE_MEMORY_BYTES};
use crate::memory::{MemoryHeader, Scope, needs_more, parse_frontmatter};
use crate::report::{ReportCode, ReportEntry};
use crate::text;

/// The heads of a few files in one step, and more of those whose frontmatter is longer.
pub(super) async fn read_heads(
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
    host.stop_if_cancelled()?;
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
    host.stop_if_cancelled()?;
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
pub(super) struct Memory {
    pub header: MemoryHeader,
    pub text: String,
    /// Where the body begins in it.
    pub body: usize,
}

pub(super) fn memory(
    candidate: &Candidate,
    head: Head,
    report: &mut Vec<ReportEntry>,
) -> Option<Memory> {
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
    let mut header = MemoryHeader::new(path.clone(), &candidate.stat, frontmatter);
    // A link to what the team wrote is no more trusted than that.
    if let Some(target) = &candidate.target
        && Scope::of(target) == Scope::Team
    {
        header.scope = Scope::Team;
    }
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
pub(crate) fn into_text(bytes: Vec<u8>, whole: bool) -> Result<String, (ReportCode, &'static str)> {
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
    if text::has_nul(&text) {
        return Err((
            ReportCode::NulByte,
            "holds NUL characters, so it is no text; remove them or the file",
        ));
    }
    Ok(text)
}

/// The text of a memory, or the whole lines of its head when the rest was not read: a line that
/// goes on beyond the head may look like a fence and be none.
pub(super) fn whole_lines(text: &str, whole: bool) -> &str {
    let end = match text.rfind('\n') {
        _ if whole => text.len(),
        Some(end) => end.saturating_add(1),
        None => 0,
    };
    text.get(..end).unwrap_or_default()
}
