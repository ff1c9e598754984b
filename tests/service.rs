//! The HTTP of the service over real sockets: what is asked, what is refused, and how.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects, missing_docs)]

mod support;

use serde_json::{Value, json};
use std::time::Duration;
use support::Service;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{Instant, timeout},
};

/// An answer as it came, with what the framework's client would hide.
#[derive(Debug)]
struct Raw {
    status: u16,
    head: String,
    body: String,
}

impl Raw {
    fn header(&self, name: &str) -> Option<&str> {
        let named = |line: &&str| line.split_once(": ").is_some_and(|(n, _)| n.eq_ignore_ascii_case(name));
        Some(self.head.lines().find(named)?.split_once(": ")?.1)
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// Asserts that it is a problem with all members, and gives its code.
    fn problem(&self) -> String {
        let body = self.json();
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        assert_eq!((&body["status"], &body["request_id"]), (&self.status.into(), &self.header("x-request-id").unwrap().into()));
        assert!(["type", "title", "detail"].iter().all(|n| body[n].is_string()) && body["suggestions"].is_array(), "{body}");
        body["code"].as_str().unwrap().to_owned()
    }
}

async fn connect(origin: &str) -> TcpStream {
    TcpStream::connect(origin.strip_prefix("http://").unwrap()).await.unwrap()
}

/// Sends bytes and reads until the other side closes.
async fn send(origin: &str, request: &str) -> Raw {
    let mut stream = connect(origin).await;
    stream.write_all(request.as_bytes()).await.unwrap();
    answer(stream).await
}

async fn answer(mut stream: TcpStream) -> Raw {
    let mut bytes = Vec::new();
    // What was sent and not read by the server resets the connection once the answer is through.
    let _ = timeout(Duration::from_secs(20), stream.read_to_end(&mut bytes)).await.expect("the connection is closed");
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no head in {text:?}"));
    Raw { status: head.split(' ').nth(1).unwrap().parse().unwrap(), head: head.to_owned(), body: body.to_owned() }
}

fn request(method: &str, target: &str, headers: &str, body: &str) -> String {
    let length = if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
    format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}{length}\r\n{body}")
}

async fn get(service: &Service, target: &str) -> Raw {
    send(&service.public, &request("GET", target, "", "")).await
}

const ONE_PAIR: (&str, &str) = ("pairs", r#"[{name="BTC-USDT"}]"#);

async fn started(keys: &[(&str, &str)]) -> Service {
    let service = Service::start((1, 5), &[&[ONE_PAIR], keys].concat()).await;
    service.until("/v1/quotes/BTC-USDT", "all venues answered", |got| got.status == 200 && got.body["venues"]["missed"] == 0).await;
    service
}

#[actix_web::test]
async fn one_pair_in_every_spelling_with_its_headers() {
    let service = started(&[]).await;
    let got = get(&service, "/v1/quotes/BTC-USDT").await;
    let body = got.json();
    assert_eq!((got.status, got.header("content-type"), got.header("quorate-simulated")), (200, Some("application/json"), Some("1")));
    assert_eq!((&body["pair"], &body["status"], &body["simulated"]), (&"BTC-USDT".into(), &"complete".into(), &true.into()));
    assert_eq!(got.header("etag").unwrap(), format!("W/\"{}-{}\"", body["boot"].as_str().unwrap(), body["sequence"]));
    let age_ms: u64 = got.header("quorate-age-ms").unwrap().parse().unwrap();
    assert_eq!(got.header("age").unwrap(), (age_ms / 1000).to_string());
    let max_age: u64 = got.header("cache-control").unwrap().strip_prefix("max-age=").unwrap().parse().unwrap();
    assert!(age_ms < 5000 && max_age <= 5, "{got:?}");
    for spelling in ["btc-usdt", "BTC_USDT", "btc:usdt", "BTC%2FUSDT", "btc%2fusdt", "XBT-USDT", "BTCUSDT", "xbtusdt"] {
        assert_eq!(get(&service, &format!("/v1/quotes/{spelling}")).await.json()["pair"], "BTC-USDT", "{spelling}");
    }
    let fresh = get(&service, "/v1/quotes/BTC-USDT?fresh=true").await;
    assert_eq!((fresh.status, fresh.header("cache-control")), (200, Some("no-store")));
    let only = get(&service, "/v1/quotes/BTC-USDT?venues=kraken,okx").await.json();
    assert_eq!(only["quotes"].as_array().unwrap().iter().map(|q| q["venue"].as_str().unwrap()).collect::<Vec<_>>(), ["kraken", "okx"]);
    service.stop().await;
}

#[actix_web::test]
async fn head_and_tags_and_ids() {
    let service = started(&[("poll_ms", "60000"), ("max_age_ms", "60000")]).await;
    // What is still on its way from the start would change the tag.
    service.quiet().await;
    let whole = get(&service, "/v1/quotes/BTC-USDT").await;
    let head = send(&service.public, &request("HEAD", "/v1/quotes/BTC-USDT", "", "")).await;
    assert_eq!((head.status, head.body.as_str(), head.header("content-length")), (200, "", whole.header("content-length")));
    let tag = whole.header("etag").unwrap();
    let known = send(&service.public, &request("GET", "/v1/quotes/BTC-USDT", &format!("If-None-Match: {tag}\r\n"), "")).await;
    assert_eq!((known.status, known.body.as_str(), known.header("etag")), (304, "", Some(tag)));
    assert!(known.header("age").is_some() && known.header("cache-control").is_some());
    let named = send(&service.public, &request("GET", "/healthz", "X-Request-Id: mine.1\r\n", "")).await;
    assert_eq!((named.status, named.header("x-request-id")), (200, Some("mine.1")));
    let unfit = send(&service.public, &request("GET", "/nowhere", "X-Request-Id: not mine\r\n", "")).await;
    assert_ne!(unfit.header("x-request-id"), Some("not mine"));
    for path in ["/v1/venues", "/v1/venues/kraken", "/v1/pairs", "/healthz", "/readyz", "/v1/quotes?pairs=BTC-USDT"] {
        let head = send(&service.public, &request("HEAD", path, "", "")).await;
        assert_eq!((head.status, head.body.as_str()), (200, ""), "{path}");
    }
    service.stop().await;
}

#[actix_web::test]
async fn what_is_wrong_is_a_problem_that_says_so() {
    let service = started(&[("on_demand", "false")]).await;
    for (target, status, code, detail) in [
        ("/v1/quotes/BTC", 400, "invalid_pair", "pair is \"BTC\", expected BASE-QUOTE such as BTC-USDT"),
        ("/v1/quotes/BTC-USDT?deadline=5", 400, "unknown_parameter", "parameter \"deadline\" is not known"),
        ("/v1/quotes/BTC-USDT?deadline_ms=5", 400, "invalid_parameter", "deadline_ms is \"5\", expected a whole number from 50 to 10000"),
        ("/v1/quotes/BTC-USDT?fresh=true&fresh=true", 400, "duplicate_parameter", "fresh is given more than once"),
        ("/v1/quotes/BTC-USDT?venues=krakn", 400, "invalid_parameter", "venues is \"krakn\""),
        ("/v1/quotes/BTC-USDX", 404, "unknown_pair", "pair BTC-USDX is not configured"),
        ("/v1/quotes", 400, "missing_parameter", "pairs is missing"),
        ("/v1/venues/nasdaq", 404, "unknown_venue", "venue \"nasdaq\""),
        ("/v1/pairs?x=1", 400, "unknown_parameter", "parameter \"x\" is not known, expected none"),
        ("/v1/nothing", 404, "not_found", "path \"/v1/nothing\" is not known"),
        ("/v1/quotes/", 404, "not_found", "path \"/v1/quotes/\" is not known"),
    ] {
        let got = get(&service, target).await;
        assert_eq!((got.status, got.problem().as_str()), (status, code), "{target}");
        assert!(got.json()["detail"].as_str().unwrap().contains(detail), "{target}: {}", got.body);
    }
    assert_eq!(get(&service, "/v1/quotes/BTC-USDX").await.json()["suggestions"], json!(["BTC-USDT"]));
    assert_eq!(get(&service, "/v1/quotes/BTC-USDT?venues=krakn").await.json()["suggestions"], json!(["kraken"]));
    let script = get(&service, "/v1/quotes/%3Cscript%3E").await;
    assert!(script.json()["detail"].as_str().unwrap().starts_with("pair is a text of 8 characters"), "{script:?}");
    for (method, target, allow) in
        [("POST", "/v1/pairs", "GET, HEAD"), ("DELETE", "/v1/quotes", "GET, HEAD, POST"), ("PUT", "/healthz", "GET, HEAD")]
    {
        let got = send(&service.public, &request(method, target, "", "")).await;
        assert_eq!((got.status, got.problem().as_str(), got.header("allow")), (405, "method_not_allowed", Some(allow)));
    }
    service.stop().await;
}

#[actix_web::test]
async fn many_pairs_have_an_error_each() {
    let service = started(&[]).await;
    let got = get(&service, "/v1/quotes?pairs=BTC-USDT,xbt_usdt,NOPE-USDT,BTC&deadline_ms=2000&venues=-coinbaseexchange").await;
    assert_eq!(got.status, 200, "{got:?}");
    let shown = |items: &Value| {
        let row = |i: &Value| {
            (i["http_status"].as_u64().unwrap(), i["pair"].as_str().unwrap().to_owned(), i["status"].as_str().unwrap().to_owned())
        };
        items.as_array().unwrap().iter().map(row).collect::<Vec<_>>()
    };
    let row = |status, pair: &str, word: &str| (status, pair.to_owned(), word.to_owned());
    let want = [
        row(200, "BTC-USDT", "complete"),
        row(200, "BTC-USDT", "complete"),
        row(404, "NOPE-USDT", "unknown_pair"),
        row(400, "BTC", "invalid_pair"),
    ];
    assert_eq!(shown(&got.json()["items"]), want, "{}", got.json()["items"][2]);
    assert_eq!(got.header("cache-control"), Some("no-store"));
    assert_eq!(got.json()["items"][2]["error"]["request_id"], got.header("x-request-id").unwrap());
    let body =
        json!({"pairs": ["BTC-USDT", "xbt_usdt", "NOPE-USDT", "BTC"], "deadline_ms": 2000, "venues": "-coinbaseexchange"}).to_string();
    let posted = send(&service.public, &request("POST", "/v1/quotes", "Content-Type: application/json\r\n", &body)).await;
    assert_eq!((posted.status, shown(&posted.json()["items"])), (200, want.to_vec()));
    let many = vec!["BTC-USDT"; 101].join(",");
    assert_eq!(get(&service, &format!("/v1/quotes?pairs={many}")).await.problem(), "too_many_pairs");
    service.stop().await;
}

#[actix_web::test]
async fn bodies_have_an_end_to_their_kind_their_size_and_their_time() {
    let service = started(&[]).await;
    let post = |headers: &str, body: &str| request("POST", "/v1/quotes", headers, body);
    for (text, status, code) in [
        (post("", "not json"), 400, "invalid_body"),
        (post("", r#"{"pairs":["BTC-USDT"],"deadlin_ms":1}"#), 400, "unknown_parameter"),
        (post("Content-Type: text/html\r\n", "{}"), 415, "unsupported_media_type"),
        (post("", &" ".repeat(65_537)), 413, "body_too_large"),
        (post("Content-Length: 99999999999999999999999\r\n", ""), 400, "bad_request"),
    ] {
        let got = send(&service.public, &text).await;
        assert_eq!((got.status, got.problem().as_str()), (status, code), "{got:?}");
    }
    // Chunks tell no length ahead.
    let chunks = format!("{}{}", post("Transfer-Encoding: chunked\r\n", ""), format!("8000\r\n{}\r\n", " ".repeat(0x8000)).repeat(3));
    let got = send(&service.public, &format!("{chunks}0\r\n\r\n")).await;
    assert_eq!((got.status, got.problem().as_str()), (413, "body_too_large"));
    let begun = Instant::now();
    let slow = send(&service.public, &format!("{}{{", post("Content-Length: 100\r\n", ""))).await;
    assert_eq!((slow.status, slow.problem().as_str()), (408, "request_timeout"));
    assert!((4..8).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
    service.stop().await;
}

#[actix_web::test]
async fn heads_that_are_slow_or_no_http_are_problems_too() {
    let service = started(&[]).await;
    for text in ["\u{1}\u{2}\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\nbad header\r\n\r\n"] {
        let got = send(&service.public, text).await;
        assert_eq!((got.status, got.problem().as_str()), (400, "bad_request"), "{text:?}");
    }
    let begun = Instant::now();
    let slow = send(&service.public, "GET / HTTP/1.1\r\nHo").await;
    assert_eq!((slow.status, slow.problem().as_str()), (408, "request_timeout"));
    assert!((4..8).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
    // A good request before it is answered as always.
    let mut stream = connect(&service.public).await;
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n\x01\r\n\r\n").await.unwrap();
    let both = answer(stream).await;
    assert!(both.status == 200 && both.body.contains("\"bad_request\""), "{both:?}");
    service.stop().await;
}

#[actix_web::test]
async fn no_quote_at_all_says_why() {
    let service = Service::start((1, 5), &[ONE_PAIR, ("poll_ms", "3600000")]).await;
    let faults = |fault: &str| json!({"faults": [{"venue": "kraken", "fault": fault}, {"venue": "okx", "fault": fault}]});
    service.tell_sim("/_sim/faults", faults("silent")).await;
    let late = get(&service, "/v1/quotes/ETH-USDT?deadline_ms=200&fresh=true&venues=kraken,okx").await;
    assert_eq!((late.status, late.problem().as_str()), (504, "deadline"), "{late:?}");
    let misses = late.json()["misses"].clone();
    assert!(misses.as_array().unwrap().len() == 2 && misses.as_array().unwrap().iter().all(|m| m["reason"] == "timeout"), "{misses}");
    service.mend().await;
    service.tell_sim("/_sim/faults", faults("http_500")).await;
    let none = get(&service, "/v1/quotes/SOL-USDT?fresh=true&venues=kraken,okx").await;
    assert_eq!((none.status, none.problem().as_str(), none.header("retry-after")), (503, "no_quotes", Some("1")), "{none:?}");
    service.stop().await;
}

#[actix_web::test]
async fn more_rounds_than_may_start_are_refused() {
    let service = started(&[("limits.rounds_per_s", "1"), ("poll_ms", "3600000")]).await;
    let mut refused = None;
    for _ in 0..20 {
        let got = get(&service, "/v1/quotes/BTC-USDT?fresh=true").await;
        if got.status == 429 {
            refused = Some(got);
            break;
        }
    }
    let got = refused.expect("one round a second");
    assert_eq!(
        (got.problem().as_str(), got.header("retry-after"), got.header("ratelimit-limit")),
        ("too_many_rounds", Some("1"), Some("1"))
    );
    service.stop().await;
}

#[actix_web::test]
async fn venues_pairs_and_health() {
    let service = started(&[("venues.kraken.taker", "0.0016")]).await;
    let venues = service.get("/v1/venues").await.body;
    let ids: Vec<_> = venues["venues"].as_array().unwrap().iter().map(|v| v["id"].as_str().unwrap().to_owned()).collect();
    assert!(ids.is_sorted() && ids.contains(&"kraken".to_owned()), "{ids:?}");
    let kraken = service.get("/v1/venues/kraken").await.body;
    assert_eq!((&kraken["state"], &kraken["simulated"], &kraken["taker"]), (&"up".into(), &true.into(), &"0.0016".into()));
    assert_eq!((&kraken["taker_source"], &kraken["taker_read"]), (&"configured".into(), &Value::Null));
    let okx = service.get("/v1/venues/okx").await.body;
    assert!(okx["taker_source"] == "published" && okx["taker_read"].is_string(), "{okx}");
    assert!(kraken["plan"]["interval_ms"].is_u64() && kraken["budget"]["weight"].is_u64(), "{kraken}");
    let pairs = service.get("/v1/pairs").await.body;
    assert_eq!(
        (&pairs["pairs"][0]["pair"], &pairs["pairs"][0]["required"], &pairs["on_demand"]),
        (&"BTC-USDT".into(), &true.into(), &true.into())
    );
    let ready = service.get("/readyz").await;
    assert_eq!((ready.status, &ready.body["pairs"][0]["need"]), (200, &3.into()), "{}", ready.body);
    assert_eq!(service.get("/healthz").await.body, json!({"status": "ok", "simulated": true}));
    service.stop().await;
    let service = Service::start((1, 5), &[("pairs", r#"[{name="BTC-USDT"}, {name="NOPE-USD"}]"#)]).await;
    let not = service.get("/readyz").await;
    assert_eq!((not.status, &not.body["code"]), (503, &"not_ready".into()), "{}", not.body);
    assert_eq!((&not.body["pairs"][1]["have"], &not.body["pairs"][1]["ready"]), (&0.into(), &false.into()));
    service.stop().await;
}

#[actix_web::test]
async fn the_admin_listener_shows_and_controls() {
    let service = started(&[]).await;
    let actors = send(&service.admin, &request("GET", "/admin/api/actors.json", "", "")).await;
    let body = actors.json();
    let names: Vec<_> = body["actors"].as_array().unwrap().iter().map(|a| a["name"].as_str().unwrap().to_owned()).collect();
    assert!(names.contains(&"coordinator".to_owned()) && names.contains(&"exchange/kraken".to_owned()), "{names:?}");
    assert!(body["number"].is_u64() && body["venues"].is_array());
    let foreign = send(&service.admin, "GET /admin/api/actors.json HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n").await;
    assert_eq!((foreign.status, foreign.problem().as_str()), (421, "wrong_host"));
    let bare = send(&service.admin, &request("POST", "/admin/api/venues/kraken/pause", "", "")).await;
    assert_eq!((bare.status, bare.problem().as_str()), (403, "forbidden"));
    let tell = async |what: &str| send(&service.admin, &request("POST", what, "Quorate-Admin: 1\r\n", "")).await;
    assert_eq!(tell("/admin/api/venues/nasdaq/pause").await.problem(), "unknown_venue");
    assert_eq!(tell("/admin/api/venues/kraken/explode").await.problem(), "not_found");
    let is = async |state: &str| service.until("/v1/venues/kraken", state, |got| got.body["state"] == state).await;
    assert_eq!(tell("/admin/api/venues/kraken/pause").await.status, 200);
    is("paused").await;
    let got = service.get("/v1/quotes/BTC-USDT?fresh=true").await;
    assert_eq!(got.word_of("kraken"), Some("paused"), "{}", got.body);
    assert_eq!(tell("/admin/api/venues/kraken/resume").await.status, 200);
    is("up").await;
    assert_eq!(tell("/admin/api/venues/kraken/restart").await.status, 200);
    service.until("/v1/venues/kraken", "rebuilt", |got| got.body["restarts"] == 1 && got.body["state"] == "up").await;
    // The admin routes are on the admin listener alone, and the public ones on theirs.
    assert_eq!(get(&service, "/admin/api/actors.json").await.status, 404);
    assert_eq!(send(&service.admin, &request("GET", "/v1/pairs", "", "")).await.status, 404);
    service.stop().await;
}

#[actix_web::test]
async fn a_request_under_way_is_answered_while_the_service_stops() {
    let service = Service::start((1, 5), &[ONE_PAIR, ("poll_ms", "3600000")]).await;
    service.until("/v1/quotes/BTC-USDT", "there", |got| got.status == 200).await;
    service.quiet().await;
    service.tell_sim("/_sim/faults", json!({"faults": [{"venue": "okx", "fault": "silent"}]})).await;
    let had = service.stats().await["okx"]["requests"].as_u64().unwrap();
    let mut under_way = connect(&service.public).await;
    under_way.write_all(request("GET", "/v1/quotes/BTC-USDT?fresh=true&deadline_ms=1500", "", "").as_bytes()).await.unwrap();
    // It is with the engine once okx is asked, which its own count tells.
    let asked = async || service.stats().await["okx"]["requests"].as_u64().unwrap();
    for tries in 0.. {
        if asked().await > had {
            break;
        }
        assert!(tries < 1000, "okx is never asked");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let (public, begun) = (service.public.clone(), Instant::now());
    let (got, ()) = tokio::join!(answer(under_way), service.stop());
    assert_eq!((got.status, &got.json()["status"]), (200, &"partial".into()), "{got:?}");
    assert!(begun.elapsed() < Duration::from_secs(6), "{:?}", begun.elapsed());
    assert!(TcpStream::connect(public.strip_prefix("http://").unwrap()).await.is_err(), "the port is free again");
}

#[actix_web::test]
async fn connections_beyond_the_limit_wait_and_are_counted() {
    let service = Service::start((1, 5), &[("limits.connections", "2")]).await;
    let held = async || {
        let mut stream = connect(&service.public).await;
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
        let mut room = [0; 512];
        assert!(stream.read(&mut room).await.unwrap() > 0);
        stream
    };
    let (first, _second) = (held().await, held().await);
    let mut third = connect(&service.public).await;
    third.write_all(request("GET", "/healthz", "", "").as_bytes()).await.unwrap();
    let figures = async || send(&service.admin, &request("GET", "/admin/api/actors.json", "", "")).await.json()["connections"].clone();
    let begun = Instant::now();
    while figures().await["waiting"] != 1 {
        assert!(begun.elapsed() < Duration::from_secs(10), "{}", figures().await);
    }
    assert_eq!(figures().await, json!({"limit": 2, "open": 2, "waiting": 1, "waited": 1}));
    let mut room = [0; 16];
    assert!(timeout(Duration::from_millis(300), third.read(&mut room)).await.is_err(), "it waits");
    drop(first);
    assert_eq!(answer(third).await.status, 200);
    assert_eq!(figures().await["waited"], 1);
    service.stop().await;
}
