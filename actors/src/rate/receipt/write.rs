//! What a receipt says, in the order of its members' names.

use super::{
    MarketMiss, Receipt,
    canon::{Canon, Hole, named},
};
use crate::{
    model::{Pair, UnixMs},
    rate::{Band, Conversion, Decision, Good, Num, Row, Rules, Tally, conversion::is_between},
    text::push_str,
};
use std::fmt::Write as _;

/// The first characters of ids: of receipts, and of the sets of their voters.
const RECEIPT: &str = "r1_";
const MEMBERS: &str = "m1_";
/// The typical length of a market's row, for the first guess at a size.
const ROW_BYTES: usize = 420;

/// Gives a receipt's id and its JSON.
pub(super) fn sealed(receipt: &Receipt) -> (String, Vec<u8>) {
    let rows = receipt.outcome.rows.len().saturating_add(receipt.misses.len());
    let mut canon = Canon::with_capacity(rows.saturating_mul(ROW_BYTES).saturating_add(2048));
    push_receipt(&mut canon, receipt);
    canon.sealed(RECEIPT)
}

fn pair_name(pair: Pair) -> String {
    let mut name = String::with_capacity(16);
    // Writing to a string does not fail.
    let _ = write!(name, "{pair}");
    name
}

fn push_receipt(c: &mut Canon, receipt: &Receipt) {
    let outcome = &receipt.outcome;
    let base = |row: &&Row| row.is_base;
    let misses: Vec<&MarketMiss> = receipt.misses.iter().filter(|miss| is_base(outcome.pair, miss.pair)).collect();
    let rows: Vec<&Row> = outcome.rows.iter().filter(base).collect();
    c.braces(|c| {
        c.time("as_of", Some(outcome.as_of));
        c.text("base", outcome.pair.base.as_str());
        c.each("conversions", sections(receipt).into_iter(), |c, section| push_conversion(c, receipt, &section));
        push_counts(c, &rows, misses.len(), Some(&outcome.tally));
        push_dispersion(c, Some(&outcome.tally), outcome.rate);
        c.hole(Hole::Id);
        match outcome.last_good {
            None => c.raw("last_good", b"null"),
            Some(good) => c.object("last_good", |c| {
                c.hole(Hole::Millis("age_ms", millis(outcome.as_of, good.at)));
                push_good(c, good);
            }),
        }
        c.text("made", receipt.made.slug());
        push_members(c, &outcome.tally);
        push_misses(c, &misses);
        c.text("pair", &pair_name(outcome.pair));
        c.flag("par", outcome.paths.iter().any(|path| path.steps.iter().any(|step| step.par)));
        c.text("quote", outcome.pair.quote.as_str());
        c.each("quotes", rows.into_iter(), |c, row| push_row(c, receipt, row, Some(&outcome.tally), row.converted));
        c.num("rate", outcome.rate);
        push_rules(c, &receipt.rules);
        c.flag("simulated", receipt.simulated);
        push_before(c, receipt);
        c.text("status", outcome.status.slug());
        push_votes(c, Some(&outcome.tally));
    });
}

/// Tells whether a market prices the base of a pair: in whatever currency, or upside down in the target.
pub(super) fn is_base(pair: Pair, market: Pair) -> bool {
    market.base == pair.base || (market.base, market.quote) == (pair.quote, pair.base)
}

/// Holds the markets between two currencies that serve for conversion.
struct Section<'a> {
    pair: Pair,
    conversion: Option<&'a Conversion>,
    rows: Vec<&'a Row>,
    misses: Vec<&'a MarketMiss>,
}

/// Gives for each two currencies the markets between them, sorted by name, with the rate that was made of them.
fn sections(receipt: &Receipt) -> Vec<Section<'_>> {
    let outcome = &receipt.outcome;
    let mut sections: Vec<Section<'_>> = Vec::new();
    for row in outcome.rows.iter().filter(|row| !row.is_base) {
        section_of(receipt, &mut sections, row.offer.pair, |section| section.rows.push(row));
    }
    for miss in receipt.misses.iter().filter(|miss| !is_base(outcome.pair, miss.pair)) {
        section_of(receipt, &mut sections, miss.pair, |section| section.misses.push(miss));
    }
    sections.sort_by_key(|section| section.pair);
    sections
}

/// Finds the section of a market, begun where there is none.
fn section_of<'a>(receipt: &'a Receipt, sections: &mut Vec<Section<'a>>, market: Pair, add: impl FnOnce(&mut Section<'a>)) {
    let is_its = |pair: Pair| is_between(pair, market.base, market.quote);
    if let Some(known) = sections.iter_mut().find(|section| is_its(section.pair)) {
        return add(known);
    }
    let target = receipt.outcome.pair.quote;
    let towards = if market.base == target { Pair { base: market.quote, quote: target } } else { market };
    let conversion = receipt.outcome.conversions.iter().find(|made| is_its(made.pair));
    let pair = conversion.map_or(towards, |made| made.pair);
    let mut section = Section { pair, conversion, rows: Vec::new(), misses: Vec::new() };
    add(&mut section);
    sections.push(section);
}

fn push_conversion(c: &mut Canon, receipt: &Receipt, section: &Section<'_>) {
    let Section { pair, conversion, rows, misses } = section;
    let tally = conversion.map(|made| &made.tally);
    let rate = tally.and_then(|tally| tally.rate);
    let used = receipt.outcome.paths.iter().any(|path| path.steps.iter().any(|step| step.pair == *pair));
    c.braces(|c| {
        c.text("base", pair.base.as_str());
        push_counts(c, rows, misses.len(), tally);
        push_dispersion(c, tally, rate);
        push_misses(c, misses);
        c.text("pair", &pair_name(*pair));
        c.text("quote", pair.quote.as_str());
        c.each("quotes", rows.iter(), |c, row| {
            let price = if row.offer.pair == *pair { row.price } else { row.price.and_then(Num::inverse) };
            push_row(c, receipt, row, tally, price);
        });
        c.num("rate", rate);
        c.text("status", tally.map_or("unavailable", |tally| tally.status.slug()));
        c.flag("used", used);
        push_votes(c, tally);
    });
}

fn push_counts(c: &mut Canon, rows: &[&Row], misses: usize, tally: Option<&Tally>) {
    let admitted = rows.iter().filter(|row| !matches!(row.decision, Decision::Refused(_))).count();
    c.object("counts", |c| {
        c.count("admitted", admitted);
        c.count("asked", rows.len().saturating_add(misses));
        c.count("received", rows.len());
        c.count("survivors", tally.map_or(0, |tally| tally.survivors().len()));
        c.count("votes", tally.map_or(0, |tally| tally.votes.len()));
    });
}

fn push_dispersion(c: &mut Canon, tally: Option<&Tally>, rate: Option<Num>) {
    let middle = tally.and_then(|tally| tally.middle);
    let survivors = tally.map(Tally::survivors).unwrap_or_default();
    let ends = survivors.first().zip(survivors.last());
    c.object("dispersion", |c| {
        c.scaled("mad", false, middle.and_then(|middle| middle.mad.ratio(middle.median, 8)), 8);
        // 10^4 for basis points, 10^4 for four decimals.
        c.scaled("span_bps", false, ends.zip(rate).and_then(|((low, high), rate)| low.distance(*high).ratio(rate, 8)), 4);
    });
}

fn push_good(c: &mut Canon, good: Good) {
    c.time("as_of", Some(good.at));
    c.num("rate", Some(good.rate));
}

fn push_members(c: &mut Canon, tally: &Tally) {
    let mut names = String::with_capacity(tally.votes.len().saturating_mul(12));
    for vote in &tally.votes {
        names.push_str(&vote.operator);
        names.push('\n');
    }
    c.text("members", &named(MEMBERS, names.as_bytes()));
}

fn push_misses(c: &mut Canon, misses: &[&MarketMiss]) {
    c.each("misses", misses.iter(), |c, miss| {
        c.braces(|c| {
            c.text("detail", &miss.fault.detail);
            c.text("pair", &pair_name(miss.pair));
            c.text("reason", miss.fault.reason.slug());
            c.text("venue", miss.venue.as_str());
        });
    });
}

fn push_row(c: &mut Canon, receipt: &Receipt, row: &Row, tally: Option<&Tally>, price: Option<Num>) {
    let (offer, outcome) = (&row.offer, &receipt.outcome);
    let (member, ticker) = (&offer.member, &offer.ticker);
    let age = millis(outcome.as_of, offer.received);
    let by_time = ticker.venue_time.filter(|_| member.time_counts() && receipt.rules.admission.trust_venue_time);
    let path = row.path.and_then(|at| outcome.paths.get(at));
    c.braces(|c| {
        c.hole(Hole::Millis("age_ms", age.max(by_time.map_or(0, |time| millis(outcome.as_of, time)))));
        c.price("ask", ticker.ask);
        c.text("basis", member.basis.slug());
        c.price("bid", ticker.bid);
        c.num("converted", price);
        c.text("decision", row.decision.slug());
        push_distance(c, price, tally);
        c.flag("halted", ticker.halted);
        c.count("hops", path.map_or(0, |path| path.steps.len()));
        c.price("last", ticker.last);
        c.hole(Hole::Millis("latency_ms", u64::try_from(offer.latency.as_millis()).unwrap_or(u64::MAX)));
        c.text("operator", &member.operator);
        c.text("pair", &pair_name(offer.pair));
        c.each("path", path.into_iter().flat_map(|path| &path.steps), |c, step| {
            c.braces(|c| {
                c.text("from", step.pair.base.as_str());
                c.flag("par", step.par);
                c.num("rate", Some(step.rate));
                c.text("to", step.pair.quote.as_str());
            });
        });
        c.time("received_time", Some(offer.received));
        match member.region {
            Some(region) => c.text("region", region.code()),
            None => c.raw("region", b"null"),
        }
        c.text("source", offer.source.slug());
        c.text("time_of", member.time_of.slug());
        c.text("venue", member.venue.as_str());
        c.time("venue_time", ticker.venue_time);
        c.flag("votes", row.votes);
    });
}

fn push_distance(c: &mut Canon, price: Option<Num>, tally: Option<&Tally>) {
    let middle = tally.and_then(|tally| tally.middle).map(|middle| middle.median);
    let both = price.zip(middle);
    c.scaled(
        "distance_bps",
        both.is_some_and(|(price, median)| price < median),
        both.and_then(|(price, median)| price.distance(median).ratio(median, 8)),
        4,
    );
}

fn push_votes(c: &mut Canon, tally: Option<&Tally>) {
    let votes = tally.into_iter().flat_map(|tally| tally.votes.iter().zip(&tally.labels));
    c.each("votes", votes, |c, (vote, label)| {
        c.braces(|c| {
            c.text("decision", label.map_or("in", |label| label.slug()));
            push_distance(c, Some(vote.price), tally);
            c.count("hops", vote.hops);
            c.text("operator", &vote.operator);
            c.num("price", Some(vote.price));
        });
    });
}

fn push_rules(c: &mut Canon, rules: &Rules) {
    let band = |c: &mut Canon, name: &str, band: Band| {
        c.object(name, |c| {
            c.num("cap", Some(band.cap));
            c.num("floor", Some(band.floor));
        });
    };
    let ms = |duration: std::time::Duration| usize::try_from(duration.as_millis()).unwrap_or(usize::MAX);
    c.object("rules", |c| {
        c.num("cap", Some(rules.band.cap));
        c.text("class", rules.class.slug());
        c.num("floor", Some(rules.band.floor));
        c.count("future_max_ms", ms(rules.admission.future_max));
        c.count("max_age_ms", ms(rules.admission.max_age));
        band(c, "other", rules.other);
        c.each("par", rules.par.iter(), |c, (a, b)| push_str(&mut c.out, &format!("{a}={b}")));
        band(c, "peg", rules.peg);
        c.each("stablecoins", rules.stablecoins.iter(), |c, asset| push_str(&mut c.out, asset.as_str()));
        c.count("stale_ms", ms(rules.stale));
        c.flag("trust_venue_time", rules.admission.trust_venue_time);
    });
}

/// Writes what of the memory the pass has read.
fn push_before(c: &mut Canon, receipt: &Receipt) {
    let outcome = &receipt.outcome;
    let before = &outcome.before;
    let read = outcome.rows.iter().filter(|row| row.prior.newest.is_some() || row.prior.unchanged.is_some());
    c.object("state_before", |c| {
        match before.hold {
            None => c.raw("hold", b"null"),
            Some(hold) => c.object("hold", |c| {
                c.time("since", Some(hold.since));
                c.num("value", Some(hold.value));
                c.time("value_since", Some(hold.value_since));
            }),
        }
        match before.last_good {
            None => c.raw("last_good", b"null"),
            Some(good) => c.object("last_good", |c| push_good(c, good)),
        }
        c.each("markets", read, |c, row| {
            c.braces(|c| {
                c.num("good_then", row.prior.unchanged.and_then(|(_, good)| good));
                c.time("newest", row.prior.newest);
                c.text("pair", &pair_name(row.offer.pair));
                c.time("unchanged_since", row.prior.unchanged.map(|(since, _)| since));
                c.text("venue", row.offer.member.venue.as_str());
            });
        });
        c.each("marks", before.marks.iter(), |c, (operator, mark)| {
            c.braces(|c| {
                c.time("far_since", mark.far_since);
                c.time("inside_since", mark.inside_since);
                c.time("last_out", mark.last_out);
                c.text("operator", operator);
                c.num("put_out", mark.put_out);
            });
        });
    });
}

fn millis(later: UnixMs, earlier: UnixMs) -> u64 {
    u64::try_from(later.since(earlier).as_millis()).unwrap_or(u64::MAX)
}
