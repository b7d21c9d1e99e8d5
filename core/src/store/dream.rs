//! Dreaming as an operation of a store: its gates, its run, and how what it did takes effect and is taken back.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use super::inbox::gone_already;
use super::{Found, Place, Store, read};
use crate::agent::{self, Desk, Draft, Manner, Plan, definitions};
use crate::dream::{
    self, Awake, Dream, DreamGate, DreamOptions, DreamOutcome, DreamUndone, Record, Recorded,
    Taken, decide_dream,
};
use crate::error::{Error, ErrorCode};
use crate::extract::RunEnd;
use crate::flow::{Event, FailureCode, FileKind, Flow, Host};
use crate::inbox::{self, Proposal, ProposedChange};
use crate::limits::{DREAM_MAX_TURNS, DREAM_NAMED_SESSIONS, RUN_MAX_TOKENS, WRITE_ATTEMPTS};
use crate::memory::{format_iso, format_manifest};
use crate::order;
use crate::progress::tell;
use crate::prompt::{self, DREAM_SYSTEM, Saving};
use crate::report::{ReportCode, ReportEntry};
use crate::team::without_forgotten;
use crate::text::one_line;
use crate::write::{ABSENT, Forget, Put, Task, TextEdit, WriteOutcome, WriteResult, hash};

/// What a run is for, in requests and events.
const PURPOSE: &str = "dream";

/// What a store knows of its dreams.
#[derive(Debug, Default)]
pub(super) struct Dreaming {
    /// When sessions were counted last, milliseconds since the epoch.
    counted_ms: Option<i64>,
    /// How many are under way; a dry run does not wait for another one.
    running: u32,
    /// Whether one of them is none. The lock names the process only.
    is_dreaming: bool,
    /// What they may touch.
    desks: Vec<Weak<Desk>>,
}

impl Dreaming {
    pub fn is_running(&self) -> bool {
        self.running > 0
    }

    /// Lets no further call through.
    pub fn stop(&self) {
        for desk in self.desks.iter().filter_map(Weak::upgrade) {
            desk.stop();
        }
    }
}

/// Keeps whoever closes the store waiting until a dream has ended in any way.
struct Asleep<'a> {
    store: &'a Store,
    is_dry: bool,
}

impl<'a> Asleep<'a> {
    /// None when another one is under way that this one would have to wait for.
    fn new(store: &'a Store, is_dry: bool) -> Option<Self> {
        let mut state = store.state();
        let dreaming = &mut state.dreaming;
        if !is_dry && std::mem::replace(&mut dreaming.is_dreaming, true) {
            return None;
        }
        dreaming.running = dreaming.running.saturating_add(1);
        Some(Self { store, is_dry })
    }
}

impl Drop for Asleep<'_> {
    fn drop(&mut self) {
        let mut state = self.store.state();
        let dreaming = &mut state.dreaming;
        dreaming.running = dreaming.running.saturating_sub(1);
        if !self.is_dry {
            dreaming.is_dreaming = false;
        }
    }
}

/// The sessions since a time: one line each for the model, and how many there are.
#[derive(Debug, Default)]
struct Sessions {
    lines: String,
    count: u32,
}

impl Store {
    /// Puts the memory in order with the store's model, when it is time (facts 7.1): 24 hours after the last
    /// time, and five sessions. What it changes is applied together at its end, where nobody else has changed it
    /// meanwhile, and can be taken back with [`Self::undo_dream`].
    ///
    /// The flow fails with `no-model`, `invalid-argument`, `closed`, or what the disk gave. A run that does
    /// not come to its end is a result, and changes nothing.
    #[must_use]
    pub fn dream(&self, options: DreamOptions) -> Flow<Dream> {
        self.flow(|store, host| async move {
            store.check_open()?;
            store.dream_in(&host, options, false).await
        })
    }

    /// Takes the last dream back that was not taken back yet. What somebody has changed since stays; in
    /// indexes only what the dream has changed goes.
    #[must_use]
    pub fn undo_dream(&self) -> Flow<DreamUndone> {
        self.flow(|store, host| async move { store.undo_dream_in(&host).await })
    }

    pub(crate) async fn dream_in(
        &self,
        host: &Host,
        options: DreamOptions,
        on_terminal: bool,
    ) -> Result<Dream, Error> {
        let dreamt = self.dream_when_due(host, options, on_terminal).await;
        if !matches!(&dreamt, Ok(dream) if dream.outcome != DreamOutcome::Failed) {
            // A failure is no reason to count sessions later.
            self.state().dreaming.counted_ms = None;
        }
        dreamt
    }

    async fn dream_when_due(
        &self,
        host: &Host,
        options: DreamOptions,
        on_terminal: bool,
    ) -> Result<Dream, Error> {
        let features = &self.shared.options.features;
        let found = self.found(host).await?;
        if !found.dream.unwrap_or(features.dream) && !options.force {
            return Ok(Dream::skipped(Awake::Off));
        }
        let now = host.now().await;
        host.stop_if_cancelled()?;
        let now = now.map_err(|failure| Error::from_failure(&failure, "asking for", "the time"))?;
        let mut gate = DreamGate {
            dream: true,
            enabled: found.opened.enabled,
            remote: options.remote || self.shared.options.env_flag("CLAUDE_CODE_REMOTE"),
            daily_log: features.daily_log && !options.logs,
            now_ms: now.ms,
            last_ms: None,
            counted_ms: None,
            sessions: None,
        };
        if let Some(reason) = decide_dream(&gate) {
            return Ok(Dream::skipped(reason));
        }
        let last_ms = dream::last_success(host, &found, now.ms).await?;
        if !options.force {
            gate.last_ms = last_ms;
            gate.counted_ms = self.state().dreaming.counted_ms;
            if let Some(reason) = decide_dream(&gate) {
                return Ok(Dream::skipped(reason));
            }
            if !options.dry_run {
                self.state().dreaming.counted_ms = Some(now.ms);
            }
        }
        let since = last_ms.filter(|last| *last <= now.ms).unwrap_or(i64::MIN);
        let sessions = self
            .sessions(host, &found, since, options.session.as_deref())
            .await?;
        if !options.force {
            gate.counted_ms = None;
            gate.sessions = Some(sessions.count);
            if let Some(reason) = decide_dream(&gate) {
                return Ok(Dream::skipped(reason));
            }
        }
        let Some(model) = found.model.clone() else {
            let message = "dreaming needs a model, and the store was opened without one; open it with a model";
            return Err(Error::new(ErrorCode::NoModel, message));
        };
        let Some(_asleep) = Asleep::new(self, options.dry_run) else {
            return Ok(Dream::skipped(Awake::Locked));
        };
        let held = if options.dry_run {
            None
        } else {
            match dream::take(host, &found).await? {
                Taken::Held(held) => Some(held),
                Taken::Busy => return Ok(Dream::skipped(Awake::Locked)),
            }
        };
        let today = format_iso(
            now.ms
                .saturating_add(i64::from(now.offset_minutes) * 60_000),
        );
        let today = today.get(..10).unwrap_or_default();
        let dreamt = self
            .dreamt(
                host,
                &found,
                &model,
                &options,
                (&sessions, today),
                on_terminal,
            )
            .await;
        let dreamt = match dreamt {
            Ok(dream) if dream.outcome == DreamOutcome::Done => Ok(dream),
            other => {
                if let Some(held) = held {
                    held.give_back(host).await;
                }
                return other;
            }
        };
        if let Some(held) = held {
            held.succeed(host).await;
        }
        dreamt
    }

    /// The run, and what comes of it.
    async fn dreamt(
        &self,
        host: &Host,
        found: &Found,
        model: &crate::model::Model,
        options: &DreamOptions,
        (sessions, today): (&Sessions, &str),
        on_terminal: bool,
    ) -> Result<Dream, Error> {
        let features = &self.shared.options.features;
        let scan = self.scan_in(host).await?;
        let mut read_roots = options.read_roots.clone();
        read_roots.extend(found.transcripts.clone());
        let prompt = prompt::dream(prompt::Dream {
            directory: &found.opened.directory,
            transcripts: found.transcripts.as_deref(),
            sessions: (&sessions.lines, sessions.count),
            manifest: &format_manifest(&scan.memories),
            saving: if features.one_step {
                Saving::OneStep
            } else {
                Saving::TwoSteps
            },
            team: features.team && found.agent.is_none(),
            logs: options.logs,
            today,
            max_turns: DREAM_MAX_TURNS,
        });
        let background = self.background();
        let desk = Desk::new(
            host,
            background.clone(),
            found.clone(),
            &read_roots,
            Manner::Dream,
        )
        .await?;
        let desk = Arc::new(desk);
        {
            let mut state = self.state();
            let desks = &mut state.dreaming.desks;
            desks.retain(|desk| desk.strong_count() > 0);
            desks.push(Arc::downgrade(&desk));
        }
        // Whoever has closed the store before could not stop it.
        self.check_open()?;
        let plan = Plan {
            purpose: PURPOSE,
            prefix: None,
            system: DREAM_SYSTEM.to_owned(),
            prompt,
            tools: definitions(),
            max_turns: DREAM_MAX_TURNS,
            max_tokens: RUN_MAX_TOKENS,
            tells: true,
        };
        let ran = agent::run(host, model, &*desk, plan, on_terminal).await?;
        let mut dream = Dream::new(DreamOutcome::Done);
        dream.sessions = sessions.count;
        dream.turns = ran.turns;
        dream.usage = ran.usage;
        dream.ended = ran.ended;
        let error = match ran.ended {
            Some(RunEnd::Stopped) => Some(Error::new(
                ErrorCode::Aborted,
                "the dream was stopped, because the store was closed",
            )),
            _ => ran.error,
        };
        if let Some(error) = error {
            dream.outcome = DreamOutcome::Failed;
            dream.code = Some(error.code);
            dream.message = Some(error.message.clone());
            let message = format!("the dream did not come to its end: {}", error.message);
            tell(host, on_terminal, Event::new("warning", message)).await?;
            return Ok(dream);
        }
        let drafts = desk.drafts();
        if options.dry_run {
            let proposal = Proposal {
                purpose: PURPOSE.to_owned(),
                at_ms: 0,
                changes: drafts.into_iter().map(proposed).collect(),
            };
            let item = inbox::item(host, &found.place(), "", &proposal).await?;
            dream.changes = item.changes;
            return Ok(dream);
        }
        background
            .take_effect(host, found, drafts, &mut dream)
            .await?;
        if let Some(message) = dream.message.clone() {
            tell(host, on_terminal, Event::new("warning", message)).await?;
        } else if let Some(notice) = &dream.notice {
            tell(host, false, Event::new(PURPOSE, notice.clone())).await?;
        }
        Ok(dream)
    }

    /// Makes the changes of a dream: the memories first, then the indexes, so that what does not go keeps its line
    /// and what does not come gets none. All of it is recorded before.
    async fn take_effect(
        &self,
        host: &Host,
        found: &Found,
        drafts: BTreeMap<String, Draft>,
        dream: &mut Dream,
    ) -> Result<(), Error> {
        let mut changes: Vec<ProposedChange> = drafts.into_iter().map(proposed).collect();
        changes.retain(ProposedChange::is_change);
        if changes.is_empty() {
            return Ok(());
        }
        // What goes may be in what is written, and lines follow their memories.
        let rank = |change: &ProposedChange| match (change.indexed_folder(), &change.new) {
            (Some(_), _) => 2,
            (None, None) => 1,
            (None, Some(_)) => 0,
        };
        order::sort(&mut changes, |a, b| rank(a).cmp(&rank(b)));
        let now = host.now().await;
        host.stop_if_cancelled()?;
        let recorded = changes.iter().map(|change| Recorded {
            path: change.path.clone(),
            before: change.old.clone(),
            after: change.new.clone(),
        });
        let mut record = Record {
            at_ms: now.map_or(0, |now| now.ms),
            is_made: false,
            changes: recorded.collect(),
        };
        let id = dream::keep(host, found, None, &record).await?;
        // From here on it is brought to its end, whoever cancels: half of an order is none.
        let host = &host.shielded();
        let made = self
            .make(host, found, &changes, (&id, &mut record), dream)
            .await;
        let Err(error) = made else {
            return Ok(());
        };
        let place = found.place();
        if self
            .take_back(host, &place, &record)
            .await
            .is_ok_and(|undone| undone.conflicts.is_empty())
        {
            dream::remove(host, found, &id).await;
            return Err(error);
        }
        dream.outcome = DreamOutcome::Failed;
        dream.id = Some(id);
        dream.code = Some(error.code);
        let message = format!(
            "the dream took effect in part only, take it back once that is mended: {}",
            error.message
        );
        dream.message = Some(message);
        Ok(())
    }

    async fn make(
        &self,
        host: &Host,
        found: &Found,
        changes: &[ProposedChange],
        (id, record): (&str, &mut Record),
        dream: &mut Dream,
    ) -> Result<(), Error> {
        let mut waiting: Vec<ProposedChange> = Vec::new();
        let is_cut = matches!(dream.ended, Some(RunEnd::Turns | RunEnd::Tokens));
        for change in changes {
            // What a memory says may be nowhere else yet.
            let is_removal = change.new.is_none() && change.indexed_folder().is_none();
            if is_removal && (is_cut || !waiting.is_empty()) {
                let why = if is_cut {
                    "the run ended before it was done"
                } else {
                    "not everything could be written that it may have been merged into"
                };
                record.changes.retain(|known| known.path != change.path);
                dream.conflicts.push(change.path.clone());
                let message = format!("it stays, as {why}");
                let entry = ReportEntry::new(change.path.clone(), ReportCode::Kept, message);
                dream.report.push(entry);
                waiting.push(change.clone());
                continue;
            }
            let result = match change.indexed_folder() {
                Some(folder) => {
                    let mut stays = waiting.clone();
                    let mut removed = dream.removed.clone();
                    let place = found.place();
                    // Somebody may have written it anew meanwhile, and that has its line.
                    for change in changes.iter().filter(|it| dream.removed.contains(&it.path)) {
                        let text = self.text_now(host, &place, &change.path).await?;
                        if text.is_some() {
                            removed.retain(|path| *path != change.path);
                            stays.push(change.clone());
                        }
                    }
                    let new = inbox::held_back(folder, change, stays.iter());
                    let index = (folder, change, new, removed.as_slice());
                    self.put_in_order(host, found, index, (id, record)).await?
                }
                None if change.new.is_none() => {
                    let result =
                        self.forget_alone(host, change.path.clone(), change.before.clone());
                    let result = gone_already(result.await?);
                    if result.outcome == WriteOutcome::Written {
                        self.forget_uses(host, &change.path).await?;
                    }
                    result
                }
                None => self.apply_change(host, change).await?,
            };
            let is_done = matches!(
                result.outcome,
                WriteOutcome::Written | WriteOutcome::Unchanged
            );
            // What was not changed here is not taken back either.
            if result.outcome != WriteOutcome::Written {
                record.changes.retain(|known| known.path != change.path);
            }
            if !is_done {
                dream.conflicts.push(change.path.clone());
                let message = result.message.clone().unwrap_or_default();
                let entry = ReportEntry::new(change.path.clone(), ReportCode::Unreadable, message);
                dream.report.push(entry);
                waiting.push(change.clone());
            } else if change.indexed_folder().is_none() {
                let paths = match change.new {
                    Some(_) => &mut dream.improved,
                    None => &mut dream.removed,
                };
                paths.push(change.path.clone());
            }
        }
        if record.changes.is_empty() {
            dream::remove(host, found, id).await;
            return Ok(());
        }
        record.is_made = true;
        dream::keep(host, found, Some(id), record).await?;
        dream.id = Some(id.to_owned());
        dream.notice = told(&dream.improved, &dream.removed);
        Ok(())
    }

    /// Merges an index, and records what it was and is.
    async fn put_in_order(
        &self,
        host: &Host,
        found: &Found,
        (folder, change, new, removed): (&'static str, &ProposedChange, String, &[String]),
        (id, record): (&str, &mut Record),
    ) -> Result<WriteResult, Error> {
        let place = found.place();
        let mut attempts = 0;
        loop {
            let current = self.text_now(host, &place, &change.path).await?;
            let merged = inbox::merged(folder, change.old.as_deref(), &new, current.as_deref());
            let merged = merged.map(|merged| without_forgotten(folder, &merged, removed));
            let known = record.changes.iter_mut();
            for known in known.filter(|known| known.path == change.path) {
                known.before.clone_from(&current);
                known.after.clone_from(&merged);
            }
            dream::keep(host, found, Some(id), record).await?;
            let Some(merged) = merged else {
                let error =
                    Error::new(ErrorCode::NotFound, "there is no index, and none is needed");
                return Ok(WriteResult::refused(Some(&change.path), &place, error));
            };
            let result = self
                .put_expecting(host, &change.path, merged, current.as_deref())
                .await?;
            attempts += 1;
            if result.outcome != WriteOutcome::Conflict || attempts >= WRITE_ATTEMPTS {
                return Ok(result);
            }
        }
    }

    async fn put_expecting(
        &self,
        host: &Host,
        path: &str,
        text: String,
        current: Option<&str>,
    ) -> Result<WriteResult, Error> {
        let expect = current.map(|text| hash(text.as_bytes()));
        let edit: TextEdit = Box::new(move |_| Ok((text.clone(), String::new())));
        let task =
            |place: &Place| Put::expecting(path.to_owned(), edit, expect, place).map(Task::Put);
        Ok(self.write_in(host, task).await?.0)
    }

    /// Removes a file, and leaves the indexes to the record.
    async fn forget_alone(
        &self,
        host: &Host,
        path: String,
        before: Option<String>,
    ) -> Result<WriteResult, Error> {
        let expect = Some(before.unwrap_or_else(|| ABSENT.to_owned()));
        let task = |place: &Place| Forget::alone(path, expect, place).map(Task::Forget);
        Ok(self.write_in(host, task).await?.0)
    }

    /// The text of a file of the store; none when there is no such file.
    async fn text_now(
        &self,
        host: &Host,
        place: &Place,
        path: &str,
    ) -> Result<Option<String>, Error> {
        let text = read::text_of(place, host, path).await;
        host.stop_if_cancelled()?;
        match text {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.code == ErrorCode::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(crate) async fn undo_dream_in(&self, host: &Host) -> Result<DreamUndone, Error> {
        let found = self.found(host).await?;
        let place = self.place_or_disabled(host).await?;
        let mut passed: Option<String> = None;
        loop {
            let newest = dream::newest(host, &found, passed.as_deref()).await?;
            let Some((id, record)) = newest else {
                return Ok(DreamUndone::default());
            };
            if !record.is_made {
                if dream::is_under_way(host, &found).await? {
                    let message =
                        "a dream takes effect at this moment; take it back when it is done";
                    return Err(Error::new(ErrorCode::Busy, message));
                }
                // It has ended before it had changed anything.
                if self.is_before(host, &place, &record).await? {
                    dream::remove(host, &found, &id).await;
                    passed = Some(id);
                    continue;
                }
            }
            let mut undone = self.take_back(host, &place, &record).await?;
            dream::remove(host, &found, &id).await;
            undone.id = Some(id);
            return Ok(undone);
        }
    }

    /// Whether everything is as before a dream.
    async fn is_before(&self, host: &Host, place: &Place, record: &Record) -> Result<bool, Error> {
        for change in &record.changes {
            if self.text_or_other(host, place, &change.path).await? != Some(change.before.clone()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The text of a file of the store, if it is one or is not there; none when it is anything else, which somebody
    /// must have made it since.
    async fn text_or_other(
        &self,
        host: &Host,
        place: &Place,
        path: &str,
    ) -> Result<Option<Option<String>>, Error> {
        match self.text_now(host, place, path).await {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.code == ErrorCode::NotText => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Makes everything what it was before a dream, but for what somebody has changed since.
    async fn take_back(
        &self,
        host: &Host,
        place: &Place,
        record: &Record,
    ) -> Result<DreamUndone, Error> {
        // Memories that the dream has made and that stay, as somebody has written into them: so do their lines.
        let mut stays = Vec::new();
        for change in &record.changes {
            let is_new = change.before.is_none();
            if is_new && crate::write::indexed_folder(&change.path).is_none() {
                let current = self.text_or_other(host, place, &change.path).await?;
                if current != Some(None) && current != Some(change.after.clone()) {
                    stays.push(back(change));
                }
            }
        }
        let mut undone = DreamUndone::default();
        let mut refused = None;
        // The way back is the way there, from its end.
        for change in record.changes.iter().rev() {
            match self.put_back(host, place, change, &stays).await? {
                Ok(true) => undone.restored.push(change.path.clone()),
                Ok(false) => undone.conflicts.push(change.path.clone()),
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        // Nobody has changed that one: the next time it may be possible.
        match refused {
            Some(error) => Err(error),
            None => Ok(undone),
        }
    }

    /// Makes one file what it was; false when somebody has changed it since, or why it is refused.
    async fn put_back(
        &self,
        host: &Host,
        place: &Place,
        change: &Recorded,
        stays: &[ProposedChange],
    ) -> Result<Result<bool, Error>, Error> {
        let folder = crate::write::indexed_folder(&change.path);
        let before = match folder {
            None => change.before.clone(),
            Some(folder) => {
                let held = inbox::held_back(folder, &back(change), stays.iter());
                (change.before.is_some() || !held.is_empty()).then_some(held)
            }
        };
        let mut attempts = 0;
        loop {
            // What is no text any more was changed by somebody.
            let Some(current) = self.text_or_other(host, place, &change.path).await? else {
                return Ok(Ok(false));
            };
            if current == change.before {
                return Ok(Ok(true));
            }
            let wanted = if current == change.after {
                before.clone()
            } else {
                let Some(folder) = folder else {
                    return Ok(Ok(false));
                };
                let before = before.as_deref().unwrap_or_default();
                inbox::merged(folder, change.after.as_deref(), before, current.as_deref())
            };
            let result = match wanted {
                Some(text) => {
                    let expect = current.as_deref().map(|text| hash(text.as_bytes()));
                    let path = change.path.clone();
                    let edit: TextEdit = Box::new(move |_| Ok((text.clone(), String::new())));
                    let task =
                        |place: &Place| Put::returning(path, edit, expect, place).map(Task::Put);
                    self.write_in(host, task).await?.0
                }
                None => {
                    let expect = current.as_deref().map(|text| hash(text.as_bytes()));
                    self.forget_alone(host, change.path.clone(), expect).await?
                }
            };
            attempts += 1;
            match result.outcome {
                WriteOutcome::Conflict if attempts < WRITE_ATTEMPTS => {}
                WriteOutcome::Conflict => return Ok(Ok(false)),
                _ => return Ok(result.settled().map(|_| true)),
            }
        }
    }

    /// The transcripts that were written since a time, without the current session's.
    async fn sessions(
        &self,
        host: &Host,
        found: &Found,
        since_ms: i64,
        current: Option<&str>,
    ) -> Result<Sessions, Error> {
        let Some(folder) = &found.transcripts else {
            return Ok(Sessions::default());
        };
        let listing = host.list(folder, None).await;
        host.stop_if_cancelled()?;
        let listing = match listing {
            Ok(listing) => listing,
            Err(failure)
                if matches!(
                    failure.code,
                    FailureCode::NotFound | FailureCode::NotADirectory
                ) =>
            {
                return Ok(Sessions::default());
            }
            Err(failure) => return Err(Error::from_failure(&failure, "listing", folder)),
        };
        let mut files = Vec::new();
        for entry in listing.entries {
            let Some(stat) = entry.stat.filter(|stat| stat.kind == FileKind::File) else {
                continue;
            };
            let session = entry.name.strip_suffix(".jsonl");
            let is_other = session.is_some_and(|session| Some(session) != current);
            if is_other && !entry.invalid_name && stat.mtime_ms > since_ms {
                files.push((stat.mtime_ms, stat.size, entry.name));
            }
        }
        order::sort(&mut files, |a, b| (b.0, &a.2).cmp(&(a.0, &b.2)));
        let count = u32::try_from(files.len()).unwrap_or(u32::MAX);
        let lines: Vec<String> = files
            .into_iter()
            .take(DREAM_NAMED_SESSIONS)
            .map(|(mtime_ms, size, name)| {
                format!(
                    "{} ({}, {size} bytes)",
                    one_line(&name),
                    format_iso(mtime_ms)
                )
            })
            .collect();
        Ok(Sessions {
            lines: lines.join("\n"),
            count,
        })
    }
}

/// The way back of one change.
fn back(change: &Recorded) -> ProposedChange {
    let Recorded {
        path,
        before,
        after,
    } = change.clone();
    ProposedChange {
        path,
        before: after.as_ref().map(|after| hash(after.as_bytes())),
        old: after,
        new: before,
    }
}

fn proposed((path, draft): (String, Draft)) -> ProposedChange {
    ProposedChange {
        path,
        before: draft.old.as_ref().map(|old| hash(old.as_bytes())),
        old: draft.old,
        new: draft.new,
    }
}

/// What a user is told (document 000 §10).
fn told(improved: &[String], removed: &[String]) -> Option<String> {
    let count = improved.len().saturating_add(removed.len());
    match count {
        0 => None,
        1 => Some("Improved 1 memory".to_owned()),
        count => Some(format!("Improved {count} memories")),
    }
}
