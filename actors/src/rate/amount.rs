//! An amount of one asset in another: by the rate, or by the best bid or ask that counts for it.

use super::{Num, Path, Receipt, Side, Step, Top, Wanted, rank, tops};
use crate::model::{Asset, Pair, UnixMs, VenueId};
use std::time::Duration;

/// Tells by which price an amount is converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// By the rate.
    Mid,
    /// By the best price at which it could be traded now.
    Taking(Side),
}

impl How {
    /// Every way.
    pub const ALL: [Self; 3] = [Self::Mid, Self::Taking(Side::Buy), Self::Taking(Side::Sell)];

    /// Gives the word for it.
    pub fn slug(self) -> &'static str {
        match self {
            Self::Mid => "mid",
            Self::Taking(side) => side.slug(),
        }
    }
}

/// Holds one step on the way from one asset to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leg {
    /// What is given.
    pub from: Asset,
    /// What is got.
    pub to: Asset,
    /// How much of it for one.
    pub rate: Num,
    /// The market or the rate that this is of; upside down where its base is not what is given.
    pub pair: Pair,
    /// The venue whose market it is; `None` of a rate of ours.
    pub venue: Option<VenueId>,
    /// Whether it is one by declaration, and no market's.
    pub par: bool,
}

/// Holds how an asset is converted, whatever the amount.
#[derive(Clone, Debug)]
pub struct Converted<'r> {
    /// How much is got for one.
    pub rate: Num,
    /// The way.
    pub legs: Vec<Leg>,
    /// What it is traded at; `None` where the rate converts.
    pub top: Option<Top<'r>>,
}

/// Converts by a receipt of the pair of two assets, whichever of them is its base: its inverse serves where that is not `from`. `None` where the receipt has
/// no rate, or nothing to trade at.
pub fn convert(receipt: &Receipt, from: Asset, how: How, now: UnixMs, max_age: Duration) -> Option<Converted<'_>> {
    let pair = receipt.outcome.pair;
    let inverted = pair.base != from;
    let straight = match how {
        How::Mid => by_rate(receipt)?,
        // Who buys the one sells the other.
        How::Taking(side) => by_best(receipt, if inverted { side.other() } else { side }, now, max_age)?,
    };
    if !inverted {
        return Some(straight);
    }
    let legs = straight.legs.into_iter().rev().map(Leg::inverted).collect::<Option<Vec<_>>>()?;
    Some(Converted { rate: straight.rate.inverse()?, legs, ..straight })
}

fn by_rate(receipt: &Receipt) -> Option<Converted<'_>> {
    let (pair, rate) = (receipt.outcome.pair, receipt.outcome.rate?);
    let leg = Leg { from: pair.base, to: pair.quote, rate, pair, venue: None, par: false };
    Some(Converted { rate, legs: vec![leg], top: None })
}

fn by_best(receipt: &Receipt, side: Side, now: UnixMs, max_age: Duration) -> Option<Converted<'_>> {
    let found = tops(receipt, &Wanted { convert: true, takers: None, now, max_age });
    let best = *rank(&found.tops, side).first()?;
    let (target, offer) = (receipt.outcome.pair, &best.top.row.offer);
    let (market, venue) = (offer.pair, Some(offer.member.venue.clone()));
    let steps = best.top.path.map_or([].as_slice(), |path| &path.steps);
    let first = match steps {
        // Upside down or not, it is priced in the target already.
        [] => Leg { from: target.base, to: target.quote, rate: best.price, pair: market, venue, par: false },
        _ => Leg { from: market.base, to: market.quote, rate: Num::from(best.top.quoted(side)?.get()), pair: market, venue, par: false },
    };
    let legs = std::iter::once(first).chain(steps.iter().map(Leg::of_step)).collect();
    Some(Converted { rate: best.price, legs, top: Some(best.top) })
}

impl Leg {
    /// Makes a leg of a step of a receipt's path.
    pub fn of_step(step: &Step) -> Self {
        let Step { pair, rate, par } = *step;
        Self { from: pair.base, to: pair.quote, rate, pair, venue: None, par }
    }

    fn inverted(self) -> Option<Self> {
        Some(Self { from: self.to, to: self.from, rate: self.rate.inverse()?, ..self })
    }
}

impl Receipt {
    /// Gives the ways on which quotes came to the currency of the rate that have a part in it.
    pub fn paths_used(&self) -> impl Iterator<Item = &Path> {
        let used = |at: usize| self.outcome.rows.iter().any(|row| row.votes && row.decision == super::Decision::In && row.path == Some(at));
        self.outcome.paths.iter().enumerate().filter(move |(at, _)| used(*at)).map(|(_, path)| path)
    }
}
