//! `quorate decode`, without a process around it.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use clap::Parser;
use quorate::cli::decode::{DecodeArgs, decode};

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    args: DecodeArgs,
}

const STAMP: &str = r#"{"timestamp":"1795910441","bid":"84.20","ask":"84.23","last":"84.21","open":83.95}"#;
const LIST: &str =
    r#"[["tLTCUSD",84.2,9,84.3,9,0,0,84.25,12.5,85,83],["fUSD",1e-4,0.1,2,0,0,0,0,0,0,0,0],["tETHUST",1e99,9,1,9,0,0,1,1,1,1]]"#;

fn args(line: &str) -> DecodeArgs {
    Line::try_parse_from(["decode"].into_iter().chain(line.split(' '))).unwrap_or_else(|error| panic!("{error}")).args
}

fn shown(line: &str, body: &str) -> serde_json::Value {
    serde_json::from_str(&decode(&args(line), body.as_bytes()).unwrap().json).unwrap()
}

fn failed(line: &str, body: &str) -> (u8, String) {
    let error = decode(&args(line), body.as_bytes()).unwrap_err();
    (error.exit() as u8, error.to_string())
}

#[test]
fn one_pair_is_an_object_with_every_field_and_several_are_a_map() {
    let one = shown("--venue bitstamp --kind ticker --pair LTC/USD", STAMP);
    let want = serde_json::json!({"bid":"84.2","ask":"84.23","bid_size":null,"ask_size":null,"last":"84.21","high":null,"low":null,"open":"83.95",
        "base_volume":null,"quote_volume":null,"timestamp_ms":1_795_910_441_000_i64});
    assert_eq!(one, want);
    let from_list = shown("--venue bitfinex --kind ticker --pair LTC-USD", LIST);
    let listed = shown("--venue bitfinex --kind tickers --pair LTC-USD,SOL-USD", LIST);
    assert_eq!((from_list["bid"].as_str(), listed), (Some("84.2"), serde_json::json!({"LTC/USD":from_list})));
}

#[test]
fn all_that_can_be_named_is_shown_when_nothing_is_asked() {
    let all = decode(&args("--venue bitfinex --kind tickers"), LIST.as_bytes()).unwrap();
    assert!(all.json.starts_with(r#"{"LTC/USD":{"bid":"84.2","#) && !all.json.contains("ETH"), "{}", all.json);
    assert_eq!(all.left_out.unwrap().reason, quorate_actors::model::Reason::Decode);
    let by_path = shown("--venue bitstamp --kind ticker --path /api/v2/ticker/ltcusd/", STAMP);
    assert_eq!(by_path["LTC/USD"]["ask"], "84.23");
    assert_eq!(failed("--venue bitstamp --kind ticker", STAMP).0, 2);
}

#[test]
fn refusals_are_told_in_the_words_of_the_recorded_answers() {
    for (line, body, word) in [
        ("--venue kraken --kind ticker", r#"{"error":["EQuery:Unknown asset pair"]}"#, "unknown_symbol"),
        ("--venue kraken --kind ticker", r#"{"error":["EService:Market in cancel_only mode"]}"#, "maintenance"),
        ("--venue binance --kind ticker", r#"{"code":-1121,"msg":"Invalid symbol."}"#, "unknown_symbol"),
        ("--venue binance --kind tickers --status 418", r#"{"code":-1003,"msg":"IP banned until 1."}"#, "rate_limited"),
        ("--venue mexc --kind book_ticker --status 403", "<html>Access Denied</html>", "blocked"),
        ("--venue bitstamp --kind ticker --status 503", r#"{"error":"under scheduled maintenance"}"#, "maintenance"),
        ("--venue htx --kind ticker --status 502", "", "unavailable"),
        ("--venue htx --kind ticker", "<html></html>", "unavailable"),
        ("--venue htx --kind ticker", "", "empty"),
        ("--venue mexc --kind ticker --status 404", "nothing here", "not_found"),
        ("--venue mexc --kind ticker --status 400", r#"{"code":33333,"msg":"param error"}"#, "bad_request"),
        ("--venue mexc --kind ticker --path /what", r#"{"code":10007,"msg":"bad symbol"}"#, "unknown_symbol"),
        ("--venue bitfinex --kind ticker --pair SOL-USD", LIST, "unknown_symbol"),
        ("--venue bitfinex --kind ticker --path /v2/tickers?symbols=tSOLUSD --pair SOL-USD", "[]", "unknown_symbol"),
    ] {
        let pair = if line.contains("--pair") { "" } else { " --pair BTC-USDT" };
        assert_eq!(shown(&format!("{line}{pair}"), body), serde_json::json!({"error":word}), "{line} {body}");
    }
}

#[test]
fn the_path_chooses_and_without_one_the_shape() {
    let level1 = r#"{"code":"200000","data":{"time":1,"price":"3","bestBid":"1","bestBidSize":"5","bestAsk":"2","bestAskSize":"6"}}"#;
    for path in ["", " --path /api/v1/market/orderbook/level1?symbol=SOL-USDT", " --path /api/v9/level1?symbol=SOL-USDT"] {
        let one = shown(&format!("--venue kucoin --kind ticker --pair SOL-USDT{path}"), level1);
        assert_eq!((one["bid_size"].as_str(), one["last"].as_str()), (Some("5"), Some("3")), "{path}");
    }
    let prices = r#"[{"symbol":"SOLUSDT","price":"84.10"},{"symbol":"ETHBTC","price":"0.03"}]"#;
    let listed = shown("--venue binance --kind tickers --pair SOL-USDT,ETH-BTC", prices);
    assert_eq!((listed["SOL/USDT"]["last"].as_str(), &listed["ETH/BTC"]["bid"]), (Some("84.1"), &serde_json::Value::Null));
    let (code, text) = failed("--venue kucoin --kind ticker --pair SOL-USDT --path /api/v9/level1", "[]");
    assert!(code == 2 && text.contains("no endpoint for path \"/api/v9/level1\""), "{text}");
}

#[test]
fn what_cannot_be_read_says_why() {
    let line = "--venue bitfinex --kind ticker --pair ETH-USDT";
    for (line, body, want, word) in [
        (line, "{}", 1, "unreadable answer"),
        (line, "[1,2", 1, "truncated"),
        (line, LIST, 1, "out of range"),
        ("--venue nowhere --kind ticker", "{}", 2, "expected one of binance, "),
        ("--venue kraken --kind order_book", "{}", 2, "order_book is not read yet"),
        ("--venue kraken --kind markets", "{}", 2, "markets is not read yet"),
    ] {
        let (code, text) = failed(line, body);
        assert!(code == want && text.contains(word), "{code} {text}");
    }
    assert!(Line::try_parse_from("decode --venue kraken --kind ticker --pair BTCUSD".split(' ')).is_err());
}
