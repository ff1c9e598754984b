//! The laws of the venue table. There is no code per venue here: a new row and its fixtures are held to all of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects, missing_docs)]

#[path = "venues/common.rs"]
mod common;
#[path = "venues/fixtures.rs"]
mod fixtures;
#[path = "venues/hostile.rs"]
mod hostile;
#[path = "venues/round_trip.rs"]
mod round_trip;

use common::{FIELDS, field, find, rows, wanted};
use quorate_actors::{
    model::{Pair, Reason, Ticker},
    venue::{ANY, Endpoint, Kind, Reach, Venue, route},
    venues::{VENUES, by_id},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

/// Pairs of plain, short, old and numbered codes.
fn pairs() -> Vec<Pair> {
    let bases = ["BTC", "ETH", "SOL", "XRP", "DOGE", "LTC", "ADA", "A", "1000SATS", "USDT", "USDC", "EUR"];
    let quotes = ["USDT", "USDC", "USD", "EUR", "BTC"];
    let all = bases.iter().flat_map(|base| quotes.iter().filter_map(|quote| Pair::new(base, quote).ok()));
    all.collect()
}

/// How many cases each seeded law tries.
fn seeds() -> u64 {
    std::env::var("QUORATE_SEEDS").map_or(1000, |n| n.parse().expect("QUORATE_SEEDS is a number"))
}

fn every(law: fn(&'static dyn Venue)) {
    assert!(!VENUES.is_empty());
    VENUES.iter().for_each(|venue| law(*venue));
}

#[test]
fn ids_are_sorted_and_name_module_and_fixtures() {
    let ids: Vec<String> = VENUES.iter().map(|v| v.profile().id.to_owned()).collect();
    assert!(ids.is_sorted() && ids.windows(2).all(|two| two[0] != two[1]), "{ids:?}");
    let names = |folder: &std::path::Path, is_folder: bool| -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir() == is_folder);
        let mut names: Vec<_> = entries.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/venues"), false), ids, "modules and table");
    assert_eq!(names(&fixtures::folder(), true), ids, "fixture folders and table");
    assert!(ids.iter().all(|id| by_id(id).is_some_and(|venue| venue.profile().id == id)));
    assert!(by_id("nowhere").is_none());
}

#[test]
fn origins_are_secure_and_no_two_venues_share_a_host() {
    let mut hosts = BTreeMap::new();
    every_with(|venue| {
        let profile = venue.profile();
        assert_eq!(venue.origin(), profile.origin);
        for origin in [&profile.origin].into_iter().chain(profile.mirrors) {
            let rest = origin.strip_prefix("https://").unwrap_or_else(|| panic!("{origin}: not https"));
            assert!(!rest.ends_with('/') && rest.contains('.'), "{origin}");
            let other = hosts.insert(rest.split('/').next().unwrap(), profile.id);
            assert_eq!(other, None, "{origin} of {}", profile.id);
        }
        assert!(profile.docs.starts_with("https://") && profile.warm_up.starts_with('/'), "{}", profile.id);
        assert!(!profile.name.is_empty() && !profile.operator.is_empty(), "{}", profile.id);
    });
}

fn every_with(mut law: impl FnMut(&'static dyn Venue)) {
    VENUES.iter().for_each(|venue| law(*venue));
}

#[test]
fn limits_are_lawful() {
    every(|venue| {
        let profile = venue.profile();
        let id = profile.id;
        assert!((64 << 10..=64 << 20).contains(&profile.body_max), "{id}: body_max");
        assert!(profile.budget.weight > 0 && !profile.budget.per.is_zero(), "{id}: budget");
        let fee: rust_decimal::Decimal = profile.taker.rate.parse().unwrap();
        assert!(fee >= 0.into() && fee < rust_decimal::Decimal::new(1, 1), "{id}: fee {fee}");
        assert!(profile.taker.read.parse::<jiff::civil::Date>().is_ok(), "{id}: {}", profile.taker.read);
        for endpoint in profile.endpoints {
            let steps = endpoint.weight;
            let is_asked = endpoint.is_asked();
            assert!(steps.iter().all(|(most, weight)| *most > 0 && *weight > 0), "{id} {}", endpoint.path);
            assert!(steps.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 <= two[1].1), "{id} {}", endpoint.path);
            assert_eq!(steps.last().map(|(most, _)| *most), is_asked.then_some(ANY), "{id} {}", endpoint.path);
            assert!(endpoint.weight_of(usize::MAX) <= profile.budget.weight, "{id} {}: heavier than the budget", endpoint.path);
            let typical = u64::from(endpoint.rows) * u64::from(endpoint.row_bytes);
            assert!(typical > 0 && typical < profile.body_max as u64, "{id} {}: {typical} bytes", endpoint.path);
        }
        let asked = |e: &Endpoint| e.is_asked() && e.reach == Reach::One && e.kind == Kind::Ticker;
        assert!(profile.endpoints.iter().any(asked), "{id}: no single pair can be asked");
    });
}

#[test]
fn a_path_leads_back_to_its_endpoint_and_symbols() {
    every(|venue| {
        let profile = venue.profile();
        for endpoint in profile.endpoints {
            let most = match endpoint.reach {
                Reach::One => 1,
                Reach::Listed(list) => usize::from(list.most).min(3),
                Reach::All => 0,
            };
            let placeholders = (endpoint.path.matches("{symbol}").count(), endpoint.path.matches("{symbols}").count());
            assert_eq!(placeholders, (usize::from(endpoint.reach == Reach::One), usize::from(most > 1)), "{}", endpoint.path);
            for count in most.min(1)..=most {
                for pairs in pairs().windows(count.max(1)) {
                    let symbols: Vec<String> = pairs.iter().take(count).map(|pair| venue.spell(pair)).collect();
                    let path = endpoint.path_for(&symbols.iter().map(String::as_str).collect::<Vec<_>>());
                    let (found, read) = route(profile.endpoints, &path).unwrap_or_else(|| panic!("{}: {path}", profile.id));
                    // A list of one may look like a request for one.
                    let alike = count == 1 && found.reach == Reach::One && found.path_for(&[&symbols[0]]) == path;
                    assert!(std::ptr::eq(found, endpoint) || alike, "{}: {path} leads to {}", profile.id, found.path);
                    assert_eq!(read, symbols, "{}: {path}", profile.id);
                }
            }
        }
    });
}

#[test]
fn symbols_are_read_back_and_no_two_pairs_share_one() {
    every(|venue| {
        let id = venue.profile().id;
        let mut seen = BTreeMap::new();
        for pair in pairs() {
            for symbol in venue.aliases(&pair).into_iter().chain([venue.spell(&pair)]) {
                assert_eq!(venue.read_symbol(&symbol), Some(pair), "{id}: {symbol}");
                let other = seen.insert(symbol.clone(), pair);
                assert!(other.is_none_or(|other| other == pair), "{id}: {symbol} is {pair} and {other:?}");
            }
        }
        for odd in ["", "-", "_", "/", "-BTC", "BTC-", "牛来usdt", "\0", "t", ":", "BTC-USDT-SWAP", "ABCDEFGHIJKLMNOPQRSTUVWXYZ-USDT"] {
            venue.read_symbol(odd);
        }
    });
}

#[test]
fn every_venue_has_fixtures_and_an_error_among_them() {
    every(|venue| {
        let fixtures = fixtures::of(venue.profile().id);
        let errors = fixtures.iter().filter(|fixture| fixture.kind == "error").count();
        assert!(fixtures.len() >= 3 && errors >= 1 && errors < fixtures.len(), "{}", venue.profile().id);
    });
}

#[test]
fn every_fixture_decodes_to_its_want() {
    every(|venue| {
        for fixture in fixtures::of(venue.profile().id) {
            let read = rows(venue, fixture.endpoint(venue), fixture.status, &fixture.body);
            if fixture.kind == "error" {
                let fault = read.expect_err(&fixture.name);
                assert_eq!(fault.reason.slug(), fixture.want["error"].as_str().unwrap(), "{}: {fault}", fixture.name);
                continue;
            }
            let rows = read.unwrap_or_else(|fault| panic!("{}: {fault}", fixture.name));
            let named: BTreeSet<String> = fixture.pairs.iter().map(|pair| format!("{pair:#}")).collect();
            let wants = fixture.want.as_object().unwrap();
            assert!(fixture.is_one() || wants.keys().all(|pair| named.contains(pair)), "{}: a want that is not asked", fixture.name);
            for pair in &fixture.pairs {
                let row = find(venue, pair, &rows).unwrap_or_else(|| panic!("{}: no row for {pair}", fixture.name));
                let want = fixture.want_of(pair);
                match (row, want["error"].as_str()) {
                    (Err(fault), Some(slug)) => assert_eq!(fault.reason.slug(), slug, "{}: {pair}: {fault}", fixture.name),
                    (Ok(ticker), None) => same(ticker, want, &format!("{}: {pair}", fixture.name)),
                    other => panic!("{}: {pair}: {other:?}", fixture.name),
                }
            }
        }
    });
}

fn same(ticker: &Ticker, want: &serde_json::Value, name: &str) {
    assert!(want.is_object(), "{name}: no want");
    for key in FIELDS {
        assert_eq!(field(ticker, key), wanted(&want[key]), "{name}: {key}");
    }
    assert_eq!(ticker.halted, want["halted"].as_bool().unwrap_or(false), "{name}: halted");
}

#[test]
fn a_refusal_in_the_venues_own_words_is_understood() {
    every(|venue| {
        let profile = venue.profile();
        let pair = Pair::new("NOPE", "USDT").unwrap();
        let mut words = 0;
        for (reason, (status, body)) in Reason::ALL.iter().filter_map(|r| Some((*r, venue.refuse(*r, &venue.spell(&pair))?))) {
            for endpoint in profile.endpoints.iter().filter(|e| e.encode.is_some()) {
                let fault = rows(venue, endpoint, status, body.as_bytes()).expect_err(&body);
                assert_eq!(fault.reason, reason, "{}: {body}", profile.id);
            }
            words += 1;
        }
        assert!(words > 0, "{}: refuses nothing in words of its own", profile.id);
    });
}
