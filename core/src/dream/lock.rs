//! Who may dream (facts 7.2): `.consolidate-lock` in the store, which Claude Code reads and writes too. Its body is
//! the process that dreams, its modification time when the last one succeeded.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::flow::{Content, Failure, FailureCode, FileKind, Host};
use crate::limits::{
    DREAM_LOCK_MAX_MS, DREAM_LOCK_NAME, FILE_MODE, FOLDER_MODE, LOCK_MAX_BYTES, TEMPORARY_ENDING,
    TOKEN_BYTES,
};
use crate::store::{Found, own};

/// What was seen of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LockLook {
    /// Now, milliseconds since the epoch.
    pub now_ms: i64,
    /// Its modification time.
    pub mtime_ms: i64,
    /// Its text.
    pub body: String,
    /// Whether the process lives that the body names; null where that cannot be told.
    #[serde(default)]
    pub alive: Option<bool>,
}

/// Whether another one is under way: the file is younger than an hour, names a process, and that lives.
/// Where nobody can tell, it is held to live. An older file is free even so: the number may be another
/// process's by now. One that lies as far ahead is as strange.
#[must_use]
pub fn lock_is_held(look: &LockLook) -> bool {
    let age = look.now_ms.saturating_sub(look.mtime_ms);
    process(&look.body).is_some()
        && age.unsigned_abs() < DREAM_LOCK_MAX_MS
        && look.alive.unwrap_or(true)
}

/// The number in a body. Hosts without processes write 0.
fn process(body: &str) -> Option<u32> {
    body.trim().parse().ok()
}

/// The lock, and what it is set back to when the dream fails.
#[derive(Debug)]
pub(crate) struct Held {
    file: String,
    /// The same name among memdir's own files.
    beside: String,
    directory: String,
    /// Its text while it is held.
    body: String,
    /// When the last one succeeded; none when none has.
    prior_ms: Option<i64>,
}

/// What came of asking for the lock.
#[derive(Debug)]
pub(crate) enum Taken {
    Held(Held),
    /// Another one has it.
    Busy,
}

fn file(found: &Found) -> String {
    found
        .platform
        .join(&found.opened.directory, DREAM_LOCK_NAME)
}

/// When the last one succeeded; none when none has.
pub(crate) async fn last_success(host: &Host, found: &Found) -> Result<Option<i64>, Error> {
    let stat = host.lstat(&file(found)).await;
    host.stop_if_cancelled()?;
    match stat {
        Ok(stat) if stat.kind == FileKind::File => Ok(Some(stat.mtime_ms)),
        // A link would lead elsewhere, and nobody dreams behind it.
        Ok(_) => Ok(None),
        Err(failure) if is_missing(&failure) => Ok(None),
        Err(failure) => Err(failed(&failure)),
    }
}

/// Takes the lock.
///
/// # Errors
/// What the disk gave.
pub(crate) async fn take(host: &Host, found: &Found) -> Result<Taken, Error> {
    let directory = &found.opened.directory;
    let path = file(found);
    let prior_ms = last_success(host, found).await?;
    let now = host.now().await;
    host.stop_if_cancelled()?;
    let now = now.map_err(|failure| Error::from_failure(&failure, "asking for", "the time"))?;
    if let Some(mtime_ms) = prior_ms {
        let body = body(host, found).await?.unwrap_or_default();
        let alive = match process(&body) {
            None | Some(0) => None,
            Some(pid) => host.process_alive(pid).await.ok(),
        };
        host.stop_if_cancelled()?;
        let look = LockLook {
            now_ms: now.ms,
            mtime_ms,
            body,
            alive,
        };
        if lock_is_held(&look) {
            return Ok(Taken::Busy);
        }
    }
    let made = host.make_dir(directory, None, FOLDER_MODE).await;
    host.stop_if_cancelled()?;
    made.map_err(|failure| failed(&failure))?;
    let prepared = own::prepare(host, found).await;
    host.stop_if_cancelled()?;
    prepared.map_err(|failure| failed(&failure))?;
    let info = host.host_info().await;
    host.stop_if_cancelled()?;
    let pid = info.ok().and_then(|info| info.pid).unwrap_or(0);
    let held = Held {
        file: path,
        beside: own::own_path(found.platform, directory, DREAM_LOCK_NAME),
        directory: directory.clone(),
        body: pid.to_string(),
        prior_ms,
    };
    // From here on it is ours, whoever cancels.
    let shielded = host.shielded();
    held.write(&shielded, &held.body)
        .await
        .map_err(|failure| failed(&failure))?;
    // Whoever wrote last has it.
    match held.read(&shielded).await {
        Ok(body) if body == held.body => {}
        Ok(_) => return Ok(Taken::Busy),
        Err(failure) if is_missing(&failure) => return Ok(Taken::Busy),
        Err(failure) => {
            held.give_back(host).await;
            return Err(failed(&failure));
        }
    }
    if let Err(error) = host.stop_if_cancelled() {
        held.give_back(host).await;
        return Err(error);
    }
    Ok(Taken::Held(held))
}

impl Held {
    async fn write(&self, host: &Host, body: &str) -> Result<(), Failure> {
        let content = Content::Text(body.to_owned());
        let within = Some(self.directory.as_str());
        // Without a random source the name is not made when it is there already.
        let token = own::hex(&host.random(TOKEN_BYTES).await.unwrap_or_default());
        // Among our own files, the next writer removes what was left behind.
        let via = format!("{}.{token}{TEMPORARY_ENDING}", self.beside);
        host.write(&self.file, within, content, Some(via), (FILE_MODE, false))
            .await
    }

    async fn read(&self, host: &Host) -> Result<String, Failure> {
        let within = Some(self.directory.as_str());
        let bytes = host.read(&self.file, within, LOCK_MAX_BYTES).await?;
        Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// Whether somebody else has it by now, as after an hour.
    async fn is_lost(&self, host: &Host) -> bool {
        let body = self.read(host).await;
        body.is_ok_and(|body| process(&body).is_some() && body != self.body)
    }

    /// The dream has succeeded: from now on its time counts, and nobody is in its way.
    pub async fn succeed(&self, host: &Host) {
        let host = host.shielded();
        if !self.is_lost(&host).await {
            let _ = self.write(&host, "").await;
        }
    }

    /// The dream has failed: the next one need not wait. Best effort.
    pub async fn give_back(&self, host: &Host) {
        let host = host.shielded();
        if self.is_lost(&host).await {
            return;
        }
        match self.prior_ms {
            None => {
                let _ = host.remove(&self.file, Some(&self.directory)).await;
            }
            Some(prior_ms) => {
                let _ = self.write(&host, "").await;
                let _ = host.set_mtime(&self.file, prior_ms).await;
            }
        }
    }
}

async fn body(host: &Host, found: &Found) -> Result<Option<String>, Error> {
    let within = Some(found.opened.directory.as_str());
    let bytes = host.read(&file(found), within, LOCK_MAX_BYTES).await;
    host.stop_if_cancelled()?;
    match bytes {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(failure) if is_missing(&failure) || failure.code == FailureCode::Loop => Ok(None),
        Err(failure) => Err(failed(&failure)),
    }
}

fn is_missing(failure: &Failure) -> bool {
    matches!(
        failure.code,
        FailureCode::NotFound | FailureCode::NotADirectory
    )
}

fn failed(failure: &Failure) -> Error {
    Error::from_failure(failure, "taking", DREAM_LOCK_NAME)
}
