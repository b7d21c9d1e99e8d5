//! What the simulation tests share.

use memdir_core::store::{OpenOptions, Store};

/// A store that has not seen its host yet, as after a start of the process.
pub fn store(directory: &str) -> Store {
    Store::new(OpenOptions {
        directory: Some(directory.to_owned()),
        ..OpenOptions::default()
    })
}
