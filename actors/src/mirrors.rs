//! Which address of a venue is asked, and which next: a pure walk over its origin and the mirrors of it.

use crate::model::{Fault, Phase, Reason};
use std::time::Duration;
use tokio::time::Instant;

/// How long a mirror that worked is asked first.
const KEPT: Duration = Duration::from_secs(300);

/// Remembers which address of a venue works. Addresses are told by their place in the venue's list: 0 is the origin.
#[derive(Debug)]
pub struct Mirrors {
    count: usize,
    kept: Option<(usize, Instant)>,
}

/// Walks the addresses for one fetch, each at most once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk {
    at: usize,
    first: usize,
    count: usize,
}

impl Mirrors {
    /// Takes the number of mirrors beside the origin.
    pub fn new(mirrors: usize) -> Self {
        Self { count: mirrors.saturating_add(1), kept: None }
    }

    /// Begins a fetch: at the mirror that worked within the last 5 min, else at the origin.
    pub fn walk(&self, now: Instant) -> Walk {
        let first = self.kept.filter(|(_, until)| now < *until).map_or(0, |(at, _)| at);
        Walk { at: first, first, count: self.count }
    }

    /// Learns that an address answered. A mirror keeps the time that it has, so that the origin is tried again whatever the mirror does.
    pub fn worked(&mut self, now: Instant, at: usize) {
        self.kept = match self.kept.filter(|(kept, until)| *kept == at && now < *until) {
            Some(kept) => Some(kept),
            None if at == 0 => None,
            None => now.checked_add(KEPT).map(|until| (at, until)),
        };
    }
}

impl Walk {
    /// Gives the address to ask.
    pub fn at(self) -> usize {
        self.at
    }

    /// Gives the walk at the next address, where `fault` calls for another and one is left. What the venue said itself calls for none.
    #[must_use]
    pub fn next(self, fault: &Fault) -> Option<Self> {
        let unreached = fault.reason == Reason::Timeout && matches!(fault.phase, Some(Phase::Resolve | Phase::Connect | Phase::Tls));
        let other = self.other()?;
        (unreached || fault.reason.calls_for_mirror()).then_some(Self { at: other, ..self })
    }

    /// Tells by when to have a connection: within a third of the fetch timeout from `now`, where another address is left to try, else by the deadline.
    pub fn connect_by(self, now: Instant, fetch_timeout: Duration, deadline: Instant) -> Instant {
        match self.other() {
            Some(_) => fetch_timeout.checked_div(3).and_then(|third| now.checked_add(third)).unwrap_or(deadline).min(deadline),
            None => deadline,
        }
    }

    fn other(self) -> Option<usize> {
        let next = self.at.saturating_add(1);
        let next = if next < self.count { next } else { 0 };
        (next != self.first).then_some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(reason: Reason) -> Fault {
        Fault::new(reason, "")
    }

    fn places(mut walk: Walk, reason: Reason) -> Vec<usize> {
        let mut places = vec![walk.at()];
        while let Some(next) = walk.next(&fault(reason)) {
            walk = next;
            places.push(walk.at());
        }
        places
    }

    #[test]
    fn each_address_is_tried_once_beginning_with_the_one_that_worked() {
        let (mut mirrors, now) = (Mirrors::new(2), Instant::now());
        assert_eq!(places(mirrors.walk(now), Reason::Dns), [0, 1, 2]);
        mirrors.worked(now, 1);
        assert_eq!(places(mirrors.walk(now), Reason::Reset), [1, 2, 0]);
        assert_eq!(places(Mirrors::new(0).walk(now), Reason::Dns), [0]);
    }

    #[test]
    fn a_mirror_is_kept_five_minutes_from_its_first_answer() {
        let (mut mirrors, start) = (Mirrors::new(1), Instant::now());
        mirrors.worked(start, 1);
        let later = start + KEPT - Duration::from_millis(1);
        mirrors.worked(later, 1);
        assert_eq!(mirrors.walk(later).at(), 1);
        assert_eq!(mirrors.walk(start + KEPT).at(), 0);
        mirrors.worked(start + KEPT, 1);
        assert_eq!(mirrors.walk(start + KEPT).at(), 1);
        mirrors.worked(start + KEPT, 0);
        assert_eq!(mirrors.walk(start + KEPT).at(), 0);
    }

    #[test]
    fn only_an_address_that_does_not_serve_calls_for_the_next() {
        let walk = Mirrors::new(1).walk(Instant::now());
        for reason in Reason::ALL.iter().copied() {
            let expected = ["dns", "refused", "tls", "reset", "protocol", "html", "http_5xx"].contains(&reason.slug());
            assert_eq!(walk.next(&fault(reason)).is_some(), expected, "{reason}");
        }
        for (phase, expected) in
            [(Phase::Resolve, true), (Phase::Connect, true), (Phase::Tls, true), (Phase::Request, false), (Phase::Body, false)]
        {
            assert_eq!(walk.next(&fault(Reason::Timeout).in_phase(phase)).is_some(), expected, "{phase:?}");
        }
    }

    #[test]
    fn a_third_of_the_time_is_for_connecting_while_an_address_is_left() {
        let (now, whole) = (Instant::now(), Duration::from_secs(6));
        let deadline = now + whole;
        let walk = Mirrors::new(1).walk(now);
        assert_eq!(walk.connect_by(now, whole, deadline), now + whole / 3);
        assert_eq!(walk.connect_by(now + whole * 5 / 6, whole, deadline), deadline);
        assert_eq!(walk.next(&fault(Reason::Dns)).unwrap().connect_by(now, whole, deadline), deadline);
    }
}
