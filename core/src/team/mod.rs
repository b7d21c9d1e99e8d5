//! Team memory: what is uploaded, and in which portions.

mod batch;
mod delta;

pub use batch::batch_entries;
pub use delta::{checksum, team_delta};
