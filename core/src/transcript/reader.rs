//! Cuts a stream of bytes into lines, or the elements of an array, and holds one of them at a time.

use super::Transcript;
use super::line::{self, Line};
use super::window::Window;
use crate::limits::{TRANSCRIPT_CHUNK_BYTES, TRANSCRIPT_LINE_BYTES, TRANSCRIPT_LINE_VALUES};
use crate::report::{ReportCode, ReportEntry};

const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// Takes a transcript in pieces of any size; the result does not depend on where it was divided.
#[derive(Debug)]
pub(crate) struct Reader {
    state: State,
    /// The line or element up to here; nothing of one that is too long.
    unit: Vec<u8>,
    too_long: bool,
    /// Counted from 1.
    line: u64,
    element: u64,
    nesting: Nesting,
    counts: Counts,
    broken: Problem,
    long: Problem,
    window: Window,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// So many bytes of a byte order mark have come.
    Mark(usize),
    /// Nothing but blanks has come.
    Begin,
    Lines,
    Array,
}

/// Where in an element of an array the reader is.
#[derive(Debug, Default)]
struct Nesting {
    depth: usize,
    in_string: bool,
    escaped: bool,
}

#[derive(Debug, Default)]
struct Counts {
    /// Lines or elements that are not blank.
    units: u64,
    messages: u64,
}

/// Something that may be wrong with many lines.
#[derive(Debug, Default)]
struct Problem {
    count: u64,
    /// Which was the first.
    first: String,
}

impl Default for Reader {
    fn default() -> Self {
        Self {
            state: State::Mark(0),
            unit: Vec::new(),
            too_long: false,
            line: 1,
            element: 1,
            nesting: Nesting::default(),
            counts: Counts::default(),
            broken: Problem::default(),
            long: Problem::default(),
            window: Window::default(),
        }
    }
}

impl Reader {
    /// The next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = match self.state {
                State::Mark(seen) => self.mark(seen, rest),
                State::Begin => self.begin(rest),
                State::Lines => self.in_line(rest),
                State::Array => self.in_element(rest),
            };
        }
    }

    /// There are no more.
    pub fn end(mut self) -> Transcript {
        self.finish(false);
        let mut report = Vec::new();
        let mut tell = |code, message| report.push(ReportEntry::new("", code, message));
        if let Problem {
            count: count @ 1..,
            first,
        } = &self.broken
        {
            let message = format!(
                "what is not JSON, or no message as they are known, was skipped; times: {count}, first: {first}"
            );
            tell(ReportCode::BrokenLine, message);
        }
        if let Problem {
            count: count @ 1..,
            first,
        } = &self.long
        {
            let message = format!(
                "what has more than {TRANSCRIPT_LINE_BYTES} bytes or {TRANSCRIPT_LINE_VALUES} values was skipped; \
                 times: {count}, first: {first}"
            );
            tell(ReportCode::LineTooLong, message);
        }
        if self.counts.units > 0 && self.counts.messages == 0 {
            let message = "nothing in it is a message of the main conversation; give a session of Claude Code, or \
                           messages with role and content as JSON";
            tell(ReportCode::NotATranscript, message.to_owned());
        }
        let (messages, left_out) = self.window.into_messages();
        Transcript {
            messages,
            left_out,
            report,
        }
    }

    fn mark<'a>(&mut self, seen: usize, rest: &'a [u8]) -> &'a [u8] {
        let Some((first, after)) = rest.split_first() else {
            return rest;
        };
        if BYTE_ORDER_MARK.get(seen) == Some(first) {
            let seen = seen.saturating_add(1);
            self.state = if seen < BYTE_ORDER_MARK.len() {
                State::Mark(seen)
            } else {
                State::Begin
            };
            return after;
        }
        // What looked like a mark belongs to the first line.
        self.state = State::Begin;
        self.feed(BYTE_ORDER_MARK.get(..seen).unwrap_or_default());
        rest
    }

    fn begin<'a>(&mut self, rest: &'a [u8]) -> &'a [u8] {
        match rest.split_first() {
            Some((b'\n', after)) => {
                self.line = self.line.saturating_add(1);
                after
            }
            Some((byte, after)) if byte.is_ascii_whitespace() => after,
            Some((b'[', after)) => {
                self.state = State::Array;
                after
            }
            _ => {
                self.state = State::Lines;
                rest
            }
        }
    }

    fn in_line<'a>(&mut self, rest: &'a [u8]) -> &'a [u8] {
        let end = rest.iter().position(|byte| *byte == b'\n');
        let Some((line, after)) = end.and_then(|end| rest.split_at_checked(end)) else {
            self.hold(rest);
            return &[];
        };
        self.hold(line);
        self.finish(true);
        self.line = self.line.saturating_add(1);
        after.split_first().map_or(&[], |(_, after)| after)
    }

    fn in_element<'a>(&mut self, rest: &'a [u8]) -> &'a [u8] {
        for (at, byte) in rest.iter().enumerate() {
            if *byte == b'\n' {
                self.line = self.line.saturating_add(1);
            }
            if !self.nesting.ends_at(*byte) {
                continue;
            }
            self.hold(rest.get(..at).unwrap_or_default());
            self.finish(true);
            self.element = self.element.saturating_add(1);
            if *byte == b']' {
                // Whatever follows the array.
                self.state = State::Lines;
            }
            return rest.get(at.saturating_add(1)..).unwrap_or_default();
        }
        self.hold(rest);
        &[]
    }

    fn hold(&mut self, part: &[u8]) {
        if self.too_long {
            return;
        }
        if self.unit.len().saturating_add(part.len()) > TRANSCRIPT_LINE_BYTES {
            self.too_long = true;
            self.unit = Vec::new();
        } else {
            self.unit.extend_from_slice(part);
        }
    }

    /// The line or element has ended, or the file has before it did.
    fn finish(&mut self, whole: bool) {
        let first = match self.state {
            State::Array => ("element", self.element),
            _ => ("line", self.line),
        };
        if std::mem::take(&mut self.too_long) {
            self.counts.units = self.counts.units.saturating_add(1);
            self.long.note(first);
            return;
        }
        let mut unit = std::mem::take(&mut self.unit);
        if unit.trim_ascii().is_empty() {
            return;
        }
        let line = line::read(&mut unit);
        // A long line is rare, and its buffer is not kept for short ones.
        if unit.capacity() as u64 <= TRANSCRIPT_CHUNK_BYTES {
            unit.clear();
            self.unit = unit;
        }
        if !whole && matches!(line, Line::NotJson) {
            return;
        }
        self.counts.units = self.counts.units.saturating_add(1);
        match line {
            Line::Message(said) => {
                self.counts.messages = self.counts.messages.saturating_add(1);
                self.window.push(*said);
            }
            Line::Other(place) => self.window.pass(place),
            Line::Ignored => {}
            Line::NotJson => self.broken.note(first),
            Line::Broken(place) => {
                self.window.pass(place);
                self.broken.note(first);
            }
            Line::TooLarge(place) => {
                self.window.pass(place);
                self.long.note(first);
            }
        }
    }
}

impl Nesting {
    /// Takes one byte; whether it ends the element.
    fn ends_at(&mut self, byte: u8) -> bool {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return false;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth = self.depth.saturating_add(1),
            b',' | b']' if self.depth == 0 => return true,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        false
    }
}

impl Problem {
    fn note(&mut self, (unit, number): (&str, u64)) {
        if self.count == 0 {
            self.first = format!("{unit} {number}");
        }
        self.count = self.count.saturating_add(1);
    }
}
