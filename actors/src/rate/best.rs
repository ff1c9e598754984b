//! Where it is best: among admitted quotes, of equal prices the larger size, then the younger, then the first by id.

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
