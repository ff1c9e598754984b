//! The JSON libraries on a small body and on a bulk one: Binance's answer for one market and for 400, read into the same borrowed structs.
//!
//! How ours stands beside `serde_json::from_slice` for each of the twelve exchanges is the decode bench's.

use super::by_turns;
use crate::support::market;
use quorate_actors::{
    model::{Pair, UnixMs},
    venue::{Body, Kind, Reach, Row, Scratch, Venue},
    venues::Binance,
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::{borrow::Cow, hint::black_box};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code, reason = "it is read, and that is all")]
struct Ticker<'a> {
    #[serde(borrow)]
    symbol: Cow<'a, str>,
    #[serde(borrow)]
    bid_price: Cow<'a, str>,
    #[serde(borrow)]
    bid_qty: Cow<'a, str>,
    #[serde(borrow)]
    ask_price: Cow<'a, str>,
    #[serde(borrow)]
    ask_qty: Cow<'a, str>,
    #[serde(borrow)]
    last_price: Cow<'a, str>,
    #[serde(borrow)]
    open_price: Cow<'a, str>,
    #[serde(borrow)]
    high_price: Cow<'a, str>,
    #[serde(borrow)]
    low_price: Cow<'a, str>,
    #[serde(borrow)]
    volume: Cow<'a, str>,
    #[serde(borrow)]
    quote_volume: Cow<'a, str>,
    close_time: u64,
}

type Tickers<'a> = Vec<Ticker<'a>>;

const READERS: [&str; 4] = ["tree", "serde_json", "simd_json", "ours"];

pub(super) fn report() -> Value {
    let (one, list) = (written(1, Kind::Ticker), written(400, Kind::Tickers));
    json!({"small": {"bytes": one.len(), "ns": small(&one)}, "bulk": {"bytes": list.len(), "ns": bulk(&list)}})
}

fn small(bytes: &[u8]) -> Value {
    let mut scratch = Scratch::default();
    named(by_turns(
        15,
        2_000,
        [
            &mut || drop(black_box(serde_json::from_slice::<Value>(black_box(bytes)).unwrap())),
            &mut || drop(black_box(serde_json::from_slice::<Ticker<'_>>(black_box(bytes)).unwrap())),
            &mut || drop(black_box(simd_json::serde::from_slice::<Ticker<'_>>(&mut black_box(bytes).to_vec()).unwrap())),
            &mut || drop(black_box(Body::new(black_box(bytes), &mut scratch).small::<Ticker<'_>>().unwrap())),
        ],
    ))
}

fn bulk(bytes: &[u8]) -> Value {
    let mut scratch = Scratch::default();
    named(by_turns(
        15,
        10,
        [
            &mut || drop(black_box(serde_json::from_slice::<Value>(black_box(bytes)).unwrap())),
            &mut || drop(black_box(serde_json::from_slice::<Tickers<'_>>(black_box(bytes)).unwrap())),
            &mut || drop(black_box(simd_json::serde::from_slice::<Tickers<'_>>(&mut black_box(bytes).to_vec()).unwrap())),
            &mut || drop(black_box(Body::new(black_box(bytes), &mut scratch).bulk::<Tickers<'_>>().unwrap())),
        ],
    ))
}

fn named(times: [f64; 4]) -> Value {
    READERS.into_iter().zip(times).map(|(name, time)| (name.to_owned(), time.into())).collect::<serde_json::Map<_, _>>().into()
}

fn written(rows: usize, kind: Kind) -> Vec<u8> {
    let endpoint =
        Binance.profile().endpoints.iter().find(|e| e.encode.is_some() && e.kind == kind && (rows == 1 || e.reach == Reach::All));
    let ticker = market::ticker(UnixMs(1_796_036_400_000));
    let pairs: Vec<Pair> = (0..rows).map(|n| Pair::new(&format!("C{n}"), "USDT").unwrap()).collect();
    let symbols: Vec<String> = pairs.iter().map(|pair| Binance.spell(pair)).collect();
    let rows: Vec<Row<'_>> = pairs.iter().zip(&symbols).map(|(pair, symbol)| Row { symbol, pair, ticker: &ticker }).collect();
    endpoint.unwrap().encode.unwrap()(&rows).into_bytes()
}
