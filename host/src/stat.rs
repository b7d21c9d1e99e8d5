//! What the system knows about a path, in the core's terms.

#[cfg(not(unix))]
use std::fs::{FileType, Metadata};

use memdir_core::flow::{Failure, FileKind, Stat};

use crate::failure::failure;
#[cfg(unix)]
use crate::failure::no_nul;

/// About what the path leads to.
#[cfg(unix)]
pub(crate) fn stat(path: &str) -> Result<Stat, Failure> {
    rustix::fs::stat(no_nul(path)?)
        .map(|stat| from_system(&stat))
        .map_err(|errno| failure(&errno.into()))
}

/// About the path itself.
#[cfg(unix)]
pub(crate) fn lstat(path: &str) -> Result<Stat, Failure> {
    rustix::fs::lstat(no_nul(path)?)
        .map(|stat| from_system(&stat))
        .map_err(|errno| failure(&errno.into()))
}

#[cfg(unix)]
pub(crate) fn from_system(stat: &rustix::fs::Stat) -> Stat {
    use rustix::fs::FileType;

    // Nanoseconds count forward from the second also before the epoch, so this rounds down.
    let milliseconds = |seconds: i64, nanoseconds: i64| {
        seconds
            .saturating_mul(1000)
            .saturating_add(nanoseconds / 1_000_000)
    };
    let nanoseconds: i64 = number(stat.st_mtime_nsec);
    Stat {
        kind: match FileType::from_raw_mode(number(stat.st_mode)) {
            FileType::RegularFile => FileKind::File,
            FileType::Directory => FileKind::Directory,
            FileType::Symlink => FileKind::Link,
            _ => FileKind::Other,
        },
        size: number(stat.st_size),
        mtime_ms: milliseconds(number(stat.st_mtime), nanoseconds),
        mtime_ns: number(nanoseconds % 1_000_000),
        ctime_ms: Some(milliseconds(
            number(stat.st_ctime),
            number(stat.st_ctime_nsec),
        )),
        inode: Some(number(stat.st_ino)),
        mode: Some(number::<_, u32>(stat.st_mode) & 0o7777),
    }
}

/// How wide the system's numbers are differs from one to the next.
#[cfg(unix)]
fn number<T, U: TryFrom<T> + Default>(number: T) -> U {
    U::try_from(number).unwrap_or_default()
}

/// About what the path leads to.
#[cfg(not(unix))]
pub(crate) fn stat(path: &str) -> Result<Stat, Failure> {
    std::fs::metadata(path)
        .map(|metadata| from_metadata(&metadata))
        .map_err(|error| failure(&error))
}

/// About the path itself.
#[cfg(not(unix))]
pub(crate) fn lstat(path: &str) -> Result<Stat, Failure> {
    std::fs::symlink_metadata(path)
        .map(|metadata| from_metadata(&metadata))
        .map_err(|error| failure(&error))
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

#[cfg(not(unix))]
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
