//! What becomes of an entry when this folder and the server differ: whoever has not changed it since the
//! last sync takes the other's version; when both have, the server's is the one in place and ours is kept.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::delta::checksum;
use crate::limits::TEAM_DELETED;

/// What is to be done about an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TeamAction {
    /// The server's content is written here.
    Receive,
    /// The server says that it was deleted, and nothing was changed here: it goes here too.
    Remove,
    /// Ours goes to the server.
    Send,
    /// Both have changed: the server's version is put in place here, and ours kept beside.
    Conflict,
    /// It was forgotten here and stays away until the server's copy changes.
    Forgotten,
}

/// What is to be done about each entry, by key; what is in order is left out. All four map keys to
/// checksums: `base` what both sides had after the last sync, `local` what is here, `server` what is there,
/// `forgotten` what was forgotten here.
#[must_use]
pub fn team_reconcile(
    base: &BTreeMap<String, String>,
    local: &BTreeMap<String, String>,
    server: &BTreeMap<String, String>,
    forgotten: &BTreeMap<String, String>,
) -> BTreeMap<String, TeamAction> {
    let keys: BTreeSet<&String> = local.keys().chain(server.keys()).collect();
    let of = |map: &BTreeMap<String, String>, key: &String| map.get(key).cloned();
    keys.into_iter()
        .filter_map(|key| {
            let action = decide(
                of(base, key).as_deref(),
                of(local, key).as_deref(),
                of(server, key).as_deref(),
                of(forgotten, key).as_deref(),
            )?;
            Some((key.clone(), action))
        })
        .collect()
}

/// The same for one entry, by its checksums.
pub(crate) fn decide(
    base: Option<&str>,
    local: Option<&str>,
    server: Option<&str>,
    forgotten: Option<&str>,
) -> Option<TeamAction> {
    let is_deleted = server.is_some_and(|server| server == checksum(TEAM_DELETED));
    match (local, server) {
        (None, None) => None,
        (Some(_), None) => Some(TeamAction::Send),
        (None, Some(_)) if is_deleted => None,
        // What was forgotten may have been an edit that the server never saw.
        (None, Some(_)) if forgotten.is_some() && (forgotten == server || base == server) => {
            Some(TeamAction::Forgotten)
        }
        (None, Some(_)) => Some(TeamAction::Receive),
        (Some(_), Some(_)) if local == server => None,
        (Some(_), Some(_)) if base == server => Some(TeamAction::Send),
        (Some(_), Some(_)) if base == local && is_deleted => Some(TeamAction::Remove),
        (Some(_), Some(_)) if base == local => Some(TeamAction::Receive),
        (Some(_), Some(_)) => Some(TeamAction::Conflict),
    }
}
