//! Which words of a Markdown text are imports, and which comments are only for people (facts 10.3, 10.4). A Markdown
//! parser decides what is prose and what is code.

use std::collections::HashSet;
use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};
use serde::Serialize;

use super::target::has_text_extension;

/// What a comment begins and ends with.
const OPEN: &str = "<!--";
const CLOSE: &str = "-->";

/// One import as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImportTarget {
    /// What is imported, without the `@`.
    pub target: String,
    /// Whether it can only mean a file. What may as well be a name (`@scope/package`) is an import when
    /// there is such a file.
    pub certain: bool,
}

/// What a text says beside its words.
#[derive(Debug, Default)]
pub(super) struct Prose {
    /// In order, each once.
    pub imports: Vec<ImportTarget>,
    /// The comments that stand by themselves, in bytes of the text.
    pub comments: Vec<Range<usize>>,
    /// Whether a comment is not closed.
    pub has_open_comment: bool,
    /// The targets of the imports.
    known: HashSet<String>,
}

pub(super) fn read(text: &str) -> Prose {
    let mut prose = Prose::default();
    // Only these two mean something, and most texts have neither.
    if !text.contains('@') && !text.contains(OPEN) {
        return prose;
    }
    let mut run = Run::new(true);
    let mut block: Vec<Range<usize>> = Vec::new();
    // How deep in what is no prose.
    let (mut hidden, mut autolink) = (0_usize, false);
    for (event, place) in Parser::new_ext(text, Options::empty()).into_offset_iter() {
        let written = text.get(place.clone()).unwrap_or_default();
        let starts = match event {
            Event::Text(said) => {
                if hidden == 0 {
                    let before = text.get(..place.start).unwrap_or_default();
                    run.say(&said, said.as_ref() == written && !before.ends_with('\\'));
                }
                continue;
            }
            Event::Start(Tag::Emphasis) => {
                run.mark(written.get(..1), true);
                continue;
            }
            Event::Start(Tag::Strong) => {
                run.mark(written.get(..2), true);
                continue;
            }
            Event::End(TagEnd::Emphasis) => {
                run.mark(written.get(..1), false);
                continue;
            }
            Event::End(TagEnd::Strong) => {
                run.mark(written.get(..2), false);
                continue;
            }
            Event::Start(Tag::CodeBlock(_) | Tag::Image { .. }) => {
                hidden = hidden.saturating_add(1);
                false
            }
            Event::End(TagEnd::CodeBlock | TagEnd::Image) => {
                hidden = hidden.saturating_sub(1);
                true
            }
            Event::Start(Tag::Link {
                link_type: LinkType::Autolink | LinkType::Email,
                ..
            }) => {
                (hidden, autolink) = (hidden.saturating_add(1), true);
                false
            }
            // What follows the text of a link is no beginning; an autolink has none.
            Event::End(TagEnd::Link) => {
                hidden = hidden.saturating_sub(usize::from(autolink));
                std::mem::take(&mut autolink)
            }
            Event::Html(_) => {
                block.push(place);
                true
            }
            Event::End(TagEnd::HtmlBlock) => {
                prose.take_comments(text, &std::mem::take(&mut block));
                true
            }
            _ => true,
        };
        prose.take(std::mem::replace(&mut run, Run::new(starts)));
    }
    prose.take(run);
    prose
}

/// A piece of prose without anything else in it. The marks of emphasis are among its characters, as they may as well
/// be part of a name (`__init__.py`).
#[derive(Debug)]
struct Run(Vec<(char, As)>);

/// What a character is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum As {
    /// As it is written.
    Plain,
    /// An escaped or named one, which only stands for itself.
    Literal,
    /// The beginning of emphasis: behind it an import may begin, as behind white space.
    Opening,
    /// The end of emphasis, which ends an import in it.
    Closing,
}

impl Run {
    /// `starts` says whether it begins where an import may begin.
    fn new(starts: bool) -> Self {
        Self(starts.then_some(('\0', As::Opening)).into_iter().collect())
    }

    /// What a parser read; as it is written, or in other characters.
    fn say(&mut self, text: &str, as_written: bool) {
        let mut chars = text.chars();
        if !as_written {
            // Of a piece that begins with an escaped character, only that is one.
            let named =
                text.chars().count() == 1 || text.starts_with(|c: char| !c.is_ascii_punctuation());
            let literal = if named { usize::MAX } else { 1 };
            self.0
                .extend(chars.by_ref().take(literal).map(|c| (c, As::Literal)));
        }
        self.0.extend(chars.map(|c| (c, As::Plain)));
    }

    /// Where emphasis begins or ends.
    fn mark(&mut self, mark: Option<&str>, opens: bool) {
        let kind = if opens { As::Opening } else { As::Closing };
        self.0
            .extend(mark.unwrap_or_default().chars().map(|c| (c, kind)));
    }
}

impl Prose {
    /// Looks for imports in a piece of prose.
    fn take(&mut self, run: Run) {
        let mut may_begin = false;
        let mut rest = run.0.as_slice();
        while let Some(((c, kind), after)) = rest.split_first() {
            rest = after;
            if *c == '@' && *kind == As::Plain && may_begin {
                let (target, length) = Target::read(rest);
                if let Some(import) = target.import()
                    && self.known.insert(import.target.clone())
                {
                    self.imports.push(import);
                }
                rest = rest.get(length..).unwrap_or_default();
                may_begin = false;
            } else {
                may_begin = *kind == As::Opening || c.is_whitespace();
            }
        }
    }

    /// The comments of a block that begins with one.
    fn take_comments(&mut self, text: &str, lines: &[Range<usize>]) {
        let piece = |place: Range<usize>| text.get(place).unwrap_or_default();
        let first = lines.first().cloned().unwrap_or_default();
        if !piece(first).trim_start().starts_with(OPEN) {
            return;
        }
        // Where the comment begins, among those that were found, that is not closed yet.
        let mut open = None;
        for line in lines {
            let mut at = line.start;
            while at < line.end {
                let rest = piece(at..line.end);
                let begin = match (open, rest.find(OPEN)) {
                    (Some(_), _) => 0,
                    (None, Some(begin)) => {
                        open = Some(self.comments.len());
                        begin
                    }
                    (None, None) => break,
                };
                // `<!-->` is a whole comment.
                let inside = match open {
                    Some(first) if first == self.comments.len() => begin.saturating_add(2),
                    _ => begin,
                };
                let inside = rest.get(inside..).unwrap_or_default();
                let end = inside.find(CLOSE).map(|end| {
                    open = None;
                    let before = rest.len().saturating_sub(inside.len());
                    before.saturating_add(end).saturating_add(CLOSE.len())
                });
                let end = at.saturating_add(end.unwrap_or(rest.len()));
                self.comments.push(at.saturating_add(begin)..end);
                at = end;
            }
        }
        if let Some(open) = open {
            // Whoever forgot to close it did not mean to hide the rest.
            self.comments.truncate(open);
            self.has_open_comment = true;
        }
    }
}

/// What follows an `@`, character by character, and whether each only stands for itself.
#[derive(Debug, Default)]
struct Target(Vec<(char, bool)>);

impl Target {
    /// Reads up to white space; also gives how many characters that were.
    fn read(run: &[(char, As)]) -> (Self, usize) {
        let mut target = Self::default();
        // Marks of emphasis that opened in it.
        let mut open = 0_usize;
        let mut at = 0;
        while let Some((c, kind)) = run.get(at) {
            match kind {
                As::Opening => open = open.saturating_add(1),
                As::Closing if open == 0 => break,
                As::Closing => open = open.saturating_sub(1),
                As::Plain | As::Literal => {}
            }
            at = at.saturating_add(1);
            let next = run.get(at).map(|(next, _)| *next);
            if *c == '\\' && *kind == As::Plain && next == Some(' ') {
                target.0.push((' ', true));
                at = at.saturating_add(1);
            } else if c.is_whitespace() {
                return (target, at.saturating_sub(1));
            } else {
                target.0.push((*c, *kind == As::Literal));
            }
        }
        (target, at)
    }

    fn import(mut self) -> Option<ImportTarget> {
        if let Some(fragment) = self.0.iter().position(|c| *c == ('#', false)) {
            self.0.truncate(fragment);
        }
        // Where no white space follows a sentence, its punctuation ends a name that is one already.
        let ends = self
            .0
            .iter()
            .enumerate()
            .filter(|(_, c)| is_wide(c.0) && !c.1);
        let mut ends = ends.map(|(at, _)| at);
        let names = |end: &usize| {
            let name: String = self.0.iter().take(*end).map(|(c, _)| c).collect();
            has_text_extension(&name)
        };
        if let Some(end) = ends.find(names) {
            self.0.truncate(end);
        }
        while let Some((c, false)) = self.0.last()
            && (".,;:!?)]}'\">|*_".contains(*c) || is_wide(*c))
            && !self.is_folder_above()
        {
            self.0.pop();
        }
        let target: String = self.0.iter().map(|(c, _)| c).collect();
        let first = target.chars().next()?;
        let prefixes = ["./", "../", "~/", "/"];
        let prefixed =
            prefixes.iter().any(|prefix| target.starts_with(prefix)) || has_drive(&target);
        let alone = ["/", "~/", "./"].contains(&target.as_str());
        let is_name = first.is_alphanumeric() || matches!(first, '.' | '_' | '-');
        if alone || !(prefixed || is_name) {
            return None;
        }
        let certain = prefixed || has_text_extension(&target);
        Some(ImportTarget { target, certain })
    }

    /// Whether it ends with `..` as a name of its own.
    fn is_folder_above(&self) -> bool {
        let mut end = self.0.iter().rev().map(|(c, _)| *c);
        end.next() == Some('.') && end.next() == Some('.') && matches!(end.next(), None | Some('/'))
    }
}

/// Punctuation that stands without white space beside it.
fn is_wide(c: char) -> bool {
    matches!(
        c,
        '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301F}'
            | '\u{FF01}' | '\u{FF08}' | '\u{FF09}' | '\u{FF0C}' | '\u{FF0E}' | '\u{FF1A}' | '\u{FF1B}' | '\u{FF1F}'
            | '\u{FF3B}' | '\u{FF3D}' | '\u{FF5B}' | '\u{FF5D}' | '\u{FF61}'..='\u{FF64}'
            | '\u{2018}'..='\u{201F}' | '\u{2026}'
    )
}

fn has_drive(target: &str) -> bool {
    let mut chars = target.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.next() == Some(':')
        && matches!(chars.next(), Some('/' | '\\'))
}
