//! Quorate's engine as a program like its peers: it reads the exchanges' origins as one line of JSON, then commands as `benches/peers/run` gives them.
//!
//! With `apart` as its argument the actors run on a thread of their own, as they do where an embedder says nothing; else on the caller's.

#![allow(missing_docs, reason = "a bench has no readers of its docs but these")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::arithmetic_side_effects,
    reason = "a bench that cannot measure ends"
)]

#[path = "../support/mod.rs"]
mod support;

use actix::System;
use quorate_actors::{Builder, Engine, model::Ticker, transport::AwcConnect};
use serde_json::{Map, Value};
use std::{collections::BTreeMap, io::BufRead, time::Duration};
use support::{market, ours};
use tokio::time::{Instant, sleep};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let apart = std::env::args().nth(1).is_some_and(|arg| arg == "apart");
    System::new().block_on(serve(if apart { |builder| builder.arbiters(1) } else { Builder::here }));
}

async fn serve(place: fn(Builder) -> Builder) {
    let mut lines = std::io::stdin().lock().lines().map(Result::unwrap);
    let origins: BTreeMap<String, String> = serde_json::from_str(&lines.next().expect("a line of origins")).unwrap();
    let names: Vec<String> = market::venues(origins.len()).iter().map(|venue| origins[venue.inner.profile().id].clone()).collect();
    let engine = ours::start_at(&names, AwcConnect::new([]).unwrap(), place).await;
    // Commands come one at a time, each once the last one's answer is there: nothing else runs while one is awaited.
    for line in lines {
        let said = match line.split(' ').collect::<Vec<_>>().as_slice() {
            ["quotes"] => quotes(&engine).await,
            ["rounds", count, pause_ms] => rounds(&engine, names.len(), count.parse().unwrap(), pause_ms.parse().unwrap()).await,
            _ => panic!("{line:?} is no command"),
        };
        println!("{said}");
    }
    engine.shutdown().await;
}

/// Makes rounds and gives how many nanoseconds each took.
async fn rounds(engine: &Engine, venues: usize, count: usize, pause_ms: u64) -> Value {
    let mut times = Vec::with_capacity(count);
    for at in 0..count {
        if at > 0 && pause_ms > 0 {
            sleep(Duration::from_millis(pause_ms)).await;
        }
        let began = Instant::now();
        ours::round(engine, venues).await;
        times.push(u64::try_from(began.elapsed().as_nanos()).unwrap());
    }
    times.into()
}

/// Makes a round and gives what it found.
async fn quotes(engine: &Engine) -> Value {
    let published = engine.quote(&market::pair()).await.unwrap();
    let rows = published.view.rows.iter().map(|row| {
        let copied = row.quote.venue.as_str();
        (copied.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned(), Value::Object(numbers(&row.quote.ticker)))
    });
    Value::Object(rows.collect())
}

fn numbers(ticker: &Ticker) -> Map<String, Value> {
    let prices = [("bid", ticker.bid), ("ask", ticker.ask), ("last", ticker.last), ("high", ticker.high), ("low", ticker.low), ("open", ticker.open)];
    let amounts = [
        ("bid_size", ticker.bid_size),
        ("ask_size", ticker.ask_size),
        ("base_volume", ticker.base_volume),
        ("quote_volume", ticker.quote_volume),
    ];
    let prices = prices.into_iter().filter_map(|(name, price)| Some((name, price?.to_string())));
    let amounts = amounts.into_iter().filter_map(|(name, amount)| Some((name, amount?.to_string())));
    prices.chain(amounts).map(|(name, text)| (name.to_owned(), Value::String(text))).collect()
}
