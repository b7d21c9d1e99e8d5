//! How text is cut into what a ranking counts. What matters most for recall is decided here:
//! identifiers are found whole and in parts, scripts without blanks by pieces of two letters, and
//! words of inflected languages by pieces of three.
//!
//! A text is cut twice. Into **chunks**, by bytes, as fast as it can be done; then each distinct
//! chunk once into **words** with their **terms**. An index counts chunks and asks for their terms
//! the first time it meets them.

use icu_normalizer::ComposingNormalizerBorrowed;
use icu_normalizer::properties::{CanonicalDecompositionBorrowed, Decomposed};
use serde::Serialize;
use unicode_segmentation::UnicodeSegmentation;

use super::chunks::chunks;
use super::stem::{is_stop_word, is_weak, stem};
use crate::limits::{CHUNK_MAX_BYTES, WORD_MAX_BYTES};

/// One thing that a query asks for: a word, an identifier, or a piece of a text without blanks.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Word {
    /// What it is found by as a whole; none when it stands in any text.
    pub whole: Option<String>,
    /// What else it is found by: the parts of an identifier, the pieces of a word. A piece of three
    /// letters begins with `~`.
    pub parts: Vec<String>,
}

impl Word {
    pub(super) fn plain(whole: String) -> Self {
        Self {
            whole: Some(whole),
            parts: Vec::new(),
        }
    }

    /// Whether it is a piece of a text without blanks.
    pub(super) fn is_piece(&self) -> bool {
        self.whole
            .as_deref()
            .is_some_and(|whole| whole.starts_with(is_unspaced))
    }

    /// Whether it says what to do and not with what.
    pub(super) fn is_weak(&self) -> bool {
        self.parts.is_empty() && self.whole.as_deref().is_some_and(is_weak)
    }

    /// Whether it is a piece that mostly grammar is made of: Japanese writes endings and particles
    /// in Hiragana, so what begins with that is one, or lies across the end of a word.
    pub(super) fn is_grammar(&self) -> bool {
        self.whole
            .as_deref()
            .is_some_and(|whole| whole.starts_with(|c| matches!(c, '\u{3041}'..='\u{309F}')))
    }

    /// All of its terms.
    pub(super) fn terms(&self) -> impl Iterator<Item = &String> {
        self.whole.iter().chain(&self.parts)
    }
}

/// The words of a text that a ranking counts, in their order; what stands in any text (`the`) is
/// left out. English words are stems: what they are is not for people to read.
#[must_use]
pub fn tokenize(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    for chunk in chunks(text) {
        words_of(chunk, &mut |word| words.push(word));
    }
    words
}

/// What a chunk consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// Two letters of a script without blanks, each piece overlapping the next; or a single one that
    /// stands alone.
    Piece(&'a str),
    /// A chunk of ASCII, or a word of another script with blanks.
    Word(&'a str),
}

/// Cuts a chunk by script. What is all ASCII is one part.
pub(super) fn parts_of(chunk: &str, each: &mut dyn FnMut(Part<'_>)) {
    if chunk.is_ascii() {
        return each(Part::Word(chunk));
    }
    if chunk.contains('\u{2019}') {
        // What many editors make of an apostrophe.
        let chunk = chunk.replace('\u{2019}', "'");
        return chunks(&chunk).for_each(|chunk| parts_of(chunk, each));
    }
    if chunk.chars().all(is_normal) {
        return cut_by_script(chunk, each);
    }
    let normal = ComposingNormalizerBorrowed::new_nfkc().normalize(chunk);
    // What was full width may be punctuation now.
    for chunk in chunks(&normal) {
        cut_by_script(chunk, each);
    }
}

fn cut_by_script(chunk: &str, each: &mut dyn FnMut(Part<'_>)) {
    let mut start = 0;
    let mut kind = Script::None;
    for (at, c) in chunk.char_indices() {
        let next = script(c);
        if next != kind {
            hand_on(chunk.get(start..at).unwrap_or_default(), kind, each);
            (start, kind) = (at, next);
        }
    }
    hand_on(chunk.get(start..).unwrap_or_default(), kind, each);
}

fn hand_on(run: &str, script: Script, each: &mut dyn FnMut(Part<'_>)) {
    match script {
        Script::None => {}
        Script::Unspaced => pieces_of_two(run, each),
        Script::Spaced if run.is_ascii() => chunks(run).for_each(|chunk| each(Part::Word(chunk))),
        Script::Spaced => {
            for word in run.unicode_words() {
                each(Part::Word(word));
            }
        }
    }
}

/// How the words of a script are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Script {
    /// Punctuation of East Asia, which ends words.
    None,
    Unspaced,
    Spaced,
}

fn script(c: char) -> Script {
    match c {
        '\u{3000}'..='\u{3004}'
        | '\u{3008}'..='\u{3030}'
        | '\u{303D}'..='\u{303F}'
        | '\u{30FB}' => Script::None,
        '\u{FF01}'..='\u{FF0F}'
        | '\u{FF1A}'..='\u{FF20}'
        | '\u{FF3B}'..='\u{FF40}'
        | '\u{FF5B}'..='\u{FF65}' => Script::None,
        c if is_unspaced(c) => Script::Unspaced,
        _ => Script::Spaced,
    }
}

/// Whether NFKC leaves the character as it is, whatever stands beside it, or it ends a word anyway:
/// true of nearly all text in the scripts that have no blanks.
fn is_normal(c: char) -> bool {
    c.is_ascii()
        || matches!(c,
            '\u{0E01}'..='\u{0E32}' | '\u{0E34}'..='\u{0E5B}'
            | '\u{3041}'..='\u{3096}' | '\u{30A1}'..='\u{30FA}' | '\u{30FC}'..='\u{30FE}'
            | '\u{3005}'..='\u{3007}'
            | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}'
            | '\u{AC00}'..='\u{D7A3}')
        || script(c) == Script::None
}

/// The words of one chunk.
pub(super) fn words_of(chunk: &str, each: &mut dyn FnMut(Word)) {
    parts_of(chunk, &mut |part| match part {
        Part::Piece(piece) => each(Word::plain(piece.to_owned())),
        Part::Word(word) => {
            if let Some(word) = word_of(word) {
                each(word);
            }
        }
    });
}

/// A word by itself; none when it says nothing.
pub(super) fn word_of(word: &str) -> Option<Word> {
    if !word.is_ascii() {
        return spaced(word);
    }
    let word = singular(word);
    if word
        .bytes()
        .all(|byte| byte.is_ascii_alphabetic() || byte == b'\'')
    {
        let lower = word.to_ascii_lowercase();
        if is_stop_word(&lower) {
            return None;
        }
        if !lower.contains('\'') && !has_humps(word) {
            return Some(Word::plain(english(lower)));
        }
    }
    identifier(word)
}

/// A word of lower-case ASCII letters.
fn english(word: String) -> String {
    if word.len() > WORD_MAX_BYTES {
        return short(&word).to_owned();
    }
    stem(word)
}

/// A chunk of ASCII with digits, connectors or humps: found by all of its letters, so that every
/// way of writing it meets (`user_name`, `userName`, `user-name`), and by its parts.
fn identifier(chunk: &str) -> Option<Word> {
    let chunk = chunk.strip_suffix("'s").unwrap_or(chunk);
    let mut whole = String::with_capacity(chunk.len());
    let mut parts: Vec<String> = Vec::new();
    let mut count = 0_u32;
    for piece in chunk.split(|c: char| !c.is_ascii_alphanumeric() && c != '\'') {
        for part in humps(piece) {
            let part = singular(part);
            let start = whole.len();
            whole.extend(part.split('\''));
            if let Some(part) = whole.get_mut(start..) {
                part.make_ascii_lowercase();
            }
            let part = whole.get(start..).unwrap_or_default();
            count = count.saturating_add(u32::from(!part.is_empty()));
            if part.len() < 2 {
                continue;
            }
            if !is_plain(part) {
                insert(&mut parts, short(part).to_owned());
            } else if !is_stop_word(part) {
                insert(&mut parts, english(part.to_owned()));
            }
        }
    }
    match count {
        0 => return None,
        1 => return Some(Word::plain(term_of(whole))),
        _ => {}
    }
    let is_word = is_plain(&whole);
    let whole =
        (chunk.len() <= CHUNK_MAX_BYTES).then(|| if is_word { english(whole) } else { whole });
    Some(Word { whole, parts })
}

/// Keeps a few terms sorted, each once.
fn insert(terms: &mut Vec<String>, term: String) {
    if let Err(at) = terms.binary_search(&term) {
        terms.insert(at, term);
    }
}

/// What lower-case letters and digits are found by.
fn term_of(word: String) -> String {
    if is_plain(&word) {
        english(word)
    } else {
        short(&word).to_owned()
    }
}

/// Whether it is all lower-case letters.
fn is_plain(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// A word of ASCII as far as it is looked at.
fn short(word: &str) -> &str {
    word.get(..WORD_MAX_BYTES).unwrap_or(word)
}

/// Whether a capital follows a small letter or a digit: `userName`.
fn has_humps(word: &str) -> bool {
    humps(word).nth(1).is_some()
}

/// Capitals in the plural, `IDs`, without the `s`.
fn singular(word: &str) -> &str {
    match word.strip_suffix('s') {
        Some(rest) if rest.len() > 1 && rest.bytes().all(|byte| byte.is_ascii_uppercase()) => rest,
        _ => word,
    }
}

/// Cut before each capital that follows a small letter or begins a word: `HTTPServerError` is
/// `HTTP`, `Server`, `Error`.
fn humps(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let (hump, after) = rest.split_at_checked(first_hump(rest.as_bytes()))?;
        rest = after;
        (!hump.is_empty()).then_some(hump)
    })
}

/// How long the first hump is.
fn first_hump(word: &[u8]) -> usize {
    for (at, pair) in word.windows(2).enumerate() {
        let [a, b] = pair else { continue };
        if !b.is_ascii_uppercase() {
            continue;
        }
        let next = word.get(at.saturating_add(2));
        let small_then_capital = a.is_ascii_lowercase() || a.is_ascii_digit();
        let capitals_then_word = a.is_ascii_uppercase()
            && next.is_some_and(u8::is_ascii_lowercase)
            // `IDs` is one word in the plural.
            && !(next == Some(&b's') && at.saturating_add(3) == word.len());
        if small_then_capital || capitals_then_word {
            return at.saturating_add(1);
        }
    }
    word.len()
}

/// A word of a script with blanks, not all ASCII.
fn spaced(word: &str) -> Option<Word> {
    let lower = word.to_lowercase();
    let bare: String = lower.chars().filter_map(without_accent).collect();
    if bare.is_empty() {
        return None;
    }
    if bare.is_ascii() {
        return word_of(&bare);
    }
    let letters: Vec<char> = bare.chars().collect();
    let is_latin = letters.iter().any(char::is_ascii_alphabetic);
    let mut word = Word::plain(cut(&bare));
    if !is_latin && letters.len() > 3 {
        for piece in letters.windows(3) {
            let piece = std::iter::once('~').chain(piece.iter().copied()).collect();
            insert(&mut word.parts, piece);
        }
    }
    Some(word)
}

fn cut(word: &str) -> String {
    let mut end = word.len().min(WORD_MAX_BYTES);
    while !word.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    word.get(..end).unwrap_or_default().to_owned()
}

/// The letter without its accent, nothing for a mark of its own: `é` is found by `e`. Only of
/// Latin, Greek and Cyrillic, where it does not make another letter of it.
fn without_accent(c: char) -> Option<char> {
    match CanonicalDecompositionBorrowed::new().decompose(c) {
        Decomposed::Expansion(base, mark) if is_accent(mark) && has_accents(base) => {
            without_accent(base)
        }
        _ if is_accent(c) => None,
        _ => Some(c),
    }
}

fn has_accents(c: char) -> bool {
    matches!(c, '\0'..='\u{8FF}' | '\u{1E00}'..='\u{1FFF}')
}

fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36F}')
}

/// Letters of scripts that are written without blanks, and of Hangul, whose words carry endings.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0E00}'..='\u{0EFF}' // Thai, Lao
        | '\u{1000}'..='\u{109F}' // Myanmar
        | '\u{1780}'..='\u{17FF}' // Khmer
        | '\u{1100}'..='\u{11FF}' | '\u{A960}'..='\u{A97F}' | '\u{AC00}'..='\u{D7FF}' // Hangul
        | '\u{2E80}'..='\u{2FDF}' | '\u{3005}'..='\u{3007}' // radicals and marks of Han
        | '\u{3031}'..='\u{31FF}' // Kana, Bopomofo
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' // Han
        | '\u{1B000}'..='\u{1B16F}' // Kana
        | '\u{20000}'..='\u{3FFFF}' // Han
    )
}

/// Pieces of two letters, each with the marks above and below it; one alone is a piece too.
fn pieces_of_two(run: &str, each: &mut dyn FnMut(Part<'_>)) {
    let mut starts = run
        .char_indices()
        .filter(|(_, c)| !is_mark(*c))
        .map(|(at, _)| at);
    let mut first = starts.next().unwrap_or_default();
    let Some(mut second) = starts.next() else {
        return each(Part::Piece(run));
    };
    for next in starts.chain([run.len()]) {
        each(Part::Piece(run.get(first..next).unwrap_or_default()));
        (first, second) = (second, next);
    }
}

/// Marks of the scripts without blanks, which belong to the letter before them.
fn is_mark(c: char) -> bool {
    matches!(c,
        '\u{0E31}' | '\u{0E34}'..='\u{0E3A}' | '\u{0E47}'..='\u{0E4E}' // Thai
        | '\u{0EB1}' | '\u{0EB4}'..='\u{0EBC}' | '\u{0EC8}'..='\u{0ECE}' // Lao
        | '\u{102B}'..='\u{103E}' | '\u{1056}'..='\u{1059}' | '\u{105E}'..='\u{1060}' // Myanmar
        | '\u{17B4}'..='\u{17D3}' | '\u{17DD}' // Khmer
        | '\u{3099}' | '\u{309A}' // Kana
    )
}
