//! The effects that change what files hold, and folders.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use memdir_core::flow::Failure;

use crate::failure::failure;
use crate::open;
use crate::within::{Base, Place, own_as_folder};

/// A new file, or through the temporary file `via` a whole replacement. With `sync` the content is on
/// disk when this returns, and the name that is replaced, as far as the system lets a program ask for
/// that.
pub(crate) fn write(
    path: &str,
    within: Option<&str>,
    content: &[u8],
    via: Option<&str>,
    mode: u32,
    sync: bool,
) -> Result<(), Failure> {
    let base = within.map(Base::open).transpose()?;
    let target = Place::new(base.as_ref(), path)?;
    let temporary = via.map(|via| Place::new(base.as_ref(), via)).transpose()?;
    let created = temporary.as_ref().unwrap_or(&target);
    let filled = fill(created.create(mode)?, content, sync);
    let result = filled.and_then(|()| match &temporary {
        Some(temporary) => {
            target.again()?;
            temporary.rename(&target).map_err(|error| failure(&error))
        }
        None => Ok(()),
    });
    if let Err(failure) = result {
        // It was made here, so it is ours to remove; the first failure is the one to tell.
        let _ = created.unlink();
        return Err(failure);
    }
    if sync && temporary.is_some() {
        target.sync_folder();
    }
    target.again()
}

/// Takes the file, so that it is closed before it is renamed or removed.
fn fill(mut file: File, content: &[u8], sync: bool) -> Result<(), Failure> {
    file.write_all(content)
        .and_then(|()| if sync { file.sync_all() } else { Ok(()) })
        .map_err(|error| failure(&error))
}

/// Adds to the end of a file, creating it.
pub(crate) fn append(path: &str, content: &[u8], mode: u32) -> Result<(), Failure> {
    let mut file = open::for_appending(path, mode)?;
    file.write_all(content).map_err(|error| failure(&error))
}

/// A folder and its missing parents, but not `within` itself.
pub(crate) fn make_dir(path: &str, within: Option<&str>, mode: u32) -> Result<(), Failure> {
    match within {
        Some(within) => Base::open(within)?.make_dir(path, mode),
        None => make_dirs(path, mode),
    }
}

pub(crate) fn make_dirs(path: &str, mode: u32) -> Result<(), Failure> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    set_mode(&mut builder, mode);
    let missing: Vec<_> = Path::new(path)
        .ancestors()
        .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
        .collect();
    let made = builder.create(path);
    if made.is_ok() {
        missing
            .iter()
            .rev()
            .for_each(|folder| own_as_folder(folder));
    }
    match made {
        // A sandbox that forbids writing says so before it looks whether there is anything to do.
        Err(_) if std::fs::metadata(path).is_ok_and(|metadata| metadata.is_dir()) => Ok(()),
        made => made.map_err(|error| failure(&error)),
    }
}

#[cfg(unix)]
fn set_mode(builder: &mut std::fs::DirBuilder, mode: u32) {
    use std::os::unix::fs::DirBuilderExt;
    builder.mode(mode);
}

#[cfg(not(unix))]
fn set_mode(_: &mut std::fs::DirBuilder, _: u32) {}

/// Sets the modification time of the path itself, in milliseconds since the epoch.
#[cfg(unix)]
pub(crate) fn set_mtime(path: &str, mtime_ms: i64) -> Result<(), Failure> {
    use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_OMIT, utimensat};

    use crate::failure::no_nul;

    let times = Timestamps {
        last_access: Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_OMIT,
        },
        last_modification: Timespec {
            tv_sec: mtime_ms.div_euclid(1000),
            tv_nsec: mtime_ms.rem_euclid(1000).saturating_mul(1_000_000),
        },
    };
    utimensat(CWD, no_nul(path)?, &times, AtFlags::SYMLINK_NOFOLLOW)
        .map_err(|errno| failure(&errno.into()))
}

#[cfg(not(unix))]
pub(crate) fn set_mtime(path: &str, mtime_ms: i64) -> Result<(), Failure> {
    use std::time::{Duration, UNIX_EPOCH};

    use memdir_core::flow::FailureCode;

    if std::fs::symlink_metadata(path)
        .map_err(|error| failure(&error))?
        .is_symlink()
    {
        return Err(Failure::new(
            FailureCode::Loop,
            "Too many levels of symbolic links",
        ));
    }
    let distance = Duration::from_millis(mtime_ms.unsigned_abs());
    let time = if mtime_ms < 0 {
        UNIX_EPOCH.checked_sub(distance)
    } else {
        UNIX_EPOCH.checked_add(distance)
    };
    let time =
        time.ok_or_else(|| Failure::new(FailureCode::Unsupported, "the time is out of range"))?;
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(path)
        .map_err(|error| failure(&error))?;
    file.set_modified(time).map_err(|error| failure(&error))
}
