//! Which memories a query finds, in which order, and when it finds none: BM25 over weighted fields,
//! tempered by age and use.

use std::collections::{HashMap, HashSet};

use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

use super::index::Index;
use super::stem::is_question_word;
use super::tokens::{Word, chunks, tokenize};
use crate::limits::{
    AGE_HALF_DAYS, AGE_WEIGHT, BM25_B, BM25_K1, COMPANY_BONUS, CONFIDENCE_FLOOR, EVIDENCE_LEAST,
    EVIDENCE_WEIGHT, GRAMMAR_WEIGHT, LONELY_EVIDENCE, LONELY_STRENGTH, PART_WEIGHT,
    QUERY_MAX_SENTENCES, QUERY_MAX_WORDS, STRENGTH_WEIGHT, UNKNOWN_PIECE_WEIGHT, USE_HALF,
    USE_WEIGHT,
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
        let mut whole = vec![Sum::default(); self.end()];
        let mut confidence = vec![0.0; self.end()];
        self.ask(&self.understand(query, true), &mut whole, &mut confidence);
        let sentences = sentences(query);
        if sentences.len() > 1 {
            for sentence in sentences {
                let mut sums = vec![Sum::default(); self.end()];
                self.ask(
                    &self.understand(sentence, false),
                    &mut sums,
                    &mut confidence,
                );
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
            let score = (sum.score * temper(standing) * 1000.0).round() / 1000.0;
            found.push(Found {
                path: path.to_owned(),
                score,
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
        found
    }

    /// What a query, or one sentence of it, asks for.
    fn understand(&self, text: &str, is_whole: bool) -> Asked {
        let words = tokenize(text);
        let bare = is_whole && chunks(text).count() <= words.len();
        let asks = chunks(text).any(|chunk| is_question_word(&chunk.to_ascii_lowercase()));
        let lonely = match words.as_slice() {
            [word] if !bare && !asks => Some(word.is_weak()),
            _ => None,
        };
        let words = self.weigh(words);
        let weight = words.iter().map(|word| word.weight).sum();
        Asked {
            words,
            weight,
            bare,
            lonely,
        }
    }

    /// Adds what is asked up for each document, and raises its confidence to what that gives.
    fn ask(&self, asked: &Asked, sums: &mut [Sum], confidence: &mut [f64]) {
        for word in &asked.words {
            self.add(word, sums);
        }
        for (sum, confidence) in sums
            .iter()
            .zip(confidence)
            .filter(|(sum, _)| sum.score > 0.0)
        {
            *confidence = confidence.max(self.confidence(asked, sum));
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
        sum.matched / weight + of_evidence + STRENGTH_WEIGHT * strength
    }

    /// How much a word says that stands in so many documents.
    fn rarity(&self, having: f64) -> f64 {
        let all = (self.len() as f64).max(having);
        libm::log(1.0 + (all - having + 0.5) / (having + 0.5))
    }

    /// The words of a query, each once, with what is known of their terms; of a long query the
    /// rarest.
    fn weigh(&self, words: Vec<Word>) -> Vec<Weighed> {
        let mut counts = vec![0.0; self.end()];
        let mut seen: HashSet<Word, FxBuildHasher> = HashSet::default();
        let mut weighed: Vec<Weighed> = words
            .into_iter()
            .filter(|word| seen.insert(word.clone()))
            .map(|word| self.weigh_word(&word, &mut counts))
            .collect();
        if weighed.len() > QUERY_MAX_WORDS {
            order::sort(&mut weighed, |a, b| b.weight.total_cmp(&a.weight));
            weighed.truncate(QUERY_MAX_WORDS);
        }
        weighed
    }

    fn weigh_word(&self, word: &Word, counts: &mut [f32]) -> Weighed {
        let mut whole = word.whole.as_deref().map(|term| self.term(term, counts));
        if let Some(whole) = &mut whole
            && word.is_grammar()
        {
            whole.rarity *= GRAMMAR_WEIGHT;
        }
        let parts: Vec<Term> = word
            .parts
            .iter()
            .map(|term| self.term(term, counts))
            .collect();
        let of_parts: f64 = parts.iter().map(|term| term.rarity).sum();
        let mean = of_parts / parts.len().max(1) as f64;
        let mut weight = match &whole {
            None => mean,
            Some(whole) if parts.is_empty() => whole.rarity,
            // A way to write it that stands nowhere says little when its parts do.
            Some(whole) => whole.rarity.min(mean),
        };
        // Where words have no blanks between them, many pieces lie across two words.
        if word.is_piece() && whole.as_ref().is_some_and(|whole| whole.counts.is_empty()) {
            weight *= UNKNOWN_PIECE_WEIGHT;
        }
        Weighed {
            whole,
            parts,
            of_parts,
            weight,
        }
    }

    /// `counts` holds a zero for each document, and does so again afterwards.
    fn term(&self, term: &str, counts: &mut [f32]) -> Term {
        let mut having = Vec::new();
        for posting in self.find(term) {
            if let Some(count) = counts.get_mut(posting.document as usize)
                && self.words(posting.document).is_some()
            {
                if *count == 0.0 {
                    having.push(posting.document);
                }
                *count += posting.weight;
            }
        }
        Term {
            rarity: self.rarity(having.len() as f64),
            counts: having
                .into_iter()
                .map(|document| {
                    (
                        document,
                        counts
                            .get_mut(document as usize)
                            .map_or(0.0, std::mem::take),
                    )
                })
                .collect(),
        }
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
                let rarity = word.whole.as_ref().map_or(0.0, |term| term.rarity);
                sum.score += rarity * saturated(document, count);
                sum.share = 1.0;
            }
        }
        for &(document, _) in word.terms().flat_map(|term| &term.counts) {
            if let Some(sum) = sums.get_mut(document as usize) {
                sum.matched += std::mem::take(&mut sum.share) * word.weight;
            }
        }
    }
}

/// The sentences of a query: what stands around a request does not water it down.
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
    sentences.truncate(QUERY_MAX_SENTENCES);
    sentences
}

/// What a query, or a sentence of one, asks for.
#[derive(Debug)]
struct Asked {
    words: Vec<Weighed>,
    /// What all of them count for.
    weight: f64,
    /// Whether it is a whole query of nothing but words that say something.
    bare: bool,
    /// Of a sentence that asks for no knowledge and has one word that says something: whether that
    /// says little.
    lonely: Option<bool>,
}

/// A word of a query.
#[derive(Debug)]
struct Weighed {
    whole: Option<Term>,
    parts: Vec<Term>,
    of_parts: f64,
    /// What it counts for among the words of the query.
    weight: f64,
}

impl Weighed {
    fn terms(&self) -> impl Iterator<Item = &Term> {
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
#[derive(Debug)]
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
