use super::*;
use quorate_actors::{
    model::{Fault, Pair, Reason, Source, Ticker, UnixMs, VenueId},
    venue::{Basis, Member, TimeOf},
};
use std::{sync::Arc, time::Duration};

fn row(venue: &str, bid: &str, ask: &str, refused: Option<Reason>, at: Instant) -> ViewRow {
    let ticker = Ticker {
        bid: Price::parse(bid).unwrap(),
        bid_size: Amount::parse("3.0").unwrap(),
        ask: Price::parse(ask).unwrap(),
        ask_size: Amount::parse("0.5").unwrap(),
        last: Price::parse("67234.12").unwrap(),
        base_volume: Amount::parse("31234.5").unwrap(),
        ..Ticker::default()
    };
    let quote = Quote {
        venue: VenueId::new(venue),
        pair: Pair::new("BTC", "USDT").unwrap(),
        symbol: "BTC\"USDT".into(),
        ticker,
        received: at.checked_sub(Duration::from_millis(33)).unwrap(),
        received_time: UnixMs(1_796_036_400_090),
        latency: Duration::from_micros(41_900),
        source: Source::Rest,
    };
    let member = Member { venue: quote.venue.clone(), operator: "o".into(), region: None, basis: Basis::Mid, time_of: TimeOf::None };
    ViewRow { quote: Arc::new(quote), member: Arc::new(member), refused }
}

fn view(rows: Vec<ViewRow>, best_bid: Option<usize>, best_ask: Option<usize>, at: Instant) -> View {
    let fault = Arc::new(Fault::new(Reason::Timeout, "no answer within 500 ms"));
    View {
        pair: Pair::new("BTC", "USDT").unwrap(),
        at,
        as_of: UnixMs(1_796_036_400_123),
        sequence: 48211,
        rows,
        misses: vec![Miss { venue: VenueId::new("okx"), fault, at }],
        best_bid,
        best_ask,
        oldest: at,
        unknown: 0,
    }
}

#[test]
fn the_body_is_the_documented_one() {
    let at = Instant::now().checked_add(Duration::from_secs(1)).unwrap();
    let rows = vec![row("binance", "67234.10", "67234.13", None, at), row("kraken", "67234.12", "67234.2", Some(Reason::Wide), at)];
    let body = quotes_body(&view(rows, Some(0), Some(0), at), "7f3a", false);
    let want = concat!(
        r#"{"pair":"BTC-USDT","base":"BTC","quote":"USDT","status":"partial","simulated":false,"as_of":"2026-11-30T11:00:00.123Z","boot":"7f3a","sequence":48211,"#,
        r#""bid":"67234.1","bid_size":"3","bid_venue":"binance","ask":"67234.13","ask_size":"0.5","ask_venue":"binance","#,
        r#""mid":"67234.115","spread":"0.03","spread_bps":"0.0045","crossed":false,"venues":{"asked":3,"answered":2,"missed":1},"#,
        r#""quotes":[{"venue":"binance","symbol":"BTC\"USDT","bid":"67234.1","bid_size":"3","ask":"67234.13","ask_size":"0.5","last":"67234.12","#,
        r#""high":null,"low":null,"open":null,"base_volume":"31234.5","quote_volume":null,"venue_time":null,"time_of":"none","received_time":"2026-11-30T11:00:00.090Z","age_ms":33,"latency_ms":41,"source":"rest","decision":"in"},"#,
        r#"{"venue":"kraken","symbol":"BTC\"USDT","bid":"67234.12","bid_size":"3","ask":"67234.2","ask_size":"0.5","last":"67234.12","#,
        r#""high":null,"low":null,"open":null,"base_volume":"31234.5","quote_volume":null,"venue_time":null,"time_of":"none","received_time":"2026-11-30T11:00:00.090Z","age_ms":33,"latency_ms":41,"source":"rest","decision":"wide"}],"#,
        r#""misses":[{"venue":"okx","reason":"timeout","detail":"no answer within 500 ms"}]}"#
    );
    assert_eq!(String::from_utf8(body.to_vec()).unwrap(), want);
}

#[test]
fn crossed_between_venues_is_said_and_none_admitted_is_null() {
    let at = Instant::now().checked_add(Duration::from_secs(1)).unwrap();
    let rows = || vec![row("binance", "101", "102", None, at), row("kraken", "98", "99", None, at)];
    let crossed: serde_json::Value = serde_json::from_slice(&quotes_body(&view(rows(), Some(0), Some(1), at), "7f3a", true)).unwrap();
    assert_eq!((&crossed["crossed"], &crossed["spread"], &crossed["spread_bps"]), (&true.into(), &"-2".into(), &"-200.0000".into()));
    assert_eq!(crossed["simulated"], true);
    let none: serde_json::Value = serde_json::from_slice(&quotes_body(&view(rows(), None, None, at), "7f3a", true)).unwrap();
    for name in ["bid", "bid_size", "bid_venue", "ask", "ask_size", "ask_venue", "mid", "spread", "spread_bps"] {
        assert!(none.as_object().unwrap()[name].is_null(), "{name}");
    }
}
