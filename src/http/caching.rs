//! Caching that tells the truth: what an answer's headers say of its age, and whether the caller has it already.

use super::value::Short;
use actix_web::{
    HttpResponse,
    body::BoxBody,
    http::{
        StatusCode,
        header::{AGE, CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue, IF_NONE_MATCH},
    },
};
use bytes::Bytes;
use std::time::Duration;

static AGE_MS: HeaderName = HeaderName::from_static("quorate-age-ms");
static JSON: HeaderValue = HeaderValue::from_static("application/json");
static NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// Values that need no making: the ages of answers from memory are small.
static FEW_AGES: [HeaderValue; 6] = few(["0", "1", "2", "3", "4", "5"]);
static FEW_MAX_AGES: [HeaderValue; 6] = few(["max-age=0", "max-age=1", "max-age=2", "max-age=3", "max-age=4", "max-age=5"]);

const fn few([a, b, c, d, e, f]: [&'static str; 6]) -> [HeaderValue; 6] {
    [
        HeaderValue::from_static(a),
        HeaderValue::from_static(b),
        HeaderValue::from_static(c),
        HeaderValue::from_static(d),
        HeaderValue::from_static(e),
        HeaderValue::from_static(f),
    ]
}

/// Tells how old an answer is, and how long it may be kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Freshness {
    /// The age, at sending, of the oldest quote that decided.
    pub(super) age: Duration,
    /// What is left until memory would no longer do for the same terms; `None`: not to be stored at all.
    pub(super) left: Option<Duration>,
}

/// Names an answer among all that were ever given for its address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Version<'a> {
    pub(super) boot: &'a str,
    pub(super) sequence: u64,
    /// Which of the answers of that sequence.
    pub(super) variant: Option<u64>,
}

impl Version<'_> {
    fn tag(self) -> HeaderValue {
        let end = Short::new().before(b"\"");
        let end = self.variant.map_or(end, |variant| Short::new().before(b"\"").number_before(variant).before(b"-"));
        end.number_before(self.sequence).before(b"-").before(self.boot.as_bytes()).before(b"W/\"").value()
    }
}

/// Makes an answer of JSON that is not to be stored.
pub(super) fn json(body: Bytes) -> HttpResponse {
    let mut response = ok(body);
    response.headers_mut().insert(CACHE_CONTROL, NO_STORE.clone());
    response
}

/// Makes an answer of JSON with its age.
pub(super) fn aged(body: Bytes, freshness: Freshness) -> HttpResponse {
    let mut response = ok(body);
    tell(&mut response, freshness);
    response
}

/// Makes an answer of JSON with its age and a tag; without the body where the caller has it.
pub(super) fn tagged(headers: &HeaderMap, body: impl FnOnce() -> Bytes, freshness: Freshness, version: Version<'_>) -> HttpResponse {
    named(headers, body, freshness, version.tag())
}

/// Makes an answer of JSON with its age and a tag of the caller's making.
pub(super) fn named(headers: &HeaderMap, body: impl FnOnce() -> Bytes, freshness: Freshness, tag: HeaderValue) -> HttpResponse {
    let mut response = unless_known(headers, body, &tag);
    tell(&mut response, freshness);
    response.headers_mut().append(ETAG, tag);
    response
}

/// Makes an answer of JSON that never changes.
pub(super) fn immutable(headers: &HeaderMap, body: impl FnOnce() -> Bytes, tag: HeaderValue) -> HttpResponse {
    let mut response = unless_known(headers, body, &tag);
    response.headers_mut().append(CACHE_CONTROL, HeaderValue::from_static("max-age=86400, immutable"));
    response.headers_mut().append(ETAG, tag);
    response
}

/// Makes an answer of any kind that a browser keeps and asks about each time; without the body where it has it.
pub(super) fn kept(headers: &HeaderMap, body: &'static [u8], kind: &'static str, tag: HeaderValue) -> HttpResponse {
    let mut response = unless_known(headers, || Bytes::from_static(body), &tag);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().append(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response.headers_mut().append(ETAG, tag);
    response
}

fn unless_known(headers: &HeaderMap, body: impl FnOnce() -> Bytes, tag: &HeaderValue) -> HttpResponse {
    match headers.get(&IF_NONE_MATCH) {
        Some(known) if names(known, tag) => HttpResponse::with_body(StatusCode::NOT_MODIFIED, Bytes::new()).map_into_boxed_body(),
        _ => ok(body()),
    }
}

/// Makes the weak tag of a name: letters, digits, `-` and `_`.
pub(super) fn tag_of(parts: &[&str]) -> HeaderValue {
    let end = Short::new().before(b"\"");
    parts.iter().rev().fold(end, |tag, part| tag.before(part.as_bytes())).before(b"W/\"").value()
}

fn ok(body: Bytes) -> HttpResponse {
    let mut response = HttpResponse::with_body(StatusCode::OK, BoxBody::new(body));
    response.headers_mut().append(CONTENT_TYPE, JSON.clone());
    response
}

/// Adds to a new response; where a name cannot be there yet, to append is cheaper than to insert, which hands back what was there.
fn tell(response: &mut HttpResponse, Freshness { age, left }: Freshness) {
    let headers = response.headers_mut();
    headers.append(AGE, of_seconds(&FEW_AGES, age.as_secs(), b""));
    headers.append(AGE_MS.clone(), Short::new().number_before(u64::try_from(age.as_millis()).unwrap_or(u64::MAX)).value());
    headers.append(CACHE_CONTROL, left.map_or_else(|| NO_STORE.clone(), |left| of_seconds(&FEW_MAX_AGES, left.as_secs(), b"max-age=")));
}

fn of_seconds(few: &[HeaderValue], seconds: u64, before: &[u8]) -> HeaderValue {
    let known = usize::try_from(seconds).ok().and_then(|s| few.get(s));
    known.cloned().unwrap_or_else(|| Short::new().number_before(seconds).before(before).value())
}

/// Tells whether an `If-None-Match` names a tag; weak and strong tags are compared alike, as that header wants.
fn names(known: &HeaderValue, tag: &HeaderValue) -> bool {
    let Ok(known) = known.to_str() else { return false };
    let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    let tag = opaque(tag.to_str().unwrap_or_default());
    known.trim() == "*" || known.split(',').any(|k| opaque(k) == tag)
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;

    fn header(response: &HttpResponse, name: &str) -> String {
        response.headers().get(name).unwrap().to_str().unwrap().to_owned()
    }

    fn answer(known: Option<&str>, left: Option<Duration>) -> HttpResponse {
        let request = known.into_iter().fold(TestRequest::get(), |r, k| r.insert_header((IF_NONE_MATCH, k))).to_http_request();
        let freshness = Freshness { age: Duration::from_millis(1234), left };
        tagged(request.headers(), || Bytes::from_static(b"{}"), freshness, Version { boot: "7f3a", sequence: 48211, variant: None })
    }

    #[test]
    fn the_headers_tell_age_and_what_is_left() {
        let response = answer(None, Some(Duration::from_millis(3766)));
        assert_eq!(
            ["etag", "age", "quorate-age-ms", "cache-control"].map(|n| header(&response, n)),
            ["W/\"7f3a-48211\"", "1", "1234", "max-age=3"]
        );
        assert_eq!((response.status().as_u16(), header(&response, "content-type")), (200, "application/json".into()));
        assert_eq!(header(&answer(None, None), "cache-control"), "no-store");
    }

    #[test]
    fn what_differs_within_a_sequence_has_another_tag() {
        let tag = |variant| Version { boot: "7f3a", sequence: 48211, variant }.tag();
        assert_eq!(tag(Some(999_999_999)), "W/\"7f3a-48211-999999999\"");
        assert!(tag(None) != tag(Some(0)));
    }

    #[test]
    fn what_the_caller_has_is_not_sent_again() {
        for known in ["W/\"7f3a-48211\"", "\"7f3a-48211\"", "*", "\"x\", W/\"7f3a-48211\""] {
            let response = answer(Some(known), Some(Duration::ZERO));
            assert_eq!((response.status().as_u16(), header(&response, "age")), (304, "1".into()), "{known}");
        }
        for other in ["W/\"7f3a-48210\"", "", "7f3a", "W/"] {
            assert_eq!(answer(Some(other), None).status().as_u16(), 200, "{other}");
        }
    }
}
