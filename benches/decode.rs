//! Decoding beside `serde_json::from_slice` into the same structs: a small answer, and a list of several hundred rows as the venue's own `encode` writes it.
//! Rows are named and not read further, on both sides.
//!
//! Beside that, valgrind counts the allocations of a small decode, numbers read and all: there must be none.
//!
//! `cargo bench --bench decode` (valgrind must be installed)

#![allow(missing_docs, reason = "a bench has no readers of its docs but these")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::arithmetic_side_effects,
    reason = "a bench that cannot measure ends"
)]

mod support;

use criterion::Criterion;
use quorate_actors::{
    model::{Pair, UnixMs},
    venue::{Body, Endpoint, Kind, Reach, Row, Scratch, Venue},
    venues::VENUES,
};
use std::{fs, hint::black_box, path::Path, process::Command, time::Duration};
use support::{floor::decoded, market, stats::geometric_mean};

const RESULTS: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/decode");
/// How many times serde_json's time ours must be better, in the mean over the venues.
const GAIN_LEAST: f64 = 1.25;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [_, "measured", id, times] => measured(id, times.parse().unwrap()),
        _ => report(),
    }
}

/// Reads a small answer so many times; runs under valgrind.
fn measured(id: &str, times: usize) {
    let venue = *VENUES.iter().find(|venue| venue.profile().id == id).unwrap();
    let (endpoint, body) = small(venue).unwrap();
    let mut scratch = Scratch::default();
    for _ in 0..times {
        black_box(decoded(venue, endpoint, black_box(&body), &mut scratch));
    }
}

/// Counts the allocations of a hundred small decodes, by the difference between one run and another.
fn allocations(id: &str) -> u64 {
    let [few, many] = ["10", "110"].map(|times| {
        let program = std::env::current_exe().unwrap();
        let run = Command::new("valgrind").arg("--leak-check=no").arg(program).args(["measured", id, times]).output();
        let run = run.expect("valgrind must be installed");
        let said = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{said}");
        let usage = said.lines().find_map(|line| line.split_once("total heap usage: ")).expect("valgrind says what was allocated").1;
        usage.split(' ').next().unwrap().replace(',', "").parse::<u64>().unwrap()
    });
    many.saturating_sub(few)
}

fn small(venue: &dyn Venue) -> Option<(&Endpoint, Vec<u8>)> {
    let endpoint = venue.profile().endpoints.iter().find(|e| e.encode.is_some() && e.kind == Kind::Ticker)?;
    Some((endpoint, written(venue, endpoint, 1)))
}

fn report() {
    let mut criterion = Criterion::default()
        .without_plots()
        .output_directory(Path::new(RESULTS))
        .sample_size(50)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(700));
    let mut table = Vec::new();
    for venue in VENUES {
        let endpoints = venue.profile().endpoints.iter().filter(|e| e.encode.is_some());
        let lists = |e: &&Endpoint| e.kind == Kind::Tickers && e.reach == Reach::All;
        let bulk = endpoints.clone().find(lists).or(endpoints.clone().find(|e| e.kind == Kind::Tickers));
        let bulk = bulk.map(|e| (e, written(*venue, e, 400)));
        let id = venue.profile().id;
        let gains = [("small", small(*venue)), ("bulk", bulk)].map(|(size, body)| {
            let (endpoint, body) = body?;
            Some((body.len(), gain(&mut criterion, &format!("{size}/{id}"), *venue, endpoint, &body)))
        });
        table.push((id, gains));
    }
    println!("\nserde_json's time / ours     small            bulk   allocations of 100 small");
    for (id, gains) in &table {
        let shown = gains.map(|gain| gain.map_or_else(|| "-".to_owned(), |(bytes, gain)| format!("{gain:.2} ({bytes} B)")));
        let allocations = allocations(id);
        let verdict = if allocations == 0 { "ok" } else { "TOO MANY (at most 0)" };
        println!("{id:20} {:>16} {:>16} {allocations:>4}   {verdict}", shown[0], shown[1]);
    }
    for (at, size) in ["small", "bulk"].into_iter().enumerate() {
        let gains: Vec<f64> = table.iter().filter_map(|(_, gains)| Some(gains[at]?.1)).collect();
        let mean = geometric_mean(&gains);
        let verdict = if mean >= GAIN_LEAST { "ok" } else { "TOO LITTLE" };
        println!("geometric mean of {} {size}: {mean:.3}   {verdict} (at least {GAIN_LEAST})", gains.len());
    }
}

/// Writes an answer of so many rows.
fn written(venue: &dyn Venue, endpoint: &Endpoint, rows: usize) -> Vec<u8> {
    let ticker = market::ticker(UnixMs(1_796_036_400_000));
    let pairs: Vec<Pair> = (0..rows).map(|n| Pair::new(&format!("C{n}"), "USDT").unwrap()).collect();
    let symbols: Vec<String> = pairs.iter().map(|pair| venue.spell(pair)).collect();
    let rows: Vec<Row<'_>> = pairs.iter().zip(&symbols).map(|(pair, symbol)| Row { symbol, pair, ticker: &ticker }).collect();
    endpoint.encode.unwrap()(&rows).into_bytes()
}

/// Measures both and gives how many times better ours is.
fn gain(criterion: &mut Criterion, name: &str, venue: &dyn Venue, endpoint: &Endpoint, bytes: &[u8]) -> f64 {
    let mut scratch = Scratch::default();
    let mut group = criterion.benchmark_group(name);
    for reader in ["ours", "serde_json"] {
        let plain = reader == "serde_json";
        group.bench_function(reader, |bencher| {
            bencher.iter(|| {
                let mut rows = 0;
                let bytes = black_box(bytes);
                let mut body = if plain { Body::plain(bytes, &mut scratch) } else { Body::new(bytes, &mut scratch) };
                venue.decode(endpoint, &mut body, &mut |symbol, _| rows += usize::from(symbol.is_some())).unwrap();
                black_box(rows)
            });
        });
    }
    group.finish();
    median(name, "serde_json") / median(name, "ours")
}

/// Reads a median that criterion has written down.
fn median(name: &str, reader: &str) -> f64 {
    let file = format!("{RESULTS}/{}/{reader}/new/estimates.json", name.replace('/', "_"));
    let estimates: serde_json::Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    estimates["median"]["point_estimate"].as_f64().unwrap()
}
