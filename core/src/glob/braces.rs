//! Expands the braces of a pattern (`src/{a,b}/*.{ts,tsx}`), within a budget: a short pattern can stand for more than
//! any memory holds (facts 10.4).

use crate::limits::{RULE_MAX_BYTES, RULE_MAX_PATTERNS};

/// How much one rule may still expand to.
#[derive(Debug)]
pub(crate) struct Budget {
    patterns: usize,
    bytes: usize,
}

impl Budget {
    pub fn new() -> Self {
        Self {
            patterns: RULE_MAX_PATTERNS,
            bytes: RULE_MAX_BYTES,
        }
    }

    /// All that a pattern stands for, in order; none when that is over the budget.
    pub fn expand(&mut self, pattern: &str) -> Option<Vec<String>> {
        let (mut patterns, mut bytes) = (self.patterns, self.bytes);
        let mut done = Vec::new();
        // What is still to be expanded, the first at the end. It holds no more than may come of it.
        let mut open = vec![pattern.to_owned()];
        let mut held = pattern.len();
        while let Some(next) = open.pop() {
            held = held.saturating_sub(next.len());
            let Some(group) = Group::first(&next) else {
                patterns = patterns.checked_sub(1)?;
                bytes = bytes.checked_sub(next.len())?;
                done.push(next);
                continue;
            };
            if open.len().saturating_add(group.alternatives.len()) > patterns {
                return None;
            }
            for alternative in group.alternatives.iter().rev() {
                let pattern = [group.before, alternative, group.after].concat();
                held = held.saturating_add(pattern.len());
                if held > RULE_MAX_BYTES {
                    return None;
                }
                open.push(pattern);
            }
        }
        (self.patterns, self.bytes) = (patterns, bytes);
        Some(done)
    }
}

/// The first braces of a pattern that hold a choice.
struct Group<'a> {
    before: &'a str,
    alternatives: Vec<&'a str>,
    after: &'a str,
}

impl<'a> Group<'a> {
    /// One pass, however many braces there are: what is not closed, or holds no comma, stands for itself.
    fn first(pattern: &'a str) -> Option<Self> {
        // Where each brace opens that is not closed yet, and its commas.
        let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
        let mut first: Option<(usize, Vec<usize>, usize)> = None;
        for (at, c) in places(pattern) {
            match c {
                '{' => open.push((at, Vec::new())),
                ',' => {
                    if let Some((_, commas)) = open.last_mut() {
                        commas.push(at);
                    }
                }
                '}' => {
                    let Some((start, commas)) = open.pop() else {
                        continue;
                    };
                    let is_before = first.as_ref().is_none_or(|(known, ..)| start < *known);
                    if !commas.is_empty() && is_before {
                        first = Some((start, commas, at));
                    }
                }
                _ => {}
            }
        }
        let (start, commas, end) = first?;
        let mut from = start.saturating_add(1);
        let mut alternatives = Vec::new();
        for comma in commas.into_iter().chain([end]) {
            alternatives.push(pattern.get(from..comma)?);
            from = comma.saturating_add(1);
        }
        Some(Self {
            before: pattern.get(..start)?,
            alternatives,
            after: pattern.get(from..)?,
        })
    }
}

/// The characters of a pattern that no backslash takes the meaning from, with their places.
fn places(pattern: &str) -> impl Iterator<Item = (usize, char)> {
    let mut escaped = false;
    pattern.char_indices().filter(move |(_, c)| {
        let is_plain = !escaped;
        escaped = is_plain && *c == '\\';
        is_plain && *c != '\\'
    })
}
