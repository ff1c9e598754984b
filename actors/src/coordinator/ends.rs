//! What the end of a wait means for a receipt: what made the pass, and why a venue had nothing to say.

use crate::{
    gather::End,
    model::{Fault, Reason},
    rate::Made,
    terms::Terms,
};
use tokio::time::Instant;

/// Tells what made a pass; nobody waited where there is no end.
pub(super) fn made(end: Option<(End, Instant)>) -> Made {
    match end {
        None => Made::Memory,
        Some((End::All, _)) => Made::Fetch,
        Some((End::Enough, _)) => Made::Enough,
        Some((End::Deadline, _)) => Made::Deadline,
    }
}

/// Says why a venue has nothing to say in a pass that nobody waits for.
pub(super) fn no_word_yet() -> Fault {
    Fault::new(Reason::NotAwaited, "no answer yet")
}

/// Says why a venue has nothing to say when a caller is answered.
pub(super) fn missing(end: Option<(End, Instant)>, terms: &Terms) -> Fault {
    match end {
        Some((End::Enough, _)) | None => Fault::new(Reason::NotAwaited, "enough venues had answered"),
        _ => Fault::new(Reason::Timeout, format!("no answer within {} ms", terms.deadline.as_millis())),
    }
}
