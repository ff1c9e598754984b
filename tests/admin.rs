//! The admin listener over real sockets: what it shows of a running system, and what it orders. Nothing sleeps to let something happen: each step is seen.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects, missing_docs)]

mod support;

use actix::prelude::*;
use awc::Client;
use quorate_actors::{
    Control,
    meter::{self, Limits},
};
use serde_json::Value;
use std::time::Duration;
use support::Service;

const ONE_PAIR: (&str, &str) = ("pairs", r#"[{name="BTC-USDT"}]"#);

async fn started(latency_ms: (u64, u64), keys: &[(&str, &str)]) -> Service {
    let service = Service::start(latency_ms, &[&[ONE_PAIR], keys].concat()).await;
    service.until("/v1/quotes/BTC-USDT", "all venues answered", |got| got.status == 200 && got.body["venues"]["missed"] == 0).await;
    service
}

fn actor<'a>(figures: &'a Value, name: &str) -> &'a Value {
    let actors = figures["actors"].as_array().unwrap();
    actors.iter().find(|actor| actor["name"] == name).unwrap_or_else(|| panic!("no actor {name}"))
}

fn venue<'a>(figures: &'a Value, id: &str) -> &'a Value {
    figures["venues"].as_array().unwrap().iter().find(|venue| venue["id"] == id).unwrap()
}

fn in_flight(figures: &Value) -> u64 {
    let exchanges = figures["actors"].as_array().unwrap().iter().filter(|actor| actor["name"].as_str().unwrap().starts_with("exchange/"));
    exchanges.map(|actor| actor["in_flight"].as_u64().unwrap()).sum()
}

/// Holds its thread for each message.
struct Slow;
impl Actor for Slow {
    type Context = Context<Self>;
}

#[derive(Message)]
#[rtype(result = "()")]
struct Work;
impl Handler<Work> for Slow {
    type Result = ();
    fn handle(&mut self, _: Work, _: &mut Self::Context) {
        std::thread::sleep(Duration::from_millis(300));
    }
}
quorate_actors::metered!(Slow: Work);

#[actix_web::test]
async fn a_slow_actor_is_seen_to_fill_and_to_drain() {
    let service = started((1, 5), &[]).await;
    let arbiter = Arbiter::new();
    let port = meter::start_in(&arbiter.handle(), service.engine.meter::<Slow>("slow", Limits::default()), || Slow).unwrap();
    for _ in 0..50 {
        port.try_send(Work).unwrap();
    }
    let full = service.seen("slow", "fifty messages were sent", |figures| actor(figures, "slow")["sent"] == 50).await;
    let slow = actor(&full, "slow");
    assert!(slow["queued"].as_u64().unwrap() > 40 && slow["queued_high"].as_u64().unwrap() > 40, "{slow}");
    let running = service.seen("slow", "its handler runs", |figures| actor(figures, "slow")["running_now"]["message"] == "Work").await;
    assert_eq!(actor(&running, "slow")["messages"][0]["message"], "Work");
    service.seen("slow", "it is stuck", |figures| actor(figures, "slow")["stuck_for_ms"].is_u64()).await;
    let mut least = actor(&full, "slow")["queued"].as_u64().unwrap();
    while least > 0 {
        let figures = service.seen("slow", "fewer wait", |figures| actor(figures, "slow")["queued"].as_u64().unwrap() < least).await;
        least = actor(&figures, "slow")["queued"].as_u64().unwrap();
    }
    let drained = service.seen("slow", "all are replied", |figures| actor(figures, "slow")["replied"] == 50).await;
    let slow = actor(&drained, "slow");
    assert!(slow["last_1_min"]["handler_p50_us"].as_u64().unwrap() >= 300_000, "{slow}");
    assert!(slow["last_15_min"]["wait_max_us"].as_u64().unwrap() > slow["last_15_min"]["wait_p50_us"].as_u64().unwrap(), "{slow}");
    assert!(slow["busy_ns"].as_u64().unwrap() >= 50 * 300_000_000, "{slow}");
    assert_eq!(service.order("actors/reset?actor=slow").await, 200);
    let reset = service.figures("slow").await;
    assert_eq!((&actor(&reset, "slow")["queued_high"], &actor(&reset, "slow")["sent"]), (&0.into(), &50.into()));
    arbiter.stop();
    service.stop().await;
}

#[actix_web::test]
async fn fetches_in_flight_rise_and_fall_with_the_load() {
    let service = started((400, 600), &[("poll_ms", "3600000")]).await;
    service.quiet().await;
    assert_eq!(in_flight(&service.figures("").await), 0);
    let url = format!("{}/v1/quotes/BTC-USDT?fresh=true&deadline_ms=3000", service.public);
    let callers: Vec<_> = (0..8).map(|_| actix::spawn(Client::default().get(&url).timeout(Duration::from_secs(20)).send())).collect();
    let busy = service.seen("exchange/kraken", "the exchanges are asked", |figures| in_flight(figures) >= 8).await;
    assert!(actor(&busy, "coordinator")["in_flight"].as_u64().unwrap() > 0);
    for caller in callers {
        assert_eq!(caller.await.unwrap().unwrap().status().as_u16(), 200);
    }
    let after = service.seen("exchange/kraken", "all have answered", |figures| in_flight(figures) == 0).await;
    assert!(after["rounds"]["quotes"].as_u64().unwrap() > busy["rounds"]["quotes"].as_u64().unwrap() - 1, "{}", after["rounds"]);
    assert!(actor(&after, "exchange/kraken")["messages"][0]["in_flight_high"].as_u64().unwrap() >= 1);
    let routes = after["routes"].as_array().unwrap();
    let fresh = routes.iter().find(|row| row["route"] == "/v1/quotes/{pair}" && row["status"] == "2xx").unwrap();
    assert!(fresh["time"]["count"].as_u64().unwrap() >= 8, "{fresh}");
    service.stop().await;
}

#[actix_web::test]
async fn a_pause_and_a_restart_after_a_panic_are_seen_and_orders_are_audited() {
    let service = started((1, 5), &[]).await;
    assert_eq!(service.figures("").await["verdict"]["word"], "ok");
    assert_eq!(service.order("venues/kraken/pause").await, 200);
    let paused = service.seen("exchange/kraken", "paused", |figures| actor(figures, "exchange/kraken")["state"] == "paused").await;
    assert_eq!((&venue(&paused, "kraken")["state"], &paused["verdict"]["word"]), (&"paused".into(), &"degraded".into()));
    let aged = |ms: u64| move |figures: &Value| venue(figures, "kraken")["last_quote_age_ms"].as_u64().unwrap() > ms;
    let older = service.seen("", "its quotes age", aged(0)).await;
    service.seen("", "and go on", aged(venue(&older, "kraken")["last_quote_age_ms"].as_u64().unwrap())).await;
    assert_eq!(service.order("venues/kraken/resume").await, 200);
    service.seen("", "up again", |figures| actor(figures, "exchange/kraken")["state"] == "up").await;

    service.engine.control("okx", Control::RehearsePanic).await.unwrap();
    let rebuilt = |figures: &Value| actor(figures, "exchange/okx")["restarts"] == 1 && actor(figures, "exchange/okx")["state"] == "up";
    let figures = service.seen("exchange/okx", "rebuilt after a panic", rebuilt).await;
    let okx = actor(&figures, "exchange/okx");
    assert_eq!((&okx["restarts_by"]["panic"], &okx["incarnation"]), (&1.into(), &2.into()), "{okx}");
    let events: Vec<_> =
        okx["events"].as_array().unwrap().iter().map(|e| (e["kind"].as_str().unwrap(), e["detail"].as_str().unwrap())).collect();
    for happened in [("error", "a handler panicked"), ("state", "panicked"), ("restart", "panic"), ("state", "restarting"), ("state", "up")]
    {
        assert!(events.contains(&happened), "{happened:?} in {events:?}");
    }
    assert_eq!(okx["last_error"]["detail"], "a handler panicked");

    assert_eq!(service.order("venues/gate/restart").await, 200);
    service.seen("", "rebuilt for an operator", |f| actor(f, "exchange/gate")["restarts_by"]["operator"] == 1).await;
    for (order, status) in
        [("venues/mexc/reconnect", 200), ("actors/reset", 200), ("venues/nasdaq/pause", 404), ("actors/reset?actor=x", 404)]
    {
        assert_eq!(service.order(order).await, status, "{order}");
    }
    let figures = service.seen("", "reconnected", |figures| venue(figures, "mexc")["reconnects"] == 1).await;
    let audit: Vec<_> = figures["audit"]
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .map(|entry| ["action", "target", "outcome"].map(|n| entry[n].as_str().unwrap()))
        .collect();
    assert_eq!(
        audit,
        [
            ["pause", "kraken", "done"],
            ["resume", "kraken", "done"],
            ["restart", "gate", "done"],
            ["reconnect", "mexc", "done"],
            ["reset", "every actor", "done"],
            ["pause", "\"nasdaq\"", "unknown_venue"],
            ["reset", "\"x\"", "not_found"],
        ]
    );
    assert!(figures["audit"][0]["peer"].as_str().unwrap().starts_with("127.0.0.1:"));
    service.stop().await;
}

#[actix_web::test]
async fn new_connections_are_opened_when_an_operator_has_the_old_ones_dropped() {
    let service = started((1, 5), &[("poll_ms", "3600000")]).await;
    service.quiet().await;
    let before = service.stats().await["kraken"].clone();
    assert_eq!(service.order("venues/kraken/reconnect").await, 200);
    for tries in 0.. {
        let now = service.stats().await["kraken"].clone();
        let opened = now["connections_opened"].as_u64().unwrap() > before["connections_opened"].as_u64().unwrap();
        if opened && now["connections_open"] == 1 {
            break;
        }
        assert!(tries < 1_000, "{before} then {now}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(service.get("/v1/quotes/BTC-USDT?fresh=true").await.word_of("kraken"), Some("in"));
    service.stop().await;
}

#[actix_web::test]
async fn a_scraper_gets_the_text_that_it_accepts() {
    let service = started((1, 5), &[]).await;
    let url = format!("{}/metrics", service.admin);
    let plain = service.ask(&url).await;
    assert_eq!(plain.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    for line in ["# TYPE quorate_venue_requests_total counter", "quorate_venue_up{venue=\"kraken\"} 1", "quorate_verdict{verdict=\"ok\"} 1"]
    {
        assert!(plain.text.contains(&format!("{line}\n")), "{line} in {}", plain.text);
    }
    let open = service.ask_with(&url, &[("accept", "application/openmetrics-text;version=1.0.0")]).await;
    assert_eq!(open.header("content-type"), Some("application/openmetrics-text; version=1.0.0; charset=utf-8"));
    assert!(open.text.contains("# TYPE quorate_venue_requests counter\n") && open.text.ends_with("# EOF\n"));
    let foreign = service.ask_with(&url, &[("host", "evil.example")]).await;
    assert_eq!(foreign.code(), (421, "wrong_host"));
    let unknown = service.ask(&format!("{url}?x=1")).await;
    assert_eq!(unknown.code(), (400, "unknown_parameter"));
    service.stop().await;
}

#[actix_web::test]
async fn the_page_needs_no_token_and_what_it_shows_does() {
    let token = "0123456789abcdef0123";
    let path = std::env::temp_dir().join(format!("quorate-admin-token-{}", std::process::id()));
    std::fs::write(&path, token).unwrap();
    let service = started((1, 5), &[("admin_token_file", path.to_str().unwrap())]).await;
    let at = |path: &str| format!("{}{path}", service.admin);
    let page = service.ask(&at("/admin")).await;
    let policy = page.header("content-security-policy").unwrap();
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(policy.starts_with("default-src 'none'; script-src 'self'; ") && !policy.contains("unsafe"), "{policy}");
    assert_eq!((page.header("x-content-type-options"), page.header("quorate-simulated")), (Some("nosniff"), Some("1")));
    for file in ["/admin/", "/admin/admin.js", "/admin/admin.css", "/admin/icon.svg"] {
        assert_eq!(service.ask(&at(file)).await.status, 200, "{file}");
        assert_eq!(service.ask_with(&at(file), &[("host", "evil.example")]).await.code(), (421, "wrong_host"), "{file}");
    }
    for secret in ["/admin/api/actors.json", "/metrics", "/admin/nothing"] {
        assert_eq!(service.ask(&at(secret)).await.code(), (401, "unauthorized"), "{secret}");
        let wrong = service.ask_with(&at(secret), &[("authorization", "Bearer 0123456789abcdef0124")]).await;
        assert_eq!(wrong.code(), (401, "unauthorized"), "{secret}");
    }
    let told = service.ask_with(&at("/admin/api/actors.json"), &[("authorization", &format!("Bearer {token}"))]).await;
    assert_eq!((told.status, &told.body["simulated"]), (200, &true.into()));
    std::fs::remove_file(path).unwrap();
    service.stop().await;
}
