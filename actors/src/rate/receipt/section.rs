//! A rate with its markets, as a receipt groups them: the pair's own, and each conversion's.

use super::{
    super::{Conversion, Decision, Num, Row, Status, Tally, conversion::is_between, num::range},
    MarketMiss, Receipt,
};
use crate::model::Pair;

/// Holds one rate and every market that was asked for it.
pub(super) struct Section<'a> {
    /// From base to quote.
    pub(super) pair: Pair,
    /// What the quotes come to; `None` where none of a conversion is admitted.
    pub(super) tally: Option<&'a Tally>,
    /// Whether a quote came to the target currency by it; of the pair's own, nothing.
    pub(super) is_used: bool,
    pub(super) rows: Vec<&'a Row>,
    pub(super) misses: Vec<&'a MarketMiss>,
}

/// Holds the spread of votes: MAD / median with 8 decimals, and the span of the survivors in basis points of their rate with 4.
pub(super) struct Dispersion {
    pub(super) mad_ratio: Option<u128>,
    pub(super) span_bps: Option<u128>,
    pub(super) survivors: usize,
}

impl<'a> Section<'a> {
    /// Gives the pair's own section.
    pub(super) fn own(receipt: &'a Receipt) -> Self {
        let outcome = &receipt.outcome;
        let (pair, tally) = (outcome.pair, Some(&outcome.tally));
        let mut rows = Vec::with_capacity(outcome.rows.len());
        rows.extend(outcome.rows.iter().filter(|row| row.is_base));
        let misses = receipt.misses.iter().filter(|miss| prices_base(miss.pair, pair)).collect();
        Self { pair, tally, is_used: true, rows, misses }
    }

    /// Gives a section for each two currencies of which a market was asked, sorted by pair.
    pub(super) fn conversions(receipt: &'a Receipt) -> Vec<Self> {
        let outcome = &receipt.outcome;
        let mut sections: Vec<Self> = outcome.conversions.iter().map(Self::of).collect();
        for row in outcome.rows.iter().filter(|row| !row.is_base) {
            let at = Self::place(&mut sections, row.offer.pair, outcome.pair);
            sections.iter_mut().skip(at).take(1).for_each(|section| section.rows.push(row));
        }
        for miss in receipt.misses.iter().filter(|miss| !prices_base(miss.pair, outcome.pair)) {
            let at = Self::place(&mut sections, miss.pair, outcome.pair);
            sections.iter_mut().skip(at).take(1).for_each(|section| section.misses.push(miss));
        }
        sections.sort_by_key(|section| section.pair);
        sections
    }

    fn of(conversion: &'a Conversion) -> Self {
        let Conversion { pair, tally, is_used, .. } = conversion;
        let rows = Vec::with_capacity(conversion.rows.len());
        Self { pair: *pair, tally: Some(tally), is_used: *is_used, rows, misses: Vec::new() }
    }

    /// Finds the place of a market's section; without an admitted quote it is a new one, towards the target where that is one of the two.
    fn place(sections: &mut Vec<Self>, market: Pair, target: Pair) -> usize {
        let Pair { base, quote } = market;
        let known = sections.iter().position(|section| is_between(section.pair, base, quote));
        known.unwrap_or_else(|| {
            let pair = if base == target.quote { Pair { base: quote, quote: base } } else { market };
            sections.push(Self { pair, tally: None, is_used: false, rows: Vec::new(), misses: Vec::new() });
            sections.len().saturating_sub(1)
        })
    }

    /// Gives what the quotes come to.
    pub(super) fn status(&self) -> Status {
        self.tally.map_or(Status::Unavailable, |tally| tally.status)
    }

    /// Gives the middle of the votes, from which distances are taken.
    pub(super) fn median(&self) -> Option<Num> {
        Some(self.tally?.middle?.median)
    }

    /// Counts the quotes that are admitted, those whose vote is out among them.
    pub(super) fn admitted(&self) -> usize {
        self.rows.iter().filter(|row| !matches!(row.decision, Decision::Refused(_))).count()
    }

    /// Gives how far the votes are apart.
    pub(super) fn dispersion(&self) -> Dispersion {
        let mad_ratio = self.tally.and_then(|tally| tally.middle).and_then(|middle| middle.mad.ratio(middle.median, 8));
        let survivors = self.tally.map(Tally::survivors).unwrap_or_default();
        let range = range(survivors.iter().map(|vote| vote.price));
        let rate = self.tally.and_then(|tally| tally.rate);
        // 10^4 for basis points, 10^4 for four decimals.
        let span_bps = range.zip(rate).and_then(|((least, most), rate)| most.distance(least).ratio(rate, 8));
        Dispersion { mad_ratio, span_bps, survivors: survivors.len() }
    }
}

/// Tells whether a market prices the base of a pair, listed either way.
fn prices_base(market: Pair, pair: Pair) -> bool {
    market.base == pair.base || (market.base, market.quote) == (pair.quote, pair.base)
}
