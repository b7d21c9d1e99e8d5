//! How long to wait before another try (facts 11.3), the same for everything that is asked over HTTP.

use crate::limits::{RETRY_FIRST_MS, RETRY_MAX_MS};

/// The pause before the next try after `retries` that failed: 500 ms, doubled each time up to 32 s,
/// and up to a quarter more by `random`, so that many clients do not come back at once.
pub(crate) fn backoff_ms(retries: u32, random: u8) -> u64 {
    let pause = RETRY_FIRST_MS
        .saturating_mul(1_u64.checked_shl(retries).unwrap_or(u64::MAX))
        .min(RETRY_MAX_MS);
    pause.saturating_add(pause.saturating_mul(u64::from(random)) / (4 * 255))
}

/// A `retry-after` header in seconds. One with a date counts as none.
pub(crate) fn retry_after_ms(value: &str) -> Option<u64> {
    let seconds: u64 = value.trim().parse().ok()?;
    Some(seconds.saturating_mul(1_000))
}

#[cfg(test)]
mod tests {
    use super::{backoff_ms, retry_after_ms};

    #[test]
    fn pauses_double_up_to_32_seconds_with_at_most_a_quarter_more() {
        let plain: Vec<u64> = [0, 1, 2, 6, 7, 70]
            .into_iter()
            .map(|retries| backoff_ms(retries, 0))
            .collect();
        assert_eq!(plain, [500, 1_000, 2_000, 32_000, 32_000, 32_000]);
        assert_eq!(backoff_ms(0, 255), 625);
        assert_eq!(backoff_ms(9, 255), 40_000);
    }

    #[test]
    fn retry_after_is_in_seconds() {
        assert_eq!(retry_after_ms(" 3 "), Some(3_000));
        assert_eq!(retry_after_ms("Mon, 01 Jun 2026 12:00:00 GMT"), None);
        assert_eq!(retry_after_ms("-1"), None);
    }
}
