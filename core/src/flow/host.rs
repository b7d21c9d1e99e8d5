//! The handle through which a flow asks for effects: one async method each.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use super::effect::{Content, Effect, Event, Header, Stream};
use super::engine::{Shared, lock};
use super::outcome::{
    Clock, Failure, FailureCode, Head, HostInfo, HttpAnswer, Listing, Outcome, RunAnswer, Stat,
};
use crate::error::{Error, ErrorCode};

/// A cheap handle; clones belong to the same flow.
#[derive(Clone, Debug)]
pub struct Host {
    shared: Arc<Mutex<Shared>>,
    shielded: bool,
    /// When its time is up, milliseconds since the epoch.
    end_ms: Option<i64>,
    /// What is done through it is clean-up, which only does not wait any more when its time is up.
    is_clean_up: bool,
}

/// What every effect gives.
type Answer<T> = Result<T, Failure>;

impl Host {
    pub(super) fn new(shared: Arc<Mutex<Shared>>) -> Self {
        Self {
            shared,
            shielded: false,
            end_ms: None,
            is_clean_up: false,
        }
    }

    /// A handle whose effects still happen after a cancellation, and but for those that wait after its end:
    /// for clean-up only.
    #[must_use]
    pub fn shielded(&self) -> Self {
        Self {
            shielded: true,
            is_clean_up: true,
            ..self.clone()
        }
    }

    /// A handle that stops what is done through it when its time is up, as a cancellation does, with
    /// `timeout`; an effect that takes long has limits of its own. One of a shielded handle lets a
    /// cancelled flow wait so long.
    #[must_use]
    pub fn until(&self, end_ms: i64) -> Self {
        Self {
            end_ms: Some(end_ms),
            is_clean_up: false,
            ..self.clone()
        }
    }

    /// Whether the time is up, by what the clock said last.
    fn is_late(&self) -> bool {
        let now_ms = lock(&self.shared).now_ms;
        self.end_ms
            .is_some_and(|end_ms| now_ms.is_some_and(|now_ms| now_ms >= end_ms))
    }

    /// Whether the flow was cancelled.
    #[must_use]
    pub fn cancelled(&self) -> bool {
        lock(&self.shared).cancelled
    }

    /// Ends a flow that was cancelled, or whose time is up, instead of letting it take `aborted` or `timeout`
    /// for a failing host; not the clean-up through a shielded handle, which comes to its end.
    pub(crate) fn stop_if_cancelled(&self) -> Result<(), Error> {
        if !self.shielded && self.cancelled() {
            return Err(Error::new(
                ErrorCode::Aborted,
                "the operation was cancelled before it was done",
            ));
        }
        if !self.is_clean_up && self.is_late() {
            return Err(Error::new(ErrorCode::Timeout, "its time is up"));
        }
        Ok(())
    }

    /// Any effect, with its outcome as it came (`done` for `emit`).
    pub(super) async fn perform(&self, effect: Effect) -> Outcome {
        if effect.answered_by().is_none() {
            lock(&self.shared).ask(effect);
            return Outcome::Done;
        }
        // A cancelled flow waits for nothing, unless it has said how long.
        let may_go_on = self.shielded && (!effect.stoppable() || self.end_ms.is_some());
        if self.cancelled() && !may_go_on {
            return Outcome::Failed(Failure::new(
                FailureCode::Aborted,
                "the operation was cancelled",
            ));
        }
        if self.is_late() && (!self.is_clean_up || effect.stoppable()) {
            return Outcome::Failed(Failure::new(FailureCode::Timeout, "its time is up"));
        }
        let id = {
            let mut shared = lock(&self.shared);
            if self.end_ms.is_some() {
                shared.ask_the_time();
            }
            shared.ask(effect)
        };
        Pending {
            shared: &self.shared,
            id,
        }
        .await
    }

    async fn done(&self, effect: Effect) -> Answer<()> {
        self.perform(effect).await.done()
    }

    /// The entries of a folder, each with its `lstat`, and through no link below `within`.
    pub async fn list(&self, path: &str, within: Option<&str>) -> Answer<Listing> {
        self.perform(Effect::List {
            path: path.into(),
            within: within.map(str::to_owned),
        })
        .await
        .listing()
    }

    /// The first `length` bytes of a regular file, through no link below `within`.
    pub async fn read(&self, path: &str, within: Option<&str>, length: u64) -> Answer<Vec<u8>> {
        self.read_at(path, within, 0, length).await
    }

    /// At most `length` bytes of a regular file from `offset` on, none behind its end, through no link
    /// below `within`.
    pub async fn read_at(
        &self,
        path: &str,
        within: Option<&str>,
        offset: u64,
        length: u64,
    ) -> Answer<Vec<u8>> {
        self.perform(Effect::Read {
            path: path.into(),
            within: within.map(str::to_owned),
            offset,
            length,
        })
        .await
        .content()
    }

    /// The first `length` bytes of many regular files, through no link below `within`.
    pub async fn read_many(
        &self,
        paths: Vec<String>,
        within: Option<&str>,
        length: u64,
    ) -> Answer<Vec<Head>> {
        self.perform(Effect::ReadMany {
            paths,
            within: within.map(str::to_owned),
            length,
        })
        .await
        .heads()
    }

    /// About what a path leads to.
    pub async fn stat(&self, path: &str) -> Answer<Stat> {
        self.perform(Effect::Stat { path: path.into() })
            .await
            .stat()
    }

    /// About a path itself.
    pub async fn lstat(&self, path: &str) -> Answer<Stat> {
        self.perform(Effect::Lstat { path: path.into() })
            .await
            .stat()
    }

    /// Where a link points, as written.
    pub async fn read_link(&self, path: &str) -> Answer<String> {
        self.perform(Effect::ReadLink { path: path.into() })
            .await
            .text()
    }

    /// A path with every link resolved.
    pub async fn real_path(&self, path: &str) -> Answer<String> {
        self.perform(Effect::RealPath { path: path.into() })
            .await
            .text()
    }

    /// A new file, or with `via` a whole replacement, through no link below `within`; on disk when
    /// this returns if `sync` says so.
    pub async fn write(
        &self,
        path: &str,
        within: Option<&str>,
        content: Content,
        via: Option<String>,
        (mode, sync): (u32, bool),
    ) -> Answer<()> {
        self.done(Effect::Write {
            path: path.into(),
            within: within.map(str::to_owned),
            content,
            via,
            mode,
            sync,
        })
        .await
    }

    /// Adds to the end of a file.
    pub async fn append(&self, path: &str, content: Content, mode: u32) -> Answer<()> {
        self.done(Effect::Append {
            path: path.into(),
            content,
            mode,
        })
        .await
    }

    /// A folder with its parents, through no link below `within`; one that exists is fine.
    pub async fn make_dir(&self, path: &str, within: Option<&str>, mode: u32) -> Answer<()> {
        self.done(Effect::MakeDir {
            path: path.into(),
            within: within.map(str::to_owned),
            mode,
        })
        .await
    }

    /// Removes a file, a link or an empty folder, through no link below `within`.
    pub async fn remove(&self, path: &str, within: Option<&str>) -> Answer<()> {
        self.done(Effect::Remove {
            path: path.into(),
            within: within.map(str::to_owned),
        })
        .await
    }

    /// Renames through no link below `within`, over a file at the target if `replace` says so; on
    /// disk when this returns if `sync` says so.
    pub async fn rename(
        &self,
        from: &str,
        to: &str,
        within: Option<&str>,
        replace: bool,
        sync: bool,
    ) -> Answer<()> {
        self.done(Effect::Rename {
            from: from.into(),
            to: to.into(),
            within: within.map(str::to_owned),
            replace,
            sync,
        })
        .await
    }

    /// Gives a file a second name, through no link below `within`.
    pub async fn link(&self, from: &str, to: &str, within: Option<&str>) -> Answer<()> {
        self.done(Effect::Link {
            from: from.into(),
            to: to.into(),
            within: within.map(str::to_owned),
        })
        .await
    }

    /// Sets the modification time, in milliseconds since the epoch.
    pub async fn set_mtime(&self, path: &str, mtime_ms: i64) -> Answer<()> {
        self.done(Effect::SetMtime {
            path: path.into(),
            mtime_ms,
        })
        .await
    }

    /// Whether a process of this machine runs.
    pub async fn process_alive(&self, pid: u32) -> Answer<bool> {
        self.perform(Effect::ProcessAlive { pid }).await.alive()
    }

    /// One HTTP exchange.
    pub async fn http(
        &self,
        method: &str,
        url: &str,
        headers: Vec<Header>,
        body: Option<Content>,
        limits: (u64, u64),
    ) -> Answer<HttpAnswer> {
        let (timeout_ms, max_bytes) = limits;
        self.perform(Effect::Http {
            method: method.into(),
            url: url.into(),
            headers,
            body,
            timeout_ms,
            max_bytes,
        })
        .await
        .http()
    }

    /// The caller's model function: a request as JSON in, what the model said out.
    pub async fn model(&self, request: String, timeout_ms: u64) -> Answer<String> {
        self.perform(Effect::Model {
            request,
            timeout_ms,
        })
        .await
        .text()
    }

    /// The caller's function that gives a token for the team's server.
    pub async fn token(&self, timeout_ms: u64) -> Answer<String> {
        self.perform(Effect::Token { timeout_ms }).await.text()
    }

    /// Whether the caller lets instructions import a file outside of the working tree.
    pub async fn approve(&self, path: &str, parent: &str, timeout_ms: u64) -> Answer<bool> {
        self.perform(Effect::Approve {
            path: path.into(),
            parent: parent.into(),
            timeout_ms,
        })
        .await
        .approved()
    }

    /// A program, never through a shell, with an environment that holds only `env`.
    pub async fn run(
        &self,
        argv: Vec<String>,
        cwd: &str,
        env: Vec<Header>,
        stdin: Option<Content>,
        limits: (u64, u64),
    ) -> Answer<RunAnswer> {
        let (timeout_ms, max_bytes) = limits;
        self.perform(Effect::Run {
            argv,
            cwd: cwd.into(),
            env,
            stdin,
            timeout_ms,
            max_bytes,
        })
        .await
        .ran()
    }

    /// The wall clock.
    pub async fn now(&self) -> Answer<Clock> {
        self.perform(Effect::Now).await.now()
    }

    /// Waits.
    pub async fn sleep(&self, ms: u64) -> Answer<()> {
        self.done(Effect::Sleep { ms }).await
    }

    /// Random bytes.
    pub async fn random(&self, length: u32) -> Answer<Vec<u8>> {
        self.perform(Effect::Random { length }).await.content()
    }

    /// Waits for a change below a folder; false when the time ran out.
    pub async fn watch(&self, path: &str, timeout_ms: u64) -> Answer<bool> {
        self.perform(Effect::Watch {
            path: path.into(),
            timeout_ms,
        })
        .await
        .changed()
    }

    /// Text on the terminal.
    pub async fn print(&self, stream: Stream, text: impl Into<String>) -> Answer<()> {
        self.done(Effect::Print {
            stream,
            text: text.into(),
        })
        .await
    }

    /// All of the standard input, at most `max_bytes`.
    pub async fn read_stdin(&self, max_bytes: u64) -> Answer<Vec<u8>> {
        let line = false;
        self.perform(Effect::ReadStdin { max_bytes, line })
            .await
            .content()
    }

    /// The next line of the standard input, at most `max_bytes`.
    pub async fn read_line(&self, max_bytes: u64) -> Answer<Vec<u8>> {
        let line = true;
        self.perform(Effect::ReadStdin { max_bytes, line })
            .await
            .content()
    }

    /// Opens an editor and waits for it.
    pub async fn open_editor(&self, argv: Vec<String>) -> Answer<()> {
        self.done(Effect::OpenEditor { argv }).await
    }

    /// Who performs the effects.
    pub async fn host_info(&self) -> Answer<HostInfo> {
        self.perform(Effect::HostInfo).await.host_info()
    }

    /// Tells the user's event listener, who cannot answer.
    pub fn emit(&self, event: Event) {
        lock(&self.shared).ask(Effect::Emit { event });
    }
}

/// Waits for the answer to one effect.
struct Pending<'a> {
    shared: &'a Mutex<Shared>,
    id: u32,
}

impl Future for Pending<'_> {
    type Output = Outcome;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Outcome> {
        match lock(self.shared).take_answer(self.id) {
            Some(outcome) => Poll::Ready(outcome),
            None => Poll::Pending,
        }
    }
}

/// The engine has checked the kind of each outcome before the flow sees it, so a mismatch here
/// would be a defect; it surfaces as a failed effect, never as a panic.
macro_rules! unwrap_outcome {
    ($($method:ident, $variant:ident => $type:ty;)*) => {
        impl Outcome {
            fn done(self) -> Answer<()> {
                match self {
                    Outcome::Done => Ok(()),
                    other => Err(other.into_failure()),
                }
            }

            $(fn $method(self) -> Answer<$type> {
                match self {
                    Outcome::$variant(value) => Ok(value.into()),
                    other => Err(other.into_failure()),
                }
            })*

            fn into_failure(self) -> Failure {
                match self {
                    Outcome::Failed(failure) => failure,
                    _ => Failure::new(FailureCode::Other, "the host answered with another kind of outcome"),
                }
            }
        }
    };
}

unwrap_outcome! {
    listing, Listing => Listing;
    content, Content => Vec<u8>;
    heads, Heads => Vec<Head>;
    stat, Stat => Stat;
    text, Text => String;
    alive, Alive => bool;
    http, Http => HttpAnswer;
    ran, Ran => RunAnswer;
    now, Now => Clock;
    changed, Changed => bool;
    approved, Approved => bool;
    host_info, HostInfo => HostInfo;
}

impl From<super::Bytes> for Vec<u8> {
    fn from(bytes: super::Bytes) -> Self {
        bytes.0
    }
}
