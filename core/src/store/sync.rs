//! The team's memories as operations of a store.

use super::Store;
use crate::error::Error;
use crate::flow::{Flow, Host};
use crate::paths::git::project_root;
use crate::paths::{Environment, Platform};
use crate::store::Place;
use crate::team::{
    self, Conflict, ConflictFile, Patience, Session, TeamOptions, TeamStatus, TeamSync,
};
use crate::write::{Put, Task, TextEdit, WriteOutcome, WriteResult};

/// Which way a sync goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Pull,
    Push,
    Both,
}

/// The team's memories (facts 11). Every flow that speaks to the server fails with `disabled`,
/// `no-server`, `no-repository`, `no-token`, `team-auth`, `team-busy`, `team-refused`, `team-answer`,
/// `timeout`, `network`, `busy`, or what the disk gave.
impl Store {
    /// Brings what is new on the server: its version is put in place of what was not changed here since
    /// the last sync; what was is kept beside.
    #[must_use]
    pub fn team_pull(&self) -> Flow<TeamSync> {
        self.flow(|store, host| async move { store.team_in(&host, Way::Pull, false).await })
    }

    /// Takes what was changed here to the server. Fails with `team-conflict` too, when teammates keep being
    /// faster.
    #[must_use]
    pub fn team_push(&self) -> Flow<TeamSync> {
        self.flow(|store, host| async move { store.team_in(&host, Way::Push, false).await })
    }

    /// A pull, then a push.
    #[must_use]
    pub fn team_sync(&self) -> Flow<TeamSync> {
        self.flow(|store, host| async move { store.team_in(&host, Way::Both, false).await })
    }

    /// How the team folder stands to the server, without asking it.
    #[must_use]
    pub fn team_status(&self) -> Flow<TeamStatus> {
        self.flow(|store, host| async move { store.team_status_in(&host).await })
    }

    /// Syncs now, two seconds after changes, and every `period_ms` (5 minutes when null), until the store is
    /// closed or the flow is cancelled. What it does, and what goes wrong, is told as events.
    #[must_use]
    pub fn team_watch(&self, period_ms: Option<u64>) -> Flow<()> {
        self.flow(move |store, host| async move { store.watch_in(&host, period_ms, false).await })
    }

    /// Our versions that a sync has kept, oldest first.
    #[must_use]
    pub fn team_conflicts(&self) -> Flow<Vec<Conflict>> {
        self.flow(|store, host| async move { store.conflicts_in(&host).await })
    }

    /// One of them, with its text. Fails with `not-found` or `not-text`.
    #[must_use]
    pub fn team_conflict(&self, id: String) -> Flow<ConflictFile> {
        self.flow(|store, host| async move { store.conflict_in(&host, &id).await })
    }

    /// Puts one of them in place again; what is there goes to the trash, and the next push uploads it.
    /// Fails as [`Self::team_conflict`] and [`Self::save`] do.
    #[must_use]
    pub fn team_restore(&self, id: String) -> Flow<WriteResult> {
        self.flow(|store, host| async move { store.restore_in(&host, &id).await })
    }

    /// Lets go of one of them. Fails with `not-found`.
    #[must_use]
    pub fn team_drop(&self, id: String) -> Flow<()> {
        self.flow(|store, host| async move { store.drop_in(&host, &id).await })
    }

    pub(crate) async fn team_in(
        &self,
        host: &Host,
        way: Way,
        progress: bool,
    ) -> Result<TeamSync, Error> {
        let mut session = Session::new(self, host, progress, Patience::USUAL).await?;
        self.state().has_synced = true;
        if way != Way::Push {
            session.pull().await?;
        }
        if way != Way::Pull {
            session.push().await?;
        }
        Ok(session.result)
    }

    pub(crate) async fn team_status_in(&self, host: &Host) -> Result<TeamStatus, Error> {
        team::status(self, host).await
    }

    pub(crate) async fn watch_in(
        &self,
        host: &Host,
        period_ms: Option<u64>,
        progress: bool,
    ) -> Result<(), Error> {
        self.state().has_synced = true;
        team::watch(self, host, period_ms, progress).await
    }

    pub(crate) async fn conflicts_in(&self, host: &Host) -> Result<Vec<Conflict>, Error> {
        let place = self.place_or_disabled(host).await?;
        team::list_conflicts(host, &place).await
    }

    pub(crate) async fn conflict_in(&self, host: &Host, id: &str) -> Result<ConflictFile, Error> {
        let place = self.place_or_disabled(host).await?;
        team::read_conflict(host, &place, id).await
    }

    pub(crate) async fn restore_in(&self, host: &Host, id: &str) -> Result<WriteResult, Error> {
        let ConflictFile { path, content, .. } = self.conflict_in(host, id).await?;
        let edit: TextEdit = Box::new(move |_| Ok((content.clone(), String::new())));
        let task = |place: &Place| Put::new(path, edit, place).map(Task::Put);
        let (result, _) = self.write_in(host, task).await?;
        if matches!(
            result.outcome,
            WriteOutcome::Written | WriteOutcome::Unchanged
        ) {
            self.drop_in(host, id).await?;
        }
        Ok(result)
    }

    pub(crate) async fn drop_in(&self, host: &Host, id: &str) -> Result<(), Error> {
        let place = self.place_or_disabled(host).await?;
        // Only what is one of them is removed.
        let id = team::find_conflict(host, &place, id).await?.id;
        team::remove_conflict(host, &place, &id).await
    }

    pub(crate) fn team_options(&self) -> TeamOptions {
        self.shared.options.team.clone().unwrap_or_default()
    }

    pub(crate) fn env(&self) -> &Environment {
        &self.shared.options.env
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state().closed
    }

    /// The root of the project, also where the memory folder was given; none without a working directory.
    pub(crate) async fn project_root(
        &self,
        host: &Host,
    ) -> Result<Option<(Platform, String)>, Error> {
        let found = self.found(host).await?;
        let platform = found.platform;
        if let Some(root) = found.opened.project_root {
            return Ok(Some((platform, root)));
        }
        match self.shared.options.cwd.as_deref() {
            Some(cwd) if platform.is_absolute(cwd) => {
                let root = project_root(host, platform, cwd).await?;
                Ok(Some((platform, root.canonical)))
            }
            _ => Ok(None),
        }
    }
}
