//! Our own rates between currencies: of the pass's quotes, by the same rule as any rate, without memory. Never assumed to be one.

use super::{
    Marks, Num, Rules, Status, Tally,
    rules::BRIDGES,
    status::tally,
    vote::{Ballot, Operator, votes},
};
use crate::model::{Asset, Pair, UnixMs};

/// Holds one conversion rate that was looked for, and what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// From base to quote.
    pub pair: Pair,
    /// What its markets come to.
    pub tally: Tally,
    /// The places of its markets among the rows of the pass.
    pub rows: Vec<usize>,
}

impl Conversion {
    /// Gives the rate, where it is good enough to convert by.
    pub fn usable(&self) -> Option<Num> {
        self.tally.rate.filter(|_| matches!(self.tally.status, Status::Ok | Status::Degraded))
    }
}

/// Holds one rate on the way from a quote to the target currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// From base to quote.
    pub pair: Pair,
    /// The rate.
    pub rate: Num,
    /// Whether it is one by declaration, and no market's.
    pub par: bool,
}

/// Holds the way from one currency to the target: one step or two, and the rate of all together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// Where it begins.
    pub from: Asset,
    /// The steps.
    pub steps: Vec<Step>,
    /// Their product.
    pub rate: Num,
}

/// Holds one admitted quote as conversion sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Priced<'a> {
    pub(super) row: usize,
    pub(super) operator: &'a Operator,
    pub(super) pair: Pair,
    pub(super) price: Num,
}

/// Finds conversion rates, each made once.
pub(super) struct Converter<'a> {
    rules: &'a Rules,
    /// What the pair prices: no way leads through it.
    base: Asset,
    now: UnixMs,
    priced: &'a [Priced<'a>],
    made: Vec<Conversion>,
}

impl<'a> Converter<'a> {
    pub(super) fn new(rules: &'a Rules, base: Asset, now: UnixMs, priced: &'a [Priced<'a>]) -> Self {
        Self { rules, base, now, priced, made: Vec::new() }
    }

    /// Gives every conversion that was looked at.
    pub(super) fn into_made(self) -> Vec<Conversion> {
        self.made
    }

    /// Makes the rates of the markets that no quote needed, too: towards the target where that is one side, else as they are listed.
    pub(super) fn make_others(&mut self, target: Asset) {
        for quote in self.priced {
            let Pair { base, quote } = quote.pair;
            if !self.made.iter().any(|made| is_between(made.pair, base, quote)) {
                self.direct(if base == target { Pair { base: quote, quote: base } } else { Pair { base, quote } });
            }
        }
    }

    /// Finds the way between two currencies.
    pub(super) fn path(&mut self, from: Asset, to: Asset) -> Option<Path> {
        if self.has_market(from, to) || self.rules.is_par(from, to) {
            let step = self.step(from, to)?;
            return Some(Path { from, rate: step.rate, steps: vec![step] });
        }
        let (base, stable) = (self.base, self.rules.is_stablecoin(from) || self.rules.is_stablecoin(to));
        let bridges = BRIDGES.iter().filter_map(|code| Asset::new(code).ok());
        let bridges = bridges.filter(|via| ![from, to, base].contains(via) && (!stable || *via == "USD" || *via == "EUR"));
        for via in bridges {
            if let (Some(first), Some(second)) = (self.step(from, via), self.step(via, to)) {
                return Some(Path { from, rate: first.rate.times(second.rate), steps: vec![first, second] });
            }
        }
        None
    }

    fn has_market(&self, from: Asset, to: Asset) -> bool {
        self.priced.iter().any(|quote| is_between(quote.pair, from, to))
    }

    fn step(&mut self, from: Asset, to: Asset) -> Option<Step> {
        let pair = Pair { base: from, quote: to };
        if self.rules.is_par(from, to) {
            return Some(Step { pair, rate: Num::ONE, par: true });
        }
        let rate = self.direct(pair)?;
        Some(Step { pair, rate, par: false })
    }

    /// Makes the rate of the markets between two currencies, listed either way.
    pub(super) fn direct(&mut self, pair: Pair) -> Option<Num> {
        if let Some(known) = self.made.iter().find(|made| made.pair == pair) {
            return known.usable();
        }
        let own = || self.priced.iter().filter(|quote| is_between(quote.pair, pair.base, pair.quote));
        let ballots = own().filter_map(|quote| {
            let price = if quote.pair == pair { quote.price } else { quote.price.inverse()? };
            Some(Ballot { operator: quote.operator, hops: 0, price })
        });
        let votes = votes(ballots.collect());
        if votes.is_empty() {
            return None;
        }
        let rows = own().map(|quote| quote.row).collect();
        let tally = tally(votes, &self.rules.band_between(pair.base, pair.quote), &mut Marks::new(), self.now);
        let conversion = Conversion { pair, tally, rows };
        let rate = conversion.usable();
        self.made.push(conversion);
        rate
    }
}

/// Tells whether a market trades one asset against the other, listed either way.
pub(super) fn is_between(market: Pair, a: Asset, b: Asset) -> bool {
    (market.base, market.quote) == (a, b) || (market.base, market.quote) == (b, a)
}
