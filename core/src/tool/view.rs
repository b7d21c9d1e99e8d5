//! What a model is shown: a file with line numbers, a folder two levels deep with sizes.

use super::{below, lines, shown, wrong};
use crate::error::Error;
use crate::flow::{FileKind, Host, join_all};
use crate::limits::{OWN_FOLDER, TEMPORARY_ENDING, TOOL_VIEW_BYTES, TOOL_VIEW_ENTRIES};
use crate::order;
use crate::paths::check_relative;
use crate::store::{Place, read};
use crate::text::{one_line, size};

/// Lines shown before and after an edited place.
const AROUND: usize = 3;
/// Bytes of each of them, so that one long line leaves room for the others.
const AROUND_BYTES: usize = TOOL_VIEW_BYTES / 16;
/// How a model sees what is not shown.
const HOW: &str = "view them with view_range";
/// Bytes that are kept for saying what is not shown.
const NOTE_BYTES: usize = 256;

/// A file or a folder.
pub(super) async fn view(
    place: &Place,
    host: &Host,
    path: &str,
    range: Option<(i64, i64)>,
) -> Result<String, Error> {
    if !path.is_empty() {
        check_relative(path, place.platform)?;
    }
    let stat = host.lstat(&place.path(path)).await;
    host.stop_if_cancelled()?;
    let kind = match stat {
        Ok(stat) => stat.kind,
        // An empty store has no folder yet.
        Err(_) if path.is_empty() => return Ok(head(path) + &entry(0, path)),
        Err(_) => return Err(super::missing(&shown(path))),
    };
    if kind == FileKind::Directory && !path.contains('/') {
        return folder(place, host, path, range).await;
    }
    // What a link leads to is shown, a folder by its own path.
    if kind != FileKind::File {
        let (real, stat) = read::resolve(place, host, path).await?;
        if stat.kind == FileKind::Directory {
            return folder(place, host, &real, range).await;
        }
    }
    let text = read::text_of(place, host, path).await?;
    file(&text, path, range)
}

fn file(text: &str, path: &str, range: Option<(i64, i64)>) -> Result<String, Error> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let lines = lines(text);
    let (first, last) = part(range, path, lines.len(), "lines")?;
    let mut view = format!("{} with line numbers:\n", shown(path));
    numbered(&lines, (first, last), usize::MAX, HOW, &mut view);
    Ok(view)
}

/// The first and the last one, from 1, of `count` lines or entries that are asked for.
fn part(
    range: Option<(i64, i64)>,
    path: &str,
    count: usize,
    units: &str,
) -> Result<(usize, usize), Error> {
    let Some((first, last)) = range else {
        return Ok((1, count));
    };
    // The end of an empty text is its first line too.
    let end = if last == -1 {
        Some(count.max(1))
    } else {
        usize::try_from(last).ok()
    };
    let first = usize::try_from(first).ok().filter(|first| *first >= 1);
    match (first, end) {
        (Some(first), Some(end)) if first <= end && first <= count.max(1) => {
            Ok((first, end.min(count)))
        }
        _ => Err(wrong(&format!(
            "view_range is no part of {}, which has {count} {units}; give the first and the last, -1 for the end",
            shown(path)
        ))),
    }
}

/// Appends lines with their numbers, each of at most so many bytes, as long as there is room; and what is
/// not shown, and how it is seen.
pub(crate) fn numbered(
    lines: &[&str],
    (first, last): (usize, usize),
    longest: usize,
    how: &str,
    view: &mut String,
) {
    for (number, line) in (1..).zip(lines) {
        if number < first || number > last {
            continue;
        }
        let before = format!("{number:>6}\t");
        let taken = view.len().saturating_add(before.len());
        let room = TOOL_VIEW_BYTES.saturating_sub(taken.saturating_add(NOTE_BYTES));
        if number > first && line.len().min(longest) >= room {
            view.push_str(&not_shown("lines", number, last, how));
            return;
        }
        let (shown, rest) = cut(line, room.min(longest));
        view.push_str(&before);
        view.push_str(shown);
        if !rest.is_empty() {
            let more = rest.len();
            view.push_str(&format!("… ({more} more bytes of this line are not shown)"));
        }
        view.push('\n');
    }
}

/// A text in two where so many bytes have gone by, in front of a character.
pub(crate) fn cut(text: &str, bytes: usize) -> (&str, &str) {
    let mut at = bytes.min(text.len());
    while !text.is_char_boundary(at) {
        at = at.saturating_sub(1);
    }
    text.split_at_checked(at).unwrap_or((text, ""))
}

/// What stands around lines that were edited.
pub(crate) fn around(text: &str, first: usize, last: usize) -> String {
    let lines = lines(text.strip_prefix('\u{FEFF}').unwrap_or(text));
    let mut view = String::new();
    let first = first.saturating_sub(AROUND).max(1);
    let last = last.saturating_add(AROUND).min(lines.len());
    numbered(&lines, (first, last), AROUND_BYTES, HOW, &mut view);
    view
}

struct Listed {
    path: String,
    is_folder: bool,
    bytes: u64,
}

/// Two levels of a folder, without what is hidden; a range counts its entries.
async fn folder(
    place: &Place,
    host: &Host,
    path: &str,
    range: Option<(i64, i64)>,
) -> Result<String, Error> {
    let mut listed = list(place, host, vec![path.to_owned()]).await?;
    let folders = listed.iter().filter(|entry| entry.is_folder);
    let inner = list(
        place,
        host,
        folders.map(|entry| entry.path.clone()).collect(),
    )
    .await?;
    for folder in listed.iter_mut().filter(|entry| entry.is_folder) {
        let inside = inner
            .iter()
            .filter(|entry| is_in(&entry.path, &folder.path));
        folder.bytes = inside.map(|entry| entry.bytes).sum();
    }
    let total = listed.iter().map(|entry| entry.bytes).sum();
    listed.extend(inner);
    order::sort(&mut listed, |a, b| a.path.cmp(&b.path));
    let mut view = head(path) + &entry(total, path);
    let (first, last) = part(range, path, listed.len(), "entries")?;
    let asked = listed
        .get(first.saturating_sub(1)..last)
        .unwrap_or_default();
    for listed in asked.iter().take(TOOL_VIEW_ENTRIES) {
        let slash = if listed.is_folder { "/" } else { "" };
        view.push_str(&entry(listed.bytes, &format!("{}{slash}", listed.path)));
    }
    if asked.len() > TOOL_VIEW_ENTRIES {
        view.push_str(&not_shown(
            "entries",
            first.saturating_add(TOOL_VIEW_ENTRIES),
            last,
            HOW,
        ));
    }
    Ok(view)
}

fn not_shown(units: &str, first: usize, last: usize, how: &str) -> String {
    format!("({units} {first} to {last} are not shown; {how})\n")
}

fn is_in(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.starts_with('/'))
}

async fn list(place: &Place, host: &Host, folders: Vec<String>) -> Result<Vec<Listed>, Error> {
    let paths: Vec<String> = folders.iter().map(|folder| place.path(folder)).collect();
    let within = Some(place.directory.as_str());
    let listings = join_all(paths.iter().map(|path| host.list(path, within))).await;
    host.stop_if_cancelled()?;
    let mut listed = Vec::new();
    for (folder, listing) in folders.iter().zip(listings) {
        let listing =
            listing.map_err(|failure| Error::from_failure(&failure, "viewing", folder))?;
        for entry in listing.entries {
            let name = entry.name;
            let hidden = name.starts_with('.')
                || name == "node_modules"
                || name == OWN_FOLDER
                || name.ends_with(TEMPORARY_ENDING)
                || entry.invalid_name;
            let Some(stat) = entry.stat.filter(|_| !hidden) else {
                continue;
            };
            listed.push(Listed {
                path: if folder.is_empty() {
                    name
                } else {
                    format!("{folder}/{name}")
                },
                is_folder: stat.kind == FileKind::Directory,
                bytes: if stat.kind == FileKind::File {
                    stat.size
                } else {
                    0
                },
            });
        }
    }
    Ok(listed)
}

fn head(path: &str) -> String {
    format!(
        "Files and folders in {}, two levels deep, without hidden ones; sizes before their paths:\n",
        below(path)
    )
}

fn entry(bytes: u64, path: &str) -> String {
    let bytes = size(usize::try_from(bytes).unwrap_or(usize::MAX));
    format!("{bytes}\t{}\n", one_line(&below(path)))
}
