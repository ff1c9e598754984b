//! Where it is best: among admitted quotes, of equal prices the larger size, then the younger, then the first by id.

use super::{Num, Top};
use crate::{
    model::{Amount, Price, Quote},
    view::ViewRow,
};
use std::cmp::{Ordering, Reverse};

/// Gives the row with the highest bid among those that count.
pub fn best_bid(rows: &[ViewRow]) -> Option<usize> {
    best(rows, |q| (q.ticker.bid, q.ticker.bid_size), Price::cmp)
}

/// Gives the row with the lowest ask among those that count.
pub fn best_ask(rows: &[ViewRow]) -> Option<usize> {
    best(rows, |q| (q.ticker.ask, q.ticker.ask_size), |a, b| b.cmp(a))
}

fn best(rows: &[ViewRow], side: fn(&Quote) -> (Option<Price>, Option<Amount>), better: fn(&Price, &Price) -> Ordering) -> Option<usize> {
    let counted = rows.iter().enumerate().filter(|(_, row)| row.refused.is_none());
    let offers = counted.filter_map(|(at, row)| {
        let (price, size) = side(&row.quote);
        Some((at, price?, size, row.quote.received))
    });
    // Rows are sorted by id, so the earlier of equals is the first by id.
    offers
        .max_by(|(at, price, size, received), (at2, price2, size2, received2)| {
            better(price, price2)
                .then_with(|| size.cmp(size2))
                .then_with(|| received.cmp(received2))
                .then_with(|| Reverse(at).cmp(&Reverse(at2)))
        })
        .map(|(at, ..)| at)
}

/// Tells which way somebody trades.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// He buys the base, at the ask.
    Buy,
    /// He sells the base, at the bid.
    Sell,
}

impl Side {
    /// Both sides.
    pub const ALL: [Self; 2] = [Self::Buy, Self::Sell];

    /// Gives the word for it.
    pub fn slug(self) -> &'static str {
        match self {
            Self::Buy => "buy",
            Self::Sell => "sell",
        }
    }

    /// Gives the side of who trades with him.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Buy => Self::Sell,
            Self::Sell => Self::Buy,
        }
    }
}

/// Holds a top from one side.
#[derive(Clone, Copy, Debug)]
pub struct Ranked<'r> {
    /// The top.
    pub top: Top<'r>,
    /// What is paid or got for one of the base.
    pub price: Num,
    /// How much of the base there is at that price.
    pub size: Option<Num>,
    /// The price with the taker's fee, where one is wanted.
    pub after_fee: Num,
}

impl<'r> Ranked<'r> {
    fn of(top: Top<'r>, side: Side) -> Self {
        let (price, size) = match side {
            Side::Buy => (top.ask, top.ask_size),
            Side::Sell => (top.bid, top.bid_size),
        };
        Self { top, price, size, after_fee: top.after_fee(side) }
    }

    /// Tells whether there is as much as an amount of the base at this price; `None` where the venue does not say how much there is.
    pub fn covers(&self, amount: Num) -> Option<bool> {
        self.size.map(|size| size >= amount)
    }
}

impl Top<'_> {
    /// Gives the price as the venue says it, in the market's own currency, at which somebody trades who goes one way.
    pub fn quoted(&self, side: Side) -> Option<Price> {
        let ticker = &self.row.offer.ticker;
        if (side == Side::Buy) == self.inverse { ticker.bid } else { ticker.ask }
    }

    /// Gives what one of the base costs or brings after the taker's fee.
    pub fn after_fee(&self, side: Side) -> Num {
        let fee = self.taker.map_or(Num::ZERO, |taker| taker.rate);
        match side {
            Side::Buy => self.ask.product(Num::ONE.plus(fee)),
            Side::Sell => self.bid.product(Num::ONE.distance(fee)),
        }
    }
}

/// Ranks tops for who trades one way, the best first: by the price after the fee, then by size, the youngest, the first by id.
pub fn rank<'r>(tops: &[Top<'r>], side: Side) -> Vec<Ranked<'r>> {
    let mut ranked: Vec<Ranked<'r>> = tops.iter().map(|top| Ranked::of(*top, side)).collect();
    // Tops are sorted by id, and equals keep their order.
    ranked.sort_by(|a, b| {
        let cheaper = a.after_fee.cmp(&b.after_fee);
        let better = if side == Side::Buy { cheaper } else { cheaper.reverse() };
        better.then_with(|| b.size.cmp(&a.size)).then_with(|| a.top.age.cmp(&b.top.age))
    });
    ranked
}
