//! The effects that look and change nothing. Scans live on `list` and `read_many`, so each entry
//! costs one call to the system there, and each file three.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};

use memdir_core::flow::{Bytes, Entry, Failure, FailureCode, Head, Listing};
use memdir_core::limits::READ_MANY_BYTES;

use crate::failure::{failure, no_regular_file, not_utf8};
use crate::within::Base;
use crate::{open, stat};

/// The entries of a folder, each with its `lstat`.
#[cfg(unix)]
pub(crate) fn list(path: &str, within: Option<&str>) -> Result<Listing, Failure> {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use rustix::fs::{AtFlags, Dir, statat};

    let folder = Base::open(within.unwrap_or(path))?.folder(path)?;
    let mut entries = Dir::read_from(&folder).map_err(|errno| failure(&errno.into()))?;
    let mut listing = Listing::default();
    while let Some(entry) = entries.read() {
        let Ok(entry) = entry else {
            listing.incomplete = true;
            break;
        };
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let stat = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).ok();
        listing.entries.push(named(
            OsStr::from_bytes(name.to_bytes()),
            stat.as_ref().map(stat::from_system),
        ));
    }
    Ok(listing)
}

/// The entries of a folder, each with its `lstat`.
#[cfg(not(unix))]
pub(crate) fn list(path: &str, within: Option<&str>) -> Result<Listing, Failure> {
    Base::open(within.unwrap_or(path))?.folder(path, || {
        let mut listing = Listing::default();
        for entry in std::fs::read_dir(path).map_err(|error| failure(&error))? {
            let Ok(entry) = entry else {
                // std ends the iteration after an error. WASI ends it at a name that is not UTF-8.
                listing.incomplete = true;
                break;
            };
            let stat = entry
                .metadata()
                .ok()
                .map(|metadata| stat::from_metadata(&metadata));
            listing.entries.push(named(&entry.file_name(), stat));
        }
        Ok(listing)
    })
}

fn named(name: &std::ffi::OsStr, stat: Option<memdir_core::flow::Stat>) -> Entry {
    Entry {
        name: name.to_string_lossy().into_owned(),
        invalid_name: name.to_str().is_none(),
        stat,
    }
}

/// At most `length` bytes from `offset`.
pub(crate) fn read(
    path: &str,
    within: Option<&str>,
    offset: u64,
    length: u64,
) -> Result<Bytes, Failure> {
    let base = within.map(Base::open).transpose()?;
    let mut file = open_file(base.as_ref(), path)?;
    open::ensure_regular(&file)?;
    if offset > 0 {
        file.seek(SeekFrom::Start(offset))
            .map_err(|error| failure(&error))?;
    }
    // One byte more than there is shows the end; the length is a limit, and no promise of the file's.
    let size = file.metadata().map_or(0, |metadata| metadata.len());
    let room = size.saturating_sub(offset).saturating_add(1).min(length);
    let mut bytes =
        Vec::with_capacity(usize::try_from(room.min(READ_MANY_BYTES as u64)).unwrap_or(0));
    file.take(length)
        .read_to_end(&mut bytes)
        .map_err(|error| failure(&error))?;
    Ok(Bytes(bytes))
}

/// The first `length` bytes of each file.
pub(crate) fn read_many(
    paths: &[String],
    within: Option<&str>,
    length: u64,
) -> Result<Vec<Head>, Failure> {
    let length = usize::try_from(length)
        .map_err(|_| Failure::new(FailureCode::TooLarge, "the length is too large"))?;
    let base = within.map(Base::open).transpose()?;
    let mut buffer = vec![0; length];
    Ok(paths
        .iter()
        .map(|path| match read_head(base.as_ref(), path, &mut buffer) {
            Ok(count) => Head::Content(Bytes(buffer.get(..count).unwrap_or_default().to_vec())),
            Err(failure) => Head::Failed(failure),
        })
        .collect())
}

fn open_file(base: Option<&Base>, path: &str) -> Result<File, Failure> {
    match base {
        Some(base) => base.file(path),
        None => open::for_reading(path),
    }
}

/// One call reads a regular file as far as the buffer reaches; should a file system give less, the
/// head is shorter, which the core sees by the size.
fn read_head(base: Option<&Base>, path: &str, buffer: &mut [u8]) -> Result<usize, Failure> {
    let mut file = open_file(base, path)?;
    let count = read_once(&mut file, buffer)?;
    if count == 0 {
        // An empty file, or a FIFO without a writer.
        open::ensure_regular(&file)?;
    }
    Ok(count)
}

fn read_once(file: &mut File, buffer: &mut [u8]) -> Result<usize, Failure> {
    loop {
        match file.read(buffer) {
            Ok(count) => return Ok(count),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // A FIFO with a writer that has not written yet.
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Err(no_regular_file()),
            Err(error) => return Err(failure(&error)),
        }
    }
}

/// Where a link points, as it is written.
pub(crate) fn read_link(path: &str) -> Result<String, Failure> {
    let target = std::fs::read_link(path).map_err(|error| failure(&error))?;
    target
        .into_os_string()
        .into_string()
        .map_err(|_| not_utf8())
}
