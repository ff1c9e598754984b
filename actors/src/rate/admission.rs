//! Which quotes count: the rows `halted` to `stale` of the rate's contract, in their order, one reason for each refusal.

use super::{
    Num,
    num::{DIGITS, aligned},
};
use crate::{
    model::{Quote, Reason, Ticker, UnixMs},
    venue::{Basis, Member},
};
use std::time::Duration;
use tokio::time::Instant;

/// Holds the settings of admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdmissionRules {
    /// How old a polled quote may be.
    pub max_age: Duration,
    /// How far a venue's time may be ahead of ours.
    pub future_max: Duration,
    /// Whether a venue's time may refuse a quote: not while our own clock is known to be off.
    pub trust_venue_time: bool,
}

impl Default for AdmissionRules {
    fn default() -> Self {
        Self { max_age: Duration::from_secs(30), future_max: Duration::from_secs(5), trust_venue_time: true }
    }
}

/// Decides whether a quote counts at `now` (`as_of` by the wall clock).
///
/// # Errors
/// The first [`Reason`] that applies: `halted`, `non_positive`, `crossed`, `wide`, `future`, `stale`.
pub fn admit(quote: &Quote, member: &Member, now: Instant, as_of: UnixMs, rules: &AdmissionRules) -> Result<(), Reason> {
    priced(&quote.ticker, member.basis)?;
    in_time(&quote.ticker, member, now.saturating_duration_since(quote.received), as_of, rules)
}

/// Gives the price of what a venue said, whenever that was.
///
/// # Errors
/// `halted`, `non_positive`, `crossed`, `wide`.
pub(super) fn priced(ticker: &Ticker, basis: Basis) -> Result<Num, Reason> {
    match basis {
        _ if ticker.halted => Err(Reason::Halted),
        Basis::Mid => middle(ticker),
        Basis::Last => ticker.last.map(|last| Num::from(last.get())).ok_or(Reason::NonPositive),
    }
}

/// Decides whether what a venue said is of now, so long after it was received.
///
/// # Errors
/// `future`, `stale`.
pub(super) fn in_time(
    ticker: &Ticker,
    member: &Member,
    since_received: Duration,
    as_of: UnixMs,
    rules: &AdmissionRules,
) -> Result<(), Reason> {
    let venue_time = counted_time(ticker, member, rules);
    if venue_time.is_some_and(|time| time.since(as_of) > rules.future_max) {
        return Err(Reason::Future);
    }
    if age(ticker, member, since_received, as_of, rules) > rules.max_age { Err(Reason::Stale) } else { Ok(()) }
}

/// Gives how old what a venue said is at `as_of`: what has passed since it was received, or since the venue's own time where that counts and is longer ago.
pub(super) fn age(ticker: &Ticker, member: &Member, since_received: Duration, as_of: UnixMs, rules: &AdmissionRules) -> Duration {
    since_received.max(counted_time(ticker, member, rules).map_or(Duration::ZERO, |time| as_of.since(time)))
}

/// Gives the middle of a book that has one.
fn middle(ticker: &Ticker) -> Result<Num, Reason> {
    let (Some(bid), Some(ask)) = (ticker.bid, ticker.ask) else { return Err(Reason::NonPositive) };
    let (bid, ask) = (Num::from(bid.get()), Num::from(ask.get()));
    // (ask − bid) / mid is over a tenth, without a division: 20 · (ask − bid) > ask + bid.
    let (is_crossed, is_wide, sum) = match aligned(bid, ask) {
        Some((bid, ask, exponent)) if ask < u128::MAX / 64 => {
            let sum = ask.wrapping_add(bid);
            (bid > ask, ask.wrapping_sub(bid).wrapping_mul(20) > sum, Num::of_narrow(sum, exponent, DIGITS))
        }
        _ => (bid > ask, ask.distance(bid).doubled().shifted(1) > bid.plus(ask), bid.plus(ask)),
    };
    match (is_crossed, is_wide) {
        (true, _) => Err(Reason::Crossed),
        (_, true) => Err(Reason::Wide),
        _ => Ok(sum.half()),
    }
}

/// Gives the venue's time where it says how old its price is, and our own clock is not known to be off.
pub(super) fn counted_time(ticker: &Ticker, member: &Member, rules: &AdmissionRules) -> Option<UnixMs> {
    ticker.venue_time.filter(|_| rules.trust_venue_time && member.time_counts())
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::{
        model::{Pair, Price, Source, VenueId},
        venue::TimeOf,
    };

    const NOW: UnixMs = UnixMs(1_000_000_000);

    fn quote(bid: &str, ask: &str) -> Quote {
        let price = |text| Price::parse(text).unwrap();
        Quote {
            venue: VenueId::new("v"),
            pair: Pair::new("BTC", "USD").unwrap(),
            symbol: "BTCUSD".into(),
            ticker: Ticker { bid: price(bid), ask: price(ask), last: price("100"), ..Ticker::default() },
            received: Instant::now(),
            received_time: NOW,
            latency: Duration::ZERO,
            source: Source::Rest,
        }
    }

    fn member(basis: Basis, time_of: TimeOf) -> Member {
        Member { venue: VenueId::new("v"), operator: "v".into(), region: None, basis, time_of }
    }

    fn decided(quote: &Quote, time_of: TimeOf, later_ms: u64) -> Result<(), Reason> {
        let later = Duration::from_millis(later_ms);
        admit(quote, &member(Basis::Mid, time_of), quote.received + later, NOW.saturating_add(later), &AdmissionRules::default())
    }

    #[test]
    fn each_refusal_has_the_first_reason_that_applies() {
        for (bid, ask, want) in [
            ("100", "101", Ok(())),
            ("100.2", "100.2", Ok(())),
            ("0", "101", Err(Reason::NonPositive)),
            ("", "101", Err(Reason::NonPositive)),
            ("101", "", Err(Reason::NonPositive)),
            ("101", "100.5", Err(Reason::Crossed)),
            ("95", "106", Err(Reason::Wide)),
            ("95", "105", Ok(())),
            ("95", "105.0000001", Err(Reason::Wide)),
            ("999999999999999", "999999999999999.9999", Ok(())),
            ("0.000000000000000001", "0.000000000000000001", Ok(())),
        ] {
            assert_eq!(decided(&quote(bid, ask), TimeOf::None, 0), want, "{bid} {ask}");
        }
        let halted = Quote { ticker: Ticker { halted: true, bid: None, ..quote("1", "1").ticker }, ..quote("1", "1") };
        assert_eq!(decided(&halted, TimeOf::None, 0), Err(Reason::Halted));
    }

    #[test]
    fn age_is_the_larger_of_two_and_a_trades_time_does_not_count() {
        let at = |ms: i64| Quote {
            ticker: Ticker { venue_time: Some(UnixMs(NOW.0 + ms)), ..quote("100", "101").ticker },
            ..quote("100", "101")
        };
        for (venue_ms, time_of, later, want) in [
            (0, TimeOf::Book, 30_000, Ok(())),
            (0, TimeOf::None, 30_001, Err(Reason::Stale)),
            (-20_000, TimeOf::Book, 10_000, Ok(())),
            (-20_000, TimeOf::Answer, 10_001, Err(Reason::Stale)),
            (-900_000, TimeOf::Trade, 0, Ok(())),
            (5_000, TimeOf::Book, 0, Ok(())),
            (5_001, TimeOf::Book, 0, Err(Reason::Future)),
            (5_001, TimeOf::Trade, 0, Ok(())),
        ] {
            assert_eq!(decided(&at(venue_ms), time_of, later), want, "{venue_ms} {time_of:?} {later}");
        }
        let rules = AdmissionRules { trust_venue_time: false, ..AdmissionRules::default() };
        assert_eq!(admit(&at(9_000), &member(Basis::Mid, TimeOf::Book), at(0).received, NOW, &rules), Ok(()));
    }

    #[test]
    fn where_there_is_no_book_the_last_trade_is_the_price_and_its_time_counts() {
        let of = |last: &str, trade_ms: i64| Quote {
            ticker: Ticker { last: Price::parse(last).unwrap(), venue_time: Some(UnixMs(NOW.0 + trade_ms)), ..Ticker::default() },
            ..quote("1", "1")
        };
        let decided = |quote: Quote| admit(&quote, &member(Basis::Last, TimeOf::Trade), quote.received, NOW, &AdmissionRules::default());
        assert_eq!(decided(of("100", 0)), Ok(()));
        assert_eq!(decided(of("0", 0)), Err(Reason::NonPositive));
        assert_eq!(decided(of("100", -30_001)), Err(Reason::Stale));
        assert_eq!(decided(of("100", 5_001)), Err(Reason::Future));
    }
}
