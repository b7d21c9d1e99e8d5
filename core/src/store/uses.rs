//! Counts how often a memory is recalled, in the store's own folder. A help and no memory: what cannot
//! be read or written is done without.

use super::find::Found;
use super::recall::Recall;
use super::{Store, own};
use crate::error::Error;
use crate::flow::{Content, Failure, FailureCode, Host};
use crate::limits::{USES_MAX_BYTES, USES_NAME, USES_WRITE_MS};
use crate::recall::Uses;
use crate::report::{ReportCode, ReportEntry};

/// Uses that are not written yet. They survive a compaction.
#[derive(Debug, Default)]
pub(super) struct PendingUses {
    pub pending: Uses,
    /// Where they belong.
    found: Option<Found>,
    written_ms: Option<i64>,
    /// Writing failed: it is not tried again.
    failed: bool,
}

impl Store {
    /// Counts what was recalled, and writes the counts now and then.
    pub(super) async fn count_uses(
        &self,
        host: &Host,
        found: &Found,
        now_ms: i64,
        recall: &Recall,
    ) -> Result<(), Error> {
        if !self.shared.options.features.count_uses || recall.memories.is_empty() {
            return Ok(());
        }
        let due = {
            let mut state = self.state();
            let waiting = &mut state.uses;
            for memory in &recall.memories {
                waiting.pending.count(&memory.path, now_ms);
            }
            waiting.found = Some(found.clone());
            // Nobody waits for the disk: a use is written with a later recall, or at the end.
            let since = now_ms.saturating_sub(*waiting.written_ms.get_or_insert(now_ms));
            let due = !(0..USES_WRITE_MS).contains(&since);
            if due {
                waiting.written_ms = Some(now_ms);
            }
            due
        };
        if due {
            self.flush_in(host).await
        } else {
            Ok(())
        }
    }

    /// Writes what is still to be counted. Best effort: where nothing can be written, recall works
    /// all the same.
    pub(crate) async fn flush_in(&self, host: &Host) -> Result<(), Error> {
        let (pending, found, catalogue) = {
            let mut state = self.state();
            let waiting = &mut state.uses;
            let pending = std::mem::take(&mut waiting.pending);
            let found = waiting.found.clone().filter(|_| !waiting.failed);
            (pending, found, state.library.catalogue.clone())
        };
        let Some(found) = found.filter(|_| !pending.is_empty()) else {
            return Ok(());
        };
        let mut written = own::prepare(host, &found).await.is_ok();
        if written {
            // Others may have written since the recall. What cannot be read now is not written over.
            let mut uses = match read(host, &found).await {
                Ok(bytes) => Uses::parse(&bytes).unwrap_or_default(),
                // A link holds no counts of ours; it is replaced.
                Err(failure) if is_missing(&failure) || failure.code == FailureCode::Loop => {
                    Uses::default()
                }
                Err(_) => {
                    self.state().uses.pending.merge(&pending);
                    return host.stop_if_cancelled();
                }
            };
            uses.merge(&pending);
            if catalogue.complete {
                uses.retain(|path| catalogue.known.find(path).is_some());
            }
            let content = Content::Text(uses.to_json());
            written = own::replace(host, &found, USES_NAME, content).await.is_ok();
        }
        if host.cancelled() && !written {
            self.state().uses.pending.merge(&pending);
        }
        host.stop_if_cancelled()?;
        self.state().uses.failed |= !written;
        Ok(())
    }
}

impl Store {
    /// A memory that comes to the same path is another one. Best effort.
    pub(crate) async fn forget_uses(&self, host: &Host, path: &str) -> Result<(), Error> {
        let keep = |known: &str| known != path;
        self.state().uses.pending.retain(keep);
        let found = self.found(host).await?;
        if let Ok(bytes) = read(host, &found).await
            && let Some(mut uses) = Uses::parse(&bytes)
            && uses.get(path).count > 0
        {
            uses.retain(keep);
            let content = Content::Text(uses.to_json());
            let _ = own::replace(host, &found, USES_NAME, content).await;
        }
        host.stop_if_cancelled()
    }
}

/// What was counted before, by all who use the store; an entry in the report when that cannot be read.
pub(super) async fn counted(host: &Host, found: &Found, report: &mut Vec<ReportEntry>) -> Uses {
    let mut note = |message| {
        report.push(ReportEntry::new("", ReportCode::UsesUnreadable, message));
        Uses::default()
    };
    match read(host, found).await {
        Ok(bytes) => Uses::parse(&bytes).unwrap_or_else(|| {
            note("the counts of earlier recalls cannot be read and begin anew".to_owned())
        }),
        Err(failure) if is_missing(&failure) => Uses::default(),
        Err(failure) => note(format!(
            "the counts of earlier recalls cannot be read: {}",
            failure.message
        )),
    }
}

async fn read(host: &Host, found: &Found) -> Result<Vec<u8>, Failure> {
    let directory = &found.opened.directory;
    let file = own::own_path(found.platform, directory, USES_NAME);
    host.read(&file, Some(directory), USES_MAX_BYTES).await
}

fn is_missing(failure: &Failure) -> bool {
    matches!(
        failure.code,
        FailureCode::NotFound | FailureCode::NotADirectory
    )
}
