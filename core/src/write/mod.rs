//! Writing memories: what a file is called, how its text and the index change, and how a change
//! reaches the disk so that nothing is lost between writers.

mod commit;
mod edit;
mod forget;
mod guard;
mod index;
mod keep;
mod lock;
mod log;
mod name;
mod raw;
mod receive;
mod relink;
mod result;
mod save;
mod target;
mod tombstones;
mod trash;
mod value;

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use self::commit::End;
pub(crate) use self::commit::is_one_of;
pub(crate) use self::forget::{Forget, Undo};
pub(crate) use self::guard::hidden;
pub use self::guard::secret_in_path;
pub(crate) use self::keep::{KEPT_BYTES, KEPT_RECORD, KeptRecord};
use self::lock::{Lock, Pauses};
pub(crate) use self::log::{log_entry, with_entry};
pub(crate) use self::raw::{Move, Put, TextEdit, check_draft};
pub(crate) use self::receive::{Receive, Remember, StateEdit, kept_away};
pub(crate) use self::result::hash;
pub(crate) use self::save::Save;
pub(crate) use self::target::{ABSENT, indexed_folder};
use crate::error::{Error, ErrorCode};
use crate::flow::Host;
use crate::limits::WRITE_ATTEMPTS;
use crate::store::{Found, Place};
pub use edit::{Edited, MemoryChanges, update_memory};
pub(crate) use index::is_linked;
pub use index::{IndexEntry, update_index};
pub use name::memory_file_name;
pub use result::{WriteOutcome, WriteResult};
pub use save::SaveOptions;

/// Everything that is written under the lock.
pub(crate) enum Task {
    Save(Save),
    Forget(Forget),
    Undo(Undo),
    Put(Put),
    Move(Move),
    Receive(Receive),
    Remember(Remember),
}

impl Task {
    /// The paths that its caller has named.
    fn named(&self) -> Vec<String> {
        match self {
            Self::Save(save) => save.path().map(str::to_owned).into_iter().collect(),
            Self::Forget(forget) => vec![forget.path().to_owned()],
            Self::Undo(undo) => undo.path().map(str::to_owned).into_iter().collect(),
            Self::Put(put) => vec![put.path.clone()],
            Self::Move(moved) => moved.paths(),
            Self::Receive(_) | Self::Remember(_) => Vec::new(),
        }
    }

    /// What comes of a task that cannot be brought to its end: what a memory's own path is to blame for
    /// is a refusal, and what was written is told as written.
    fn ended(self, place: &Place, error: Error) -> Result<WriteResult, Error> {
        let (path, written) = match self {
            Self::Save(save) => save.ended(place, &error),
            Self::Forget(forget) => (Some(forget.path().to_owned()), None),
            Self::Put(put) => (Some(put.path), None),
            Self::Undo(_) | Self::Move(_) | Self::Receive(_) | Self::Remember(_) => (None, None),
        };
        if let Some(result) = written {
            return Ok(result);
        }
        let of_path = error.code.is_of_path();
        match path {
            Some(path) if of_path && error.path.as_deref() == Some(path.as_str()) => {
                Ok(WriteResult::refused(Some(&path), place, error))
            }
            _ => Err(error),
        }
    }
}

/// What becomes of one attempt.
enum Next {
    Done(WriteResult),
    /// Another program was faster: look again.
    Changed,
    /// The lock was taken over: get it again.
    Lost,
}

impl End {
    fn again(self) -> Option<Next> {
        match self {
            Self::Done => None,
            Self::Changed => Some(Next::Changed),
            Self::Lost => Some(Next::Lost),
        }
    }
}

/// Lets one flow of a store write at a time, in their order: they would only wait for each other's
/// lock.
#[derive(Debug, Default)]
pub(crate) struct Gate(Mutex<Queue>);

#[derive(Debug, Default)]
struct Queue {
    /// The tickets of those who wait, and of the one who writes.
    waiting: BTreeSet<u64>,
    next: u64,
}

/// A place in the queue. It is left when this goes, also with a flow that is dropped.
struct Ticket<'a> {
    gate: &'a Gate,
    number: u64,
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.gate.queue().waiting.remove(&self.number);
    }
}

impl Gate {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn pass(&self, host: &Host, directory: &str) -> Result<Ticket<'_>, Error> {
        let ticket = {
            let mut queue = self.queue();
            let number = queue.next;
            queue.next = number.saturating_add(1);
            queue.waiting.insert(number);
            Ticket { gate: self, number }
        };
        let mut first = ticket.number;
        let mut pauses = Pauses::default();
        loop {
            let (now_first, before) = {
                let queue = self.queue();
                let before = queue.waiting.range(..ticket.number);
                (queue.waiting.first().copied(), before.count())
            };
            if before == 0 {
                return Ok(ticket);
            }
            // As long as others come to an end there is nothing wrong with waiting.
            if now_first != Some(first) {
                first = now_first.unwrap_or_default();
                pauses = Pauses::default();
            }
            pauses.sleep_in_queue(host, directory, before).await?;
        }
    }
}

/// Does a task under the lock, as often as it takes; gives it back, if it came to its end, for what it
/// has found out.
pub(crate) async fn run(
    host: &Host,
    found: &Found,
    gate: &Gate,
    mut task: Task,
) -> Result<(WriteResult, Option<Task>), Error> {
    let _passed = gate.pass(host, &found.opened.directory).await?;
    let mut lock = Lock::acquire(host, found).await?;
    let named = task.named();
    let mut attempts = 0;
    let result = loop {
        let next = match &mut task {
            Task::Save(save) => save.attempt(host, &lock).await,
            Task::Forget(forget) => forget.attempt(host, &lock).await,
            Task::Undo(undo) => undo.attempt(host, &lock).await,
            Task::Put(put) => put.attempt(host, &lock).await,
            Task::Move(moved) => moved.attempt(host, &lock).await,
            Task::Receive(receive) => receive.attempt(host, &lock).await,
            Task::Remember(remember) => remember.attempt(host, &lock).await,
        };
        attempts += 1;
        let failure = match next {
            Ok(Next::Done(result)) => break Ok((result, Some(task))),
            Ok(_) if attempts >= WRITE_ATTEMPTS => {
                let message =
                    "another program keeps writing the same files; try again when it is done";
                Error::new(ErrorCode::Busy, message).at(&found.opened.directory)
            }
            Ok(Next::Changed) => continue,
            Ok(Next::Lost) => {
                lock.release(&host.shielded()).await;
                match Lock::acquire(host, found).await {
                    Ok(again) => {
                        lock = again;
                        continue;
                    }
                    Err(error) => {
                        let result = task.ended(&found.place(), error)?;
                        return Ok((result.without_secrets(&named), None));
                    }
                }
            }
            Err(error) => error,
        };
        if let Task::Forget(forget) = &mut task {
            // Best effort: else what is left of it in the trash is enough to undo it.
            let _ = forget
                .take_back(&host.shielded(), &lock, &mut Vec::new())
                .await;
        }
        break task
            .ended(&found.place(), failure)
            .map(|result| (result, None));
    };
    lock.release(&host.shielded()).await;
    match result {
        Ok((result, task)) => Ok((result.without_secrets(&named), task)),
        Err(error) => Err(Error {
            message: hidden(&error.message, &named),
            path: error.path.map(|path| hidden(&path, &named)),
            ..error
        }),
    }
}
