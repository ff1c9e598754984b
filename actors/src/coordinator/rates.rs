//! Rates: which markets feed them, when a pass is made, and how a caller's terms are met.

use super::{
    AskError, Coordinator, RateReply, RateUpdate, Reply,
    doubt::{Believed, Doubt},
    ends::{made, missing, no_word_yet},
};
use crate::{
    board::{PublishedRate, RatePlace, Slot, Standing},
    exchange::Cell,
    gather::End,
    model::{Fault, Pair},
    rate::{self, Made, MarketMiss, Markets, Memory, Offer, Own, Receipt, Rules},
    terms::{Terms, VenueFilter},
};
use actix::prelude::*;
use std::sync::{Arc, MutexGuard, PoisonError};
use tokio::time::Instant;

/// Holds what the coordinator keeps of one pair's rate; what the rule remembers is kept in its place on the board.
pub(super) struct RateState {
    pub(super) rules: Arc<Rules>,
    pub(super) markets: Markets,
    /// Whose markets of the base count.
    venues: VenueFilter,
    place: Arc<RatePlace>,
    sequence: u64,
    configured: bool,
    last_asked: Instant,
    pub(super) doubt: Doubt,
}

/// Holds one caller who waits for a rate.
pub(super) struct RateWait {
    pair: Pair,
    terms: Terms,
    joined: Instant,
    /// Whom to answer; nobody where the rate itself waits, to be confirmed.
    reply: Option<RateReply>,
    /// How many markets he still waits for.
    open: usize,
    timed_out: bool,
}

/// Holds what the markets of a rate have to say.
struct Heard {
    offers: Vec<Offer>,
    misses: Vec<MarketMiss>,
    /// Whether some venue is known to lack a market of the base.
    some_unlisted: bool,
    /// Whether any market of the base was asked, and whether any gave a quote.
    base_asked: bool,
    base_quoted: bool,
}

impl RateState {
    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.place.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn allows(&self, cell: &Cell, market: Pair, terms: Option<&Terms>) -> bool {
        // Conversions are everybody's: whom a pair or a caller trusts with the base is another question.
        !self.markets.base.contains(&market) || self.venues.allows(&cell.id) && terms.is_none_or(|terms| terms.venues.allows(&cell.id))
    }
}

impl Coordinator {
    /// Begins the rate of a pair: from now on its markets feed it.
    pub(super) fn follow_rate(&mut self, pair: Pair, venues: VenueFilter, own: &Own, configured: bool) {
        let known: Vec<Pair> = self.pairs.iter().filter(|(_, state)| state.configured).map(|(pair, _)| *pair).collect();
        let mut settings = std::borrow::Cow::Borrowed(&*self.settings.rates);
        if !configured {
            // Nobody has chosen what counts for it: everything that may.
            settings.to_mut().through = rate::Settings::default().through;
        }
        let (rules, markets) = (settings.rules(pair, own), settings.markets(pair, &known));
        // Most pairs have the same rule: they share one.
        let shared = self.rates.values().find(|state| *state.rules == rules).map(|state| Arc::clone(&state.rules));
        let rules = shared.unwrap_or_else(|| Arc::new(rules));
        for market in markets.all() {
            self.feeds.entry(market).or_default().push(pair);
        }
        let place = self.board.rates.place(pair);
        let sequence = place.latest.load().as_ref().map_or(0, |latest| latest.sequence);
        let state = RateState { rules, markets, venues, place, sequence, configured, last_asked: Instant::now(), doubt: Doubt::default() };
        self.rates.insert(pair, state);
        self.changed_rates.insert(pair);
    }

    fn forget_rate(&mut self, pair: Pair) {
        let Some(state) = self.rates.remove(&pair) else { return };
        for market in state.markets.all() {
            if let Some(fed) = self.feeds.get_mut(&market) {
                fed.retain(|other| *other != pair);
            }
        }
        self.feeds.retain(|_, fed| !fed.is_empty());
        self.board.rates.remove(&pair);
    }

    /// Sees to it that a pair has a rate; of those on demand the least recently asked goes.
    pub(super) fn rate_state(&mut self, pair: Pair, now: Instant) -> Result<(), AskError> {
        if !self.rates.contains_key(&pair) {
            if self.settings.on_demand_max == 0 {
                return Err(AskError::NotConfigured);
            }
            let demanded = self.rates.iter().filter(|(_, state)| !state.configured);
            if demanded.clone().count() >= self.settings.on_demand_max {
                let waited_for = |pair: &Pair| self.waits.values().any(|wait| wait.pair == *pair) || self.rate_subscribers.listen_to(pair);
                let idle = demanded.filter(|(pair, _)| !waited_for(pair)).min_by_key(|(_, state)| state.last_asked).map(|(pair, _)| *pair);
                self.forget_rate(idle.ok_or(AskError::Overloaded)?);
            }
            self.follow_rate(pair, VenueFilter::All, &Own::default(), false);
        }
        if let Some(state) = self.rates.get_mut(&pair) {
            state.last_asked = now;
        }
        Ok(())
    }

    /// Answers a caller at once where what is at hand satisfies him, else after a round over all markets of the rate.
    pub(super) fn begin_rate(&mut self, ctx: &mut Context<Self>, pair: Pair, terms: Terms, reply: RateReply) {
        let now = Instant::now();
        let spent = self.rounds_are_spent(now);
        let begun = match &spent {
            Some(error) if !self.rates.contains_key(&pair) => Err(error.clone()),
            _ => self.rate_state(pair, now).and_then(|()| self.rate_needs(pair, &terms, now)),
        };
        let needs = begun.and_then(|needs| match spent {
            Some(error) if !needs.is_empty() => Err(error),
            _ => Ok(needs),
        });
        let needs = match needs {
            Ok(needs) if !needs.is_empty() => needs,
            done => {
                if let Err(error) = &done {
                    self.tallies.refused(error);
                }
                let answer = done.and_then(|_| self.answer_rate(pair, &terms, None, now));
                reply.keep(answer);
                return;
            }
        };
        // A rate's round is one, over however many markets.
        self.second.1 = self.second.1.saturating_add(1);
        self.tallies.rate_round();
        self.ask_markets(ctx, pair, terms, needs, Some(reply), now);
    }

    /// Asks the venues that are needed of each market, for a caller or for the rate itself.
    pub(super) fn ask_markets(
        &mut self,
        ctx: &mut Context<Self>,
        pair: Pair,
        terms: Terms,
        needs: Vec<(Pair, Vec<usize>)>,
        reply: Option<RateReply>,
        now: Instant,
    ) {
        let key = self.next_wait;
        self.next_wait = key.wrapping_add(1);
        let of_markets = Terms { min_sources: None, venues: VenueFilter::All, ..terms.clone() };
        self.waits.insert(key, RateWait { pair, terms, joined: now, reply, open: needs.len(), timed_out: false });
        for (market, needs) in needs {
            if self.pairs.contains_key(&market) {
                self.enter(ctx, market, needs, of_markets.clone(), Reply::Rate(key), now);
            } else {
                // Where few pairs are kept on demand, one market of a rate can take another's place: nobody is asked for that one.
                self.rate_market_done(key, End::All, now);
            }
        }
    }

    /// Gives for each market of a rate the venues that must be asked before the caller can be answered.
    pub(super) fn rate_needs(&mut self, pair: Pair, terms: &Terms, now: Instant) -> Result<Vec<(Pair, Vec<usize>)>, AskError> {
        let (rules, as_of) = (self.rules(), self.board.clock.at(now));
        let unmet =
            terms.min_sources.is_some_and(|wanted| self.own_pass(pair, terms, None, now).is_none_or(|own| survivors(&own) < wanted));
        let of_conversion = Terms { min_sources: None, ..terms.clone() };
        // With too few sources every venue is asked again whose quote does not count.
        let of_base = Terms { min_sources: unmet.then_some(usize::MAX), ..terms.clone() };
        let markets = self.rates.get(&pair).map(|state| state.markets.clone()).unwrap_or_default();
        let mut all = Vec::new();
        for (number, market) in markets.all().enumerate() {
            if number == markets.base.len() && self.is_unlisted(&markets.base, now) {
                // Whom nobody lists needs no conversion.
                return Ok(Vec::new());
            }
            let Some(rate) = self.rates.get(&pair) else { continue };
            let allowed: Vec<bool> = self.venues.iter().map(|cell| rate.allows(cell, market, Some(terms))).collect();
            let terms = if markets.base.contains(&market) { &of_base } else { &of_conversion };
            let state = self.pair_state(market, now)?;
            let needs = state.needs(now, terms, &allowed, |slot, quote| rate::admit(quote, &slot.member, now, as_of, &rules).is_ok());
            if !needs.is_empty() {
                all.push((market, needs));
            }
        }
        Ok(all)
    }

    fn is_unlisted(&self, markets: &[Pair], now: Instant) -> bool {
        let mut slots = markets.iter().filter_map(|market| self.pairs.get(market)).flat_map(|state| &state.slots);
        slots.all(|slot| slot.is_unlisted(now))
    }

    /// Notes that one market of a caller's rate is done with; answers him after the last.
    pub(super) fn rate_market_done(&mut self, key: u64, end: End, now: Instant) {
        let Some(wait) = self.waits.get_mut(&key) else { return };
        wait.open = wait.open.saturating_sub(1);
        wait.timed_out |= end == End::Deadline;
        if wait.open == 0 {
            let end = if wait.timed_out { End::Deadline } else { End::All };
            self.keep_rate(key, end, now);
        }
    }

    /// Answers those who wait for a rate that a market feeds, and who have as many sources now as they want.
    pub(super) fn settle_rates(&mut self, market: Pair, now: Instant) {
        let Some(fed) = self.feeds.get(&market).filter(|_| !self.waits.is_empty()) else { return };
        let waiting = self.waits.iter().filter(|(_, wait)| fed.contains(&wait.pair));
        let enough = waiting.filter(|(_, wait)| {
            let own = || self.own_pass(wait.pair, &wait.terms, Some((End::Enough, wait.joined)), now);
            wait.terms.min_sources.is_some_and(|wanted| own().is_some_and(|own| survivors(&own) >= wanted))
        });
        for key in enough.map(|(key, _)| *key).collect::<Vec<_>>() {
            self.keep_rate(key, End::Enough, now);
        }
    }

    fn keep_rate(&mut self, key: u64, end: End, now: Instant) {
        let Some(wait) = self.waits.remove(&key) else { return };
        let Some(reply) = wait.reply else { return self.confirmed(wait.pair, end, now) };
        self.tallies.answered(Some(end));
        let answer = self.answer_rate(wait.pair, &wait.terms, Some((end, wait.joined)), now);
        reply.keep(answer);
    }

    /// Makes a caller's answer of what is at hand: the pair's own receipt where that satisfies him, else one of his own, which the rule does not remember.
    fn answer_rate(
        &mut self,
        pair: Pair,
        terms: &Terms,
        end: Option<(End, Instant)>,
        now: Instant,
    ) -> Result<Arc<PublishedRate>, AskError> {
        // What came unasked is published by the flush that follows; what was asked for is published now.
        if end.is_some() && self.changed_rates.remove(&pair) {
            self.publish_rate(pair, now, made(end), missing(end, terms), false);
        }
        let latest = self.board.latest_rate(&pair);
        if let Some(latest) = latest.filter(|latest| latest.satisfies(terms, end.map(|(_, joined)| joined), now)) {
            return Ok(latest);
        }
        let own = self.own_pass(pair, terms, end, now).map(Arc::new).ok_or(AskError::UnknownPair)?;
        self.tallies.made(own.receipt.outcome.status);
        Ok(own)
    }

    /// Runs the rule for one caller, on what his terms allow; `None` where every venue says that it does not list the pair.
    fn own_pass(&self, pair: Pair, terms: &Terms, end: Option<(End, Instant)>, now: Instant) -> Option<PublishedRate> {
        let state = self.rates.get(&pair)?;
        let missing = Arc::new(missing(end, terms));
        let since = end.map(|(_, joined)| joined);
        let heard = self.heard(state, Some(terms), |slot| match slot.standing(now, terms.max_age, since, terms.fresh) {
            Standing::Unknown => Standing::Miss(Arc::clone(&missing), now),
            standing => standing,
        });
        if !heard.base_asked && heard.some_unlisted && terms.venues == VenueFilter::All {
            return None;
        }
        let mut memory = state.memory().clone();
        Some(self.pass(pair, state, heard, &mut memory, now, made(end)))
    }

    /// Collects what the venues have to say about the markets of a rate.
    fn heard(&self, state: &RateState, terms: Option<&Terms>, standing: impl Fn(&Slot) -> Standing) -> Heard {
        let mut heard = Heard { offers: Vec::new(), misses: Vec::new(), some_unlisted: false, base_asked: false, base_quoted: false };
        let base = state.markets.base.len();
        for (number, market) in state.markets.all().enumerate() {
            let Some(pair) = self.pairs.get(&market) else { continue };
            let allowed = pair.slots.iter().zip(self.venues.iter()).filter(|(_, cell)| state.allows(cell, market, terms));
            for (slot, _) in allowed {
                let standing = standing(slot);
                heard.base_quoted |= number < base && matches!(standing, Standing::Row(_));
                match standing {
                    Standing::Row(quote) => heard.offers.push(Offer {
                        member: Arc::clone(&slot.member),
                        pair: market,
                        ticker: quote.ticker,
                        received: self.board.clock.at(quote.received),
                        latency: quote.latency,
                        source: quote.source,
                    }),
                    Standing::Miss(fault, _) => heard.misses.push(MarketMiss { venue: slot.member.venue.clone(), pair: market, fault }),
                    Standing::Unlisted => {
                        heard.some_unlisted |= number < base;
                        continue;
                    }
                    Standing::Unknown => continue,
                }
                heard.base_asked |= number < base;
            }
        }
        heard.offers.sort_unstable_by(|a, b| (&a.member.venue, a.pair).cmp(&(&b.member.venue, b.pair)));
        heard
    }

    fn pass(&self, pair: Pair, state: &RateState, heard: Heard, memory: &mut Memory, now: Instant, made: Made) -> PublishedRate {
        let as_of = self.board.clock.at(now);
        let outcome = rate::pass(pair, &state.rules, heard.offers, as_of, memory);
        let oldest = outcome.oldest().and_then(|received| now.checked_sub(as_of.since(received)));
        let receipt = Receipt::new(outcome, Arc::clone(&state.rules), heard.misses, made, self.settings.simulated);
        PublishedRate::new(receipt, now, oldest, state.sequence, false)
    }

    /// Makes a pass on the last word of every venue, and puts its receipt on the board; where `only_news`, one that decides as the last did is dropped, and
    /// that one stands.
    pub(super) fn publish_rate(&mut self, pair: Pair, now: Instant, made: Made, missing: Fault, only_news: bool) -> Believed {
        let missing = Arc::new(missing);
        let trust = self.rules().trust_venue_time;
        let Some(state) = self.rates.get_mut(&pair) else { return Believed::Yes };
        if state.rules.admission.trust_venue_time != trust {
            Arc::make_mut(&mut state.rules).admission.trust_venue_time = trust;
        }
        let Some(state) = self.rates.get(&pair) else { return Believed::Yes };
        let heard = self.heard(state, None, |slot| match (slot.is_unlisted(now), &slot.quote, &slot.fault) {
            (true, ..) => Standing::Unlisted,
            (_, Some(quote), _) => Standing::Row(Arc::clone(quote)),
            (_, None, Some(fault)) => Standing::Miss(Arc::clone(fault), now),
            _ => Standing::Miss(Arc::clone(&missing), now),
        });
        let before = state.place.latest.load_full();
        if before.is_none() && !heard.base_quoted {
            return Believed::Yes;
        }
        let mut published = {
            let mut memory = state.memory();
            let mut after = memory.clone();
            let published = self.pass(pair, state, heard, &mut after, now, made);
            if made == Made::Memory && state.doubt.keeps_back(before.as_deref(), &published, now) {
                return Believed::NotYet;
            }
            *memory = after;
            published
        };
        if only_news && before.is_some_and(|before| before.receipt.decides_as(&published.receipt)) {
            return Believed::Yes;
        }
        let Some(state) = self.rates.get_mut(&pair) else { return Believed::Yes };
        state.sequence = state.sequence.saturating_add(1);
        (published.sequence, published.shared) = (state.sequence, true);
        let published = Arc::new(published);
        self.tallies.made(published.receipt.outcome.status);
        state.place.latest.store(Some(Arc::clone(&published)));
        self.rate_subscribers.tell(&pair, &RateUpdate(published));
        Believed::Yes
    }

    /// Makes the passes that are due because a vote has changed.
    pub(super) fn flush_rates(&mut self, ctx: &mut Context<Self>, now: Instant) {
        for pair in std::mem::take(&mut self.changed_rates) {
            if self.publish_rate(pair, now, Made::Memory, no_word_yet(), false) == Believed::NotYet {
                self.confirm(ctx, pair, now);
            }
        }
    }

    /// Makes the pass of each second.
    pub(super) fn tick_rates(&mut self, ctx: &mut Context<Self>, now: Instant) {
        for pair in self.rates.keys().copied().collect::<Vec<_>>() {
            if self.publish_rate(pair, now, Made::Memory, no_word_yet(), true) == Believed::NotYet {
                self.confirm(ctx, pair, now);
            }
        }
    }
}

fn survivors(rate: &PublishedRate) -> usize {
    rate.receipt.outcome.tally.survivors().len()
}
