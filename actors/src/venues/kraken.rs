//! Kraken: <https://docs.kraken.com/api/docs/rest-api/get-ticker-information>

use crate::{
    model::{Fault, Pair, Reason, Ticker},
    venue::{
        ANY, Body, Budget, Cells, Endpoint, Entries, Fee, FirstEntry, Kind, Num, Profile, Raw, Reach, Row, Sink, SymbolList, Text, TimeOf,
        Venue, Word, split_by_quote, text,
    },
};
use serde::Deserialize;
use std::time::Duration;

/// Kraken.
#[derive(Debug)]
pub struct Kraken;

static PROFILE: Profile = Profile {
    id: "kraken",
    name: "Kraken",
    operator: "kraken",
    region: None,
    origin: "https://api.kraken.com",
    mirrors: &[],
    taker: Fee { rate: "0.004", read: "2026-11-30" },
    budget: Budget { weight: 15, per: Duration::from_secs(15) },
    body_max: 4 << 20,
    time_of: TimeOf::None,
    warm_up: "/0/public/Time",
    docs: "https://docs.kraken.com/api/docs/rest-api/get-ticker-information",
    endpoints: &[
        Endpoint {
            kind: Kind::Ticker,
            reach: Reach::One,
            path: "/0/public/Ticker?pair={symbol}",
            weight: &[(ANY, 1)],
            row_bytes: 330,
            rows: 1,
            decode: one,
            encode: Some(written),
        },
        Endpoint {
            kind: Kind::Tickers,
            reach: Reach::Listed(SymbolList { most: 60, form: ["", ",", ""] }),
            path: "/0/public/Ticker?pair={symbols}",
            weight: &[(ANY, 1)],
            row_bytes: 330,
            rows: 60,
            decode: many,
            encode: Some(written),
        },
        Endpoint {
            kind: Kind::Tickers,
            reach: Reach::All,
            path: "/0/public/Ticker",
            weight: &[(ANY, 1)],
            row_bytes: 330,
            rows: 1100,
            decode: many,
            encode: Some(written),
        },
    ],
};

/// Kraken's own codes, where they differ from everybody's: asked for as `XBTUSD`, answered under `XXBTZUSD`.
const OWN_CODES: &[(&str, &str)] = &[("BTC", "XBT"), ("DOGE", "XDG")];
/// Assets of the first years carry a class letter in the answer's keys: X for coins, Z for money.
const CLASSED: &[(&str, &str)] = &[
    ("BTC", "XXBT"),
    ("DOGE", "XXDG"),
    ("ETH", "XETH"),
    ("ETC", "XETC"),
    ("LTC", "XLTC"),
    ("MLN", "XMLN"),
    ("REP", "XREP"),
    ("XLM", "XXLM"),
    ("XMR", "XXMR"),
    ("XRP", "XXRP"),
    ("ZEC", "XZEC"),
    ("USD", "ZUSD"),
    ("EUR", "ZEUR"),
    ("GBP", "ZGBP"),
    ("CAD", "ZCAD"),
    ("JPY", "ZJPY"),
    ("AUD", "ZAUD"),
];

fn coded<'a>(table: &[(&str, &'a str)], code: &'a str) -> &'a str {
    table.iter().find(|(plain, _)| *plain == code).map_or(code, |(_, own)| own)
}

fn plain(code: &str) -> &str {
    OWN_CODES.iter().chain(CLASSED).find(|(_, own)| *own == code).map_or(code, |(plain, _)| plain)
}

impl Venue for Kraken {
    fn profile(&self) -> &Profile {
        &PROFILE
    }

    fn spell(&self, pair: &Pair) -> String {
        format!("{}{}", coded(OWN_CODES, pair.base.as_str()), coded(OWN_CODES, pair.quote.as_str()))
    }

    fn aliases(&self, pair: &Pair) -> Vec<String> {
        let classed = format!("{}{}", coded(CLASSED, pair.base.as_str()), coded(CLASSED, pair.quote.as_str()));
        // With assetVersion=1 the keys are plain.
        vec![classed, format!("{:#}", pair)]
    }

    fn read_symbol(&self, symbol: &str) -> Option<Pair> {
        if let Some((base, quote)) = symbol.split_once('/') {
            return Pair::new(plain(base), plain(quote)).ok();
        }
        let classed = CLASSED
            .iter()
            .filter_map(|(quote, own)| Some((symbol.strip_suffix(own)?, *quote)))
            .find(|(base, _)| CLASSED.iter().any(|(_, own)| own == base));
        if let Some((base, quote)) = classed {
            return Pair::new(plain(base), quote).ok();
        }
        let pair = split_by_quote(&symbol.replace("XBT", "BTC").replace("XDG", "DOGE"))?;
        Pair::new(plain(pair.base.as_str()), plain(pair.quote.as_str())).ok()
    }

    /// Errors come with HTTP 200 as well: `{"error":["EGeneral:Too many requests"]}`.
    fn said(&self, _status: u16, body: &[u8]) -> Option<Fault> {
        let reply: Refusal<'_> = serde_json::from_slice(body).ok()?;
        reply.error.get(0).map(|text| refusal(&text.0))
    }

    fn refuse(&self, reason: Reason, _symbol: &str) -> Option<(u16, String)> {
        let text = match reason {
            Reason::Unlisted => "EQuery:Unknown asset pair",
            Reason::RateLimited => "EGeneral:Too many requests",
            Reason::Halted => "EService:Market in cancel_only mode",
            _ => return None,
        };
        Some((200, format!(r#"{{"error":["{text}"]}}"#)))
    }
}

fn refusal(text: &str) -> Fault {
    let reason = match text {
        "EQuery:Unknown asset pair" => Reason::Unlisted,
        "EGeneral:Too many requests" | "EAPI:Rate limit exceeded" | "EGeneral:Temporary lockout" => Reason::RateLimited,
        "EService:Unavailable" | "EService:Busy" | "EGeneral:Internal error" => Reason::Http5xx,
        "EGeneral:Permission denied" => Reason::Forbidden,
        _ if text.starts_with("EService:Market in ") => Reason::Halted,
        _ if text.starts_with("EService:") => Reason::Http5xx,
        _ => Reason::Rejected,
    };
    Fault::said(reason, text)
}

#[derive(Deserialize)]
struct Refusal<'a> {
    #[serde(borrow, default)]
    error: Cells<Word<'a>, 1>,
}

#[derive(Deserialize)]
struct Reply<'a, R> {
    #[serde(borrow, default)]
    error: Cells<Word<'a>, 1>,
    #[serde(default)]
    result: R,
}

/// One market. Of `v l h` the second is of the last 24 hours; `o` is today's; `a b` are price, whole lots, size (absent in older answers).
#[derive(Deserialize)]
struct Info<N> {
    a: Cells<N, 3>,
    b: Cells<N, 3>,
    c: Cells<N, 2>,
    v: Cells<N, 2>,
    l: Cells<N, 2>,
    h: Cells<N, 2>,
    o: N,
}

fn cell<'a, N: Num<'a> + Default, const K: usize>(cells: &Cells<N, K>, at: usize) -> N {
    cells.get(at).copied().unwrap_or_default()
}

impl<'a, N: Num<'a> + Default> Info<N> {
    fn ticker(&self) -> Result<Ticker, Fault> {
        Ok(Ticker {
            bid: cell(&self.b, 0).price("b[0]")?,
            ask: cell(&self.a, 0).price("a[0]")?,
            bid_size: cell(&self.b, 2).amount("b[2]")?,
            ask_size: cell(&self.a, 2).amount("a[2]")?,
            last: cell(&self.c, 0).price("c[0]")?,
            high: cell(&self.h, 1).price("h[1]")?,
            low: cell(&self.l, 1).price("l[1]")?,
            open: self.o.price("o")?,
            base_volume: cell(&self.v, 1).amount("v[1]")?,
            ..Ticker::default()
        })
    }
}

fn one(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let reply: Reply<'_, FirstEntry<'_, Info<Raw<'_>>>> = body.small()?;
    if let Some(text) = reply.error.get(0) {
        return Err(refusal(&text.0));
    }
    // The key is of Kraken's own choosing: the only one is the one that was asked for.
    let (_, info) = reply.result.0.ok_or(Fault::new(Reason::Decode, "result: empty"))?;
    sink(None, &|| info.ticker());
    Ok(())
}

fn many(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    if let Ok(reply) = body.bulk::<Reply<'_, Entries<'_, Info<Text<'_>>>>>() {
        return all(&reply, sink);
    }
    all(&body.small::<Reply<'_, Entries<'_, Info<Raw<'_>>>>>()?, sink)
}

fn all<'a, N: Num<'a> + Default>(reply: &Reply<'_, Entries<'_, Info<N>>>, sink: Sink<'_>) -> Result<(), Fault> {
    if let Some(text) = reply.error.get(0) {
        return Err(refusal(&text.0));
    }
    reply.result.0.iter().for_each(|(symbol, info)| sink(Some(symbol), &|| info.ticker()));
    Ok(())
}

fn written(rows: &[Row<'_>]) -> String {
    let market = |row: &Row<'_>| {
        let t = row.ticker;
        let (bid, ask, volume, low, high) = (text(t.bid), text(t.ask), text(t.base_volume), text(t.low), text(t.high));
        format!(
            r#""{}{}":{{"a":["{ask}","1","{}"],"b":["{bid}","1","{}"],"c":["{}","0.01"],"v":["{volume}","{volume}"],"p":["{bid}","{bid}"],"t":[100,1000],"l":["{low}","{low}"],"h":["{high}","{high}"],"o":"{}"}}"#,
            coded(CLASSED, row.pair.base.as_str()),
            coded(CLASSED, row.pair.quote.as_str()),
            text(t.ask_size),
            text(t.bid_size),
            text(t.last),
            text(t.open)
        )
    };
    format!(r#"{{"error":[],"result":{{{}}}}}"#, rows.iter().map(market).collect::<Vec<_>>().join(","))
}
