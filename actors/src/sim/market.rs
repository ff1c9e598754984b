//! The market behind all simulated venues: one true price for each base and each money, as a function of seed and time.

use super::noise::{hash, hash_text, wander};
use crate::model::{Pair, Price, UnixMs};
use rust_decimal::{Decimal, prelude::ToPrimitive};
use serde::Deserialize;
use std::{array, collections::BTreeMap, time::Duration};

/// What has a price of its own, in USD: code, price at the start, how far it wanders in a second. Everything else follows from these.
const DRIVERS: [(&str, f64, f64); 7] = [
    ("BTC", 67_000.0, 5e-5),
    ("ETH", 3_500.0, 6e-5),
    ("SOL", 150.0, 7e-5),
    ("XRP", 0.6, 7e-5),
    ("USDT", 0.9995, 5e-7),
    ("USDC", 0.9999, 5e-7),
    ("EUR", 1.08, 1e-5),
];

/// What a price may be set to: inside this range every pair keeps sensible ticks.
const SETTABLE: std::ops::RangeInclusive<f64> = 0.0001..=10_000_000.0;
/// The longest way to a price that was set.
const OVER_MAX: Duration = Duration::from_secs(86_400);
const DAY_MS: i64 = 86_400_000;

/// Tells what to change about the market.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Control {
    /// Whether the market stands still; absent: as it was.
    #[serde(default)]
    pub frozen: Option<bool>,
    /// New prices as decimal text, by pair: `BTC-USD`, `USDT-USD`, or a coin in any money of the market.
    #[serde(default)]
    pub prices: BTreeMap<String, String>,
    /// How long the way to them takes, in milliseconds.
    #[serde(default)]
    pub over_ms: u64,
}

/// Says why a change of the market was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MarketError {
    /// The pair has no price that could be set.
    #[error("no price to set for {0:?}: expected one of BTC ETH SOL XRP USDT USDC EUR in USD, or a coin in USDT, USDC or EUR")]
    Pair(String),
    /// The price is no number, or out of range.
    #[error("price {0:?}: expected a decimal number as text, 0.0001 to 10000000 in USD")]
    Price(String),
    /// The way is too long.
    #[error("over_ms {0}: expected at most 86400000")]
    Over(u64),
}

/// Holds the market: its prices at any instant are a function of the seed, of what was set, and of nothing else.
#[derive(Clone, Debug)]
pub struct Market {
    seed: u64,
    speed: f64,
    frozen: bool,
    /// The market's own time stood at `market_ms` when the wall clock said `since`.
    market_ms: i64,
    since: UnixMs,
    drivers: [Driver; DRIVERS.len()],
}

/// One price on its way `from` → `to`, wandering about it.
#[derive(Clone, Copy, Debug)]
struct Driver {
    from: f64,
    to: f64,
    begins: UnixMs,
    over: Duration,
    /// What the noise said when the price was set: the distance is taken from there.
    anchor: f64,
}

/// Holds the market's prices in USD at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices([f64; DRIVERS.len()]);

impl Prices {
    /// Gives the price of an asset in USD.
    pub(super) fn usd(&self, asset: &str) -> Option<f64> {
        if asset == "USD" { Some(1.0) } else { self.0.get(driver(asset)?).copied() }
    }

    /// Gives the true mid of a pair, as the generator has it before it is rounded to ticks.
    pub(super) fn of(&self, pair: &Pair) -> Option<f64> {
        Some(self.usd(pair.base.as_str())? / self.usd(pair.quote.as_str())?)
    }

    /// Gives the true mid of a pair, rounded to eight decimals; `None` for assets that the market does not know.
    pub fn mid(&self, pair: &Pair) -> Option<Decimal> {
        rounded(self.of(pair)?, 8)
    }
}

/// Holds what the market says at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snapshot {
    /// The wall time.
    pub now: UnixMs,
    /// The market's own time, in milliseconds since its start: it stands still while the market is frozen.
    pub market_ms: i64,
    /// The prices.
    pub prices: Prices,
    /// The prices a day before, in the market's own time.
    pub open: Prices,
}

impl Market {
    /// Starts a market at a wall time. `speed` is how much faster than the wall clock it moves.
    pub fn new(seed: u64, speed: f64, start: UnixMs) -> Self {
        let drivers = array::from_fn(|at| {
            let price = start_of(at);
            Driver { from: price, to: price, begins: start, over: Duration::ZERO, anchor: noise(seed, at, 0) }
        });
        Self { seed, speed, frozen: false, market_ms: 0, since: start, drivers }
    }

    /// Tells whether it stands still.
    pub fn is_frozen(&self) -> bool {
        self.frozen
    }

    /// Gives what it says at a wall time.
    pub fn at(&self, now: UnixMs) -> Snapshot {
        let market_ms = self.time(now);
        Snapshot { now, market_ms, prices: self.prices(now, market_ms), open: self.prices(now, market_ms.saturating_sub(DAY_MS)) }
    }

    /// Freezes, thaws, and sets prices, or changes nothing at all.
    ///
    /// # Errors
    /// [`MarketError`] naming the value that was refused.
    pub fn control(&mut self, control: &Control, now: UnixMs) -> Result<(), MarketError> {
        let over = Duration::from_millis(control.over_ms);
        if over > OVER_MAX {
            return Err(MarketError::Over(control.over_ms));
        }
        let targets = self.targets(&control.prices, now)?;
        if let Some(frozen) = control.frozen {
            (self.market_ms, self.since, self.frozen) = (self.time(now), now, frozen);
        }
        let at = self.at(now);
        for (index, driver) in self.drivers.iter_mut().enumerate() {
            if let (Some(Some(to)), Some(from)) = (targets.get(index), at.prices.0.get(index)) {
                *driver = Driver { from: *from, to: *to, begins: now, over, anchor: noise(self.seed, index, at.market_ms) };
            }
        }
        Ok(())
    }

    /// Finds the new price in USD of each driver that is to change: those in USD first, since the others are counted in them.
    fn targets(&self, prices: &BTreeMap<String, String>, now: UnixMs) -> Result<[Option<f64>; DRIVERS.len()], MarketError> {
        let mut targets = [None; DRIVERS.len()];
        let mut wanted = Vec::new();
        for (name, text) in prices {
            let pair: Pair = name.parse().map_err(|_| MarketError::Pair(name.chars().take(40).collect()))?;
            let bad = || MarketError::Price(text.chars().take(40).collect());
            let price = Price::parse(text).ok().flatten().and_then(|p| p.get().to_f64()).ok_or_else(bad)?;
            wanted.push((pair, name, price, bad()));
        }
        wanted.sort_by_key(|(pair, ..)| pair.quote != "USD");
        let current = self.at(now).prices;
        for (pair, name, price, bad) in wanted {
            let base = driver(pair.base.as_str());
            let money_in_money = pair.quote != "USD" && base.is_some_and(|at| at >= COINS);
            let in_coin = driver(pair.quote.as_str()).is_some_and(|at| at < COINS);
            let quote = match driver(pair.quote.as_str()) {
                Some(at) => targets.get(at).copied().flatten().or(current.0.get(at).copied()),
                None => (pair.quote == "USD").then_some(1.0),
            };
            let (Some(base), Some(quote), false) = (base, quote, money_in_money || in_coin) else {
                return Err(MarketError::Pair(name.chars().take(40).collect()));
            };
            let usd = price * quote;
            if !SETTABLE.contains(&usd) {
                return Err(bad);
            }
            if let Some(target) = targets.get_mut(base) {
                *target = Some(usd);
            }
        }
        Ok(targets)
    }

    fn time(&self, now: UnixMs) -> i64 {
        if self.frozen {
            return self.market_ms;
        }
        let elapsed = now.0.saturating_sub(self.since.0) as f64 * self.speed;
        self.market_ms.saturating_add(elapsed as i64)
    }

    fn prices(&self, now: UnixMs, market_ms: i64) -> Prices {
        let mut prices = [0.0; DRIVERS.len()];
        for (index, (price, driver)) in prices.iter_mut().zip(&self.drivers).enumerate() {
            let gone = now.since(driver.begins);
            let way = if gone >= driver.over { 1.0 } else { gone.as_secs_f64() / driver.over.as_secs_f64() };
            let line = driver.from + (driver.to - driver.from) * way;
            *price = line * (1.0 + noise(self.seed, index, market_ms) - driver.anchor);
        }
        Prices(prices)
    }
}

/// How many of the drivers are coins; the others are money.
const COINS: usize = 4;

fn driver(code: &str) -> Option<usize> {
    DRIVERS.iter().position(|(own, ..)| *own == code)
}

fn start_of(index: usize) -> f64 {
    DRIVERS.get(index).map_or(1.0, |(_, start, _)| *start)
}

/// Gives the price of an asset in USD at the start of every market.
pub(super) fn start_usd(asset: &str) -> f64 {
    driver(asset).map_or(1.0, start_of)
}

fn noise(seed: u64, index: usize, market_ms: i64) -> f64 {
    let Some((code, _, per_second)) = DRIVERS.get(index) else { return 0.0 };
    wander(hash(&[seed, hash_text(code)]), market_ms, *per_second)
}

/// Rounds to a number of decimals, eight at most; `None` for what no decimal holds.
pub(super) fn rounded(value: f64, decimals: u32) -> Option<Decimal> {
    let decimals = decimals.min(8);
    let steps = (value * 10f64.powi(i32::try_from(decimals).unwrap_or(0))).round();
    if !steps.is_finite() || steps.abs() > 9e17 {
        return None;
    }
    Some(Decimal::new(steps as i64, decimals).normalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(text: &str) -> Pair {
        text.parse().unwrap()
    }

    fn control(json: &str) -> Control {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_market_is_a_function_of_seed_and_time() {
        let (a, b) = (Market::new(1, 1.0, UnixMs(1000)), Market::new(1, 1.0, UnixMs(1000)));
        // However often the one is asked, the other says the same at the end.
        for time in (1000..60_000).step_by(37) {
            a.at(UnixMs(time));
        }
        assert_eq!(a.at(UnixMs(90_000)), b.at(UnixMs(90_000)));
        assert_ne!(a.at(UnixMs(90_000)).prices, a.at(UnixMs(91_000)).prices);
        assert_ne!(a.at(UnixMs(90_000)).prices, Market::new(2, 1.0, UnixMs(1000)).at(UnixMs(90_000)).prices);
        assert_eq!(a.at(UnixMs(1000)).prices.mid(&pair("BTC-USD")).unwrap().to_string(), "67000");
        let fast = Market::new(1, 10.0, UnixMs(1000));
        assert_eq!(fast.at(UnixMs(2000)).prices, a.at(UnixMs(11_000)).prices);
    }

    #[test]
    fn a_price_that_is_set_moves_every_derived_pair() {
        let mut market = Market::new(1, 1.0, UnixMs(0));
        market.control(&control(r#"{"frozen":true}"#), UnixMs(5000)).unwrap();
        let before = market.at(UnixMs(5000)).prices;
        market.control(&control(r#"{"prices":{"USDT-USD":"0.91"},"over_ms":10000}"#), UnixMs(6000)).unwrap();
        let half = market.at(UnixMs(11_000)).prices.usd("USDT").unwrap();
        assert!((half - f64::midpoint(before.usd("USDT").unwrap(), 0.91)).abs() < 1e-9);
        let after = market.at(UnixMs(16_000)).prices;
        assert_eq!(after.mid(&pair("USDT-USD")).unwrap().to_string(), "0.91");
        assert_eq!(after.mid(&pair("BTC-USD")), before.mid(&pair("BTC-USD")));
        assert_eq!(after.of(&pair("BTC-USDT")), Some(before.usd("BTC").unwrap() / after.usd("USDT").unwrap()));
        assert_eq!(after, market.at(UnixMs(999_000)).prices);
        market.control(&control(r#"{"prices":{"BTC-USDT":"100000","USDT-USD":"0.5"}}"#), UnixMs(17_000)).unwrap();
        assert_eq!(market.at(UnixMs(17_000)).prices.mid(&pair("BTC-USD")).unwrap().to_string(), "50000");
        // Thawed, it goes on from where it stood, without a jump.
        market.control(&control(r#"{"frozen":false}"#), UnixMs(20_000)).unwrap();
        assert_eq!(market.at(UnixMs(20_000)).prices.mid(&pair("BTC-USD")).unwrap().to_string(), "50000");
        assert_ne!(market.at(UnixMs(25_000)).prices.mid(&pair("BTC-USD")).unwrap().to_string(), "50000");
    }

    #[test]
    fn what_cannot_be_set_says_why_and_changes_nothing() {
        let mut market = Market::new(1, 1.0, UnixMs(0));
        let before = market.at(UnixMs(7)).prices;
        for (json, want) in [
            (r#"{"prices":{"USDT-USD":"0.9","DOGE-USD":"1"}}"#, "DOGE-USD"),
            (r#"{"prices":{"BTCUSD":"1"}}"#, "BTCUSD"),
            (r#"{"prices":{"USDC-USDT":"1"}}"#, "USDC-USDT"),
            (r#"{"prices":{"ETH-BTC":"1"}}"#, "ETH-BTC"),
            (r#"{"prices":{"USDT-USD":"-1"}}"#, "\"-1\""),
            (r#"{"prices":{"USDT-USD":"1e12"}}"#, "1e12"),
            (r#"{"prices":{"USDT-USD":"0.9"},"over_ms":86400001}"#, "86400001"),
        ] {
            let error = market.control(&control(json), UnixMs(7)).unwrap_err().to_string();
            assert!(error.contains(want), "{error}");
        }
        assert_eq!(market.at(UnixMs(7)).prices, before);
        let unknown = serde_json::from_str::<Control>(r#"{"frozzen":true}"#).unwrap_err().to_string();
        assert!(unknown.contains("frozzen"), "{unknown}");
    }
}
