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

#[cfg(test)]
mod tests {
    use super::*;
    use quorate_actors::{
        model::{Fault, Reason, Source, Ticker, UnixMs, VenueId},
        rate::{Made, MarketMiss, Memory, Offer, Own, Settings, pass},
        venue::{Basis, Member, TimeOf},
    };
    use std::{sync::Arc, time::Duration};

    fn receipt(venues: &[(&str, &str, &str, &str)]) -> Receipt {
        let offer = |(venue, market, bid, ask): &(&str, &str, &str, &str)| Offer {
            member: Arc::new(Member {
                venue: VenueId::new(venue),
                operator: (*venue).into(),
                region: None,
                basis: Basis::Mid,
                time_of: TimeOf::None,
            }),
            pair: market.parse().unwrap(),
            ticker: Ticker { bid: Price::parse(bid).unwrap(), ask: Price::parse(ask).unwrap(), ..Ticker::default() },
            received: UnixMs(1_796_036_400_090),
            latency: Duration::ZERO,
            source: Source::Rest,
        };
        let pair = "BTC-USD".parse().unwrap();
        let rules = Settings::default().rules(pair, &Own::default());
        let outcome = pass(pair, &rules, venues.iter().map(offer).collect(), UnixMs(1_796_036_400_123), &mut Memory::default());
        let fault = Arc::new(Fault::new(Reason::Timeout, "no answer within 500 ms"));
        Receipt::new(outcome, Arc::new(rules), vec![MarketMiss { venue: VenueId::new("htx"), pair, fault }], Made::Fetch, true)
    }

    const VENUES: &[(&str, &str, &str, &str)] = &[
        ("binance", "BTC-USDT", "67020", "67030"),
        ("binance", "USDT-USD", "0.9995", "0.9997"),
        ("bitstamp", "BTC-USD", "67010", "67020"),
        ("bitstamp", "USDT-USD", "0.9995", "0.9997"),
        ("kraken", "BTC-USD", "66990", "67000"),
        ("kraken", "BTC-USDT", "66990", "67000"),
        ("kraken", "USDT-USD", "0.9995", "0.9994"),
        ("okx", "BTC-USD", "80000", "80000.5"),
    ];

    #[test]
    fn a_person_sees_what_the_rate_is_worth_and_why() {
        let want = "\
SIMULATED  BTC-USD  ok  66998.19 USD  2026-11-30T11:00:00.123Z
3 of 4 votes count, all within 2.9852 bps, half of all votes within 1.4924 bps of the middle

venue     market      bid      ask  converted    bps off  age ms  by way of        does not count
binance   BTC-USDT  67020  67030    66998.19     -1.2544      33  USDT-USD 0.9996
bitstamp  BTC-USD   67010  67020    67015         1.2544      33
kraken    BTC-USD   66990  67000    66995        -1.7304      33
kraken    BTC-USDT  66990  67000    66968.202    -5.7297      33  USDT-USD 0.9996  a nearer market votes
okx       BTC-USD   80000  80000.5  80000.25   1939.1606      33                   outlier

no quote  market   reason   detail
htx       BTC-USD  timeout  no answer within 500 ms

conversion  status      rate  votes  left out
USDT-USD    degraded  0.9996      2  kraken crossed
";
        assert_eq!(render(&receipt(VENUES), Look::Table { color: false }), want);
        let color = Look::Table { color: true };
        assert!(render(&receipt(VENUES), color).contains("\u{1b}[1;32mok\u{1b}[0m"));
        assert!(render(&receipt(&VENUES[2..4]), color).contains("\u{1b}[1;33msingle_source\u{1b}[0m"));
    }

    #[test]
    fn without_a_rate_the_word_and_the_reasons_are_left() {
        let none = render(&receipt(&[("kraken", "BTC-USD", "67000", "66990")]), Look::Table { color: true });
        assert!(none.contains("\u{1b}[1;31munavailable\u{1b}[0m") && none.contains("no rate") && none.contains("crossed"), "{none}");
        assert!(none.contains("0 of 0 votes count\n"), "{none}");
    }

    #[test]
    fn a_program_gets_a_line_for_everything_with_what_it_is() {
        let receipt = receipt(VENUES);
        let id = receipt.id();
        let want = format!(
            "\
# SIMULATED: a venue's origin is on loopback
rate\tBTC-USD\tok\t66998.19\t2026-11-30T11:00:00.123Z\t{id}
votes\t4\t3\t2.9852\t1.4924
quote\tbinance\tBTC-USDT\t67020\t67030\t66998.19\t-1.2544\t33\ttrue\tin\tUSDT-USD 0.9996
quote\tbitstamp\tBTC-USD\t67010\t67020\t67015\t1.2544\t33\ttrue\tin\t
quote\tkraken\tBTC-USD\t66990\t67000\t66995\t-1.7304\t33\ttrue\tin\t
quote\tkraken\tBTC-USDT\t66990\t67000\t66968.202\t-5.7297\t33\tfalse\tin\tUSDT-USD 0.9996
quote\tokx\tBTC-USD\t80000\t80000.5\t80000.25\t1939.1606\t33\ttrue\toutlier\t
miss\thtx\tBTC-USD\ttimeout\tno answer within 500 ms
conversion\tUSDT-USD\tdegraded\t0.9996\t2\tkraken crossed
"
        );
        assert_eq!(render(&receipt, Look::Lines), want);
    }
}
