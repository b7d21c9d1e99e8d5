//! Pull, push, and both (facts 11.4, document 002). A pull puts the server's version in place of what was
//! not changed here; a push uploads what was changed here and not there; what both have changed is kept
//! beside. Neither holds the store's lock while it waits for the server.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::Serialize;

use super::batch::{batch_entries, smallest_first, upload_length};
use super::conflicts::{self, Conflict};
use super::delta::checksum;
use super::key::Keys;
use super::local::{self, path_of};
use super::merge::with_forgotten;
use super::reconcile::{TeamAction, team_reconcile};
use super::remote::{Patience, Put, Remote, Served, TeamDeletions, TeamOptions};
use super::repository::find_repository;
use super::state::{self, Known, SyncState};
use crate::error::{Error, ErrorCode};
use crate::flow::{Host, Stream};
use crate::limits::{
    INDEX_NAME, TEAM_BATCH_BYTES, TEAM_CONFLICT_RETRIES, TEAM_DELETE_AFTER_MS, TEAM_DELETE_MAX,
    TEAM_DELETED, TEAM_ENTRY_BYTES, TEAM_FOLDER, TEAM_RECEIVE_FILES, TEAM_SYNC_ATTEMPTS,
};
use crate::memory::{MemoryType, parse_frontmatter};
use crate::report::{ReportCode, ReportEntry};
use crate::secrets::{SecretFinding, scan_secrets};
use crate::store::{Place, Store};
use crate::write::{
    Forget, Receive, Remember, StateEdit, Task, WriteOutcome, kept_away, secret_in_path,
};

/// What a sync has done. Keys are paths relative to the team folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TeamSync {
    /// Keys that came from the server and were written here.
    pub received: Vec<String>,
    /// Keys that teammates have deleted and that went to the trash here.
    pub removed: Vec<String>,
    /// Keys that went to the server.
    pub sent: Vec<String>,
    /// Keys that were forgotten here and are marked as deleted on the server now.
    pub deleted: Vec<String>,
    /// Keys that both sides had changed: the server's version is in place, ours is kept.
    pub conflicts: Vec<String>,
    /// What was left out, and why.
    pub report: Vec<ReportEntry>,
}

/// How this folder stands to the server, by what is known without asking it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TeamStatus {
    /// `owner/repo`; null when there is neither an option nor a git remote.
    pub repository: Option<String>,
    /// Where its memories are; null when no server is known.
    pub url: Option<String>,
    /// When they were synced last, milliseconds since the epoch; null for never.
    pub synced_ms: Option<i64>,
    /// Keys that a push would upload.
    pub to_send: Vec<String>,
    /// Our versions that are kept until somebody deals with them.
    pub conflicts: Vec<Conflict>,
    /// What a push would leave out, and why.
    pub report: Vec<ReportEntry>,
}

/// One operation on the team folder of a store.
pub(crate) struct Session<'a> {
    store: &'a Store,
    host: &'a Host,
    place: Place,
    remote: Remote,
    deletions: TeamDeletions,
    /// As many entries as the server takes, once it has said so.
    max_entries: Option<usize>,
    /// Keys that were on the way to the server.
    tried: BTreeSet<String>,
    /// Keys whose version here the server has not taken yet, once the folder was read.
    waiting: Option<BTreeSet<String>>,
    /// Whether long work says on stderr how far it has got.
    progress: bool,
    pub result: TeamSync,
}

impl<'a> Session<'a> {
    /// # Errors
    /// `disabled`, `no-server`, `no-repository`, `no-token`, `invalid-argument`.
    pub async fn new(
        store: &'a Store,
        host: &'a Host,
        progress: bool,
        patience: Patience,
    ) -> Result<Self, Error> {
        let place = store.place_or_disabled(host).await?;
        let options = store.team_options();
        let repository = repository(store, host, &options).await?;
        let Some(repository) = repository else {
            return Err(Error::new(
                ErrorCode::NoRepository,
                "the project has no git remote to name its team memories by; pass owner/repo",
            ));
        };
        let remote = Remote::new(host, &options, store.env(), &repository, patience).await?;
        Ok(Self {
            store,
            host,
            place,
            remote,
            deletions: options.deletions,
            max_entries: None,
            tried: BTreeSet::new(),
            waiting: None,
            progress,
            result: TeamSync::default(),
        })
    }

    /// Brings what is new on the server.
    pub async fn pull(&mut self) -> Result<(), Error> {
        for _ in 0..TEAM_SYNC_ATTEMPTS {
            let known = self.known().await?;
            let etag = known.state.etag.clone();
            let etag = etag.filter(|_| known.is_ours);
            let etag = match etag {
                // What was deleted by hand comes back.
                Some(etag) if self.has_all(&known.state).await? => Some(etag),
                _ => None,
            };
            let Some(served) = self.remote.get(self.host, etag.as_deref()).await? else {
                return Ok(());
            };
            if self.take(known, served).await? {
                return Ok(());
            }
        }
        Err(self.busy())
    }

    /// Takes what is new here to the server.
    pub async fn push(&mut self) -> Result<(), Error> {
        let mut overtaken = 0;
        let mut probe = false;
        // Which of the server's versions could not be put in place.
        let mut pulled: BTreeMap<String, String> = BTreeMap::new();
        for _ in 0..TEAM_SYNC_ATTEMPTS {
            let known = self.known().await?;
            let is_known = known.is_ours && known.state.etag.is_some() && !probe;
            let served = if is_known {
                let mut checksums = known.state.entries.clone();
                checksums.extend(known.state.left_out.clone());
                Served {
                    etag: known.state.etag.clone(),
                    checksums,
                    ..Served::default()
                }
            } else {
                self.remote.hashes(self.host).await?
            };
            let mut report = Vec::new();
            let (entries, conflicts) = self.delta(&known, &served, &mut report).await?;
            let version = |key: &String| served.checksums.get(key).cloned().unwrap_or_default();
            let is_new = |key: &String| pulled.get(key) != Some(&version(key));
            if conflicts.iter().any(is_new) {
                pulled.extend(
                    conflicts
                        .into_iter()
                        .map(|key| (key.clone(), version(&key))),
                );
                self.pull().await?;
                probe = false;
                continue;
            }
            report.extend(conflicts.iter().map(|key| {
                let message = "it is not uploaded: the server has another version, which cannot be put in its place; rename one of them";
                ReportEntry::new(path_of(key), ReportCode::TeamConflict, message)
            }));
            match self.upload(served, entries, &mut report).await? {
                Upload::Done => {
                    self.result.report.extend(report);
                    return Ok(());
                }
                Upload::Again => {}
                Upload::Outdated => {
                    overtaken += 1;
                    probe = true;
                    if overtaken > TEAM_CONFLICT_RETRIES {
                        break;
                    }
                }
            }
        }
        let sent = self.result.sent.len();
        let message = format!(
            "others keep changing the team's memories, and {sent} of ours were uploaded; try again later"
        );
        Err(Error::new(ErrorCode::TeamConflict, message))
    }

    /// Keys whose version here the server has not taken; none when the folder was not read to its end.
    pub fn not_sent(self) -> Option<BTreeSet<String>> {
        self.waiting
    }

    async fn known(&self) -> Result<Known, Error> {
        state::read(self.host, &self.place, self.remote.origin()).await
    }

    /// Whether everything is here that the state says.
    async fn has_all(&self, state: &SyncState) -> Result<bool, Error> {
        let (files, _) = local::list(self.host, &self.place).await?;
        let forgotten = state::forgotten(self.host, &self.place).await?;
        let deleted = checksum(TEAM_DELETED);
        Ok(state.entries.iter().all(|(key, known)| {
            files.contains_key(key) || forgotten.contains_key(key) || *known == deleted
        }))
    }

    /// Puts what the server has in place; false when another sync of this folder was faster.
    async fn take(&mut self, known: Known, served: Served) -> Result<bool, Error> {
        let mut report = Vec::new();
        let (entries, mut whole) = self.acceptable(&served, &mut report).await?;
        let total = entries.len();
        let mut receive = Receive::new(known.clone(), entries.clone(), served.checksums.clone());
        while receive.left() > 0 {
            let task = Task::Receive(receive);
            let (_, task) = self.store.write_in(self.host, |_| Ok(task)).await?;
            let Some(Task::Receive(again)) = task else {
                return Err(self.busy());
            };
            receive = again;
            self.say(total.saturating_sub(receive.left()), total, "received")
                .await?;
        }
        self.result.received.append(&mut receive.received);
        self.result.conflicts.append(&mut receive.conflicts);
        report.append(&mut receive.report);
        self.result.report.extend(report);
        if receive.stale {
            return Ok(false);
        }
        let removals = std::mem::take(&mut receive.removals);
        let late = removals.iter().skip(TEAM_DELETE_MAX);
        // A teammate cannot empty a folder at once.
        receive.failed.extend(late.map(|(key, _)| key.clone()));
        for (key, local) in removals.into_iter().take(TEAM_DELETE_MAX) {
            let path = path_of(&key);
            let forget = |place: &Place| Forget::any(path, Some(local), place).map(Task::Forget);
            let (result, _) = self.store.write_in(self.host, forget).await?;
            if result.outcome == WriteOutcome::Written {
                self.result.removed.push(key);
            } else {
                receive.failed.insert(key);
            }
        }
        whole &= receive.failed.is_empty();
        let now_ms = self.now_ms().await;
        let failed = receive.failed;
        let edit: StateEdit = Box::new(move |state| {
            let before = std::mem::take(&mut state.entries);
            for key in entries.keys() {
                let checksum = match failed.contains(key) {
                    true => before.get(key),
                    false => served.checksums.get(key),
                };
                if let Some(checksum) = checksum {
                    state.entries.insert(key.clone(), checksum.clone());
                }
            }
            let others = served.checksums.iter();
            let others = others.filter(|(key, _)| !entries.contains_key(*key));
            state.left_out = others
                .map(|(key, sum)| (key.clone(), sum.clone()))
                .collect();
            if !failed.contains(INDEX_NAME) {
                state.index = entries.get(INDEX_NAME).cloned();
            }
            state.etag = served.etag.clone().filter(|_| whole);
            state.synced_ms = now_ms;
        });
        Ok(!self.remember(Some(known), edit).await?)
    }

    /// What of the server's entries can be files here; false beside it when some may be better next time.
    async fn acceptable(
        &self,
        served: &Served,
        report: &mut Vec<ReportEntry>,
    ) -> Result<(BTreeMap<String, String>, bool), Error> {
        let (files, _) = local::list(self.host, &self.place).await?;
        let mut keys = Keys::default();
        for key in files.keys() {
            // One that cannot be shared has its own entry when it is pushed.
            let _ = keys.accept(key);
        }
        let mut entries = BTreeMap::new();
        let mut is_whole = served.broken.is_empty();
        for (key, content) in &served.entries {
            // A name from the server may be anything.
            let shown = path_of(&crate::text::one_line(key));
            if let Err(error) = keys.accept(key) {
                let message = format!("the server's entry is left out: {}", error.message);
                report.push(ReportEntry::new(shown, ReportCode::TeamKey, message));
                // One that only a name here is in the way of comes when that is gone.
                is_whole &= error.code != ErrorCode::KeyTwin;
            } else if content.len() as u64 > TEAM_ENTRY_BYTES {
                let message = format!(
                    "the server's entry is left out: it has more than {TEAM_ENTRY_BYTES} bytes"
                );
                report.push(ReportEntry::new(shown, ReportCode::TeamTooLarge, message));
            } else {
                entries.insert(key.clone(), content.clone());
            }
        }
        for key in &served.broken {
            report.push(ReportEntry::new(
                path_of(&crate::text::one_line(key)),
                ReportCode::TeamChecksum,
                "the server's entry is left out: its content is not what its checksum says",
            ));
        }
        Ok((entries, is_whole))
    }

    /// What is to be uploaded, and which keys both sides have changed.
    async fn delta(
        &mut self,
        known: &Known,
        served: &Served,
        report: &mut Vec<ReportEntry>,
    ) -> Result<(BTreeMap<String, String>, BTreeSet<String>), Error> {
        let base = &known.state.entries;
        let mut local = local::read(self.host, &self.place, &served.checksums).await?;
        report.append(&mut local.report);
        let mut forgotten = state::forgotten(self.host, &self.place).await?;
        let there = |key: &&String| local.checksums.contains_key(*key);
        let there: Vec<String> = forgotten.keys().filter(there).cloned().collect();
        forgotten.retain(|key, _| !local.checksums.contains_key(key));
        show_forgotten(&mut local, &known.state, &forgotten, &served.checksums);
        let actions = team_reconcile(base, &local.checksums, &served.checksums, &forgotten);
        let keys_of = |wanted: TeamAction| {
            let keys = actions.iter().filter(move |(_, action)| **action == wanted);
            keys.map(|(key, _)| key.clone())
        };
        // An answer that was lost: both have the same, and the state does not say so yet.
        let same: BTreeMap<String, String> = local
            .checksums
            .iter()
            .filter(|(key, here)| {
                served.checksums.get(*key) == Some(*here) && base.get(*key) != Some(*here)
            })
            .map(|(key, here)| (key.clone(), here.clone()))
            .collect();
        let index = same
            .get(INDEX_NAME)
            .and(local.contents.get(INDEX_NAME))
            .cloned();
        let most = self.max_entries.unwrap_or(usize::MAX);
        let new = actions
            .keys()
            .filter(|key| !served.checksums.contains_key(*key));
        let room = most.saturating_sub(served.checksums.len());
        let over: BTreeSet<&String> = new.skip(room).collect();
        let mut entries = BTreeMap::new();
        let mut hidden = 0;
        for key in keys_of(TeamAction::Send) {
            let Some(text) = local.contents.remove(&key) else {
                continue;
            };
            let why = if secret_in_path(&key).is_some() {
                hidden += 1;
                continue;
            } else if over.contains(&key) {
                let message = format!("it is not uploaded: the server takes {most} entries");
                Some((ReportCode::TeamOverLimit, message))
            } else {
                unfit(&text)
            };
            match why {
                Some((code, message)) => {
                    report.push(ReportEntry::new(path_of(&key), code, message));
                }
                None => {
                    entries.insert(key, text);
                }
            }
        }
        if hidden > 0 {
            let message = format!(
                "files that are not uploaded, because their names hold what looks like a secret: {hidden}; rename them"
            );
            report.push(ReportEntry::new(
                TEAM_FOLDER,
                ReportCode::SecretFound,
                message,
            ));
        }
        let conflicts: BTreeSet<String> = keys_of(TeamAction::Conflict).collect();
        let forgotten: Vec<String> = keys_of(TeamAction::Forgotten).collect();
        // Before anything that may have to wait.
        self.waiting = Some(entries.keys().chain(&conflicts).cloned().collect());
        if !there.is_empty() {
            let remember = Remember::new(self.remote.origin(), None, Box::new(|_| {}));
            let task = Task::Remember(remember.there_again(there));
            self.store.write_in(self.host, |_| Ok(task)).await?;
        }
        if !same.is_empty() {
            let tried = same.keys().filter(|key| self.tried.contains(*key));
            self.result.sent.extend(tried.cloned());
            let edit: StateEdit = Box::new(move |state| {
                state.entries.extend(same.clone());
                // It is of a version that is not known whole.
                state.etag = None;
                if index.is_some() {
                    state.index.clone_from(&index);
                }
            });
            self.remember(None, edit).await?;
        }
        if self.deletions == TeamDeletions::Propagate {
            for key in self.leaving(&known.state, forgotten).await? {
                entries.insert(key, TEAM_DELETED.to_owned());
            }
        }
        Ok((entries, conflicts))
    }

    /// Forgotten keys whose time has come.
    async fn leaving(
        &self,
        state: &SyncState,
        forgotten: Vec<String>,
    ) -> Result<Vec<String>, Error> {
        let now_ms = self.now_ms().await;
        let since = |key: &String| state.leaving.get(key).copied().unwrap_or(now_ms);
        let leaving: BTreeMap<String, i64> = forgotten
            .into_iter()
            .map(|key| (key.clone(), since(&key)))
            .collect();
        let due = leaving
            .iter()
            .filter(|(_, since)| now_ms.saturating_sub(**since) >= TEAM_DELETE_AFTER_MS);
        let due = due
            .map(|(key, _)| key.clone())
            .take(TEAM_DELETE_MAX)
            .collect();
        if leaving != state.leaving {
            let edit: StateEdit = Box::new(move |state| state.leaving.clone_from(&leaving));
            self.remember(None, edit).await?;
        }
        Ok(due)
    }

    /// Uploads batch after batch, and remembers each.
    async fn upload(
        &mut self,
        served: Served,
        entries: BTreeMap<String, String>,
        report: &mut Vec<ReportEntry>,
    ) -> Result<Upload, Error> {
        let total = entries.len();
        let mut sent = 0;
        self.tried.extend(entries.keys().cloned());
        let mut etag = served.etag;
        let mut batches = VecDeque::from(batch_entries(entries, TEAM_BATCH_BYTES));
        // Bytes of the smallest upload that was too large: whatever is not smaller is not tried.
        let mut too_large = usize::MAX;
        while let Some(batch) = batches.pop_front() {
            let length = upload_length(&batch);
            let is_tried = length < too_large;
            let put = match is_tried {
                true => self.remote.put(self.host, etag.as_deref(), &batch).await?,
                false => Put::TooLarge,
            };
            too_large = match put {
                Put::TooLarge => too_large.min(length),
                _ => too_large,
            };
            match put {
                Put::Done(new) => {
                    self.sent(&batch, etag.take(), new.clone()).await?;
                    sent += batch.len();
                    self.say(sent, total, "sent").await?;
                    etag = new;
                    if etag.is_none() && !batches.is_empty() {
                        return Ok(Upload::Again);
                    }
                }
                Put::Outdated => return Ok(Upload::Outdated),
                Put::TooMany(most) if self.max_entries != Some(most) => {
                    self.max_entries = Some(most);
                    return Ok(Upload::Again);
                }
                Put::TooMany(most) => {
                    let message = format!("it is not uploaded: the server takes {most} entries");
                    let (old, new): (BTreeMap<_, _>, BTreeMap<_, _>) = batch
                        .into_iter()
                        .partition(|(key, _)| served.checksums.contains_key(key));
                    report.extend(new.keys().map(|key| {
                        ReportEntry::new(path_of(key), ReportCode::TeamOverLimit, message.clone())
                    }));
                    if new.is_empty() {
                        let message = format!(
                            "the team server takes {most} entries, and refuses to change those that it has"
                        );
                        return Err(Error::new(ErrorCode::TeamRefused, message));
                    }
                    if !old.is_empty() {
                        batches.push_front(old);
                    }
                }
                Put::TooLarge if batch.len() > 1 => {
                    let half = batch.keys().nth(batch.len() / 2).cloned();
                    let mut first = batch;
                    let second = first.split_off(&half.unwrap_or_default());
                    batches.push_front(second);
                    batches.push_front(first);
                }
                Put::TooLarge => {
                    let message = if is_tried {
                        "it is not uploaded: it is too large for the server, or something on the way to it; split it up".to_owned()
                    } else {
                        format!(
                            "it is not uploaded: the server, or something on the way to it, finds {too_large} bytes too large already"
                        )
                    };
                    report.extend(batch.keys().map(|key| {
                        ReportEntry::new(path_of(key), ReportCode::TeamTooLarge, message.clone())
                    }));
                    // If not even that one is taken, nothing is.
                    if is_tried {
                        smallest_first(&mut batches);
                    }
                }
            }
        }
        Ok(Upload::Done)
    }

    /// Remembers a batch that the server has taken. The version is known whole only if what it took the
    /// place of was.
    async fn sent(
        &mut self,
        batch: &BTreeMap<String, String>,
        before: Option<String>,
        etag: Option<String>,
    ) -> Result<(), Error> {
        let sums: BTreeMap<String, String> = batch
            .iter()
            .map(|(key, text)| (key.clone(), checksum(text)))
            .collect();
        let deleted = checksum(TEAM_DELETED);
        for (key, sum) in &sums {
            if *sum == deleted {
                self.result.deleted.push(key.clone());
            } else {
                self.result.sent.push(key.clone());
            }
        }
        if let Some(waiting) = &mut self.waiting {
            waiting.retain(|key| !batch.contains_key(key));
        }
        let index = batch.get(INDEX_NAME).cloned();
        // What the server has taken is remembered, whoever cancels.
        let host = self.host.shielded();
        let now_ms = host.now().await.map_or(0, |now| now.ms);
        let edit: StateEdit = Box::new(move |state| {
            let is_whole = state.etag == before && (before.is_some() || state.entries.is_empty());
            state.etag = etag.clone().filter(|_| is_whole);
            state.entries.extend(sums.clone());
            if index.is_some() {
                state.index.clone_from(&index);
            }
            state.synced_ms = now_ms;
        });
        self.remember_in(&host, None, edit).await?;
        Ok(())
    }

    /// Says whether the state was another's by then.
    async fn remember(&self, known: Option<Known>, edit: StateEdit) -> Result<bool, Error> {
        self.remember_in(self.host, known, edit).await
    }

    async fn remember_in(
        &self,
        host: &Host,
        known: Option<Known>,
        edit: StateEdit,
    ) -> Result<bool, Error> {
        let task = Task::Remember(Remember::new(self.remote.origin(), known, edit));
        let (_, task) = self.store.write_in(host, |_| Ok(task)).await?;
        Ok(matches!(
            task,
            Some(Task::Remember(Remember { stale: true, .. }))
        ))
    }

    async fn now_ms(&self) -> i64 {
        self.host.now().await.map_or(0, |now| now.ms)
    }

    fn busy(&self) -> Error {
        let message = "another program keeps syncing the same folder; try again when it is done";
        Error::new(ErrorCode::Busy, message).at(&self.place.directory)
    }

    async fn say(&self, done: usize, total: usize, what: &str) -> Result<(), Error> {
        /// Work that is done in a moment needs no words.
        const LONG: usize = 200;
        // A line for every tenth of it.
        let tenth = |done: usize| {
            done.saturating_mul(10)
                .checked_div(total)
                .unwrap_or_default()
        };
        let is_step = tenth(done) != tenth(done.saturating_sub(TEAM_RECEIVE_FILES));
        if self.progress && total > LONG && is_step {
            let line = format!("{what} {done} of {total}\n");
            let _ = self.host.print(Stream::Stderr, line).await;
            self.host.stop_if_cancelled()?;
        }
        Ok(())
    }
}

/// How an upload ended.
enum Upload {
    Done,
    /// Something was learnt: look again.
    Again,
    /// Somebody else was faster: ask what they have changed.
    Outdated,
}

/// Teammates keep the lines of what was forgotten here alone.
fn show_forgotten(
    local: &mut local::Local,
    state: &SyncState,
    forgotten: &BTreeMap<String, String>,
    server: &BTreeMap<String, String>,
) {
    let away = kept_away(forgotten, server);
    if let (Some(base), false) = (&state.index, away.is_empty())
        && let Some(text) = local.contents.get_mut(INDEX_NAME)
    {
        *text = with_forgotten(TEAM_FOLDER, base, text, &away);
        let sum = checksum(text);
        local.checksums.insert(INDEX_NAME.to_owned(), sum);
    }
}

/// Why a text is not shared.
fn unfit(text: &str) -> Option<(ReportCode, String)> {
    if let Some(SecretFinding {
        rule, label, line, ..
    }) = scan_secrets(text).first()
    {
        let message = format!(
            "it is not uploaded: line {line} holds what looks like a secret ({label}) [{rule}]; remove it"
        );
        return Some((ReportCode::SecretFound, message));
    }
    (parse_frontmatter(text).kind == Some(MemoryType::User)).then(|| {
        let message = "it is not uploaded: a memory of type user stays private; move it out of the team folder";
        (ReportCode::TeamPrivate, message.to_owned())
    })
}

/// Which repository the team's memories are of; none when nothing says so.
async fn repository(
    store: &Store,
    host: &Host,
    options: &TeamOptions,
) -> Result<Option<String>, Error> {
    if options.repository.is_some() {
        return Ok(options.repository.clone());
    }
    match store.project_root(host).await? {
        Some((platform, root)) => find_repository(host, platform, &root).await,
        None => Ok(None),
    }
}

/// How the folder stands, without asking the server.
pub(crate) async fn status(store: &Store, host: &Host) -> Result<TeamStatus, Error> {
    let place = store.place_or_disabled(host).await?;
    let options = store.team_options();
    let repository = repository(store, host, &options).await?;
    let url = match repository.as_deref() {
        Some(repository) => match options.url(store.env(), repository) {
            Err(error) if error.code == ErrorCode::NoServer => None,
            url => Some(url?),
        },
        None => None,
    };
    let known = state::read(host, &place, url.as_deref().unwrap_or_default()).await?;
    let state = known.state;
    let mut local = local::read(host, &place, &state.entries).await?;
    let forgotten = state::forgotten(host, &place).await?;
    show_forgotten(&mut local, &state, &forgotten, &state.entries);
    let mut report = local.report;
    let mut to_send = Vec::new();
    for (key, text) in local.contents {
        if local.checksums.get(&key) == state.entries.get(&key) {
            continue;
        }
        match unfit(&text) {
            Some((code, message)) => report.push(ReportEntry::new(path_of(&key), code, message)),
            None => to_send.push(key),
        }
    }
    Ok(TeamStatus {
        repository,
        url,
        synced_ms: Some(state.synced_ms).filter(|ms| *ms > 0),
        to_send,
        conflicts: conflicts::list(host, &place).await?,
        report,
    })
}
