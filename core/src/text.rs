//! Small things that every module does with text; above all, making untrusted text inert before
//! a model or a terminal sees it.

/// Control characters, and format characters that reorder, hide or smuggle text.
pub(crate) fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' // bidirectional
            | '\u{FEFF}' // byte order mark
            | '\u{E0000}'..='\u{E007F}' // tags
        )
}

/// Whether NUL is in it. Every memory is asked, and eight bytes at once are asked sooner than std
/// does, most of all in wasm.
pub(crate) fn has_nul(text: &str) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let (eights, rest) = text.as_bytes().as_chunks();
    // Only from a byte of zero is the highest bit borrowed that it did not have itself.
    let borrowed = eights.iter().fold(0, |borrowed, eight| {
        let eight = u64::from_le_bytes(*eight);
        borrowed | eight.wrapping_sub(ONES) & !eight
    });
    borrowed & (0x80 * ONES) != 0 || rest.contains(&0)
}

/// Characters that some reader takes for the end of a line, and TAB.
fn breaks_line(c: char) -> bool {
    matches!(
        c,
        '\t' | '\n' | '\u{B}' | '\u{C}' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// The text as one line: a run of white space with a line break or TAB in it becomes one blank,
/// hostile characters go.
pub(crate) fn one_line(text: &str) -> String {
    if !text.chars().any(|c| is_hostile(c) || breaks_line(c)) {
        return text.to_owned();
    }
    let mut line = String::with_capacity(text.len());
    let mut blanks = String::new();
    for c in text.chars() {
        if c.is_whitespace() {
            blanks.push(c);
        } else {
            flush_blanks(&mut line, &mut blanks);
            if !is_hostile(c) {
                line.push(c);
            }
        }
    }
    flush_blanks(&mut line, &mut blanks);
    line
}

fn flush_blanks(line: &mut String, blanks: &mut String) {
    if blanks.chars().any(breaks_line) {
        line.push(' ');
    } else {
        line.push_str(blanks);
    }
    blanks.clear();
}

/// Something a user gave, in a message: on one line and in quotes.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", one_line(text))
}

/// Things that somebody gave, in a message: quoted, separated by commas, and only the first few.
pub(crate) fn list(items: &[String]) -> String {
    let shown: Vec<String> = items.iter().take(5).map(|item| quoted(item)).collect();
    let more = if items.len() > shown.len() {
        ", …"
    } else {
        ""
    };
    shown.join(", ") + more
}

/// The text with its lines kept and hostile characters gone. LF, CRLF and a lone CR end a line;
/// what else some reader takes for a line end becomes a blank.
pub(crate) fn lines(text: &str) -> String {
    // Most texts stay as they are.
    if text.chars().all(stays_in_lines) {
        return text.to_owned();
    }
    let mut lines = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' | '\t' => lines.push(c),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' => lines.push('\n'),
            c if breaks_line(c) => lines.push(' '),
            c if is_hostile(c) => {}
            c => lines.push(c),
        }
    }
    lines
}

fn stays_in_lines(c: char) -> bool {
    match c {
        ' '..='~' | '\n' | '\t' => true,
        c => !is_hostile(c) && !breaks_line(c),
    }
}

/// A path in a command line for a POSIX shell.
pub(crate) fn shell_word(path: &str) -> String {
    format!("'{}'", one_line(path).replace('\'', "'\\''"))
}

/// The lines of a text, each with its LF. For short lines a plain loop is several times as fast as
/// the standard search.
pub(crate) fn lines_with_ends(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest
            .bytes()
            .position(|byte| byte == b'\n')
            .map_or(rest.len(), |at| at.saturating_add(1));
        let (line, after) = rest.split_at_checked(end)?;
        rest = after;
        (!line.is_empty()).then_some(line)
    })
}

/// A line without its LF or CRLF. Texts as patterns are compared bytewise, while characters are
/// encoded anew each time.
pub(crate) fn without_end(line: &str) -> &str {
    let line = line.strip_suffix("\n").unwrap_or(line);
    line.strip_suffix("\r").unwrap_or(line)
}

/// The line end that a text uses: that of its first line.
pub(crate) fn line_end(text: &str) -> &'static str {
    match text.split_once('\n') {
        Some((line, _)) if line.ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Trims as JavaScript does (white space and U+FEFF), and U+0085.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}')
}

/// Decodes `%20` and the like; a malformed escape, or one that gives no UTF-8, stays as it is.
pub(crate) fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escape = (*first == b'%')
            .then(|| after.split_first_chunk::<2>())
            .flatten();
        match escape.and_then(|(digits, after)| Some((hex(*digits)?, after))) {
            Some((byte, after)) => {
                bytes.push(byte);
                rest = after;
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

fn hex([high, low]: [u8; 2]) -> Option<u8> {
    let digit = |byte: u8| {
        char::from(byte)
            .to_digit(16)
            .and_then(|digit| u8::try_from(digit).ok())
    };
    digit(high)?.checked_mul(16)?.checked_add(digit(low)?)
}

/// Bytes for a person: `812B`, `24.4KB` (facts 3.2).
pub(crate) fn size(bytes: usize) -> String {
    if bytes < 1024 {
        return format!("{bytes}B");
    }
    // Tenths of 1024 bytes, rounded half up, without floating point.
    let tenths = (bytes.saturating_mul(10).saturating_add(512)) / 1024;
    format!("{}.{}KB", tenths / 10, tenths % 10)
}

/// The name of a unit variant on the wire, as serde writes it.
pub(crate) fn wire_name(value: &impl serde::Serialize) -> String {
    let json = serde_json::to_string(value).unwrap_or_default();
    json.trim_matches('"').to_owned()
}

#[cfg(test)]
mod tests {
    use super::{has_nul, lines, one_line, shell_word};

    #[test]
    fn nul_is_seen_wherever_it_stands_and_nothing_else_is() {
        let others = "\u{1}\u{7F}\u{80}\u{100}a中🙂\u{10000}\u{7FF}\u{800}";
        for length in 0..others.chars().count() * 2 {
            let text: String = others.chars().cycle().take(length).collect();
            assert!(!has_nul(&text), "{text:?}");
            for (at, _) in text.char_indices().chain([(text.len(), ' ')]) {
                let mut text = text.clone();
                text.insert(at, '\0');
                assert!(has_nul(&text), "{text:?}");
            }
        }
    }

    #[test]
    fn every_line_end_is_one_or_none() {
        assert_eq!(lines("a\r\nb\rc\nd"), "a\nb\nc\nd");
        assert_eq!(lines("a\u{2028}b\u{85}c\u{B}d\te"), "a b c d\te");
        assert_eq!(one_line("a \r\n b\u{2029}c  d"), "a b c  d");
    }

    #[test]
    fn a_path_stays_one_word_of_a_shell() {
        assert_eq!(shell_word("/a b/$(c)'d"), "'/a b/$(c)'\\''d'");
    }
}
