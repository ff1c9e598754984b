//! What the simulation writes in a venue's dialect, the venue reads back.

use super::{every, find, pairs, rows, seeds};
use quorate_actors::{
    model::{Amount, Pair, Price, Ticker, UnixMs},
    venue::{Endpoint, Reach, Row, Venue},
};
use rust_decimal::Decimal;

fn decimal(rng: &mut fastrand::Rng) -> Decimal {
    Decimal::new(rng.i64(1..1_000_000_000_000), rng.u32(0..=10))
}

/// Makes a ticker with every field, as the simulation does; now and then one side has no orders.
fn ticker(rng: &mut fastrand::Rng, time: UnixMs) -> Ticker {
    let (bid, step) = (decimal(rng), decimal(rng));
    let price = |number: Decimal| Price::new(number);
    let (bid, ask) = (price(bid), price(bid + step));
    let (bid, ask) = match rng.u8(0..16) {
        0 => (None, ask),
        1 => (bid, None),
        _ => (bid, ask),
    };
    Ticker {
        bid_size: bid.and(Amount::new(decimal(rng))),
        ask_size: ask.and(Amount::new(decimal(rng))),
        last: price(decimal(rng)),
        high: price(decimal(rng)),
        low: price(decimal(rng)),
        open: price(decimal(rng)),
        base_volume: Amount::new(decimal(rng)),
        quote_volume: Amount::new(decimal(rng)),
        venue_time: Some(time),
        halted: false,
        bid,
        ask,
    }
}

/// Picks pairs, each with a ticker: one where the endpoint gives one, else some. All have one time, for some dialects tell only the answer's.
pub(crate) fn market(rng: &mut fastrand::Rng, endpoint: &Endpoint) -> Vec<(Pair, Ticker)> {
    let mut pairs = pairs();
    rng.shuffle(&mut pairs);
    pairs.truncate(if endpoint.reach == Reach::One { 1 } else { rng.usize(1..=40) });
    let time = UnixMs(rng.i64(1_400_000_000_000..2_000_000_000_000));
    pairs.into_iter().map(|pair| (pair, ticker(rng, time))).collect()
}

/// Writes a market by an endpoint's `encode`.
pub(crate) fn written(venue: &dyn Venue, encode: fn(&[Row<'_>]) -> String, market: &[(Pair, Ticker)]) -> String {
    let symbols: Vec<String> = market.iter().map(|(pair, _)| venue.spell(pair)).collect();
    let rows: Vec<Row<'_>> = market.iter().zip(&symbols).map(|((pair, ticker), symbol)| Row { symbol, pair, ticker }).collect();
    encode(&rows)
}

#[test]
fn what_is_encoded_is_decoded() {
    every(|venue| {
        let profile = venue.profile();
        let mut rng = fastrand::Rng::with_seed(7);
        for endpoint in profile.endpoints {
            let Some(encode) = endpoint.encode else { continue };
            // What is only read may lack the book; ccxt asks it all the same.
            let asked = endpoint.is_asked();
            for _ in 0..seeds().div_ceil(10) {
                let market = market(&mut rng, endpoint);
                let body = written(venue, encode, &market);
                let rows = rows(venue, endpoint, 200, body.as_bytes()).unwrap_or_else(|fault| panic!("{}: {fault}: {body}", profile.id));
                assert_eq!(rows.len(), market.len(), "{}: {body}", profile.id);
                for (pair, sent) in &market {
                    let row = find(venue, pair, &rows).unwrap_or_else(|| panic!("{}: no {pair} in {body}", profile.id));
                    let read = row.as_ref().unwrap_or_else(|fault| panic!("{}: {fault}: {body}", profile.id));
                    carried(sent, read, asked, &format!("{} {}: {body}", profile.id, endpoint.path));
                }
            }
        }
    });
}

/// A dialect may leave fields out, and write times in whole seconds; what it carries is exact, and a book is never left out.
fn carried(sent: &Ticker, read: &Ticker, asked: bool, what: &str) {
    assert_eq!(sent.last, read.last, "{what}");
    if asked || read.bid.is_some() || read.ask.is_some() {
        assert_eq!((sent.bid, sent.ask), (read.bid, read.ask), "{what}");
    }
    for (sent, read) in [(sent.high, read.high), (sent.low, read.low), (sent.open, read.open)] {
        assert!(read.is_none() || read == sent, "{read:?} for {sent:?}: {what}");
    }
    let sizes = [(sent.bid_size, read.bid_size), (sent.ask_size, read.ask_size)];
    for (sent, read) in sizes.into_iter().chain([(sent.base_volume, read.base_volume), (sent.quote_volume, read.quote_volume)]) {
        assert!(read.is_none() || read == sent, "{read:?} for {sent:?}: {what}");
    }
    let seconds = sent.venue_time.map(|UnixMs(ms)| UnixMs(ms - ms % 1000));
    assert!(read.venue_time.is_none() || [sent.venue_time, seconds].contains(&read.venue_time), "{:?}: {what}", read.venue_time);
    assert_eq!(read.halted, sent.halted, "{what}");
}
