//! What the world answers, as data.

use serde::{Deserialize, Serialize};

use super::effect::{Bytes, Header, OutcomeKind};
use crate::paths::Platform;

/// The answer to one [`super::Request`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Response {
    /// The number of the request.
    pub id: u32,
    /// How it went.
    pub outcome: Outcome,
}

/// How an effect went. Which kind answers which effect: [`super::Effect::answered_by`];
/// `failed` answers any.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It is done.
    Done,
    /// Of `list`.
    Listing(Listing),
    /// Of `read`, `random`, `read-stdin`.
    Content(Bytes),
    /// Of `read-many`.
    Heads(Vec<Head>),
    /// Of `stat`, `lstat`.
    Stat(Stat),
    /// Of `read-link`, `real-path`, `model`.
    Text(String),
    /// Of `process-alive`.
    Alive(bool),
    /// Of `http`: any status that came back, also 4xx and 5xx.
    Http(HttpAnswer),
    /// Of `run`.
    Ran(RunAnswer),
    /// Of `now`.
    Now(Clock),
    /// Of `watch`.
    Changed(bool),
    /// Of `approve`.
    Approved(bool),
    /// Of `host-info`.
    HostInfo(HostInfo),
    /// It could not be done.
    Failed(Failure),
}

impl Outcome {
    /// Its kind; none for `failed`.
    #[must_use]
    pub fn kind(&self) -> Option<OutcomeKind> {
        Some(match self {
            Self::Done => OutcomeKind::Done,
            Self::Listing(_) => OutcomeKind::Listing,
            Self::Content(_) => OutcomeKind::Content,
            Self::Heads(_) => OutcomeKind::Heads,
            Self::Stat(_) => OutcomeKind::Stat,
            Self::Text(_) => OutcomeKind::Text,
            Self::Alive(_) => OutcomeKind::Alive,
            Self::Http(_) => OutcomeKind::Http,
            Self::Ran(_) => OutcomeKind::Ran,
            Self::Now(_) => OutcomeKind::Now,
            Self::Changed(_) => OutcomeKind::Changed,
            Self::Approved(_) => OutcomeKind::Approved,
            Self::HostInfo(_) => OutcomeKind::HostInfo,
            Self::Failed(_) => return None,
        })
    }
}

/// Why an effect failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// What the core decides by.
    pub code: FailureCode,
    /// The host's own words, for a person.
    pub message: String,
}

impl Failure {
    /// A failure with the host's words.
    #[must_use]
    pub fn new(code: FailureCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }
}

/// The closed list of failures that hosts tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(
    missing_docs,
    reason = "the names say it; the error table has an example of each"
)]
pub enum FailureCode {
    NotFound,
    Exists,
    Permission,
    ReadOnly,
    NoSpace,
    NotADirectory,
    IsADirectory,
    NotEmpty,
    Loop,
    NameTooLong,
    InvalidName,
    TooLarge,
    TooManyOpen,
    CrossDevice,
    Busy,
    Unsupported,
    Timeout,
    Network,
    Aborted,
    Other,
}

/// The entries of one folder, in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listing {
    /// Without `.` and `..`.
    pub entries: Vec<Entry>,
    /// True when the host could not list to the end.
    #[serde(default)]
    pub incomplete: bool,
}

/// One name in a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Entry {
    /// The name; with replacement characters when it is not UTF-8.
    pub name: String,
    /// True when the name on disk is not UTF-8.
    #[serde(default)]
    pub invalid_name: bool,
    /// Its `lstat`; null when the entry went away meanwhile or could not be asked.
    pub stat: Option<Stat>,
}

/// What a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileKind {
    /// A regular file, the only kind that is ever opened.
    File,
    /// A folder.
    Directory,
    /// A symbolic link.
    Link,
    /// FIFO, socket, device.
    Other,
}

/// About one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Stat {
    /// What it is.
    pub kind: FileKind,
    /// Bytes.
    pub size: u64,
    /// Modified, whole milliseconds since the epoch, rounded down.
    pub mtime_ms: i64,
    /// Nanoseconds within that millisecond, as far as the host knows them.
    #[serde(default)]
    pub mtime_ns: u32,
    /// Status changed, whole milliseconds since the epoch, where there is such a time.
    #[serde(default)]
    pub ctime_ms: Option<i64>,
    /// File number, where there is one.
    #[serde(default)]
    pub inode: Option<u64>,
    /// Permission bits, where there are any.
    #[serde(default)]
    pub mode: Option<u32>,
}

/// One file of `read-many`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Head {
    /// Its first bytes.
    Content(Bytes),
    /// It could not be read.
    Failed(Failure),
}

/// An HTTP answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpAnswer {
    /// 100 to 599.
    pub status: u16,
    /// Names in lower case, sorted by name.
    pub headers: Vec<Header>,
    /// The whole body.
    pub body: Bytes,
}

/// What a program left behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RunAnswer {
    /// Null when a signal ended it.
    pub exit_code: Option<i32>,
    /// The first `max_bytes` of it.
    pub stdout: Bytes,
    /// The first `max_bytes` of it.
    pub stderr: Bytes,
}

/// The wall clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Clock {
    /// Milliseconds since the epoch.
    pub ms: i64,
    /// Minutes that the local zone is ahead of UTC.
    pub offset_minutes: i32,
}

/// Who performs the effects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HostInfo {
    /// The same for all processes of one machine (or one sandbox), different elsewhere.
    pub host_id: String,
    /// Null where there are no processes (WASI).
    pub pid: Option<u32>,
    /// Whose path rules hold.
    pub platform: Platform,
}
