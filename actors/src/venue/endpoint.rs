//! How a venue is asked: path templates with their price, and the way back from a path to its endpoint.

use super::{Body, Row, Sink};
use crate::model::Fault;

/// Stands for "any number of symbols" in a table of weights.
pub const ANY: u16 = u16::MAX;

/// Describes one endpoint: what it gives, how it is asked, what that costs, and how its answer is read and written.
#[derive(Debug)]
pub struct Endpoint {
    /// What it gives.
    pub kind: Kind,
    /// Whom it reaches.
    pub reach: Reach,
    /// The complete path and query; `{symbol}` or `{symbols}` stands for what is asked.
    pub path: &'static str,
    /// The weight in the venue's budget, as steps: up to so many symbols, so much; the last step is [`ANY`]. Without steps the endpoint is only read, and
    /// never asked.
    pub weight: &'static [(u16, u32)],
    /// The typical size of one row of the answer, in bytes.
    pub row_bytes: u32,
    /// The typical number of rows where all are given.
    pub rows: u32,
    /// Reads an answer with HTTP status 2xx.
    pub decode: fn(&mut Body<'_>, Sink<'_>) -> Result<(), Fault>,
    /// Writes an answer; `None` for a generation that is only read.
    pub encode: Option<fn(&[Row<'_>]) -> String>,
}

/// Names what an endpoint gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A ticker of one pair.
    Ticker,
    /// Tickers of many pairs.
    Tickers,
    /// Best bid and ask, of one pair or of many.
    BookTicker,
}

/// Tells for how many pairs one request asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// One pair: the path has `{symbol}`.
    One,
    /// The pairs listed: the path has `{symbols}`.
    Listed(SymbolList),
    /// Every pair that the venue has.
    All,
}

/// Tells how a request lists its symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymbolList {
    /// How many at most.
    pub most: u16,
    /// What stands before the first, between two, and after the last; percent-encoded where the query needs it.
    pub form: [&'static str; 3],
}

impl Endpoint {
    /// Tells whether requests are made to it; one without weights is only read.
    pub fn is_asked(&self) -> bool {
        !self.weight.is_empty()
    }

    /// Gives the weight of a request for `count` symbols; 0 for an endpoint that is never asked.
    pub fn weight_of(&self, count: usize) -> u32 {
        self.weight.iter().find(|(most, _)| count <= usize::from(*most)).or(self.weight.last()).map_or(0, |(_, weight)| *weight)
    }

    /// Gives the path that asks for `symbols`; an endpoint that gives all ignores them.
    pub fn path_for(&self, symbols: &[&str]) -> String {
        match self.reach {
            Reach::All => self.path.to_owned(),
            Reach::One => self.path.replace("{symbol}", symbols.first().copied().unwrap_or_default()),
            Reach::Listed(SymbolList { form: [open, between, close], .. }) => {
                self.path.replace("{symbols}", &format!("{open}{}{close}", symbols.join(between)))
            }
        }
    }
}

/// Finds the endpoint that a request path (with its query) asks, and the symbols in it. A path that is an endpoint's own, letter by letter, comes first
/// (`symbols=ALL` names no symbol); endpoints that name symbols come before those that give all;
/// parameters that the template does not have are ignored, as servers do.
pub fn route<'v>(endpoints: &'v [Endpoint], path: &str) -> Option<(&'v Endpoint, Vec<String>)> {
    let exact = endpoints.iter().filter(|e| e.path == path);
    let named = endpoints.iter().filter(|e| e.reach != Reach::All);
    let all = endpoints.iter().filter(|e| e.reach == Reach::All);
    exact.chain(named).chain(all).find_map(|endpoint| Some((endpoint, symbols_in(endpoint, path)?)))
}

fn symbols_in(endpoint: &Endpoint, path: &str) -> Option<Vec<String>> {
    let (want_path, want_query) = endpoint.path.split_once('?').unwrap_or((endpoint.path, ""));
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let mut found = None;
    let (mut want, mut have) = (want_path.trim_end_matches('/').split('/'), path.trim_end_matches('/').split('/'));
    loop {
        match (want.next(), have.next()) {
            (None, None) => break,
            (Some(want), Some(have)) => match_value(endpoint, want, have, &mut found)?,
            _ => return None,
        }
    }
    for (key, want) in parameters(want_query) {
        let (_, have) = parameters(query).find(|(k, _)| *k == key)?;
        match_value(endpoint, want, have, &mut found)?;
    }
    Some(found.unwrap_or_default())
}

fn parameters(query: &str) -> impl Iterator<Item = (&str, &str)> {
    query.split('&').filter(|p| !p.is_empty()).map(|p| p.split_once('=').unwrap_or((p, "")))
}

fn match_value(endpoint: &Endpoint, want: &str, have: &str, found: &mut Option<Vec<String>>) -> Option<()> {
    let have = percent_decoded(have)?;
    match want {
        // A comma stands between symbols, never in one: such a request is for the endpoint that takes a list.
        "{symbol}" if !have.is_empty() && !have.contains(',') => *found = Some(vec![have]),
        "{symbols}" => {
            let Reach::Listed(SymbolList { form, .. }) = endpoint.reach else { return None };
            let [open, between, close] = form.map(|part| percent_decoded(part).unwrap_or_default());
            let inner = have.strip_prefix(&open)?.strip_suffix(&close)?;
            *found = Some(inner.split(between.as_str()).map(str::to_owned).collect());
        }
        want if want.eq_ignore_ascii_case(&have) => {}
        _ => return None,
    }
    Some(())
}

/// Decodes `%XX`; `None` where a `%` stands alone or the bytes are not UTF-8.
pub fn percent_decoded(text: &str) -> Option<String> {
    let (mut out, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        match (first, tail) {
            (b'%', [high, low, tail @ ..]) => {
                let hex = |b: &u8| char::from(*b).to_digit(16).and_then(|d| u8::try_from(d).ok());
                out.push((hex(high)? << 4) | hex(low)?);
                rest = tail;
            }
            (b'%', _) => return None,
            (byte, _) => out.push(*byte),
        }
    }
    String::from_utf8(out).ok()
}
