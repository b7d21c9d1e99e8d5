//! One pass over a text for many short texts, with the automaton of Aho and Corasick. It is a table of
//! 16-bit numbers, small enough to stay near the processor: that makes it as fast in wasm as elsewhere.

use std::collections::VecDeque;

/// Where the row of a state begins. In the table they have 16 bits; one that is read into as many would have
/// to be widened before it is used, and the next byte waits for that.
pub(crate) type State = usize;

/// The state before anything was read.
pub(crate) const START: State = 0;

pub(crate) struct Machine {
    /// The column of each byte. Those that stand in no text share the first one.
    columns: [u8; 256],
    width: usize,
    /// Row by row, which state follows.
    next: Vec<u16>,
    /// The first of the states in which texts end.
    first_end: State,
    /// Which texts end in them.
    ends: Vec<Vec<u16>>,
}

/// A state while the table is made.
#[derive(Clone)]
struct Node {
    /// The number of the node behind each column; 0 leads back to the start.
    next: Vec<usize>,
    ends: Vec<u16>,
}

impl Machine {
    /// None when the texts are more than fit.
    pub(crate) fn new(texts: &[&[u8]]) -> Option<Self> {
        let mut columns = [0_u8; 256];
        let mut last = 0_u8;
        for &byte in texts.iter().copied().flatten() {
            let column = columns.get_mut(usize::from(byte))?;
            if *column == 0 {
                last = last.checked_add(1)?;
                *column = last;
            }
        }
        let width = usize::from(last).checked_add(1)?;
        let mut nodes = tree(texts, &columns, width)?;
        complete(&mut nodes)?;
        // Whether a text ends in a state is then one comparison.
        let (without, with): (Vec<_>, Vec<_>) = (0..nodes.len())
            .partition(|node| nodes.get(*node).is_some_and(|node| node.ends.is_empty()));
        let mut places = vec![0_u16; nodes.len()];
        for (row, node) in without.iter().chain(&with).enumerate() {
            *places.get_mut(*node)? = u16::try_from(row.checked_mul(width)?).ok()?;
        }
        let mut next = Vec::with_capacity(nodes.len().checked_mul(width)?);
        for node in without.iter().chain(&with) {
            for to in &nodes.get(*node)?.next {
                next.push(*places.get(*to)?);
            }
        }
        let ends = with.iter().filter_map(|node| nodes.get(*node));
        Some(Self {
            columns,
            width,
            next,
            first_end: without.len().checked_mul(width)?,
            ends: ends.map(|node| node.ends.clone()).collect(),
        })
    }

    /// Reads a text from a state on, up to where another text ends: the state then, and how much was read.
    /// A function of its own, because in its loop nothing has to be looked up twice.
    #[inline(never)]
    pub(crate) fn next_end(&self, mut state: State, text: &[u8]) -> Option<(State, usize)> {
        let (columns, next, first_end) = (&self.columns, self.next.as_slice(), self.first_end);
        for (place, &byte) in text.iter().enumerate() {
            let column = columns.get(usize::from(byte)).copied().unwrap_or(0);
            // Both are small.
            state = (*next.get(state.wrapping_add(column.into()))?).into();
            if state >= first_end {
                return Some((state, place.saturating_add(1)));
            }
        }
        None
    }

    /// The numbers of the texts that end in a state, the longest first.
    pub(crate) fn ends(&self, state: State) -> &[u16] {
        let place = state.checked_sub(self.first_end);
        let row = place.and_then(|place| place.checked_div(self.width));
        row.and_then(|row| self.ends.get(row))
            .map_or(&[], Vec::as_slice)
    }

    /// What the table takes.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.next.len().saturating_mul(size_of::<u16>())
    }
}

/// One node for each beginning of a text.
fn tree(texts: &[&[u8]], columns: &[u8; 256], width: usize) -> Option<Vec<Node>> {
    let new = Node {
        next: vec![0; width],
        ends: Vec::new(),
    };
    let mut nodes = vec![new.clone()];
    for (number, text) in (0..).zip(texts) {
        let mut at = 0;
        for byte in *text {
            let column = usize::from(*columns.get(usize::from(*byte))?);
            let added = nodes.len();
            let next = nodes.get_mut(at)?.next.get_mut(column)?;
            if *next == 0 {
                *next = added;
            }
            at = *next;
            if at == added {
                nodes.push(new.clone());
            }
        }
        nodes.get_mut(at)?.ends.push(number);
    }
    Some(nodes)
}

/// Where the tree ends, what was read last may be the beginning of another text: the node of the longest
/// such beginning says how it goes on, and which texts end there too.
fn complete(nodes: &mut [Node]) -> Option<()> {
    let mut waiting = VecDeque::from([(0, None)]);
    while let Some((at, shorter)) = waiting.pop_front() {
        // It is less deep, so it is complete.
        let shorter: Option<Node> = shorter.and_then(|shorter: usize| nodes.get(shorter).cloned());
        let node = nodes.get_mut(at)?;
        for (column, next) in node.next.iter_mut().enumerate() {
            let other = shorter.as_ref().and_then(|node| node.next.get(column));
            let other = other.copied().unwrap_or(0);
            if *next == 0 {
                *next = other;
            } else {
                waiting.push_back((*next, Some(other)));
            }
        }
        node.ends
            .extend(shorter.into_iter().flat_map(|node| node.ends));
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::{Machine, START};

    /// What ends where, in one pass and by looking for each text.
    fn both(texts: &[&[u8]], text: &[u8]) -> [Vec<(usize, u16)>; 2] {
        let machine = Machine::new(texts).unwrap();
        let (mut state, mut at) = (START, 0);
        let mut passed = Vec::new();
        while let Some((there, read)) = machine.next_end(state, &text[at..]) {
            (state, at) = (there, at + read);
            passed.extend(machine.ends(state).iter().map(|end| (at, *end)));
        }
        let mut looked = Vec::new();
        for at in 1..=text.len() {
            let mut ends: Vec<usize> = (0..texts.len())
                .filter(|number| text[..at].ends_with(texts[*number]))
                .collect();
            ends.sort_by_key(|number| std::cmp::Reverse(texts[*number].len()));
            looked.extend(ends.iter().map(|end| (at, *end as u16)));
        }
        [passed, looked]
    }

    #[test]
    fn every_text_is_found_where_it_ends() {
        let texts: [&[u8]; 8] = [b"a", b"ab", b"bab", b"bc", b"bca", b"c", b"caa", b"\xFF\0"];
        // Every text of seven of these letters.
        for number in 0..5_usize.pow(7) {
            let letter = |place: u32| b"abc\0\xFF"[number / 5_usize.pow(place) % 5];
            let text: Vec<u8> = (0..7).map(letter).collect();
            let [passed, looked] = both(&texts, &text);
            assert_eq!(passed, looked, "{text:?}");
        }
    }

    #[test]
    fn what_does_not_fit_is_no_machine() {
        let texts: Vec<Vec<u8>> = (0..=u16::MAX).map(|n| n.to_be_bytes().to_vec()).collect();
        let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
        assert!(Machine::new(&texts).is_none());
    }
}
