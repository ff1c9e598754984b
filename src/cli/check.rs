//! `check`: every venue asked once for every configured pair, and what each gives.

use super::{
    body::{Body, IN},
    config::SourceArgs,
    once::{configured, run as run_once, sentence, start_for_all},
    output::{Exit, fail, finish, look},
    quote::{SIMULATED, read, warn_simulated},
    table::{Align, Cell, Look, Table, Tone, paint},
};
use crate::{
    config::Config,
    error::Code,
    http::{State, quotes},
};
use clap::Args;
use futures_util::future::join_all;
use quorate_actors::{
    model::Pair,
    plan::{Wanted, plan},
    terms::Terms,
    venues,
};
use serde::Serialize;
use std::{
    fmt::Write as _,
    io::{IsTerminal, Write as _},
    time::Duration,
};
use tokio::time::{Instant, sleep};

/// How much longer than the venues' own time we wait, so that their faults are told and not that we gave up.
const GRACE: Duration = Duration::from_millis(500);
/// How often we look what has come in, and tell it.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Asks every venue once for every configured pair, and shows what each gives
///
/// On a terminal it prints a table; elsewhere one line a venue with tabs between: venue, pairs given, unlisted, failed, latency in ms, and of the first fault pair,
/// reason and detail. Each venue is asked within its budget, so that many pairs may take some seconds. No server is needed.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 ok, 1 failure, 2 usage, 3 some venue failed and --strict, 4 no quote at all, 5 configuration")]
pub(super) struct CheckArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// Exits with 3 where some venue failed for some pair; that it does not list one is no failure
    #[arg(long)]
    strict: bool,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Holds what became of asking for one pair.
struct Asked {
    pair: Pair,
    /// The venues that may be asked for it.
    venues: Vec<String>,
    /// What they said; `None` where none of them lists it.
    body: Option<Body>,
}

/// Holds what one venue gives.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Gives {
    venue: String,
    given: usize,
    unlisted: usize,
    failed: usize,
    latency_ms: Option<u64>,
    first_fault: Option<FirstFault>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct FirstFault {
    pair: String,
    reason: String,
    detail: String,
}

#[derive(Serialize)]
struct Report<'a> {
    simulated: bool,
    pairs: usize,
    venues: &'a [Gives],
}

/// Runs the command.
pub(super) fn run(args: &CheckArgs) -> Exit {
    match configured(&args.source) {
        Ok(config) => run_once(check(args, &config)),
        Err(exit) => exit,
    }
}

async fn check(args: &CheckArgs, config: &Config) -> Result<Exit, Exit> {
    if config.pairs.is_empty() {
        return Err(fail(Exit::Config, "no pair is configured, expected one at least"));
    }
    let state = start_for_all(config)?;
    hear(&state, config.pairs.len(), patience(config)).await;
    let asked = join_all(config.pairs.iter().map(|p| recall(&state, p.pair, &p.venues))).await;
    let asked = asked.into_iter().collect::<Result<Vec<_>, _>>()?;
    let gives = state.basis.venues.iter().map(|venue| tally(venue.as_str(), &asked)).collect::<Vec<_>>();
    let exit = verdict(&gives, args.strict);
    if args.json {
        warn_simulated(state.simulated);
        let report = Report { simulated: state.simulated, pairs: config.pairs.len(), venues: &gives };
        return Ok(finish(&format!("{}\n", String::from_utf8_lossy(&crate::wire::json(&report))), exit));
    }
    Ok(finish(&render(&gives, config.pairs.len(), state.simulated, look()), exit))
}

/// Gives how long the slowest venue may take: its budget's pace over all pairs, and two requests that time out.
fn patience(config: &Config) -> Duration {
    let wanted: Vec<Wanted> = (0..config.pairs.len()).map(|pair| Wanted { pair, proven: false }).collect();
    let enabled = config.venues.iter().filter(|(_, venue)| venue.enabled);
    let each = enabled.filter_map(|(id, venue)| {
        let profile = venues::by_id(id)?.profile();
        let pace = plan(profile.endpoints, &wanted).shortest(&venue.budget.unwrap_or(profile.budget));
        Some(pace.saturating_add(venue.fetch_timeout.unwrap_or(config.fetch_timeout).saturating_mul(2)))
    });
    each.max().unwrap_or_default().saturating_add(GRACE)
}

/// Waits until every venue has come to a word about every pair, and tells a person meanwhile how many have.
async fn hear(state: &State, pairs: usize, patience: Duration) {
    let mut stderr = std::io::stderr();
    let told = stderr.is_terminal();
    let (begun, venues) = (Instant::now(), state.basis.venues.len());
    let all = pairs.saturating_mul(venues);
    loop {
        let followed = state.engine.pairs();
        let unknown = |pair: &Pair| state.engine.latest(pair).map_or(venues, |published| published.view.unknown);
        let open = followed.iter().map(|p| unknown(&p.pair)).fold(0, usize::saturating_add);
        if open == 0 || begun.elapsed() > patience {
            break;
        }
        if told {
            let _ = write!(stderr, "\r\u{1b}[Kasking {venues} venues for {pairs} pairs: {} of {all} answers", all.saturating_sub(open));
        }
        sleep(LOOK_EVERY).await;
    }
    if told {
        let _ = write!(stderr, "\r\u{1b}[K");
    }
}

/// Gives what was heard of a pair; a venue that has not come to a word by now is a miss.
async fn recall(state: &State, pair: Pair, limited_to: &[String]) -> Result<Asked, Exit> {
    let venues = match limited_to {
        [] => state.basis.venues.iter().map(ToString::to_string).collect(),
        some => some.to_vec(),
    };
    let terms = Terms { deadline: LOOK_EVERY, ..state.engine.terms().clone() };
    let body = match quotes::ask_for_any(state, pair, &terms).await {
        Ok(published) => Some(read(&quotes::body(state, &published))?),
        Err(error) if error.code() == Code::UnknownPair => None,
        Err(error) => return Err(fail(Exit::Failure, &sentence(&error))),
    };
    Ok(Asked { pair, venues, body })
}

/// Counts what one venue gave. A quote that does not count is a failure: the venue has the pair and says nothing of use about it.
fn tally(venue: &str, asked: &[Asked]) -> Gives {
    let mut gives = Gives { venue: venue.to_owned(), given: 0, unlisted: 0, failed: 0, latency_ms: None, first_fault: None };
    for Asked { pair, body, .. } in asked.iter().filter(|a| a.venues.iter().any(|v| v == venue)) {
        let row = body.iter().flat_map(|b| &b.quotes).find(|row| row.venue == venue);
        let miss = body.iter().flat_map(|b| &b.misses).find(|miss| miss.venue == venue);
        if let Some(row) = row {
            gives.latency_ms = gives.latency_ms.max(Some(row.latency_ms));
        }
        let fault = match (row, miss) {
            (Some(row), _) if row.decision == IN => {
                gives.given = gives.given.saturating_add(1);
                continue;
            }
            (Some(row), _) => (row.decision.clone(), "the quote does not count".to_owned()),
            (None, Some(miss)) => (miss.reason.clone(), miss.detail.clone()),
            (None, None) => {
                gives.unlisted = gives.unlisted.saturating_add(1);
                continue;
            }
        };
        gives.failed = gives.failed.saturating_add(1);
        let (reason, detail) = fault;
        gives.first_fault.get_or_insert_with(|| FirstFault { pair: pair.to_string(), reason, detail });
    }
    gives
}

fn verdict(gives: &[Gives], strict: bool) -> Exit {
    if gives.iter().all(|g| g.given == 0) {
        Exit::NoQuote
    } else if strict && gives.iter().any(|g| g.failed > 0) {
        Exit::Partial
    } else {
        Exit::Ok
    }
}

fn render(gives: &[Gives], pairs: usize, simulated: bool, look: Look) -> String {
    let mut table = Table::new(&[
        ("venue", Align::Left),
        ("given", Align::Right),
        ("unlisted", Align::Right),
        ("failed", Align::Right),
        ("latency ms", Align::Right),
        ("first fault", Align::Left),
        ("reason", Align::Left),
        ("detail", Align::Left),
    ]);
    for g in gives {
        let tone = if g.failed > 0 { Tone::Bad } else { Tone::Plain };
        let fault = g.first_fault.as_ref();
        table.push(vec![
            Cell::plain(&g.venue),
            Cell::plain(g.given),
            Cell::plain(g.unlisted),
            Cell::new(&g.failed.to_string(), tone),
            Cell::maybe(g.latency_ms),
            Cell::maybe(fault.map(|f| &f.pair)),
            Cell::new(fault.map_or("", |f| &f.reason), tone),
            Cell::maybe(fault.map(|f| &f.detail)),
        ]);
    }
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = match look {
        Look::Lines if simulated => writeln!(out, "# {SIMULATED}"),
        Look::Lines => Ok(()),
        Look::Table { color } => {
            let word = if simulated { format!("{}  ", paint("SIMULATED", "1;33", color)) } else { String::new() };
            let well = gives.iter().filter(|g| g.failed == 0).count();
            writeln!(out, "{word}{pairs} pairs: {well} of {} venues without a fault\n", gives.len())
        }
    };
    out + &table.render(look)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::body::{Counts, MissRow, Row};

    fn row(venue: &str, decision: &str, latency_ms: u64) -> Row {
        let (venue, decision) = (venue.to_owned(), decision.to_owned());
        Row { venue, bid: None, bid_size: None, ask: None, ask_size: None, last: None, age_ms: 0, latency_ms, decision }
    }

    fn asked(pair: &str, venues: &[&str], quotes: Vec<Row>, missed: &[(&str, &str)]) -> Asked {
        let misses = missed.iter().map(|(venue, reason)| MissRow {
            venue: (*venue).to_owned(),
            reason: (*reason).to_owned(),
            detail: "why".to_owned(),
        });
        let body = Body {
            pair: pair.to_owned(),
            status: String::new(),
            as_of: String::new(),
            bid: None,
            bid_size: None,
            bid_venue: None,
            ask: None,
            ask_size: None,
            ask_venue: None,
            mid: None,
            spread: None,
            spread_bps: None,
            crossed: false,
            venues: Counts { asked: 0, answered: 0 },
            quotes,
            misses: misses.collect(),
        };
        Asked { pair: pair.parse().unwrap(), venues: venues.iter().map(|v| (*v).to_owned()).collect(), body: Some(body) }
    }

    fn all() -> Vec<Asked> {
        let both = ["kraken", "okx"];
        vec![
            asked("BTC-USDT", &both, vec![row("kraken", "in", 40), row("okx", "crossed", 9)], &[]),
            asked("BTC-USD", &both, vec![row("kraken", "in", 41)], &[]),
            asked("SOL-EUR", &["okx"], vec![], &[("okx", "timeout")]),
            Asked { body: None, ..asked("ABC-XYZ", &both, vec![], &[]) },
        ]
    }

    #[test]
    fn every_pair_that_a_venue_is_asked_for_is_given_unlisted_or_failed() {
        let (kraken, okx) = (tally("kraken", &all()), tally("okx", &all()));
        assert_eq!((kraken.given, kraken.unlisted, kraken.failed, kraken.latency_ms), (2, 1, 0, Some(41)));
        assert_eq!((okx.given, okx.unlisted, okx.failed, okx.latency_ms), (0, 2, 2, Some(9)));
        let fault = okx.first_fault.unwrap();
        assert_eq!((fault.pair.as_str(), fault.reason.as_str()), ("BTC-USDT", "crossed"));
        assert_eq!(kraken.first_fault, None);
    }

    #[test]
    fn the_verdict_is_partial_only_by_strict() {
        let gives = [tally("kraken", &all()), tally("okx", &all())];
        assert_eq!((verdict(&gives, false), verdict(&gives, true)), (Exit::Ok, Exit::Partial));
        assert_eq!((verdict(&gives[..1], true), verdict(&gives[1..], true)), (Exit::Ok, Exit::NoQuote));
    }

    #[test]
    fn a_row_a_venue() {
        let gives = [tally("kraken", &all()), tally("okx", &all())];
        let lines = render(&gives, 4, false, Look::Lines);
        assert_eq!(lines, "kraken\t2\t1\t0\t41\t\t\t\nokx\t0\t2\t2\t9\tBTC-USDT\tcrossed\tthe quote does not count\n");
        let table = render(&gives, 4, true, Look::Table { color: false });
        assert!(table.starts_with("SIMULATED  4 pairs: 1 of 2 venues without a fault\n\nvenue   given  unlisted"), "{table}");
    }
}
