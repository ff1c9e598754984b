//! Heads of requests and answers.

use jiff::Timestamp;
use quorate_actors::model::UnixMs;
use std::{fmt::Write as _, io::Write as _};

/// The largest head of a request, in bytes.
pub(super) const HEAD_MAX: usize = 16 << 10;
/// The largest body of a request, in bytes.
pub(super) const BODY_MAX: usize = 64 << 10;
const HEADERS_MAX: usize = 64;

/// What the head of a request says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) method: String,
    /// Path and query.
    pub(super) target: String,
    /// How long the head is, in bytes.
    pub(super) head_length: usize,
    pub(super) body_length: usize,
    pub(super) keep_alive: bool,
    pub(super) accepts_gzip: bool,
    pub(super) expects_continue: bool,
}

/// Says by which status a request is refused before it is understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BadRequest(pub(super) u16, pub(super) &'static str);

impl Request {
    /// Reads a head; `None` while it is not whole.
    pub(super) fn parse(bytes: &[u8]) -> Result<Option<Self>, BadRequest> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut parsed = httparse::Request::new(&mut headers);
        let head_length = match parsed.parse(bytes) {
            Ok(httparse::Status::Complete(length)) if length <= HEAD_MAX => length,
            Ok(httparse::Status::Partial) if bytes.len() <= HEAD_MAX => return Ok(None),
            Ok(_) | Err(httparse::Error::TooManyHeaders) => {
                return Err(BadRequest(431, "the head is longer than 16384 bytes or 64 headers"));
            }
            Err(_) => return Err(BadRequest(400, "no HTTP/1.1 request")),
        };
        let mut request = Self {
            method: parsed.method.unwrap_or_default().to_owned(),
            target: parsed.path.unwrap_or_default().to_owned(),
            head_length,
            keep_alive: parsed.version == Some(1),
            ..Self::default()
        };
        for header in parsed.headers.iter() {
            request.heed(header.name, header.value)?;
        }
        if request.body_length > BODY_MAX {
            return Err(BadRequest(413, "the body is longer than 65536 bytes"));
        }
        if !request.target.starts_with('/') {
            return Err(BadRequest(400, "the request names no path"));
        }
        Ok(Some(request))
    }

    fn heed(&mut self, name: &str, value: &[u8]) -> Result<(), BadRequest> {
        let has = |word: &str| std::str::from_utf8(value).is_ok_and(|text| text.split(',').any(|part| is_word(part, word)));
        if name.eq_ignore_ascii_case("content-length") {
            let length = std::str::from_utf8(value).ok().filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
            self.body_length = length.and_then(|text| text.parse().ok()).ok_or(BadRequest(400, "content-length is no number"))?;
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(BadRequest(411, "a body needs a content-length"));
        } else if name.eq_ignore_ascii_case("connection") {
            self.keep_alive = if self.keep_alive { !has("close") } else { has("keep-alive") };
        } else if name.eq_ignore_ascii_case("accept-encoding") {
            self.accepts_gzip = has("gzip");
        } else if name.eq_ignore_ascii_case("expect") {
            self.expects_continue = has("100-continue");
        }
        Ok(())
    }
}

/// Tells whether a list's element is the word, with whatever parameters but a quality of zero.
fn is_word(part: &str, word: &str) -> bool {
    let (name, parameters) = part.split_once(';').unwrap_or((part, ""));
    name.trim().eq_ignore_ascii_case(word) && !matches!(parameters.trim(), "q=0" | "q=0.0")
}

/// What the head of an answer says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head<'a> {
    pub(super) status: u16,
    pub(super) content_type: &'a str,
    pub(super) length: u64,
    pub(super) packed: bool,
    pub(super) retry_after_s: Option<u32>,
    pub(super) location: Option<&'a str>,
    pub(super) allow: Option<&'a str>,
    pub(super) close: bool,
}

impl Default for Head<'_> {
    fn default() -> Self {
        Self {
            status: 200,
            content_type: "application/json",
            length: 0,
            packed: false,
            retry_after_s: None,
            location: None,
            allow: None,
            close: false,
        }
    }
}

impl Head<'_> {
    /// Writes the head, its empty line included.
    pub(super) fn write(&self, out: &mut Vec<u8>, date: &str) {
        let reason = actix_web::http::StatusCode::from_u16(self.status).ok().and_then(|s| s.canonical_reason()).unwrap_or("");
        let (status, kind, length) = (self.status, self.content_type, self.length);
        // Writing to a Vec cannot fail.
        let _ = write!(out, "HTTP/1.1 {status} {reason}\r\nDate: {date}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n");
        if self.packed {
            out.extend_from_slice(b"Content-Encoding: gzip\r\n");
        }
        if let Some(seconds) = self.retry_after_s {
            let _ = write!(out, "Retry-After: {seconds}\r\n");
        }
        if let Some(location) = self.location {
            let _ = write!(out, "Location: {location}\r\n");
        }
        if let Some(methods) = self.allow {
            let _ = write!(out, "Allow: {methods}\r\n");
        }
        if self.close {
            out.extend_from_slice(b"Connection: close\r\n");
        }
        out.extend_from_slice(b"\r\n");
    }
}

/// Writes `Date` headers, and remembers the last second's.
#[derive(Debug, Default)]
pub(super) struct Dates {
    second: Option<i64>,
    text: String,
}

impl Dates {
    /// Gives a time as `Sun, 06 Nov 1994 08:49:37 GMT`.
    pub(super) fn text(&mut self, time: UnixMs) -> &str {
        let second = time.0.div_euclid(1000);
        if self.second != Some(second) {
            self.second = Some(second);
            self.text.clear();
            let stamp = Timestamp::from_second(second).unwrap_or_default();
            let _ = write!(self.text, "{}", stamp.strftime("%a, %d %b %Y %H:%M:%S GMT"));
        }
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_within_bounds() {
        let head = b"GET /kraken/x?y=1 HTTP/1.1\r\nHost: a\r\nAccept-Encoding: br, gzip;q=0.5\r\n\r\nrest";
        let request = Request::parse(head).unwrap().unwrap();
        assert_eq!((request.target.as_str(), request.keep_alive, request.accepts_gzip), ("/kraken/x?y=1", true, true));
        assert_eq!(request.head_length, head.len() - 4);
        for end in 0..request.head_length {
            assert_eq!(Request::parse(&head[..end]), Ok(None), "{end}");
        }
        let parse = |text: &str| Request::parse(text.as_bytes());
        assert!(!parse("GET / HTTP/1.1\r\nConnection: Close\r\n\r\n").unwrap().unwrap().keep_alive);
        assert!(!parse("GET / HTTP/1.0\r\n\r\n").unwrap().unwrap().keep_alive);
        assert!(!parse("GET / HTTP/1.1\r\nAccept-Encoding: gzip;q=0\r\n\r\n").unwrap().unwrap().accepts_gzip);
        for (text, status) in [
            ("nonsense\r\n\r\n", 400),
            ("GET * HTTP/1.1\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nContent-Length: 65537\r\n\r\n", 413),
            ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
        ] {
            assert_eq!(parse(text).unwrap_err().0, status, "{text}");
        }
        assert_eq!(parse(&format!("GET /{}", "a".repeat(HEAD_MAX))).unwrap_err().0, 431);
        assert_eq!(parse(&format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(65))).unwrap_err().0, 431);
    }

    #[test]
    fn dates_are_written_as_http_has_them() {
        let mut dates = Dates::default();
        assert_eq!(dates.text(UnixMs(784_111_777_999)), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(dates.text(UnixMs(784_111_778_000)), "Sun, 06 Nov 1994 08:49:38 GMT");
    }
}
