//! Metrics of the venues: state, what was asked and answered, faults, breaker, budget.

use super::{Family, counter, gauge, histogram};
use crate::http::admin::snapshot::millis;
use quorate_actors::VenueState;

/// The families, in the order of the text.
pub(super) const FAMILIES: &[Family] = &[
    gauge("quorate_venue_state", "", "The state of a venue: 1 for the word that holds.", |s, out| {
        out.venues(s, |out, of, venue| out.count(of.and(&[("state", venue.status.state.slug())]), 1));
    }),
    gauge("quorate_venue_up", "", "Whether a venue is up.", |s, out| {
        out.venues(s, |out, of, venue| out.flag(of, venue.status.state == VenueState::Up));
    }),
    gauge("quorate_venue_state_seconds", "seconds", "Time since a venue's state took its present word.", |s, out| {
        out.venues(s, |out, of, venue| out.ms(of, millis(venue.status.state_for)));
    }),
    counter("quorate_venue_restarts", "", "Restarts of a venue's actor.", |s, out| {
        out.venues(s, |out, of, venue| out.count(of, venue.status.restarts));
    }),
    counter("quorate_venue_reconnects", "", "How often an operator had a venue's connections dropped.", |s, out| {
        out.venues(s, |out, of, venue| out.count(of, venue.status.reconnects));
    }),
    counter("quorate_venue_requests", "", "Requests sent to a venue.", |s, out| {
        out.venues(s, |out, of, venue| out.count(of, venue.status.requests));
    }),
    counter("quorate_venue_answers", "", "Answers of use from a venue.", |s, out| {
        out.venues(s, |out, of, venue| out.count(of, venue.status.answers));
    }),
    counter("quorate_venue_faults", "", "Requests to a venue that failed or were not sent, by reason.", |s, out| {
        out.venues(s, |out, of, venue| {
            let faults = venue.status.faults.iter();
            faults.for_each(|(reason, count)| out.count(of.and(&[("reason", reason.slug())]), *count));
        });
    }),
    histogram("quorate_venue_response_seconds", "Time from a request to a venue to its whole answer.", |s, out| {
        out.venues(s, |out, of, venue| out.histogram(of, &venue.status.latency));
    }),
    gauge("quorate_venue_last_quote_age_seconds", "seconds", "Time since a venue's last quote; absent before the first.", |s, out| {
        out.venues(s, |out, of, venue| {
            venue.status.last_quote_age.into_iter().for_each(|age| out.ms(of, millis(age)));
        });
    }),
    gauge("quorate_venue_breaker_state", "", "What a venue's breaker does: 1 for the word that holds.", |s, out| {
        out.venues(s, |out, of, venue| out.count(of.and(&[("state", venue.status.breaker.state)]), 1));
    }),
    gauge(
        "quorate_venue_breaker_left_seconds",
        "seconds",
        "Time until a breaker changes by itself; absent where it waits for nothing.",
        |s, out| {
            out.venues(s, |out, of, venue| {
                venue.status.breaker.left_ms.into_iter().for_each(|ms| out.ms(of, ms));
            });
        },
    ),
    gauge("quorate_venue_budget_left_ratio", "ratio", "Share of a venue's request budget that is left.", |s, out| {
        out.venues(s, |out, of, venue| out.scaled(of, venue.status.budget_left_permille, 3));
    }),
    gauge("quorate_venue_budget_polled_ratio", "ratio", "Share of a venue's request budget that polling takes.", |s, out| {
        out.venues(s, |out, of, venue| out.scaled(of, venue.status.plan.budget_share_permille, 3));
    }),
    gauge("quorate_venue_poll_interval_seconds", "seconds", "Time that a cycle of polling a venue takes.", |s, out| {
        out.venues(s, |out, of, venue| out.ms(of, venue.status.plan.interval_ms));
    }),
    gauge("quorate_venue_pairs_quoted", "", "Pairs that a venue was ever heard of.", |s, out| {
        out.venues(s, |out, of, venue| out.count(of, venue.status.quoted as u64));
    }),
];
