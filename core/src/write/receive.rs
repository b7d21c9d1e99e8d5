//! Puts what the team's server has in its place (facts 11.4): under the lock, a few files at a time, and
//! deciding anew for each by what is there at that moment. What was changed here since the last sync is kept
//! beside before the server's version takes its place.

use std::collections::{BTreeMap, BTreeSet};

use super::Next;
use super::commit::{Change, Committed, Current, End, Look, commit, look};
use super::keep::keep_conflict;
use super::lock::Lock;
use super::result::{WriteResult, hash};
use super::tombstones;
use crate::error::{Error, ErrorCode};
use crate::flow::{FileKind, Host, join_all};
use crate::limits::{
    FOLDER_MODE, INDEX_NAME, OWN_FOLDER, TEAM_DELETED, TEAM_FOLDER, TEAM_MARKER,
    TEAM_RECEIVE_FILES, TEAM_STATE_NAME, TOKEN_BYTES,
};
use crate::report::{ReportCode, ReportEntry};
use crate::store::Place;
use crate::store::own;
use crate::team::state::{self, Known, SyncState, marker_path, marker_text};
use crate::team::{
    TeamAction, checksum, decide, merge_team_index, with_forgotten, without_forgotten,
};

/// What came from the server, and how far it has got.
pub(crate) struct Receive {
    /// As it was before the server was asked.
    known: Known,
    /// Key to content.
    entries: BTreeMap<String, String>,
    /// Key to checksum.
    sums: BTreeMap<String, String>,
    /// Keys that are still to be done, the next one last.
    rest: Vec<String>,
    /// How many are done one by one, because one of them failed among others.
    singly: usize,
    /// Whether another sync of this folder was faster: everything begins anew.
    pub stale: bool,
    /// Keys that were written, merged or left in order, by what became of them.
    pub received: Vec<String>,
    pub conflicts: Vec<String>,
    /// Keys that the server says were deleted, with the checksum of what is here.
    pub removals: Vec<(String, String)>,
    /// Keys that could not be put in place.
    pub failed: BTreeSet<String>,
    pub report: Vec<ReportEntry>,
}

impl Receive {
    pub fn new(
        known: Known,
        entries: BTreeMap<String, String>,
        sums: BTreeMap<String, String>,
    ) -> Self {
        Self {
            known,
            sums,
            rest: entries.keys().rev().cloned().collect(),
            entries,
            singly: 0,
            stale: false,
            received: Vec::new(),
            conflicts: Vec::new(),
            removals: Vec::new(),
            failed: BTreeSet::new(),
            report: Vec::new(),
        }
    }

    /// How many are still to be done.
    pub fn left(&self) -> usize {
        if self.stale { 0 } else { self.rest.len() }
    }

    pub(super) async fn attempt(&mut self, host: &Host, lock: &Lock<'_>) -> Result<Next, Error> {
        let place = lock.found().place();
        let known = state::read(host, &place, &self.known.state.origin).await?;
        if known.seen != self.known.seen {
            self.stale = true;
            return Ok(Next::Done(WriteResult::at(TEAM_FOLDER, &place, None)));
        }
        let forgotten = state::forgotten(host, &place).await?;
        let now = host.now().await;
        host.stop_if_cancelled()?;
        let now_ms = now.map_or(0, |now| now.ms);
        let count = if self.singly > 0 {
            1
        } else {
            TEAM_RECEIVE_FILES
        };
        let keys: Vec<String> = self.rest.iter().rev().take(count).cloned().collect();
        let paths: Vec<String> = keys.iter().map(|key| path_of(key)).collect();
        let looks = join_all(paths.iter().map(|path| look(host, &place, path))).await;
        host.stop_if_cancelled()?;
        let mut portion = Portion::default();
        for ((key, path), look) in keys.iter().zip(&paths).zip(looks) {
            let current = match look.map(|look| regular(look, path, &place)) {
                Ok(Ok(current)) => current,
                Ok(Err(entry)) => {
                    self.failed.insert(key.clone());
                    portion.report.push(entry);
                    continue;
                }
                Err(error) => return self.end_portion(&keys, error, path, &place),
            };
            self.plan(key, current, &forgotten, &mut portion);
        }
        let mut kept = Vec::new();
        for step in &portion.steps {
            kept.push(match &step.copy {
                Some(bytes) => {
                    Some(keep_conflict(host, lock, &path_of(&step.key), bytes, now_ms).await?)
                }
                None => None,
            });
            host.stop_if_cancelled()?;
        }
        let (mut changes, mut changing) = (Vec::new(), Vec::new());
        for step in &mut portion.steps {
            changing.push(step.change.is_some());
            changes.extend(step.change.take());
        }
        let committed = match changes.is_empty() {
            true => Ok(Committed {
                done: 0,
                end: Ok(End::Done),
            }),
            false => commit(host, lock, &place, &changes, now_ms).await,
        };
        let (done, end) = match committed {
            Ok(Committed { done, end }) => (done, end),
            Err(error) => (0, Err(error)),
        };
        let is_whole = end == Ok(End::Done);
        let (mut number, mut received) = (0, Vec::new());
        for ((step, kept), is_change) in portion.steps.into_iter().zip(kept).zip(changing) {
            let is_done = is_whole || (is_change && number < done);
            number += usize::from(is_change);
            if is_done {
                received.extend(is_change.then(|| step.key.clone()));
                self.removals.extend(step.removal);
                if let Some(message) = step.conflict {
                    let path = path_of(&step.key);
                    self.report
                        .push(ReportEntry::new(path, ReportCode::TeamConflict, message));
                    self.conflicts.push(step.key);
                }
            } else if let Some(kept) = kept {
                // The copy of what was not replaced is not needed.
                kept.remove(&host.shielded(), lock).await;
            }
        }
        self.received.extend(received.iter().cloned());
        match end {
            Ok(End::Done) => {}
            Ok(again) => return Ok(again.again().unwrap_or(Next::Changed)),
            Err(error) => {
                let path = error.path.clone().unwrap_or_default();
                return self.end_portion(&keys, error, &path, &place);
            }
        }
        for key in received.iter().filter(|key| forgotten.contains_key(*key)) {
            let marked = tombstones::mark(&host.shielded(), lock, &path_of(key), None).await?;
            if let Some(again) = marked.again() {
                return Ok(again);
            }
        }
        self.rest
            .truncate(self.rest.len().saturating_sub(keys.len()));
        self.singly = self.singly.saturating_sub(1);
        self.report.extend(portion.report);
        Ok(Next::Done(WriteResult::at(TEAM_FOLDER, &place, None)))
    }

    /// What is to be done about one entry.
    fn plan(
        &self,
        key: &str,
        current: Option<Current>,
        forgotten: &BTreeMap<String, String>,
        portion: &mut Portion,
    ) {
        let Some(content) = self.entries.get(key) else {
            return;
        };
        let state = &self.known.state;
        let is_index = key == INDEX_NAME;
        // Teammates keep the lines of what was forgotten here, and here they stay away.
        let away = match is_index {
            true => kept_away(forgotten, &self.sums),
            false => Vec::new(),
        };
        let ours = current.as_ref().map(|current| match &state.index {
            Some(base) if !away.is_empty() => {
                with_forgotten(TEAM_FOLDER, base, &current.text, &away)
            }
            _ => current.text.clone(),
        });
        let local = current.as_ref().map(|current| match &ours {
            Some(ours) if !away.is_empty() => checksum(ours),
            _ => hash(&current.bytes),
        });
        let server = checksum(content);
        let action = decide(
            state.entries.get(key).map(String::as_str),
            local.as_deref(),
            Some(&server),
            forgotten.get(key).map(String::as_str),
        );
        let mut step = Step::of(key);
        let is_deleted = content == TEAM_DELETED;
        match (action, current) {
            (Some(TeamAction::Receive), current) => {
                step.change = Some(change(
                    key,
                    current,
                    without_forgotten(TEAM_FOLDER, content, &away),
                ));
            }
            (Some(TeamAction::Remove), Some(current)) => {
                step.removal = Some((key.to_owned(), hash(&current.bytes)));
            }
            (Some(TeamAction::Conflict), Some(current)) if is_deleted => {
                step.removal = Some((key.to_owned(), hash(&current.bytes)));
                step.copy = Some(current.bytes);
                step.conflict = Some(
                    "it was changed here and deleted by a teammate: it is gone here, and ours is kept; see memdir team conflicts",
                );
            }
            (Some(TeamAction::Conflict), Some(current)) => {
                let merged = match &ours {
                    Some(ours) if is_index && !ours.is_empty() => {
                        Some(merge_team_index(state.index.as_deref(), ours, content))
                    }
                    _ => None,
                };
                if merged.as_ref().is_none_or(|merged| merged.lost) {
                    step.copy = Some(current.bytes.clone());
                    step.conflict = Some(
                        "it was changed here and by a teammate: the server's version is in place, ours is kept; see memdir team conflicts",
                    );
                }
                let new = merged.map_or_else(|| content.clone(), |merged| merged.content);
                let new = without_forgotten(TEAM_FOLDER, &new, &away);
                if new != current.text {
                    step.change = Some(change(key, Some(current), new));
                }
            }
            _ => return,
        }
        portion.steps.push(step);
    }

    /// One that fails among many is found by doing them one by one; what its own path is to blame for is
    /// reported, and the others go on.
    fn end_portion(
        &mut self,
        keys: &[String],
        error: Error,
        path: &str,
        place: &Place,
    ) -> Result<Next, Error> {
        let of_path = error.code.is_of_path()
            || matches!(error.code, ErrorCode::Loop | ErrorCode::Permission);
        match keys {
            _ if !of_path => Err(error),
            [key] => {
                self.failed.insert(key.clone());
                self.rest.pop();
                self.singly = self.singly.saturating_sub(1);
                let entry = ReportEntry::new(path, ReportCode::Unreadable, error.message);
                self.report.push(entry);
                Ok(Next::Done(WriteResult::at(TEAM_FOLDER, place, None)))
            }
            many => {
                self.singly = many.len();
                Ok(Next::Changed)
            }
        }
    }
}

/// What is done under one lock.
#[derive(Default)]
struct Portion {
    steps: Vec<Step>,
    report: Vec<ReportEntry>,
}

/// What is done about one entry.
struct Step {
    key: String,
    change: Option<Change>,
    /// Our version, to be kept.
    copy: Option<Vec<u8>>,
    /// Why it is.
    conflict: Option<&'static str>,
    /// The key, with the checksum of what is here, when it is to go.
    removal: Option<(String, String)>,
}

impl Step {
    fn of(key: &str) -> Self {
        Self {
            key: key.to_owned(),
            change: None,
            copy: None,
            conflict: None,
            removal: None,
        }
    }
}

fn change(key: &str, old: Option<Current>, new: String) -> Change {
    Change {
        path: path_of(key),
        old,
        new,
        keep: false,
    }
}

/// The paths of memories that were forgotten here alone: the server still has them.
pub(crate) fn kept_away(
    forgotten: &BTreeMap<String, String>,
    server: &BTreeMap<String, String>,
) -> Vec<String> {
    let deleted = checksum(TEAM_DELETED);
    forgotten
        .keys()
        .filter(|key| server.get(*key).is_some_and(|sum| *sum != deleted))
        .map(|key| path_of(key))
        .collect()
}

fn path_of(key: &str) -> String {
    format!("{TEAM_FOLDER}/{key}")
}

/// A file of the team folder itself, or nothing; a link is not written through.
fn regular(look: Look, path: &str, place: &Place) -> Result<Option<Current>, ReportEntry> {
    let unreadable = |message| ReportEntry::new(path, ReportCode::Unreadable, message);
    match look {
        Look::Absent => Ok(None),
        Look::File(current) | Look::NoText(current, _) if current.file == place.path(path) => {
            Ok(Some(current))
        }
        Look::File(_) | Look::NoText(..) => Err(ReportEntry::new(
            path,
            ReportCode::TeamLink,
            "it is a link, which is not written to; remove it to get the team's version",
        )),
        Look::Refused(error) => Err(unreadable(error.message)),
    }
}

/// What changes in the state of the last sync.
pub(crate) type StateEdit = Box<dyn Fn(&mut SyncState) + Send + Sync>;

/// Writes down what is known of the server by now.
pub(crate) struct Remember {
    origin: String,
    /// The state that it must still be, if any.
    known: Option<Known>,
    edit: StateEdit,
    /// Keys of files that are there again, which are not forgotten any more.
    there: Vec<String>,
    /// Whether it was another by then, and nothing was written.
    pub stale: bool,
}

impl Remember {
    pub fn new(origin: &str, known: Option<Known>, edit: StateEdit) -> Self {
        Self {
            origin: origin.to_owned(),
            known,
            edit,
            there: Vec::new(),
            stale: false,
        }
    }

    /// Takes back that these keys were forgotten.
    pub fn there_again(mut self, keys: Vec<String>) -> Self {
        self.there = keys;
        self
    }

    pub(super) async fn attempt(&mut self, host: &Host, lock: &Lock<'_>) -> Result<Next, Error> {
        let place = lock.found().place();
        let done = Next::Done(WriteResult::at(TEAM_FOLDER, &place, None));
        let Known {
            mut state,
            seen,
            is_ours,
        } = state::read(host, &place, &self.origin).await?;
        if self.known.as_ref().is_some_and(|known| known.seen != seen) {
            self.stale = true;
            return Ok(done);
        }
        for key in &self.there {
            let marked = tombstones::mark(host, lock, &path_of(key), None).await?;
            if let Some(again) = marked.again() {
                return Ok(again);
            }
        }
        let before = state.clone();
        (self.edit)(&mut state);
        for key in &self.there {
            state.leaving.remove(key);
        }
        if is_ours && state == before {
            return Ok(done);
        }
        let random = host.random(TOKEN_BYTES).await;
        host.stop_if_cancelled()?;
        state.mark = own::hex(&random.unwrap_or_default());
        let text = marker_text(&state.mark, &self.origin);
        let marked = mark_folder(host, lock, &place, text).await?;
        if let Some(again) = marked.again() {
            return Ok(again);
        }
        let json = serde_json::to_string(&state).unwrap_or_default();
        let end = lock.replace(host, TEAM_STATE_NAME, json).await?;
        Ok(end.again().unwrap_or(done))
    }
}

/// Marks the team folder as the one that the state is about; one that is not there needs no mark.
async fn mark_folder(
    host: &Host,
    lock: &Lock<'_>,
    place: &Place,
    text: String,
) -> Result<End, Error> {
    let stat = host.lstat(&place.path(TEAM_FOLDER)).await;
    host.stop_if_cancelled()?;
    if !stat.is_ok_and(|stat| stat.kind == FileKind::Directory) {
        return Ok(End::Done);
    }
    let failed = |failure| Error::from_failure(&failure, "marking", TEAM_FOLDER);
    let folder = place.path(&format!("{TEAM_FOLDER}/{OWN_FOLDER}"));
    let made = host.make_dir(&folder, lock.within(), FOLDER_MODE).await;
    host.stop_if_cancelled()?;
    made.map_err(failed)?;
    let file = marker_path(place);
    lock.replace_file(host, TEAM_MARKER, &file, text).await
}
