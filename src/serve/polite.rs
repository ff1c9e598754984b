//! A socket on which the framework's own refusals are problems too.
//!
//! actix-http refuses what is no HTTP, or comes too slowly or too large, below every app and with an empty body; there is no hook. What it writes then
//! is the last on the connection and ends in a head without a body, so that a look at the last bytes of each write tells it from everything else.

use crate::{
    error::{ApiError, Code, Context as ErrorContext},
    http::{State, connections::Place},
};
use std::{
    io::{self, Write},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Wraps a socket.
pub(super) struct Polite<T> {
    io: T,
    state: Arc<State>,
    /// What is written in place of a bare refusal, and how much of it is written.
    instead: Option<(Vec<u8>, usize)>,
    /// The place among the connections, given back when the socket is dropped.
    _place: Option<Place>,
}

impl<T> Polite<T> {
    pub(super) fn new(io: T, state: Arc<State>, place: Option<Place>) -> Self {
        Self { io, state, instead: None, _place: place }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Polite<T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, into)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Polite<T> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.instead.is_none() {
            match bare_refusal(bytes) {
                None => return Pin::new(&mut this.io).poll_write(cx, bytes),
                Some((0, code)) => {
                    if let Some(served) = &this.state.served {
                        served.count_bare();
                    }
                    this.instead = Some((problem(&this.state, code, bytes), 0));
                }
                // What stands before it goes out as it is; the rest comes again.
                Some((at, _)) => return Pin::new(&mut this.io).poll_write(cx, bytes.get(..at).unwrap_or(bytes)),
            }
        }
        while let Some((text, written)) = &mut this.instead {
            let rest = text.get(*written..).unwrap_or_default();
            if rest.is_empty() {
                this.instead = None;
                break;
            }
            match ready!(Pin::new(&mut this.io).poll_write(cx, rest))? {
                0 => return Poll::Ready(Ok(0)),
                count => *written = written.saturating_add(count),
            }
        }
        // As many bytes as the caller gave are dealt with.
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

/// Finds a refusal without a body at the end of what is to be written: where it starts, and what it says.
fn bare_refusal(bytes: &[u8]) -> Option<(usize, Code)> {
    if !bytes.ends_with(b"\r\n\r\n") {
        return None;
    }
    let text = std::str::from_utf8(bytes).ok()?;
    let at = text.rfind("HTTP/1.")?;
    let head = text.get(at..)?;
    let code = Code::of_bare(head.split(' ').nth(1)?)?;
    head.contains("\r\ncontent-length: 0\r\n").then_some((at, code))
}

/// Writes the same refusal with a body.
fn problem(state: &State, code: Code, bare: &[u8]) -> Vec<u8> {
    let (id, simulated) = (state.fresh_id(), state.simulated);
    let request_id = id.to_str().unwrap_or_default();
    let body = ApiError::new(code, code.bare_detail()).body(ErrorContext { request_id, simulated });
    let bare = String::from_utf8_lossy(bare);
    let mut out = Vec::with_capacity(bare.len().saturating_add(body.len()).saturating_add(160));
    for line in bare.trim_end().split("\r\n") {
        let line = if line == "content-length: 0" { format!("content-length: {}", body.len()) } else { line.to_owned() };
        out.extend_from_slice(line.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
    // Writing to a vector does not fail.
    let _ = write!(out, "content-type: application/problem+json\r\ncache-control: no-store\r\nx-request-id: {request_id}\r\n");
    if simulated {
        out.extend_from_slice(b"quorate-simulated: 1\r\n");
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(&body);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_refusal_without_a_body_is_taken_for_one() {
        let bare = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\ndate: x\r\n\r\n";
        let slow = bare.replace("400 Bad Request", "408 Request Timeout");
        assert_eq!(bare_refusal(bare.as_bytes()), Some((0, Code::BadRequest)));
        assert_eq!(bare_refusal(slow.as_bytes()), Some((0, Code::RequestTimeout)));
        let before = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
        assert_eq!(bare_refusal(format!("{before}{bare}").as_bytes()), Some((before.len(), Code::BadRequest)));
        for other in [
            before,
            "",
            "\r\n\r\n",
            "HTTP/1.1 304 Not Modified\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 404 Not Found\r\ncontent-length: 120\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n",
        ] {
            assert_eq!(bare_refusal(other.as_bytes()), None, "{other:?}");
        }
    }
}
