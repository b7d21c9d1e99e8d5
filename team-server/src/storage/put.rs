//! How an upload becomes a new version: the condition, the limits, the keys, and then everything or
//! nothing. What is refused is refused before anything is written.

use std::collections::BTreeMap;

use super::database::{Value, assembled, placeholders};
use super::index::{Index, Indexes, Known};
use super::{OpenChange, StorageError};
use crate::limits::Limits;

/// Rows that go into the database with one statement.
const ROWS: usize = 500;

/// What a client asks to be true of the version that it replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// It said nothing: the repository must have no data yet.
    None,
    /// `If-None-Match: *`: the same, said.
    New,
    /// `If-Match: *`: there must be data.
    Any,
    /// `If-Match`: it must be one of these.
    Version(Vec<String>),
    /// The person who runs the server does it, whatever is there.
    Operator,
}

/// A content and its checksum.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub content: String,
    pub checksum: String,
}

/// Who is said to have written something.
#[derive(Clone, Debug)]
pub(crate) struct Author {
    pub name: String,
    /// The id of the token; none for the operator.
    pub token: Option<String>,
}

/// Something to write.
#[derive(Clone, Debug)]
pub(crate) struct Upload {
    pub repository: String,
    pub condition: Condition,
    pub entries: BTreeMap<String, Entry>,
    pub author: Author,
}

/// The version after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stored {
    pub version: i64,
    pub checksum: String,
    pub modified_ms: i64,
}

/// Why an upload is not written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The version is another one; this one, if there is any.
    Outdated(Option<String>),
    /// Nothing was said about the version, and there is one.
    Unconditional(String),
    /// So many entries there would be.
    TooMany(usize),
    /// So many bytes there would be.
    TooLarge(u64),
    /// A key does not fit.
    Key(memdir_core::Error),
}

/// The row of a repository, locked.
struct Repository {
    id: i64,
    stored: Stored,
}

impl OpenChange {
    /// Writes an upload, or says why not. After an error or a refusal, undo the part.
    pub async fn put(
        &mut self,
        indexes: &mut Indexes,
        limits: &Limits,
        upload: &Upload,
        now_ms: i64,
    ) -> Result<Result<Stored, Refusal>, StorageError> {
        let Repository { id, stored } = self.lock(&upload.repository).await?;
        if let Some(refusal) = upload.condition.refusal(&stored) {
            return Ok(Err(refusal));
        }
        let mut index = indexes
            .take(self, id, stored.version, &stored.checksum)
            .await?;
        let changed: Vec<(&String, &Entry)> = upload
            .entries
            .iter()
            .filter(|(key, entry)| {
                let known = index.entries.get(*key);
                known.is_none_or(|known| known.checksum != entry.checksum)
            })
            .collect();
        if changed.is_empty() && stored.version > 0 {
            indexes.bring_back(id, index);
            return Ok(Ok(stored));
        }
        if let Some(refusal) = index.add(&changed, limits) {
            return Ok(Err(refusal));
        }
        let after = Stored {
            version: stored.version.saturating_add(1),
            checksum: index.version_checksum(),
            modified_ms: now_ms.max(stored.modified_ms),
        };
        for rows in changed.chunks(ROWS) {
            self.insert(id, &after, rows, &upload.author).await?;
        }
        self.update(id, &after, &index).await?;
        (index.version, index.checksum) = (after.version, after.checksum.clone());
        indexes.bring_back(id, index);
        Ok(Ok(after))
    }

    /// The repository's row, which nobody else changes until the end of the change. It is made when it
    /// is missing, so that two who begin it at once wait for each other, too.
    async fn lock(&mut self, name: &str) -> Result<Repository, StorageError> {
        let find = if self.is_postgres {
            "SELECT id, version, checksum, modified_ms FROM repositories WHERE name = $1 FOR UPDATE"
        } else {
            "SELECT id, version, checksum, modified_ms FROM repositories WHERE name = $1"
        };
        let make = "INSERT INTO repositories (name, version, checksum, entries, bytes, modified_ms) \
            VALUES ($1, 0, '', 0, 0, 0) ON CONFLICT (name) DO NOTHING";
        let mut found = self.change.rows(find, &[Value::Text(name)]).await?;
        if found.is_empty() {
            self.change.rows(make, &[Value::Text(name)]).await?;
            found = self.change.rows(find, &[Value::Text(name)]).await?;
        }
        let row = found
            .first()
            .ok_or(StorageError::Damaged("a row that was made is not there"))?;
        Ok(Repository {
            id: row.int(0)?,
            stored: Stored {
                version: row.int(1)?,
                checksum: row.text(2)?,
                modified_ms: row.int(3)?,
            },
        })
    }

    async fn insert(
        &mut self,
        repository: i64,
        after: &Stored,
        rows: &[(&String, &Entry)],
        author: &Author,
    ) -> Result<(), StorageError> {
        let token = author.token.as_deref().unwrap_or_default();
        let mut revisions = Vec::new();
        let mut entries = Vec::new();
        for (key, entry) in rows {
            let shared = [
                Value::Int(repository),
                Value::Text(key),
                Value::Int(after.version),
                Value::Text(&entry.checksum),
            ];
            revisions.extend(shared);
            revisions.extend([
                Value::Bytes(entry.content.as_bytes()),
                Value::Text(&author.name),
                Value::Text(token),
                Value::Int(after.modified_ms),
            ]);
            entries.extend(shared);
            entries.push(Value::Int(signed(entry.content.len())));
        }
        let sql = format!(
            "INSERT INTO revisions \
             (repository, key, version, checksum, content, author, token, written_ms) VALUES {}",
            placeholders(rows.len(), 8)
        );
        self.change.rows(assembled(sql), &revisions).await?;
        let sql = format!(
            "INSERT INTO entries (repository, key, version, checksum, bytes) VALUES {} \
             ON CONFLICT (repository, key) DO UPDATE SET version = excluded.version, \
             checksum = excluded.checksum, bytes = excluded.bytes",
            placeholders(rows.len(), 5)
        );
        self.change.rows(assembled(sql), &entries).await?;
        Ok(())
    }

    async fn update(
        &mut self,
        repository: i64,
        after: &Stored,
        index: &Index,
    ) -> Result<(), StorageError> {
        let sql = "UPDATE repositories SET version = $1, checksum = $2, entries = $3, bytes = $4, \
            modified_ms = $5 WHERE id = $6";
        let values = [
            Value::Int(after.version),
            Value::Text(&after.checksum),
            Value::Int(signed(index.entries.len())),
            Value::Int(i64::try_from(index.bytes).unwrap_or(i64::MAX)),
            Value::Int(after.modified_ms),
            Value::Int(repository),
        ];
        self.change.rows(sql, &values).await.map(drop)
    }
}

impl Condition {
    /// Why a version may not be replaced. Number 0 is that of a repository without data.
    fn refusal(&self, stored: &Stored) -> Option<Refusal> {
        let there = (stored.version > 0).then(|| stored.checksum.clone());
        match (self, there) {
            (Self::Operator, _) | (Self::None | Self::New, None) | (Self::Any, Some(_)) => None,
            (Self::None, Some(there)) => Some(Refusal::Unconditional(there)),
            (Self::Version(known), Some(there)) if known.contains(&there) => None,
            (_, there) => Some(Refusal::Outdated(there)),
        }
    }
}

impl Index {
    /// Takes entries in, or says why they do not fit; then it is no longer true.
    fn add(&mut self, entries: &[(&String, &Entry)], limits: &Limits) -> Option<Refusal> {
        for (key, entry) in entries {
            if !self.entries.contains_key(*key)
                && let Err(error) = self.keys.accept(key)
            {
                return Some(Refusal::Key(error));
            }
            let known = Known {
                checksum: entry.checksum.clone(),
                bytes: u64::try_from(entry.content.len()).unwrap_or(u64::MAX),
            };
            self.set((*key).clone(), known);
        }
        if self.entries.len() > limits.entries {
            return Some(Refusal::TooMany(self.entries.len()));
        }
        (self.bytes > limits.repository_bytes).then_some(Refusal::TooLarge(self.bytes))
    }
}

fn signed(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
