//! What can be wrong with an index.

use std::collections::BTreeSet;

use super::Finding;
use crate::limits::{INDEX_LINE_LONG, INDEX_LINE_TOO_LONG, INDEX_NAME, TEAM_FOLDER, TEAM_INDEX};
use crate::memory::{IndexSize, index_size, links, memory_of, parse_frontmatter};
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
    let indexes = [
        ("", INDEX_NAME, index),
        (TEAM_FOLDER, TEAM_INDEX, team_index),
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
    if let Some(IndexSize {
        code,
        message,
        remedy,
    }) = index_size(text)
    {
        let what = (format!("the index {message}"), remedy);
        findings.push(Finding::new(path, None, code, what));
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
        let targets: Vec<String> = links(line)
            .filter_map(|link| memory_of(folder, link.target))
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
