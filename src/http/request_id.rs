//! Ids of requests: the caller's own where he sent one that is fit to be repeated, else one of ours.

use super::value::Short;
use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The header that carries them.
pub(super) static NAME: HeaderName = HeaderName::from_static("x-request-id");

/// The longest id that is taken from a caller.
const LEN_MAX: usize = 64;

/// Makes ids: a word that differs between starts, and a count.
#[derive(Debug)]
pub(super) struct RequestIds {
    start: Vec<u8>,
    next: AtomicU64,
}

impl RequestIds {
    pub(super) fn new() -> Self {
        Self { start: format!("{:08x}-", fastrand::u32(..)).into_bytes(), next: AtomicU64::new(1) }
    }

    /// Gives the id of a request.
    pub(super) fn of(&self, headers: &HeaderMap) -> HeaderValue {
        match headers.get(&NAME) {
            Some(id) if is_fit(id.as_bytes()) => id.clone(),
            _ => self.fresh(),
        }
    }

    /// Makes an id of ours.
    pub(super) fn fresh(&self) -> HeaderValue {
        let number = self.next.fetch_add(1, Relaxed);
        Short::new().number_before(number).before(&self.start).value()
    }
}

fn is_fit(id: &[u8]) -> bool {
    !id.is_empty() && id.len() <= LEN_MAX && id.iter().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;

    #[test]
    fn a_fit_id_is_repeated_and_any_other_replaced() {
        let ids = RequestIds::new();
        let of = |id: &str| {
            ids.of(TestRequest::get().insert_header(("X-Request-Id", id)).to_http_request().headers()).to_str().unwrap().to_owned()
        };
        assert_eq!(of("a.B_c-9"), "a.B_c-9");
        assert_eq!(of(&"a".repeat(64)), "a".repeat(64));
        for unfit in ["", "a b", "a\"b", "é", &"a".repeat(65)] {
            assert!(of(unfit) != unfit && of(unfit).starts_with(std::str::from_utf8(&ids.start).unwrap()), "{unfit}");
        }
        let none = HeaderMap::new();
        assert_ne!(ids.of(&none), ids.of(&none));
    }
}
