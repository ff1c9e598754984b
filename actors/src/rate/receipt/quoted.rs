//! What follows from a quote by itself, its price and what a receipt says of it: made once, for all the passes and receipts that have the same quote.

use super::{
    super::{Num, Offer, admission::priced, memory::Print},
    write::Writer,
};
use crate::{
    model::{Reason, Source, UnixMs},
    venue::Member,
};
use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

/// Holds a quote as far as its text goes, and the text once somebody has asked for it.
#[derive(Debug)]
pub(in super::super) struct Quoted {
    member: Arc<Member>,
    print: Print,
    venue_time: Option<UnixMs>,
    received: UnixMs,
    latency: Duration,
    source: Source,
    halted: bool,
    price: Result<Num, Reason>,
    text: OnceLock<Text>,
}

/// Holds the members of a quote that are always the same, in four pieces: between them stand those that are not.
#[derive(Debug)]
struct Text {
    pieces: Vec<u8>,
    cuts: [usize; 3],
    operator_len: usize,
}

/// What stands before the operator in its piece.
pub(super) const OPERATOR: &[u8] = b"\"operator\":";

impl Quoted {
    pub(in super::super) fn of(offer: &Offer, print: Print) -> Self {
        let Offer { member, ticker, received, latency, source, .. } = offer;
        let (venue_time, halted, price) = (ticker.venue_time, ticker.halted, priced(ticker, member.basis));
        let (member, received, latency, source, text) = (Arc::clone(member), *received, *latency, *source, OnceLock::new());
        Self { member, print, venue_time, received, latency, source, halted, price, text }
    }

    /// Tells whether an offer for the same market is this quote.
    pub(in super::super) fn is(&self, offer: &Offer, print: &Print) -> bool {
        self.received == offer.received
            && self.venue_time == offer.ticker.venue_time
            && (self.latency, self.source, self.halted) == (offer.latency, offer.source, offer.ticker.halted)
            && self.print == *print
            && self.member == offer.member
    }

    /// Gives the price, in time or not.
    pub(in super::super) fn price(&self) -> Result<Num, Reason> {
        self.price
    }

    /// Gives the numbers that change while a market lives.
    pub(in super::super) fn print(&self) -> &Print {
        &self.print
    }

    /// Gives what is said of the offer that this is: `ask` to `bid`, `last`, `operator` and `pair`, `received_time` to `venue_time`; and how long the operator
    /// is in quotes.
    pub(super) fn pieces(&self, offer: &Offer) -> ([&[u8]; 4], usize) {
        let Text { pieces, cuts: [last, who, when], operator_len } = self.text.get_or_init(|| Text::of(offer));
        let ends = [0..*last, *last..*who, *who..*when, *when..pieces.len()];
        (ends.map(|piece| pieces.get(piece).unwrap_or_default()), *operator_len)
    }
}

impl PartialEq for Quoted {
    fn eq(&self, other: &Self) -> bool {
        // What is written of it follows from the rest.
        let all = |quoted: &Self| (quoted.received, quoted.venue_time, quoted.latency, quoted.source, quoted.halted);
        all(self) == all(other) && self.print == other.print && self.member == other.member
    }
}

impl Eq for Quoted {}

impl Text {
    fn of(offer: &Offer) -> Self {
        let Offer { member, pair, ticker, received, source, .. } = offer;
        let mut w = Writer::new(384, 0);
        w.raw(b"\"ask\":");
        w.maybe(ticker.ask, Writer::price);
        w.raw(b",\"basis\":");
        w.word(member.basis.slug());
        w.raw(b",\"bid\":");
        w.maybe(ticker.bid, Writer::price);
        w.raw(b",\"converted\":");
        let last = w.len();
        w.raw(b",\"last\":");
        w.maybe(ticker.last, Writer::price);
        w.raw(b",");
        let who = w.len();
        w.raw(OPERATOR);
        let operator_len = w.noted(|w| w.text(&member.operator)).len();
        w.raw(b",\"pair\":");
        w.pair(*pair);
        w.raw(b",\"path\":");
        let when = w.len();
        w.raw(b",\"received_time\":");
        w.time(*received);
        w.raw(b",\"region\":");
        w.maybe(member.region, |w, region| w.word(region.code()));
        w.raw(b",\"source\":");
        w.word(source.slug());
        w.raw(b",\"time_of\":");
        w.word(member.time_of.slug());
        w.raw(b",\"venue\":");
        w.text(member.venue.as_str());
        w.raw(b",\"venue_time\":");
        w.maybe(ticker.venue_time, Writer::time);
        w.raw(b",\"vote\":");
        Self { pieces: w.into_content(), cuts: [last, who, when], operator_len }
    }
}
