//! Collects timings and gives their median.

use std::error::Error;
use std::time::Instant;

use crate::Row;

/// Counted rounds of each measurement.
pub const ROUNDS: usize = 300;

/// The timings of one measurement, in milliseconds.
#[derive(Default)]
pub struct Samples(Vec<f64>);

impl Samples {
    /// Times one round.
    pub fn time<T>(
        &mut self,
        round: impl FnOnce() -> Result<T, Box<dyn Error>>,
    ) -> Result<(), Box<dyn Error>> {
        let start = Instant::now();
        std::hint::black_box(round()?);
        self.0.push(start.elapsed().as_secs_f64() * 1000.0);
        Ok(())
    }

    /// Whether a round took longer than that.
    pub fn any_above(&self, ms: f64) -> bool {
        self.0.iter().any(|sample| *sample > ms)
    }

    /// The median.
    pub fn median_ms(mut self) -> f64 {
        self.0.sort_by(f64::total_cmp);
        self.0.get(self.0.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

/// The median of a named row.
pub fn median_ms(rows: &[Row], name: &str) -> Result<f64, Box<dyn Error>> {
    let row = rows.iter().find(|(row, _)| row == name);
    row.map(|(_, ms)| *ms)
        .ok_or_else(|| format!("the script did not measure {name:?}").into())
}
