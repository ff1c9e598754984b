//! Why a venue gave no quote: one closed table of reasons for JSON, metrics and logs.

use super::UnixMs;
use std::{borrow::Cow, fmt, time::Duration};

macro_rules! reasons {
    ($($name:ident $slug:literal $group:ident $doc:literal),+ $(,)?) => {
        /// Names why a venue gave no quote, or why its quote does not count.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Reason { $(#[doc = $doc] $name),+ }

        impl Reason {
            /// Every reason, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// Gives the word for it in JSON, metrics and logs.
            pub fn slug(self) -> &'static str {
                match self { $(Self::$name => $slug),+ }
            }

            /// Tells who speaks: the wire, the venue, ourselves, or admission.
            pub fn group(self) -> Group {
                match self { $(Self::$name => Group::$group),+ }
            }
        }
    };
}

/// Tells who says a [`Reason`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// The way to the venue and back.
    Transport,
    /// The venue itself, in its own words.
    Venue,
    /// Our own rules.
    Ours,
    /// RATE 2: the quote is there, and does not count.
    Admission,
}

reasons! {
    Dns "dns" Transport "The name was not resolved.",
    Refused "refused" Transport "The connection was refused.",
    Timeout "timeout" Transport "No whole answer in time.",
    Tls "tls" Transport "The TLS handshake failed.",
    Reset "reset" Transport "The connection broke.",
    Http4xx "http_4xx" Transport "A client error that the venue did not explain.",
    Http5xx "http_5xx" Transport "A server error, maintenance among them.",
    Html "html" Transport "A page where data was due.",
    Empty "empty" Transport "An answer without content.",
    Oversize "oversize" Transport "More bytes than the venue's limit.",
    Truncated "truncated" Transport "An answer that ends early.",
    Redirect "redirect" Transport "Sent to another address, which is not followed.",
    Protocol "protocol" Transport "Not the HTTP that was expected.",
    Decode "decode" Transport "Content that is not what the venue documents.",
    RateLimited "rate_limited" Venue "Too many requests; wait until it says.",
    Banned "banned" Venue "Banned for a time (HTTP 418).",
    GeoBlocked "geo_blocked" Venue "Not served in this country.",
    Forbidden "forbidden" Venue "Access denied.",
    Halted "halted" Venue "The market is not trading.",
    Unlisted "unlisted" Venue "The venue does not list the pair.",
    Rejected "rejected" Venue "The venue refused the request by a code of its own.",
    BreakerOpen "breaker_open" Ours "Not asked: it failed too often just now.",
    OverBudget "over_budget" Ours "Not asked: the venue's request budget is used up.",
    Paused "paused" Ours "Not asked: an operator paused it.",
    Restarting "restarting" Ours "Its actor is being rebuilt.",
    Parked "parked" Ours "Its actor died too often and rests.",
    Overloaded "overloaded" Ours "Its actor has too much under way.",
    NotAwaited "not_awaited" Ours "Enough venues had answered already.",
    NonPositive "non_positive" Admission "Bid, ask or last is missing or not above zero.",
    Crossed "crossed" Admission "The bid is above the ask.",
    Wide "wide" Admission "The spread is over a tenth of the price.",
    Future "future" Admission "The venue's time is ahead of ours.",
    OutOfOrder "out_of_order" Admission "The venue's time is before that of an earlier quote, which is kept.",
    Stale "stale" Admission "The quote is too old.",
    Frozen "frozen" Admission "The quote has not changed for over a minute while the rate moved.",
    Region "region" Admission "The market is walled off by capital controls.",
    NoConversion "no_conversion" Admission "There is no rate from its currency to the target.",
}

impl Reason {
    /// Tells whether asking again may help without anybody changing anything.
    pub fn is_retryable(self) -> bool {
        !matches!(self, Self::Unlisted | Self::Rejected | Self::Paused | Self::Forbidden)
    }

    /// Tells whether it speaks against the venue's health: these open the breaker.
    pub fn is_fault(self) -> bool {
        self.group() == Group::Transport || self == Self::Forbidden
    }

    /// Tells whether another address of the same venue may do better.
    pub fn calls_for_mirror(self) -> bool {
        matches!(self, Self::Dns | Self::Refused | Self::Tls | Self::Reset | Self::Protocol | Self::Html | Self::Http5xx)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.slug())
    }
}

/// Names how far a request came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Looking up the name.
    Resolve,
    /// Opening the connection.
    Connect,
    /// Shaking hands.
    Tls,
    /// Sending, and waiting for the head of the answer.
    Request,
    /// Reading the body.
    Body,
}

impl Phase {
    /// Gives the word for it.
    pub fn slug(self) -> &'static str {
        match self {
            Self::Resolve => "resolve",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Request => "request",
            Self::Body => "body",
        }
    }
}

/// Tells when the venue may be asked again, in the form in which it said so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// After this long.
    After(Duration),
    /// At this wall time.
    At(UnixMs),
}

/// Tells why there is no quote: the reason, how far the request came, when to try again, and a sentence for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The reason.
    pub reason: Reason,
    /// How far the request came, where it left at all.
    pub phase: Option<Phase>,
    /// When to try again, where the venue says so.
    pub retry: Option<Retry>,
    /// A sentence for a person; a venue's own text is cut to [`Fault::DETAIL_MAX`] bytes.
    pub detail: Cow<'static, str>,
}

impl Fault {
    /// The longest detail, in bytes.
    pub const DETAIL_MAX: usize = 200;

    /// Makes a fault with a sentence of ours.
    pub fn new(reason: Reason, detail: impl Into<Cow<'static, str>>) -> Self {
        Self { reason, phase: None, retry: None, detail: detail.into() }
    }

    /// Makes a fault with the venue's own words: control characters are dropped, and it is cut to [`Fault::DETAIL_MAX`] bytes.
    pub fn said(reason: Reason, text: &str) -> Self {
        let mut kept = String::new();
        for c in text.chars().filter(|c| !c.is_control()) {
            if kept.len().saturating_add(c.len_utf8()) > Self::DETAIL_MAX {
                break;
            }
            kept.push(c);
        }
        Self::new(reason, kept)
    }

    /// Adds how far the request came.
    #[must_use]
    pub fn in_phase(self, phase: Phase) -> Self {
        Self { phase: Some(phase), ..self }
    }

    /// Adds when to try again.
    #[must_use]
    pub fn retry(self, retry: Option<Retry>) -> Self {
        Self { retry, ..self }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.reason)?;
        if let Some(phase) = self.phase {
            write!(f, " ({})", phase.slug())?;
        }
        if self.detail.is_empty() { Ok(()) } else { write!(f, ": {}", self.detail) }
    }
}

impl std::error::Error for Fault {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_distinct_and_snake_case() {
        let slugs: std::collections::BTreeSet<_> = Reason::ALL.iter().map(|r| r.slug()).collect();
        assert_eq!(slugs.len(), Reason::ALL.len());
        assert!(slugs.iter().all(|s| s.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')));
    }

    #[test]
    fn a_venues_words_are_cut_at_a_character_and_lose_their_control_characters() {
        let fault = Fault::said(Reason::Rejected, &format!("a\u{1b}[31m\n{}", "é".repeat(300)));
        assert!(fault.detail.len() <= Fault::DETAIL_MAX && fault.detail.starts_with("a[31mé"));
    }
}
