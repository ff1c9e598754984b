use super::*;

fn file(text: &str) -> Result<Config, String> {
    let mut layers = Layers::defaults().unwrap();
    layers.file(text, &From::File("quorate.toml".into())).and_then(|()| Config::of(&layers)).map_err(|e| e.to_string())
}

fn environment(variables: &[(&str, &str)]) -> Result<(Config, Layers), String> {
    let mut layers = Layers::defaults().unwrap();
    let variables = variables.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned()));
    layers.environment(variables).and_then(|()| Ok((Config::of(&layers)?, layers))).map_err(|e| e.to_string())
}

#[test]
fn defaults_are_the_documented_ones() {
    let config = Config::defaults().unwrap();
    assert_eq!((config.listen.to_string(), config.admin_listen.to_string()), ("127.0.0.1:8080".into(), "127.0.0.1:8081".into()));
    let ms = [config.deadline, config.fetch_timeout, config.max_age, config.poll, config.rates.admission.max_age].map(|d| d.as_millis());
    assert_eq!(ms, [1000, 5000, 5000, 2000, 30_000]);
    let limits = Limits { connections: 4096, body_bytes: 65_536, pairs_per_request: 100, rounds_per_s: 50, on_demand_pairs: 256 };
    assert_eq!((config.limits, config.on_demand, config.admin_token_file), (limits, true, None));
    let names: Vec<_> = config.pairs.iter().map(|p| p.pair.to_string()).collect();
    for base in ["BTC", "ETH", "SOL", "XRP"] {
        assert!(["USD", "USDT", "USDC", "EUR"].iter().all(|quote| names.contains(&format!("{base}-{quote}"))));
    }
    assert!(names.contains(&"USDC-USDT".to_owned()) && names.len() == 17);
    let listed: Vec<_> = config.pairs.iter().map(|p| p.pair).collect();
    let followed: Vec<_> = config.rates.followed(listed.iter().copied(), &listed).iter().map(ToString::to_string).collect();
    assert!(
        ["USDT-USD", "USDC-USD", "EUR-USD"].iter().all(|p| followed.contains(&(*p).to_owned())),
        "the peg and fiat markets follow: {followed:?}"
    );
    let classes = ["BTC-USD", "SOL-EUR", "USDC-USDT"].map(|name| config.rates.rules(name.parse().unwrap(), &Own::default()).class);
    assert_eq!(classes, [Class::Major, Class::Other, Class::Peg]);
    assert_eq!(config.rates, rate::Settings { through: vec![], ..rate::Settings::default() });
    assert_eq!(config.receipts_mib, 16);
    let btc = config.pairs.iter().find(|p| p.pair.to_string() == "BTC-USD").unwrap();
    assert_eq!((btc.required, btc.quorum, btc.venues.len()), (true, 3, 0));
    assert_eq!(config.venues.len(), quorate_actors::venues::VENUES.len());
}

#[test]
fn every_shipped_venue_has_an_origin_that_is_accepted_and_is_not_simulated() {
    let config = Config::defaults().unwrap();
    assert!(config.venues.values().all(|v| v.enabled && v.origin.starts_with("https://")));
    assert!(!config.simulated());
    assert!(file("[venues.kraken]\norigin = \"http://127.0.0.1:8090/kraken\"").unwrap().simulated());
    assert!(!file("[venues.kraken]\norigin = \"http://127.0.0.1:8090/kraken\"\nenabled = false").unwrap().simulated());
}

#[test]
fn an_unknown_key_is_refused_with_line_and_caret() {
    let error = file("deadline_ms = 500\n\n[venues.kraken]\norgin = \"https://x.example\"\n").unwrap_err();
    assert!(error.starts_with("file quorate.toml: TOML parse error at line 4, column 1\n"), "{error}");
    assert!(error.contains("4 | orgin = \"https://x.example\"\n  | ^^^^^\n") && error.contains("unknown field `orgin`"), "{error}");
    for text in ["deadlin_ms = 1", "[limit]\n", "[venues.nasdaq]\nenabled = true", "[[pairs]]\nname = \"BTC-USD\"\nklass = \"major\""] {
        let error = file(text).unwrap_err();
        assert!(error.contains("TOML parse error at line") && error.contains('^'), "{error}");
    }
}

#[test]
fn a_value_out_of_range_is_named_with_what_was_expected() {
    for (text, want) in [
        ("deadline_ms = 20", "20 is out of range, expected 50 to 10000"),
        ("deadline_ms = -1", "-1 is out of range, expected 50 to 10000"),
        ("listen = \"localhost\"", "\"localhost\", expected an address and a port such as 127.0.0.1:8080"),
        ("[[pairs]]\nname = \"BTCUSD\"", "\"BTCUSD\": a pair is written BASE-QUOTE, like BTC-USDT"),
        ("[venues.kraken]\norigin = \"http://api.kraken.com\"", "expected https, or http on loopback"),
        ("[venues.kraken]\ntaker = \"1.5\"", "\"1.5\", expected a fraction from 0 to 0.1"),
        ("[venues.kraken]\nbudget = \"30\"", "\"30\", expected a weight of 1 or more in a window of 1 to 86400 s, such as \"30/60s\""),
        ("[venues.kraken]\nbudget = \"0/60s\"", "\"0/60s\", expected a weight"),
        ("[venues.kraken]\nbudget = \"5000000000/60s\"", "expected a weight"),
        ("[venues.kraken]\nbudget = \"30/0s\"", "expected a weight"),
        ("[venues.kraken]\nbudget = \"30/60\"", "expected a weight"),
        ("[venues.nasdaq]", "\"nasdaq\", expected a venue: binance, "),
        ("[limits]\nconnections = 0", "0 is out of range, expected 1 to 1000000"),
    ] {
        let error = file(text).unwrap_err();
        assert!(error.contains(want) && error.contains('^'), "{error}");
    }
}

#[test]
fn values_that_do_not_go_together_are_refused() {
    for (text, want) in [
        ("pairs = [{ name = \"BTC-USD\" }, { name = \"xbt/usd\" }]", "configuration: pair BTC-USD is listed twice, expected once"),
        ("listen = \"127.0.0.1:8081\"", "configuration: admin_listen is 127.0.0.1:8081, expected another address than listen"),
        (
            "admin_listen = \"0.0.0.0:8081\"",
            "configuration: admin_listen is 0.0.0.0:8081, expected a loopback address, or admin_token_file set",
        ),
        (
            "pairs = [{ name = \"BTC-USD\", venues = [\"kraken\"] }]\n[venues.kraken]\nenabled = false",
            "configuration: pair BTC-USD names venue kraken, expected one that is enabled",
        ),
    ] {
        assert_eq!(file(text).unwrap_err(), want);
    }
}

#[test]
fn a_variable_sets_any_key() {
    let (config, layers) = environment(&[
        ("QUORATE_LISTEN", "0.0.0.0:80"),
        ("QUORATE_ON_DEMAND", "false"),
        ("QUORATE_LIMITS__CONNECTIONS", "7"),
        ("QUORATE_VENUES__KRAKEN__ORIGIN", "http://127.0.0.1:8090/kraken"),
        ("QUORATE_VENUES__KRAKEN__TAKER", "0.0016"),
        ("QUORATE_VENUES__KRAKEN__BUDGET", "120/60s"),
        ("QUORATE_PAIRS", r#"[{ name = "BTC-EUR", quorum = 1 }]"#),
        ("QUORATE_CONFIG", "elsewhere.toml"),
        ("QUORATE_SERVICE_HOST", "10.0.0.1"),
        ("QUORATE_PORT_8080_TCP", "tcp://10.0.0.1:8080"),
        ("PATH", "/bin"),
    ])
    .unwrap();
    assert_eq!((config.listen.to_string(), config.on_demand, config.limits.connections), ("0.0.0.0:80".into(), false, 7));
    assert_eq!((config.pairs.len(), config.pairs[0].quorum), (1, 1));
    let kraken = &config.venues["kraken"];
    assert_eq!((kraken.taker.map(|fee| fee.to_string()), kraken.mirrors.len()), (Some("0.0016".to_owned()), 0));
    assert_eq!(kraken.budget, Some(Budget { weight: 120, per: Duration::from_secs(60) }));
    // What nobody has set is the venue's own word, and not the configuration's.
    assert_eq!((config.venues["okx"].taker, config.venues["okx"].budget), (None, None));
    assert_eq!(layers.origins["venues.kraken.origin"], From::Environment("QUORATE_VENUES__KRAKEN__ORIGIN".into()));
    assert_eq!(layers.origins["deadline_ms"], From::Default);
}

#[test]
fn a_wrong_variable_is_named() {
    for (variable, want) in [
        (("QUORATE_DEADLINE_MS", "20"), "environment QUORATE_DEADLINE_MS: deadline_ms: 20 is out of range, expected 50 to 10000"),
        (("QUORATE_ON_DEMAND", "yes"), "environment QUORATE_ON_DEMAND: on_demand: invalid type: string \"yes\", expected a boolean"),
    ] {
        assert_eq!(environment(&[variable]).unwrap_err(), want);
    }
    let error = environment(&[("QUORATE_DEADLINE", "20")]).unwrap_err();
    assert!(error.starts_with("environment QUORATE_DEADLINE: deadline: unknown field `deadline`"), "{error}");
}

#[test]
fn a_flag_wins_over_the_environment_that_over_the_file_that_over_the_default() {
    let mut layers = Layers::defaults().unwrap();
    layers.file("deadline_ms = 200\npoll_ms = 200\nmax_age_ms = 200", &From::File("f".into())).unwrap();
    let variables = [("QUORATE_DEADLINE_MS", "300"), ("QUORATE_POLL_MS", "300")].map(|(n, v)| (n.to_owned(), v.to_owned()));
    layers.environment(variables.into_iter()).unwrap();
    layers.set("deadline_ms", "400", &From::Flag("--deadline-ms".into())).unwrap();
    let config = Config::of(&layers).unwrap();
    let ms = [config.deadline, config.poll, config.max_age, config.fetch_timeout].map(|d| d.as_millis());
    assert_eq!(ms, [400, 300, 200, 5000]);
}

#[test]
fn a_new_origin_drops_the_mirrors_that_were_not_set_with_it() {
    let of = |text: &str| file(text).unwrap().venues.remove("binance").unwrap();
    assert!(!of("").mirrors.is_empty());
    assert!(of("[venues.binance]\norigin = \"https://a.example\"").mirrors.is_empty());
    assert_eq!(of("[venues.binance]\norigin = \"https://a.example\"\nmirrors = [\"https://b.example\"]").mirrors, ["https://b.example"]);
    assert_eq!(of("[venues.binance]\nmirrors = [\"https://b.example\"]").mirrors, ["https://b.example"]);
}

#[test]
fn settings_of_the_rate_are_read_and_wrong_ones_named() {
    let text = "[[pairs]]\nname = \"SOL-USD\"\nclass = \"major\"\ncap = \"0.2\"\n[rate]\npar = [\"USD1=USD\"]\nstale_ms = 5000\nthrough = [\"usdt\"]\n[rate.class.peg]\ncap = \"0.02\"\n[venues.kraken]\noperator = \"payward\"\nregion = \"KR\"";
    let config = file(text).unwrap();
    let rules = config.rates.rules(config.pairs[0].pair, &config.pairs[0].own);
    let [floor, cap, peg] = ["0.02", "0.2", "0.02"].map(|n| n.parse().unwrap());
    assert_eq!((rules.class, rules.band, rules.peg.cap), (Class::Major, Band { floor, cap }, peg));
    assert_eq!((rules.stale, rules.par.len(), config.rates.through.len()), (Duration::from_secs(5), 1, 1));
    let kraken = &config.venues["kraken"];
    assert_eq!((kraken.operator.as_deref(), kraken.region), (Some("payward"), Some(Region::Kr)));
    for (text, want) in [
        ("[[pairs]]\nname = \"BTC-USD\"\nclass = \"minor\"", "\"minor\", expected major, other or peg"),
        ("[[pairs]]\nname = \"BTC-USD\"\nfloor = \"0.06\"", "pair BTC-USD has a floor of 0.06, expected at most its cap of 0.05"),
        ("[rate.class.other]\nfloor = \"0.2\"", "rate.class.other.floor is 0.2, expected at most the cap of 0.1"),
        ("[rate.class.other]\nfloor = \"0\"", "\"0\", expected a fraction above 0, of 1 at most"),
        ("[rate.class.other]\nfloor = \"-1\"", "\"-1\", expected a fraction above 0, of 1 at most"),
        ("[rate]\npar = [\"USD1\"]", "\"USD1\", expected two assets, such as \"USD1=USD\""),
        ("[rate]\nthrough = [\"U S\"]", "\"U S\": an asset code is 1 to 16 characters"),
        ("[receipts]\nmemory_mib = 0", "0 is out of range, expected 1 to 65536"),
        ("[venues.kraken]\nregion = \"US\"", "\"US\", expected KR, IN, TR, AR or NG"),
        ("[venues.kraken]\noperator = \"\"", "\"\", expected 1 to 40 of a-z, 0-9, - and _"),
    ] {
        let error = file(text).unwrap_err();
        assert!(error.contains(want), "{text}: {error}");
    }
}
