//! Who may dream (facts 7.2): `.consolidate-lock` in the store, which Claude Code reads and writes too. Its body is
//! the process that dreams, its modification time when the last one succeeded. While one is under way that is when it
//! began; what it was before is kept in a file of our own ([`Before`]), for whoever comes after a crash.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::flow::{Content, Failure, FailureCode, FileKind, Host};
use crate::limits::{
    DREAM_BEFORE_NAME, DREAM_LOCK_MAX_MS, DREAM_LOCK_NAME, FILE_MODE, FOLDER_MODE, LOCK_MAX_BYTES,
    TEMPORARY_ENDING, TOKEN_BYTES,
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

/// What the lock said before somebody took it. It is there from before that until the dream has ended, so whoever
/// finds it beside a lock that nobody holds knows that the time of that lock is no success.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Before {
    /// The text of the lock while it is held.
    body: String,
    /// When it was taken.
    at_ms: i64,
    /// When the last one succeeded; null when none had.
    prior_ms: Option<i64>,
}

impl Before {
    /// Whether it is about this lock, which Claude Code may have taken since, even under the same number. A failure
    /// empties the lock before it sets its time back.
    fn is_about(&self, body: &str, mtime_ms: i64) -> bool {
        let body = body.trim();
        (body.is_empty() || body == self.body)
            && mtime_ms.saturating_sub(self.at_ms).unsigned_abs() < DREAM_LOCK_MAX_MS
    }
}

/// The lock, and what it is set back to when the dream fails.
#[derive(Debug)]
pub(crate) struct Held<'a> {
    found: &'a Found,
    before: Before,
}

/// What came of asking for the lock.
#[derive(Debug)]
pub(crate) enum Taken<'a> {
    Held(Held<'a>),
    /// Another one has it.
    Busy,
}

fn file(found: &Found) -> String {
    found
        .platform
        .join(&found.opened.directory, DREAM_LOCK_NAME)
}

fn own_file(found: &Found) -> String {
    own::own_path(found.platform, &found.opened.directory, DREAM_BEFORE_NAME)
}

/// When the last one succeeded; none when none has.
pub(crate) async fn last_success(
    host: &Host,
    found: &Found,
    now_ms: i64,
) -> Result<Option<i64>, Error> {
    let Some(mtime_ms) = mtime(host, found).await? else {
        return Ok(None);
    };
    // The second look, and the last unless one is under way or has crashed.
    let stat = host.lstat(&own_file(found)).await;
    host.stop_if_cancelled()?;
    if !stat.is_ok_and(|stat| stat.kind == FileKind::File) {
        return Ok(Some(mtime_ms));
    }
    let (body, is_held) = look(host, found, (now_ms, mtime_ms)).await?;
    if is_held {
        return Ok(Some(mtime_ms));
    }
    prior(host, found, &body, mtime_ms).await
}

/// The lock's modification time; none when there is no lock.
async fn mtime(host: &Host, found: &Found) -> Result<Option<i64>, Error> {
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

/// The lock's text, and whether another one is under way.
async fn look(
    host: &Host,
    found: &Found,
    (now_ms, mtime_ms): (i64, i64),
) -> Result<(String, bool), Error> {
    let body = body(host, found).await?.unwrap_or_default();
    let alive = match process(&body) {
        None | Some(0) => None,
        Some(pid) => host.process_alive(pid).await.ok(),
    };
    host.stop_if_cancelled()?;
    let look = LockLook {
        now_ms,
        mtime_ms,
        body,
        alive,
    };
    let is_held = lock_is_held(&look);
    Ok((look.body, is_held))
}

/// When the last one succeeded before a lock that nobody holds; its own time when nothing else is known.
async fn prior(
    host: &Host,
    found: &Found,
    body: &str,
    mtime_ms: i64,
) -> Result<Option<i64>, Error> {
    let before = before(host, found).await;
    host.stop_if_cancelled()?;
    Ok(
        match before.filter(|before| before.is_about(body, mtime_ms)) {
            Some(before) => before.prior_ms,
            None => Some(mtime_ms),
        },
    )
}

async fn before(host: &Host, found: &Found) -> Option<Before> {
    let within = Some(found.opened.directory.as_str());
    let bytes = host.read(&own_file(found), within, LOCK_MAX_BYTES).await;
    serde_json::from_slice(&bytes.ok()?).ok()
}

/// Whether a dream is under way, as far as it can be told.
///
/// # Errors
/// What the disk gave.
pub(crate) async fn is_under_way(host: &Host, found: &Found) -> Result<bool, Error> {
    let Some(mtime_ms) = mtime(host, found).await? else {
        return Ok(false);
    };
    let now = host.now().await;
    host.stop_if_cancelled()?;
    let now = now.map_err(|failure| Error::from_failure(&failure, "asking for", "the time"))?;
    Ok(look(host, found, (now.ms, mtime_ms)).await?.1)
}

/// Takes the lock.
///
/// # Errors
/// What the disk gave.
pub(crate) async fn take<'a>(host: &Host, found: &'a Found) -> Result<Taken<'a>, Error> {
    let directory = &found.opened.directory;
    let mtime_ms = mtime(host, found).await?;
    let now = host.now().await;
    host.stop_if_cancelled()?;
    let now = now.map_err(|failure| Error::from_failure(&failure, "asking for", "the time"))?;
    let prior_ms = match mtime_ms {
        None => None,
        Some(mtime_ms) => {
            let (body, is_held) = look(host, found, (now.ms, mtime_ms)).await?;
            if is_held {
                return Ok(Taken::Busy);
            }
            prior(host, found, &body, mtime_ms).await?
        }
    };
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
        found,
        before: Before {
            body: pid.to_string(),
            at_ms: now.ms,
            prior_ms,
        },
    };
    // From here on it is ours, whoever cancels.
    let shielded = host.shielded();
    held.keep_before(&shielded)
        .await
        .map_err(|failure| failed(&failure))?;
    if let Err(failure) = held.write(&shielded, &held.before.body).await {
        held.forget_before(&shielded).await;
        return Err(failed(&failure));
    }
    // Whoever wrote last has it.
    match held.read(&shielded).await {
        Ok(body) if body == held.before.body => {}
        Ok(_) => return Ok(Taken::Busy),
        Err(failure) if is_missing(&failure) => return Ok(Taken::Busy),
        Err(failure) => {
            held.give_back(host).await;
            return Err(failed(&failure));
        }
    }
    // Who has lost may have kept its own later.
    if before(&shielded, found).await.as_ref() != Some(&held.before) {
        // A crash would cost a day, and nothing else.
        let _ = held.keep_before(&shielded).await;
    }
    if let Err(error) = host.stop_if_cancelled() {
        held.give_back(host).await;
        return Err(error);
    }
    Ok(Taken::Held(held))
}

impl Held<'_> {
    fn directory(&self) -> &str {
        &self.found.opened.directory
    }

    async fn write(&self, host: &Host, body: &str) -> Result<(), Failure> {
        let content = Content::Text(body.to_owned());
        // Without a random source the name is not made when it is there already.
        let token = own::hex(&host.random(TOKEN_BYTES).await.unwrap_or_default());
        // Among our own files, the next writer removes what was left behind.
        let via = own::own_path(
            self.found.platform,
            self.directory(),
            &format!("{DREAM_LOCK_NAME}.{token}{TEMPORARY_ENDING}"),
        );
        let within = Some(self.directory());
        let how = (FILE_MODE, false);
        host.write(&file(self.found), within, content, Some(via), how)
            .await
    }

    async fn read(&self, host: &Host) -> Result<String, Failure> {
        let within = Some(self.directory());
        let bytes = host.read(&file(self.found), within, LOCK_MAX_BYTES).await?;
        Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    async fn keep_before(&self, host: &Host) -> Result<(), Failure> {
        let json = serde_json::to_string(&self.before).unwrap_or_default();
        own::replace(host, self.found, DREAM_BEFORE_NAME, Content::Text(json)).await
    }

    /// What is not removed must not be believed.
    async fn forget_before(&self, host: &Host) {
        let within = Some(self.directory());
        match host.remove(&own_file(self.found), within).await {
            Err(failure) if !is_missing(&failure) => {
                let nothing = Content::Text(String::new());
                let _ = own::replace(host, self.found, DREAM_BEFORE_NAME, nothing).await;
            }
            _ => {}
        }
    }

    /// Whether somebody else has it by now or has had it since, as after an hour.
    async fn is_lost(&self, host: &Host) -> bool {
        let is_lost = self
            .read(host)
            .await
            .is_ok_and(|body| body != self.before.body);
        if is_lost && before(host, self.found).await.as_ref() == Some(&self.before) {
            self.forget_before(host).await;
        }
        is_lost
    }

    /// The dream has succeeded: from now on its time counts, and nobody is in its way.
    pub async fn succeed(&self, host: &Host) {
        let host = host.shielded();
        if !self.is_lost(&host).await {
            // First, so that at no time both say that it has failed.
            self.forget_before(&host).await;
            let _ = self.write(&host, "").await;
        }
    }

    /// The dream has failed: the next one need not wait. Best effort.
    pub async fn give_back(&self, host: &Host) {
        let host = host.shielded();
        if self.is_lost(&host).await {
            return;
        }
        let file = file(self.found);
        let given = match self.before.prior_ms {
            None => host.remove(&file, Some(self.directory())).await,
            Some(prior_ms) => {
                let _ = self.write(&host, "").await;
                host.set_mtime(&file, prior_ms).await
            }
        };
        // Where the time cannot be set, what is kept says it.
        if given.is_ok() {
            self.forget_before(&host).await;
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
