//! The list of memories as a model reads it (facts 4.5, document 000 §6): one inert line each.

use super::header::MemoryHeader;
use super::time::format_iso;
use crate::text;

/// One line per memory, in the given order: `- [type] path (time): description`. The time is the
/// file's modification time in UTC with milliseconds; a missing type or description leaves its
/// part out. Lines are joined by LF, with none at the end.
#[must_use]
pub fn format_manifest(memories: &[MemoryHeader]) -> String {
    let lines: Vec<String> = memories.iter().map(line).collect();
    lines.join("\n")
}

fn line(memory: &MemoryHeader) -> String {
    let mut line = String::from("- ");
    if let Some(kind) = memory.kind {
        line.push('[');
        line.push_str(kind.name());
        line.push_str("] ");
    }
    line.push_str(&text::one_line(&memory.path));
    line.push_str(" (");
    line.push_str(&format_iso(memory.mtime_ms));
    line.push(')');
    let description = text::one_line(memory.description.as_deref().unwrap_or_default());
    let description = text::trim(&description);
    if !description.is_empty() {
        line.push_str(": ");
        line.push_str(description);
    }
    line
}
