//! `venues`: the table of built-in exchanges, offline.

use super::{
    output::{Exit, finish, look},
    table::{Align, Cell, Look, Table},
};
use crate::wire::{json, powers};
use clap::Args;
use quorate_actors::{venue::Profile, venues::VENUES};
use serde::Serialize;

/// Shows the exchanges that are built in, without asking any
///
/// On a terminal it prints a table; elsewhere one line a venue with tabs between: id, name, operator, region, taker fee, day on which that was read, powers,
/// budget (weight), in so many ms, documentation.
#[derive(Debug, Args)]
pub(super) struct VenuesArgs {
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct VenueRow {
    id: &'static str,
    name: &'static str,
    operator: &'static str,
    region: Option<&'static str>,
    origin: &'static str,
    mirrors: &'static [&'static str],
    taker: &'static str,
    taker_read: &'static str,
    powers: Vec<&'static str>,
    time_of: &'static str,
    budget: Budget,
    docs: &'static str,
}

#[derive(Serialize)]
struct Budget {
    weight: u32,
    per_ms: u128,
}

#[derive(Serialize)]
struct Venues {
    venues: Vec<VenueRow>,
}

impl VenueRow {
    fn of(profile: &'static Profile) -> Self {
        Self {
            id: profile.id,
            name: profile.name,
            operator: profile.operator,
            region: profile.region.map(quorate_actors::venue::Region::code),
            origin: profile.origin,
            mirrors: profile.mirrors,
            taker: profile.taker.rate,
            taker_read: profile.taker.read,
            powers: powers(profile.endpoints),
            time_of: profile.time_of.slug(),
            budget: Budget { weight: profile.budget.weight, per_ms: profile.budget.per.as_millis() },
            docs: profile.docs,
        }
    }
}

/// Runs the command.
pub(super) fn run(args: &VenuesArgs) -> Exit {
    let rows: Vec<VenueRow> = VENUES.iter().map(|venue| VenueRow::of(venue.profile())).collect();
    let text = if args.json { format!("{}\n", String::from_utf8_lossy(&json(&Venues { venues: rows }))) } else { render(&rows, look()) };
    finish(&text, Exit::Ok)
}

fn render(rows: &[VenueRow], look: Look) -> String {
    let mut table = Table::new(&[
        ("id", Align::Left),
        ("name", Align::Left),
        ("operator", Align::Left),
        ("region", Align::Left),
        ("taker", Align::Point),
        ("read on", Align::Left),
        ("powers", Align::Left),
        ("budget", Align::Right),
        ("per ms", Align::Right),
        ("docs", Align::Left),
    ]);
    for row in rows {
        table.push(vec![
            Cell::plain(row.id),
            Cell::plain(row.name),
            Cell::plain(row.operator),
            Cell::maybe(row.region),
            Cell::plain(row.taker),
            Cell::plain(row.taker_read),
            Cell::plain(row.powers.join(",")),
            Cell::plain(row.budget.weight),
            Cell::plain(row.budget.per_ms),
            Cell::plain(row.docs),
        ]);
    }
    table.render(look)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_venue_is_a_row_in_both_looks() {
        let rows: Vec<VenueRow> = VENUES.iter().map(|venue| VenueRow::of(venue.profile())).collect();
        let lines = render(&rows, Look::Lines);
        assert_eq!(lines.lines().count(), VENUES.len());
        assert!(lines.lines().all(|line| line.split('\t').count() == 10), "{lines}");
        let table = render(&rows, Look::Table { color: false });
        assert_eq!(table.lines().count(), VENUES.len() + 1);
        assert!(table.starts_with("id ") && VENUES.iter().all(|v| table.contains(v.profile().docs)));
    }
}
