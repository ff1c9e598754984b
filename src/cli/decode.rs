//! `quorate decode`: reads a venue's answer offline.

use super::output::{Exit, fail, finish, say};
use clap::{Args, ValueEnum};
use quorate_actors::{
    model::{Amount, Fault, Pair, Price, Reason, Ticker},
    venue::{Endpoint, Kind, Reach, Scratch, Venue, is_lack, read, route},
    venues,
};
use serde::Serialize;
use std::{collections::BTreeMap, io::Read};

/// Reads a venue's answer from stdin, offline, and prints what it says as JSON
#[derive(Debug, Args)]
pub struct DecodeArgs {
    /// The venue's id, such as `kraken`
    #[arg(long)]
    pub venue: String,
    /// What the answer is
    #[arg(long)]
    pub kind: DecodeKind,
    /// The pairs to find in it, such as BTC-USDT; all that can be named when none is given
    #[arg(long, value_delimiter = ',')]
    pub pair: Vec<Pair>,
    /// The path and query that were asked: they choose the endpoint, or its generation
    #[arg(long)]
    pub path: Option<String>,
    /// The HTTP status with which the answer came
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u16).range(100..=999))]
    pub status: u16,
    /// Prints JSON, as it does anyway
    #[arg(long)]
    pub json: bool,
}

/// Names what an answer may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum DecodeKind {
    /// A ticker of one pair
    Ticker,
    /// Tickers of many pairs
    Tickers,
    /// Best bid and ask
    BookTicker,
    /// An order book
    OrderBook,
    /// A list of markets
    Markets,
}

/// Says why an answer was not decoded.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// The table has no such venue.
    #[error("unknown venue {0:?}: expected one of {known}", known = known())]
    UnknownVenue(String),
    /// This version does not read that kind.
    #[error("kind {0} is not read yet: expected ticker, tickers or book_ticker")]
    KindNotRead(&'static str),
    /// The venue has no endpoint for the path, and the answer has the shape of none.
    #[error("venue {venue} has no endpoint for path {path:?}, and no endpoint of the kind fits the answer: {fault}")]
    UnknownPath {
        /// The venue's id.
        venue: &'static str,
        /// What was given.
        path: String,
        /// What is wrong with the answer in the eyes of the first endpoint.
        fault: Fault,
    },
    /// The answer does not name its pair, and neither do the arguments.
    #[error("the answer does not name its pair: expected --pair, like --pair BTC-USDT")]
    Unnamed,
    /// The answer is not what the venue documents.
    #[error("unreadable answer: {0}")]
    Unreadable(Fault),
    /// The answer is longer than what is read of the venue.
    #[error("the answer is longer than {0} bytes")]
    Oversize(usize),
    /// The answer could not be read, or the result not be written.
    #[error("input or output failed: {0}")]
    Io(#[from] std::io::Error),
}

impl DecodeError {
    /// Gives the exit code: 2 for what the caller should have written otherwise, else 1.
    pub fn exit(&self) -> Exit {
        match self {
            Self::UnknownVenue(_) | Self::KindNotRead(_) | Self::UnknownPath { .. } | Self::Unnamed => Exit::Usage,
            Self::Unreadable(_) | Self::Oversize(_) | Self::Io(_) => Exit::Failure,
        }
    }
}

fn known() -> String {
    venues::VENUES.iter().map(|v| v.profile().id).collect::<Vec<_>>().join(", ")
}

/// Reads stdin, prints the result or the error, and gives the exit.
pub(super) fn run(args: &DecodeArgs) -> Exit {
    match input(args).and_then(|body| decode(args, &body)) {
        Ok(Decoded { json, left_out }) => {
            if let Some(fault) = left_out {
                say(&format!("quorate decode: unreadable rows left out, the first: {fault}"));
            }
            finish(&format!("{json}\n"), Exit::Ok)
        }
        Err(error) => fail(error.exit(), &format!("quorate decode: {error}")),
    }
}

/// Reads no more than the venue's limit.
fn input(args: &DecodeArgs) -> Result<Vec<u8>, DecodeError> {
    let most = venue_of(args)?.profile().body_max;
    let mut body = Vec::new();
    std::io::stdin().take(u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1)).read_to_end(&mut body)?;
    if body.len() > most { Err(DecodeError::Oversize(most)) } else { Ok(body) }
}

fn venue_of(args: &DecodeArgs) -> Result<&'static dyn Venue, DecodeError> {
    venues::by_id(&args.venue).ok_or_else(|| DecodeError::UnknownVenue(args.venue.clone()))
}

/// Holds what an answer says.
#[derive(Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The result as JSON, on one line.
    pub json: String,
    /// The first fault of rows that nobody asked for by name and that were left out.
    pub left_out: Option<Fault>,
}

impl Decoded {
    fn of<T: Serialize>(value: &T) -> Result<Self, DecodeError> {
        let json = serde_json::to_string(value).map_err(|error| DecodeError::Io(error.into()))?;
        Ok(Self { json, left_out: None })
    }

    fn refusal(word: &str) -> Result<Self, DecodeError> {
        Self::of(&BTreeMap::from([("error", word)]))
    }
}

/// Decodes an answer: one JSON object for one pair of `ticker` or `book_ticker`, a map from pair to that for all else, `{"error":…}` for what the venue refused.
///
/// # Errors
/// [`DecodeError`] where the arguments fit no endpoint, or the answer is unreadable.
pub fn decode(args: &DecodeArgs, body: &[u8]) -> Result<Decoded, DecodeError> {
    let venue = venue_of(args)?;
    let kinds = match args.kind {
        DecodeKind::Ticker => [Kind::Ticker, Kind::Tickers],
        DecodeKind::Tickers => [Kind::Tickers, Kind::Ticker],
        DecodeKind::BookTicker => [Kind::BookTicker; 2],
        DecodeKind::OrderBook => return Err(DecodeError::KindNotRead("order_book")),
        DecodeKind::Markets => return Err(DecodeError::KindNotRead("markets")),
    };
    let endpoints = venue.profile().endpoints;
    let routed = args.path.as_deref().map(|path| route(endpoints, path));
    // Nothing of another kind is tried for a path that nobody knows: its shape would fit by accident.
    let unknown_path = matches!(routed, Some(None));
    let (chosen, symbols) = routed.flatten().map_or((None, Vec::new()), |(endpoint, symbols)| (Some(endpoint), symbols));
    let of_kind = |kind: Kind| endpoints.iter().filter(move |e| e.kind == kind);
    let others = endpoints.iter().filter(|e| !unknown_path && !kinds.contains(&e.kind));
    let [first, second] = kinds;
    let candidates = chosen.into_iter().chain(of_kind(first)).chain(of_kind(second)).chain(others);

    let mut misfit = None;
    for endpoint in candidates {
        match Rows::read(venue, endpoint, args, &symbols, body) {
            Ok(rows) => match rows.misfit() {
                Some(fault) => misfit = misfit.or(Some(fault)),
                None => return rows.shown(args),
            },
            Err(fault) if fault.reason != Reason::Decode => return refused(args.status, fault),
            Err(fault) => misfit = misfit.or(Some(fault)),
        }
    }
    if let Some(fault) = venue.said(args.status, body) {
        return refused(args.status, fault);
    }
    let fault = misfit.unwrap_or(Fault::new(Reason::Decode, "no endpoint of that kind"));
    Err(match &args.path {
        Some(path) if unknown_path => DecodeError::UnknownPath { venue: venue.profile().id, path: path.clone(), fault },
        _ => DecodeError::Unreadable(fault),
    })
}

/// What an answer holds, as far as it was asked for.
#[derive(Default)]
struct Rows {
    /// How many rows the answer has, asked for or not.
    seen: usize,
    /// How many rows could not be named.
    unnamed: usize,
    found: BTreeMap<Pair, Result<Ticker, Fault>>,
}

impl Rows {
    fn read(venue: &dyn Venue, endpoint: &Endpoint, args: &DecodeArgs, symbols: &[String], body: &[u8]) -> Result<Self, Fault> {
        let names = |pair: Pair| venue.aliases(&pair).into_iter().chain([venue.spell(&pair)]).map(move |name| (name, pair));
        let wanted: BTreeMap<String, Pair> = args.pair.iter().copied().flat_map(names).collect();
        // An answer about one pair need not name it: it is the one that was asked for, by argument or by path.
        let only = match (args.pair.as_slice(), symbols) {
            ([pair], _) => Some(*pair),
            ([], [symbol]) if endpoint.reach == Reach::One => venue.read_symbol(symbol),
            _ => None,
        };
        let mut rows = Self::default();
        read(venue, endpoint, args.status, body, &mut Scratch::default(), &mut |symbol, ticker| {
            rows.seen = rows.seen.saturating_add(1);
            let pair = match symbol {
                None => only,
                Some(symbol) if args.pair.is_empty() => venue.read_symbol(symbol),
                Some(symbol) => wanted.get(symbol).copied(),
            };
            match pair {
                Some(pair) => drop(rows.found.entry(pair).or_insert_with(ticker)),
                None if symbol.is_none() => rows.unnamed = rows.unnamed.saturating_add(1),
                None => {}
            }
        })?;
        Ok(rows)
    }

    /// Gives the fault of rows that all lack what rows of the endpoint have: they are of another one.
    fn misfit(&self) -> Option<Fault> {
        let mut lacking = self.found.values().filter_map(|row| row.as_ref().err()).filter(|fault| is_lack(fault));
        if lacking.clone().count() == self.found.len() { lacking.next().cloned() } else { None }
    }

    fn shown(mut self, args: &DecodeArgs) -> Result<Decoded, DecodeError> {
        if self.unnamed > 0 && self.found.is_empty() {
            return Err(DecodeError::Unnamed);
        }
        if let (DecodeKind::Ticker | DecodeKind::BookTicker, [pair]) = (args.kind, args.pair.as_slice()) {
            return match self.found.remove(pair) {
                Some(ticker) => Decoded::of(&Shown::from(ticker.map_err(DecodeError::Unreadable)?)),
                None if self.seen == 0 => Decoded::refusal("empty"),
                None => Decoded::refusal("unknown_symbol"),
            };
        }
        let (mut shown, mut left_out) = (BTreeMap::new(), None);
        for (pair, ticker) in self.found {
            match ticker {
                Ok(ticker) => drop(shown.insert(format!("{pair:#}"), Shown::from(ticker))),
                Err(fault) if args.pair.is_empty() => left_out = left_out.or(Some(fault)),
                Err(fault) => return Err(DecodeError::Unreadable(fault)),
            }
        }
        match left_out {
            Some(fault) if shown.is_empty() => Err(DecodeError::Unreadable(fault)),
            left_out => Ok(Decoded { left_out, ..Decoded::of(&shown)? }),
        }
    }
}

/// A ticker as it is printed: numbers plain, absent ones `null`.
#[derive(Serialize)]
struct Shown {
    bid: Option<String>,
    ask: Option<String>,
    bid_size: Option<String>,
    ask_size: Option<String>,
    last: Option<String>,
    high: Option<String>,
    low: Option<String>,
    open: Option<String>,
    base_volume: Option<String>,
    quote_volume: Option<String>,
    timestamp_ms: Option<i64>,
}

impl From<Ticker> for Shown {
    fn from(t: Ticker) -> Self {
        let price = |number: Option<Price>| number.map(|n| n.to_string());
        let amount = |number: Option<Amount>| number.map(|n| n.to_string());
        Self {
            bid: price(t.bid),
            ask: price(t.ask),
            bid_size: amount(t.bid_size),
            ask_size: amount(t.ask_size),
            last: price(t.last),
            high: price(t.high),
            low: price(t.low),
            open: price(t.open),
            base_volume: amount(t.base_volume),
            quote_volume: amount(t.quote_volume),
            timestamp_ms: t.venue_time.map(|time| time.0),
        }
    }
}

/// Gives a refusal in the words of the recorded answers; what was simply not readable stays an error.
fn refused(status: u16, fault: Fault) -> Result<Decoded, DecodeError> {
    match word(status, &fault) {
        Some(word) => Decoded::refusal(word),
        None => Err(DecodeError::Unreadable(fault)),
    }
}

fn word(status: u16, fault: &Fault) -> Option<&'static str> {
    Some(match fault.reason {
        Reason::Unlisted => "unknown_symbol",
        Reason::RateLimited | Reason::Banned => "rate_limited",
        Reason::GeoBlocked | Reason::Forbidden => "blocked",
        Reason::Halted => "maintenance",
        Reason::Http5xx if fault.detail.to_ascii_lowercase().contains("maintenance") => "maintenance",
        Reason::Http5xx | Reason::Html | Reason::Redirect | Reason::Protocol => "unavailable",
        Reason::Http4xx | Reason::Rejected if status == 404 => "not_found",
        Reason::Http4xx | Reason::Rejected => "bad_request",
        Reason::Empty => "empty",
        _ => return None,
    })
}
