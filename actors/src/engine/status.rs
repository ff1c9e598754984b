//! What the engine tells of itself: values that the service renders and tests read.

use super::PairConfig;
use crate::{
    board::Board,
    breaker::BreakerState,
    exchange::{Cell, PlanFacts, VenueState},
    meter::BucketCounts,
    model::{Fault, Pair, Reason, UnixMs, VenueId},
    rate::{AdmissionRules, admit},
    venue::{Budget, Profile},
};
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio::time::Instant;

/// Tells how a pair stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairStatus {
    /// The pair.
    pub pair: Pair,
    /// Whether it is configured, and so polled.
    pub configured: bool,
    /// Whether readiness depends on it.
    pub required: bool,
    /// How many admitted quotes it needs to be ready, or as many as list it, if fewer.
    pub quorum: usize,
    /// How many venues are asked for it: those not known to lack it.
    pub asked: usize,
    /// How many quotes are admitted now.
    pub admitted: usize,
}

impl PairStatus {
    /// Tells whether it has the quotes that it needs.
    pub fn is_ready(&self) -> bool {
        self.asked > 0 && self.admitted >= self.quorum.min(self.asked)
    }
}

/// Tells how a venue stands.
#[derive(Clone)]
pub struct VenueStatus {
    /// Its id.
    pub id: VenueId,
    /// Its venue's profile, as data; borrowed from the venue, which the status keeps alive.
    pub venue: Arc<dyn crate::venue::Venue>,
    /// The addresses in use, first choice first.
    pub origins: Vec<String>,
    /// How it is doing.
    pub state: VenueState,
    /// Since when.
    pub since: UnixMs,
    /// For how long.
    pub state_for: Duration,
    /// How often its actor was rebuilt.
    pub restarts: u64,
    /// Requests sent.
    pub requests: u64,
    /// Answers of use.
    pub answers: u64,
    /// Faults by reason.
    pub faults: BTreeMap<Reason, u64>,
    /// When it last answered.
    pub last_answer: Option<UnixMs>,
    /// When it last failed, and how.
    pub last_fault: Option<(UnixMs, Arc<Fault>)>,
    /// How long ago the last quote came in.
    pub last_quote_age: Option<Duration>,
    /// What its breaker does.
    pub breaker: BreakerState,
    /// How much may be asked of it: as its profile has it, or as it is configured.
    pub budget: Budget,
    /// How much of that is left, in thousandths.
    pub budget_left_permille: u64,
    /// How often its connections were dropped for new ones by an operator.
    pub reconnects: u64,
    /// How long answers took, from the request on.
    pub latency: BucketCounts,
    /// How it is polled.
    pub plan: PlanFacts,
    /// The pairs it was ever heard of.
    pub quoted: usize,
}

impl VenueStatus {
    /// Gives the venue's profile.
    pub fn profile(&self) -> &Profile {
        self.venue.profile()
    }
}

/// Says why a venue cannot be controlled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ControlError {
    /// There is none of that name.
    #[error("no venue {0:?}")]
    NoSuchVenue(String),
    /// Its actor is being rebuilt.
    #[error("the venue's actor is being rebuilt, try again in a second")]
    Restarting,
    /// Its actor has too much under way.
    #[error("the venue's actor has too much under way")]
    Overloaded,
}

/// Counts at this moment, not at that of the board's view: should nobody publish any more, nothing stays ready for ever.
pub(super) fn pairs(board: &Board, configured: &[PairConfig], rules: &AdmissionRules) -> Vec<PairStatus> {
    let now = Instant::now();
    let as_of = board.clock.at(now);
    let mut all: BTreeMap<Pair, PairStatus> = BTreeMap::new();
    let blank = |pair| PairStatus { pair, configured: false, required: false, quorum: 1, asked: 0, admitted: 0 };
    for config in configured {
        all.insert(config.pair, PairStatus { configured: true, required: config.required, quorum: config.quorum, ..blank(config.pair) });
    }
    for pair in board.views.pairs() {
        let Some(published) = board.latest(&pair) else { continue };
        let status = all.entry(pair).or_insert_with(|| blank(pair));
        status.asked = published.view.asked().saturating_add(published.view.unknown);
        status.admitted = published.view.rows.iter().filter(|row| admit(&row.quote, &row.member, now, as_of, rules).is_ok()).count();
    }
    all.into_values().collect()
}

pub(super) fn venue(cell: &Cell, now: Instant) -> VenueStatus {
    let breaker = cell.breaker().state(now);
    let quoted = cell.last().len();
    let facts = cell.facts();
    VenueStatus {
        id: cell.id.clone(),
        venue: Arc::clone(&cell.venue),
        origins: cell.origins.clone(),
        state: facts.state,
        since: facts.since,
        state_for: now.saturating_duration_since(facts.since_instant),
        restarts: facts.restarts,
        requests: facts.requests,
        answers: facts.answers,
        faults: facts.faults.iter().map(|(reason, count)| (*reason, *count)).collect(),
        last_answer: facts.last_answer,
        last_fault: facts.last_fault.clone(),
        last_quote_age: facts.last_quote.map(|at| now.saturating_duration_since(at)),
        breaker,
        budget: cell.budget,
        budget_left_permille: left_permille(facts.budget_full_at, facts.budget_full_for, now),
        reconnects: facts.reconnects,
        latency: cell.latency.counts(),
        plan: facts.plan.clone(),
        quoted,
    }
}

/// Tells how much of a budget is left that is whole again at an instant, and takes so long to come back as a whole.
fn left_permille(full_at: Option<Instant>, full_for: Duration, now: Instant) -> u64 {
    let until_full = full_at.map_or(Duration::ZERO, |at| at.saturating_duration_since(now)).min(full_for);
    let used = until_full.as_nanos().saturating_mul(1000).checked_div(full_for.as_nanos()).unwrap_or(0);
    1000_u64.saturating_sub(u64::try_from(used).unwrap_or(1000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        board::{Published, Standing, assemble},
        clock::Clock,
        model::{Price, Quote, Source, Ticker},
        terms::VenueFilter,
        venue::{Basis, Member, TimeOf},
    };
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn what_is_left_of_a_budget_is_the_share_that_is_back() {
        let (now, s) = (Instant::now(), Duration::from_secs);
        for (until_full, left) in [(0, 1000), (1, 900), (5, 500), (10, 0), (99, 0)] {
            assert_eq!(left_permille(Some(now + s(until_full)), s(10), now), left, "{until_full}");
        }
        assert_eq!((left_permille(None, s(10), now), left_permille(None, Duration::ZERO, now)), (1000, 1000));
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_stays_ready_when_nobody_publishes_any_more() {
        let (board, rules) = (Board::new(Clock::detached(UnixMs(1_796_036_400_000))), AdmissionRules::default());
        let (pair, venue, now) = (Pair::new("BTC", "USDT").unwrap(), VenueId::new("kraken"), Instant::now());
        let price = |text| Price::parse(text).unwrap();
        let quote = Arc::new(Quote {
            venue: venue.clone(),
            pair,
            symbol: "XBTUSDT".into(),
            ticker: Ticker { bid: price("100"), ask: price("101"), ..Ticker::default() },
            received: now,
            received_time: board.clock.at(now),
            latency: Duration::ZERO,
            source: Source::Rest,
        });
        let member = Arc::new(Member { venue, operator: "o".into(), region: None, basis: Basis::Mid, time_of: TimeOf::None });
        let view = assemble(pair, [(&member, Standing::Row(quote))].into_iter(), now, board.clock.at(now), &rules);
        board.views.place(pair).store(Some(Arc::new(Published::new(view, true, None))));
        let configured = [PairConfig { pair, required: true, quorum: 1, venues: VenueFilter::All, rate: None }];
        let ready = || pairs(&board, &configured, &rules)[0].is_ready();
        assert!(ready());
        tokio::time::advance(rules.max_age + Duration::from_millis(1)).await;
        assert!(!ready());
    }
}
