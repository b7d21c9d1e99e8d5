//! What is counted of every memory, so that a query need not read them again: how often which chunk
//! of text stands in it. Kept between recalls; a memory that changed is taken out and put in anew.
//! A query sees what a new index of the same memories would show.

use std::collections::HashMap;

use rapidhash::v3::{DEFAULT_RAPID_SECRETS, rapidhash_v3_nano_inline};
use rustc_hash::FxBuildHasher;
use strsim::osa_distance;

use super::tokens::{Part, Word, chunks, is_unspaced, parts_of, words_of};
use crate::limits::{
    BODY_WEIGHT, CHUNK_CACHED_BYTES, DESCRIPTION_WEIGHT, FILE_NAME_WEIGHT, INDEX_MIN_WASTE,
    NAME_WEIGHT, NEAR_LONG_LETTERS, NEAR_MIN_LETTERS, TYPE_WEIGHT,
};
use crate::memory::MemoryHeader;

/// The statistics of a store. Chunks and terms are known by a key of 64 bits alone: so a store of
/// 10,000 memories fits into few pieces of memory, which is what its speed comes from.
#[derive(Debug, Default)]
pub struct Index {
    /// By chunk: its number, or [`NONE`] when no query finds it.
    chunks: HashMap<u64, u32, FxBuildHasher>,
    /// By term: the first link of the chunks that have it.
    terms: HashMap<u64, u32, FxBuildHasher>,
    links: Vec<Link>,
    /// By first letter and length: the terms of small letters that a misspelt word may mean.
    vocabulary: HashMap<(u8, usize), Vec<String>, FxBuildHasher>,
    /// By number of a chunk.
    known: Vec<Chunk>,
    postings: Vec<Posting>,
    /// By number of a document: its path, empty when it was taken out.
    paths: Vec<String>,
    /// By number of a document: its words that are counted, [`NONE`] when it was taken out.
    lengths: Vec<u32>,
    /// By number of a document: how many postings it has.
    spread: Vec<u32>,
    /// Postings of documents that were taken out.
    waste: u64,
    /// By number of a document: from which reading of the store it comes.
    editions: Vec<u64>,
    /// By path: the number of a document.
    numbers: HashMap<String, u32, FxBuildHasher>,
    /// Words of all documents.
    length: u64,
}

/// No chunk, no posting, no document.
const NONE: u32 = u32::MAX;

/// A chunk that was met.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    /// How many words it has.
    words: u32,
    /// The last of its postings.
    last: u32,
    /// The last document that had it.
    document: u32,
}

/// A chunk that has a term, and the next one that has it.
#[derive(Clone, Copy, Debug)]
struct Link {
    chunk: u32,
    next: u32,
}

/// What a chunk counts in a document: each time by the weight of its field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posting {
    pub document: u32,
    pub weight: f32,
    /// The posting of the same chunk in the document before.
    previous: u32,
}

/// 64 bits, the same on every machine. Two words of a store that share a key are less likely than a
/// broken disk, and would only be counted as one.
fn key(text: &str) -> u64 {
    rapidhash_v3_nano_inline::<true, false>(text.as_bytes(), &DEFAULT_RAPID_SECRETS)
}

/// First letter and length of an English word that is long enough to be known when it is misspelt.
fn shape(term: &str) -> Option<(u8, usize)> {
    let is_word =
        term.len() >= NEAR_MIN_LETTERS && term.bytes().all(|byte| byte.is_ascii_lowercase());
    Some((*term.as_bytes().first()?, term.len())).filter(|_| is_word)
}

fn number_of(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(NONE)
}

impl Index {
    /// Puts a memory in, in the place of what was known of it. `text` is its beginning, as far as it
    /// is to be found by, of which the first `body` bytes are frontmatter. What a later `edition` of
    /// the store put in stays: it was read later.
    pub fn put(&mut self, header: &MemoryHeader, text: &str, body: usize, edition: u64) {
        if self.is_later(&header.path, edition) {
            return;
        }
        self.remove(&header.path, edition);
        let number = number_of(self.lengths.len());
        let name = header.path.strip_suffix(".md").unwrap_or(&header.path);
        let kind = header.kind.map(crate::memory::MemoryType::name);
        let fields = [
            (FILE_NAME_WEIGHT, Some(name)),
            (NAME_WEIGHT, header.name.as_deref()),
            (DESCRIPTION_WEIGHT, header.description.as_deref()),
            (TYPE_WEIGHT, kind),
            (BODY_WEIGHT, text.get(body..)),
        ];
        let before = self.postings.len();
        let mut length = 0_u32;
        for (weight, text) in fields {
            for chunk in chunks(text.unwrap_or_default()) {
                length = length.saturating_add(self.count(chunk, number, weight));
            }
        }
        let spread = self.postings.len().saturating_sub(before);
        self.spread.push(number_of(spread));
        self.length = self.length.saturating_add(u64::from(length));
        self.numbers.insert(header.path.clone(), number);
        self.paths.push(header.path.clone());
        self.lengths.push(length);
        self.editions.push(edition);
    }

    /// Takes a memory out, unless a later edition of the store put it in.
    pub fn remove(&mut self, path: &str, edition: u64) {
        if self.is_later(path, edition) {
            return;
        }
        if let Some(number) = self.numbers.remove(path)
            && let (Some(path), Some(length)) = (
                self.paths.get_mut(number as usize),
                self.lengths.get_mut(number as usize),
            )
        {
            path.clear();
            let spread = self
                .spread
                .get(number as usize)
                .copied()
                .unwrap_or_default();
            self.waste = self.waste.saturating_add(u64::from(spread));
            self.length = self.length.saturating_sub(u64::from(*length));
            *length = NONE;
        }
    }

    /// Takes out all memories but those that are to stay, and those of a later edition.
    pub fn retain(&mut self, stays: impl Fn(&str) -> bool, edition: u64) {
        let paths = self
            .paths
            .iter()
            .filter(|path| !path.is_empty() && !stays(path));
        let gone: Vec<String> = paths.cloned().collect();
        for path in gone {
            self.remove(&path, edition);
        }
    }

    fn is_later(&self, path: &str, edition: u64) -> bool {
        let number = self.numbers.get(path);
        number
            .and_then(|&number| self.editions.get(number as usize))
            .is_some_and(|&known| known > edition)
    }

    /// Whether most of what is kept is of memories that were taken out: then it is time to begin anew.
    #[must_use]
    pub fn is_wasteful(&self) -> bool {
        let kept = self.postings.len() as u64;
        self.waste > INDEX_MIN_WASTE && self.waste > kept.saturating_sub(self.waste)
    }

    /// How many memories are in.
    #[must_use]
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether none is in.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Words of a memory on average.
    pub(super) fn average_length(&self) -> f64 {
        self.length as f64 / self.len().max(1) as f64
    }

    /// One more than the highest number of a document.
    pub(super) fn end(&self) -> usize {
        self.lengths.len()
    }

    /// The path of a document.
    pub(super) fn path(&self, document: u32) -> &str {
        self.paths.get(document as usize).map_or("", String::as_str)
    }

    /// The words of a document that are counted; none when it was taken out.
    pub(super) fn words(&self, document: u32) -> Option<u32> {
        self.lengths
            .get(document as usize)
            .copied()
            .filter(|length| *length != NONE)
    }

    /// Where a term stands: for each chunk that has it, the places of that.
    pub(super) fn find(&self, term: &str) -> impl Iterator<Item = &Posting> {
        let link = |at: u32| self.links.get(at as usize);
        let posting = |at: u32| self.postings.get(at as usize);
        let first = self.terms.get(&key(term)).copied().and_then(link);
        std::iter::successors(first, move |before| link(before.next))
            .filter_map(|link| self.known.get(link.chunk as usize))
            .flat_map(move |chunk| {
                std::iter::successors(posting(chunk.last), move |after| posting(after.previous))
            })
    }

    /// The terms that a misspelt one may mean, with how many letters differ: it is a word of some
    /// length, and they begin alike.
    pub(super) fn near(&self, term: &str) -> impl Iterator<Item = (&str, usize)> {
        shape(term).into_iter().flat_map(move |(first, length)| {
            let most = if length < NEAR_LONG_LETTERS { 1 } else { 2 };
            (length.saturating_sub(most)..=length.saturating_add(most))
                .filter_map(move |length| self.vocabulary.get(&(first, length)))
                .flatten()
                .map(move |known| (known.as_str(), osa_distance(term, known)))
                .filter(move |(_, differ)| *differ <= most)
        })
    }

    /// Counts one chunk of a document; gives how many words it has.
    #[inline]
    fn count(&mut self, chunk: &str, document: u32, weight: f32) -> u32 {
        match self.chunks.get(&key(chunk)) {
            Some(&number) => self.bump(number, document, weight),
            None => self.count_new(chunk, document, weight),
        }
    }

    #[cold]
    fn count_new(&mut self, chunk: &str, document: u32, weight: f32) -> u32 {
        if chunk.len() <= CHUNK_CACHED_BYTES || !chunk.contains(is_unspaced) {
            let number = self.learn(chunk, &words_of(chunk));
            return self.bump(number, document, weight);
        }
        // A sentence of a script without blanks stands only once: its parts are what comes again.
        let mut words = 0_u32;
        parts_of(chunk, &mut |part| {
            let counted = match part {
                Part::Word(word) => self.count(word, document, weight),
                Part::Piece(piece) => {
                    let number = match self.chunks.get(&key(piece)) {
                        Some(&number) => number,
                        None => self.learn(piece, &[Word::plain(piece.to_owned())]),
                    };
                    self.bump(number, document, weight)
                }
            };
            words = words.saturating_add(counted);
        });
        words
    }

    fn learn(&mut self, chunk: &str, words: &[Word]) -> u32 {
        let number = if words.is_empty() {
            NONE
        } else {
            number_of(self.known.len())
        };
        for term in words.iter().flat_map(Word::terms) {
            let link = number_of(self.links.len());
            let next = self.terms.insert(key(term), link);
            if next.is_none() {
                self.note(term);
            }
            self.links.push(Link {
                chunk: number,
                next: next.unwrap_or(NONE),
            });
        }
        if number != NONE {
            let words = number_of(words.len());
            self.known.push(Chunk {
                words,
                last: NONE,
                document: NONE,
            });
        }
        self.chunks.insert(key(chunk), number);
        number
    }

    /// Keeps a new term, should it be a word that may be misspelt.
    fn note(&mut self, term: &str) {
        if let Some(shape) = shape(term) {
            let alike = self.vocabulary.entry(shape).or_default();
            alike.push(term.to_owned());
        }
    }

    #[inline]
    fn bump(&mut self, number: u32, document: u32, weight: f32) -> u32 {
        let Some(chunk) = self.known.get_mut(number as usize) else {
            return 0;
        };
        if chunk.document == document {
            if let Some(posting) = self.postings.get_mut(chunk.last as usize) {
                posting.weight += weight;
            }
        } else {
            let previous = std::mem::replace(&mut chunk.last, number_of(self.postings.len()));
            chunk.document = document;
            self.postings.push(Posting {
                document,
                weight,
                previous,
            });
        }
        chunk.words
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::key;

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
        all.extend((0..20_000).map(|number| format!("note-{number}")));
        let words: HashSet<&String> = all.iter().collect();
        let keys: HashSet<u64> = all.iter().map(|word| key(word)).collect();
        assert_eq!(keys.len(), words.len());
    }
}
