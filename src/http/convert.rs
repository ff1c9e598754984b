//! `GET /v1/convert`: an amount of one asset in another.

use super::{
    Call, State, caching,
    caching::Freshness,
    derived::{self, Rated},
    openapi::Shape,
    quotes::SECOND,
    terms::{self, Own, Takes, invalid},
};
use crate::{
    error::{ApiError, Code},
    wire::{self, Conversion},
};
use actix_web::HttpResponse;
use quorate_actors::{
    model::{Asset, Pair, PairError},
    rate::{self, Converted, How, Num},
    terms::Terms,
};
use std::time::Duration;
use tokio::time::Instant;

/// What the route takes besides the terms.
pub(super) const TAKES: Takes = Takes {
    pairs: false,
    own: &[
        Own { needed: true, ..Own::new("from", Shape::Text, "the asset, such as BTC") },
        Own { needed: true, ..Own::new("to", Shape::Text, "the other, such as EUR") },
        Own { needed: true, ..Own::new("amount", Shape::Decimal, "how much of the asset, above 0") },
        Own::new("side", Shape::Word(|| How::ALL.iter().map(|how| how.slug()).collect()), "mid where it is left out"),
    ],
};

/// Answers a request.
pub(super) async fn one(call: Call<'_>) -> Result<HttpResponse, ApiError> {
    let asked = terms::from_query(call.query(), &call.state.basis, TAKES)?;
    let [from, to] = ["from", "to"].map(|name| derived::needed(&asked, name, "an asset such as BTC").and_then(|text| asset(name, text)));
    let (from, to) = (from?, to?);
    let amount = derived::amount(derived::needed(&asked, "amount", "a plain decimal such as 0.5")?)?;
    let how = asked.own("side").map_or(Ok(How::Mid), |text| derived::word("side", text, &How::ALL, How::slug))?;
    match Pair::new(from.as_str(), to.as_str()) {
        Err(PairError::Same) => Ok(same(&call, from, amount, how, &asked.terms)),
        Err(error) => Err(invalid("to", to.as_str(), error)),
        Ok(pair) => {
            let rated = ask(call.state, pair, &asked.terms).await?;
            converted(&call, &rated, pair, amount, how, &asked.terms)
        }
    }
}

/// Reads an asset; old codes are mapped as they are in pairs.
fn asset(name: &str, text: &str) -> Result<Asset, ApiError> {
    let read = Asset::new(text).map(Asset::current);
    read.map_err(|_| invalid(name, text, "a code of 1 to 16 characters of A-Z and 0-9, such as BTC"))
}

/// Asks for the rate of a pair, or for that of its inverse: the one that is configured, else the one that is to be had.
async fn ask(state: &State, pair: Pair, terms: &Terms) -> Result<Rated, ApiError> {
    let inverse = Pair { base: pair.quote, quote: pair.base };
    let is_configured = |pair: &Pair| state.configured.contains(pair);
    let (first, second) = if is_configured(&inverse) && !is_configured(&pair) { (inverse, pair) } else { (pair, inverse) };
    let unlisted = match Rated::ask(state, first, terms).await {
        Err(error) if error.code() == Code::UnknownPair => error,
        answered => return answered,
    };
    match Rated::ask(state, second, terms).await {
        Err(error) if error.code() == Code::UnknownPair => Err(unlisted),
        answered => answered,
    }
}

fn converted(call: &Call<'_>, rated: &Rated, pair: Pair, amount: Num, how: How, terms: &Terms) -> Result<HttpResponse, ApiError> {
    let receipt = &rated.published.receipt;
    let Some(converted) = rate::convert(receipt, pair.base, how, rated.as_of, rated.max_age) else {
        let detail = format!("none of the quotes that count for {} has bid and ask, expected one", receipt.outcome.pair);
        return Err(ApiError::new(Code::NoQuotes, detail).retry_after(SECOND));
    };
    let since_pass = rated.as_of.since(receipt.outcome.as_of);
    let age = match converted.top {
        Some(top) => Some(top.age),
        None => receipt.outcome.age().map(|age| age.saturating_add(since_pass)),
    };
    let of = Conversion {
        from: pair.base,
        to: pair.quote,
        amount,
        how,
        simulated: call.state.simulated,
        as_of: rated.as_of,
        converted,
        receipt: Some(receipt),
        age,
    };
    let tops = rate::Tops { tops: of.converted.top.into_iter().collect(), left_out: Vec::new() };
    let traded_at = of.converted.top.map(|top| (&top.row.offer.member.venue, top.row.offer.pair));
    Ok(rated.answer(call, rated.freshness(terms, &tops), traded_at, || wire::conversion(&of)))
}

/// Answers for an asset in itself: one for one, of nobody's word.
fn same(call: &Call<'_>, asset: Asset, amount: Num, how: How, terms: &Terms) -> HttpResponse {
    let of = Conversion {
        from: asset,
        to: asset,
        amount,
        how,
        simulated: call.state.simulated,
        as_of: call.state.engine.clock().at(Instant::now()),
        converted: Converted { rate: Num::ONE, legs: Vec::new(), top: None },
        receipt: None,
        age: Some(Duration::ZERO),
    };
    let freshness = Freshness { age: Duration::ZERO, left: (!terms.fresh).then_some(terms.max_age) };
    caching::named(call.request.headers(), || wire::conversion(&of), freshness, derived::tag("same", call, ()))
}
