//! The embedder's door: configure, start, ask, subscribe, look inside, shut down.

mod builder;
mod shared;
mod status;

pub use builder::{Builder, PairConfig, StartError};
pub(crate) use shared::Shared;
pub use status::{ControlError, PairStatus, VenueStatus};

use crate::{
    board::{Published, PublishedRate},
    clock::Clock,
    coordinator::{Ask, AskError, AskRate, QuoteUpdate, RateUpdate, Subscribe, SubscribeRate, Tallied},
    exchange::{Cell, Control},
    meter::{self, Limits, Meter, Snapshot},
    model::{Pair, VenueId},
    rate::{self, AdmissionRules},
    terms::{Terms, VenueFilter},
};
use actix::prelude::*;
use shared::Home;
use std::{
    sync::{Arc, PoisonError, atomic::Ordering::Relaxed},
    time::Duration,
};
use tokio::time::Instant;

/// Bounds of the coordinator's mailbox: as many callers as connections are served by default.
pub(crate) const COORDINATOR_LIMITS: Limits = Limits { capacity: 4096, in_flight_max: 8192 };
/// Bounds of an exchange's mailbox.
pub(crate) const EXCHANGE_LIMITS: Limits = Limits { capacity: 1024, in_flight_max: 1024 };

/// Holds a running engine: cheap to clone, `Send` and `Sync`. Two engines in one process share nothing.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

impl Engine {
    /// Begins the configuration of an engine.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Gives the name of this start: four hexadecimal digits. Sequences count from it.
    pub fn boot(&self) -> &str {
        &self.shared.boot
    }

    /// Gives the engine's clock.
    pub fn clock(&self) -> &Clock {
        &self.shared.board.clock
    }

    /// Gives the terms that hold where a caller names none.
    pub fn terms(&self) -> &Terms {
        &self.shared.settings.terms
    }

    /// Gives the latest view of a pair, whatever its age, without waiting and without a lock; `None` for a pair that nobody has asked for.
    pub fn latest(&self, pair: &Pair) -> Option<Arc<Published>> {
        self.shared.board.latest(pair)
    }

    /// Gives the latest view of a pair where it satisfies the terms.
    pub fn remembered(&self, pair: &Pair, terms: &Terms) -> Option<Arc<Published>> {
        self.remembered_at(pair, terms, Instant::now())
    }

    /// Gives the latest view as [`Engine::remembered`] does, for a caller who has just read the clock.
    pub fn remembered_at(&self, pair: &Pair, terms: &Terms, now: Instant) -> Option<Arc<Published>> {
        if terms.fresh || terms.venues != VenueFilter::All {
            return None;
        }
        let published = self.latest(pair)?;
        let view = &published.view;
        let age = now.saturating_duration_since(view.oldest);
        let counted = || view.rows.iter().filter(|row| row.refused.is_none());
        let sources = terms.min_sources.is_none_or(|wanted| counted().count() >= wanted);
        // Who takes old quotes still gets none as counting that counts no more, should nobody have decided anew.
        let rule = self.shared.settings.rules.max_age;
        let decided = || age <= rule || counted().all(|row| now.saturating_duration_since(row.quote.received) <= rule);
        let satisfies = view.unknown == 0 && view.asked() > 0 && age <= terms.max_age && sources && decided();
        satisfies.then_some(published)
    }

    /// Answers under the caller's terms: from memory where that satisfies them, else by one round that is shared with whoever asks for the pair meanwhile.
    ///
    /// # Errors
    /// [`AskError`] where there is no answer at all. A venue that gave none is no error: it is a miss in the view.
    pub async fn ask(&self, pair: Pair, terms: Terms) -> Result<Arc<Published>, AskError> {
        if let Some(published) = self.remembered(&pair, &terms) {
            return Ok(published);
        }
        self.check_named(&terms)?;
        let port = self.shared.coordinator.load_full().ok_or(AskError::Restarting)?;
        let request = port
            .send(Ask { pair, terms })
            .map_err(|refused| if refused.is_retryable() { AskError::Overloaded } else { AskError::Restarting })?;
        request.await.unwrap_or(Err(AskError::Restarting))
    }

    fn check_named(&self, terms: &Terms) -> Result<(), AskError> {
        let (VenueFilter::Only(named) | VenueFilter::Except(named)) = &terms.venues else { return Ok(()) };
        let known = |id: &VenueId| self.shared.venues.iter().any(|cell| cell.id == *id);
        named.iter().find(|id| !known(id)).map_or(Ok(()), |unknown| Err(AskError::NoSuchVenue(unknown.to_string())))
    }

    /// Asks every venue for a pair now, under the engine's deadline.
    ///
    /// # Errors
    /// As [`Engine::ask`].
    pub async fn quote(&self, pair: &Pair) -> Result<Arc<Published>, AskError> {
        self.ask(*pair, Terms { fresh: true, ..self.terms().clone() }).await
    }

    /// Sends every change of a pair to an actor, as far as its mailbox takes them, until the actor ends.
    ///
    /// # Errors
    /// [`AskError::Restarting`] or [`AskError::Overloaded`] where the coordinator cannot take the subscription now or the pair has too many already, and
    /// [`AskError::NotConfigured`].
    pub async fn subscribe(&self, pair: Pair, to: Recipient<QuoteUpdate>) -> Result<(), AskError> {
        let port = self.shared.coordinator.load_full().ok_or(AskError::Restarting)?;
        port.send(Subscribe { pair, to }).map_err(|_| AskError::Overloaded)?.await.unwrap_or(Err(AskError::Restarting))
    }

    /// Gives the latest rate of a pair, whatever its age and status, without waiting and without a lock; `None` where no pass has been made.
    pub fn latest_rate(&self, pair: &Pair) -> Option<Arc<PublishedRate>> {
        self.shared.board.latest_rate(pair)
    }

    /// Gives the latest rate of a pair where it satisfies the terms.
    pub fn remembered_rate(&self, pair: &Pair, terms: &Terms) -> Option<Arc<PublishedRate>> {
        self.remembered_rate_at(pair, terms, Instant::now())
    }

    /// Gives the latest rate as [`Engine::remembered_rate`] does, for a caller who has just read the clock.
    pub fn remembered_rate_at(&self, pair: &Pair, terms: &Terms, now: Instant) -> Option<Arc<PublishedRate>> {
        if terms.fresh || terms.venues != VenueFilter::All {
            return None;
        }
        self.latest_rate(pair).filter(|latest| latest.satisfies(terms, None, now))
    }

    /// Answers with a pair's rate under the caller's terms: from memory where that satisfies them, else after one round over every market that the rate is
    /// made of. A rate that is refused is no error: its status says so.
    ///
    /// # Errors
    /// [`AskError`] where there is no answer at all.
    pub async fn ask_rate(&self, pair: Pair, terms: Terms) -> Result<Arc<PublishedRate>, AskError> {
        if let Some(published) = self.remembered_rate(&pair, &terms) {
            return Ok(published);
        }
        self.check_named(&terms)?;
        let port = self.shared.coordinator.load_full().ok_or(AskError::Restarting)?;
        let request = port
            .send(AskRate { pair, terms })
            .map_err(|refused| if refused.is_retryable() { AskError::Overloaded } else { AskError::Restarting })?;
        request.await.unwrap_or(Err(AskError::Restarting))
    }

    /// Asks every venue now for what a pair's rate is made of, under the engine's deadline.
    ///
    /// # Errors
    /// As [`Engine::ask_rate`].
    pub async fn rate(&self, pair: &Pair) -> Result<Arc<PublishedRate>, AskError> {
        self.ask_rate(*pair, Terms { fresh: true, ..self.terms().clone() }).await
    }

    /// Sends every new receipt of a pair to an actor, as far as its mailbox takes them, until the actor ends.
    ///
    /// # Errors
    /// As [`Engine::subscribe`].
    pub async fn subscribe_rate(&self, pair: Pair, to: Recipient<RateUpdate>) -> Result<(), AskError> {
        let port = self.shared.coordinator.load_full().ok_or(AskError::Restarting)?;
        port.send(SubscribeRate { pair, to }).map_err(|_| AskError::Overloaded)?.await.unwrap_or(Err(AskError::Restarting))
    }

    /// Gives the settings that every pair's rule follows from.
    pub fn rate_settings(&self) -> &rate::Settings {
        &self.shared.settings.rates
    }

    /// Counts the changes that subscribers missed because their mailboxes were full.
    pub fn updates_missed(&self) -> u64 {
        self.shared.subscribers.missed().saturating_add(self.shared.rate_subscribers.missed())
    }

    /// Gives how many rounds may begin within a second.
    pub fn rounds_per_s(&self) -> u32 {
        self.shared.settings.rounds_per_s
    }

    /// Tells whether pairs are served that are not configured.
    pub fn serves_on_demand(&self) -> bool {
        self.shared.settings.on_demand_max > 0
    }

    /// Gives how each configured pair and each pair on demand stands.
    pub fn pairs(&self) -> Vec<PairStatus> {
        status::pairs(&self.shared.board, &self.shared.pairs, &rules_under(self.shared.settings.rules, self.skew_ms()))
    }

    /// Gives how each venue stands, sorted by id.
    pub fn venues(&self) -> Vec<VenueStatus> {
        let now = Instant::now();
        self.shared.venues.iter().map(|cell| status::venue(cell, now)).collect()
    }

    /// Gives the figures of every actor.
    pub fn actors(&self) -> Snapshot {
        self.shared.registry.snapshot(Instant::now())
    }

    /// Gives a meter to an actor of the host's own, shown among the engine's under a name of its own.
    pub fn meter<A: meter::Metered>(&self, name: &str, limits: Limits) -> Arc<Meter> {
        self.shared.registry.meter::<A>(name, limits)
    }

    /// Sets the high-water marks of one actor, or of all, back to the present depths; tells how many actors that were.
    pub fn reset_high(&self, actor: Option<&str>) -> usize {
        let meters = self.shared.registry.meters();
        let meant = meters.iter().filter(|meter| actor.is_none_or(|name| meter.name() == name));
        meant.inspect(|meter| meter.reset_high()).count()
    }

    /// Counts what the coordinator has done, over all its lives.
    pub fn tallies(&self) -> Tallied {
        self.shared.tallies.now()
    }

    /// Gives how far our clock is behind the venues' by their `Date` headers, in milliseconds: the median.
    pub fn skew_ms(&self) -> Option<i64> {
        skew_ms(&self.shared.venues)
    }

    /// Pauses, resumes, restarts or reconnects one venue; the others do not notice.
    ///
    /// # Errors
    /// [`ControlError`] where there is no such venue, or its actor cannot be told now.
    pub async fn control(&self, venue: &str, control: Control) -> Result<(), ControlError> {
        let cell =
            self.shared.venues.iter().find(|cell| cell.id.as_str() == venue).ok_or_else(|| ControlError::NoSuchVenue(venue.to_owned()))?;
        match control {
            // Kept beside the actor, so that a pause outlives a restart and takes effect while there is no actor.
            Control::Pause => cell.facts().paused = true,
            Control::Resume => cell.facts().paused = false,
            _ => {}
        }
        let port = cell.port.load_full().ok_or(ControlError::Restarting)?;
        let sent = port.send(control).map_err(|_| ControlError::Overloaded)?.await;
        // Those that end the actor end it before it can reply.
        if sent.is_err() && matches!(control, Control::Pause | Control::Resume | Control::Reconnect) {
            Err(ControlError::Restarting)
        } else {
            Ok(())
        }
    }

    /// Stops all actors of the engine and the arbiters that it started; waits until they are gone, two seconds at most.
    pub async fn shutdown(&self) {
        self.shared.stopping.store(true, Relaxed);
        let ports: Vec<_> = self.shared.venues.iter().filter_map(|cell| cell.port.swap(None)).collect();
        for port in &ports {
            port.try_send(Control::Restart).ok();
        }
        let coordinator = self.shared.coordinator.swap(None);
        if let Some(port) = &coordinator {
            port.try_send(crate::coordinator::Stop).ok();
        }
        let until = Instant::now().checked_add(Duration::from_secs(2));
        let alive = || ports.iter().any(|p| p.connected()) || coordinator.as_ref().is_some_and(|p| p.connected());
        while alive() && until.is_some_and(|until| Instant::now() < until) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        for place in &self.shared.places {
            if let Home::Own(arbiter) = &*place.arbiter.lock().unwrap_or_else(PoisonError::into_inner) {
                arbiter.stop();
            }
        }
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("boot", &self.shared.boot).field("venues", &self.shared.venues.len()).finish_non_exhaustive()
    }
}

/// Gives the rules of admission while our own clock is off by so much: the venues' times are left out of account beyond two seconds.
pub(crate) fn rules_under(rules: AdmissionRules, skew_ms: Option<i64>) -> AdmissionRules {
    AdmissionRules { trust_venue_time: rules.trust_venue_time && skew_ms.is_none_or(|ms| ms.unsigned_abs() <= 2_000), ..rules }
}

/// Gives the median of how far the venues' `Date` headers were ahead of our clock.
pub(crate) fn skew_ms(venues: &[Arc<Cell>]) -> Option<i64> {
    let mut ahead: Vec<i64> = venues.iter().filter_map(|cell| cell.facts().ahead_ms).collect();
    ahead.sort_unstable();
    // Two may be wrong together: three agree, or none is believed.
    if ahead.len() < 3 { None } else { ahead.get(ahead.len() / 2).copied() }
}
