use super::*;
use crate::http::{Options, routes_of};
use actix_web::{
    App,
    dev::ServiceResponse,
    test::{self, TestRequest},
};
use quorate_actors::{
    Engine,
    clock::Clock,
    model::{Fault, Price, Quote, Reason, Source, Ticker, UnixMs, VenueId},
    sim::{MemoryConnect, Options as SimOptions, World},
    venue::{Basis, Member, TimeOf},
    view::{Miss, View, ViewRow},
};
use std::time::Duration;

const HOSTILE: &str = "<img src=x onerror=alert(1)>\u{202e}\"'&";
const HARMLESS: &str = "&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;";

fn row(venue: &str, symbol: &str, bid: &str, ask: &str, refused: Option<Reason>, now: Instant) -> ViewRow {
    let ticker = Ticker { bid: Price::parse(bid).unwrap(), ask: Price::parse(ask).unwrap(), ..Ticker::default() };
    let quote = Quote {
        venue: VenueId::new(venue),
        pair: "BTC-USDT".parse().unwrap(),
        symbol: symbol.into(),
        ticker,
        received: now,
        received_time: UnixMs(1_796_036_400_090),
        latency: Duration::from_millis(40),
        source: Source::Rest,
    };
    let member = Member { venue: quote.venue.clone(), operator: venue.into(), region: None, basis: Basis::Mid, time_of: TimeOf::None };
    ViewRow { quote: Arc::new(quote), member: Arc::new(member), refused }
}

/// Four rows, of which the last does not count, and a miss.
fn view(now: Instant) -> View {
    let rows = vec![
        row("a", "AAA", "67000.5", "67010", None, now),
        row("b", HOSTILE, "66990", "67000.75", None, now),
        row("c", "CCC", "67000.5", "67020", None, now),
        row("d", "DDD", "1", "2", Some(Reason::Wide), now),
    ];
    let misses = vec![Miss { venue: VenueId::new("e"), fault: Arc::new(Fault::new(Reason::RateLimited, HOSTILE)), at: now }];
    let (best_bid, best_ask) = (Some(0), Some(1));
    View {
        pair: "BTC-USDT".parse().unwrap(),
        at: now,
        as_of: UnixMs(1_796_036_400_123),
        sequence: 1,
        rows,
        misses,
        best_bid,
        best_ask,
        oldest: now,
        unknown: 0,
    }
}

fn html(simulated: bool, seconds: u64) -> String {
    let now = Instant::now();
    let names = HashMap::from([("a".to_owned(), "First & Best")]);
    let markup = Markup { simulated, names: &names, known: &[], max_age: Duration::from_secs(5) };
    let view = view(now);
    markup.page(&Shown { pair: view.pair, view: &view, rate: None, now: now.checked_add(Duration::from_secs(seconds)).unwrap() })
}

/// Gives the row of the table in which an exchange stands.
fn row_of<'a>(html: &'a str, name: &str) -> &'a str {
    let found = html.split("<tr ").find(|row| row.contains(&format!("\"name\">{name}</span>")));
    found.and_then(|row| row.split("</tr>").next()).unwrap_or_else(|| panic!("no row of {name} in {html}"))
}

#[actix_web::test]
async fn what_an_exchange_says_is_text_and_nothing_else() {
    let html = html(false, 0);
    assert!(!html.contains("<img"), "{html}");
    assert!(row_of(&html, "b").contains(HARMLESS) && row_of(&html, "e").contains(HARMLESS));
    assert!(row_of(&html, "First &amp; Best").contains("AAA"));
}

#[actix_web::test]
async fn best_bid_and_best_ask_are_said_in_words_beside_their_signs() {
    let html = html(false, 0);
    assert_eq!((html.matches("▲ best bid").count(), html.matches("▼ best ask").count()), (1, 1));
    assert!(row_of(&html, "First &amp; Best").contains("▲ best bid") && row_of(&html, "b").contains("▼ best ask"));
    // As good as the best, and further down.
    assert!(row_of(&html, "c").contains("= best"));
    assert!(row_of(&html, "b").contains("−1.6 bps"));
}

#[actix_web::test]
async fn who_is_missing_or_does_not_count_is_there_with_the_reason() {
    let html = html(false, 0);
    assert!(row_of(&html, "e").contains("down: rate limited"));
    assert!(row_of(&html, "d").contains("not counted: wide"));
    assert!(html.contains("<dt>Exchanges</dt><dd>4 <small>of 5</small></dd>"), "{html}");
    // What does not count has no part in the scale: the best bid lies a third up, not at its end.
    assert!(row_of(&html, "First &amp; Best").contains("<path class=\"bid\" d=\"M350 13V27\"/>"));
}

#[actix_web::test]
async fn decimals_are_lined_up_by_what_is_not_seen() {
    let html = html(false, 0);
    assert!(row_of(&html, "b").contains("<span>66,990</span><span class=\"pad\" aria-hidden=\"true\">.00</span>"));
    assert!(row_of(&html, "c").contains("<span>67,000.5</span><span class=\"pad\" aria-hidden=\"true\">0</span>"));
}

#[actix_web::test]
async fn an_old_quote_is_called_stale() {
    assert!(html(false, 10).contains("<td class=\"age\">10 s</td>"));
    assert!(html(false, 12).contains("<td class=\"age\">stale 12 s</td>"));
}

#[actix_web::test]
async fn a_simulation_says_so_and_nothing_else_does() {
    assert!(html(true, 0).contains("<strong>SIMULATED</strong>"));
    assert!(!html(false, 0).contains("SIMULATED"));
}

async fn get(engine: &Engine, path: &str, known: Option<&str>) -> ServiceResponse {
    let state = Arc::new(State::new(engine.clone(), Options { simulated: true, ..Options::default() }));
    let app = test::init_service(App::new().configure(routes_of(state))).await;
    let request = TestRequest::get().uri(path);
    let request = known.into_iter().fold(request, |request, tag| request.insert_header(("if-none-match", tag)));
    test::call_service(&app, request.to_request()).await
}

fn engine() -> Engine {
    let clock = Clock::start();
    let world = World::new(SimOptions::default(), clock.now()).unwrap();
    Engine::builder().pairs(["BTC-USDT"]).connect(Arc::new(MemoryConnect::new(world, clock.clone()))).clock(clock).here().start().unwrap()
}

fn header<'a>(answer: &'a ServiceResponse, name: &str) -> &'a str {
    answer.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

#[actix_web::test]
async fn the_page_stands_without_scripts_and_lets_nobody_else_in() {
    let engine = engine();
    let answer = get(&engine, "/?pair=btc%2Fusdt&theme=dark", None).await;
    assert_eq!((answer.status(), header(&answer, "content-type")), (StatusCode::OK, HTML));
    let policy = header(&answer, "content-security-policy");
    for needed in
        ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"]
    {
        assert!(policy.split("; ").any(|part| part == needed), "{needed} in {policy}");
    }
    assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
    let html = String::from_utf8(test::read_body(answer).await.to_vec()).unwrap();
    assert!(html.contains("<h1 id=\"pair\">BTC-USDT</h1>") && html.contains("SIMULATED"), "{html}");
    assert_eq!(html.matches("<tr class=").count(), engine.venues().len(), "{html}");
    for forbidden in ["<style", " style=", " onclick", "http://", "https://", "{{"] {
        assert!(!html.contains(forbidden), "{forbidden} in {html}");
    }
    engine.shutdown().await;
}

#[actix_web::test]
async fn a_pair_that_nobody_knows_is_a_page_that_says_so() {
    let engine = engine();
    let answer = get(&engine, "/?pair=BTC-USDD", None).await;
    assert_eq!((answer.status(), header(&answer, "content-type")), (StatusCode::NOT_FOUND, HTML));
    let html = String::from_utf8(test::read_body(answer).await.to_vec()).unwrap();
    assert!(html.contains("Nothing to show") && html.contains("href=\"./?pair=BTC-USDT\""), "{html}");
    let answer = get(&engine, "/?pair=%3Cscript%3E", None).await;
    assert_eq!(answer.status(), StatusCode::BAD_REQUEST);
    let html = String::from_utf8(test::read_body(answer).await.to_vec()).unwrap();
    assert!(!html.contains("<script>"), "{html}");
    engine.shutdown().await;
}

#[actix_web::test]
async fn every_file_that_the_page_or_a_script_names_is_there_and_kept() {
    let engine = engine();
    let scripts: Vec<_> = ASSETS.iter().filter(|asset| asset.kind == SCRIPT).map(|asset| str::from_utf8(asset.bytes).unwrap()).collect();
    let imported = scripts.iter().flat_map(|script| script.split(" from \"./").skip(1).filter_map(|rest| rest.split('"').next()));
    let page = include_str!("../../assets/page.html");
    let linked = page.split("\"assets/").skip(1).filter_map(|rest| rest.split('"').next());
    let named: std::collections::BTreeSet<&str> = imported.chain(linked).collect();
    assert_eq!(named, ASSETS.iter().map(|asset| asset.name).collect());
    for name in named {
        let path = format!("/assets/{name}");
        let answer = get(&engine, &path, None).await;
        assert_eq!((answer.status(), header(&answer, "x-content-type-options")), (StatusCode::OK, "nosniff"), "{name}");
        let tag = header(&answer, "etag").to_owned();
        assert_eq!(get(&engine, &path, Some(&tag)).await.status(), StatusCode::NOT_MODIFIED, "{name}");
    }
    assert_eq!(get(&engine, "/assets/../page.html", None).await.status(), StatusCode::NOT_FOUND);
    assert_eq!(get(&engine, "/assets/nothing.js", None).await.status(), StatusCode::NOT_FOUND);
    engine.shutdown().await;
}
