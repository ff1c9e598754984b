//! Instructions of a fetch and of a message, counted by callgrind: this program runs parts of itself under it, a short and a long while; the difference is
//! what a round or a message takes. Wall time on a shared machine says little about so little work.
//!
//! `cargo bench --bench instructions` (valgrind must be installed)

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

use actix::prelude::*;
use futures_util::future::join_all;
use quorate_actors::{
    Builder,
    meter::{self, Limits, Meter, Port},
};
use std::{process::Command, sync::Arc};
use support::{
    canned::{self, Delay, Server},
    floor::decoded,
    ours,
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What a fetch may take beyond the floor, in a round of 12.
const FETCH_MAX: u64 = 34_000;
/// How often each is measured: the least counts, since a busy machine adds wake-ups, and what an engine does each second.
const RUNS: usize = 5;
/// How many messages are sent at once, where not alone: a mailbox is emptied in one poll of its actor, so a burst shares the two clock reads of that poll.
const BURST: usize = 32;
/// What metering may take of a message.
const METERING_MAX: u64 = 400;

/// Why a lone message takes more.
const ALONE: &str = "
A lone message takes four readings of the clock (sent, poll begun, handler ended, poll ended), one in a burst two; each costs about 80, most of it in what
std::time::Instant takes to give a difference. Tried, and no less or even more: to inline the send, to split its admission off, to share the ticket's pointer.
Not done: to take a handler's end for its poll's end, since actix does not tell whether futures of the actor ran in between, which busy ratio and stuck-since
would then miss; to read an Instant's fields by way of its Hash, which spares 195, since nobody promises what it feeds.";

fn main() {
    if canned::serve_if_asked() {
        return;
    }
    let args: Vec<String> = std::env::args().collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [_, "measured", part, times, ports @ ..] => {
            let ports: Vec<u16> = ports.iter().map(|port| port.parse().unwrap()).collect();
            measured(part, times.parse().unwrap(), &ports);
        }
        _ => report(),
    }
}

/// Does one thing so many times; runs under callgrind.
fn measured(part: &str, times: usize, ports: &[u16]) {
    System::new().block_on(async {
        match part {
            "ours" => {
                let engine = ours::start(ports, Builder::here).await;
                for _ in 0..times {
                    ours::round(&engine, ports.len()).await;
                }
            }
            "floor" => {
                let mut floor = ours::floor(ports).await;
                for _ in 0..times {
                    assert_eq!(floor.round().await, ports.len());
                }
            }
            "decode" => {
                let bodies = ours::floor(ports).await.bodies().await;
                let mut scratch = Default::default();
                for _ in 0..times {
                    for (venue, endpoint, body) in &bodies {
                        std::hint::black_box(decoded(*venue, endpoint, body, &mut scratch));
                    }
                }
            }
            "plain" => {
                let counter = plain();
                for _ in 0..times / BURST {
                    join_all((0..BURST).map(|_| counter.send(Add(1)))).await;
                }
            }
            "metered" => {
                let counter = metered();
                for _ in 0..times / BURST {
                    join_all((0..BURST).map(|_| counter.send(Add(1)).unwrap())).await;
                }
            }
            "plain alone" => {
                let counter = plain();
                for _ in 0..times {
                    counter.send(AddAlone(1)).await.unwrap();
                }
            }
            "metered alone" => {
                let counter = metered();
                for _ in 0..times {
                    counter.send(AddAlone(1)).unwrap().await.unwrap();
                }
            }
            other => panic!("no part {other:?}"),
        }
    });
}

struct Counter(u64);

#[derive(Message)]
#[rtype(result = "u64")]
struct Add(u64);

/// The same in a type of its own: what the compiler makes of a `send` depends on how many places it is called in.
#[derive(Message)]
#[rtype(result = "u64")]
struct AddAlone(u64);

impl Actor for Counter {
    type Context = Context<Self>;
}

impl Handler<Add> for Counter {
    type Result = u64;

    fn handle(&mut self, Add(n): Add, _: &mut Self::Context) -> u64 {
        self.0 += n;
        self.0
    }
}

impl Handler<AddAlone> for Counter {
    type Result = u64;

    fn handle(&mut self, AddAlone(n): AddAlone, _: &mut Self::Context) -> u64 {
        self.0 += n;
        self.0
    }
}

quorate_actors::metered!(Counter: Add, AddAlone);

fn plain() -> Addr<Counter> {
    Counter::create(|ctx| {
        // Room for a burst, as the metered mailbox has: actix's 16 places would make senders wait, at a cost of its own.
        ctx.set_mailbox_capacity(1024);
        Counter(0)
    })
}

fn metered() -> Port<Counter> {
    meter::start(Counter(0), Arc::new(Meter::new::<Counter>("counter", Limits::default())))
}

fn report() {
    println!("instructions          ours      floor  beyond it   decoding   (a fetch)");
    for venues in [12, 48] {
        let server = Server::start(venues, Delay::None);
        let [ours, floor, decode] = ["ours", "floor", "decode"].map(|part| each(part, [50, 250], &server.ports) / venues as u64);
        let beyond = ours.saturating_sub(floor);
        let verdict = if venues == 12 { target(beyond, FETCH_MAX) } else { String::new() };
        println!("round of {venues:2}      {ours:10} {floor:10} {beyond:10} {decode:10}   {verdict}");
    }
    println!("\ninstructions       metered      plain  beyond it   (a message with its reply)");
    for (how, plain, metered) in [(format!("bursts of {BURST}"), "plain", "metered"), ("alone".to_owned(), "plain alone", "metered alone")]
    {
        let [plain, metered] = [plain, metered].map(|part| each(part, [3_200, 16_000], &[]));
        let beyond = metered.saturating_sub(plain);
        println!("{how:15}  {metered:10} {plain:10} {beyond:10}   {}", target(beyond, METERING_MAX));
    }
    println!("{ALONE}");
}

fn target(have: u64, most: u64) -> String {
    format!("{} (at most {most})", if have <= most { "ok" } else { "TOO MANY" })
}

/// Gives the instructions of one time, by the difference between few and many.
fn each(part: &str, times: [usize; 2], ports: &[u16]) -> u64 {
    let [few, many] = times.map(|times| (0..RUNS).map(|_| counted(part, times, ports)).min().unwrap());
    many.saturating_sub(few) / (times[1] - times[0]) as u64
}

/// Counts the instructions of so many times.
fn counted(part: &str, times: usize, ports: &[u16]) -> u64 {
    let out = std::env::var_os("CALLGRIND_OUT").unwrap_or_else(|| "/dev/null".into());
    let run = Command::new("valgrind")
        .args(["--tool=callgrind".to_owned(), format!("--callgrind-out-file={}", out.display())])
        .arg(std::env::current_exe().unwrap())
        .args(["measured", part, &times.to_string()])
        .args(ports.iter().map(u16::to_string))
        .output()
        .expect("valgrind must be installed");
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{said}");
    let collected = said.lines().find_map(|line| line.split_once("Collected : ")).expect("callgrind says what it collected").1;
    collected.trim().parse().unwrap()
}
