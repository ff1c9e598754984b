//! Offers made by hand.

use quorate_actors::{
    model::{Pair, Price, Source, Ticker, UnixMs, VenueId},
    rate::{Num, Offer},
    venue::{Basis, Member, TimeOf},
};
use rust_decimal::Decimal;
use std::{sync::Arc, time::Duration};

/// A moment like any other.
pub(crate) const START: UnixMs = UnixMs(1_796_036_400_000);

pub(crate) fn later(time: UnixMs, ms: u64) -> UnixMs {
    time.saturating_add(Duration::from_millis(ms))
}

pub(crate) fn pair(base: &str, quote: &str) -> Pair {
    Pair::new(base, quote).unwrap()
}

/// Makes a price of `mantissa / 10^scale`; none where it is no price.
pub(crate) fn price(mantissa: u64, scale: u32) -> Option<Price> {
    Price::new(Decimal::from_i128_with_scale(i128::from(mantissa), scale))
}

/// Makes what a venue without a book says, received at `now`.
pub(crate) fn last(venue: &str, pair: Pair, price: Option<Price>, now: UnixMs) -> Offer {
    let member = Member { venue: VenueId::new(venue), operator: venue.into(), region: None, basis: Basis::Last, time_of: TimeOf::Book };
    let ticker = Ticker { last: price, ..Ticker::default() };
    Offer { member: Arc::new(member), pair, ticker, received: now, latency: Duration::ZERO, source: Source::Rest }
}

/// Makes the same of a venue that belongs to an operator.
pub(crate) fn last_of(operator: &str, offer: Offer) -> Offer {
    Offer { member: Arc::new(Member { operator: operator.into(), ..(*offer.member).clone() }), ..offer }
}

/// Gives the price of an offer in its own currency.
pub(crate) fn price_of(offer: &Offer) -> Option<Num> {
    let num = |price: Option<Price>| price.map(|price| Num::from(price.get()));
    match offer.member.basis {
        Basis::Mid => Some(num(offer.ticker.bid)?.mean(num(offer.ticker.ask)?)),
        Basis::Last => num(offer.ticker.last),
    }
}
