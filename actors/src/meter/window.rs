//! Sliding windows at no cost to the actor: histograms only ever add up, the reader keeps copies of past moments and subtracts.
//!
//! A window keeps a copy each third of its length, so it spans between one and one and a third lengths (`over_s` says how much exactly).
//! Copies are taken by `Registry::tick`, at most five a window.

use super::cell::CellCounts;
use std::{collections::VecDeque, sync::Arc};

const MINUTE_NS: u64 = 60_000_000_000;

/// The bucket counts of all types of messages at one moment.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    /// Nanoseconds since the meter's epoch.
    pub(super) at: u64,
    /// In the order of the meter's cells; one that is absent counted nothing then.
    pub(super) cells: Arc<[CellCounts]>,
}

/// The windows over 1 and 15 minutes.
#[derive(Debug)]
pub(super) struct Windows {
    pub(super) minute: Window,
    pub(super) quarter: Window,
}

impl Windows {
    pub(super) fn new() -> Self {
        Self { minute: Window::new(MINUTE_NS), quarter: Window::new(MINUTE_NS.saturating_mul(15)) }
    }

    /// Takes the copies that are due.
    pub(super) fn tick(&mut self, now: u64, counts: impl Fn() -> Arc<[CellCounts]>) {
        let due: Vec<&mut Window> = [&mut self.minute, &mut self.quarter].into_iter().filter(|window| window.is_due(now)).collect();
        if !due.is_empty() {
            let cells = counts();
            due.into_iter().for_each(|window| window.push(Mark { at: now, cells: Arc::clone(&cells) }));
        }
    }
}

/// Copies of past moments, the oldest first; never empty.
#[derive(Debug)]
pub(super) struct Window {
    length_ns: u64,
    oldest: Mark,
    later: VecDeque<Mark>,
}

impl Window {
    fn new(length_ns: u64) -> Self {
        Self { length_ns, oldest: Mark { at: 0, cells: Arc::new([]) }, later: VecDeque::new() }
    }

    fn is_due(&self, now: u64) -> bool {
        let last = self.later.back().unwrap_or(&self.oldest).at;
        now.saturating_sub(last) >= self.length_ns.div_euclid(3)
    }

    fn push(&mut self, mark: Mark) {
        let now = mark.at;
        self.later.push_back(mark);
        while self.later.front().is_some_and(|second| now.saturating_sub(second.at) >= self.length_ns) {
            if let Some(second) = self.later.pop_front() {
                self.oldest = second;
            }
        }
    }

    /// Gives the moment that the window begins with.
    pub(super) fn begin(&self) -> &Mark {
        &self.oldest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_spans_its_length_and_up_to_a_third_more() {
        let mut windows = Windows::new();
        let second = 1_000_000_000;
        for s in 1..2_000_u64 {
            let now = s * second;
            windows.tick(now, || Arc::new([]));
            for (window, length) in [(&windows.minute, 60), (&windows.quarter, 900)] {
                let over = (now - window.begin().at) / second;
                assert!(over <= length * 4 / 3, "{over} s of {length}");
                assert!(over >= length.min(s), "{over} s of {length} at {s} s");
                assert!(window.later.len() <= 5);
            }
        }
    }

    #[test]
    fn after_a_gap_in_the_ticks_a_window_begins_at_the_last_copy() {
        let mut windows = Windows::new();
        for s in [20, 40, 400] {
            windows.tick(s * 1_000_000_000, || Arc::new([]));
        }
        assert_eq!(windows.minute.begin().at, 40_000_000_000);
    }
}
