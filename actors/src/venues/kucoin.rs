//! KuCoin: <https://www.kucoin.com/docs-new/rest/spot-trading/market-data/get-ticker>

use crate::{
    model::{Fault, Pair, Reason, Ticker, UnixMs},
    venue::{
        ANY, Body, Budget, Cells, Endpoint, Fee, Kind, Num, Profile, Raw, Reach, Row, Sink, Text, TimeOf, Venue, Word, json_list, text,
    },
};
use serde::Deserialize;
use std::time::Duration;

/// KuCoin.
#[derive(Debug)]
pub struct Kucoin;

static PROFILE: Profile = Profile {
    id: "kucoin",
    name: "KuCoin",
    operator: "kucoin",
    region: None,
    origin: "https://api.kucoin.com",
    mirrors: &[],
    taker: Fee { rate: "0.001", read: "2026-11-30" },
    budget: Budget { weight: 2000, per: Duration::from_secs(30) },
    body_max: 4 << 20,
    time_of: TimeOf::Answer,
    warm_up: "/api/v1/timestamp",
    docs: "https://www.kucoin.com/docs-new/rest/spot-trading/market-data/get-ticker",
    endpoints: &[
        // The unified account's ticker alone has sizes, last and volumes in one answer.
        Endpoint {
            kind: Kind::Ticker,
            reach: Reach::One,
            path: "/api/ua/v1/market/ticker?tradeType=SPOT&symbol={symbol}",
            weight: &[(ANY, 15)],
            row_bytes: 420,
            rows: 1,
            decode: unified,
            encode: Some(|rows| listed(rows, r#""tradeType":"SPOT","ts""#, "list", unified_written)),
        },
        Endpoint {
            kind: Kind::Ticker,
            reach: Reach::One,
            path: "/api/v1/market/stats?symbol={symbol}",
            weight: &[(ANY, 15)],
            row_bytes: 400,
            rows: 1,
            decode: one,
            encode: Some(|rows| rows.first().map(stats_written).unwrap_or_default()),
        },
        Endpoint {
            kind: Kind::Tickers,
            reach: Reach::All,
            path: "/api/v1/market/allTickers",
            weight: &[(ANY, 15)],
            row_bytes: 420,
            rows: 1100,
            decode: many,
            encode: Some(|rows| listed(rows, r#""time""#, "ticker", row_written)),
        },
        Endpoint {
            kind: Kind::Tickers,
            reach: Reach::All,
            path: "/api/ua/v1/market/ticker?tradeType=SPOT",
            weight: &[(ANY, 15)],
            row_bytes: 420,
            rows: 1100,
            decode: many,
            encode: None,
        },
        Endpoint {
            kind: Kind::BookTicker,
            reach: Reach::One,
            path: "/api/v1/market/orderbook/level1?symbol={symbol}",
            weight: &[(ANY, 2)],
            row_bytes: 230,
            rows: 1,
            decode: one,
            encode: None,
        },
    ],
};

/// Coins that were renamed: the symbol keeps the old code, and only `symbolName` has the new one.
const OWN_CODES: &[(&str, &str)] = &[("BSV", "BCHSV"), ("WAXP", "WAX")];

fn own(code: &str) -> &str {
    OWN_CODES.iter().find(|(plain, _)| *plain == code).map_or(code, |(_, own)| own)
}

fn plain(code: &str) -> &str {
    OWN_CODES.iter().find(|(_, own)| *own == code).map_or(code, |(plain, _)| plain)
}

impl Venue for Kucoin {
    fn profile(&self) -> &Profile {
        &PROFILE
    }

    fn spell(&self, pair: &Pair) -> String {
        format!("{}-{}", own(pair.base.as_str()), own(pair.quote.as_str()))
    }

    fn read_symbol(&self, symbol: &str) -> Option<Pair> {
        let (base, quote) = symbol.split_once('-')?;
        Pair::new(plain(base), plain(quote)).ok()
    }

    fn said(&self, _status: u16, body: &[u8]) -> Option<Fault> {
        let Refusal { code, msg } = serde_json::from_slice(body).ok()?;
        code.text().filter(|code| *code != SUCCESS).map(|code| refusal(code, &msg.unwrap_or_default().0))
    }

    fn refuse(&self, reason: Reason, _symbol: &str) -> Option<(u16, String)> {
        let (status, code, msg) = match reason {
            Reason::Unlisted => (400, "400100", "Unsupported trading pair."),
            Reason::RateLimited => (429, "429000", "Too many requests"),
            Reason::GeoBlocked => (403, "400302", "Our services are currently unavailable in the U.S."),
            Reason::Forbidden => (403, "400006", "The requested ip address is not in the api whitelist"),
            _ => return None,
        };
        Some((status, format!(r#"{{"msg":"{msg}","code":"{code}"}}"#)))
    }
}

const SUCCESS: &str = "200000";

fn refusal(code: &str, msg: &str) -> Fault {
    let has = |words: &[&str]| words.iter().any(|word| msg.to_ascii_lowercase().contains(word));
    let reason = match code {
        "900001" | "400600" => Reason::Unlisted,
        // One code for every wrong parameter: the text tells whether it is the symbol.
        "400100" | "400000" if has(&["trading pair", "not exist", "symbol"]) => Reason::Unlisted,
        "429000" | "429" | "1015" => Reason::RateLimited,
        "400302" | "400500" => Reason::GeoBlocked,
        _ if has(&["unavailable in the u.s", "restricted country", "restricted region"]) => Reason::GeoBlocked,
        "400001" | "400002" | "400003" | "400004" | "400005" | "400006" | "400007" | "400303" | "403" | "411100" => Reason::Forbidden,
        "200001" | "400200" => Reason::Halted,
        "500" | "502" | "503" | "504" | "500000" => Reason::Http5xx,
        _ if has(&["maintenance", "upgrad", "system is busy", "system busy"]) => Reason::Http5xx,
        _ => Reason::Rejected,
    };
    Fault::said(reason, &format!("{code}: {msg}"))
}

#[derive(Deserialize)]
struct Refusal<'a> {
    #[serde(borrow)]
    code: Raw<'a>,
    #[serde(borrow)]
    msg: Option<Word<'a>>,
}

#[derive(Deserialize)]
struct Reply<'a, N, D> {
    code: N,
    #[serde(borrow)]
    msg: Option<Word<'a>>,
    data: Option<D>,
}

impl<'a, N: Num<'a>, D> Reply<'_, N, D> {
    fn success(self) -> Result<D, Fault> {
        match self.code.text() {
            // What KuCoin says of a symbol that it does not have: success, and nothing.
            Some(SUCCESS) => self.data.ok_or(Fault::new(Reason::Unlisted, "data: null")),
            code => Err(refusal(code.unwrap_or_default(), &self.msg.unwrap_or_default().0)),
        }
    }
}

/// The list of `allTickers`, and of the unified account's ticker.
#[derive(Deserialize)]
struct Listing<R> {
    #[serde(alias = "ts")]
    time: Option<i64>,
    #[serde(rename = "ticker", alias = "list")]
    rows: R,
}

/// A row in three dialects: `stats` and `allTickers`, `level1` (whose `size` is the last trade's), and the unified account's.
#[derive(Deserialize)]
struct Stats<'a, N> {
    #[serde(borrow)]
    symbol: Option<Word<'a>>,
    time: Option<i64>,
    #[serde(rename = "buy", alias = "bestBid", alias = "bestBidPrice")]
    bid: N,
    #[serde(rename = "sell", alias = "bestAsk", alias = "bestAskPrice")]
    ask: N,
    #[serde(rename = "bestBidSize", default)]
    bid_size: N,
    #[serde(rename = "bestAskSize", default)]
    ask_size: N,
    #[serde(alias = "price", alias = "lastPrice")]
    last: N,
    #[serde(default)]
    high: N,
    #[serde(default)]
    low: N,
    #[serde(default)]
    open: N,
    #[serde(rename = "vol", alias = "baseVolume", default)]
    base_volume: N,
    #[serde(rename = "volValue", alias = "quoteVolume", default)]
    quote_volume: N,
}

impl<'a, N: Num<'a>> Stats<'_, N> {
    fn symbol(&self) -> Option<&str> {
        self.symbol.as_ref().map(|word| &*word.0)
    }

    fn ticker(&self, time: Option<i64>) -> Result<Ticker, Fault> {
        Ok(Ticker {
            bid: self.bid.price("bid")?,
            ask: self.ask.price("ask")?,
            bid_size: self.bid_size.amount("bestBidSize")?,
            ask_size: self.ask_size.amount("bestAskSize")?,
            last: self.last.price("last")?,
            high: self.high.price("high")?,
            low: self.low.price("low")?,
            open: self.open.price("open")?,
            base_volume: self.base_volume.amount("base volume")?,
            quote_volume: self.quote_volume.amount("quote volume")?,
            venue_time: self.time.or(time).map(UnixMs),
            halted: false,
        })
    }
}

fn one(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let row = body.small::<Reply<'_, Raw<'_>, Stats<'_, Raw<'_>>>>()?.success()?;
    sink(row.symbol(), &|| row.ticker(None));
    Ok(())
}

fn unified(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let listing = body.small::<Reply<'_, Raw<'_>, Listing<Cells<Stats<'_, Raw<'_>>, 1>>>>()?.success()?;
    let row = listing.rows.get(0).ok_or(Fault::new(Reason::Unlisted, "list: empty"))?;
    sink(row.symbol(), &|| row.ticker(listing.time));
    Ok(())
}

fn many(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    if let Ok(reply) = body.bulk::<Reply<'_, Text<'_>, Listing<Vec<Stats<'_, Text<'_>>>>>>() {
        return all(&reply.success()?, sink);
    }
    all(&body.small::<Reply<'_, Raw<'_>, Listing<Vec<Stats<'_, Raw<'_>>>>>>()?.success()?, sink)
}

fn all<'a, N: Num<'a>>(listing: &Listing<Vec<Stats<'_, N>>>, sink: Sink<'_>) -> Result<(), Fault> {
    listing.rows.iter().for_each(|row| sink(row.symbol(), &|| row.ticker(listing.time)));
    Ok(())
}

fn time_of(row: &Row<'_>) -> i64 {
    row.ticker.venue_time.unwrap_or(UnixMs(0)).0
}

fn listed(rows: &[Row<'_>], time: &str, list: &str, write: fn(&Row<'_>) -> String) -> String {
    let now = rows.first().map(time_of).unwrap_or_default();
    format!(r#"{{"code":"{SUCCESS}","data":{{{time}:{now},"{list}":{}}}}}"#, json_list(rows, write))
}

fn unified_written(row: &Row<'_>) -> String {
    let t = row.ticker;
    format!(
        concat!(
            r#"{{"symbol":"{0}","name":"{0}","bestBidSize":"{1}","bestBidPrice":"{2}","bestAskSize":"{3}","bestAskPrice":"{4}","lastPrice":"{5}","#,
            r#""size":"0.01","open":"{6}","high":"{7}","low":"{8}","baseVolume":"{9}","quoteVolume":"{10}"}}"#
        ),
        row.symbol,
        text(t.bid_size),
        text(t.bid),
        text(t.ask_size),
        text(t.ask),
        text(t.last),
        text(t.open),
        text(t.high),
        text(t.low),
        text(t.base_volume),
        text(t.quote_volume)
    )
}

fn row_written(row: &Row<'_>) -> String {
    let t = row.ticker;
    format!(
        r#"{{"symbolName":"{}","bestBidSize":"{}","bestAskSize":"{}","open":"{}",{}}}"#,
        row.symbol,
        text(t.bid_size),
        text(t.ask_size),
        text(t.open),
        fields(row)
    )
}

fn stats_written(row: &Row<'_>) -> String {
    format!(r#"{{"code":"{SUCCESS}","data":{{"time":{},{}}}}}"#, time_of(row), fields(row))
}

/// What `stats` and the rows of `allTickers` have in common.
fn fields(row: &Row<'_>) -> String {
    let t = row.ticker;
    format!(
        concat!(
            r#""symbol":"{}","buy":"{}","sell":"{}","changeRate":"0","changePrice":"0","high":"{}","low":"{}","vol":"{}","volValue":"{}","last":"{}","#,
            r#""averagePrice":"{}","takerFeeRate":"0.001","makerFeeRate":"0.001","takerCoefficient":"1","makerCoefficient":"1""#
        ),
        row.symbol,
        text(t.bid),
        text(t.ask),
        text(t.high),
        text(t.low),
        text(t.base_volume),
        text(t.quote_volume),
        text(t.last),
        text(t.last)
    )
}
