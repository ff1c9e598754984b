//! Replays: frames of quotes as a file has them, run through the rule one after the other with its memory carried over.

use quorate_actors::{
    model::{Amount, NumberError, Pair, Price, Source, Ticker, UnixMs, VenueId},
    rate::{self, Band, Class, Decision, Memory, Num, Offer, Outcome, Rules},
    venue::{Basis, Member, Region, TimeOf},
};
use rust_decimal::{Decimal, RoundingStrategy, prelude::ToPrimitive};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// Says why a file is no replay.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// It is no JSON, or not of the form.
    #[error("not a replay: {said}{}", if near.is_empty() { String::new() } else { format!(": {near:?}") })]
    Json {
        /// What the reader of JSON says, cut where it is long.
        said: String,
        /// What stands where the text is no JSON, cut where it is long.
        near: String,
    },
    /// A value is none of its kind.
    #[error("{place}: {value:?}, expected {expected}")]
    Value {
        /// Where it stands.
        place: String,
        /// What stands there, cut where it is long.
        value: String,
        /// What should.
        expected: &'static str,
    },
}

#[derive(Deserialize)]
struct File<'a> {
    pair: String,
    class: String,
    #[serde(default, borrow)]
    settings: Option<Settings<'a>>,
    #[serde(borrow)]
    frames: Vec<Frame<'a>>,
}

#[derive(Default, Deserialize)]
struct Settings<'a> {
    #[serde(borrow)]
    max_age_s: Option<&'a RawValue>,
    #[serde(borrow)]
    floor: Option<&'a RawValue>,
    #[serde(borrow)]
    cap: Option<&'a RawValue>,
    #[serde(default)]
    par: Vec<String>,
}

#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(borrow)]
    at: &'a RawValue,
    #[serde(borrow)]
    quotes: Vec<QuoteOf<'a>>,
}

#[derive(Deserialize)]
struct QuoteOf<'a> {
    venue: String,
    pair: String,
    #[serde(borrow)]
    last: Option<&'a RawValue>,
    #[serde(borrow)]
    bid: Option<&'a RawValue>,
    #[serde(borrow)]
    ask: Option<&'a RawValue>,
    #[serde(borrow)]
    volume: Option<&'a RawValue>,
    #[serde(borrow)]
    bid_size: Option<&'a RawValue>,
    #[serde(borrow)]
    ask_size: Option<&'a RawValue>,
    #[serde(borrow)]
    venue_time: Option<&'a RawValue>,
    #[serde(borrow)]
    received: Option<&'a RawValue>,
    operator: Option<String>,
    region: Option<String>,
    #[serde(default)]
    halted: Option<bool>,
}

/// Holds a replay, read and checked.
#[derive(Debug)]
pub struct Replay {
    /// The pair.
    pub pair: Pair,
    /// Its rule.
    pub rules: Rules,
    /// The frames, each with its time.
    pub frames: Vec<(UnixMs, Vec<Offer>)>,
}

/// Holds what is printed of one frame.
#[derive(Debug, Serialize)]
pub struct Line {
    status: &'static str,
    rate: Option<String>,
    refused: BTreeMap<String, &'static str>,
    out: BTreeMap<String, &'static str>,
    votes: usize,
}

impl Replay {
    /// Reads a file's text.
    ///
    /// # Errors
    /// [`ReplayError`] naming the value that cannot be read.
    pub fn read(text: &str) -> Result<Self, ReplayError> {
        let file: File<'_> = serde_json::from_str(text).map_err(|error| no_json(text, &error))?;
        let class = Class::ALL.into_iter().find(|class| class.slug() == file.class);
        let class = class.ok_or_else(|| wrong("class", &file.class, "major, other or peg"))?;
        let frames = file.frames.iter().enumerate().map(|(number, frame)| frame_of(number, frame));
        Ok(Self {
            pair: pair("pair", &file.pair)?,
            rules: rules(class, &file.settings.unwrap_or_default())?,
            frames: frames.collect::<Result<_, _>>()?,
        })
    }

    /// Runs the frames in their order.
    pub fn run(&self) -> impl Iterator<Item = Outcome> {
        let mut memory = Memory::default();
        self.frames.iter().map(move |(at, offers)| rate::pass(self.pair, &self.rules, offers.clone(), *at, &mut memory))
    }
}

impl Line {
    /// Takes from an outcome what is printed.
    pub fn of(outcome: &Outcome) -> Self {
        let refused = outcome.rows.iter().filter_map(|row| match row.decision {
            Decision::Refused(reason) => Some((format!("{}:{:#}", row.offer.member.venue, row.offer.pair), reason.slug())),
            _ => None,
        });
        let labelled = outcome.tally.votes.iter().zip(&outcome.tally.labels);
        Self {
            status: outcome.status.slug(),
            rate: outcome.rate.map(|rate| rate.to_string()),
            refused: refused.collect(),
            out: labelled.filter_map(|(vote, label)| Some((vote.operator.to_string(), (*label)?.slug()))).collect(),
            votes: outcome.tally.votes.len(),
        }
    }
}

fn rules(class: Class, settings: &Settings<'_>) -> Result<Rules, ReplayError> {
    let mut rules = Rules::of(class);
    let fraction = |name: &str, raw: Option<&RawValue>, default: Num| match raw {
        Some(raw) => text_of(raw).parse().map_err(|_| wrong(name, &text_of(raw), "a fraction such as \"0.02\"")),
        None => Ok(default),
    };
    rules.band = Band {
        floor: fraction("settings.floor", settings.floor, rules.band.floor)?,
        cap: fraction("settings.cap", settings.cap, rules.band.cap)?,
    };
    if let Some(raw) = settings.max_age_s {
        let age = seconds("settings.max_age_s", raw)?;
        rules.admission.max_age = Duration::from_millis(u64::try_from(age.0).unwrap_or(0));
    }
    for declared in &settings.par {
        let read = || declared.split_once('=').and_then(|(a, b)| Pair::new(a.trim(), b.trim()).ok());
        let both = read().ok_or_else(|| wrong("settings.par", declared, "two assets such as USD1=USD"))?;
        rules.par.push((both.base, both.quote));
    }
    Ok(rules)
}

fn frame_of(number: usize, frame: &Frame<'_>) -> Result<(UnixMs, Vec<Offer>), ReplayError> {
    let at = seconds(&format!("frames[{number}].at"), frame.at)?;
    let offers = frame.quotes.iter().enumerate().map(|(place, quote)| offer(&format!("frames[{number}].quotes[{place}]"), quote, at));
    Ok((at, offers.collect::<Result<_, _>>()?))
}

fn offer(place: &str, quote: &QuoteOf<'_>, at: UnixMs) -> Result<Offer, ReplayError> {
    let of = |name: &str| format!("{place}.{name}");
    let price = |name: &str, raw: Option<&RawValue>| raw.map_or(Ok(None), |raw| price(&of(name), raw));
    let amount = |name: &str, raw: Option<&RawValue>| raw.map_or(Ok(None), |raw| amount(&of(name), raw));
    let time = |name: &str, raw: Option<&RawValue>| raw.map(|raw| seconds(&of(name), raw)).transpose();
    let has_book = quote.bid.is_some() || quote.ask.is_some();
    let member = Member {
        venue: VenueId::new(&quote.venue),
        operator: quote.operator.as_deref().unwrap_or(&quote.venue).into(),
        region: quote.region.as_deref().and_then(Region::by_code),
        basis: if has_book { Basis::Mid } else { Basis::Last },
        // In a replay the venue's time always counts.
        time_of: TimeOf::Book,
    };
    let ticker = Ticker {
        bid: price("bid", quote.bid)?,
        ask: price("ask", quote.ask)?,
        last: price("last", quote.last)?,
        bid_size: amount("bid_size", quote.bid_size)?,
        ask_size: amount("ask_size", quote.ask_size)?,
        base_volume: amount("volume", quote.volume)?,
        venue_time: time("venue_time", quote.venue_time)?,
        halted: quote.halted.unwrap_or(false),
        ..Ticker::default()
    };
    let received = time("received", quote.received)?.unwrap_or(at);
    let pair = pair(&of("pair"), &quote.pair)?;
    Ok(Offer { member: Arc::new(member), pair, ticker, received, latency: Duration::ZERO, source: Source::Rest })
}

fn wrong(place: &str, value: &str, expected: &'static str) -> ReplayError {
    ReplayError::Value { place: place.to_owned(), value: cut(value), expected }
}

fn no_json(text: &str, error: &serde_json::Error) -> ReplayError {
    // Columns count bytes from one. The reader repeats a value of the wrong type, however long it is.
    let line = text.split('\n').nth(error.line().saturating_sub(1)).unwrap_or_default();
    let rest = line.as_bytes().get(error.column().saturating_sub(1)..).filter(|_| error.is_syntax()).unwrap_or_default();
    ReplayError::Json { said: error.to_string().chars().take(200).collect(), near: cut(&String::from_utf8_lossy(rest)) }
}

fn cut(text: &str) -> String {
    text.chars().take(40).collect()
}

fn pair(place: &str, text: &str) -> Result<Pair, ReplayError> {
    let both = text.split_once('/').and_then(|(base, quote)| Pair::new(base, quote).ok());
    both.ok_or_else(|| wrong(place, text, "a pair such as BTC/USD"))
}

/// Gives a JSON text or number as it is written: no number passes through a float.
fn text_of(raw: &RawValue) -> String {
    serde_json::from_str(raw.get()).unwrap_or_else(|_| raw.get().to_owned())
}

/// Reads a price; what is zero or negative is none.
fn price(place: &str, raw: &RawValue) -> Result<Option<Price>, ReplayError> {
    let text = text_of(raw);
    match (Price::parse(&text), text.strip_prefix('-')) {
        (Ok(price), _) => Ok(price),
        (Err(NumberError::OutOfRange), Some(_)) => Ok(None),
        (Err(_), _) => Err(wrong(place, &text, "a price, of 28 digits at most")),
    }
}

fn amount(place: &str, raw: &RawValue) -> Result<Option<Amount>, ReplayError> {
    let text = text_of(raw);
    Amount::parse(&text).map_err(|_| wrong(place, &text, "an amount that is not negative"))
}

/// Reads seconds, to the millisecond.
fn seconds(place: &str, raw: &RawValue) -> Result<UnixMs, ReplayError> {
    let text = text_of(raw);
    let number = Decimal::from_str_exact(&text).or_else(|_| Decimal::from_scientific(&text)).ok();
    let ms = number.and_then(|n| n.checked_mul(Decimal::ONE_THOUSAND));
    let whole = ms.and_then(|ms| ms.round_dp_with_strategy(0, RoundingStrategy::MidpointNearestEven).to_i64());
    // Times far from any year cannot be subtracted.
    let fits = whole.filter(|ms| ms.unsigned_abs() <= 1 << 60);
    fits.map(UnixMs).ok_or_else(|| wrong(place, &text, "a time in seconds"))
}
