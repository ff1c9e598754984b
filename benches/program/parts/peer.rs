//! Quorate's engine as a program like its peers.

use super::{lines, nanoseconds};
use crate::support::{market, ours};
use quorate_actors::{Builder, Engine, model::Ticker, transport::AwcConnect};
use serde_json::{Map, Value};
use std::{collections::BTreeMap, time::Duration};
use tokio::time::{Instant, sleep};

pub(super) async fn serve(place: fn(Builder) -> Builder) {
    let mut lines = lines();
    let origins: BTreeMap<String, String> = serde_json::from_str(&lines.next().expect("a line of origins")).unwrap();
    let origins: Vec<String> = market::venues(origins.len()).iter().map(|venue| origins[venue.inner.profile().id].clone()).collect();
    let engine = ours::start_at(&origins, AwcConnect::new([]).unwrap(), place).await;
    for line in lines {
        let said = match line.split(' ').collect::<Vec<_>>().as_slice() {
            ["quotes"] => quotes(&engine).await,
            ["rounds", count, pause_ms] => rounds(&engine, origins.len(), count.parse().unwrap(), pause_ms.parse().unwrap()).await,
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
        times.push(nanoseconds(began.elapsed()));
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
    let t = ticker;
    let prices = [("bid", t.bid), ("ask", t.ask), ("last", t.last), ("high", t.high), ("low", t.low), ("open", t.open)];
    let amounts = [("bid_size", t.bid_size), ("ask_size", t.ask_size), ("base_volume", t.base_volume), ("quote_volume", t.quote_volume)];
    let prices = prices.into_iter().filter_map(|(name, price)| Some((name, price?.to_string())));
    let amounts = amounts.into_iter().filter_map(|(name, amount)| Some((name, amount?.to_string())));
    prices.chain(amounts).map(|(name, text)| (name.to_owned(), Value::String(text))).collect()
}
