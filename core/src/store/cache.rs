//! Decides which headers of the last scan still hold (the design's "Warm reads").

use std::sync::Arc;

use crate::flow::Stat;
use crate::limits::WARM_MIN_AGE_MS;
use crate::memory::MemoryHeader;
use crate::order;
use crate::report::ReportEntry;

/// What reading one file gave: a header, or none; and what was said about it.
#[derive(Clone, Debug)]
pub(super) struct Known {
    stat: Stat,
    /// When the folder was listed, milliseconds since the epoch.
    listed_ms: i64,
    pub header: Option<MemoryHeader>,
    pub report: Vec<ReportEntry>,
}

/// The results of a scan, sorted by path. A snapshot costs one reference count.
#[derive(Clone, Debug, Default)]
pub(super) struct Headers(Arc<Vec<(String, Arc<Known>)>>);

impl Known {
    pub fn new(
        stat: Stat,
        listed_ms: i64,
        header: Option<MemoryHeader>,
        report: Vec<ReportEntry>,
    ) -> Arc<Self> {
        Arc::new(Self {
            stat,
            listed_ms,
            header,
            report,
        })
    }
}

impl Headers {
    pub fn new(mut headers: Vec<(String, Arc<Known>)>) -> Self {
        order::sort(&mut headers, |(a, _), (b, _)| a.cmp(b));
        Self(Arc::new(headers))
    }

    /// Of how many files something is known.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// What is known of a file that has not changed since it was read. A file that had changed
    /// within the last two seconds before that reading may have changed once more with the same
    /// stamp, so it is read again.
    pub fn get(&self, path: &str, stat: &Stat) -> Option<&Arc<Known>> {
        let known = |(known, _): &(String, Arc<Known>)| known.as_str().cmp(path);
        let (_, known) = self.0.get(self.0.binary_search_by(known).ok()?)?;
        let settled = known.listed_ms.saturating_sub(stat.mtime_ms) >= WARM_MIN_AGE_MS;
        (known.stat == *stat && settled).then_some(known)
    }
}
