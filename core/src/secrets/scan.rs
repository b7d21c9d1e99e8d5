//! Which tokens are in a text. The places where one may begin are looked at from the last to the
//! first: what will be replaced ends whatever stands before it, so the text with its tokens replaced
//! holds no new ones.

use crate::secrets::hidden::{Gaps, Visible};
use crate::secrets::keys::{Candidate, Pass, pass};
use crate::secrets::matcher::Matcher;
use crate::secrets::private_key::Blocks;
use crate::secrets::rule::{Rule, Shape};
use crate::secrets::value::{is_above, is_placeholder, is_sample};
use crate::secrets::{url, wrapped_jwt};

/// A token in a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Bytes that the rule stands for: where two overlap, both are in the span.
    own: usize,
    /// Bytes of the key it was found by.
    key: usize,
    pub(crate) rule: &'static Rule,
}

/// Places with something hidden that are tried as the end of a token.
const GAPS: usize = 8;

/// All tokens, in their order; none overlaps another.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let none = Gaps::default();
    let first = match pass(text.as_bytes(), none) {
        Pass::Candidates(candidates) => return tokens_of(text.as_bytes(), none, &candidates),
        Pass::Hidden(first) => first,
    };
    let visible = Visible::new(text, first);
    let bytes = visible.text.as_bytes();
    let Pass::Candidates(candidates) = pass(bytes, visible.gaps()) else {
        return Vec::new();
    };
    let mut tokens = tokens_of(bytes, visible.gaps(), &candidates);
    for token in &mut tokens {
        token.start = visible.place(token.start);
        // After the last byte, not before the next one: what is hidden between them stays.
        let last = visible.place(token.end.saturating_sub(1));
        token.end = last.saturating_add(1);
    }
    tokens
}

fn tokens_of(text: &[u8], gaps: Gaps, candidates: &[Candidate]) -> Vec<Token> {
    if candidates.is_empty() {
        return Vec::new();
    }
    let mut matcher = Matcher::new(text, gaps);
    let mut blocks = Blocks::default();
    let mut tokens: Vec<Token> = Vec::new();
    for candidate in candidates.iter().rev() {
        let Some(entry) = candidate.entry() else {
            continue;
        };
        let start = candidate.start;
        let next = tokens.last().map(|token| token.start);
        for &rule in &entry.rules {
            let place = Place {
                start,
                key: entry.key,
                rule,
            };
            let end = match rule.shape {
                Shape::PrivateKey => blocks.take(text, start, entry.key, next),
                _ => place
                    .end(&mut matcher, text.len(), &tokens)
                    .or_else(|| place.end(&mut matcher, next?, &tokens))
                    .or_else(|| place.end_at_gap(&mut matcher, &tokens)),
            };
            if let Some(end) = end {
                add(&mut tokens, place, end);
            }
        }
    }
    tokens.reverse();
    tokens
}

/// Where a token of one kind may begin.
#[derive(Clone, Copy)]
struct Place {
    start: usize,
    key: &'static str,
    rule: &'static Rule,
}

impl Place {
    /// Where the token ends that begins here, if it is one.
    fn end(self, matcher: &mut Matcher, stop: usize, tokens: &[Token]) -> Option<usize> {
        let Self { start, key, rule } = self;
        let body = if rule.leads || rule.before > 0 {
            start
        } else {
            start.saturating_add(key.len())
        };
        let next = tokens.last().filter(|next| next.rule.id == rule.id);
        let end = match rule.shape {
            Shape::Parts(parts) => matcher.end(parts, body, stop),
            Shape::WrappedJwt => return wrapped_jwt::end(matcher, start, stop, next),
            Shape::UrlPassword => {
                let gap = matcher.gaps().after(start).next();
                return url::password_end(matcher.text(), start, stop, gap);
            }
            Shape::PrivateKey => None,
        }?;
        // One that goes on with another of its kind is as much a token as that.
        let goes_on = next.is_some_and(|next| next.end == end);
        let value = matcher.text().get(start..end)?;
        let is_token = goes_on
            || is_above(value, rule.floor)
                && !is_placeholder(matcher.text().get(body..end)?)
                && !(rule.id == "gcp-api-key" && is_sample(value));
        is_token.then_some(end)
    }

    /// Where it ends, when something hidden parts it from what would make it too long.
    fn end_at_gap(self, matcher: &mut Matcher, tokens: &[Token]) -> Option<usize> {
        let gaps: Vec<usize> = matcher.gaps().after(self.start).take(GAPS).collect();
        gaps.into_iter()
            .rev()
            .find_map(|gap| self.end(matcher, gap, tokens))
    }
}

/// Adds a token before all others. Those that it overlaps become one with it, of the kind that is
/// longest, and of two as long the one with the longer key.
fn add(tokens: &mut Vec<Token>, place: Place, end: usize) {
    let Place { start, key, rule } = place;
    let mut token = Token {
        start,
        end,
        own: end.saturating_sub(start),
        key: key.len(),
        rule,
    };
    while let Some(other) = tokens.pop_if(|other| other.start < token.end) {
        token.end = token.end.max(other.end);
        if (other.own, other.key) > (token.own, token.key) {
            (token.own, token.key, token.rule) = (other.own, other.key, other.rule);
        }
    }
    tokens.push(token);
}
