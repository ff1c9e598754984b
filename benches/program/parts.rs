//! The parts of the program, one a subcommand. What asks over sockets reads its settings as one line of JSON and then commands, so that whoever measures it
//! can tell one stretch of work from another; what only computes prints its figures.

mod clients;
mod codecs;
mod peer;
mod posts;
mod relay;

use actix::System;
use quorate_actors::Builder;
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;

pub(crate) fn run() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let system = System::new();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["peer"] => system.block_on(peer::serve(Builder::here)),
        ["peer", "apart"] => system.block_on(peer::serve(|builder| builder.arbiters(1))),
        ["clients"] => system.block_on(clients::serve()),
        ["relay", port, one_way_ms] => {
            system.block_on(relay::serve(port.parse().unwrap(), Duration::from_millis(one_way_ms.parse().unwrap())))
        }
        ["codecs"] => println!("{}", codecs::report()),
        ["posts"] => println!("{}", posts::report()),
        ["post", variant, times] => posts::repeated(variant, times.parse().unwrap()),
        _ => panic!("{args:?}: expected peer [apart], clients, relay PORT MS, codecs, posts or post VARIANT TIMES"),
    }
}

/// Gives the lines of standard input. Commands come one at a time, each once the last one's answer is there, so it may block.
fn lines() -> impl Iterator<Item = String> {
    std::io::stdin().lines().map(Result::unwrap)
}

/// Runs each of several things by turns, in blocks, and gives the median of the blocks: nanoseconds a time. Each turn begins with another of them, lest one
/// always meets what the machine does at regular times.
fn by_turns<const K: usize>(blocks: usize, times: u32, work: [&mut dyn FnMut(); K]) -> [f64; K] {
    let mut found: [Vec<f64>; K] = std::array::from_fn(|_| Vec::new());
    // The first turn warms up.
    for turn in 0..=blocks {
        for next in 0..K {
            let at = (turn + next) % K;
            let began = Instant::now();
            (0..times).for_each(|_| work[at]());
            if turn > 0 {
                found[at].push(began.elapsed().as_secs_f64() * 1e9 / f64::from(times));
            }
        }
    }
    found.map(|mut blocks| {
        blocks.sort_by(f64::total_cmp);
        blocks[blocks.len() / 2]
    })
}

fn nanoseconds(time: Duration) -> Value {
    u64::try_from(time.as_nanos()).unwrap().into()
}
