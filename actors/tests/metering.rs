//! What the meter says of actors that block, wait, stop, panic and refuse. Nothing sleeps to let something happen: each step is observed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects)]

use actix::{clock::timeout, prelude::*};
use quorate_actors::meter::{self, ActorSnapshot, ArbiterDead, Limits, MessageSnapshot, Meter, Metered, Port, Refusal};
use std::{
    future::poll_fn,
    sync::{Arc, mpsc},
    task::Poll,
    time::Duration,
};
use tokio::{sync::oneshot, time::Instant};

/// Blocks the actor's thread: until the gate opens, if there is one, then for a time.
#[derive(Message)]
#[rtype(u32)]
struct Block(Option<mpsc::Receiver<()>>, Duration);

/// Is answered when the gate opens, by a future of the actor; polls it as often as it is woken.
#[derive(Message)]
#[rtype(result = "Result<u32, String>")]
struct Wait(oneshot::Receiver<u32>);

/// Is answered by a future of its own.
#[derive(Message)]
#[rtype(u32)]
struct Apart(oneshot::Receiver<u32>);

#[derive(Message)]
#[rtype(result = "()")]
struct Stop;

#[derive(Message)]
#[rtype(result = "()")]
struct Panic;

struct Worker;
impl Actor for Worker {
    type Context = Context<Self>;
}
impl Handler<Block> for Worker {
    type Result = u32;
    fn handle(&mut self, Block(gate, time): Block, _: &mut Self::Context) -> u32 {
        if let Some(gate) = gate {
            gate.recv().unwrap();
        }
        std::thread::sleep(time);
        1
    }
}
impl Handler<Wait> for Worker {
    type Result = ResponseActFuture<Self, Result<u32, String>>;
    fn handle(&mut self, Wait(gate): Wait, _: &mut Self::Context) -> Self::Result {
        Box::pin(gate.into_actor(self).map(|got, _, _| got.map_err(|error| error.to_string())))
    }
}
impl Handler<Apart> for Worker {
    type Result = ResponseFuture<u32>;
    fn handle(&mut self, Apart(gate): Apart, _: &mut Self::Context) -> Self::Result {
        Box::pin(async { gate.await.unwrap() })
    }
}
impl Handler<Stop> for Worker {
    type Result = ();
    fn handle(&mut self, _: Stop, ctx: &mut Self::Context) {
        ctx.stop();
    }
}
impl Handler<Panic> for Worker {
    type Result = MessageResult<Panic>;
    fn handle(&mut self, _: Panic, _: &mut Self::Context) -> Self::Result {
        panic!("told to")
    }
}
quorate_actors::metered!(Worker: Block, Wait, Apart, Stop, Panic);

const LIMIT: Duration = Duration::from_secs(20);

fn new_meter(limits: Limits) -> Arc<Meter> {
    Arc::new(Meter::new::<Worker>("worker", limits))
}

fn start() -> Port<Worker> {
    meter::start(Worker, new_meter(Limits::default()))
}

fn see<A: Metered>(port: &Port<A>) -> ActorSnapshot {
    port.meter().snapshot(Instant::now())
}

fn row(port: &Port<Worker>, message: &str) -> MessageSnapshot {
    let row = see(port).messages.into_iter().find(|row| row.message == message).unwrap();
    assert_eq!(row.refused, row.refused_full + row.refused_overloaded + row.refused_dead);
    row
}

/// `sent, queued, in_flight, replied, lost`.
fn fate(port: &Port<Worker>, message: &str) -> [u64; 5] {
    let row = row(port, message);
    [row.sent, row.queued, row.in_flight, row.replied, row.lost]
}

/// Looks until something holds; gives all that was seen on the way.
async fn observe<A: Metered>(port: &Port<A>, until: impl Fn(&ActorSnapshot) -> bool) -> Vec<ActorSnapshot> {
    let mut seen = Vec::new();
    let look = poll_fn(|cx| {
        seen.push(see(port));
        if until(&seen[seen.len() - 1]) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    });
    assert!(timeout(LIMIT, look).await.is_ok(), "not seen in time: {:?}", see(port));
    seen
}

#[actix::test]
async fn the_depth_of_a_blocked_mailbox_rises_and_drains() {
    let arbiter = Arbiter::new();
    let port = meter::start_in(&arbiter.handle(), new_meter(Limits::default()), || Worker).unwrap();
    let (open, gate) = mpsc::channel();
    let first = port.send(Block(Some(gate), Duration::ZERO)).unwrap();
    observe(&port, |actor| actor.in_flight == 1).await;
    let mut depths = Vec::new();
    let mut requests = Vec::new();
    for _ in 0..50 {
        requests.push(port.send(Block(None, Duration::from_millis(5))).unwrap());
        depths.push(see(&port).queued);
    }
    assert_eq!(depths, (1..=50).collect::<Vec<_>>());
    let running = see(&port).running_now.unwrap();
    assert_eq!(running.message, "Block");

    open.send(()).unwrap();
    let seen = observe(&port, |actor| actor.queued == 0 && actor.in_flight == 0).await;
    assert!(seen.windows(2).all(|two| two[1].queued <= two[0].queued), "the depth only falls");
    assert!(seen.iter().any(|actor| (1..50).contains(&actor.queued)), "and is seen to");
    assert!(seen.iter().all(|actor| actor.in_flight <= 1));
    assert_eq!(first.await.unwrap(), 1);
    for request in requests {
        assert_eq!(request.await.unwrap(), 1);
    }

    let row = row(&port, "Block");
    assert_eq!([row.sent, row.queued, row.in_flight, row.handled, row.replied, row.lost], [51, 0, 0, 51, 51, 0]);
    assert_eq!((row.queued_high, row.in_flight_high), (50, 1));
    let times = row.total;
    assert_eq!((times.begun, times.replied), (51, 51));
    assert!(times.wait_max_us >= 50 * 5_000 - 5_000, "{times:?}");
    assert!(times.wait_p50_us >= 20 * 5_000 && times.wait_p50_us < times.wait_max_us, "{times:?}");
    assert!(times.handler_p50_us >= 5_000 && times.handler_max_us >= times.handler_p99_us, "{times:?}");
    assert_eq!(row.last_1_min, row.last_15_min, "nothing is old yet");
    assert_eq!(row.last_1_min.begun, 51);

    // All 51 were one poll of the actor's task, of more than 250 ms.
    let actor = observe(&port, |actor| actor.busy_for_ms.is_none()).await.pop().unwrap();
    assert_eq!((actor.queued_high, actor.in_flight_high, actor.stuck_for_ms, actor.running_now), (50, 1, None, None));
    assert!(actor.stuck >= 1 && actor.polls >= 1, "{actor:?}");
    assert!(actor.busy_ns >= 250_000_000 && actor.busy_ns < actor.metered_ns, "{actor:?}");
    port.meter().reset_high();
    assert_eq!(see(&port).queued_high, 0);
    arbiter.stop();
    arbiter.join().unwrap();
}

#[actix::test]
async fn a_stuck_actor_is_seen_while_it_is_stuck() {
    let arbiter = Arbiter::new();
    let port = meter::start_in(&arbiter.handle(), new_meter(Limits::default()), || Worker).unwrap();
    let (open, gate) = mpsc::channel();
    let request = port.send(Block(Some(gate), Duration::ZERO)).unwrap();
    let seen = observe(&port, |actor| actor.stuck_for_ms.is_some()).await.pop().unwrap();
    assert!(seen.stuck_for_ms.unwrap() >= 100 && seen.busy_for_ms.unwrap() >= 100);
    assert_eq!(seen.stuck, 1, "the present poll counts");
    assert_eq!(seen.running_now.unwrap().message, "Block");
    open.send(()).unwrap();
    request.await.unwrap();
    let after = observe(&port, |actor| actor.busy_for_ms.is_none()).await.pop().unwrap();
    assert_eq!((after.stuck, after.stuck_for_ms), (1, None), "and is not counted twice");
    arbiter.stop();
    arbiter.join().unwrap();
}

#[actix::test]
async fn a_reply_future_is_in_flight_until_its_reply() {
    let port = start();
    let (open, gate) = oneshot::channel();
    let (open_apart, gate_apart) = oneshot::channel();
    let request = port.send(Wait(gate)).unwrap();
    let apart = port.send(Apart(gate_apart)).unwrap();
    assert_eq!((fate(&port, "Wait"), fate(&port, "Apart")), ([1, 1, 0, 0, 0], [1, 1, 0, 0, 0]), "nothing ran yet");
    observe(&port, |actor| actor.in_flight == 2).await;
    assert_eq!((fate(&port, "Wait"), fate(&port, "Apart")), ([1, 0, 1, 0, 0], [1, 0, 1, 0, 0]));
    assert_eq!(row(&port, "Wait").handled, 1, "the call has returned");
    open.send(7).unwrap();
    open_apart.send(8).unwrap();
    assert_eq!((request.await.unwrap(), apart.await.unwrap()), (Ok(7), 8));
    assert_eq!((fate(&port, "Wait"), fate(&port, "Apart")), ([1, 0, 0, 1, 0], [1, 0, 0, 1, 0]));
    let times = row(&port, "Wait").total;
    assert!(times.response_max_us >= times.handler_max_us, "{times:?}");
    assert_eq!(times.replied, 1);
}

#[actix::test]
async fn time_spent_waiting_is_response_time_and_not_handler_time() {
    tokio::time::pause();
    let port = start();
    let (open, gate) = oneshot::channel();
    let request = port.send(Wait(gate)).unwrap();
    tokio::time::advance(Duration::from_secs(2)).await;
    observe(&port, |actor| actor.in_flight == 1).await;
    tokio::time::advance(Duration::from_secs(3)).await;
    open.send(1).unwrap();
    request.await.unwrap().unwrap();
    let row = row(&port, "Wait");
    assert_eq!((row.wait_sum_ns, row.handler_sum_ns, row.response_sum_ns), (2_000_000_000, 0, 3_000_000_000));
    assert_eq!((row.total.wait_max_us, row.total.response_p50_us), (2_000_000, 3_000_000));
}

#[actix::test]
async fn windows_forget_and_totals_do_not() {
    tokio::time::pause();
    let port = start();
    port.send(Block(None, Duration::ZERO)).unwrap().await.unwrap();
    for _ in 0..10 {
        tokio::time::advance(Duration::from_secs(10)).await;
        port.meter().tick(Instant::now());
    }
    port.send(Block(None, Duration::ZERO)).unwrap().await.unwrap();
    let row = row(&port, "Block");
    assert_eq!((row.total.begun, row.last_1_min.begun, row.last_15_min.begun), (2, 1, 2));
    assert!((60..=80).contains(&row.last_1_min.over_s), "{:?}", row.last_1_min);
    assert_eq!((row.total.over_s, row.last_15_min.over_s), (100, 100));
}

#[actix::test]
async fn a_caller_who_leaves_costs_a_queued_message_but_no_begun_one() {
    let port = start();
    drop(port.send(Block(None, Duration::ZERO)).unwrap());
    let (open, gate) = oneshot::channel();
    let request = port.send(Wait(gate)).unwrap();
    observe(&port, |actor| actor.in_flight == 1 && actor.queued == 0).await;
    assert_eq!(fate(&port, "Block"), [1, 0, 0, 0, 1], "never begun");
    drop(request);
    open.send(1).unwrap();
    observe(&port, |actor| actor.in_flight == 0).await;
    assert_eq!(fate(&port, "Wait"), [1, 0, 0, 1, 0], "the work was done");
}

#[actix::test]
async fn what_a_stopped_actor_leaves_behind_is_lost() {
    let port = start();
    let (_open, gate) = oneshot::channel();
    let waiting = port.send(Wait(gate)).unwrap();
    let stop = port.send(Stop).unwrap();
    let queued: Vec<_> = (0..5).map(|_| port.send(Block(None, Duration::ZERO)).unwrap()).collect();
    stop.await.unwrap();
    assert_eq!(waiting.await, Err(MailboxError::Closed));
    for request in queued {
        assert_eq!(request.await, Err(MailboxError::Closed));
    }
    assert_eq!(fate(&port, "Wait"), [1, 0, 0, 0, 1]);
    assert_eq!(fate(&port, "Block"), [5, 0, 0, 0, 5]);
    assert_eq!(fate(&port, "Stop"), [1, 0, 0, 1, 0]);
    let actor = observe(&port, |actor| actor.state == "stopped").await.pop().unwrap();
    assert_eq!((actor.queued, actor.in_flight, actor.lost), (0, 0, 6));

    assert!(!port.connected());
    let Err(Refusal::Dead { message: Block(None, time) }) = port.send(Block(None, Duration::from_millis(3))) else {
        panic!("the dead took it")
    };
    assert_eq!(time.as_millis(), 3, "the message comes back");
    let refusal = port.try_send(Stop).unwrap_err();
    assert_eq!((refusal.kind(), refusal.is_retryable()), ("dead", false));
    assert_eq!((row(&port, "Block").refused_dead, row(&port, "Stop").refused_dead, fate(&port, "Stop")[0]), (1, 1, 1));
}

#[actix::test]
async fn a_panic_loses_its_message_and_a_new_incarnation_goes_on_counting() {
    let meter = new_meter(Limits::default());
    let port = meter::start(Worker, Arc::clone(&meter));
    let panicking = port.send(Panic).unwrap();
    let behind = port.send(Block(None, Duration::ZERO)).unwrap();
    assert_eq!((panicking.await.is_err(), behind.await), (true, Err(MailboxError::Closed)));
    assert_eq!((fate(&port, "Panic"), fate(&port, "Block")), ([1, 0, 0, 0, 1], [1, 0, 0, 0, 1]));
    assert_eq!(row(&port, "Panic").handled, 0);
    let dead = observe(&port, |actor| actor.state == "panicked").await.pop().unwrap();
    assert_eq!((dead.running_now, dead.busy_for_ms, dead.incarnation), (None, None, 1));
    assert!(!port.connected());

    meter.restarted("panic");
    let port = meter::start(Worker, meter);
    assert_eq!(port.send(Block(None, Duration::ZERO)).unwrap().await, Ok(1));
    assert_eq!(fate(&port, "Block"), [2, 0, 0, 1, 1]);
    let actor = see(&port);
    assert_eq!((actor.state, actor.incarnation, actor.restarts, actor.restarts_by["panic"]), ("running", 2, 1, 1));
}

#[actix::test]
async fn the_mailbox_bound_is_exact_and_shared_by_all_ports() {
    let port = meter::start(Worker, new_meter(Limits { capacity: 3, in_flight_max: 100 }));
    let clones: Vec<_> = (0..3).map(|_| port.clone()).collect();
    let requests: Vec<_> = clones.iter().map(|port| port.send(Block(None, Duration::ZERO)).unwrap()).collect();
    let refusal = port.clone().send(Block(None, Duration::ZERO)).err().unwrap();
    assert_eq!(refusal.to_string(), "mailbox is full: it takes at most 3 messages");
    assert_eq!((refusal.kind(), refusal.is_retryable()), ("full", true));
    let Err(Refusal::Full { capacity: 3, .. }) = port.try_send(Stop) else { panic!("taken") };
    assert_eq!((fate(&port, "Block"), fate(&port, "Stop")), ([3, 3, 0, 0, 0], [0; 5]));
    for request in requests {
        request.await.unwrap();
    }
    port.try_send(Block(None, Duration::ZERO)).unwrap();
    observe(&port, |actor| actor.messages[0].replied == 4).await;
    let actor = see(&port);
    assert_eq!((actor.refused, actor.queued_high, actor.capacity), (2, 3, 3));
}

#[actix::test]
async fn an_actor_refuses_beyond_what_may_be_in_flight() {
    let port = meter::start(Worker, new_meter(Limits { capacity: 100, in_flight_max: 4 }));
    let mut gates = Vec::new();
    let mut requests = Vec::new();
    for _ in 0..4 {
        let (open, gate) = oneshot::channel();
        gates.push(open);
        requests.push(port.send(Wait(gate)).unwrap());
    }
    observe(&port, |actor| actor.in_flight == 4 && actor.queued == 0).await;
    let refusal = port.send(Stop).err().unwrap();
    assert_eq!(refusal.to_string(), "actor is overloaded: it takes on at most 4 messages at once");
    assert_eq!((refusal.kind(), row(&port, "Stop").refused_overloaded), ("overloaded", 1));
    gates.pop().unwrap().send(1).unwrap();
    requests.pop().unwrap().await.unwrap().unwrap();
    assert_eq!(port.send(Block(None, Duration::ZERO)).unwrap().await, Ok(1), "one place is free again");
    assert_eq!((row(&port, "Wait").in_flight_high, see(&port).in_flight_high), (4, 4));
}

#[actix::test]
async fn a_dead_arbiter_is_seen_when_starting_and_afterwards() {
    let arbiter = Arbiter::new();
    let handle = arbiter.handle();
    let meter = new_meter(Limits::default());
    let port = meter::start_in(&handle, Arc::clone(&meter), || Worker).unwrap();
    assert_eq!(port.send(Block(None, Duration::ZERO)).unwrap().await, Ok(1));
    arbiter.stop();
    arbiter.join().unwrap();
    assert!(!port.connected());
    assert_eq!(see(&port).state, "stopped");
    assert_eq!(meter::start_in(&handle, meter, || Worker).err(), Some(ArbiterDead));
}

#[actix::test]
async fn a_message_is_taken_before_its_actor_is_built() {
    let arbiter = Arbiter::new();
    let (open, gate) = mpsc::channel::<()>();
    let build = move || {
        gate.recv().unwrap();
        Worker
    };
    let port = meter::start_in(&arbiter.handle(), new_meter(Limits::default()), build).unwrap();
    let request = port.send(Block(None, Duration::ZERO)).unwrap();
    assert_eq!((port.connected(), fate(&port, "Block")), (true, [1, 1, 0, 0, 0]));
    open.send(()).unwrap();
    assert_eq!(request.await, Ok(1));
    arbiter.stop();
    arbiter.join().unwrap();
}

#[actix::test]
async fn work_that_is_no_message_shows_as_other() {
    struct Busy(Option<mpsc::Receiver<()>>);
    impl Actor for Busy {
        type Context = Context<Self>;
        fn started(&mut self, _: &mut Self::Context) {
            self.0.take().unwrap().recv().unwrap();
        }
    }
    impl Handler<Stop> for Busy {
        type Result = ();
        fn handle(&mut self, _: Stop, ctx: &mut Self::Context) {
            ctx.stop();
        }
    }
    quorate_actors::metered!(Busy: Stop);
    let (open, gate) = mpsc::channel();
    let arbiter = Arbiter::new();
    let meter = Arc::new(Meter::new::<Busy>("busy", Limits::default()));
    let port = meter::start_in(&arbiter.handle(), meter, || Busy(Some(gate))).unwrap();
    let seen = observe(&port, |actor| actor.running_now.is_some()).await.pop().unwrap();
    assert_eq!(seen.running_now.unwrap().message, "other");
    open.send(()).unwrap();
    port.send(Stop).unwrap().await.unwrap();
    arbiter.stop();
    arbiter.join().unwrap();
}
