//! What becomes of an index that a run has changed: its lines are merged into what others have made of it
//! since, and none comes or goes before its memory does.

use super::ProposedChange;
use crate::team::{merge_index, with_forgotten, without_forgotten};
use crate::write::is_linked;

/// The index of `folder` as it is now with what the run has changed in it. Where both have written the same
/// entry anew, what is there stands. Null when there is no index, and none is to be.
pub(crate) fn merged(
    folder: &str,
    old: Option<&str>,
    new: &str,
    current: Option<&str>,
) -> Option<String> {
    if current == old {
        return (current.is_some() || !new.is_empty()).then(|| new.to_owned());
    }
    let merged = merge_index(folder, old, new, current.unwrap_or_default()).content;
    (current.is_some() || !merged.is_empty()).then_some(merged)
}

/// The proposed index of `folder` without what is about memories that are not dealt with: one that does not
/// come has no line yet, one that does not go keeps its own.
pub(crate) fn held_back<'a>(
    folder: &str,
    change: &ProposedChange,
    others: impl Iterator<Item = &'a ProposedChange>,
) -> String {
    let old = change.old.as_deref().unwrap_or_default();
    let (mut coming, mut going) = (Vec::new(), Vec::new());
    for other in others {
        if other.new.is_none() {
            going.push(other.path.clone());
        } else if other.before.is_none() && !is_linked(old, folder, &other.path) {
            coming.push(other.path.clone());
        }
    }
    let new = change.new.as_deref().unwrap_or_default();
    with_forgotten(
        folder,
        old,
        &without_forgotten(folder, new, &coming),
        &going,
    )
}
