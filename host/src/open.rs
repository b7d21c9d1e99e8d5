//! How a file is opened: nothing but a regular file, never through a link at the last name, and
//! without waiting for the other end of a FIFO.

use std::fs::{File, OpenOptions};

use memdir_core::flow::Failure;

use crate::failure::{failure, is_a_directory, no_regular_file};

/// For reading. On unix the kind of the file is not asked here, which would cost a call for each
/// of many files: see [`ensure_regular`].
pub(crate) fn for_reading(path: &str) -> Result<File, Failure> {
    open(OpenOptions::new().read(true), path)
}

/// For adding at the end; created with `mode` when it is missing.
pub(crate) fn for_appending(path: &str, mode: u32) -> Result<File, Failure> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    set_mode(&mut options, mode);
    let file = open(&mut options, path)?;
    ensure_regular(&file)?;
    Ok(file)
}

/// Fails for what was opened and is no regular file.
pub(crate) fn ensure_regular(file: &File) -> Result<(), Failure> {
    let metadata = file.metadata().map_err(|error| failure(&error))?;
    if metadata.is_file() {
        return Ok(());
    }
    if metadata.is_dir() {
        return Err(is_a_directory());
    }
    Err(no_regular_file())
}

#[cfg(unix)]
fn open(options: &mut OpenOptions, path: &str) -> Result<File, Failure> {
    use std::os::unix::fs::OpenOptionsExt;

    use rustix::fs::OFlags;

    // std adds O_CLOEXEC itself.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    options
        .custom_flags(flags.bits().cast_signed())
        .open(path)
        .map_err(|error| failure(&error))
}

/// Where such flags are out of reach the kind is asked before.
#[cfg(not(unix))]
fn open(options: &mut OpenOptions, path: &str) -> Result<File, Failure> {
    use memdir_core::flow::FailureCode;

    match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => {
            return Err(Failure::new(
                FailureCode::Loop,
                "Too many levels of symbolic links",
            ));
        }
        Ok(metadata) if metadata.is_dir() => return Err(is_a_directory()),
        Ok(metadata) if !metadata.is_file() => return Err(no_regular_file()),
        // A missing file may be about to be created; anything else the opening says itself.
        Ok(_) | Err(_) => {}
    }
    options.open(path).map_err(|error| failure(&error))
}

#[cfg(unix)]
fn set_mode(options: &mut OpenOptions, mode: u32) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(mode);
}

#[cfg(not(unix))]
fn set_mode(_: &mut OpenOptions, _: u32) {}
