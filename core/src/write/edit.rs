//! How the text of a memory is changed: only the keys and the body that are asked for, every other
//! byte stays (design, "Decisions": frontmatter; list of pains P9, P10).

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::value::scalar;
use crate::error::{Error, ErrorCode};
use crate::limits::{FILE_MAX_BYTES, FRONTMATTER_MAX_BYTES, FRONTMATTER_MAX_LINES};
use crate::memory::{
    Frontmatter, MemoryType, Spot, Survey, block_place, is_valid, parse_frontmatter, parse_iso,
    survey,
};
use crate::order;
use crate::text::{self, line_end, lines_with_ends, without_end};

/// What is to change in a memory; null keeps what is there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct MemoryChanges {
    /// Trimmed, and not empty.
    pub name: Option<String>,
    /// Trimmed.
    pub description: Option<String>,
    /// One of the four.
    #[serde(rename = "type")]
    pub kind: Option<MemoryType>,
    /// ISO 8601; written only where there is a block.
    pub modified: Option<String>,
    /// Markdown. Line ends at its beginning and end do not count.
    pub body: Option<String>,
}

/// A text as it is to be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Edited {
    /// The whole new text.
    pub content: String,
    /// Whether it differs from the old one.
    pub changed: bool,
}

/// The text of a memory with `changes` in it; `text` is null when there is no such file yet.
///
/// # Errors
/// `invalid-argument` for an empty name, `invalid-text` for a NUL, `too-large` for a block that would
/// not be read (30 lines, 64 KiB) or a file above 4 MiB, `frontmatter-invalid` for a block that
/// cannot be changed without risk.
pub fn update_memory(text: Option<&str>, changes: &MemoryChanges) -> Result<Edited, Error> {
    let changes = checked(changes)?;
    let old = text.unwrap_or_default();
    let end = line_end(old);
    let mark = if old.starts_with('\u{FEFF}') {
        "\u{FEFF}"
    } else {
        ""
    };
    let asked = Asked::of(&changes);
    let place = block_place(old);
    let had_block = place.is_some();
    let content = match place {
        Some((yaml, body)) => {
            let mut head = old.get(..yaml.start).unwrap_or_default().to_owned();
            head.push_str(&asked.set(old, yaml.clone(), end).ok_or_else(unchangeable)?);
            head.push_str(old.get(yaml.end..body).unwrap_or_default());
            let old_body = old.get(body..).unwrap_or_default();
            join(
                head,
                &new_body(old_body, changes.body.as_deref(), end, end),
                end,
            )
        }
        None => {
            let rest = old.strip_prefix('\u{FEFF}').unwrap_or(old);
            let body = new_body(rest, changes.body.as_deref(), "", end);
            if asked.needs_block() {
                let block = asked.block(end);
                let body = body.trim_start_matches(['\r', '\n']);
                let gap = if body.is_empty() { "" } else { end };
                format!("{mark}{block}{gap}{body}")
            } else {
                format!("{mark}{body}")
            }
        }
    };
    if !had_block && !asked.needs_block() && block_place(&content).is_some() {
        return Err(Error::new(
            ErrorCode::InvalidArgument,
            "the body begins with a frontmatter block; give name, description and type beside it instead",
        ));
    }
    verify(&content, &asked, had_block)?;
    Ok(Edited {
        changed: text != Some(content.as_str()),
        content,
    })
}

/// Names and descriptions trimmed, and nothing that no file may hold.
fn checked(changes: &MemoryChanges) -> Result<MemoryChanges, Error> {
    let trimmed = |value: &Option<String>| value.as_deref().map(text::trim).map(str::to_owned);
    let changes = MemoryChanges {
        name: trimmed(&changes.name),
        description: trimmed(&changes.description),
        ..changes.clone()
    };
    if changes.name.as_deref() == Some("") {
        return Err(Error::new(
            ErrorCode::InvalidArgument,
            "the name is empty; say in a few words what the memory is about",
        ));
    }
    for (what, value) in [
        ("name", &changes.name),
        ("description", &changes.description),
        ("modified time", &changes.modified),
        ("body", &changes.body),
    ] {
        if value.as_deref().is_some_and(|value| value.contains('\0')) {
            return Err(Error::new(
                ErrorCode::InvalidText,
                format!("the {what} holds a NUL character; remove it"),
            ));
        }
    }
    if let Some(modified) = &changes.modified
        && parse_iso(modified).is_none()
    {
        return Err(Error::new(
            ErrorCode::InvalidArgument,
            "modified is no ISO 8601 time; write it like 2026-03-15T10:30:00Z",
        ));
    }
    Ok(changes)
}

/// What is to stand in the block, as it is read.
struct Asked<'a> {
    name: Option<&'a str>,
    description: Option<&'a str>,
    kind: Option<MemoryType>,
    modified: Option<&'a str>,
}

impl<'a> Asked<'a> {
    fn of(changes: &'a MemoryChanges) -> Self {
        Self {
            name: changes.name.as_deref(),
            description: changes.description.as_deref(),
            kind: changes.kind,
            modified: changes.modified.as_deref(),
        }
    }

    /// A time alone is no reason for one.
    fn needs_block(&self) -> bool {
        self.name.is_some() || self.description.is_some() || self.kind.is_some()
    }

    /// Key and written value of everything that the block does not say yet; of all without one.
    fn lines(&self, read: Option<&Frontmatter>) -> Vec<(&'static str, String)> {
        let mut lines = Vec::new();
        let mut add = |key, asked: Option<String>, said: bool| {
            lines.extend(asked.filter(|_| !said).map(|value| (key, value)));
        };
        let says = |value: Option<&Option<String>>, asked: Option<&str>| {
            value.is_some_and(|value| {
                value.as_deref().unwrap_or_default() == asked.unwrap_or_default()
            })
        };
        let name = says(read.map(|read| &read.name), self.name);
        add("name", self.name.map(scalar), name);
        let description = says(read.map(|read| &read.description), self.description);
        add("description", self.description.map(scalar), description);
        let kind = self.kind.map(|kind| kind.name().to_owned());
        add(
            "type",
            kind,
            read.is_some_and(|read| read.kind == self.kind),
        );
        let modified = says(read.map(|read| &read.modified), self.modified);
        add("modified", self.modified.map(str::to_owned), modified);
        lines
    }

    /// A whole new block.
    fn block(&self, end: &str) -> String {
        let mut block = format!("---{end}");
        for (key, value) in self.lines(None) {
            block.push_str(&format!("{key}: {value}{end}"));
        }
        block + "---" + end
    }

    /// The text between the fences with what is asked for; none when that cannot be done safely.
    fn set(&self, text: &str, yaml: Range<usize>, end: &str) -> Option<String> {
        let before = parse_frontmatter(text);
        let lines = self.lines(Some(&before));
        let yaml = text.get(yaml)?;
        if lines.is_empty() {
            return Some(yaml.to_owned());
        }
        let Some(known) = survey(yaml) else {
            // What is valid and cannot be surveyed has a meaning that a change of lines could alter.
            return (!is_valid(yaml)).then(|| by_lines(yaml, &lines, end));
        };
        let new = by_spots(yaml, &known, &lines, end)?;
        (survey(&new)?.rest == known.rest).then_some(new)
    }
}

/// Puts values in their places; new keys go to the end of the block.
fn by_spots(
    yaml: &str,
    survey: &Survey<'_>,
    lines: &[(&'static str, String)],
    end: &str,
) -> Option<String> {
    let find = |nested: bool, key: &str| {
        let mut spots = survey.spots.iter();
        spots.find(|spot| spot.nested == nested && spot.key == key)
    };
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let mut added = String::new();
    for (key, value) in lines {
        if let Some(spot) = find(false, key).or_else(|| find(true, key)) {
            edits.push(in_place(yaml, spot, value)?);
        } else if *key == "modified"
            && let Some((at, indent)) = find(true, "type").and_then(|spot| line_after(yaml, spot))
        {
            // Where the program that keeps the type below `metadata:` keeps the time too.
            edits.push((at..at, format!("{indent}{key}: {value}{end}")));
        } else {
            added.push_str(&format!("{key}: {value}{end}"));
        }
    }
    edits.push((yaml.len()..yaml.len(), added));
    order::sort(&mut edits, |(a, _), (b, _)| a.start.cmp(&b.start));
    let mut new = String::with_capacity(yaml.len());
    let mut at = 0;
    for (range, value) in edits {
        new.push_str(yaml.get(at..range.start)?);
        new.push_str(&value);
        at = range.end;
    }
    Some(new + yaml.get(at..)?)
}

fn in_place(yaml: &str, spot: &Spot, value: &str) -> Option<(Range<usize>, String)> {
    if spot.shared {
        return None;
    }
    let at = spot.value.start;
    if !spot.value.is_empty() {
        let colon = yaml.get(..at).is_some_and(|before| before.ends_with(':'));
        let gap = if colon { " " } else { "" };
        return Some((spot.value.clone(), format!("{gap}{value}")));
    }
    let rest = yaml.get(at..)?;
    let after = rest.trim_start_matches([' ', '\t']);
    // Blanks before the line end go with the value that was missing.
    let used = if after.is_empty() || after.starts_with(['\r', '\n']) {
        rest.len() - after.len()
    } else {
        0
    };
    Some((at..at.checked_add(used)?, format!(" {value}")))
}

/// Where the line after that of a key begins, and the indentation of the key, if nothing stands before
/// it.
fn line_after<'a>(yaml: &'a str, spot: &Spot) -> Option<(usize, &'a str)> {
    let start = yaml
        .get(..spot.name.start)?
        .rfind('\n')
        .map_or(0, |at| at.saturating_add(1));
    let indent = yaml.get(start..spot.name.start)?;
    let next = yaml.get(spot.value.end..)?.find('\n')?;
    let plain = indent.bytes().all(|byte| byte == b' ');
    plain.then_some((spot.value.end.checked_add(next)?.checked_add(1)?, indent))
}

/// The same for a block that is no YAML: lines that begin with the key.
fn by_lines(yaml: &str, lines: &[(&'static str, String)], end: &str) -> String {
    let mut added = String::new();
    let mut new: Vec<String> = lines_with_ends(yaml).map(str::to_owned).collect();
    for (key, value) in lines {
        let is_it = |line: &&mut String| {
            let rest = line.strip_prefix(key);
            rest.is_some_and(|rest| rest.starts_with(':'))
        };
        match new.iter_mut().find(is_it) {
            Some(line) => {
                let ending = line.get(without_end(line).len()..).unwrap_or_default();
                *line = format!("{key}: {value}{ending}");
            }
            None => added.push_str(&format!("{key}: {value}{end}")),
        }
    }
    new.concat() + &added
}

/// The body to be written: the old one byte for byte when nothing but line ends around it or CRLF
/// differ. `gap` is what stands before the first body after a block.
fn new_body(old: &str, given: Option<&str>, gap: &str, end: &str) -> String {
    let Some(given) = given else {
        return old.to_owned();
    };
    let (given, kept) = (core(given), core(old));
    if given == kept {
        return old.to_owned();
    }
    if given.is_empty() {
        return String::new();
    }
    let given = if end == "\n" {
        given
    } else {
        given.replace('\n', end)
    };
    if kept.is_empty() {
        return format!("{gap}{given}{end}");
    }
    let is_end = |c: char| matches!(c, '\r' | '\n');
    let before = old.len() - old.trim_start_matches(is_end).len();
    let after = old.trim_end_matches(is_end).len();
    let before = old.get(..before).unwrap_or_default();
    let after = old.get(after..).unwrap_or_default();
    format!("{before}{given}{after}")
}

/// A body without what surrounds it.
pub(crate) fn core(body: &str) -> String {
    body.replace("\r\n", "\n")
        .trim_matches(['\r', '\n'])
        .to_owned()
}

fn join(mut head: String, body: &str, end: &str) -> String {
    if !body.is_empty() && !head.ends_with('\n') {
        head.push_str(end);
    }
    head + body
}

/// Reads the new text again: what cannot be read back is not written.
fn verify(content: &str, asked: &Asked<'_>, had_block: bool) -> Result<(), Error> {
    let too_large = |what: String| Err(Error::new(ErrorCode::TooLarge, what));
    if content.len() as u64 > FILE_MAX_BYTES {
        return too_large(format!(
            "the memory would have more than {FILE_MAX_BYTES} bytes; split it up"
        ));
    }
    let block = had_block || asked.needs_block();
    if block && block_place(content).is_none() {
        return too_large(format!(
            "the frontmatter would have more than {FRONTMATTER_MAX_LINES} lines or {FRONTMATTER_MAX_BYTES} bytes and could not be read; shorten the name and the description, and move detail into the body"
        ));
    }
    if block && !asked.lines(Some(&parse_frontmatter(content))).is_empty() {
        return Err(unchangeable());
    }
    Ok(())
}

fn unchangeable() -> Error {
    Error::new(
        ErrorCode::FrontmatterInvalid,
        "the frontmatter is no plain list of keys and cannot be changed safely; mend it in an editor first",
    )
}
