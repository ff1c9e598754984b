//! Bitfinex: <https://docs.bitfinex.com/reference/rest-public-ticker>

use crate::{
    model::{Fault, Pair, Reason, Retry, Ticker, UnixMs},
    venue::{
        ANY, Body, Budget, Cells, Endpoint, Fee, Kind, Num, Profile, Raw, Reach, Row, Sink, SymbolList, TimeOf, Venue, Word, json_list,
        text,
    },
};
use serde::Deserialize;
use std::time::Duration;

/// Bitfinex.
#[derive(Debug)]
pub struct Bitfinex;

static PROFILE: Profile = Profile {
    id: "bitfinex",
    name: "Bitfinex",
    operator: "bitfinex",
    region: None,
    origin: "https://api-pub.bitfinex.com",
    mirrors: &[],
    taker: Fee { rate: "0.002", read: "2026-11-30" },
    budget: Budget { weight: 30, per: Duration::from_secs(60) },
    body_max: 4 << 20,
    time_of: TimeOf::None,
    warm_up: "/v2/platform/status",
    docs: "https://docs.bitfinex.com/reference/rest-public-ticker",
    endpoints: &[
        Endpoint {
            kind: Kind::Ticker,
            reach: Reach::One,
            path: "/v2/ticker/{symbol}",
            weight: &[(ANY, 1)],
            row_bytes: 110,
            rows: 1,
            decode: one,
            encode: Some(|rows| rows.first().map(|row| format!("[{}]", cells(row))).unwrap_or_default()),
        },
        Endpoint {
            kind: Kind::Ticker,
            reach: Reach::One,
            path: "/v1/pubticker/{symbol}",
            weight: &[(ANY, 1)],
            row_bytes: 180,
            rows: 1,
            decode: old_one,
            encode: None,
        },
        Endpoint {
            kind: Kind::Tickers,
            reach: Reach::Listed(SymbolList { most: 100, form: ["", ",", ""] }),
            path: "/v2/tickers?symbols={symbols}",
            weight: &[(ANY, 1)],
            row_bytes: 120,
            rows: 100,
            decode: many,
            encode: Some(all_written),
        },
        Endpoint {
            kind: Kind::Tickers,
            reach: Reach::All,
            path: "/v2/tickers?symbols=ALL",
            weight: &[(ANY, 1)],
            row_bytes: 120,
            rows: 430,
            decode: many,
            encode: Some(all_written),
        },
        Endpoint {
            kind: Kind::Tickers,
            reach: Reach::All,
            path: "/v1/tickers?symbols=ALL",
            weight: &[(ANY, 1)],
            row_bytes: 200,
            rows: 300,
            decode: old_many,
            encode: None,
        },
    ],
};

/// Bitfinex's own codes, where they differ from everybody's; its UST was never TerraUSD.
const OWN_CODES: &[(&str, &str)] = &[
    ("USDT", "UST"),
    ("USDC", "UDC"),
    ("TUSD", "TSD"),
    ("EURT", "EUT"),
    ("EURS", "EUS"),
    ("USTC", "TERRAUST"),
    ("LUNC", "LUNA"),
    ("LUNA", "LUNA2"),
    ("ALGO", "ALG"),
    ("AMPL", "AMP"),
    ("ATOM", "ATO"),
    ("BCH", "BCHN"),
    ("DASH", "DSH"),
    ("DATA", "DAT"),
    ("ID", "IDX"),
    ("IOTA", "IOT"),
    ("IQ", "IQX"),
    ("MANA", "MNA"),
    ("MDOGE", "DOG"),
    ("PNT", "EDO"),
    ("QASH", "QSH"),
    ("QTUM", "QTM"),
    ("RBTC", "RBT"),
    ("STORJ", "STJ"),
    ("VSYS", "VSY"),
    ("WAXP", "WAX"),
    ("XEC", "BCHABC"),
];

fn own(code: &str) -> &str {
    OWN_CODES.iter().find(|(plain, _)| *plain == code).map_or(code, |(_, own)| own)
}

fn plain(code: &str) -> &str {
    OWN_CODES.iter().find(|(_, own)| *own == code).map_or(code, |(plain, _)| plain)
}

impl Venue for Bitfinex {
    fn profile(&self) -> &Profile {
        &PROFILE
    }

    /// Codes of more than three letters are set apart by a colon: `tBTCUST`, `tAVAX:USD`.
    fn spell(&self, pair: &Pair) -> String {
        let (base, quote) = (own(pair.base.as_str()), own(pair.quote.as_str()));
        let colon = if base.len() > 3 || quote.len() > 3 { ":" } else { "" };
        format!("t{base}{colon}{quote}")
    }

    /// Version 1 has no `t`.
    fn aliases(&self, pair: &Pair) -> Vec<String> {
        self.spell(pair).strip_prefix('t').map(str::to_owned).into_iter().collect()
    }

    /// Funding (`fUSD`) and perpetuals (`tBTCF0:USTF0`) stand in the same list, and are no pairs; neither is what customers practise with (`tTESTBTC:TESTUSD`).
    fn read_symbol(&self, symbol: &str) -> Option<Pair> {
        let codes = symbol.strip_prefix('t').unwrap_or(symbol);
        let (base, quote) = match codes.split_once(':') {
            Some(parts) => parts,
            None if codes.len() == 6 => codes.split_at_checked(3)?,
            None => return None,
        };
        let spot = |code: &str| !code.ends_with("F0") && !code.starts_with("TEST");
        if spot(base) && spot(quote) { Pair::new(plain(base), plain(quote)).ok() } else { None }
    }

    fn said(&self, _status: u16, body: &[u8]) -> Option<Fault> {
        let text = std::str::from_utf8(body).ok()?;
        if let Ok(cells) = serde_json::from_str::<Cells<Raw<'_>, 3>>(text) {
            return refused(&cells);
        }
        let old: OldRefusal<'_> = serde_json::from_str(text).ok()?;
        Some(refusal("", &old.message.0))
    }

    fn refuse(&self, reason: Reason, _symbol: &str) -> Option<(u16, String)> {
        let (status, code, text) = match reason {
            Reason::Unlisted => (500, 10020, "symbol: invalid"),
            Reason::RateLimited => (429, 11010, "ratelimit: error"),
            Reason::Http5xx => (503, 20060, "maintenance"),
            _ => return None,
        };
        Some((status, format!(r#"["error",{code},"{text}"]"#)))
    }
}

/// Who asks too often is blocked for a minute.
const BLOCKED: Duration = Duration::from_secs(60);

/// Reads `["error",10020,"symbol: invalid"]`; `None` for what is no error.
fn refused<const K: usize>(cells: &Cells<Raw<'_>, K>) -> Option<Fault> {
    let text = |at| cells.get(at).and_then(|cell: &Raw<'_>| cell.text());
    (text(0) == Some("error")).then(|| refusal(text(1).unwrap_or_default(), text(2).unwrap_or_default()))
}

fn refusal(code: &str, text: &str) -> Fault {
    let lower = text.to_ascii_lowercase();
    let limited = lower.contains("ratelimit") || lower.contains("rate_limit") || lower.contains("rate limit");
    let reason = match code {
        "11010" => Reason::RateLimited,
        _ if limited => Reason::RateLimited,
        _ if lower.contains("symbol") || lower.contains("unknown pair") => Reason::Unlisted,
        "20060" => Reason::Http5xx,
        _ if lower.contains("unavailable") || lower.contains("maintenance") => Reason::Http5xx,
        "10100" => Reason::Forbidden,
        _ => Reason::Rejected,
    };
    let retry = (reason == Reason::RateLimited).then_some(Retry::After(BLOCKED));
    Fault::said(reason, format!("{code} {text}").trim()).retry(retry)
}

/// An error of version 1: `{"message":"Unknown symbol"}`, `{"error":"ERR_RATE_LIMIT"}`.
#[derive(Deserialize)]
struct OldRefusal<'a> {
    #[serde(borrow, alias = "error")]
    message: Word<'a>,
}

/// Reads a row of version 2 behind its symbol. Rows grow (since 2026 by a time that stands still), so their length says nothing, and the sizes are sums over 25 levels.
fn ticker(cells: &[Option<Raw<'_>>]) -> Result<Ticker, Fault> {
    let at = |at: usize| cells.get(at).copied().flatten();
    // Ten cells are documented: a row with fewer is none.
    let (Some(bid), Some(ask), Some(last), Some(volume), Some(high), Some(low)) = (at(0), at(2), at(6), at(7), at(8), at(9)) else {
        return Err(Fault::new(Reason::Decode, "a row of fewer than 10 cells"));
    };
    Ok(Ticker {
        bid: bid.price("BID")?,
        ask: ask.price("ASK")?,
        last: last.price("LAST_PRICE")?,
        high: high.price("HIGH")?,
        low: low.price("LOW")?,
        base_volume: volume.amount("VOLUME")?,
        ..Ticker::default()
    })
}

fn one(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let row: Cells<Raw<'_>, 10> = body.small()?;
    if let Some(fault) = refused(&row) {
        return Err(fault);
    }
    // A list of rows is no row, however long.
    if row.get(0).and_then(|cell| cell.text()).is_some_and(|text| text.starts_with(['[', '{'])) || row.get(9).is_none() {
        return Err(Fault::new(Reason::Decode, "not a row of 10 cells or more"));
    }
    sink(None, &|| ticker(&row.0));
    Ok(())
}

fn many(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let rows: Vec<Cells<Raw<'_>, 11>> =
        body.small().map_err(|fault| body.small::<Cells<Raw<'_>, 3>>().ok().and_then(|cells| refused(&cells)).unwrap_or(fault))?;
    for row in &rows {
        if let [Some(symbol), cells @ ..] = &row.0 {
            sink(symbol.text(), &|| ticker(cells));
        }
    }
    Ok(())
}

/// A row of version 1.
#[derive(Deserialize)]
struct Old<'a> {
    #[serde(borrow)]
    pair: Option<Word<'a>>,
    #[serde(borrow)]
    bid: Raw<'a>,
    #[serde(borrow)]
    ask: Raw<'a>,
    #[serde(borrow)]
    last_price: Raw<'a>,
    #[serde(borrow, default)]
    high: Raw<'a>,
    #[serde(borrow, default)]
    low: Raw<'a>,
    #[serde(borrow, default)]
    volume: Raw<'a>,
    #[serde(borrow, default)]
    timestamp: Raw<'a>,
}

impl Old<'_> {
    fn ticker(&self) -> Result<Ticker, Fault> {
        Ok(Ticker {
            bid: self.bid.price("bid")?,
            ask: self.ask.price("ask")?,
            last: self.last_price.price("last_price")?,
            high: self.high.price("high")?,
            low: self.low.price("low")?,
            base_volume: self.volume.amount("volume")?,
            venue_time: self.timestamp.text().and_then(seconds),
            ..Ticker::default()
        })
    }
}

/// Reads seconds with decimals, cut to milliseconds.
fn seconds(text: &str) -> Option<UnixMs> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let mut digits = decimals.chars().chain("000".chars()).take(3);
    let ms = digits.try_fold(0i64, |ms, digit| ms.checked_mul(10)?.checked_add(digit.to_digit(10)?.into()))?;
    whole.parse::<i64>().ok()?.checked_mul(1000)?.checked_add(ms).map(UnixMs)
}

fn old_one(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let row: Old<'_> = old(body)?;
    sink(row.pair.as_ref().map(|word| &*word.0), &|| row.ticker());
    Ok(())
}

fn old_many(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let rows: Vec<Old<'_>> = old(body)?;
    rows.iter().for_each(|row| sink(row.pair.as_ref().map(|word| &*word.0), &|| row.ticker()));
    Ok(())
}

fn old<'a, T: Deserialize<'a>>(body: &Body<'a>) -> Result<T, Fault> {
    body.small().map_err(|fault| body.small::<OldRefusal<'_>>().map_or(fault, |said| refusal("", &said.message.0)))
}

/// Writes the ten cells behind the symbol.
fn cells(row: &Row<'_>) -> String {
    let t = row.ticker;
    let [bid, ask, last, high, low] = [t.bid, t.ask, t.last, t.high, t.low].map(text);
    format!("{bid},{},{ask},{},0,0,{last},{},{high},{low}", text(t.bid_size), text(t.ask_size), text(t.base_volume))
}

fn all_written(rows: &[Row<'_>]) -> String {
    json_list(rows, |row| format!(r#"["{}",{}]"#, row.symbol, cells(row)))
}
