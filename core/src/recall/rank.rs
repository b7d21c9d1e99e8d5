//! Which memories a query finds, in which order, and when it finds none: BM25 over weighted fields,
//! tempered by age and use.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

use super::chunks::chunks;
use super::index::Index;
use super::stem::is_question_word;
use super::tokens::{Word, tokenize};
use crate::limits::{
    AGE_HALF_DAYS, AGE_WEIGHT, BM25_B, BM25_K1, COMPANY_BONUS, CONFIDENCE_FLOOR, EVIDENCE_LEAST,
    EVIDENCE_WEIGHT, GRAMMAR_WEIGHT, LONELY_EVIDENCE, LONELY_STRENGTH, NEAR_MAX_WORDS, NEAR_WEIGHT,
    PART_WEIGHT, QUERY_MAX_KNOWN_WORDS, QUERY_MAX_SEGMENTS, QUERY_MAX_WORDS, QUERY_SHORT_WORDS,
    RARITY_LEAST_MEMORIES, SEGMENT_MARGIN, SENTENCE_MAX_WORDS, STRENGTH_WEIGHT,
    UNKNOWN_PIECE_WEIGHT, USE_HALF, USE_WEIGHT, WINDOW_WORDS,
};
use crate::memory::{MemoryHeader, parse_frontmatter};
use crate::order;

/// What else is known of a memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Standing {
    /// Whole days since it was written.
    pub age_days: i64,
    /// How often it was recalled.
    pub uses: u32,
    /// Whether its user pinned it: it never sinks.
    pub pinned: bool,
}

/// A memory that a query found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Found {
    /// Its path.
    pub path: String,
    /// How well it fits, rounded to thousandths: to be compared within one answer only.
    pub score: f64,
}

/// A memory to be ranked by [`rank_memories`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RankedMemory {
    /// Relative to the store, with `/`.
    pub path: String,
    /// The whole text of the file.
    pub text: String,
    /// Whole days since it was written.
    #[serde(default)]
    pub age_days: u32,
    /// How often it was recalled.
    #[serde(default)]
    pub uses: u32,
}

/// The memories that a query finds by its words, best first, at equal scores by path; none when
/// nothing in them surely answers it. The rule behind recall without a model, over texts in memory.
#[must_use]
pub fn rank_memories(query: &str, memories: &[RankedMemory]) -> Vec<Found> {
    let mut index = Index::default();
    let mut standings: HashMap<&str, Standing, FxBuildHasher> = HashMap::default();
    for memory in memories {
        let frontmatter = parse_frontmatter(&memory.text);
        let body = frontmatter.body;
        let standing = Standing {
            age_days: i64::from(memory.age_days),
            uses: memory.uses,
            pinned: frontmatter.pinned,
        };
        let header = MemoryHeader::of_text(memory.path.clone(), frontmatter);
        index.put(&header, &memory.text, body, 0);
        standings.insert(memory.path.as_str(), standing);
    }
    index.rank(query, |path| standings.get(path).copied())
}

impl Index {
    /// The memories that `query` finds, best first, at equal scores by path. `standing` says what
    /// else is known of one, none for one that is not to be found.
    #[must_use]
    pub fn rank(&self, query: &str, standing: impl Fn(&str) -> Option<Standing>) -> Vec<Found> {
        let mut terms = Terms::new(self);
        let mut whole = vec![Sum::default(); self.end()];
        let mut confidence = vec![0.0; self.end()];
        let words = tokenize(query);
        let is_short = words.len() <= QUERY_SHORT_WORDS;
        let asked = Asked::new(&mut terms, words, query, true);
        self.ask(&asked, &mut whole);
        // In a long text any memory has some of the words.
        if is_short {
            self.judge(&asked, &whole, &mut confidence);
        }
        let segments = segments(query);
        if segments.len() > 1 {
            for (words, text) in segments {
                let mut sums = vec![Sum::default(); self.end()];
                let asked = Asked::new(&mut terms, words, text, false);
                self.ask(&asked, &mut sums);
                self.judge(&asked, &sums, &mut confidence);
            }
        }
        let mut found = Vec::new();
        let mut sure = false;
        for ((number, sum), confidence) in (0..).zip(&whole).zip(confidence) {
            if confidence < CONFIDENCE_FLOOR - COMPANY_BONUS {
                continue;
            }
            let path = self.path(number);
            let Some(standing) = standing(path) else {
                continue;
            };
            found.push(Found {
                path: path.to_owned(),
                score: sum.score * temper(standing),
            });
            sure |= confidence >= CONFIDENCE_FLOOR;
        }
        if !sure {
            return Vec::new();
        }
        order::sort(&mut found, |a, b| {
            b.score
                .total_cmp(&a.score)
                .then_with(|| a.path.cmp(&b.path))
        });
        for found in &mut found {
            found.score = (found.score * 1000.0).round() / 1000.0;
        }
        found
    }

    /// Adds what is asked up for each document.
    fn ask(&self, asked: &Asked, sums: &mut [Sum]) {
        for word in &asked.words {
            self.add(word, sums);
        }
    }

    /// Raises the confidence in each document to what this gives.
    fn judge(&self, asked: &Asked, sums: &[Sum], confidence: &mut [f64]) {
        for (sum, confidence) in sums.iter().zip(confidence) {
            if sum.score > 0.0 {
                *confidence = confidence.max(self.confidence(asked, sum));
            }
        }
    }

    /// How sure it is that a document is meant. What counts is the share of the query that stands in
    /// it; more so when that is much by itself, and where it stands in a name or description. So a
    /// question of many words is not answered by one of them. A query of nothing but words that say
    /// something is answered by what holds them all, however common they are. Where only one word
    /// says something and nothing is asked for (`run it again`), that must be a rare one, stand where
    /// it matters, and say more than what to do.
    fn confidence(&self, asked: &Asked, sum: &Sum) -> f64 {
        let weight = asked.weight.max(f64::MIN_POSITIVE);
        let evidence = sum.matched / self.rarity(1.0);
        let strength = sum.score / weight;
        let too_little = match asked.lonely {
            None => false,
            Some(weak) => weak || evidence < LONELY_EVIDENCE || strength < LONELY_STRENGTH,
        };
        if too_little {
            return 0.0;
        }
        let mut of_evidence = EVIDENCE_WEIGHT * libm::log(evidence.max(f64::MIN_POSITIVE));
        if asked.bare {
            of_evidence = of_evidence.max(EVIDENCE_LEAST);
        }
        let margin = if asked.is_whole { 0.0 } else { SEGMENT_MARGIN };
        sum.matched / weight + of_evidence + STRENGTH_WEIGHT * strength - margin
    }

    /// How much a word says that stands in so many documents. A small store is taken for a larger one:
    /// what stands in its only memory is not common for that.
    fn rarity(&self, having: f64) -> f64 {
        let all = (self.len() as f64).max(RARITY_LEAST_MEMORIES);
        libm::log(1.0 + (all - having + 0.5) / (having + 0.5))
    }

    /// Adds what a word of the query says for each document.
    fn add(&self, word: &Weighed, sums: &mut [Sum]) {
        let average = self.average_length().max(1.0);
        let saturated = |document: u32, count: f32| {
            let length = f64::from(self.words(document).unwrap_or_default());
            let norm = 1.0 - BM25_B + BM25_B * length / average;
            let count = f64::from(count);
            count * (BM25_K1 + 1.0) / (count + BM25_K1 * norm)
        };
        let weight = word.parts_weight() / word.parts.len().max(1) as f64;
        for term in &word.parts {
            let share = word.parts_weight() * term.rarity / word.of_parts.max(f64::MIN_POSITIVE);
            for &(document, count) in &term.counts {
                if let Some(sum) = sums.get_mut(document as usize) {
                    sum.score += weight * term.rarity * saturated(document, count);
                    sum.share += share;
                }
            }
        }
        for &(document, count) in word.whole.iter().flat_map(|term| &term.counts) {
            if let Some(sum) = sums.get_mut(document as usize) {
                sum.score += word.nearness * word.rarity * saturated(document, count);
                sum.share = word.nearness;
            }
        }
        for &(document, _) in word.terms().flat_map(|term| &term.counts) {
            if let Some(sum) = sums.get_mut(document as usize) {
                sum.matched += std::mem::take(&mut sum.share) * word.weight;
            }
        }
    }
}

/// The parts of a query that are looked at one by one, so that what stands around a request does not
/// water it down: its sentences and the questions they join, a long one in overlapping windows; of too
/// many the first and the last. With the text of each.
fn segments(query: &str) -> Vec<(Vec<Word>, &str)> {
    let mut segments = Vec::new();
    for sentence in sentences(query) {
        let words = tokenize(sentence);
        if words.len() <= SENTENCE_MAX_WORDS {
            segments.push((words, sentence));
            continue;
        }
        let last = words.len().saturating_sub(WINDOW_WORDS);
        let starts = (0..last).step_by(WINDOW_WORDS / 2).chain([last]);
        for start in starts {
            let window = words.get(start..start.saturating_add(WINDOW_WORDS));
            segments.push((window.unwrap_or_default().to_vec(), sentence));
        }
    }
    if segments.len() > QUERY_MAX_SEGMENTS {
        let half = QUERY_MAX_SEGMENTS / 2;
        segments.drain(half..segments.len().saturating_sub(half));
    }
    segments
}

/// Ends at punctuation and at line ends; a dot inside a name ends nothing.
fn sentences(query: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut chars = query.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map_or(query.len(), |(next, _)| *next);
        let before_blank = chars.peek().is_none_or(|(_, next)| next.is_whitespace());
        let ends = match c {
            '\n' | '。' | '！' | '？' => true,
            '.' | '!' | '?' | ';' => before_blank,
            _ => false,
        };
        if ends {
            sentences.extend(query.get(start..at));
            start = next;
        }
    }
    sentences.extend(query.get(start..));
    sentences.retain(|sentence| !sentence.trim().is_empty());
    sentences.into_iter().flat_map(questions).collect()
}

/// The questions that a sentence joins: `how long is it kept, and who may read it`.
fn questions(sentence: &str) -> Vec<&str> {
    let mut questions = Vec::new();
    let (mut start, mut at) = (0, 0);
    let mut joined = false;
    for word in sentence.split_inclusive(char::is_whitespace) {
        let bare = word
            .trim_matches(|c: char| !c.is_alphanumeric())
            .to_ascii_lowercase();
        if joined && is_question_word(&bare) {
            questions.extend(sentence.get(start..at));
            start = at;
        }
        at = at.saturating_add(word.len());
        joined = word.trim_end().ends_with([',', ':']) || matches!(bare.as_str(), "and" | "or");
    }
    questions.extend(sentence.get(start..));
    questions
}

/// The terms of one query, each looked up once.
struct Terms<'a> {
    index: &'a Index,
    known: HashMap<String, Arc<Term>, FxBuildHasher>,
    /// A zero for each document.
    counts: Vec<f32>,
    /// Of words that stand in no memory: the one that is meant.
    meant: HashMap<String, Option<Arc<Term>>, FxBuildHasher>,
}

impl<'a> Terms<'a> {
    fn new(index: &'a Index) -> Self {
        Self {
            index,
            known: HashMap::default(),
            counts: vec![0.0; index.end()],
            meant: HashMap::default(),
        }
    }

    fn get(&mut self, term: &str) -> Arc<Term> {
        if let Some(known) = self.known.get(term) {
            return Arc::clone(known);
        }
        self.look_up(&[term]);
        self.known.get(term).cloned().unwrap_or_default()
    }

    /// Looks up all terms of some words that were not yet.
    fn meet(&mut self, words: &[Word]) {
        let mut terms: Vec<&str> = words
            .iter()
            .flat_map(Word::terms)
            .map(String::as_str)
            .filter(|term| !self.known.contains_key(*term))
            .collect();
        terms.sort_unstable();
        terms.dedup();
        self.look_up(&terms);
    }

    fn look_up(&mut self, terms: &[&str]) {
        for (term, found) in terms.iter().zip(self.index.find(terms)) {
            let mut having = Vec::new();
            for (document, weight) in found {
                if let Some(count) = self.counts.get_mut(document as usize)
                    && self.index.words(document).is_some()
                {
                    if *count == 0.0 {
                        having.push(document);
                    }
                    *count += weight;
                }
            }
            let rarity = self.index.rarity(having.len() as f64);
            let mut count = |document: u32| {
                let count = self.counts.get_mut(document as usize);
                (document, count.map_or(0.0, std::mem::take))
            };
            let counts = having.into_iter().map(&mut count).collect();
            let found = Arc::new(Term { rarity, counts });
            self.known.insert((*term).to_owned(), found);
        }
    }

    /// What a word that stands in no memory is taken for: the word of the memories that is nearest
    /// to it, of several the one that most of them have. Only of the first such words of a query.
    fn meant(&mut self, term: &str) -> Option<Arc<Term>> {
        if let Some(known) = self.meant.get(term) {
            return known.clone();
        }
        if self.meant.len() >= NEAR_MAX_WORDS {
            return None;
        }
        let near: Vec<(&str, usize)> = self.index.near(term).collect();
        let terms = near.into_iter().filter_map(|(near, differ)| {
            let term = self.get(near);
            let having = term.counts.len();
            (having > 0).then_some((differ, Reverse(having), near, term))
        });
        let best = terms.min_by(|a, b| (a.0, a.1, a.2).cmp(&(b.0, b.1, b.2)));
        let best = best.map(|(_, _, _, term)| term);
        self.meant.insert(term.to_owned(), best.clone());
        best
    }

    fn weigh(&mut self, word: &Word) -> Weighed {
        let mut whole = word.whole.as_deref().map(|term| self.get(term));
        let mut nearness = 1.0;
        if word.parts.is_empty()
            && let (Some(term), Some(known)) = (&word.whole, &mut whole)
            && known.counts.is_empty()
            && let Some(meant) = self.meant(term)
        {
            (*known, nearness) = (meant, NEAR_WEIGHT);
        }
        let factor = if word.is_grammar() {
            GRAMMAR_WEIGHT
        } else {
            1.0
        };
        let rarity = whole.as_ref().map_or(0.0, |whole| whole.rarity * factor);
        let parts: Vec<Arc<Term>> = word.parts.iter().map(|term| self.get(term)).collect();
        let of_parts: f64 = parts.iter().map(|term| term.rarity).sum();
        let mean = of_parts / parts.len().max(1) as f64;
        let mut weight = match &whole {
            None => mean,
            Some(_) if parts.is_empty() => rarity,
            // A way to write it that stands nowhere says little when its parts do.
            Some(_) => rarity.min(mean),
        };
        // Where words have no blanks between them, many pieces lie across two words.
        if word.is_piece() && whole.as_ref().is_some_and(|whole| whole.counts.is_empty()) {
            weight *= UNKNOWN_PIECE_WEIGHT;
        }
        Weighed {
            whole,
            nearness,
            rarity,
            parts,
            of_parts,
            weight,
        }
    }
}

/// What a query, or a segment of one, asks for.
struct Asked {
    /// Whether it is the whole query.
    is_whole: bool,
    /// Those of its words that stand in some memory.
    words: Vec<Weighed>,
    /// What all of its words count for.
    weight: f64,
    /// Whether it is a whole query of nothing but words that say something.
    bare: bool,
    /// Of a sentence that asks for no knowledge and has one word that says something: whether that
    /// says little.
    lonely: Option<bool>,
}

impl Asked {
    /// `words` are those of `text`, or some of them.
    fn new(terms: &mut Terms<'_>, words: Vec<Word>, text: &str, is_whole: bool) -> Self {
        let bare = is_whole && chunks(text).count() <= words.len();
        let asks = || chunks(text).any(|chunk| is_question_word(&chunk.to_ascii_lowercase()));
        let lonely = match words.as_slice() {
            [word] if !bare && !asks() => Some(word.is_weak()),
            _ => None,
        };
        let mut seen: HashSet<Word, FxBuildHasher> = HashSet::default();
        let mut weighed: Vec<Weighed> = Vec::new();
        let mut weight = 0.0;
        terms.meet(words.get(..QUERY_MAX_WORDS).unwrap_or(&words));
        for word in words {
            if seen.len() < QUERY_MAX_WORDS && !seen.contains(&word) {
                let known = terms.weigh(&word);
                weight += known.weight;
                if known.terms().any(|term| !term.counts.is_empty()) {
                    weighed.push(known);
                }
                seen.insert(word);
            }
        }
        if weighed.len() > QUERY_MAX_KNOWN_WORDS {
            order::sort(&mut weighed, |a, b| b.weight.total_cmp(&a.weight));
            weighed.truncate(QUERY_MAX_KNOWN_WORDS);
        }
        Self {
            is_whole,
            words: weighed,
            weight,
            bare,
            lonely,
        }
    }
}

/// A word of a query.
struct Weighed {
    whole: Option<Arc<Term>>,
    /// Less than 1 when the whole is only near to what was asked for.
    nearness: f64,
    /// Of the whole.
    rarity: f64,
    parts: Vec<Arc<Term>>,
    of_parts: f64,
    /// What it counts for among the words of the query.
    weight: f64,
}

impl Weighed {
    fn terms(&self) -> impl Iterator<Item = &Arc<Term>> {
        self.whole.iter().chain(&self.parts)
    }

    /// What all parts together count for: less than the whole, unless that stands in no memory and
    /// they are all there is.
    fn parts_weight(&self) -> f64 {
        match &self.whole {
            Some(whole) if !whole.counts.is_empty() => PART_WEIGHT,
            _ => 1.0,
        }
    }
}

/// One term: how rare it is, and what it counts in each document that has it.
#[derive(Debug, Default)]
struct Term {
    rarity: f64,
    counts: Vec<(u32, f32)>,
}

/// What the query says for a document.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    score: f64,
    /// The weight of the words that stand in it.
    matched: f64,
    /// How much of the present word stands in it.
    share: f64,
}

/// Age sinks a memory gently and use raises it; neither hides one (recall must reach the old).
fn temper(
    Standing {
        age_days,
        uses,
        pinned,
    }: Standing,
) -> f64 {
    let age = age_days.max(0) as f64;
    let uses = f64::from(uses);
    let sunk = if pinned {
        0.0
    } else {
        AGE_WEIGHT * age / (age + AGE_HALF_DAYS) / (1.0 + uses)
    };
    1.0 - sunk + USE_WEIGHT * uses / (uses + USE_HALF)
}
