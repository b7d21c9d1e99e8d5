//! What a scan asks for, performed with std: folders are listed, files are read. Links are not
//! followed. No model for hostile folders; the crate `memdir-host` is one.

use std::fs::{DirEntry, File, read_dir};
use std::io::{Error, Read, Result, Seek, SeekFrom};
use std::time::UNIX_EPOCH;

use crate::bindings::exports::memdir::memdir::flows::{
    Content, ContentBytes, Effect, Entry, Failure, FailureCode, FileKind, Head, HeadsAnswer,
    HostInfo, ListEffect, Listing, Outcome, Platform, ReadAnswer, ReadEffect, ReadManyEffect, Stat,
};

pub fn perform(effect: Effect) -> Outcome {
    match effect {
        Effect::HostInfo => {
            let (host_id, pid) = ("me".to_owned(), Some(std::process::id()));
            Outcome::HostInfo(HostInfo {
                host_id,
                pid,
                platform: Platform::Posix,
            })
        }
        Effect::List(ListEffect { path, .. }) => match list(&path) {
            Ok(entries) => Outcome::Listing(Listing {
                entries,
                incomplete: false,
            }),
            Err(error) => Outcome::Failed(failure(&error)),
        },
        Effect::ReadMany(ReadManyEffect { paths, length, .. }) => {
            let heads = paths.iter().map(|path| head(path, length)).collect();
            Outcome::Heads(HeadsAnswer { heads })
        }
        Effect::Read(ReadEffect {
            path,
            offset,
            length,
            ..
        }) => match read(&path, offset, length) {
            Ok(answer) => Outcome::Content(answer),
            Err(error) => Outcome::Failed(failure(&error)),
        },
        // What it is stays unsaid: an effect may hold a key.
        _ => Outcome::Failed(Failure {
            code: FailureCode::Unsupported,
            message: "this program cannot do that".to_owned(),
        }),
    }
}

fn list(folder: &str) -> Result<Vec<Entry>> {
    read_dir(folder)?
        .map(|found| found.map(|found| entry(&found)))
        .collect()
}

fn entry(found: &DirEntry) -> Entry {
    let name = found.file_name();
    Entry {
        invalid_name: name.to_str().is_none(),
        name: name.to_string_lossy().into_owned(),
        stat: stat(found).ok(),
    }
}

fn stat(found: &DirEntry) -> Result<Stat> {
    let about = found.metadata()?;
    let modified = about
        .modified()?
        .duration_since(UNIX_EPOCH)
        .map_err(Error::other)?;
    Ok(Stat {
        kind: match about.file_type() {
            kind if kind.is_file() => FileKind::File,
            kind if kind.is_dir() => FileKind::Directory,
            kind if kind.is_symlink() => FileKind::Link,
            _ => FileKind::Other,
        },
        size: about.len(),
        mtime_ms: i64::try_from(modified.as_millis()).map_err(Error::other)?,
        mtime_ns: modified.subsec_nanos() % 1_000_000,
        ctime_ms: None,
        inode: None,
        mode: None,
    })
}

fn head(path: &str, length: u64) -> Head {
    match read(path, 0, length) {
        Ok(answer) => Head::Content(answer),
        Err(error) => Head::Failed(failure(&error)),
    }
}

fn read(path: &str, offset: u64, length: u64) -> Result<ReadAnswer> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    Ok(ReadAnswer {
        content: Content::Bytes(ContentBytes { bytes }),
    })
}

fn failure(error: &Error) -> Failure {
    Failure {
        code: FailureCode::Other,
        message: error.to_string(),
    }
}
