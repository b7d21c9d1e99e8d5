//! Where tokens may begin. One pass over the text finds the keys of all rules, and a look at what
//! stands before drops nearly all of what is no token: clean text costs this pass and no more.

use std::sync::OnceLock;

use crate::secrets::alphabet::{is_alnum, is_word};
use crate::secrets::hidden::{Gaps, beginnings, is_hidden_at};
use crate::secrets::machine::{Machine, START};
use crate::secrets::rule::{Edge, Rule, Shape};
use crate::secrets::table::rules;
use crate::secrets::url::password_start;

/// Bytes of a key that are searched for; the rest is compared where they are found. More make the
/// automaton larger, fewer find more that is none.
const SEARCHED: usize = 3;
/// Bytes of a colour between `[` and `m`, and one more.
const COLOUR_MAX: usize = 24;

/// A key and its rules.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) key: &'static str,
    /// They differ in what follows the key and in nothing that stands before.
    pub(crate) rules: Vec<&'static Rule>,
}

/// A place where a token may begin. There can be as many as a text has keys, so it is small.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) start: usize,
    entry: u16,
}

impl Candidate {
    /// What it is a place for.
    pub(crate) fn entry(self) -> Option<&'static Entry> {
        keys()?.entries.get(usize::from(self.entry))
    }
}

struct Keys {
    machine: Machine,
    entries: Vec<Entry>,
    /// What the automaton searches for, each with the entries that begin with it.
    searched: Vec<(Vec<u8>, Vec<u16>)>,
    /// What it searches for behind them: in the same pass hidden characters cost nothing.
    beginnings: Vec<Vec<u8>>,
}

fn keys() -> Option<&'static Keys> {
    static KEYS: OnceLock<Option<Keys>> = OnceLock::new();
    KEYS.get_or_init(build).as_ref()
}

/// Fails only when there are more keys than an automaton can have; a test looks.
fn build() -> Option<Keys> {
    let mut entries: Vec<Entry> = Vec::new();
    for rule in rules() {
        for &key in rule.keys {
            let same = |entry: &&mut Entry| {
                entry.key == key
                    && entry
                        .rules
                        .iter()
                        .all(|other| other.any_case == rule.any_case)
            };
            match entries.iter_mut().find(same) {
                Some(entry) => entry.rules.push(rule),
                None => entries.push(Entry {
                    key,
                    rules: vec![rule],
                }),
            }
        }
    }
    let mut searched: Vec<(Vec<u8>, Vec<u16>)> = Vec::new();
    for (index, entry) in (0..).zip(&entries) {
        let key = entry.key.as_bytes();
        let any_case = entry.rules.iter().any(|rule| rule.any_case);
        for spelling in spellings(key.get(..SEARCHED).unwrap_or(key), any_case) {
            match searched.iter_mut().find(|(text, _)| *text == spelling) {
                Some((_, indices)) => indices.push(index),
                None => searched.push((spelling, vec![index])),
            }
        }
    }
    let beginnings = beginnings();
    let texts = searched.iter().map(|(text, _)| text).chain(&beginnings);
    let machine = Machine::new(&texts.map(Vec::as_slice).collect::<Vec<_>>())?;
    Some(Keys {
        machine,
        entries,
        searched,
        beginnings,
    })
}

/// All ways to write a key in upper and lower case, when they are the same.
fn spellings(key: &[u8], any_case: bool) -> Vec<Vec<u8>> {
    let mut spellings = vec![Vec::new()];
    for &byte in key {
        let mut longer = Vec::new();
        for mut spelling in spellings {
            if any_case && byte.is_ascii_alphabetic() {
                let mut other: Vec<u8> = spelling.clone();
                other.push(byte ^ 0x20);
                longer.push(other);
            }
            spelling.push(byte);
            longer.push(spelling);
        }
        spellings = longer;
    }
    spellings
}

/// What the automaton searches for.
#[cfg(feature = "bench")]
pub(crate) fn searched() -> Vec<Vec<u8>> {
    let searched = keys().map(|keys| keys.searched.as_slice());
    let texts = searched.unwrap_or_default().iter().map(|(text, _)| text);
    texts.cloned().collect()
}

/// What a pass over a text found.
pub(crate) enum Pass {
    /// Every place where a token may begin, in their order.
    Candidates(Vec<Candidate>),
    /// The first hidden character; the pass stopped there.
    Hidden(usize),
}

/// Reads a text once, from which something hidden may have been left out.
pub(crate) fn pass(text: &[u8], gaps: Gaps) -> Pass {
    let mut found = Vec::new();
    let Some(keys) = keys() else {
        return Pass::Candidates(found);
    };
    let machine = &keys.machine;
    let (mut state, mut at) = (START, 0_usize);
    while let Some(rest) = text.get(at..)
        && let Some((there, read)) = machine.next_end(state, rest)
    {
        (state, at) = (there, at.saturating_add(read));
        for &pattern in machine.ends(state) {
            if let Some(hidden) = keys.look(text, gaps, at, pattern.into(), &mut found) {
                return Pass::Hidden(hidden);
            }
        }
    }
    Pass::Candidates(found)
}

impl Keys {
    /// Looks at what begins with a searched text that ends there; the place, if that is a hidden
    /// character.
    #[inline(never)]
    fn look(
        &self,
        text: &[u8],
        gaps: Gaps,
        end: usize,
        pattern: usize,
        found: &mut Vec<Candidate>,
    ) -> Option<usize> {
        let Some((searched, entries)) = self.searched.get(pattern) else {
            let behind = pattern.checked_sub(self.searched.len())?;
            let place = end.checked_sub(self.beginnings.get(behind)?.len())?;
            return is_hidden_at(text, place).then_some(place);
        };
        let key_at = end.saturating_sub(searched.len());
        for &index in entries {
            if let Some(entry) = self.entries.get(usize::from(index))
                && let Some(start) = look(text, gaps, key_at, entry)
            {
                let candidate = Candidate {
                    start,
                    entry: index,
                };
                insert(found, candidate);
            }
        }
        None
    }
}

/// Where the token begins, when the whole key stands here and what stands before it is right.
fn look(text: &[u8], gaps: Gaps, key_at: usize, entry: &Entry) -> Option<usize> {
    let Entry { key, rules } = entry;
    let rule = rules.first()?;
    let first = key_at.checked_sub(usize::from(rule.before))?;
    if !starts_with(text, key_at, key, rule.any_case) || !edge(text, gaps, first, rule.edge) {
        return None;
    }
    let after = key_at.saturating_add(key.len());
    match rule.shape {
        Shape::UrlPassword => password_start(text, key_at, after),
        _ if rule.leads => Some(after),
        _ => Some(first),
    }
}

/// Keys are found in the order of their ends: where the token begins before its key, the place is
/// a few steps back.
fn insert(found: &mut Vec<Candidate>, candidate: Candidate) {
    let later = found
        .iter()
        .rev()
        .take_while(|other| other.start > candidate.start)
        .count();
    found.insert(found.len().saturating_sub(later), candidate);
}

fn starts_with(text: &[u8], at: usize, key: &str, any_case: bool) -> bool {
    let Some(there) = text.get(at..at.saturating_add(key.len())) else {
        return false;
    };
    there == key.as_bytes() || (any_case && there.eq_ignore_ascii_case(key.as_bytes()))
}

fn edge(text: &[u8], gaps: Gaps, start: usize, edge: Edge) -> bool {
    if edge == Edge::Open {
        return true;
    }
    let from = gaps.last(start).unwrap_or(0);
    let before = text.get(from..start).unwrap_or_default();
    match before.last() {
        None => true,
        // What replaced a token ends in a bracket: what follows must mean the same as before.
        Some(b']') => text.get(start).copied().is_some_and(is_alnum),
        Some(byte) => !is_word(*byte) || escaped(before) || coloured(before) || emphasised(before),
    }
}

/// Whether the letter at the end is none: `\n` and `\u003d` of a string, `%3D` of an address.
fn escaped(before: &[u8]) -> bool {
    let digits = match before {
        [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f' | b'v' | b'0'] => return true,
        [.., b'\\', b'u', a, b, c, d] => &[*a, *b, *c, *d][..],
        [.., b'%', a, b] | [.., b'\\', b'x', a, b] => &[*a, *b],
        _ => return false,
    };
    digits.iter().all(u8::is_ascii_hexdigit)
}

/// Whether the letter at the end sets a colour: `\u001b[31m`, or what a terminal left of it.
fn coloured(before: &[u8]) -> bool {
    let [rest @ .., b'm'] = before else {
        return false;
    };
    let colour = rest.iter().rev().take(COLOUR_MAX);
    let mut before_it = colour.skip_while(|byte| byte.is_ascii_digit() || **byte == b';');
    before_it.next() == Some(&b'[')
}

/// Whether the `_` at the end is Markdown's: nothing that belongs to a word stands before it.
fn emphasised(before: &[u8]) -> bool {
    let ([rest @ .., b'_', b'_', b'_'] | [rest @ .., b'_', b'_'] | [rest @ .., b'_']) = before
    else {
        return false;
    };
    // What replaced a token ends in a bracket: what follows it must mean the same as before.
    rest.last()
        .is_none_or(|byte| !is_alnum(*byte) && !b"_]".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::{Gaps, Pass, is_hidden_at, keys, pass};

    #[test]
    fn the_automaton_is_built_and_small() {
        let keys = keys().unwrap();
        let bytes = keys.machine.bytes();
        assert!(bytes < 128 * 1024, "{bytes}");
    }

    #[test]
    fn every_hidden_character_is_found() {
        for c in (0..=0x0010_FFFF).filter_map(char::from_u32) {
            let text = format!("text \u{4E2D}{c}\u{4E2D}");
            let bytes = text.as_bytes();
            match pass(bytes, Gaps::default()) {
                Pass::Hidden(place) => assert!(place == 8 && is_hidden_at(bytes, 8), "{c:?}"),
                Pass::Candidates(_) => assert!(!is_hidden_at(bytes, 8), "{c:?}"),
            }
        }
    }

    #[test]
    fn places_come_in_their_order() {
        let text = "a://sk-a:b@c ".to_owned()
            + &"a1".repeat(16)
            + "-us1 sk-sk-4567890123.atlasv1. hf_ sk-sk-sk- b://a:b-c://d://e:";
        let Pass::Candidates(found) = pass(text.as_bytes(), Gaps::default()) else {
            panic!("nothing is hidden");
        };
        assert!(
            found.is_sorted_by_key(|candidate| candidate.start),
            "{found:?}"
        );
        assert!(found.len() > 10, "{found:?}");
    }
}
