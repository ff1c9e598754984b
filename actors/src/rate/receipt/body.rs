//! The body: what went in and what came out, in canonical order.

use super::{
    super::{Band, Before, Good, Hold, Mark, Num, Operator, Row, Rules, Status, Vote},
    Receipt,
    rows::{Quotes, push_misses, push_votes},
    section::{Dispersion, Section},
    write::{Writer, hash},
};
use crate::{model::UnixMs, text::push_str};
use std::time::Duration;

/// The typical length of what is said of a market and of everything else, for the first guess at a body's size.
const MARKET_BYTES: usize = 640;
const HEAD_BYTES: usize = 1_800;

/// Writes the receipt's content, its keys sorted.
pub(super) fn written(receipt: &Receipt) -> Writer {
    let outcome = &receipt.outcome;
    let asked = outcome.rows.len().saturating_add(receipt.misses.len());
    let room = asked.saturating_mul(MARKET_BYTES).saturating_add(HEAD_BYTES);
    let mut writer = Writer::new(room, asked.saturating_mul(2).saturating_add(2));
    let (w, own, mut quotes) = (&mut writer, Section::own(receipt), Quotes::new(receipt));
    w.raw(b"{\"as_of\":");
    w.time(outcome.as_of);
    w.raw(b",\"base\":");
    w.asset(outcome.pair.base);
    w.raw(b",\"conversions\":");
    w.list(&Section::conversions(receipt), |w, section| push_conversion(w, section, &mut quotes));
    w.raw(b",");
    push_counts(w, &own);
    w.raw(b",\"held_rate\":");
    w.maybe(outcome.tally.rate.filter(|_| outcome.status == Status::Held), Writer::num);
    w.raw(b",");
    w.id();
    w.raw(b"\"last_good\":");
    w.maybe(outcome.last_good, |w, Good { rate, at }| {
        w.raw(b"{");
        w.age(ms_between(at, outcome.as_of));
        push_good(w, rate, at);
    });
    w.raw(b",\"made\":");
    w.word(receipt.made.slug());
    w.raw(b",\"median\":");
    w.maybe(own.median(), Writer::num);
    w.raw(b",\"members\":");
    w.word(&members(&outcome.tally.votes));
    w.raw(b",\"misses\":");
    push_misses(w, &own);
    w.raw(b",\"pair\":");
    w.pair(outcome.pair);
    w.raw(b",\"par\":");
    w.flag(outcome.paths.iter().flat_map(|path| &path.steps).any(|step| step.par));
    w.raw(b",\"quote\":");
    w.asset(outcome.pair.quote);
    w.raw(b",\"quotes\":");
    let voted = quotes.push(w, &own);
    w.raw(b",\"rate\":");
    w.maybe(outcome.rate, Writer::num);
    w.raw(b",\"rules\":");
    push_rules(w, &receipt.rules);
    w.raw(b",\"simulated\":");
    w.flag(receipt.simulated);
    w.raw(b",\"state_before\":");
    push_state(w, &outcome.before, &outcome.rows);
    w.raw(b",\"status\":");
    w.word(outcome.status.slug());
    w.raw(b",\"votes\":");
    push_votes(w, &own, &voted);
    w.raw(b"}");
    writer
}

/// Writes a conversion rate with its markets.
fn push_conversion(w: &mut Writer, section: &Section<'_>, quotes: &mut Quotes<'_>) {
    w.raw(b"{");
    push_counts(w, section);
    w.raw(b",\"median\":");
    w.maybe(section.median(), Writer::num);
    w.raw(b",\"misses\":");
    push_misses(w, section);
    w.raw(b",\"pair\":");
    w.pair(section.pair);
    w.raw(b",\"quotes\":");
    let voted = quotes.push(w, section);
    w.raw(b",\"rate\":");
    w.maybe(section.tally.and_then(|tally| tally.rate), Writer::num);
    w.raw(b",\"status\":");
    w.word(section.status().slug());
    w.raw(b",\"used\":");
    w.flag(section.is_used);
    w.raw(b",\"votes\":");
    push_votes(w, section, &voted);
    w.raw(b"}");
}

/// Writes how many markets and votes there were, and how far the votes are apart.
fn push_counts(w: &mut Writer, section: &Section<'_>) {
    let Dispersion { mad_ratio, span_bps, survivors } = section.dispersion();
    w.raw(b"\"counts\":{\"admitted\":");
    w.count(section.admitted());
    w.raw(b",\"asked\":");
    w.count(section.rows.len().saturating_add(section.misses.len()));
    w.raw(b",\"received\":");
    w.count(section.rows.len());
    w.raw(b",\"survivors\":");
    w.count(survivors);
    w.raw(b",\"votes\":");
    w.count(section.tally.map_or(0, |tally| tally.votes.len()));
    w.raw(b"},\"dispersion\":{\"mad_ratio\":");
    w.maybe(mad_ratio, |w, ratio| w.fraction(false, ratio, 8));
    w.raw(b",\"span_bps\":");
    w.maybe(span_bps, |w, span| w.fraction(false, span, 4));
    w.raw(b"}");
}

/// Hashes the set of operators that have a vote: it changes with every one that comes or goes.
fn members(votes: &[Vote]) -> String {
    let mut names = Vec::with_capacity(votes.len().saturating_mul(16).saturating_add(2));
    names.push(b'[');
    for vote in votes {
        if names.len() > 1 {
            names.push(b',');
        }
        push_str(&mut names, &vote.operator);
    }
    names.push(b']');
    hash("m1_", &names)
}

fn push_rules(w: &mut Writer, rules: &Rules) {
    let ms = |w: &mut Writer, duration: Duration| w.whole(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX));
    w.raw(b"{\"cap\":");
    w.num(rules.band.cap);
    w.raw(b",\"class\":");
    w.word(rules.class.slug());
    w.raw(b",\"floor\":");
    w.num(rules.band.floor);
    w.raw(b",\"future_max_ms\":");
    ms(w, rules.admission.future_max);
    w.raw(b",\"max_age_ms\":");
    ms(w, rules.admission.max_age);
    w.raw(b",\"other\":");
    push_band(w, rules.other);
    w.raw(b",\"par\":");
    w.list(&rules.par, |w, (a, b)| w.text(&format!("{a}={b}")));
    w.raw(b",\"peg\":");
    push_band(w, rules.peg);
    w.raw(b",\"stablecoins\":");
    w.list(&rules.stablecoins, |w, coin| w.asset(*coin));
    w.raw(b",\"stale_ms\":");
    ms(w, rules.stale);
    w.raw(b",\"trust_venue_time\":");
    w.flag(rules.admission.trust_venue_time);
    w.raw(b"}");
}

fn push_band(w: &mut Writer, band: Band) {
    w.raw(b"{\"cap\":");
    w.num(band.cap);
    w.raw(b",\"floor\":");
    w.num(band.floor);
    w.raw(b"}");
}

/// Writes what the pass has read of the memory.
fn push_state(w: &mut Writer, before: &Before, rows: &[Row]) {
    w.raw(b"{\"hold\":");
    w.maybe(before.hold, |w, Hold { since, value, value_since }| {
        w.raw(b"{\"since\":");
        w.time(since);
        w.raw(b",\"value\":");
        w.num(value);
        w.raw(b",\"value_since\":");
        w.time(value_since);
        w.raw(b"}");
    });
    w.raw(b",\"last_good\":");
    w.maybe(before.last_good, |w, Good { rate, at }| {
        w.raw(b"{");
        push_good(w, rate, at);
    });
    w.raw(b",\"markets\":");
    w.list(rows.iter().filter(|row| row.prior.newest.is_some() || row.prior.unchanged.is_some()), push_market);
    w.raw(b",\"marks\":");
    w.list(&before.marks, push_mark);
    w.raw(b"}");
}

fn push_good(w: &mut Writer, rate: Num, at: UnixMs) {
    w.raw(b"\"as_of\":");
    w.time(at);
    w.raw(b",\"rate\":");
    w.num(rate);
    w.raw(b"}");
}

fn push_market(w: &mut Writer, row: &Row) {
    w.raw(b"{\"good_then\":");
    w.maybe(row.prior.unchanged.and_then(|(_, good)| good), Writer::num);
    w.raw(b",\"newest_venue_time\":");
    w.maybe(row.prior.newest, Writer::time);
    w.raw(b",\"pair\":");
    w.pair(row.offer.pair);
    w.raw(b",\"unchanged_since\":");
    w.maybe(row.prior.unchanged.map(|(since, _)| since), Writer::time);
    w.raw(b",\"venue\":");
    w.text(row.offer.member.venue.as_str());
    w.raw(b"}");
}

fn push_mark(w: &mut Writer, (operator, mark): (&Operator, &Mark)) {
    w.raw(b"{\"far_since\":");
    w.maybe(mark.far_since, Writer::time);
    w.raw(b",\"inside_since\":");
    w.maybe(mark.inside_since, Writer::time);
    w.raw(b",\"last_out\":");
    w.maybe(mark.last_out, Writer::time);
    w.raw(b",\"operator\":");
    w.text(operator);
    w.raw(b",\"put_out\":");
    w.maybe(mark.put_out, Writer::num);
    w.raw(b"}");
}

/// Gives how many milliseconds lie between two times, none where the first is the later.
pub(super) fn ms_between(earlier: UnixMs, later: UnixMs) -> u64 {
    u64::try_from(later.0.saturating_sub(earlier.0)).unwrap_or(0)
}
