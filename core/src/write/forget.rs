//! Forgets one memory: its lines in every index, then its file, which goes to the trash; and takes that
//! back.

use super::Next;
use super::commit::{Change, Current, End, Look, commit, failed, look, trash_failed};
use super::index::{entry_lines, update_index};
use super::lock::Lock;
use super::relink::{relink, with_lines};
use super::result::{WriteOutcome, WriteResult, hash};
use super::target::{FOLDERS, check_expect, check_target, index_path, unexpected};
use super::tombstones;
use super::trash::{self, IndexCut, IndexLine, Reason, Record, Trash};
use crate::error::{Error, ErrorCode};
use crate::flow::{Failure, FailureCode, FileKind, Host};
use crate::limits::{FILE_MAX_BYTES, FOLDER_MODE, OWN_FOLDER, TRASH_FOLDER};
use crate::memory::Scope;
use crate::paths::check_relative;
use crate::report::{ReportCode, ReportEntry};
use crate::store::Place;

/// A forgetting under way, over all its attempts.
pub(crate) struct Forget {
    path: String,
    expect: Option<String>,
    /// What was cut out of the indexes so far.
    cuts: Vec<IndexCut>,
    index_changed: bool,
    /// Whether it is marked as forgotten.
    marked: bool,
    /// Whether the indexes stay as they are.
    alone: bool,
    /// What an earlier attempt has left in the trash, so that a kill between two loses no line.
    record: Option<String>,
    now_ms: i64,
}

impl Forget {
    /// # Errors
    /// What makes it refused before anything is looked at.
    pub fn new(path: String, expect: Option<String>, place: &Place) -> Result<Self, Error> {
        check_expect(expect.as_deref())?;
        check_target(&path, place)?;
        Ok(Self::begin(path, expect))
    }

    /// Any file of the store, for those who know files only.
    ///
    /// # Errors
    /// What makes it refused before anything is looked at.
    pub fn any(path: String, expect: Option<String>, place: &Place) -> Result<Self, Error> {
        check_relative(&path, place.platform)?;
        Ok(Self::begin(path, expect))
    }

    fn begin(path: String, expect: Option<String>) -> Self {
        Self {
            path,
            expect,
            cuts: Vec::new(),
            index_changed: false,
            marked: false,
            alone: false,
            record: None,
            now_ms: 0,
        }
    }

    /// The same as [`Self::any`] without its lines in the indexes, for those who write these themselves.
    ///
    /// # Errors
    /// What makes it refused before anything is looked at.
    pub fn alone(path: String, expect: Option<String>, place: &Place) -> Result<Self, Error> {
        Ok(Self {
            alone: true,
            ..Self::any(path, expect, place)?
        })
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    pub(super) async fn attempt(&mut self, host: &Host, lock: &Lock<'_>) -> Result<Next, Error> {
        let mut next = self.try_once(host, lock).await?;
        if let Next::Done(result) = &mut next
            && result.outcome != WriteOutcome::Written
        {
            let host = &host.shielded();
            self.take_back(host, lock, &mut result.report).await?;
        }
        Ok(next)
    }

    async fn try_once(&mut self, host: &Host, lock: &Lock<'_>) -> Result<Next, Error> {
        // Begun is finished, whoever cancels.
        let shielded = host.shielded();
        let host = if self.index_changed { &shielded } else { host };
        let place = lock.found().place();
        let path = self.path.clone();
        let old = match look(host, &place, &path).await? {
            Look::Refused(error) => {
                return Ok(Next::Done(WriteResult::refused(Some(&path), &place, error)));
            }
            Look::Absent => None,
            // What is no text can be forgotten all the same.
            Look::File(current) | Look::NoText(current, _) => Some(current),
        };
        let now = host.now().await;
        host.stop_if_cancelled()?;
        let now_ms = now.map_or(0, |now| now.ms);
        self.now_ms = now_ms;
        if let Some(result) = unexpected(self.expect.as_deref(), &path, &place, old.as_ref()) {
            return Ok(Next::Done(result));
        }
        let mut report = Vec::new();
        let changes = if self.alone {
            Vec::new()
        } else {
            self.unlink(host, &place, old.as_ref(), &mut report).await?
        };
        if old.is_none() && changes.is_empty() && !self.index_changed {
            let message = format!("there is no memory {path}; memdir scan lists what there is");
            let error = Error::new(ErrorCode::NotFound, message).at(&path);
            return Ok(Next::Done(WriteResult::refused(Some(&path), &place, error)));
        }
        // The record comes first, so that a kill at any time leaves enough for the way back.
        let trash = Trash::open(host, lock, now_ms).await;
        host.stop_if_cancelled()?;
        let trash = trash.map_err(|failure| trash_failed(&failure))?;
        // What somebody else has cut out and not put back goes with the file.
        let unfinished = match old.is_some() {
            true => trash.unfinished(host, &path).await,
            false => None,
        };
        if let Some((_, record)) = &unfinished {
            let newer = std::mem::replace(&mut self.cuts, record.cuts.clone());
            newer
                .into_iter()
                .for_each(|cut| self.cut(cut, old.as_ref()));
        }
        let item = trash.item();
        let record = Record {
            path: path.clone(),
            reason: Reason::Forgotten,
            at_ms: now_ms,
            cuts: self.cuts.clone(),
        };
        let described = trash.describe(host, &item, &record).await;
        let ended = match (host.stop_if_cancelled(), described) {
            (Err(error), _) => Err(error),
            (Ok(()), Err(failure)) => Err(trash_failed(&failure)),
            (Ok(()), Ok(())) => {
                self.take(host, lock, old.as_ref(), &changes, &item, now_ms)
                    .await
            }
        };
        let record = trash::record_of(&item);
        let keeps = match ended {
            Ok(End::Done) => old.is_some(),
            // What has been cut out is known from it until it is put back or goes with the memory.
            _ => self.index_changed,
        };
        if !keeps {
            let _ = shielded.remove(&record, lock.within()).await;
        }
        if ended != Ok(End::Done) {
            self.record = keeps.then_some(record);
            return Ok(ended?.again().unwrap_or(Next::Changed));
        }
        if old.is_none() && !self.cuts.is_empty() {
            // Another writer took the file while this one had its lines: they go together.
            let last = trash.last_forgotten(&shielded, Some(&path)).await;
            if let Some((bytes, _, mut record)) = last.filter(|(.., record)| record.cuts.is_empty())
            {
                record.cuts.clone_from(&self.cuts);
                let file = trash::record_of(&bytes);
                let _ = shielded.remove(&file, lock.within()).await;
                let _ = trash.describe(&shielded, &bytes, &record).await;
            }
        }
        let unfinished = unfinished.map(|(bytes, _)| trash::record_of(&bytes));
        for record in self.record.take().into_iter().chain(unfinished) {
            let _ = shielded.remove(&record, lock.within()).await;
        }
        trash.prune(&shielded, 1).await;
        if old.is_some() && Scope::of(&path) == Scope::Team {
            report.push(ReportEntry::new(
                &path,
                ReportCode::TeamKeepsCopy,
                "teammates still have it, and so has the team's server; here it stays away until the server's copy changes",
            ));
        }
        let mut result = WriteResult::at(&path, &place, None).written();
        result.index_changed = self.index_changed;
        result.report = report;
        Ok(Next::Done(result))
    }

    /// Leaves everything as it was before, as far as it has come.
    pub(super) async fn take_back(
        &mut self,
        host: &Host,
        lock: &Lock<'_>,
        report: &mut Vec<ReportEntry>,
    ) -> Result<(), Error> {
        if std::mem::take(&mut self.marked) {
            tombstones::mark(host, lock, &self.path, None).await?;
        }
        if std::mem::take(&mut self.index_changed) {
            let cuts = std::mem::take(&mut self.cuts);
            let done = relink(host, lock, &self.path, &cuts, self.now_ms, report).await?;
            if let (Some(_), Some(record)) = (done, self.record.take()) {
                let _ = host.remove(&record, lock.within()).await;
            }
        }
        Ok(())
    }

    /// Remembers what is cut out of an index. Of what was cut out of it before only that is dropped which
    /// the index has again, or which a save has written anew.
    fn cut(&mut self, mut cut: IndexCut, old: Option<&Current>) {
        let same = |other: &IndexCut| other.folder == cut.folder;
        if let Some(at) = self.cuts.iter().position(same) {
            let before = self.cuts.remove(at);
            cut.text = with_lines(&cut.text, &cut.folder, &self.path, old, &before.lines);
            let entries = entry_lines(&cut.text, &cut.folder, &self.path).into_iter();
            cut.lines = entries.map(IndexLine::from).collect();
        }
        self.cuts.push(cut);
    }

    /// The indexes without their lines, which are remembered.
    async fn unlink(
        &mut self,
        host: &Host,
        place: &Place,
        old: Option<&Current>,
        report: &mut Vec<ReportEntry>,
    ) -> Result<Vec<Change>, Error> {
        let mut changes = Vec::new();
        for folder in FOLDERS {
            let index = index_path(folder);
            let current = match look(host, place, index).await? {
                Look::Absent => continue,
                Look::File(current) => current,
                Look::Refused(error) | Look::NoText(_, error) => {
                    report.push(ReportEntry::new(
                        index,
                        ReportCode::Unreadable,
                        error.message,
                    ));
                    continue;
                }
            };
            let edited = update_index(Some(&current.text), folder, &self.path, None)?;
            if edited.changed {
                let entries = entry_lines(&current.text, folder, &self.path).into_iter();
                let cut = IndexCut {
                    folder: folder.to_owned(),
                    text: current.text.clone(),
                    after: hash(edited.content.as_bytes()),
                    lines: entries.map(IndexLine::from).collect(),
                };
                self.cut(cut, old);
                changes.push(Change {
                    path: index.to_owned(),
                    old: Some(current),
                    new: edited.content,
                    keep: false,
                });
            }
        }
        Ok(changes)
    }

    /// Takes the lines away, then marks a team memory, then moves the file: at no time does a line
    /// lead to nothing.
    async fn take(
        &mut self,
        host: &Host,
        lock: &Lock<'_>,
        old: Option<&Current>,
        changes: &[Change],
        item: &str,
        now_ms: i64,
    ) -> Result<End, Error> {
        let place = lock.found().place();
        if !changes.is_empty() {
            let committed = commit(host, lock, &place, changes, now_ms).await?;
            self.index_changed |= committed.done > 0;
            let end = committed.end?;
            if end != End::Done {
                return Ok(end);
            }
        }
        let Some(old) = old else {
            return Ok(End::Done);
        };
        // Begun is finished, whoever cancels.
        let host = &host.shielded();
        if Scope::of(&self.path) == Scope::Team {
            let end = tombstones::mark(host, lock, &self.path, Some(hash(&old.bytes))).await?;
            if end != End::Done {
                return Ok(end);
            }
            self.marked = true;
        }
        self.discard(host, lock, &place, old, item).await
    }

    /// Moves the file to the trash, if it is still the one that was looked at, through a folder that the
    /// next holder of the lock removes: a move that comes too late finds no such folder.
    async fn discard(
        &self,
        host: &Host,
        lock: &Lock<'_>,
        place: &Place,
        old: &Current,
        item: &str,
    ) -> Result<End, Error> {
        let within = lock.within();
        let failed = |failure: &Failure| failed(failure, &self.path);
        let name = item.rsplit(lock.separator()).next().unwrap_or(item);
        let folder = lock.staged();
        let taken = format!("{folder}{}{name}", lock.separator());
        let made = host.make_dir(&folder, within, FOLDER_MODE).await;
        made.map_err(|failure| failed(&failure))?;
        let end = self.move_through(host, lock, place, old, &taken).await;
        if end == Ok(End::Done)
            && let Err(failure) = lock.move_to(host, &taken, item).await
            && failure.code != FailureCode::NotFound
        {
            // Back, or left to the next holder of the lock, who brings it to the trash: as who has swept
            // the folder meanwhile has done.
            let back = lock.move_to(host, &taken, &old.file).await;
            if back.is_ok() {
                let _ = host.remove(&folder, within).await;
                return Err(failed(&failure));
            }
        }
        let _ = host.remove(&folder, within).await;
        end
    }

    async fn move_through(
        &self,
        host: &Host,
        lock: &Lock<'_>,
        place: &Place,
        old: &Current,
        taken: &str,
    ) -> Result<End, Error> {
        let within = lock.within();
        let length = FILE_MAX_BYTES.saturating_add(1);
        let failed = |failure: &Failure| failed(failure, &self.path);
        // A link is forgotten itself; behind a folder that is a link it is the file.
        let named = place.path(&self.path);
        let stat = host.lstat(&named).await;
        let is_link = stat.is_ok_and(|stat| stat.kind == FileKind::Link);
        let file = if is_link { &named } else { &old.file };
        let held = lock.is_held(host).await;
        if !held.map_err(|failure| failed(&failure))? {
            return Ok(End::Lost);
        }
        let bytes = host.read(&old.file, within, length).await;
        if bytes.as_ref() != Ok(&old.bytes) {
            return Ok(End::Changed);
        }
        match lock.move_to(host, file, taken).await {
            Ok(()) => {}
            Err(failure) if failure.code == FailureCode::NotFound => return Ok(End::Lost),
            Err(failure) => return Err(failed(&failure)),
        }
        // What another program has written since the last look is not what was to be forgotten.
        let moved = host.read(taken, within, length).await;
        if !is_link
            && moved.as_ref() != Ok(&old.bytes)
            && lock.move_to(host, taken, file).await.is_ok()
        {
            return Ok(End::Changed);
        }
        Ok(End::Done)
    }
}

/// The undoing of the last forgetting, of one path or of any.
pub(crate) struct Undo {
    path: Option<String>,
    /// Where the bytes were of what is restored already; what is left are its lines.
    restored: Option<String>,
}

impl Undo {
    /// # Errors
    /// What makes it refused before anything is looked at.
    pub fn new(path: Option<String>, place: &Place) -> Result<Self, Error> {
        if let Some(path) = &path {
            check_target(path, place)?;
        }
        Ok(Self {
            path,
            restored: None,
        })
    }

    pub(super) fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    pub(super) async fn attempt(&mut self, host: &Host, lock: &Lock<'_>) -> Result<Next, Error> {
        let place = lock.found().place();
        let now = host.now().await;
        host.stop_if_cancelled()?;
        let now_ms = now.map_or(0, |now| now.ms);
        let trash = Trash::open(host, lock, now_ms).await;
        host.stop_if_cancelled()?;
        let trash = trash.map_err(|failure| trash_failed(&failure))?;
        if let (Some(path), Some(bytes)) = (&self.path, &self.restored) {
            let shielded = host.shielded();
            let record = trash.read(&shielded, &trash::record_of(bytes)).await;
            let found = match look(&shielded, &place, path).await? {
                Look::File(current) | Look::NoText(current, _) => Some(hash(&current.bytes)),
                Look::Absent | Look::Refused(_) => None,
            };
            if let (Some(record), Some(_)) = (&record, &found) {
                return self
                    .finish(&shielded, lock, bytes, record, now_ms, true)
                    .await;
            }
            // Somebody has brought it to its end, or forgotten it again, with all that belongs to it.
            let mut result = WriteResult::at(path, &place, found).written();
            result.created = true;
            return Ok(Next::Done(result));
        }
        let last = trash.last_forgotten(host, self.path.as_deref()).await;
        host.stop_if_cancelled()?;
        let Some((bytes, has_bytes, record)) = last else {
            let error = nothing_forgotten(self.path.as_deref());
            let path = self.path.as_deref();
            return Ok(Next::Done(WriteResult::refused(path, &place, error)));
        };
        let path = record.path.as_str();
        // A record is a file like any other: what it says is checked as if a caller had said it.
        if let Err(error) = check_target(path, &place) {
            return Ok(Next::Done(WriteResult::refused(None, &place, error)));
        }
        let record_file = trash::record_of(&bytes);
        let there = match look(host, &place, path).await? {
            Look::Absent => None,
            Look::Refused(error) => {
                return Ok(Next::Done(WriteResult::refused(Some(path), &place, error)));
            }
            Look::File(current) | Look::NoText(current, _) => Some(hash(&current.bytes)),
        };
        let host = &host.shielded();
        match (&there, has_bytes) {
            (Some(_), true) => {
                let message = format!(
                    "there is another memory {path} by now; forget it first, or copy yours from {OWN_FOLDER}/{TRASH_FOLDER}"
                );
                let mut result = WriteResult::conflict(path, &place, there);
                result.message = Some(message);
                return Ok(Next::Done(result));
            }
            (None, false) => {
                // What is left of one that was cleared away.
                let _ = host.remove(&record_file, lock.within()).await;
                return Ok(Next::Changed);
            }
            // A forgetting or an undoing that did not come to its end: only the lines are missing.
            (Some(_), false) => {}
            (None, true) => {
                let end = restore(host, lock, &place, path, &bytes).await?;
                if let Some(again) = end.again() {
                    return Ok(again);
                }
            }
        }
        // From here on what begins again finishes this one.
        self.path = Some(path.to_owned());
        self.restored = Some(bytes.clone());
        let created = there.is_none();
        self.finish(host, lock, &bytes, &record, now_ms, created)
            .await
    }

    /// Puts the lines back, after the file.
    async fn finish(
        &self,
        host: &Host,
        lock: &Lock<'_>,
        bytes: &str,
        record: &Record,
        now_ms: i64,
        created: bool,
    ) -> Result<Next, Error> {
        let place = lock.found().place();
        let path = record.path.as_str();
        if Scope::of(path) == Scope::Team {
            let end = tombstones::mark(host, lock, path, None).await?;
            if let Some(again) = end.again() {
                return Ok(again);
            }
        }
        let restored = host
            .read(&place.path(path), lock.within(), FILE_MAX_BYTES)
            .await;
        let restored = restored.ok().map(|bytes| hash(&bytes));
        let mut result = WriteResult::at(path, &place, restored).written();
        result.created = created;
        let report = &mut result.report;
        match relink(host, lock, path, &record.cuts, now_ms, report).await? {
            Some(done) => result.index_changed = done,
            None => return Ok(Next::Lost),
        }
        // Last: until then it can be undone again.
        let _ = host.remove(&trash::record_of(bytes), lock.within()).await;
        Ok(Next::Done(result))
    }
}

pub(super) fn nothing_forgotten(path: Option<&str>) -> Error {
    let message = match path {
        Some(path) => format!("{path} was not forgotten here, or so long ago that it is gone"),
        None => "nothing was forgotten here, or so long ago that it is gone".to_owned(),
    };
    Error::new(ErrorCode::NotFound, message)
}

/// Moves a file back from the trash.
async fn restore(
    host: &Host,
    lock: &Lock<'_>,
    place: &Place,
    path: &str,
    bytes: &str,
) -> Result<End, Error> {
    if let Some((folder, _)) = path.rsplit_once('/') {
        let folder = place.path(folder);
        let made = host.make_dir(&folder, lock.within(), FOLDER_MODE).await;
        made.map_err(|failure| failed(&failure, path))?;
    }
    let held = lock.is_held(host).await;
    if !held.map_err(|failure| failed(&failure, path))? {
        return Ok(End::Lost);
    }
    match lock.move_to(host, bytes, &place.path(path)).await {
        Ok(()) => Ok(End::Done),
        Err(failure) if matches!(failure.code, FailureCode::Exists | FailureCode::NotFound) => {
            Ok(End::Changed)
        }
        Err(failure) => Err(failed(&failure, path)),
    }
}
