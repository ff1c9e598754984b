//! Where it is best, what spreads there are and what an amount comes to, over real sockets on the simulated exchanges.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects, missing_docs)]

mod support;

use quorate_actors::rate::Num;
use serde_json::{Value, json};
use support::{Got, Service};

/// Venues that trade BTC for USD and EUR here.
const USD: [&str; 3] = ["bitfinex", "bitstamp", "kraken"];
/// Nothing is asked but by callers, and what was said once counts for as long as a test runs. One venue is asked market by market, more slowly than a
/// test would wait.
const QUIET: [(&str, &str); 5] = [
    ("venues.coinbaseexchange.enabled", "false"),
    ("poll_ms", "3600000"),
    ("max_age_ms", "3600000"),
    ("rate.max_age_polled_ms", "3600000"),
    ("pairs", r#"[{name="BTC-USD"}, {name="BTC-USDT"}, {name="BTC-EUR"}]"#),
];

/// Starts with what every venue says of a market that stands still.
async fn settled(keys: &[(&str, &str)]) -> Service {
    let service = Service::start((1, 5), &[&QUIET, keys].concat()).await;
    service.tell_sim("/_sim/market", json!({"frozen": true})).await;
    let rows = |got: &Got| got.body["buy"].as_array().map_or(0, Vec::len);
    service.until("/v1/best/BTC-USD?fresh=true&convert=true", "all are there", |got| got.status == 200 && rows(got) == 17).await;
    service.quiet().await;
    service
}

fn num(value: &Value) -> Num {
    value.as_str().unwrap_or_else(|| panic!("{value}")).parse().unwrap()
}

fn rows<'g>(got: &'g Got, side: &str) -> &'g Vec<Value> {
    got.body[side].as_array().unwrap_or_else(|| panic!("{got:?}"))
}

fn row<'g>(got: &'g Got, side: &str, venue: &str) -> &'g Value {
    rows(got, side).iter().find(|row| row["venue"] == venue).unwrap_or_else(|| panic!("{venue}: {got:?}"))
}

#[actix_web::test]
async fn without_fees_the_first_are_best_bid_and_ask_of_the_quotes() {
    let service = settled(&[]).await;
    let (quotes, got) = (service.get("/v1/quotes/BTC-USDT").await.body, service.get("/v1/best/BTC-USDT").await);
    assert_eq!(got.status, 200, "{got:?}");
    for (side, end) in [("buy", "ask"), ("sell", "bid")] {
        let (first, all) = (&rows(&got, side)[0], rows(&got, side));
        assert_eq!(
            (&first["venue"], &first["price"], &first["size"]),
            (&quotes[&format!("{end}_venue")], &quotes[end], &quotes[&format!("{end}_size")])
        );
        assert_eq!(all.len(), 11, "{got:?}");
        assert!(all.iter().zip(1..).all(|(row, number)| row["rank"] == number && row["pair"] == "BTC-USDT"), "{all:?}");
        assert!(all.iter().all(|row| row["fee"].is_null() && row["price"] == row["price_after_fee"] && row["covers"].is_null()), "{all:?}");
        let prices: Vec<Num> = all.iter().map(|row| num(&row["price"])).collect();
        assert!(if side == "buy" { prices.is_sorted() } else { prices.is_sorted_by(|a, b| a >= b) }, "{prices:?}");
    }
    let head = ["pair", "base", "quote", "status", "simulated", "side", "amount", "fees", "convert", "sweep"].map(|name| &got.body[name]);
    let want = json!(["BTC-USDT", "BTC", "USDT", "ok", true, null, null, false, false, null]);
    assert_eq!(json!(head), want);
    assert!(got.body["excluded"] == json!([]) && got.body["receipt"].is_string() && got.body["rate"].is_string(), "{got:?}");
    let one = service.get("/v1/best/BTC-USDT?side=sell").await;
    assert_eq!((&one.body["side"], &one.body["buy"], rows(&one, "sell").len()), (&"sell".into(), &Value::Null, 11));
    service.stop().await;
}

#[actix_web::test]
async fn fees_are_the_callers_the_configurations_or_the_published_ones_and_exact() {
    let service = settled(&[("venues.kraken.taker", "0.0016"), ("venues.okx.taker", "0")]).await;
    let got = service.get("/v1/best/BTC-USD?fees=true&amount=1.5").await;
    assert_eq!((&got.body["fees"], &got.body["amount"]), (&true.into(), &"1.5".into()));
    let shown = |row: &Value| {
        (row["fee"].as_str().unwrap().to_owned(), row["fee_source"].as_str().unwrap().to_owned(), row["fee_read"].is_string())
    };
    let of = |fee: &str, source: &str, read| (fee.to_owned(), source.to_owned(), read);
    assert_eq!(shown(row(&got, "buy", "kraken")), of("0.0016", "configured", false));
    assert_eq!(shown(row(&got, "buy", "bitstamp")), of("0.004", "published", true));
    for (side, sign) in [("buy", 1), ("sell", -1)] {
        for row in rows(&got, side) {
            let (price, fee) = (num(&row["price"]), num(&row["fee"]));
            let part = price.product(fee);
            let want = if sign > 0 { price.plus(part) } else { price.distance(part) };
            assert_eq!(num(&row["price_after_fee"]), want, "{row}");
            let covers = row["size"].as_str().map(|size| size.parse::<Num>().unwrap() >= "1.5".parse().unwrap());
            assert_eq!(row["covers"], json!(covers), "{row}");
        }
    }
    let own = service.get("/v1/best/BTC-USD?fees=kraken:0.00000001,bitstamp:0.1").await;
    assert_eq!(shown(row(&own, "sell", "kraken")), of("0.00000001", "caller", false));
    assert_eq!(shown(row(&own, "sell", "bitstamp")), of("0.1", "caller", false));
    assert_eq!(shown(row(&own, "sell", "bitfinex")), shown(row(&got, "sell", "bitfinex")), "who is not named has the fee that is known");
    assert_eq!(rows(&own, "buy")[2]["venue"], "bitstamp", "a tenth makes the last of anybody");
    let kraken = row(&own, "buy", "kraken");
    assert_eq!(num(&kraken["price_after_fee"]), num(&kraken["price"]).product("1.00000001".parse().unwrap()));
    service.stop().await;
}

#[actix_web::test]
async fn other_currencies_count_where_the_caller_converts() {
    let service = settled(&[]).await;
    let plain = service.get("/v1/best/BTC-USD").await;
    let mut venues: Vec<&str> = rows(&plain, "buy").iter().map(|row| row["venue"].as_str().unwrap()).collect();
    venues.sort_unstable();
    assert_eq!(venues, USD);
    let got = service.get("/v1/best/BTC-USD?convert=true&fees=true").await;
    let markets = |quote: &str| rows(&got, "buy").iter().filter(|row| row["pair"] == format!("BTC-{quote}")).count();
    assert_eq!([markets("USD"), markets("USDT"), markets("EUR")], [3, 11, 3], "{got:?}");
    for (side, end) in [("buy", "ask"), ("sell", "bid")] {
        for row in rows(&got, side) {
            let path = row["path"].as_array().unwrap();
            assert_eq!(path.is_empty(), row["pair"] == "BTC-USD", "{row}");
            let rate = path.iter().fold(Num::ONE, |rate, step| rate.product(num(&step["rate"])));
            let want = if path.is_empty() { num(&row["quoted_price"]) } else { num(&row["quoted_price"]).times(rate) };
            assert_eq!(num(&row["price"]), want, "{row}");
            assert!(path.iter().all(|step| step["to"] == "USD" && step["venue"].is_null()), "{row}");
            let quotes = service.get(&format!("/v1/quotes/{}", row["pair"].as_str().unwrap())).await;
            assert_eq!(quotes.quote(row["venue"].as_str().unwrap()).unwrap()[end], row["quoted_price"]);
        }
        let prices: Vec<Num> = rows(&got, side).iter().map(|row| num(&row["price_after_fee"])).collect();
        assert!(if side == "buy" { prices.is_sorted() } else { prices.is_sorted_by(|a, b| a >= b) }, "{prices:?}");
    }
    service.stop().await;
}

#[actix_web::test]
async fn who_does_not_count_is_excluded_with_a_reason() {
    let service = Service::start((1, 5), &QUIET).await;
    service.until("/v1/rates/BTC-USDT?fresh=true", "there is a rate", |got| got.status == 200).await;
    service.quiet().await;
    let faults = json!({"faults": [{"venue": "kraken", "fault": "crossed", "pair": "BTC-USDT"}, {"venue": "okx", "fault": "silent"}]});
    service.tell_sim("/_sim/faults", faults).await;
    for path in ["/v1/best/BTC-USDT", "/v1/spreads/BTC-USDT"] {
        let got = service.get(&format!("{path}?fresh=true&deadline_ms=2000")).await;
        let excluded = json!([
            {"venue": "kraken", "pair": "BTC-USDT", "reason": "crossed"},
            {"venue": "okx", "pair": "BTC-USDT", "reason": "timeout"},
        ]);
        assert_eq!((got.status, &got.body["excluded"]), (200, &excluded), "{got:?}");
        let there = got.body.get("buy").unwrap_or(&got.body["venues"]).as_array().unwrap().len();
        assert_eq!(there, 9, "{got:?}");
    }
    service.stop().await;
}

#[actix_web::test]
async fn a_crossed_market_is_an_opportunity_while_its_quotes_are_young() {
    let service = settled(&[]).await;
    service.tell_sim("/_sim/faults", json!({"faults": [{"venue": "kraken", "fault": "frozen"}]})).await;
    assert_eq!(service.get("/v1/quotes/BTC-USD?fresh=true").await.status, 200);
    // One per cent up, and one venue that has not heard of it.
    service.tell_sim("/_sim/market", json!({"prices": {"BTC-USD": "67700"}})).await;
    let cell = |got: &Got, buy: &str, sell: &str| {
        let cells = got.body["spreads"].as_array().unwrap_or_else(|| panic!("{got:?}"));
        assert_eq!(cells.len(), 6, "every ordered pair of three");
        cells.iter().find(|cell| cell["buy"] == buy && cell["sell"] == sell).unwrap().clone()
    };
    let there = |got: &Got| got.status == 200 && cell(got, "kraken", "bitfinex")["opportunity"] == true;
    let got = service.until("/v1/spreads/BTC-USD?fresh=true", "it crosses", there).await;
    let crossed = cell(&got, "kraken", "bitfinex");
    let parsed = |value: &Value| value.as_str().unwrap().parse::<rust_decimal::Decimal>().unwrap();
    assert!(parsed(&crossed["net_bps"]) > 40.into() && parsed(&crossed["gross_bps"]) > parsed(&crossed["net_bps"]), "{crossed}");
    assert_eq!(cell(&got, "bitfinex", "kraken")["opportunity"], false);
    // What a caller pays who pays most leaves nothing.
    let dear = service.get("/v1/spreads/BTC-USD?fees=kraken:0.1").await;
    assert_eq!(
        (&cell(&dear, "kraken", "bitfinex")["opportunity"], &cell(&dear, "kraken", "bitfinex")["gross_bps"]),
        (&false.into(), &crossed["gross_bps"])
    );
    let free = service.get("/v1/spreads/BTC-USD?fees=false").await;
    assert_eq!(cell(&free, "kraken", "bitfinex")["net_bps"], crossed["gross_bps"]);
    let old = service.until("/v1/spreads/BTC-USD", "it is too old", |got| {
        let cell = cell(got, "kraken", "bitfinex");
        // Nobody keeps an opportunity for longer than it lasts.
        let kept = ["max-age=0", "max-age=1"].contains(&got.header("cache-control").unwrap());
        assert!(cell["opportunity"] == false || kept, "{got:?}");
        assert_eq!(cell["net_bps"], crossed["net_bps"], "nothing else has changed");
        cell["opportunity"] == false
    });
    let old = old.await;
    let age =
        |venue: &str| old.body["venues"].as_array().unwrap().iter().find(|v| v["venue"] == venue).unwrap()["age_ms"].as_u64().unwrap();
    assert!(age("kraken").max(age("bitfinex")) >= 2000, "{old:?}");
    service.stop().await;
}

#[actix_web::test]
async fn an_amount_is_converted_by_the_rate_by_the_best_and_by_the_inverse() {
    let service = settled(&[]).await;
    let rate = service.get("/v1/rates/BTC-USD?receipt=short").await.body;
    let got = service.get("/v1/convert?from=BTC&to=USD&amount=0.5").await;
    assert_eq!(
        (got.status, &got.body["rate"], &got.body["side"], &got.body["status"]),
        (200, &rate["rate"], &"mid".into(), &rate["status"])
    );
    assert_eq!(num(&got.body["result"]), num(&rate["rate"]).times("0.5".parse().unwrap()));
    let step = json!([{"from": "BTC", "to": "USD", "rate": rate["rate"], "pair": "BTC-USD", "venue": null, "par": false}]);
    assert_eq!((&got.body["path"], &got.body["venue"], &got.body["simulated"]), (&step, &Value::Null, &true.into()));
    let through = got.body["through"].as_array().unwrap();
    assert!(through.iter().any(|path| path["from"] == "USDT" && path["to"] == "USD" && path["path"][0]["pair"] == "USDT-USD"), "{got:?}");
    // USD-BTC is configured nowhere: its inverse is.
    let inverse = service.get("/v1/convert?from=usd&to=xbt&amount=1000").await.body;
    assert_eq!((&inverse["pair"], &inverse["from"], &inverse["to"]), (&"BTC-USD".into(), &"USD".into(), &"BTC".into()));
    assert_eq!(num(&inverse["rate"]), num(&rate["rate"]).inverse().unwrap());
    assert_eq!(num(&inverse["result"]), num(&inverse["rate"]).times("1000".parse().unwrap()));
    let best = service.get("/v1/best/BTC-USD?convert=true").await;
    for (from, to, side, of) in
        [("BTC", "USD", "buy", "buy"), ("BTC", "USD", "sell", "sell"), ("USD", "BTC", "buy", "sell"), ("USD", "BTC", "sell", "buy")]
    {
        let got = service.get(&format!("/v1/convert?from={from}&to={to}&amount=3&side={side}")).await.body;
        let first = &rows(&best, of)[0];
        let price = num(&first["price"]);
        assert_eq!((&got["venue"], &got["side"]), (&first["venue"], &side.into()), "{got}");
        assert_eq!(num(&got["rate"]), if from == "BTC" { price } else { price.inverse().unwrap() }, "{got}");
        let path = got["path"].as_array().unwrap();
        assert_eq!((&path[0]["from"], &path[path.len() - 1]["to"]), (&from.into(), &to.into()), "{got}");
        let market = path.iter().find(|step| !step["venue"].is_null()).unwrap();
        assert_eq!((&market["venue"], &market["pair"]), (&first["venue"], &first["pair"]), "{got}");
    }
    let same = service.get("/v1/convert?from=BTC&to=XBT&amount=2.50").await;
    assert_eq!(
        (same.status, &same.body["rate"], &same.body["result"], &same.body["receipt"]),
        (200, &"1".into(), &"2.5".into(), &Value::Null)
    );
    service.stop().await;
}

#[actix_web::test]
async fn who_takes_nothing_old_gets_what_came_since_he_asked() {
    let service = settled(&[]).await;
    let got = service.get("/v1/best/BTC-USD?max_age_ms=0&convert=true").await;
    assert_eq!((got.status, rows(&got, "buy").len(), &got.body["excluded"]), (200, 17, &json!([])), "{got:?}");
    let crossed = service.get("/v1/spreads/BTC-USD?max_age_ms=0").await;
    assert_eq!((crossed.status, rows(&crossed, "spreads").len()), (200, 6), "{crossed:?}");
    assert!(service.get("/v1/convert?from=BTC&to=USD&amount=1&side=buy&max_age_ms=0").await.body["venue"].is_string());
    service.stop().await;
}

#[actix_web::test]
async fn a_rate_that_is_refused_refuses_what_is_made_of_it() {
    let service = settled(&[]).await;
    for path in ["/v1/best/BTC-USD?", "/v1/spreads/BTC-USD?", "/v1/convert?from=BTC&to=USD&amount=1&"] {
        let got = service.get(&format!("{path}venues=kraken")).await;
        assert_eq!((got.status, got.problem(), got.header("retry-after")), (503, "insufficient_sources", Some("1")), "{got:?}");
        assert!(got.body["receipt"].is_object() && got.body["last_good"].is_string(), "{got:?}");
        let one = service.get(&format!("{path}venues=kraken&min_sources=1")).await;
        assert_eq!((one.status, &one.body["status"]), (200, &"single_source".into()), "{one:?}");
        let many = service.get(&format!("{path}min_sources=100&deadline_ms=200")).await;
        assert_eq!((many.status, many.problem()), (503, "insufficient_sources"), "{many:?}");
    }
    let alone = service.get("/v1/spreads/BTC-USD?venues=kraken&min_sources=1").await;
    assert_eq!(alone.body["spreads"], json!([]), "one venue is no spread");
    service.stop().await;
}

#[actix_web::test]
async fn answers_tell_their_age_and_are_not_sent_twice() {
    let service = settled(&[]).await;
    for path in [
        "/v1/best/BTC-USD?fees=true",
        "/v1/spreads/BTC-EUR?fees=kraken:0.1,bitstamp:0.1,bitfinex:0.1",
        "/v1/convert?from=BTC&to=USD&amount=1",
        "/v1/convert?from=BTC&to=BTC&amount=1",
    ] {
        let got = service.get(path).await;
        let tag = got.header("etag").unwrap().to_owned();
        assert!(got.status == 200 && tag.starts_with("W/\"") && got.header("cache-control").unwrap().starts_with("max-age="), "{got:?}");
        let age_ms: u64 = got.header("quorate-age-ms").unwrap().parse().unwrap();
        assert_eq!((got.header("age").unwrap(), got.header("quorate-simulated")), ((age_ms / 1000).to_string().as_str(), Some("1")));
        assert!(got.header("x-request-id").is_some());
        let known = service.get_unless(path, &tag).await;
        assert_eq!((known.status, known.header("etag"), &known.body), (304, Some(tag.as_str()), &Value::Null), "{path}");
        assert!(known.header("quorate-age-ms").is_some(), "{known:?}");
        let head = service.head(path).await;
        assert_eq!((head.status, &head.body, head.header("etag")), (200, &Value::Null, Some(tag.as_str())), "{path}");
        let fresh = service.get(&format!("{path}&fresh=true")).await;
        assert_eq!((fresh.status, fresh.header("cache-control")), (200, Some("no-store")), "{path}");
    }
    let tag = |got: Got| got.header("etag").unwrap().to_owned();
    assert_ne!(tag(service.get("/v1/best/BTC-USD?side=buy").await), tag(service.get("/v1/best/BTC-USD?side=sell").await));
    service.stop().await;
}

#[actix_web::test]
async fn what_is_wrong_is_named_with_what_was_expected() {
    let service = Service::start((1, 5), &[("pairs", r#"[{name="BTC-USD"}]"#), ("on_demand", "false")]).await;
    for (target, status, code, detail) in [
        ("/v1/best/BTC", 400, "invalid_pair", "pair is \"BTC\", expected BASE-QUOTE such as BTC-USDT"),
        ("/v1/best/BTC-USD?side=long", 400, "invalid_parameter", "side is \"long\", expected one of buy, sell"),
        (
            "/v1/best/BTC-USD?amount=0",
            400,
            "invalid_parameter",
            "amount is \"0\", expected a plain decimal above 0 of at most 28 digits, such as 0.5",
        ),
        ("/v1/best/BTC-USD?amount=-1", 400, "invalid_parameter", "amount is \"-1\", expected a plain decimal above 0"),
        ("/v1/best/BTC-USD?amount=1e3", 400, "invalid_parameter", "amount is \"1e3\", expected"),
        ("/v1/best/BTC-USD?amount=12345678901234567890123456789", 400, "invalid_parameter", "of at most 28 digits"),
        ("/v1/best/BTC-USD?convert=yes", 400, "invalid_parameter", "convert is \"yes\", expected true or false"),
        (
            "/v1/best/BTC-USD?fees=maybe",
            400,
            "invalid_parameter",
            "fees is \"maybe\", expected true, false, or venues with what they charge you",
        ),
        ("/v1/best/BTC-USD?fees=krakn:0.1", 400, "invalid_parameter", "fees is \"krakn\", expected the ids of /v1/venues"),
        (
            "/v1/best/BTC-USD?fees=kraken:0.2",
            400,
            "invalid_parameter",
            "fees is \"0.2\", expected a fraction from 0 to 0.1, such as 0.0016",
        ),
        ("/v1/best/BTC-USD?fees=kraken:0.1,kraken:0.1", 400, "invalid_parameter", "fees is \"kraken\", expected each venue once"),
        (
            "/v1/best/BTC-USD?allow=stale",
            400,
            "unknown_parameter",
            "parameter \"allow\" is not known, expected one of max_age_ms, min_sources, deadline_ms, venues, fresh, side, amount, fees, convert",
        ),
        ("/v1/best/BTC-USD?side=buy&side=buy", 400, "duplicate_parameter", "side is given more than once"),
        ("/v1/best/BTC-USD?max_age_ms=x", 400, "invalid_parameter", "max_age_ms is \"x\""),
        ("/v1/spreads/BTC-USD?side=buy", 400, "unknown_parameter", "parameter \"side\" is not known"),
        ("/v1/spreads/BTC-USD?fees=", 400, "invalid_parameter", "fees is empty"),
        ("/v1/spreads/NOPE-USD", 404, "unknown_pair", "pair NOPE-USD is not configured"),
        ("/v1/convert?to=USD&amount=1", 400, "missing_parameter", "from is missing, expected an asset such as BTC"),
        ("/v1/convert?from=BTC&amount=1", 400, "missing_parameter", "to is missing"),
        ("/v1/convert?from=BTC&to=USD", 400, "missing_parameter", "amount is missing, expected a plain decimal such as 0.5"),
        ("/v1/convert?from=B-C&to=USD&amount=1", 400, "invalid_parameter", "from is \"B-C\", expected a code of 1 to 16 characters"),
        ("/v1/convert?from=BTC&to=&amount=1", 400, "invalid_parameter", "to is empty"),
        ("/v1/convert?from=BTC&to=USD&amount=1&side=up", 400, "invalid_parameter", "side is \"up\", expected one of mid, buy, sell"),
        ("/v1/convert?from=BTC&to=USD&amount=1&fees=true", 400, "unknown_parameter", "parameter \"fees\" is not known"),
        ("/v1/convert?from=NOPE&to=USD&amount=1", 404, "unknown_pair", "pair NOPE-USD is not configured"),
        ("/v1/convert/", 404, "not_found", "path \"/v1/convert/\" is not known"),
    ] {
        let got = service.get(target).await;
        assert_eq!((got.status, got.problem()), (status, code), "{target}: {got:?}");
        assert!(got.body["detail"].as_str().unwrap().contains(detail), "{target}: {got:?}");
    }
    assert_eq!(service.get("/v1/best/BTC-USD?fees=krakn:0.1").await.body["suggestions"], json!(["kraken"]));
    service.stop().await;
}
