//! What a reader sees of one actor: integers, units last.

use super::{
    Event, Meter,
    cell::{CellCounts, MessageCell},
    histogram::Counts,
    lock,
};
use serde::Serialize;
use std::{
    borrow::Cow,
    collections::BTreeMap,
    iter,
    sync::{Arc, atomic::Ordering::Relaxed},
};
use tokio::time::Instant;

/// One actor at one moment. Counters run over all restarts.
#[derive(Clone, Debug, Serialize)]
pub struct ActorSnapshot {
    /// The actor's name.
    pub name: String,
    /// The actor's own word for its state; `starting`, `running`, `stopped` and `panicked` are the meter's.
    pub state: &'static str,
    /// Time since the state took its present word, in milliseconds.
    pub state_for_ms: u64,
    /// How many times the actor has been started.
    pub incarnation: u64,
    /// Time since the last start, in milliseconds; 0 before the first.
    pub up_ms: u64,
    /// Time since the meter was made, in nanoseconds: what `busy_ns` is held against for a ratio.
    pub metered_ns: u64,
    /// Restarts, of all causes.
    pub restarts: u64,
    /// Restarts by cause.
    pub restarts_by: BTreeMap<&'static str, u64>,
    /// Messages that wait now.
    pub queued: u64,
    /// The most that have waited.
    pub queued_high: u64,
    /// How many may wait.
    pub capacity: u32,
    /// Messages begun and not replied now.
    pub in_flight: u64,
    /// The most that have been in flight.
    pub in_flight_high: u64,
    /// How many may be queued or in flight together.
    pub in_flight_max: u32,
    /// Messages that the mailbox took, of all types.
    pub sent: u64,
    /// Handler calls that returned, of all types.
    pub handled: u64,
    /// Replies sent, of all types.
    pub replied: u64,
    /// Messages refused, of all types.
    pub refused: u64,
    /// Messages lost, of all types.
    pub lost: u64,
    /// Polls of the actor's task that have ended.
    pub polls: u64,
    /// Time spent in polls of the actor's task, the present one included, in nanoseconds.
    pub busy_ns: u64,
    /// Time since the present poll began, in milliseconds.
    pub busy_for_ms: Option<u64>,
    /// Polls that took longer than 100 ms, the present one included.
    pub stuck: u64,
    /// How long the present poll has taken, in milliseconds, if it is longer than 100 ms.
    pub stuck_for_ms: Option<u64>,
    /// The handler that runs now.
    pub running_now: Option<RunningNow>,
    /// Messages of all types over the last minute; `None` where none was begun or replied in it.
    pub last_1_min: Option<Times>,
    /// Messages of all types over the last quarter of an hour; `None` where none was begun or replied in it.
    pub last_15_min: Option<Times>,
    /// The last events, the oldest first.
    #[serde(skip)]
    pub events: Vec<Arc<Event>>,
    /// The last error.
    #[serde(skip)]
    pub last_error: Option<Arc<Event>>,
    /// One row for each type of message; no part of the actor's own JSON, as there are many.
    #[serde(skip)]
    pub messages: Vec<MessageSnapshot>,
}

/// What an actor is in the midst of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RunningNow {
    /// The type of the message, or `other` for what is not a metered message (timers, spawned futures).
    pub message: &'static str,
    /// For how long, in milliseconds.
    pub for_ms: u64,
}

/// One type of message: `sent = queued + in_flight + replied + lost`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MessageSnapshot {
    /// The type of the message.
    pub message: &'static str,
    /// Messages that the mailbox took.
    pub sent: u64,
    /// Messages that wait now.
    pub queued: u64,
    /// The most that have waited.
    pub queued_high: u64,
    /// Messages begun and not replied now.
    pub in_flight: u64,
    /// The most that have been in flight.
    pub in_flight_high: u64,
    /// Handler calls that returned.
    pub handled: u64,
    /// Replies sent, whether or not the caller still waited.
    pub replied: u64,
    /// Messages dropped before their reply, at whichever stage.
    pub lost: u64,
    /// Messages refused, for all reasons.
    pub refused: u64,
    /// Refused because the mailbox was full.
    pub refused_full: u64,
    /// Refused because too many were queued and in flight.
    pub refused_overloaded: u64,
    /// Refused because the actor was dead.
    pub refused_dead: u64,
    /// Sum of all waits, in nanoseconds.
    pub wait_sum_ns: u64,
    /// Sum of all handler times of replied messages, in nanoseconds.
    pub handler_sum_ns: u64,
    /// Sum of all times from begin to reply, in nanoseconds.
    pub response_sum_ns: u64,
    /// Since the meter was made.
    pub total: Times,
    /// Over the last minute.
    pub last_1_min: Times,
    /// Over the last quarter of an hour.
    pub last_15_min: Times,
}

/// How long messages took over a span of time. A figure is at most a quarter too high, and 0 when nothing was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Times {
    /// The span, in seconds.
    pub over_s: u64,
    /// Messages begun in it.
    pub begun: u64,
    /// Messages replied in it.
    pub replied: u64,
    /// Median of send → begin, in microseconds.
    pub wait_p50_us: u64,
    /// 99th percentile of the same.
    pub wait_p99_us: u64,
    /// Longest of the same.
    pub wait_max_us: u64,
    /// Median of the time in the handler's call and the polls of its reply future, in microseconds.
    pub handler_p50_us: u64,
    /// 99th percentile of the same.
    pub handler_p99_us: u64,
    /// Longest of the same.
    pub handler_max_us: u64,
    /// Median of begin → reply, in microseconds.
    pub response_p50_us: u64,
    /// 99th percentile of the same.
    pub response_p99_us: u64,
    /// Longest of the same.
    pub response_max_us: u64,
}

impl Meter {
    /// Takes the copies that the sliding windows are due for; several times a minute is often enough.
    pub fn tick(&self, now: Instant) {
        lock(&self.windows).tick(self.actor.ns_of(now), || self.cells().map(|cell| cell.counts()).collect::<Arc<[_]>>());
    }

    /// Gives all figures at the moment `now`.
    pub fn snapshot(&self, now: Instant) -> ActorSnapshot {
        self.tick(now);
        let now = self.actor.ns_of(now);
        let (messages, [last_1_min, last_15_min]) = self.message_snapshots(now);
        let (events, last_error) = self.events();
        let actor = &self.actor;
        let ((queued, in_flight), (queued_high, in_flight_high)) = (actor.load.now(), actor.load.high());
        let (started, present) = (actor.started.load(Relaxed), actor.busy_since.load(Relaxed));
        let present_ns = if present == 0 { None } else { Some(now.saturating_sub(present)) };
        let stuck_ns = present_ns.filter(|ns| *ns > super::STUCK_NS);
        let restarts_by = lock(&self.restarts).clone();
        let (state, state_since) = {
            let state = lock(&self.state);
            (state.word, state.since)
        };
        ActorSnapshot {
            name: self.name.clone(),
            state,
            state_for_ms: ms(now.saturating_sub(state_since)),
            incarnation: actor.incarnation.load(Relaxed),
            up_ms: if started == 0 { 0 } else { ms(now.saturating_sub(started)) },
            metered_ns: now,
            restarts: sum(restarts_by.values().copied()),
            restarts_by,
            queued,
            queued_high,
            capacity: self.limits.capacity,
            in_flight,
            in_flight_high,
            in_flight_max: self.limits.in_flight_max,
            sent: sum(messages.iter().map(|row| row.sent)),
            handled: sum(messages.iter().map(|row| row.handled)),
            replied: sum(messages.iter().map(|row| row.replied)),
            refused: sum(messages.iter().map(|row| row.refused)),
            lost: sum(messages.iter().map(|row| row.lost)),
            polls: actor.polls.load(Relaxed),
            busy_ns: actor.busy_ns.load(Relaxed).saturating_add(present_ns.unwrap_or(0)),
            busy_for_ms: present_ns.map(ms),
            stuck: actor.stuck.load(Relaxed).saturating_add(u64::from(stuck_ns.is_some())),
            stuck_for_ms: stuck_ns.map(ms),
            running_now: self.running_now(now, present_ns),
            last_1_min,
            last_15_min,
            events,
            last_error,
            messages,
        }
    }

    /// Gives the row of each type of message, and the times of all of them over the last minute and the last quarter of an hour.
    fn message_snapshots(&self, now: u64) -> (Vec<MessageSnapshot>, [Option<Times>; 2]) {
        let windows = lock(&self.windows);
        let marks = [windows.minute.begin(), windows.quarter.begin()];
        let seconds = |since: u64| now.saturating_sub(since).div_euclid(1_000_000_000);
        let (total_s, over_s) = (seconds(0), marks.map(|mark| seconds(mark.at)));
        let other = iter::once(&self.other).filter(|cell| cell.sent.load(Relaxed) > 0);
        let cells: Vec<&MessageCell> = self.messages.iter().chain(other).map(|cell| &**cell).collect();
        let counts: Vec<Option<CellCounts>> = cells.iter().map(|cell| (cell.sent.load(Relaxed) > 0).then(|| cell.counts())).collect();
        let (mut rows, mut came) = (Vec::with_capacity(cells.len()), Vec::new());
        for (slot, (cell, counts)) in cells.iter().zip(&counts).enumerate() {
            let Some(counts) = counts else {
                rows.push(never_sent(cell, total_s, over_s));
                continue;
            };
            let spans = marks.map(|mark| Span::of(cell, counts, mark.cells.get(slot)));
            let windows = times(&spans, over_s);
            rows.push(message_snapshot(cell, Span::of(cell, counts, None).times(total_s), windows));
            came.push((spans, windows));
        }
        let all = match came.as_slice() {
            [] => Default::default(),
            [(_, only)] => *only,
            [(first, _), others @ ..] => {
                let mut all = first.clone();
                others.iter().for_each(|(spans, _)| all.iter_mut().zip(spans).for_each(|(all, span)| all.join(span)));
                times(&all, over_s)
            }
        };
        (rows, all.map(|times| Some(times).filter(|times| times.begun > 0 || times.replied > 0)))
    }

    fn running_now(&self, now: u64, busy_ns: Option<u64>) -> Option<RunningNow> {
        let running = self.actor.running.load(Relaxed);
        match running.checked_sub(1) {
            Some(slot) => {
                let message = usize::try_from(slot).map_or(self.other.name, |slot| self.cell(slot).name);
                Some(RunningNow { message, for_ms: ms(now.saturating_sub(self.actor.mark.load(Relaxed))) })
            }
            None => busy_ns.map(|ns| RunningNow { message: self.other.name, for_ms: ms(ns) }),
        }
    }
}

/// Gives the row of a type of message that was never sent, as most are.
fn never_sent(cell: &MessageCell, total_s: u64, over_s: [u64; 2]) -> MessageSnapshot {
    let none = |over_s| Times { over_s, ..Times::default() };
    let [last_1_min, last_15_min] = over_s.map(none);
    MessageSnapshot { total: none(total_s), last_1_min, last_15_min, ..refusals(cell) }
}

/// Gives the row of a type of message with its refusals alone.
fn refusals(cell: &MessageCell) -> MessageSnapshot {
    let [refused_full, refused_overloaded, refused_dead] =
        [&cell.refused.full, &cell.refused.overloaded, &cell.refused.dead].map(|count| count.load(Relaxed));
    let refused = sum([refused_full, refused_overloaded, refused_dead]);
    MessageSnapshot { message: cell.name, refused, refused_full, refused_overloaded, refused_dead, ..MessageSnapshot::default() }
}

fn message_snapshot(cell: &MessageCell, total: Times, [last_1_min, last_15_min]: [Times; 2]) -> MessageSnapshot {
    let ((queued, in_flight), (queued_high, in_flight_high)) = (cell.load.now(), cell.load.high());
    MessageSnapshot {
        sent: cell.sent.load(Relaxed),
        queued,
        queued_high,
        in_flight,
        in_flight_high,
        handled: cell.handled.load(Relaxed),
        replied: cell.replied.load(Relaxed),
        lost: cell.lost.load(Relaxed),
        wait_sum_ns: cell.wait.sum_ns(),
        handler_sum_ns: cell.handler.sum_ns(),
        response_sum_ns: cell.response.sum_ns(),
        total,
        last_1_min,
        last_15_min,
        ..refusals(cell)
    }
}

/// What was counted over a span of time, and the longest ever measured of each kind.
#[derive(Clone)]
struct Span<'a> {
    counts: Cow<'a, CellCounts>,
    longest_ns: [u64; 3],
}

impl<'a> Span<'a> {
    fn of(cell: &MessageCell, now: &'a CellCounts, then: Option<&CellCounts>) -> Self {
        let since = |then: &CellCounts| CellCounts {
            wait: now.wait.since(&then.wait),
            handler: now.handler.since(&then.handler),
            response: now.response.since(&then.response),
        };
        let counts = then.map_or(Cow::Borrowed(now), |then| Cow::Owned(since(then)));
        Self { counts, longest_ns: [&cell.wait, &cell.handler, &cell.response].map(|histogram| histogram.max_ns()) }
    }

    fn join(&mut self, other: &Self) {
        let counts = self.counts.to_mut();
        counts.wait.join(&other.counts.wait);
        counts.handler.join(&other.counts.handler);
        counts.response.join(&other.counts.response);
        self.longest_ns.iter_mut().zip(other.longest_ns).for_each(|(longest, other)| *longest = (*longest).max(other));
    }

    fn times(&self, over_s: u64) -> Times {
        let (CellCounts { wait, handler, response }, [wait_ns, handler_ns, response_ns]) = (&*self.counts, self.longest_ns);
        let (begun, [wait_p50_us, wait_p99_us, wait_max_us]) = figures(wait, wait_ns);
        let (_, [handler_p50_us, handler_p99_us, handler_max_us]) = figures(handler, handler_ns);
        let (replied, [response_p50_us, response_p99_us, response_max_us]) = figures(response, response_ns);
        Times {
            over_s,
            begun,
            replied,
            wait_p50_us,
            wait_p99_us,
            wait_max_us,
            handler_p50_us,
            handler_p99_us,
            handler_max_us,
            response_p50_us,
            response_p99_us,
            response_max_us,
        }
    }
}

fn times([minute, quarter]: &[Span<'_>; 2], [minute_s, quarter_s]: [u64; 2]) -> [Times; 2] {
    [minute.times(minute_s), quarter.times(quarter_s)]
}

/// Counts all, and gives median, 99th percentile and longest in microseconds, rounded up; nothing is longer than the longest ever measured.
fn figures(counts: &Counts, longest_ns: u64) -> (u64, [u64; 3]) {
    let total = counts.total();
    let figures = if total == 0 { [0; 3] } else { [counts.quantile_ns(total, 50), counts.quantile_ns(total, 99), counts.max_ns()] };
    (total, figures.map(|ns| ns.min(longest_ns).div_ceil(1_000)))
}

fn ms(ns: u64) -> u64 {
    ns.div_euclid(1_000_000)
}

fn sum(counts: impl IntoIterator<Item = u64>) -> u64 {
    counts.into_iter().fold(0, u64::saturating_add)
}
