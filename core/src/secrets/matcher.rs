//! Whether a token is where it may begin, and where it ends: at the first byte that its alphabet
//! lacks. A run that is longer than a fixed length is something else.

use crate::secrets::alphabet::{ALPHABETS, Alphabet, is_alnum};
use crate::secrets::rule::{Marked, OPEN, Part};

/// Runs up to this are read anew each time; the ends of longer ones are remembered.
const SHORT: usize = 64;
/// Runs remembered for each alphabet: more than there are long ones of it in any rule.
const REMEMBERED: usize = 4;
/// Dots in a row that no name goes on after.
const ELLIPSIS: usize = 4;

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
    runs: [[Run; REMEMBERED]; ALPHABETS],
    next: usize,
}

impl<'a> Matcher<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self {
            text,
            runs: [[Run::default(); REMEMBERED]; ALPHABETS],
            next: 0,
        }
    }

    pub(crate) fn text(&self) -> &'a [u8] {
        self.text
    }

    /// Where the parts end that begin here. What stands from `stop` on is taken for the end of the
    /// text.
    pub(crate) fn end(&mut self, parts: &[Part], start: usize, stop: usize) -> Option<usize> {
        let mut at = start;
        let mut body = None;
        for part in parts {
            let length = match *part {
                Part::Run(alphabet, least, most) => {
                    body = Some(alphabet);
                    let most = if most == OPEN {
                        usize::MAX
                    } else {
                        usize::from(most)
                    };
                    let length = self.run(alphabet, at, most, stop);
                    (length >= usize::from(least)).then_some(length)?
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
                    body = Some(marked.alphabet);
                    self.marked(marked, at, stop)?
                }
            };
            at = at.saturating_add(length);
        }
        self.is_closed(at, body, stop).then_some(at)
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

    /// Whether a token may end here: what follows is neither of its alphabet nor goes on with a
    /// word. After a full stop a name may go on: `<token>.png` is a file, `<token>.example` a host.
    fn is_closed(&self, end: usize, alphabet: Option<Alphabet>, stop: usize) -> bool {
        let rest = self.text.get(end..stop).unwrap_or_default();
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
}
