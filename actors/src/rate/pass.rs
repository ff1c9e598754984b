//! One run of the rule: quotes and a time in, a rate or a refusal out, with everything that led to it.

use super::{
    Conversion, Good, Hold, Label, Marks, Memory, Num, Path, Rules, Status, Tally,
    admission::{counted_time, in_time},
    conversion::{Converter, Made, Priced},
    memory::{Seen, Still},
    receipt::Quoted,
    rules::MINUTE,
    status::{publish, tally},
    vote::{Ballot, Cast, votes},
};
use crate::{
    model::{Asset, Pair, Price, Reason, Source, Ticker, UnixMs},
    venue::{Basis, Member, Region},
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
    /// Its price in its own currency, where it is admitted, or behind a wall.
    pub price: Option<Num>,
    /// That price as it is compared with others: in the target currency, or as the rate of its conversion.
    pub converted: Option<Num>,
    /// The way to the target currency, among the paths of the pass; `None` where there is nothing to convert.
    pub path: Option<usize>,
    /// The place of its operator's vote among the votes, where it has one.
    pub vote: Option<usize>,
    /// Whether it is among the nearest of its operator, of which the vote is made.
    pub votes: bool,
    /// What has been read of the memory of its market.
    pub prior: Prior,
    /// What receipts say of the offer by itself.
    pub(super) quoted: Arc<Quoted>,
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

/// Holds what of a market's memory a pass went by: nothing, where its quote was refused before that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prior {
    /// The newest venue time so far, where that is another than the quote's own.
    pub newest: Option<UnixMs>,
    /// Since when its numbers have been what they are, where that is over a minute, and the last good rate that stood then.
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
    /// The conversion rates, one for each two currencies that have an admitted market, sorted by pair.
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
    let (mut rows, changed) = admission(one_a_market(offers), pair, rules, now, memory);

    let mut for_conversion: Vec<Priced<'_>> = Vec::with_capacity(rows.len());
    for (at, row) in rows.iter().enumerate().filter(|(_, row)| !row.is_base) {
        let Some(price) = row.price else { continue };
        for_conversion.push(Priced { row: at, operator: &row.offer.member.operator, pair: row.offer.pair, price });
    }
    let mut converter = Converter::new(rules, pair.base, now, &for_conversion);
    let (paths, ways) = ways(&rows, pair, &mut converter);
    let made = converter.into_made(pair.quote, &paths);
    for (row, way) in rows.iter_mut().zip(ways) {
        row.convert(pair, way, &paths);
    }

    let (votes, cast) = vote(&rows, &paths);
    let tally = tally(votes, &rules.band, &mut memory.marks, now);
    let (status, rate) = publish(&tally, pair, rules, memory, now);
    let mut conversions = Vec::with_capacity(made.len());
    for Made { conversion, cast } in made {
        decide(&mut rows, &cast, &conversion.tally);
        conversions.push(conversion);
    }
    decide(&mut rows, &cast, &tally);
    remember_rates(&changed, memory);
    Outcome { pair, as_of: now, rows, paths, conversions, tally, status, rate, last_good: memory.last_good, before }
}

/// Notes at each quote of which vote it is a part, and why that does not count.
fn decide(rows: &mut [Row], cast: &[Cast], tally: &Tally) {
    for Cast { row, vote, is_part, price } in cast {
        let Some(row) = rows.get_mut(*row) else { continue };
        row.converted = Some(*price);
        (row.vote, row.votes) = (Some(*vote), *is_part);
        row.decision = tally.labels.get(*vote).copied().flatten().map_or(Decision::In, Decision::Out);
    }
}

impl Row {
    fn of(offer: Offer, quoted: Arc<Quoted>, target: Pair) -> Self {
        let pair = offer.pair;
        let is_base = pair.base == target.base || (pair.base, pair.quote) == (target.quote, target.base);
        let (decision, prior) = (Decision::In, Prior::default());
        Self { offer, is_base, decision, price: None, converted: None, path: None, vote: None, votes: false, prior, quoted }
    }

    /// Gives how many conversion rates stand between it and the target.
    pub fn hops(&self, paths: &[Path]) -> usize {
        self.path.and_then(|at| paths.get(at)).map_or(0, |path| path.steps.len())
    }

    fn convert(&mut self, target: Pair, way: Way, paths: &[Path]) {
        let (true, Some(price)) = (self.is_base, self.price) else { return };
        match way {
            Way::None => {
                // What is behind a wall is refused already.
                self.price = None;
                if self.decision == Decision::In {
                    self.decision = Decision::Refused(Reason::NoConversion);
                }
            }
            Way::Own if self.offer.pair == target => self.converted = Some(price),
            Way::Own => self.converted = price.inverse(),
            Way::Path(at) => {
                self.path = Some(at);
                self.converted = paths.get(at).map(|path| price.times(path.rate));
            }
        }
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
    let mut found: Vec<(Asset, Way)> = Vec::new();
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

fn vote(rows: &[Row], paths: &[Path]) -> (Vec<super::Vote>, Vec<Cast>) {
    let mut ballots = Vec::with_capacity(rows.len());
    for (at, row) in rows.iter().enumerate().filter(|(_, row)| row.is_base && row.decision == Decision::In) {
        let Some(price) = row.converted else { continue };
        ballots.push(Ballot { row: at, operator: &row.offer.member.operator, hops: row.hops(paths), price });
    }
    votes(ballots)
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
        offers.sort_by(|a, b| in_order(a, b).then_with(|| rank(a).cmp(&rank(b))).then_with(|| standing(a).cmp(&standing(b))));
        offers.dedup_by(|a, b| market(a) == market(b));
    }
    offers
}

type Details = ([Option<Price>; 3], [Option<crate::model::Amount>; 3], bool);

fn details(ticker: &Ticker) -> Details {
    ([ticker.bid, ticker.ask, ticker.last], [ticker.bid_size, ticker.ask_size, ticker.base_volume], ticker.halted)
}

/// Gives what tells apart two quotes of one market that say the same: no venue has two operators, but a file may say so.
fn standing(offer: &Offer) -> (&str, Option<Region>, &'static str, &'static str) {
    let member = &*offer.member;
    (&member.operator, member.region, member.basis.slug(), member.time_of.slug())
}

/// Gives the price of a quote in its own currency, admitted or not.
fn price_of(ticker: &Ticker, basis: Basis) -> Option<Num> {
    let num = |price: Price| Num::from(price.get());
    match basis {
        Basis::Mid => Some(num(ticker.bid?).mean(num(ticker.ask?))),
        Basis::Last => ticker.last.map(num),
    }
}

/// Decides which offers count, up to conversion, and remembers that they were seen: the rows, and the markets whose numbers are new.
fn admission(offers: Vec<Offer>, target: Pair, rules: &Rules, now: UnixMs, memory: &mut Memory) -> (Vec<Row>, Vec<usize>) {
    // Both are sorted alike: what is put between comes behind every place that was found before it.
    let (mut from, mut places) = (0, Vec::with_capacity(offers.len()));
    let row = |offer: Offer| {
        let (at, quoted) = memory.heard(from, &offer);
        from = at.saturating_add(1);
        places.push(at);
        Row::of(offer, quoted, target)
    };
    let mut rows: Vec<Row> = offers.into_iter().map(row).collect();
    let mut changed = Vec::new();
    for (row, at) in rows.iter_mut().zip(places) {
        let Row { offer, is_base, .. } = &*row;
        let walled = offer.member.region.is_some_and(|region| target.quote != region.currency());
        let last_good = memory.last_good;
        let seen = memory.markets.get_mut(at);
        let in_time = || in_time(&offer.ticker, &offer.member, now.since(offer.received), now, &rules.admission);
        let (price, refused) = match row.quoted.price().and_then(|price| in_time().map(|()| price)) {
            Err(reason) => (None, Some(reason)),
            Ok(price) => {
                let (refused, prior, is_new) =
                    seen.map(|seen| remembered(offer, *is_base, rules, now, last_good, seen)).unwrap_or_default();
                row.prior = prior;
                if is_new {
                    changed.push(at);
                }
                (Some(price), refused.or_else(|| walled.then_some(Reason::Region)))
            }
        };
        // What is behind a wall is shown with its premium.
        row.price = price.filter(|_| refused.is_none() || refused == Some(Reason::Region) && row.is_base);
        row.decision = refused.map_or(Decision::In, Decision::Refused);
    }
    (rows, changed)
}

/// Holds an admitted offer against what is remembered of its market, and remembers it: why it is refused, what was read, and whether its numbers are new.
fn remembered(
    offer: &Offer,
    is_base: bool,
    rules: &Rules,
    now: UnixMs,
    last_good: Option<Good>,
    seen: &mut Seen,
) -> (Option<Reason>, Prior, bool) {
    let time = counted_time(&offer.ticker, &offer.member, &rules.admission);
    let newest = seen.newest.filter(|newest| time.is_some_and(|time| time != *newest));
    let mut prior = Prior { newest, unchanged: None };
    if time.zip(newest).is_some_and(|(time, newest)| time < newest) {
        return (Some(Reason::OutOfOrder), prior, false);
    }
    seen.newest = seen.newest.max(time);
    if !is_base {
        return (None, prior, false);
    }
    let print = seen.quoted.print();
    if let Some(still) = seen.still.as_ref().filter(|still| still.print == *print) {
        prior.unchanged = (now.since(still.since) > MINUTE).then_some((still.since, still.good_then));
        return (is_frozen(&prior, last_good).then_some(Reason::Frozen), prior, false);
    }
    // Which rate stood after this pass is filled in at its end.
    seen.still = Some(Still { print: *print, since: now, good_then: None });
    (None, prior, true)
}

/// Tells whether a market has stood still while the rate moved by more than half a per cent.
fn is_frozen(prior: &Prior, last_good: Option<Good>) -> bool {
    let (Some((_, Some(then))), Some(good)) = (prior.unchanged, last_good) else { return false };
    Num::cmp_products(good.rate.distance(then), Num::ONE, Num::new(5, -3), good.rate) == Ordering::Greater
}

/// Notes beside the numbers first seen in this pass the rate that stands after it.
fn remember_rates(changed: &[usize], memory: &mut Memory) {
    let Some(good) = memory.last_good else { return };
    for at in changed {
        if let Some(still) = memory.markets.get_mut(*at).and_then(|seen| seen.still.as_mut()) {
            still.good_then = Some(good.rate);
        }
    }
}
