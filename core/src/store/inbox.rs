//! What background runs propose as operations of a store: looked at, applied through the write contract, or
//! dropped.

use std::collections::BTreeSet;

use super::Store;
use crate::error::{Error, ErrorCode};
use crate::flow::{Flow, Host};
use crate::inbox::{self, Inbox, InboxItem, InboxResult, Proposal, ProposedChange};
use crate::limits::{INBOX_FOLDER, OWN_FOLDER};
use crate::order;
use crate::report::{ReportCode, ReportEntry};
use crate::store::Place;
use crate::write::{ABSENT, Forget, Put, Task, TextEdit, WriteOutcome, WriteResult};

/// What waits for a person. Every flow fails with `disabled`, or what the disk gave; those that name a
/// proposal also with `invalid-argument` for what is no id, `not-found`, and `not-text` when it is damaged.
impl Store {
    /// Leaves changes for a person instead of making them; gives the id, null when nothing would change.
    /// Fails with the codes of [`crate::paths::check_relative`], `invalid-argument` and `too-large` for
    /// what is no change of a memory.
    #[must_use]
    pub fn propose(&self, proposal: Proposal) -> Flow<Option<String>> {
        self.flow(|store, host| async move { store.propose_in(&host, proposal).await })
    }

    /// What waits in the inbox, oldest first, each change with its diff.
    #[must_use]
    pub fn inbox(&self) -> Flow<Inbox> {
        self.flow(|store, host| async move { store.inbox_in(&host).await })
    }

    /// Makes the changes of a proposal, or only those of some `paths`, memories first. A memory is replaced
    /// or forgotten only while it is what the run saw (`conflict`); an index is merged entry by entry, and
    /// where others have written the same entry anew theirs stands. What cannot be done stays in the inbox;
    /// a proposal of which nothing is left goes. Fails with `not-found` for a path that it has not,
    /// and as [`Self::save`] does: what was done by then is `unchanged` the next time.
    #[must_use]
    pub fn apply_proposal(&self, id: String, paths: Option<Vec<String>>) -> Flow<InboxResult> {
        self.flow(|store, host| async move { store.apply_in(&host, &id, paths).await })
    }

    /// Lets go of a proposal, or only of the changes of some `paths` and of the lines that an index was to
    /// get or lose with them; gives the paths that are left. Fails with `not-found` for a path that it has
    /// not. Without `paths` a damaged one goes too.
    #[must_use]
    pub fn drop_proposal(&self, id: String, paths: Option<Vec<String>>) -> Flow<Vec<String>> {
        self.flow(|store, host| async move { store.drop_proposal_in(&host, &id, paths).await })
    }

    pub(crate) async fn propose_in(
        &self,
        host: &Host,
        proposal: Proposal,
    ) -> Result<Option<String>, Error> {
        let found = self.found(host).await?;
        self.place_or_disabled(host).await?;
        inbox::put(host, &found, proposal).await
    }

    pub(crate) async fn inbox_in(&self, host: &Host) -> Result<Inbox, Error> {
        let place = self.place_or_disabled(host).await?;
        let mut inbox = Inbox::default();
        for id in inbox::ids(host, &place).await? {
            match inbox::read(host, &place, &id).await {
                Ok(proposal) => {
                    let item = inbox::item(host, &place, &id, &proposal).await?;
                    inbox.items.push(item);
                }
                Err(error) if host.cancelled() => return Err(error),
                // Dealt with since the listing.
                Err(error) if error.code == ErrorCode::NotFound => {}
                Err(error) => {
                    let path = format!("{OWN_FOLDER}/{INBOX_FOLDER}/{id}.json");
                    let code = ReportCode::InboxDamaged;
                    inbox
                        .report
                        .push(ReportEntry::new(path, code, error.message));
                }
            }
        }
        Ok(inbox)
    }

    /// One proposal, as [`Self::inbox_in`] gives it.
    pub(crate) async fn proposal_in(&self, host: &Host, id: &str) -> Result<InboxItem, Error> {
        let place = self.place_or_disabled(host).await?;
        let proposal = inbox::read(host, &place, id).await?;
        inbox::item(host, &place, id, &proposal).await
    }

    pub(crate) async fn apply_in(
        &self,
        host: &Host,
        id: &str,
        paths: Option<Vec<String>>,
    ) -> Result<InboxResult, Error> {
        let found = self.found(host).await?;
        let place = self.place_or_disabled(host).await?;
        let mut proposal = inbox::read(host, &place, id).await?;
        let chosen = inbox::chosen(id, &proposal, paths)?;
        let mut done: BTreeSet<String> = BTreeSet::new();
        let mut results = Vec::new();
        // A line never leads to a memory that is not there yet.
        let is_index = |change: &ProposedChange| change.indexed_folder().is_some();
        let mut changes: Vec<&ProposedChange> = proposal.changes.iter().collect();
        order::sort(&mut changes, |a, b| is_index(a).cmp(&is_index(b)));
        for change in &changes {
            if !chosen.contains(&change.path) {
                continue;
            }
            let waiting = changes
                .iter()
                .copied()
                .filter(|other| !is_index(other) && !done.contains(&other.path));
            let (result, is_whole) = match change.indexed_folder() {
                None => (self.apply_change(host, change).await?, true),
                Some(folder) => {
                    let new = inbox::held_back(folder, change, waiting);
                    let is_whole = new == change.new.as_deref().unwrap_or_default();
                    let result = self.apply_index(host, folder, change, new).await?;
                    (result, is_whole)
                }
            };
            let is_settled = matches!(
                result.outcome,
                WriteOutcome::Written | WriteOutcome::Unchanged
            );
            if is_settled && is_whole {
                done.insert(change.path.clone());
            }
            results.push(result);
        }
        if !done.is_empty() || proposal.changes.is_empty() {
            proposal
                .changes
                .retain(|change| !done.contains(&change.path));
            inbox::keep(host, &found, id, &proposal).await?;
        }
        let left = proposal.changes.into_iter().map(|change| change.path);
        Ok(InboxResult {
            results,
            left: left.collect(),
        })
    }

    pub(super) async fn apply_change(
        &self,
        host: &Host,
        change: &ProposedChange,
    ) -> Result<WriteResult, Error> {
        let ProposedChange {
            path, before, new, ..
        } = change.clone();
        let Some(text) = new else {
            let expect = Some(before.unwrap_or_else(|| ABSENT.to_owned()));
            let task = |place: &Place| Forget::any(path, expect, place).map(Task::Forget);
            let (result, _) = self.write_in(host, task).await?;
            if result.outcome == WriteOutcome::Written {
                self.forget_uses(host, &change.path).await?;
            }
            return Ok(gone_already(result));
        };
        let edit: TextEdit = Box::new(move |_| Ok((text.clone(), String::new())));
        let task = |place: &Place| Put::expecting(path, edit, before, place).map(Task::Put);
        Ok(self.write_in(host, task).await?.0)
    }

    async fn apply_index(
        &self,
        host: &Host,
        folder: &'static str,
        change: &ProposedChange,
        new: String,
    ) -> Result<WriteResult, Error> {
        let ProposedChange { path, old, .. } = change.clone();
        let edit: TextEdit = Box::new(move |current| {
            let merged = inbox::merged(folder, old.as_deref(), &new, current);
            let merged = merged.ok_or_else(|| {
                Error::new(ErrorCode::NotFound, "there is no index, and none is needed")
            })?;
            Ok((merged, String::new()))
        });
        let task = |place: &Place| Put::new(path, edit, place).map(Task::Put);
        Ok(gone_already(self.write_in(host, task).await?.0))
    }

    pub(crate) async fn drop_proposal_in(
        &self,
        host: &Host,
        id: &str,
        paths: Option<Vec<String>>,
    ) -> Result<Vec<String>, Error> {
        let found = self.found(host).await?;
        let place = self.place_or_disabled(host).await?;
        let Some(paths) = paths else {
            inbox::remove(host, &place, id).await?;
            return Ok(Vec::new());
        };
        let mut proposal = inbox::read(host, &place, id).await?;
        let chosen = inbox::chosen(id, &proposal, Some(paths))?;
        let (dropped, mut left): (Vec<ProposedChange>, Vec<ProposedChange>) = proposal
            .changes
            .into_iter()
            .partition(|change| chosen.contains(&change.path));
        for change in &mut left {
            if let Some(folder) = change.indexed_folder() {
                let others = dropped.iter();
                let others = others.filter(|other| other.indexed_folder().is_none());
                let new = inbox::held_back(folder, change, others);
                if new != change.new.as_deref().unwrap_or_default() {
                    change.new = Some(new);
                }
            }
        }
        left.retain(ProposedChange::is_change);
        proposal.changes = left;
        inbox::keep(host, &found, id, &proposal).await?;
        let left = proposal.changes.into_iter().map(|change| change.path);
        Ok(left.collect())
    }
}

/// What was to go and is not there is as it was to be.
pub(super) fn gone_already(result: WriteResult) -> WriteResult {
    if result.code != Some(ErrorCode::NotFound) {
        return result;
    }
    WriteResult {
        outcome: WriteOutcome::Unchanged,
        code: None,
        message: None,
        ..result
    }
}
