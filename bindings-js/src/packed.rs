//! What can be large, in a form that crosses in a few copies: an object for each of 10,000 files
//! would hold the event loop for 10 ms, and one for each memory doubles the time of a warm scan. The
//! other side is js/pack.ts.

use memdir_core::Error;
use memdir_core::flow::{Bytes, Entry, Failure, FileKind, Head, Listing, Stat};
use memdir_core::memory::{MemoryHeader, MemoryType, Scope};
use memdir_core::report::ReportEntry;
use memdir_core::store::Scan;
use serde::Serialize;

/// A listing: the names, separated by NUL, and eight numbers for each. Those are its kind (0 file,
/// 1 directory, 2 link, 3 other, -1 when there is no stat), 1 when the name is not UTF-8, and the
/// size, mtimeMs, mtimeNs, ctimeMs, inode and mode, of which the last three may be NaN for none.
pub fn listing(names: &str, numbers: &[f64], incomplete: bool) -> Result<Listing, Error> {
    let (rows, rest) = numbers.as_chunks::<8>();
    let count = if rows.is_empty() {
        0
    } else {
        names.split('\0').count()
    };
    if !rest.is_empty() || rows.len() != count {
        return Err(Error::protocol(format!(
            "a listing has {count} names and {} numbers",
            numbers.len()
        )));
    }
    let entries = names
        .split('\0')
        .zip(rows)
        .map(|(name, row)| entry(name, row))
        .collect::<Result<_, _>>()?;
    Ok(Listing {
        entries,
        incomplete,
    })
}

fn entry(name: &str, row: &[f64; 8]) -> Result<Entry, Error> {
    let [
        kind,
        invalid_name,
        size,
        mtime_ms,
        mtime_ns,
        ctime_ms,
        inode,
        mode,
    ] = *row;
    let kind = match kind {
        0.0 => Some(FileKind::File),
        1.0 => Some(FileKind::Directory),
        2.0 => Some(FileKind::Link),
        3.0 => Some(FileKind::Other),
        -1.0 => None,
        _ => return Err(Error::protocol("there is no such kind of file")),
    };
    let stat = kind.map(|kind| Stat {
        kind,
        size: size as u64,
        mtime_ms: mtime_ms as i64,
        mtime_ns: mtime_ns as u32,
        ctime_ms: known(ctime_ms).map(|number| number as i64),
        inode: known(inode).map(|number| number as u64),
        mode: known(mode).map(|number| number as u32),
    });
    Ok(Entry {
        name: name.to_owned(),
        invalid_name: invalid_name != 0.0,
        stat,
    })
}

fn known(number: f64) -> Option<f64> {
    (!number.is_nan()).then_some(number)
}

/// The heads of many files: their bytes one after the other, and the length of each; -1 stands for
/// the next of the failures.
pub fn heads(
    mut contents: &[u8],
    lengths: &[i32],
    failures: Vec<Failure>,
) -> Result<Vec<Head>, Error> {
    let mut failures = failures.into_iter();
    let heads = lengths
        .iter()
        .map(|length| match usize::try_from(*length) {
            Ok(length) => contents
                .split_off(..length)
                .map(|bytes| Head::Content(Bytes(bytes.to_vec()))),
            Err(_) => failures.next().map(Head::Failed),
        })
        .collect::<Option<Vec<Head>>>()
        .ok_or_else(|| Error::protocol("heads are missing"))?;
    if contents.is_empty() && failures.next().is_none() {
        Ok(heads)
    } else {
        Err(Error::protocol("there is more than the heads hold"))
    }
}

/// What a scan found: the texts of all memories one after the other, and nine numbers for each.
/// Those are the lengths of its path, name and description in UTF-16 units, its type (0 user,
/// 1 feedback, 2 project, 3 reference), 1 when its scope is the team, 1 when it is pinned,
/// modifiedMs, mtimeMs and size, where NaN stands for none.
#[derive(Serialize)]
pub struct PackedScan {
    texts: String,
    /// The numbers as they lie in memory.
    numbers: Bytes,
    report: Vec<ReportEntry>,
}

/// Packs a scan, see [`PackedScan`].
pub fn scan(Scan { memories, report }: Scan) -> PackedScan {
    let mut texts = String::new();
    let mut numbers = Vec::with_capacity(memories.len() * 72);
    for memory in memories {
        let MemoryHeader {
            path,
            name,
            description,
            kind,
            scope,
            pinned,
            modified_ms,
            mtime_ms,
            size,
        } = memory;
        let mut put = |text: Option<String>| {
            text.map_or(f64::NAN, |text| {
                texts.push_str(&text);
                text.chars().map(char::len_utf16).sum::<usize>() as f64
            })
        };
        let row = [
            put(Some(path)),
            put(name),
            put(description),
            kind.map_or(f64::NAN, number_of),
            f64::from(u8::from(scope == Scope::Team)),
            f64::from(u8::from(pinned)),
            modified_ms.map_or(f64::NAN, |time| time as f64),
            mtime_ms as f64,
            size as f64,
        ];
        for number in row {
            numbers.extend_from_slice(&number.to_le_bytes());
        }
    }
    PackedScan {
        texts,
        numbers: Bytes(numbers),
        report,
    }
}

fn number_of(kind: MemoryType) -> f64 {
    match kind {
        MemoryType::User => 0.0,
        MemoryType::Feedback => 1.0,
        MemoryType::Project => 2.0,
        MemoryType::Reference => 3.0,
    }
}
