//! The effects that change names and no content.

use std::io::{self, ErrorKind};

use memdir_core::flow::{Failure, FailureCode, FileKind};

use crate::failure::{failure, failure_code, is_a_directory};
use crate::within::{Base, Place};

/// What a system says where files have one name only: on unix "not permitted", by its number,
/// as a missing permission is of the same kind; on Windows "no such function".
#[cfg(not(target_os = "wasi"))]
const NO_LINKS: i32 = 1;
#[cfg(target_os = "wasi")]
const NO_LINKS: i32 = 63;

/// A file, a link or an empty folder.
pub(crate) fn remove(path: &str, within: Option<&str>) -> Result<(), Failure> {
    let base = within.map(Base::open).transpose()?;
    let place = Place::new(base.as_ref(), path)?;
    remove_at(&place).map_err(|error| failure(&error))?;
    place.again()
}

fn remove_at(place: &Place<'_>) -> io::Result<()> {
    let Err(error) = place.unlink() else {
        return Ok(());
    };
    // Linux calls it a folder, others say that the operation is not permitted.
    let may_be_folder = matches!(
        error.kind(),
        ErrorKind::IsADirectory | ErrorKind::PermissionDenied
    );
    if may_be_folder && place.kind().is_some_and(|kind| kind != FileKind::File) {
        return place.remove_folder();
    }
    Err(error)
}

/// Another name for what is at `from`, which with `replace` may be that of a file.
pub(crate) fn rename(
    from: &str,
    to: &str,
    within: Option<&str>,
    replace: bool,
    sync: bool,
) -> Result<(), Failure> {
    let base = within.map(Base::open).transpose()?;
    let (from, to) = (
        Place::new(base.as_ref(), from)?,
        Place::new(base.as_ref(), to)?,
    );
    let renamed = if replace {
        from.rename(&to)
    } else {
        from.rename_unless_taken(&to)
            .unwrap_or_else(|| rename_by_link(&from, &to))
    };
    renamed.map_err(|error| failure(&error))?;
    if sync {
        to.sync_folder();
    }
    from.again()?;
    to.again()
}

/// A second name is refused where there is one, which a rename is not. Whatever takes the first
/// name before that is removed goes with it.
fn rename_by_link(from: &Place<'_>, to: &Place<'_>) -> io::Result<()> {
    let Err(error) = from.link(to) else {
        // Who has removed the first name did so after the second was there: that is the rename done.
        let removed = from.unlink().or_else(|error| match error.kind() {
            ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        });
        return removed.inspect_err(|_| {
            let _ = to.unlink();
        });
    };
    if !has_no_links(&error) && failure_code(&error) != FailureCode::Permission {
        return Err(error);
    }
    // A folder, or a file system without links: what comes between the look and the rename is
    // replaced.
    if to.kind().is_some() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    from.rename(to)
}

/// A second name for a file.
pub(crate) fn link(from: &str, to: &str, within: Option<&str>) -> Result<(), Failure> {
    let base = within.map(Base::open).transpose()?;
    let (from, to) = (
        Place::new(base.as_ref(), from)?,
        Place::new(base.as_ref(), to)?,
    );
    // Systems refuse it in several words, and some do not refuse it.
    if from.kind() == Some(FileKind::Directory) {
        return Err(is_a_directory());
    }
    from.link(&to).map_err(|error| {
        let Failure { code, message } = failure(&error);
        let code = if has_no_links(&error) {
            FailureCode::Unsupported
        } else {
            code
        };
        Failure::new(code, message)
    })?;
    from.again()?;
    to.again()
}

fn has_no_links(error: &io::Error) -> bool {
    error.raw_os_error() == Some(NO_LINKS) || failure_code(error) == FailureCode::Unsupported
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// Systems without the one call must answer as those that have it.
    #[test]
    fn both_ways_to_rename_answer_alike() {
        type Way = fn(&Place<'_>, &Place<'_>) -> io::Result<()>;
        let ways: [Way; 2] = [rename_by_link, |from, to| {
            from.rename_unless_taken(to)
                .unwrap_or_else(|| rename_by_link(from, to))
        }];
        for (number, way) in ways.into_iter().enumerate() {
            let name = format!("memdir-names-{}-{number}", std::process::id());
            let root = std::env::temp_dir().join(name);
            std::fs::create_dir_all(root.join("folder/below")).unwrap();
            for file in ["a", "b"] {
                std::fs::write(root.join(file), file).unwrap();
            }
            symlink("nowhere", root.join("link")).unwrap();
            let path = |name: &str| root.join(name).to_str().unwrap().to_owned();
            for (from, to, expected) in [
                ("a", "b", Some(FailureCode::Exists)),
                ("a", "a", Some(FailureCode::Exists)),
                ("a", "link", Some(FailureCode::Exists)),
                ("a", "folder", Some(FailureCode::Exists)),
                ("folder", "b", Some(FailureCode::Exists)),
                ("folder", "folder/below/new", Some(FailureCode::Other)),
                ("missing", "new", Some(FailureCode::NotFound)),
                ("a", "missing/new", Some(FailureCode::NotFound)),
                ("a", "b/new", Some(FailureCode::NotADirectory)),
                ("a", "new", None),
                ("link", "new-link", None),
                ("folder", "new-folder", None),
            ] {
                let (old, new) = (path(from), path(to));
                let renamed = way(
                    &Place::new(None, &old).unwrap(),
                    &Place::new(None, &new).unwrap(),
                );
                let code = renamed.err().as_ref().map(failure_code);
                assert_eq!(code, expected, "{from} to {to}, way {number}");
            }
            assert!(root.join("new-folder/below").is_dir());
            assert!(root.join("new-link").is_symlink());
            assert_eq!(std::fs::read(root.join("new")).unwrap(), b"a");
            assert_eq!(std::fs::read_dir(&root).unwrap().count(), 4);
            std::fs::remove_dir_all(root).unwrap();
        }
    }
}
