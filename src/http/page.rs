//! `GET /`: the page on which a person compares the exchanges, and the files that it is made of.
//!
//! What it shows stands in the HTML as it is sent, so that it works without scripts; with them it goes on by itself from `/v1`. Nothing of it comes
//! from another host, and no script or style stands in the page: the policy of its content forbids both.

mod markup;
mod strip;
mod words;

use super::{Call, State, caching, openapi::Shape, pairs, quotes, rates, terms::Own};
use crate::error::{ApiError, Code, shown};
use actix_web::{
    HttpResponse,
    http::{
        StatusCode,
        header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS},
    },
};
use futures_util::future::join;
use markup::{Markup, Shown};
use quorate_actors::{Published, PublishedRate, model::Pair, venue::percent_decoded};
use std::{collections::HashMap, sync::Arc};
use tokio::time::Instant;

/// What a browser may do with the page: run and draw what comes from here, and ask nobody else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; \
     base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
static OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
static RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const DRAWING: &str = "image/svg+xml";

/// What of the query the server reads.
pub(super) const OWN: &[Own] =
    &[Own::new("pair", Shape::Text, "the pair, such as BTC-USDT; what else stands there is left to the page's scripts")];

/// What is shown to whom asks for nothing, where it is known.
const FIRST: &str = "BTC-USDT";

/// Holds a file of the page.
struct Asset {
    name: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
    /// What it is told apart by from other versions of itself.
    print: u64,
}

const fn file(name: &'static str, kind: &'static str, bytes: &'static [u8]) -> Asset {
    Asset { name, kind, bytes, print: print_of(bytes) }
}

/// Gives the FNV-1a hash of a file, while the program is compiled.
const fn print_of(bytes: &[u8]) -> u64 {
    let (mut print, mut rest) = (0xcbf2_9ce4_8422_2325_u64, bytes);
    while let [first, others @ ..] = rest {
        print = (print ^ *first as u64).wrapping_mul(0x0100_0000_01b3);
        rest = others;
    }
    print
}

/// Every file of the page.
static ASSETS: &[Asset] = &[
    file("app.js", SCRIPT, include_bytes!("../assets/app.js")),
    file("chart.js", SCRIPT, include_bytes!("../assets/chart.js")),
    file("feed.js", SCRIPT, include_bytes!("../assets/feed.js")),
    file("format.js", SCRIPT, include_bytes!("../assets/format.js")),
    file("matrix.js", SCRIPT, include_bytes!("../assets/matrix.js")),
    file("rate.js", SCRIPT, include_bytes!("../assets/rate.js")),
    file("search.js", SCRIPT, include_bytes!("../assets/search.js")),
    file("strip.js", SCRIPT, include_bytes!("../assets/strip.js")),
    file("table.js", SCRIPT, include_bytes!("../assets/table.js")),
    file("theme.js", SCRIPT, include_bytes!("../assets/theme.js")),
    file("words.js", SCRIPT, include_bytes!("../assets/words.js")),
    file("theme.css", STYLE, include_bytes!("../assets/theme.css")),
    file("page.css", STYLE, include_bytes!("../assets/page.css")),
    file("data.css", STYLE, include_bytes!("../assets/data.css")),
    file("icon.svg", DRAWING, include_bytes!("../assets/icon.svg")),
];

/// Answers with a file of the page.
pub(super) fn asset(call: Call<'_>) -> Result<HttpResponse, ApiError> {
    call.no_query()?;
    let found = ASSETS.iter().find(|asset| asset.name == call.captured);
    let asset = found.ok_or_else(|| ApiError::new(Code::NotFound, format!("asset {}, expected one of the page", shown(call.captured))))?;
    let tag = caching::tag_of(&[&format!("{:016x}", asset.print)]);
    Ok(guarded(caching::kept(call.request.headers(), asset.bytes, asset.kind, tag)))
}

/// Answers with the page for the pair that is asked for.
///
/// Whatever else stands in the query is the page's own (its order, its theme), and left to its scripts.
pub(super) async fn page(call: Call<'_>) -> Result<HttpResponse, ApiError> {
    let state = call.state;
    let asked = parameter(call.query(), "pair");
    let pair = match &asked {
        Some(text) => pairs::parse(text, || quotes::known_pairs(state)),
        None => first(state).ok_or_else(|| ApiError::new(Code::UnknownPair, "no pair is configured, expected one in the search")),
    };
    let said = match pair {
        Ok(pair) => of_pair(state, pair).await,
        Err(error) => Err((None, error)),
    };
    let names: HashMap<String, &'static str> = state.engine.venues().iter().map(|v| (v.id.to_string(), v.profile().name)).collect();
    let known = quotes::known_pairs(state);
    let markup = Markup { simulated: state.simulated, names: &names, known: &known, max_age: state.basis.terms.max_age };
    let (status, html) = match said {
        Ok(said) => {
            let now = Instant::now();
            let shown = Shown { pair: said.pair, view: &said.quotes.view, rate: said.rate.as_deref(), now };
            (StatusCode::OK, markup.page(&shown))
        }
        Err((pair, error)) => (StatusCode::from_u16(error.status()).unwrap_or_default(), markup.refusal(asked.as_deref(), pair, &error)),
    };
    let mut response = HttpResponse::with_body(status, html).map_into_boxed_body();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(HTML));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(guarded(response))
}

/// Holds what is known of a pair.
struct Said {
    pair: Pair,
    quotes: Arc<Published>,
    /// Nothing where no rate could be asked for.
    rate: Option<Arc<PublishedRate>>,
}

async fn of_pair(state: &State, pair: Pair) -> Result<Said, (Option<Pair>, ApiError)> {
    let terms = &state.basis.terms;
    let (quotes, rate) = join(quotes::ask_for_any(state, pair, terms), rates::ask_for_any(state, pair, terms)).await;
    let quotes = quotes.map_err(|error| (Some(pair), error))?;
    // Nobody lists it: there is nothing to compare.
    if quotes.view.asked() == 0 {
        return Err((Some(pair), quotes::no_quote(state, &quotes.view, terms)));
    }
    Ok(Said { pair, quotes, rate: rate.ok() })
}

/// Gives the pair for whom asks for none.
fn first(state: &State) -> Option<Pair> {
    let all = state.engine.pairs();
    let named = all.iter().find(|status| status.pair.to_string() == FIRST);
    let found = named.or_else(|| all.iter().find(|status| status.configured)).or_else(|| all.first());
    found.map(|status| status.pair)
}

/// Gives a parameter's text; what is no text is as if it were not there.
fn parameter(query: &str, name: &str) -> Option<String> {
    let found = query.split('&').find_map(|part| part.split_once('=').filter(|(key, _)| *key == name))?.1;
    percent_decoded(&found.replace('+', " ")).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn guarded(mut response: HttpResponse) -> HttpResponse {
    let headers = response.headers_mut();
    headers.append(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.append(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.append(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.append(OPENER_POLICY.clone(), HeaderValue::from_static("same-origin"));
    headers.append(RESOURCE_POLICY.clone(), HeaderValue::from_static("same-origin"));
    response
}

#[cfg(test)]
mod tests;
