//! What may still be asked of a venue: its documented budget, never overdrawn in any window, a tenth of it kept for polling.
//!
//! governor's bucket of `burst` cells that refills at a rate lets `burst + rate × window` through in a window. So half of the budget is the burst and the other
//! half the refill: together the venue's number, whenever its window begins.

use crate::{
    model::{Fault, Reason, Retry},
    venue::Budget,
};
use governor::{
    NotUntil, Quota, RateLimiter,
    clock::{Clock, Reference},
    middleware::NoOpMiddleware,
    nanos::Nanos,
    state::{StateStore, direct::NotKeyed},
};
use std::{cell::Cell, num::NonZeroU32, ops::Add, rc::Rc, time::Duration};
use tokio::time::Instant;

/// The longest window that is told apart; governor counts nanoseconds in 64 bits.
const WINDOW_MOST: Duration = Duration::from_secs(30 * 86_400);

/// What is left of the bucket for callers and for the polls that are due, in per cent, however much is to be hurried.
pub const LEFT_PERCENT: u32 = 25;

/// Tells for whom a request is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The engine's own polling, which may use all.
    Poll,
    /// A caller who waits, for whom a tenth is out of reach.
    Demand,
}

/// Meters the requests to one venue on tokio's clock. It lives on one thread, as its actor does.
pub struct Allowance {
    limiter: RateLimiter<NotKeyed, Tank, TokioClock, NoOpMiddleware<Tick>>,
    tank: Tank,
    clock: TokioClock,
    /// The weight of one cell: 1, or a request's weight where one alone is more than half of the budget.
    unit: u32,
    /// How long one cell takes to come back.
    each: Duration,
    /// How long the whole bucket takes to refill.
    full: Duration,
}

impl Allowance {
    /// Takes a venue's budget and the weight of its heaviest request.
    pub fn new(budget: &Budget, heaviest: u32) -> Self {
        let unit = if heaviest > budget.weight / 2 { heaviest.max(1) } else { 1 };
        let cells = budget.weight.checked_div(unit).unwrap_or(1).max(1);
        let burst = NonZeroU32::new(cells / 2).unwrap_or(NonZeroU32::MIN);
        let refill = cells.saturating_sub(burst.get()).max(1);
        // Rounded up, so that a window's end does not let one more through.
        let each = budget.per.min(WINDOW_MOST).checked_div(refill).unwrap_or_default().saturating_add(Duration::from_nanos(1));
        let quota = Quota::with_period(each).unwrap_or(Quota::per_second(NonZeroU32::MIN)).allow_burst(burst);
        let (tank, clock) = (Tank::default(), TokioClock::start());
        let limiter = RateLimiter::new(quota, tank.clone(), clock.clone());
        let full = each.saturating_mul(burst.get());
        clock.ahead.set(full);
        Self { limiter, tank, clock, unit, each, full }
    }

    /// Takes `weight` from the budget, or nothing at all.
    ///
    /// # Errors
    /// `over_budget`, with the time after which the same request would pass; without one where it is heavier than the budget ever allows.
    pub fn try_take(&self, weight: u32, purpose: Purpose) -> Result<(), Fault> {
        let Some(cells) = NonZeroU32::new(weight.div_ceil(self.unit)) else { return Ok(()) };
        if purpose == Purpose::Demand {
            // Asked of a clock that is a tenth of the bucket behind, without taking: what passes there leaves that tenth.
            self.clock.ahead.set(self.full.saturating_mul(9).checked_div(10).unwrap_or_default());
            self.tank.dry.set(true);
            let trial = self.check(cells);
            self.tank.dry.set(false);
            self.clock.ahead.set(self.full);
            trial?;
        }
        self.check(cells)
    }

    /// Tells when all of it will be back, if nothing more is taken: what an actor leaves to the one that is built after it.
    pub fn full_at(&self) -> Instant {
        let (now, full_at) = (Instant::now(), self.tank.full_at());
        let left = Tick::duration_since(&full_at, self.clock.now()).as_u64();
        now.checked_add(Duration::from_nanos(left)).unwrap_or(now)
    }

    /// Tells how long the whole of what may be asked at once takes to come back.
    pub fn full_for(&self) -> Duration {
        self.full
    }

    /// Takes over what an earlier one had left.
    pub fn resume(&self, full_at: Instant) {
        let left = u64::try_from(full_at.saturating_duration_since(Instant::now()).as_nanos()).unwrap_or(u64::MAX);
        self.tank.full_at.set(Some(Nanos::new(self.clock.now().0.saturating_add(left))));
    }

    /// Tells how much of what may be asked at once is left, in per cent.
    pub fn share_left(&self) -> u32 {
        let full = self.full.as_nanos().max(1);
        let until_full = Tick::duration_since(&self.tank.full_at(), self.clock.now()).as_u64();
        let left = full.saturating_sub(u128::from(until_full)).saturating_mul(100).checked_div(full).unwrap_or(0);
        u32::try_from(left).unwrap_or(100)
    }

    /// Tells how far apart requests must be for the budget to last so long: for what comes back meanwhile, and what is in the bucket beyond [`LEFT_PERCENT`].
    pub fn pace(&self, over: Duration) -> Duration {
        let spare = self.share_left().saturating_sub(LEFT_PERCENT);
        let to_spend = self.full.saturating_mul(spare).checked_div(100).unwrap_or_default().saturating_add(over).as_nanos().max(1);
        let nanos = over.as_nanos().saturating_mul(self.each.as_nanos()).checked_div(to_spend).unwrap_or(0);
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    fn check(&self, cells: NonZeroU32) -> Result<(), Fault> {
        match self.limiter.check_n(cells) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(not_until)) => Err(self.refusal(&not_until)),
            Err(_) => Err(Fault::new(Reason::OverBudget, "the request weighs more than the venue's budget allows at once")),
        }
    }

    fn refusal(&self, not_until: &NotUntil<Tick>) -> Fault {
        let wait = not_until.wait_time_from(self.clock.now());
        Fault::new(Reason::OverBudget, "the venue's request budget is used up").retry(Some(Retry::After(wait)))
    }
}

/// The state of the bucket: when it will be full. While `dry`, questions change nothing.
#[derive(Clone, Default)]
struct Tank(Rc<TankState>);

#[derive(Default)]
struct TankState {
    full_at: Cell<Option<Nanos>>,
    dry: Cell<bool>,
}

impl std::ops::Deref for Tank {
    type Target = TankState;

    fn deref(&self) -> &TankState {
        &self.0
    }
}

impl Tank {
    fn full_at(&self) -> Tick {
        Tick(self.0.full_at.get().map_or(0, Nanos::as_u64))
    }
}

impl StateStore for Tank {
    type Key = NotKeyed;

    fn measure_and_replace<T, F, E>(&self, _: &NotKeyed, decide: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let (outcome, full_at) = decide(self.full_at.get())?;
        if !self.dry.get() {
            self.full_at.set(Some(full_at));
        }
        Ok(outcome)
    }
}

/// Tokio's clock for governor, so that a paused test governs it too. It runs ahead by a whole bucket, which leaves room to set it back.
#[derive(Clone)]
struct TokioClock {
    start: Instant,
    ahead: Rc<Cell<Duration>>,
}

impl TokioClock {
    fn start() -> Self {
        Self { start: Instant::now(), ahead: Rc::default() }
    }
}

impl Clock for TokioClock {
    type Instant = Tick;

    fn now(&self) -> Tick {
        let since = self.start.elapsed().saturating_add(self.ahead.get());
        Tick(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
    }
}

/// Nanoseconds on that clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Tick(u64);

impl Add<Nanos> for Tick {
    type Output = Self;

    fn add(self, by: Nanos) -> Self {
        Self(self.0.saturating_add(by.as_u64()))
    }
}

impl Reference for Tick {
    fn duration_since(&self, earlier: Self) -> Nanos {
        self.0.saturating_sub(earlier.0).into()
    }

    fn saturating_sub(&self, by: Nanos) -> Self {
        Self(self.0.saturating_sub(by.as_u64()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    fn budget(weight: u32, ms: u64) -> Budget {
        Budget { weight, per: Duration::from_millis(ms) }
    }

    fn wait_of(fault: &Fault) -> Duration {
        assert_eq!(fault.reason, Reason::OverBudget);
        match fault.retry {
            Some(Retry::After(wait)) => wait,
            other => panic!("no wait: {other:?}"),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn no_window_passes_more_than_the_venue_allows_and_half_of_it_always_passes() {
        for (weight, heaviest, seed) in [(1, 1, 1), (2, 1, 2), (3, 2, 3), (7, 5, 4), (10, 8, 5), (20, 1, 6), (600, 60, 7), (6000, 80, 8)] {
            let (window, mut rng) = (Duration::from_secs(1), fastrand::Rng::with_seed(seed));
            let allowance = Allowance::new(&budget(weight, 1000), heaviest);
            let (mut taken, mut total, start) = (VecDeque::new(), 0_u64, Instant::now());
            while start.elapsed() < Duration::from_secs(20) {
                let weighs = rng.u32(1..=heaviest);
                let purpose = if rng.bool() { Purpose::Poll } else { Purpose::Demand };
                match allowance.try_take(weighs, purpose) {
                    Ok(()) => {
                        taken.push_back((Instant::now(), weighs));
                        total += u64::from(weighs);
                    }
                    Err(fault) => tokio::time::advance(wait_of(&fault).min(Duration::from_millis(rng.u64(1..300)))).await,
                }
                while taken.front().is_some_and(|(at, _): &(Instant, u32)| at.elapsed() >= window) {
                    taken.pop_front();
                }
                let within: u32 = taken.iter().map(|(_, weight)| weight).sum();
                assert!(within <= weight, "{within} of {weight} within a window");
            }
            // One request a window where one alone takes more than half.
            let least = if heaviest > weight / 2 { 19 } else { 20 * u64::from(weight) * 4 / 10 };
            assert!(total >= least, "{total} of {weight} a second in 20 s");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_tenth_is_left_for_polling_whatever_is_demanded() {
        let allowance = Allowance::new(&budget(200, 10_000), 1);
        let demanded = (0..1000).filter(|_| allowance.try_take(1, Purpose::Demand).is_ok()).count();
        assert_eq!((demanded, allowance.share_left()), (90, 10));
        let refused = allowance.try_take(1, Purpose::Demand).unwrap_err();
        let polled = (0..1000).filter(|_| allowance.try_take(1, Purpose::Poll).is_ok()).count();
        assert_eq!((polled, allowance.share_left()), (10, 0));
        assert!((99..=101).contains(&wait_of(&refused).as_millis()), "{refused:?}");
        tokio::time::advance(Duration::from_millis(1010)).await;
        assert!(allowance.try_take(1, Purpose::Demand).is_err());
        assert!(allowance.try_take(10, Purpose::Poll).is_ok());
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!(allowance.share_left(), 100);
    }

    #[tokio::test(start_paused = true)]
    async fn a_refused_request_takes_nothing_and_passes_after_the_wait_it_was_told() {
        for purpose in [Purpose::Poll, Purpose::Demand] {
            let allowance = Allowance::new(&budget(1, 2000), 1);
            tokio::time::advance(Duration::from_secs(5)).await;
            allowance.try_take(1, purpose).unwrap();
            let told = wait_of(&allowance.try_take(1, purpose).unwrap_err());
            for _ in 0..100 {
                assert_eq!(wait_of(&allowance.try_take(1, purpose).unwrap_err()), told, "{purpose:?}");
            }
            tokio::time::advance(told - Duration::from_millis(1)).await;
            assert!(allowance.try_take(1, purpose).is_err());
            tokio::time::advance(Duration::from_millis(2)).await;
            allowance.try_take(1, purpose).unwrap();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_takes_over_has_what_was_left_and_no_more() {
        let first = Allowance::new(&budget(20, 10_000), 1);
        tokio::time::advance(Duration::from_secs(100)).await;
        let taken = (0..100).filter(|_| first.try_take(1, Purpose::Poll).is_ok()).count();
        assert_eq!(taken, 10);
        tokio::time::advance(Duration::from_secs(1)).await;
        let second = Allowance::new(&budget(20, 10_000), 1);
        second.resume(first.full_at());
        assert_eq!((second.share_left(), first.share_left()), (9, 9));
        assert!(second.try_take(1, Purpose::Poll).is_err(), "an empty bucket stays empty");
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!(second.share_left(), 100);
    }

    #[tokio::test(start_paused = true)]
    async fn odd_budgets_and_weights_are_no_panic() {
        let allowance = Allowance::new(&budget(100, 1000), 10);
        allowance.try_take(0, Purpose::Demand).unwrap();
        let never = allowance.try_take(51, Purpose::Poll).unwrap_err();
        assert_eq!((never.reason, never.retry), (Reason::OverBudget, None));
        assert_eq!(allowance.try_take(u32::MAX, Purpose::Poll).unwrap_err().retry, None);
        for (weight, ms, heaviest) in [(0, 0, 0), (0, 1000, 5), (u32::MAX, 1, u32::MAX), (u32::MAX, u64::MAX, 1), (1, u64::MAX, 1)] {
            let allowance = Allowance::new(&budget(weight, ms), heaviest);
            for purpose in [Purpose::Poll, Purpose::Demand, Purpose::Poll] {
                let _ = allowance.try_take(1, purpose);
                assert!(allowance.share_left() <= 100);
            }
        }
    }
}
