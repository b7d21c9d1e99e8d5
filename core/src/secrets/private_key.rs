//! Private keys: the whole block counts, from its header to its footer. Where the footer is missing
//! or spoilt, the lines of base64 after the header are the key. No block goes beyond the next header,
//! so that two blocks are two and a header in prose takes nothing with it.

use crate::secrets::alphabet::Alphabet;
use crate::secrets::redact::REMOVED;
use crate::secrets::value::{are_few, seen};

const DASHES: &[u8] = b"-----";
/// Bytes of what stands between `BEGIN` and the dashes: any words, and which key it is.
const NAME_MAX: usize = 100 + 18;
/// Characters of base64 that a key has at least.
const LEAST: usize = 64;
/// Characters of base64 in a row that are no word.
const NO_WORD: usize = 16;
/// Bytes of what may stand between a header and the first line: names, versions, ciphers.
const FIELDS_MAX: usize = 256;
/// Bytes of what may stand between two lines: line ends, quotes, marks of a comment or a list.
const BETWEEN_MAX: usize = 64;

/// A line of dashes: where it begins and ends.
#[derive(Clone, Copy, Debug)]
struct Line {
    start: usize,
    end: usize,
}

/// What blocks are made of, while a text is read from its end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks {
    /// The footers up to the next header, the last one first.
    footers: Vec<Line>,
    /// Where the next header begins, of whatever it is.
    header: Option<usize>,
}

impl Blocks {
    /// Takes a header or footer; gives the end of the block that it begins. Where the next token
    /// begins, a note may stand later.
    pub(crate) fn take(
        &mut self,
        text: &[u8],
        start: usize,
        key: &str,
        next: Option<usize>,
    ) -> Option<usize> {
        // One of the dashes is the first byte of the key.
        let after = start
            .saturating_add(DASHES.len() - 1)
            .saturating_add(key.len());
        if !text.get(start..)?.starts_with(DASHES) {
            return None;
        }
        if key.ends_with("END") {
            self.footers.extend(line(text, start, after, b"KEY"));
            return None;
        }
        let stop = self.header.replace(start).unwrap_or(text.len());
        let footers = std::mem::take(&mut self.footers);
        let header = line(text, start, after, b"PRIVATE KEY")?;
        let end = |stop| key_end(text.get(..stop)?, header.end, &footers);
        end(stop).or_else(|| end(next?.min(stop)))
    }
}

/// Where a key ends that has its header before this place.
fn key_end(text: &[u8], start: usize, footers: &[Line]) -> Option<usize> {
    let removed = REMOVED.as_bytes();
    let body = text.get(start..)?;
    // What a token was replaced by is no part of a key.
    let note = body.windows(removed.len()).position(|part| part == removed);
    let stop = note.map_or(text.len(), |at| start.saturating_add(at));
    let mut footers = footers
        .iter()
        .rev()
        .filter(|line| line.end <= stop)
        .peekable();
    let first = footers.peek().map_or(stop, |line| line.start);
    let mut key = Solid::default();
    let mut from = start;
    // Before the footer of the key another one may stand in a comment.
    for footer in footers {
        key.add_all(text.get(from..footer.start)?);
        if key.is_enough() {
            return Some(footer.end);
        }
        from = footer.end;
    }
    let length = unclosed(text.get(start..first)?)?;
    Some(start.saturating_add(length))
}

/// What there is of a key.
#[derive(Clone, Copy, Debug, Default)]
struct Solid {
    length: usize,
    /// Which letters and digits were seen.
    seen: u128,
}

impl Solid {
    /// Counts a run of base64 if it is no word or name: those lack small letters, large ones or digits.
    fn add(&mut self, run: &[u8]) {
        let has = |is: fn(&u8) -> bool| run.iter().any(is);
        if run.len() >= NO_WORD
            && has(u8::is_ascii_lowercase)
            && has(u8::is_ascii_uppercase)
            && has(u8::is_ascii_digit)
        {
            self.length = self.length.saturating_add(run.len());
            self.seen |= seen(run);
        }
    }

    fn add_all(&mut self, body: &[u8]) {
        for run in body.split(|byte| !Alphabet::Base64.has(*byte)) {
            self.add(run);
        }
    }

    fn is_enough(self) -> bool {
        self.length >= LEAST && !are_few(self.seen)
    }
}

/// The length of a key without a footer, up to the end of its last line.
fn unclosed(body: &[u8]) -> Option<usize> {
    let mut key = Solid::default();
    let mut end = 0_usize;
    let mut at = 0_usize;
    for run in body.split(|byte| !Alphabet::Base64.has(*byte)) {
        let start = at;
        at = start.saturating_add(run.len()).saturating_add(1);
        if run.len() < NO_WORD {
            continue;
        }
        let between = body.get(end..start)?;
        let goes_on = if key.length == 0 {
            start <= FIELDS_MAX
        } else {
            is_between(between)
        };
        if !goes_on {
            break;
        }
        key.add(run);
        if key.length > 0 {
            end = start.saturating_add(run.len());
        }
    }
    let rest = body.get(end..)?;
    key.is_enough().then(|| end.saturating_add(last_line(rest)))
}

/// Whether nothing but the ends and beginnings of lines stands there: no letters but those of `\r\n`.
fn is_between(text: &[u8]) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphabetic() && !b"rn".contains(byte);
    text.len() <= BETWEEN_MAX && !text.iter().any(is_word)
}

/// The length of what still belongs to the key: padding, and a last line that is too short to be told
/// from a word but for a digit or its padding.
fn last_line(rest: &[u8]) -> usize {
    let end = padded(rest, 0);
    let after = rest.get(end..).unwrap_or_default();
    // The letters of `\r\n` are none of the line, and a `+` or `/` may join or mark lines.
    let begins = |byte: &u8| byte.is_ascii_alphanumeric() && !b"rn".contains(byte);
    let Some(start) = after.iter().take(BETWEEN_MAX).position(begins) else {
        return end;
    };
    let (between, line) = after.split_at_checked(start).unwrap_or_default();
    let line = line.iter().take(NO_WORD);
    let line = line.take_while(|byte| Alphabet::Base64.has(**byte));
    let has_digit = line.clone().any(u8::is_ascii_digit);
    let line_end = end.saturating_add(start).saturating_add(line.count());
    let with_padding = padded(rest, line_end);
    let is_line = between.iter().any(|byte| b"\n\\".contains(byte))
        && rest
            .get(with_padding)
            .is_none_or(|byte| b"\r\n\\\"'`".contains(byte));
    if is_line && (has_digit || with_padding > line_end) {
        with_padding
    } else {
        end
    }
}

/// The place after the padding there.
fn padded(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default().iter().take(2);
    at.saturating_add(rest.take_while(|byte| **byte == b'=').count())
}

/// Reads a line that goes on with any words and ends with these.
fn line(text: &[u8], start: usize, after: usize, words: &[u8]) -> Option<Line> {
    let rest = text.get(after..)?;
    let most = rest.len().min(NAME_MAX.saturating_add(DASHES.len()));
    let length = rest
        .get(..most)?
        .windows(DASHES.len())
        .position(|window| window == DASHES)?;
    let name = rest.get(..length)?;
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b" _-".contains(byte);
    let ends_with = |name: &[u8], words: &[u8]| {
        name.len()
            .checked_sub(words.len())
            .and_then(|at| name.get(at..))
            .is_some_and(|end| end.eq_ignore_ascii_case(words))
    };
    let block = b" BLOCK";
    let bare = if ends_with(name, block) {
        name.get(..name.len().saturating_sub(block.len()))?
    } else {
        name
    };
    let end = after.saturating_add(length).saturating_add(DASHES.len());
    (name.iter().all(is_name) && ends_with(bare, words)).then_some(Line { start, end })
}
