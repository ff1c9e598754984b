//! Metrics of the venues: state, what was asked and answered, faults, breaker, budget.

use super::{Family, counter, gauge, histogram};
use crate::http::admin::snapshot::millis;
use quorate_actors::VenueState;

/// The families, in the order of the text.
pub(super) const FAMILIES: &[Family] = &[
    gauge("quorate_venue_state", "", "The state of a venue: 1 for the word that holds.", |s, out| {
        s.venues.iter().for_each(|venue| out.count(&[("venue", venue.id()), ("state", venue.status.state.slug())], 1));
    }),
    gauge("quorate_venue_up", "", "Whether a venue is up.", |s, out| {
        s.venues.iter().for_each(|venue| out.flag(&[("venue", venue.id())], venue.status.state == VenueState::Up));
    }),
    gauge("quorate_venue_state_seconds", "seconds", "Time since a venue's state took its present word.", |s, out| {
        s.venues.iter().for_each(|venue| out.ms(&[("venue", venue.id())], millis(venue.status.state_for)));
    }),
    counter("quorate_venue_restarts", "", "Restarts of a venue's actor.", |s, out| {
        s.venues.iter().for_each(|venue| out.count(&[("venue", venue.id())], venue.status.restarts));
    }),
    counter("quorate_venue_reconnects", "", "How often an operator had a venue's connections dropped.", |s, out| {
        s.venues.iter().for_each(|venue| out.count(&[("venue", venue.id())], venue.status.reconnects));
    }),
    counter("quorate_venue_requests", "", "Requests sent to a venue.", |s, out| {
        s.venues.iter().for_each(|venue| out.count(&[("venue", venue.id())], venue.status.requests));
    }),
    counter("quorate_venue_answers", "", "Answers of use from a venue.", |s, out| {
        s.venues.iter().for_each(|venue| out.count(&[("venue", venue.id())], venue.status.answers));
    }),
    counter("quorate_venue_faults", "", "Requests to a venue that failed or were not sent, by reason.", |s, out| {
        for venue in &s.venues {
            let faults = venue.status.faults.iter();
            faults.for_each(|(reason, count)| out.count(&[("venue", venue.id()), ("reason", reason.slug())], *count));
        }
    }),
    histogram("quorate_venue_response_seconds", "Time from a request to a venue to its whole answer.", |s, out| {
        s.venues.iter().for_each(|venue| out.histogram(&[("venue", venue.id())], &venue.status.latency));
    }),
    gauge("quorate_venue_last_quote_age_seconds", "seconds", "Time since a venue's last quote; absent before the first.", |s, out| {
        for venue in &s.venues {
            venue.status.last_quote_age.into_iter().for_each(|age| out.ms(&[("venue", venue.id())], millis(age)));
        }
    }),
    gauge("quorate_venue_breaker_state", "", "What a venue's breaker does: 1 for the word that holds.", |s, out| {
        s.venues.iter().for_each(|venue| out.count(&[("venue", venue.id()), ("state", venue.status.breaker.state)], 1));
    }),
    gauge(
        "quorate_venue_breaker_left_seconds",
        "seconds",
        "Time until a breaker changes by itself; absent where it waits for nothing.",
        |s, out| {
            for venue in &s.venues {
                venue.status.breaker.left_ms.into_iter().for_each(|ms| out.ms(&[("venue", venue.id())], ms));
            }
        },
    ),
    gauge("quorate_venue_budget_left_ratio", "ratio", "Share of a venue's request budget that is left.", |s, out| {
        s.venues.iter().for_each(|venue| out.permille(&[("venue", venue.id())], venue.status.budget_left_permille));
    }),
    gauge("quorate_venue_budget_polled_ratio", "ratio", "Share of a venue's request budget that polling takes.", |s, out| {
        s.venues.iter().for_each(|venue| out.permille(&[("venue", venue.id())], venue.status.plan.budget_share_permille));
    }),
    gauge("quorate_venue_poll_interval_seconds", "seconds", "Time that a cycle of polling a venue takes.", |s, out| {
        s.venues.iter().for_each(|venue| out.ms(&[("venue", venue.id())], venue.status.plan.interval_ms));
    }),
    gauge("quorate_venue_pairs_quoted", "", "Pairs that a venue was ever heard of.", |s, out| {
        s.venues.iter().for_each(|venue| out.count(&[("venue", venue.id())], venue.status.quoted as u64));
    }),
];
