//! A rate that moves suddenly, and rests on conversions: before it is believed, everything that it is made of is asked for again.
//!
//! The markets that price a coin and those that price its currency are polled at different moments. Where a stablecoin falls within a second, the coin's new price
//! in it meets the old price of the stablecoin, at most of the exchanges at once: votes agree, and are wrong together. Asked again at one moment, they are not.

use super::{
    Coordinator,
    ends::{made, missing},
};
use crate::{
    board::PublishedRate,
    gather::End,
    model::Pair,
    rate::{Num, Status},
    terms::{Terms, VenueFilter},
};
use actix::prelude::*;
use std::{cmp::Ordering, time::Duration};
use tokio::time::Instant;

/// How far from the last published rate a rate is sudden, as a fraction of that.
const SUDDEN: Num = Num::new(5, -3);
/// How long the venues have to say it again.
const WITHIN: Duration = Duration::from_millis(500);
/// How long what was said again is believed.
const BELIEVED_FOR: Duration = Duration::from_secs(1);

/// Tells whether a pass was published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Believed {
    Yes,
    /// It must be confirmed first.
    NotYet,
}

/// Holds what is under way to believe a rate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Doubt {
    /// Since when the venues are being asked again.
    asked: Option<Instant>,
    /// When they last had been.
    settled: Option<Instant>,
}

impl Doubt {
    /// Tells whether a pass is not to be published yet.
    pub(super) fn keeps_back(self, before: Option<&PublishedRate>, now_made: &PublishedRate, now: Instant) -> bool {
        let within = |at: Option<Instant>, time: Duration| at.is_some_and(|at| now.saturating_duration_since(at) < time);
        // Twice the time, should the answer to the asking itself be lost.
        let is_being_asked = within(self.asked, WITHIN.saturating_mul(2));
        is_being_asked || !within(self.settled, BELIEVED_FOR) && before.is_some_and(|before| is_sudden(before, now_made))
    }
}

/// Tells whether a rate is far from the one before, with votes among those that make it that rest on conversions.
fn is_sudden(before: &PublishedRate, made: &PublishedRate) -> bool {
    let agreed = |rate: &PublishedRate| {
        let outcome = &rate.receipt.outcome;
        outcome.rate.filter(|_| matches!(outcome.status, Status::Ok | Status::Degraded))
    };
    let (Some(old), Some(new)) = (agreed(before), agreed(made)) else { return false };
    let converted = || made.receipt.outcome.tally.survivors().into_iter().any(|vote| vote.hops > 0);
    Num::cmp_products(new.distance(old), Num::ONE, SUDDEN, old) == Ordering::Greater && converted()
}

impl Coordinator {
    /// Asks for everything again that a rate is made of, unless that is under way.
    pub(super) fn confirm(&mut self, ctx: &mut Context<Self>, pair: Pair, now: Instant) {
        let Some(state) = self.rates.get_mut(&pair) else { return };
        if state.doubt.asked.is_some_and(|at| now.saturating_duration_since(at) < WITHIN.saturating_mul(2)) {
            return;
        }
        state.doubt.asked = Some(now);
        let terms = Terms { fresh: true, deadline: WITHIN, min_sources: None, venues: VenueFilter::All, ..self.settings.terms.clone() };
        match self.rate_needs(pair, &terms, now) {
            Ok(needs) if !needs.is_empty() => self.ask_markets(ctx, pair, terms, needs, None, now),
            _ => self.confirmed(pair, End::All, now),
        }
    }

    /// Publishes what the venues have said again.
    pub(super) fn confirmed(&mut self, pair: Pair, end: End, now: Instant) {
        let Some(state) = self.rates.get_mut(&pair) else { return };
        state.doubt = Doubt { asked: None, settled: Some(now) };
        let (terms, end) = (Terms { deadline: WITHIN, ..self.settings.terms.clone() }, Some((end, now)));
        self.changed_rates.remove(&pair);
        self.publish_rate(pair, now, made(end), missing(end, &terms), false);
    }
}
