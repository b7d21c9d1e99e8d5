//! The block at the top of a memory (facts 4.1 to 4.3): where it ends, which keys count, and what
//! becomes of one that is broken. Reading never fails; what was lost is said in `problems`.

use std::borrow::Cow;

use serde::Serialize;

use super::flat;
use super::kind::MemoryType;
use super::time::parse_iso;
use super::yaml::{self, Fields, Listed, Unreadable, Value, is_null};
use crate::limits::{FRONTMATTER_MAX_BYTES, FRONTMATTER_MAX_LINES};
use crate::report::ReportCode;
use crate::text::{lines_with_ends, trim, without_end};

/// What the frontmatter of a memory says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Frontmatter {
    /// Whether the text begins with a closed block.
    pub found: bool,
    /// Trimmed; null when missing, empty or no text.
    pub name: Option<String>,
    /// Trimmed; null when missing, empty or no text.
    pub description: Option<String>,
    /// `type`, else `metadata.type`, when it is exactly one of the four.
    #[serde(rename = "type")]
    pub kind: Option<MemoryType>,
    /// `modified`, else `metadata.modified`, as written.
    pub modified: Option<String>,
    /// The same in whole milliseconds since the epoch, when it is an ISO 8601 date-time.
    pub modified_ms: Option<i64>,
    /// `pinned`, else `metadata.pinned`, when it is YAML's true.
    pub pinned: bool,
    /// Where the body begins, in UTF-8 bytes of the text.
    pub body: usize,
    /// What was cut, repaired or given up.
    pub problems: Vec<Problem>,
}

/// One thing that is wrong with a frontmatter block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// What kind of thing.
    pub code: ReportCode,
    /// 1-based line of the file, when it is about one.
    pub line: Option<usize>,
    /// One line: what, and what to do.
    pub message: String,
}

/// Reads the frontmatter of a memory, or of the head of one: nothing beyond the first
/// [`FRONTMATTER_MAX_LINES`] lines and [`FRONTMATTER_MAX_BYTES`] can belong to it.
#[must_use]
pub fn parse_frontmatter(text: &str) -> Frontmatter {
    let block = match find_block(text, MEMORY_LIMITS) {
        Block::None => return Frontmatter::default(),
        Block::Unclosed => {
            return Frontmatter {
                problems: vec![problem(
                    ReportCode::FrontmatterUnclosed,
                    Some(1),
                    format!(
                        "the frontmatter has no closing --- within {FRONTMATTER_MAX_LINES} lines and counts as text; close it, or shorten it"
                    ),
                )],
                ..Frontmatter::default()
            };
        }
        Block::Closed { yaml, body } => (yaml, body),
    };
    let (yaml, body) = block;
    let mut problems = Vec::new();
    let repaired;
    let fields = match flat::parse(yaml).map_or_else(|| yaml::parse(yaml), Ok) {
        Ok(fields) => fields,
        Err(Unreadable::NotAMap) => {
            problems.push(not_a_map());
            Fields::default()
        }
        Err(Unreadable::Invalid { line, message }) => {
            repaired = quote_values(yaml);
            match yaml::parse(&repaired) {
                Ok(fields) => {
                    problems.push(problem(
                        ReportCode::FrontmatterRepaired,
                        None,
                        format!("the frontmatter is not valid YAML ({message}) and was read with its values quoted; quote them in the file"),
                    ));
                    fields
                }
                Err(_) => {
                    problems.push(problem(
                        ReportCode::FrontmatterInvalid,
                        Some(line.saturating_add(1)),
                        format!("the frontmatter is not valid YAML and counts as empty: {message}"),
                    ));
                    Fields::default()
                }
            }
        }
    };
    let mut frontmatter = Frontmatter {
        found: true,
        body,
        ..read(&fields, yaml, &mut problems)
    };
    if let Some(line) = second_block(text, body) {
        problems.push(problem(
            ReportCode::SecondFrontmatter,
            Some(line),
            "a second frontmatter block follows and counts as text; merge it into the first"
                .to_owned(),
        ));
    }
    frontmatter.problems = problems;
    frontmatter
}

/// The bytes between the fences of a text, and where its body begins; none without a closed block.
pub(crate) fn block_place(text: &str) -> Option<(std::ops::Range<usize>, usize)> {
    match find_block(text, MEMORY_LIMITS) {
        Block::Closed { yaml, body } => {
            let start = yaml_start(text);
            Some((start..start.saturating_add(yaml.len()), body))
        }
        Block::None | Block::Unclosed => None,
    }
}

/// Whether a block is valid YAML, so that it says what every reader of YAML reads.
pub(crate) fn is_valid(yaml: &str) -> bool {
    yaml::parse(yaml).is_ok()
}

/// Where the line after the first begins.
fn yaml_start(text: &str) -> usize {
    text.find('\n')
        .map_or(text.len(), |at| at.saturating_add(1))
}

/// Whether the head of a file, in whole lines, may end before its frontmatter does, so that more
/// must be read.
pub(crate) fn needs_more(head: &str) -> bool {
    matches!(find_block(head, MEMORY_LIMITS), Block::Unclosed)
        && head.len() < FRONTMATTER_MAX_BYTES
        && head.split_inclusive('\n').count() <= FRONTMATTER_MAX_LINES
}

/// Within how many lines and bytes the block of a memory must close.
const MEMORY_LIMITS: (usize, usize) = (FRONTMATTER_MAX_LINES, FRONTMATTER_MAX_BYTES);

/// The text between the fences of a block that closes within so many lines and bytes, and where what follows it
/// begins; none when the text begins with no block.
///
/// # Errors
/// `frontmatter-unclosed`.
pub(crate) fn closed_block(
    text: &str,
    limits: (usize, usize),
) -> Result<Option<(&str, usize)>, ReportCode> {
    match find_block(text, limits) {
        Block::None => Ok(None),
        Block::Unclosed => Err(ReportCode::FrontmatterUnclosed),
        Block::Closed { yaml, body } => Ok(Some((yaml, body))),
    }
}

/// The texts that a key of a block holds, and whether the block had to be repaired for it.
///
/// # Errors
/// `frontmatter-invalid`, `frontmatter-not-a-map`.
pub(crate) fn listed(yaml: &str, key: &str) -> Result<(Listed, bool), ReportCode> {
    match yaml::listed(yaml, key) {
        Ok(listed) => Ok((listed, false)),
        Err(Unreadable::NotAMap) => Err(ReportCode::FrontmatterNotAMap),
        Err(Unreadable::Invalid { .. }) => {
            let lines: Vec<Cow<'_, str>> = yaml
                .split('\n')
                .map(|line| quote_item(line).map_or_else(|| quote_line(line), Cow::Owned))
                .collect();
            match yaml::listed(&lines.join("\n"), key) {
                Ok(listed) => Ok((listed, true)),
                Err(_) => Err(ReportCode::FrontmatterInvalid),
            }
        }
    }
}

enum Block<'a> {
    None,
    Unclosed,
    Closed { yaml: &'a str, body: usize },
}

fn find_block(text: &str, (max_lines, max_bytes): (usize, usize)) -> Block<'_> {
    let start = if text.starts_with('\u{FEFF}') {
        '\u{FEFF}'.len_utf8()
    } else {
        0
    };
    let mut lines = lines_with_ends(text.get(start..).unwrap_or_default());
    let opening = lines.next().unwrap_or_default();
    if !opening.ends_with('\n') || !is_fence(opening, &["---"]) {
        return Block::None;
    }
    let yaml_start = start.saturating_add(opening.len());
    let mut line_start = yaml_start;
    for line in lines.take(max_lines.saturating_sub(1)) {
        if line_start >= max_bytes {
            break;
        }
        if is_fence(line, &["---", "..."]) {
            return Block::Closed {
                yaml: text.get(yaml_start..line_start).unwrap_or_default(),
                body: line_start.saturating_add(line.len()),
            };
        }
        line_start = line_start.saturating_add(line.len());
    }
    Block::Unclosed
}

/// Whether a line is exactly one of `fences`, but for blanks after it and its line end.
fn is_fence(line: &str, fences: &[&str]) -> bool {
    fences.iter().any(|fence| {
        line.strip_prefix(fence)
            .is_some_and(|rest| without_end(rest).trim_matches([' ', '\t']).is_empty())
    })
}

/// Gives the fields their meaning.
fn read(fields: &Fields<'_>, yaml: &str, problems: &mut Vec<Problem>) -> Frontmatter {
    problems.extend(values_cut(fields, yaml));
    for (key, value) in [("name", &fields.name), ("description", &fields.description)] {
        if matches!(value, Some(Value::Collection)) {
            problems.push(problem(
                ReportCode::ValueIgnored,
                None,
                format!("the {key} is a list or a map and counts as missing; write it as text"),
            ));
        }
    }
    let kind = fields
        .kind
        .iter()
        .flatten()
        .filter_map(text_of)
        .find_map(MemoryType::from_name);
    if kind.is_none() && fields.kind.iter().flatten().any(|value| !is_missing(value)) {
        problems.push(problem(
            ReportCode::UnknownType,
            None,
            "the type is none of user, feedback, project, reference and counts as missing"
                .to_owned(),
        ));
    }
    let modified_texts = || fields.modified.iter().flatten().filter_map(text_of);
    let (modified, modified_ms) = modified_texts()
        .find_map(|text| Some((Some(text), Some(parse_iso(text)?))))
        .unwrap_or_else(|| (modified_texts().next(), None));
    if modified.is_some() && modified_ms.is_none() {
        problems.push(problem(
            ReportCode::BadModified,
            None,
            "modified is no ISO 8601 time and counts as missing; write it like 2026-03-15T10:30:00Z".to_owned(),
        ));
    }
    Frontmatter {
        name: fields.name.as_ref().and_then(text_of).map(str::to_owned),
        description: fields
            .description
            .as_ref()
            .and_then(text_of)
            .map(str::to_owned),
        kind,
        modified: modified.map(str::to_owned),
        modified_ms,
        pinned: fields
            .pinned
            .iter()
            .flatten()
            .find_map(flag)
            .unwrap_or(false),
        ..Frontmatter::default()
    }
}

/// The text of a scalar, trimmed; none when it is null, empty or no scalar.
fn text_of<'a>(value: &'a Value<'_>) -> Option<&'a str> {
    let text = match value {
        Value::Plain(text) if is_null(text) => return None,
        Value::Plain(text) | Value::Quoted(text) => trim(text),
        Value::Collection => return None,
    };
    (!text.is_empty()).then_some(text)
}

fn is_missing(value: &Value<'_>) -> bool {
    !matches!(value, Value::Collection) && text_of(value).is_none()
}

fn flag(value: &Value<'_>) -> Option<bool> {
    match value {
        Value::Plain(text) => match text.as_ref() {
            "true" | "True" | "TRUE" => Some(true),
            "false" | "False" | "FALSE" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// Plain one-line names and descriptions with ` #` in them: for YAML the rest is a comment.
fn values_cut(fields: &Fields<'_>, yaml: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    if !yaml.contains('#') {
        return problems;
    }
    for (index, line) in yaml.split('\n').enumerate() {
        let Some((key, rest)) = line.split_once(':') else {
            continue;
        };
        let field = match key {
            "name" => &fields.name,
            "description" => &fields.description,
            _ => continue,
        };
        let cut = rest.trim_start().starts_with('#') || rest.contains(" #") || rest.contains("\t#");
        let kept = match field {
            Some(Value::Plain(kept)) => kept,
            _ => continue,
        };
        if cut && !kept.contains(" #") && rest.trim().starts_with(kept.as_ref()) {
            problems.push(problem(
                ReportCode::ValueCut,
                Some(index.saturating_add(2)),
                format!("the {key} ends before \" #\", which begins a comment; quote the value"),
            ));
        }
    }
    problems
}

/// The line of a second block that directly follows the first.
fn second_block(text: &str, body: usize) -> Option<usize> {
    let (block, rest) = text.split_at_checked(body)?;
    let mut lines = rest
        .split_inclusive('\n')
        .enumerate()
        .skip_while(|(_, line)| line.trim().is_empty());
    let (index, opening) = lines.next()?;
    if !is_fence(opening, &["---"]) {
        return None;
    }
    let mut first = None;
    for (_, line) in lines.take(FRONTMATTER_MAX_LINES) {
        if is_fence(line, &["---", "..."]) {
            let line = block
                .matches('\n')
                .count()
                .saturating_add(index)
                .saturating_add(1);
            return first.is_some_and(starts_with_key).then_some(line);
        }
        if first.is_none() && !line.trim().is_empty() {
            first = Some(line);
        }
    }
    None
}

fn starts_with_key(line: &str) -> bool {
    line.split_once(':').is_some_and(|(key, rest)| {
        !key.is_empty()
            && key
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
            && (rest.trim().is_empty() || rest.starts_with([' ', '\t']))
    })
}

/// The one repair (facts 4.2, and three shapes more that notes have: a leading dash or question
/// mark, a colon at the end): unindented `key: value` lines whose plain value holds something that
/// YAML gives a meaning to are quoted.
fn quote_values(yaml: &str) -> String {
    let lines: Vec<Cow<'_, str>> = yaml.split('\n').map(quote_line).collect();
    lines.join("\n")
}

fn quote_line(line: &str) -> Cow<'_, str> {
    let Some((key, value)) = line.split_once(':') else {
        return line.into();
    };
    let value = match value.strip_prefix([' ', '\t']) {
        Some(value) => value.trim(),
        None => return line.into(),
    };
    let is_key = !key.is_empty()
        && key
            .bytes()
            .all(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'-'));
    if !is_key || !needs_quotes(value) {
        return line.into();
    }
    format!("{key}: {}", in_quotes(value)).into()
}

/// The item of a list, quoted when it must be.
fn quote_item(line: &str) -> Option<String> {
    let indent = line.len().saturating_sub(line.trim_start().len());
    let (indent, rest) = line.split_at_checked(indent)?;
    let item = rest.strip_prefix("- ")?.trim();
    needs_quotes(item).then(|| format!("{indent}- {}", in_quotes(item)))
}

fn in_quotes(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Whether a value holds something that YAML gives a meaning to, and is no text in quotes or block already.
fn needs_quotes(value: &str) -> bool {
    let already = value.is_empty() || value.starts_with(['"', '\'']) || is_block_header(value);
    let special = value.contains([
        '{', '}', '[', ']', '*', '&', '#', '!', '|', '>', '%', '@', '`',
    ]) || value.contains(": ")
        || value.contains(":\t")
        || value.ends_with(':')
        || value.starts_with("- ")
        || value.starts_with("? ");
    !already && special
}

/// `|` or `>` with nothing but indicators: the text stands on the following lines.
fn is_block_header(value: &str) -> bool {
    value
        .strip_prefix(['|', '>'])
        .is_some_and(|rest| rest.chars().all(|c| matches!(c, '+' | '-' | '0'..='9')))
}

fn not_a_map() -> Problem {
    problem(
        ReportCode::FrontmatterNotAMap,
        None,
        "the frontmatter is no list of keys and counts as empty; write lines of key: value"
            .to_owned(),
    )
}

fn problem(code: ReportCode, line: Option<usize>, message: String) -> Problem {
    Problem {
        code,
        line,
        message,
    }
}
