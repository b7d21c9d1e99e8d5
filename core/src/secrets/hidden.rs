//! Characters that nobody sees. Between the letters of a token they hide it from a search, and
//! whoever drops them later puts it together again: a text that has any is searched without them.
//! But a zero byte, a soft hyphen or a colour also stands between a token and its neighbours, so where
//! something was left out a token may begin and end.

/// A text without its hidden characters.
pub(crate) struct Visible {
    pub(crate) text: String,
    /// Where something was left out: the place in what is left, and the bytes left out so far.
    gaps: Vec<(usize, usize)>,
}

impl Visible {
    /// What is left of a text whose first hidden character stands there.
    pub(crate) fn new(text: &str, first: usize) -> Self {
        let (before, mut rest) = text.split_at_checked(first).unwrap_or(("", text));
        let mut left = String::with_capacity(text.len());
        left.push_str(before);
        let mut gaps: Vec<(usize, usize)> = Vec::new();
        let mut bytes = 0_usize;
        while let Some(c) = rest.chars().next() {
            let mut length = c.len_utf8();
            if is_hidden(c) {
                if c == ESCAPE {
                    length = length.saturating_add(terminal_command(rest));
                }
                bytes = bytes.saturating_add(length);
                match gaps.last_mut() {
                    Some((place, sum)) if *place == left.len() => *sum = bytes,
                    _ => gaps.push((left.len(), bytes)),
                }
            } else {
                left.push(c);
            }
            rest = rest.get(length..).unwrap_or_default();
        }
        Self { text: left, gaps }
    }

    /// The place in the whole text of a byte of what is left.
    pub(crate) fn place(&self, at: usize) -> usize {
        let gaps = self.gaps.partition_point(|(place, _)| *place <= at);
        let left_out = gaps.checked_sub(1).and_then(|last| self.gaps.get(last));
        at.saturating_add(left_out.map_or(0, |(_, bytes)| *bytes))
    }

    pub(crate) fn gaps(&self) -> Gaps<'_> {
        Gaps(&self.gaps)
    }
}

/// Where something hidden was left out of a text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gaps<'a>(&'a [(usize, usize)]);

impl<'a> Gaps<'a> {
    /// The last one up to there.
    pub(crate) fn last(self, at: usize) -> Option<usize> {
        let up_to = self.0.partition_point(|(place, _)| *place <= at);
        let (place, _) = self.0.get(up_to.checked_sub(1)?)?;
        Some(*place)
    }

    /// Those after there, in their order.
    pub(crate) fn after(self, at: usize) -> impl Iterator<Item = usize> + use<'a> {
        let up_to = self.0.partition_point(|(place, _)| *place <= at);
        let after = self.0.get(up_to..).unwrap_or_default();
        after.iter().map(|(place, _)| *place)
    }
}

const ESCAPE: char = '\u{1B}';
/// Bytes of what a terminal is told: more than any colour has.
const COMMAND_MAX: usize = 32;

/// The length of what follows an escape character and is for the terminal alone, as in `ESC[31m`.
fn terminal_command(text: &str) -> usize {
    let [_, b'[', rest @ ..] = text.as_bytes() else {
        return 0;
    };
    let is_number = |byte: &&u8| (b'0'..=b'?').contains(*byte);
    let numbers = rest.iter().take(COMMAND_MAX).take_while(is_number).count();
    match rest.get(numbers) {
        // Without a number only these, because a token may begin with the letter.
        Some(b'm' | b'K' | b'J' | b'H') => numbers.saturating_add(2),
        Some(letter) if letter.is_ascii_alphabetic() && numbers > 0 => numbers.saturating_add(2),
        _ => 0,
    }
}

/// Whether nothing is seen where it stands: format characters, variation selectors, and controls
/// that are no white space.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\0'..='\u{8}' | '\u{E}'..='\u{1F}' | '\u{7F}'..='\u{84}' | '\u{86}'..='\u{9F}'
        | '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}'
        | '\u{FFA0}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E0FFF}'
    )
}

/// Watches for hidden characters while a text is read byte by byte for something else: two looks
/// into tables, which cost nothing beside that. What it notices is looked at once more.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// What may have begun with the last byte.
    begun: u16,
    /// What may have been seen.
    seen: u16,
}

impl Watch {
    /// The next byte.
    pub(crate) fn see(&mut self, byte: u8) {
        let (begins, goes_on) = LOOKS.get(usize::from(byte)).copied().unwrap_or_default();
        self.seen |= self.begun & goes_on | begins & CONTROL;
        self.begun = begins;
    }

    /// Where the first hidden character begins in a part of the text that was just read, or one
    /// byte before it.
    pub(crate) fn first(&mut self, text: &[u8], from: usize, to: usize) -> Option<usize> {
        if std::mem::take(&mut self.seen) == 0 {
            return None;
        }
        (from.saturating_sub(1)..to).find(|place| {
            // No more than one character is decoded.
            let most = place.saturating_add(4).min(text.len());
            let bytes = text.get(*place..most).unwrap_or_default();
            let valid = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
            valid.chars().next().is_some_and(is_hidden)
        })
    }
}

/// A control character is one byte.
const CONTROL: u16 = 1 << 8;

/// For each byte, what may begin with it and what may go on with it.
const LOOKS: [(u16, u16); 256] = looks();

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated at compile time, where it cannot fail"
)]
const fn looks() -> [(u16, u16); 256] {
    let mut looks = [(0, 0); 256];
    let mut byte = 0;
    while byte < 256 {
        let begins = match byte as u8 {
            0..=0x08 | 0x0E..=0x1F | 0x7F => CONTROL,
            0xC2 => 1,
            0xCD => 1 << 1,
            0xD8 => 1 << 2,
            0xE1 => 1 << 3,
            0xE2 => 1 << 4,
            0xE3 => 1 << 5,
            0xEF => 1 << 6,
            0xF3 => 1 << 7,
            _ => 0,
        };
        let goes_on = match byte as u8 {
            0x80 | 0x81 => 1 | 1 << 4,
            0x85 => 1 << 3 | 1 << 5,
            0x8F => 1 | 1 << 1,
            0x9C => 1 | 1 << 2,
            0x9E => 1 | 1 << 3,
            0x82..=0x9F | 0xAD => 1,
            0xA0 => 1 << 3 | 1 << 7,
            0xB8 | 0xBB | 0xBE | 0xBF => 1 << 6,
            _ => 0,
        };
        looks[byte] = (begins, goes_on);
        byte += 1;
    }
    looks
}

#[cfg(test)]
mod tests {
    use super::{Visible, Watch, is_hidden};

    fn first_hidden(text: &[u8]) -> Option<usize> {
        let mut watch = Watch::default();
        for byte in text {
            watch.see(*byte);
        }
        watch.first(text, 0, text.len())
    }

    #[test]
    fn every_hidden_character_is_found() {
        for c in (0..=0x0010_FFFF).filter_map(char::from_u32) {
            let text = format!("text \u{4E2D}{c}\u{4E2D}");
            let expected = is_hidden(c).then_some(8);
            assert_eq!(first_hidden(text.as_bytes()), expected, "{c:?}");
        }
    }

    #[test]
    fn places_are_those_of_the_whole_text() {
        let text = "\u{FEFF}a\u{200B}\u{200B}b\u{AD}";
        let visible = Visible::new(text, 0);
        assert_eq!(visible.text, "ab");
        assert_eq!((visible.place(0), visible.place(1)), (3, 10));
        let gaps = visible.gaps();
        assert_eq!((gaps.last(0), gaps.last(1)), (Some(0), Some(1)));
        assert_eq!(gaps.after(0).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn what_a_terminal_is_told_is_one_gap() {
        for (text, left) in [
            ("a\u{1B}[31mb\u{1B}[0mc", "abc"),
            ("\u{1B}[01;31m\u{1B}[Ka\u{1B}[m\u{1B}[K", "a"),
            ("\u{1B}[?25ha\u{1B}[2Jb", "ab"),
            // Nothing is told here.
            ("\u{1B}[secret", "[secret"),
            ("\u{1B}a\u{1B}[", "a["),
            ("\u{1B}[31\u{4E2D}", "[31\u{4E2D}"),
        ] {
            assert_eq!(Visible::new(text, 0).text, left);
        }
    }
}
