//! Whether it is time to dream (facts 7.1), the cheapest reasons against it first.

use serde::{Deserialize, Serialize};

use super::Awake;
use crate::limits::{DREAM_AFTER_MS, DREAM_COUNT_MS, DREAM_SESSIONS};

/// What decides. A caller that has not counted the sessions yet says null, and counts them when the answer is
/// null.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DreamGate {
    /// The setting `autoDreamEnabled`; when nothing says so, the feature `dream`.
    pub dream: bool,
    /// Whether memory is on.
    pub enabled: bool,
    /// Whether it runs on somebody else's machine.
    pub remote: bool,
    /// The feature `dailyLog`.
    pub daily_log: bool,
    /// Now, milliseconds since the epoch.
    pub now_ms: i64,
    /// When the last one succeeded; null when none has.
    #[serde(default)]
    pub last_ms: Option<i64>,
    /// When this process has counted sessions last; null when it has not.
    #[serde(default)]
    pub counted_ms: Option<i64>,
    /// Sessions that were held since the last one, without the current one; null before they are counted.
    #[serde(default)]
    pub sessions: Option<u32>,
}

/// Why it is not the time; null when it is. A time that lies ahead says nothing, as the clock was set back
/// since.
#[must_use]
pub fn decide_dream(gate: &DreamGate) -> Option<Awake> {
    let since = |then: Option<i64>| {
        let then = then.filter(|then| *then <= gate.now_ms)?;
        Some(gate.now_ms.saturating_sub(then))
    };
    let reasons = [
        (!gate.dream, Awake::Off),
        (!gate.enabled, Awake::Disabled),
        (gate.remote, Awake::Remote),
        (gate.daily_log, Awake::DailyLog),
        (
            since(gate.last_ms).is_some_and(|since| since < DREAM_AFTER_MS),
            Awake::TooSoon,
        ),
        (
            since(gate.counted_ms).is_some_and(|since| since < DREAM_COUNT_MS),
            Awake::Counted,
        ),
        (
            gate.sessions.is_some_and(|count| count < DREAM_SESSIONS),
            Awake::FewSessions,
        ),
    ];
    let first = reasons.into_iter().find(|(is_so, _)| *is_so);
    first.map(|(_, reason)| reason)
}
