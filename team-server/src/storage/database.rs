//! One database or the other behind one face: SQL with `$1`, values, rows. Both understand the same
//! statements, so everything above this file is written once.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::database::HasStatementCache;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions, PgRow};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteRow,
    SqliteSynchronous,
};
use sqlx::{
    AssertSqlSafe, ConnectOptions, Database, Encode, Executor, Postgres, Row as _, SqlSafeStr,
    Sqlite, Transaction, Type,
};

use super::{DataFile, StorageError};

/// Where the data is.
#[derive(Clone, Debug)]
pub enum Address {
    /// One file, made when it is missing.
    File {
        /// Its path.
        path: PathBuf,
        /// Bytes that it may grow to; none: what the disk has.
        max_bytes: Option<u64>,
    },
    /// A PostgreSQL server, `postgres://…`.
    Postgres(String),
}

/// How long a request waits for a free connection.
const ACQUIRE: Duration = Duration::from_secs(5);
/// How long a writer waits for another one, of this program or of a second one.
const LOCK: Duration = Duration::from_secs(10);
const READERS: u32 = 8;
/// How often a file is begun when another program begins it at the same time, and the pause between.
const STARTS: u32 = 10;
const START_PAUSE: Duration = Duration::from_millis(50);

/// Connections for reading, and the one for writing.
#[derive(Clone, Debug)]
pub(super) struct Pools {
    kind: Kind,
    /// Tells these pools from those before them.
    number: u64,
}

#[derive(Clone, Debug)]
enum Kind {
    Sqlite {
        read: SqlitePool,
        write: SqlitePool,
        file: DataFile,
    },
    Postgres {
        read: PgPool,
        write: PgPool,
    },
}

/// A parameter of a statement.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    Int(i64),
    Text(&'a str),
    Bytes(&'a [u8]),
}

/// What a statement gave.
pub(super) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

/// A change under way; dropped, it has not happened.
pub(super) enum Change {
    Sqlite(Transaction<'static, Sqlite>),
    Postgres(Transaction<'static, Postgres>),
}

impl Pools {
    pub async fn open(address: &Address) -> Result<Self, StorageError> {
        let kind = match address {
            Address::File { path, max_bytes } => open_file(path, *max_bytes).await?,
            Address::Postgres(url) => open_postgres(url).await?,
        };
        Ok(Self { kind, number: 0 })
    }

    /// The file of the data, if they are in one.
    pub fn file(&self) -> Option<&DataFile> {
        match &self.kind {
            Kind::Sqlite { file, .. } => Some(file),
            Kind::Postgres { .. } => None,
        }
    }

    /// Everything that one statement gives: one moment of the database.
    pub async fn rows(
        &self,
        sql: impl SqlSafeStr,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, StorageError> {
        match &self.kind {
            Kind::Sqlite { read, .. } => fetch(read, sql, values, Row::Sqlite).await,
            Kind::Postgres { read, .. } => fetch(read, sql, values, Row::Postgres).await,
        }
    }

    /// Begins a change. In SQLite it excludes every other one from here on; in PostgreSQL those that
    /// lock the same rows.
    pub async fn change(&self) -> Result<Change, StorageError> {
        Ok(match &self.kind {
            Kind::Sqlite { write, .. } => {
                Change::Sqlite(write.begin_with("BEGIN IMMEDIATE").await?)
            }
            Kind::Postgres { write, .. } => Change::Postgres(write.begin().await?),
        })
    }

    /// Whether a `SELECT` can lock its row.
    pub fn is_postgres(&self) -> bool {
        matches!(self.kind, Kind::Postgres { .. })
    }

    /// The same without the connections that may be lost: all to a server, or the one that writes into
    /// the file. None where others have replaced these already.
    pub fn anew(&self, current: &Self) -> Option<Self> {
        if self.number != current.number {
            return None;
        }
        let kind = match &self.kind {
            Kind::Sqlite { read, write, file } => {
                let options = (*write.connect_options()).clone();
                Kind::Sqlite {
                    read: read.clone(),
                    write: only_to(file, writer()).connect_lazy_with(options),
                    file: file.clone(),
                }
            }
            Kind::Postgres { read, .. } => postgres(&read.connect_options()),
        };
        let number = self.number.saturating_add(1);
        Some(Self { kind, number })
    }

    pub async fn close(&self) {
        match &self.kind {
            Kind::Sqlite { read, write, .. } => {
                read.close().await;
                write.close().await;
            }
            Kind::Postgres { read, write } => {
                read.close().await;
                write.close().await;
            }
        }
    }
}

impl Change {
    pub async fn rows(
        &mut self,
        sql: impl SqlSafeStr,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, StorageError> {
        match self {
            Self::Sqlite(change) => fetch(&mut **change, sql, values, Row::Sqlite).await,
            Self::Postgres(change) => fetch(&mut **change, sql, values, Row::Postgres).await,
        }
    }

    /// A statement that is about the transaction itself.
    pub async fn control(&mut self, sql: &'static str) -> Result<(), StorageError> {
        match self {
            Self::Sqlite(change) => (&mut **change)
                .execute(sqlx::raw_sql(sql))
                .await
                .map(drop)?,
            Self::Postgres(change) => {
                (&mut **change)
                    .execute(sqlx::raw_sql(sql))
                    .await
                    .map(drop)?;
            }
        }
        Ok(())
    }

    /// Returns when it is on the disk.
    pub async fn commit(self) -> Result<(), StorageError> {
        match self {
            Self::Sqlite(change) => change.commit().await?,
            Self::Postgres(change) => change.commit().await?,
        }
        Ok(())
    }
}

impl Row {
    pub fn int(&self, column: usize) -> Result<i64, StorageError> {
        Ok(match self {
            Self::Sqlite(row) => row.try_get(column)?,
            Self::Postgres(row) => row.try_get(column)?,
        })
    }

    /// The integer in a column that may be empty.
    pub fn maybe_int(&self, column: usize) -> Result<Option<i64>, StorageError> {
        Ok(match self {
            Self::Sqlite(row) => row.try_get(column)?,
            Self::Postgres(row) => row.try_get(column)?,
        })
    }

    pub fn text(&self, column: usize) -> Result<String, StorageError> {
        Ok(match self {
            Self::Sqlite(row) => row.try_get(column)?,
            Self::Postgres(row) => row.try_get(column)?,
        })
    }

    /// The text in a column that may be empty.
    pub fn maybe_text(&self, column: usize) -> Result<Option<String>, StorageError> {
        Ok(match self {
            Self::Sqlite(row) => row.try_get(column)?,
            Self::Postgres(row) => row.try_get(column)?,
        })
    }

    /// Bytes that were a text when they were written.
    pub fn content(&self, column: usize) -> Result<String, StorageError> {
        let bytes: Vec<u8> = match self {
            Self::Sqlite(row) => row.try_get(column)?,
            Self::Postgres(row) => row.try_get(column)?,
        };
        String::from_utf8(bytes).map_err(|_| StorageError::Damaged("a content is no text"))
    }
}

async fn fetch<'c, D, E>(
    executor: E,
    sql: impl SqlSafeStr,
    values: &[Value<'_>],
    row: fn(D::Row) -> Row,
) -> Result<Vec<Row>, StorageError>
where
    D: Database<Arguments: sqlx::IntoArguments<D>> + HasStatementCache,
    E: Executor<'c, Database = D>,
    i64: for<'q> Encode<'q, D> + Type<D>,
    for<'q> &'q str: Encode<'q, D> + Type<D>,
    for<'q> &'q [u8]: Encode<'q, D> + Type<D>,
{
    let sql = sql.into_sql_str();
    // Statements of many rows are all different; to keep them prepared would only fill the memory.
    let is_common = values.len() <= 16;
    let mut query = sqlx::query::<D>(sql).persistent(is_common);
    for value in values {
        query = match *value {
            Value::Int(number) => query.bind(number),
            Value::Text(text) => query.bind(text),
            Value::Bytes(bytes) => query.bind(bytes),
        };
    }
    let rows = executor.fetch_all(query).await?;
    Ok(rows.into_iter().map(row).collect())
}

/// `INSERT … VALUES` for so many rows of so many columns: `($1, $2), ($3, $4)`.
pub(super) fn placeholders(rows: usize, columns: usize) -> String {
    let mut text = String::new();
    for number in 0..rows.saturating_mul(columns) {
        let is_first = number.checked_rem(columns) == Some(0);
        text.push_str(match (number, is_first) {
            (0, _) => "(",
            (_, true) => "), (",
            _ => ", ",
        });
        text.push_str(&format!("${}", number.saturating_add(1)));
    }
    text.push(')');
    text
}

/// A statement that was put together here, from constants and placeholders only.
pub(super) fn assembled(sql: String) -> impl SqlSafeStr {
    AssertSqlSafe(sql)
}

async fn open_file(path: &Path, max_bytes: Option<u64>) -> Result<Kind, StorageError> {
    create_private(path)?;
    let options = SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        // What was acknowledged survives a loss of power, not only the end of the process.
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(LOCK)
        .disable_statement_logging();
    let limited = match max_bytes {
        Some(bytes) => {
            let pages = bytes.checked_div(4096).unwrap_or(0).max(1);
            options.clone().pragma("max_page_count", pages.to_string())
        }
        None => options.clone(),
    };
    let write = begin_file(limited).await?;
    let file = DataFile::opened(path)?;
    let readers = SqlitePoolOptions::new()
        .max_connections(READERS)
        .acquire_timeout(ACQUIRE);
    let read = only_to(&file, readers)
        .connect_with(options.pragma("query_only", "on"))
        .await?;
    Ok(Kind::Sqlite { read, write, file })
}

/// Takes no connection that was made while another file lay in the place of the data: it would go on
/// reading that one when the right one is back.
fn only_to(file: &DataFile, options: SqlitePoolOptions) -> SqlitePoolOptions {
    let file = file.clone();
    options.after_connect(move |_, _| {
        let checked = file.check().map_err(std::io::Error::other);
        Box::pin(std::future::ready(checked.map_err(sqlx::Error::Io)))
    })
}

/// The connection that writes, with the tables there. Nothing keeps two programs from finding a new file
/// at once, and SQLite does not let one of them wait; then the slower one tries again and sees that all is
/// done.
async fn begin_file(options: SqliteConnectOptions) -> Result<SqlitePool, StorageError> {
    let migrator = migrator(include_str!("../../migrations/sqlite/0001_start.sql"));
    let mut tries = 1..STARTS;
    loop {
        let begun = async {
            let write = writer().connect_with(options.clone()).await?;
            migrator.run(&write).await?;
            Ok(write)
        };
        match begun.await {
            Err(_) if tries.next().is_some() => tokio::time::sleep(START_PAUSE).await,
            begun => return begun,
        }
    }
}

fn writer() -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(1)
        .acquire_timeout(ACQUIRE)
}

/// Only the owner may read what a team knows. SQLite gives its other files the same mode.
fn create_private(path: &Path) -> Result<(), StorageError> {
    let mut options = std::fs::OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path);
    file.map(drop).map_err(|error| StorageError::File {
        path: path.to_path_buf(),
        error,
    })
}

async fn open_postgres(url: &str) -> Result<Kind, StorageError> {
    let options: PgConnectOptions = url.parse()?;
    let options = options
        .application_name("memdir-team-server")
        .disable_statement_logging();
    let pools = postgres(&options);
    if let Kind::Postgres { write, .. } = &pools {
        // Replicas that start at once wait for each other here.
        migrator(include_str!("../../migrations/postgres/0001_start.sql"))
            .run(write)
            .await?;
    }
    Ok(pools)
}

/// Pools that connect when they are used.
fn postgres(options: &PgConnectOptions) -> Kind {
    let pool = |connections| {
        PgPoolOptions::new()
            .max_connections(connections)
            .acquire_timeout(ACQUIRE)
            .after_connect(|connection, _| Box::pin(prepare(connection)))
            .connect_lazy_with(options.clone())
    };
    Kind::Postgres {
        read: pool(READERS),
        write: pool(1),
    }
}

/// A default of the database or of the role must not weaken what is promised.
async fn prepare(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    let settings = format!(
        "SET synchronous_commit = on; SET statement_timeout = {0}; SET lock_timeout = {0}; \
         SET idle_in_transaction_session_timeout = {0}",
        LOCK.as_millis()
    );
    let settings = sqlx::raw_sql(AssertSqlSafe(settings));
    connection.execute(settings).await.map(drop)
}

fn migrator(start: &'static str) -> Migrator {
    Migrator::with_migrations(vec![Migration::new(
        1,
        "start".into(),
        MigrationType::Simple,
        start.into_sql_str(),
        false,
    )])
}
