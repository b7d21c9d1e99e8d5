//! Whether a token is where it may begin, and where it ends: at the first byte that its alphabet
//! lacks, or at a `_`, `-` or `~` that is punctuation. A run that is longer than a fixed length is
//! something else.

use crate::secrets::alphabet::{ALPHABETS, Alphabet, is_alnum};
use crate::secrets::hidden::Gaps;
use crate::secrets::rule::{Marked, OPEN, Part};

/// Runs up to this are read anew each time; the ends of longer ones are remembered.
const SHORT: usize = 64;
/// Runs remembered for each alphabet: more than there are long ones of it in any rule.
const REMEMBERED: usize = 4;
/// Dots in a row that no name goes on after.
const ELLIPSIS: usize = 4;
/// Bytes that stand between words, when an alphabet has them.
const JOINTS: &[u8] = b"_-~";
/// As many of them as Markdown has around emphasised words.
const JOINTS_MAX: usize = 3;
/// Two dashes end a token of no fixed length only when small words follow, no longer than this.
const WORDS_MAX: usize = 32;

#[derive(Clone, Copy, Debug, Default)]
struct Run {
    start: usize,
    end: usize,
}

/// Matches parts against one text. It remembers where long runs end: with many tokens that may begin
/// in one run, each would have to read it otherwise.
#[derive(Debug)]
pub(crate) struct Matcher<'a> {
    text: &'a [u8],
    gaps: Gaps<'a>,
    runs: [[Run; REMEMBERED]; ALPHABETS],
    next: usize,
}

impl<'a> Matcher<'a> {
    pub(crate) fn new(text: &'a [u8], gaps: Gaps<'a>) -> Self {
        Self {
            text,
            gaps,
            runs: [[Run::default(); REMEMBERED]; ALPHABETS],
            next: 0,
        }
    }

    pub(crate) fn text(&self) -> &'a [u8] {
        self.text
    }

    pub(crate) fn gaps(&self) -> Gaps<'a> {
        self.gaps
    }

    /// Where the parts end that begin here. What stands from `stop` on is taken for the end of the
    /// text.
    pub(crate) fn end(&mut self, parts: &[Part], start: usize, stop: usize) -> Option<usize> {
        let mut at = start;
        let mut last = None;
        for part in parts {
            let length = match *part {
                Part::Run(alphabet, least, most) => {
                    let least = usize::from(least);
                    let most = if most == OPEN {
                        usize::MAX
                    } else {
                        usize::from(most)
                    };
                    last = Some(Last {
                        alphabet,
                        least: at.saturating_add(least),
                        size: match most {
                            usize::MAX => Size::Open,
                            _ if most == least => Size::Fixed,
                            _ => Size::Bounded,
                        },
                    });
                    let length = self.run(alphabet, at, most, stop);
                    (length >= least).then_some(length)?
                }
                Part::Text(text) => {
                    let there = self.text.get(at..stop)?;
                    there.starts_with(text.as_bytes()).then_some(text.len())?
                }
                Part::Padding(most) => {
                    let there = self.text.get(at..stop)?;
                    let equals = there
                        .iter()
                        .take(usize::from(most))
                        .take_while(|byte| **byte == b'=');
                    equals.count()
                }
                Part::Marked(marked) => {
                    let least = marked.before.0.saturating_add(marked.after.0);
                    last = Some(Last {
                        alphabet: marked.alphabet,
                        least: at.saturating_add(least),
                        size: Size::Bounded,
                    });
                    self.marked(marked, at, stop)?
                }
            };
            at = at.saturating_add(length);
        }
        let last = last?;
        let is_closed = self.is_closed(at, last.after(self.text.get(start..at)?), stop);
        let open = self.text.get(last.least..at).unwrap_or_default();
        let length = match last.size {
            Size::Fixed => is_closed.then_some(open.len())?,
            _ if is_closed => without_joints(open),
            // Too long, unless it is the words after two dashes that are.
            Size::Bounded => {
                let more = at.saturating_add(1).min(stop);
                let more = self.text.get(last.least..more)?;
                without_joints(more.get(..words_after_dashes(more)?)?)
            }
            Size::Open => return None,
        };
        Some(at.saturating_sub(open.len()).saturating_add(length))
    }

    /// The length of the run that begins here, or the most that is wanted of it. A dot at its end
    /// is punctuation.
    fn run(&mut self, alphabet: Alphabet, start: usize, most: usize, stop: usize) -> usize {
        let end = if most <= SHORT {
            let end = start.saturating_add(most).min(stop);
            let run = self.text.get(start..end).unwrap_or_default();
            start.saturating_add(run.iter().take_while(|byte| alphabet.has(**byte)).count())
        } else {
            self.run_end(alphabet, start)
                .min(start.saturating_add(most))
                .min(stop)
        };
        let run = self.text.get(start..end).unwrap_or_default();
        let dots = run.iter().rev().take_while(|byte| **byte == b'.').count();
        run.len().saturating_sub(dots)
    }

    /// Where the run ends that begins here.
    pub(crate) fn run_end(&mut self, alphabet: Alphabet, start: usize) -> usize {
        let Some(runs) = self.runs.get_mut(alphabet as usize) else {
            return start;
        };
        if let Some(run) = runs
            .iter()
            .find(|run| run.start <= start && start < run.end)
        {
            return run.end;
        }
        let mut end = start;
        while self.text.get(end).is_some_and(|byte| alphabet.has(*byte)) {
            end = end.saturating_add(1);
            // From a place to the right it was read before.
            if let Some(run) = runs
                .iter_mut()
                .find(|run| run.start == end && run.end > end)
            {
                run.start = start;
                return run.end;
            }
        }
        if end > start {
            self.next = self.next.wrapping_add(1) % REMEMBERED;
            if let Some(run) = runs.get_mut(self.next) {
                *run = Run { start, end };
            }
        }
        end
    }

    /// The length of a run with a marker at the right place.
    fn marked(&mut self, marked: &Marked, start: usize, stop: usize) -> Option<usize> {
        let most = marked
            .before
            .1
            .saturating_add(marked.after.1)
            .saturating_add(32);
        let length = self.run(marked.alphabet, start, most, stop);
        if length == most {
            return None;
        }
        let run = self.text.get(start..start.saturating_add(length))?;
        let is_right = |at: usize, marker: &str| {
            let after = length.saturating_sub(at).saturating_sub(marker.len());
            let (least, most) = marked.after;
            (least..=most).contains(&after)
                && run
                    .get(at..)
                    .is_some_and(|rest| rest.starts_with(marker.as_bytes()))
        };
        let (least, most) = marked.before;
        (least..=most)
            .any(|at| marked.markers.iter().any(|marker| is_right(at, marker)))
            .then_some(length)
    }

    /// Whether a token may end here: where something was hidden, at what ends a word, or at joints with
    /// such a thing behind them.
    fn is_closed(&self, end: usize, alphabet: Option<Alphabet>, stop: usize) -> bool {
        let rest = self.text.get(end..stop).unwrap_or_default();
        let joints = rest.iter().take(JOINTS_MAX);
        let joints = joints.take_while(|byte| JOINTS.contains(byte)).count();
        let (joints, after) = rest.split_at_checked(joints).unwrap_or_default();
        self.gaps.last(end) == Some(end)
            || ends_word(rest, alphabet)
            || ends_word(after, alphabet)
            || joints.windows(2).any(|pair| pair == b"--")
    }
}

/// The last run of a token.
#[derive(Clone, Copy, Debug)]
struct Last {
    alphabet: Alphabet,
    /// Where it may end at the earliest.
    least: usize,
    size: Size,
}

#[derive(Clone, Copy, Debug)]
enum Size {
    Fixed,
    Bounded,
    Open,
}

impl Last {
    /// What must not follow the token. After padding or another ending nothing of the alphabet can
    /// belong to it, and to a length that is known no `/` or `+`.
    fn after(self, token: &[u8]) -> Option<Alphabet> {
        let ends_in_it = token.last().is_some_and(|byte| self.alphabet.has(*byte));
        match (self.alphabet, self.size) {
            (Alphabet::Base64, Size::Fixed) => None,
            (alphabet, _) => ends_in_it.then_some(alphabet),
        }
    }
}

/// Whether no word goes on here, or a run of the alphabet. After a full stop a name may go on:
/// `<token>.png` is a file, `<token>.example` a host.
fn ends_word(rest: &[u8], alphabet: Option<Alphabet>) -> bool {
    match rest.first() {
        None => true,
        Some(b'.') => rest
            .iter()
            .take(ELLIPSIS)
            .find(|byte| **byte != b'.')
            .is_none_or(|byte| !is_alnum(*byte) && !b"-/%@&=+$^".contains(byte)),
        Some(byte) => !is_alnum(*byte) && alphabet.is_none_or(|alphabet| !alphabet.has(*byte)),
    }
}

/// The length of the end of a token without the joints that are punctuation: those of `_<token>_`,
/// and two dashes with small words behind them. What a token would lose by chance is as little.
fn without_joints(end: &[u8]) -> usize {
    let length = words_after_dashes(end).unwrap_or(end.len());
    let rest = end.get(..length).unwrap_or_default();
    let joints = rest.iter().rev().take(JOINTS_MAX);
    let joints = joints.take_while(|byte| JOINTS.contains(byte)).count();
    length.saturating_sub(joints)
}

/// Where two dashes stand that nothing but small words follow.
fn words_after_dashes(text: &[u8]) -> Option<usize> {
    let is_small = |byte: &&u8| byte.is_ascii_lowercase() || b"_-".contains(byte);
    let words = text.iter().rev().take(WORDS_MAX).take_while(is_small);
    let from = text.len().saturating_sub(words.count());
    let dashes = text.get(from..)?.windows(2).position(|pair| pair == b"--");
    Some(from.saturating_add(dashes?))
}
