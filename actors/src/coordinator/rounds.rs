//! Rounds: who is asked, who is waited for, and who is answered when.

use super::{AskError, Coordinator, QuoteReply, Reply};
use crate::{
    board::{Published, Standing, assemble},
    exchange::Fetch,
    gather::{End, Round, Waiter},
    model::{Fault, Outcome, Pair, Reason},
    rate::admit,
    terms::{Terms, VenueFilter},
};
use actix::prelude::*;
use std::{cmp::Reverse, sync::Arc, time::Duration};
use tokio::time::Instant;

impl Coordinator {
    /// Joins or begins the pair's round, or answers at once where memory satisfies the caller.
    pub(super) fn begin(
        &mut self,
        ctx: &mut Context<Self>,
        pair: Pair,
        terms: Terms,
        reply: QuoteReply,
    ) -> Result<(), (AskError, QuoteReply)> {
        let now = Instant::now();
        let spent = self.rounds_are_spent(now);
        if spent.is_some() && !self.pairs.contains_key(&pair) && self.settings.on_demand_max > 0 {
            // It needs a round for certain: no other pair is forgotten for one that is refused.
            return Err((spent.unwrap_or(AskError::Overloaded), reply));
        }
        let (rules, as_of) = (self.rules(), self.board.clock.at(now));
        let allowed: Vec<bool> = self.venues.iter().map(|cell| terms.venues.allows(&cell.id)).collect();
        let state = match self.pair_state(pair, now) {
            Ok(state) => state,
            Err(error) => return Err((error, reply)),
        };
        let needs = state.needs(now, &terms, &allowed, |slot, quote| admit(quote, &slot.member, now, as_of, &rules).is_ok());
        if needs.is_empty() {
            self.tallies.answered(None);
            let answer = self.answer(pair, &terms, None, now);
            reply.keep(answer);
            return Ok(());
        }
        if state.round.is_none() {
            if let Some(error) = spent {
                return Err((error, reply));
            }
            self.second.1 = self.second.1.saturating_add(1);
            self.tallies.quote_round();
        }
        self.enter(ctx, pair, needs, terms, Reply::Quote(reply), now);
        Ok(())
    }

    /// Begins a new second where the last is over; tells why no further round may begin in this one.
    pub(super) fn rounds_are_spent(&mut self, now: Instant) -> Option<AskError> {
        let since = now.saturating_duration_since(self.second.0);
        if since >= Duration::from_secs(1) {
            self.second = (now, 0);
        }
        let retry_after = Duration::from_secs(1).saturating_sub(now.saturating_duration_since(self.second.0));
        (self.second.1 >= self.settings.rounds_per_s).then_some(AskError::TooManyRounds { retry_after })
    }

    /// Joins the pair's round, begun where there is none, and asks the venues that are needed and not being asked already.
    pub(super) fn enter(&mut self, ctx: &mut Context<Self>, pair: Pair, needs: Vec<usize>, terms: Terms, reply: Reply, now: Instant) {
        let Some(state) = self.pairs.get_mut(&pair) else { return };
        let round = state.round.get_or_insert_with(|| Round::begin(self.venues.len()));
        // What is in the air is joined; the venues' budgets bound how often those are asked that have answered already.
        let mut to_ask: Vec<usize> = needs.iter().copied().filter(|venue| round.ask(*venue)).collect();
        // The round ends with the slowest, so that one is asked first.
        to_ask.sort_by_key(|venue| Reverse(state.slots.get(*venue).and_then(|slot| slot.quote.as_ref()).map(|quote| quote.latency)));
        let deadline = now.checked_add(terms.deadline).unwrap_or(now);
        round.join(Waiter { reply, terms, joined: now, deadline, needs });
        for venue in to_ask {
            self.scatter(ctx, pair, venue, deadline);
        }
        self.set_alarm(ctx, pair, now);
    }

    pub(super) fn scatter(&mut self, ctx: &mut Context<Self>, pair: Pair, venue: usize, deadline: Instant) {
        let Some(cell) = self.venues.get(venue) else { return };
        let sent = cell
            .port
            .load_full()
            .ok_or_else(|| cell.why_gone())
            .and_then(|port| port.send(Fetch { pair, deadline }).map_err(|_| Reason::Overloaded));
        match sent {
            Ok(request) => {
                let gathered = request.into_actor(self).map(move |outcome, act, ctx| {
                    act.gathered(
                        ctx,
                        pair,
                        venue,
                        outcome.unwrap_or_else(|_| Err(Arc::new(Fault::new(Reason::Restarting, "the exchange's actor ended")))),
                    );
                });
                ctx.spawn(gathered);
            }
            Err(reason) => {
                let fault = Arc::new(Fault::new(reason, "its actor cannot be asked now"));
                ctx.spawn(actix::fut::ready(()).map(move |(), act: &mut Self, ctx| act.gathered(ctx, pair, venue, Err(fault))));
            }
        }
    }

    fn gathered(&mut self, ctx: &mut Context<Self>, pair: Pair, venue: usize, outcome: Outcome) {
        let now = Instant::now();
        if outcome.as_ref().is_err_and(|fault| fault.reason == Reason::NotAwaited) {
            // The exchange found that caller's time over, which says nothing of the venue. Who has more time has it asked for himself.
            let round = self.pairs.get(&pair).and_then(|s| s.round.as_ref());
            if let Some(deadline) = round.and_then(|round| round.awaited_until(venue)).filter(|until| *until > now) {
                self.scatter(ctx, pair, venue, deadline);
                return;
            }
        } else {
            self.learn(ctx, venue, pair, &outcome, now);
        }
        if let Some(round) = self.pairs.get_mut(&pair).and_then(|s| s.round.as_mut()) {
            round.arrived(venue, now);
        }
        self.settle(ctx, pair, now);
    }

    /// Answers the callers whose wait is over.
    pub(super) fn settle(&mut self, ctx: &mut Context<Self>, pair: Pair, now: Instant) {
        let rules = self.rules();
        let Some(state) = self.pairs.get_mut(&pair) else { return };
        let Some(mut round) = state.round.take() else { return };
        let (venues, clock) = (&self.venues, &self.board.clock);
        let done = round.finished(now, |waiter| {
            let standings =
                state.standings_for(now, &waiter.terms, Some(waiter.joined), venues).filter(|(.., s)| matches!(s, Standing::Row(_)));
            assemble(pair, standings, now, clock.at(now), &rules).rows.iter().filter(|r| r.refused.is_none()).count()
        });
        let over = round.is_over();
        state.round = Some(round);
        if !done.is_empty() && self.changed.remove(&pair) {
            self.publish(pair, now);
        }
        let mut made: Vec<(Terms, End, Result<Arc<Published>, AskError>)> = Vec::new();
        // Those who asked under the same terms and are answered at the same moment get the same answer, made once: for who came last, as to him the least is
        // fresh.
        let mut of_rates = Vec::new();
        for (Waiter { reply, terms, joined, .. }, end) in done.into_iter().rev() {
            let reply = match reply {
                Reply::Quote(reply) => {
                    self.tallies.answered(Some(end));
                    reply
                }
                Reply::Rate(key) => {
                    of_rates.push((key, end));
                    continue;
                }
            };
            let known = made.iter().find(|(t, e, _)| *t == terms && *e == end).map(|(.., answer)| answer.clone());
            let answer = known.unwrap_or_else(|| {
                let answer = self.answer(pair, &terms, Some((end, joined)), now);
                made.push((terms, end, answer.clone()));
                answer
            });
            reply.keep(answer);
        }
        of_rates.into_iter().for_each(|(key, end)| self.rate_market_done(key, end, now));
        self.settle_rates(pair, now);
        if over {
            if let Some(state) = self.pairs.get_mut(&pair) {
                state.round = None;
            }
        } else {
            self.set_alarm(ctx, pair, now);
        }
    }

    /// Wakes when the next caller must be answered.
    fn set_alarm(&mut self, ctx: &mut Context<Self>, pair: Pair, now: Instant) {
        let Some(state) = self.pairs.get_mut(&pair) else { return };
        let Some(due) = state.round.as_ref().and_then(Round::next_deadline) else { return };
        if state.alarm.is_some_and(|at| at > now && at <= due) {
            return;
        }
        state.alarm = Some(due);
        ctx.run_later(due.saturating_duration_since(now), move |act, ctx| act.settle(ctx, pair, Instant::now()));
    }

    /// Makes a caller's answer of what is at hand. `end` is how his wait ended and when it began; `None` when he did not wait.
    fn answer(&self, pair: Pair, terms: &Terms, end: Option<(End, Instant)>, now: Instant) -> Result<Arc<Published>, AskError> {
        let state = self.pairs.get(&pair).ok_or(AskError::UnknownPair)?;
        if let (Some((_, joined)), VenueFilter::All) = (end, &terms.venues)
            && let Some(view) = state.seen_by(joined, now, self.settings.terms.max_age)
        {
            return Ok(Arc::new(Published::new(view, false, self.settings.render.clone())));
        }
        let missing = Arc::new(match end {
            Some((End::Enough, _)) | None => Fault::new(Reason::NotAwaited, "enough venues had answered"),
            _ => Fault::new(Reason::Timeout, format!("no answer within {} ms", terms.deadline.as_millis())),
        });
        let mut some_unlisted = false;
        let standings = state.standings_for(now, terms, end.map(|(_, joined)| joined), &self.venues).map(|(member, standing)| {
            some_unlisted |= matches!(standing, Standing::Unlisted);
            let standing = if matches!(standing, Standing::Unknown) { Standing::Miss(Arc::clone(&missing), now) } else { standing };
            (member, standing)
        });
        let mut view = assemble(pair, standings, now, self.board.clock.at(now), &self.rules());
        if view.asked() == 0 && some_unlisted && terms.venues == VenueFilter::All {
            return Err(AskError::UnknownPair);
        }
        view.sequence = state.sequence;
        Ok(Arc::new(Published::new(view, end.is_none(), self.settings.render.clone())))
    }
}
