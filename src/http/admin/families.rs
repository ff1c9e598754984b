//! Every metric, by name: one table, of which the text is made and to which dashboards and alerts are held.

mod actors;
mod service;
mod venues;

use super::{
    metrics::{Family, Kind},
    samples::Samples,
    snapshot::Snapshot,
};

/// Gives every family, in the order of the text.
pub(super) fn all() -> impl Iterator<Item = &'static Family> {
    service::FAMILIES.iter().chain(venues::FAMILIES).chain(actors::FAMILIES)
}

type Find = fn(&Snapshot, &mut Samples<'_>);

const fn counter(name: &'static str, unit: &'static str, help: &'static str, samples: Find) -> Family {
    Family { name, kind: Kind::Counter, unit, help, samples }
}

const fn gauge(name: &'static str, unit: &'static str, help: &'static str, samples: Find) -> Family {
    Family { name, kind: Kind::Gauge, unit, help, samples }
}

const fn histogram(name: &'static str, help: &'static str, samples: Find) -> Family {
    Family { name, kind: Kind::Histogram, unit: "seconds", help, samples }
}

const fn info(name: &'static str, help: &'static str, samples: Find) -> Family {
    Family { name, kind: Kind::Info, unit: "", help, samples }
}
