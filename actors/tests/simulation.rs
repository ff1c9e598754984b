//! The simulated world, asked as the engine asks: through a transport and the venue's own decoder, under paused time.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects)]

use quorate_actors::{
    clock::Clock,
    model::{Fault, Pair, Phase, Price, Reason, Retry, Ticker, UnixMs, VenueId},
    sim::{FaultFile, FaultName, MemoryConnect, Options, World, listed_by},
    transport::{Answer, Connect, Limits, Transport},
    venue::{Endpoint, Kind, Reach, Scratch, Venue, read},
    venues::{VENUES, by_id},
};
use rust_decimal::Decimal;
use serde_json::json;
use std::{collections::BTreeMap, rc::Rc, sync::Arc, time::Duration};
use tokio::time::Instant;

const SECOND: Duration = Duration::from_secs(1);

/// A world with its clock, and one transport for each venue.
struct Stage {
    world: Arc<World>,
    clock: Clock,
    lines: BTreeMap<&'static str, Rc<dyn Transport>>,
}

impl Stage {
    fn new(seed: u64) -> Self {
        let clock = Clock::start();
        let world = World::new(Options { seed, ..Options::default() }, clock.now()).unwrap();
        let connect = MemoryConnect::new(Arc::clone(&world), clock.clone());
        let line = |venue: &&'static dyn Venue| {
            let profile = venue.profile();
            (profile.id, connect.transport(&Limits { venue: VenueId::new(profile.id), body_max: profile.body_max }))
        };
        let lines = VENUES.iter().map(line).collect();
        Self { world, clock, lines }
    }

    fn set(&self, fault: serde_json::Value) {
        let file: FaultFile = serde_json::from_value(json!({ "faults": [fault] })).unwrap();
        self.world.add_faults(file.faults, self.clock.now()).unwrap();
    }

    async fn get(&self, venue: &dyn Venue, path: &str, within: Duration) -> Result<Answer, Fault> {
        let id = venue.profile().id;
        let url: Rc<str> = format!("http://127.0.0.1/{id}{path}").into();
        self.lines[id].get(&url, Instant::now() + within).await
    }

    /// Asks one endpoint for pairs and gives the tickers found.
    async fn ask(&self, venue: &dyn Venue, endpoint: &Endpoint, pairs: &[Pair]) -> Result<BTreeMap<Pair, Ticker>, Fault> {
        let symbols: Vec<String> = pairs.iter().map(|pair| venue.spell(pair)).collect();
        let symbols: Vec<&str> = symbols.iter().map(String::as_str).collect();
        let answer = self.get(venue, &endpoint.path_for(&symbols), 5 * SECOND).await?;
        decode(venue, endpoint, &answer, pairs)
    }

    /// Asks a venue for one pair by the first endpoint that can.
    async fn ticker(&self, venue: &dyn Venue, pair: Pair) -> Result<Ticker, Fault> {
        let endpoint = encodable(venue).find(|e| e.reach == Reach::One).or_else(|| encodable(venue).next()).unwrap();
        self.ask(venue, endpoint, &[pair]).await.map(|found| found[&pair])
    }
}

fn encodable(venue: &dyn Venue) -> impl Iterator<Item = &'static Endpoint> + use<> {
    venue.profile().endpoints.iter().filter(|e| e.encode.is_some())
}

fn decode(venue: &dyn Venue, endpoint: &Endpoint, answer: &Answer, pairs: &[Pair]) -> Result<BTreeMap<Pair, Ticker>, Fault> {
    let (mut found, mut bad) = (BTreeMap::new(), None);
    read(venue, endpoint, answer.status, &answer.body, &mut Scratch::default(), &mut |symbol, row| {
        let named = |pair: &&Pair| symbol.is_none_or(|s| venue.spell(pair) == s || venue.aliases(pair).iter().any(|a| a == s));
        if let Some(pair) = pairs.iter().find(named) {
            match row() {
                Ok(ticker) => drop(found.insert(*pair, ticker)),
                Err(fault) => bad = Some(fault),
            }
        }
    })?;
    bad.map_or(Ok(found), Err)
}

fn pair(text: &str) -> Pair {
    text.parse().unwrap()
}

fn btc() -> Pair {
    pair("BTC-USDT")
}

#[tokio::test(start_paused = true)]
async fn every_answer_decodes_to_the_markets_ticker() {
    let stage = Stage::new(7);
    stage.world.control(&serde_json::from_value(json!({"frozen": true})).unwrap(), stage.clock.now()).unwrap();
    for venue in VENUES {
        let id = venue.profile().id;
        let pairs = listed_by(id);
        for endpoint in encodable(*venue) {
            let asked: Vec<Vec<Pair>> = match endpoint.reach {
                Reach::One => pairs.iter().map(|pair| vec![*pair]).collect(),
                Reach::Listed(list) => pairs.chunks(usize::from(list.most)).map(<[Pair]>::to_vec).collect(),
                Reach::All => vec![pairs.clone()],
            };
            for pairs in asked {
                let at = stage.world.market(stage.clock.now());
                let found = stage.ask(*venue, endpoint, &pairs).await.unwrap_or_else(|e| panic!("{id} {}: {e}", endpoint.path));
                assert_eq!(found.len(), pairs.len(), "{id} {}", endpoint.path);
                for (pair, got) in found {
                    let want = stage.world.ticker(id, &pair, &at).unwrap();
                    // What no plan can ask may lack the book.
                    let asked = endpoint.is_asked();
                    same(&got, &want, (endpoint.kind, asked), &format!("{id} {} {pair}", endpoint.path));
                }
            }
        }
        let warm_up = stage.get(*venue, venue.profile().warm_up, SECOND).await.unwrap();
        assert!(warm_up.status == 200 && !warm_up.body.is_empty(), "{id}");
        assert_eq!(stage.get(*venue, "/no/such/path", SECOND).await.unwrap().status, 404);
    }
}

/// What the dialect carries is what the market says; bid, ask and last are not left out.
fn same(got: &Ticker, want: &Ticker, (kind, asked): (Kind, bool), whose: &str) {
    let no_book = !asked && (got.bid, got.ask) == (None, None);
    assert!((got.bid, got.ask) == (want.bid, want.ask) || no_book, "{whose} {got:?} {want:?}");
    assert!(got.last == want.last || (kind == Kind::BookTicker && got.last.is_none()), "{whose}");
    let prices = [(got.high, want.high), (got.low, want.low), (got.open, want.open)];
    assert!(prices.iter().all(|(got, want)| got.is_none() || got == want), "{whose} {got:?} {want:?}");
    let amounts = [
        (got.bid_size, want.bid_size),
        (got.ask_size, want.ask_size),
        (got.base_volume, want.base_volume),
        (got.quote_volume, want.quote_volume),
    ];
    assert!(amounts.iter().all(|(got, want)| got.is_none() || got == want), "{whose} {got:?} {want:?}");
    // Some dialects tell whole seconds.
    let apart = got.venue_time.map_or(0, |time| (time.0 - want.venue_time.unwrap().0).abs());
    assert!(apart < 1000 && !got.halted, "{whose} {apart}");
}

#[tokio::test(start_paused = true)]
async fn one_seed_is_one_world_whoever_asks_when() {
    let world = |seed: u64| World::new(Options { seed, ..Options::default() }, UnixMs(0)).unwrap();
    let (one, two, three) = (world(5), world(5), world(6));
    let path = "/api/v3/ticker/24hr?symbol=BTCUSDT";
    for n in 0..50 {
        one.market(UnixMs(n * 333));
        let (x, y) = (one.respond("binance", path, UnixMs(n * 100)), two.respond("binance", path, UnixMs(n * 100)));
        assert_eq!((x.delay, &x.body), (y.delay, &y.body));
        assert!((50..=300).contains(&x.delay.as_millis()), "{:?}", x.delay);
        let z = three.respond("binance", path, UnixMs(n * 100));
        assert_ne!((x.delay, x.body), (z.delay, z.body));
    }
    let truth = |world: &World, at| world.truth(UnixMs(at)).prices;
    assert_eq!(truth(&one, 0)[&pair("BTC-USD")], Decimal::from(67_000));
    assert_eq!(truth(&one, 30_000), truth(&two, 30_000));
    assert_ne!(truth(&one, 30_000), truth(&three, 30_000));
}

#[tokio::test(start_paused = true)]
async fn faults_of_the_wire_are_the_faults_of_a_transport() {
    for (name, params, reason, phase) in [
        ("drip", json!({}), Reason::Timeout, Phase::Body),
        ("silent", json!({}), Reason::Timeout, Phase::Request),
        ("slow", json!({"delay_ms": 6000}), Reason::Timeout, Phase::Request),
        ("refused", json!({}), Reason::Refused, Phase::Connect),
        ("reset", json!({}), Reason::Reset, Phase::Request),
        ("truncated", json!({}), Reason::Truncated, Phase::Body),
        ("oversize", json!({}), Reason::Oversize, Phase::Body),
        ("gzip_bomb", json!({}), Reason::Oversize, Phase::Body),
        ("redirect", json!({}), Reason::Redirect, Phase::Request),
    ] {
        for venue in VENUES {
            let stage = Stage::new(1);
            stage.set(json!({"venue": venue.profile().id, "fault": name, "for_ms": 1000, "params": params}));
            let begun = Instant::now();
            let fault = stage.ticker(*venue, btc()).await.unwrap_err();
            assert_eq!((fault.reason, fault.phase), (reason, Some(phase)), "{name}");
            if reason == Reason::Timeout {
                assert_eq!(begun.elapsed().as_millis(), 5000, "{name}: at the deadline, neither earlier nor later");
            }
            tokio::time::advance(SECOND).await;
            assert!(stage.ticker(*venue, btc()).await.is_ok(), "{name} is over");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn faults_of_the_answer_are_read_as_what_they_are() {
    for (name, reasons) in [
        ("rate_limited", &[Reason::RateLimited][..]),
        ("banned", &[Reason::Banned]),
        ("geo_blocked", &[Reason::GeoBlocked]),
        ("forbidden", &[Reason::Forbidden]),
        ("http_500", &[Reason::Http5xx]),
        ("html_503", &[Reason::Http5xx]),
        ("html_200", &[Reason::Html]),
        ("empty", &[Reason::Empty]),
        ("wrong_length", &[Reason::Truncated]),
        // A venue without words of its own says 404.
        ("unknown_symbol", &[Reason::Unlisted, Reason::Http4xx]),
    ] {
        for venue in VENUES {
            let stage = Stage::new(1);
            stage.set(json!({"venue": "*", "fault": name}));
            let fault = stage.ticker(*venue, btc()).await.unwrap_err();
            assert!(reasons.contains(&fault.reason), "{} {name}: {fault}", venue.profile().id);
        }
    }
    let stage = Stage::new(1);
    stage.set(json!({"venue": "binance", "fault": "rate_limited", "params": {"retry_after_s": 7}}));
    let answer = stage.get(by_id("binance").unwrap(), "/api/v3/ping", SECOND).await.unwrap();
    assert_eq!(answer.retry, Some(Retry::After(7 * SECOND)));
}

#[tokio::test(start_paused = true)]
async fn wrong_data_is_wrong_in_the_way_that_it_says() {
    for venue in VENUES {
        let id = venue.profile().id;
        let spoilt = async |name: &str, params: serde_json::Value| {
            let stage = Stage::new(1);
            stage.set(json!({"venue": id, "fault": name, "params": params}));
            let at = stage.world.market(stage.clock.now());
            (stage.ticker(*venue, btc()).await, stage.world.ticker(id, &btc(), &at).unwrap())
        };
        let (got, _) = spoilt("zero", json!({})).await;
        assert!(got.is_err() || got.is_ok_and(|t| (t.bid, t.ask, t.last) == (None, None, None)), "{id}");
        let (got, want) = spoilt("crossed", json!({})).await;
        let got = got.unwrap();
        assert!(got.bid > got.ask && got.bid == want.ask && got.ask == want.bid, "{id}");
        for (factor, by) in [("100", Decimal::ONE_HUNDRED), ("0.01", Decimal::new(1, 2))] {
            let (got, want) = spoilt("wrong_unit", json!({"factor": factor})).await;
            let (got, times) = (got.unwrap(), |price: Option<Price>| price.and_then(|p| Price::new(p.get() * by)));
            assert_eq!((got.bid, got.ask, got.last), (times(want.bid), times(want.ask), times(want.last)), "{id}");
        }
        for (name, by) in [("time_ahead", 3_600_000), ("time_back", -3_600_000)] {
            let (got, want) = spoilt(name, json!({"by_ms": 3_600_000})).await;
            let off = got.unwrap().venue_time.map(|time| time.0 - want.venue_time.unwrap().0);
            assert!(off.is_none_or(|off| (off - by).abs() < 1000), "{id} {name} {off:?}");
        }
        let (got, _) = spoilt("renamed_field", json!({})).await;
        let seen = got.as_ref().map_or_else(|fault| fault.reason == Reason::Decode, |ticker| ticker.bid.is_none());
        assert!(seen, "{id} {got:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_venue_whose_clock_is_off_shows_it_in_its_date_too() {
    let stage = Stage::new(1);
    stage.set(json!({"venue": "kraken", "fault": "time_back", "params": {"by_ms": 3_600_000}}));
    let now = stage.clock.now();
    let date = stage.get(by_id("kraken").unwrap(), "/0/public/Time", SECOND).await.unwrap().date.unwrap();
    let behind = now.since(date).as_millis();
    assert!((3_600_000..3_601_000).contains(&behind), "{behind}");
}

#[tokio::test(start_paused = true)]
async fn a_frozen_venue_repeats_itself_and_a_slow_one_answers_late() {
    let stage = Stage::new(1);
    let (binance, kraken, eth) = (by_id("binance").unwrap(), by_id("kraken").unwrap(), pair("ETH-USDT"));
    stage.set(json!({"venue": "binance", "pair": "BTC-USDT", "fault": "frozen"}));
    let first = stage.ticker(binance, btc()).await.unwrap();
    let (eth_first, kraken_first) = (stage.ticker(binance, eth).await.unwrap(), stage.ticker(kraken, btc()).await.unwrap());
    tokio::time::advance(30 * SECOND).await;
    assert_eq!(stage.ticker(binance, btc()).await.unwrap(), first);
    assert_ne!(stage.ticker(binance, eth).await.unwrap(), eth_first);
    assert_ne!(stage.ticker(kraken, btc()).await.unwrap(), kraken_first);
    stage.set(json!({"venue": "kraken", "fault": "slow", "params": {"delay_ms": 2000}}));
    let begun = Instant::now();
    stage.ticker(kraken, btc()).await.unwrap();
    assert!((2050..=2301).contains(&begun.elapsed().as_millis()), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_fault_of_one_pair_leaves_the_others_alone() {
    let stage = Stage::new(1);
    let kraken = by_id("kraken").unwrap();
    stage.set(json!({"venue": "kraken", "pair": "BTC-USDT", "fault": "crossed"}));
    stage.set(json!({"venue": "kraken", "pair": "ETH-USD", "fault": "unknown_symbol"}));
    let listed = encodable(kraken).find(|e| e.path == "/0/public/Ticker?pair={symbols}").unwrap();
    let (eth, sol) = (pair("ETH-USDT"), pair("SOL-USDT"));
    let found = stage.ask(kraken, listed, &[btc(), eth, sol]).await.unwrap();
    assert!(found[&btc()].bid > found[&btc()].ask && found[&eth].bid < found[&eth].ask && found[&sol].bid < found[&sol].ask);
    for unlisted in ["ETH-USD", "DOGE-USD"] {
        assert_eq!(stage.ticker(kraken, pair(unlisted)).await.unwrap_err().reason, Reason::Unlisted);
    }
}

#[tokio::test(start_paused = true)]
async fn connections_are_kept_and_counted_as_a_client_would() {
    let stage = Stage::new(1);
    let kraken = by_id("kraken").unwrap();
    let counted = || stage.world.stats(stage.clock.now())["kraken"].clone();
    let connections = || (counted().connections_opened, counted().connections_open);
    for _ in 0..5 {
        stage.ticker(kraken, btc()).await.unwrap();
    }
    assert_eq!((counted().requests, counted().by_path["/0/public/Ticker"], connections()), (5, 5, (1, 1)));
    assert!((49..=300).contains(&counted().last_request_ms_ago.unwrap()));
    // Two at once need a second; one that is given up is closed.
    let (one, two) = tokio::join!(stage.ticker(kraken, btc()), stage.ticker(kraken, btc()));
    assert!(one.is_ok() && two.is_ok());
    assert_eq!(connections(), (2, 2));
    stage.set(json!({"venue": "kraken", "fault": "silent", "for_ms": 1}));
    assert!(tokio::time::timeout(SECOND, stage.ticker(kraken, btc())).await.is_err());
    assert_eq!(connections(), (2, 1));
    // A closed port ends every connection and sees no request.
    let requests = counted().requests;
    stage.set(json!({"venue": "*", "fault": "refused"}));
    stage.ticker(kraken, btc()).await.unwrap_err();
    assert_eq!((counted().requests, counted().connections_open), (requests, 0));
    assert_eq!(stage.world.remove_faults(None), 1);
    stage.ticker(kraken, btc()).await.unwrap();
    assert_eq!((counted().requests, connections()), (requests + 1, (3, 1)));
    let Stage { world, clock, lines } = stage;
    drop(lines);
    assert_eq!(world.stats(clock.now())["kraken"].connections_open, 0);
    world.reset_stats();
    assert_eq!(world.stats(clock.now())["kraken"].requests, 0);
}

#[test]
fn every_fault_is_tried_above() {
    let here = include_str!("simulation.rs");
    for fault in FaultName::ALL {
        assert!(here.contains(&format!("\"{fault}\"")), "{fault}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_not_there_is_refused_by_name() {
    let stage = Stage::new(1);
    for (fault, want) in [
        (json!({"venue": "krakn", "fault": "slow"}), "unknown venue \"krakn\""),
        (json!({"venue": "kraken", "fault": "slow", "pair": "DOGE-USD"}), "pair DOGE-USD is not listed by venue \"kraken\""),
        (json!({"venue": "binance", "fault": "slow", "pair": "BTC-USD"}), "pair BTC-USD"),
    ] {
        let file: FaultFile = serde_json::from_value(json!({"faults": [{"venue": "*", "fault": "slow"}, fault]})).unwrap();
        let error = stage.world.add_faults(file.faults, stage.clock.now()).unwrap_err().to_string();
        assert!(error.contains(want), "{error}");
        assert!(stage.world.faults(stage.clock.now()).is_empty(), "all or none");
    }
    let world = |speed: f64, low: u64, high: u64| {
        let latency = (Duration::from_millis(low), Duration::from_millis(high));
        World::new(Options { seed: 1, speed, latency }, UnixMs(0))
    };
    for (speed, low, high) in [(-1.0, 0, 0), (f64::NAN, 0, 0), (1001.0, 0, 0), (1.0, 2, 1), (1.0, 0, 60_001)] {
        assert!(world(speed, low, high).is_err(), "{speed} {low} {high}");
    }
    assert_eq!(world(1.0, 0, 0).unwrap().respond("nowhere", "/", UnixMs(0)).status, 404);
}
