//! The description of the API, held against what the service answers: no status and no field that it does not name.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects, missing_docs)]

mod support;

use serde_json::{Value, json};
use support::{Got, Service};

/// Says what a value has that a schema does not allow, or does not name. Of JSON Schema it knows what the document uses, and refuses what it does not know.
fn unfit(document: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let one = |what: &str| vec![format!("{at}: {value} is not {what}")];
    if let Some(name) = schema["$ref"].as_str() {
        let target = &document["components"]["schemas"][name.strip_prefix("#/components/schemas/").unwrap()];
        return if target.is_object() { unfit(document, target, value, at) } else { one("anything known") };
    }
    if let Some(any) = schema["anyOf"].as_array() {
        let tried: Vec<Vec<String>> = any.iter().map(|schema| unfit(document, schema, value, at)).collect();
        return if tried.iter().any(Vec::is_empty) { Vec::new() } else { tried.into_iter().min_by_key(Vec::len).unwrap() };
    }
    if let Some(words) = schema["enum"].as_array() {
        return if words.contains(value) { Vec::new() } else { one(&schema.to_string()) };
    }
    match schema["type"].as_str().unwrap_or_else(|| panic!("{at}: {schema} has no type")) {
        "null" if value.is_null() => Vec::new(),
        "boolean" if value.is_boolean() => Vec::new(),
        "integer" if value.is_u64() => {
            let number = value.as_u64().unwrap();
            let fits = schema["minimum"].as_u64().is_none_or(|least| number >= least)
                && schema["maximum"].as_u64().is_none_or(|most| number <= most);
            if fits { Vec::new() } else { one(&schema.to_string()) }
        }
        "string" if value.is_string() => {
            let text = value.as_str().unwrap();
            let plain = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            let fits = match (schema["pattern"].as_str(), schema["format"].as_str()) {
                (Some(pattern), _) if pattern.contains("\\.") => {
                    let (whole, rest) = text.split_once('.').map_or((text, None), |(whole, rest)| (whole, Some(rest)));
                    plain(whole.strip_prefix('-').unwrap_or(whole)) && rest.is_none_or(plain)
                }
                (Some(_), _) => text.parse::<quorate_actors::model::Pair>().is_ok_and(|pair| pair.to_string() == text),
                (None, Some("date-time")) => text.len() == 24 && text.ends_with('Z') && text.as_bytes()[10] == b'T',
                (None, Some(other)) => panic!("{at}: format {other}"),
                (None, None) => true,
            };
            if fits { Vec::new() } else { one(&schema.to_string()) }
        }
        "array" if value.is_array() => {
            let items = value.as_array().unwrap().iter().enumerate();
            items.flat_map(|(number, item)| unfit(document, &schema["items"], item, &format!("{at}[{number}]"))).collect()
        }
        "object" if value.is_object() => {
            let members = value.as_object().unwrap();
            let rest = &schema["additionalProperties"];
            let required = schema["required"].as_array().into_iter().flatten().map(|name| name.as_str().unwrap());
            let mut wrong: Vec<String> =
                required.filter(|name| !members.contains_key(*name)).map(|name| format!("{at}.{name} is missing")).collect();
            for (name, member) in members {
                let at = format!("{at}.{name}");
                match (&schema["properties"][name], rest.is_object()) {
                    (Value::Null, true) => wrong.extend(unfit(document, rest, member, &at)),
                    (Value::Null, false) => wrong.push(format!("{at} is not described")),
                    (schema, _) => wrong.extend(unfit(document, schema, member, &at)),
                }
            }
            wrong
        }
        other => one(other),
    }
}

/// Asserts that an answer is as the document says of its route.
fn described(document: &Value, route: &str, method: &str, got: &Got) {
    let answer = &document["paths"][route][method]["responses"][got.status.to_string()];
    assert!(answer.is_object(), "{method} {route} does not say {}: {}", got.status, got.text);
    if got.status == 304 {
        return;
    }
    let media = got.header("content-type").unwrap().split(';').next().unwrap().to_owned();
    let content = answer["content"].get(&media).unwrap_or(&answer["content"]["*/*"]);
    assert!(content.is_object(), "{method} {route} {} does not say {media}", got.status);
    if let Some(schema) = content.get("schema") {
        assert_eq!(unfit(document, schema, &got.body, route), Vec::<String>::new(), "{method} {route} {}", got.status);
    }
}

#[actix_web::test]
async fn what_is_answered_is_what_is_described() {
    // One venue is asked market by market, more slowly than a test would wait.
    let service = Service::start((1, 5), &[("venues.coinbaseexchange.enabled", "false")]).await;
    service.until("/readyz", "every required pair has its quorum", |got| got.status == 200).await;
    service
        .until("/v1/rates/BTC-USD", "every venue votes", |got| got.body["votes"].as_array().is_some_and(|votes| votes.len() == 11))
        .await;
    let document = service.get("/openapi.json").await.body;
    assert_eq!(document["openapi"], "3.1.0");
    let receipt = service.get("/v1/rates/ETH-USD").await.body["id"].as_str().unwrap().to_owned();
    let asked = [
        ("/v1/quotes/{pair}", "/v1/quotes/BTC-USDT", 200),
        ("/v1/quotes/{pair}", "/v1/quotes/BTC-USDT?fresh=true&venues=-okx&deadline_ms=2000", 200),
        ("/v1/quotes/{pair}", "/v1/quotes/NO", 400),
        ("/v1/quotes/{pair}", "/v1/quotes/BTC-USDT?nothing=1", 400),
        ("/v1/quotes", "/v1/quotes?pairs=BTC-USDT,NO,ETH-EUR", 200),
        ("/v1/quotes", "/v1/quotes", 400),
        ("/v1/rates/{pair}", "/v1/rates/BTC-USD", 200),
        ("/v1/rates/{pair}", "/v1/rates/BTC-USD?receipt=short", 200),
        ("/v1/rates/{pair}", "/v1/rates/BTC-USD?venues=kraken", 503),
        ("/v1/rates/{pair}", "/v1/rates/NO", 400),
        ("/v1/rates", "/v1/rates?pairs=BTC-USD,NO", 200),
        ("/v1/rates", "/v1/rates?pairs=BTC-USD,ETH-EUR&receipt=short", 200),
        ("/v1/rates", "/v1/rates?pairs=BTC-USD&venues=kraken", 200),
        ("/v1/receipts/{id}", &format!("/v1/receipts/{receipt}"), 200),
        ("/v1/receipts/{id}", "/v1/receipts/r1_never", 404),
        ("/v1/best/{pair}", "/v1/best/BTC-USD?amount=0.5&fees=true&convert=true", 200),
        ("/v1/best/{pair}", "/v1/best/BTC-USD?side=buy", 200),
        ("/v1/best/{pair}", "/v1/best/BTC-USD?venues=kraken", 503),
        ("/v1/spreads/{pair}", "/v1/spreads/BTC-USD", 200),
        ("/v1/convert", "/v1/convert?from=BTC&to=EUR&amount=0.5", 200),
        ("/v1/convert", "/v1/convert?from=BTC&to=EUR&amount=0.5&side=sell", 200),
        ("/v1/convert", "/v1/convert?from=USD&to=BTC&amount=100", 200),
        ("/v1/convert", "/v1/convert?from=BTC&to=BTC&amount=1", 200),
        ("/v1/convert", "/v1/convert?from=BTC", 400),
        ("/v1/venues", "/v1/venues", 200),
        ("/v1/venues/{id}", "/v1/venues/kraken", 200),
        ("/v1/venues/{id}", "/v1/venues/nowhere", 404),
        ("/v1/pairs", "/v1/pairs", 200),
        ("/", "/", 200),
        ("/", "/?pair=ETH-USD", 200),
        ("/", "/?pair=NO", 400),
        ("/", "/?pair=ETH-USD&theme=dark", 200),
        ("/assets/{name}", "/assets/app.js", 200),
        ("/assets/{name}", "/assets/page.css", 200),
        ("/assets/{name}", "/assets/nothing", 404),
        ("/healthz", "/healthz", 200),
        ("/healthz", "/healthz?a=1", 400),
        ("/readyz", "/readyz", 200),
        ("/openapi.json", "/openapi.json", 200),
        ("/docs", "/docs", 200),
        ("/docs/style.css", "/docs/style.css", 200),
    ];
    for (route, path, status) in asked {
        let got = service.get(path).await;
        assert_eq!(got.status, status, "{path}: {}", got.text);
        described(&document, route, "get", &got);
    }
    let named: std::collections::BTreeSet<&str> = asked.iter().map(|(route, ..)| *route).collect();
    assert_eq!(named.len(), document["paths"].as_object().unwrap().len(), "every route is among them");

    // A venue whose budget is spent for the moment does not say at once that it lists none of it.
    let unknown = service.until("/v1/quotes/NONE-NEVER", "no venue lists it", |got| got.status == 404).await;
    described(&document, "/v1/quotes/{pair}", "get", &unknown);

    let tag = service.get("/v1/quotes/BTC-USDT").await.header("etag").unwrap().to_owned();
    let known = service.get_unless("/v1/quotes/BTC-USDT", &tag).await;
    described(&document, "/v1/quotes/{pair}", "get", &known);

    service.tell_sim("/_sim/faults", json!({"faults": [{"venue": "*", "fault": "refused"}]})).await;
    let refused = service.until("/v1/quotes/BTC-USDT?fresh=true", "no venue gives a quote", |got| got.status == 503).await;
    described(&document, "/v1/quotes/{pair}", "get", &refused);
    described(&document, "/v1/venues", "get", &service.get("/v1/venues").await);
    service.stop().await;
}

#[test]
fn what_does_not_fit_is_told() {
    let document = json!({"components": {"schemas": {"A": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]}}}});
    let schema = json!({"anyOf": [{"$ref": "#/components/schemas/A"}, {"type": "null"}]});
    for fits in [json!({"n": 1}), json!(null)] {
        assert_eq!(unfit(&document, &schema, &fits, ""), Vec::<String>::new());
    }
    for wrong in [json!({"n": 0}), json!({}), json!({"n": 1, "m": 2}), json!({"n": "1"}), json!([])] {
        assert!(!unfit(&document, &schema, &wrong, "").is_empty(), "{wrong}");
    }
}
