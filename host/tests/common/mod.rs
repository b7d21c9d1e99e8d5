//! A temporary folder that goes away with its owner.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// See above.
#[derive(Debug)]
pub struct Temporary(PathBuf);

impl Temporary {
    /// A fresh, empty folder.
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "memdir-host-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        Self(path.canonicalize().unwrap())
    }

    /// Its path, without a trailing separator.
    pub fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
