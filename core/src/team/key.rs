//! Which paths may name an entry that teammates share (facts 11.1, document 002): what is harmless on
//! one machine must be harmless, and the same file, on every other.

use std::collections::BTreeMap;

use icu_normalizer::ComposingNormalizerBorrowed;

use crate::error::{Error, ErrorCode};
use crate::limits::{
    INDEX_NAME, OWN_FOLDER, TEAM_KEY_MAX_BYTES, TEAM_KEY_MAX_READINGS, TEAM_KEY_PART_MAX_BYTES,
    TEMPORARY_ENDING,
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
    let mut keys = Keys::default();
    keys.accept(key)?;
    // Being twins is mutual, so it does not matter which of them is there first.
    if others.iter().any(|other| keys.have_twin(&names(other))) {
        return Err(refused(key, TWIN));
    }
    Ok(key.to_owned())
}

/// Keys that can be files of one folder side by side, on every machine. What a server of team memories
/// needs, as it takes one key after another.
#[derive(Debug, Default)]
pub struct Keys {
    /// By the number of the folder and the folded name. Ordered, since whoever chooses the keys could
    /// choose them so that a hash of names fails.
    taken: BTreeMap<(usize, String), Taken>,
}

/// A name that is taken.
#[derive(Debug)]
struct Taken {
    spelled: String,
    /// The number of the folder; none for a file.
    folder: Option<usize>,
}

/// A name on the way to a file, or the file's own.
struct Name<'a> {
    folded: String,
    spelled: &'a str,
    is_file: bool,
}

/// The folder in which all others are.
const TOP: usize = 0;

impl Keys {
    /// Accepts one more key, as [`validate_team_key`] does beside all that were accepted before. The
    /// time that it takes hardly depends on how many those are.
    ///
    /// # Errors
    /// Those of [`validate_team_key`].
    pub fn accept(&mut self, key: &str) -> Result<(), Error> {
        if let Some(fault) = fault(key) {
            return Err(refused(key, fault));
        }
        let names = names(key);
        if names.iter().any(takes_index) || self.have_twin(&names) {
            return Err(refused(key, TWIN));
        }
        let mut folder = TOP;
        for Name {
            folded,
            spelled,
            is_file,
        } in names
        {
            let number = self.taken.len().saturating_add(1);
            let taken = self.taken.entry((folder, folded)).or_insert_with(|| Taken {
                spelled: spelled.to_owned(),
                folder: (!is_file).then_some(number),
            });
            folder = taken.folder.unwrap_or(TOP);
        }
        Ok(())
    }

    /// Whether one of the names is here in another spelling, or as a folder where it is a file.
    fn have_twin(&self, names: &[Name<'_>]) -> bool {
        if names.iter().any(|name| name.folded.is_empty()) {
            // No path of a file.
            return false;
        }
        let mut folder = TOP;
        for name in names {
            let Some(taken) = self.taken.get(&(folder, name.folded.clone())) else {
                return false;
            };
            if taken.spelled != name.spelled || taken.folder.is_none() != name.is_file {
                return true;
            }
            folder = taken.folder.unwrap_or(TOP);
        }
        false
    }
}

/// The names that a path is made of.
fn names(key: &str) -> Vec<Name<'_>> {
    let mut names = Vec::new();
    for spelled in key.split('/') {
        // What is no valid key may have a separator that only shows when it is folded.
        for folded in fold(spelled).split('/') {
            names.push(Name {
                folded: folded.to_owned(),
                spelled,
                is_file: false,
            });
        }
    }
    if let Some(last) = names.last_mut() {
        last.is_file = true;
    }
    names
}

/// Whether a name keeps the index out of its folder.
fn takes_index(name: &Name<'_>) -> bool {
    name.folded == fold(INDEX_NAME) && !(name.is_file && name.spelled == INDEX_NAME)
}

/// A code, and what is wrong and what to do.
type Fault = (ErrorCode, &'static str);

const TWIN: Fault = (
    ErrorCode::KeyTwin,
    "differs from another name by case or spelling only, or is a file where that is a folder; choose another one",
);

fn refused(key: &str, (code, what): Fault) -> Error {
    Error::new(code, format!("{} {what}", quoted(key))).at(key)
}

/// What is wrong with a key by itself.
fn fault(key: &str) -> Option<Fault> {
    use ErrorCode::{
        KeyAbsolute, KeyCharacter, KeyEnding, KeyNormalForm, KeyOwn, KeyReserved, KeySeparator,
        KeyTooLong, KeyTraversal, PathEmpty, PathNul,
    };

    let parts = || key.split('/');
    let first = |checks: &[(bool, ErrorCode, &'static str)]| {
        let failed = checks.iter().find(|(wrong, ..)| *wrong);
        failed.map(|(_, code, what)| (*code, *what))
    };
    // Before anything that takes longer with longer keys.
    let size = first(&[
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
    ]);
    if let Some(fault) = size.or_else(|| hidden(key)) {
        return Some(fault);
    }
    let plain: Vec<String> = parts().map(plain).collect();
    first(&[
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
            // In a folder with these git runs what its settings name. No repository is without `HEAD`.
            plain.iter().any(|part| is_short(part, ".git"))
                || plain.last().is_some_and(|part| part == "head"),
            KeyReserved,
            "could make its folder a repository of git; choose another name",
        ),
        (
            plain.iter().any(|part| is_short(part, OWN_FOLDER)) || key.ends_with(TEMPORARY_ENDING),
            KeyOwn,
            "is one of memdir's own files; choose another name",
        ),
    ])
}

/// Separators, parent folders or NULs that show when a key is decoded or normalised, as often as that
/// changes anything: nobody knows how often its readers do.
fn hidden(key: &str) -> Option<Fault> {
    const ENCODED: Fault = (
        ErrorCode::KeyEncoded,
        "holds an encoded separator or parent folder; write the path as it is",
    );
    let mut text = key.to_owned();
    for _ in 0..TEAM_KEY_MAX_READINGS {
        let decoded = percent_decoded(&text);
        if hides_more(&decoded, key) {
            return Some(ENCODED);
        }
        let normal = ComposingNormalizerBorrowed::new_nfkc()
            .normalize(&visible(&decoded))
            .into_owned();
        if hides_more(&normal, key) {
            return Some((
                ErrorCode::KeyLookalike,
                "holds a character that looks like a separator or dots; use plain ones",
            ));
        }
        if normal == text {
            return None;
        }
        text = normal;
    }
    Some(ENCODED)
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
        || (is_ignorable(c) && !is_needed(c))
        || matches!(
            c,
            '\u{2028}' | '\u{2029}' | '<' | '>' | ':' | '"' | '|' | '?' | '*'
        )
}

/// What is not shown (Unicode's property `Default_Ignorable_Code_Point`), and what some file systems and
/// git pass over when they compare names.
fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}'
        | '\u{FFF0}'..='\u{FFF8}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}'
        | '\u{E0000}'..='\u{E0FFF}'
    )
}

/// What Persian and Indic words, emoji, ideographs and Mongolian letters are written with all the same:
/// joiners and variation selectors.
fn is_needed(c: char) -> bool {
    matches!(c,
        '\u{200C}' | '\u{200D}' | '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}'
        | '\u{180B}'..='\u{180D}' | '\u{180F}'
    )
}

fn visible(text: &str) -> String {
    text.chars().filter(|c| !is_ignorable(*c)).collect()
}

/// A name without what is not shown and without case.
fn plain(part: &str) -> String {
    visible(part).chars().flat_map(without_case).collect()
}

/// Whether a name is that of a hidden folder, in full or as Windows shortens it.
fn is_short(plain: &str, folder: &str) -> bool {
    let short = |name: &str| plain.strip_prefix(name) == Some("~1");
    plain == folder || folder.strip_prefix('.').is_some_and(short)
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
fn fold(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    let compose = ComposingNormalizerBorrowed::new_nfkc();
    // Without case there can be more to compose, and the other way round.
    let once = |name: &str| {
        let normal = compose.normalize(&plain(name)).into_owned();
        compose.normalize(&plain(&normal)).into_owned()
    };
    once(&compose.normalize(name))
}

/// Unicode's full case folding, by way of the capitals, since small letters alone keep `ς` from `σ` and
/// `ß` from `ss`. The dotless `ı` stays another letter than `i`.
fn without_case(c: char) -> impl Iterator<Item = char> {
    c.to_lowercase()
        .flat_map(|small| {
            let capitals = (small != 'ı').then(|| small.to_uppercase());
            let itself = (small == 'ı').then_some(small);
            capitals.into_iter().flatten().chain(itself)
        })
        .flat_map(char::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::{Keys, fold, validate_team_key};
    use crate::error::ErrorCode;

    #[test]
    fn no_mapping_of_case_changes_what_is_folded() {
        // No letter beyond has case.
        for c in '\0'..='\u{1FFFF}' {
            let folded = fold(&c.to_string());
            assert_eq!(fold(&folded), folded, "{c:?} again");
            let capitals: String = c.to_uppercase().collect();
            let small: String = c.to_lowercase().collect();
            assert_eq!(fold(&small), folded, "small {c:?}");
            if c != 'ı' {
                assert_eq!(fold(&capitals), folded, "capital {c:?}");
            }
        }
    }

    #[test]
    fn keys_are_accepted_as_beside_all_that_were_before() {
        let names = ["a", "A", "ß", "SS", "MEMORY.md", "memory.md"];
        let mut keys = Vec::new();
        for one in names {
            keys.push(one.to_owned());
            keys.extend(names.iter().map(|two| format!("{one}/{two}")));
        }
        // Every order would take too long; these begin everywhere.
        for turn in 0..keys.len() {
            keys.rotate_left(1);
            let mut accepted: Vec<String> = Vec::new();
            let mut all = Keys::default();
            for key in keys.iter().chain(keys.iter().rev()) {
                let alone = validate_team_key(key, &accepted);
                let code = all.accept(key).map_err(|error| error.code);
                assert_eq!(
                    code.err(),
                    alone.err().map(|error| error.code),
                    "{turn} {key}"
                );
                if code.is_ok() {
                    accepted.push(key.clone());
                }
            }
        }
    }

    #[test]
    fn many_keys_take_no_time_for_each_other() {
        let mut all = Keys::default();
        for number in 0..10_000 {
            let key = format!("notes/of {}/{number}.md", number % 100);
            assert!(all.accept(&key).is_ok(), "{key}");
        }
        let twin = all.accept("notes/OF 7/10007.md");
        assert_eq!(twin.map_err(|error| error.code), Err(ErrorCode::KeyTwin));
    }
}
