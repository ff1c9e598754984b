//! One scatter and gather, as a value: who was asked, who has answered, and which callers are satisfied by when. No clock, no actor.

use crate::terms::Terms;
use tokio::time::Instant;

/// Holds a round for one pair, shared by all who ask for it meanwhile. `W` is how a caller is answered.
#[derive(Debug)]
pub struct Round<W> {
    pending: Vec<bool>,
    /// When each venue was last heard of: it may be asked again for one caller while another has its answer already.
    heard: Vec<Option<Instant>>,
    waiters: Vec<Waiter<W>>,
}

/// Holds one caller of a round.
#[derive(Debug)]
pub struct Waiter<W> {
    /// How he is answered.
    pub reply: W,
    /// What he demands.
    pub terms: Terms,
    /// When he came: what was learnt since then is fresh to him.
    pub joined: Instant,
    /// When he must be answered.
    pub deadline: Instant,
    /// The venues he waits for.
    pub needs: Vec<usize>,
}

/// Tells why a caller's wait is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All that he waits for are in.
    All,
    /// As many admitted quotes as he wants are in.
    Enough,
    /// His deadline has come.
    Deadline,
}

impl<W> Round<W> {
    /// Begins a round over `venues` venues, none of them asked yet.
    pub fn begin(venues: usize) -> Self {
        Self { pending: vec![false; venues], heard: vec![None; venues], waiters: Vec::new() }
    }

    /// Notes that a venue is being asked; tells whether it was not already.
    pub fn ask(&mut self, venue: usize) -> bool {
        self.pending.get_mut(venue).is_some_and(|pending| !std::mem::replace(pending, true))
    }

    /// Notes that a venue's answer, of whatever kind, is in.
    pub fn arrived(&mut self, venue: usize, now: Instant) {
        if let (Some(pending), Some(heard)) = (self.pending.get_mut(venue), self.heard.get_mut(venue)) {
            *pending = false;
            *heard = Some(now);
        }
    }

    /// Tells whether a venue is still being waited for.
    pub fn is_pending(&self, venue: usize) -> bool {
        self.pending.get(venue).copied().unwrap_or(false)
    }

    /// Adds a caller.
    pub fn join(&mut self, waiter: Waiter<W>) {
        self.waiters.push(waiter);
    }

    /// Tells whether nobody is waited for and nobody waits.
    pub fn is_over(&self) -> bool {
        self.waiters.is_empty() && !self.pending.contains(&true)
    }

    /// Gives the earliest deadline of those who wait.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.waiters.iter().map(|w| w.deadline).min()
    }

    /// Gives the latest deadline of those who wait for a venue.
    pub fn awaited_until(&self, venue: usize) -> Option<Instant> {
        self.waiters.iter().filter(|w| w.needs.contains(&venue)).map(|w| w.deadline).max()
    }

    /// Takes out the callers whose wait is over; `admitted` counts the quotes at hand that a caller's terms admit.
    pub fn finished(&mut self, now: Instant, admitted: impl Fn(&Waiter<W>) -> usize) -> Vec<(Waiter<W>, End)> {
        let Self { pending, heard, waiters } = self;
        let mut ends = Vec::new();
        let done = waiters.extract_if(.., |waiter| {
            let is_pending = |venue: &usize| pending.get(*venue).copied().unwrap_or(false);
            let is_heard = |venue: &usize| heard.get(*venue).copied().flatten().is_some_and(|at| at >= waiter.joined);
            let all = waiter.needs.iter().all(|venue| !is_pending(venue) || is_heard(venue));
            let end = match waiter.terms.min_sources {
                _ if all => Some(End::All),
                Some(enough) if admitted(waiter) >= enough => Some(End::Enough),
                _ => (waiter.deadline <= now).then_some(End::Deadline),
            };
            ends.extend(end);
            end.is_some()
        });
        let done: Vec<_> = done.collect();
        done.into_iter().zip(ends).collect()
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::terms::VenueFilter;
    use std::time::Duration;

    fn waiter(name: &'static str, now: Instant, deadline_ms: u64, min_sources: Option<usize>) -> Waiter<&'static str> {
        let deadline = Duration::from_millis(deadline_ms);
        let terms = Terms { max_age: Duration::ZERO, min_sources, deadline, venues: VenueFilter::All, fresh: true };
        Waiter { reply: name, terms, joined: now, deadline: now + deadline, needs: vec![0, 1, 2] }
    }

    #[tokio::test(start_paused = true)]
    async fn each_caller_is_answered_by_his_own_terms() {
        let now = Instant::now();
        let mut round = Round::begin(3);
        assert!((0..3).all(|v| round.ask(v)) && !round.ask(1), "one asking a venue");
        round.join(waiter("patient", now, 1000, None));
        round.join(waiter("hasty", now, 100, None));
        round.join(waiter("modest", now, 1000, Some(2)));
        let ended = |round: &mut Round<_>, at: u64, have: usize| -> Vec<_> {
            round.finished(now + Duration::from_millis(at), |_| have).into_iter().map(|(w, end)| (w.reply, end)).collect()
        };
        round.arrived(0, now);
        assert_eq!(ended(&mut round, 10, 1), []);
        assert_eq!(round.next_deadline(), Some(now + Duration::from_millis(100)));
        assert_eq!(ended(&mut round, 100, 1), [("hasty", End::Deadline)]);
        round.arrived(1, now);
        assert_eq!(ended(&mut round, 200, 2), [("modest", End::Enough)]);
        assert!(!round.is_over() && round.is_pending(2));
        round.arrived(2, now);
        assert_eq!(ended(&mut round, 300, 3), [("patient", End::All)]);
        assert!(round.is_over());
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_his_answers_does_not_wait_for_what_another_asks_again() {
        let (now, later) = (Instant::now(), Instant::now() + Duration::from_millis(50));
        let mut round = Round::begin(2);
        assert!(round.ask(0) && round.ask(1));
        round.join(Waiter { needs: vec![0, 1], ..waiter("first", now, 1000, None) });
        round.arrived(0, now + Duration::from_millis(10));
        assert!(round.ask(0), "asked again for one who comes later");
        round.join(Waiter { needs: vec![0, 1], joined: later, ..waiter("second", now, 1000, None) });
        round.arrived(1, later + Duration::from_millis(10));
        let done: Vec<_> = round.finished(later + Duration::from_millis(10), |_| 0).into_iter().map(|(w, _)| w.reply).collect();
        assert_eq!(done, ["first"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_straggler_keeps_the_round_when_nobody_waits_any_more() {
        let now = Instant::now();
        let mut round = Round::begin(1);
        round.ask(0);
        round.join(Waiter { needs: vec![0], ..waiter("hasty", now, 5, None) });
        assert_eq!(round.finished(now + Duration::from_millis(5), |_| 0).len(), 1);
        assert!(!round.is_over());
        round.arrived(0, now);
        assert!(round.is_over());
    }
}
