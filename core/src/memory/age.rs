//! How old a memory is, and what a reader is warned of (facts 5.5, the design's "Age").

use serde::Serialize;

const DAY_MS: i64 = 86_400_000;

/// The age of a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryAge {
    /// Whole days, never negative.
    pub days: i64,
    /// `today`, `yesterday`, `3 days ago`.
    pub text: String,
    /// What to keep in mind when using it; null while it is fresh (today and yesterday).
    pub warning: Option<String>,
}

/// The age at `now_ms`, counted from the memory's own `modified` time when it has one that is not
/// in the future, else from the file's modification time: copying or cloning a store does not make
/// its memories new. All times are milliseconds since the epoch.
#[must_use]
pub fn memory_age(mtime_ms: i64, modified_ms: Option<i64>, now_ms: i64) -> MemoryAge {
    let written = modified_ms
        .filter(|modified| *modified <= now_ms)
        .unwrap_or(mtime_ms);
    let days = now_ms.saturating_sub(written).div_euclid(DAY_MS).max(0);
    let (text, warning) = match days {
        0 => ("today".to_owned(), None),
        1 => ("yesterday".to_owned(), None),
        _ => (
            format!("{days} days ago"),
            Some(format!(
                "This memory is {days} days old. It says what was true when it was written, not \
                 what is true now: check claims about code, files and lines before you rely on them."
            )),
        ),
    };
    MemoryAge {
        days,
        text,
        warning,
    }
}
