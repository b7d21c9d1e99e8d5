//! The lock of a store: one writer at a time among all that use memdir (design, "Our own files").
//!
//! It is a file with a token. Whoever holds it stages what is to be written under names with that
//! token, checks that the lock is still theirs, and renames. Whoever gets it removes what others have
//! staged before looking at anything: so a writer that was taken for dead and wakes up in the middle
//! finds nothing to rename, and neither writes over what came after it.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::commit::End;
use super::trash::{Record, Trash};
use crate::error::{Error, ErrorCode};
use crate::flow::{Bytes, Content, Failure, FailureCode, FileKind, Host, HostInfo, Listing, join};
use crate::json::{self, Member};
use crate::limits::{
    FILE_MAX_BYTES, FILE_MODE, FOLDER_MODE, LOCK_FIRST_PAUSE_MS, LOCK_MAX_BYTES, LOCK_MAX_PAUSE_MS,
    LOCK_NAME, LOCK_TAKEOVER_MS, LOCK_WAIT_MS, OWN_FOLDER, QUEUE_MAX_PAUSE_MS, TEMPORARY_ENDING,
    TEMPORARY_MAX_AGE_MS, TOKEN_BYTES, TRASH_FOLDER, WRITE_ATTEMPTS,
};
use crate::store::Found;
use crate::store::own::{self, own_path};
use crate::text::{percent_decoded, quoted};

/// What staged files are called, before the token of their writer.
const STAGED: &str = "write-";
/// What a lock is called that is being taken away.
const ASIDE: &str = "lock.";
/// What the second names of files are called that are about to be replaced, and go to no trash.
const KEPT: &str = "kept-";
/// Bytes after which a path in such a name is cut: what file systems take, with room for the rest.
const KEPT_NAME_BYTES: usize = 150;

/// A lock that is held. It must be released.
pub(crate) struct Lock<'a> {
    found: &'a Found,
    body: Vec<u8>,
    token: String,
    /// Of the names that it has given.
    numbers: AtomicUsize,
}

/// What a lock that somebody else holds looks like: two equal looks are one holder.
type Seen = Result<Vec<u8>, FailureCode>;

impl<'a> Lock<'a> {
    /// Waits until the store can be written; makes its folder if there is none.
    ///
    /// # Errors
    /// `busy` after 30 s, `aborted`, or why no lock can be made here.
    pub async fn acquire(host: &Host, found: &'a Found) -> Result<Self, Error> {
        let (info, now) = join(host.host_info(), host.now()).await;
        let info = info.ok();
        let token = host.random(TOKEN_BYTES).await;
        host.stop_if_cancelled()?;
        let token = token.map_err(|failure| {
            Error::from_failure(&failure, "locking the store", &found.opened.directory)
        })?;
        let token = own::hex(&token);
        let lock = Self {
            found,
            body: body(&token, info.as_ref()),
            token,
            numbers: AtomicUsize::new(0),
        };
        let now_ms = now.map_or(0, |now| now.ms);
        let has_processes = info.as_ref().is_some_and(|info| info.pid.is_some());
        loop {
            lock.wait(host, info.as_ref()).await?;
            match lock.settle_in(host, now_ms, has_processes).await {
                Ok(End::Done) => return Ok(lock),
                // Taken over already.
                Ok(_) => {}
                Err(error) => {
                    lock.release(&host.shielded()).await;
                    return Err(error);
                }
            }
        }
    }

    async fn wait(&self, host: &Host, info: Option<&HostInfo>) -> Result<(), Error> {
        let mut prepared = false;
        let mut seen: Option<Seen> = None;
        let mut pauses = Pauses::default();
        let mut since = 0;
        loop {
            let failure = match self.create(host).await {
                Ok(()) => return Ok(()),
                Err(failure) => failure,
            };
            host.stop_if_cancelled()?;
            match failure.code {
                FailureCode::Exists => {}
                FailureCode::NotFound | FailureCode::NotADirectory if !prepared => {
                    prepared = true;
                    let made = self.make_folder(host).await;
                    host.stop_if_cancelled()?;
                    made.map_err(|failure| self.failed(&failure))?;
                    continue;
                }
                _ => return Err(self.failed(&failure)),
            }
            let look = self.look(host).await;
            host.stop_if_cancelled()?;
            if seen.as_ref() != Some(&look) {
                since = pauses.waited_ms;
            }
            let stale =
                pauses.waited_ms - since >= LOCK_TAKEOVER_MS || is_dead(host, info, &look).await;
            host.stop_if_cancelled()?;
            // Gone already, or taken away: the next try may do.
            let mut free = look == Err(FailureCode::NotFound);
            if stale && !free {
                let taken = self.take_away(&host.shielded(), &look).await;
                free = taken.map_err(|failure| self.failed(&failure))?;
            }
            seen = Some(look);
            if free {
                pauses.skip(&self.found.opened.directory)?;
            } else {
                pauses.sleep(host, &self.found.opened.directory).await?;
            }
        }
    }

    async fn create(&self, host: &Host) -> Result<(), Failure> {
        let content = Content::Bytes(crate::flow::Bytes(self.body.clone()));
        let path = self.path(LOCK_NAME);
        host.write(&path, self.within(), content, None, (FILE_MODE, false))
            .await
    }

    async fn make_folder(&self, host: &Host) -> Result<(), Failure> {
        let directory = &self.found.opened.directory;
        host.make_dir(directory, None, FOLDER_MODE).await?;
        own::make_folder(host, self.found).await
    }

    async fn look(&self, host: &Host) -> Seen {
        host.read(&self.path(LOCK_NAME), self.within(), LOCK_MAX_BYTES)
            .await
            .map_err(|failure| failure.code)
    }

    /// Two agents whose names give one folder may both have found it empty; the first one to write has it.
    async fn check_agent(&self, host: &Host) -> Result<(), Error> {
        let Some(agent) = &self.found.agent else {
            return Ok(());
        };
        let directory = &self.found.opened.directory;
        let recorded = own::recorded(host, self.found.platform, directory, "agent").await?;
        match recorded.filter(|name| *name != agent.name) {
            None => Ok(()),
            Some(other) => {
                let message = format!(
                    "{directory} belongs to the agent {} by now; open this agent's memory again",
                    quoted(&other)
                );
                Err(Error::new(ErrorCode::Exists, message).at(directory))
            }
        }
    }

    /// What a new holder does first.
    async fn settle_in(&self, host: &Host, now_ms: i64, has_processes: bool) -> Result<End, Error> {
        let listing = host.list(&self.path(""), self.within()).await;
        host.stop_if_cancelled()?;
        let listing = listing.map_err(|failure| self.failed(&failure))?;
        self.check_agent(host).await?;
        let is_there = |name: &str| listing.entries.iter().any(|entry| entry.name == name);
        let missing = own::furniture(self.found, has_processes).into_iter();
        let missing: Vec<_> = missing.filter(|(name, _)| !is_there(name)).collect();
        self.sweep(host, listing, now_ms).await?;
        for (name, content) in missing {
            let end = self.replace(host, name, content).await?;
            if end != End::Done {
                return Ok(end);
            }
        }
        Ok(End::Done)
    }

    /// Removes what other writers have staged, who no longer hold the lock, and what was left behind
    /// by those who died.
    async fn sweep(&self, host: &Host, listing: Listing, now_ms: i64) -> Result<(), Error> {
        for entry in listing.entries {
            let name = entry.name;
            let Some(stat) = entry.stat.filter(|_| name.ends_with(TEMPORARY_ENDING)) else {
                continue;
            };
            let path = self.path(&name);
            match stat.kind {
                FileKind::File => {}
                FileKind::Directory if name.starts_with(STAGED) => {
                    self.empty(host, &path).await?;
                    continue;
                }
                _ => continue,
            }
            if let Some(index) = kept_path(&name) {
                let current = self.found.place().path(&index);
                let length = FILE_MAX_BYTES;
                let (kept, current) = join(
                    host.read(&path, self.within(), length),
                    host.read(&current, self.within(), length),
                )
                .await;
                host.stop_if_cancelled()?;
                if kept != current {
                    self.settle(&host.shielded(), &path, &index, now_ms).await;
                    continue;
                }
            } else if !name.starts_with(STAGED) && !name.starts_with(ASIDE) {
                // Of somebody who needs no lock for it, and may be at it now.
                let age = now_ms.saturating_sub(stat.mtime_ms);
                if age < TEMPORARY_MAX_AGE_MS {
                    continue;
                }
            }
            let removed = host.remove(&path, self.within()).await;
            host.stop_if_cancelled()?;
            match removed {
                Err(failure) if failure.code != FailureCode::NotFound => {
                    return Err(self.failed(&failure));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Removes the folder through which a writer forgets. What it has taken belongs in the trash, where
    /// its record is already.
    async fn empty(&self, host: &Host, folder: &str) -> Result<(), Error> {
        // Until it is gone the writer may still put something into it.
        for _ in 0..WRITE_ATTEMPTS {
            let listing = host.list(folder, self.within()).await;
            host.stop_if_cancelled()?;
            for entry in listing.unwrap_or_default().entries {
                let file = format!("{folder}{}{}", self.separator(), entry.name);
                let place = self.path(&format!("{TRASH_FOLDER}/{}", entry.name));
                let moved = host
                    .rename(&file, &place, self.within(), false, false)
                    .await;
                host.stop_if_cancelled()?;
                // Nothing may be lost for want of a place.
                moved.map_err(|failure| self.failed(&failure))?;
            }
            let removed = host.remove(folder, self.within()).await;
            host.stop_if_cancelled()?;
            if !removed.is_err_and(|failure| failure.code == FailureCode::NotEmpty) {
                break;
            }
        }
        Ok(())
    }

    pub(super) fn separator(&self) -> char {
        self.found.platform.separator()
    }

    /// Moves the second name of an index, into which another program has written, to the trash. Where
    /// that cannot be done, the next lock tries again.
    pub(super) async fn settle(&self, host: &Host, kept: &str, index: &str, now_ms: i64) {
        if let Ok(trash) = Trash::open(host, self, now_ms).await {
            let item = trash.item();
            let record = Record::replaced(index, now_ms);
            if trash.describe(host, &item, &record).await.is_ok() {
                let _ = self.move_to(host, kept, &item).await;
            }
        }
    }

    /// Writes one of memdir's own files that change under the lock only.
    pub(super) async fn replace(
        &self,
        host: &Host,
        name: &str,
        text: String,
    ) -> Result<End, Error> {
        self.replace_file(host, name, &self.path(name), text).await
    }

    /// The same for a file anywhere in the store, on the same disk.
    pub(super) async fn replace_file(
        &self,
        host: &Host,
        name: &str,
        file: &str,
        text: String,
    ) -> Result<End, Error> {
        let failed = |failure| Error::from_failure(&failure, "writing", name);
        let (staged, content) = (self.staged(), Content::Text(text));
        let written = host
            .write(&staged, self.within(), content, None, (FILE_MODE, true))
            .await;
        written.map_err(failed)?;
        let host = &host.shielded();
        let end = match self.is_held(host).await {
            Ok(true) => {
                let renamed = host.rename(&staged, file, self.within(), true, true).await;
                match renamed {
                    Ok(()) => return Ok(End::Done),
                    Err(failure) if failure.code == FailureCode::NotFound => Ok(End::Lost),
                    Err(failure) => Err(failed(failure)),
                }
            }
            Ok(false) => Ok(End::Lost),
            Err(failure) => Err(failed(failure)),
        };
        let _ = host.remove(&staged, self.within()).await;
        end
    }

    /// Gives a file a free name, also on another disk: there it is copied beside its new place first.
    pub(super) async fn move_to(&self, host: &Host, from: &str, to: &str) -> Result<(), Failure> {
        let within = self.within();
        match host.rename(from, to, within, false, true).await {
            Err(failure) if failure.code == FailureCode::CrossDevice => {
                let length = FILE_MAX_BYTES.saturating_add(1);
                let bytes = host.read(from, within, length).await?;
                if bytes.len() as u64 > FILE_MAX_BYTES {
                    return Err(failure);
                }
                let (beside, content) = (self.beside(to), Content::Bytes(Bytes(bytes)));
                host.write(&beside, within, content, None, (FILE_MODE, true))
                    .await?;
                let moved = host.rename(&beside, to, within, false, true).await;
                let stale = if moved.is_ok() { from } else { &beside };
                let _ = host.remove(stale, within).await;
                moved
            }
            moved => moved,
        }
    }

    /// A name for something that is staged beside a file on another disk.
    pub(super) fn beside(&self, file: &str) -> String {
        format!("{file}.{}-{}{TEMPORARY_ENDING}", self.token, self.number())
    }

    /// Whether the lock is still this writer's.
    pub async fn is_held(&self, host: &Host) -> Result<bool, Failure> {
        match self.look(host).await {
            Ok(body) => Ok(body == self.body),
            Err(FailureCode::NotFound) => Ok(false),
            Err(code) => Err(Failure::new(code, "the lock cannot be read")),
        }
    }

    /// A name for something that this writer stages.
    pub(super) fn staged(&self) -> String {
        let number = self.number();
        self.path(&format!(
            "{STAGED}{}-{number}{TEMPORARY_ENDING}",
            self.token
        ))
    }

    /// A second name for a file that is about to be replaced; it says which.
    pub(super) fn kept(&self, path: &str) -> String {
        let (number, path) = (self.number(), kept_name(path));
        self.path(&format!(
            "{KEPT}{}-{number}-{path}{TEMPORARY_ENDING}",
            self.token
        ))
    }

    /// A number that this writer has not used yet.
    pub(super) fn number(&self) -> usize {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Something that no other writer has.
    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// Best effort: what stays is taken over. A lock that cannot be read is removed: should it be
    /// another's by now, that one notices before its next rename and begins again.
    pub async fn release(self, host: &Host) {
        if self.is_held(host).await != Ok(false) {
            let _ = host.remove(&self.path(LOCK_NAME), self.within()).await;
        }
    }

    pub fn found(&self) -> &'a Found {
        self.found
    }

    /// One of memdir's own files.
    pub fn path(&self, name: &str) -> String {
        own_path(self.found.platform, &self.found.opened.directory, name)
    }

    /// What no file of the store may lead out of.
    pub fn within(&self) -> Option<&'a str> {
        Some(&self.found.opened.directory)
    }

    /// Takes the lock away from a holder that is taken for dead. If it has changed hands meanwhile it
    /// is put back; should yet another writer have come in between, its holder notices before its
    /// next rename. Says whether something was moved away.
    async fn take_away(&self, host: &Host, seen: &Seen) -> Result<bool, Failure> {
        let path = self.path(LOCK_NAME);
        let aside = self.path(&format!("{ASIDE}{}{TEMPORARY_ENDING}", self.token));
        match host.rename(&path, &aside, self.within(), true, false).await {
            Ok(()) => {}
            Err(failure) => {
                return match failure.code {
                    // Somebody else has taken it.
                    FailureCode::NotFound => Ok(true),
                    // Nobody will ever get it here.
                    FailureCode::ReadOnly | FailureCode::Permission => Err(failure),
                    _ => Ok(false),
                };
            }
        }
        let look = host.read(&aside, self.within(), LOCK_MAX_BYTES).await;
        if look.map_err(|failure| failure.code) != *seen {
            let back = host
                .rename(&aside, &path, self.within(), false, false)
                .await;
            if back.is_ok() {
                return Ok(false);
            }
        }
        let _ = host.remove(&aside, self.within()).await;
        Ok(true)
    }

    fn failed(&self, failure: &Failure) -> Error {
        let directory = &self.found.opened.directory;
        if matches!(failure.code, FailureCode::Loop | FailureCode::NotADirectory) {
            let message = format!(
                "{directory}{OWN_FOLDER} is a link or a file; remove it, so that memdir can keep its own folder there"
            );
            return Error::new(failure.code.into(), message).at(directory);
        }
        Error::from_failure(failure, "locking the store", directory)
    }
}

/// How long somebody waits, in pauses that grow.
pub(super) struct Pauses {
    waited_ms: u64,
    next_ms: u64,
}

impl Default for Pauses {
    fn default() -> Self {
        Self {
            waited_ms: 0,
            next_ms: LOCK_FIRST_PAUSE_MS,
        }
    }
}

impl Pauses {
    /// Waits a while.
    ///
    /// # Errors
    /// `busy` when it has been long enough.
    pub(super) async fn sleep(&mut self, host: &Host, directory: &str) -> Result<(), Error> {
        let pause = self.next_ms;
        self.skip(directory)?;
        let slept = host.sleep(pause).await;
        host.stop_if_cancelled()?;
        slept.map_err(|failure| Error::from_failure(&failure, "waiting for", directory))
    }

    /// Waits a while behind others of the same store, the longer the more there are: each of them takes
    /// a millisecond or more.
    ///
    /// # Errors
    /// `busy` when nothing has moved for long enough.
    pub(super) async fn sleep_in_queue(
        &mut self,
        host: &Host,
        directory: &str,
        before: usize,
    ) -> Result<(), Error> {
        if self.waited_ms >= LOCK_WAIT_MS {
            let message = format!(
                "an earlier write to {directory} has not come to its end for {} s; let it, or cancel it",
                LOCK_WAIT_MS / 1000
            );
            return Err(Error::new(ErrorCode::Busy, message).at(directory));
        }
        let pause = u64::try_from(before)
            .unwrap_or(u64::MAX)
            .clamp(1, QUEUE_MAX_PAUSE_MS);
        self.waited_ms = self.waited_ms.saturating_add(pause);
        let slept = host.sleep(pause).await;
        host.stop_if_cancelled()?;
        slept.map_err(|failure| Error::from_failure(&failure, "waiting for", directory))
    }

    /// Does not wait, but counts as if: what goes in circles without a pause comes to an end too.
    fn skip(&mut self, directory: &str) -> Result<(), Error> {
        if self.waited_ms >= LOCK_WAIT_MS {
            let message = format!(
                "other writers have held {directory}{OWN_FOLDER}/{LOCK_NAME} for {} s; try again",
                LOCK_WAIT_MS / 1000
            );
            return Err(Error::new(ErrorCode::Busy, message).at(directory));
        }
        self.waited_ms = self.waited_ms.saturating_add(self.next_ms);
        self.next_ms = self.next_ms.saturating_mul(2).min(LOCK_MAX_PAUSE_MS);
        Ok(())
    }
}

/// Which file a second name is for. A very long path is cut, which then is that of no file: what has such
/// a name goes to the trash.
fn kept_path(name: &str) -> Option<String> {
    let rest = name.strip_prefix(KEPT)?.strip_suffix(TEMPORARY_ENDING)?;
    let path = rest.splitn(3, '-').nth(2)?.replace('+', "/");
    Some(percent_decoded(&path))
}

/// A path as part of a name.
fn kept_name(path: &str) -> String {
    let mut name = String::new();
    for c in path.chars() {
        match c {
            '/' => name.push('+'),
            '+' | '%' | '\\' | ':' => name.push_str(&format!("%{:02X}", u32::from(c))),
            c => name.push(c),
        }
        if name.len() > KEPT_NAME_BYTES {
            break;
        }
    }
    name
}

fn body(token: &str, info: Option<&HostInfo>) -> Vec<u8> {
    let body = serde_json::json!({
        "token": token,
        "hostId": info.map(|info| &info.host_id),
        "pid": info.and_then(|info| info.pid),
    });
    body.to_string().into_bytes()
}

/// Whether the holder ran on this machine and runs no more.
async fn is_dead(host: &Host, info: Option<&HostInfo>, look: &Seen) -> bool {
    let (Some(info), Ok(body)) = (info, look) else {
        return false;
    };
    let Ok(text) = std::str::from_utf8(body) else {
        return false;
    };
    let mut wanted = [("hostId", Member::Missing), ("pid", Member::Missing)];
    let is_record = json::read_members(text, &mut wanted).unwrap_or(false);
    match wanted {
        [(_, Member::Text(id)), (_, Member::Number(pid))] if is_record && id == info.host_id => {
            let pid = u32::try_from(pid).unwrap_or_default();
            pid > 0 && host.process_alive(pid).await == Ok(false)
        }
        _ => false,
    }
}
