use super::*;
use quorate_actors::{
    model::{Asset, Fault, Pair, Reason, Source, Ticker, UnixMs, VenueId},
    rate::{
        FeeSource, How, Made, MarketMiss, Memory, Offer, Own, Receipt, Settings, Side, Taker, Takers, Wanted, convert, matrix, pass, tops,
    },
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

const AS_OF: UnixMs = UnixMs(1_796_036_400_123);

/// Makes a receipt of two venues that quote a pair, one that quotes it in another currency, and one that is late.
fn receipt() -> Receipt {
    let offer = |venue: &str, pair: &str, bid: &str, ask: &str, size: &str| Offer {
        member: Arc::new(Member {
            venue: VenueId::new(venue),
            operator: venue.into(),
            region: None,
            basis: Basis::Mid,
            time_of: TimeOf::None,
        }),
        pair: pair.parse().unwrap(),
        ticker: Ticker {
            bid: Price::parse(bid).unwrap(),
            ask: Price::parse(ask).unwrap(),
            ask_size: Amount::parse(size).unwrap(),
            ..Ticker::default()
        },
        received: UnixMs(AS_OF.0 - 33),
        latency: Duration::ZERO,
        source: Source::Rest,
    };
    let offers = vec![
        offer("binance", "BTC-USDT", "67020", "67030", "2"),
        offer("binance", "USDT-USD", "0.9995", "0.9997", ""),
        offer("bitstamp", "BTC-USD", "67010", "67020", "1.5"),
        offer("bitstamp", "USDT-USD", "0.9995", "0.9997", ""),
        offer("kraken", "BTC-USD", "66990", "67000", ""),
    ];
    let pair = "BTC-USD".parse().unwrap();
    let rules = Settings::default().rules(pair, &Own::default());
    let outcome = pass(pair, &rules, offers, AS_OF, &mut Memory::default());
    let fault = Arc::new(Fault::new(Reason::Timeout, "late"));
    let misses = vec![MarketMiss { venue: VenueId::new("okx"), pair, fault }];
    Receipt::new(outcome, Arc::new(rules), misses, Made::Memory, true)
}

fn takers() -> Takers {
    let published = Taker { rate: "0.004".parse().unwrap(), source: FeeSource::Published("2026-11-30") };
    let own = |fee: &str, source| Taker { rate: fee.parse().unwrap(), source };
    [("binance", own("0.00075", FeeSource::Caller)), ("bitstamp", published), ("kraken", own("0", FeeSource::Configured))]
        .map(|(venue, taker)| (VenueId::new(venue), taker))
        .into()
}

fn wanted(takers: &Takers, convert: bool) -> Wanted<'_> {
    Wanted { convert, takers: Some(takers), now: UnixMs(AS_OF.0 + 10), max_age: Duration::from_secs(5) }
}

fn text(body: Bytes) -> String {
    String::from_utf8(body.to_vec()).unwrap()
}

/// What every body begins with that is made of the receipt.
fn opening(receipt: &Receipt) -> String {
    format!(
        r#"{{"pair":"BTC-USD","base":"BTC","quote":"USD","status":"ok","rate":"66998.19","simulated":true,"as_of":"2026-11-30T11:00:00.133Z","receipt":"{}""#,
        receipt.id()
    )
}

#[test]
fn a_ranking_has_every_row_with_its_fee_and_its_path() {
    let (receipt, takers) = (receipt(), takers());
    let derived = Derived { receipt: &receipt, as_of: UnixMs(AS_OF.0 + 10) };
    let found = tops(&receipt, &wanted(&takers, true));
    let ranking = Ranking { side: Some(Side::Buy), amount: Some("1.5".parse().unwrap()), fees: true, convert: true, tops: &found };
    let rows = [
        r#"{"rank":1,"venue":"kraken","pair":"BTC-USD","price":"67000","size":null,"fee":"0","fee_source":"configured","fee_read":null,"price_after_fee":"67000","covers":null,"age_ms":43,"quoted_price":"67000","path":[]}"#,
        concat!(
            r#"{"rank":2,"venue":"binance","pair":"BTC-USDT","price":"67003.188","size":"2","fee":"0.00075","fee_source":"caller","fee_read":null,"price_after_fee":"67053.440391","covers":true,"age_ms":43,"quoted_price":"67030","#,
            r#""path":[{"from":"USDT","to":"USD","rate":"0.9996","pair":"USDT-USD","venue":null,"par":false}]}"#
        ),
        r#"{"rank":3,"venue":"bitstamp","pair":"BTC-USD","price":"67020","size":"1.5","fee":"0.004","fee_source":"published","fee_read":"2026-11-30","price_after_fee":"67288.08","covers":true,"age_ms":43,"quoted_price":"67020","path":[]}"#,
    ];
    let want = format!(
        r#"{},"side":"buy","amount":"1.5","fees":true,"convert":true,"buy":[{}],"sell":null,"excluded":[{{"venue":"okx","pair":"BTC-USD","reason":"timeout"}}],"sweep":null}}"#,
        opening(&receipt),
        rows.join(",")
    );
    assert_eq!(text(best(derived, &ranking)), want);
}

#[test]
fn a_matrix_has_every_ordered_pair() {
    let (receipt, takers) = (receipt(), takers());
    let derived = Derived { receipt: &receipt, as_of: UnixMs(AS_OF.0 + 10) };
    let found = tops(&receipt, &wanted(&takers, false));
    let opening = opening(&receipt);
    let want = [
        opening.as_str(),
        r#","fees":true,"venues":["#,
        r#"{"venue":"bitstamp","bid":"67010","bid_size":null,"ask":"67020","ask_size":"1.5","fee":"0.004","fee_source":"published","fee_read":"2026-11-30","age_ms":43},"#,
        r#"{"venue":"kraken","bid":"66990","bid_size":null,"ask":"67000","ask_size":null,"fee":"0","fee_source":"configured","fee_read":null,"age_ms":43}],"#,
        // (66990 - 67020) / 67020, and the bid over 67288.08; (67010 - 67000) / 67000, and 66741.96 over the ask.
        r#""spreads":[{"buy":"bitstamp","sell":"kraken","gross_bps":"-4.4763","net_bps":"-44.2991","opportunity":false},"#,
        r#"{"buy":"kraken","sell":"bitstamp","gross_bps":"1.4925","net_bps":"-38.5134","opportunity":false}],"#,
        r#""excluded":[{"venue":"okx","pair":"BTC-USD","reason":"timeout"}]}"#,
    ];
    assert_eq!(text(spreads(derived, true, &found, &matrix(&found.tops))), want.concat());
}

#[test]
fn a_conversion_shows_its_way_whichever_of_the_two_the_rate_is_of() {
    let receipt = receipt();
    let of = |from: &str, to: &str, how| {
        let asset = |code: &str| Asset::new(code).unwrap();
        let converted = convert(&receipt, asset(from), how, AS_OF, Duration::from_secs(5)).unwrap();
        let age = converted.top.map(|top| top.age).or(receipt.outcome.age());
        let (from, to, amount) = (asset(from), asset(to), "0.5".parse().unwrap());
        text(conversion(&Conversion { from, to, amount, how, simulated: true, as_of: AS_OF, converted, receipt: Some(&receipt), age }))
    };
    let ends = format!(
        r#""status":"ok","simulated":true,"as_of":"2026-11-30T11:00:00.123Z","age_ms":33,"venue":null,"pair":"BTC-USD","receipt":"{}","#,
        receipt.id()
    );
    let through = r#""through":[{"from":"USDT","to":"USD","rate":"0.9996","path":[{"from":"USDT","to":"USD","rate":"0.9996","pair":"USDT-USD","venue":null,"par":false}]}]}"#;
    let step = |from: &str, to: &str, rate: &str| {
        format!(r#""path":[{{"from":"{from}","to":"{to}","rate":"{rate}","pair":"BTC-USD","venue":null,"par":false}}],"#)
    };
    assert_eq!(
        of("BTC", "USD", How::Mid),
        format!(
            r#"{{"from":"BTC","to":"USD","amount":"0.5","side":"mid","rate":"66998.19","result":"33499.095",{ends}{}{through}"#,
            step("BTC", "USD", "66998.19")
        )
    );
    let inverse = "0.0000149257763530626723";
    assert_eq!(
        of("USD", "BTC", How::Mid),
        format!(
            r#"{{"from":"USD","to":"BTC","amount":"0.5","side":"mid","rate":"{inverse}","result":"0.00000746288817653133615",{ends}{}{through}"#,
            step("USD", "BTC", inverse)
        )
    );
    let sold = of("BTC", "USD", How::Taking(Side::Sell));
    assert!(
        sold.contains(r#""rate":"67010","result":"33505","#)
            && sold.ends_with(r#""pair":"BTC-USD","venue":"bitstamp","par":false}],"through":[]}"#),
        "{sold}"
    );
}
