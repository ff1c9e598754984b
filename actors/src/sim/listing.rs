//! Which venue lists what, and how a venue's ticker stands about the true price.

use super::{
    market::{Snapshot, rounded, start_usd},
    noise::{hash, hash_text, unit},
};
use crate::model::{Amount, Pair, Price, Ticker};
use std::collections::BTreeSet;

const COINS: &[&str] = &["BTC", "ETH", "SOL", "XRP"];
/// Stands for every venue.
const EVERY: &[&str] = &["*"];
const MONEY: &[&str] = &["bitfinex", "bitstamp", "coinbaseexchange", "kraken"];

/// Which bases are traded in which quote at which venues.
const MARKETS: &[(&[&str], &str, &[&str])] = &[
    (COINS, "USDT", EVERY),
    (COINS, "USD", MONEY),
    (COINS, "EUR", MONEY),
    (COINS, "USDC", &["binance", "bitget", "bybit", "kraken", "kucoin", "mexc", "okx"]),
    (&["USDT"], "USD", MONEY),
    (&["USDC"], "USD", &["bitfinex", "bitstamp", "kraken"]),
    (&["EUR"], "USD", &["bitstamp", "kraken"]),
];

/// The widest distance of a venue's mid from the truth, to either side: any two venues are less than 3 bps apart, rounding to ticks included.
const OFFSET_MAX: f64 = 1.45e-4;
/// Spreads, as fractions; a tick is at most a hundredth of a bp, so that they stay within 0.1 to 5 bps.
const SPREAD: (f64, f64) = (0.13e-4, 4.9e-4);

/// Gives the pairs that a venue lists, sorted; a venue that is not built in lists what all list.
pub fn listed_by(venue: &str) -> Vec<Pair> {
    let here = MARKETS.iter().filter(|(_, _, venues)| *venues == EVERY || venues.contains(&venue));
    pairs_of(here)
}

/// Gives every pair of the market, sorted.
pub fn every_pair() -> Vec<Pair> {
    pairs_of(MARKETS.iter())
}

fn pairs_of<'a>(markets: impl Iterator<Item = &'a (&'a [&'a str], &'a str, &'a [&'a str])>) -> Vec<Pair> {
    let pairs: BTreeSet<Pair> = markets.flat_map(|(bases, quote, _)| bases.iter().filter_map(|base| Pair::new(base, quote).ok())).collect();
    pairs.into_iter().collect()
}

/// Holds one pair at one venue: how far its mid stands from the truth, and how wide its spread is.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The pair.
    pub pair: Pair,
    /// The venue's spelling.
    pub symbol: String,
    key: u64,
    offset: f64,
    spread: f64,
    decimals: u32,
}

impl Listing {
    /// Makes a pair's place at a venue; the same seed gives the same.
    pub fn new(seed: u64, venue: &str, pair: Pair, symbol: String) -> Self {
        let key = hash(&[seed, hash_text(venue), hash_text(&pair.to_string())]);
        let part = |salt: u64| unit(hash(&[key, salt]));
        Self {
            offset: OFFSET_MAX * (2.0 * part(1) - 1.0),
            spread: between(SPREAD, part(2)),
            decimals: decimals_of(start_usd(pair.base.as_str()) / start_usd(pair.quote.as_str())),
            pair,
            symbol,
            key,
        }
    }

    /// Gives the venue's ticker: every field is filled, bid below ask by a tick at least, the venue's time is now.
    pub fn ticker(&self, at: &Snapshot) -> Ticker {
        let (Some(mid), Some(open)) = (at.prices.of(&self.pair), at.open.of(&self.pair)) else { return Ticker::default() };
        let (mid, open) = (mid * (1.0 + self.offset), open * (1.0 + self.offset));
        let second = at.market_ms.div_euclid(1000).cast_unsigned();
        let draw = |salt: u64| unit(hash(&[self.key, second, salt]));
        let steady = |salt: u64| unit(hash(&[self.key, salt]));
        let tick = 1.0 / 10f64.powi(i32::try_from(self.decimals).unwrap_or(0));
        let bid = (mid * (1.0 - self.spread / 2.0) / tick).round() * tick;
        let ask = ((mid * (1.0 + self.spread / 2.0) / tick).round() * tick).max(bid + tick);
        let price = |value: f64| rounded(value, self.decimals).and_then(Price::new);
        let usd = at.prices.usd(self.pair.base.as_str()).unwrap_or(1.0);
        let size = |salt: u64| amount((500.0 + 200_000.0 * draw(salt).powi(3)) / usd, 6);
        let volume = between((5e6, 500e6), steady(3)) * (1.0 + 0.01 * draw(4)) / start_usd(self.pair.base.as_str());
        Ticker {
            bid: price(bid),
            ask: price(ask),
            bid_size: size(5),
            ask_size: size(6),
            last: price(if draw(7) < 0.5 { bid } else { ask }),
            high: price(ask.max(open) * (1.0 + between((0.001, 0.01), steady(8)))),
            low: price(bid.min(open) * (1.0 - between((0.001, 0.01), steady(9)))),
            open: price(open),
            base_volume: amount(volume, 4),
            quote_volume: amount(volume * mid, 2),
            venue_time: Some(at.now),
            halted: false,
        }
    }
}

fn amount(value: f64, decimals: u32) -> Option<Amount> {
    rounded(value, decimals).and_then(Amount::new)
}

/// Small values are likelier than large ones.
fn between((low, high): (f64, f64), part: f64) -> f64 {
    low + (high - low) * part * part
}

/// Gives the decimals of a pair's tick, which is about a millionth of its price at the start, and eight decimals at most.
fn decimals_of(price: f64) -> u32 {
    let (mut decimals, mut tick) = (0u32, 1.0);
    while decimals < 8 && tick > price * 1e-6 {
        decimals = decimals.saturating_add(1);
        tick /= 10.0;
    }
    decimals
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{model::UnixMs, sim::Market, venues::VENUES};
    use rust_decimal::prelude::ToPrimitive;

    #[test]
    fn the_venues_list_what_the_surface_says() {
        let lists = |venue: &str, pair: &str| listed_by(venue).contains(&pair.parse().unwrap());
        assert_eq!(listed_by("kraken").len(), 4 * 4 + 3);
        assert_eq!(listed_by("binance").len(), 8);
        assert_eq!(listed_by("gate").len(), 4);
        assert_eq!(listed_by("coinbaseexchange").len(), 4 * 3 + 1);
        assert!(lists("bitstamp", "EUR-USD") && lists("bitfinex", "USDC-USD") && !lists("coinbaseexchange", "USDC-USD"));
        assert!(!lists("bitfinex", "EUR-USD") && !lists("binance", "BTC-USD") && lists("mexc", "XRP-USDC"));
        assert_eq!(every_pair().len(), 4 * 4 + 3);
    }

    #[test]
    fn tickers_are_whole_and_stand_close_about_the_truth() {
        let market = Market::new(3, 50.0, UnixMs(0));
        for step in 0..200i64 {
            let at = market.at(UnixMs(step * 777));
            for pair in every_pair() {
                let mut mids = Vec::new();
                for venue in VENUES.iter().map(|v| v.profile().id).chain(["okx", "bybit", "gate", "bitfinex"]) {
                    let t = Listing::new(3, venue, pair, String::new()).ticker(&at);
                    let f = |p: Option<Price>| p.unwrap().get().to_f64().unwrap();
                    let (bid, ask) = (f(t.bid), f(t.ask));
                    let spread = (ask - bid) / ask * 1e4;
                    assert!((0.1..=5.0).contains(&spread), "{pair} {spread}");
                    assert!(
                        t.low < t.bid
                            && t.bid < t.ask
                            && t.ask < t.high
                            && t.low < t.open
                            && t.open < t.high
                            && t.bid <= t.last
                            && t.last <= t.ask
                    );
                    assert!(t.bid_size.is_some() && t.ask_size.is_some() && t.base_volume.is_some() && t.quote_volume.is_some());
                    assert!(t.bid_size.unwrap().get().to_f64().unwrap() > 0.0 && t.ask.unwrap().get().scale() <= 8);
                    assert_eq!((t.venue_time, t.halted), (Some(at.now), false));
                    mids.push(f64::midpoint(bid, ask));
                }
                let (low, high) = (mids.iter().copied().fold(f64::MAX, f64::min), mids.iter().copied().fold(0.0, f64::max));
                assert!((high / low - 1.0) * 1e4 <= 3.0, "{pair} {low} {high}");
                let truth = at.prices.of(&pair).unwrap();
                assert!(low < truth * 1.00016 && high > truth * 0.99984);
            }
        }
    }
}
