//! Characters that a reader of a file does not see and a model does: the usual way to smuggle orders into a file that
//! looks harmless.

use crate::secrets::is_hidden;
use crate::text::is_hostile;

/// The text without them. Joiners and the selectors of emoji stay, as many scripts need them, and so does the one
/// selector of an ideograph's shape.
pub(crate) fn without_unseen(text: &str) -> String {
    let mut seen = String::with_capacity(text.len());
    let mut before = None;
    for c in text.chars() {
        let is_shape = is_selector(c) && before.is_some_and(is_ideograph);
        if is_shape || !is_unseen(c) {
            seen.push(c);
        }
        before = Some(c);
    }
    seen
}

fn is_unseen(c: char) -> bool {
    let is_needed = matches!(c,
        '\u{200C}' | '\u{200D}' | '\u{34F}' // joiners
            | '\u{FE00}'..='\u{FE0F}' | '\u{180B}'..='\u{180D}' | '\u{180F}' // of emoji, and of Mongolian
            | '\n' | '\r' | '\t' | '\u{FEFF}' // for others to deal with
    );
    !is_needed && (is_hidden(c) || is_hostile(c))
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{E0100}'..='\u{E01EF}')
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

#[cfg(test)]
mod tests {
    use super::without_unseen;

    #[test]
    fn what_scripts_need_stays_and_what_smuggles_goes() {
        for kept in [
            "plain",
            "👩\u{200D}🔬",
            "❤\u{FE0F}",
            "می\u{200C}خواهم",
            "葛\u{E0100}飾",
            "a\tb\n",
        ] {
            assert_eq!(without_unseen(kept), kept);
        }
        for (hidden, seen) in [
            ("a\u{200B}b", "ab"),
            ("a\u{E0101}\u{E0150}b", "ab"),
            ("葛\u{E0100}\u{E0101}飾", "葛\u{E0100}飾"),
            ("\u{E0041}\u{202E}x\u{AD}y\u{2060}", "xy"),
            ("\u{3164}é", "é"),
        ] {
            assert_eq!(without_unseen(hidden), seen);
        }
    }
}
