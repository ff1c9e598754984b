//! How old quotes are, and a rate: as its oldest quote that has a part in it.

use super::{AdmissionRules, Decision, Offer, Outcome, admission};
use crate::model::UnixMs;
use std::time::Duration;

impl Offer {
    /// Gives how old it is: as it was received, or as its venue's time says where that counts and is longer ago.
    pub fn age(&self, as_of: UnixMs, rules: &AdmissionRules) -> Duration {
        admission::age(&self.ticker, &self.member, as_of.since(self.received), as_of, rules)
    }
}

impl Outcome {
    /// Gives when the oldest quote was received that has a part in the rate, by its vote or by a conversion; `None` where none has.
    pub fn oldest(&self) -> Option<UnixMs> {
        let votes = self.rows.iter().filter(|row| row.is_base && row.votes && row.decision == Decision::In);
        let steps = || votes.clone().filter_map(|row| self.paths.get(row.path?)).flat_map(|path| &path.steps);
        let used = self.conversions.iter().filter(|conversion| steps().any(|step| step.pair == conversion.pair));
        let converting = used.flat_map(|conversion| &conversion.rows).filter_map(|at| self.rows.get(*at));
        let converting = converting.filter(|row| row.decision == Decision::In);
        votes.clone().chain(converting).map(|row| row.offer.received).min()
    }

    /// Gives how old the rate is at its pass: as its oldest quote, or where it is the last good one, as that; `None` where there is neither.
    pub fn age(&self) -> Option<Duration> {
        let oldest = self.oldest().or(self.last_good.map(|good| good.at));
        oldest.map(|at| self.as_of.since(at))
    }
}
