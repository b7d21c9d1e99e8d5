//! Extraction as an operation of a store: one run at a time for each conversation, and one more behind it for
//! what came meanwhile (facts 6.1).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Found, Store};
use crate::agent::{self, Desk, Hands, Manner, Plan, ToolReply, can_write, definitions};
use crate::conversation::{Conversation, Message};
use crate::error::{Error, ErrorCode};
use crate::extract::{
    AgentRole, ExtractOptions, Extraction, ExtractionDecision, ExtractionGate, ExtractionOutcome,
    ExtractionState, ExtractionStep, ExtractionTask, RunEnd, RunReport, Skip, Verdict,
    decide_extraction, first_new, is_final, recognised, talk,
};
use crate::flow::{Event, Flow, Host};
use crate::inbox::{self, Proposal, ProposedChange};
use crate::limits::{
    DRAIN_MS, EXTRACT_MAX_TURNS, EXTRACT_PAUSE_MS, EXTRACT_TALK_BYTES, RUN_MAX_TOKENS, TEAM_FOLDER,
};
use crate::memory::format_manifest;
use crate::model::{Usage, prefix_tools};
use crate::progress::tell;
use crate::prompt::{self, EXTRACTION_SYSTEM, Saving};
use crate::report::{ReportCode, ReportEntry};
use crate::write::hash;

/// What a run is for, in requests and events.
const PURPOSE: &str = "extract-memories";
/// How long closing waits before it looks again, milliseconds; twice as long each time.
const FIRST_LOOK_MS: u64 = 10;
const LAST_LOOK_MS: u64 = 200;

/// The extractions of one store.
#[derive(Debug, Default)]
pub(super) struct Extractions {
    sessions: BTreeMap<String, Session>,
    runs: BTreeMap<u32, Arc<Run>>,
    /// How many were asked for and have not come to their end.
    waiting: usize,
    last_run: u32,
}

/// Those of one conversation.
#[derive(Debug, Default)]
struct Session {
    state: ExtractionState,
    /// The run that is under way.
    running: Option<u32>,
    /// What is looked at when it is done.
    pending: Option<Asked>,
    /// How many extractions were asked for, and the newest one whose messages were looked at. Flows need
    /// not come in the order in which they were begun, and an older one has nothing to add.
    asked: u64,
    looked_at: u64,
    /// Until when the provider is left alone, milliseconds since the epoch.
    paused_until: Option<i64>,
}

/// An extraction that was asked for.
#[derive(Debug)]
pub(crate) struct Asked {
    /// Which one of its conversation, from 1.
    number: u64,
    /// Those that were new.
    messages: Vec<Message>,
    options: ExtractOptions,
}

/// A run under way.
#[derive(Debug)]
struct Run {
    session: String,
    /// Where the cursor goes when it succeeds.
    last: Option<String>,
    desk: Desk,
    report: Vec<ReportEntry>,
    /// What the runs gave that this one goes on behind, for one who hears of all at once.
    before: Option<Extraction>,
}

/// The run that another one goes on behind. It has the conversation until that one begins, so that none comes
/// between them.
struct Before {
    run: u32,
    result: Extraction,
}

/// How a run ended.
struct Ended {
    turns: u32,
    usage: Usage,
    end: Option<RunEnd>,
    error: Option<Error>,
}

/// What an extraction needs next.
enum Next {
    Run(Box<Job>),
    Done(Box<Extraction>),
}

struct Job {
    task: ExtractionTask,
    /// The request that it goes on behind.
    prefix: Option<String>,
}

impl Next {
    /// Nothing is done; what was done before is told.
    fn skipped(reason: Skip, state: ExtractionState, before: Option<Before>) -> Self {
        let result = match before {
            Some(before) => Extraction {
                state,
                ..before.result
            },
            None => Extraction::skipped(reason, state),
        };
        Self::Done(Box::new(result))
    }

    fn step(self) -> ExtractionStep {
        match self {
            Self::Run(job) => ExtractionStep {
                task: Some(job.task),
                result: None,
            },
            Self::Done(result) => ExtractionStep {
                task: None,
                result: Some(*result),
            },
        }
    }
}

/// Gives a conversation free whose run does not come to its end.
struct Running<'a> {
    store: &'a Store,
    session: String,
    run: u32,
    is_kept: bool,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.is_kept {
            self.store.state().extractions.end(&self.session, self.run);
        }
    }
}

/// An extraction that closing waits for from the moment it is asked for.
struct Waiting(Store);

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.extractions.waiting = state.extractions.waiting.saturating_sub(1);
    }
}

impl Extractions {
    fn session(&mut self, name: &str) -> &mut Session {
        self.sessions.entry(name.to_owned()).or_default()
    }

    fn end(&mut self, session: &str, run: u32) {
        self.runs.remove(&run);
        let session = self.session(session);
        if session.running == Some(run) {
            session.running = None;
            // Nobody is there to look at it. It is new the next time too.
            session.pending = None;
        }
    }

    fn is_running(&self) -> bool {
        let mut sessions = self.sessions.values();
        self.waiting > 0 || sessions.any(|session| session.running.is_some())
    }
}

impl Store {
    /// Lets the store's model write down what later conversations should know of this one. `messages` are all
    /// of it, or at least those since the last extraction; they are looked at from their end. While one is
    /// under way for the same conversation, another one is `queued` and done behind it.
    ///
    /// The flow fails with `no-model`, `invalid-argument`, `closed`, or what the disk gave. A run that does
    /// not come to its end is a result.
    #[must_use]
    pub fn extract(
        &self,
        messages: &dyn Conversation,
        options: ExtractOptions,
    ) -> Flow<Extraction> {
        let asked = self.asked(messages, options);
        let waiting = self.waiting();
        self.unclosed().flow(|store, host| async move {
            let _waiting = waiting;
            store.extract_in(&host, asked?, false).await
        })
    }

    /// The same for an agent that runs its own model: what is to be done, or why nothing is. How a task ended
    /// is told with [`Self::end_extraction`], in any case.
    #[must_use]
    pub fn begin_extraction(
        &self,
        messages: &dyn Conversation,
        options: ExtractOptions,
    ) -> Flow<ExtractionStep> {
        let asked = self.asked(messages, options);
        let waiting = self.waiting();
        self.unclosed().flow(|store, host| async move {
            let _waiting = waiting;
            Ok(store.begin(&host, asked?, None).await?.step())
        })
    }

    /// Answers a call of a tool in a run; `input` is its arguments as JSON. What is denied is an answer too.
    ///
    /// The flow fails with `not-found` for a run that is over.
    #[must_use]
    pub fn call_tool(&self, run: u32, name: String, input: String) -> Flow<ToolReply> {
        self.background().flow(move |store, host| async move {
            let run = store.run(run)?;
            run.desk.call(&host, &name, &input).await
        })
    }

    /// Ends a run that somebody's own model has made; there may be another task behind it.
    ///
    /// The flow fails with `not-found` for a run that is over.
    #[must_use]
    pub fn end_extraction(&self, run: u32, report: RunReport) -> Flow<ExtractionStep> {
        self.background().flow(move |store, host| async move {
            let error = report.error.filter(|error| !error.is_empty());
            // Calls of a run that was stopped may have come to nothing, whatever its model says.
            let end = match store.run(run)?.desk.is_stopped() {
                true => RunEnd::Stopped,
                false => RunEnd::Answered,
            };
            let ended = Ended {
                turns: report.turns,
                usage: report.usage,
                end: error.is_none().then_some(end),
                error: error.map(|message| Error::new(ErrorCode::Other, message)),
            };
            Ok(store.end(&host, run, ended).await?.step())
        })
    }

    /// Waits for extractions, updates of notes and dreams that are under way, for 60 seconds when `timeout_ms` is null
    /// (facts 6.5); what is not done then is stopped before its next call, see [`RunEnd::Stopped`]. A dream takes
    /// minutes as a rule, so one that is to be finished needs a longer time. Whether all have come to their end by
    /// themselves.
    #[must_use]
    pub fn drain(&self, timeout_ms: Option<u64>) -> Flow<bool> {
        self.background().flow(move |store, host| async move {
            store.drain_in(&host, timeout_ms.unwrap_or(DRAIN_MS)).await
        })
    }

    pub(super) async fn drain_in(&self, host: &Host, timeout_ms: u64) -> Result<bool, Error> {
        let mut waited: u64 = 0;
        let mut pause = FIRST_LOOK_MS;
        while self.is_busy() {
            let next = pause.min(timeout_ms.saturating_sub(waited));
            // A pause that fails is one of no length, and would come again without end.
            let is_over = next == 0 || host.sleep(next).await.is_err();
            host.stop_if_cancelled()?;
            if is_over {
                let mut state = self.state();
                for run in state.extractions.runs.values() {
                    run.desk.stop();
                }
                state.updates.stop();
                state.dreaming.stop();
                return Ok(false);
            }
            waited = waited.saturating_add(next);
            pause = pause.saturating_mul(2).min(LAST_LOOK_MS);
        }
        Ok(true)
    }

    /// Whether something runs in the background.
    fn is_busy(&self) -> bool {
        let state = self.state();
        state.extractions.is_running() || state.updates.is_running() || state.dreaming.is_running()
    }

    /// What has come since the last extraction, if that can matter at all.
    pub(crate) fn asked(
        &self,
        messages: &dyn Conversation,
        options: ExtractOptions,
    ) -> Result<Asked, Error> {
        let (number, cursor) = {
            let mut state = self.state();
            let session = state.extractions.session(&options.session);
            if let Some(given) = &options.state
                && session.state == ExtractionState::default()
            {
                session.state = given.clone();
            }
            session.asked = session.asked.saturating_add(1);
            (session.asked, session.state.cursor.clone())
        };
        let is_on = self.shared.options.features.extract && options.agent == AgentRole::Main;
        let end = messages.len().checked_sub(1).filter(|_| is_on);
        let last = end.map(|at| messages.message(at)).transpose()?;
        let from = match &last {
            None => messages.len(),
            // In the middle of a turn what was said before does not matter.
            Some(last) if !is_final(last) => end.unwrap_or_default(),
            Some(_) => first_new(messages, cursor.as_deref())?,
        };
        let before = (from..end.unwrap_or_default()).map(|at| messages.message(at));
        let last = last.filter(|_| from < messages.len());
        let mut new = before.chain(last.map(Ok)).collect::<Result<Vec<_>, _>>()?;
        // What comes before them is not kept, and is part of what those without ids are recognised by.
        for (at, message) in (from..).zip(&mut new) {
            message.id = Some(recognised(messages, at)?);
        }
        let mut asked = Asked {
            number,
            messages: new,
            options,
        };
        if asked.options.request.is_none() && self.may_run(&asked)? {
            asked.options.request = messages.request()?;
        }
        Ok(asked)
    }

    /// How far the extractions of a conversation have come.
    pub(super) fn extraction_state(&self, session: &str) -> ExtractionState {
        self.state().extractions.session(session).state.clone()
    }

    /// Whether there will be something to do, as far as that is known before the store is looked at.
    fn may_run(&self, asked: &Asked) -> Result<bool, Error> {
        let mut state = self.state();
        let gate = match &state.found {
            None => return Ok(true),
            found => self.gate(asked, found.as_ref(), false, false),
        };
        let session = state.extractions.session(&asked.options.session);
        let decision = decide_extraction(&asked.messages, &session.state, &gate)?;
        Ok(decision.verdict != Verdict::Skip)
    }

    /// What decides besides the messages.
    fn gate(
        &self,
        asked: &Asked,
        found: Option<&Found>,
        running: bool,
        trailing: bool,
    ) -> ExtractionGate {
        let features = &self.shared.options.features;
        let enabled = found.filter(|found| found.opened.enabled);
        ExtractionGate {
            agent: asked.options.agent,
            interactive: asked.options.interactive,
            remote: asked.options.remote || self.shared.options.env_flag("CLAUDE_CODE_REMOTE"),
            extract: features.extract,
            extract_non_interactive: features.extract_non_interactive,
            every: features.extract_every,
            running,
            trailing,
            places: enabled.map(|found| found.opened.places.clone()),
        }
    }

    pub(crate) async fn extract_in(
        &self,
        host: &Host,
        asked: Asked,
        on_terminal: bool,
    ) -> Result<Extraction, Error> {
        let mut next = self.begin(host, asked, None).await?;
        loop {
            let Job { task, prefix } = match next {
                Next::Run(job) => *job,
                Next::Done(result) => return Ok(*result),
            };
            let run = self.run(task.run)?;
            let _running = self.running(&run.session, task.run);
            let Some(model) = &run.desk.found().model else {
                let message = "extraction needs a model, and the store was opened without one; open it with a model, or run the extraction yourself";
                return Err(Error::new(ErrorCode::NoModel, message));
            };
            let plan = Plan {
                purpose: PURPOSE,
                prefix,
                system: task.system,
                prompt: task.prompt,
                tools: task.tools,
                max_turns: task.max_turns,
                max_tokens: task.max_tokens,
                tells: false,
            };
            let ran = agent::run(host, model, &run.desk, plan, on_terminal).await?;
            let ended = Ended {
                turns: ran.turns,
                usage: ran.usage,
                end: ran.ended,
                error: ran.error,
            };
            next = self.background().end(host, task.run, ended).await?;
        }
    }

    fn waiting(&self) -> Waiting {
        let mut state = self.state();
        state.extractions.waiting = state.extractions.waiting.saturating_add(1);
        Waiting(self.clone())
    }

    /// This store for work that is asked for now, and goes on when it is closed later.
    fn unclosed(&self) -> Self {
        if self.state().closed {
            return self.clone();
        }
        self.background()
    }

    /// This store for work that has begun before it was closed.
    pub(super) fn background(&self) -> Self {
        Self {
            outlives_closing: true,
            ..self.clone()
        }
    }

    fn run(&self, run: u32) -> Result<Arc<Run>, Error> {
        let run = self.state().extractions.runs.get(&run).cloned();
        run.ok_or_else(|| {
            let message = "there is no such run, or it is over; begin another extraction";
            Error::new(ErrorCode::NotFound, message)
        })
    }

    fn running(&self, session: &str, run: u32) -> Running<'_> {
        Running {
            store: self,
            session: session.to_owned(),
            run,
            is_kept: false,
        }
    }

    /// Decides, and prepares a run when it is time for one.
    async fn begin(
        &self,
        host: &Host,
        mut asked: Asked,
        before: Option<Before>,
    ) -> Result<Next, Error> {
        let name = asked.options.session.clone();
        // Where nothing is done, nothing is looked at.
        let found = match self.shared.options.features.extract {
            true => Some(self.found(host).await?),
            false => {
                self.check_open()?;
                None
            }
        };
        if self.is_paused(host, &name).await? {
            let state = self.state().extractions.session(&name).state.clone();
            return Ok(Next::skipped(Skip::Paused, state, before));
        }
        let enabled = found.filter(|found| found.opened.enabled);
        let (number, decision) = {
            let mut state = self.state();
            let extractions = &mut state.extractions;
            let number = extractions.last_run.wrapping_add(1);
            let session = extractions.session(&name);
            let is_other = |run| before.as_ref().is_none_or(|before| before.run != run);
            let is_running = session.running.is_some_and(is_other);
            let gate = self.gate(&asked, enabled.as_ref(), is_running, before.is_some());
            let decision = decide_extraction(&asked.messages, &session.state, &gate)?;
            if decision.verdict == Verdict::Queue || decision.new_messages > 0 {
                if asked.number < session.looked_at {
                    let state = session.state.clone();
                    return Ok(Next::skipped(Skip::NothingNew, state, before));
                }
                session.looked_at = asked.number;
            }
            session.state = decision.state.clone();
            match decision.verdict {
                Verdict::Run => {
                    // Another run may have looked at some of them since this one was asked for.
                    let from = first_new(&asked.messages, session.state.cursor.as_deref())?;
                    asked.messages.drain(..from);
                    session.running = Some(number);
                }
                Verdict::Queue => {
                    session.pending = Some(asked);
                    let queued = Extraction::new(ExtractionOutcome::Queued, session.state.clone());
                    return Ok(Next::Done(Box::new(queued)));
                }
                Verdict::Skip => {
                    let reason = decision.reason.unwrap_or(Skip::NothingNew);
                    return Ok(Next::skipped(reason, decision.state, before));
                }
            }
            extractions.last_run = number;
            (number, decision)
        };
        let mut running = self.running(&name, number);
        let Some(found) = enabled else {
            return Ok(Next::skipped(Skip::Disabled, decision.state, before));
        };
        let before = before.map(|before| before.result);
        let (job, run) = self
            .prepare(host, found, asked, (number, decision), before)
            .await?;
        self.state().extractions.runs.insert(number, Arc::new(run));
        running.is_kept = true;
        Ok(Next::Run(Box::new(job)))
    }

    async fn is_paused(&self, host: &Host, session: &str) -> Result<bool, Error> {
        let until = self.state().extractions.session(session).paused_until;
        let Some(until) = until else {
            return Ok(false);
        };
        let now = host.now().await;
        host.stop_if_cancelled()?;
        let is_paused = now.is_ok_and(|now| now.ms < until && until - now.ms <= EXTRACT_PAUSE_MS);
        if !is_paused {
            self.state().extractions.session(session).paused_until = None;
        }
        Ok(is_paused)
    }

    async fn prepare(
        &self,
        host: &Host,
        found: Found,
        asked: Asked,
        (number, decision): (u32, ExtractionDecision),
        before: Option<Extraction>,
    ) -> Result<(Job, Run), Error> {
        let Asked {
            messages, options, ..
        } = asked;
        let features = &self.shared.options.features;
        let scan = self.scan_in(host).await?;
        let mut report = Vec::new();
        let mut tools = definitions();
        let mut shown = None;
        match &options.request {
            Some(request) => {
                let names = prefix_tools(request)?;
                if can_write(names.iter().map(String::as_str)) {
                    tools.clear();
                } else {
                    let message = "the request has no tool Write or Edit, so tools were added to it, and the prompt cache is not used; give the conversation these tools from its beginning";
                    report.push(ReportEntry::new("", ReportCode::ToolsAdded, message));
                }
            }
            None => {
                let (text, left) = talk(&messages);
                if left > 0 {
                    let message = format!(
                        "{left} of the new messages were not shown to the model, which is shown {EXTRACT_TALK_BYTES} bytes of them"
                    );
                    report.push(ReportEntry::new("", ReportCode::MessagesLeftOut, message));
                }
                shown = Some(text);
            }
        }
        let prompt = prompt::extraction(prompt::Extraction {
            directory: &found.opened.directory,
            new_messages: decision.new_messages,
            talk: shown.as_deref(),
            manifest: &format_manifest(&scan.memories),
            saving: if features.one_step {
                Saving::OneStep
            } else {
                Saving::TwoSteps
            },
            team: features.team && found.agent.is_none(),
            daily_log: features.daily_log,
            max_turns: EXTRACT_MAX_TURNS,
        });
        let desk = Desk::new(
            host,
            self.background(),
            found,
            &options.read_roots,
            match options.review {
                true => Manner::Reviewed,
                false => Manner::Direct,
            },
        )
        .await?;
        let task = ExtractionTask {
            run: number,
            system: EXTRACTION_SYSTEM.to_owned(),
            prompt,
            tools,
            max_turns: EXTRACT_MAX_TURNS,
            max_tokens: RUN_MAX_TOKENS,
        };
        let run = Run {
            session: options.session,
            last: decision.last,
            desk,
            report,
            before,
        };
        let prefix = options.request;
        Ok((Job { task, prefix }, run))
    }

    /// Takes the result of a run, and goes on with what came meanwhile.
    async fn end(&self, host: &Host, number: u32, ended: Ended) -> Result<Next, Error> {
        let run = self.run(number)?;
        let _running = self.running(&run.session, number);
        let mut result = self.result(host, &run, ended).await?;
        let paused_until = match result.code {
            Some(code) if is_quota(code) => {
                let now = host.now().await;
                host.stop_if_cancelled()?;
                now.ok().map(|now| now.ms.saturating_add(EXTRACT_PAUSE_MS))
            }
            _ => None,
        };
        {
            let mut state = self.state();
            let session = state.extractions.session(&run.session);
            if result.outcome == ExtractionOutcome::Done {
                session.state.cursor.clone_from(&run.last);
            }
            session.paused_until = paused_until;
            result.state = session.state.clone();
        }
        self.tell(host, &result).await?;
        if let Some(before) = run.before.clone() {
            result = before.and(result);
        }
        loop {
            let pending = {
                let mut state = self.state();
                let session = state.extractions.session(&run.session);
                let goes_on = paused_until.is_none() && !run.desk.is_stopped();
                let pending = session.pending.take().filter(|_| goes_on);
                // Whoever asks from now on begins a run of their own.
                if pending.is_none() && session.running == Some(number) {
                    session.running = None;
                }
                pending
            };
            let Some(pending) = pending else {
                return Ok(Next::Done(Box::new(result)));
            };
            // The newest messages that were kept are looked at from the new cursor on.
            let asked = Asked {
                number: pending.number,
                ..self.asked(&pending.messages, pending.options)?
            };
            let before = Before {
                run: number,
                result: result.clone(),
            };
            match self.begin(host, asked, Some(before)).await {
                Ok(Next::Run(job)) => {
                    if run.desk.is_stopped() {
                        self.run(job.task.run)?.desk.stop();
                    }
                    return Ok(Next::Run(job));
                }
                // More may have come even now.
                Ok(Next::Done(told)) => result = *told,
                Err(error) if error.code == ErrorCode::Aborted => return Err(error),
                Err(error) => {
                    let message = format!("what came meanwhile was not looked at: {error}");
                    result
                        .report
                        .push(ReportEntry::new("", ReportCode::Unreadable, message));
                    return Ok(Next::Done(Box::new(result)));
                }
            }
        }
    }

    /// What came of a run.
    async fn result(&self, host: &Host, run: &Run, mut ended: Ended) -> Result<Extraction, Error> {
        // What it was not let do is done by the next one.
        if run.desk.has_refused() && ended.error.is_none() {
            ended.end = Some(RunEnd::Stopped);
        }
        let (paths, removed) = run.desk.changed();
        let mut result = Extraction::new(ExtractionOutcome::Done, ExtractionState::default());
        result.report.clone_from(&run.report);
        result.turns = ended.turns;
        result.usage = ended.usage;
        result.ended = ended.end;
        let error = match ended.end {
            Some(RunEnd::Stopped) => Some(Error::new(
                ErrorCode::Aborted,
                "the extraction was stopped, because nobody waited for it any longer",
            )),
            // What could not be written is to be looked at again.
            _ => ended.error.or_else(|| run.desk.failure()),
        };
        if let Some(error) = &error {
            result.outcome = ExtractionOutcome::Failed;
            result.code = Some(error.code);
            result.message = Some(error.message.clone());
        }
        let drafts = run.desk.drafts();
        if run.desk.is_reviewed() {
            // What a run that failed has drafted is drafted again by the next one.
            if error.is_none() && !drafts.is_empty() {
                let changes = drafts.into_iter().map(|(path, draft)| ProposedChange {
                    path,
                    before: draft.old.as_ref().map(|old| hash(old.as_bytes())),
                    old: draft.old,
                    new: draft.new,
                });
                let now = host.now().await;
                host.stop_if_cancelled()?;
                let proposal = Proposal {
                    purpose: "extract".to_owned(),
                    at_ms: now.map_or(0, |now| now.ms),
                    changes: changes.collect(),
                };
                match inbox::put(host, run.desk.found(), proposal).await {
                    Ok(id) => result.inbox.extend(id),
                    Err(error) => {
                        host.stop_if_cancelled()?;
                        result.outcome = ExtractionOutcome::Failed;
                        result.code = Some(error.code);
                        result.message = Some(error.message);
                    }
                }
            }
        }
        if result.code.is_none() || !run.desk.is_reviewed() {
            (result.paths, result.removed) = (paths, removed);
        }
        result.notice = result.told();
        Ok(result)
    }

    async fn tell(&self, host: &Host, result: &Extraction) -> Result<(), Error> {
        let message = match (&result.message, &result.notice) {
            (Some(message), _) => format!("the memory was not brought up to date: {message}"),
            (None, Some(notice)) => notice.clone(),
            (None, None) => return Ok(()),
        };
        let kind = if result.message.is_some() {
            "warning"
        } else {
            PURPOSE
        };
        tell(host, false, Event::new(kind, message)).await
    }
}

/// Whether a provider has no more to give for now, so that asking again only costs.
pub(super) fn is_quota(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::ModelBusy | ErrorCode::ModelAuth | ErrorCode::ModelRefused
    )
}

impl Extraction {
    /// The same with what came of another run behind it.
    fn and(self, mut after: Self) -> Self {
        let both = |first: Vec<String>, second: Vec<String>| {
            let known: BTreeSet<String> = second.iter().cloned().collect();
            let first = first.into_iter().filter(|path| !known.contains(path));
            first.chain(second).collect::<Vec<_>>()
        };
        let removed_now: BTreeSet<String> = after.removed.iter().cloned().collect();
        let saved_now: BTreeSet<String> = after.paths.iter().cloned().collect();
        after.paths = both(self.paths, after.paths);
        after.paths.retain(|path| !removed_now.contains(path));
        after.removed = both(self.removed, after.removed);
        after.removed.retain(|path| !saved_now.contains(path));
        after.inbox = both(self.inbox, after.inbox);
        after.report = self.report.into_iter().chain(after.report).collect();
        after.turns = self.turns.saturating_add(after.turns);
        let usage = after.usage;
        after.usage = self.usage;
        after.usage.add(usage);
        after.notice = after.told();
        after
    }

    /// What a user is told.
    fn told(&self) -> Option<String> {
        if !self.inbox.is_empty() {
            let count = self.paths.len().saturating_add(self.removed.len());
            let what = if count == 1 {
                "1 memory is to be changed".to_owned()
            } else {
                format!("{count} memories are to be changed")
            };
            return Some(format!("{what}; see the inbox, {}", self.inbox.join(", ")));
        }
        let team = format!("{TEAM_FOLDER}/");
        let count = self
            .paths
            .iter()
            .filter(|path| path.starts_with(&team))
            .count();
        let mut parts = Vec::new();
        if !self.paths.is_empty() {
            let whose = if count > 0 {
                format!(" ({count} of the team's)")
            } else {
                String::new()
            };
            parts.push(format!(
                "Memory updated in {}{whose}",
                self.paths.join(", ")
            ));
        }
        if !self.removed.is_empty() {
            parts.push(format!("Memory removed: {}", self.removed.join(", ")));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}
