//! How two versions of the team's index become one: entry by entry, known by the memory that a line links
//! to, so that teammates who add or remove different lines never undo each other.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::limits::TEAM_FOLDER;
use crate::memory::{links, memory_of};
use crate::text::{line_end, lines_with_ends, without_end};
use crate::write::update_index;

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
    /// The only memory that it links to, if it is the first line that does.
    Memory(String),
    /// Its text, and how many like it come before.
    Text(String, usize),
}

/// Applies what `local` has changed since `base` to `server`. Without `base`, the version that both had
/// last, nothing counts as removed.
#[must_use]
pub fn merge_team_index(base: Option<&str>, local: &str, server: &str) -> MergedIndex {
    merge_index(TEAM_FOLDER, base, local, server)
}

/// The same for the index in any folder.
pub(crate) fn merge_index(
    folder: &str,
    base: Option<&str>,
    local: &str,
    server: &str,
) -> MergedIndex {
    let base = by_key(folder, base.unwrap_or_default());
    let (ours, theirs) = (by_key(folder, local), by_key(folder, server));
    let mut lost = false;
    let mut merged: Vec<String> = Vec::new();
    for (key, whole) in keyed(folder, server) {
        let line = without_end(whole);
        let Some(key) = key else {
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
            let (mark, _) = split_mark(line);
            let end = whole.get(line.len()..).unwrap_or_default();
            merged.push(format!("{mark}{}{end}", split_mark(kept).1));
        }
    }
    let local: Vec<(Option<Key>, &str)> = keyed(folder, local)
        .map(|(key, whole)| (key, without_end(whole)))
        .collect();
    for (number, (key, line)) in local.iter().enumerate() {
        // What the server no longer has is removed there, unless it was changed or added here.
        let is_ours = |key: &Key| !theirs.contains_key(key) && base.get(key) != Some(line);
        if key.as_ref().is_some_and(is_ours) {
            let beside = |number: Option<usize>| Some(local.get(number?)?.1);
            let (before, after) = (beside(number.checked_sub(1)), beside(number.checked_add(1)));
            add(&mut merged, before, line, after, line_end(server));
        }
    }
    // A text that did not end its last line still does not, also when that line went.
    if !server.is_empty()
        && !server.ends_with('\n')
        && let Some(last) = merged.last_mut()
        && last.ends_with('\n')
    {
        let length = without_end(last).len();
        last.truncate(length);
    }
    MergedIndex {
        content: merged.concat(),
        lost,
    }
}

/// An index from which lines of memories were cut that are only forgotten here, as others are to see it:
/// those lines of `base`, the version that both had last, are in it again.
pub(crate) fn with_forgotten(
    folder: &str,
    base: &str,
    local: &str,
    forgotten: &[String],
) -> String {
    if without_forgotten(folder, base, forgotten) == local {
        return base.to_owned();
    }
    let ours = by_key(folder, local);
    let lines: Vec<(Option<Key>, &str)> = keyed(folder, base)
        .map(|(key, whole)| (key, without_end(whole)))
        .collect();
    let mut merged: Vec<String> = lines_with_ends(local).map(str::to_owned).collect();
    for (number, (key, line)) in lines.iter().enumerate() {
        let is_forgotten =
            matches!(key, Some(Key::Memory(path)) if forgotten.iter().any(|known| known == path));
        if is_forgotten && key.as_ref().is_some_and(|key| !ours.contains_key(key)) {
            let beside = |number: Option<usize>| Some(lines.get(number?)?.1);
            let (before, after) = (beside(number.checked_sub(1)), beside(number.checked_add(1)));
            add(&mut merged, before, line, after, line_end(local));
        }
    }
    merged.concat()
}

/// An index without the lines of memories that were forgotten here; paths are relative to the store.
pub(crate) fn without_forgotten(folder: &str, text: &str, forgotten: &[String]) -> String {
    forgotten.iter().fold(text.to_owned(), |text, path| {
        update_index(Some(&text), folder, path, None).map_or(text, |edited| edited.content)
    })
}

/// Adds a line after the one that stood before it, else before the one that stood after it, else at the end.
/// Only what stands once says where.
fn add(lines: &mut Vec<String>, before: Option<&str>, line: &str, after: Option<&str>, end: &str) {
    let place = |wanted: Option<&str>| {
        let wanted = wanted.filter(|wanted| !wanted.trim().is_empty())?;
        let is_it = |line: &&String| split_mark(without_end(line)).1 == split_mark(wanted).1;
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

/// The lines of an index that say something, by what they are recognised by.
fn by_key<'a>(folder: &str, text: &'a str) -> BTreeMap<Key, &'a str> {
    let lines = keyed(folder, text);
    lines
        .filter_map(|(key, whole)| Some((key?, without_end(whole))))
        .collect()
}

/// The lines of an index with their ends; blank ones have no key.
fn keyed<'a>(folder: &str, text: &'a str) -> impl Iterator<Item = (Option<Key>, &'a str)> {
    let mut memories = BTreeSet::new();
    let mut texts: BTreeMap<String, usize> = BTreeMap::new();
    lines_with_ends(text).map(move |whole| {
        let line = split_mark(without_end(whole)).1;
        let mut targets = links(line).filter_map(|link| memory_of(folder, link.target));
        let memory = match (targets.next(), targets.next()) {
            (Some(memory), None) => Some(memory),
            _ => None,
        };
        if let Some(memory) = memory
            && memories.insert(memory.clone())
        {
            return (Some(Key::Memory(memory)), whole);
        }
        let text = line.trim();
        if text.is_empty() {
            return (None, whole);
        }
        let count = texts.entry(text.to_owned()).or_default();
        let key = Key::Text(text.to_owned(), *count);
        *count = count.saturating_add(1);
        (Some(key), whole)
    })
}

/// A byte order mark, and the text after it.
fn split_mark(line: &str) -> (&str, &str) {
    let text = line.trim_start_matches('\u{FEFF}');
    let mark = line.len().saturating_sub(text.len());
    (line.get(..mark).unwrap_or_default(), text)
}
