//! What may be written to, and what may be expected of it.

use super::commit::Current;
use super::result::{WriteResult, hash};
use crate::error::{Error, ErrorCode};
use crate::limits::{INDEX_NAME, TEAM_FOLDER, TEAM_INDEX};
use crate::memory::Scope;
use crate::paths::check_relative;
use crate::store::Place;
use crate::text::quoted;

/// What is expected of a file that is not there.
pub(crate) const ABSENT: &str = "absent";

/// # Errors
/// `invalid-argument` for what is neither `absent` nor a hash.
pub(super) fn check_expect(expect: Option<&str>) -> Result<(), Error> {
    let is_hash = |expect: &str| {
        expect.strip_prefix("sha256:").is_some_and(|hex| {
            hex.len() == 64 && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        })
    };
    if expect.is_none_or(|expect| expect == ABSENT || is_hash(expect)) {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::InvalidArgument,
        "expect is neither absent nor sha256: with 64 hex digits; give the hash that reading gave",
    ))
}

/// Whether a path can be that of a memory.
///
/// # Errors
/// The codes of [`check_relative`], `invalid-argument` for an index and for what is no `.md` file.
pub(super) fn check_target(path: &str, place: &Place) -> Result<(), Error> {
    check_relative(path, place.platform)?;
    let name = path.rsplit('/').next().unwrap_or(path);
    let wrong = |what: &str| {
        let message = format!("{} {what}", quoted(path));
        Err(Error::new(ErrorCode::InvalidArgument, message).at(path))
    };
    // Where case does not count it would be the index.
    if name.eq_ignore_ascii_case(INDEX_NAME) {
        return wrong("is an index, whose lines come and go with their memories; name a memory");
    }
    if name.len() <= ".md".len() || !name.ends_with(".md") {
        return wrong("is no memory; its name must end in .md");
    }
    Ok(())
}

/// Where indexes lie.
pub(super) const FOLDERS: [&str; 2] = ["", TEAM_FOLDER];

/// Where the index of a scope lies.
pub(super) fn index_folder(scope: Scope) -> &'static str {
    match scope {
        Scope::Private => "",
        Scope::Team => TEAM_FOLDER,
    }
}

/// The index in a folder.
pub(super) fn index_path(folder: &str) -> &'static str {
    match folder {
        TEAM_FOLDER => TEAM_INDEX,
        _ => INDEX_NAME,
    }
}

/// The folder that a path is the index of, if it is one.
pub(crate) fn indexed_folder(path: &str) -> Option<&'static str> {
    FOLDERS
        .into_iter()
        .find(|folder| index_path(folder) == path)
}

/// The conflict, if the file is not as it was expected.
pub(super) fn unexpected(
    expect: Option<&str>,
    path: &str,
    place: &Place,
    old: Option<&Current>,
) -> Option<WriteResult> {
    let expect = expect?;
    let found = old.map(|old| hash(&old.bytes));
    let as_expected = found.as_deref().unwrap_or(ABSENT) == expect;
    (!as_expected).then(|| WriteResult::conflict(path, place, found))
}
