//! What the routes share whose answers are made of a rate: they follow it, and their numbers are taken at sending.

use super::{
    Call, State,
    caching::{self, Freshness},
    openapi::Shape,
    quotes::known_pairs,
    rates::{self, Wanted},
    terms::{Asked, Basis, Own, invalid, venue},
};
use crate::{
    error::{ApiError, Code},
    wire,
};
use actix_web::HttpResponse;
use bytes::Bytes;
use quorate_actors::{
    PublishedRate,
    model::{Pair, UnixMs, VenueId},
    rate::{self, Num, Takers, Tops},
    terms::Terms,
};
use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
    time::Duration,
};
use tokio::time::Instant;

/// The parameter that [`fees`] reads.
pub(super) const FEES: Own = Own::new("fees", Shape::Text, "true, false, or what venues charge you, as fractions: kraken:0.0016,okx:0.001");

/// The most digits in an amount.
const DIGITS_MAX: usize = 28;

/// Holds a rate that a caller takes, and the moment for which his answer is made of it.
pub(super) struct Rated {
    pub(super) published: Arc<PublishedRate>,
    now: Instant,
    /// How old a quote may be then: as the caller says, and whatever he says, what came since he asked will do.
    pub(super) max_age: Duration,
    /// That moment, on the clock of the pass.
    pub(super) as_of: UnixMs,
}

impl Rated {
    /// Asks for a rate, and refuses what the caller does not take.
    pub(super) async fn ask(state: &State, pair: Pair, terms: &Terms) -> Result<Self, ApiError> {
        let asked = Instant::now();
        let published = rates::ask(state, pair, &Wanted::default_of(terms)).await?;
        let now = Instant::now();
        let as_of = published.receipt.outcome.as_of.saturating_add(now.saturating_duration_since(published.at));
        let max_age = terms.max_age.max(now.saturating_duration_since(asked));
        Ok(Self { published, now, max_age, as_of })
    }

    /// Gives the tops that the rate lets count, at this moment.
    pub(super) fn tops(&self, convert: bool, takers: Option<&Takers>) -> Tops<'_> {
        rate::tops(&self.published.receipt, &rate::Wanted { convert, takers, now: self.as_of, max_age: self.max_age })
    }

    /// Gives what a body begins with.
    pub(super) fn derived(&self) -> wire::Derived<'_> {
        wire::Derived { receipt: &self.published.receipt, as_of: self.as_of }
    }

    /// Gives how fresh an answer is in which `tops` have a part besides the rate.
    pub(super) fn freshness(&self, terms: &Terms, tops: &Tops<'_>) -> Freshness {
        let rated = rates::freshness(&self.published, terms, self.now);
        let oldest = tops.tops.iter().map(|top| self.as_of.since(top.row.offer.received)).max().unwrap_or_default();
        Freshness { age: rated.age.max(oldest), left: rated.left.map(|left| left.min(terms.max_age.saturating_sub(oldest))) }
    }

    /// Answers; `variant` tells apart what one receipt comes to as time goes on.
    pub(super) fn answer(&self, call: &Call<'_>, freshness: Freshness, variant: impl Hash, body: impl FnOnce() -> Bytes) -> HttpResponse {
        rates::keep(call.state, &self.published);
        let tag = tag(self.published.receipt.id(), call, variant);
        caching::named(call.request.headers(), body, freshness, tag)
    }
}

/// Makes a tag of what an answer is made of and how it was asked for.
pub(super) fn tag(of: &str, call: &Call<'_>, variant: impl Hash) -> actix_web::http::header::HeaderValue {
    let mut hasher = DefaultHasher::new();
    (call.query(), variant).hash(&mut hasher);
    caching::tag_of(&[of, "-", &format!("{:08x}", hasher.finish() & 0xFFFF_FFFF)])
}

/// Reads the pair of a path.
pub(super) fn pair(call: &Call<'_>) -> Result<Pair, ApiError> {
    super::pairs::parse(call.captured, || known_pairs(call.state))
}

/// Reads a word that must be one of a few.
pub(super) fn word<T: Copy>(name: &str, text: &str, all: &[T], slug: fn(T) -> &'static str) -> Result<T, ApiError> {
    all.iter().copied().find(|one| slug(*one) == text).ok_or_else(|| {
        let words: Vec<&str> = all.iter().map(|one| slug(*one)).collect();
        invalid(name, text, format_args!("one of {}", words.join(", ")))
    })
}

/// Reads an amount: a plain decimal above zero.
pub(super) fn amount(text: &str) -> Result<Num, ApiError> {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let number = text.parse::<Num>().ok().filter(|number| !number.is_zero() && digits <= DIGITS_MAX);
    number.ok_or_else(|| invalid("amount", text, format_args!("a plain decimal above 0 of at most {DIGITS_MAX} digits, such as 0.5")))
}

/// Gives the text of a parameter without which nothing can be answered.
pub(super) fn needed<'a>(asked: &'a Asked<'_>, name: &str, expected: &str) -> Result<&'a str, ApiError> {
    asked.own(name).ok_or_else(|| ApiError::new(Code::MissingParameter, format!("{name} is missing, expected {expected}")))
}

/// Reads which fees are wanted: those that are known (`true`), none (`false`), or those that are known but for the caller's own (`kraken:0.0016,okx:0.001`).
pub(super) fn fees(asked: &Asked<'_>, state: &State, unless_given: bool) -> Result<Option<Takers>, ApiError> {
    match asked.own("fees") {
        None => Ok(unless_given.then(|| state.takers.clone())),
        Some("true") => Ok(Some(state.takers.clone())),
        Some("false") => Ok(None),
        Some(text) => Ok(Some(rate::with_callers(&state.takers, own_fees(text, &state.basis)?))),
    }
}

fn own_fees(text: &str, basis: &Basis) -> Result<Vec<(VenueId, Num)>, ApiError> {
    let mut own: Vec<(VenueId, Num)> = Vec::new();
    for item in text.split(',') {
        let Some((id, fee)) = item.split_once(':') else {
            return Err(invalid("fees", item, "true, false, or venues with what they charge you, such as kraken:0.0016,okx:0.001"));
        };
        let id = venue("fees", id, basis)?;
        let fee = rate::read_fee(fee).map_err(|_| invalid("fees", fee, "a fraction from 0 to 0.1, such as 0.0016"))?;
        if own.iter().any(|(known, _)| known == id) {
            return Err(invalid("fees", id.as_str(), "each venue once"));
        }
        own.push((id.clone(), fee));
    }
    Ok(own)
}

/// Gives the time that is left of an age.
pub(super) fn no_longer_than(freshness: Freshness, lasts: Option<Duration>) -> Freshness {
    let left = freshness.left.map(|left| lasts.map_or(left, |lasts| left.min(lasts)));
    Freshness { left, ..freshness }
}
