//! What the coordinator holds of one pair.

use super::Reply;
use crate::{
    board::{Board, Published, Slot, Standing},
    exchange::Cell,
    gather::Round,
    model::{Outcome, Pair, Quote, UnixMs},
    rate::{AdmissionRules, admit},
    terms::{Terms, VenueFilter},
    venue::Member,
    view::{View, ViewRow},
};
use arc_swap::ArcSwapOption;
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;

pub(crate) struct PairState {
    pub(super) slots: Vec<Slot>,
    place: Arc<ArcSwapOption<Published>>,
    pub(super) configured: bool,
    pub(super) sequence: u64,
    pub(super) round: Option<Round<Reply>>,
    pub(super) alarm: Option<Instant>,
    pub(super) last_asked: Instant,
}

impl PairState {
    /// Begins a pair; `own` are the venues that a configured one is asked of, nothing for one on demand.
    pub(super) fn new(venues: &[Arc<Cell>], own: Option<&VenueFilter>, board: &Board, pair: Pair) -> Self {
        let place = board.views.place(pair);
        // Sequences go on where an earlier life of the coordinator left them.
        let sequence = place.load().as_ref().map_or(0, |p| p.view.sequence);
        let slot = |cell: &Arc<Cell>| {
            let left_out = own.is_some_and(|own| !own.allows(&cell.id));
            Slot::new(Arc::clone(&cell.member), left_out)
        };
        let slots = venues.iter().map(slot).collect();
        Self { slots, place, configured: own.is_some(), sequence, round: None, alarm: None, last_asked: Instant::now() }
    }

    pub(super) fn learn(&mut self, venue: usize, outcome: &Outcome, now: Instant) {
        if let Some(slot) = self.slots.get_mut(venue) {
            slot.learn(outcome, now);
        }
    }

    /// Gives what every venue has to say under the terms of the board; venues of which nothing is known are left out.
    pub(super) fn standings(&self, now: Instant, max_age: Duration) -> impl Iterator<Item = (&Arc<Member>, Standing)> {
        self.slots.iter().map(move |slot| (&slot.member, slot.standing(now, max_age, None, false)))
    }

    /// Gives what the venues that a caller allows have to say to him.
    pub(super) fn standings_for<'a>(
        &'a self,
        now: Instant,
        terms: &'a Terms,
        since: Option<Instant>,
        venues: &'a [Arc<Cell>],
    ) -> impl Iterator<Item = (&'a Arc<Member>, Standing)> + 'a {
        let allowed = self.slots.iter().zip(venues).filter(|(_, cell)| terms.venues.allows(&cell.id));
        allowed.map(move |(slot, _)| (&slot.member, slot.standing(now, terms.max_age, since, terms.fresh)))
    }

    /// Gives the view that is on the board, where it was made at this very moment and every venue answered it since the caller came: then it is his, too.
    pub(super) fn seen_by(&self, joined: Instant, now: Instant, max_age: Duration) -> Option<View> {
        let published = self.place.load();
        let view = published.as_ref().map(|published| &published.view).filter(|view| view.at == now && view.asked() > 0)?;
        let recent = |at: Instant| at >= joined && now.saturating_duration_since(at) <= max_age;
        let answered = |slot: &Slot| slot.is_unlisted(now) || slot.fault.is_none() && slot.learnt.is_some_and(recent);
        self.slots.iter().all(answered).then(|| view.clone())
    }

    /// Gives the venues that must be asked before a caller can be answered, none where memory satisfies him: those of which nothing recent enough is
    /// known, and where too few quotes count for him, those that have none that does.
    pub(super) fn needs(&self, now: Instant, terms: &Terms, allowed: &[bool], counts: impl Fn(&Slot, &Quote) -> bool) -> Vec<usize> {
        let standing = |slot: &Slot, at: Instant| slot.standing(at, terms.max_age, None, terms.fresh);
        let counted = |slot: &Slot| matches!(standing(slot, now), Standing::Row(quote) if counts(slot, &quote));
        let slots = || self.slots.iter().zip(allowed).enumerate().filter(|(_, (_, allowed))| **allowed).map(|(at, (slot, _))| (at, slot));
        let enough = terms.min_sources.map(|wanted| slots().filter(|(_, slot)| counted(slot)).count() >= wanted);
        let is_open = |slot: &Slot| match standing(slot, now) {
            Standing::Unknown => true,
            Standing::Unlisted => false,
            Standing::Row(_) | Standing::Miss(..) => enough == Some(false) && !counted(slot),
        };
        if enough == Some(true) || !slots().any(|(_, slot)| is_open(slot)) {
            return Vec::new();
        }
        // What would be too old by his deadline is asked along: else it would be missing then, and look as if it had been late.
        let deadline = now.checked_add(terms.deadline).unwrap_or(now);
        let expires = |slot: &Slot| matches!(standing(slot, deadline), Standing::Unknown);
        slots().filter(|(_, slot)| is_open(slot) || expires(slot)).map(|(at, _)| at).collect()
    }

    /// Counts one change up.
    pub(super) fn next_sequence(&mut self) -> u64 {
        self.sequence = self.sequence.saturating_add(1);
        self.sequence
    }

    pub(super) fn publish(&self, published: Arc<Published>) {
        self.place.store(Some(published));
    }

    /// Tells whether time alone has changed what is on the board: a word has come to be older than `max_age`, or a quote counts that did not, or no longer.
    pub(super) fn has_aged(&self, now: Instant, as_of: UnixMs, max_age: Duration, rules: &AdmissionRules) -> bool {
        let published = self.place.load();
        let Some(published) = published.as_ref() else { return false };
        let crossed = |at: Instant, age: Duration| {
            let (then, now) = (published.view.at.saturating_duration_since(at), now.saturating_duration_since(at));
            then <= age && now > age
        };
        let decided_anew = |row: &ViewRow| admit(&row.quote, &row.member, now, as_of, rules).err() != row.refused;
        let mut learnt = self.slots.iter().flat_map(|s| s.quote.as_ref().map(|q| q.received).into_iter().chain(s.learnt));
        learnt.any(|at| crossed(at, max_age)) || published.view.rows.iter().any(decided_anew)
    }
}
