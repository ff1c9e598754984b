//! `quote`: every venue's price of one pair, asked once.

use super::{
    body::{Body, IN, Row},
    once::{AskingArgs, configured, run as run_once, sentence, start_for_one, unknown},
    output::{Exit, fail, finish, look, say},
    table::{Align, Cell, Look, Table, Tone, paint},
};
use crate::{
    config::Config,
    error::{ApiError, Code, Context},
    http::{State, pairs, quotes},
    wire,
};
use clap::Args;
use quorate_actors::model::Pair;
use std::fmt::Write as _;

/// Asks every venue for a pair once, and shows what each says
///
/// On a terminal it prints a table, best bid and ask marked with a star; elsewhere one line a venue with tabs between: venue, bid, size, ask, size, last, age in
/// ms, latency in ms, decision or reason, detail; then best_bid, best_ask, mid and spread (with basis points). No server is needed.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 ok, 1 failure, 2 usage, 3 some venue gave none and --strict, 4 no quote, 5 configuration")]
pub(super) struct QuoteArgs {
    /// The pair, such as BTC-USDT: base and quote, any case, with - _ : or / between
    pair: String,
    #[command(flatten)]
    asking: AskingArgs,
    /// Exits with 3 where some venue that was asked gave no quote
    #[arg(long)]
    strict: bool,
    /// Prints the JSON that GET /v1/quotes/{pair} answers; where there is no quote, its problem
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(super) fn run(args: &QuoteArgs) -> Exit {
    let config = match configured(&args.asking.source) {
        Ok(config) => config,
        Err(exit) => return exit,
    };
    let known = || config.pairs.iter().map(|p| p.pair).collect();
    match pairs::parse(&args.pair, known) {
        Ok(pair) => run_once(quote(args, &config, pair)),
        Err(error) => fail(Exit::Usage, &sentence(&error)),
    }
}

async fn quote(args: &QuoteArgs, config: &Config, pair: Pair) -> Result<Exit, Exit> {
    let state = start_for_one(config)?;
    let terms = args.asking.terms(config, &state)?;
    let published = match quotes::ask_for_any(&state, pair, &terms).await {
        Ok(published) => published,
        Err(error) => return Ok(refused(args, config, &state, unknown(config, pair, error))),
    };
    let view = &published.view;
    if view.rows.is_empty() {
        let error = match view.asked() {
            0 => ApiError::new(Code::UnknownPair, format!("pair {pair} is listed by none of the venues asked")),
            _ => quotes::no_quote(&state, view, &terms),
        };
        if !args.json && view.asked() > 0 {
            let body = read(&wire::quotes_body(view, state.engine.boot(), state.simulated))?;
            finish(&render(&body, state.simulated, look()), Exit::NoQuote);
        }
        return Ok(refused(args, config, &state, error));
    }
    let bytes = quotes::body(&state, &published);
    let exit = if args.strict && !view.misses.is_empty() { Exit::Partial } else { Exit::Ok };
    if args.json {
        warn_simulated(state.simulated);
        return Ok(finish(&format!("{}\n", String::from_utf8_lossy(&bytes)), exit));
    }
    Ok(finish(&render(&read(&bytes)?, state.simulated, look()), exit))
}

/// Says why there is no quote: on stderr, and with `--json` as the problem that the route answers.
fn refused(args: &QuoteArgs, config: &Config, state: &State, error: ApiError) -> Exit {
    let exit = match error.code() {
        Code::UnknownPair | Code::NoQuotes | Code::Deadline => Exit::NoQuote,
        _ => Exit::Failure,
    };
    say(&sentence(&error));
    if !args.json {
        return exit;
    }
    warn_simulated(state.simulated);
    // There is no request; the engine's start is as near as can be.
    let context = Context { request_id: state.engine.boot(), simulated: config.simulated() };
    finish(&format!("{}\n", String::from_utf8_lossy(&error.body(context))), exit)
}

pub(super) fn warn_simulated(simulated: bool) {
    if simulated {
        say(SIMULATED);
    }
}

/// What every command says first where prices may be made up.
pub(super) const SIMULATED: &str = "SIMULATED: a venue's origin is on loopback";

pub(super) fn read(bytes: &[u8]) -> Result<Body, Exit> {
    serde_json::from_slice(bytes).map_err(|error| fail(Exit::Failure, &format!("the body of quotes is not as expected: {error}")))
}

/// Prints a pair's quotes.
fn render(body: &Body, simulated: bool, look: Look) -> String {
    match look {
        Look::Lines => lines(body, simulated),
        Look::Table { color } => tables(body, simulated, color),
    }
}

fn lines(body: &Body, simulated: bool) -> String {
    let mut rows = Table::new(&[]);
    for row in &body.quotes {
        rows.push(quote_cells(body, row, &row.decision));
    }
    for miss in &body.misses {
        let mut cells = vec![Cell::plain(&miss.venue)];
        cells.resize(PRICES, Cell::plain(""));
        cells.extend([Cell::plain(&miss.reason), Cell::plain(&miss.detail)]);
        rows.push(cells);
    }
    let ends = [
        ("best_bid", [&body.bid, &body.bid_size, &body.bid_venue]),
        ("best_ask", [&body.ask, &body.ask_size, &body.ask_venue]),
        ("mid", [&body.mid, &None, &None]),
        ("spread", [&body.spread, &body.spread_bps, &None]),
    ];
    for (name, values) in ends.into_iter().filter(|(_, [first, ..])| first.is_some()) {
        rows.push(std::iter::once(Cell::plain(name)).chain(values.into_iter().flatten().map(Cell::plain)).collect());
    }
    let first = if simulated { format!("# {SIMULATED}\n") } else { String::new() };
    first + &rows.render(Look::Lines)
}

/// Prints a pair's quotes for a person.
pub(super) fn tables(body: &Body, simulated: bool, color: bool) -> String {
    let look = Look::Table { color };
    let mut out = if simulated { format!("{}  ", paint("SIMULATED", "1;33", color)) } else { String::new() };
    let Body { pair, status, as_of, .. } = body;
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{}  {status}: {} of {} venues  {as_of}", paint(pair, "1", color), body.venues.answered, body.venues.asked);
    let mut rows = Table::new(COLUMNS);
    for row in &body.quotes {
        // That a quote counts is the rule, and not worth a word.
        rows.push(quote_cells(body, row, if row.decision == IN { "" } else { &row.decision }));
    }
    let mut misses = Table::new(&[("no quote", Align::Left), ("reason", Align::Left), ("detail", Align::Left)]);
    for miss in &body.misses {
        misses.push(vec![Cell::plain(&miss.venue), Cell::new(&miss.reason, Tone::Bad), Cell::plain(&miss.detail)]);
    }
    for table in [rows.render(look), misses.render(look)].iter().filter(|table| !table.is_empty()) {
        let _ = write!(out, "\n{table}");
    }
    if let (Some(mid), Some(spread), Some(bps)) = (&body.mid, &body.spread, &body.spread_bps) {
        let crossed = if body.crossed { format!("  {}", paint("crossed", "31", color)) } else { String::new() };
        let _ = writeln!(out, "\nmid {}  spread {spread} ({bps} bps){crossed}", paint(mid, "1", color));
    }
    out
}

const COLUMNS: &[(&str, Align)] = &[
    ("venue", Align::Left),
    ("bid", Align::Point),
    ("size", Align::Point),
    ("ask", Align::Point),
    ("size", Align::Point),
    ("last", Align::Point),
    ("age ms", Align::Right),
    ("latency ms", Align::Right),
    ("does not count", Align::Left),
];
/// How many columns stand before the decision.
const PRICES: usize = 8;

fn quote_cells(body: &Body, row: &Row, decision: &str) -> Vec<Cell> {
    let best = |text: &Option<String>, venue: &Option<String>| {
        let tone = if venue.as_ref() == Some(&row.venue) { Tone::Best } else { Tone::Plain };
        Cell::new(text.as_deref().unwrap_or_default(), tone)
    };
    vec![
        Cell::plain(&row.venue),
        best(&row.bid, &body.bid_venue),
        Cell::maybe(row.bid_size.as_ref()),
        best(&row.ask, &body.ask_venue),
        Cell::maybe(row.ask_size.as_ref()),
        Cell::maybe(row.last.as_ref()),
        Cell::plain(row.age_ms),
        Cell::plain(row.latency_ms),
        Cell::new(decision, Tone::Bad),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = r#"{"pair":"BTC-USDT","base":"BTC","quote":"USDT","status":"partial","simulated":false,"as_of":"2026-11-30T11:00:00.123Z",
        "bid":"67234.12","bid_size":"31.21","bid_venue":"kraken","ask":"67234.13","ask_size":"0.5","ask_venue":"binance",
        "mid":"67234.125","spread":"0.01","spread_bps":"0.0015","crossed":false,"venues":{"asked":4,"answered":3,"missed":1},
        "quotes":[
          {"venue":"binance","bid":"67234.1","bid_size":"3","ask":"67234.13","ask_size":"0.5","last":"67234.12","age_ms":33,"latency_ms":41,"decision":"in"},
          {"venue":"bitstamp","bid":"67235","bid_size":null,"ask":"67234","ask_size":null,"last":null,"age_ms":5,"latency_ms":140,"decision":"crossed"},
          {"venue":"kraken","bid":"67234.12","bid_size":"31.21","ask":"67234.2","ask_size":"1","last":"67234","age_ms":0,"latency_ms":7,"decision":"in"}],
        "misses":[{"venue":"okx","reason":"timeout","detail":"no answer within 500 ms"}]}"#;

    #[test]
    fn a_person_sees_best_misses_mid_and_spread_at_a_glance() {
        let body = read(BODY.as_bytes()).unwrap();
        let want = "\
SIMULATED  BTC-USDT  partial: 3 of 4 venues  2026-11-30T11:00:00.123Z

venue           bid   size        ask  size      last  age ms  latency ms  does not count
binance   67234.1     3     67234.13*   0.5  67234.12      33          41
bitstamp  67235       -     67234       -        -          5         140  crossed
kraken    67234.12*  31.21  67234.2     1    67234          0           7

no quote  reason   detail
okx       timeout  no answer within 500 ms

mid 67234.125  spread 0.01 (0.0015 bps)
";
        assert_eq!(render(&body, true, Look::Table { color: false }), want);
        assert!(render(&body, false, Look::Table { color: false }).starts_with("BTC-USDT  partial: "));
    }

    #[test]
    fn a_program_gets_a_line_for_every_venue_with_the_same_columns() {
        let body = read(BODY.as_bytes()).unwrap();
        let want = "\
# SIMULATED: a venue's origin is on loopback
binance\t67234.1\t3\t67234.13\t0.5\t67234.12\t33\t41\tin
bitstamp\t67235\t\t67234\t\t\t5\t140\tcrossed
kraken\t67234.12\t31.21\t67234.2\t1\t67234\t0\t7\tin
okx\t\t\t\t\t\t\t\ttimeout\tno answer within 500 ms
best_bid\t67234.12\t31.21\tkraken
best_ask\t67234.13\t0.5\tbinance
mid\t67234.125
spread\t0.01\t0.0015
";
        assert_eq!(render(&body, true, Look::Lines), want);
    }

    #[test]
    fn with_no_quote_the_misses_are_left() {
        let none =
            Body { quotes: Vec::new(), bid: None, ask: None, mid: None, spread: None, spread_bps: None, ..read(BODY.as_bytes()).unwrap() };
        assert_eq!(render(&none, false, Look::Lines), "okx\t\t\t\t\t\t\t\ttimeout\tno answer within 500 ms\n");
        assert!(!render(&none, false, Look::Table { color: false }).contains("mid"));
    }
}
