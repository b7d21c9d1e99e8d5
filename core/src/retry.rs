//! How long to wait before another try (facts 11.3), the same for everything that is asked over HTTP.

use crate::flow::{Header, Host};
use crate::limits::{RETRY_FIRST_MS, RETRY_MAX_MS};

/// The pause before the next try after `retries` that failed, the last one with these headers.
pub(crate) async fn pause_ms(host: &Host, retries: u32, headers: &[Header]) -> u64 {
    let asked = headers.iter().find(|header| header.name == "retry-after");
    let random = host.random(1).await.unwrap_or_default();
    let random = random.first().copied().unwrap_or_default();
    retry_pause_ms(retries, random, asked.map(|header| header.value.as_str()))
}

/// Milliseconds to wait before the next try after `retries` that failed: what the server asked for in
/// `retry_after` (seconds; a date counts as none), else 500 ms, doubled each time up to 32 s, and up to a
/// quarter more by `random` (0 to 255), so that many clients do not come back at once.
#[must_use]
pub fn retry_pause_ms(retries: u32, random: u8, retry_after: Option<&str>) -> u64 {
    if let Some(Ok(seconds)) = retry_after.map(|value| value.trim().parse::<u64>()) {
        return seconds.saturating_mul(1_000);
    }
    let pause = RETRY_FIRST_MS
        .saturating_mul(1_u64.checked_shl(retries).unwrap_or(u64::MAX))
        .min(RETRY_MAX_MS);
    pause.saturating_add(pause.saturating_mul(u64::from(random)) / (4 * 255))
}

#[cfg(test)]
mod tests {
    use super::retry_pause_ms;

    #[test]
    fn pauses_double_up_to_32_seconds_with_at_most_a_quarter_more() {
        let plain: Vec<u64> = [0, 1, 2, 6, 7, 70]
            .into_iter()
            .map(|retries| retry_pause_ms(retries, 0, None))
            .collect();
        assert_eq!(plain, [500, 1_000, 2_000, 32_000, 32_000, 32_000]);
        assert_eq!(retry_pause_ms(0, 255, None), 625);
        assert_eq!(retry_pause_ms(9, 255, None), 40_000);
    }

    #[test]
    fn retry_after_is_in_seconds() {
        assert_eq!(retry_pause_ms(2, 0, Some(" 3 ")), 3_000);
        assert_eq!(
            retry_pause_ms(0, 0, Some("Mon, 01 Jun 2026 12:00:00 GMT")),
            500
        );
        assert_eq!(retry_pause_ms(0, 0, Some("-1")), 500);
    }
}
