//! Decides which paths can name a memory inside a store.

use super::Platform;
use crate::error::{Error, ErrorCode};
use crate::limits::{OWN_FOLDER, TEMPORARY_ENDING};
use crate::text::quoted;

/// What Windows may call our own folder besides.
const OWN_FOLDER_SHORT: &str = "memdir~1";

/// Whether a path below the store is one of memdir's own files, which are no memories.
pub(crate) fn is_own(path: &str, platform: Platform) -> bool {
    match platform {
        Platform::Posix => {
            path.ends_with(TEMPORARY_ENDING) || path.split('/').any(|part| part == OWN_FOLDER)
        }
        Platform::Windows => {
            // Names differ by more than case, end with no dot or blank, and have a short form.
            let path = path.to_ascii_lowercase();
            let mut parts = path.split(|c| platform.separates(c));
            path.ends_with(TEMPORARY_ENDING)
                || parts.any(|part| {
                    let part = part.trim_end_matches(['.', ' ']);
                    part == OWN_FOLDER || part == OWN_FOLDER_SHORT
                })
        }
    }
}

/// Accepts a path relative to the store, with `/` between its parts, that stays inside it and
/// outside memdir's own files.
///
/// # Errors
/// `path-outside-store`, `path-nul`, `path-empty`.
pub fn check_relative(path: &str, platform: Platform) -> Result<(), Error> {
    let shown = quoted(path);
    if path.is_empty() {
        return Err(Error::new(
            ErrorCode::PathEmpty,
            "the path of the memory is empty; name a file of the store",
        ));
    }
    if path.contains('\0') {
        return Err(Error::new(
            ErrorCode::PathNul,
            format!("{shown} holds a NUL character; give a plain path"),
        )
        .at(path));
    }
    let plain = path.split('/').all(|part| !matches!(part, "" | "." | ".."))
        && (platform == Platform::Posix
            || (!path.contains(['\\', ':'])
                && path.split('/').all(|part| !part.ends_with(['.', ' ']))));
    let own = is_own(path, platform);
    if plain && !own {
        return Ok(());
    }
    let message = if own {
        format!("{shown} is one of memdir's own files, not a memory")
    } else {
        format!(
            "{shown} is not a path inside the store; give one relative to it, with forward slashes"
        )
    };
    Err(Error::new(ErrorCode::PathOutsideStore, message).at(path))
}
