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
pub(crate) fn is_hidden(c: char) -> bool {
    matches!(c,
        '\0'..='\u{8}' | '\u{E}'..='\u{1F}' | '\u{7F}'..='\u{84}' | '\u{86}'..='\u{9F}'
        | '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}'
        | '\u{FFA0}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E0FFF}'
    )
}

/// How hidden characters begin, in UTF-8: the controls whole, the others by as many bytes as are few
/// enough and rare enough in texts. Each occurrence has to be looked at once more (`is_hidden_at`).
pub(crate) fn beginnings() -> Vec<Vec<u8>> {
    let controls = (0..=0x7F).filter(|byte| is_hidden(char::from(*byte)));
    let controls = controls.map(|byte| vec![byte]);
    controls
        .chain(BEGINNINGS.iter().map(|bytes| bytes.to_vec()))
        .collect()
}

/// Of those that are more than one byte.
const BEGINNINGS: &[&[u8]] = &[
    b"\xC2",
    b"\xCD\x8F",
    b"\xD8\x9C",
    b"\xE1\x85",
    b"\xE1\x9E",
    b"\xE1\xA0",
    b"\xE2\x80",
    b"\xE2\x81",
    b"\xE3\x85",
    b"\xEF\xB8",
    b"\xEF\xBB",
    b"\xEF\xBE",
    b"\xEF\xBF",
    b"\xF3\xA0",
];

/// Whether the character that begins there is hidden.
pub(crate) fn is_hidden_at(text: &[u8], at: usize) -> bool {
    // No more than one character is decoded.
    let most = at.saturating_add(4).min(text.len());
    let bytes = text.get(at..most).unwrap_or_default();
    let valid = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    valid.chars().next().is_some_and(is_hidden)
}

#[cfg(test)]
mod tests {
    use super::Visible;

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
