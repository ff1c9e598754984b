//! Durations in fixed buckets: four to each doubling, from 64 ns to 9 minutes, so that a quantile is at most a quarter too high and never too low.

use super::add;
use std::{
    array, iter,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

const BUCKETS: usize = 128;
/// The unit of the first buckets, as a shift: 64 ns.
const UNIT: u32 = 6;

/// A histogram that any thread may write.
#[derive(Debug)]
pub(super) struct Histogram {
    buckets: [AtomicU64; BUCKETS],
    sum_ns: AtomicU64,
    max_ns: AtomicU64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { buckets: array::from_fn(|_| AtomicU64::new(0)), sum_ns: AtomicU64::new(0), max_ns: AtomicU64::new(0) }
    }
}

impl Histogram {
    pub(super) fn record(&self, ns: u64) {
        self.record_in(bucket_of(ns), ns);
    }

    /// Records a duration whose bucket is known.
    pub(super) fn record_in(&self, bucket: usize, ns: u64) {
        if let Some(bucket) = self.buckets.get(bucket) {
            add(bucket, 1);
        }
        add(&self.sum_ns, ns);
        if ns > self.max_ns.load(Relaxed) {
            self.max_ns.fetch_max(ns, Relaxed);
        }
    }

    pub(super) fn counts(&self) -> Counts {
        let is_used = |bucket: &AtomicU64| bucket.load(Relaxed) > 0;
        let Some(first) = self.buckets.iter().position(is_used) else { return Counts::default() };
        let last = self.buckets.iter().rposition(is_used).unwrap_or(first);
        let used = self.buckets.get(first..=last).unwrap_or_default();
        Counts { first, counts: used.iter().map(|bucket| bucket.load(Relaxed)).collect() }
    }

    pub(super) fn sum_ns(&self) -> u64 {
        self.sum_ns.load(Relaxed)
    }

    pub(super) fn max_ns(&self) -> u64 {
        self.max_ns.load(Relaxed)
    }
}

/// The bucket counts of a histogram at one moment: those from the first that counted anything to the last, which are few.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    first: usize,
    counts: Vec<u64>,
}

impl Counts {
    /// Gives what was counted since an earlier moment.
    pub(super) fn since(&self, earlier: &Self) -> Self {
        let then = |bucket: usize| bucket.checked_sub(earlier.first).and_then(|at| earlier.counts.get(at)).copied().unwrap_or(0);
        let counts = (self.first..).zip(&self.counts).map(|(bucket, now)| now.saturating_sub(then(bucket))).collect();
        Self { first: self.first, counts }
    }

    /// Adds the counts of another histogram.
    pub(super) fn join(&mut self, other: &Self) {
        if other.counts.is_empty() {
            return;
        }
        if self.counts.is_empty() {
            self.clone_from(other);
            return;
        }
        let before = self.first.saturating_sub(other.first);
        self.counts.splice(0..0, iter::repeat_n(0, before));
        self.first = self.first.saturating_sub(before);
        let offset = other.first.saturating_sub(self.first);
        let length = offset.saturating_add(other.counts.len()).max(self.counts.len());
        self.counts.resize(length, 0);
        for (sum, count) in self.counts.iter_mut().skip(offset).zip(&other.counts) {
            *sum = sum.saturating_add(*count);
        }
    }

    pub(super) fn total(&self) -> u64 {
        self.counts.iter().fold(0, |sum: u64, count| sum.saturating_add(*count))
    }

    /// Gives the upper end of the bucket that holds the quantile of so many in all, in nanoseconds; 0 when nothing was counted.
    pub(super) fn quantile_ns(&self, total: u64, percent: u64) -> u64 {
        let rank = total.saturating_mul(percent).div_ceil(100).max(1);
        let mut seen = 0_u64;
        for (bucket, count) in (self.first..).zip(&self.counts) {
            seen = seen.saturating_add(*count);
            if seen >= rank {
                return upper_ns(bucket);
            }
        }
        0
    }

    /// Gives the upper end of the highest bucket in use, in nanoseconds.
    pub(super) fn max_ns(&self) -> u64 {
        self.counts.iter().rposition(|count| *count > 0).map_or(0, |at| upper_ns(self.first.saturating_add(at)))
    }
}

/// Gives the bucket of a duration: with 4 added, so that the smallest ones have buckets of their own too, the position of its highest bit and the two bits
/// after that.
pub(super) fn bucket_of(ns: u64) -> usize {
    let units = (ns >> UNIT).saturating_add(4);
    let octave = 61_u32.saturating_sub((units | 4).leading_zeros());
    let index = u64::from(octave << 2).wrapping_add(units >> octave).wrapping_sub(4);
    usize::try_from(index).map_or(BUCKETS - 1, |index| index.min(BUCKETS - 1))
}

/// Gives the first duration beyond a bucket, in nanoseconds.
fn upper_ns(bucket: usize) -> u64 {
    let bucket = u64::try_from(bucket).unwrap_or(u64::MAX);
    let units = ((bucket & 3).saturating_add(5) << (bucket >> 2)).saturating_sub(4);
    units << UNIT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_duration_is_below_the_end_of_its_bucket_and_not_below_the_one_before() {
        let mut ns = 0_u64;
        while ns < 500_000_000_000 {
            for ns in [ns, ns + 1, ns + 63, ns + 64] {
                let bucket = bucket_of(ns);
                assert!(ns < upper_ns(bucket), "{ns} in {bucket}");
                assert!(bucket == 0 || ns >= upper_ns(bucket - 1), "{ns} in {bucket}");
                assert!(upper_ns(bucket) <= ns + ns / 4 + 65, "{ns} in {bucket}: {}", upper_ns(bucket));
            }
            ns = ns * 9 / 8 + 1;
        }
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn buckets_grow_one_after_the_other() {
        assert!((1..BUCKETS).all(|i| upper_ns(i) > upper_ns(i - 1)));
    }

    #[test]
    fn quantiles_are_read_from_ranks() {
        let histogram = Histogram::default();
        assert_eq!((histogram.counts().quantile_ns(0, 99), histogram.counts().max_ns()), (0, 0));
        for ms in 1..=100_u64 {
            histogram.record(ms * 1_000_000);
        }
        let counts = histogram.counts();
        assert_eq!((counts.total(), histogram.max_ns(), histogram.sum_ns()), (100, 100_000_000, 5_050_000_000));
        for (percent, ms) in [(1, 1), (50, 50), (99, 99), (100, 100)] {
            let ns = counts.quantile_ns(100, percent);
            assert!(ns > ms * 1_000_000 && ns <= ms * 1_250_000, "p{percent} {ns}");
        }
        assert!(counts.max_ns() >= 100_000_000);
    }

    #[test]
    fn the_difference_of_two_moments_is_what_came_between() {
        let histogram = Histogram::default();
        histogram.record(1_000);
        let before = histogram.counts();
        histogram.record(2_000_000);
        let between = histogram.counts().since(&before);
        assert_eq!(between.total(), 1);
        assert!(between.quantile_ns(1, 50) > 2_000_000);
        assert_eq!(before.since(&before).total(), 0);
    }

    #[test]
    fn counts_are_joined_wherever_they_lie() {
        let of = |all: &[u64]| {
            let histogram = Histogram::default();
            all.iter().for_each(|ns| histogram.record(*ns));
            histogram.counts()
        };
        let (low, middle, high) = ([100, 5_000], [4_000, 80_000], [70_000, 9_000_000]);
        for (one, other) in [(&low, &high), (&high, &low), (&low, &middle), (&middle, &low), (&high, &middle), (&middle, &middle)] {
            let (mut joined, all) = (of(one), of(&[*one, *other].concat()));
            joined.join(&of(other));
            assert_eq!((joined.first, &joined.counts), (all.first, &all.counts), "{one:?} {other:?}");
            joined.join(&Counts::default());
            assert_eq!(joined.counts, all.counts);
        }
        let mut none = Counts::default();
        none.join(&Counts::default());
        assert_eq!((none.total(), none.max_ns()), (0, 0));
    }
}
