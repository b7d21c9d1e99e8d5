//! How an index is changed: one entry at a time, known by what it links to, so that writers of
//! different entries never undo each other (document 000 §4; every other line stays as it is).

use serde::{Deserialize, Serialize};
use unicode_segmentation::UnicodeSegmentation;

use super::edit::Edited;
use crate::error::{Error, ErrorCode};
use crate::limits::{FILE_MAX_BYTES, INDEX_HOOK_LEAST, INDEX_LINE_LONG, INDEX_TITLE_CHARS};
use crate::memory::{links, memory_of, parse_frontmatter};
use crate::text::{line_end, lines_with_ends, one_line, without_end};

/// What an index says of a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IndexEntry {
    /// The memory's name.
    pub name: String,
    /// Its description; none leaves the hook out.
    #[serde(default)]
    pub description: Option<String>,
}

impl IndexEntry {
    /// What is said of a memory with this text.
    pub(super) fn of(text: &str, path: &str) -> Self {
        let read = parse_frontmatter(text);
        let stem = || {
            let name = path.rsplit('/').next().unwrap_or(path);
            name.strip_suffix(".md").unwrap_or(name).to_owned()
        };
        Self {
            name: read.name.unwrap_or_else(stem),
            description: read.description,
        }
    }
}

/// The index of `folder` (`""` or `team`) with the entry of the memory at `path`, which is relative to
/// the store: added after the last line, put in the place of the old one, or with null removed.
/// `text` is null when there is no index yet.
///
/// # Errors
/// `too-large` when it would have more than 4 MiB.
pub fn update_index(
    text: Option<&str>,
    folder: &str,
    path: &str,
    entry: Option<&IndexEntry>,
) -> Result<Edited, Error> {
    let old = text.unwrap_or_default();
    let content = match entry {
        None => remove(old, folder, path),
        Some(entry) => {
            if is_linked(old, folder, path) {
                replace(old, folder, path, &entry_text(entry, folder, path))
            } else {
                append(old, &generated(folder, path, entry))
            }
        }
    };
    if content.len() as u64 > FILE_MAX_BYTES {
        return Err(Error::new(
            ErrorCode::TooLarge,
            format!("the index would have more than {FILE_MAX_BYTES} bytes; shorten it"),
        ));
    }
    Ok(Edited {
        changed: text != Some(content.as_str()) && !(text.is_none() && content.is_empty()),
        content,
    })
}

/// Whether some line of an index links to the memory.
pub(crate) fn is_linked(text: &str, folder: &str, path: &str) -> bool {
    lines_with_ends(text).any(|line| Links::of(line, folder, path).to_it > 0)
}

/// The lines of an index that are the memory's alone, each with the line before it.
pub(super) fn entry_lines(text: &str, folder: &str, path: &str) -> Vec<(Option<String>, String)> {
    let mut before = None;
    let mut entries = Vec::new();
    for line in lines_with_ends(text) {
        let links = Links::of(line, folder, path);
        let line = without_end(line).trim_start_matches('\u{FEFF}');
        if links.to_it == 1 && links.all == 1 {
            entries.push((before.map(str::to_owned), line.to_owned()));
        }
        before = Some(line);
    }
    entries
}

/// Whether a line stands in an index as it is.
pub(super) fn has_line(text: &str, line: &str) -> bool {
    lines_with_ends(text).any(|known| without_end(known).trim_start_matches('\u{FEFF}') == line)
}

/// The index with a line after the one that stood before it, if that is one and only; else at the end.
pub(super) fn put_back(text: &str, before: Option<&str>, line: &str) -> String {
    let before = before.filter(|before| !before.trim().is_empty());
    let mut at: usize = 0;
    let mut places = Vec::new();
    for known in lines_with_ends(text) {
        at = at.saturating_add(known.len());
        let content = without_end(known).trim_start_matches('\u{FEFF}');
        if before == Some(content) && known.ends_with('\n') {
            places.push(at);
        }
    }
    match places.as_slice() {
        [at] => {
            let (head, rest) = text.split_at_checked(*at).unwrap_or((text, ""));
            format!("{head}{line}{}{rest}", line_end(text))
        }
        _ => append(text, line),
    }
}

/// Whether the memory's line is the one that this would have written.
pub(super) fn is_generated(text: &str, folder: &str, path: &str, entry: &IndexEntry) -> bool {
    entry_lines(text, folder, path)
        .first()
        .is_some_and(|(_, line)| *line == generated(folder, path, entry))
}

/// The line of a memory that is new in an index.
pub(super) fn generated(folder: &str, path: &str, entry: &IndexEntry) -> String {
    format!("- {}", entry_text(entry, folder, path))
}

fn mark_length(text: &str) -> usize {
    text.len() - text.trim_start_matches('\u{FEFF}').len()
}

/// How many links to memories a line has.
struct Links {
    all: usize,
    to_it: usize,
}

impl Links {
    fn of(line: &str, folder: &str, path: &str) -> Self {
        let targets = links(line).filter_map(|link| memory_of(folder, link.target));
        let mut links = Self { all: 0, to_it: 0 };
        for target in targets {
            links.all = links.all.saturating_add(1);
            links.to_it = links.to_it.saturating_add(usize::from(target == path));
        }
        links
    }
}

fn replace(old: &str, folder: &str, path: &str, entry: &str) -> String {
    let mut done = false;
    let mut new = String::with_capacity(old.len());
    for line in lines_with_ends(old) {
        let links = Links::of(line, folder, path);
        if done || links.to_it == 0 {
            new.push_str(line);
            continue;
        }
        done = true;
        let text = without_end(line);
        match entry_start(text).filter(|_| links.all == 1) {
            Some(start) => {
                new.push_str(text.get(..start).unwrap_or_default());
                new.push_str(entry);
                new.push_str(line.get(text.len()..).unwrap_or_default());
            }
            // What a person wrote in their own words is not ours to write again.
            None => new.push_str(line),
        }
    }
    new
}

/// Where the link of an entry begins: right after indentation and list marker, if it has one; none for a
/// line with anything else before the link.
fn entry_start(line: &str) -> Option<usize> {
    let blank = |c: char| matches!(c, ' ' | '\t');
    let rest = line.trim_start_matches(|c| blank(c) || c == '\u{FEFF}');
    let after = rest.strip_prefix(['-', '*', '+']).or_else(|| {
        let number = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        (number.len() < rest.len())
            .then(|| number.strip_prefix(['.', ')']))
            .flatten()
    });
    let text = match after {
        Some(after) if after.starts_with(blank) => after.trim_start_matches(blank),
        _ => rest,
    };
    text.starts_with('[')
        .then(|| text.find("](").zip(text.find(']')))
        .flatten()
        // `[ ] [a](a.md)` begins with a box.
        .filter(|(link, bracket)| link == bracket)
        .map(|_| line.len() - text.len())
}

/// The index with one line more, after its last one.
fn append(old: &str, line: &str) -> String {
    let end = line_end(old);
    let (mark, text) = old.split_at_checked(mark_length(old)).unwrap_or(("", old));
    let Some(last) = last_line_end(text) else {
        return format!("{mark}{line}{end}");
    };
    let (before, after) = text.split_at_checked(last).unwrap_or((text, ""));
    if before.ends_with('\n') {
        format!("{mark}{before}{line}{end}{after}")
    } else {
        format!("{mark}{before}{end}{line}")
    }
}

/// Where the last line that is not blank ends, with its line end; none if all are blank.
fn last_line_end(text: &str) -> Option<usize> {
    let mut at: usize = 0;
    let mut last = None;
    for line in lines_with_ends(text) {
        at = at.saturating_add(line.len());
        if !line.trim().is_empty() {
            last = Some(at);
        }
    }
    last
}

fn remove(old: &str, folder: &str, path: &str) -> String {
    let mut new = String::with_capacity(old.len());
    let mut dropped_last = false;
    for line in lines_with_ends(old) {
        let links = Links::of(line, folder, path);
        dropped_last = links.to_it == 1 && links.all == 1;
        if !dropped_last {
            if links.to_it > 0 {
                new.push_str(&unlinked(line, folder, path));
            } else {
                new.push_str(line);
            }
        } else if line.starts_with('\u{FEFF}') {
            new.push('\u{FEFF}');
        }
    }
    // A text that did not end its last line still does not.
    if dropped_last && !old.ends_with('\n') {
        let kept = without_end(&new).len();
        new.truncate(kept);
    }
    new
}

/// A line with the links to the memory replaced by their texts.
fn unlinked(line: &str, folder: &str, path: &str) -> String {
    relinked(line, folder, path, None)
}

/// An index whose links to one memory lead to another place.
pub(super) fn retarget(text: &str, folder: &str, from: &str, to: &str) -> String {
    let new = target(folder, to);
    let lines = lines_with_ends(text);
    lines
        .map(|line| relinked(line, folder, from, Some(&new)))
        .collect()
}

/// A line whose links to the memory lead to the new target, or are only their texts.
fn relinked(line: &str, folder: &str, path: &str, new: Option<&str>) -> String {
    let mut text = String::with_capacity(line.len());
    let mut from = 0;
    for link in links(line) {
        let before = line.get(from..link.at).unwrap_or_default();
        let is_it = memory_of(folder, link.target).as_deref() == Some(path);
        match (before.rsplit_once('[').filter(|_| is_it), new) {
            (Some((before, title)), None) => {
                text.push_str(before);
                text.push_str(title);
            }
            (Some(_), Some(new)) => text.push_str(&format!("{before}]({new})")),
            (None, _) => text.push_str(line.get(from..link.end).unwrap_or_default()),
        }
        from = link.end;
    }
    text + line.get(from..).unwrap_or_default()
}

/// `[title](target) — hook`, short enough for an index line with its marker.
fn entry_text(entry: &IndexEntry, folder: &str, path: &str) -> String {
    let title = one_line(&entry.name);
    let title = title.trim().replace('[', "(").replace(']', ")");
    // A backslash at its end would take the bracket's meaning away.
    let mut title = shortened(title.trim_end_matches('\\'), INDEX_TITLE_CHARS);
    if title.is_empty() {
        path.clone_into(&mut title);
    }
    let text = format!("[{title}]({})", target(folder, path));
    let hook = one_line(entry.description.as_deref().unwrap_or_default());
    let hook = hook.trim().replace("](", "] (");
    let taken = "- ".len().saturating_add(text.chars().count());
    let room = INDEX_LINE_LONG.saturating_sub(taken.saturating_add(" — ".chars().count()));
    let fits = hook.chars().count() <= room;
    if hook.is_empty() || (!fits && room < INDEX_HOOK_LEAST) {
        return text;
    }
    format!("{text} — {}", shortened(&hook, room))
}

/// At most so many characters, whole ones for a reader, and `…` where some are missing.
fn shortened(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut count: usize = 1;
    for cluster in text.graphemes(true) {
        count = count.saturating_add(cluster.chars().count());
        if count > limit {
            break;
        }
        kept.push_str(cluster);
    }
    format!("{}…", kept.trim_end())
}

/// The way from the index to the memory, as a link target.
fn target(folder: &str, path: &str) -> String {
    let below = match folder {
        "" => Some(path),
        folder => path
            .strip_prefix(folder)
            .and_then(|rest| rest.strip_prefix('/')),
    };
    let (up, path) = below.map_or(("../", path), |below| ("", below));
    let mut target = up.to_owned();
    for c in path.chars() {
        match c {
            '\0'..=' ' | '\u{7F}' | '%' | '(' | ')' | '#' | ':' | '<' | '>' | '"' | '\\' | '?' => {
                target.push_str(&format!("%{:02X}", u32::from(c)));
            }
            c => target.push(c),
        }
    }
    target
}
