//! What the system knows about a path, in the core's terms.

use std::fs::{FileType, Metadata};

use memdir_core::flow::{Failure, FileKind, Stat};

use crate::failure::failure;

/// About what the path leads to.
pub(crate) fn stat(path: &str) -> Result<Stat, Failure> {
    std::fs::metadata(path)
        .map(|metadata| from_metadata(&metadata))
        .map_err(|error| failure(&error))
}

/// About the path itself.
pub(crate) fn lstat(path: &str) -> Result<Stat, Failure> {
    std::fs::symlink_metadata(path)
        .map(|metadata| from_metadata(&metadata))
        .map_err(|error| failure(&error))
}

#[cfg(unix)]
pub(crate) fn from_metadata(metadata: &Metadata) -> Stat {
    use std::os::unix::fs::MetadataExt;
    // Nanoseconds count forward from the second also before the epoch, so this rounds down.
    let nanoseconds = u32::try_from(metadata.mtime_nsec()).unwrap_or(0);
    Stat {
        kind: kind(metadata.file_type()),
        size: metadata.len(),
        mtime_ms: metadata
            .mtime()
            .saturating_mul(1000)
            .saturating_add(i64::from(nanoseconds / 1_000_000)),
        mtime_ns: nanoseconds % 1_000_000,
        ctime_ms: Some(
            metadata
                .ctime()
                .saturating_mul(1000)
                .saturating_add(metadata.ctime_nsec() / 1_000_000),
        ),
        inode: Some(metadata.ino()),
        mode: Some(metadata.mode() & 0o7777),
    }
}

#[cfg(not(unix))]
pub(crate) fn from_metadata(metadata: &Metadata) -> Stat {
    use std::time::UNIX_EPOCH;
    let nanoseconds = metadata
        .modified()
        .map_or(0, |time| match time.duration_since(UNIX_EPOCH) {
            Ok(after) => i128::try_from(after.as_nanos()).unwrap_or(i128::MAX),
            Err(before) => i128::try_from(before.duration().as_nanos())
                .map_or(i128::MIN, |nanoseconds| -nanoseconds),
        });
    Stat {
        kind: kind(metadata.file_type()),
        size: metadata.len(),
        mtime_ms: i64::try_from(nanoseconds.div_euclid(1_000_000)).unwrap_or(0),
        mtime_ns: u32::try_from(nanoseconds.rem_euclid(1_000_000)).unwrap_or(0),
        ctime_ms: None,
        inode: None,
        mode: None,
    }
}

fn kind(file_type: FileType) -> FileKind {
    if file_type.is_file() {
        FileKind::File
    } else if file_type.is_dir() {
        FileKind::Directory
    } else if file_type.is_symlink() {
        FileKind::Link
    } else {
        FileKind::Other
    }
}
