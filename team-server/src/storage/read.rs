//! What can be read of repositories. Each function is one statement, so what it gives is of one moment.

use std::collections::BTreeMap;

use super::database::Value;
use super::{Storage, StorageError};

/// A repository without its entries.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub name: String,
    pub version: i64,
    pub checksum: String,
    pub entries: i64,
    pub bytes: i64,
    pub modified_ms: i64,
}

/// A repository with everything.
#[derive(Debug)]
pub(crate) struct Contents {
    pub version: i64,
    pub checksum: String,
    pub modified_ms: i64,
    pub entries: BTreeMap<String, String>,
    pub entry_checksums: BTreeMap<String, String>,
}

/// A repository with checksums alone.
#[derive(Debug)]
pub(crate) struct Hashes {
    pub version: i64,
    pub checksum: String,
    pub entry_checksums: BTreeMap<String, String>,
}

/// One revision of an entry, without its content.
#[derive(Clone, Debug)]
pub(crate) struct RevisionHead {
    pub key: String,
    pub version: i64,
    pub checksum: String,
    pub bytes: i64,
    pub author: String,
    pub written_ms: i64,
}

/// One revision of an entry.
#[derive(Clone, Debug)]
pub(crate) struct Revision {
    pub head: RevisionHead,
    pub content: String,
}

/// Over all repositories.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub repositories: i64,
    pub entries: i64,
    pub bytes: i64,
}

impl Storage {
    /// A repository that has data.
    pub(crate) async fn head(&self, name: &str) -> Result<Option<Head>, StorageError> {
        let sql = "SELECT name, version, checksum, entries, bytes, modified_ms \
            FROM repositories WHERE name = $1 AND version > 0";
        let rows = self.rows(sql, &[Value::Text(name)]).await?;
        rows.first().map(Head::read).transpose()
    }

    /// All repositories that have data, by name.
    pub(crate) async fn heads(&self) -> Result<Vec<Head>, StorageError> {
        let sql = "SELECT name, version, checksum, entries, bytes, modified_ms \
            FROM repositories WHERE version > 0 ORDER BY name";
        let rows = self.rows(sql, &[]).await?;
        rows.iter().map(Head::read).collect()
    }

    /// A repository with all entries.
    pub(crate) async fn contents(&self, name: &str) -> Result<Option<Contents>, StorageError> {
        let sql = "SELECT r.version, r.checksum, r.modified_ms, e.key, e.checksum, v.content \
            FROM repositories r LEFT JOIN entries e ON e.repository = r.id \
            LEFT JOIN revisions v \
            ON v.repository = e.repository AND v.key = e.key AND v.version = e.version \
            WHERE r.name = $1 AND r.version > 0";
        let mut contents: Option<Contents> = None;
        for row in self.rows(sql, &[Value::Text(name)]).await? {
            let contents = match &mut contents {
                Some(contents) => contents,
                none => none.insert(Contents {
                    version: row.int(0)?,
                    checksum: row.text(1)?,
                    modified_ms: row.int(2)?,
                    entries: BTreeMap::new(),
                    entry_checksums: BTreeMap::new(),
                }),
            };
            if let Some(key) = row.maybe_text(3)? {
                contents.entry_checksums.insert(key.clone(), row.text(4)?);
                contents.entries.insert(key, row.content(5)?);
            }
        }
        Ok(contents)
    }

    /// A repository with the checksums of its entries.
    pub(crate) async fn hashes(&self, name: &str) -> Result<Option<Hashes>, StorageError> {
        let sql = "SELECT r.version, r.checksum, e.key, e.checksum \
            FROM repositories r LEFT JOIN entries e ON e.repository = r.id \
            WHERE r.name = $1 AND r.version > 0";
        let mut hashes: Option<Hashes> = None;
        for row in self.rows(sql, &[Value::Text(name)]).await? {
            let hashes = match &mut hashes {
                Some(hashes) => hashes,
                none => none.insert(Hashes {
                    version: row.int(0)?,
                    checksum: row.text(1)?,
                    entry_checksums: BTreeMap::new(),
                }),
            };
            if let Some(key) = row.maybe_text(2)? {
                hashes.entry_checksums.insert(key, row.text(3)?);
            }
        }
        Ok(hashes)
    }

    /// Revisions, the newest first: of one key or of all, older than a version if one is given.
    pub(crate) async fn history(
        &self,
        name: &str,
        key: Option<&str>,
        before: Option<i64>,
        most: i64,
    ) -> Result<Vec<RevisionHead>, StorageError> {
        let before = Value::Int(before.unwrap_or(i64::MAX));
        let rows = match key {
            Some(key) => {
                let sql = "SELECT v.key, v.version, v.checksum, CAST(length(v.content) AS BIGINT), v.author, \
                    v.written_ms FROM revisions v JOIN repositories r ON r.id = v.repository \
                    WHERE r.name = $1 AND v.version < $2 AND v.key = $4 \
                    ORDER BY v.version DESC LIMIT $3";
                let values = [
                    Value::Text(name),
                    before,
                    Value::Int(most),
                    Value::Text(key),
                ];
                self.rows(sql, &values).await?
            }
            None => {
                let sql = "SELECT v.key, v.version, v.checksum, CAST(length(v.content) AS BIGINT), v.author, \
                    v.written_ms FROM revisions v JOIN repositories r ON r.id = v.repository \
                    WHERE r.name = $1 AND v.version < $2 \
                    ORDER BY v.version DESC, v.key LIMIT $3";
                let values = [Value::Text(name), before, Value::Int(most)];
                self.rows(sql, &values).await?
            }
        };
        rows.iter().map(RevisionHead::read).collect()
    }

    /// One revision with its content.
    pub(crate) async fn revision(
        &self,
        name: &str,
        key: &str,
        version: i64,
    ) -> Result<Option<Revision>, StorageError> {
        let sql = "SELECT v.key, v.version, v.checksum, CAST(length(v.content) AS BIGINT), v.author, v.written_ms, \
            v.content FROM revisions v JOIN repositories r ON r.id = v.repository \
            WHERE r.name = $1 AND v.key = $2 AND v.version = $3";
        let values = [Value::Text(name), Value::Text(key), Value::Int(version)];
        let rows = self.rows(sql, &values).await?;
        let revision = |row| {
            Ok(Revision {
                head: RevisionHead::read(row)?,
                content: row.content(6)?,
            })
        };
        rows.first().map(revision).transpose()
    }

    /// How much there is.
    pub(crate) async fn totals(&self) -> Result<Totals, StorageError> {
        let sql = "SELECT COUNT(*), CAST(COALESCE(SUM(entries), 0) AS BIGINT), \
            CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM repositories WHERE version > 0";
        let rows = self.rows(sql, &[]).await?;
        let totals = |row: &super::database::Row| {
            Ok(Totals {
                repositories: row.int(0)?,
                entries: row.int(1)?,
                bytes: row.int(2)?,
            })
        };
        rows.first().map_or(Ok(Totals::default()), totals)
    }
}

impl Head {
    fn read(row: &super::database::Row) -> Result<Self, StorageError> {
        Ok(Self {
            name: row.text(0)?,
            version: row.int(1)?,
            checksum: row.text(2)?,
            entries: row.int(3)?,
            bytes: row.int(4)?,
            modified_ms: row.int(5)?,
        })
    }
}

impl RevisionHead {
    fn read(row: &super::database::Row) -> Result<Self, StorageError> {
        Ok(Self {
            key: row.text(0)?,
            version: row.int(1)?,
            checksum: row.text(2)?,
            bytes: row.int(3)?,
            author: row.text(4)?,
            written_ms: row.int(5)?,
        })
    }
}
