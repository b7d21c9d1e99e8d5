//! How two versions of the team's index become one: entry by entry, known by the memory that a line links
//! to, so that teammates who add or remove different lines never undo each other.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::limits::TEAM_FOLDER;
use crate::memory::{links, memory_of};
use crate::text::{line_end, lines_with_ends, without_end};

/// An index that was merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MergedIndex {
    /// The server's version with our changes.
    pub content: String,
    /// Whether both sides have written the same entry anew: then the server's stands, and ours is lost
    /// unless it is kept elsewhere.
    pub lost: bool,
}

/// What a line is recognised by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    /// The only memory that it links to.
    Memory(String),
    /// Its text.
    Text(String),
}

/// Applies what `local` has changed since `base` to `server`. Without `base`, the version that both had
/// last, nothing counts as removed.
#[must_use]
pub fn merge_team_index(base: Option<&str>, local: &str, server: &str) -> MergedIndex {
    let (base, ours, theirs) = (
        by_key(base.unwrap_or_default()),
        by_key(local),
        by_key(server),
    );
    let mut lost = false;
    let mut merged: Vec<String> = Vec::new();
    for whole in lines_with_ends(server) {
        let line = without_end(whole);
        let Some(key) = key(line) else {
            merged.push(whole.to_owned());
            continue;
        };
        let known = base.get(&key).copied();
        let kept = match (known, ours.get(&key).copied()) {
            (Some(known), None) if known == line => None,
            (Some(known), Some(ours)) if known == line => Some(ours),
            (known, ours) => {
                lost |= ours.is_some_and(|ours| ours != line && known != Some(ours));
                Some(line)
            }
        };
        if let Some(kept) = kept {
            let end = whole.get(line.len()..).unwrap_or_default();
            merged.push(format!("{kept}{end}"));
        }
    }
    let local: Vec<&str> = lines_with_ends(local).map(without_end).collect();
    for (number, line) in local.iter().enumerate() {
        // What the server no longer has is removed there, unless it was changed or added here.
        if key(line).is_some_and(|key| !theirs.contains_key(&key) && base.get(&key) != Some(line)) {
            let (before, after) = local.split_at_checked(number).unwrap_or((&local, &[]));
            add(
                &mut merged,
                before.last(),
                line,
                after.get(1),
                line_end(server),
            );
        }
    }
    // A text that did not end its last line still does not, also when that line went.
    if !server.is_empty()
        && !server.ends_with('\n')
        && let Some(last) = merged.last_mut()
    {
        let length = without_end(last).len();
        last.truncate(length);
    }
    MergedIndex {
        content: merged.concat(),
        lost,
    }
}

/// Adds a line after the one that stood before it, else before the one that stood after it, else at the end.
/// Only what stands once says where.
fn add(
    lines: &mut Vec<String>,
    before: Option<&&str>,
    line: &str,
    after: Option<&&str>,
    end: &str,
) {
    let place = |wanted: Option<&&str>| {
        let wanted = wanted.filter(|wanted| !wanted.trim().is_empty())?;
        let is_it = |line: &&String| without_end(line).trim_start_matches('\u{FEFF}') == *wanted;
        let mut places = lines.iter().enumerate().filter(|(_, line)| is_it(line));
        let (at, _) = places.next()?;
        places.next().is_none().then_some(at)
    };
    let at = match (place(before), place(after)) {
        (Some(at), _) => at.saturating_add(1),
        (None, Some(at)) => at,
        (None, None) => {
            let last = lines.iter().rposition(|line| !line.trim().is_empty());
            last.map_or(0, |last| last.saturating_add(1))
        }
    };
    let mut text = line.trim_start_matches('\u{FEFF}').to_owned();
    // A text that did not end its last line still does not.
    match at.checked_sub(1).and_then(|before| lines.get_mut(before)) {
        Some(before) if !before.ends_with('\n') => before.push_str(end),
        _ => text.push_str(end),
    }
    // A byte order mark stays the first.
    if let (0, Some(first)) = (at, lines.first_mut())
        && first.starts_with('\u{FEFF}')
    {
        text.insert(0, first.remove(0));
    }
    lines.insert(at.min(lines.len()), text);
}

/// The lines of an index that say something; of two with one key the first.
fn by_key(text: &str) -> BTreeMap<Key, &str> {
    let mut lines = BTreeMap::new();
    for line in lines_with_ends(text).map(without_end) {
        if let Some(key) = key(line) {
            lines.entry(key).or_insert(line);
        }
    }
    lines
}

fn key(line: &str) -> Option<Key> {
    let text = line.trim_start_matches('\u{FEFF}').trim();
    let mut memories = links(line).filter_map(|link| memory_of(TEAM_FOLDER, link.target));
    match (memories.next(), memories.next()) {
        (Some(memory), None) => Some(Key::Memory(memory)),
        _ => (!text.is_empty()).then(|| Key::Text(text.to_owned())),
    }
}
