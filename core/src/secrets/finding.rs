//! What a scan says about a text: where secrets are and of which kind, never what they are.

use serde::Serialize;

use crate::secrets::scan::tokens;

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SecretFinding {
    /// Which rule found it, such as `github-pat`.
    pub rule: String,
    /// What it is, for people.
    pub label: String,
    /// The line that it begins in, from 1.
    pub line: usize,
    /// Where it begins, in bytes of the UTF-8 text.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// The secrets in a text, in their order; none overlaps another.
#[must_use]
pub fn scan_secrets(text: &str) -> Vec<SecretFinding> {
    let mut line = 1_usize;
    let mut counted = 0;
    let mut findings = Vec::new();
    for token in tokens(text) {
        let passed = text.get(counted..token.start).unwrap_or_default();
        let ends = passed.bytes().filter(|byte| *byte == b'\n').count();
        line = line.saturating_add(ends);
        counted = token.start;
        findings.push(SecretFinding {
            rule: token.rule.id.to_owned(),
            label: token.rule.label.to_owned(),
            line,
            start: token.start,
            end: token.end,
        });
    }
    findings
}
