//! A recalled memory as the agent's model reads it (facts 5.5). Computed once, when it is recalled,
//! so that the text stays the same to the byte in every later turn and prompt caches hold.

use crate::memory::MemoryAge;
use crate::prompt::untrusted_block;
use crate::text;

/// One memory: what it is and how old, then its content, then what was cut. What others wrote (`others`
/// says who), the name of the file too, stands in a block that it cannot close.
pub(crate) fn render(
    absolute_path: &str,
    others: Option<&str>,
    age: &MemoryAge,
    content: &str,
    note: Option<&str>,
) -> String {
    let path = text::one_line(absolute_path);
    let saved = match age.warning {
        Some(_) => String::new(),
        None => format!(" (saved {})", age.text),
    };
    let mut parts = Vec::new();
    parts.extend(age.warning.clone());
    match others {
        None => {
            parts.push(format!("Memory{saved} {path}:"));
            parts.push(text::lines(content));
            parts.extend(note.map(str::to_owned));
        }
        Some(whose) => {
            let mut heading = whose.to_owned();
            if let Some(first) = heading.get_mut(..1) {
                first.make_ascii_uppercase();
            }
            parts.push(format!("{heading}{saved}:"));
            let inside = [Some(path.as_str()), Some(content), note];
            let inside: Vec<&str> = inside.into_iter().flatten().collect();
            parts.push(untrusted_block(whose, &inside.join("\n\n")));
        }
    }
    parts.join("\n\n")
}
