//! What one Markdown file of instructions says: to whom (its front matter), what is shown of it, and what it imports.

use std::ops::Range;

use serde::Serialize;

use super::prose::{self, ImportTarget};
use crate::limits::{FRONTMATTER_MAX_BYTES, RULE_FRONTMATTER_MAX_LINES};
use crate::memory::{Listed, closed_block, listed};
use crate::report::ReportCode;
use crate::text::trim;

/// What one file says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ParsedInstructions {
    /// What an agent reads: without front matter and without comments that stand by themselves, trimmed.
    pub text: String,
    /// What it imports, in order, each once.
    pub imports: Vec<ImportTarget>,
    /// The patterns of the files that it is about; null when it holds for all.
    pub paths: Option<Vec<String>>,
    /// What could not be read as it was meant.
    pub problems: Vec<ReportCode>,
}

/// Reads a file of instructions. It never fails: what cannot be read stays as text, and is named in `problems`.
#[must_use]
pub fn parse_instructions(text: &str) -> ParsedInstructions {
    let mut problems = Vec::new();
    let (body, paths) = front_matter(text, &mut problems);
    let body = body.strip_prefix('\u{FEFF}').unwrap_or(body);
    let prose = prose::read(body);
    if prose.has_open_comment {
        problems.push(ReportCode::CommentUnclosed);
    }
    ParsedInstructions {
        text: without(body, prose.comments),
        imports: prose.imports,
        paths,
        problems,
    }
}

/// What is left of a text without comments, trimmed.
fn without(body: &str, comments: Vec<Range<usize>>) -> String {
    if comments.is_empty() {
        return trim(body).to_owned();
    }
    let mut shown = String::with_capacity(body.len());
    let mut rest = 0;
    // Where the line of the last comment begins in what is shown, and ends in the text.
    let (mut line, mut end) = (0, 0);
    for comment in comments {
        let between = body.get(rest..comment.start).unwrap_or_default();
        if let Some(last) = between.rfind('\n') {
            line = shown.len().saturating_add(last).saturating_add(1);
        }
        shown.push_str(between);
        rest = comment.end;
        if end <= rest {
            let after = body.get(rest..).unwrap_or_default();
            let length = after
                .find('\n')
                .map_or(after.len(), |at| at.saturating_add(1));
            end = rest.saturating_add(length);
        }
        // Nothing else stood on its line.
        let is_blank = |text: Option<&str>| text.is_some_and(|text| text.trim().is_empty());
        if is_blank(body.get(rest..end)) && is_blank(shown.get(line..)) {
            shown.truncate(line);
            rest = end;
        }
    }
    shown.push_str(body.get(rest..).unwrap_or_default());
    trim(&shown).to_owned()
}

/// The text without its front matter, and the patterns in that.
fn front_matter<'a>(
    text: &'a str,
    problems: &mut Vec<ReportCode>,
) -> (&'a str, Option<Vec<String>>) {
    let limits = (RULE_FRONTMATTER_MAX_LINES, FRONTMATTER_MAX_BYTES);
    let (yaml, body) = match closed_block(text, limits) {
        Ok(Some(block)) => block,
        Ok(None) => return (text, None),
        Err(code) => {
            problems.push(code);
            return (text, None);
        }
    };
    match listed(yaml, "paths") {
        Ok((Listed { texts, others }, repaired)) => {
            problems.extend(repaired.then_some(ReportCode::FrontmatterRepaired));
            problems.extend(others.then_some(ReportCode::PathsIgnored));
            (text.get(body..).unwrap_or_default(), patterns(&texts))
        }
        Err(code) => {
            problems.push(code);
            (text, None)
        }
    }
}

/// The patterns in the values of `paths`; none when they mean every file.
fn patterns(texts: &[String]) -> Option<Vec<String>> {
    let patterns: Vec<String> = texts
        .iter()
        .flat_map(|text| split(text))
        .map(|pattern| pattern.trim().to_owned())
        .filter(|pattern| !pattern.is_empty())
        .collect();
    let is_all = |pattern: &String| matches!(pattern.as_str(), "**" | "**/*" | "/**" | "**/**");
    let takes_back = |pattern: &String| pattern.starts_with('!');
    let means_all = patterns.iter().any(is_all) && !patterns.iter().any(takes_back);
    (!patterns.is_empty() && !means_all).then_some(patterns)
}

/// Splits at the commas outside of braces.
fn split(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    text.split(move |c| {
        match c {
            '{' => depth = depth.saturating_add(1),
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .collect()
}
