#![allow(clippy::arithmetic_side_effects)]
use super::*;

const WALL: UnixMs = UnixMs(1_796_036_400_000);
const FETCH: Duration = Duration::from_secs(5);

fn fault(reason: Reason) -> Fault {
    Fault::new(reason, "")
}

fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

struct Bench {
    breaker: Breaker,
    now: Instant,
}

impl Bench {
    fn new() -> Self {
        Self { breaker: Breaker::new(7, FETCH), now: Instant::now() }
    }

    fn record(&mut self, outcome: Result<(), Fault>) {
        self.breaker.record(self.now, WALL, outcome.as_ref().copied());
    }

    fn faults(&mut self, count: usize) {
        for _ in 0..count {
            self.record(Err(fault(Reason::Timeout)));
        }
    }

    fn state(&self) -> &'static str {
        self.breaker.state(self.now).state
    }

    fn left(&self) -> Duration {
        Duration::from_millis(self.breaker.state(self.now).left_ms.unwrap())
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
    }

    fn permit(&mut self) -> Result<Permit, Fault> {
        self.breaker.permit(self.now)
    }

    /// Passes the time for which it is open, and takes the probe.
    fn probe(&mut self) {
        self.pass(self.left());
        assert_eq!(self.permit(), Ok(Permit { probe: true }));
    }
}

#[test]
fn five_faults_in_a_row_open_it_and_one_answer_between_does_not() {
    let mut bench = Bench::new();
    bench.faults(4);
    bench.record(Ok(()));
    bench.faults(4);
    assert_eq!(bench.state(), "closed");
    assert_eq!(bench.permit(), Ok(Permit { probe: false }));
    bench.faults(1);
    assert_eq!(bench.state(), "open");
    let refused = bench.permit().unwrap_err();
    assert_eq!((refused.reason, refused.retry), (Reason::BreakerOpen, Some(Retry::After(bench.left()))));
}

#[test]
fn half_of_the_last_twenty_open_it() {
    let mut bench = Bench::new();
    for _ in 0..9 {
        bench.faults(1);
        bench.record(Ok(()));
    }
    assert_eq!(bench.state(), "closed");
    bench.faults(1);
    assert_eq!(bench.state(), "open", "10 of 19");

    let mut bench = Bench::new();
    for _ in 0..200 {
        bench.faults(1);
        bench.record(Ok(()));
        bench.record(Ok(()));
    }
    assert_eq!(bench.state(), "closed", "a third");
}

#[test]
fn the_open_time_doubles_to_a_minute_and_its_upper_half_is_random() {
    let mut spread = std::collections::BTreeSet::new();
    for seed in 0..50 {
        let mut bench = Bench { breaker: Breaker::new(seed, FETCH), ..Bench::new() };
        bench.faults(5);
        for whole in [1_u64, 2, 4, 8, 16, 32, 60, 60, 60, 60].map(secs) {
            assert!((whole / 2..=whole).contains(&bench.left()), "{whole:?} {:?}", bench.left());
            spread.insert(bench.left());
            bench.probe();
            bench.faults(1);
        }
    }
    assert!(spread.len() > 400, "{}", spread.len());
    assert_eq!(Bench::new().breaker.rng.u64(..), Bench::new().breaker.rng.u64(..), "seeded");
}

#[test]
fn half_open_lets_one_through_and_its_answer_closes() {
    let mut bench = Bench::new();
    bench.faults(5);
    bench.record(Ok(()));
    assert_eq!(bench.state(), "open", "a late answer does not close it");
    bench.probe();
    assert_eq!(bench.state(), "half_open");
    assert_eq!(bench.permit().unwrap_err().reason, Reason::BreakerOpen);
    bench.record(Ok(()));
    assert_eq!((bench.state(), bench.permit()), ("closed", Ok(Permit { probe: false })));
    bench.faults(5);
    assert!(bench.left() <= secs(1), "the doubling began anew");
}

#[test]
fn a_probe_that_is_never_recorded_is_lost_after_the_fetch_timeout() {
    let mut bench = Bench::new();
    bench.faults(5);
    bench.probe();
    bench.pass(FETCH - Duration::from_millis(1));
    assert_eq!(bench.permit().unwrap_err().retry, Some(Retry::After(Duration::from_millis(1))));
    bench.pass(Duration::from_millis(1));
    assert_eq!(bench.permit(), Ok(Permit { probe: true }));
}

#[test]
fn a_venue_that_says_no_is_well_and_our_own_refusal_gives_the_probe_back() {
    for reason in [Reason::Unlisted, Reason::Rejected, Reason::Halted] {
        let mut bench = Bench::new();
        for _ in 0..50 {
            bench.record(Err(fault(reason)));
        }
        assert_eq!(bench.state(), "closed", "{reason}");
        bench.faults(5);
        bench.probe();
        bench.record(Err(fault(reason)));
        assert_eq!(bench.state(), "closed", "{reason}");
    }
    for reason in [Reason::OverBudget, Reason::Overloaded, Reason::Paused] {
        let mut bench = Bench::new();
        for _ in 0..50 {
            bench.record(Err(fault(reason)));
        }
        bench.faults(5);
        bench.probe();
        bench.record(Err(fault(reason)));
        assert_eq!(bench.permit(), Ok(Permit { probe: true }), "{reason}");
    }
}

#[test]
fn the_venues_own_waits_hold_it_shut_for_their_time_and_count_no_fault() {
    let after = |n| Some(Retry::After(n));
    let at = |ms: i64| Some(Retry::At(UnixMs(WALL.0 + ms)));
    for (reason, retry, expected) in [
        (Reason::RateLimited, None, secs(10)),
        (Reason::RateLimited, after(secs(3)), secs(3)),
        (Reason::RateLimited, after(Duration::ZERO), secs(10)),
        (Reason::RateLimited, after(Duration::MAX), secs(86_400)),
        (Reason::Banned, at(120_000), secs(120)),
        (Reason::Banned, at(-5_000), secs(10)),
        (Reason::Banned, Some(Retry::At(UnixMs(i64::MAX))), secs(86_400)),
        (Reason::GeoBlocked, None, secs(3600)),
        (Reason::GeoBlocked, after(secs(60)), secs(60)),
    ] {
        let mut bench = Bench::new();
        for _ in 0..30 {
            bench.record(Err(fault(reason).retry(retry)));
        }
        assert_eq!((bench.state(), bench.left()), (reason.slug(), expected), "{retry:?}");
        let refused = bench.permit().unwrap_err();
        assert_eq!((refused.reason, refused.retry), (reason, after(expected)));
        bench.pass(expected);
        assert_eq!((bench.state(), bench.permit()), ("closed", Ok(Permit { probe: false })));
    }
}

#[test]
fn a_shorter_wait_does_not_shorten_a_ban_and_a_hold_gives_the_probe_back() {
    let mut bench = Bench::new();
    bench.faults(5);
    bench.probe();
    bench.record(Err(fault(Reason::Banned).retry(Some(Retry::After(secs(300))))));
    bench.record(Err(fault(Reason::RateLimited)));
    assert_eq!((bench.state(), bench.left()), ("banned", secs(300)));
    bench.pass(secs(300));
    assert_eq!((bench.state(), bench.permit()), ("half_open", Ok(Permit { probe: true })));
}

#[test]
fn its_state_is_json() {
    let mut bench = Bench::new();
    bench.record(Err(fault(Reason::RateLimited)));
    let json = serde_json::to_string(&bench.breaker.state(bench.now)).unwrap();
    assert_eq!(json, r#"{"state":"rate_limited","left_ms":10000}"#);
}
