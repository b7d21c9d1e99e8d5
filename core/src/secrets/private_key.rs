//! Private keys: the whole block counts, from its header to its footer. A header goes with the
//! nearest footer, so that two blocks are two and a header in prose takes nothing with it.

use crate::secrets::alphabet::Alphabet;
use crate::secrets::redact::REMOVED;
use crate::secrets::value::has_few;

const DASHES: &[u8] = b"-----";
/// Bytes of what stands between `BEGIN` and the dashes: any words, and which key it is.
const NAME_MAX: usize = 100 + 18;
/// Characters of base64 that a key has at least.
const LEAST: usize = 64;
/// Characters of base64 in a row that are no word.
const NO_WORD: usize = 16;

/// A line of dashes: where it begins and ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    start: usize,
    end: usize,
}

/// What blocks are made of, while a text is read from its end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Blocks {
    /// The next footer, when it ends a key.
    footer: Option<Line>,
}

impl Blocks {
    /// Takes a header or footer; gives the end of the block that it begins.
    pub(crate) fn take(&mut self, text: &[u8], start: usize, key: &str) -> Option<usize> {
        // One of the dashes is the first byte of the key.
        let after = start
            .saturating_add(DASHES.len() - 1)
            .saturating_add(key.len());
        if !text.get(start..)?.starts_with(DASHES) {
            return None;
        }
        if key.ends_with("END") {
            self.footer = line(text, start, after, b"KEY");
            return None;
        }
        let footer = self.footer.take()?;
        let header = line(text, start, after, b"PRIVATE KEY")?;
        let body = text.get(header.end..footer.start)?;
        is_key(body).then_some(footer.end)
    }
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

/// Whether there is a key in it, and no explanation of one. What a token was replaced by is not.
fn is_key(body: &[u8]) -> bool {
    let mut solid = 0_usize;
    for run in body.split(|byte| !Alphabet::Base64.has(*byte)) {
        if run.len() >= NO_WORD {
            solid = solid.saturating_add(run.len());
        }
    }
    let removed = REMOVED.as_bytes();
    solid >= LEAST && !has_few(body) && !body.windows(removed.len()).any(|window| window == removed)
}
