//! What was said, read from a file: a session of Claude Code, or messages as JSON, for those who want
//! memories made of it. A file is read piece by piece, and only the end of the conversation is kept.

mod held;
mod line;
mod reader;
#[cfg(test)]
mod tests;
mod window;

use serde::Serialize;

use crate::conversation::Message;
use crate::error::{Error, ErrorCode};
use crate::flow::{FileKind, Host};
use crate::limits::TRANSCRIPT_CHUNK_BYTES;
use crate::report::ReportEntry;

pub(crate) use reader::Reader;

/// The end of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Transcript {
    /// The newest messages, oldest first.
    pub messages: Vec<Message>,
    /// How many older ones there were.
    pub left_out: u64,
    /// What could not be read, one entry for each kind.
    pub report: Vec<ReportEntry>,
}

/// The messages of a transcript: a session of Claude Code (an object a line, with `type` and `message`),
/// messages one a line, or an array of messages. Never fails: what is no message is skipped, and what is
/// broken is counted in the report.
///
/// - Messages are lines of type `user` and `assistant`, not those of sub agents (`isSidechain`); and
///   objects with a `role` of these two. `isMeta` and `isCompactSummary` mark what no person wrote.
/// - Lines of an answer that follow each other and have the same `message.id` are one message, named by
///   the last one's `uuid`.
/// - A line whose `parentUuid` leads to an earlier message begins a new branch, and what followed that
///   message is dropped; but a tool's result, and a further line of the answer that it leads to, follow
///   lines that stand side by side. An unknown parent drops nothing.
/// - A last line without its end that is not whole JSON is still being written, which is no problem.
/// - Of a tool's result, texts are kept, up to [`crate::limits::TRANSCRIPT_RESULT_BYTES`] and then a mark;
///   of its other blocks only the type. Halves of surrogate pairs become U+FFFD.
/// - At most [`crate::limits::TRANSCRIPT_MESSAGES`] and [`crate::limits::TRANSCRIPT_WINDOW_BYTES`] are kept,
///   the newest; and no line with more than [`crate::limits::TRANSCRIPT_LINE_BYTES`] or
///   [`crate::limits::TRANSCRIPT_LINE_VALUES`].
#[must_use]
pub fn parse_transcript(text: &str) -> Transcript {
    let mut reader = Reader::default();
    reader.feed(text.as_bytes());
    reader.end()
}

/// Reads the file at an absolute path as far as it reaches when it is first looked at: whoever writes it
/// may go on. Links are followed, as the caller has named them.
///
/// # Errors
/// `is-a-directory`, `unsupported` for what is neither, or what the disk gave (`not-found`).
pub(crate) async fn read_file(host: &Host, path: &str) -> Result<Transcript, Error> {
    let failed = |failure| Error::from_failure(&failure, "reading", path);
    let real = host.real_path(path).await.map_err(failed)?;
    let stat = host.lstat(&real).await.map_err(failed)?;
    let refuse = |code, what: &str| Err(Error::new(code, format!("{path} {what}")).at(path));
    match stat.kind {
        FileKind::File => {}
        FileKind::Directory => {
            return refuse(ErrorCode::IsADirectory, "is a folder; name a file in it");
        }
        FileKind::Link | FileKind::Other => {
            return refuse(
                ErrorCode::Unsupported,
                "is no regular file and is not opened",
            );
        }
    }
    let mut reader = Reader::default();
    let mut offset = 0;
    while offset < stat.size {
        let length = TRANSCRIPT_CHUNK_BYTES.min(stat.size.saturating_sub(offset));
        let chunk = host.read_at(&real, None, offset, length);
        let chunk = chunk.await.map_err(failed)?;
        if chunk.is_empty() {
            // It was made shorter meanwhile.
            break;
        }
        reader.feed(&chunk);
        offset = offset.saturating_add(chunk.len() as u64);
    }
    let mut transcript = reader.end();
    for entry in &mut transcript.report {
        path.clone_into(&mut entry.path);
    }
    Ok(transcript)
}
