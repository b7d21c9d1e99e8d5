//! Decides which directory a store may live in (facts 1.5, document 000 §2): nothing that depends
//! on where the program was started, and nothing so broad that it would open a whole disk or home.

use icu_normalizer::ComposingNormalizerBorrowed;

use super::Platform;
use crate::error::{Error, ErrorCode};
use crate::limits::MEMORY_PATH_MIN_UNITS;
use crate::text::quoted;

/// The directory in its canonical form: absolute, normalised, NFC, with one trailing separator.
///
/// `home` lets a leading `~/` (or `~\`) stand for it; without it a tilde is an ordinary character,
/// which makes the path relative. Applying the rule to its own result changes nothing.
///
/// # Errors
/// `path-empty`, `path-nul`, `path-home`, `path-home-parent`, `path-outside-home`, `path-unc`,
/// `path-drive-root`, `path-relative`, `path-root`, `path-too-short`; each says what to give
/// instead.
pub fn validate_memory_path(
    path: &str,
    platform: Platform,
    home: Option<&str>,
) -> Result<String, Error> {
    let refuse =
        |code, what: &str| Err(Error::new(code, format!("{} {what}", quoted(path))).at(path));
    if path.trim().is_empty() {
        return refuse(
            ErrorCode::PathEmpty,
            "is empty as a memory directory; give an absolute path",
        );
    }
    if path.contains('\0') {
        return refuse(
            ErrorCode::PathNul,
            "holds a NUL character; give a plain absolute path",
        );
    }
    let expanded = match (
        home,
        path.strip_prefix("~/").or_else(|| path.strip_prefix("~\\")),
    ) {
        (Some(home), Some(rest)) => {
            // Below home whatever it looks like: `~//..` and `~/C:\..` are no absolute paths.
            let rest = platform.normalise(&format!("./{rest}"));
            match rest.strip_prefix("..") {
                _ if rest == "." => {
                    return refuse(
                        ErrorCode::PathHome,
                        "names the home directory itself; name a folder inside it",
                    );
                }
                Some("") => {
                    return refuse(
                        ErrorCode::PathHomeParent,
                        "names the parent of the home directory; name a folder inside home",
                    );
                }
                Some(more) if more.starts_with(|c| platform.separates(c)) => {
                    return refuse(
                        ErrorCode::PathOutsideHome,
                        "leaves the home directory; name a folder inside home",
                    );
                }
                _ => {
                    let home = home.trim_end_matches(|c| platform.separates(c));
                    format!("{home}{}{rest}", platform.separator())
                }
            }
        }
        _ => path.to_owned(),
    };

    let mut start = expanded.chars();
    let (first, second) = (start.next(), start.next());
    let network = match platform {
        Platform::Posix => first == second && matches!(first, Some('/' | '\\')),
        Platform::Windows => [first, second]
            .iter()
            .all(|c| matches!(c, Some('/' | '\\'))),
    };
    if network {
        return refuse(
            ErrorCode::PathUnc,
            "is a network path; give a path on a local disk",
        );
    }
    if is_drive_root(&expanded) {
        return refuse(
            ErrorCode::PathDriveRoot,
            "is the root of a drive; name a folder in it",
        );
    }
    if !platform.is_absolute(&expanded) {
        return refuse(
            ErrorCode::PathRelative,
            "is relative; give an absolute path",
        );
    }
    let normal = platform.normalise(&expanded);
    if normal == "/" {
        return refuse(
            ErrorCode::PathRoot,
            "is the root of the file system; name a folder in it",
        );
    }
    if is_drive_root(&normal) {
        return refuse(
            ErrorCode::PathDriveRoot,
            "is the root of a drive; name a folder in it",
        );
    }
    let normal = ComposingNormalizerBorrowed::new_nfc()
        .normalize(&normal)
        .into_owned();
    if normal.encode_utf16().count() < MEMORY_PATH_MIN_UNITS {
        return refuse(
            ErrorCode::PathTooShort,
            "is too short to be a memory directory; name a folder in it",
        );
    }
    Ok(normal + &platform.separator().to_string())
}

/// A letter, a colon, and nothing but separators.
fn is_drive_root(path: &str) -> bool {
    let mut chars = path.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.next() == Some(':')
        && chars.all(|c| matches!(c, '/' | '\\'))
}
