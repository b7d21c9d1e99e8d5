//! Decides which headers of the last scan still hold (the design's "Warm reads").

use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::FxBuildHasher;

use super::Place;
use crate::flow::Stat;
use crate::limits::WARM_MIN_AGE_MS;
use crate::memory::MemoryHeader;
use crate::report::ReportEntry;

/// What reading one file gave: a header, or none; and what was said about it.
#[derive(Clone, Debug)]
pub(super) struct Known {
    /// Where a link inside the store leads; none for what is no link.
    target: Option<String>,
    stat: Stat,
    /// When the folder was listed, milliseconds since the epoch.
    listed_ms: i64,
    pub header: Option<MemoryHeader>,
    pub report: Vec<ReportEntry>,
}

/// The results of a scan by path. A snapshot costs one reference count.
#[derive(Clone, Debug, Default)]
pub(super) struct Headers(Arc<HashMap<String, Arc<Known>, FxBuildHasher>>);

impl Known {
    pub fn new(
        target: Option<String>,
        stat: Stat,
        listed_ms: i64,
        header: Option<MemoryHeader>,
        report: Vec<ReportEntry>,
    ) -> Arc<Self> {
        Arc::new(Self {
            target,
            stat,
            listed_ms,
            header,
            report,
        })
    }

    /// What is opened to read it.
    pub fn file(&self, place: &Place, path: &str) -> String {
        place.path(self.target.as_deref().unwrap_or(path))
    }

    /// Bytes when it was listed.
    pub fn size(&self) -> u64 {
        self.stat.size
    }
}

impl Headers {
    pub fn new(headers: impl Iterator<Item = (String, Arc<Known>)>) -> Self {
        Self(Arc::new(headers.collect()))
    }

    /// Of how many files something is known.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// What was known of a file.
    pub fn find(&self, path: &str) -> Option<&Arc<Known>> {
        self.0.get(path)
    }

    /// What is known of a file that has not changed since it was read.
    pub fn get(&self, path: &str, stat: &Stat) -> Option<&Arc<Known>> {
        let known = self.0.get(path)?;
        is_unchanged(&known.stat, known.listed_ms, stat).then_some(known)
    }
}

/// Whether a file has not changed since it was looked at. One that had changed within the last two
/// seconds before that may have changed once more with the same stamp, so nobody can tell.
pub(super) fn is_unchanged(then: &Stat, looked_ms: i64, now: &Stat) -> bool {
    then == now && looked_ms.saturating_sub(now.mtime_ms) >= WARM_MIN_AGE_MS
}
