//! How much of a memory a recall shows, and how much in all (facts 5.4).

use serde::{Deserialize, Serialize};

use crate::limits::{
    RECALL_LEAST_BYTES, RECALL_MAX_BYTES, RECALL_MAX_LINES, RECALL_MAX_MEMORIES,
    RECALL_SESSION_BYTES, RECALL_TURN_BYTES,
};
use crate::text::{lines_with_ends, size};

/// What a conversation has been shown already: small, made of plain data, to be kept by the agent
/// and passed to the next recall. After a compaction the agent builds it anew from what is left in
/// the conversation; then memories that went away can be recalled again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RecallState {
    /// The memories that were shown, relative to the store.
    pub surfaced: Vec<String>,
    /// UTF-8 bytes of their contents as shown.
    pub bytes: u64,
}

/// How many bytes of each of these memories a recall may show: at most five memories, 4,096 bytes
/// each, 20 KB together, and 60 KB in a session, of which `used` are gone. 0 stands for a memory
/// that is left out, because so little is left that it would be a scrap.
#[must_use]
pub fn grant_bytes(used: u64, sizes: &[u64]) -> Vec<u64> {
    let mut left = RECALL_SESSION_BYTES
        .saturating_sub(used)
        .min(RECALL_TURN_BYTES);
    sizes
        .iter()
        .enumerate()
        .map(|(place, &size)| {
            let wanted = size.min(RECALL_MAX_BYTES);
            let granted = wanted.min(left);
            if place >= RECALL_MAX_MEMORIES || granted < wanted.min(RECALL_LEAST_BYTES) {
                return 0;
            }
            left = left.saturating_sub(granted);
            granted
        })
        .collect()
}

/// A memory as far as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CutMemory {
    /// Its beginning, of whole lines unless the first one is too long by itself.
    pub content: String,
    /// Lines of `content`.
    pub lines: u32,
    /// What was cut and where the rest is, one line for the model; null when nothing was cut.
    pub note: Option<String>,
}

/// Cuts the beginning of a memory down to 200 lines and `max_bytes` (at most 4,096) UTF-8 bytes.
/// `size` is that of the whole file, `path` what the model is to read for the rest.
#[must_use]
pub fn cut_memory(text: &str, size: u64, path: &str, max_bytes: u64) -> CutMemory {
    let max_bytes = usize::try_from(max_bytes.min(RECALL_MAX_BYTES)).unwrap_or_default();
    let (mut end, mut lines) = (0_usize, 0_u32);
    let mut over_bytes = false;
    for line in lines_with_ends(text) {
        let next = end.saturating_add(line.len());
        if next > max_bytes {
            over_bytes = true;
            break;
        }
        if lines >= RECALL_MAX_LINES {
            break;
        }
        end = next;
        lines = lines.saturating_add(1);
    }
    if lines == 0 && over_bytes {
        end = floor_char_boundary(text, max_bytes);
        lines = 1;
    }
    let shown = text.get(..end).unwrap_or_default();
    let rest = size > end as u64;
    let content = if rest {
        shown.trim_end_matches(['\n', '\r'])
    } else {
        shown
    };
    // What is not in `text` was over the limit of bytes.
    let by_bytes = over_bytes || end == text.len();
    CutMemory {
        content: content.to_owned(),
        lines,
        note: rest.then(|| {
            note(
                content.len(),
                lines,
                size,
                path,
                by_bytes.then_some(max_bytes),
            )
        }),
    }
}

fn note(shown: usize, lines: u32, whole: u64, path: &str, max_bytes: Option<usize>) -> String {
    let limit = max_bytes.map_or_else(
        || format!("{RECALL_MAX_LINES} lines"),
        |max_bytes| format!("{max_bytes} bytes"),
    );
    let whole = size(usize::try_from(whole).unwrap_or(usize::MAX));
    format!(
        "> Cut: only {} ({} of {whole}), because of a limit of {limit}. Read {} for the rest.",
        what_is_shown(lines),
        size(shown),
        crate::text::one_line(path)
    )
}

/// Says how many lines are shown.
pub(crate) fn what_is_shown(lines: u32) -> String {
    match lines {
        1 => "its first line is shown".to_owned(),
        _ => format!("its first {lines} lines are shown"),
    }
}

fn floor_char_boundary(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at = at.saturating_sub(1);
    }
    at
}
