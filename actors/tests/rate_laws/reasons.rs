//! Every quote is accounted for: it counts, or it names the first reason that applies, derived here a second time.

use super::{
    every_seed,
    offers::price_of,
    world::{World, world},
};
use quorate_actors::{
    model::{Amount, Asset, Group, Pair, Price, Reason, UnixMs, VenueId},
    rate::{Class, Decision, Label, Memory, Num, Offer, Outcome, Row, Rules, Status, pass},
    venue::{Basis, Member},
};
use rust_decimal::Decimal;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

type Market = (VenueId, Pair);
type Print = ([Option<Price>; 3], [Option<Amount>; 3]);

/// Holds what was seen of markets, by the words of the rule.
#[derive(Default)]
struct Seen {
    newest: BTreeMap<Market, UnixMs>,
    /// The numbers, the pass in which they were first seen, and the last good rate that stood after it.
    prints: BTreeMap<Market, (Print, UnixMs, Option<Num>)>,
}

fn is_base(pair: Pair, market: Pair) -> bool {
    pair.base == market.base || (pair.base, pair.quote) == (market.quote, market.base)
}

impl Seen {
    /// Gives the first reason for which a quote is refused, conversion left aside.
    fn reason(&mut self, offer: &Offer, world: &World, now: UnixMs, last_good: Option<Num>) -> Option<Reason> {
        let (ticker, key) = (&offer.ticker, (offer.member.venue.clone(), offer.pair));
        if ticker.halted {
            return Some(Reason::Halted);
        }
        if price_of(offer).is_none() {
            return Some(Reason::NonPositive);
        }
        if let (Basis::Mid, Some(bid), Some(ask)) = (offer.member.basis, ticker.bid, ticker.ask) {
            let (bid, ask) = (bid.get(), ask.get());
            if bid > ask {
                return Some(Reason::Crossed);
            }
            if (ask - bid) / ((ask + bid) / Decimal::TWO) > Decimal::new(1, 1) {
                return Some(Reason::Wide);
            }
        }
        if ticker.venue_time.is_some_and(|time| time.0 - now.0 > 5_000) {
            return Some(Reason::Future);
        }
        if now.0 - ticker.venue_time.map_or(offer.received.0, |time| time.0.min(offer.received.0)) > 30_000 {
            return Some(Reason::Stale);
        }
        if let Some(time) = ticker.venue_time {
            let newest = self.newest.entry(key.clone()).or_insert(time);
            if time < *newest {
                return Some(Reason::OutOfOrder);
            }
            *newest = time;
        }
        if is_base(offer.pair, world.market) && self.is_frozen(key, offer, now, last_good) {
            return Some(Reason::Frozen);
        }
        offer.member.region.filter(|region| world.market.quote != region.currency()).map(|_| Reason::Region)
    }

    fn is_frozen(&mut self, key: Market, offer: &Offer, now: UnixMs, last_good: Option<Num>) -> bool {
        let ticker = &offer.ticker;
        let print: Print = ([ticker.bid, ticker.ask, ticker.last], [ticker.bid_size, ticker.ask_size, ticker.base_volume]);
        match self.prints.get(&key) {
            Some((same, since, then)) if *same == print => {
                let (Some(then), Some(good)) = (*then, last_good) else { return false };
                let moved = Num::cmp_products(good.distance(then), Num::new(1000, 0), good, Num::new(5, 0)).is_gt();
                now.0 - since.0 > 60_000 && moved
            }
            _ => {
                self.prints.insert(key, (print, now, None));
                false
            }
        }
    }

    /// Notes the rate that stands after a pass beside the numbers first seen in it.
    fn end(&mut self, now: UnixMs, last_good: Option<Num>) {
        self.prints.values_mut().filter(|(_, since, _)| *since == now).for_each(|(.., then)| *then = last_good);
    }
}

fn is_between(pair: Pair, a: Asset, b: Asset) -> bool {
    (pair.base, pair.quote) == (a, b) || (pair.base, pair.quote) == (b, a)
}

/// Holds a pass with the conversion rates that were made of it here, each once.
struct Checked<'a> {
    world: &'a World,
    outcome: &'a Outcome,
    rates: BTreeMap<(Asset, Asset), Option<Num>>,
}

impl Checked<'_> {
    /// Gives the admitted quotes of two currencies against each other.
    fn makers(&self, a: Asset, b: Asset) -> Vec<Offer> {
        let is_admitted = |row: &&Row| !row.is_base && is_between(row.offer.pair, a, b) && !matches!(row.decision, Decision::Refused(_));
        self.outcome.rows.iter().filter(is_admitted).map(|row| row.offer.clone()).collect()
    }

    /// Makes a conversion rate by a pass of its own.
    fn own(&self, from: Asset, to: Asset) -> Outcome {
        let free = |offer: Offer| Offer { member: Arc::new(Member { region: None, ..(*offer.member).clone() }), ..offer };
        let offers = self.makers(from, to).into_iter().map(free).collect();
        let is_coin = |asset: Asset| asset == "USDT" || asset == "USDC";
        let is_anchored = |asset: Asset| is_coin(asset) || asset == "USD" || asset == "EUR";
        let is_peg = is_anchored(from) && is_anchored(to) && (is_coin(from) || is_coin(to));
        let rules = Rules::of(if is_peg { Class::Peg } else { Class::Other });
        pass(Pair { base: from, quote: to }, &rules, offers, self.outcome.as_of, &mut Memory::default())
    }

    fn rate(&mut self, from: Asset, to: Asset) -> Option<Num> {
        if self.world.rules.is_par(from, to) {
            return Some(Num::ONE);
        }
        if let Some(known) = self.rates.get(&(from, to)) {
            return *known;
        }
        let own = self.own(from, to);
        let rate = own.rate.filter(|_| matches!(own.status, Status::Ok | Status::Degraded));
        self.rates.insert((from, to), rate);
        rate
    }

    /// Gives the way to the target by the words of the rule: how many steps, and their product.
    fn way(&mut self, from: Asset) -> Option<(usize, Num)> {
        let (rules, target) = (&self.world.rules, self.world.market.quote);
        if rules.is_par(from, target) || !self.makers(from, target).is_empty() {
            return self.rate(from, target).map(|rate| (1, rate));
        }
        let is_coin = rules.is_stablecoin(from) || rules.is_stablecoin(target);
        let bridges: &[&str] = if is_coin { &["USD", "EUR"] } else { &["USD", "EUR", "USDT", "BTC"] };
        let bridges = bridges.iter().map(|code| Asset::new(code).unwrap());
        let base = self.world.market.base;
        bridges.filter(|via| ![from, target, base].contains(via)).find_map(|via| {
            let (first, second) = (self.rate(from, via)?, self.rate(via, target)?);
            Some((2, first.times(second)))
        })
    }

    /// Holds what became of a row of the base to the words of the rule. Gives hops and price, where it is admitted.
    fn row(&mut self, row: &Row, reason: Option<Reason>) -> Option<(usize, Num)> {
        let (offer, market) = (&row.offer, self.world.market);
        let own = price_of(offer);
        let converted = match (reason, offer.pair) {
            (Some(_), _) => None,
            (None, pair) if pair == market => own.map(|own| (0, own)),
            (None, pair) if pair.base == market.quote => own.map(|own| (0, own.inverse().unwrap())),
            (None, pair) => self.way(pair.quote).zip(own).map(|((hops, rate), own)| (hops, own.times(rate))),
        };
        let Some((hops, converted)) = converted else {
            assert_eq!(row.decision, Decision::Refused(reason.unwrap_or(Reason::NoConversion)), "{row:?}");
            return None;
        };
        let place = self.outcome.tally.votes.iter().position(|vote| vote.operator == offer.member.operator);
        let label = self.outcome.tally.labels[place.unwrap()];
        assert_eq!((row.price, row.converted, row.hops(&self.outcome.paths)), (own, Some(converted), hops), "{row:?}");
        assert_eq!(row.decision, label.map_or(Decision::In, Decision::Out), "{row:?}");
        Some((hops, converted))
    }
}

/// Makes the votes by the words of the rule: of each operator the median of its prices with the fewest hops.
fn votes(ballots: BTreeMap<&str, Vec<(usize, Num)>>) -> Vec<(String, Num, usize)> {
    let cast = ballots.into_iter().filter(|(_, own)| !own.is_empty()).map(|(operator, mut own)| {
        own.sort();
        let hops = own[0].0;
        own.retain(|(more, _)| *more == hops);
        let (lower, upper) = (own[(own.len() - 1) / 2].1, own[own.len() / 2].1);
        (operator.to_owned(), lower.mean(upper), hops)
    });
    cast.collect()
}

#[test]
fn every_quote_counts_or_names_its_reason() {
    let reached = every_seed(|rng, reached| {
        let world = world(rng);
        let (mut memory, mut seen) = (Memory::default(), Seen::default());
        for (now, offers) in &world.frames {
            let before = memory.last_good.map(|good| good.rate);
            let outcome = pass(world.market, &world.rules, offers.clone(), *now, &mut memory);
            let markets: BTreeSet<Market> = offers.iter().map(|offer| (offer.member.venue.clone(), offer.pair)).collect();
            let shown: Vec<Market> = outcome.rows.iter().map(|row| (row.offer.member.venue.clone(), row.offer.pair)).collect();
            assert!(markets.into_iter().eq(shown), "each market once, in order");

            let mut checked = Checked { world: &world, outcome: &outcome, rates: BTreeMap::new() };
            let mut ballots: BTreeMap<&str, Vec<(usize, Num)>> = BTreeMap::new();
            for row in &outcome.rows {
                let reason = seen.reason(&row.offer, &world, *now, before);
                assert_eq!(row.is_base, is_base(row.offer.pair, world.market));
                if row.is_base {
                    let ballot = checked.row(row, reason);
                    ballots.entry(&row.offer.member.operator).or_default().extend(ballot);
                    reached.note_if(ballot.is_some_and(|(hops, _)| hops == 2), "two hops");
                } else {
                    let refused = matches!(row.decision, Decision::Refused(_));
                    assert!(reason.map_or(!refused, |reason| row.decision == Decision::Refused(reason)), "{row:?}");
                }
            }
            seen.end(*now, memory.last_good.map(|good| good.rate));
            let made = outcome.tally.votes.iter().map(|vote| (vote.operator.to_string(), vote.price, vote.hops));
            assert_eq!(made.collect::<Vec<_>>(), votes(ballots), "one vote an operator");

            for made in &outcome.conversions {
                let own = checked.own(made.pair.base, made.pair.quote);
                assert_eq!((made.tally.status, made.tally.rate, &made.tally.votes), (own.status, own.rate, &own.tally.votes), "{made:?}");
            }
            reached.note_outcome(&outcome);
            reached.note_if(outcome.conversions.iter().any(|made| made.tally.labels.iter().any(Option::is_some)), "a peg's outlier");
            reached.note_if(outcome.conversions.iter().any(|made| made.usable().is_none()), "a conversion that does not come out");
        }
    });
    reached.holds_all(Status::ALL.into_iter().map(Status::slug));
    reached.holds_all(Label::ALL.into_iter().map(Label::slug));
    let admission = Reason::ALL.iter().filter(|reason| reason.group() == Group::Admission);
    reached.holds_all(admission.map(|reason| reason.slug()).chain(["halted", "in"]));
    reached.holds_all(["two hops", "a peg's outlier", "a conversion that does not come out"]);
}
