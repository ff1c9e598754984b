//! What the tests of the venue table share: reading an answer whole, finding a pair's row in it, and comparing a ticker with what is wanted.

use quorate_actors::{
    model::{Amount, Fault, Pair, Ticker, UnixMs},
    venue::{Endpoint, Scratch, Venue, read},
};
use rust_decimal::Decimal;
use serde_json::Value;

/// The rows of an answer: the symbol, where the row names it, and what it says.
pub(crate) type Rows = Vec<(Option<String>, Result<Ticker, Fault>)>;

/// Reads an answer whole; a panic of the decoder, which `read` turns into a fault, is one here.
pub(crate) fn rows(venue: &dyn Venue, endpoint: &Endpoint, status: u16, body: &[u8]) -> Result<Rows, Fault> {
    let mut rows = Rows::new();
    let whole = read(venue, endpoint, status, body, &mut Scratch::default(), &mut |symbol, row| {
        rows.push((symbol.map(str::to_owned), row()));
    });
    if let Err(fault) = &whole {
        assert_ne!(fault.detail, "the decoder panicked", "{} {}: {}", venue.profile().id, endpoint.path, String::from_utf8_lossy(body));
    }
    whole.map(|()| rows)
}

/// Finds the row of a pair as the engine does: by spelling the pair, never by splitting the symbol.
pub(crate) fn find<'r>(venue: &dyn Venue, pair: &Pair, rows: &'r Rows) -> Option<&'r Result<Ticker, Fault>> {
    let mut names = venue.aliases(pair);
    names.push(venue.spell(pair));
    let named = |symbol: &Option<String>| symbol.as_ref().map_or(rows.len() == 1, |symbol| names.contains(symbol));
    rows.iter().find(|(symbol, _)| named(symbol)).map(|(_, row)| row)
}

/// The fields of a ticker in the words of the recorded answers.
pub(crate) const FIELDS: [&str; 11] =
    ["bid", "ask", "bid_size", "ask_size", "last", "high", "low", "open", "base_volume", "quote_volume", "timestamp_ms"];

/// Gives a field of a ticker by its name.
pub(crate) fn field(t: &Ticker, name: &str) -> Option<Decimal> {
    let (price, amount) = match name {
        "bid" => (t.bid, None),
        "ask" => (t.ask, None),
        "last" => (t.last, None),
        "high" => (t.high, None),
        "low" => (t.low, None),
        "open" => (t.open, None),
        "bid_size" => (None, t.bid_size),
        "ask_size" => (None, t.ask_size),
        "base_volume" => (None, t.base_volume),
        "quote_volume" => (None, t.quote_volume),
        "timestamp_ms" => return t.venue_time.map(|UnixMs(ms)| ms.into()),
        other => panic!("no field {other}"),
    };
    price.map(|p| p.get()).or(amount.map(|a| a.get()))
}

/// Reads a wanted number: decimal text, a whole number, or nothing.
pub(crate) fn wanted(value: &Value) -> Option<Decimal> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(Amount::parse(text).unwrap().unwrap().get()),
        Value::Number(number) => Some(number.as_i64().unwrap().into()),
        other => panic!("no number: {other}"),
    }
}
