//! The sections of notes: how long they are, whether anything was written into them, and what of them a
//! compaction takes (facts 8.2 to 8.4).

use serde::Serialize;

use super::estimate_tokens;
use crate::limits::{SESSION_CUT_CHARS, SESSION_NOTES_TOKENS, SESSION_SECTION_TOKENS};
use crate::text::{lines_with_ends, without_end};

/// How long notes are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NotesMeasure {
    /// Tokens of the whole, estimated.
    pub tokens: u64,
    /// Its parts, in their order.
    pub sections: Vec<NotesSection>,
    /// Whether the whole is longer than it should be (12,000 tokens).
    pub is_over: bool,
}

/// How long one section is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NotesSection {
    /// Its heading; empty for what stands before the first one.
    pub heading: String,
    /// Its tokens, estimated, the heading included.
    pub tokens: u64,
    /// Whether it is longer than it should be (2,000 tokens).
    pub is_over: bool,
}

/// A section as it stands in the text.
struct Section<'a> {
    heading: &'a str,
    text: &'a str,
}

/// The fence of a block of code that a line is in: its sign, and how often.
#[derive(Clone, Copy, Default)]
struct Fence(Option<(char, usize)>);

impl Fence {
    /// Goes on to the next line; whether that is code, or opens or closes it.
    fn covers(&mut self, line: &str) -> bool {
        let bare = line.trim_start_matches(' ');
        let is_indented = line.len().saturating_sub(bare.len()) > 3;
        let sign = bare.chars().next().filter(|c| matches!(c, '`' | '~'));
        let count = sign.map_or(0, |sign| bare.chars().take_while(|c| *c == sign).count());
        let rest = bare.get(count..).unwrap_or_default();
        match (self.0, sign) {
            (Some((open, least)), _) => {
                let closes = sign == Some(open) && count >= least && rest.trim().is_empty();
                if closes && !is_indented {
                    self.0 = None;
                }
                true
            }
            (None, Some(sign)) if count >= 3 && !is_indented => {
                // Behind backticks another one makes it code within a line.
                let opens = sign == '~' || !rest.contains('`');
                if opens {
                    self.0 = Some((sign, count));
                }
                opens
            }
            _ => false,
        }
    }
}

/// The text without a byte order mark.
fn unmarked(text: &str) -> &str {
    text.strip_prefix('\u{FEFF}').unwrap_or(text)
}

/// The text of a heading of the first level.
fn heading(line: &str) -> Option<&str> {
    let bare = line.trim_start_matches(' ');
    if line.len().saturating_sub(bare.len()) > 3 {
        return None;
    }
    let rest = bare.strip_prefix('#')?;
    if !rest.is_empty() && !rest.starts_with([' ', '\t']) {
        return None;
    }
    let text = rest.trim();
    let open = text.trim_end_matches('#');
    // Signs at the end close it when they stand alone.
    let is_closed = open.is_empty() || open.ends_with([' ', '\t']);
    Some(if is_closed { open.trim_end() } else { text })
}

/// The parts of a text that begin with headings of the first level outside code; what stands before the first
/// one is a part too when it says anything.
fn sections(text: &str) -> Vec<Section<'_>> {
    let mut starts: Vec<(usize, &str)> = vec![(0, "")];
    let mut fence = Fence::default();
    let mut at: usize = 0;
    for line in lines_with_ends(text) {
        let bare = without_end(line);
        if !fence.covers(bare)
            && let Some(heading) = heading(bare)
        {
            starts.push((at, heading));
        }
        at = at.saturating_add(line.len());
    }
    let ends = starts.iter().skip(1).map(|(at, _)| *at).chain([at]);
    let parts = starts.iter().zip(ends).enumerate();
    parts
        .filter_map(|(number, ((start, heading), end))| {
            let text = text.get(*start..end)?;
            (number > 0 || !text.trim().is_empty()).then_some(Section { heading, text })
        })
        .collect()
}

/// How long notes are and which of their sections are too long (facts 8.3). Sections begin at headings of the
/// first level outside code.
#[must_use]
pub fn measure_notes(text: &str) -> NotesMeasure {
    let text = unmarked(text);
    let sections = sections(text).into_iter().map(|section| {
        let tokens = estimate_tokens(section.text);
        NotesSection {
            heading: section.heading.to_owned(),
            tokens,
            is_over: tokens > SESSION_SECTION_TOKENS,
        }
    });
    let tokens = estimate_tokens(text);
    NotesMeasure {
        tokens,
        sections: sections.collect(),
        is_over: tokens > SESSION_NOTES_TOKENS,
    }
}

/// Whether nothing was noted yet (facts 8.4): every line is blank, a heading of the first level, a line in
/// italics, or a line of the template.
#[must_use]
pub fn notes_are_empty(text: &str, template: &str) -> bool {
    let text = unmarked(text);
    let known: Vec<&str> = unmarked(template).lines().map(str::trim).collect();
    let mut fence = Fence::default();
    lines_with_ends(text).all(|line| {
        let line = without_end(line);
        let is_code = fence.covers(line);
        let bare = line.trim();
        bare.is_empty()
            || known.contains(&bare)
            || (!is_code && (heading(line).is_some() || is_italic(bare)))
    })
}

/// Whether a line is in italics as a whole, `_so_` or `*so*`; a sign inside, as in the name of a file, stands
/// beside no blank.
fn is_italic(line: &str) -> bool {
    ['_', '*'].into_iter().any(|sign| {
        let inside = line
            .strip_prefix(sign)
            .and_then(|rest| rest.strip_suffix(sign));
        inside.is_some_and(|inside| {
            let ends = inside.chars().next().zip(inside.chars().next_back());
            let is_text = |c: char| c != sign && !c.is_whitespace();
            let closes =
                inside.contains(&format!("{sign} ")) || inside.contains(&format!(" {sign}"));
            ends.is_some_and(|(first, last)| is_text(first) && is_text(last)) && !closes
        })
    })
}

/// The lines of notes that are not for the model to change: headings and italic lines of the template, in the
/// order in which they stand.
pub(crate) fn frame<'a>(text: &'a str, template: &str) -> Vec<&'a str> {
    let is_frame = |line: &&str| heading(line).is_some() || is_italic(line);
    let kept: Vec<&str> = outside_code(template).filter(is_frame).collect();
    outside_code(text)
        .filter(|line| kept.contains(line))
        .collect()
}

fn outside_code(text: &str) -> impl Iterator<Item = &str> {
    let mut fence = Fence::default();
    let lines = unmarked(text).lines();
    lines.filter(move |line| !fence.covers(line)).map(str::trim)
}

/// The notes with every section cut that is far too long, at the end of a line (facts 8.4).
pub(super) fn cut_sections(text: &str) -> String {
    let text = unmarked(text);
    let parts = sections(text);
    parts.into_iter().map(|part| cut(part.text)).collect()
}

fn cut(text: &str) -> String {
    let Some((limit, _)) = text.char_indices().nth(SESSION_CUT_CHARS) else {
        return text.to_owned();
    };
    let room = text.get(..limit).unwrap_or_default();
    // A single line that is longer is cut between characters.
    let end = match room.rfind('\n') {
        Some(at) if !room.get(..at).unwrap_or_default().trim().is_empty() => at,
        _ => limit,
    };
    let (kept, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    let mut fence = Fence::default();
    for line in lines_with_ends(kept) {
        fence.covers(without_end(line));
    }
    // Code that is cut would cover the sections behind it.
    let close = fence.0.map_or_else(String::new, |(sign, count)| {
        format!("\n{}", String::from(sign).repeat(count))
    });
    let more = rest.trim().chars().count();
    format!(
        "{}{close}\n[cut: {more} more characters of this section]\n\n",
        kept.trim_end()
    )
}
