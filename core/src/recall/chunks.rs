//! How a text is cut into chunks, and by what key each is known. A recall cuts every text of a store
//! so, by bytes and as fast as it can be done; what a chunk means is asked once of each distinct one
//! ([`super::tokens`]).
//!
//! A processor that guesses where the next word ends is wrong most of the time. So the ends are
//! looked for in 64 bytes at once, and found in a word of 64 bits that has one for each.

use rapidhash::v3::{DEFAULT_RAPID_SECRETS, rapidhash_v3_nano_inline};

/// The chunks of a text: runs without blanks and ASCII punctuation, but for what joins identifiers,
/// paths and numbers (`_ - . / \ : ' @`), which stands within a chunk and not at its ends.
pub(super) fn chunks(text: &str) -> impl Iterator<Item = &str> {
    let mut chunks = Vec::new();
    keyed(text, &mut chunks);
    chunks
        .into_iter()
        .filter_map(|chunk| text.get(chunk.start..chunk.end))
}

/// A chunk of a text: its [`key`], and where it stands.
pub(super) struct Keyed {
    pub key: u64,
    pub start: usize,
    pub end: usize,
}

/// Adds the chunks of a text, each with its [`key`].
pub(super) fn keyed(text: &str, chunks: &mut Vec<Keyed>) {
    let bytes = text.as_bytes();
    let (blocks, rest) = bytes.as_chunks();
    // What follows the text ends its last run.
    let mut last = [b' '; BLOCK];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    let mut begins = 0_usize;
    let mut within = 0;
    // Where the run began that has not ended.
    let mut open = None;
    for block in blocks.iter().chain([&last]) {
        let inner = inner_of(block);
        // A bit for each place where a run begins or ends, by turns.
        let mut borders = inner ^ (inner << 1 | within);
        within = inner >> 63;
        while borders != 0 {
            let border = begins.wrapping_add(borders.trailing_zeros() as usize);
            borders &= borders.wrapping_sub(1);
            open = match open {
                None => Some(border),
                Some(start) => {
                    keep(bytes, start, border, chunks);
                    None
                }
            };
        }
        begins = begins.wrapping_add(BLOCK);
    }
}

/// Adds what a run is without the connectors at its ends, if anything.
#[inline]
fn keep(bytes: &[u8], mut start: usize, mut end: usize, chunks: &mut Vec<Keyed>) {
    let connects = |at: usize| is_connector(bytes.get(at));
    // Both at once, since what is true of neither is guessed right.
    if connects(start) | connects(end.wrapping_sub(1)) {
        while start < end && connects(start) {
            start = start.saturating_add(1);
        }
        while start < end && connects(end.wrapping_sub(1)) {
            end = end.wrapping_sub(1);
        }
    }
    if start < end {
        let key = key_within(bytes, start, end);
        chunks.push(Keyed { key, start, end });
    }
}

fn is_connector(byte: Option<&u8>) -> bool {
    let at = |byte: &u8| CONNECTORS.get(usize::from(*byte));
    byte.and_then(at).is_some_and(|connects| *connects)
}

/// A table, since a comparison with each is guessed wrong too often.
const CONNECTORS: [bool; 256] = connectors();

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated at compile time, where it cannot fail"
)]
const fn connectors() -> [bool; 256] {
    let mut connectors = [false; 256];
    let mut rest: &[u8] = b"_-./\\:'@";
    while let [first, others @ ..] = rest {
        connectors[*first as usize] = true;
        rest = others;
    }
    connectors
}

/// Bytes that are looked at together.
const BLOCK: usize = 64;

const ONES: u64 = 0x0101_0101_0101_0101;
/// The highest bit of each of eight bytes.
const HIGH: u64 = 0x80 * ONES;

/// A bit for each byte that may stand in a chunk: letters, digits, connectors, and all that is not
/// ASCII.
fn inner_of(block: &[u8; BLOCK]) -> u64 {
    let mut inner = 0;
    let (eights, _) = block.as_chunks();
    for eight in eights.iter().rev() {
        inner = inner << 8 | gathered(inner_of_eight(u64::from_le_bytes(*eight)));
    }
    inner
}

/// Sets the highest bit of each byte that may stand in a chunk; the others mean nothing.
fn inner_of_eight(eight: u64) -> u64 {
    let low = eight & !HIGH;
    eight
        | between(low, b'-', b':')
        | between(low, b'@', b'Z')
        | between(low, b'a', b'z')
        | between(low, b'_', b'_')
        | between(low, b'\\', b'\\')
        | between(low, b'\'', b'\'')
}

/// Sets the highest bit of each byte that lies between the two; all are below 128.
fn between(bytes: u64, least: u8, most: u8) -> u64 {
    let at_least = bytes.wrapping_add((0x80 - u64::from(least)) * ONES);
    let above = bytes.wrapping_add((0x7F - u64::from(most)) * ONES);
    at_least & !above
}

/// The highest bits of eight bytes side by side, that of the first byte lowest.
fn gathered(eight: u64) -> u64 {
    // Each bit is shifted to a place of its own in the highest byte, and no two meet on the way.
    ((eight & HIGH) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// By length of a word: what is its own of the two halves of sixteen bytes.
const HALVES: [[u64; 2]; 17] = halves();

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated at compile time, where it cannot fail"
)]
const fn halves() -> [[u64; 2]; 17] {
    let mut halves = [[0, 0]; 17];
    let mut length = 0;
    while length < 16 {
        let [low, high] = halves[length];
        halves[length + 1] = if length < 8 {
            [low << 8 | 0xFF, high]
        } else {
            [low, high << 8 | 0xFF]
        };
        length += 1;
    }
    halves
}

/// 64 bits, the same on every machine. Two words of a store that share a key are less likely than a
/// broken disk, and would only be counted as one.
pub(super) fn key(text: &str) -> u64 {
    key_within(text.as_bytes(), 0, text.len())
}

/// The [`key`] of what stands in `bytes` from `start` to `end`. Nearly every word is short, and one
/// with enough text behind it is read in two halves without asking how long it is: no chunk has a
/// NUL in it that could be taken for its end.
#[inline]
fn key_within(bytes: &[u8], start: usize, end: usize) -> u64 {
    let length = end.saturating_sub(start);
    let Some(&[first, second]) = HALVES.get(length) else {
        let long = bytes.get(start..end).unwrap_or_default();
        return rapidhash_v3_nano_inline::<true, false>(long, &DEFAULT_RAPID_SECRETS);
    };
    let rest = bytes.get(start..).unwrap_or_default();
    let (low, high) = match rest.first_chunk() {
        Some(sixteen) => {
            let sixteen = u128::from_le_bytes(*sixteen);
            (sixteen as u64 & first, (sixteen >> 64) as u64 & second)
        }
        None => halves_of(rest.get(..length).unwrap_or_default()),
    };
    let [a, b, ..] = DEFAULT_RAPID_SECRETS.secrets;
    let product = u128::from(low ^ a) * u128::from(high ^ b);
    product as u64 ^ (product >> 64) as u64
}

/// The two halves of at most sixteen bytes, with zeros behind them.
fn halves_of(bytes: &[u8]) -> (u64, u64) {
    let bits = |bytes: usize| u32::try_from(bytes.saturating_mul(8)).unwrap_or(u32::MAX);
    let length = bytes.len();
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let last = u64::from_le_bytes(*last);
        let high = last.checked_shr(bits(16_usize.saturating_sub(length)));
        (u64::from_le_bytes(*first), high.unwrap_or(0))
    } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let last = u64::from(u32::from_le_bytes(*last));
        let last = last.checked_shl(bits(length.saturating_sub(4)));
        (u64::from(u32::from_le_bytes(*first)) | last.unwrap_or(0), 0)
    } else {
        let bytes = bytes.iter().rev();
        (bytes.fold(0, |low, byte| low << 8 | u64::from(*byte)), 0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::{chunks, key, keyed};

    /// The definition: what stands between separators, without connectors at its ends.
    fn defined(text: &str) -> Vec<&str> {
        let is_connector = |c: char| "_-./\\:'@".contains(c);
        let is_separator = |c: char| c.is_ascii() && !c.is_ascii_alphanumeric() && !is_connector(c);
        text.split(is_separator)
            .map(|run| run.trim_matches(is_connector))
            .filter(|chunk| !chunk.is_empty())
            .collect()
    }

    #[test]
    fn every_ascii_character_ends_a_chunk_or_does_not() {
        for byte in 0..128_u8 {
            let text = format!("a{}b", char::from(byte));
            assert_eq!(
                chunks(&text).collect::<Vec<_>>(),
                defined(&text),
                "{text:?}"
            );
        }
    }

    #[test]
    fn chunks_end_at_the_ends_of_blocks() {
        for length in 0..200 {
            for text in [
                "x".repeat(length),
                "x ".repeat(length),
                "--x--".repeat(length),
            ] {
                assert_eq!(
                    chunks(&text).collect::<Vec<_>>(),
                    defined(&text),
                    "{text:?}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn chunks_are_what_stands_between_separators(text in "([a-c9é漢]{0,20}[ _./'@\\n-]{0,3}){0,40}|\\PC{0,300}") {
            let found: Vec<&str> = chunks(&text).collect();
            prop_assert_eq!(&found, &defined(&text));
            let mut chunks = Vec::new();
            keyed(&text, &mut chunks);
            for chunk in chunks {
                prop_assert_eq!(Some(chunk.key), text.get(chunk.start..chunk.end).map(key));
            }
        }
    }

    #[test]
    fn short_words_have_keys_of_their_own() {
        let letters: Vec<String> = ('a'..='z').map(String::from).collect();
        let mut words = vec![String::new()];
        let mut all = letters.clone();
        for _ in 0..3 {
            words = words
                .iter()
                .flat_map(|word| letters.iter().map(move |letter| format!("{word}{letter}")))
                .collect();
            all.extend(words.clone());
        }
        for number in 0..20_000 {
            all.extend([
                format!("note-{number}"),
                format!("a-longer-note-{number}"),
                format!("note-that-is-even-longer-{number}"),
            ]);
        }
        let words: HashSet<&String> = all.iter().collect();
        let keys: HashSet<u64> = all.iter().map(|word| key(word)).collect();
        assert_eq!(keys.len(), words.len());
    }
}
