//! What is kept, and how it changes: tokens, repositories, entries and every revision of them. A
//! change is one transaction that the [`crate::writer`] makes; reading is always one statement, so
//! nobody sees half a change.

mod database;
mod index;
mod put;
mod read;
mod tokens;

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

pub use database::Address;
pub(crate) use index::Indexes;
pub(crate) use put::{Author, Condition, Entry, Refusal, Stored, Upload};
pub(crate) use read::{Contents, Hashes, Head, RevisionHead, Totals};
pub use tokens::TokenHead;

use database::{Change, Pools, Row, Value};

/// Why the database did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// There is no space left for the data.
    #[error("there is no space left for the data")]
    Full,
    /// The file of the data cannot be opened.
    #[error("cannot open {}: {error}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The file of the data was removed or another one was put in its place.
    #[error("the file of the data is gone or another one; put it back, or restart the server")]
    Moved,
    /// The data are not what this program wrote.
    #[error("the data are damaged: {0}")]
    Damaged(&'static str),
    /// The database is made for another version of this program.
    #[error("the database cannot be brought to this version: {0}")]
    Migration(#[from] sqlx::migrate::MigrateError),
    /// It does not answer, is locked, or cannot write.
    #[error("the database does not answer as it should: {0}")]
    Unavailable(sqlx::Error),
}

impl From<sqlx::Error> for StorageError {
    fn from(error: sqlx::Error) -> Self {
        let code = match &error {
            sqlx::Error::Database(database) => database.code(),
            _ => None,
        };
        match code.as_deref() {
            // SQLITE_FULL, and PostgreSQL's disk_full.
            Some("13" | "53100") => Self::Full,
            _ => Self::Unavailable(error),
        }
    }
}

/// How long one statement that reads may take: longer than the database itself lets it.
const READ_TIME: Duration = Duration::from_secs(12);

/// The database.
#[derive(Clone, Debug)]
pub struct Storage {
    pools: Arc<RwLock<Pools>>,
    /// None where there is no file.
    file: Option<DataFile>,
}

/// The file of the data as it was when it was opened.
#[derive(Clone, Debug)]
struct DataFile {
    path: PathBuf,
    identity: Identity,
}

impl DataFile {
    fn opened(path: &Path) -> Result<Self, StorageError> {
        Ok(Self {
            path: path.to_path_buf(),
            identity: identity(path)?,
        })
    }

    /// Whether it is still in its place. SQLite goes on writing into a file that was removed, and all of it
    /// would be lost.
    fn check(&self) -> Result<(), StorageError> {
        match identity(&self.path) {
            Ok(identity) if identity == self.identity => Ok(()),
            _ => Err(StorageError::Moved),
        }
    }
}

/// What tells one file from another under the same name.
type Identity = Option<(u64, u64)>;

impl Storage {
    /// Opens the database and brings its tables to this version.
    ///
    /// # Errors
    /// When it cannot be reached or belongs to a newer version.
    pub async fn open(address: &Address) -> Result<Self, StorageError> {
        let pools = Pools::open(address).await?;
        let file = pools.file().cloned();
        let pools = Arc::new(RwLock::new(pools));
        Ok(Self { pools, file })
    }

    fn pools(&self) -> Pools {
        let pools = self.pools.read().unwrap_or_else(PoisonError::into_inner);
        pools.clone()
    }

    /// What one statement gives, within a time. A machine that was cut off does not say so: then the
    /// connections to it are given up for new ones.
    async fn rows(
        &self,
        sql: &'static str,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, StorageError> {
        self.check_file()?;
        let pools = self.pools();
        match tokio::time::timeout(READ_TIME, pools.rows(sql, values)).await {
            Ok(rows) => rows,
            Err(_) => {
                self.give_up(&pools);
                Err(StorageError::Unavailable(sqlx::Error::PoolTimedOut))
            }
        }
    }

    fn give_up(&self, pools: &Pools) {
        let mut current = self.pools.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(anew) = pools.anew(&current) {
            *current = anew;
        }
    }

    /// A change, with the promise that what is committed is where the next start will look.
    pub(crate) async fn change(&self) -> Result<OpenChange, StorageError> {
        self.check_file()?;
        let pools = self.pools();
        let change = pools.change().await?;
        let is_postgres = pools.is_postgres();
        Ok(OpenChange {
            change,
            is_postgres,
        })
    }

    /// Does a change within a time, after which it is not known whether it has happened. Whatever it
    /// fails with, its connection is not used again: when a disk is full SQLite ends a transaction by
    /// itself, and what the connection believes of it is wrong from then on.
    pub(crate) async fn within<T>(
        &self,
        time: Duration,
        change: impl Future<Output = Result<T, StorageError>>,
    ) -> Result<T, StorageError> {
        let pools = self.pools();
        let done = tokio::time::timeout(time, change).await;
        let done = done.unwrap_or(Err(StorageError::Unavailable(sqlx::Error::PoolTimedOut)));
        if done.is_err() {
            self.give_up(&pools);
        }
        done
    }

    /// Whether it can be read.
    pub(crate) async fn check(&self) -> Result<(), StorageError> {
        self.rows("SELECT id FROM probe", &[]).await.map(drop)
    }

    fn check_file(&self) -> Result<(), StorageError> {
        self.file.as_ref().map_or(Ok(()), DataFile::check)
    }

    /// Ends what is open, in good order.
    pub async fn close(&self) {
        self.pools().close().await;
    }
}

/// A change under way.
pub(crate) struct OpenChange {
    change: Change,
    is_postgres: bool,
}

impl OpenChange {
    /// Begins a part that can be undone by itself.
    pub async fn begin_part(&mut self) -> Result<(), StorageError> {
        self.change.control("SAVEPOINT part").await
    }

    /// Keeps the part, until the whole is committed.
    pub async fn keep_part(&mut self) -> Result<(), StorageError> {
        self.change.control("RELEASE SAVEPOINT part").await
    }

    /// Undoes the part alone.
    pub async fn undo_part(&mut self) -> Result<(), StorageError> {
        self.change.control("ROLLBACK TO SAVEPOINT part").await?;
        self.keep_part().await
    }

    /// Writes something that says nothing, to learn whether writing works.
    pub async fn probe(&mut self, now_ms: i64) -> Result<(), StorageError> {
        let sql = "UPDATE probe SET written_ms = $1 WHERE id = 1";
        self.change.rows(sql, &[Value::Int(now_ms)]).await.map(drop)
    }

    /// Returns when everything in it is on the disk.
    pub async fn commit(self) -> Result<(), StorageError> {
        self.change.commit().await
    }
}

#[cfg(unix)]
fn identity(path: &Path) -> Result<Identity, StorageError> {
    use std::os::unix::fs::MetadataExt;
    match std::fs::metadata(path) {
        Ok(data) => Ok(Some((data.dev(), data.ino()))),
        Err(error) => Err(StorageError::File {
            path: path.to_path_buf(),
            error,
        }),
    }
}

#[cfg(not(unix))]
fn identity(path: &Path) -> Result<Identity, StorageError> {
    match std::fs::metadata(path) {
        Ok(_) => Ok(None),
        Err(error) => Err(StorageError::File {
            path: path.to_path_buf(),
            error,
        }),
    }
}
