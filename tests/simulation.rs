//! The simulation over real sockets, asked by a client that sees every byte.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects)]

use flate2::read::GzDecoder;
use quorate::{
    cli::sim::{MarketArgs, SimArgs, SimError, run_until},
    sim::Sim,
};
use quorate_actors::{sim::Options, venues::VENUES};
use serde_json::{Value, json};
use std::{io, io::Read as _, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::{Instant, timeout},
};

const KRAKEN: &str = "/0/public/Ticker?pair=XBTUSDT";
const SECOND: Duration = Duration::from_secs(1);

async fn start() -> Sim {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    Sim::start(Options { latency: (Duration::ZERO, Duration::ZERO), ..Options::default() }, listener).unwrap()
}

fn host(origin: &str) -> &str {
    origin.strip_prefix("http://").unwrap()
}

fn own<'a>(sim: &'a Sim, venue: &str) -> &'a str {
    host(&sim.own.iter().find(|(id, _)| id.as_str() == venue).unwrap().1)
}

/// An answer as it came.
#[derive(Debug)]
struct Got {
    head: String,
    body: Vec<u8>,
}

impl Got {
    fn status(&self) -> u16 {
        self.head[9..12].parse().unwrap()
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.split_once(": ").filter(|(n, _)| n.eq_ignore_ascii_case(name))).map(|(_, value)| value)
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// A connection that is kept.
struct Client(TcpStream);

impl Client {
    async fn open(host: &str) -> Self {
        Self(TcpStream::connect(host).await.unwrap())
    }

    async fn send(&mut self, method: &str, target: &str, headers: &str, body: &str) -> io::Result<()> {
        let length = body.len();
        let head = format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n{headers}\r\n{body}");
        self.0.write_all(head.as_bytes()).await
    }

    /// Reads a head, and as much body as it declares.
    async fn receive(&mut self) -> io::Result<Got> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(self.0.read_u8().await?);
        }
        let mut got = Got { head: String::from_utf8(head).unwrap(), body: Vec::new() };
        let length: usize = got.header("content-length").unwrap().parse().unwrap();
        got.body.resize(length, 0);
        self.0.read_exact(&mut got.body).await?;
        Ok(got)
    }

    async fn ask(&mut self, method: &str, target: &str, body: &str) -> io::Result<Got> {
        self.send(method, target, "", body).await?;
        timeout(20 * SECOND, self.receive()).await.expect("an answer in time")
    }

    async fn rest(&mut self) -> io::Result<Vec<u8>> {
        let mut rest = Vec::new();
        self.0.read_to_end(&mut rest).await.map(|_| rest)
    }
}

async fn call(host: &str, method: &str, target: &str, body: &str) -> Got {
    Client::open(host).await.ask(method, target, body).await.unwrap()
}

async fn set(sim: &Sim, fault: &str, params: Value) -> u64 {
    let body = json!({"faults": [{"venue": "kraken", "fault": fault, "params": params}]}).to_string();
    let got = call(host(&sim.origin), "POST", "/_sim/faults", &body).await;
    assert_eq!(got.status(), 200, "{}", String::from_utf8_lossy(&got.body));
    got.json()["ids"][0].as_u64().unwrap()
}

#[tokio::test]
async fn every_venue_answers_at_both_ports_on_one_connection() {
    let sim = start().await;
    let mut shared = Client::open(host(&sim.origin)).await;
    for venue in VENUES {
        let profile = venue.profile();
        let endpoint = profile.endpoints.iter().find(|e| e.encode.is_some()).unwrap();
        let path = endpoint.path_for(&[&venue.spell(&"BTC-USDT".parse().unwrap())]);
        let got = shared.ask("GET", &format!("/{}{path}", profile.id), "").await.unwrap();
        assert_eq!((got.status(), got.header("content-type")), (200, Some("application/json")), "{}", profile.id);
        assert!(got.header("date").unwrap().ends_with(" GMT") && got.header("connection").is_none());
        let mut alone = Client::open(own(&sim, profile.id)).await;
        for _ in 0..3 {
            let same = alone.ask("GET", &path, "").await.unwrap();
            assert_eq!(same.status(), 200);
            drop(same.json());
        }
        assert_eq!(alone.ask("GET", profile.warm_up, "").await.unwrap().status(), 200);
        assert_eq!(alone.ask("GET", "/nowhere", "").await.unwrap().status(), 404);
        let post = alone.ask("POST", &path, "{}").await.unwrap();
        assert_eq!((post.status(), post.header("allow")), (405, Some("GET, HEAD")));
        let stats = call(host(&sim.origin), "GET", "/_sim/stats", "").await.json();
        let counted = &stats[profile.id];
        assert_eq!((counted["requests"].as_u64(), counted["connections_opened"].as_u64()), (Some(6), Some(2)), "{counted}");
        assert_eq!(counted["connections_open"], 2);
    }
    assert_eq!(shared.ask("GET", "/nobody/x", "").await.unwrap().status(), 404);
    drop(shared);
    sim.stop().await;
}

#[tokio::test]
async fn heads_are_bounded_and_closing_is_honoured() {
    let sim = start().await;
    let mut client = Client::open(own(&sim, "kraken")).await;
    client.send("GET", KRAKEN, "Connection: close\r\n", "").await.unwrap();
    assert_eq!(client.receive().await.unwrap().header("connection"), Some("close"));
    assert_eq!(client.rest().await.unwrap(), b"");
    let mut client = Client::open(own(&sim, "kraken")).await;
    client.0.write_all(format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(20_000)).as_bytes()).await.unwrap();
    assert_eq!(client.receive().await.unwrap().status(), 431);
    let mut client = Client::open(host(&sim.origin)).await;
    client.0.write_all(b"POST /_sim/faults HTTP/1.1\r\nContent-Length: 70000\r\n\r\n").await.unwrap();
    let got = client.receive().await.unwrap();
    assert_eq!((got.status(), got.header("content-type")), (413, Some("application/problem+json")));
    // Two requests in one segment are answered in their order, and HEAD gives a head alone.
    let mut client = Client::open(own(&sim, "kraken")).await;
    client.0.write_all(b"HEAD /0/public/Time HTTP/1.1\r\n\r\nGET /nowhere HTTP/1.0\r\n\r\n").await.unwrap();
    let both = String::from_utf8(client.rest().await.unwrap()).unwrap();
    assert!(both.starts_with("HTTP/1.1 200 OK") && both.contains("\r\n\r\nHTTP/1.1 404 Not Found"), "{both}");
}

#[tokio::test]
async fn faults_reach_the_bytes() {
    let sim = start().await;
    let mut plain = Client::open(own(&sim, "kraken")).await;
    let whole = plain.ask("GET", KRAKEN, "").await.unwrap().body.len();

    set(&sim, "truncated", json!({})).await;
    let error = plain.ask("GET", KRAKEN, "").await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    clear(&sim).await;

    set(&sim, "wrong_length", json!({})).await;
    let mut client = Client::open(own(&sim, "kraken")).await;
    let (got, rest) = (client.ask("GET", KRAKEN, "").await.unwrap(), client.rest().await.unwrap());
    assert!(serde_json::from_slice::<Value>(&got.body).is_err());
    assert!((whole - 20..whole + 20).contains(&(got.body.len() + rest.len())) && rest.len() >= got.body.len());
    clear(&sim).await;

    set(&sim, "reset", json!({})).await;
    let error = Client::open(own(&sim, "kraken")).await.ask("GET", KRAKEN, "").await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    clear(&sim).await;

    set(&sim, "silent", json!({})).await;
    let mut client = Client::open(own(&sim, "kraken")).await;
    client.send("GET", KRAKEN, "", "").await.unwrap();
    assert!(timeout(SECOND / 3, client.0.read_u8()).await.is_err());
    clear(&sim).await;

    set(&sim, "drip", json!({"bytes_per_s": 20})).await;
    let mut client = Client::open(own(&sim, "kraken")).await;
    client.send("GET", KRAKEN, "", "").await.unwrap();
    let mut seen = Vec::new();
    let _ = timeout(SECOND, async { while client.0.read_buf(&mut seen).await.unwrap() > 0 {} }).await;
    let (_, body) = std::str::from_utf8(&seen).unwrap().split_once("\r\n\r\n").unwrap();
    assert!((5..=21).contains(&body.len()), "{body}");
    clear(&sim).await;
    sim.stop().await;
}

async fn clear(sim: &Sim) {
    assert_eq!(call(host(&sim.origin), "DELETE", "/_sim/faults", "").await.json(), json!({"removed": 1}));
}

#[tokio::test]
async fn faults_reach_the_head_and_the_size() {
    let sim = start().await;
    set(&sim, "rate_limited", json!({"retry_after_s": 7})).await;
    let got = call(own(&sim, "kraken"), "GET", KRAKEN, "").await;
    assert_eq!((got.header("retry-after"), got.json()["error"][0].as_str()), (Some("7"), Some("EGeneral:Too many requests")));
    clear(&sim).await;
    set(&sim, "redirect", json!({"location": "https://example.invalid/x"})).await;
    let got = call(own(&sim, "kraken"), "GET", KRAKEN, "").await;
    assert_eq!((got.status(), got.header("location")), (302, Some("https://example.invalid/x")));
    clear(&sim).await;
    set(&sim, "html_503", json!({})).await;
    let got = call(own(&sim, "kraken"), "GET", KRAKEN, "").await;
    assert!(got.status() == 503 && got.header("content-type").unwrap().starts_with("text/html") && got.body.starts_with(b"<"));
    clear(&sim).await;
    set(&sim, "empty", json!({})).await;
    let got = call(own(&sim, "kraken"), "GET", KRAKEN, "").await;
    assert_eq!((got.status(), got.body.len()), (200, 0));
    clear(&sim).await;
    let limit = VENUES.iter().find(|v| v.profile().id == "kraken").unwrap().profile().body_max;
    set(&sim, "oversize", json!({})).await;
    let mut client = Client::open(own(&sim, "kraken")).await;
    assert!(client.ask("GET", KRAKEN, "").await.unwrap().body.len() > limit);
    clear(&sim).await;
    assert!(client.ask("GET", KRAKEN, "").await.unwrap().body.len() < 1000, "the connection is still good");
    set(&sim, "gzip_bomb", json!({"bytes": 20_000_000})).await;
    for _ in 0..2 {
        let got = client.ask("GET", KRAKEN, "").await.unwrap();
        assert!(got.header("content-encoding") == Some("gzip") && got.body.len() < limit);
        assert_eq!(io::copy(&mut GzDecoder::new(&got.body[..]), &mut io::sink()).unwrap(), 20_000_000);
    }
    clear(&sim).await;
    // Long answers are packed for those who take that.
    client.send("GET", "/0/public/Ticker", "Accept-Encoding: gzip\r\n", "").await.unwrap();
    let got = client.receive().await.unwrap();
    let mut text = String::new();
    GzDecoder::new(&got.body[..]).read_to_string(&mut text).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["result"].as_object().unwrap().len(), 19);
    assert_eq!(client.ask("GET", "/0/public/Ticker", "").await.unwrap().header("content-encoding"), None);
}

#[tokio::test]
async fn a_refusing_venue_really_closes_its_port_while_that_lasts() {
    let sim = start().await;
    let mut kept = Client::open(own(&sim, "kraken")).await;
    kept.ask("GET", KRAKEN, "").await.unwrap();
    let id = set(&sim, "refused", json!({})).await;
    // The connection that was open ends, and by then the port is closed.
    assert_eq!(timeout(5 * SECOND, kept.rest()).await.unwrap().unwrap(), b"");
    let error = TcpStream::connect(own(&sim, "kraken")).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    let got = call(host(&sim.origin), "GET", &format!("/kraken{KRAKEN}"), "").await;
    assert_eq!((got.status(), got.json()["code"].as_str()), (400, Some("needs_own_port")));
    assert_eq!(call(own(&sim, "binance"), "GET", "/api/v3/ping", "").await.status(), 200);
    assert_eq!(call(host(&sim.origin), "DELETE", &format!("/_sim/faults/{id}"), "").await.json(), json!({"removed": 1}));
    reopened(&sim).await;
    // One that is over by itself needs nobody to remove it.
    let body = json!({"faults": [{"venue": "*", "fault": "refused", "for_ms": 1500}]}).to_string();
    let mut kept = Client::open(own(&sim, "kraken")).await;
    call(host(&sim.origin), "POST", "/_sim/faults", &body).await;
    kept.rest().await.unwrap();
    assert!(TcpStream::connect(own(&sim, "kraken")).await.is_err());
    reopened(&sim).await;
    assert_eq!(call(own(&sim, "kraken"), "GET", KRAKEN, "").await.status(), 200);
    sim.stop().await;
}

/// Waits until the port is open again, not for a while.
async fn reopened(sim: &Sim) {
    let begun = Instant::now();
    while TcpStream::connect(own(sim, "kraken")).await.is_err() {
        assert!(begun.elapsed() < 10 * SECOND);
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn the_routes_of_the_simulation_say_and_set() {
    let sim = start().await;
    let origin = host(&sim.origin);
    let venues = call(origin, "GET", "/_sim/venues", "").await.json();
    assert_eq!(venues["kraken"]["origin"], format!("{}/kraken", sim.origin));
    assert_eq!(venues["kraken"]["own_origin"], format!("http://{}", own(&sim, "kraken")));
    assert_eq!(venues.as_object().unwrap().len(), VENUES.len());
    for (body, want) in [
        (r#"{"faults":[{"venue":"kraken","fault":"slowly"}]}"#, "unknown fault \"slowly\""),
        (r#"{"faults":[{"venue":"kraken","fault":"slow","hsare":1}]}"#, "`hsare`"),
        (r#"{"faults":[{"venue":"krakn","fault":"slow"}]}"#, "unknown venue \"krakn\""),
        ("{", "EOF"),
    ] {
        let got = call(origin, "POST", "/_sim/faults", body).await;
        assert_eq!((got.status(), got.header("content-type")), (400, Some("application/problem+json")));
        let said = got.json();
        assert!(said["detail"].as_str().unwrap().contains(want) && said["code"] == "bad_request", "{said}");
    }
    let id = set(&sim, "slow", json!({"delay_ms": 1})).await;
    let listed = call(origin, "GET", "/_sim/faults", "").await.json();
    assert_eq!((listed["faults"][0]["id"].as_u64(), &listed["faults"][0]["fault"]), (Some(id), &json!("slow")));
    assert_eq!(call(origin, "DELETE", "/_sim/faults/99", "").await.status(), 404);
    assert_eq!(call(origin, "DELETE", "/_sim/faults/x", "").await.status(), 400);
    clear(&sim).await;

    let market = json!({"frozen": true, "prices": {"USDT-USD": "0.91"}}).to_string();
    let set = call(origin, "POST", "/_sim/market", &market).await.json();
    let truth = call(origin, "GET", "/_sim/truth", "").await.json();
    assert_eq!((&truth["prices"]["USDT-USD"], &truth["frozen"], &set["prices"]), (&json!("0.91"), &json!(true), &truth["prices"]));
    let bid = call(origin, "GET", "/kraken/0/public/Ticker?pair=USDTUSD", "").await.json();
    let bid = bid["result"].as_object().unwrap().values().next().unwrap()["b"][0].as_str().unwrap().to_owned();
    assert!(bid.starts_with("0.909") || bid.starts_with("0.910"), "{bid}");
    let bad = call(origin, "POST", "/_sim/market", r#"{"prices":{"DOGE-USD":"1"}}"#).await;
    assert!(bad.status() == 400 && bad.json()["detail"].as_str().unwrap().contains("DOGE-USD"));

    let stats = call(origin, "GET", "/_sim/stats", "").await.json();
    assert_eq!((&stats["kraken"]["requests"], &stats["kraken"]["by_path"]["/0/public/Ticker"]), (&json!(1), &json!(1)));
    assert!(stats["kraken"]["last_request_ms_ago"].is_u64() && stats["binance"]["last_request_ms_ago"].is_null());
    assert_eq!(call(origin, "DELETE", "/_sim/stats", "").await.json()["kraken"]["requests"], 0);
    let wrong = call(origin, "PUT", "/_sim/truth", "").await;
    assert_eq!((wrong.status(), wrong.header("allow")), (405, Some("GET, HEAD")));
    assert_eq!(call(origin, "GET", "/_sim/nothing", "").await.status(), 404);
}

#[tokio::test]
async fn stopping_closes_everything() {
    let sim = start().await;
    let (shared, own) = (host(&sim.origin).to_owned(), own(&sim, "kraken").to_owned());
    let (mut a, mut b) = (Client::open(&shared).await, Client::open(&own).await);
    b.ask("GET", KRAKEN, "").await.unwrap();
    a.ask("GET", "/_sim/truth", "").await.unwrap();
    sim.stop().await;
    assert_eq!((a.rest().await.unwrap().len(), b.rest().await.unwrap().len()), (0, 0));
    assert!(TcpStream::connect(&shared).await.is_err() && TcpStream::connect(&own).await.is_err());
    let open = TcpListener::bind("0.0.0.0:0").await.unwrap();
    assert_eq!(Sim::start(Options::default(), open).unwrap_err().kind(), io::ErrorKind::InvalidInput);
}

#[tokio::test]
async fn the_command_prints_where_it_listens_and_names_a_port_in_use() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap();
    let market = || MarketArgs { seed: 1, speed: 1.0, latency: (Duration::ZERO, Duration::ZERO), faults: None };
    let args = |listen, json| SimArgs { listen, market: market(), tls: None, json };
    let error = run_until(args(address, false), &mut Vec::new(), async {}).await.unwrap_err();
    assert!(matches!(error, SimError::Listen(..)) && error.to_string().contains(&address.to_string()), "{error}");
    let (mut text, mut machine) = (Vec::new(), Vec::new());
    let any = "127.0.0.1:0".parse().unwrap();
    run_until(args(any, false), &mut text, async {}).await.unwrap();
    assert!(text.starts_with(b"SIMULATED"));
    run_until(args(any, true), &mut machine, async {}).await.unwrap();
    let said: Value = serde_json::from_slice(&machine).unwrap();
    assert!(said["simulated"] == true && said["venues"]["kraken"]["own_origin"].as_str().unwrap().starts_with("http://127.0.0.1:"));
}
