//! Embeds the engine in an actix application: two built-in venues and one of the application's own. The market is simulated in memory, so that this runs
//! without a network: `cargo run -p quorate-actors --example embed`. Leave `connect` out, and the same code asks the exchanges themselves.

use actix::prelude::*;
use quorate_actors::{
    Engine, QuoteUpdate,
    clock::Clock,
    model::{Fault, Pair, Ticker},
    sim::{MemoryConnect, Options, World},
    venue::{ANY, Body, Budget, Endpoint, Fee, Kind, Num, Profile, Raw, Reach, Row, Sink, TimeOf, Venue, text},
    venues::{Binance, Kraken},
};
use serde::Deserialize;
use std::{error::Error, sync::Arc, time::Duration};
use tokio::sync::oneshot;

/// A venue that Quorate does not know: data, and pure functions.
struct Corner;

static PROFILE: Profile = Profile {
    id: "corner",
    name: "The Corner Exchange",
    operator: "corner",
    region: None,
    origin: "https://api.corner.example",
    mirrors: &[],
    taker: Fee { rate: "0.002", read: "2026-11-30" },
    budget: Budget { weight: 10, per: Duration::from_secs(1) },
    body_max: 64 << 10,
    time_of: TimeOf::None,
    warm_up: "/ping",
    docs: "https://docs.corner.example",
    endpoints: &[Endpoint {
        kind: Kind::Ticker,
        reach: Reach::One,
        path: "/ticker/{symbol}",
        weight: &[(ANY, 1)],
        row_bytes: 60,
        rows: 1,
        decode,
        encode: Some(encode),
    }],
};

impl Venue for Corner {
    fn profile(&self) -> &Profile {
        &PROFILE
    }

    fn spell(&self, pair: &Pair) -> String {
        format!("{}~{}", pair.base, pair.quote)
    }

    fn read_symbol(&self, symbol: &str) -> Option<Pair> {
        symbol.split_once('~').and_then(|(base, quote)| Pair::new(base, quote).ok())
    }

    fn said(&self, _status: u16, _body: &[u8]) -> Option<Fault> {
        None
    }
}

#[derive(Deserialize)]
struct Touch<'a> {
    #[serde(borrow)]
    bid: Raw<'a>,
    #[serde(borrow)]
    ask: Raw<'a>,
}

fn decode(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let touch: Touch<'_> = body.small()?;
    sink(None, &|| Ok(Ticker { bid: touch.bid.price("bid")?, ask: touch.ask.price("ask")?, ..Ticker::default() }));
    Ok(())
}

/// Only the simulation needs this.
fn encode(rows: &[Row<'_>]) -> String {
    rows.first().map_or_else(String::new, |row| format!(r#"{{"bid":"{}","ask":{}}}"#, text(row.ticker.bid), text(row.ticker.ask)))
}

/// An actor of the application, told of every change of a pair.
struct Watcher {
    /// Told once three changes were seen.
    seen: Option<oneshot::Sender<()>>,
    changes: u32,
}

impl Actor for Watcher {
    type Context = Context<Self>;
}

impl Handler<QuoteUpdate> for Watcher {
    type Result = ();

    fn handle(&mut self, QuoteUpdate(published): QuoteUpdate, _: &mut Context<Self>) {
        self.changes = self.changes.saturating_add(1);
        let view = &published.view;
        println!(
            "change {}: {} rows, mid {}",
            view.sequence,
            view.rows.len(),
            view.mid().map_or_else(|| "none".to_owned(), |m| m.to_string())
        );
        if self.changes >= 3
            && let Some(seen) = self.seen.take()
        {
            // Nobody waits once the application ends.
            let _ = seen.send(());
        }
    }
}

#[actix::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let clock = Clock::start();
    let world = World::of(&[&Binance, &Kraken, &Corner], Options::default(), clock.now())?;
    let engine = Engine::builder()
        .pairs(["BTC-USDT"])
        .venue(Binance)
        .venue(Kraken)
        .venue(Corner)
        .deadline(Duration::from_millis(400))
        .clock(clock.clone())
        .connect(Arc::new(MemoryConnect::new(world, clock)))
        .start()?;

    let pair: Pair = "BTC-USDT".parse()?;
    let published = engine.quote(&pair).await?;
    for row in &published.view.rows {
        let ticker = &row.quote.ticker;
        println!("{:<8} {:<8} {} / {}", row.quote.venue, row.quote.symbol, text(ticker.bid), text(ticker.ask));
    }
    for miss in &published.view.misses {
        println!("{:<8} {}", miss.venue, miss.fault.reason.slug());
    }

    let (seen, told) = oneshot::channel();
    let watcher = Watcher { seen: Some(seen), changes: 0 }.start();
    engine.subscribe(pair, watcher.recipient()).await?;
    told.await?;
    engine.shutdown().await;
    Ok(())
}
