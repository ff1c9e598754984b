//! Every fault is the same whether it comes through memory or through a socket and the real transport: tests on the one hold for the other.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects)]

use quorate::sim::Sim;
use quorate_actors::{
    clock::Clock,
    model::{Fault, Phase, Reason, Retry, VenueId},
    sim::{FaultFile, FaultName, MemoryConnect, Options},
    transport::{Answer, AwcConnect, Connect, Limits},
    venue::{Scratch, read},
    venues::by_id,
};
use serde_json::json;
use std::{rc::Rc, sync::Arc, time::Duration};
use tokio::{
    net::{TcpListener, TcpStream},
    time::Instant,
};

const PATH: &str = "/0/public/Ticker?pair=XBTUSDT";

/// What the engine sees of an answer.
#[derive(Debug, PartialEq)]
enum Seen {
    Fault(Reason, Option<Phase>),
    Answer { status: u16, retry: Option<Retry>, read: Result<(), Reason> },
}

fn seen(result: Result<Answer, Fault>) -> Seen {
    let answer = match result {
        Ok(answer) => answer,
        Err(fault) => return Seen::Fault(fault.reason, fault.phase),
    };
    let kraken = by_id("kraken").unwrap();
    let endpoint = kraken.profile().endpoints.iter().find(|e| e.encode.is_some()).unwrap();
    let mut row = Err(Reason::Decode);
    let whole = read(kraken, endpoint, answer.status, &answer.body, &mut Scratch::default(), &mut |_, ticker| {
        row = ticker().map(drop).map_err(|fault| fault.reason);
    });
    Seen::Answer { status: answer.status, retry: answer.retry, read: whole.map_err(|fault| fault.reason).and(row) }
}

#[actix::test]
async fn the_wire_and_memory_agree_on_every_fault() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let options = Options { latency: (Duration::ZERO, Duration::ZERO), ..Options::default() };
    let sim = Sim::start(options, listener).unwrap();
    let own = sim.own.iter().find(|(venue, _)| venue.as_str() == "kraken").unwrap().1.clone();
    let limits = Limits { venue: VenueId::new("kraken"), body_max: by_id("kraken").unwrap().profile().body_max };
    let wire = AwcConnect::new([]).unwrap();
    let memory = MemoryConnect::new(Arc::clone(&sim.world), Clock::start());
    let url: Rc<str> = format!("{own}{PATH}").into();
    for fault in FaultName::ALL {
        let params = match fault {
            FaultName::RateLimited | FaultName::Banned => json!({"retry_after_s": 7}),
            _ => json!({}),
        };
        let file: FaultFile = serde_json::from_value(json!({"faults": [{"venue": "kraken", "fault": fault, "params": params}]})).unwrap();
        sim.set_faults(file.faults).unwrap();
        // The port closes and opens a moment after it is told to.
        while TcpStream::connect(own.strip_prefix("http://").unwrap()).await.is_ok() == (*fault == FaultName::Refused) {
            tokio::task::yield_now().await;
        }
        // The simulation and the transport in memory have clocks of their own, which were started apart: a fault that is set now is in force a moment later.
        tokio::time::sleep(Duration::from_millis(5)).await;
        // Shorter than what is slow, long enough for a body of several MiB in an unoptimised build.
        let ask = async |connect: &dyn Connect| {
            let transport = connect.transport(&limits);
            seen(transport.get(&url, Instant::now() + Duration::from_millis(1500)).await)
        };
        let (by_wire, by_memory) = tokio::join!(ask(&wire), ask(&memory));
        assert_eq!(by_wire, by_memory, "{fault}");
        assert_eq!(sim.world.remove_faults(None), 1);
    }
    sim.stop().await;
}
