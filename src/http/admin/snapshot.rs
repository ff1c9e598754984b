//! One value with every figure of the running system: the page and the metrics are two renderings of it.

use super::process::{self, Process};
use crate::{
    http::{State, connections::Figures, receipts, served::RouteFigures},
    wire::VenueJson,
};
use quorate_actors::{
    PairStatus, Tallied, VenueState, VenueStatus,
    meter::{self, ActorSnapshot},
    rate::{Status, Taker},
};
use std::time::Duration;
use tokio::time::Instant;

/// Holds every figure at one moment.
#[derive(Clone)]
pub(crate) struct Snapshot {
    /// Counts the snapshots of the engine, from 1.
    pub(crate) number: u64,
    pub(crate) time: String,
    pub(crate) boot: String,
    pub(crate) simulated: bool,
    pub(crate) verdict: Verdict,
    pub(crate) process: Process,
    pub(crate) clock_skew_ms: Option<i64>,
    pub(crate) updates_missed: u64,
    pub(crate) connections: Option<Figures>,
    pub(crate) tallied: Tallied,
    pub(crate) receipts: receipts::Figures,
    /// Requests refused below every route.
    pub(crate) bare: u64,
    pub(crate) routes: Vec<RouteFigures>,
    pub(crate) pairs: Vec<Pair>,
    pub(crate) venues: Vec<Venue>,
    pub(crate) actors: Vec<ActorSnapshot>,
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot").field("number", &self.number).finish_non_exhaustive()
    }
}

/// Tells in a word and a sentence how all of it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) word: &'static str,
    pub(crate) sentence: String,
}

impl Verdict {
    /// Every word.
    pub(crate) const WORDS: [&'static str; 3] = ["ok", "degraded", "not_ready"];
}

/// Holds a pair with its name, and how its rate stands.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub(crate) name: String,
    pub(crate) status: PairStatus,
    pub(crate) rate: Option<Status>,
    /// Of the oldest quote that has a part in the rate.
    pub(crate) rate_age_ms: Option<u64>,
}

/// Holds a venue, and the fee that the configuration sets in place of its own.
#[derive(Clone)]
pub(crate) struct Venue {
    pub(crate) status: VenueStatus,
    pub(crate) taker: Option<Taker>,
}

impl Venue {
    pub(crate) fn id(&self) -> &str {
        self.status.id.as_str()
    }

    pub(crate) fn json(&self) -> VenueJson<'_> {
        VenueJson::of(&self.status, self.taker)
    }
}

impl Snapshot {
    /// Takes one now.
    pub(crate) fn take(state: &State) -> Self {
        let engine = &state.engine;
        let meter::Snapshot { number, actors } = engine.actors();
        let now = Instant::now();
        let pairs: Vec<Pair> = engine.pairs().into_iter().filter(|pair| pair.configured).map(|status| pair(state, status, now)).collect();
        let venue = |status: VenueStatus| Venue { taker: state.takers.get(&status.id).copied(), status };
        let venues: Vec<Venue> = engine.venues().into_iter().map(venue).collect();
        Self {
            number,
            time: engine.clock().now().to_string(),
            boot: engine.boot().to_owned(),
            simulated: state.simulated,
            verdict: verdict(
                &venues.iter().map(|venue| (venue.id(), venue.status.state)).collect::<Vec<_>>(),
                &pairs.iter().filter(|pair| pair.status.required).map(|pair| (&*pair.name, pair.status.is_ready())).collect::<Vec<_>>(),
                &actors.iter().filter(|actor| actor.stuck_for_ms.is_some()).map(|actor| &*actor.name).collect::<Vec<_>>(),
            ),
            process: process::read(now.saturating_duration_since(state.admin.started())),
            clock_skew_ms: engine.skew_ms(),
            updates_missed: engine.updates_missed(),
            connections: state.connections.as_ref().map(|connections| connections.figures()),
            tallied: engine.tallies(),
            receipts: state.receipts.figures(),
            bare: state.served.as_ref().map_or(0, |served| served.bare()),
            routes: state.served.as_ref().map(|served| served.figures()).unwrap_or_default(),
            pairs,
            venues,
            actors,
        }
    }
}

fn pair(state: &State, status: PairStatus, now: Instant) -> Pair {
    let rate = state.engine.latest_rate(&status.pair);
    Pair {
        name: status.pair.to_string(),
        rate: rate.as_ref().map(|rate| rate.receipt.outcome.status),
        rate_age_ms: rate.and_then(|rate| rate.oldest).map(|oldest| millis(now.saturating_duration_since(oldest))),
        status,
    }
}

/// Gives whole milliseconds.
pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Says how all of it stands: the venues and their states, the required pairs and whether each is ready, and the actors that are stuck.
fn verdict(venues: &[(&str, VenueState)], required: &[(&str, bool)], stuck: &[&str]) -> Verdict {
    let lacking: Vec<&str> = required.iter().filter(|(_, ready)| !ready).map(|(name, _)| *name).collect();
    let down: Vec<String> =
        venues.iter().filter(|(_, state)| *state != VenueState::Up).map(|(id, state)| format!("{id} {}", state.slug())).collect();
    let mut said = Vec::new();
    if !lacking.is_empty() {
        said.push(format!("{} of {} required pairs lack quotes ({})", lacking.len(), required.len(), few(&lacking)));
    }
    if !down.is_empty() {
        said.push(format!("{} of {} venues are not up ({})", down.len(), venues.len(), few(&down)));
    }
    if !stuck.is_empty() {
        said.push(format!("{} of the actors are stuck ({})", stuck.len(), few(stuck)));
    }
    let word = match (lacking.is_empty(), said.is_empty()) {
        (false, _) => "not_ready",
        (true, false) => "degraded",
        (true, true) => "ok",
    };
    if said.is_empty() {
        said.push(format!("all {} venues are up and all {} required pairs have their quorum", venues.len(), required.len()));
    }
    Verdict { word, sentence: said.join("; ") }
}

/// Names the first few.
fn few<T: AsRef<str>>(names: &[T]) -> String {
    const FEW: usize = 4;
    let shown: Vec<&str> = names.iter().take(FEW).map(AsRef::as_ref).collect();
    let more = names.len().saturating_sub(FEW);
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_is_one_sentence() {
        let up = [("kraken", VenueState::Up), ("okx", VenueState::Up)];
        let ready = [("BTC-USD", true)];
        let said = |venues: &[_], required: &[_], stuck: &[_]| {
            let Verdict { word, sentence } = verdict(venues, required, stuck);
            assert!(Verdict::WORDS.contains(&word));
            (word, sentence)
        };
        assert_eq!(said(&up, &ready, &[]), ("ok", "all 2 venues are up and all 1 required pairs have their quorum".to_owned()));
        let one_down = [("kraken", VenueState::Paused), ("okx", VenueState::Up)];
        assert_eq!(said(&one_down, &ready, &[]), ("degraded", "1 of 2 venues are not up (kraken paused)".to_owned()));
        assert_eq!(
            said(&one_down, &[("A-B", false), ("C-D", false), ("E-F", false), ("G-H", false), ("I-J", false), ("K-L", true)], &["coordinator"]),
            (
                "not_ready",
                "5 of 6 required pairs lack quotes (A-B, C-D, E-F, G-H and 1 more); 1 of 2 venues are not up (kraken paused); 1 of the actors are stuck (coordinator)".to_owned()
            )
        );
    }
}
