//! What a caller is told when there is no answer: RFC 9457 problems. The one file that names an error's status code.
//!
//! What an error says outside is composed here from its code and detail; what it is inside goes to the log.

use crate::wire::{push_str, push_u64};
use actix_web::{
    HttpResponse, ResponseError,
    http::{
        StatusCode,
        header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE},
    },
};
use std::{borrow::Cow, fmt, time::Duration};

macro_rules! codes {
    ($($name:ident $slug:literal $status:ident $title:literal),+ $(,)?) => {
        /// Names what went wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code { $(#[doc = $title] $name),+ }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// Gives the word for it in `code`, and at the end of `type`.
            pub fn slug(self) -> &'static str {
                match self { $(Self::$name => $slug),+ }
            }

            /// Gives the sentence that is the same for every occurrence.
            pub fn title(self) -> &'static str {
                match self { $(Self::$name => $title),+ }
            }

            fn status(self) -> StatusCode {
                match self { $(Self::$name => StatusCode::$status),+ }
            }
        }
    };
}

codes! {
    BadRequest "bad_request" BAD_REQUEST "The request is no HTTP that is understood",
    InvalidPair "invalid_pair" BAD_REQUEST "The text is no pair",
    InvalidParameter "invalid_parameter" BAD_REQUEST "A parameter has a value that is not accepted",
    UnknownParameter "unknown_parameter" BAD_REQUEST "A parameter is not known here",
    DuplicateParameter "duplicate_parameter" BAD_REQUEST "A parameter is given more than once",
    MissingParameter "missing_parameter" BAD_REQUEST "A parameter is missing",
    TooManyPairs "too_many_pairs" BAD_REQUEST "More pairs than one request may name",
    InvalidBody "invalid_body" BAD_REQUEST "The body is not the JSON that is expected",
    Unauthorized "unauthorized" UNAUTHORIZED "The token is missing or not the right one",
    Forbidden "forbidden" FORBIDDEN "The request is not accepted from there",
    UnknownPair "unknown_pair" NOT_FOUND "No venue lists the pair",
    UnknownVenue "unknown_venue" NOT_FOUND "The venue is not known",
    NotFound "not_found" NOT_FOUND "There is nothing at this address",
    UnknownReceipt "unknown_receipt" NOT_FOUND "No receipt of that id was ever given here",
    MethodNotAllowed "method_not_allowed" METHOD_NOT_ALLOWED "The method is not allowed here",
    RequestTimeout "request_timeout" REQUEST_TIMEOUT "The request was not complete in time",
    Conflict "conflict" CONFLICT "The state does not allow that",
    ReceiptExpired "receipt_expired" GONE "The receipt is no longer kept",
    BodyTooLarge "body_too_large" PAYLOAD_TOO_LARGE "The body is larger than the limit",
    HeadTooLarge "head_too_large" REQUEST_HEADER_FIELDS_TOO_LARGE "The head of the request is too large",
    UnsupportedMediaType "unsupported_media_type" UNSUPPORTED_MEDIA_TYPE "The body is of a type that is not read",
    WrongHost "wrong_host" MISDIRECTED_REQUEST "The host named is not served here",
    TooManyRounds "too_many_rounds" TOO_MANY_REQUESTS "More rounds were called for than may start in a second",
    Internal "internal" INTERNAL_SERVER_ERROR "The service failed",
    NotBuilt "not_built" NOT_IMPLEMENTED "The program is built without that",
    NotReady "not_ready" SERVICE_UNAVAILABLE "A required pair lacks quotes",
    NoQuotes "no_quotes" SERVICE_UNAVAILABLE "No venue gave a quote",
    Inconsistent "inconsistent" SERVICE_UNAVAILABLE "The exchanges contradict each other",
    Unavailable "unavailable" SERVICE_UNAVAILABLE "No quote counts, and the last good rate is too old",
    Held "held" SERVICE_UNAVAILABLE "The rate jumped, and is not confirmed yet",
    Stale "stale" SERVICE_UNAVAILABLE "No quote counts any more",
    InsufficientSources "insufficient_sources" SERVICE_UNAVAILABLE "Fewer sources agree than are wanted",
    Overloaded "overloaded" SERVICE_UNAVAILABLE "The service has too much under way",
    Restarting "restarting" SERVICE_UNAVAILABLE "A part of the service is being rebuilt",
    Stopping "stopping" SERVICE_UNAVAILABLE "The service is stopping",
    Deadline "deadline" GATEWAY_TIMEOUT "No venue answered by the deadline",
}

impl Code {
    /// Gives the code of a status line that the framework wrote by itself.
    pub(crate) fn of_bare(status: &str) -> Option<Self> {
        let bare = [Self::BadRequest, Self::RequestTimeout, Self::BodyTooLarge, Self::HeadTooLarge];
        bare.into_iter().find(|code| code.status().as_str() == status)
    }

    /// Says what was expected where the framework does not say it.
    pub(crate) fn bare_detail(self) -> &'static str {
        match self {
            Self::RequestTimeout => "no whole head in time, expected one within 5000 ms",
            Self::HeadTooLarge => "the head is too large, expected at most 100 headers and 131072 bytes",
            Self::BodyTooLarge => "the body is too large",
            _ => "the request could not be read, expected HTTP/1.1",
        }
    }
}

/// The rule of a value that may be repeated in an answer: [`shown`].
const SHOWN_MAX: usize = 40;

/// Names a value that a caller sent: itself where it is at most 40 characters of `A-Za-z0-9._:/,=-`, else how long it is.
#[must_use]
pub fn shown(value: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"._:/,=-".contains(&b);
    if !value.is_empty() && value.len() <= SHOWN_MAX && value.bytes().all(plain) {
        return format!("\"{value}\"");
    }
    match value.chars().count() {
        0 => "empty".to_owned(),
        count => format!("a text of {count} characters"),
    }
}

/// Holds an error as its caller sees it.
#[derive(Debug)]
pub struct ApiError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    code: Code,
    detail: Cow<'static, str>,
    suggestions: Vec<String>,
    retry_after: Option<Duration>,
    allow: Option<&'static str>,
    rate_limit: Option<u64>,
    extras: Vec<(&'static str, Vec<u8>)>,
}

/// Tells what an error repeats of its request and its service.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The request's id.
    pub request_id: &'a str,
    /// Whether quotes come from the simulation.
    pub simulated: bool,
}

impl ApiError {
    /// Makes an error with a sentence that names the value and the expectation.
    pub fn new(code: Code, detail: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner {
            code,
            detail: detail.into(),
            suggestions: Vec::new(),
            retry_after: None,
            allow: None,
            rate_limit: None,
            extras: Vec::new(),
        }))
    }

    /// Adds what the caller may have meant.
    #[must_use]
    pub fn suggest(mut self, suggestions: impl IntoIterator<Item = String>) -> Self {
        self.0.suggestions.extend(suggestions);
        self
    }

    /// Adds when to try again.
    #[must_use]
    pub fn retry_after(mut self, after: Duration) -> Self {
        self.0.retry_after = Some(after);
        self
    }

    /// Adds the limit that was passed, in requests a second.
    #[must_use]
    pub fn rate_limit(mut self, per_second: u64) -> Self {
        self.0.rate_limit = Some(per_second);
        self
    }

    /// Adds the methods that are allowed.
    #[must_use]
    pub fn allow(mut self, methods: &'static str) -> Self {
        self.0.allow = Some(methods);
        self
    }

    /// Adds a member to the body; `json` is its value, written already.
    #[must_use]
    pub fn with(mut self, name: &'static str, json: Vec<u8>) -> Self {
        self.0.extras.push((name, json));
        self
    }

    /// Gives the code.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// Gives the sentence that names the value and the expectation.
    pub fn detail(&self) -> &str {
        &self.0.detail
    }

    /// Gives what the caller may have meant.
    pub fn suggestions(&self) -> &[String] {
        &self.0.suggestions
    }

    /// Gives the HTTP status as a number.
    pub fn status(&self) -> u16 {
        self.0.code.status().as_u16()
    }

    /// Writes the problem.
    pub fn body(&self, context: Context<'_>) -> Vec<u8> {
        let Inner { code, detail, suggestions, extras, .. } = &*self.0;
        let mut out = Vec::with_capacity(320);
        out.extend_from_slice(b"{\"type\":\"urn:quorate:problem:");
        out.extend_from_slice(code.slug().as_bytes());
        out.extend_from_slice(b"\",\"title\":");
        push_str(&mut out, code.title());
        out.extend_from_slice(b",\"status\":");
        push_u64(&mut out, u64::from(self.status()));
        out.extend_from_slice(b",\"detail\":");
        push_str(&mut out, detail);
        out.extend_from_slice(b",\"code\":");
        push_str(&mut out, code.slug());
        out.extend_from_slice(b",\"request_id\":");
        push_str(&mut out, context.request_id);
        out.extend_from_slice(b",\"simulated\":");
        out.extend_from_slice(if context.simulated { b"true" } else { b"false" });
        out.extend_from_slice(b",\"suggestions\":[");
        for (at, suggestion) in suggestions.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            push_str(&mut out, suggestion);
        }
        out.push(b']');
        for (name, json) in extras {
            out.extend_from_slice(b",\"");
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b"\":");
            out.extend_from_slice(json);
        }
        out.push(b'}');
        out
    }

    /// Makes the response.
    pub fn response(&self, context: Context<'_>) -> HttpResponse {
        let mut response = HttpResponse::with_body(self.0.code.status(), self.body(context)).map_into_boxed_body();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(allow) = self.0.allow {
            headers.insert(ALLOW, HeaderValue::from_static(allow));
        }
        if self.0.code == Code::Unauthorized {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(after) = self.0.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(whole_seconds_up(after)));
        }
        if let Some(limit) = self.0.rate_limit {
            let reset = whole_seconds_up(self.0.retry_after.unwrap_or_default());
            headers.insert(HeaderName::from_static("ratelimit-limit"), HeaderValue::from(limit));
            headers.insert(HeaderName::from_static("ratelimit-remaining"), HeaderValue::from_static("0"));
            headers.insert(HeaderName::from_static("ratelimit-reset"), HeaderValue::from(reset));
        }
        response
    }
}

/// Rounds up, so that who waits that long does not come too early; never zero.
fn whole_seconds_up(duration: Duration) -> u64 {
    duration.as_secs().saturating_add(u64::from(duration.subsec_nanos() > 0)).max(1)
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.code.slug(), self.0.detail)
    }
}

impl std::error::Error for ApiError {}

impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        self.0.code.status()
    }

    fn error_response(&self) -> HttpResponse {
        self.response(Context { request_id: "", simulated: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: Context<'_> = Context { request_id: "req-1", simulated: false };

    #[test]
    fn a_problem_has_every_member() {
        let error = ApiError::new(Code::UnknownPair, "pair \"BTC-USDX\" is listed by no venue")
            .suggest(["BTC-USDT".to_owned()])
            .with("misses", b"[]".to_vec());
        assert_eq!(
            String::from_utf8(error.body(CONTEXT)).unwrap(),
            concat!(
                r#"{"type":"urn:quorate:problem:unknown_pair","title":"No venue lists the pair","status":404,"#,
                r#""detail":"pair \"BTC-USDX\" is listed by no venue","code":"unknown_pair","request_id":"req-1","simulated":false,"#,
                r#""suggestions":["BTC-USDT"],"misses":[]}"#
            )
        );
    }

    #[test]
    fn slugs_are_distinct_and_statuses_are_errors() {
        let slugs: std::collections::BTreeSet<_> = Code::ALL.iter().map(|c| c.slug()).collect();
        assert_eq!(slugs.len(), Code::ALL.len());
        assert!(Code::ALL.iter().all(|c| c.status().is_client_error() || c.status().is_server_error()));
    }

    #[test]
    fn a_value_is_named_by_the_rule_and_otherwise_by_its_length() {
        assert_eq!(shown("BTC-USDT"), "\"BTC-USDT\"");
        assert_eq!(shown(&"A".repeat(40)), format!("\"{}\"", "A".repeat(40)));
        assert_eq!(shown(&"A".repeat(41)), "a text of 41 characters");
        assert_eq!(shown("<script>"), "a text of 8 characters");
        assert_eq!(shown("牛来"), "a text of 2 characters");
        assert_eq!(shown(""), "empty");
    }

    #[test]
    fn a_wait_is_rounded_up() {
        let response = ApiError::new(Code::TooManyRounds, "").retry_after(Duration::from_millis(20)).rate_limit(50).response(CONTEXT);
        let header = |name: &str| response.headers().get(name).unwrap().to_str().unwrap().to_owned();
        assert_eq!((response.status().as_u16(), header("retry-after"), header("ratelimit-limit")), (429, "1".into(), "50".into()));
        assert_eq!((header("ratelimit-remaining"), header("content-type")), ("0".into(), "application/problem+json".into()));
        assert_eq!(whole_seconds_up(Duration::from_millis(2001)), 3);
    }
}
