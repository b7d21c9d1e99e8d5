//! One open memory folder and the flows over it.

mod after_turn;
mod cache;
mod cursors;
mod dream;
mod extract;
mod find;
pub(crate) mod heads;
mod inbox;
mod instructions;
mod lint;
mod listing;
pub(crate) mod own;
mod prompt;
pub(crate) mod read;
mod recall;
mod scan;
mod session;
mod sync;
mod uses;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

pub use after_turn::{AfterTurn, AfterTurnOptions};
pub use find::Opened;
pub use lint::Lint;
pub use read::MemoryFile;
pub use recall::{Recall, RecallOptions, RecallReason, RecalledMemory, Strategy};
pub use scan::Scan;
pub use session::SessionNotes;

use self::cache::Headers;
use self::dream::Dreaming;
use self::extract::Extractions;
pub(crate) use self::find::Found;
pub(crate) use self::heads::into_text;
use self::instructions::Chains;
use self::recall::Library;
use self::session::Updates;
pub(crate) use self::sync::Way;
use self::uses::PendingUses;
use crate::agents::{AgentOptions, AgentScope};
use crate::error::{Error, ErrorCode};
use crate::flow::{Event, FailureCode, Flow, Host};
use crate::limits::{DRAIN_MS, PROMPTS_REMEMBERED};
use crate::memory::format_manifest;
use crate::model::ModelOptions;
use crate::paths::{Environment, Platform};
use crate::report::{ReportCode, ReportEntry};
use crate::team::{self, TeamOptions};
use crate::text::quoted;
use crate::tool;
use crate::transcript::{self, Transcript};
use crate::write::{
    self, Forget, Gate, Put, Save, SaveOptions, Task, TextEdit, Undo, WriteOutcome, WriteResult,
};

/// How a store is opened. With `directory` that folder is the store; else the project that `cwd`
/// lies in decides.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct OpenOptions {
    /// The memory folder, absolute or beginning with `~/`.
    pub directory: Option<String>,
    /// The working directory, absolute.
    pub cwd: Option<String>,
    /// The user's home directory, absolute.
    pub home: Option<String>,
    /// The process environment.
    pub env: Environment,
    /// Settings that count more than those of files, as JSON text.
    pub settings: Option<String>,
    /// Whose path rules hold; the host's own when null.
    pub platform: Option<Platform>,
    /// What recall asks; no model when null.
    pub model: Option<ModelOptions>,
    /// The memory of an agent instead of the project's; `directory` counts for nothing then.
    pub agent: Option<AgentOptions>,
    /// Where the team's memories are shared; the environment and the git remote complete it.
    pub team: Option<TeamOptions>,
    /// What is switched on.
    pub features: Features,
}

/// Without the values of the environment and without settings, which hold keys.
impl std::fmt::Debug for OpenOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenOptions")
            .field("directory", &self.directory)
            .field("cwd", &self.cwd)
            .field("home", &self.home)
            .field("platform", &self.platform)
            .field("model", &self.model)
            .field("agent", &self.agent)
            .field("team", &self.team)
            .field("features", &self.features)
            .finish_non_exhaustive()
    }
}

/// What is switched on beyond reading. Everything but `count_uses` is off unless asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent switches, named by the sources"
)]
pub struct Features {
    /// Team memory beside the private one: memories of type project and reference are saved there
    /// unless a scope is given.
    pub team: bool,
    /// Extraction after each turn.
    pub extract: bool,
    /// Extraction also where nobody watches.
    pub extract_non_interactive: bool,
    /// Memories are written without an index line, and the prompt has no index.
    pub one_step: bool,
    /// Notes go to dated logs.
    pub daily_log: bool,
    /// Consolidation in the background; the setting `autoDreamEnabled` decides where there is one.
    pub dream: bool,
    /// Turns from one extraction to the next.
    pub extract_every: u32,
    /// How often a memory is recalled is counted in the store's own folder, so that what is used
    /// ranks higher. On unless switched off.
    pub count_uses: bool,
}

impl Default for Features {
    fn default() -> Self {
        Self {
            team: false,
            extract: false,
            extract_non_interactive: false,
            one_step: false,
            daily_log: false,
            dream: false,
            extract_every: 1,
            count_uses: true,
        }
    }
}

/// What the prompt is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PromptOptions {
    /// Whether the content of the index is part of it. One-step saving leaves it out anyway.
    pub index: bool,
    /// Whether it says how to search what was said in earlier conversations.
    pub past_context: bool,
    /// Further guidelines, appended as they are; those of
    /// `CLAUDE_COWORK_MEMORY_EXTRA_GUIDELINES` come before them.
    pub guidelines: Vec<String>,
}

impl Default for PromptOptions {
    fn default() -> Self {
        Self {
            index: true,
            past_context: false,
            guidelines: Vec::new(),
        }
    }
}

/// What is expected of a memory that is to be forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ForgetOptions {
    /// The hash of what was read: nothing is forgotten when it is not so (`conflict`).
    pub expect: Option<String>,
}

/// A handle on one store; clones share it. It may run many flows at once.
#[derive(Clone, Debug)]
pub struct Store {
    shared: Arc<Shared>,
    /// Whether this handle still works when the store was closed, for what had begun before.
    outlives_closing: bool,
}

#[derive(Debug)]
struct Shared {
    options: OpenOptions,
    /// Never locked over an await: a flow takes a snapshot, and publishes what it found.
    state: Mutex<State>,
    gate: Gate,
}

/// What a store remembers between flows. [`Store::compacted`] drops it.
#[derive(Debug, Default)]
struct State {
    closed: bool,
    /// Counts the drops, so that a flow that began before one does not publish after it.
    generation: u64,
    found: Option<Found>,
    prompts: Vec<(PromptOptions, String)>,
    headers: Headers,
    library: Library,
    uses: PendingUses,
    /// Whether the team's server was spoken to, so that the last edits go there too at the end.
    has_synced: bool,
    extractions: Extractions,
    dreaming: Dreaming,
    updates: Updates,
    instructions: Chains,
}

/// Where a store is.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// With one trailing separator.
    pub directory: String,
    pub platform: Platform,
}

impl Place {
    pub fn path(&self, relative: &str) -> String {
        self.platform.join(&self.directory, relative)
    }

    /// A path below the store, absolute or relative to it, as it is named there; none for any other.
    pub fn relative(&self, path: &str) -> Option<String> {
        let path = if self.platform.is_absolute(path) {
            self.platform.normalise(path)
        } else {
            self.platform
                .normalise(&format!("{}{path}", self.directory))
        };
        let below = path.strip_prefix(&self.directory)?;
        Some(below.replace(self.platform.separator(), "/"))
    }
}

/// Every operation twice: the flow for whoever drives it, and below it the async function that
/// other flows call.
impl Store {
    /// A store that its first flow opens.
    #[must_use]
    pub fn new(options: OpenOptions) -> Self {
        Self {
            shared: Arc::new(Shared {
                options,
                state: Mutex::default(),
                gate: Gate::default(),
            }),
            outlives_closing: false,
        }
    }

    /// The memory of an agent, found from where this store was found. Nothing is created before the
    /// first write.
    #[must_use]
    pub fn agent(&self, name: String, scope: AgentScope) -> Self {
        Self::new(OpenOptions {
            agent: Some(AgentOptions { name, scope }),
            ..self.shared.options.clone()
        })
    }

    /// Appends a note to the daily log `logs/YYYY/MM/YYYY-MM-DD.md`, as a bullet with the time, in the
    /// host's zone (facts 12). Fails as [`Self::save`] does.
    #[must_use]
    pub fn log(&self, text: String) -> Flow<WriteResult> {
        self.flow(|store, host| async move { store.log_in(&host, &text).await })
    }

    /// Finds the store and says what was found. Every other flow does it too when it is the first.
    ///
    /// The flow fails with the codes of [`crate::paths::validate_memory_path`], `no-home`,
    /// `invalid-argument` when there is neither `directory` nor `cwd`, or `link-outside` when links lead
    /// an agent's memory out of its project; every later flow fails with that too.
    #[must_use]
    pub fn open(&self) -> Flow<Opened> {
        self.flow(|store, host| async move { store.open_in(&host).await })
    }

    /// Lists the memories, newest first, and reports every file that could not be one. Never
    /// writes. Files that have not changed since the last scan are not read again.
    #[must_use]
    pub fn scan(&self) -> Flow<Scan> {
        self.flow(|store, host| async move { store.scan_in(&host).await })
    }

    /// The memories as a model reads them, one line each.
    #[must_use]
    pub fn manifest(&self) -> Flow<String> {
        self.flow(|store, host| async move {
            Ok(format_manifest(&store.scan_in(&host).await?.memories))
        })
    }

    /// One memory, whole. `path` is relative to the store, with `/`.
    ///
    /// The flow fails with the codes of [`crate::paths::check_relative`], `link-outside`,
    /// `not-text`, `too-large`, `disabled`, or what reading gave.
    #[must_use]
    pub fn read(&self, path: String) -> Flow<MemoryFile> {
        self.flow(|store, host| async move { store.read_in(&host, &path).await })
    }

    /// What the model is told about its memory; the folder is created if it is missing. Computed
    /// once per options and the same to the byte until [`Self::compacted`]. Null when memory is
    /// off.
    #[must_use]
    pub fn prompt(&self, options: PromptOptions) -> Flow<Option<String>> {
        self.flow(move |store, host| async move {
            let Prompt { text, warnings } = store.prompt_in(&host, options).await?;
            warnings.into_iter().for_each(|event| host.emit(event));
            Ok(text)
        })
    }

    /// Everything that is wrong with the store, each finding with a remedy. Never writes.
    #[must_use]
    pub fn lint(&self) -> Flow<Lint> {
        self.flow(|store, host| async move { store.lint_in(&host).await })
    }

    /// The memories that help with `query`, with as much of their contents as may be shown.
    ///
    /// The flow fails with `invalid-argument` for a limit of 0, `no-model` when the strategy asks for
    /// a model and there is none, or what reading gave. A model that cannot answer is no failure.
    #[must_use]
    pub fn recall(&self, query: String, options: RecallOptions) -> Flow<Recall> {
        self.flow(|store, host| async move { store.recall_in(&host, &query, options).await })
    }

    /// Writes a new memory or changes one, and its line in the index, under the store's lock. What is
    /// replaced goes to the trash.
    ///
    /// The flow fails with `disabled`, `busy`, or what the disk gave; everything else is an outcome.
    #[must_use]
    pub fn save(&self, options: SaveOptions) -> Flow<WriteResult> {
        self.flow(|store, host| async move { store.save_in(&host, options).await })
    }

    /// Takes a memory and its lines in every index away; the file goes to the trash. Fails as
    /// [`Self::save`] does.
    #[must_use]
    pub fn forget(&self, path: String, options: ForgetOptions) -> Flow<WriteResult> {
        self.flow(|store, host| async move { store.forget_in(&host, path, options).await })
    }

    /// Takes the last [`Self::forget`] back, or the last one of `path`; with `conflict` when there
    /// is another memory by now.
    #[must_use]
    pub fn undo_forget(&self, path: Option<String>) -> Flow<WriteResult> {
        self.flow(|store, host| async move { store.undo_forget_in(&host, path).await })
    }

    /// One command of Anthropic's memory tool, as JSON (`{"command": "view", "path": "/memories"}`):
    /// `view`, `create`, `str_replace`, `insert`, `delete`, `rename`. The answer is text for the model, and so is
    /// the message of an error. `/memories` is the store; what is written goes through the lock and the
    /// trash like everything else.
    ///
    /// The flow fails with `invalid-argument`, `invalid-text`, `path-outside-store`, `not-found`, `exists`,
    /// `not-text`, `too-large`, `user-private`, `secret-found`, the codes of
    /// [`crate::team::validate_team_key`], `disabled`, `busy`, or what the disk gave.
    #[must_use]
    pub fn tool(&self, input: String) -> Flow<String> {
        self.flow(|store, host| async move {
            let command = tool::parse(&input)?;
            tool::run(&store, &host, command).await
        })
    }

    /// The end of the conversation in a file, see [`crate::transcript::parse_transcript`]. `path` is absolute
    /// or relative to the `cwd` that the store was opened with. The store itself is not looked at, so this
    /// works where memory is off, too. Never writes.
    ///
    /// The flow fails with `invalid-argument` for a path that leads nowhere without a `cwd`, `not-found`,
    /// `is-a-directory`, `unsupported` for what is no regular file, or what reading gave. What cannot be
    /// read of the file is in the report.
    #[must_use]
    pub fn transcript(&self, path: String) -> Flow<Transcript> {
        self.flow(|store, host| async move { store.transcript_in(&host, &path).await })
    }

    /// Drops everything that was remembered, as after the compaction of a conversation: the next
    /// flow finds the store anew, reads every file and computes the prompt.
    pub fn compacted(&self) {
        let mut state = self.state();
        let (closed, generation) = (state.closed, state.generation.wrapping_add(1));
        *state = State {
            closed,
            generation,
            uses: std::mem::take(&mut state.uses),
            has_synced: state.has_synced,
            extractions: std::mem::take(&mut state.extractions),
            dreaming: std::mem::take(&mut state.dreaming),
            updates: std::mem::take(&mut state.updates),
            instructions: state.instructions.compacted(),
            ..State::default()
        };
    }

    /// Ends the use of the store: extractions, updates of notes and dreams that are under way get 60 seconds (facts 6.5),
    /// what is still to be written is written, team memories that are not uploaded yet get two seconds (an
    /// event names those that did not make it), and every flow that begins later fails with `closed`.
    #[must_use]
    pub fn close(&self) -> Flow<()> {
        let was_closed = std::mem::replace(&mut self.state().closed, true);
        self.flow(move |store, host| async move {
            if !was_closed && !store.background().drain_in(&host, DRAIN_MS).await? {
                let message = "a background run was still under way and was stopped";
                host.emit(warning("", message.to_owned()));
            }
            let flushed = store.flush_in(&host).await;
            if store.state().has_synced && !was_closed {
                // This one takes no more work.
                team::flush(&Self::new(store.shared.options.clone()), &host, false).await?;
            }
            store.compacted();
            flushed
        })
    }

    pub(crate) async fn open_in(&self, host: &Host) -> Result<Opened, Error> {
        Ok(self.found(host).await?.opened)
    }

    pub(crate) async fn scan_in(&self, host: &Host) -> Result<Scan, Error> {
        // Before anything is looked at: what a drop overtakes is not published.
        let (generation, known) = {
            let state = self.state();
            (state.generation, state.headers.clone())
        };
        let Some(place) = self.place(host).await? else {
            return Ok(Scan {
                memories: Vec::new(),
                report: vec![self.disabled_entry(host).await?],
            });
        };
        let (scan, headers) = scan::scan(&place, host, &known).await?;
        let mut state = self.state();
        if state.generation == generation {
            state.headers = headers;
        }
        Ok(scan)
    }

    pub(crate) async fn read_in(&self, host: &Host, path: &str) -> Result<MemoryFile, Error> {
        let place = self.place_or_disabled(host).await?;
        read::read(&place, host, path).await
    }

    pub(crate) async fn prompt_in(
        &self,
        host: &Host,
        options: PromptOptions,
    ) -> Result<Prompt, Error> {
        let generation = self.state().generation;
        let found = self.found(host).await?;
        if !found.opened.enabled || self.hides_memory() {
            return Ok(Prompt::default());
        }
        if let Some((_, prompt)) = self
            .state()
            .prompts
            .iter()
            .find(|(known, _)| *known == options)
        {
            return Ok(Prompt::known(prompt));
        }
        let mut warnings = Vec::new();
        let prompt =
            prompt::build(&self.shared.options, &found, host, &options, &mut warnings).await?;
        let mut state = self.state();
        if state.generation == generation {
            // Two flows may have computed it; the first one's stays.
            if let Some((_, first)) = state.prompts.iter().find(|(known, _)| *known == options) {
                return Ok(Prompt::known(first));
            }
            if state.prompts.len() >= PROMPTS_REMEMBERED {
                state.prompts.remove(0);
            }
            state.prompts.push((options, prompt.clone()));
        }
        Ok(Prompt {
            text: Some(prompt),
            warnings,
        })
    }

    /// Whether instruction files and memory are kept out of the context (facts 2).
    pub(crate) fn hides_memory(&self) -> bool {
        let open = &self.shared.options;
        open.env_flag("CLAUDE_CODE_DISABLE_CLAUDE_MDS")
    }

    pub(crate) async fn lint_in(&self, host: &Host) -> Result<Lint, Error> {
        let found = self.found(host).await?;
        let place = if found.opened.enabled {
            Some(found.place())
        } else {
            None
        };
        lint::lint(&found.opened, place.as_ref(), host).await
    }

    pub(crate) async fn save_in(
        &self,
        host: &Host,
        options: SaveOptions,
    ) -> Result<WriteResult, Error> {
        let OpenOptions {
            agent, features, ..
        } = &self.shared.options;
        let save =
            |place: &Place| Save::new(options, place, features, agent.is_some()).map(Task::Save);
        Ok(self.write_in(host, save).await?.0)
    }

    pub(crate) async fn forget_in(
        &self,
        host: &Host,
        path: String,
        options: ForgetOptions,
    ) -> Result<WriteResult, Error> {
        let ForgetOptions { expect } = options;
        if let Some(refused) = self.nothing_there(host, Some(&path)).await? {
            return Ok(refused);
        }
        let task = |place: &Place| Forget::new(path.clone(), expect, place).map(Task::Forget);
        let (result, _) = self.write_in(host, task).await?;
        if result.outcome == WriteOutcome::Written {
            self.forget_uses(host, &path).await?;
        }
        Ok(result)
    }

    pub(crate) async fn undo_forget_in(
        &self,
        host: &Host,
        path: Option<String>,
    ) -> Result<WriteResult, Error> {
        if let Some(refused) = self.nothing_there(host, path.as_deref()).await? {
            return Ok(refused);
        }
        let task = |place: &Place| Undo::new(path, place).map(Task::Undo);
        Ok(self.write_in(host, task).await?.0)
    }

    pub(crate) async fn log_in(&self, host: &Host, text: &str) -> Result<WriteResult, Error> {
        let now = host.now().await;
        host.stop_if_cancelled()?;
        let now = now.map_err(|failure| Error::from_failure(&failure, "asking for", "the time"))?;
        let (path, bullet) = write::log_entry(text, now)?;
        let edit: TextEdit =
            Box::new(move |text| Ok((write::with_entry(text, &bullet), String::new())));
        let task = |place: &Place| Put::unkept(path, edit, place).map(Task::Put);
        Ok(self.write_in(host, task).await?.0)
    }

    /// The answer to those who want to take something away where there is no store at all; nothing is
    /// made for them.
    pub(crate) async fn nothing_there(
        &self,
        host: &Host,
        path: Option<&str>,
    ) -> Result<Option<WriteResult>, Error> {
        let Some(place) = self.place(host).await? else {
            return Ok(None);
        };
        let stat = host.lstat(&place.directory).await;
        host.stop_if_cancelled()?;
        let missing = stat.is_err_and(|failure| failure.code == FailureCode::NotFound);
        Ok(missing.then(|| {
            let message = format!("there is no store at {} yet", place.directory);
            let error = Error::new(ErrorCode::NotFound, message);
            WriteResult::refused(path, &place, error)
        }))
    }

    /// Does a task that writes; gives it back, unless it was refused, for what it has found out.
    pub(crate) async fn write_in(
        &self,
        host: &Host,
        task: impl FnOnce(&Place) -> Result<Task, Error>,
    ) -> Result<(WriteResult, Option<Task>), Error> {
        let found = self.found(host).await?;
        let place = self.place_or_disabled(host).await?;
        match task(&place) {
            Ok(task) => write::run(host, &found, &self.shared.gate, task).await,
            Err(error) => {
                let path = error.path.clone();
                Ok((WriteResult::refused(path.as_deref(), &place, error), None))
            }
        }
    }

    /// Where the store is.
    ///
    /// # Errors
    /// `disabled` when memory is off.
    pub(crate) async fn place_or_disabled(&self, host: &Host) -> Result<Place, Error> {
        match self.place(host).await? {
            Some(place) => Ok(place),
            None => Err(Error::new(
                ErrorCode::Disabled,
                self.disabled_entry(host).await?.message,
            )),
        }
    }

    fn flow<T, F>(&self, body: impl FnOnce(Self, Host) -> F) -> Flow<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        Flow::new(|host| body(self.clone(), host))
    }

    pub(crate) async fn transcript_in(&self, host: &Host, path: &str) -> Result<Transcript, Error> {
        self.check_open()?;
        let options = &self.shared.options;
        let platform = find::platform(options, host).await?;
        if platform.is_absolute(path) {
            return transcript::read_file(host, path).await;
        }
        let cwd = options.cwd.as_deref();
        match cwd.filter(|cwd| platform.is_absolute(cwd) && !path.is_empty()) {
            Some(cwd) => transcript::read_file(host, &platform.join(cwd, path)).await,
            None => {
                let message = format!(
                    "{} names no transcript; give an absolute path, or one relative to the cwd of the store",
                    quoted(path)
                );
                Err(Error::new(ErrorCode::InvalidArgument, message))
            }
        }
    }

    fn check_open(&self) -> Result<(), Error> {
        if self.state().closed && !self.outlives_closing {
            let message = "the store is closed; open it again";
            return Err(Error::new(ErrorCode::Closed, message));
        }
        Ok(())
    }

    /// What was found when the store was opened; opens it if it is not yet.
    async fn found(&self, host: &Host) -> Result<Found, Error> {
        self.check_open()?;
        let known = {
            let state = self.state();
            match &state.found {
                Some(found) => Ok(found.clone()),
                None => Err(state.generation),
            }
        };
        let generation = match known {
            Ok(found) => {
                found.check_place(host).await?;
                return Ok(found);
            }
            Err(generation) => generation,
        };
        let found = find::find(&self.shared.options, host).await?;
        let mut state = self.state();
        if state.generation == generation {
            state.found = Some(found.clone());
        }
        Ok(found)
    }

    /// Where the store is; none when memory is off.
    async fn place(&self, host: &Host) -> Result<Option<Place>, Error> {
        let found = self.found(host).await?;
        Ok(found.opened.enabled.then(|| found.place()))
    }

    async fn disabled_entry(&self, host: &Host) -> Result<ReportEntry, Error> {
        let because = self.found(host).await?.opened.because.name();
        let message = format!("memory is off ({because}), so nothing was read");
        Ok(ReportEntry::new("", ReportCode::Disabled, message))
    }

    /// Whether there is a model to ask.
    pub(crate) async fn has_model(&self, host: &Host) -> Result<bool, Error> {
        Ok(self.found(host).await?.model.is_some())
    }

    /// The working directory that the store was opened from.
    pub(crate) fn cwd(&self) -> Option<&str> {
        self.shared.options.cwd.as_deref()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// A prompt, and what its reader should hear of besides when it is computed.
#[derive(Debug, Default)]
pub(crate) struct Prompt {
    pub text: Option<String>,
    pub warnings: Vec<Event>,
}

impl Prompt {
    fn known(text: &str) -> Self {
        Self {
            text: Some(text.to_owned()),
            warnings: Vec::new(),
        }
    }
}

impl Found {
    pub fn place(&self) -> Place {
        Place {
            directory: self.opened.directory.clone(),
            platform: self.platform,
        }
    }
}

impl OpenOptions {
    fn env_flag(&self, name: &str) -> bool {
        crate::paths::env_flag(self.env.get(name).map(String::as_str)) == Some(true)
    }
}

fn warning(path: &str, message: String) -> Event {
    Event {
        kind: "warning".to_owned(),
        path: (!path.is_empty()).then(|| path.to_owned()),
        code: None,
        message,
    }
}
