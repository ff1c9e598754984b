//! One request under way, over the venue's mirrors within one fetch timeout.

use super::Cell;
use crate::{
    budget::{Allowance, Purpose},
    meter::Promise,
    mirrors::Walk,
    model::{Fault, Outcome, Reason},
    plan::Planned,
    transport::{Answer, Transport},
};
use std::{rc::Rc, sync::Arc, time::Duration};
use tokio::time::Instant;

/// Holds a request under way and who waits for it.
#[derive(Debug)]
pub(crate) struct Flight {
    pub(crate) request: Planned,
    /// Whether it brings every pair that the venue has.
    pub(crate) everything: bool,
    pub(crate) purpose: Purpose,
    pub(crate) started: Instant,
    pub(crate) waiters: Vec<(usize, Promise<Outcome>)>,
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
    pub(crate) cell: Arc<Cell>,
    pub(crate) budget: Rc<Allowance>,
    /// The first address.
    pub(crate) url: Rc<str>,
    pub(crate) walk: Walk,
    pub(crate) weight: u32,
    pub(crate) started: Instant,
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
    /// Asks one address after the other until one answers; a venue's own word, whatever it is, is an answer. All tries share one fetch timeout and one budget.
    pub(crate) async fn fly(self) -> Flown {
        let Self { transport, cell, budget, mut url, mut walk, weight, started } = self;
        let deadline = started.checked_add(cell.fetch_timeout).unwrap_or(started);
        let (mut began, mut tries) = (started, 1u64);
        loop {
            let result = transport.get_within(&url, deadline, walk.connect_by(began, cell.fetch_timeout, deadline)).await;
            let now = Instant::now();
            let next = fault_of(&result).and_then(|fault| walk.next(&fault)).filter(|_| now < deadline);
            // The first try was paid for when the flight was permitted.
            match next.filter(|_| budget.try_take(weight, Purpose::Demand).is_ok()) {
                Some(next) => {
                    let path = url.strip_prefix(cell.origin(walk.at())).unwrap_or_default();
                    url = format!("{}{path}", cell.origin(next.at())).into();
                    (walk, began, tries) = (next, now, tries.saturating_add(1));
                }
                None => return Flown { result, origin: walk.at(), tries, latency: now.saturating_duration_since(began) },
            }
        }
    }
}

/// Tells what may call for another address: no answer, a server error, a page.
fn fault_of(result: &Result<Answer, Fault>) -> Option<Fault> {
    match result {
        Ok(answer) if answer.status >= 500 => Some(Fault::new(Reason::Http5xx, "")),
        Ok(answer) if answer.body.first() == Some(&b'<') => Some(Fault::new(Reason::Html, "")),
        Ok(_) => None,
        Err(fault) => Some(fault.clone()),
    }
}
