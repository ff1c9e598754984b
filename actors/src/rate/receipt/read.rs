//! From a receipt's JSON back to what went into its pass.

use super::{Made, MarketMiss, Receipt};
use crate::{
    model::{Asset, Fault, Pair, Price, Reason, Source, Ticker, UnixMs, VenueId},
    rate::{
        AdmissionRules, Band, Class, Good, Hold, Mark, Memory, Num, Offer, Rules,
        memory::{Print, Seen, Still},
        pass,
    },
    venue::{Basis, Member, Region, TimeOf},
};
use serde_json::{Map, Value};
use std::{borrow::Cow, sync::Arc, time::Duration};

/// Says what of a receipt cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// It is no JSON, or longer than any receipt.
    #[error("not a receipt: {0}")]
    Json(String),
    /// A member is not what it should be.
    #[error("{at}: expected {expected}")]
    Member {
        /// The member's path.
        at: String,
        /// What should be there.
        expected: &'static str,
    },
}

/// Holds what went into a pass, as its receipt tells it.
pub(super) struct Inputs {
    pair: Pair,
    as_of: UnixMs,
    rules: Arc<Rules>,
    offers: Vec<Offer>,
    misses: Vec<MarketMiss>,
    memory: Memory,
    made: Made,
    simulated: bool,
}

impl Inputs {
    /// Makes the pass again, and of that the receipt.
    pub(super) fn receipt(mut self) -> Receipt {
        let outcome = pass(self.pair, &self.rules, self.offers, self.as_of, &mut self.memory);
        Receipt::new(outcome, self.rules, self.misses, self.made, self.simulated)
    }
}

/// Holds a place in the JSON, with its path for errors.
#[derive(Clone)]
struct At<'a> {
    value: &'a Value,
    path: Cow<'static, str>,
}

type Read<T> = Result<T, ReadError>;

impl<'a> At<'a> {
    fn wrong<T>(&self, expected: &'static str) -> Read<T> {
        Err(ReadError::Member { at: self.path.to_string(), expected })
    }

    fn get(&self, name: &str) -> Read<Self> {
        let path = if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) };
        match self.value.as_object().and_then(|members| members.get(name)) {
            Some(value) => Ok(Self { value, path: path.into() }),
            None => Err(ReadError::Member { at: path, expected: "a member of that name" }),
        }
    }

    fn items(&self) -> Read<impl Iterator<Item = Self>> {
        let Some(items) = self.value.as_array() else { return self.wrong("a list") };
        let path = self.path.clone();
        Ok(items.iter().enumerate().map(move |(at, value)| Self { value, path: format!("{path}[{at}]").into() }))
    }

    fn each<T>(&self, name: &str, read: impl Fn(Self) -> Read<T>) -> Read<Vec<T>> {
        self.get(name)?.items()?.map(read).collect()
    }

    fn maybe<T>(self, read: impl FnOnce(Self) -> Read<T>) -> Read<Option<T>> {
        if self.value.is_null() { Ok(None) } else { read(self).map(Some) }
    }

    fn text(self) -> Read<&'a str> {
        match self.value.as_str() {
            Some(text) => Ok(text),
            None => self.wrong("a text"),
        }
    }

    /// Reads a text by a function that gives nothing for a wrong one.
    fn word<T>(self, expected: &'static str, read: impl FnOnce(&str) -> Option<T>) -> Read<T> {
        match self.value.as_str().and_then(read) {
            Some(value) => Ok(value),
            None => self.wrong(expected),
        }
    }

    fn flag(self) -> Read<bool> {
        match self.value.as_bool() {
            Some(value) => Ok(value),
            None => self.wrong("true or false"),
        }
    }

    fn millis(self) -> Read<Duration> {
        match self.value.as_u64() {
            Some(ms) => Ok(Duration::from_millis(ms)),
            None => self.wrong("a whole number"),
        }
    }

    fn time(self) -> Read<UnixMs> {
        self.word("a time such as 2026-11-30T11:00:00.123Z", UnixMs::from_rfc3339)
    }

    fn num(self) -> Read<Num> {
        self.word("a plain decimal", |text| text.parse().ok())
    }

    fn price(self) -> Read<Price> {
        self.word("a price", |text| Price::parse(text).ok().flatten())
    }

    fn pair(self) -> Read<Pair> {
        self.word("a pair such as BTC-USD", |text| text.split_once('-').and_then(|(base, quote)| Pair::new(base, quote).ok()))
    }

    fn asset(self) -> Read<Asset> {
        self.word("an asset's code", |text| Asset::new(text).ok())
    }
}

/// Reads a receipt.
pub(super) fn inputs(receipt: &Value) -> Read<Inputs> {
    let top = At { value: receipt, path: "".into() };
    let mut offers = top.each("quotes", offer)?;
    let mut misses = top.each("misses", miss)?;
    for section in top.get("conversions")?.items()? {
        offers.extend(section.each("quotes", offer)?);
        misses.extend(section.each("misses", miss)?);
    }
    Ok(Inputs {
        pair: top.get("pair")?.pair()?,
        as_of: top.get("as_of")?.time()?,
        rules: Arc::new(rules(&top.get("rules")?)?),
        memory: memory(&top.get("state_before")?, &offers)?,
        made: top.get("made")?.word("memory, fetch, deadline or enough", |word| Made::ALL.into_iter().find(|made| made.slug() == word))?,
        simulated: top.get("simulated")?.flag()?,
        offers,
        misses,
    })
}

fn offer(row: At<'_>) -> Read<Offer> {
    let basis = |word: &str| [Basis::Mid, Basis::Last].into_iter().find(|basis| basis.slug() == word);
    let times = [TimeOf::Book, TimeOf::Answer, TimeOf::Trade, TimeOf::None];
    let time_of = |word: &str| times.into_iter().find(|time_of| time_of.slug() == word);
    let member = Member {
        venue: VenueId::new(row.get("venue")?.text()?),
        operator: row.get("operator")?.text()?.into(),
        region: row.get("region")?.maybe(|at| at.word("the code of a walled region, or null", Region::by_code))?,
        basis: row.get("basis")?.word("mid or last", basis)?,
        time_of: row.get("time_of")?.word("book, answer, trade or none", time_of)?,
    };
    let price = |name: &str| row.get(name)?.maybe(At::price);
    let ticker = Ticker {
        bid: price("bid")?,
        ask: price("ask")?,
        last: price("last")?,
        venue_time: row.get("venue_time")?.maybe(At::time)?,
        halted: row.get("halted")?.flag()?,
        ..Ticker::default()
    };
    Ok(Offer {
        member: Arc::new(member),
        pair: row.get("pair")?.pair()?,
        ticker,
        received: row.get("received_time")?.time()?,
        latency: row.get("latency_ms")?.millis()?,
        source: row.get("source")?.word("rest", |word| (word == Source::Rest.slug()).then_some(Source::Rest))?,
    })
}

fn miss(row: At<'_>) -> Read<MarketMiss> {
    let reason = row.get("reason")?.word("a reason", |word| Reason::ALL.iter().copied().find(|reason| reason.slug() == word))?;
    let detail = row.get("detail")?.text()?.to_owned();
    Ok(MarketMiss {
        venue: VenueId::new(row.get("venue")?.text()?),
        pair: row.get("pair")?.pair()?,
        fault: Arc::new(Fault::new(reason, detail)),
    })
}

fn rules(at: &At<'_>) -> Read<Rules> {
    let band = |at: &At<'_>| Ok::<_, ReadError>(Band { floor: at.get("floor")?.num()?, cap: at.get("cap")?.num()? });
    let par = |at: At<'_>| {
        at.word("two assets such as USD1=USD", |text| {
            Some(text.split_once('=')?).and_then(|(a, b)| Some((Asset::new(a).ok()?, Asset::new(b).ok()?)))
        })
    };
    Ok(Rules {
        class: at.get("class")?.word("major, other or peg", |word| Class::ALL.into_iter().find(|class| class.slug() == word))?,
        band: band(at)?,
        peg: band(&at.get("peg")?)?,
        other: band(&at.get("other")?)?,
        admission: AdmissionRules {
            max_age: at.get("max_age_ms")?.millis()?,
            future_max: at.get("future_max_ms")?.millis()?,
            trust_venue_time: at.get("trust_venue_time")?.flag()?,
        },
        stale: at.get("stale_ms")?.millis()?,
        par: at.each("par", par)?,
        stablecoins: at.each("stablecoins", At::asset)?,
    })
}

fn memory(at: &At<'_>, offers: &[Offer]) -> Read<Memory> {
    let good = |at: At<'_>| Ok(Good { rate: at.get("rate")?.num()?, at: at.get("as_of")?.time()? });
    let hold = |at: At<'_>| {
        Ok(Hold { since: at.get("since")?.time()?, value: at.get("value")?.num()?, value_since: at.get("value_since")?.time()? })
    };
    let mark = |at: At<'_>| {
        let time = |name: &str| at.get(name)?.maybe(At::time);
        let mark = Mark {
            put_out: at.get("put_out")?.maybe(At::num)?,
            inside_since: time("inside_since")?,
            last_out: time("last_out")?,
            far_since: time("far_since")?,
        };
        Ok((Arc::from(at.get("operator")?.text()?), mark))
    };
    let market = |at: At<'_>| {
        let market = (VenueId::new(at.get("venue")?.text()?), at.get("pair")?.pair()?);
        let since = at.get("unchanged_since")?.maybe(At::time)?;
        let good_then = at.get("good_then")?.maybe(At::num)?;
        let Some(offer) = offers.iter().find(|offer| offer.member.venue == market.0 && offer.pair == market.1) else {
            return at.wrong("a market that has a quote");
        };
        let still = since.map(|since| Still { print: Print::of(&offer.ticker), since, good_then });
        Ok((market, Seen { newest: at.get("newest")?.maybe(At::time)?, still }))
    };
    Ok(Memory {
        last_good: at.get("last_good")?.maybe(good)?,
        hold: at.get("hold")?.maybe(hold)?,
        marks: at.each("marks", mark)?.into_iter().collect(),
        markets: at.each("markets", market)?.into_iter().collect(),
    })
}

/// Finds the receipt in an answer: the answer itself, or what a refusal has under `receipt`.
pub(super) fn receipt_in(answer: &Map<String, Value>) -> Option<&Value> {
    answer.get("receipt").filter(|receipt| receipt.is_object())
}
