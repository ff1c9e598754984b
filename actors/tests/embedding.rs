//! An app that embeds the engine: a venue of its own, an actor that subscribes, answers from memory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects, missing_docs)]

mod support;

use actix::prelude::*;
use bytes::Bytes;
use futures_util::future::LocalBoxFuture;
use quorate_actors::{
    QuoteUpdate,
    model::{Fault, Pair, Reason, Ticker},
    sim::MemoryConnect,
    transport::{Answer, Connect, Limits, Transport},
    venue::{ANY, Basis, Body, Budget, Endpoint, Fee, Kind, Num, Profile, Raw, Reach, Sink, TimeOf, Venue},
    venues,
};
use std::{rc::Rc, sync::Arc, time::Duration};
use support::{Sim, ms, pair, paused, until};
use tokio::time::Instant;

/// A venue that is not built in: it answers `[bid, ask]`, and panics on what it never promised to read.
struct Desk;

static DESK: Profile = Profile {
    id: "desk",
    name: "Desk",
    operator: "desk",
    region: None,
    origin: "https://desk.example",
    mirrors: &[],
    taker: Fee { rate: "0", read: "2026-11-30" },
    budget: Budget { weight: 100, per: Duration::from_secs(1) },
    body_max: 64 << 10,
    time_of: TimeOf::None,
    basis: Basis::Mid,
    warm_up: "/ping",
    docs: "https://desk.example/docs",
    endpoints: &[Endpoint {
        kind: Kind::Ticker,
        reach: Reach::One,
        path: "/top/{symbol}",
        weight: &[(ANY, 1)],
        row_bytes: 20,
        rows: 1,
        decode,
        encode: None,
    }],
};

fn decode(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let [bid, ask]: [Raw<'_>; 2] = body.small()?;
    assert!(bid.text() != Some("666"), "a bug of the host's");
    sink(None, &|| Ok(Ticker { bid: bid.price("bid")?, ask: ask.price("ask")?, ..Ticker::default() }));
    Ok(())
}

impl Venue for Desk {
    fn profile(&self) -> &Profile {
        &DESK
    }
    fn spell(&self, pair: &Pair) -> String {
        format!("{:#}", pair).to_lowercase()
    }
    fn read_symbol(&self, symbol: &str) -> Option<Pair> {
        symbol.parse().ok()
    }
    fn said(&self, _: u16, _: &[u8]) -> Option<Fault> {
        None
    }
}

/// Answers for the desk itself, and for the others as the simulated world does.
struct DeskConnect {
    answer: &'static str,
    others: MemoryConnect,
}

struct DeskTransport(&'static str);

impl Transport for DeskTransport {
    fn get(&self, url: &Rc<str>, _: Instant) -> LocalBoxFuture<'static, Result<Answer, Fault>> {
        let (body, known) =
            (Bytes::from_static(self.0.as_bytes()), &**url == "https://desk.example/top/btc/usdt" || url.ends_with("/ping"));
        Box::pin(async move { Ok(Answer { status: if known { 200 } else { 404 }, body, retry: None, date: None }) })
    }
}

impl Connect for DeskConnect {
    fn transport(&self, limits: &Limits) -> Rc<dyn Transport> {
        if limits.venue.as_str() == "desk" { Rc::new(DeskTransport(self.answer)) } else { self.others.transport(limits) }
    }
}

fn with_desk(sim: &Sim, answer: &'static str) -> quorate_actors::Builder {
    let others = MemoryConnect::new(Arc::clone(&sim.world), sim.clock.clone());
    sim.builder().connect(Arc::new(DeskConnect { answer, others })).venue(venues::Kraken).venue(Desk).pairs(["BTC-USDT"]).poll(ms(500))
}

#[test]
fn a_venue_of_the_hosts_own_is_one_like_any_other() {
    paused(async {
        let sim = Sim::new((50, 50));
        let engine = with_desk(&sim, "[1000000,\"1000001.50\"]").start().unwrap();
        let view = engine.quote(&pair("BTC-USDT")).await.unwrap().view.clone();
        assert_eq!(view.rows.iter().map(|r| r.quote.venue.as_str()).collect::<Vec<_>>(), ["desk", "kraken"]);
        assert_eq!((view.bid().unwrap().quote.venue.as_str(), view.ask().unwrap().quote.venue.as_str()), ("desk", "kraken"));
        assert_eq!(&*view.rows[0].quote.symbol, "btc/usdt");
        engine.shutdown().await;
    });
}

#[test]
fn a_panic_in_a_hosts_decoder_is_a_miss_and_nothing_dies() {
    paused(async {
        let sim = Sim::new((50, 50));
        let engine = with_desk(&sim, "[666,667]").start().unwrap();
        let view = engine.quote(&pair("BTC-USDT")).await.unwrap().view.clone();
        let miss = &view.misses[0];
        assert_eq!((miss.venue.as_str(), miss.fault.reason), ("desk", Reason::Decode));
        assert_eq!(engine.venues().iter().map(|v| v.restarts).sum::<u64>(), 0);
        engine.shutdown().await;
    });
}

#[derive(Default)]
struct Listener(Arc<std::sync::Mutex<Vec<u64>>>);

impl Actor for Listener {
    type Context = Context<Self>;
}

impl Handler<QuoteUpdate> for Listener {
    type Result = ();
    fn handle(&mut self, QuoteUpdate(published): QuoteUpdate, _: &mut Self::Context) {
        self.0.lock().unwrap().push(published.view.sequence);
    }
}

#[test]
fn an_actor_of_the_hosts_hears_every_change_in_order() {
    paused(async {
        let sim = Sim::new((50, 50));
        let engine = sim.builder().pairs(["BTC-USDT"]).poll(ms(500)).start().unwrap();
        let heard = Arc::default();
        let listener = Listener(Arc::clone(&heard)).start();
        engine.subscribe(pair("BTC-USDT"), listener.recipient()).await.unwrap();
        until("twenty changes were heard", || heard.lock().unwrap().len() >= 20).await;
        let heard = heard.lock().unwrap().clone();
        assert!(heard.windows(2).all(|w| w[1] == w[0] + 1), "none is left out: {heard:?}");
        engine.shutdown().await;
    });
}
