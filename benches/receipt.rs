//! Instructions and allocations of a receipt: from "two of the quotes arrived" through the rule to the finished bytes with their id.
//!
//! Instructions are counted by callgrind, as in `instructions.rs`. Valgrind does not know the processor's own SHA-256 instructions, so that the hash takes
//! its long way there: its share is measured apart, on bytes of the same length.
//!
//! `cargo bench --bench receipt` (valgrind must be installed)

#![allow(missing_docs, reason = "a bench has no readers of its docs but these")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::arithmetic_side_effects,
    reason = "a bench that cannot measure ends"
)]

use quorate_actors::{
    model::{Amount, Pair, Price, Source, Ticker, UnixMs, VenueId},
    rate::{self, Class, Made, Memory, Offer, Outcome, Receipt, Rules},
    venue::{Basis, Member, TimeOf},
};
use ring::digest::{SHA256, digest};
use serde_json::Value;
use std::{collections::HashMap, hint::black_box, process::Command, sync::Arc, time::Duration};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [_, "measured", part, quoted, votes, times] => {
            let kind = Kind::ALL.into_iter().find(|kind| kind.slug() == *quoted).unwrap();
            measured(part, kind, votes.parse().unwrap(), times.parse().unwrap());
        }
        _ => report(),
    }
}

/// Does one thing so many times; runs under callgrind.
fn measured(part: &str, kind: Kind, votes: usize, times: usize) {
    let mut world = World::new(kind, votes);
    let hashed = hashed(&typical(&mut world));
    for _ in 0..times {
        match part {
            "pass" => drop(black_box(world.pass())),
            "receipt" => drop(black_box(world.receipt().bytes())),
            "hash" => {
                for text in &hashed {
                    black_box(digest(&SHA256, text.as_bytes()));
                }
            }
            other => panic!("no part {other:?}"),
        }
    }
}

/// Gives a receipt of when all markets are known.
fn typical(world: &mut World) -> Receipt {
    (0..100).map(|_| world.receipt()).last().unwrap()
}

/// Gives the two texts that a receipt hashes: its content, without id, ages and latencies, and the operators that have a vote.
fn hashed(receipt: &Receipt) -> [String; 2] {
    fn forget(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.retain(|name, _| !["id", "age_ms", "latency_ms"].contains(&name.as_str()));
                members.values_mut().for_each(forget);
            }
            Value::Array(items) => items.iter_mut().for_each(forget),
            _ => {}
        }
    }
    let mut content: Value = serde_json::from_slice(&receipt.bytes()).unwrap();
    let operators: Value = content["votes"].as_array().unwrap().iter().map(|vote| vote["operator"].clone()).collect();
    forget(&mut content);
    [content.to_string(), operators.to_string()]
}

/// What the votes are quoted in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// All in the target currency.
    Target,
    /// Half of them in another one, for which there are four markets more.
    Half,
}

impl Kind {
    const ALL: [Self; 2] = [Self::Target, Self::Half];

    fn slug(self) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Half => "half",
        }
    }
}

/// Markets whose quotes come in two at a time.
struct World {
    rng: fastrand::Rng,
    rules: Arc<Rules>,
    offers: Vec<Offer>,
    /// What the venues may say of the coin and of the other currency: made before, because reading text is no part of a receipt.
    tickers: [Vec<Ticker>; 2],
    memory: Memory,
    now: UnixMs,
    next: usize,
}

/// What a receipt of twelve votes may take, without the hash.
const OURS_MAX: u64 = 60_000;

impl World {
    /// Makes a market for each of so many operators, and those that it takes to convert.
    fn new(kind: Kind, votes: usize) -> Self {
        let now = UnixMs(1_796_036_400_000);
        let for_conversion = if kind == Kind::Half { 4 } else { 0 };
        let offers = (0..votes + for_conversion).map(|n| {
            let quote = if kind == Kind::Half && n < votes && n % 2 == 1 { "USDT" } else { "USD" };
            let base = if n < votes { "BTC" } else { "USDT" };
            let name = format!("venue{:03}", n % votes);
            let time_of = [TimeOf::Book, TimeOf::None, TimeOf::Answer, TimeOf::Trade][n / 2 % 4];
            let member = Member { venue: VenueId::new(&name), operator: name.into(), region: None, basis: Basis::Mid, time_of };
            Offer {
                member: Arc::new(member),
                pair: Pair::new(base, quote).unwrap(),
                ticker: Ticker::default(),
                received: now,
                latency: Duration::ZERO,
                source: Source::Rest,
            }
        });
        let mut offers: Vec<Offer> = offers.collect();
        offers.sort_by(|a, b| (&a.member.venue, a.pair).cmp(&(&b.member.venue, b.pair)));
        let mut rng = fastrand::Rng::with_seed(1);
        let mut of = |mid, unit, scale| (0..500).map(|_| ticker(&mut rng, mid, unit, scale)).collect();
        let tickers = [of(6_723_412, 12, 2), of(100_012, 2, 5)];
        let mut world = Self { rng, tickers, rules: Arc::new(Rules::of(Class::Major)), offers, memory: Memory::default(), now, next: 0 };
        for at in 0..world.offers.len() {
            world.arrive(at);
        }
        world
    }

    /// Lets a quote come in.
    fn arrive(&mut self, at: usize) {
        let (rng, offer) = (&mut self.rng, &mut self.offers[at]);
        let said = &self.tickers[usize::from(offer.pair.base != "BTC")];
        let venue_time = (offer.member.time_of != TimeOf::None).then(|| UnixMs(self.now.0 - rng.i64(5..60)));
        offer.ticker = Ticker { venue_time, ..said[rng.usize(..said.len())] };
        offer.received = self.now;
        offer.latency = Duration::from_millis(rng.u64(20..200));
    }

    /// Lets two quotes come in, and runs the rule.
    fn pass(&mut self) -> Outcome {
        self.now.0 += 200;
        for _ in 0..2 {
            self.next = (self.next + 1) % self.offers.len();
            self.arrive(self.next);
        }
        rate::pass(Pair::new("BTC", "USD").unwrap(), &self.rules, self.offers.clone(), self.now, &mut self.memory)
    }

    fn receipt(&mut self) -> Receipt {
        Receipt::new(self.pass(), Arc::clone(&self.rules), Vec::new(), Made::Memory, false)
    }
}

/// Makes something for a venue to say.
fn ticker(rng: &mut fastrand::Rng, mid: u64, unit: u64, scale: u32) -> Ticker {
    let bid = mid + rng.u64(0..10 * unit);
    let price = |number: u64| Price::parse(&format!("{number}e-{scale}")).unwrap();
    let amount = |number: u64| Amount::parse(&format!("{number}e-6")).unwrap();
    Ticker {
        bid: price(bid),
        ask: price(bid + rng.u64(1..unit)),
        last: price(bid + rng.u64(0..unit)),
        bid_size: amount(rng.u64(1..9_000_000)),
        ask_size: amount(rng.u64(1..9_000_000)),
        base_volume: amount(rng.u64(1_000_000_000..9_000_000_000)),
        ..Ticker::default()
    }
}

fn report() {
    println!("instructions                all       pass    writing   the hash      bytes  (a receipt, of which two quotes are new)");
    for kind in Kind::ALL {
        let mut most = OURS_MAX;
        for votes in [12, 48, 100] {
            let [all, pass, hash] = ["receipt", "pass", "hash"].map(|part| each(part, kind, votes, [100, 400]).instructions);
            let bytes = typical(&mut World::new(kind, votes)).bytes().len();
            let ours = all - hash;
            let verdict = if votes == 48 { String::new() } else { target(ours, most) };
            most = if votes == 12 { 8 * ours } else { most };
            println!(
                "{:6} {votes:3} votes {all:10} {pass:10} {:10} {hash:10} {bytes:10}  without the hash {ours} {verdict}",
                kind.slug(),
                ours - pass
            );
        }
    }
    let [early, late] = [[10, 20], [1_000, 1_010]].map(|times| each("receipt", Kind::Half, 12, times).allocations);
    println!("\nallocations of a receipt of 12 votes: {early} of the 10th, {late} of the 1,000th");
}

fn target(have: u64, most: u64) -> String {
    format!("{} (at most {most})", if have <= most { "ok" } else { "TOO MANY" })
}

/// What one time takes.
struct Cost {
    instructions: u64,
    allocations: u64,
}

/// Gives what one time takes, by the difference between few and many.
fn each(part: &str, kind: Kind, votes: usize, times: [usize; 2]) -> Cost {
    let [few, many] = times.map(|times| {
        let out = std::env::temp_dir().join(format!("receipt-{}.callgrind", std::process::id()));
        let run = Command::new("valgrind")
            .args(["--tool=callgrind".to_owned(), format!("--callgrind-out-file={}", out.display())])
            .arg(std::env::current_exe().unwrap())
            .args(["measured", part, kind.slug(), &votes.to_string(), &times.to_string()])
            .output()
            .expect("valgrind must be installed");
        let said = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{said}");
        let collected = said.lines().find_map(|line| line.split_once("Collected : ")).expect("callgrind says what it collected").1;
        let allocations = allocations(&std::fs::read_to_string(&out).unwrap());
        std::fs::remove_file(out).unwrap();
        Cost { instructions: collected.trim().parse().unwrap(), allocations }
    });
    let each = |few: u64, many: u64| many.saturating_sub(few) / (times[1] - times[0]) as u64;
    Cost { instructions: each(few.instructions, many.instructions), allocations: each(few.allocations, many.allocations) }
}

/// Counts the calls of the allocator, by others than itself, in what callgrind has written: names stand once, with a number for the times after that.
fn allocations(profile: &str) -> u64 {
    let mut names: HashMap<&str, &str> = HashMap::new();
    let (mut caller, mut callee, mut calls) = ("", "", 0);
    for line in profile.lines() {
        if let Some(named) = line.strip_prefix("cfn=").or_else(|| line.strip_prefix("fn=")) {
            let (number, name) = named.split_once(' ').unwrap_or((named, ""));
            let name = *names.entry(number).and_modify(|known| *known = if name.is_empty() { *known } else { name }).or_insert(name);
            *(if line.starts_with('c') { &mut callee } else { &mut caller }) = name;
        } else if let Some(call) = line.strip_prefix("calls=") {
            let allocates = ["mi_malloc", "mi_zalloc", "mi_realloc"].iter().any(|name| callee.starts_with(name));
            if allocates && !caller.trim_start_matches('_').starts_with("mi_") {
                calls += call.split(' ').next().unwrap().parse::<u64>().unwrap();
            }
        }
    }
    assert!(calls > 0, "the allocator is called by another name");
    calls
}
