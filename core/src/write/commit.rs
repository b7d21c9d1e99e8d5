//! How changed files reach the disk (design, "Lock"): everything is staged first, then looked at
//! again, then renamed. What another program writes meanwhile is kept.

use super::lock::Lock;
use super::result::hash;
use super::trash::{self, Record, Trash};
use crate::error::{Error, ErrorCode};
use crate::flow::{Bytes, Content, Failure, FailureCode, FileKind, Host, join, join_all};
use crate::limits::{
    FILE_MAX_BYTES, FILE_MODE, FOLDER_MODE, OWN_FOLDER, TEMPORARY_ENDING, TRASH_FOLDER,
};
use crate::store::{Place, heads, read};

/// A file as a writer found it.
#[derive(Clone, Debug)]
pub(crate) struct Current {
    /// Where it really is, absolute.
    pub file: String,
    /// The same relative to the store: what decides who sees it.
    pub path: String,
    pub bytes: Vec<u8>,
    pub text: String,
    mode: u32,
}

/// What has a name.
pub(crate) enum Look {
    Absent,
    File(Current),
    /// A file whose bytes are no text, and why.
    NoText(Current, Error),
    /// Something that is not written over.
    Refused(Error),
}

/// Looks at a file of the store, relative to it, that somebody wants to change.
pub(crate) async fn look(host: &Host, place: &Place, path: &str) -> Result<Look, Error> {
    let file = place.path(path);
    let stat = host.lstat(&file).await;
    host.stop_if_cancelled()?;
    let failed = |failure: &Failure| Error::from_failure(failure, "reading", path);
    let stat = match stat {
        Ok(stat) if stat.kind == FileKind::File => stat,
        Ok(_) => return through_links(host, place, path).await,
        Err(failure) => {
            return match failure.code {
                FailureCode::NotFound | FailureCode::NotADirectory => Ok(Look::Absent),
                _ => Err(failed(&failure)),
            };
        }
    };
    let length = FILE_MAX_BYTES.saturating_add(1);
    let bytes = host.read(&file, Some(&place.directory), length).await;
    host.stop_if_cancelled()?;
    match bytes {
        Ok(bytes) => Ok(current(path, file, path.to_owned(), bytes, stat.mode)),
        Err(failure) => match failure.code {
            FailureCode::NotFound => Ok(Look::Absent),
            // A folder on the way is a link.
            FailureCode::Loop => through_links(host, place, path).await,
            _ => Err(failed(&failure)),
        },
    }
}

/// Whether what has a name in the store is one of these: hashes, none for nothing.
pub(crate) async fn is_one_of(
    host: &Host,
    place: &Place,
    path: &str,
    wanted: &[Option<String>],
) -> Result<bool, Error> {
    let found = match look(host, place, path).await? {
        Look::Absent => None,
        Look::File(current) | Look::NoText(current, _) => Some(hash(&current.bytes)),
        Look::Refused(_) => return Ok(false),
    };
    Ok(wanted.contains(&found))
}

/// A link to a file of the store is written through; it stays a link.
async fn through_links(host: &Host, place: &Place, path: &str) -> Result<Look, Error> {
    let located = read::locate(place, host, path).await;
    host.stop_if_cancelled()?;
    let (file, stat) = match located {
        Ok(located) => located,
        Err(error) => {
            let nothing = error.code == ErrorCode::NotFound;
            let refused = matches!(
                error.code,
                ErrorCode::LinkOutside
                    | ErrorCode::PathOutsideStore
                    | ErrorCode::IsADirectory
                    | ErrorCode::Unsupported
                    | ErrorCode::Loop
            );
            return if nothing {
                let message = format!("{path} is a link to nothing; remove it");
                Ok(Look::Refused(
                    Error::new(ErrorCode::LinkOutside, message).at(path),
                ))
            } else if refused {
                Ok(Look::Refused(error))
            } else {
                Err(error)
            };
        }
    };
    let within = Some(place.directory.as_str());
    let bytes = host
        .read(&file, within, FILE_MAX_BYTES.saturating_add(1))
        .await;
    host.stop_if_cancelled()?;
    let bytes = bytes.map_err(|failure| Error::from_failure(&failure, "reading", path))?;
    let real = place.relative(&file).unwrap_or_else(|| path.to_owned());
    Ok(current(path, file, real, bytes, stat.mode))
}

fn current(path: &str, file: String, real: String, bytes: Vec<u8>, mode: Option<u32>) -> Look {
    if bytes.len() as u64 > FILE_MAX_BYTES {
        let message = format!("{path} is larger than {FILE_MAX_BYTES} bytes; split it up");
        return Look::Refused(Error::new(ErrorCode::TooLarge, message).at(path));
    }
    let read = heads::into_text(bytes.clone(), true);
    let mut current = Current {
        file,
        path: real,
        bytes,
        text: String::new(),
        mode: mode.map_or(FILE_MODE, |mode| mode & 0o777),
    };
    match read {
        Ok(text) => {
            current.text = text;
            Look::File(current)
        }
        Err((_, message)) => {
            let error = Error::new(ErrorCode::NotText, format!("{path} {message}"));
            Look::NoText(current, error.at(path))
        }
    }
}

/// One file with its new text.
pub(crate) struct Change {
    /// Relative to the store.
    pub path: String,
    /// As it was found; none for a new file.
    pub old: Option<Current>,
    pub new: String,
    /// Whether what it replaces is kept in any case, or only if another program has written to it
    /// meanwhile.
    pub keep: bool,
}

/// How a commit went: how many of the changes are on the disk, and why no more.
pub(crate) struct Committed {
    pub done: usize,
    pub end: Result<End, Error>,
}

/// Why a commit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Done,
    /// Another program was faster: look again.
    Changed,
    /// The lock is somebody else's by now: get it again.
    Lost,
}

/// Brings changes to the disk, in their order. It fails or stops only between renames: each file is
/// the old or the new one, whole.
pub(crate) async fn commit(
    host: &Host,
    lock: &Lock<'_>,
    place: &Place,
    changes: &[Change],
    now_ms: i64,
) -> Result<Committed, Error> {
    // Once everything is staged a cancellation changes nothing about what is on the disk.
    let shielded = host.shielded();
    let keeps = |change: &&Change| change.keep && change.old.is_some();
    let kept = changes.iter().filter(keeps).count();
    let trash = if kept > 0 {
        let trash = Trash::open(host, lock, now_ms).await;
        host.stop_if_cancelled()?;
        Some(trash.map_err(|failure| trash_failed(&failure))?)
    } else {
        None
    };
    let steps = changes.iter().map(|change| Step {
        change,
        staged: lock.staged(),
        backup: change.old.as_ref().map(|_| match &trash {
            Some(trash) if change.keep => trash.item(),
            _ => lock.kept(&change.path),
        }),
        done: false,
    });
    let mut commit = Commit {
        host: shielded,
        lock,
        place,
        trash: trash.as_ref(),
        steps: steps.collect(),
        now_ms,
    };
    let result = match commit.stage(host).await {
        Ok(()) => commit.replace().await,
        Err(error) => Err(error),
    };
    commit.clean().await;
    if let Some(trash) = &trash
        && result == Ok(End::Done)
    {
        trash.prune(&commit.host, kept).await;
    }
    Ok(Committed {
        done: commit.steps.iter().filter(|step| step.done).count(),
        end: result,
    })
}

struct Commit<'a> {
    host: Host,
    lock: &'a Lock<'a>,
    place: &'a Place,
    /// Where something is kept in any case.
    trash: Option<&'a Trash<'a>>,
    steps: Vec<Step<'a>>,
    now_ms: i64,
}

struct Step<'a> {
    change: &'a Change,
    /// Where the new content waits.
    staged: String,
    /// The second name of what is replaced.
    backup: Option<String>,
    done: bool,
}

impl Step<'_> {
    fn mode(&self) -> u32 {
        self.change.old.as_ref().map_or(FILE_MODE, |old| old.mode)
    }
}

impl Commit<'_> {
    fn within(&self) -> Option<&str> {
        self.lock.within()
    }

    /// Writes the new contents where nobody looks for them.
    async fn stage(&self, host: &Host) -> Result<(), Error> {
        for Step { change, .. } in &self.steps {
            if let (None, Some((folder, _))) = (&change.old, change.path.rsplit_once('/')) {
                let folder = self.place.path(folder);
                make_folder(host, &folder, self.within(), &change.path).await?;
            }
        }
        let writes = self.steps.iter().map(|step| {
            let content = Content::Text(step.change.new.clone());
            let flags = (step.mode(), true);
            host.write(&step.staged, self.within(), content, None, flags)
        });
        let kept = self.steps.iter().filter(|step| step.change.keep);
        let records: Vec<(&String, Record)> = kept
            .filter_map(|step| {
                let record = Record::replaced(&step.change.path, self.now_ms);
                Some((step.backup.as_ref()?, record))
            })
            .collect();
        let described = records.iter().filter_map(|(backup, record)| {
            let trash = self.trash?;
            Some(trash.describe(host, backup, record))
        });
        let (written, described) = join(join_all(writes), join_all(described)).await;
        host.stop_if_cancelled()?;
        for (result, step) in written.into_iter().zip(&self.steps) {
            result.map_err(|failure| failed(&failure, &step.change.path))?;
        }
        for result in described {
            result.map_err(|failure| trash_failed(&failure))?;
        }
        Ok(())
    }

    async fn replace(&mut self) -> Result<End, Error> {
        for step in &self.steps {
            if let (Some(old), Some(backup)) = (&step.change.old, &step.backup)
                && !self.keep(old, backup).await?
            {
                return Ok(End::Changed);
            }
        }
        // What is staged is there as long as the lock is held, so one look at it is enough.
        let held = self.lock.is_held(&self.host).await;
        if !held.map_err(|failure| failed(&failure, "the lock"))? {
            return Ok(End::Lost);
        }
        for number in 0..self.steps.len() {
            let renamed = self.rename(number).await?;
            if renamed != End::Done {
                return Ok(renamed);
            }
        }
        Ok(End::Done)
    }

    /// A second name for what is about to be replaced, so that what is written into it from now on is
    /// not lost either; a copy where files have one name only. False when it has gone meanwhile.
    async fn keep(&self, old: &Current, backup: &str) -> Result<bool, Error> {
        let mut kept = self.host.link(&old.file, backup, self.within()).await;
        if let Err(failure) = &kept
            && matches!(
                failure.code,
                FailureCode::Unsupported | FailureCode::CrossDevice
            )
        {
            let bytes = Content::Bytes(Bytes(old.bytes.clone()));
            let flags = (FILE_MODE, false);
            let write = self.host.write(backup, self.within(), bytes, None, flags);
            kept = write.await;
        }
        match kept {
            Ok(()) => Ok(true),
            Err(failure) if failure.code == FailureCode::NotFound => Ok(false),
            Err(failure) => Err(failed(&failure, &old.file)),
        }
    }

    async fn is_still(&self, file: &str, bytes: &[u8]) -> bool {
        let length = FILE_MAX_BYTES.saturating_add(1);
        let read = self.host.read(file, self.within(), length).await;
        read.is_ok_and(|read| read == bytes)
    }

    async fn rename(&mut self, number: usize) -> Result<End, Error> {
        let next = self.steps.get(number.saturating_add(1));
        let next = next.map(|step| folder(&step.change.path));
        let Some(step) = self.steps.get(number) else {
            return Ok(End::Done);
        };
        let change = step.change;
        let target = match &change.old {
            Some(old) => old.file.clone(),
            None => self.place.path(&change.path),
        };
        // A folder that the next rename is in too is synced with it.
        let sync = next != Some(folder(&change.path));
        let mut renamed = self.put(step, &step.staged, &target, sync).await;
        let mut beside = None;
        if let Some(Err(failure)) = &renamed
            && failure.code == FailureCode::CrossDevice
        {
            // Into a folder that lies on another disk: staged anew beside the target.
            let staged = self.stage_beside(step, &target).await;
            let staged = staged.map_err(|failure| failed(&failure, &change.path))?;
            let held = self.lock.is_held(&self.host).await;
            renamed = match held {
                Ok(true) => self.put(step, &staged, &target, true).await,
                Ok(false) => None,
                Err(failure) => Some(Err(failure)),
            };
            beside = Some(if matches!(renamed, Some(Ok(()))) {
                step.staged.clone()
            } else {
                staged
            });
        }
        if let Some(stale) = beside {
            let _ = self.host.remove(&stale, self.within()).await;
        }
        let Some(renamed) = renamed else {
            return Ok(End::Changed);
        };
        if let Err(failure) = renamed {
            return match failure.code {
                FailureCode::Exists => Ok(End::Changed),
                // Whoever has the lock now has removed what was staged.
                FailureCode::NotFound => Ok(End::Lost),
                _ => Err(failed(&failure, &change.path)),
            };
        }
        let within = self.within();
        if let (Some(old), Some(backup), false) = (&change.old, &step.backup, change.keep) {
            // Somebody may have written into it after the last look.
            if self.is_still(backup, &old.bytes).await {
                let _ = self.host.remove(backup, within).await;
            } else {
                self.lock
                    .settle(&self.host, backup, &change.path, self.now_ms)
                    .await;
            }
        }
        if let Some(step) = self.steps.get_mut(number) {
            step.done = true;
        }
        Ok(End::Done)
    }

    /// Renames what is staged to its place; none when another program has changed what is there. Between
    /// the last look and the rename no other effect comes.
    async fn put(
        &self,
        step: &Step<'_>,
        staged: &str,
        target: &str,
        sync: bool,
    ) -> Option<Result<(), Failure>> {
        if let Some(old) = &step.change.old
            && !self.is_still(target, &old.bytes).await
        {
            return None;
        }
        let replace = step.change.old.is_some();
        let rename = self
            .host
            .rename(staged, target, self.within(), replace, sync);
        Some(rename.await)
    }

    /// Writes the new content beside the target, and removes what dead writers have left there.
    async fn stage_beside(&self, step: &Step<'_>, target: &str) -> Result<String, Failure> {
        let within = self.within();
        let separator = self.lock.separator();
        if let Some((folder, _)) = target.rsplit_once(separator) {
            let listing = self.host.list(folder, within).await.unwrap_or_default();
            for entry in listing.entries {
                if entry.name.ends_with(TEMPORARY_ENDING) {
                    let stale = format!("{folder}{separator}{}", entry.name);
                    let _ = self.host.remove(&stale, within).await;
                }
            }
        }
        let beside = self.lock.beside(target);
        let content = Content::Text(step.change.new.clone());
        let flags = (step.mode(), true);
        let write = self.host.write(&beside, within, content, None, flags);
        write.await.map(|()| beside)
    }

    /// Removes what was made for changes that did not come.
    async fn clean(&self) {
        let mut made = Vec::new();
        for step in self.steps.iter().filter(|step| !step.done) {
            made.push(step.staged.clone());
            made.extend(step.backup.clone());
            if step.change.keep {
                made.extend(step.backup.as_deref().map(trash::record_of));
            }
        }
        join_all(
            made.iter()
                .map(|name| self.host.remove(name, self.within())),
        )
        .await;
    }
}

/// Makes the folder that something is to lie in.
pub(super) async fn make_folder(
    host: &Host,
    folder: &str,
    within: Option<&str>,
    path: &str,
) -> Result<(), Error> {
    let made = host.make_dir(folder, within, FOLDER_MODE).await;
    host.stop_if_cancelled()?;
    made.map_err(|failure| match failure.code {
        FailureCode::Exists => {
            let what = Failure::new(FailureCode::NotADirectory, "it lies in a file");
            failed(&what, path)
        }
        _ => failed(&failure, path),
    })
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The trash cannot be used; nothing is written without it.
pub(super) fn trash_failed(failure: &Failure) -> Error {
    let folder = format!("{OWN_FOLDER}/{TRASH_FOLDER}");
    if matches!(
        failure.code,
        FailureCode::Loop | FailureCode::NotADirectory | FailureCode::Exists
    ) {
        let message = format!(
            "{folder} is a link or a file; remove it, so that memdir can keep there what it replaces"
        );
        return Error::new(failure.code.into(), message).at(folder);
    }
    Error::from_failure(failure, "writing", &folder)
}

/// A link on the way is a matter of the path, not of the disk.
pub(super) fn failed(failure: &Failure, path: &str) -> Error {
    if failure.code == FailureCode::Loop {
        let message = format!("a folder on the way to {path} is a link; name a path without links");
        return Error::new(ErrorCode::LinkOutside, message).at(path);
    }
    Error::from_failure(failure, "writing", path)
}
