//! Team memory: what is uploaded, and in which portions.

mod batch;
mod delta;
mod key;

pub use batch::batch_entries;
pub use delta::{checksum, team_delta};
#[expect(unused_imports, reason = "for what pulls and pushes many keys at once")]
pub(crate) use key::Keys;
pub(crate) use key::is_device;
pub use key::validate_team_key;
