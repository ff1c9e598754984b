//! `watch`: a pair's quotes as they change.

use super::{
    body::Body,
    config::SourceArgs,
    once::{configured, run as run_once, selection, sentence, start_for_watch},
    output::{Exit, fail, look},
    quote::{SIMULATED, read, tables},
    serve::told,
    table::Look,
};
use crate::{
    config::Config,
    http::{State, pairs},
    wire,
};
use clap::Args;
use futures_util::future::{Either, select};
use quorate_actors::{
    model::{Pair, VenueId},
    view::View,
};
use std::{
    future::Future,
    io::{self, ErrorKind, Write},
    pin::pin,
    time::Duration,
};
use tokio::time::{Instant, interval};

/// Follows a pair, and shows what each venue says of it as that changes
///
/// On a terminal it draws a table in place, best bid and ask marked with a star; elsewhere one line whenever the best changes, with tabs between: time, best bid, its
/// size and venue, best ask, its size and venue, mid, spread in basis points, venues that gave a quote, venues asked. Ctrl-C ends it. No server is needed.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 ok, 1 failure, 2 usage, 4 no quote ever came, 5 configuration")]
pub(super) struct WatchArgs {
    /// The pair, such as BTC-USDT: base and quote, any case, with - _ : or / between
    pair: String,
    #[command(flatten)]
    source: SourceArgs,
    /// Asks these venues alone (a,b), or all but these (-a,-b)
    #[arg(long, value_name = "IDS", value_delimiter = ',', allow_hyphen_values = true)]
    venues: Vec<String>,
    /// Looks for changes this often, 100 to 60000 ms
    #[arg(long, value_name = "MS", default_value_t = 500, value_parser = clap::value_parser!(u64).range(100..=60_000))]
    every_ms: u64,
    /// Ends after so many changes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
}

/// Runs the command.
pub(super) fn run(args: &WatchArgs) -> Exit {
    let config = match configured(&args.source) {
        Ok(config) => config,
        Err(exit) => return exit,
    };
    let known = || config.pairs.iter().map(|p| p.pair).collect();
    match pairs::parse(&args.pair, known) {
        Ok(pair) => run_once(watch(args, &config, pair)),
        Err(error) => fail(Exit::Usage, &sentence(&error)),
    }
}

async fn watch(args: &WatchArgs, config: &Config, pair: Pair) -> Result<Exit, Exit> {
    let enabled: Vec<VenueId> = config.venues.iter().filter(|(_, venue)| venue.enabled).map(|(id, _)| VenueId::new(id)).collect();
    let venues = selection(&args.venues, &enabled).map_err(|error| fail(Exit::Usage, &error))?;
    let stop = told().map_err(|error| fail(Exit::Failure, &format!("signals: {error}")))?;
    let state = start_for_watch(config, pair, venues)?;
    let look = look();
    let mut out = io::stdout();
    let shown = match out.write_all(opening(look, state.simulated).as_bytes()) {
        Ok(()) => follow(args, &state, pair, (look, &mut out), stop).await,
        Err(error) => Err(error),
    };
    // What a terminal is left with is what it showed before; a reader who went does not hear it.
    let _ = out.write_all(closing(look).as_bytes()).and_then(|()| out.flush());
    match shown {
        Ok(true) => Ok(Exit::Ok),
        Ok(false) => Ok(fail(Exit::NoQuote, &format!("no venue gave a quote for {pair}"))),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Exit::Ok),
        Err(error) => Err(fail(Exit::Failure, &format!("standard output: {error}"))),
    }
}

/// Shows changes until it is told to stop, or so many are shown; tells whether there ever was a quote.
async fn follow(
    args: &WatchArgs,
    state: &State,
    pair: Pair,
    (look, out): (Look, &mut impl Write),
    stop: impl Future<Output = ()>,
) -> io::Result<bool> {
    let (mut stop, mut tick) = (pin!(stop), interval(Duration::from_millis(args.every_ms)));
    let (mut left, mut quoted, mut before) = (args.count, false, None);
    while let Either::Right(_) = select(&mut stop, pin!(tick.tick())).await {
        let Some(published) = state.engine.latest(&pair).filter(|published| published.view.asked() > 0) else { continue };
        let bytes = wire::quotes_body(&aged(state, &published.view), state.engine.boot(), state.simulated);
        let Ok(body) = read(&bytes) else { continue };
        quoted |= !body.quotes.is_empty();
        let best = Some([&body.bid, &body.bid_venue, &body.ask, &body.ask_venue].map(Clone::clone));
        let is_new = before != best;
        before = best;
        match look {
            Look::Lines if is_new => out.write_all(line(&body).as_bytes())?,
            Look::Lines => continue,
            // Ages go on while nothing else does.
            Look::Table { color } => out.write_all(drawn(&tables(&body, state.simulated, color)).as_bytes())?,
        }
        out.flush()?;
        left = left.map(|left| left.saturating_sub(u64::from(is_new)));
        if left == Some(0) {
            break;
        }
    }
    Ok(quoted)
}

/// Gives a view as it is now: with the ages of now.
fn aged(state: &State, view: &View) -> View {
    let at = Instant::now();
    View { at, as_of: state.engine.clock().at(at), ..view.clone() }
}

/// Begins: a terminal is given a page of its own, without a cursor.
fn opening(look: Look, simulated: bool) -> String {
    match look {
        Look::Table { .. } => "\u{1b}[?1049h\u{1b}[?25l".to_owned(),
        Look::Lines if simulated => format!("# {SIMULATED}\n"),
        Look::Lines => String::new(),
    }
}

fn closing(look: Look) -> &'static str {
    match look {
        Look::Table { .. } => "\u{1b}[?25h\u{1b}[?1049l",
        Look::Lines => "",
    }
}

/// Draws over what was drawn before, line by line, so that nothing flickers.
fn drawn(table: &str) -> String {
    let lines: String = table.lines().map(|line| format!("{line}\u{1b}[K\r\n")).collect();
    format!("\u{1b}[H{lines}\u{1b}[J")
}

fn line(body: &Body) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let cells = [
        body.as_of.clone(),
        text(&body.bid),
        text(&body.bid_size),
        text(&body.bid_venue),
        text(&body.ask),
        text(&body.ask_size),
        text(&body.ask_venue),
        text(&body.mid),
        text(&body.spread_bps),
        body.venues.answered.to_string(),
        body.venues.asked.to_string(),
    ];
    format!("{}\n", cells.join("\t"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_drawn_over_the_one_before() {
        assert_eq!(drawn("a\nbc\n"), "\u{1b}[Ha\u{1b}[K\r\nbc\u{1b}[K\r\n\u{1b}[J");
        let look = Look::Table { color: false };
        assert!(opening(look, true).contains("?1049h") && closing(look).contains("?1049l"), "what is opened is closed");
        assert_eq!((opening(Look::Lines, true).as_str(), closing(Look::Lines)), ("# SIMULATED: a venue's origin is on loopback\n", ""));
    }
}
