//! A recalled memory as the agent's model reads it (facts 5.5). Computed once, when it is recalled,
//! so that the text stays the same to the byte in every later turn and prompt caches hold.

use crate::memory::{MemoryAge, Scope};
use crate::prompt::untrusted_block;
use crate::text;

/// One memory: what it is and how old, then its content, then what was cut. What teammates wrote
/// stands in a block that it cannot close.
pub(crate) fn render(
    absolute_path: &str,
    scope: Scope,
    age: &MemoryAge,
    content: &str,
    note: Option<&str>,
) -> String {
    let path = text::one_line(absolute_path);
    let mut parts = Vec::new();
    match &age.warning {
        Some(warning) => {
            parts.push(warning.clone());
            parts.push(format!("Memory {path}:"));
        }
        None => parts.push(format!("Memory (saved {}) {path}:", age.text)),
    }
    parts.push(match scope {
        Scope::Private => text::lines(content),
        Scope::Team => untrusted_block("team memory", content),
    });
    parts.extend(note.map(str::to_owned));
    parts.join("\n\n")
}
