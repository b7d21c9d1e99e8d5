//! Characters that a reader of a file does not see and a model does: the usual way to smuggle orders into a file that
//! looks harmless.

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
    let is_kept_apart = matches!(c, '\n' | '\r' | '\t' | '\u{FEFF}');
    (is_hostile(c) && !is_kept_apart)
        || is_selector(c)
        || matches!(c,
            '\u{AD}' | '\u{180E}' | '\u{200B}' | '\u{2060}'..='\u{2064}' | '\u{206A}'..='\u{206F}' // without a width
            | '\u{115F}' | '\u{1160}' | '\u{3164}' | '\u{FFA0}' // fillers
            | '\u{FFF9}'..='\u{FFFB}' // annotations
        )
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
