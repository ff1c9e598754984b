//! What happened to an actor of late: the last few events, and the last error.

use super::{Meter, lock};
use std::{collections::VecDeque, sync::Arc};

/// How many events are kept of an actor.
const EVENTS_MAX: usize = 32;
/// The most bytes of an event's text.
const DETAIL_MAX: usize = 200;

/// The kind of what speaks against an actor.
const ERROR: &str = "error";

/// One thing that happened, or the same several times in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Names the kind: `state`, `restart`, `error`, or a word of the host's.
    pub kind: &'static str,
    /// Says what happened, in 200 bytes at most, without control characters.
    pub detail: String,
    /// How often in a row.
    pub count: u64,
    /// When last, in nanoseconds since the meter was made.
    pub at_ns: u64,
}

impl Event {
    /// Gives its age in milliseconds, at a moment in nanoseconds since the meter was made.
    pub fn age_ms(&self, now_ns: u64) -> u64 {
        now_ns.saturating_sub(self.at_ns).div_euclid(1_000_000)
    }
}

/// Keeps the last events, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Events {
    ring: VecDeque<Arc<Event>>,
    last_error: Option<Arc<Event>>,
}

impl Events {
    fn note(&mut self, kind: &'static str, detail: &str, at_ns: u64) {
        let detail = plain(detail);
        let again = self.ring.back().filter(|last| last.kind == kind && last.detail == detail).map(|last| last.count);
        if again.is_some() || self.ring.len() >= EVENTS_MAX {
            // The same again takes the place of the last; something new, that of the oldest.
            if again.is_some() {
                self.ring.pop_back()
            } else {
                self.ring.pop_front()
            };
        }
        let event = Arc::new(Event { kind, detail, count: again.unwrap_or(0).saturating_add(1), at_ns });
        if kind == ERROR {
            self.last_error = Some(Arc::clone(&event));
        }
        self.ring.push_back(event);
    }
}

impl Meter {
    /// Notes an event of a kind, which must come from a closed list; the text may come from anywhere.
    pub fn note(&self, kind: &'static str, detail: &str) {
        let at_ns = self.actor.now_ns();
        lock(&self.events).note(kind, detail, at_ns);
    }

    /// Notes what speaks against the actor.
    pub fn note_error(&self, detail: &str) {
        self.note(ERROR, detail);
    }

    /// Gives the last events, the oldest first, and the last error.
    pub(super) fn events(&self) -> (Vec<Arc<Event>>, Option<Arc<Event>>) {
        let events = lock(&self.events);
        (events.ring.iter().cloned().collect(), events.last_error.clone())
    }
}

/// Cuts a text, and puts a mark in place of each control character and of each that changes the direction of others.
fn plain(text: &str) -> String {
    let hostile = |c: char| c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut out = String::with_capacity(text.len().min(DETAIL_MAX));
    for c in text.chars().map(|c| if hostile(c) { '\u{fffd}' } else { c }) {
        if out.len().saturating_add(c.len_utf8()) > DETAIL_MAX {
            break;
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_in_a_row_is_one_event_and_the_oldest_go_first() {
        let mut events = Events::default();
        events.note("state", "up", 1);
        events.note(ERROR, "late", 2);
        events.note(ERROR, "late", 3);
        let shown: Vec<_> = events.ring.iter().map(|e| (e.kind, e.detail.as_str(), e.count, e.at_ns)).collect();
        assert_eq!(shown, [("state", "up", 1, 1), (ERROR, "late", 2, 3)]);
        for at in 4..40 {
            events.note("state", &at.to_string(), at);
        }
        assert_eq!((events.ring.len(), events.ring[0].at_ns, events.last_error.unwrap().at_ns), (EVENTS_MAX, 8, 3));
    }

    #[test]
    fn a_text_from_outside_is_cut_and_bears_no_control_characters() {
        assert_eq!(plain("a\u{1b}[31mb\n\u{202e}c"), "a\u{fffd}[31mb\u{fffd}\u{fffd}c");
        let long = plain(&"é".repeat(500));
        assert_eq!((long.len(), long.chars().all(|c| c == 'é')), (DETAIL_MAX, true));
    }
}
