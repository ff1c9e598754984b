//! A receipt read back: what went into its pass, and nothing of what came out.

use super::{
    super::{AdmissionRules, Band, Before, Class, Good, Hold, Mark, Marks, Memory, Offer, Prior, Rules, pass},
    Made, MarketMiss, Receipt,
    at::At,
    tree::Tree,
};
use crate::{
    model::{Asset, Fault, Pair, Price, Reason, Source, Ticker, UnixMs, VenueId},
    venue::{Basis, Member, Region, TimeOf},
};
use std::{collections::BTreeMap, sync::Arc};

/// The longest body that is read, in bytes.
const BODY_MAX: usize = 4 << 20;
/// How many markets a receipt may have.
const MARKETS_MAX: usize = 4_096;

/// Says why a text is no receipt.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is too long.
    #[error("{0} bytes, expected {max} at most", max = BODY_MAX)]
    TooLong(usize),
    /// It is no JSON, or of another kind than a receipt is.
    #[error("not a receipt: {0}")]
    Json(#[from] serde_json::Error),
    /// A value is none of its kind.
    #[error("{place}: {value}, expected {expected}")]
    Value {
        /// Where it stands: `quotes[3].bid`.
        place: String,
        /// What stands there, cut where it is long.
        value: String,
        /// What should.
        expected: &'static str,
    },
}

/// Holds what went into a pass, read from its receipt.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The pair.
    pub pair: Pair,
    /// The time of the pass.
    pub as_of: UnixMs,
    /// The settings.
    pub rules: Rules,
    /// What the venues said, as far as the pass went by it.
    pub offers: Vec<Offer>,
    /// A memory that a pass reads as it read the one before it.
    pub memory: Memory,
    /// The markets that gave no quote.
    pub misses: Vec<MarketMiss>,
    /// What made the pass.
    pub made: Made,
    /// Whether the quotes come from a simulation.
    pub simulated: bool,
}

impl Reading {
    /// Runs the pass again and gives its receipt.
    pub fn recomputed(mut self) -> Receipt {
        let outcome = pass(self.pair, &self.rules, self.offers, self.as_of, &mut self.memory);
        Receipt::new(outcome, Arc::new(self.rules), self.misses, self.made, self.simulated)
    }
}

/// Reads a body as JSON.
pub(super) fn tree(body: &[u8]) -> Result<Tree<'_>, ReadError> {
    if body.len() > BODY_MAX { Err(ReadError::TooLong(body.len())) } else { Ok(serde_json::from_slice(body)?) }
}

/// Gives the receipt itself: a problem has it under `receipt`.
pub(super) fn unwrapped<'a, 'b>(tree: &'b Tree<'a>) -> &'b Tree<'a> {
    tree.get("receipt").unwrap_or(tree)
}

/// Reads what went into a receipt.
pub(super) fn reading(tree: &Tree<'_>) -> Result<Reading, ReadError> {
    let root = At::root(unwrapped(tree));
    let mut reading = Reading {
        pair: Pair { base: root.get("base").asset()?, quote: root.get("quote").asset()? },
        as_of: root.get("as_of").time()?,
        rules: rules(root.get("rules"))?,
        offers: Vec::new(),
        memory: Memory::default(),
        misses: Vec::new(),
        made: root.get("made").word("memory, fetch, deadline or enough", &Made::ALL, |made| made.slug())?,
        simulated: root.get("simulated").flag()?,
    };
    section(root, &mut reading)?;
    root.get("conversions").each(|conversion| section(conversion, &mut reading))?;
    reading.memory = memory(root.get("state_before"), &reading.offers)?;
    Ok(reading)
}

/// Reads the markets of a section.
fn section(at: At<'_>, reading: &mut Reading) -> Result<(), ReadError> {
    at.get("quotes").each(|quote| {
        reading.offers.push(offer(quote)?);
        Ok(())
    })?;
    at.get("misses").each(|missed| {
        reading.misses.push(miss(missed)?);
        Ok(())
    })?;
    if reading.offers.len().saturating_add(reading.misses.len()) > MARKETS_MAX {
        return at.wrong("4096 markets at most in all");
    }
    Ok(())
}

fn offer(at: At<'_>) -> Result<Offer, ReadError> {
    let price = |name: &str| at.get(name).maybe(|price| price.parsed("a price or null", |text| Price::parse(text).ok().flatten()));
    let region = at.get("region").maybe(|region| region.parsed("KR, IN, TR, AR, NG or null", Region::by_code))?;
    let member = Member {
        venue: VenueId::new(at.get("venue").text()?),
        operator: at.get("operator").text()?.into(),
        region,
        basis: at.get("basis").word("mid or last", &Basis::ALL, |basis| basis.slug())?,
        time_of: at.get("time_of").word("book, answer, trade or none", &TimeOf::ALL, |time_of| time_of.slug())?,
    };
    let ticker = Ticker {
        bid: price("bid")?,
        ask: price("ask")?,
        last: price("last")?,
        venue_time: at.get("venue_time").maybe(At::time)?,
        halted: at.get("halted").flag()?,
        ..Ticker::default()
    };
    Ok(Offer {
        member: Arc::new(member),
        pair: at.get("pair").pair()?,
        ticker,
        received: at.get("received_time").time()?,
        latency: at.get("latency_ms").millis()?,
        source: at.get("source").word("rest", &Source::ALL, |source| source.slug())?,
    })
}

fn miss(at: At<'_>) -> Result<MarketMiss, ReadError> {
    let reason = at.get("reason").word("the reason of a miss", Reason::ALL, |reason| reason.slug())?;
    let detail = at.get("detail").text()?.to_owned();
    Ok(MarketMiss {
        venue: VenueId::new(at.get("venue").text()?),
        pair: at.get("pair").pair()?,
        fault: Arc::new(Fault::new(reason, detail)),
    })
}

fn rules(at: At<'_>) -> Result<Rules, ReadError> {
    let band = |at: At<'_>| Ok::<_, ReadError>(Band { floor: at.get("floor").num()?, cap: at.get("cap").num()? });
    let mut rules = Rules {
        class: at.get("class").word("major, other or peg", &Class::ALL, |class| class.slug())?,
        band: band(at)?,
        peg: band(at.get("peg"))?,
        other: band(at.get("other"))?,
        admission: AdmissionRules {
            max_age: at.get("max_age_ms").millis()?,
            future_max: at.get("future_max_ms").millis()?,
            trust_venue_time: at.get("trust_venue_time").flag()?,
        },
        stale: at.get("stale_ms").millis()?,
        par: Vec::new(),
        stablecoins: Vec::new(),
    };
    at.get("par").each(|declared| {
        let both = |text: &str| text.split_once('=').and_then(|(a, b)| Some((Asset::new(a).ok()?, Asset::new(b).ok()?)));
        rules.par.push(declared.parsed("two assets such as USD1=USD", both)?);
        Ok(())
    })?;
    at.get("stablecoins").each(|coin| {
        rules.stablecoins.push(coin.asset()?);
        Ok(())
    })?;
    Ok(rules)
}

fn memory(at: At<'_>, offers: &[Offer]) -> Result<Memory, ReadError> {
    let mut marks = Marks::new();
    at.get("marks").each(|at| {
        let mark = Mark {
            put_out: at.get("put_out").maybe(At::num)?,
            inside_since: at.get("inside_since").maybe(At::time)?,
            last_out: at.get("last_out").maybe(At::time)?,
            far_since: at.get("far_since").maybe(At::time)?,
        };
        marks.insert(at.get("operator").text()?.into(), mark);
        Ok(())
    })?;
    let last_good = at.get("last_good").maybe(|at| Ok(Good { rate: at.get("rate").num()?, at: at.get("as_of").time()? }))?;
    let hold = at.get("hold").maybe(|at| {
        let [since, value_since] = [at.get("since").time()?, at.get("value_since").time()?];
        Ok(Hold { since, value: at.get("value").num()?, value_since })
    })?;
    let mut markets: BTreeMap<(VenueId, Pair), Prior> = BTreeMap::new();
    at.get("markets").each(|at| {
        let good_then = at.get("good_then").maybe(At::num)?;
        let unchanged = at.get("unchanged_since").maybe(At::time)?.map(|since| (since, good_then));
        let prior = Prior { newest: at.get("newest_venue_time").maybe(At::time)?, unchanged };
        markets.insert((VenueId::new(at.get("venue").text()?), at.get("pair").pair()?), prior);
        Ok(())
    })?;
    let known = offers.iter().filter_map(|offer| Some((offer, markets.remove(&(offer.member.venue.clone(), offer.pair))?)));
    Ok(Memory::of_before(Before { last_good, hold, marks }, known))
}
