//! `GET /v1/best/{pair}`: at which venue it is best to buy or to sell.

use super::{
    Call,
    derived::{self, Rated},
    openapi::Shape,
    terms::{self, Own, Takes, boolean},
};
use crate::{
    error::ApiError,
    wire::{self, Ranking},
};
use actix_web::HttpResponse;
use quorate_actors::rate::Side;

/// What the route takes besides the terms.
pub(super) const TAKES: Takes = Takes {
    pairs: false,
    own: &[
        Own::new("side", Shape::Word(|| Side::ALL.iter().map(|side| side.slug()).collect()), "the side; both where it is left out"),
        Own::new("amount", Shape::Decimal, "how much of the base there should be"),
        derived::FEES,
        Own::new("convert", Shape::Boolean, "whether markets in other currencies count"),
    ],
};

/// Answers a request.
pub(super) async fn one(call: Call<'_>) -> Result<HttpResponse, ApiError> {
    let asked = terms::from_query(call.query(), &call.state.basis, TAKES)?;
    let side = asked.own("side").map(|text| derived::word("side", text, &Side::ALL, Side::slug)).transpose()?;
    let amount = asked.own("amount").map(derived::amount).transpose()?;
    let convert = asked.own("convert").map_or(Ok(false), |text| boolean("convert", text))?;
    let takers = derived::fees(&asked, call.state, false)?;
    let pair = derived::pair(&call)?;
    let rated = Rated::ask(call.state, pair, &asked.terms).await?;
    let tops = rated.tops(convert, takers.as_ref());
    let ranking = Ranking { side, amount, fees: takers.is_some(), convert, tops: &tops };
    let counting: Vec<_> = tops.tops.iter().map(|top| (&top.row.offer.member.venue, top.row.offer.pair)).collect();
    Ok(rated.answer(&call, rated.freshness(&asked.terms, &tops), counting, || wire::best(rated.derived(), &ranking)))
}
