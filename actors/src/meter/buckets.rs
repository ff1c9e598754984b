//! Durations counted under bounds of the reader's choice, as a scraper wants them: exact, and few.

use super::add;
use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

/// Counts durations under fixed bounds; any thread may add.
#[derive(Debug)]
pub struct Buckets {
    bounds_us: &'static [u64],
    /// One more than there are bounds: the last is for what is above them all.
    counts: Box<[AtomicU64]>,
    sum_us: AtomicU64,
}

/// The counts of one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BucketCounts {
    /// The bounds, in microseconds, each included in its bucket.
    pub bounds_us: &'static [u64],
    /// How many were under each bound and above the one before; the last is for what is above them all.
    pub counts: Vec<u64>,
    /// Sum of all durations, in microseconds.
    pub sum_us: u64,
}

impl Buckets {
    /// Makes empty buckets; the bounds rise.
    pub fn new(bounds_us: &'static [u64]) -> Self {
        let counts = bounds_us.iter().chain([&u64::MAX]).map(|_| AtomicU64::new(0)).collect();
        Self { bounds_us, counts, sum_us: AtomicU64::new(0) }
    }

    /// Adds one duration.
    pub fn record(&self, duration: Duration) {
        let us = duration.as_secs().saturating_mul(1_000_000).saturating_add(u64::from(duration.subsec_micros()));
        // What is measured most is what was quick: the first bounds.
        let bucket = self.bounds_us.iter().position(|bound| us <= *bound).unwrap_or(self.bounds_us.len());
        if let Some(count) = self.counts.get(bucket) {
            add(count, 1);
        }
        add(&self.sum_us, us);
    }

    /// Tells whether nothing was ever added.
    pub fn is_empty(&self) -> bool {
        self.counts.iter().all(|count| count.load(Relaxed) == 0)
    }

    /// Gives the counts of this moment.
    pub fn counts(&self) -> BucketCounts {
        let counts = self.counts.iter().map(|count| count.load(Relaxed)).collect();
        BucketCounts { bounds_us: self.bounds_us, counts, sum_us: self.sum_us.load(Relaxed) }
    }
}

impl BucketCounts {
    /// Counts all durations.
    pub fn total(&self) -> u64 {
        self.counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Gives the bound under which the quantile lies, in microseconds; `None` where nothing was counted, or it lies above all bounds.
    pub fn quantile_us(&self, percent: u64) -> Option<u64> {
        let rank = self.total().saturating_mul(percent).div_ceil(100).max(1);
        let mut seen = 0_u64;
        let at = self.counts.iter().position(|count| {
            seen = seen.saturating_add(*count);
            seen >= rank
        })?;
        self.bounds_us.get(at).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_counted_under_the_first_bound_that_holds_it() {
        let buckets = Buckets::new(&[10, 100]);
        assert!(buckets.is_empty() && buckets.counts().quantile_us(50).is_none());
        for us in [0, 10, 11, 100, 101, 5_000_000] {
            buckets.record(Duration::from_micros(us));
        }
        let counts = buckets.counts();
        assert!(!buckets.is_empty());
        assert_eq!((counts.counts.as_slice(), counts.sum_us, counts.total()), ([2, 2, 2].as_slice(), 5_000_222, 6));
        assert_eq!((counts.quantile_us(33), counts.quantile_us(50), counts.quantile_us(99)), (Some(10), Some(100), None));
    }
}
