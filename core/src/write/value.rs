//! How a text is written as a YAML value, so that every reader of YAML, 1.1 or 1.2, reads that text.

/// Plain where nothing in it can be taken for anything but text, else in double quotes.
pub(super) fn scalar(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let mut quoted = String::with_capacity(text.len().saturating_add(2));
    quoted.push('"');
    for c in text.chars() {
        match c {
            '\\' => quoted.push_str("\\\\"),
            '"' => quoted.push_str("\\\""),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if is_printable(c) => quoted.push(c),
            c if u32::from(c) < 0x100 => quoted.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
        }
    }
    quoted.push('"');
    quoted
}

/// What begins with a letter is no number, time or indicator; a few words are still no text to some.
fn is_plain(text: &str) -> bool {
    const WORDS: [&str; 9] = ["y", "yes", "n", "no", "on", "off", "true", "false", "null"];
    text.starts_with(char::is_alphabetic)
        && text.chars().all(is_printable)
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with(':')
        && !WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Whether a reader of YAML takes the character as it is.
fn is_printable(c: char) -> bool {
    matches!(c, ' '..='~' | '\u{A0}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
        && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{FEFF}')
}
