//! Which entries the server does not have yet (facts 11.4, document 002).

use std::collections::BTreeMap;

use crate::write::hash;

/// The checksum of an entry as both sides compute it: `sha256:` and the lower-case hex of its
/// UTF-8 bytes.
#[must_use]
pub fn checksum(content: &str) -> String {
    hash(content.as_bytes())
}

/// The local entries (key to content) whose checksum differs from the server's, or that it lacks.
/// A key that only the server has is never in the delta: deletions do not propagate.
#[must_use]
pub fn team_delta(
    local: BTreeMap<String, String>,
    server: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut delta = BTreeMap::new();
    for (key, content) in local {
        let known = server.get(&key);
        if known.is_none_or(|known| *known != checksum(&content)) {
            delta.insert(key, content);
        }
    }
    delta
}
