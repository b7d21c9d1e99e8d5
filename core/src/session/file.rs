//! The file of the notes on the disk: made with its template, replaced as a whole and only while it is what was
//! seen, never through a link below the project's folder.

use crate::error::{Error, ErrorCode};
use crate::flow::{Content, FailureCode, FileKind, Host};
use crate::limits::{
    FILE_MAX_BYTES, FILE_MODE, FOLDER_MODE, SESSION_FOLDER, SESSION_NAME, TEMPORARY_ENDING,
    TEMPORARY_MAX_AGE_MS, TOKEN_BYTES,
};
use crate::paths::Platform;
use crate::store::into_text;
use crate::store::own::hex;

/// Where the notes of a session are.
#[derive(Clone, Debug)]
pub(crate) struct NotesFile {
    pub path: String,
    pub platform: Platform,
    folder: String,
    /// The folder of the project.
    within: String,
}

impl NotesFile {
    pub fn new(platform: Platform, project: &str, session: &str) -> Self {
        let folder = platform.join(project, &format!("{session}/{SESSION_FOLDER}"));
        Self {
            path: platform.join(&folder, SESSION_NAME),
            platform,
            folder,
            within: project.to_owned(),
        }
    }

    fn within(&self) -> Option<&str> {
        Some(&self.within)
    }

    /// The notes; none when there are none.
    ///
    /// # Errors
    /// `unsupported` for what is no regular file, `too-large`, `not-text`, or what reading gave.
    pub async fn read(&self, host: &Host) -> Result<Option<String>, Error> {
        let stat = host.lstat(&self.path).await;
        host.stop_if_cancelled()?;
        let stat = match stat {
            Ok(stat) => stat,
            Err(failure) if is_absent(failure.code) => return Ok(None),
            Err(failure) => return Err(Error::from_failure(&failure, "reading", &self.path)),
        };
        let refuse = |code, what: &str| {
            let message = format!("{} {what}", self.path);
            Err(Error::new(code, message).at(&self.path))
        };
        if stat.kind != FileKind::File {
            return refuse(ErrorCode::Unsupported, "is no regular file; remove it");
        }
        if stat.size > FILE_MAX_BYTES {
            let what = format!("has more than {FILE_MAX_BYTES} bytes; shorten it");
            return refuse(ErrorCode::TooLarge, &what);
        }
        let bytes = host.read(&self.path, self.within(), FILE_MAX_BYTES).await;
        host.stop_if_cancelled()?;
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(failure) if is_absent(failure.code) => return Ok(None),
            Err(failure) => return Err(Error::from_failure(&failure, "reading", &self.path)),
        };
        match into_text(bytes, true) {
            Ok(text) => Ok(Some(text)),
            Err((_, what)) => refuse(ErrorCode::NotText, what),
        }
    }

    /// Makes the folder, and the file with this text unless there is one already; whichever there is then.
    ///
    /// # Errors
    /// Those of [`Self::read`], or what writing gave.
    pub async fn create(&self, host: &Host, text: &str) -> Result<String, Error> {
        let failed = |failure| Error::from_failure(&failure, "making", &self.folder);
        // The way to it may be the user's own links.
        let made = host.make_dir(&self.within, None, FOLDER_MODE).await;
        host.stop_if_cancelled()?;
        made.map_err(failed)?;
        let made = host.make_dir(&self.folder, self.within(), FOLDER_MODE);
        let made = made.await;
        host.stop_if_cancelled()?;
        made.map_err(failed)?;
        self.clean(host).await?;
        match self.read(host).await? {
            Some(known) if !known.trim().is_empty() => Ok(known),
            known => {
                self.put(host, known.as_deref(), text).await?;
                // Somebody else may have been faster.
                Ok(self.read(host).await?.unwrap_or_default())
            }
        }
    }

    /// Puts a text in place of what was seen; false when that is not there any more.
    ///
    /// # Errors
    /// Those of [`Self::read`], or what writing gave.
    pub async fn put(&self, host: &Host, seen: Option<&str>, text: &str) -> Result<bool, Error> {
        let failed = |failure| Error::from_failure(&failure, "writing", &self.path);
        let token = host.random(TOKEN_BYTES).await;
        host.stop_if_cancelled()?;
        let token = hex(&token.map_err(failed)?);
        let staged = format!("{}.{token}{TEMPORARY_ENDING}", self.path);
        let content = Content::Text(text.to_owned());
        let flags = (FILE_MODE, true);
        let write = host.write(&staged, self.within(), content, None, flags);
        let written = write.await.map_err(failed);
        let cancelled = host.stop_if_cancelled();
        // From here on a cancellation changes nothing about what is on the disk.
        let shielded = host.shielded();
        let done = match (written, cancelled) {
            (Ok(()), Ok(())) => self.rename(&shielded, &staged, seen).await,
            (Err(error), Ok(())) | (_, Err(error)) => Err(error),
        };
        if done != Ok(true) {
            let _ = shielded.remove(&staged, self.within()).await;
        }
        done
    }

    /// Between the last look and the rename no other effect comes.
    async fn rename(&self, host: &Host, staged: &str, seen: Option<&str>) -> Result<bool, Error> {
        if self.read(host).await?.as_deref() != seen {
            return Ok(false);
        }
        let replace = seen.is_some();
        let rename = host.rename(staged, &self.path, self.within(), replace, true);
        match rename.await {
            Ok(()) => Ok(true),
            Err(failure) if failure.code == FailureCode::Exists && !replace => Ok(false),
            Err(failure) => Err(Error::from_failure(&failure, "writing", &self.path)),
        }
    }

    /// Removes what writers have left that did not come to their end. Best effort.
    async fn clean(&self, host: &Host) -> Result<(), Error> {
        let listing = host.list(&self.folder, self.within()).await;
        let entries = listing.unwrap_or_default().entries;
        let mut left = entries.iter().filter_map(|entry| {
            let stat = entry.stat.as_ref()?;
            let is_left = entry.name.ends_with(TEMPORARY_ENDING);
            is_left.then_some((&entry.name, stat.mtime_ms))
        });
        if let Some(first) = left.next() {
            let now = host.now().await;
            for (name, mtime_ms) in std::iter::once(first).chain(left) {
                // Somebody may be at a newer one.
                let age = now.as_ref().map(|now| now.ms.saturating_sub(mtime_ms));
                if age.is_ok_and(|age| age >= TEMPORARY_MAX_AGE_MS) {
                    let stale = self.platform.join(&self.folder, name);
                    let _ = host.remove(&stale, self.within()).await;
                }
            }
        }
        host.stop_if_cancelled()
    }
}

fn is_absent(code: FailureCode) -> bool {
    matches!(code, FailureCode::NotFound | FailureCode::NotADirectory)
}
