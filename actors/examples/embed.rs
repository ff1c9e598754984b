//! An actix-web app of its own that embeds the engine: it brings a venue that is not built in, an actor of it hears every change, and a handler answers from memory.
//!
//! `cargo run -p quorate-actors --example embed` asks the real exchanges; with `--simulated` a market in memory, which needs no network.
//! Then `curl 127.0.0.1:8070/price` and `curl 127.0.0.1:8070/changes`.

use actix::prelude::*;
use actix_web::{App, HttpResponse, HttpServer, web};
use quorate_actors::{
    Engine, QuoteUpdate,
    clock::Clock,
    model::{Fault, Pair, Reason, Ticker, UnixMs},
    sim::{MemoryConnect, Options, World},
    venue::{ANY, Basis, Body, Budget, Endpoint, Fee, Kind, Num, Profile, Raw, Reach, Row, Sink, TimeOf, Venue, text},
    venues,
};
use std::{sync::Arc, time::Duration};

/// A venue of the host's own: an in-house dealing desk that answers `{"bid":"66999.5","ask":"67000.5","ts":1796036400000}`.
struct Desk;

static DESK: Profile = Profile {
    id: "desk",
    name: "Our desk",
    operator: "desk",
    region: None,
    origin: "https://desk.example",
    mirrors: &[],
    taker: Fee { rate: "0", read: "2026-11-30" },
    budget: Budget { weight: 10, per: Duration::from_secs(1) },
    body_max: 64 << 10,
    time_of: TimeOf::Book,
    basis: Basis::Mid,
    warm_up: "/ping",
    docs: "https://desk.example/docs",
    endpoints: &[Endpoint {
        kind: Kind::Ticker,
        reach: Reach::One,
        path: "/top/{symbol}",
        weight: &[(ANY, 1)],
        row_bytes: 64,
        rows: 1,
        decode: top,
        // For the simulation; a venue that is only asked has `None`.
        encode: Some(written),
    }],
};

impl Venue for Desk {
    fn profile(&self) -> &Profile {
        &DESK
    }

    fn spell(&self, pair: &Pair) -> String {
        format!("{}.{}", pair.base, pair.quote)
    }

    fn read_symbol(&self, symbol: &str) -> Option<Pair> {
        let (base, quote) = symbol.split_once('.')?;
        Pair::new(base, quote).ok()
    }

    fn said(&self, status: u16, _: &[u8]) -> Option<Fault> {
        (status == 404).then(|| Fault::new(Reason::Unlisted, "the desk does not deal in it"))
    }
}

#[derive(serde::Deserialize)]
struct Top<'a> {
    #[serde(borrow)]
    bid: Raw<'a>,
    #[serde(borrow)]
    ask: Raw<'a>,
    ts: i64,
}

fn top(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let top: Top<'_> = body.small()?;
    // The answer does not name its pair: it is the one that was asked for.
    sink(None, &|| {
        let (bid, ask) = (top.bid.price("bid")?, top.ask.price("ask")?);
        Ok(Ticker { bid, ask, venue_time: Some(UnixMs(top.ts)), ..Ticker::default() })
    });
    Ok(())
}

fn written(rows: &[Row<'_>]) -> String {
    let Some(Row { ticker, .. }) = rows.first() else { return String::new() };
    format!(r#"{{"bid":"{}","ask":"{}","ts":{}}}"#, text(ticker.bid), text(ticker.ask), ticker.venue_time.map_or(0, |t| t.0))
}

/// The host's own actor: it counts what it hears and keeps the last.
#[derive(Default)]
struct Desktop {
    changes: u64,
    last: Option<QuoteUpdate>,
}

impl Actor for Desktop {
    type Context = Context<Self>;
}

impl Handler<QuoteUpdate> for Desktop {
    type Result = ();

    fn handle(&mut self, update: QuoteUpdate, _: &mut Self::Context) {
        self.changes = self.changes.saturating_add(1);
        self.last = Some(update);
    }
}

#[derive(Message)]
#[rtype(result = "String")]
struct Report;

impl Handler<Report> for Desktop {
    type Result = String;

    fn handle(&mut self, _: Report, _: &mut Self::Context) -> String {
        let mid = self.last.as_ref().and_then(|QuoteUpdate(p)| p.view.mid());
        format!("{} changes, the last mid {}\n", self.changes, mid.map_or("unknown".to_owned(), |mid| mid.to_string()))
    }
}

/// Answers from memory: no await, no lock.
async fn price(engine: web::Data<Engine>, pair: web::Data<Pair>) -> HttpResponse {
    let Some(latest) = engine.latest(&pair) else { return HttpResponse::ServiceUnavailable().body("nothing yet\n") };
    let rows = latest.view.rows.iter().map(|row| {
        let price = |p: Option<quorate_actors::model::Price>| p.map_or_else(|| "-".to_owned(), |p| p.to_string());
        format!("{:<16} {:>12} {:>12}\n", row.quote.venue, price(row.quote.ticker.bid), price(row.quote.ticker.ask))
    });
    let misses = latest.view.misses.iter().map(|miss| format!("{:<16} {}\n", miss.venue, miss.fault));
    HttpResponse::Ok().body(rows.chain(misses).collect::<String>())
}

async fn changes(desktop: web::Data<Addr<Desktop>>) -> HttpResponse {
    match desktop.send(Report).await {
        Ok(report) => HttpResponse::Ok().body(report),
        Err(_) => HttpResponse::ServiceUnavailable().finish(),
    }
}

#[actix_web::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pair: Pair = "BTC-USDT".parse()?;
    let mut builder = Engine::builder()
        .pairs(["BTC-USDT", "ETH-USDT"])
        .venue(venues::Kraken)
        .venue(venues::Binance)
        .venue(Desk)
        .deadline(Duration::from_millis(400));
    if std::env::args().any(|arg| arg == "--simulated") {
        let clock = Clock::start();
        let world = World::of(&[&venues::Binance, &Desk, &venues::Kraken], Options::default(), clock.now())?;
        builder = builder.clock(clock.clone()).connect(Arc::new(MemoryConnect::new(world, clock)));
    }
    let engine = builder.start()?;
    let desktop = Desktop::default().start();
    engine.subscribe(pair, desktop.clone().recipient()).await?;

    let (data, pair, desktop) = (web::Data::new(engine.clone()), web::Data::new(pair), web::Data::new(desktop));
    let app = move || {
        let app = App::new().app_data(data.clone()).app_data(pair.clone()).app_data(desktop.clone());
        app.route("/price", web::get().to(price)).route("/changes", web::get().to(changes))
    };
    HttpServer::new(app).workers(1).bind(("127.0.0.1", 8070))?.run().await?;
    engine.shutdown().await;
    Ok(())
}
