//! How much anybody may send, keep and wait.

use std::time::Duration;

use memdir_core::limits::TEAM_ENTRY_BYTES;

/// The limits of a server; each has a flag of the same name.
#[derive(Clone, Debug)]
pub struct Limits {
    /// UTF-8 bytes of one entry; the clients' own limit.
    pub entry_bytes: u64,
    /// Entries of a repository.
    pub entries: usize,
    /// Bytes of all entries of a repository: clients take an answer of 64 MiB at most, and a content
    /// grows a little when it becomes JSON.
    pub repository_bytes: u64,
    /// Bytes of the body of a request.
    pub body_bytes: usize,
    /// Requests a second that a token may go on sending.
    pub rate: u32,
    /// Requests that it may send at once after a pause.
    pub burst: u32,
    /// Connections at a time; further ones wait.
    pub connections: usize,
    /// How long the head of a request may take.
    pub head_time: Duration,
    /// How long the body of a request may take.
    pub body_time: Duration,
    /// How long a client may not take what it is sent.
    pub stall_time: Duration,
    /// How long requests may go on when the server is to end.
    pub grace_time: Duration,
    /// Uploads that wait to be written; further ones are told to come back.
    pub waiting: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            entry_bytes: TEAM_ENTRY_BYTES,
            entries: 10_000,
            repository_bytes: 48 * 1024 * 1024,
            body_bytes: 1024 * 1024,
            rate: 50,
            burst: 200,
            connections: 1_024,
            head_time: Duration::from_secs(30),
            body_time: Duration::from_secs(30),
            stall_time: Duration::from_secs(60),
            grace_time: Duration::from_secs(10),
            waiting: 256,
        }
    }
}

/// Bytes of all headers of a request.
pub(crate) const HEADER_BYTES: usize = 32 * 1024;
/// Headers of a request.
pub(crate) const HEADERS: usize = 100;
/// How long an upload waits to be written before its client is told that it is not known whether it was.
pub(crate) const WRITE_TIME: Duration = Duration::from_secs(25);
/// How long one transaction may take, so that a database that does not answer is noticed in time.
pub(crate) const BATCH_TIME: Duration = Duration::from_secs(20);
/// Revisions that one answer lists.
pub(crate) const REVISIONS: usize = 500;
/// Secrets that one answer lists.
pub(crate) const SECRETS: usize = 50;
