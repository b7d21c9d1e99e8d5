//! A JSON Web Token that was encoded in base64 once more. What it holds is looked into, because base64
//! of anything could begin with the same letters; and its lines are joined, because it is long.

use crate::secrets::alphabet::Alphabet;
use crate::secrets::matcher::Matcher;
use crate::secrets::scan::Token;
use crate::secrets::value::is_placeholder;

/// Characters of the first line.
const LEAST: usize = 44;
/// Characters of a further line; what is shorter may be a word.
const LINE_LEAST: usize = 16;

/// Where it ends, if it is one that begins here. The next one, if it is in the same line, has the
/// same end: then it need not be looked for.
pub(crate) fn end(
    matcher: &mut Matcher,
    start: usize,
    stop: usize,
    next: Option<&Token>,
) -> Option<usize> {
    let mut end = matcher.run_end(Alphabet::AnyBase64, start).min(stop);
    let text = matcher.text().get(..stop)?;
    let first = text.get(start..end)?;
    if first.len() < LEAST || !is_header(first) || is_placeholder(first) {
        return None;
    }
    if let Some(next) = next.filter(|next| next.start < end) {
        return Some(next.end);
    }
    while let Some(line) = next_line(text, end) {
        let line_end = matcher.run_end(Alphabet::AnyBase64, line).min(stop);
        let is_whole = matches!(text.get(line_end), None | Some(b'\r' | b'\n' | b'='));
        if !is_whole || line_end.saturating_sub(line) < LINE_LEAST {
            break;
        }
        end = line_end;
    }
    let padding = text
        .get(end..)?
        .iter()
        .take(2)
        .take_while(|byte| **byte == b'=');
    Some(end.saturating_add(padding.count()))
}

/// Where the next line begins, when this one ends here.
fn next_line(text: &[u8], end: usize) -> Option<usize> {
    match text.get(end..)? {
        [b'\n', ..] => Some(end.saturating_add(1)),
        [b'\r', b'\n', ..] => Some(end.saturating_add(2)),
        _ => None,
    }
}

/// Whether it is base64 of base64 of an object whose first field has a name.
fn is_header(text: &[u8]) -> bool {
    let token = text.get(..12).and_then(decode).unwrap_or_default();
    let header = token.get(..8).and_then(decode).unwrap_or_default();
    matches!(header.as_slice(), [b'{', b'"', first, rest @ ..]
        if first.is_ascii_lowercase() && rest.iter().all(|byte| (b' '..=b'~').contains(byte)))
}

/// Decodes whole groups of four.
fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for group in text.chunks(4) {
        let mut value = 0_u32;
        for &byte in group {
            let six = match byte {
                b'A'..=b'Z' => byte.wrapping_sub(b'A'),
                b'a'..=b'z' => byte.wrapping_sub(b'a').wrapping_add(26),
                b'0'..=b'9' => byte.wrapping_sub(b'0').wrapping_add(52),
                b'+' | b'-' => 62,
                b'/' | b'_' => 63,
                _ => return None,
            };
            value = value << 6 | u32::from(six);
        }
        let [_, three @ ..] = value.to_be_bytes();
        bytes.extend(three);
    }
    Some(bytes)
}
