//! How often a token may ask: a bucket per token that fills steadily. Each replica has its own.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::limits::Limits;

/// The buckets, by the id of the token. Only tokens that exist get one, so there are not too many.
#[derive(Debug)]
pub(crate) struct Rate {
    rate: f64,
    burst: f64,
    buckets: Mutex<HashMap<String, Bucket>>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    level: f64,
    at: Instant,
}

impl Rate {
    pub fn new(limits: &Limits) -> Self {
        Self {
            rate: f64::from(limits.rate.max(1)),
            burst: f64::from(limits.burst.max(1)),
            buckets: Mutex::default(),
        }
    }

    /// Takes one request out of the bucket, or says how long to wait for it.
    pub fn take(&self, token: &str, now: Instant) -> Result<(), Duration> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let full = Bucket {
            level: self.burst,
            at: now,
        };
        let bucket = match buckets.get_mut(token) {
            Some(bucket) => bucket,
            None => buckets.entry(token.to_owned()).or_insert(full),
        };
        let passed = now.saturating_duration_since(bucket.at).as_secs_f64();
        bucket.level = (bucket.level + passed * self.rate).min(self.burst);
        bucket.at = now;
        if bucket.level < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - bucket.level) / self.rate));
        }
        bucket.level -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Rate;
    use crate::limits::Limits;

    #[test]
    fn a_bucket_gives_its_burst_and_then_its_rate() {
        let rate = Rate::new(&Limits {
            rate: 2,
            burst: 3,
            ..Limits::default()
        });
        let start = Instant::now();
        let after = |ms| start + Duration::from_millis(ms);
        for _ in 0..3 {
            assert_eq!(rate.take("a", start), Ok(()));
        }
        assert_eq!(rate.take("a", start), Err(Duration::from_millis(500)));
        assert_eq!(rate.take("b", start), Ok(()), "another token");
        assert!(rate.take("a", after(499)).is_err());
        assert_eq!(rate.take("a", after(500)), Ok(()));
        assert!(rate.take("a", after(500)).is_err());
        // However long the pause was, it is no more than the burst.
        for _ in 0..3 {
            assert_eq!(rate.take("a", after(100_000)), Ok(()));
        }
        assert!(rate.take("a", after(100_000)).is_err());
    }
}
