//! A fast way through the blocks that nearly every memory has: `key: value` lines, and one
//! `metadata:` map below. It answers only where its result is the YAML parser's (a property test
//! holds them against each other) and gives everything else up to that parser.

use std::borrow::Cow;

use super::yaml::{Fields, Value};
use crate::text::{lines_with_ends, without_end};

/// The fields of a block that is plainly flat, or nothing.
pub(super) fn parse(block: &str) -> Option<Fields<'_>> {
    let mut fields = Fields::default();
    let mut seen: Vec<(bool, &str)> = Vec::new();
    // The indentation of the nested map: none outside it, Some(0) before its first line.
    let mut nested: Option<usize> = None;
    for line in lines_with_ends(block) {
        let line = without_end(line);
        if line.is_empty() {
            continue;
        }
        let indent = blanks(line.bytes());
        match (indent, nested) {
            (0, _) => nested = None,
            (_, Some(0)) => nested = Some(indent),
            (_, Some(depth)) if depth == indent => {}
            _ => return None,
        }
        let colon = line.bytes().position(|byte| byte == b':')?;
        let (key, value) = (line.get(indent..colon)?, line.get(colon + 1..)?);
        if !is_key(key) || seen.contains(&(indent > 0, key)) {
            return None;
        }
        seen.push((indent > 0, key));
        let value = if value.is_empty() {
            value
        } else {
            value.strip_prefix(" ")?
        };
        let value = value.get(blanks(value.bytes())..)?;
        let value = value.get(..value.len() - blanks(value.bytes().rev()))?;
        let value = match value.strip_prefix("\"") {
            _ if value.is_empty() => {
                // The value may follow on deeper lines; only the known nested map is followed.
                if indent == 0 && key == "metadata" {
                    nested = Some(0);
                    continue;
                }
                Value::Plain(Cow::Borrowed(""))
            }
            Some(rest) => Value::Quoted(Cow::Borrowed(quoted(rest)?)),
            None => Value::Plain(Cow::Borrowed(plain(value)?)),
        };
        if indent == 0 && key == "metadata" {
            continue;
        }
        if let Some(slot) = fields.slot(indent > 0, key) {
            *slot = Some(value);
        }
    }
    Some(fields)
}

/// How many blanks come first.
fn blanks(bytes: impl Iterator<Item = u8>) -> usize {
    bytes.take_while(|byte| *byte == b' ').count()
}

fn is_key(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

/// A plain scalar that no indicator, comment or further line can change.
fn plain(value: &str) -> Option<&str> {
    let safe = value.starts_with(char::is_alphanumeric)
        && is_printable(value)
        && !value.ends_with(':')
        && !value
            .as_bytes()
            .windows(2)
            .any(|pair| matches!(pair, b": " | b" #"));
    safe.then_some(value)
}

/// What follows an opening double quote, without escapes.
fn quoted(rest: &str) -> Option<&str> {
    let value = rest.strip_suffix('"')?;
    (!value.bytes().any(|byte| matches!(byte, b'"' | b'\\')) && is_printable(value))
        .then_some(value)
}

/// Whether every character is one that YAML neither folds nor refuses.
fn is_printable(value: &str) -> bool {
    value.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        || value.chars().all(|c| {
            matches!(c, ' '..='~' | '\u{A0}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
                && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{FEFF}')
        })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::yaml;

    /// Lines that are flat, nearly flat, and not flat at all.
    fn block() -> impl Strategy<Value = String> {
        let key = prop_oneof![
            Just("name".to_owned()),
            Just("description".to_owned()),
            Just("type".to_owned()),
            Just("metadata".to_owned()),
            Just("pinned".to_owned()),
            Just("modified".to_owned()),
            "[a-zA-Z_\"'#-][a-z0-9_-]{0,3}",
        ];
        let value = prop_oneof![
            Just(String::new()),
            "[ a-zA-Z0-9:#'\"\\[\\]{},&*!|>%@`~.-]{0,12}",
            "[a-z0-9]{1,4}( [#:a-z\"'é中🙂-]{1,4}){0,3}",
            "\"[^\n]{0,8}\"",
            "\\PC{0,8}",
            any::<String>(),
        ];
        let line = (
            0usize..4,
            key,
            prop_oneof![Just(": "), Just(":"), Just(":  "), Just("")],
            value,
            prop_oneof![Just(""), Just(" "), Just("\r")],
        )
            .prop_map(|(indent, key, colon, value, end)| {
                format!("{}{key}{colon}{value}{end}", " ".repeat(indent / 2 * 2))
            });
        proptest::collection::vec(line, 0..6).prop_map(|lines| lines.join("\n"))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn agrees_with_the_yaml_parser(block in block()) {
            if let Some(fields) = super::parse(&block) {
                prop_assert_eq!(Ok(fields), yaml::parse(&block), "block {:?}", block);
            }
        }
    }

    #[test]
    fn takes_the_common_shapes() {
        for block in [
            "name: Role\ndescription: Data scientist, likes logs (since 12:30)\ntype: user\n",
            "name: a-b\ndescription: \"quoted: yes # here\"\nmetadata: \n  node_type: memory\n  type: feedback\n  modified: 2026-03-15T10:30:00.000Z\n",
            "name: 設定\r\ntype: project\r\n",
        ] {
            assert!(super::parse(block).is_some(), "{block:?}");
        }
    }
}
