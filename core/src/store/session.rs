//! The notes of a session as operations of a store: one update at a time for each session, and a compaction
//! waits for it (facts 8).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Found, Store, find};
use crate::agent::{self, NotesDesk, Plan, can_edit, notes_tools};
use crate::conversation::{Block, Content, Conversation, Message};
use crate::error::{Error, ErrorCode};
use crate::extract::{RunEnd, beginning, first_new, first_place_of, is_final, recognised};
use crate::flow::{Event, Flow, Host};
use crate::limits::{
    EXTRACT_PAUSE_MS, EXTRACT_TALK_BYTES, RUN_MAX_TOKENS, SESSION_FOLDER, SESSION_MAX_TURNS,
    SESSION_POLL_MS, SESSION_STALE_MS, SESSION_WAIT_MS,
};
use crate::model::{Model, Role, prefix_tools};
use crate::progress::tell;
use crate::prompt::{self, NOTES_SYSTEM};
use crate::report::{ReportCode, ReportEntry};
use crate::secrets::scan_secrets;
use crate::session::file::NotesFile;
use crate::session::{
    Compaction, CompactionOptions, CompactionQuestion, CompactionReason, NotesDue, NotesOptions,
    NotesOutcome, NotesResult, NotesSkip, NotesState, TEMPLATE, check_id, compaction_cut,
    measure_notes, message_tokens, notes_are_empty, session_notes_due,
};

/// What a run is for, in requests and events.
const PURPOSE: &str = "session-notes";

/// The updates of notes of one store.
#[derive(Debug, Default)]
pub(super) struct Updates {
    sessions: BTreeMap<String, Session>,
}

/// Those of one session.
#[derive(Debug, Default)]
struct Session {
    state: NotesState,
    counted: Option<Counted>,
    running: Option<Run>,
    /// Until when the provider is left alone, milliseconds since the epoch.
    paused_until: Option<i64>,
}

/// The tokens of the messages in front of one, so that what was counted before is not looked at again.
#[derive(Clone, Debug)]
struct Counted {
    next: usize,
    /// What the message before is recognised by.
    before: String,
    tokens: u64,
}

/// An update under way.
#[derive(Clone, Debug)]
struct Run {
    started_ms: i64,
    is_stopped: bool,
    /// None until there is anything to stop.
    desk: Option<Arc<NotesDesk>>,
}

/// Gives a session free whose update is over, however it ended.
struct Running<'a> {
    store: &'a Store,
    id: &'a str,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.store.state().updates.session(self.id).running = None;
    }
}

impl Updates {
    fn session(&mut self, id: &str) -> &mut Session {
        self.sessions.entry(id.to_owned()).or_default()
    }

    pub(super) fn is_running(&self) -> bool {
        let mut sessions = self.sessions.values();
        sessions.any(|session| session.running.is_some())
    }

    pub(super) fn stop(&mut self) {
        let sessions = self.sessions.values_mut();
        for run in sessions.filter_map(|session| session.running.as_mut()) {
            run.is_stopped = true;
            if let Some(desk) = &run.desk {
                desk.stop();
            }
        }
    }
}

/// An update that was asked for.
#[derive(Debug)]
pub(crate) struct AskedNotes {
    tokens: u64,
    /// From which state on the messages are new.
    cursor: Option<String>,
    /// Those that came since; none when it is not time for an update anyway.
    messages: Vec<Message>,
    /// The tools of the last turn.
    last_turn_calls: bool,
    options: NotesOptions,
}

/// A run that is prepared.
struct Prepared {
    desk: Arc<NotesDesk>,
    plan: Plan,
    report: Vec<ReportEntry>,
    shown: Shown,
    /// See [`SessionNotes::goes_on`].
    goes_on: bool,
}

/// How far a run sees.
#[derive(Debug)]
struct Shown {
    /// The last message.
    last: Option<String>,
    /// The last of them that ends a turn: a conversation that is cut within one cannot go on.
    turn_end: Option<String>,
    /// The tokens of the conversation up to the last one.
    tokens: u64,
    /// How many come behind it.
    left: usize,
}

/// The notes of one session of a store; clones are of the same.
///
/// They are kept in the project's folder below the config home, at
/// `projects/<slug>/<session id>/session-memory/summary.md`, where the slug is that of the working directory.
/// Every flow fails with `invalid-argument` for an id that is no single file name, and where the store was
/// opened without a working directory (`cwd`); with `path-relative` where `CLAUDE_CONFIG_DIR` is no absolute path.
#[derive(Clone, Debug)]
pub struct SessionNotes {
    store: Store,
    id: String,
}

impl Store {
    /// The notes of a session. Nothing is made before the first update.
    #[must_use]
    pub fn session(&self, id: String) -> SessionNotes {
        SessionNotes {
            store: self.clone(),
            id,
        }
    }
}

impl SessionNotes {
    /// Lets the store's model bring the notes up to date when it is time, see
    /// [`crate::session::session_notes_due`]. `messages` are all of the conversation. The model may edit this one file and
    /// nothing else.
    ///
    /// The flow fails with `no-model`, `closed`, or what the disk gave before the run. A run that does not
    /// come to its end is a result.
    #[must_use]
    pub fn update(&self, messages: &dyn Conversation, options: NotesOptions) -> Flow<NotesResult> {
        let asked = self.asked(messages, options);
        let notes = self.clone();
        self.store
            .flow(|_, host| async move { notes.update_in(&host, asked?, false).await })
    }

    /// The notes; null when there are none, or memory is off. Fails with `not-text`, `too-large`, `unsupported`, or
    /// what reading gave.
    #[must_use]
    pub fn notes(&self) -> Flow<Option<String>> {
        let notes = self.clone();
        self.store
            .flow(|_, host| async move { notes.notes_in(&host).await })
    }

    /// The file of the notes, absolute, whether it is there or not. Fails with `disabled` when memory is
    /// off.
    #[must_use]
    pub fn path(&self) -> Flow<String> {
        let notes = self.clone();
        self.store
            .flow(|_, host| async move { notes.path_in(&host).await })
    }

    /// What comes in place of a conversation that is about to be compacted, see
    /// [`crate::session::compaction_cut`]. An update that is under way is waited for, for 15 seconds at most; one that
    /// is older than 60 seconds is not. Notes that cannot be read are told in an event, and the conversation is
    /// compacted without them.
    #[must_use]
    pub fn for_compaction(
        &self,
        messages: &dyn Conversation,
        options: CompactionOptions,
    ) -> Flow<Compaction> {
        let all = (0..messages.len()).map(|at| messages.message(at));
        let all: Result<Vec<Message>, Error> = all.collect();
        let notes = self.clone();
        self.store
            .flow(|_, host| async move { notes.for_compaction_in(&host, all?, options).await })
    }

    /// How far they have come.
    pub(super) fn state(&self) -> NotesState {
        self.store.state().updates.session(&self.id).state.clone()
    }

    /// Where the notes are; none when memory is off.
    async fn file(&self, host: &Host) -> Result<Option<(Found, NotesFile)>, Error> {
        check_id(&self.id)?;
        let found = self.store.found(host).await?;
        if !found.opened.enabled {
            return Ok(None);
        }
        let Some(project) = &found.transcripts else {
            let message =
                "the notes of a session belong to a project; name its folder (cwd, --cwd)";
            return Err(Error::new(ErrorCode::InvalidArgument, message));
        };
        // A relative one would depend on where the agent was started.
        if !found.platform.is_absolute(project) {
            let message = "CLAUDE_CONFIG_DIR is relative; give an absolute path";
            return Err(Error::new(ErrorCode::PathRelative, message));
        }
        let project = found.platform.normalise(project);
        let file = NotesFile::new(found.platform, &project, &self.id);
        // Where the store was named to be, they would be memories.
        if found
            .platform
            .below(&file.path, &found.opened.directory)
            .is_some()
        {
            let message = "the notes of this session would lie in the memory folder; give the session another id";
            return Err(Error::new(ErrorCode::InvalidArgument, message));
        }
        Ok(Some((found, file)))
    }

    pub(crate) async fn path_in(&self, host: &Host) -> Result<String, Error> {
        match self.file(host).await? {
            Some((_, file)) => Ok(file.path),
            None => {
                let message = self.store.disabled_entry(host).await?.message;
                Err(Error::new(ErrorCode::Disabled, message))
            }
        }
    }

    pub(crate) async fn notes_in(&self, host: &Host) -> Result<Option<String>, Error> {
        match self.file(host).await? {
            Some((_, file)) => file.read(host).await,
            None => Ok(None),
        }
    }

    async fn for_compaction_in(
        &self,
        host: &Host,
        messages: Vec<Message>,
        options: CompactionOptions,
    ) -> Result<Compaction, Error> {
        let off = self
            .store
            .shared
            .options
            .env_flag("DISABLE_CLAUDE_CODE_SM_COMPACT");
        let Some((found, file)) = self.file(host).await?.filter(|_| !off) else {
            return Ok(Compaction::without_notes(CompactionReason::Off));
        };
        self.wait(host).await?;
        let notes = match file.read(host).await {
            Ok(notes) => notes,
            Err(error) if error.code == ErrorCode::Aborted => return Err(error),
            Err(error) => {
                let message = format!("the notes of the session cannot be used: {error}");
                host.emit(Event::new("warning", message));
                return Ok(Compaction::without_notes(CompactionReason::Unreadable));
            }
        };
        let mut report = Vec::new();
        let template = template(host, &found, &mut report).await?;
        let last_summarised = {
            let mut state = self.store.state();
            let session = state.updates.session(&self.id);
            session.take_up(options.state.as_ref());
            session.state.last_summarised.clone()
        };
        compaction_cut(&CompactionQuestion {
            messages,
            last_summarised,
            notes,
            template,
            boundary: options.boundary,
        })
    }

    /// Waits for an update that is under way.
    async fn wait(&self, host: &Host) -> Result<(), Error> {
        let mut waited: u64 = 0;
        while waited < SESSION_WAIT_MS {
            let running = self.store.state().updates.session(&self.id).running.clone();
            let Some(run) = running else {
                return Ok(());
            };
            let now = host.now().await;
            host.stop_if_cancelled()?;
            let is_stale = |now: i64| now.saturating_sub(run.started_ms) >= SESSION_STALE_MS;
            if now.is_ok_and(|now| is_stale(now.ms)) {
                return Ok(());
            }
            let slept = host.sleep(SESSION_POLL_MS).await;
            host.stop_if_cancelled()?;
            // A pause that fails is one of no length, and would come again at once.
            if slept.is_err() {
                return Ok(());
            }
            waited = waited.saturating_add(SESSION_POLL_MS);
        }
        Ok(())
    }

    /// What has come since the last update, if it is time for one.
    pub(crate) fn asked(
        &self,
        messages: &dyn Conversation,
        options: NotesOptions,
    ) -> Result<AskedNotes, Error> {
        check_id(&self.id)?;
        let (known, counted) = {
            let mut state = self.store.state();
            let session = state.updates.session(&self.id);
            session.take_up(options.state.as_ref());
            (session.state.clone(), session.counted.clone())
        };
        let (tokens, counted) = count(messages, counted)?;
        let last_tokens = known.last_tokens.map(|last| last.min(tokens));
        {
            let mut state = self.store.state();
            let session = state.updates.session(&self.id);
            session.counted = counted;
            // A conversation that was compacted grows anew.
            if session.state == known {
                session.state.last_tokens = last_tokens;
            }
        }
        let mut asked = AskedNotes {
            tokens,
            cursor: known.cursor.clone(),
            messages: Vec::new(),
            last_turn_calls: false,
            options,
        };
        // Most turns end here: it has not grown enough, whatever was called.
        let due = NotesDue {
            tokens,
            last_tokens,
            tool_calls: u64::MAX,
            natural_break: false,
            last_turn_calls: false,
        };
        if !asked.options.force && !session_notes_due(&due) {
            return Ok(asked);
        }
        let from = first_new(messages, known.cursor.as_deref())?;
        let mut tool_calls: u64 = 0;
        for at in from..messages.len() {
            tool_calls = tool_calls.saturating_add(calls(&messages.message(at)?));
        }
        asked.last_turn_calls = last_turn_calls(messages)?;
        if !asked.is_due(last_tokens, tool_calls) {
            return Ok(asked);
        }
        // Now that it matters, all that may be new, which takes longer to find.
        let first = match &known.cursor {
            Some(cursor) => first_place_of(messages, cursor)?,
            None => None,
        };
        asked.messages = behind(messages, first.map_or(0, |at| at.saturating_add(1)))?;
        if asked.options.request.is_none() {
            asked.options.request = messages.request()?;
        }
        Ok(asked)
    }

    pub(crate) async fn update_in(
        &self,
        host: &Host,
        asked: AskedNotes,
        on_terminal: bool,
    ) -> Result<NotesResult, Error> {
        let Some((found, file)) = self.file(host).await? else {
            return Ok(NotesResult::skipped(
                NotesSkip::Disabled,
                None,
                self.state(),
            ));
        };
        let path = file.path.clone();
        let skipped = |reason| {
            Ok(NotesResult::skipped(
                reason,
                Some(path.clone()),
                self.state(),
            ))
        };
        let asked = {
            match asked.still_due(&self.state())? {
                Ok(asked) => asked,
                Err(reason) => return skipped(reason),
            }
        };
        let Some(model) = found.model.clone() else {
            let message = "the notes of a session need a model, and the store was opened without one; open it with a model";
            return Err(Error::new(ErrorCode::NoModel, message));
        };
        let now = host.now().await;
        host.stop_if_cancelled()?;
        let started_ms = now
            .map_err(|failure| Error::from_failure(&failure, "asking for", "the time"))?
            .ms;
        {
            let mut state = self.store.state();
            let session = state.updates.session(&self.id);
            let is_paused = session.paused_until.is_some_and(|until| started_ms < until);
            let reason = match session.running {
                Some(_) => Some(NotesSkip::Running),
                None if is_paused => Some(NotesSkip::Paused),
                None => None,
            };
            if let Some(reason) = reason {
                let state = session.state.clone();
                return Ok(NotesResult::skipped(reason, Some(path), state));
            }
            session.running = Some(Run {
                started_ms,
                is_stopped: false,
                desk: None,
            });
        }
        let _running = Running {
            store: &self.store,
            id: &self.id,
        };
        let tokens = asked.tokens;
        let prepared = self.prepare(host, &found, file, asked).await?;
        self.run(host, &model, prepared, (path, tokens), on_terminal)
            .await
    }

    async fn prepare(
        &self,
        host: &Host,
        found: &Found,
        file: NotesFile,
        asked: AskedNotes,
    ) -> Result<Prepared, Error> {
        let mut report = Vec::new();
        let template = template(host, found, &mut report).await?;
        let custom = custom(host, found, "prompt.md", &mut report).await?;
        let notes = file.create(host, &template).await?;
        let goes_on = self.goes_on(notes_are_empty(&notes, &template));
        let mut tools = notes_tools();
        let mut said = None;
        let mut shown = asked.messages.len();
        match &asked.options.request {
            Some(request) => {
                let names = prefix_tools(request)?;
                if can_edit(names.iter().map(String::as_str)) {
                    tools.clear();
                } else {
                    let message = "the request has no tool Edit, so tools were added to it, and the prompt cache is not used; give the conversation this tool from its beginning";
                    report.push(ReportEntry::new("", ReportCode::ToolsAdded, message));
                }
            }
            None => {
                let (text, count) = beginning(&asked.messages);
                shown = count;
                said = Some(text);
            }
        }
        let shown = asked.shown(shown);
        if shown.left > 0 {
            let message = format!(
                "{} of the new messages are left to the next update, since the model is shown about {EXTRACT_TALK_BYTES} bytes at a time",
                shown.left
            );
            report.push(ReportEntry::new("", ReportCode::MessagesLeftOut, message));
        }
        let prompt = prompt::session_notes(prompt::Notes {
            path: &file.path,
            notes: &notes,
            measure: &measure_notes(&notes),
            custom: custom.as_deref(),
            talk: said.as_deref(),
            max_turns: SESSION_MAX_TURNS,
        });
        let desk = Arc::new(NotesDesk::new(file, template, notes));
        if let Some(run) = &mut self.store.state().updates.session(&self.id).running {
            run.desk = Some(Arc::clone(&desk));
            if run.is_stopped {
                desk.stop();
            }
        }
        Ok(Prepared {
            desk,
            plan: Plan {
                purpose: PURPOSE,
                prefix: asked.options.request,
                system: NOTES_SYSTEM.to_owned(),
                prompt,
                tools,
                max_turns: SESSION_MAX_TURNS,
                max_tokens: RUN_MAX_TOKENS,
                tells: false,
            },
            report,
            shown,
            goes_on,
        })
    }

    /// Whether the notes hold what earlier updates have looked at. Where somebody has removed them, nothing is
    /// covered any more, and the next update begins anew.
    fn goes_on(&self, are_empty: bool) -> bool {
        let mut state = self.store.state();
        let state = &mut state.updates.session(&self.id).state;
        let is_gone = are_empty && state.cursor.is_some();
        if is_gone {
            *state = NotesState {
                // Not as before the first one, so that an older state that is given is not taken up again.
                last_tokens: Some(0),
                ..NotesState::default()
            };
        }
        !is_gone
    }

    async fn run(
        &self,
        host: &Host,
        model: &Model,
        prepared: Prepared,
        (path, tokens): (String, u64),
        on_terminal: bool,
    ) -> Result<NotesResult, Error> {
        let Prepared {
            desk,
            plan,
            report,
            shown,
            goes_on,
        } = prepared;
        let ran = agent::run(host, model, desk.as_ref(), plan, on_terminal).await?;
        let is_stopped = ran.ended == Some(RunEnd::Stopped) || desk.has_refused();
        let error = match is_stopped && ran.error.is_none() {
            true => Some(Error::new(
                ErrorCode::Aborted,
                "the update was stopped, because the store was closed",
            )),
            false => ran.error.or_else(|| desk.failure()),
        };
        let text = desk.text();
        // What was not written down by a run that came to its end is shown to the next one. Only where there is more
        // than one is shown, it goes on also when it has nothing to add to the notes.
        let is_done = goes_on
            && ran.ended == Some(RunEnd::Answered)
            && !ran.was_refused
            && (desk.is_changed() || (shown.left > 0 && !desk.is_empty()));
        let mut result = NotesResult::new(NotesOutcome::Done, Some(path), NotesState::default());
        result.changed = desk.is_changed();
        result.turns = ran.turns;
        result.usage = ran.usage;
        result.ended = if is_stopped {
            Some(RunEnd::Stopped)
        } else {
            ran.ended
        };
        let sections = measure_notes(&text).sections.into_iter();
        result.over_limit = sections.filter(|section| section.is_over).collect();
        result.report = report;
        result.report.extend(secrets(result.path.as_deref(), &text));
        let mut paused_until = None;
        if let Some(error) = &error {
            result.outcome = NotesOutcome::Failed;
            result.code = Some(error.code);
            result.message = Some(error.message.clone());
            if super::extract::is_quota(error.code) {
                let now = host.now().await;
                host.stop_if_cancelled()?;
                paused_until = now.ok().map(|now| now.ms.saturating_add(EXTRACT_PAUSE_MS));
            }
        }
        {
            let mut state = self.store.state();
            let session = state.updates.session(&self.id);
            if error.is_none() && !is_done {
                session.state.last_tokens = Some(tokens);
            } else if error.is_none() {
                session.state.last_tokens = Some(shown.tokens);
                session.state.cursor = shown.last;
                if desk.is_changed() && shown.turn_end.is_some() {
                    session.state.last_summarised = shown.turn_end;
                }
            }
            session.paused_until = paused_until;
            result.state = session.state.clone();
        }
        if let Some(message) = &result.message {
            let message =
                format!("the notes of the session were not brought up to date: {message}");
            if !on_terminal {
                tell(host, false, Event::new("warning", message)).await?;
            }
        }
        Ok(result)
    }
}

impl Session {
    /// What a caller knows of an earlier process.
    fn take_up(&mut self, given: Option<&NotesState>) {
        if let Some(given) = given
            && self.state == NotesState::default()
        {
            self.state = given.clone();
        }
    }
}

impl AskedNotes {
    fn is_due(&self, last_tokens: Option<u64>, tool_calls: u64) -> bool {
        self.options.force
            || session_notes_due(&NotesDue {
                tokens: self.tokens,
                last_tokens,
                tool_calls,
                natural_break: self.options.natural_break,
                last_turn_calls: self.last_turn_calls,
            })
    }

    /// How far a run sees that is shown so many of the messages.
    fn shown(&self, count: usize) -> Shown {
        let (shown, left) = self.messages.split_at_checked(count).unwrap_or_default();
        // Behind a part of an answer comes its next one.
        let ends_turn = |at: &usize| {
            let next = self.messages.get(at.saturating_add(1));
            shown.get(*at).is_some_and(is_final)
                && next.is_none_or(|next| next.role != Role::Assistant)
        };
        let id = |at: usize| shown.get(at)?.id.clone();
        let rest = left.iter().map(message_tokens);
        Shown {
            last: shown.last().and_then(|last| last.id.clone()),
            turn_end: (0..shown.len()).rev().find(ends_turn).and_then(id),
            tokens: self
                .tokens
                .saturating_sub(rest.fold(0, u64::saturating_add)),
            left: left.len(),
        }
    }

    /// The same without what another update has looked at since it was asked for, or why there is nothing to
    /// be done.
    fn still_due(mut self, state: &NotesState) -> Result<Result<Self, NotesSkip>, Error> {
        if state.cursor != self.cursor {
            let at = match &state.cursor {
                Some(cursor) => first_place_of(&self.messages, cursor)?,
                None => None,
            };
            // That one was asked for later, and has seen all of these.
            let Some(at) = at else {
                return Ok(Err(NotesSkip::NothingNew));
            };
            self.messages.drain(..=at);
        }
        let tool_calls = self.messages.iter().map(calls);
        if !self.is_due(state.last_tokens, tool_calls.fold(0, u64::saturating_add)) {
            return Ok(Err(NotesSkip::NotDue));
        }
        if self.messages.iter().all(|message| message.is_meta) {
            return Ok(Err(NotesSkip::NothingNew));
        }
        Ok(Ok(self))
    }
}

/// The messages from a place on. What comes before them is not kept, and is part of what those without ids are
/// recognised by.
fn behind(messages: &dyn Conversation, from: usize) -> Result<Vec<Message>, Error> {
    let known = (from..messages.len()).map(|at| {
        Ok(Message {
            id: Some(recognised(messages, at)?),
            ..messages.message(at)?
        })
    });
    known.collect()
}

/// How many tools a message calls.
fn calls(message: &Message) -> u64 {
    match &message.content {
        Content::Text(_) => 0,
        Content::Blocks(blocks) => {
            let calls = blocks
                .iter()
                .filter(|block| matches!(block, Block::ToolUse { .. }));
            calls.count() as u64
        }
    }
}

/// Whether the last answer of the model calls a tool.
fn last_turn_calls(messages: &dyn Conversation) -> Result<bool, Error> {
    for at in (0..messages.len()).rev() {
        let message = messages.message(at)?;
        if message.role == Role::Assistant && !message.is_meta {
            return Ok(!is_final(&message));
        }
    }
    Ok(false)
}

/// Counts the tokens of a conversation, from where they were counted before if that is still a part of it. Its
/// last message is counted each time, as it may still grow.
fn count(
    messages: &dyn Conversation,
    known: Option<Counted>,
) -> Result<(u64, Option<Counted>), Error> {
    let mut counted = None;
    if let Some(known) = known
        && known.next < messages.len()
        && let Some(before) = known.next.checked_sub(1)
        && recognised(messages, before)? == known.before
    {
        counted = Some(known);
    }
    let (from, mut tokens) = counted
        .as_ref()
        .map_or((0, 0), |counted| (counted.next, counted.tokens));
    let Some(last) = messages.len().checked_sub(1) else {
        return Ok((tokens, counted));
    };
    for at in from..last {
        tokens = tokens.saturating_add(message_tokens(&messages.message(at)?));
    }
    if let Some(before) = last.checked_sub(1).filter(|_| from < last) {
        counted = Some(Counted {
            next: last,
            before: recognised(messages, before)?,
            tokens,
        });
    }
    let tokens = tokens.saturating_add(message_tokens(&messages.message(last)?));
    Ok((tokens, counted))
}

/// What the notes of a session begin as: the user's own template, else ours.
async fn template(
    host: &Host,
    found: &Found,
    report: &mut Vec<ReportEntry>,
) -> Result<String, Error> {
    let custom = custom(host, found, "template.md", report).await?;
    Ok(custom.unwrap_or_else(|| TEMPLATE.to_owned()))
}

/// One of the user's own files below the config home (facts 8.2); none when there is none, or none that can be
/// used.
async fn custom(
    host: &Host,
    found: &Found,
    name: &str,
    report: &mut Vec<ReportEntry>,
) -> Result<Option<String>, Error> {
    let config_home = found.opened.places.config_home.as_deref();
    let Some(config_home) = config_home.filter(|home| found.platform.is_absolute(home)) else {
        return Ok(None);
    };
    let relative = format!("{SESSION_FOLDER}/config/{name}");
    let path = found.platform.join(config_home, &relative);
    let text = find::read_text(host, Some(&path)).await;
    host.stop_if_cancelled()?;
    let problem = match text {
        Ok(None) => return Ok(None),
        Ok(Some(text)) if text.trim().is_empty() => "it is empty".to_owned(),
        Ok(Some(text)) if text.contains('\0') => "it holds NUL characters".to_owned(),
        Ok(Some(text)) => return Ok(Some(text)),
        Err(problem) => problem,
    };
    let message = format!("{path} is not used, and the built-in one is: {problem}");
    report.push(ReportEntry::new(path, ReportCode::Unreadable, message));
    Ok(None)
}

/// What in the notes looks like a secret, as private memories are warned of.
fn secrets(path: Option<&str>, text: &str) -> Vec<ReportEntry> {
    let found = scan_secrets(text).into_iter().map(|secret| {
        let message = format!(
            "line {} holds what looks like a secret ({}); everybody who can read the notes sees it",
            secret.line, secret.label
        );
        ReportEntry::new(path.unwrap_or_default(), ReportCode::SecretFound, message)
    });
    found.collect()
}
