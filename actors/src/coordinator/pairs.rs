//! What the coordinator holds of one pair.

use super::{QuoteUpdate, Reply, Settings};
use crate::{
    board::{Board, Published, Slot, Standing},
    exchange::Cell,
    gather::Round,
    model::{Outcome, Pair, VenueId},
    terms::Terms,
    venue::TimeOf,
    view::View,
};
use actix::{Recipient, prelude::SendError};
use arc_swap::ArcSwapOption;
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;

/// The most subscribers of one pair.
const SUBSCRIBERS_MAX: usize = 1024;

pub(crate) struct PairState {
    pub(super) slots: Vec<Slot>,
    place: Arc<ArcSwapOption<Published>>,
    subscribers: Vec<Recipient<QuoteUpdate>>,
    pub(super) configured: bool,
    pub(super) sequence: u64,
    pub(super) round: Option<Round<Reply>>,
    pub(super) alarm: Option<Instant>,
    pub(super) last_asked: Instant,
}

impl PairState {
    pub(super) fn new(venues: &[Arc<Cell>], configured: bool, board: &Board, pair: Pair) -> Self {
        let place = board.place(pair);
        // Sequences go on where an earlier life of the coordinator left them.
        let sequence = place.load().as_ref().map_or(0, |p| p.view.sequence);
        let slots = venues.iter().map(|cell| Slot::new(cell.id.clone(), cell.venue.profile().time_of)).collect();
        Self { slots, place, subscribers: Vec::new(), configured, sequence, round: None, alarm: None, last_asked: Instant::now() }
    }

    pub(super) fn learn(&mut self, venue: usize, outcome: &Outcome, now: Instant) {
        if let Some(slot) = self.slots.get_mut(venue) {
            slot.learn(outcome, now);
        }
    }

    /// Gives what every venue has to say under the terms of the board; venues of which nothing is known are left out.
    pub(super) fn standings(&self, now: Instant, max_age: Duration) -> impl Iterator<Item = (&VenueId, TimeOf, Standing)> {
        self.slots.iter().map(move |slot| (&slot.venue, slot.time_of, slot.standing(now, max_age, None, false)))
    }

    /// Gives what the venues that a caller allows have to say to him.
    pub(super) fn standings_for<'a>(
        &'a self,
        now: Instant,
        terms: &'a Terms,
        since: Option<Instant>,
        venues: &'a [Arc<Cell>],
    ) -> impl Iterator<Item = (&'a VenueId, TimeOf, Standing)> + 'a {
        let allowed = self.slots.iter().zip(venues).filter(|(_, cell)| terms.venues.allows(&cell.id));
        allowed.map(move |(slot, _)| (&slot.venue, slot.time_of, slot.standing(now, terms.max_age, since, terms.fresh)))
    }

    /// Gives the view that is on the board, where it was made at this very moment and every venue answered it since the caller came: then it is his, too.
    pub(super) fn seen_by(&self, joined: Instant, now: Instant, max_age: Duration) -> Option<View> {
        let published = self.place.load();
        let view = published.as_ref().map(|published| &published.view).filter(|view| view.at == now && view.asked() > 0)?;
        let recent = |at: Instant| at >= joined && now.saturating_duration_since(at) <= max_age;
        let answered = |slot: &Slot| slot.is_unlisted(now) || slot.fault.is_none() && slot.learnt.is_some_and(recent);
        self.slots.iter().all(answered).then(|| view.clone())
    }

    /// Gives the venues that must be asked before a caller can be answered: those of which nothing recent enough is known.
    pub(super) fn needs(&self, now: Instant, terms: &Terms, allowed: &[bool]) -> Vec<usize> {
        let open = |slot: &Slot| matches!(slot.standing(now, terms.max_age, None, terms.fresh), Standing::Unknown);
        let asked = self.slots.iter().zip(allowed).enumerate().filter(|(_, (_, allowed))| **allowed);
        asked.filter(|(_, (slot, _))| open(slot)).map(|(at, _)| at).collect()
    }

    /// Counts one change up.
    pub(super) fn next_sequence(&mut self) -> u64 {
        self.sequence = self.sequence.saturating_add(1);
        self.sequence
    }

    pub(super) fn publish(&mut self, published: Arc<Published>, _: &Settings) {
        self.subscribers.retain(|to| !matches!(to.try_send(QuoteUpdate(Arc::clone(&published))), Err(SendError::Closed(_))));
        self.place.store(Some(published));
    }

    pub(super) fn subscribe(&mut self, to: Recipient<QuoteUpdate>) {
        if self.subscribers.len() < SUBSCRIBERS_MAX {
            self.subscribers.push(to);
        }
    }

    /// Tells whether a quote on the board has come to be older than one of two ages since it was published.
    pub(super) fn has_aged(&self, now: Instant, sooner: Duration, later: Duration) -> bool {
        let published = self.place.load();
        let Some(published) = published.as_ref() else { return false };
        let crossed = |at: Instant, age: Duration| {
            let (then, now) = (published.view.at.saturating_duration_since(at), now.saturating_duration_since(at));
            then <= age && now > age
        };
        let mut learnt = self.slots.iter().flat_map(|s| s.quote.as_ref().map(|q| q.received).into_iter().chain(s.learnt));
        learnt.any(|at| crossed(at, sooner) || crossed(at, later))
    }
}
