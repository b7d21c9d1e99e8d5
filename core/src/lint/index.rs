//! What can be wrong with an index.

use std::collections::BTreeSet;

use super::Finding;
use crate::limits::{
    INDEX_LINE_LONG, INDEX_LINE_TOO_LONG, INDEX_MAX_BYTES, INDEX_MAX_LINES, INDEX_NAME,
    INDEX_NEAR_PERCENT, INDEX_TARGET_BYTES, INDEX_TARGET_LINES, TEAM_FOLDER,
};
use crate::memory::{parse_frontmatter, truncate_index};
use crate::report::ReportCode;
use crate::text::one_line;

/// Checks both indexes and collects which memories they link to.
pub(super) fn check(
    index: Option<&str>,
    team_index: Option<&str>,
    paths: &BTreeSet<String>,
    unseen: &BTreeSet<String>,
    linked: &mut BTreeSet<String>,
    findings: &mut Vec<Finding>,
) {
    let team_path = format!("{TEAM_FOLDER}/{INDEX_NAME}");
    let indexes = [
        ("", INDEX_NAME, index),
        (TEAM_FOLDER, team_path.as_str(), team_index),
    ];
    let exists = |target: &str| {
        paths.contains(target)
            || indexes
                .iter()
                .any(|(_, path, text)| *path == target && text.is_some())
            || is_unseen(unseen, target)
    };
    for (folder, path, text) in indexes {
        if let Some(text) = text {
            check_size(path, text, findings);
            check_lines(folder, path, text, paths, &exists, linked, findings);
        }
    }
}

fn is_unseen(unseen: &BTreeSet<String>, target: &str) -> bool {
    let above = target
        .match_indices('/')
        .filter_map(|(at, _)| target.get(..at));
    above.chain(["", target]).any(|path| unseen.contains(path))
}

fn check_size(path: &str, text: &str, findings: &mut Vec<Finding>) {
    let size = truncate_index(text);
    let remedy = format!(
        "shorten it to {INDEX_TARGET_LINES} lines and {INDEX_TARGET_BYTES} bytes: merge entries, move detail into memories"
    );
    let near = |value: usize, limit: usize| {
        value.saturating_mul(100) >= limit.saturating_mul(INDEX_NEAR_PERCENT)
    };
    let measured = format!("{} lines and {} bytes", size.lines, size.bytes);
    if size.lines_cut || size.bytes_cut {
        let message = format!(
            "the index has {measured}, so {} entries are not loaded",
            size.lost.len()
        );
        findings.push(Finding::new(
            path,
            None,
            ReportCode::IndexOverLimit,
            (message, remedy),
        ));
    } else if near(size.lines, INDEX_MAX_LINES) || near(size.bytes, INDEX_MAX_BYTES) {
        let message = format!(
            "the index has {measured}, near the limit of {INDEX_MAX_LINES} lines and {INDEX_MAX_BYTES} bytes"
        );
        findings.push(Finding::new(
            path,
            None,
            ReportCode::IndexNearLimit,
            (message, remedy),
        ));
    }
}

fn check_lines(
    folder: &str,
    path: &str,
    text: &str,
    paths: &BTreeSet<String>,
    exists: &impl Fn(&str) -> bool,
    linked: &mut BTreeSet<String>,
    findings: &mut Vec<Finding>,
) {
    let frontmatter = parse_frontmatter(text);
    let (block, body) = text
        .split_at_checked(frontmatter.body)
        .unwrap_or(("", text));
    if frontmatter.found {
        let what = (
            "the index has frontmatter, which costs room and is not read",
            "remove it",
        );
        findings.push(Finding::new(
            path,
            Some(1),
            ReportCode::IndexFrontmatter,
            what,
        ));
    }
    let mut seen = BTreeSet::new();
    for (number, line) in (block.matches('\n').count().saturating_add(1)..).zip(body.split('\n')) {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let mut find = |code, message: String, remedy: &str| {
            findings.push(Finding::new(path, Some(number), code, (message, remedy)));
        };
        let length = line.chars().count();
        if length > INDEX_LINE_LONG {
            let code = if length > INDEX_LINE_TOO_LONG {
                ReportCode::IndexLineTooLong
            } else {
                ReportCode::IndexLineLong
            };
            find(
                code,
                format!("the line has {length} characters"),
                "keep an entry below 150 characters and move the rest into its memory",
            );
        }
        let targets: Vec<String> = link_targets(line)
            .filter_map(|target| memory_of(folder, target))
            .collect();
        if let Some(missing) = targets.iter().find(|target| !exists(target)) {
            find(
                ReportCode::IndexLinkBroken,
                format!(
                    "the line links to {}, which is not there",
                    one_line(missing)
                ),
                "write that memory, or correct or remove the line",
            );
        }
        let repeated = targets
            .iter()
            .find(|target| paths.contains(target.as_str()) && seen.contains(*target));
        if let Some(target) = repeated {
            find(
                ReportCode::IndexDuplicate,
                format!("an earlier line links to {} already", one_line(target)),
                "merge the two lines",
            );
        }
        seen.extend(targets.iter().cloned());
        linked.extend(targets);
    }
}

/// Targets of the inline links of a line.
fn link_targets(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once("](")?;
        let (target, after) = after.split_once(')')?;
        rest = after;
        Some(target)
    })
}

/// The memory that a link target names, relative to the store; none for other links and for
/// targets outside the store, which are no memories.
fn memory_of(folder: &str, target: &str) -> Option<String> {
    let target = target.split_once('#').map_or(target, |(path, _)| path);
    let scheme = target.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
    });
    let target = percent_decode(target);
    if scheme || target.starts_with('/') || !target.ends_with(".md") {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let mut outside: usize = 0;
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if parts.pop().is_none() {
                    outside = outside.saturating_add(1);
                }
            }
            part => parts.push(part),
        }
    }
    Some("../".repeat(outside) + &parts.join("/"))
}

/// Decodes `%20` and the like; a malformed escape, or one that gives no UTF-8, stays as it is.
fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escape = (*first == b'%')
            .then(|| after.split_first_chunk::<2>())
            .flatten();
        match escape.and_then(|(digits, after)| Some((hex(*digits)?, after))) {
            Some((byte, after)) => {
                bytes.push(byte);
                rest = after;
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

fn hex([high, low]: [u8; 2]) -> Option<u8> {
    let digit = |byte: u8| {
        char::from(byte)
            .to_digit(16)
            .and_then(|digit| u8::try_from(digit).ok())
    };
    digit(high)?.checked_mul(16)?.checked_add(digit(low)?)
}
