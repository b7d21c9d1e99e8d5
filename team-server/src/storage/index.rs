//! What the writer knows of a repository without its contents: the checksum of every entry, and which
//! keys fit beside them. To read ten thousand checksums for each upload would cost more than the upload,
//! so the last ones are remembered; an index counts only while the database says its version.

use std::collections::BTreeMap;

use memdir_core::team::{TeamKeys, checksum};

use super::database::Value;
use super::{OpenChange, StorageError};

/// Entries that all remembered indexes may have together; each takes about half a kilobyte.
const REMEMBERED: usize = 100_000;

/// An entry without its content.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub checksum: String,
    pub bytes: u64,
}

/// What a repository holds, without contents.
#[derive(Debug, Default)]
pub(super) struct Index {
    pub version: i64,
    /// Two databases may give the same numbers.
    pub checksum: String,
    pub entries: BTreeMap<String, Known>,
    pub bytes: u64,
    pub keys: TeamKeys,
}

/// The indexes of the repositories that were written last, by the number of the repository.
#[derive(Debug, Default)]
pub(crate) struct Indexes {
    known: BTreeMap<i64, Index>,
}

impl Indexes {
    /// The index of a repository, out of the memory if it is still true there. Whoever takes it brings
    /// it back when what was done with it is kept.
    pub(super) async fn take(
        &mut self,
        change: &mut OpenChange,
        repository: i64,
        version: i64,
        checksum: &str,
    ) -> Result<Index, StorageError> {
        match self.known.remove(&repository) {
            Some(index) if index.version == version && index.checksum == checksum => Ok(index),
            _ => Index::load(change, repository, version, checksum).await,
        }
    }

    pub(super) fn bring_back(&mut self, repository: i64, index: Index) {
        let sizes = self.known.values().map(|known| known.entries.len());
        if sizes.sum::<usize>().saturating_add(index.entries.len()) > REMEMBERED {
            self.known.clear();
        }
        self.known.insert(repository, index);
    }

    /// After a change that came to nothing.
    pub fn forget(&mut self) {
        self.known.clear();
    }
}

impl Index {
    async fn load(
        change: &mut OpenChange,
        repository: i64,
        version: i64,
        checksum: &str,
    ) -> Result<Self, StorageError> {
        let mut index = Self {
            version,
            checksum: checksum.to_owned(),
            ..Self::default()
        };
        let sql = "SELECT key, checksum, bytes FROM entries WHERE repository = $1";
        for row in change.change.rows(sql, &[Value::Int(repository)]).await? {
            let (key, checksum) = (row.text(0)?, row.text(1)?);
            let bytes = u64::try_from(row.int(2)?).unwrap_or(0);
            // An older version may have taken keys that this one refuses. They stay.
            let _ = index.keys.accept(&key);
            index.set(key, Known { checksum, bytes });
        }
        Ok(index)
    }

    pub fn set(&mut self, key: String, known: Known) {
        self.bytes = self.bytes.saturating_add(known.bytes);
        if let Some(before) = self.entries.insert(key, known) {
            self.bytes = self.bytes.saturating_sub(before.bytes);
        }
    }

    /// The version that clients see: the checksum of the sorted pairs of key and checksum. No key holds
    /// a NUL and no checksum a line end, so no two repositories give the same text.
    pub fn version_checksum(&self) -> String {
        let mut text = String::new();
        for (key, known) in &self.entries {
            text.push_str(key);
            text.push('\0');
            text.push_str(&known.checksum);
            text.push('\n');
        }
        checksum(&text)
    }
}
