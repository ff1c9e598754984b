//! From an answer to what it says about each pair: pure.

use super::listing::Listing;
use crate::{
    model::{Fault, Reason, Ticker},
    transport::Answer,
    venue::{self, Endpoint, Reach, Scratch, Venue},
};
use std::sync::Arc;

/// What an answer says about the pairs, by their numbers.
pub(crate) type Rows = Vec<(usize, Result<Ticker, Arc<Fault>>)>;

/// Reads an answer about the `asked` pairs. Where the endpoint gives a list, every pair of the listing that is in it is read, and one that was asked for and is not in it is `unlisted`.
///
/// # Errors
/// The fault of the whole answer.
pub(crate) fn read(
    venue: &dyn Venue,
    endpoint: &Endpoint,
    answer: &Answer,
    scratch: &mut Scratch,
    listing: &Listing,
    asked: &[usize],
) -> Result<Rows, Fault> {
    let mut rows = Rows::with_capacity(asked.len());
    if endpoint.reach == Reach::One {
        let only = asked.first().copied();
        venue::read(venue, endpoint, answer.status, &answer.body, scratch, &mut |symbol, ticker| {
            let Some(asked) = only.filter(|_| rows.is_empty()) else { return };
            let foreign = symbol.filter(|s| listing.number_of(s) != Some(asked));
            let row = foreign.map_or_else(ticker, |s| Err(Fault::said(Reason::Decode, &format!("the answer is about {s}"))));
            rows.push((asked, row.map_err(Arc::new)));
        })?;
        return if rows.is_empty() { Err(Fault::new(Reason::Decode, "the answer has no row")) } else { Ok(rows) };
    }
    venue::read(venue, endpoint, answer.status, &answer.body, scratch, &mut |symbol, ticker| {
        if let Some(at) = symbol.and_then(|s| listing.number_of(s)) {
            rows.push((at, ticker().map_err(Arc::new)));
        }
    })?;
    let mut absent = Vec::new();
    // One row about the one pair that was asked for is the common case, and leaves nothing to look for.
    if !matches!((asked, rows.as_slice()), ([wanted], [(only, _)]) if wanted == only) {
        let mut present = vec![false; listing.size()];
        for (at, _) in &rows {
            if let Some(seen) = present.get_mut(*at) {
                *seen = true;
            }
        }
        absent.extend(asked.iter().copied().filter(|at| present.get(*at) == Some(&false)));
    }
    // One fault for all of them: of a thousand pairs a venue may list a few.
    let unlisted = Arc::new(Fault::new(Reason::Unlisted, "not in the venue's list"));
    rows.extend(absent.into_iter().map(|at| (at, Err(Arc::clone(&unlisted)))));
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{model::Pair, venues::by_id};

    #[test]
    fn the_one_pair_asked_for_is_answered_for_when_the_list_has_others_alone() {
        let gate = by_id("gate").unwrap();
        let all = gate.profile().endpoints.iter().find(|e| e.reach == Reach::All).unwrap();
        let mut listing = Listing::default();
        let [btc, eth] = ["BTC", "ETH"].map(|base| listing.add(gate, Pair::new(base, "USDT").unwrap(), false));
        let body = r#"[{"currency_pair":"ETH_USDT","last":"3000.5","lowest_ask":"3001","highest_bid":"3000"}]"#;
        let answer = Answer { status: 200, body: body.into(), retry: None, date: None };
        let told = |asked: &[usize]| {
            let rows = read(gate, all, &answer, &mut Scratch::default(), &listing, asked).unwrap();
            rows.into_iter().map(|(at, row)| (at, row.map(|_| ()).map_err(|fault| fault.reason))).collect::<Vec<_>>()
        };
        assert_eq!(told(&[btc]), [(eth, Ok(())), (btc, Err(Reason::Unlisted))]);
        assert_eq!(told(&[eth]), [(eth, Ok(()))]);
    }
}
