//! Coinbase Exchange: <https://docs.cdp.coinbase.com/exchange/reference/exchangerestapi_getproductticker>

mod rows;
mod sim;

use crate::{
    model::{Fault, Pair, Reason},
    venue::{ANY, Basis, Budget, Endpoint, Fee, Kind, Profile, Reach, TimeOf, Venue, Word, reason_of_code},
};
use serde::Deserialize;
use std::time::Duration;

/// Coinbase Exchange, the order book behind Coinbase.
#[derive(Debug)]
pub struct CoinbaseExchange;

const ONE: Endpoint = Endpoint {
    kind: Kind::Ticker,
    reach: Reach::One,
    path: "/products/{symbol}/ticker",
    weight: &[(ANY, 1)],
    row_bytes: 240,
    rows: 1,
    decode: rows::one,
    encode: Some(sim::written),
};
/// No call gives bid and ask of all products. This one gives last prices alone, and is therefore never asked.
const LINES: Endpoint = Endpoint {
    kind: Kind::Tickers,
    reach: Reach::All,
    path: "/products/spark-lines",
    weight: &[],
    row_bytes: 700,
    rows: 800,
    decode: rows::lines,
    encode: Some(sim::lines),
};

static PROFILE: Profile = Profile {
    id: "coinbaseexchange",
    name: "Coinbase Exchange",
    operator: "coinbase",
    region: None,
    origin: "https://api.exchange.coinbase.com",
    mirrors: &[],
    taker: Fee { rate: "0.006", read: "2026-11-30" },
    budget: Budget { weight: 10, per: Duration::from_secs(1) },
    body_max: 2 << 20,
    time_of: TimeOf::Trade,
    basis: Basis::Mid,
    warm_up: "/time",
    docs: "https://docs.cdp.coinbase.com/exchange/reference/exchangerestapi_getproductticker",
    endpoints: &[
        ONE,
        Endpoint { path: "/products/{symbol}/stats", weight: &[], decode: rows::stats, encode: None, ..ONE },
        LINES,
        Endpoint { path: "/products/stats", row_bytes: 260, decode: rows::all_stats, encode: None, ..LINES },
    ],
};

impl Venue for CoinbaseExchange {
    fn profile(&self) -> &Profile {
        &PROFILE
    }

    fn spell(&self, pair: &Pair) -> String {
        format!("{}-{}", pair.base, pair.quote)
    }

    fn read_symbol(&self, symbol: &str) -> Option<Pair> {
        symbol.split_once('-').and_then(|(base, quote)| Pair::new(base, quote).ok())
    }

    fn said(&self, status: u16, body: &[u8]) -> Option<Fault> {
        Some(serde_json::from_slice::<Refusal<'_>>(body).ok()?.fault(status))
    }

    fn refuse(&self, reason: Reason, _symbol: &str) -> Option<(u16, String)> {
        sim::refused(reason)
    }
}

/// There are no codes: the status and a sentence.
#[derive(Deserialize)]
struct Refusal<'a> {
    #[serde(borrow)]
    message: Word<'a>,
}

impl Refusal<'_> {
    fn fault(&self, status: u16) -> Fault {
        let text = self.message.0.to_ascii_lowercase();
        let has = |words: &str| text.contains(words);
        let known = match status {
            _ if has("rate limit") => Some(Reason::RateLimited),
            404 if has("notfound") || has("not found") => Some(Reason::Unlisted),
            _ if has("product id") || has("product_id") || has("product not found") || has("delisted") => Some(Reason::Unlisted),
            _ if has("restricted location") || has("your country") || has("your region") => Some(Reason::GeoBlocked),
            _ if has("trading is disabled") || has("cancel only") || has("cancel-only") => Some(Reason::Halted),
            _ if has("maintenance") || has("unavailable") || has("internal server error") => Some(Reason::Http5xx),
            _ if has("forbidden") || has("unauthorized") => Some(Reason::Forbidden),
            _ => None,
        };
        Fault::said(reason_of_code(known, status), &self.message.0)
    }
}
