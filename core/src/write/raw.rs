//! Changes of files as they are, for tools that edit texts: under the same lock, with the same trash,
//! and what no other file may know of memdir's own.

use super::Next;
use super::commit::{Change, Committed, Look, commit, failed, look, make_folder};
use super::guard::{Readers, check_content, refusal_of_new};
use super::index::retarget;
use super::lock::Lock;
use super::result::{WriteResult, hash};
use super::target::{ABSENT, FOLDERS, check_expect, index_path, unexpected};
use crate::error::{Error, ErrorCode};
use crate::flow::{FailureCode, FileKind, Host, join};
use crate::limits::FILE_MAX_BYTES;
use crate::paths::check_relative;
use crate::report::ReportEntry;
use crate::store::{Found, Place};

/// What becomes of a text; the second text is the answer to whoever asked for it.
pub(crate) type TextEdit =
    Box<dyn Fn(Option<&str>) -> Result<(String, String), Error> + Send + Sync>;

/// One file that is made or changed.
pub(crate) struct Put {
    pub path: String,
    pub edit: TextEdit,
    /// What the edit answered.
    pub answer: String,
    /// The text that the file has now.
    pub written: String,
    /// Whether what is replaced goes to the trash.
    keep: bool,
    /// `absent`, or the hash of what is to be changed; nothing is written when it is not so, unless what is
    /// there is what would be written.
    expect: Option<String>,
    /// Whether the text was there before, so that nobody is shown what he was not shown already.
    is_return: bool,
}

impl Put {
    /// # Errors
    /// What makes it refused before anything is looked at.
    pub fn new(path: String, edit: TextEdit, place: &Place) -> Result<Self, Error> {
        check_relative(&path, place.platform)?;
        Ok(Self {
            path,
            edit,
            answer: String::new(),
            written: String::new(),
            keep: true,
            expect: None,
            is_return: false,
        })
    }

    /// The same for what is to become of the file with this hash; none where there is to be none yet.
    ///
    /// # Errors
    /// What makes it refused before anything is looked at.
    pub fn expecting(
        path: String,
        edit: TextEdit,
        hash: Option<String>,
        place: &Place,
    ) -> Result<Self, Error> {
        let expect = Some(hash.unwrap_or_else(|| ABSENT.to_owned()));
        check_expect(expect.as_deref())?;
        Ok(Self {
            expect,
            ..Self::new(path, edit, place)?
        })
    }

    /// The same for a text that the file had before, whatever would be said of it today.
    ///
    /// # Errors
    /// What makes it refused before anything is looked at.
    pub fn returning(
        path: String,
        edit: TextEdit,
        hash: Option<String>,
        place: &Place,
    ) -> Result<Self, Error> {
        Ok(Self {
            is_return: true,
            ..Self::expecting(path, edit, hash, place)?
        })
    }

    /// The same for a file that only grows: nothing of it is replaced.
    ///
    /// # Errors
    /// What makes it refused before anything is looked at.
    pub fn unkept(path: String, edit: TextEdit, place: &Place) -> Result<Self, Error> {
        Ok(Self {
            keep: false,
            ..Self::new(path, edit, place)?
        })
    }

    pub(super) async fn attempt(&mut self, host: &Host, lock: &Lock<'_>) -> Result<Next, Error> {
        let place = lock.found().place();
        let path = self.path.clone();
        let refused =
            |error: Error| Ok(Next::Done(WriteResult::refused(Some(&path), &place, error)));
        let old = match look(host, &place, &path).await? {
            Look::Refused(error) => return refused(error),
            Look::NoText(current, error) => {
                let expect = self.expect.as_deref();
                return match unexpected(expect, &path, &place, Some(&current)) {
                    Some(result) => Ok(Next::Done(result)),
                    None => refused(error),
                };
            }
            Look::Absent => None,
            Look::File(current) => Some(current),
        };
        let now = host.now().await;
        host.stop_if_cancelled()?;
        let text = old.as_ref().map(|old| old.text.as_str());
        let (content, answer) = match (self.edit)(text) {
            Ok(edited) => edited,
            Err(error) => return refused(error.at(&path)),
        };
        let is_there = text == Some(content.as_str());
        let expect = self.expect.as_deref().filter(|_| !is_there);
        if let Some(result) = unexpected(expect, &path, &place, old.as_ref()) {
            return Ok(Next::Done(result));
        }
        // A link is written through: what counts is where that is.
        let real = old.as_ref().map_or(&path, |old| &old.path);
        let checked = match self.is_return {
            true => Ok(Vec::new()),
            false => check(host, lock.found(), &path, real, &content, old.is_none()).await?,
        };
        let report = match checked {
            Ok(report) => report,
            Err(error) => return refused(error.at(&path)),
        };
        self.answer = answer;
        self.written = content.clone();
        let mut result = WriteResult::at(&path, &place, Some(hash(content.as_bytes())));
        result.report = report;
        if is_there {
            return Ok(Next::Done(result));
        }
        result.created = old.is_none();
        let change = Change {
            path: path.clone(),
            old,
            new: content,
            keep: self.keep,
        };
        let now_ms = now.map_or(0, |now| now.ms);
        let Committed { end, .. } = commit(host, lock, &place, &[change], now_ms).await?;
        if let Some(again) = end?.again() {
            return Ok(again);
        }
        Ok(Next::Done(result.written()))
    }
}

/// What a text that a file is to have must not be, and what its reader will complain about. `real` is where the
/// file lies.
async fn check(
    host: &Host,
    found: &Found,
    path: &str,
    real: &str,
    content: &str,
    is_new: bool,
) -> Result<Result<Vec<ReportEntry>, Error>, Error> {
    if content.len() as u64 > FILE_MAX_BYTES {
        let message = format!("{path} would have more than {FILE_MAX_BYTES} bytes; split it up");
        return Ok(Err(Error::new(ErrorCode::TooLarge, message)));
    }
    // It would be no text afterwards.
    if content.contains('\0') {
        let message = "the text holds a NUL character; remove it";
        return Ok(Err(Error::new(ErrorCode::InvalidText, message)));
    }
    if is_new && let Some(error) = refusal_of_new(host, &found.place(), path, None).await? {
        return Ok(Err(error));
    }
    Ok(check_content(path, content, Readers::of(real, found)))
}

/// The same for a text that nobody writes yet.
///
/// # Errors
/// Why it would be refused.
pub(crate) async fn check_draft(
    host: &Host,
    found: &Found,
    path: &str,
    content: &str,
    is_new: bool,
) -> Result<Vec<ReportEntry>, Error> {
    let place = found.place();
    check_relative(path, place.platform)?;
    let real = match look(host, &place, path).await? {
        Look::Refused(error) | Look::NoText(_, error) => return Err(error),
        Look::Absent => path.to_owned(),
        Look::File(current) => current.path,
    };
    check(host, found, path, &real, content, is_new).await?
}

/// A file or a folder that gets another name; the lines of the indexes follow.
pub(crate) struct Move {
    from: String,
    to: String,
}

impl Move {
    /// # Errors
    /// What makes it refused before anything is looked at.
    pub fn new(from: String, to: String, place: &Place) -> Result<Self, Error> {
        check_relative(&from, place.platform)?;
        check_relative(&to, place.platform)?;
        Ok(Self { from, to })
    }

    pub(super) fn paths(&self) -> Vec<String> {
        vec![self.from.clone(), self.to.clone()]
    }

    pub(super) async fn attempt(&mut self, host: &Host, lock: &Lock<'_>) -> Result<Next, Error> {
        let place = lock.found().place();
        let (old, new) = (place.path(&self.from), place.path(&self.to));
        let refused = |code, message: String| {
            let error = Error::new(code, message).at(&self.from);
            Ok(Next::Done(WriteResult::refused(
                Some(&self.from),
                &place,
                error,
            )))
        };
        if self.to.starts_with(&format!("{}/", self.from)) {
            let message = format!(
                "{} lies in {} itself; choose a place beside it",
                self.to, self.from
            );
            return refused(ErrorCode::InvalidArgument, message);
        }
        let (from, to) = join(host.lstat(&old), host.lstat(&new)).await;
        host.stop_if_cancelled()?;
        let from = match from {
            Ok(stat) => stat,
            Err(failure) if failure.code == FailureCode::NotFound => {
                return refused(ErrorCode::NotFound, format!("there is no {}", self.from));
            }
            Err(failure) => return Err(failed(&failure, &self.from)),
        };
        // Where case does not count the new name leads to the old file.
        let same = to.as_ref().is_ok_and(|to| {
            self.from != self.to
                && self.from.to_lowercase() == self.to.to_lowercase()
                && to.inode.is_some()
                && to.inode == from.inode
        });
        if to.is_ok() && !same {
            let message = format!(
                "there is a {} already; remove it first or choose another name",
                self.to
            );
            return refused(ErrorCode::Exists, message);
        }
        let readers = Readers::of(&self.to, lock.found());
        let are_new = readers != Readers::of(&self.from, lock.found());
        // Each file would have to be looked at before teammates see it.
        let into_team = readers == Readers::Team && are_new;
        if from.kind != FileKind::File && into_team {
            let message = format!(
                "{} is no file; move its files to the team one by one",
                self.from
            );
            return refused(ErrorCode::InvalidArgument, message);
        }
        let leaving = Some(self.from.as_str());
        if let Some(error) = refusal_of_new(host, &place, &self.to, leaving).await? {
            return refused(error.code, error.message);
        }
        if from.kind == FileKind::File && are_new {
            let checked = match look(host, &place, &self.from).await? {
                Look::File(current) => check_content(&self.to, &current.text, readers).map(|_| ()),
                // What cannot be looked at is not shown to others.
                Look::NoText(_, error) | Look::Refused(error) if into_team => Err(error),
                _ => Ok(()),
            };
            if let Err(error) = checked {
                return refused(error.code, error.message);
            }
        }
        if let Some((folder, _)) = self.to.rsplit_once('/') {
            let folder = place.path(folder);
            make_folder(host, &folder, lock.within(), &self.to).await?;
        }
        let host = &host.shielded();
        let held = lock.is_held(host).await;
        if !held.map_err(|failure| failed(&failure, "the lock"))? {
            return Ok(Next::Lost);
        }
        let renamed = host.rename(&old, &new, lock.within(), same, true).await;
        match renamed {
            Ok(()) => {}
            Err(failure) if matches!(failure.code, FailureCode::Exists | FailureCode::NotFound) => {
                return Ok(Next::Changed);
            }
            Err(failure) => return Err(failed(&failure, &self.to)),
        }
        let mut result = WriteResult::at(&self.to, &place, None).written();
        result.created = true;
        result.index_changed = self.follow(host, lock, &place).await?;
        Ok(Next::Done(result))
    }

    /// Lets the lines of the indexes lead to the new place. What cannot be done is left to lint.
    async fn follow(&self, host: &Host, lock: &Lock<'_>, place: &Place) -> Result<bool, Error> {
        let mut done = false;
        for folder in FOLDERS {
            let index = index_path(folder);
            let Look::File(current) = look(host, place, index).await? else {
                continue;
            };
            let text = retarget(&current.text, folder, &self.from, &self.to);
            if text == current.text {
                continue;
            }
            let change = Change {
                path: index.to_owned(),
                old: Some(current),
                new: text,
                keep: false,
            };
            let committed = commit(host, lock, place, &[change], 0).await?;
            done |= committed.done > 0;
            committed.end?;
        }
        Ok(done)
    }
}
