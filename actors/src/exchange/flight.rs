//! One request under way, over the venue's mirrors within one fetch timeout.

use crate::{
    budget::{OutgoingBudget, Purpose},
    model::{Fault, Outcome, Reason},
    plan::Planned,
    transport::{Answer, Transport},
};
use std::{rc::Rc, time::Duration};
use tokio::{sync::oneshot, time::Instant};

/// Holds a request under way and who waits for it.
#[derive(Debug)]
pub(crate) struct Flight {
    pub(crate) request: Planned,
    /// Whether it brings every pair that the venue has.
    pub(crate) everything: bool,
    pub(crate) waiters: Vec<(usize, oneshot::Sender<Outcome>)>,
}

impl Flight {
    /// Tells whether it will bring a pair.
    pub(crate) fn covers(&self, pair: usize) -> bool {
        self.everything || self.request.pairs.contains(&pair)
    }
}

/// Holds what a flight needs, so that it borrows nothing of its actor.
pub(crate) struct Leg {
    pub(crate) transport: Rc<dyn Transport>,
    /// The addresses with their origins' numbers, in the order in which to try them.
    pub(crate) urls: Vec<(usize, Rc<str>)>,
    pub(crate) budget: Rc<OutgoingBudget>,
    pub(crate) weight: u32,
    pub(crate) started: Instant,
    pub(crate) deadline: Instant,
}

/// Holds how a flight ended.
pub(crate) struct Flown {
    pub(crate) result: Result<Answer, Fault>,
    /// The origin that was asked last.
    pub(crate) origin: usize,
    pub(crate) tries: u64,
    /// From the start of the try that was answered.
    pub(crate) latency: Duration,
}

impl Leg {
    /// Asks one address after the other until one answers; a venue's own word, whatever it is, is an answer.
    pub(crate) async fn fly(self) -> Flown {
        let mut flown = Flown { result: Err(Fault::new(Reason::Dns, "no address")), origin: 0, tries: 0, latency: Duration::ZERO };
        let mut began = self.started;
        let last = self.urls.len().saturating_sub(1);
        for (at, (origin, url)) in self.urls.iter().enumerate() {
            // The first try was paid for when the flight was permitted.
            if at > 0 && self.budget.try_take(self.weight, Purpose::Demand).is_err() {
                break;
            }
            let result = self.transport.get(url, self.deadline).await;
            let now = Instant::now();
            let elsewhere = at < last && now < self.deadline && calls_for_mirror(&result);
            flown = Flown { result, origin: *origin, tries: flown.tries.saturating_add(1), latency: now.saturating_duration_since(began) };
            if !elsewhere {
                break;
            }
            began = now;
        }
        flown
    }
}

fn calls_for_mirror(result: &Result<Answer, Fault>) -> bool {
    match result {
        Ok(answer) => answer.status >= 500 || answer.body.first() == Some(&b'<'),
        Err(fault) => fault.reason.calls_for_mirror(),
    }
}
