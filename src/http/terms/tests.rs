use super::*;

fn basis() -> Basis {
    let terms = Terms {
        max_age: Duration::from_secs(5),
        min_sources: None,
        deadline: Duration::from_secs(1),
        venues: VenueFilter::All,
        fresh: false,
    };
    Basis { terms, venues: ["binance", "kraken", "okx"].map(VenueId::new).to_vec() }
}

const ALLOW: Takes = Takes { pairs: true, own: &[Own::new("allow", Shape::Text, "")] };

fn query(text: &str) -> Result<Asked<'static>, String> {
    from_query(text, &basis(), ALLOW).map_err(|e| e.to_string())
}

#[test]
fn every_term_is_read_from_query_and_body_alike() {
    let asked = query("max_age_ms=2000&min_sources=5&deadline_ms=800&venues=kraken%2Cokx&fresh=true&pairs=BTC-USD,eth_usd").unwrap();
    let ids = ["kraken", "okx"].map(VenueId::new).to_vec();
    let terms = Terms {
        max_age: Duration::from_secs(2),
        min_sources: Some(5),
        deadline: Duration::from_millis(800),
        venues: VenueFilter::Only(ids),
        fresh: true,
    };
    assert_eq!(asked, Asked { terms, pairs: Some(vec!["BTC-USD".into(), "eth_usd".into()]), own: vec![] });
    let json = br#"{"pairs":["BTC-USD","eth_usd"],"max_age_ms":2000,"min_sources":5,"deadline_ms":800,"venues":"kraken,okx","fresh":true}"#;
    assert_eq!(from_json(json, &basis()).unwrap(), asked);
    assert_eq!(query("").unwrap(), Asked { terms: basis().terms, pairs: None, own: vec![] });
    assert_eq!(query("allow=held%2Cstale").unwrap().own("allow"), Some("held,stale"));
    assert_eq!(query("venues=-OKX").unwrap().terms.venues, VenueFilter::Except(vec![VenueId::new("okx")]));
}

#[test]
fn what_is_wrong_is_named_with_what_was_expected() {
    for (text, want) in [
        ("deadline_ms=20", "invalid_parameter: deadline_ms is \"20\", expected a whole number from 50 to 10000"),
        ("deadline_ms=+80", "invalid_parameter: deadline_ms is a text of 3 characters, expected a whole number from 50 to 10000"),
        ("max_age_ms=-1", "invalid_parameter: max_age_ms is \"-1\", expected a whole number from 0 to 3600000"),
        (
            "max_age_ms=99999999999999999999",
            "invalid_parameter: max_age_ms is \"99999999999999999999\", expected a whole number from 0 to 3600000",
        ),
        ("min_sources=0", "invalid_parameter: min_sources is \"0\", expected a whole number from 1 to 100"),
        ("fresh=1", "invalid_parameter: fresh is \"1\", expected true or false"),
        ("fresh", "invalid_parameter: fresh is empty, expected true or false"),
        ("venues=nasdaq", "invalid_parameter: venues is \"nasdaq\", expected the ids of /v1/venues"),
        ("venues=kraken,-okx", "invalid_parameter: venues is \"kraken,-okx\", expected ids alone (a,b) or exclusions alone (-a,-b)"),
        ("fresh=true&fresh=true", "duplicate_parameter: fresh is given more than once, expected once"),
        (
            "deadline=5",
            "unknown_parameter: parameter \"deadline\" is not known, expected one of max_age_ms, min_sources, deadline_ms, venues, fresh, pairs, allow",
        ),
    ] {
        assert_eq!(query(text).unwrap_err(), want, "{text}");
    }
    assert_eq!(from_query("pairs=BTC-USD", &basis(), Takes::default()).unwrap_err().code(), Code::UnknownParameter);
    assert_eq!(query("x=%ZZ").unwrap_err(), "invalid_parameter: a text of 3 characters in the query, expected percent-encoded UTF-8");
}

#[test]
fn a_body_is_as_strict_as_a_query() {
    let json = |text: &str| from_json(text.as_bytes(), &basis()).unwrap_err().to_string();
    assert_eq!(json(r#"{"fresh":"true"}"#), "invalid_parameter: fresh is a text, expected true or false");
    assert_eq!(json(r#"{"deadline_ms":"800"}"#), "invalid_parameter: deadline_ms is a text, expected a whole number");
    assert_eq!(json(r#"{"deadline_ms":80.5}"#), "invalid_parameter: deadline_ms is \"80.5\", expected a whole number from 50 to 10000");
    assert_eq!(json(r#"{"pairs":[1]}"#), "invalid_parameter: pairs is a list, expected a text or a list of texts");
    assert_eq!(json(r#"{"fresh":true,"fresh":true}"#), "duplicate_parameter: fresh is given more than once, expected once");
    assert_eq!(json("[]"), "invalid_body: the body is no JSON object at line 1, column 0");
    assert_eq!(json(r#"{"fresh":"#), "invalid_body: the body is no JSON object at line 1, column 9");
    assert!(json(&"[".repeat(60_000)).starts_with("invalid_body"));
    assert_eq!(json("null"), "invalid_body: the body is no JSON object at line 1, column 4");
    let nested = format!(r#"{{"pairs":{}{}}}"#, "[".repeat(60_000), "]".repeat(60_000));
    assert_eq!(json(&nested), "invalid_parameter: pairs is a list, expected a text or a list of texts");
    assert_eq!(json(r#"{"pairs":{}}"#), "invalid_parameter: pairs is an object, expected a text or a list of texts");
    assert_eq!(json(r#"{"pairs":null}"#), "invalid_parameter: pairs is null, expected a text or a list of texts");
    assert_eq!(json(r#"{"pairs":true}"#), "invalid_parameter: pairs is a truth value, expected a text or a list of texts");
    assert_eq!(json(r#"{"max_age_ms":[1]}"#), "invalid_parameter: max_age_ms is a list, expected a whole number");
    assert_eq!(json(r#"{"pairs":["\ud800"]}"#), "invalid_body: pairs has a text that is none in JSON");
    assert_eq!(json(r#"{"pairs":"\ud800"}"#), "invalid_body: pairs has a text that is none in JSON");
    assert!(from_json(b"{\"pairs\":\"\xff\"}", &basis()).unwrap_err().to_string().starts_with("invalid_body"));
}

#[test]
fn texts_of_a_body_are_borrowed_unless_they_have_escapes() {
    let body = br#"{"pairs":["BTC-USD","ETH\u002dUSD","SOL-USD,XRP-USD"]}"#;
    let (asked, basis) = (from_json(body, &basis()).unwrap(), basis());
    let pairs = asked.pairs.unwrap();
    assert_eq!(pairs, ["BTC-USD", "ETH-USD", "SOL-USD", "XRP-USD"]);
    assert_eq!(pairs.iter().map(|p| matches!(p, Cow::Borrowed(_))).collect::<Vec<_>>(), [true, false, true, true]);
    // As one text it is the same list, whoever wrote it how.
    for body in [r#"{"pairs":"BTC-USD,ETH-USD,SOL-USD,XRP-USD"}"#, r#"{"\u0070airs":"BTC-USD\u002cETH-USD,SOL-USD,XRP-USD"}"#] {
        assert_eq!(from_json(body.as_bytes(), &basis).unwrap().pairs.unwrap(), pairs);
    }
    assert_eq!(from_json(br#"{"pairs":[]}"#, &basis).unwrap().pairs.unwrap(), [""; 0]);
}
