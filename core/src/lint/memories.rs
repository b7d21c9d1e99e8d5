//! What can be wrong with a memory.

use std::collections::{BTreeMap, BTreeSet};

use super::{Finding, LintInput, LintMemory};
use crate::limits::LOGS_FOLDER;
use crate::memory::parse_frontmatter;
use crate::report::ReportCode;

/// Checks every memory; `linked` are those that an index links to.
pub(super) fn check(input: &LintInput, linked: &BTreeSet<String>, findings: &mut Vec<Finding>) {
    let has_index = input.index.is_some() || input.team_index.is_some();
    let mut names: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for memory in &input.memories {
        let is_log =
            memory.path.split('/').next() == Some(LOGS_FOLDER) && memory.path.contains('/');
        if has_index && !is_log && !linked.contains(&memory.path) {
            let what = (
                "no line of the index links to it, so it is only found by chance",
                "add a line for it to MEMORY.md",
            );
            findings.push(Finding::new(
                &memory.path,
                None,
                ReportCode::NotIndexed,
                what,
            ));
        }
        if let Some(name) = check_text(memory, findings) {
            names
                .entry(name.to_ascii_lowercase())
                .or_default()
                .push(&memory.path);
        }
    }
    for mut paths in names.into_values() {
        paths.sort_unstable();
        if let Some((first, others)) = paths.split_first() {
            for path in others {
                let what = (
                    format!("it has the same name as {first}"),
                    "merge the two, or name one anew",
                );
                findings.push(Finding::new(*path, None, ReportCode::DuplicateName, what));
            }
        }
    }
}

/// Checks the text of one memory and gives its name.
fn check_text(memory: &LintMemory, findings: &mut Vec<Finding>) -> Option<String> {
    let mut find = |line, code, message: &str, remedy: &str| {
        findings.push(Finding::new(&memory.path, line, code, (message, remedy)));
    };
    if memory.text.is_empty() {
        find(
            None,
            ReportCode::Empty,
            "it is empty",
            "write it or remove it",
        );
        return None;
    }
    let frontmatter = parse_frontmatter(&memory.text);
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
