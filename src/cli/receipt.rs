//! A receipt as a person reads it, and the same as lines for programs.

use super::{
    quote::SIMULATED,
    table::{Align, Cell, Look, Table, Tone, paint},
};
use quorate_actors::{
    model::{Pair, Price},
    rate::{Bps, Conversion, Decision, Num, Outcome, Receipt, Row, Status},
};
use std::fmt::Write as _;

/// Prints a receipt.
pub(super) fn render(receipt: &Receipt, look: Look) -> String {
    match look {
        Look::Lines => lines(receipt),
        Look::Table { color } => tables(receipt, color),
    }
}

fn lines(receipt: &Receipt) -> String {
    let outcome = &receipt.outcome;
    let mut rows = Table::new(&[]);
    let mut push = |kind: &str, cells: Vec<Cell>| rows.push(std::iter::once(Cell::plain(kind)).chain(cells).collect());
    let time = Cell::plain(outcome.as_of);
    push("rate", vec![Cell::plain(outcome.pair), Cell::plain(outcome.status.slug()), maybe(outcome.rate), time, Cell::plain(receipt.id())]);
    let (all, counting) = (outcome.tally.votes.len(), outcome.tally.survivors().len());
    push("votes", vec![Cell::plain(all), Cell::plain(counting), Cell::maybe(span(outcome)), Cell::maybe(dispersion(outcome))]);
    for row in base(outcome) {
        let mut cells = quote_cells(receipt, row);
        let path = cells.pop().unwrap_or_else(|| Cell::plain(""));
        cells.extend([Cell::plain(row.votes), Cell::plain(row.decision.slug()), path]);
        push("quote", cells);
    }
    miss_rows(receipt).into_iter().for_each(|cells| push("miss", cells));
    outcome.conversions.iter().for_each(|conversion| push("conversion", conversion_cells(outcome, conversion)));
    let first = if receipt.simulated { format!("# {SIMULATED}\n") } else { String::new() };
    first + &rows.render(Look::Lines)
}

fn tables(receipt: &Receipt, color: bool) -> String {
    let (outcome, look) = (&receipt.outcome, Look::Table { color });
    let mut out = if receipt.simulated { format!("{}  ", paint("SIMULATED", "1;33", color)) } else { String::new() };
    out.push_str(&headline(outcome, color));
    let mut quotes = Table::new(&[
        ("venue", Align::Left),
        ("market", Align::Left),
        ("bid", Align::Point),
        ("ask", Align::Point),
        ("converted", Align::Point),
        ("bps off", Align::Point),
        ("age ms", Align::Right),
        ("by way of", Align::Left),
        ("does not count", Align::Left),
    ]);
    for row in base(outcome) {
        let mut cells = quote_cells(receipt, row);
        cells.push(match row.decision {
            // That a quote counts is the rule, and not worth a word.
            Decision::In if row.votes => Cell::plain(""),
            Decision::In => Cell::plain("a nearer market votes"),
            decision => Cell::new(decision.slug(), Tone::Bad),
        });
        quotes.push(cells);
    }
    let mut misses = Table::new(&[("no quote", Align::Left), ("market", Align::Left), ("reason", Align::Left), ("detail", Align::Left)]);
    miss_rows(receipt).into_iter().for_each(|cells| misses.push(cells));
    let mut conversions = Table::new(&[
        ("conversion", Align::Left),
        ("status", Align::Left),
        ("rate", Align::Point),
        ("votes", Align::Right),
        ("left out", Align::Left),
    ]);
    outcome.conversions.iter().for_each(|conversion| conversions.push(conversion_cells(outcome, conversion)));
    for table in [quotes, misses, conversions].iter().map(|table| table.render(look)).filter(|table| !table.is_empty()) {
        let _ = write!(out, "\n{table}");
    }
    out
}

/// Says what matters: pair, status, rate, how far the votes are apart.
fn headline(outcome: &Outcome, color: bool) -> String {
    let Outcome { pair, status, rate, as_of, tally, .. } = outcome;
    let rate = rate.map_or_else(|| "no rate".to_owned(), |rate| format!("{rate} {}", pair.quote));
    let word = paint(status.slug(), code(*status), color);
    let mut out = format!("{}  {word}  {}  {as_of}\n", paint(&pair.to_string(), "1", color), paint(&rate, "1", color));
    // Writing to a String cannot fail.
    let _ = write!(out, "{} of {} votes count", tally.survivors().len(), tally.votes.len());
    if let (Some(span), Some(dispersion)) = (span(outcome), dispersion(outcome)) {
        let _ = write!(out, ", all within {span} bps, half of all votes within {dispersion} bps of the middle");
    }
    if let Some(good) = outcome.last_good.filter(|_| !matches!(status, Status::Ok | Status::Degraded | Status::SingleSource)) {
        let _ = write!(out, "; the last good rate was {} at {}", good.rate, good.at);
    }
    out.push('\n');
    out
}

/// Gives the color of a status: who is told none still has the word.
fn code(status: Status) -> &'static str {
    match status {
        Status::Ok => "1;32",
        Status::Degraded | Status::SingleSource | Status::Held | Status::Stale => "1;33",
        Status::Inconsistent | Status::Unavailable => "1;31",
    }
}

fn base(outcome: &Outcome) -> impl Iterator<Item = &Row> {
    outcome.rows.iter().filter(|row| row.is_base)
}

/// Gives venue, market, bid, ask, converted price, distance from the middle, age, path.
fn quote_cells(receipt: &Receipt, row: &Row) -> Vec<Cell> {
    let (outcome, offer) = (&receipt.outcome, &row.offer);
    let middle = outcome.tally.middle.map(|middle| middle.median);
    let off = row.converted.zip(middle).and_then(|(price, middle)| Bps::between(middle, price, middle));
    let path = row.path.and_then(|at| outcome.paths.get(at));
    let steps = path.into_iter().flat_map(|path| &path.steps);
    let steps = steps.map(|step| format!("{} {}{}", step.pair, step.rate, if step.par { " (par)" } else { "" }));
    vec![
        Cell::plain(&offer.member.venue),
        Cell::plain(offer.pair),
        Cell::maybe(offer.ticker.bid.map(Price::get)),
        Cell::maybe(offer.ticker.ask.map(Price::get)),
        maybe(row.converted),
        Cell::maybe(off),
        Cell::plain(offer.age(outcome.as_of, &receipt.rules.admission).as_millis()),
        Cell::plain(steps.collect::<Vec<_>>().join(", ")),
    ]
}

fn miss_rows(receipt: &Receipt) -> Vec<Vec<Cell>> {
    let cells = receipt.misses.iter().map(|miss| {
        let reason = Cell::new(miss.fault.reason.slug(), Tone::Bad);
        vec![Cell::plain(&miss.venue), Cell::plain(miss.pair), reason, Cell::plain(&miss.fault.detail)]
    });
    cells.collect()
}

fn conversion_cells(outcome: &Outcome, conversion: &Conversion) -> Vec<Cell> {
    let Pair { base, quote } = conversion.pair;
    let is_of = |market: Pair| [(base, quote), (quote, base)].contains(&(market.base, market.quote));
    let out = outcome.rows.iter().filter(|row| !row.is_base && is_of(row.offer.pair) && row.decision != Decision::In);
    let out = out.map(|row| format!("{} {}", row.offer.member.venue, row.decision.slug()));
    let status = conversion.tally.status;
    let tone = if conversion.usable().is_some() { Tone::Plain } else { Tone::Bad };
    vec![
        Cell::plain(conversion.pair),
        Cell::new(status.slug(), tone),
        maybe(conversion.tally.rate),
        Cell::plain(conversion.tally.votes.len()),
        Cell::plain(out.collect::<Vec<_>>().join(", ")),
    ]
}

fn maybe(number: Option<Num>) -> Cell {
    Cell::maybe(number)
}

/// Gives how far the votes that count are apart, in basis points of the rate.
fn span(outcome: &Outcome) -> Option<Bps> {
    let counting = || outcome.tally.survivors().into_iter().map(|vote| vote.price);
    Bps::between(counting().min()?, counting().max()?, outcome.tally.rate?)
}

/// Gives how far half of all votes are from their middle at most, in basis points of it.
fn dispersion(outcome: &Outcome) -> Option<Bps> {
    let middle = outcome.tally.middle?;
    Bps::between(middle.median, middle.median.plus(middle.mad), middle.median)
}
