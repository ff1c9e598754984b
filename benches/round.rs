//! The time of a round over loopback beside the least that it can take.
//!
//! `cargo bench --bench round` (about two minutes and a half; a number after `--` sets how many delayed rounds are made: 200)

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

use actix::System;
use quorate_actors::{Builder, Engine};
use std::time::Duration;
use support::{
    canned::{self, Delay, Server},
    floor::Floor,
    ours,
    stats::{median, quantile, ratio},
};
use tokio::time::Instant;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    if canned::serve_if_asked() {
        return;
    }
    let delayed = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(200);
    System::new().block_on(async {
        println!("a round, answered at once         ours      floor   ratio");
        at_once(12, 3000, Builder::here, "on the caller's thread", Some(2.2)).await;
        at_once(12, 3000, |builder| builder.arbiters(1), "on a thread of its own", None).await;
        at_once(48, 1000, Builder::here, "on the caller's thread", None).await;
        println!("\nbeyond the slowest of 50-300 ms   ours      floor   ratio   p99 ours  p99 floor");
        beyond_the_slowest(12, delayed).await;
    });
}

struct Bench {
    server: Server,
    engine: Engine,
    floor: Floor,
    venues: usize,
}

impl Bench {
    async fn start(venues: usize, delay: Delay, place: fn(Builder) -> Builder) -> Self {
        let server = Server::start(venues, delay);
        let floor = ours::floor(&server.ports).await;
        let engine = ours::start(&server.ports, place).await;
        Self { server, engine, floor, venues }
    }

    async fn ours(&self) -> Duration {
        let start = Instant::now();
        ours::round(&self.engine, self.venues).await;
        start.elapsed()
    }

    async fn floor(&mut self) -> Duration {
        let start = Instant::now();
        assert_eq!(self.floor.round().await, self.venues);
        start.elapsed()
    }
}

async fn at_once(venues: usize, rounds: usize, place: fn(Builder) -> Builder, what: &str, most: Option<f64>) {
    let mut bench = Bench::start(venues, Delay::None, place).await;
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    // By turns, in runs long enough for the caches to be each one's own.
    while ours.len() < rounds {
        for _ in 0..50 {
            ours.push(bench.ours().await);
        }
        for _ in 0..50 {
            floor.push(bench.floor().await);
        }
    }
    let (ours, floor) = (median(&mut ours), median(&mut floor));
    println!("{venues} venues, {what} {:>7} {:>10} {:7.2}   {}", us(ours), us(floor), ratio(ours, floor), target(ratio(ours, floor), most));
    bench.engine.shutdown().await;
}

async fn beyond_the_slowest(venues: usize, rounds: usize) {
    let mut bench = Bench::start(venues, Delay::Seeded(1), Builder::here).await;
    let slowest = bench.server.delay.longest(venues);
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        ours.push(bench.ours().await.saturating_sub(slowest));
        floor.push(bench.floor().await.saturating_sub(slowest));
    }
    let [late, late_floor] = [quantile(&mut ours, 99), quantile(&mut floor, 99)];
    let (ours, floor) = (median(&mut ours), median(&mut floor));
    let verdicts = (target(ratio(ours, floor), Some(1.6)), target(late.as_secs_f64() * 1e3, Some(2.5)));
    println!(
        "{venues} venues, {rounds} rounds         {:>9} {:>10} {:7.2} {:>10} {:>10}   {} / {} ms",
        us(ours),
        us(floor),
        ratio(ours, floor),
        us(late),
        us(late_floor),
        verdicts.0,
        verdicts.1
    );
    bench.engine.shutdown().await;
}

fn us(time: Duration) -> String {
    format!("{} us", time.as_micros())
}

fn target(have: f64, most: Option<f64>) -> String {
    most.map_or_else(String::new, |most| format!("{} (at most {most})", if have <= most { "ok" } else { "TOO SLOW" }))
}
