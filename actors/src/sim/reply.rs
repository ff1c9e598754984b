//! What a simulated venue answers, as a value: whoever serves it decides how the bytes travel.

use crate::model::UnixMs;
use bytes::Bytes;
use std::time::Duration;

/// Holds an answer and how it is to be given.
#[derive(Clone, Debug)]
pub struct Reply {
    /// How long the venue takes before it begins to answer.
    pub delay: Duration,
    /// The HTTP status.
    pub status: u16,
    /// The `Content-Type` header.
    pub content_type: &'static str,
    /// The `Retry-After` header, in seconds.
    pub retry_after_s: Option<u32>,
    /// The `Location` header.
    pub location: Option<String>,
    /// The `Allow` header.
    pub allow: Option<&'static str>,
    /// The venue's clock when the request came: the `Date` header.
    pub clock: UnixMs,
    /// The body.
    pub body: Bytes,
    /// How many spaces follow the body.
    pub pad: u64,
    /// Whether the body goes out packed, whatever the caller accepts.
    pub packed: bool,
    /// How it is given.
    pub manner: Manner,
}

/// Tells how an answer is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// As HTTP means it.
    Whole,
    /// Not at all: the connection stays open.
    Silent,
    /// The head, then the body bit by bit.
    Drip {
        /// The body's speed.
        bytes_per_s: u32,
    },
    /// Not at all: the connection is reset.
    Reset,
    /// Not at all: there is no connection.
    Refused,
    /// Half of the body, then the connection is closed.
    Truncated,
    /// The whole body under half of its length, then the connection is closed.
    WrongLength,
}

impl Reply {
    pub(super) fn new(status: u16, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        Self {
            delay: Duration::ZERO,
            status,
            content_type,
            retry_after_s: None,
            location: None,
            allow: None,
            clock: UnixMs(0),
            body: body.into(),
            pad: 0,
            packed: false,
            manner: Manner::Whole,
        }
    }

    pub(super) fn json(status: u16, body: impl Into<Bytes>) -> Self {
        Self::new(status, "application/json", body)
    }

    pub(super) fn text(status: u16, body: &'static str) -> Self {
        Self::new(status, "text/plain; charset=utf-8", body)
    }

    pub(super) fn page(status: u16, body: &'static str) -> Self {
        Self::new(status, "text/html; charset=utf-8", body)
    }

    pub(super) fn in_manner(manner: Manner) -> Self {
        Self { manner, ..Self::new(200, "application/json", Bytes::new()) }
    }

    /// Gives the length of the whole body, unpacked.
    pub fn length(&self) -> u64 {
        u64::try_from(self.body.len()).unwrap_or(u64::MAX).saturating_add(self.pad)
    }

    /// Gives the first half of the body, which `Truncated` sends and `WrongLength` declares.
    pub fn half(&self) -> Bytes {
        self.body.slice(..self.body.len().checked_div(2).unwrap_or(0))
    }
}
