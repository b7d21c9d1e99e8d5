//! Decides whether a step is done already. A stamp holds a hash of what went in; it lies beside or
//! inside what the step made, so that whoever removes the one removes the other.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use crate::layout;
use crate::run::Result;

/// Runs `work` unless the same `inputs` left this stamp before.
pub fn unless_done(
    stamp: &Path,
    inputs: &[&[u8]],
    work: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let mut hasher = DefaultHasher::new();
    inputs.hash(&mut hasher);
    let hash = format!("{:016x}\n", hasher.finish());
    if std::fs::read(stamp).is_ok_and(|old| old == hash.as_bytes()) {
        return Ok(());
    }
    work()?;
    layout::write(stamp, hash)
}
