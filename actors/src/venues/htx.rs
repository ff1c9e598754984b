//! HTX, formerly Huobi: <https://www.htx.com/en-us/opend/newApiPages/>

mod rows;
mod sim;

use crate::{
    model::{Fault, Pair, Reason},
    venue::{ANY, Basis, Budget, Endpoint, Fee, Kind, Num, Profile, Raw, Reach, TimeOf, Venue, Word, split_by_quote},
};
use serde::Deserialize;
use std::time::Duration;

/// HTX.
#[derive(Debug)]
pub struct Htx;

const ONE: Endpoint = Endpoint {
    kind: Kind::Ticker,
    reach: Reach::One,
    path: "/market/detail/merged?symbol={symbol}",
    weight: &[(ANY, 1)],
    row_bytes: 340,
    rows: 1,
    decode: rows::one,
    encode: Some(sim::merged),
};
const ALL: Endpoint = Endpoint {
    kind: Kind::Tickers,
    reach: Reach::All,
    path: "/market/tickers",
    row_bytes: 220,
    rows: 750,
    decode: rows::many,
    encode: Some(sim::all),
    ..ONE
};

static PROFILE: Profile = Profile {
    id: "htx",
    name: "HTX",
    operator: "htx",
    region: None,
    origin: "https://api.huobi.pro",
    mirrors: &["https://api-aws.huobi.pro"],
    taker: Fee { rate: "0.002", read: "2026-11-30" },
    budget: Budget { weight: 10, per: Duration::from_secs(1) },
    body_max: 4 << 20,
    // `ts` is when the answer was made.
    time_of: TimeOf::Answer,
    basis: Basis::Mid,
    warm_up: "/v1/common/timestamp",
    docs: "https://www.htx.com/en-us/opend/newApiPages/",
    endpoints: &[
        ONE,
        ALL,
        // The same without bid and ask.
        Endpoint { path: "/market/detail?symbol={symbol}", row_bytes: 260, decode: rows::day, encode: None, ..ONE },
    ],
};

impl Venue for Htx {
    fn profile(&self) -> &Profile {
        &PROFILE
    }

    fn spell(&self, pair: &Pair) -> String {
        format!("{}{}", pair.base, pair.quote).to_ascii_lowercase()
    }

    fn read_symbol(&self, symbol: &str) -> Option<Pair> {
        split_by_quote(symbol)
    }

    fn said(&self, _status: u16, body: &[u8]) -> Option<Fault> {
        serde_json::from_slice::<Refusal<'_>>(body).ok()?.fault()
    }

    fn refuse(&self, reason: Reason, _symbol: &str) -> Option<(u16, String)> {
        sim::refused(reason)
    }
}

fn refusal(code: &str, msg: &str) -> Fault {
    let msg_lower = msg.to_ascii_lowercase();
    let reason = match code {
        "base-symbol-error" | "base-currency-error" | "invalid-symbol" => Reason::Unlisted,
        // One code for every wrong parameter: the text tells which one is wrong.
        "invalid-parameter" | "bad-request" | "2002" if msg_lower.contains("symbol") => Reason::Unlisted,
        "rate-too-many-requests" | "base-request-exceed-frequency-limit" | "too-many-requests" | "429" => Reason::RateLimited,
        "base-symbol-trade-disabled" => Reason::Halted,
        "timeout"
        | "gateway-internal-error"
        | "internal-error"
        | "system-maintenance"
        | "maintenance"
        | "service-unavailable"
        | "500"
        | "503" => Reason::Http5xx,
        "forbidden" | "login-required" | "403" | "1002" => Reason::Forbidden,
        _ if msg_lower.contains("maintenance") => Reason::Http5xx,
        _ if code.ends_with("exceed-frequency-limit") => Reason::RateLimited,
        _ => Reason::Rejected,
    };
    Fault::said(reason, &format!("{code}: {msg}"))
}

/// An error: with a dash, with an underscore, (version 2) with a number and `message`, or nothing but `"status":"maintenance"`.
#[derive(Deserialize)]
struct Refusal<'a> {
    #[serde(borrow)]
    status: Option<Word<'a>>,
    #[serde(borrow, rename = "err-code", alias = "err_code")]
    code: Option<Word<'a>>,
    #[serde(borrow, default, rename = "code")]
    number: Raw<'a>,
    #[serde(borrow, rename = "err-msg", alias = "err_msg", alias = "message")]
    msg: Option<Word<'a>>,
}

impl Refusal<'_> {
    fn fault(self) -> Option<Fault> {
        let status = self.status.as_ref().map(|word| &*word.0);
        let code = self.code.as_ref().map(|word| &*word.0).or(self.number.text()).or(status)?;
        if status == Some("ok") { None } else { Some(refusal(code, self.msg.as_ref().map_or("", |word| &word.0))) }
    }
}
