//! What the server counts, for Prometheus. No label names a repository, a person or a key.

use std::sync::atomic::AtomicI64;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::storage::Totals;

/// From half a millisecond to ten seconds.
const SECONDS: [f64; 13] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0,
];
const UPLOADS: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: &'static str,
    route: String,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TimeLabels {
    method: &'static str,
    route: String,
}

fn histogram() -> Histogram {
    Histogram::new(SECONDS)
}

/// The counters of one server.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    seconds: Family<TimeLabels, Histogram>,
    commits: Histogram,
    repositories: Gauge<i64, AtomicI64>,
    entries: Gauge<i64, AtomicI64>,
    bytes: Gauge<i64, AtomicI64>,
}

impl Metrics {
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("memdir_team");
        let requests = Family::default();
        let seconds = Family::new_with_constructor(histogram as fn() -> Histogram);
        let commits = Histogram::new(UPLOADS);
        let (repositories, entries, bytes) = (Gauge::default(), Gauge::default(), Gauge::default());
        registry.register("requests", "Requests that were answered", requests.clone());
        registry.register_with_unit(
            "request_duration",
            "From the head of a request to the head of its answer",
            Unit::Seconds,
            seconds.clone(),
        );
        registry.register(
            "commit_uploads",
            "Uploads that were written with one commit",
            commits.clone(),
        );
        registry.register(
            "repositories",
            "Repositories with data",
            repositories.clone(),
        );
        registry.register("entries", "Entries of all repositories", entries.clone());
        registry.register("entry_bytes", "Bytes of all entries", bytes.clone());
        Self {
            registry,
            requests,
            seconds,
            commits,
            repositories,
            entries,
            bytes,
        }
    }

    pub fn answered(&self, method: &'static str, route: &str, status: u16, took: Duration) {
        let route = route.to_owned();
        let labels = TimeLabels {
            method,
            route: route.clone(),
        };
        self.seconds
            .get_or_create(&labels)
            .observe(took.as_secs_f64());
        let labels = RequestLabels {
            method,
            route,
            status,
        };
        self.requests.get_or_create(&labels).inc();
    }

    pub fn committed(&self, uploads: usize) {
        let uploads = u32::try_from(uploads).unwrap_or(u32::MAX);
        self.commits.observe(f64::from(uploads));
    }

    pub fn total(&self, totals: Totals) {
        self.repositories.set(totals.repositories);
        self.entries.set(totals.entries);
        self.bytes.set(totals.bytes);
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing into a string does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
