//! What a flow can ask of the world, as data.

use serde::{Deserialize, Serialize};

/// One effect with the number that its answer carries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Request {
    /// Unique within the flow.
    pub id: u32,
    /// What to do.
    pub effect: Effect,
}

/// Raw bytes. In JSON a list of numbers; a string is accepted too and stands for its UTF-8.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Contents are the user's notes: a log shows how much there was, not what.
        write!(f, "Bytes({} bytes)", self.0.len())
    }
}

impl Serialize for Bytes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Bytes;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("bytes, a list of bytes or a string")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }
            fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Bytes, E> {
                Ok(Bytes(bytes))
            }
            fn visit_str<E>(self, text: &str) -> Result<Bytes, E> {
                Ok(Bytes(text.as_bytes().to_vec()))
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                mut seq: A,
            ) -> Result<Bytes, A::Error> {
                let mut bytes = Vec::new();
                while let Some(byte) = seq.next_element()? {
                    bytes.push(byte);
                }
                Ok(Bytes(bytes))
            }
        }
        deserializer.deserialize_byte_buf(Visitor)
    }
}

/// What is written: text (UTF-8) or bytes.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    /// Written as UTF-8.
    Text(String),
    /// Written as it is.
    Bytes(Bytes),
}

impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // As with `Bytes`: how much, not what.
        write!(f, "Content({} bytes)", self.as_bytes().len())
    }
}

impl Content {
    /// The bytes that reach the file or the wire.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => &bytes.0,
        }
    }
}

/// One HTTP header, in a request or in an answer.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Lower case in answers.
    pub name: String,
    /// As it stands on the wire.
    pub value: String,
}

impl std::fmt::Debug for Header {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Values hold keys, and so do variables, for which this type stands too: a log shows which
        // there were.
        write!(f, "Header({})", self.name)
    }
}

/// Where [`Effect::Print`] goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stream {
    /// Results.
    Stdout,
    /// Everything else.
    Stderr,
}

impl Stream {
    /// What people call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stdout => "standard output",
            Self::Stderr => "standard error",
        }
    }
}

/// Something the user of the library may want to know while a flow runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// What kind of event, such as `warning`.
    pub kind: String,
    /// Relative to the store, when it is about one file; absolute in `instructions`.
    pub path: Option<String>,
    /// A code of [`crate::report::ReportCode`] when the event is about something cut or skipped; in
    /// `instructions` why the file was loaded; `updating` where a `dream` is at a file; `said` for what
    /// its model says in a turn.
    pub code: Option<String>,
    /// One line in plain words.
    pub message: String,
}

impl Event {
    /// An event that is about no file.
    pub(crate) fn new(kind: &str, message: String) -> Self {
        Self {
            kind: kind.to_owned(),
            path: None,
            code: None,
            message,
        }
    }
}

/// Everything that a flow can ask for. Paths are absolute, in the host's own form.
///
/// With `within`, a folder that holds the path, no link below that folder is followed (`loop`), not
/// even one that has just taken the place of a folder; the way to `within` itself may hold links.
/// Without it only the last name of a file must be no link.
///
/// What a host makes while it runs as root belongs to the owner of the folder that it is made in, where
/// files have owners: else a user could no longer read a store that root wrote to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum Effect {
    /// The entries of one folder, each with its `lstat`; answers `listing`.
    List {
        /// The folder.
        path: String,
        /// What it must not leave.
        within: Option<String>,
    },
    /// Part of one regular file, never through a link at the last name; answers `content`.
    Read {
        /// The file.
        path: String,
        /// What it must not leave.
        within: Option<String>,
        /// Where to start, in bytes.
        offset: u64,
        /// At most so many bytes.
        length: u64,
    },
    /// The heads of many regular files; answers `heads`, in the order of the paths.
    /// At most [`crate::limits::READ_MANY_FILES`] files and
    /// [`crate::limits::READ_MANY_BYTES`] in all.
    ReadMany {
        /// The files.
        paths: Vec<String>,
        /// What they must not leave.
        within: Option<String>,
        /// At most so many bytes of each.
        length: u64,
    },
    /// About what the path leads to; answers `stat`.
    Stat {
        /// The path.
        path: String,
    },
    /// About the path itself, a link not followed; answers `stat`.
    Lstat {
        /// The path.
        path: String,
    },
    /// Where a link points, as it is written; answers `text`.
    ReadLink {
        /// The link.
        path: String,
    },
    /// The path with every link resolved; answers `text`.
    RealPath {
        /// The path.
        path: String,
    },
    /// A whole file; answers `done`.
    Write {
        /// The file.
        path: String,
        /// What it must not leave.
        within: Option<String>,
        /// All of its content.
        content: Content,
        /// None: the file must not exist yet (`exists` otherwise). Some: the content is written
        /// to this new temporary file in the same folder, which is then renamed over `path`.
        via: Option<String>,
        /// Permission bits where the host has them.
        mode: u32,
        /// Whether the content, and with `via` the name, are on disk (fsync) when answered. Without
        /// it a power failure may leave a file without content. The name of a new file lasts when a
        /// rename to its place does.
        sync: bool,
    },
    /// Adds to the end of a file, creating it; answers `done`.
    Append {
        /// The file.
        path: String,
        /// What to add.
        content: Content,
        /// Permission bits of a new file where the host has them.
        mode: u32,
    },
    /// A folder and its missing parents; one that exists is fine; answers `done`.
    MakeDir {
        /// The folder.
        path: String,
        /// What it must not leave, and what is not made itself.
        within: Option<String>,
        /// Permission bits of every folder created, where the host has them.
        mode: u32,
    },
    /// A file, a link or an empty folder goes away; answers `done`.
    Remove {
        /// The path.
        path: String,
        /// What it must not leave.
        within: Option<String>,
    },
    /// Renames what is at `from`, a link itself; answers `done`.
    Rename {
        /// The old path.
        from: String,
        /// The new path.
        to: String,
        /// What both must not leave.
        within: Option<String>,
        /// Whether a file at the target is replaced; else it fails with `exists` when anything is
        /// there, and nothing has changed.
        replace: bool,
        /// Whether the new name is on disk (fsync of the folder) when answered.
        sync: bool,
    },
    /// A second name for the same file (a hard link): both names show whatever is written into it.
    /// A link at `from` is not followed. Fails with `exists` when anything has the new name, with
    /// `unsupported` where files have one name only; answers `done`.
    Link {
        /// The file.
        from: String,
        /// The new name.
        to: String,
        /// What both must not leave.
        within: Option<String>,
    },
    /// Sets the modification time; answers `done`.
    SetMtime {
        /// The file.
        path: String,
        /// Milliseconds since the epoch.
        mtime_ms: i64,
    },
    /// Whether a process of this machine runs; answers `alive`.
    ProcessAlive {
        /// Its number.
        pid: u32,
    },
    /// One HTTP exchange; answers `http`. Redirects are not followed, the host asks for
    /// `accept-encoding: identity`, a body beyond `max_bytes` fails with `too-large`.
    Http {
        /// Upper case.
        method: String,
        /// `http://` or `https://`.
        url: String,
        /// Beside those that the host must send.
        headers: Vec<Header>,
        /// None sends no body.
        body: Option<Content>,
        /// For the whole exchange; then `timeout`.
        timeout_ms: u64,
        /// Of the answer's body.
        max_bytes: u64,
    },
    /// The caller's own model function; answers `text`, what the model said.
    Model {
        /// The request as JSON.
        request: String,
        /// For the whole call; then `timeout`.
        timeout_ms: u64,
    },
    /// The caller's own function that gives a token for the team's server; answers `text`.
    Token {
        /// For the whole call; then `timeout`.
        timeout_ms: u64,
    },
    /// Whether the caller's own function lets instructions import a file outside of the working tree;
    /// answers `approved`. Fails with `unsupported` where there is no such function.
    Approve {
        /// The file, with every link resolved.
        path: String,
        /// The file that imports it.
        parent: String,
        /// For the whole call; then `timeout`.
        timeout_ms: u64,
    },
    /// A program, never through a shell; answers `ran`.
    Run {
        /// The program and its arguments.
        argv: Vec<String>,
        /// Its working directory.
        cwd: String,
        /// Its whole environment.
        env: Vec<Header>,
        /// None: empty.
        stdin: Option<Content>,
        /// Then it is killed: `timeout`.
        timeout_ms: u64,
        /// Kept of each output stream; what is over is dropped.
        max_bytes: u64,
    },
    /// The wall clock; answers `now`.
    Now,
    /// Waits; answers `done`.
    Sleep {
        /// Milliseconds.
        ms: u64,
    },
    /// Random bytes for names and tokens; answers `content`.
    Random {
        /// How many.
        length: u32,
    },
    /// Waits for a change below a folder; answers `changed`, false when the time ran out.
    Watch {
        /// The folder.
        path: String,
        /// How long to wait.
        timeout_ms: u64,
    },
    /// Text on the terminal; answers `done`.
    Print {
        /// Which stream.
        stream: Stream,
        /// Written as it is.
        text: String,
    },
    /// All of the standard input, or its next line; answers `content`.
    ReadStdin {
        /// More than this fails with `too-large`.
        max_bytes: u64,
        /// Whether only the next line is read, without its end; what follows it may be lost.
        line: bool,
    },
    /// Opens the user's editor, at the terminal of this process, and waits until it ends; answers `done`.
    /// Fails with `not-found` when there is no such program, with `other` when it ends with another code than
    /// 0.
    OpenEditor {
        /// The program and its arguments, the file among them.
        argv: Vec<String>,
    },
    /// Who performs the effects; answers `host-info`.
    HostInfo,
    /// Tells the user's event listener; has no outcome.
    Emit {
        /// The event.
        event: Event,
    },
}

/// The kind of a successful [`crate::flow::Outcome`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as the variants of Outcome")]
pub enum OutcomeKind {
    Done,
    Listing,
    Content,
    Heads,
    Stat,
    Text,
    Alive,
    Http,
    Ran,
    Now,
    Changed,
    Approved,
    HostInfo,
}

impl Effect {
    /// The kind of outcome that answers this effect; none for [`Effect::Emit`].
    #[must_use]
    pub fn answered_by(&self) -> Option<OutcomeKind> {
        Some(match self {
            Self::List { .. } => OutcomeKind::Listing,
            Self::Read { .. } | Self::Random { .. } | Self::ReadStdin { .. } => {
                OutcomeKind::Content
            }
            Self::ReadMany { .. } => OutcomeKind::Heads,
            Self::Stat { .. } | Self::Lstat { .. } => OutcomeKind::Stat,
            Self::ReadLink { .. }
            | Self::RealPath { .. }
            | Self::Model { .. }
            | Self::Token { .. } => OutcomeKind::Text,
            Self::Write { .. }
            | Self::Append { .. }
            | Self::MakeDir { .. }
            | Self::Remove { .. }
            | Self::Rename { .. }
            | Self::Link { .. }
            | Self::SetMtime { .. }
            | Self::Sleep { .. }
            | Self::Print { .. }
            | Self::OpenEditor { .. } => OutcomeKind::Done,
            Self::ProcessAlive { .. } => OutcomeKind::Alive,
            Self::Http { .. } => OutcomeKind::Http,
            Self::Run { .. } => OutcomeKind::Ran,
            Self::Now => OutcomeKind::Now,
            Self::Watch { .. } => OutcomeKind::Changed,
            Self::Approve { .. } => OutcomeKind::Approved,
            Self::HostInfo => OutcomeKind::HostInfo,
            Self::Emit { .. } => return None,
        })
    }

    /// Whether a cancelled host may stop this effect midway and answer `aborted`. File effects
    /// always finish.
    #[must_use]
    pub fn stoppable(&self) -> bool {
        matches!(
            self,
            Self::Http { .. }
                | Self::Model { .. }
                | Self::Token { .. }
                | Self::Approve { .. }
                | Self::Sleep { .. }
                | Self::Run { .. }
                | Self::Watch { .. }
                | Self::ReadStdin { line: true, .. }
        )
    }
}
