//! Which memories a query finds, in which order, and when it finds none: BM25 over weighted fields,
//! tempered by age and use.

use std::collections::{HashMap, HashSet};

use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

use super::index::Index;
use super::tokens::{Word, tokenize};
use crate::limits::{
    AGE_HALF_DAYS, AGE_WEIGHT, BM25_B, BM25_K1, COMPANY_BONUS, CONFIDENCE_FLOOR, EVIDENCE_LEAST,
    EVIDENCE_WEIGHT, GRAMMAR_WEIGHT, PART_WEIGHT, QUERY_MAX_WORDS, STRENGTH_WEIGHT,
    UNKNOWN_PIECE_WEIGHT, USE_HALF, USE_WEIGHT,
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
        let words = self.weigh(tokenize(query));
        let whole: f64 = words.iter().map(|word| word.weight).sum();
        let mut sums = vec![Sum::default(); self.end()];
        for word in &words {
            self.add(word, &mut sums);
        }
        let mut found = Vec::new();
        let mut sure = false;
        for (number, sum) in (0..).zip(&sums).filter(|(_, sum)| sum.score > 0.0) {
            let confidence = self.confidence(sum, whole);
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

    /// Whether a document can be meant at all. What counts is the share of the query that stands in
    /// it; more so when that is much by itself, and where it stands in a name or description. So a
    /// question of many words is not answered by one of them; and what holds the whole query is found,
    /// however common its words are.
    fn confidence(&self, sum: &Sum, whole: f64) -> f64 {
        let whole = whole.max(f64::MIN_POSITIVE);
        let evidence = sum.matched / self.rarity(1.0);
        sum.matched / whole
            + (EVIDENCE_WEIGHT * libm::log(evidence.max(f64::MIN_POSITIVE))).max(EVIDENCE_LEAST)
            + STRENGTH_WEIGHT * sum.score / whole
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
