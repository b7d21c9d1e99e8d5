//! Times as texts.

use chrono::{DateTime, SecondsFormat};

/// Milliseconds since the epoch as ISO 8601 in UTC.
pub(crate) fn iso(ms: i64) -> String {
    let time = DateTime::from_timestamp_millis(ms).unwrap_or_default();
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}
