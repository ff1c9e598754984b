//! One run of the rule: quotes and a time in, a rate or a refusal out, with everything that led to it.

use super::{
    Conversion, Good, Hold, Label, Marks, Memory, Num, Path, Rules, Status, Tally,
    admission::{admit_ticker, counted_time},
    conversion::{Converter, Priced},
    memory::{Print, Still},
    rules::MINUTE,
    status::{publish, tally},
    vote::{Ballot, votes},
};
use crate::{
    model::{Pair, Price, Reason, Source, Ticker, UnixMs},
    venue::{Basis, Member},
};
use std::{
    cmp::{Ordering, Reverse},
    sync::Arc,
    time::Duration,
};

/// Holds what one venue says about one market, as a pass takes it in.
#[derive(Clone, Debug)]
pub struct Offer {
    /// What of the venue decides how it counts.
    pub member: Arc<Member>,
    /// The market.
    pub pair: Pair,
    /// What the venue says.
    pub ticker: Ticker,
    /// When that was received, on the clock of the pass: its age is what has passed since.
    pub received: UnixMs,
    /// From the request's start to the whole answer.
    pub latency: Duration,
    /// Which way it came.
    pub source: Source,
}

/// Holds an offer and what became of it.
#[derive(Clone, Debug)]
pub struct Row {
    /// The offer.
    pub offer: Offer,
    /// Whether it prices the base; otherwise it serves for conversion alone.
    pub is_base: bool,
    /// What was decided.
    pub decision: Decision,
    /// Its price in its own currency, where it is admitted.
    pub price: Option<Num>,
    /// Its price in the target currency, where it is admitted and prices the base.
    pub converted: Option<Num>,
    /// The way to the target currency, among the paths of the pass; `None` where there is nothing to convert.
    pub path: Option<usize>,
    /// Whether it is among the nearest of its operator, of which the vote is made.
    pub votes: bool,
    /// What the memory held of its market.
    pub prior: Prior,
}

/// Tells what a pass decided on a quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It counts.
    In,
    /// It was not admitted.
    Refused(Reason),
    /// Its operator's vote does not count.
    Out(Label),
}

impl Decision {
    /// Gives the word for it.
    pub fn slug(self) -> &'static str {
        match self {
            Self::In => "in",
            Self::Refused(reason) => reason.slug(),
            Self::Out(label) => label.slug(),
        }
    }
}

/// Holds what of a market's memory a pass has read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prior {
    /// The newest venue time so far.
    pub newest: Option<UnixMs>,
    /// Since when its numbers have been what they are, and the last good rate that stood then; `None` where they have just changed.
    pub unchanged: Option<(UnixMs, Option<Num>)>,
}

/// Holds what else of the memory a pass has read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Before {
    /// The last good rate.
    pub last_good: Option<Good>,
    /// The jump that waited to be confirmed.
    pub hold: Option<Hold>,
    /// What was held against operators.
    pub marks: Marks,
}

/// Holds all that a pass came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The pair.
    pub pair: Pair,
    /// The time of the pass.
    pub as_of: UnixMs,
    /// Every offer, sorted by venue and pair, one for each market.
    pub rows: Vec<Row>,
    /// The ways from other currencies to the target.
    pub paths: Vec<Path>,
    /// The conversion rates that were looked at.
    pub conversions: Vec<Conversion>,
    /// The votes.
    pub tally: Tally,
    /// What the rate is worth.
    pub status: Status,
    /// The rate.
    pub rate: Option<Num>,
    /// The last good rate after this pass.
    pub last_good: Option<Good>,
    /// The memory that the pass has read.
    pub before: Before,
}

/// Runs the rule once on the quotes at hand. Memory is one value, time is an argument.
pub fn pass(pair: Pair, rules: &Rules, offers: Vec<Offer>, now: UnixMs, memory: &mut Memory) -> Outcome {
    let before = Before { last_good: memory.last_good, hold: memory.hold, marks: memory.marks.clone() };
    let mut rows: Vec<Row> = one_a_market(offers).into_iter().map(|offer| admitted(offer, pair, rules, now, memory)).collect();

    let for_conversion: Vec<Priced<'_>> = rows
        .iter()
        .enumerate()
        .filter(|(_, row)| !row.is_base)
        .filter_map(|(at, row)| Some(Priced { row: at, operator: &row.offer.member.operator, pair: row.offer.pair, price: row.price? }))
        .collect();
    let mut converter = Converter::new(rules, pair.base, now, &for_conversion);
    let (paths, ways) = ways(&rows, pair, &mut converter);
    converter.make_others(pair.quote);
    let conversions = converter.into_made();
    for (row, way) in rows.iter_mut().zip(ways) {
        row.convert(pair, way, &paths);
    }

    let tally = tally(vote(&rows, &paths), &rules.band, &mut memory.marks, now);
    let (status, rate) = publish(&tally, pair, rules, memory, now);
    for row in rows.iter_mut().filter(|row| row.is_base && row.decision == Decision::In) {
        let Some((vote, label)) = tally.vote_of(&row.offer.member.operator) else { continue };
        row.votes = row.hops(&paths) == vote.hops;
        row.decision = label.map_or(Decision::In, Decision::Out);
    }
    for conversion in &conversions {
        for at in &conversion.rows {
            let Some(row) = rows.get_mut(*at) else { continue };
            row.votes = true;
            if let Some((_, Some(label))) = conversion.tally.vote_of(&row.offer.member.operator) {
                row.decision = Decision::Out(label);
            }
        }
    }
    remember_rates(&rows, memory);
    Outcome { pair, as_of: now, rows, paths, conversions, tally, status, rate, last_good: memory.last_good, before }
}

impl Row {
    /// Gives how many conversion rates stand between it and the target.
    pub fn hops(&self, paths: &[Path]) -> usize {
        self.path.and_then(|at| paths.get(at)).map_or(0, |path| path.steps.len())
    }

    fn convert(&mut self, target: Pair, way: Way, paths: &[Path]) {
        let (true, Some(price)) = (self.is_base, self.price) else { return };
        match way {
            Way::None => self.refuse(Reason::NoConversion),
            Way::Own if self.offer.pair == target => self.converted = Some(price),
            Way::Own => self.converted = price.inverse(),
            Way::Path(at) => {
                self.path = Some(at);
                self.converted = paths.get(at).map(|path| price.times(path.rate));
            }
        }
    }

    fn refuse(&mut self, reason: Reason) {
        self.decision = Decision::Refused(reason);
        self.price = None;
    }
}

/// How a quote of the base comes to the target currency.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// It is there.
    Own,
    Path(usize),
    None,
}

/// Finds for each row the way to the target currency; each currency's is looked for once.
fn ways(rows: &[Row], target: Pair, converter: &mut Converter<'_>) -> (Vec<Path>, Vec<Way>) {
    let mut paths: Vec<Path> = Vec::new();
    let mut found: Vec<(crate::model::Asset, Way)> = Vec::new();
    let ways = rows
        .iter()
        .map(|row| {
            let from = row.offer.pair.quote;
            if !row.is_base || row.price.is_none() || row.offer.pair.base != target.base || from == target.quote {
                return Way::Own;
            }
            if let Some((_, way)) = found.iter().find(|(asset, _)| *asset == from) {
                return *way;
            }
            let way = match converter.path(from, target.quote) {
                Some(path) => {
                    paths.push(path);
                    Way::Path(paths.len().saturating_sub(1))
                }
                None => Way::None,
            };
            found.push((from, way));
            way
        })
        .collect();
    (paths, ways)
}

fn vote(rows: &[Row], paths: &[Path]) -> Vec<super::Vote> {
    let counted = rows.iter().filter(|row| row.is_base && row.decision == Decision::In);
    let ballot = |row: &'_ Row| Some((row.hops(paths), row.converted?));
    votes(counted.filter_map(|row| ballot(row).map(|(hops, price)| Ballot { operator: &row.offer.member.operator, hops, price })).collect())
}

/// Keeps of several offers for one market the newest received, of equally new ones the cheapest: whatever their order was.
fn one_a_market(mut offers: Vec<Offer>) -> Vec<Offer> {
    let market = |offer: &'_ Offer| (offer.member.venue.clone(), offer.pair);
    let in_order = |a: &Offer, b: &Offer| (&a.member.venue, a.pair).cmp(&(&b.member.venue, b.pair));
    if !offers.is_sorted_by(|a, b| in_order(a, b) == Ordering::Less) {
        let price = |offer: &Offer| price_of(&offer.ticker, offer.member.basis);
        // What has no price comes last, and what is equal in price is told apart by all else that could count.
        let rank = |offer: &Offer| {
            (Reverse(offer.received), price(offer).is_none(), price(offer), Reverse(offer.ticker.venue_time), details(&offer.ticker))
        };
        offers.sort_by(|a, b| in_order(a, b).then_with(|| rank(a).cmp(&rank(b))));
        offers.dedup_by(|a, b| market(a) == market(b));
    }
    offers
}

type Details = ([Option<Price>; 3], [Option<crate::model::Amount>; 3], bool);

fn details(ticker: &Ticker) -> Details {
    ([ticker.bid, ticker.ask, ticker.last], [ticker.bid_size, ticker.ask_size, ticker.base_volume], ticker.halted)
}

/// Gives the price of a quote in its own currency.
fn price_of(ticker: &Ticker, basis: Basis) -> Option<Num> {
    let num = |price: Price| Num::from(price.get());
    match basis {
        Basis::Mid => Some(num(ticker.bid?).mean(num(ticker.ask?))),
        Basis::Last => ticker.last.map(num),
    }
}

/// Decides whether an offer counts, up to conversion, and remembers that it was seen.
fn admitted(offer: Offer, target: Pair, rules: &Rules, now: UnixMs, memory: &mut Memory) -> Row {
    let pair = offer.pair;
    let is_base = pair.base == target.base || (pair.base, pair.quote) == (target.quote, target.base);
    let mut row =
        Row { offer, is_base, decision: Decision::In, price: None, converted: None, path: None, votes: false, prior: Prior::default() };
    match refusal(&row.offer, is_base, target, rules, now, memory, &mut row.prior) {
        Some(reason) => row.refuse(reason),
        None => row.price = price_of(&row.offer.ticker, row.offer.member.basis),
    }
    row
}

fn refusal(
    offer: &Offer,
    is_base: bool,
    target: Pair,
    rules: &Rules,
    now: UnixMs,
    memory: &mut Memory,
    prior: &mut Prior,
) -> Option<Reason> {
    let Offer { member, pair, ticker, .. } = offer;
    let last_good = memory.last_good;
    let known = memory.markets.get_mut(&(member.venue.clone(), *pair));
    *prior = known.as_deref().map_or_else(Prior::default, |seen| Prior {
        newest: seen.newest,
        unchanged: seen.still.filter(|still| still.print == Print::of(ticker)).map(|still| (still.since, still.good_then)),
    });
    if let Err(reason) = admit_ticker(ticker, member, now.since(offer.received), now, &rules.admission) {
        return Some(reason);
    }
    let time = counted_time(ticker, member, &rules.admission);
    if time.zip(prior.newest).is_some_and(|(time, newest)| time < newest) {
        return Some(Reason::OutOfOrder);
    }
    let still = is_base.then(|| match prior.unchanged {
        Some((since, good_then)) => Still { print: Print::of(ticker), since, good_then },
        // Which rate stood after this pass is filled in at its end.
        None => Still { print: Print::of(ticker), since: now, good_then: None },
    });
    if time.is_some() || still.is_some() {
        let seen = match known {
            Some(seen) => seen,
            None => memory.markets.entry((member.venue.clone(), *pair)).or_default(),
        };
        seen.newest = seen.newest.max(time);
        seen.still = still;
    }
    if is_base && is_frozen(prior, last_good, now) {
        return Some(Reason::Frozen);
    }
    let walled = member.region.is_some_and(|region| target.quote != region.currency());
    walled.then_some(Reason::Region)
}

/// Tells whether a market stands still for over a minute while the rate has moved by more than half a per cent.
fn is_frozen(prior: &Prior, last_good: Option<Good>, now: UnixMs) -> bool {
    let Some((since, Some(then))) = prior.unchanged else { return false };
    let Some(good) = last_good.filter(|_| now.since(since) > MINUTE) else { return false };
    Num::cmp_products(good.rate.distance(then), Num::ONE, Num::new(5, -3), good.rate) == Ordering::Greater
}

/// Notes beside the numbers first seen in this pass the rate that stands after it.
fn remember_rates(rows: &[Row], memory: &mut Memory) {
    let Some(good) = memory.last_good else { return };
    for row in rows.iter().filter(|row| row.is_base && row.prior.unchanged.is_none()) {
        if let Some(still) = memory.markets.get_mut(&(row.offer.member.venue.clone(), row.offer.pair)).and_then(|seen| seen.still.as_mut())
        {
            // One that was refused before it came this far has not been seen in this pass.
            if still.print == Print::of(&row.offer.ticker) {
                still.good_then = Some(good.rate);
            }
        }
    }
}
