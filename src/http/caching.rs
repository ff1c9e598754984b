//! Caching that tells the truth: what an answer's headers say of its age, and whether the caller has it already.

use crate::wire::push_u64;
use actix_web::{
    HttpRequest, HttpResponse,
    http::{
        StatusCode,
        header::{AGE, CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, IF_NONE_MATCH},
    },
};
use bytes::Bytes;
use std::time::Duration;

static AGE_MS: HeaderName = HeaderName::from_static("quorate-age-ms");
static JSON: HeaderValue = HeaderValue::from_static("application/json");
static NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
static EMPTY: HeaderValue = HeaderValue::from_static("");

/// Tells how old an answer is, and how long it may be kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Freshness {
    /// The age, at sending, of the oldest quote that decided.
    pub(super) age: Duration,
    /// What is left until memory would no longer do for the same terms; `None`: not to be stored at all.
    pub(super) left: Option<Duration>,
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
    let values = Values::of(freshness, "", 0);
    values.insert(&mut response, freshness);
    response
}

/// Makes an answer of JSON with its age and a tag; without the body where the caller has it.
pub(super) fn tagged(request: &HttpRequest, body: impl FnOnce() -> Bytes, freshness: Freshness, boot: &str, sequence: u64) -> HttpResponse {
    let values = Values::of(freshness, boot, sequence);
    let tag = values.tag();
    let mut response = match request.headers().get(&IF_NONE_MATCH) {
        Some(known) if names(known, &tag) => HttpResponse::with_body(StatusCode::NOT_MODIFIED, Bytes::new()).map_into_boxed_body(),
        _ => ok(body()),
    };
    values.insert(&mut response, freshness);
    response.headers_mut().insert(ETAG, tag);
    response
}

fn ok(body: Bytes) -> HttpResponse {
    let mut response = HttpResponse::with_body(StatusCode::OK, body).map_into_boxed_body();
    response.headers_mut().insert(CONTENT_TYPE, JSON.clone());
    response
}

/// Holds the text of all values in one piece of memory: one allocation instead of four, on the way of every answer from memory.
struct Values {
    text: Bytes,
    ends: [usize; 4],
}

impl Values {
    fn of(freshness: Freshness, boot: &str, sequence: u64) -> Self {
        let mut text = Vec::with_capacity(96);
        let mut ends = [0; 4];
        let [tag, age, age_ms, max_age] = &mut ends;
        text.extend_from_slice(b"W/\"");
        text.extend_from_slice(boot.as_bytes());
        text.push(b'-');
        push_u64(&mut text, sequence);
        text.push(b'"');
        *tag = text.len();
        push_u64(&mut text, freshness.age.as_secs());
        *age = text.len();
        push_u64(&mut text, u64::try_from(freshness.age.as_millis()).unwrap_or(u64::MAX));
        *age_ms = text.len();
        text.extend_from_slice(b"max-age=");
        push_u64(&mut text, freshness.left.unwrap_or_default().as_secs());
        *max_age = text.len();
        Self { text: text.into(), ends }
    }

    fn value(&self, from: usize, to: usize) -> HeaderValue {
        HeaderValue::from_maybe_shared(self.text.slice(from..to)).unwrap_or_else(|_| EMPTY.clone())
    }

    fn tag(&self) -> HeaderValue {
        self.value(0, self.ends[0])
    }

    fn insert(&self, response: &mut HttpResponse, freshness: Freshness) {
        let [tag, age, age_ms, max_age] = self.ends;
        let headers = response.headers_mut();
        headers.insert(AGE, self.value(tag, age));
        headers.insert(AGE_MS.clone(), self.value(age, age_ms));
        headers.insert(CACHE_CONTROL, if freshness.left.is_some() { self.value(age_ms, max_age) } else { NO_STORE.clone() });
    }
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
        tagged(&request, || Bytes::from_static(b"{}"), freshness, "7f3a", 48211)
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
