//! How the file of a new memory is called: `<type>_<slug>.md` (facts 4.3), readable in any script.

use icu_normalizer::ComposingNormalizerBorrowed;
use sha2::{Digest, Sha256};
use unicode_segmentation::UnicodeSegmentation;

use super::guard::{secret_in_path, without_secrets};
use crate::limits::FILE_SLUG_BYTES;
use crate::memory::MemoryType;

/// The file name of a new memory. `number` counts the memories whose name gives the same file name:
/// from the second on it is part of it.
#[must_use]
pub fn memory_file_name(kind: MemoryType, name: &str, number: u32) -> String {
    let kind = kind.name();
    let mut slug = slug(name);
    // Lists of memories show it to everybody.
    if secret_in_path(&slug).is_some() {
        slug.clear();
    }
    // A name that says its type already does not say it twice.
    let slug = slug
        .strip_prefix(kind)
        .and_then(|rest| rest.strip_prefix('_'))
        .filter(|rest| !rest.is_empty())
        .unwrap_or(&slug);
    let mut kept = String::new();
    for cluster in slug.graphemes(true) {
        if kept.len().saturating_add(cluster.len()) > FILE_SLUG_BYTES {
            break;
        }
        kept.push_str(cluster);
    }
    let mut slug = kept.trim_end_matches('_').to_owned();
    if slug.is_empty() {
        let hash = Sha256::digest(name.as_bytes());
        slug = hash
            .iter()
            .take(4)
            .map(|byte| format!("{byte:02x}"))
            .collect();
    }
    if number < 2 {
        format!("{kind}_{slug}.md")
    } else {
        format!("{kind}_{slug}_{number}.md")
    }
}

/// Letters and digits of any script in lower case, with the marks that belong to them; `_` between.
fn slug(name: &str) -> String {
    let normal = ComposingNormalizerBorrowed::new_nfkc().normalize(name);
    let mut slug = String::new();
    for cluster in without_secrets(&normal).to_lowercase().graphemes(true) {
        if cluster.starts_with(char::is_alphanumeric) {
            slug.extend(cluster.chars().filter(|c| !is_invisible(*c)));
        } else if !slug.is_empty() && !slug.ends_with('_') {
            slug.push('_');
        }
    }
    slug.trim_end_matches('_').to_owned()
}

/// Joiners, selectors, tags and the key cap of emoji, which say nothing in a name; and signs that a
/// letter before them takes into its cluster.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200F}' | '\u{20E3}' | '\u{FE00}'..='\u{FE0F}' | '\u{E0000}'..='\u{E01EF}')
        || c.is_control()
        || c.is_whitespace()
        || (c.is_ascii() && !c.is_ascii_alphanumeric())
}
