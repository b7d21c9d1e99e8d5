//! What a background agent may touch, for each call of a tool (facts 6.3): it reads in the working directory,
//! the store and the folders that its caller names, and writes memories only. Everything else is denied
//! with a reason that the model sees.
//!
//! A run that is to be reviewed writes into drafts, which its own later calls read.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::run::Hands;
use super::tools::{self, Call};
use super::{change, command, search};
use crate::error::{Error, ErrorCode};
use crate::flow::{Event, FailureCode, FileKind, Host, join_all};
use crate::limits::{FILE_MAX_BYTES, READ_LINES, RUN_MAX_CALLS};
use crate::paths::{Platform, is_own};
use crate::store::{Found, Place, Store, into_text, read};
use crate::text::{lines_with_ends, one_line, quoted, without_end};
use crate::tool::numbered;
use crate::write::{hash, hidden};

/// One background run's hold on a store.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(super) store: Store,
    found: Found,
    pub(super) place: Place,
    /// Where relative paths begin and programs run.
    pub(super) cwd: String,
    /// The folders that are read in, as the system resolves them; the store is among them.
    pub(super) roots: Vec<String>,
    /// The store, as the system resolves it; none as long as there is none.
    pub(super) real_store: Option<String>,
    manner: Manner,
    /// Never locked over an await.
    state: Mutex<State>,
}

/// How a run changes memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// At once.
    Direct,
    /// As drafts, for somebody to look at.
    Reviewed,
    /// As drafts that are applied together in the end. What is pinned stays, and only so much goes.
    Dream,
}

/// What a run has done.
#[derive(Debug, Default)]
pub(super) struct State {
    calls: u32,
    is_stopped: bool,
    /// Whether a call came after that.
    has_refused: bool,
    /// What the disk gave instead of taking a memory.
    failure: Option<Error>,
    /// The memories that were read, with the hash of what was seen.
    pub seen: BTreeMap<String, String>,
    pub drafts: BTreeMap<String, Draft>,
    /// What was written, in order, each once.
    pub saved: Vec<String>,
    pub removed: Vec<String>,
}

/// A change that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Draft {
    /// The text that is in the store; none when there is no such file.
    pub old: Option<String>,
    /// The text that it is to be; none when the file is to go.
    pub new: Option<String>,
}

/// What a call is answered with.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolReply {
    /// For the model.
    pub content: String,
    /// Whether the call was denied or failed.
    pub is_error: bool,
}

/// What a path is to a run.
pub(super) enum Target {
    /// A file of the store, by its path there.
    Memory(String),
    /// Another one that may be read, as the system resolves it, and the root that it lies in.
    Other { path: String, root: String },
}

impl Desk {
    /// `read_roots` are absolute. What is not there cannot be read, and is not looked for again.
    pub async fn new(
        host: &Host,
        store: Store,
        found: Found,
        read_roots: &[String],
        manner: Manner,
    ) -> Result<Self, Error> {
        let place = found.place();
        let platform = place.platform;
        let cwd = store.cwd().filter(|cwd| platform.is_absolute(cwd));
        let mut named = vec![place.directory.clone()];
        named.extend(cwd.map(str::to_owned));
        named.extend(read_roots.iter().cloned());
        if let Some(root) = read_roots.iter().find(|root| !platform.is_absolute(root)) {
            let message = format!("the read root {} is not absolute", quoted(root));
            return Err(Error::new(ErrorCode::InvalidArgument, message));
        }
        let named: Vec<String> = named.iter().map(|root| platform.normalise(root)).collect();
        let real = join_all(named.iter().map(|root| host.real_path(root))).await;
        host.stop_if_cancelled()?;
        let mut real = real.into_iter().map(Result::ok);
        let real_store = real.next().flatten();
        let cwd = cwd.unwrap_or(&place.directory).to_owned();
        Ok(Self {
            roots: real_store.iter().cloned().chain(real.flatten()).collect(),
            real_store,
            cwd: platform.normalise(&cwd),
            store,
            found,
            place,
            manner,
            state: Mutex::default(),
        })
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether changes are drafts.
    pub fn is_reviewed(&self) -> bool {
        self.manner != Manner::Direct
    }

    pub(super) fn is_dream(&self) -> bool {
        self.manner == Manner::Dream
    }

    pub fn found(&self) -> &Found {
        &self.found
    }

    pub(super) fn platform(&self) -> Platform {
        self.place.platform
    }

    /// Lets no further call through.
    pub fn stop(&self) {
        self.state().is_stopped = true;
    }

    /// Whether a call was not let through, because the run was stopped.
    pub fn has_refused(&self) -> bool {
        self.state().has_refused
    }

    /// Keeps what the disk gave, if it took nothing: what the run was to keep is not kept.
    pub(super) fn noted<T>(&self, written: Result<T, Error>) -> Result<T, Error> {
        written.inspect_err(|error| self.state().failure = Some(error.clone()))
    }

    /// Why a memory could not be written, if the disk is to blame.
    pub fn failure(&self) -> Option<Error> {
        self.state().failure.clone()
    }

    /// The memories that were written and those that were removed, without indexes (facts 6.5).
    pub fn changed(&self) -> (Vec<String>, Vec<String>) {
        let state = self.state();
        (state.saved.clone(), state.removed.clone())
    }

    /// The changes that wait, with their paths.
    pub fn drafts(&self) -> BTreeMap<String, Draft> {
        self.state().drafts.clone()
    }

    async fn act(&self, host: &Host, name: &str, input: &str) -> Result<String, Error> {
        {
            let mut state = self.state();
            if state.is_stopped {
                state.has_refused = true;
                return Err(denied("the run was stopped, so nothing more is done"));
            }
            if state.calls >= RUN_MAX_CALLS {
                return Err(denied(format!(
                    "this run has made {RUN_MAX_CALLS} calls, which is all it may make"
                )));
            }
            state.calls = state.calls.saturating_add(1);
        }
        match tools::parse(name, input)? {
            Call::Read {
                path,
                offset,
                limit,
            } => self.read(host, &path, offset, limit).await,
            Call::Grep(grep) => search::grep(self, host, grep).await,
            Call::Glob { pattern, folder } => {
                search::glob(self, host, &pattern, folder.as_deref()).await
            }
            Call::Shell { command } => command::shell(self, host, &command).await,
            Call::Edit {
                path,
                old,
                new,
                all,
            } => {
                let done = change::edit(self, host, &path, (old, new), all).await?;
                Ok(self.tell(host, name, path, done))
            }
            Call::Write { path, text } => {
                let done = change::write(self, host, &path, text).await?;
                Ok(self.tell(host, name, path, done))
            }
            Call::Delete { path } => {
                let done = change::delete(self, host, &path).await?;
                Ok(self.tell(host, name, path, done))
            }
        }
    }

    /// Tells whoever watches a dream which file it is at (facts 7.4).
    fn tell(&self, host: &Host, tool: &str, path: String, done: String) -> String {
        if self.manner == Manner::Dream {
            host.emit(Event {
                kind: "dream".to_owned(),
                code: Some("updating".to_owned()),
                message: one_line(&format!("dream: {tool} {path}")),
                path: self.place.relative(&path).or(Some(path)),
            });
        }
        done
    }

    async fn read(
        &self,
        host: &Host,
        path: &str,
        offset: usize,
        limit: Option<usize>,
    ) -> Result<String, Error> {
        let text = match self.target(host, path).await? {
            Target::Memory(memory) => {
                let text = self.memory_text(host, &memory).await?;
                let text = text.ok_or_else(|| missing(path))?;
                let seen = hash(text.as_bytes());
                self.state().seen.insert(memory, seen);
                text
            }
            Target::Other { path: real, root } => other_text(host, path, &real, &root).await?,
        };
        part(&text, path, offset, limit)
    }

    /// The text of a memory as the run sees it; none when there is no such file.
    pub(super) async fn memory_text(
        &self,
        host: &Host,
        path: &str,
    ) -> Result<Option<String>, Error> {
        if let Some(draft) = self.state().drafts.get(path) {
            return Ok(draft.new.clone());
        }
        self.stored_text(host, path).await
    }

    /// The text of a memory as it is in the store; none when there is no such file.
    pub(super) async fn stored_text(
        &self,
        host: &Host,
        path: &str,
    ) -> Result<Option<String>, Error> {
        let text = read::text_of(&self.place, host, path).await;
        host.stop_if_cancelled()?;
        match text {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.code == ErrorCode::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A path of a model, absolute and normalised.
    pub(super) fn absolute(&self, path: &str) -> Result<String, Error> {
        let platform = self.platform();
        if path.is_empty() || path.contains('\0') {
            return Err(tools::wrong("the path is none; name a file"));
        }
        if platform.is_absolute(path) {
            return Ok(platform.normalise(path));
        }
        let separator = platform.separator();
        Ok(platform.normalise(&format!("{}{separator}{path}", self.cwd)))
    }

    /// What a path is, if it may be read.
    ///
    /// # Errors
    /// `permission`, or why it cannot be told.
    pub(super) async fn target(&self, host: &Host, path: &str) -> Result<Target, Error> {
        let platform = self.platform();
        let absolute = self.absolute(path)?;
        if let Some(memory) = self.place.relative(&absolute) {
            let memory = self.not_own(path, memory)?;
            self.check_links(host, path, &absolute).await?;
            return Ok(Target::Memory(memory));
        }
        let real = self.real(host, &absolute).await?;
        if let Some(store) = &self.real_store
            && let Some(memory) = platform.below(&real, store)
        {
            let memory = memory.replace(platform.separator(), "/");
            return Ok(Target::Memory(self.not_own(path, memory)?));
        }
        let mut roots = self.roots.iter();
        match roots.find(|root| platform.below(&real, root).is_some()) {
            Some(root) => Ok(Target::Other {
                path: real,
                root: root.clone(),
            }),
            None => Err(denied(format!(
                "{} is not read: it lies neither in the working directory nor in the memory folder {}",
                quoted(path),
                self.place.directory
            ))),
        }
    }

    /// Whether a program may be given a path. It is resolved as the system does it: behind a link `..` leads
    /// somewhere else than it says.
    ///
    /// # Errors
    /// `permission`, or why it cannot be told.
    pub(super) async fn check_program_path(
        &self,
        host: &Host,
        path: &str,
    ) -> Result<FileKind, Error> {
        let platform = self.platform();
        let given = if platform.is_absolute(path) {
            path.to_owned()
        } else {
            format!("{}{}{path}", self.cwd, platform.separator())
        };
        let real = host.real_path(&given).await;
        host.stop_if_cancelled()?;
        let Ok(real) = real else {
            // What is not there leads nowhere yet, and nowhere else than it says.
            if path
                .split(|c| platform.separates(c))
                .any(|part| part == "..")
            {
                return Err(missing(path));
            }
            self.target(host, path).await?;
            return Ok(FileKind::File);
        };
        self.target(host, &real).await?;
        let stat = host.lstat(&real).await;
        host.stop_if_cancelled()?;
        match stat {
            // A pipe would be waited for.
            Ok(stat) if matches!(stat.kind, FileKind::Link | FileKind::Other) => Err(denied(
                format!("{} is neither a file nor a folder", quoted(path)),
            )),
            Ok(stat) => Ok(stat.kind),
            Err(_) => Err(missing(path)),
        }
    }

    /// Programs and searches open what a name in the store leads to: links lead neither out of it nor to
    /// memdir's own files.
    async fn check_links(&self, host: &Host, path: &str, absolute: &str) -> Result<(), Error> {
        let platform = self.platform();
        let real = self.real(host, absolute).await?;
        let store = match &self.real_store {
            Some(store) => store.clone(),
            // It may have been made since.
            None => {
                self.real(host, &platform.normalise(&self.place.directory))
                    .await?
            }
        };
        match platform.below(&real, &store) {
            Some(memory) => {
                let memory = memory.replace(platform.separator(), "/");
                self.not_own(path, memory).map(drop)
            }
            None => Err(denied(format!(
                "{} is not touched: a link leads out of the memory folder",
                quoted(path)
            ))),
        }
    }

    fn not_own(&self, path: &str, memory: String) -> Result<String, Error> {
        if is_own(&memory, self.platform()) {
            let message = format!("{} is one of memdir's own files, no memory", quoted(path));
            return Err(denied(message));
        }
        Ok(memory)
    }

    /// A path as the system resolves it, as far as it is there.
    async fn real(&self, host: &Host, path: &str) -> Result<String, Error> {
        let platform = self.platform();
        let mut at = path.to_owned();
        let mut names = Vec::new();
        loop {
            let real = host.real_path(&at).await;
            host.stop_if_cancelled()?;
            let failure = match real {
                Ok(real) => {
                    names.reverse();
                    return Ok(platform.join(&real, &names.join("/")));
                }
                Err(failure) => failure,
            };
            let parent = platform.parent(&at);
            let is_missing = matches!(
                failure.code,
                FailureCode::NotFound | FailureCode::NotADirectory
            );
            match parent.filter(|_| is_missing) {
                Some(parent) => {
                    names.push(platform.file_name(&at).to_owned());
                    at = parent;
                }
                None => return Err(Error::from_failure(&failure, "reading", path)),
            }
        }
    }
}

impl Hands for Desk {
    fn is_stopped(&self) -> bool {
        self.state().is_stopped
    }

    async fn call(&self, host: &Host, name: &str, input: &str) -> Result<ToolReply, Error> {
        let reply = self.act(host, name, input).await;
        host.stop_if_cancelled()?;
        Ok(ToolReply::of(reply))
    }
}

impl ToolReply {
    /// What an error says is for the model too.
    pub(super) fn of(reply: Result<String, Error>) -> Self {
        match reply {
            Ok(content) => Self {
                content,
                is_error: false,
            },
            Err(error) => {
                let named: Vec<String> = error.path.into_iter().collect();
                Self {
                    content: hidden(&error.message, &named),
                    is_error: true,
                }
            }
        }
    }
}

/// The text of a file outside the store.
async fn other_text(host: &Host, path: &str, real: &str, root: &str) -> Result<String, Error> {
    let stat = host.lstat(real).await;
    host.stop_if_cancelled()?;
    let stat = match stat {
        Ok(stat) => stat,
        Err(failure) if failure.code == FailureCode::NotFound => return Err(missing(path)),
        Err(failure) => return Err(Error::from_failure(&failure, "reading", path)),
    };
    match stat.kind {
        FileKind::File if stat.size <= FILE_MAX_BYTES => {}
        FileKind::File => {
            let message = format!("{} has more than {FILE_MAX_BYTES} bytes", quoted(path));
            return Err(Error::new(ErrorCode::TooLarge, message));
        }
        FileKind::Directory => {
            let message = format!("{} is a folder; use Glob or ls", quoted(path));
            return Err(Error::new(ErrorCode::IsADirectory, message));
        }
        FileKind::Link | FileKind::Other => {
            let message = format!("{} is no regular file", quoted(path));
            return Err(Error::new(ErrorCode::Unsupported, message));
        }
    }
    let bytes = host.read(real, Some(root), FILE_MAX_BYTES).await;
    host.stop_if_cancelled()?;
    let bytes = bytes.map_err(|failure| Error::from_failure(&failure, "reading", path))?;
    into_text(bytes, true).map_err(|(_, message)| {
        Error::new(ErrorCode::NotText, format!("{} {message}", quoted(path)))
    })
}

/// Lines of a text as a model is shown them.
pub(super) fn part(
    text: &str,
    path: &str,
    offset: usize,
    limit: Option<usize>,
) -> Result<String, Error> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let lines: Vec<&str> = lines_with_ends(text).map(without_end).collect();
    if lines.is_empty() {
        return Ok("(the file is empty)".to_owned());
    }
    if offset > lines.len() {
        let message = format!("{} has {} lines only", quoted(path), lines.len());
        return Err(tools::wrong(message));
    }
    let last = offset.saturating_add(limit.unwrap_or(READ_LINES));
    let last = last.saturating_sub(1).min(lines.len());
    let mut view = String::new();
    let how = "read them with offset and limit";
    numbered(&lines, (offset, last), usize::MAX, how, &mut view);
    if last < lines.len() && limit.is_none() {
        view.push_str(&format!("(there are {} lines; {how})\n", lines.len()));
    }
    Ok(view)
}

pub(super) fn missing(path: &str) -> Error {
    Error::new(ErrorCode::NotFound, format!("there is no {}", quoted(path)))
}

/// What a background agent may not do.
pub(super) fn denied(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::Permission, message)
}
