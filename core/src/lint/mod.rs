//! Decides what is wrong with a store: an index that leads nowhere, memories that nothing leads
//! to, frontmatter that will not be understood. Each finding says what to do about it.

mod index;
mod memories;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::order;
use crate::report::ReportCode;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Relative to the store, with `/`; empty for the store itself.
    pub path: String,
    /// 1-based, when it is about one line.
    pub line: Option<usize>,
    /// What kind of thing.
    pub code: ReportCode,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub message: String,
    /// What to do about it, in one line.
    pub remedy: String,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Something is lost or misread because of it.
    Error,
    /// It works, and could be better.
    Warning,
}

/// A store as lint sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LintInput {
    /// The text of `MEMORY.md`; null when there is none.
    pub index: Option<String>,
    /// The text of `team/MEMORY.md`; null when there is none.
    pub team_index: Option<String>,
    /// All other memories.
    pub memories: Vec<LintMemory>,
}

/// One memory as lint sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LintMemory {
    /// Relative to the store, with `/`.
    pub path: String,
    /// All of it.
    pub text: String,
}

/// Checks a store's indexes and memories. The findings are sorted by path, line and code.
#[must_use]
pub fn lint_memories(input: &LintInput) -> Vec<Finding> {
    let mut linter = Linter::default();
    for LintMemory { path, text } in &input.memories {
        linter.memory(path, text, text.is_empty());
    }
    linter.finish(
        input.index.as_deref(),
        input.team_index.as_deref(),
        &BTreeSet::new(),
    )
}

/// Takes the memories one by one, so that a large store is never in memory as a whole.
#[derive(Debug, Default)]
pub(crate) struct Linter {
    findings: Vec<Finding>,
    /// Path and name of each.
    names: Vec<(String, Option<String>)>,
}

impl Linter {
    /// Checks one memory. `text` may be only its beginning; `empty` says whether the file is.
    pub fn memory(&mut self, path: &str, text: &str, empty: bool) {
        let name = memories::check_text(path, text, empty, &mut self.findings);
        self.names.push((path.to_owned(), name));
    }

    /// Checks the indexes against the memories. No link into `unseen`, files or folders that are
    /// there and could not be read (the whole store when empty), counts as broken.
    pub fn finish(
        self,
        index: Option<&str>,
        team_index: Option<&str>,
        unseen: &BTreeSet<String>,
    ) -> Vec<Finding> {
        let Self {
            mut findings,
            mut names,
        } = self;
        order::sort(&mut names, Ord::cmp);
        let mut paths = BTreeSet::new();
        paths.extend(names.iter().map(|(path, _)| path.clone()));
        let mut linked = BTreeSet::new();
        index::check(
            index,
            team_index,
            &paths,
            unseen,
            &mut linked,
            &mut findings,
        );
        if index.is_some() || team_index.is_some() {
            memories::check_indexed(&paths, &linked, &mut findings);
        }
        memories::check_names(&names, &mut findings);
        sort(&mut findings);
        findings
    }
}

pub(crate) fn sort(findings: &mut Vec<Finding>) {
    order::sort(findings, |a, b| {
        (&a.path, a.line)
            .cmp(&(&b.path, b.line))
            .then_with(|| a.code.name().cmp(&b.code.name()))
    });
}

impl Finding {
    pub(crate) fn new(
        path: impl Into<String>,
        line: Option<usize>,
        code: ReportCode,
        (message, remedy): (impl Into<String>, impl Into<String>),
    ) -> Self {
        Self {
            path: path.into(),
            line,
            code,
            severity: severity(code),
            message: message.into(),
            remedy: remedy.into(),
        }
    }
}

/// What makes a memory or an index line useless is an error; the rest are warnings.
fn severity(code: ReportCode) -> Severity {
    use ReportCode as Code;
    match code {
        Code::IndexOverLimit
        | Code::IndexLineTooLong
        | Code::IndexLinkBroken
        | Code::FrontmatterUnclosed
        | Code::FrontmatterInvalid
        | Code::FrontmatterNotAMap
        | Code::Unlistable
        | Code::InvalidName
        | Code::Unreadable
        | Code::NotAFile
        | Code::LinkOutside
        | Code::LinkDangling
        | Code::LinkLoop
        | Code::NotUtf8
        | Code::NulByte => Severity::Error,
        _ => Severity::Warning,
    }
}
