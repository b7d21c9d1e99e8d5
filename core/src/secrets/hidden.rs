//! Characters that nobody sees. Between the letters of a token they hide it from a search, and
//! whoever drops them later puts it together again: a text that has any is searched without them.

/// A text without its hidden characters.
pub(crate) struct Visible {
    pub(crate) text: String,
    /// Where something was left out: the place in what is left, and the bytes left out so far.
    gaps: Vec<(usize, usize)>,
}

impl Visible {
    /// What is left of a text whose first hidden character stands there.
    pub(crate) fn new(text: &str, first: usize) -> Self {
        let (before, rest) = text.split_at_checked(first).unwrap_or(("", text));
        let mut left = String::with_capacity(text.len());
        left.push_str(before);
        let mut gaps: Vec<(usize, usize)> = Vec::new();
        let mut bytes = 0_usize;
        for c in rest.chars() {
            if is_hidden(c) {
                bytes = bytes.saturating_add(c.len_utf8());
                match gaps.last_mut() {
                    Some((place, sum)) if *place == left.len() => *sum = bytes,
                    _ => gaps.push((left.len(), bytes)),
                }
            } else {
                left.push(c);
            }
        }
        Self { text: left, gaps }
    }

    /// The place in the whole text of a byte of what is left.
    pub(crate) fn place(&self, at: usize) -> usize {
        let gaps = self.gaps.partition_point(|(place, _)| *place <= at);
        let left_out = gaps.checked_sub(1).and_then(|last| self.gaps.get(last));
        at.saturating_add(left_out.map_or(0, |(_, bytes)| *bytes))
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
    }
}
