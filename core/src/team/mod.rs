//! Team memory: which entries there are, what is uploaded, in which portions, and how a folder and the
//! team's server come to have the same without losing an edit (facts 11, document 002).

mod batch;
mod conflicts;
mod delta;
mod key;
mod local;
mod merge;
mod reconcile;
mod remote;
mod repository;
pub(crate) mod state;
mod sync;
mod watch;

pub use batch::batch_entries;
pub use conflicts::{Conflict, ConflictFile};
pub(crate) use conflicts::{
    find as find_conflict, list as list_conflicts, read as read_conflict, remove as remove_conflict,
};
pub use delta::{checksum, team_delta};
pub(crate) use key::is_device;
pub use key::{Keys as TeamKeys, validate_team_key};
pub use merge::{MergedIndex, merge_team_index};
pub(crate) use merge::{merge_index, with_forgotten, without_forgotten};
pub(crate) use reconcile::decide;
pub use reconcile::{TeamAction, team_reconcile};
pub(crate) use remote::Patience;
pub use remote::{TeamDeletions, TeamOptions};
pub use repository::team_repository;
pub(crate) use sync::{Session, status};
pub use sync::{TeamStatus, TeamSync};
pub(crate) use watch::{flush, summary, watch};
