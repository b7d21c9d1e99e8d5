//! The effects that look and change nothing. Scans live on `list` and `read_many`, so each entry
//! costs one call to the system there, and each file three.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};

use memdir_core::flow::{Bytes, Entry, Failure, FailureCode, Head, Listing};

use crate::failure::{failure, no_regular_file, not_utf8};
use crate::{open, stat};

/// The entries of a folder, each with its `lstat`.
pub(crate) fn list(path: &str) -> Result<Listing, Failure> {
    let mut listing = Listing::default();
    for entry in std::fs::read_dir(path).map_err(|error| failure(&error))? {
        let Ok(entry) = entry else {
            // std ends the iteration after an error. WASI ends it at a name that is not UTF-8.
            listing.incomplete = true;
            break;
        };
        let (name, invalid_name) = match entry.file_name().into_string() {
            Ok(name) => (name, false),
            Err(name) => (name.to_string_lossy().into_owned(), true),
        };
        let stat = entry
            .metadata()
            .ok()
            .map(|metadata| stat::from_metadata(&metadata));
        listing.entries.push(Entry {
            name,
            invalid_name,
            stat,
        });
    }
    Ok(listing)
}

/// At most `length` bytes from `offset`.
pub(crate) fn read(path: &str, offset: u64, length: u64) -> Result<Bytes, Failure> {
    let mut file = open::for_reading(path)?;
    open::ensure_regular(&file)?;
    if offset > 0 {
        file.seek(SeekFrom::Start(offset))
            .map_err(|error| failure(&error))?;
    }
    // Grows with what is there: the length is a limit, and no promise of the file's.
    let mut bytes = Vec::new();
    file.take(length)
        .read_to_end(&mut bytes)
        .map_err(|error| failure(&error))?;
    Ok(Bytes(bytes))
}

/// The first `length` bytes of each file.
pub(crate) fn read_many(paths: &[String], length: u64) -> Vec<Head> {
    let Ok(length) = usize::try_from(length) else {
        return paths
            .iter()
            .map(|_| {
                Head::Failed(Failure::new(
                    FailureCode::TooLarge,
                    "the length is too large",
                ))
            })
            .collect();
    };
    let mut buffer = vec![0; length];
    paths
        .iter()
        .map(|path| match read_head(path, &mut buffer) {
            Ok(count) => Head::Content(Bytes(buffer.get(..count).unwrap_or_default().to_vec())),
            Err(failure) => Head::Failed(failure),
        })
        .collect()
}

/// One call reads a regular file as far as the buffer reaches; should a file system give less, the
/// head is shorter, which the core sees by the size.
fn read_head(path: &str, buffer: &mut [u8]) -> Result<usize, Failure> {
    let mut file = open::for_reading(path)?;
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
