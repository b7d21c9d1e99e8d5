//! What is counted of every memory, so that a query need not read them again: how often which chunk
//! of text stands in it. Kept between recalls; a memory that changed is taken out and put in anew.
//! A query sees what a new index of the same memories would show.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;
use strsim::osa_distance;

use super::chunks::{Keyed, key, keyed};
use super::tokens::{Part, Word, is_unspaced, parts_of, words_of};
use crate::limits::{
    BODY_WEIGHT, CHUNK_CACHED_BYTES, DESCRIPTION_WEIGHT, FILE_NAME_WEIGHT, INDEX_MIN_WASTE,
    NAME_WEIGHT, NEAR_LONG_LETTERS, NEAR_MIN_LETTERS, TYPE_WEIGHT,
};
use crate::memory::MemoryHeader;

/// The statistics of a store. Chunks and terms are known by a key of 64 bits alone: so a store of
/// 10,000 memories fits into few pieces of memory, which is what its speed comes from.
#[derive(Debug, Default)]
pub struct Index {
    /// By chunk.
    chunks: HashMap<u64, Chunk, FxBuildHasher>,
    /// By term: the first link of the chunks that have it.
    terms: HashMap<u64, u32, FxBuildHasher>,
    links: Vec<Link>,
    /// By first letter and length: the terms of small letters that a misspelt word may mean.
    vocabulary: HashMap<(u8, usize), Vec<String>, FxBuildHasher>,
    /// By number of a chunk: the last of its postings.
    last: Vec<u32>,
    postings: Vec<Posting>,
    draft: Draft,
    /// By number of a document: its path, empty when it was taken out.
    paths: Vec<String>,
    /// By number of a document: its words that are counted, [`NONE`] when it was taken out.
    lengths: Vec<u32>,
    /// By number of a document: its first posting, or that of the next one when it has none.
    begins: Vec<u32>,
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

/// The number that all chunks share which no query finds: counted like any other, so that no branch
/// tells them apart, and never looked for.
const UNSOUGHT: u32 = 0;

/// A chunk that was met.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    /// [`UNSOUGHT`] when no query finds it.
    number: u32,
    /// How many words it has.
    words: u32,
}

/// What is counted of the document that is being put in. No branch here depends on which chunk comes
/// next, because a processor that guesses wrong at each of millions spends most of its time on that.
#[derive(Debug, Default)]
struct Draft {
    /// By number of a chunk: what it counts, 0 when it was not met.
    weights: Vec<f32>,
    /// The numbers of those that were met, in this order, as many as `distinct` says; one place more
    /// than there are chunks.
    met: Vec<u32>,
    distinct: usize,
    /// Words.
    length: u32,
}

impl Draft {
    #[inline]
    fn count(&mut self, chunk: Chunk, weight: f32) {
        self.length = self.length.saturating_add(chunk.words);
        let sum = self.weights.get_mut(chunk.number as usize);
        if let (Some(sum), Some(met)) = (sum, self.met.get_mut(self.distinct)) {
            *met = chunk.number;
            self.distinct = self.distinct.wrapping_add(usize::from(*sum == 0.0));
            *sum += weight;
        }
    }

    /// Makes room for one chunk more.
    fn grow(&mut self) {
        self.weights.push(0.0);
        self.met.resize(self.weights.len().saturating_add(1), NONE);
    }
}

/// A chunk that has a term, and the next one that has it.
#[derive(Clone, Copy, Debug)]
struct Link {
    chunk: u32,
    next: u32,
}

/// What a chunk counts in a document: each time by the weight of its field. Which document that is,
/// its place says: there are millions of these, and what is written costs more than a search.
#[derive(Clone, Copy, Debug)]
struct Posting {
    weight: f32,
    /// The posting of the same chunk in the document before.
    previous: u32,
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

/// Chunks whose postings are followed together: as many as a processor waits for at a time.
const SIDE_BY_SIDE: usize = 16;

/// The postings of one chunk, as far as they were followed.
struct Trail {
    /// Which of the terms that were asked for has the chunk.
    term: usize,
    /// The posting that comes next.
    next: u32,
    /// The document that came last.
    document: usize,
    found: Vec<(u32, f32)>,
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
        // A word has four letters and a blank.
        let mut met = Vec::with_capacity(text.len() / 5);
        for (weight, text) in fields {
            let text = text.unwrap_or_default();
            // First all keys, then all that is known by them: so one look into a large table need
            // not wait for the one before.
            keyed(text, &mut met);
            for Keyed { key, start, end } in met.drain(..) {
                self.count(key, || text.get(start..end).unwrap_or_default(), weight);
            }
        }
        self.begins.push(number_of(self.postings.len()));
        let length = self.finish();
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
            let begins = |number: u32| self.begins.get(number as usize).copied();
            let end = begins(number.saturating_add(1)).unwrap_or(number_of(self.postings.len()));
            let spread = end.saturating_sub(begins(number).unwrap_or(end));
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

    /// Where each of some terms stands: chunk by chunk, the documents with what it counts there. Some
    /// chunks are followed side by side, since each step from one posting to the next waits for a
    /// piece of memory that is far away.
    pub(super) fn find(&self, terms: &[&str]) -> Vec<Vec<(u32, f32)>> {
        let link = |at: u32| self.links.get(at as usize);
        let mut trails = Vec::new();
        for (term, text) in terms.iter().enumerate() {
            let first = self.terms.get(&key(text)).copied().and_then(link);
            let links = std::iter::successors(first, |before| link(before.next));
            for last in links.filter_map(|link| self.last.get(link.chunk as usize)) {
                trails.push(Trail {
                    term,
                    next: *last,
                    document: self.begins.len(),
                    found: Vec::new(),
                });
            }
        }
        for trails in trails.chunks_mut(SIDE_BY_SIDE) {
            let mut ended = 0;
            while ended < trails.len() {
                ended = 0;
                for trail in &mut *trails {
                    if let Some(posting) = self.postings.get(trail.next as usize) {
                        trail.document = self.document_of(trail.next, trail.document);
                        trail.next = posting.previous;
                        trail
                            .found
                            .push((number_of(trail.document), posting.weight));
                    } else {
                        ended += 1;
                    }
                }
            }
        }
        let mut found = vec![Vec::new(); terms.len()];
        for trail in trails {
            if let Some(found) = found.get_mut(trail.term) {
                found.extend(trail.found);
            }
        }
        found
    }

    /// The document that has a posting, which is none after `last`: it is looked for near that, and
    /// then ever further.
    fn document_of(&self, posting: u32, last: usize) -> usize {
        let mut step = 1;
        let mut first = last;
        while self
            .begins
            .get(first)
            .is_none_or(|begins| *begins > posting)
            && first > 0
        {
            first = first.saturating_sub(step);
            step = step.saturating_mul(2);
        }
        let near = self.begins.get(first..).unwrap_or_default();
        let near = near.get(..=last.saturating_sub(first)).unwrap_or(near);
        let before = near.partition_point(|begins| *begins <= posting);
        first.saturating_add(before).saturating_sub(1)
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

    /// Counts one chunk of a document, whose text is asked for when it is new.
    #[inline]
    fn count<'a>(&mut self, key: u64, chunk: impl FnOnce() -> &'a str, weight: f32) {
        match self.chunks.get(&key) {
            Some(&chunk) => self.draft.count(chunk, weight),
            None => self.count_new(key, chunk(), weight),
        }
    }

    #[cold]
    fn count_new(&mut self, key_of_chunk: u64, chunk: &str, weight: f32) {
        if chunk.len() <= CHUNK_CACHED_BYTES || !chunk.contains(is_unspaced) {
            let chunk = self.learn(key_of_chunk, |each| words_of(chunk, each));
            return self.draft.count(chunk, weight);
        }
        // A sentence of a script without blanks stands only once: its parts are what comes again.
        parts_of(chunk, &mut |part| match part {
            Part::Word(word) => self.count(key(word), || word, weight),
            Part::Piece(piece) => {
                let key = key(piece);
                let chunk = match self.chunks.get(&key) {
                    Some(&chunk) => chunk,
                    None => self.learn(key, |each| each(Word::plain(piece.to_owned()))),
                };
                self.draft.count(chunk, weight);
            }
        });
    }

    /// Keeps what was counted of a document; gives how many words it has.
    fn finish(&mut self) -> u32 {
        let distinct = std::mem::take(&mut self.draft.distinct);
        let Draft { weights, met, .. } = &mut self.draft;
        for &number in met.iter().take(distinct) {
            let number = number as usize;
            if let (Some(weight), Some(last)) = (weights.get_mut(number), self.last.get_mut(number))
            {
                let previous = std::mem::replace(last, number_of(self.postings.len()));
                self.postings.push(Posting {
                    weight: std::mem::take(weight),
                    previous,
                });
            }
        }
        std::mem::take(&mut self.draft.length)
    }

    /// Keeps which terms a new chunk has: those of the words that are handed on.
    fn learn(&mut self, key_of_chunk: u64, words_of: impl FnOnce(&mut dyn FnMut(Word))) -> Chunk {
        if self.last.is_empty() {
            self.grow(); // that of all chunks that no query finds
        }
        let number = number_of(self.last.len());
        let mut words = 0_u32;
        words_of(&mut |word| {
            words = words.saturating_add(1);
            word.terms().for_each(|term| self.link(term, number));
        });
        let chunk = if words == 0 {
            Chunk {
                number: UNSOUGHT,
                words,
            }
        } else {
            self.grow();
            Chunk { number, words }
        };
        self.chunks.insert(key_of_chunk, chunk);
        chunk
    }

    /// Makes room for one chunk more.
    fn grow(&mut self) {
        self.last.push(NONE);
        self.draft.grow();
    }

    fn link(&mut self, term: &str, chunk: u32) {
        let link = number_of(self.links.len());
        let next = self.terms.insert(key(term), link);
        if next.is_none() {
            self.note(term);
        }
        self.links.push(Link {
            chunk,
            next: next.unwrap_or(NONE),
        });
    }

    /// Keeps a new term, should it be a word that may be misspelt.
    fn note(&mut self, term: &str) {
        if let Some(shape) = shape(term) {
            let alike = self.vocabulary.entry(shape).or_default();
            alike.push(term.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Index;
    use crate::memory::{MemoryHeader, parse_frontmatter};

    fn index(memories: &[(&str, &str)]) -> Index {
        let mut index = Index::default();
        for (path, text) in memories {
            let header = MemoryHeader::of_text((*path).to_owned(), parse_frontmatter(text));
            index.put(&header, text, 0, 0);
        }
        index
    }

    /// Where a term stands, by path.
    fn places(index: &Index, term: &str) -> Vec<(String, f32)> {
        let found = index.find(&[term]).concat().into_iter();
        let mut places: Vec<_> = found
            .filter(|(document, _)| index.words(*document).is_some())
            .map(|(document, weight)| (index.path(document).to_owned(), weight))
            .collect();
        places.sort_by(|a, b| a.0.cmp(&b.0));
        places
    }

    #[test]
    fn a_place_is_found_whatever_memories_without_words_lie_between() {
        let mut memories = vec![("--.md", ""), ("a.md", "fox fox the fox")];
        memories.extend([("-.md", ""), ("_.md", "the"), ("'.md", ".")]);
        memories.extend([("b.md", "hen"), ("c.md", "fox"), (".md", "")]);
        let mut index = index(&memories);
        let both = [("a.md".to_owned(), 3.0), ("c.md".to_owned(), 1.0)];
        assert_eq!(places(&index, "fox"), both);
        assert_eq!(places(&index, "hen"), [("b.md".to_owned(), 1.0)]);
        assert_eq!(places(&index, "the"), []);
        index.remove("a.md", 0);
        assert_eq!(places(&index, "fox"), [("c.md".to_owned(), 1.0)]);
        assert_eq!(
            index.waste, 2,
            "fox, and all that no query finds: the, and a, the name"
        );
    }

    #[test]
    fn terms_are_found_together_as_each_by_itself() {
        let text = |at: usize| format!("{} common w{at} w{}", "often ".repeat(at % 3), at / 7);
        let texts: Vec<(String, String)> =
            (0..200).map(|at| (format!("{at}.md"), text(at))).collect();
        let memories: Vec<(&str, &str)> = texts
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect();
        let index = index(&memories);
        let terms: Vec<String> = (0..40).map(|at| format!("w{at}")).collect();
        let mut terms: Vec<&str> = terms.iter().map(String::as_str).collect();
        terms.extend(["common", "often", "nowhere"]);
        let alone: Vec<_> = terms
            .iter()
            .map(|term| index.find(&[term]).concat())
            .collect();
        assert_eq!(index.find(&terms), alone);
        let counts = |term| places(&index, term).len();
        assert_eq!((counts("common"), counts("nowhere")), (200, 0));
    }
}
