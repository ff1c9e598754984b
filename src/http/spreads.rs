//! `GET /v1/spreads/{pair}`: what it comes to, to buy at one venue and to sell at another.

use super::{
    Call,
    derived::{self, Rated},
    terms::{self, Takes},
};
use crate::{error::ApiError, wire};
use actix_web::HttpResponse;
use quorate_actors::rate;

/// What the route takes besides the terms.
pub(super) const TAKES: Takes = Takes { pairs: false, own: &[derived::FEES] };

/// Answers a request.
pub(super) async fn one(call: Call<'_>) -> Result<HttpResponse, ApiError> {
    let asked = terms::from_query(call.query(), &call.state.basis, TAKES)?;
    let takers = derived::fees(&asked, call.state, true)?;
    let pair = derived::pair(&call)?;
    let rated = Rated::ask(call.state, pair, &asked.terms).await?;
    let tops = rated.tops(false, takers.as_ref());
    let matrix = rate::matrix(&tops.tops);
    // Of one receipt an opportunity passes as the quotes grow old: nobody keeps it for longer than it lasts.
    let freshness = derived::no_longer_than(rated.freshness(&asked.terms, &tops), matrix.lasts);
    let opportunities: Vec<_> = matrix.cells.iter().map(|cell| (cell.buy, cell.sell, cell.opportunity)).collect();
    Ok(rated.answer(&call, freshness, opportunities, || wire::spreads(rated.derived(), takers.is_some(), &tops, &matrix)))
}
