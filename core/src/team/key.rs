//! Which paths may name an entry that teammates share (facts 11.1, document 002): what is harmless on
//! one machine must be harmless, and the same file, on every other.

use std::borrow::Cow;

use icu_normalizer::ComposingNormalizerBorrowed;

use crate::error::{Error, ErrorCode};
use crate::limits::{
    INDEX_NAME, OWN_FOLDER, TEAM_KEY_MAX_BYTES, TEAM_KEY_PART_MAX_BYTES, TEMPORARY_ENDING,
};
use crate::text::{percent_decoded, quoted};

/// Accepts the path of a team entry, relative to the team folder, with `/` between its parts;
/// `others` are the keys that are there already.
///
/// # Errors
/// `path-empty`, `path-nul`, `key-too-long`, `key-encoded`, `key-lookalike`, `key-separator`,
/// `key-absolute`, `key-traversal`, `key-character`, `key-normal-form`, `key-ending`, `key-reserved`,
/// `key-own`, `key-twin`: the first that holds.
pub fn validate_team_key(key: &str, others: &[String]) -> Result<String, Error> {
    match fault(key, others) {
        None => Ok(key.to_owned()),
        Some((code, what)) => {
            let message = format!("{} {what}", quoted(key));
            Err(Error::new(code, message).at(key))
        }
    }
}

/// What is wrong with a key, and what to do.
fn fault(key: &str, others: &[String]) -> Option<(ErrorCode, &'static str)> {
    use ErrorCode::{
        KeyAbsolute, KeyCharacter, KeyEncoded, KeyEnding, KeyLookalike, KeyNormalForm, KeyOwn,
        KeyReserved, KeySeparator, KeyTooLong, KeyTraversal, KeyTwin, PathEmpty, PathNul,
    };

    let parts = || key.split('/');
    let normal = ComposingNormalizerBorrowed::new_nfkc().normalize(key);
    let decoded = percent_decoded(key);
    let checks: [(bool, ErrorCode, &str); 13] = [
        (
            key.is_empty(),
            PathEmpty,
            "is empty; name a file of the team folder",
        ),
        (
            key.contains('\0'),
            PathNul,
            "holds a NUL character; give a plain path",
        ),
        (
            key.len() > TEAM_KEY_MAX_BYTES
                || parts().any(|part| part.len() > TEAM_KEY_PART_MAX_BYTES),
            KeyTooLong,
            "is too long for some file systems; shorten it",
        ),
        (
            hides_more(&decoded, key),
            KeyEncoded,
            "holds an encoded separator or parent folder; write the path as it is",
        ),
        (
            hides_more(&normal, key),
            KeyLookalike,
            "holds a character that looks like a separator or dots; use plain ones",
        ),
        (
            key.contains('\\'),
            KeySeparator,
            "holds a backslash; use forward slashes",
        ),
        (
            key.starts_with('/') || has_drive(key),
            KeyAbsolute,
            "is absolute; give a path relative to the team folder",
        ),
        (
            parts().any(|part| matches!(part, "" | "." | "..")),
            KeyTraversal,
            "has an empty part, . or ..; name the file by its plain path",
        ),
        (
            key.chars().any(is_unfit),
            KeyCharacter,
            "holds a character that is invisible or that some file systems forbid; remove it",
        ),
        (
            ComposingNormalizerBorrowed::new_nfc().normalize(key) != key,
            KeyNormalForm,
            "is not in the normal form NFC, so it is another file elsewhere; compose its letters",
        ),
        (
            parts().any(|part| part.starts_with(' ') || part.ends_with([' ', '.'])),
            KeyEnding,
            "has a part that begins with a blank or ends with a blank or a dot; remove it",
        ),
        (
            parts().any(is_device),
            KeyReserved,
            "has the name of a device on Windows; choose another one",
        ),
        (
            parts().any(|part| part.eq_ignore_ascii_case(OWN_FOLDER))
                || key.ends_with(TEMPORARY_ENDING),
            KeyOwn,
            "is one of memdir's own files; choose another name",
        ),
    ];
    if let Some((_, code, what)) = checks.into_iter().find(|(wrong, ..)| *wrong) {
        return Some((code, what));
    }
    let name = parts().next_back().unwrap_or_default();
    let folded = fold(key);
    let is_twin = (name != INDEX_NAME && name.to_lowercase() == INDEX_NAME.to_lowercase())
        || others
            .iter()
            .any(|other| other != key && fold(other) == folded);
    is_twin.then_some((
        KeyTwin,
        "differs from another name by case or spelling only; choose another one",
    ))
}

/// Whether another reading of a key has more separators, parent folders or NULs than the key shows.
fn hides_more(other: &str, key: &str) -> bool {
    other != key
        && ["..", "/", "\\", "\0"]
            .iter()
            .any(|hidden| other.matches(hidden).count() > key.matches(hidden).count())
}

fn has_drive(key: &str) -> bool {
    matches!(key.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

fn is_unfit(c: char) -> bool {
    crate::text::is_hostile(c)
        || matches!(
            c,
            '\u{2028}' | '\u{2029}' | '<' | '>' | ':' | '"' | '|' | '?' | '*'
        )
}

/// Whether Windows takes a name for a device.
pub(crate) fn is_device(part: &str) -> bool {
    let name = part
        .split('.')
        .next()
        .unwrap_or_default()
        .trim_end_matches(' ');
    let name = name.to_ascii_uppercase();
    let port = |kind: &str| {
        let number = name.strip_prefix(kind)?;
        let mut characters = number.chars();
        let is_one = matches!(characters.next()?, '1'..='9' | '¹' | '²' | '³');
        (is_one && characters.next().is_none()).then_some(())
    };
    matches!(
        name.as_str(),
        "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$"
    ) || port("COM").or_else(|| port("LPT")).is_some()
}

/// Equal for names that some file system takes for one.
fn fold(key: &str) -> String {
    let normal: Cow<'_, str> = ComposingNormalizerBorrowed::new_nfkc().normalize(key);
    normal.to_lowercase()
}
