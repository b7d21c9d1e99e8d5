//! The index file `MEMORY.md` on its way into the prompt: two limits, and a record of what they
//! cost (facts 3, document 000 §3).

use serde::Serialize;
use unicode_segmentation::GraphemeCursor;

use crate::limits::{
    INDEX_MAX_BYTES, INDEX_MAX_LINES, INDEX_NAME, INDEX_NEAR_PERCENT, INDEX_TARGET_BYTES,
    INDEX_TARGET_LINES, LOST_NAME_CHARS,
};
use crate::report::ReportCode;
use crate::text;

/// The index as far as it fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Truncation {
    /// A prefix of the trimmed text, within both limits.
    pub content: String,
    /// One line that says what was exceeded; null when nothing was.
    pub warning: Option<String>,
    /// Lines of the trimmed text, 0 when it is empty.
    pub lines: usize,
    /// UTF-8 bytes of the trimmed text.
    pub bytes: usize,
    /// Whether the trimmed text has more lines than the limit.
    pub lines_cut: bool,
    /// Whether the trimmed text has more bytes than the limit.
    pub bytes_cut: bool,
    /// Names of the entries that are not wholly in `content`: link targets, else the text.
    pub lost: Vec<String>,
}

impl Truncation {
    /// What stands in the prompt: the content, then the warning after a blank line.
    #[must_use]
    pub fn render(&self) -> String {
        match &self.warning {
            Some(warning) => format!("{}\n\n{warning}", self.content),
            None => self.content.clone(),
        }
    }
}

/// Cuts an index to 200 lines, then to 25,000 bytes at a line end; a single longer line is cut
/// between characters. Both flags are judged on the whole trimmed text.
#[must_use]
pub fn truncate_index(raw: &str) -> Truncation {
    let whole = text::trim(raw);
    let lines = if whole.is_empty() {
        0
    } else {
        whole.split('\n').count()
    };
    let bytes = whole.len();
    let (lines_cut, bytes_cut) = (lines > INDEX_MAX_LINES, bytes > INDEX_MAX_BYTES);
    let content = cut_bytes(cut_lines(whole));
    Truncation {
        warning: warning(lines, bytes),
        lost: lost(whole, content.len()),
        content: content.to_owned(),
        lines,
        bytes,
        lines_cut,
        bytes_cut,
    }
}

/// That an index is over a limit, or near one (facts 3.3).
pub(crate) struct IndexSize {
    /// `index-over-limit` or `index-near-limit`.
    pub code: ReportCode,
    /// What is so, without its subject: "has 201 lines …".
    pub message: String,
    pub remedy: String,
}

/// Whether an index has outgrown what is loaded of it, or is about to; none while there is room.
pub(crate) fn index_size(text: &str) -> Option<IndexSize> {
    let size = truncate_index(text);
    let near = |value: usize, limit: usize| {
        value.saturating_mul(100) >= limit.saturating_mul(INDEX_NEAR_PERCENT)
    };
    let measured = format!("has {} lines and {} bytes", size.lines, size.bytes);
    let (code, message) = if size.lines_cut || size.bytes_cut {
        let lost = size.lost.len();
        (
            ReportCode::IndexOverLimit,
            format!("{measured}, so {lost} entries are not loaded"),
        )
    } else if near(size.lines, INDEX_MAX_LINES) || near(size.bytes, INDEX_MAX_BYTES) {
        (
            ReportCode::IndexNearLimit,
            format!(
                "{measured}, near the limit of {INDEX_MAX_LINES} lines and {INDEX_MAX_BYTES} bytes"
            ),
        )
    } else {
        return None;
    };
    Some(IndexSize {
        code,
        message,
        remedy: format!(
            "shorten it to {INDEX_TARGET_LINES} lines and {INDEX_TARGET_BYTES} bytes: merge entries, move detail into memories"
        ),
    })
}

fn cut_lines(whole: &str) -> &str {
    match whole.match_indices('\n').nth(INDEX_MAX_LINES - 1) {
        Some((end, _)) => whole.get(..end).unwrap_or(whole),
        None => whole,
    }
}

fn cut_bytes(content: &str) -> &str {
    if content.len() <= INDEX_MAX_BYTES {
        return content;
    }
    let line_end = content
        .as_bytes()
        .iter()
        .take(INDEX_MAX_BYTES + 1)
        .rposition(|b| *b == b'\n');
    let end = match line_end {
        Some(end) if end > 0 => end,
        _ => character_end(content, INDEX_MAX_BYTES),
    };
    content.get(..end).unwrap_or_default()
}

/// The last boundary between user-perceived characters at or before `limit`; between scalars when
/// one such character is longer than that.
fn character_end(content: &str, limit: usize) -> usize {
    let scalar = content.floor_char_boundary(limit);
    let mut cursor = GraphemeCursor::new(scalar, content.len(), true);
    let end = match cursor.is_boundary(content, 0) {
        Ok(true) => scalar,
        _ => cursor.prev_boundary(content, 0).ok().flatten().unwrap_or(0),
    };
    if end == 0 { scalar } else { end }
}

fn warning(lines: usize, bytes: usize) -> Option<String> {
    let limit = text::size(INDEX_MAX_BYTES);
    let size = text::size(bytes);
    let reason = match (lines > INDEX_MAX_LINES, bytes > INDEX_MAX_BYTES) {
        (false, false) => return None,
        (true, false) => format!("{lines} lines (limit {INDEX_MAX_LINES})"),
        (false, true) => format!("{size} (limit {limit}): its entries are too long"),
        (true, true) => {
            format!("{lines} lines and {size} (limits {INDEX_MAX_LINES} lines and {limit})")
        }
    };
    Some(format!(
        "> WARNING: {INDEX_NAME} is {reason}. Only part of it was loaded. Keep one line per entry, \
         under about 200 characters, and move detail into topic files."
    ))
}

/// Names of the lines of `whole` that do not end within its first `kept` bytes.
fn lost(whole: &str, kept: usize) -> Vec<String> {
    let mut lost = Vec::new();
    let mut start: usize = 0;
    for line in whole.split('\n') {
        let end = start.saturating_add(line.len());
        if end > kept && !text::trim(line).is_empty() && !is_heading(line) {
            lost.push(entry_name(line));
        }
        start = end.saturating_add(1);
    }
    lost
}

fn is_heading(line: &str) -> bool {
    let line = text::trim(line);
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    (1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t']))
}

fn entry_name(line: &str) -> String {
    let target = line
        .split_once("](")
        .and_then(|(_, rest)| rest.split_once(')'))
        .map(|(target, _)| target);
    if let Some(target) = target {
        return target.to_owned();
    }
    let text = text::trim(line);
    let text = ["- ", "* ", "+ "]
        .iter()
        .find_map(|marker| text.strip_prefix(marker))
        .unwrap_or(text);
    text.chars().take(LOST_NAME_CHARS).collect()
}
