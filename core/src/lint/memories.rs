//! What can be wrong with a memory.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use crate::limits::LOGS_FOLDER;
use crate::memory::parse_frontmatter;
use crate::report::ReportCode;

/// Memories that no index links to; the daily logs need no line.
pub(super) fn check_indexed(
    paths: &BTreeSet<String>,
    linked: &BTreeSet<String>,
    findings: &mut Vec<Finding>,
) {
    for path in paths {
        let is_log = path
            .split_once('/')
            .is_some_and(|(folder, _)| folder == LOGS_FOLDER);
        if !is_log && !linked.contains(path) {
            let what = (
                "no line of the index links to it, so it is only found by chance",
                "add a line for it to MEMORY.md",
            );
            findings.push(Finding::new(path, None, ReportCode::NotIndexed, what));
        }
    }
}

/// Memories with the name of another; the first by path keeps it.
pub(super) fn check_names(names: &[(String, Option<String>)], findings: &mut Vec<Finding>) {
    let mut first: BTreeMap<String, String> = BTreeMap::new();
    for (path, name) in names {
        let Some(name) = name else { continue };
        let name = name.to_ascii_lowercase();
        if let Some(first) = first.get(&name) {
            let what = (
                format!("it has the same name as {first}"),
                "merge the two, or name one anew",
            );
            findings.push(Finding::new(path, None, ReportCode::DuplicateName, what));
        } else {
            first.insert(name, path.clone());
        }
    }
}

/// Checks the text of one memory and gives its name.
pub(super) fn check_text(
    path: &str,
    text: &str,
    empty: bool,
    findings: &mut Vec<Finding>,
) -> Option<String> {
    let mut find = |line, code, message: &str, remedy: &str| {
        findings.push(Finding::new(path, line, code, (message, remedy)));
    };
    if empty {
        find(
            None,
            ReportCode::Empty,
            "it is empty",
            "write it or remove it",
        );
        return None;
    }
    let frontmatter = parse_frontmatter(text);
    let mut unusable = !frontmatter.found;
    let mut typed = frontmatter.kind.is_some();
    for problem in &frontmatter.problems {
        unusable |= matches!(
            problem.code,
            ReportCode::FrontmatterInvalid | ReportCode::FrontmatterNotAMap
        );
        typed |= problem.code == ReportCode::UnknownType;
        // A problem's message holds what and remedy in one line, parted by a semicolon.
        let (message, remedy) = problem
            .message
            .rsplit_once("; ")
            .unwrap_or((&problem.message, "correct it"));
        find(problem.line, problem.code, message, remedy);
    }
    if !frontmatter.found && frontmatter.problems.is_empty() {
        find(
            None,
            ReportCode::FrontmatterMissing,
            "it has no frontmatter, so neither type nor description is known",
            "begin it with a block that has name, description and type",
        );
    }
    if !unusable {
        for (missing, code, key) in [
            (frontmatter.name.is_none(), ReportCode::NameMissing, "name"),
            (
                frontmatter.description.is_none(),
                ReportCode::DescriptionMissing,
                "description",
            ),
            (!typed, ReportCode::TypeMissing, "type"),
        ] {
            if missing {
                find(
                    None,
                    code,
                    &format!("its frontmatter has no {key}"),
                    &format!("add a line {key}: …"),
                );
            }
        }
    }
    frontmatter.name
}
