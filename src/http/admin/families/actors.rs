//! Metrics of the actors: depths, what became of messages, times, restarts.

use super::{Family, counter, gauge};
use crate::http::admin::{
    samples::{Labels, Samples, Text},
    snapshot::Snapshot,
};
use quorate_actors::meter::{MessageSnapshot, Times};

/// The windows over which times are told, and what is told of each, as labels.
struct Window {
    label: Text,
    stats: [Text; 3],
}

macro_rules! window {
    ($name:literal) => {
        Window {
            label: Text::fixed(concat!("window=\"", $name, "\"")),
            stats: [
                Text::fixed(concat!("window=\"", $name, "\",stat=\"p50\"")),
                Text::fixed(concat!("window=\"", $name, "\",stat=\"p99\"")),
                Text::fixed(concat!("window=\"", $name, "\",stat=\"max\"")),
            ],
        }
    };
}

static MINUTE: Window = window!("1m");
static QUARTER: Window = window!("15m");

static FULL: Text = Text::fixed("reason=\"full\"");
static OVERLOADED: Text = Text::fixed("reason=\"overloaded\"");
static DEAD: Text = Text::fixed("reason=\"dead\"");

/// Adds a count of each type of message; a type that never came is left out, as its actor's own counts are not.
fn each_message(s: &Snapshot, out: &mut Samples<'_>, figure: fn(&MessageSnapshot) -> u64) {
    scaled_message(s, out, figure, 0);
}

/// Does the same with a figure in so small a unit that the metric is `10^scale` of it.
fn scaled_message(s: &Snapshot, out: &mut Samples<'_>, figure: fn(&MessageSnapshot) -> u64, scale: u32) {
    out.messages(s, |out, of, row| out.scaled(of, figure(row), scale));
}

/// Adds median, 99th percentile and longest of the messages of each actor, over those windows in which there were any.
fn actor_times(s: &Snapshot, out: &mut Samples<'_>, figures: fn(&Times) -> [u64; 3]) {
    actor_windows(s, out, |out, of, window, times| stats(out, of, window, figures(times)));
}

/// Runs over the windows in which there were messages.
fn actor_windows(s: &Snapshot, out: &mut Samples<'_>, add: impl Fn(&mut Samples<'_>, Labels<'_>, &'static Window, &Times)) {
    out.actors(s, |out, of, actor| {
        for (window, times) in [(&MINUTE, &actor.last_1_min), (&QUARTER, &actor.last_15_min)] {
            times.iter().for_each(|times| add(out, of, window, times));
        }
    });
}

/// Adds median, 99th percentile and longest of each type of message.
fn message_times(s: &Snapshot, out: &mut Samples<'_>, figures: fn(&Times) -> [u64; 3]) {
    message_windows(s, out, |out, of, window, times| stats(out, of, window, figures(times)));
}

/// Adds a count in each window of each type of message.
fn message_counts(s: &Snapshot, out: &mut Samples<'_>, figure: fn(&Times) -> u64) {
    message_windows(s, out, |out, of, window, times| out.count(of.fixed(&window.label), figure(times)));
}

fn message_windows(s: &Snapshot, out: &mut Samples<'_>, add: impl Fn(&mut Samples<'_>, Labels<'_>, &'static Window, &Times)) {
    out.messages(s, |out, of, row| {
        for (window, times) in [(&MINUTE, &row.last_1_min), (&QUARTER, &row.last_15_min)] {
            add(out, of, window, times);
        }
    });
}

fn stats(out: &mut Samples<'_>, of: Labels<'_>, window: &'static Window, figures: [u64; 3]) {
    window.stats.iter().zip(figures).for_each(|(stat, us)| out.scaled(of.fixed(stat), us, 6));
}

fn wait(times: &Times) -> [u64; 3] {
    [times.wait_p50_us, times.wait_p99_us, times.wait_max_us]
}

fn handler(times: &Times) -> [u64; 3] {
    [times.handler_p50_us, times.handler_p99_us, times.handler_max_us]
}

fn response(times: &Times) -> [u64; 3] {
    [times.response_p50_us, times.response_p99_us, times.response_max_us]
}

/// The families, in the order of the text.
pub(super) const FAMILIES: &[Family] = &[
    gauge("quorate_actor_state", "", "The state of an actor: 1 for the word that holds.", |s, out| {
        out.actors(s, |out, of, a| out.count(of.and(&[("state", a.state)]), 1));
    }),
    gauge("quorate_actor_state_seconds", "seconds", "Time since an actor's state took its present word.", |s, out| {
        out.actors(s, |out, of, a| out.ms(of, a.state_for_ms));
    }),
    gauge("quorate_actor_up_seconds", "seconds", "Time since an actor was last started.", |s, out| {
        out.actors(s, |out, of, a| out.ms(of, a.up_ms));
    }),
    counter("quorate_actor_incarnations", "", "How often an actor was started.", |s, out| {
        out.actors(s, |out, of, a| out.count(of, a.incarnation));
    }),
    counter("quorate_actor_restarts", "", "Restarts of an actor, by cause.", |s, out| {
        out.actors(s, |out, of, a| a.restarts_by.iter().for_each(|(cause, count)| out.count(of.and(&[("cause", cause)]), *count)));
    }),
    gauge("quorate_actor_queued", "", "Messages that wait in an actor's mailbox.", |s, out| {
        out.actors(s, |out, of, a| out.count(of, a.queued));
    }),
    gauge("quorate_actor_queued_high", "", "The most that have waited.", |s, out| {
        out.actors(s, |out, of, a| out.count(of, a.queued_high));
    }),
    gauge("quorate_actor_capacity", "", "How many may wait.", |s, out| {
        out.actors(s, |out, of, a| out.count(of, u64::from(a.capacity)));
    }),
    gauge("quorate_actor_in_flight", "", "Messages begun and not replied.", |s, out| {
        out.actors(s, |out, of, a| out.count(of, a.in_flight));
    }),
    gauge("quorate_actor_in_flight_high", "", "The most that have been in flight.", |s, out| {
        out.actors(s, |out, of, a| out.count(of, a.in_flight_high));
    }),
    gauge("quorate_actor_in_flight_max", "", "How many may be queued or in flight together.", |s, out| {
        out.actors(s, |out, of, a| out.count(of, u64::from(a.in_flight_max)));
    }),
    counter("quorate_actor_sent", "", "Messages that an actor's mailbox took.", |s, out| {
        out.actors(s, |out, of, a| out.count(of, a.sent));
    }),
    counter("quorate_actor_handled", "", "Handler calls of an actor that returned.", |s, out| {
        out.actors(s, |out, of, a| out.count(of, a.handled));
    }),
    counter("quorate_actor_replied", "", "Replies that an actor sent.", |s, out| {
        out.actors(s, |out, of, a| out.count(of, a.replied));
    }),
    counter("quorate_actor_lost", "", "Messages dropped before their reply.", |s, out| {
        out.actors(s, |out, of, a| out.count(of, a.lost));
    }),
    counter("quorate_actor_refused", "", "Messages that an actor did not take.", |s, out| {
        out.actors(s, |out, of, a| out.count(of, a.refused));
    }),
    counter("quorate_actor_polls", "", "Polls of an actor's task that have ended.", |s, out| {
        out.actors(s, |out, of, a| out.count(of, a.polls));
    }),
    counter("quorate_actor_busy_seconds", "seconds", "Time spent in polls of an actor's task: its rate is the busy ratio.", |s, out| {
        out.actors(s, |out, of, a| out.scaled(of, a.busy_ns, 9));
    }),
    counter("quorate_actor_metered_seconds", "seconds", "Time that an actor has been metered.", |s, out| {
        out.actors(s, |out, of, a| out.scaled(of, a.metered_ns, 9));
    }),
    gauge("quorate_actor_busy_now_seconds", "seconds", "How long the present poll has taken; absent between polls.", |s, out| {
        out.actors(s, |out, of, a| a.busy_for_ms.into_iter().for_each(|ms| out.ms(of, ms)));
    }),
    counter("quorate_actor_stuck", "", "Polls that took longer than 100 ms.", |s, out| {
        out.actors(s, |out, of, a| out.count(of, a.stuck));
    }),
    gauge("quorate_actor_stuck_now_seconds", "seconds", "How long the present poll has taken, if longer than 100 ms.", |s, out| {
        out.actors(s, |out, of, a| a.stuck_for_ms.into_iter().for_each(|ms| out.ms(of, ms)));
    }),
    gauge("quorate_actor_running_seconds", "seconds", "How long the present handler has run; absent between handlers.", |s, out| {
        out.actors(s, |out, of, a| {
            a.running_now.into_iter().for_each(|now| out.ms(of.and(&[("message", now.message)]), now.for_ms));
        });
    }),
    gauge("quorate_actor_last_error_age_seconds", "seconds", "Time since an actor's last error; absent before the first.", |s, out| {
        out.actors(s, |out, of, a| {
            a.last_error.iter().for_each(|error| out.ms(of, error.age_ms(a.metered_ns)));
        });
    }),
    gauge("quorate_actor_last_error_times", "", "How often an actor's last error came in a row; absent before the first.", |s, out| {
        out.actors(s, |out, of, a| a.last_error.iter().for_each(|error| out.count(of, error.count)));
    }),
    gauge("quorate_actor_window_seconds", "seconds", "How long a window is, of those over which times are told.", |s, out| {
        actor_windows(s, out, |out, of, window, times| out.count(of.fixed(&window.label), times.over_s));
    }),
    gauge("quorate_actor_window_begun", "", "Messages begun in a window.", |s, out| {
        actor_windows(s, out, |out, of, window, times| out.count(of.fixed(&window.label), times.begun));
    }),
    gauge("quorate_actor_window_replied", "", "Messages replied in a window.", |s, out| {
        actor_windows(s, out, |out, of, window, times| out.count(of.fixed(&window.label), times.replied));
    }),
    gauge("quorate_actor_wait_seconds", "seconds", "Time from send to begin, over a window.", |s, out| actor_times(s, out, wait)),
    gauge("quorate_actor_handler_seconds", "seconds", "Time in handlers, over a window.", |s, out| actor_times(s, out, handler)),
    gauge("quorate_actor_response_seconds", "seconds", "Time from begin to reply, over a window.", |s, out| actor_times(s, out, response)),
    counter("quorate_message_sent", "", "Messages of a type that the mailbox took.", |s, out| each_message(s, out, |m| m.sent)),
    counter("quorate_message_handled", "", "Handler calls for a type that returned.", |s, out| each_message(s, out, |m| m.handled)),
    counter("quorate_message_replied", "", "Replies to a type.", |s, out| each_message(s, out, |m| m.replied)),
    counter("quorate_message_lost", "", "Messages of a type dropped before their reply.", |s, out| each_message(s, out, |m| m.lost)),
    counter("quorate_message_refused", "", "Messages of a type that were not taken, by reason.", |s, out| {
        out.messages(s, |out, of, row| {
            out.count(of.fixed(&FULL), row.refused_full);
            out.count(of.fixed(&OVERLOADED), row.refused_overloaded);
            out.count(of.fixed(&DEAD), row.refused_dead);
        });
    }),
    gauge("quorate_message_queued", "", "Messages of a type that wait.", |s, out| each_message(s, out, |m| m.queued)),
    gauge("quorate_message_queued_high", "", "The most of a type that have waited.", |s, out| each_message(s, out, |m| m.queued_high)),
    gauge("quorate_message_in_flight", "", "Messages of a type begun and not replied.", |s, out| each_message(s, out, |m| m.in_flight)),
    gauge("quorate_message_in_flight_high", "", "The most of a type in flight.", |s, out| each_message(s, out, |m| m.in_flight_high)),
    counter("quorate_message_waited_seconds", "seconds", "Sum of all times from send to begin.", |s, out| {
        scaled_message(s, out, |m| m.wait_sum_ns, 9);
    }),
    counter("quorate_message_handling_seconds", "seconds", "Sum of all times in the handler.", |s, out| {
        scaled_message(s, out, |m| m.handler_sum_ns, 9);
    }),
    counter("quorate_message_responding_seconds", "seconds", "Sum of all times from begin to reply.", |s, out| {
        scaled_message(s, out, |m| m.response_sum_ns, 9);
    }),
    gauge("quorate_message_window_seconds", "seconds", "How long a window is, of those over which times of a type are told.", |s, out| {
        message_counts(s, out, |times| times.over_s);
    }),
    gauge("quorate_message_window_begun", "", "Messages of a type begun in a window.", |s, out| {
        message_counts(s, out, |times| times.begun)
    }),
    gauge("quorate_message_window_replied", "", "Messages of a type replied in a window.", |s, out| {
        message_counts(s, out, |times| times.replied);
    }),
    gauge("quorate_message_wait_seconds", "seconds", "Time from send to begin, over a window.", |s, out| message_times(s, out, wait)),
    gauge("quorate_message_handler_seconds", "seconds", "Time in the handler, over a window.", |s, out| message_times(s, out, handler)),
    gauge("quorate_message_response_seconds", "seconds", "Time from begin to reply, over a window.", |s, out| {
        message_times(s, out, response)
    }),
];
