//! What a right configuration comes to: pairs, venues, and how each venue is polled.

use super::made::{Made, made};
use crate::{
    cli::{
        quote::SIMULATED,
        table::{Align, Cell, Look, Table, Tone},
    },
    config::{Config, VenueConfig},
};
use quorate_actors::{
    model::Pair,
    plan::{Wanted, plan},
    venue::Profile,
    venues,
};
use serde::Serialize;
use std::{fmt::Write as _, time::Duration};

/// Holds what a configuration comes to.
#[derive(Debug, Serialize)]
pub(super) struct Explained {
    simulated: bool,
    listen: String,
    admin_listen: String,
    pairs: Vec<String>,
    rates: Vec<Made>,
    venues: Vec<Polled>,
    venues_not_enabled: Vec<String>,
    /// What is lawful and yet hardly meant.
    pub(super) warnings: Vec<String>,
}

/// Holds how one venue is polled, as if it listed every pair.
#[derive(Debug, Serialize)]
struct Polled {
    venue: &'static str,
    requests: usize,
    paths: Vec<&'static str>,
    weight: u32,
    interval_ms: u64,
    budget_share_permille: u64,
    /// Whether the interval passes half of the staleness limit.
    slow: bool,
}

/// Explains a configuration.
pub(super) fn explain(config: &Config) -> Explained {
    let enabled = config.venues.iter().filter(|(_, v)| v.enabled);
    let venues: Vec<Polled> = enabled.filter_map(|(id, set)| Some(polled(venues::by_id(id)?.profile(), set, config))).collect();
    let limit = half(config.rates.admission.max_age);
    let warnings = venues.iter().filter(|v| v.slow).map(|v| {
        let Polled { venue, interval_ms, .. } = v;
        format!("warning: {venue} is polled every {interval_ms} ms, expected at most {} (half of rate.max_age_polled_ms): its quotes may be too old between two polls", millis(limit))
    });
    Explained {
        simulated: config.simulated(),
        listen: config.listen.to_string(),
        admin_listen: config.admin_listen.to_string(),
        pairs: config.pairs.iter().map(|p| p.pair.to_string()).collect(),
        rates: made(config),
        warnings: warnings.collect(),
        venues_not_enabled: config.venues.iter().filter(|(_, v)| !v.enabled).map(|(id, _)| id.clone()).collect(),
        venues,
    }
}

fn polled(profile: &'static Profile, set: &VenueConfig, config: &Config) -> Polled {
    let wanted: Vec<Wanted> = (0..polled_pairs(config)).map(|pair| Wanted { pair, proven: true }).collect();
    let plan = plan(profile.endpoints, &wanted);
    let budget = set.budget.unwrap_or(profile.budget);
    let interval = plan.interval(&budget, set.poll.unwrap_or(config.poll));
    let mut paths: Vec<&str> = plan.requests.iter().filter_map(|r| Some(profile.endpoints.get(r.endpoint)?.path)).collect();
    paths.dedup();
    Polled {
        venue: profile.id,
        requests: plan.requests.len(),
        paths,
        weight: plan.weight,
        interval_ms: millis(interval),
        budget_share_permille: plan.share_permille(&budget, interval),
        slow: interval > half(config.rates.admission.max_age),
    }
}

/// Counts the pairs that are polled: those listed, and the markets that their rates need besides.
fn polled_pairs(config: &Config) -> usize {
    let listed: Vec<Pair> = config.pairs.iter().map(|pair| pair.pair).collect();
    listed.len().saturating_add(config.rates.followed(listed.iter().copied(), &listed).len())
}

fn half(limit: Duration) -> Duration {
    limit.checked_div(2).unwrap_or_default()
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl Explained {
    /// Gives it as JSON.
    pub(super) fn json(&self) -> String {
        format!("{}\n", String::from_utf8_lossy(&crate::wire::json(self)))
    }

    /// Gives it for a person, or as lines.
    pub(in crate::cli) fn text(&self, look: Look) -> String {
        let mut out = if self.simulated { format!("{SIMULATED}\n") } else { String::new() };
        let Self { listen, admin_listen, pairs, rates, venues, venues_not_enabled, .. } = self;
        // Writing to a String cannot fail.
        let _ = writeln!(out, "the configuration is right: {} pairs at {} venues", pairs.len(), venues.len());
        let _ = writeln!(out, "listen: {listen}, admin_listen: {admin_listen}");
        let _ = writeln!(out, "pairs: {}", if pairs.is_empty() { "none".to_owned() } else { pairs.join(" ") });
        if !venues_not_enabled.is_empty() {
            let _ = writeln!(out, "venues not enabled: {}", venues_not_enabled.join(" "));
        }
        let _ = writeln!(out);
        for made in rates {
            let _ = writeln!(out, "{made}");
        }
        let _ = writeln!(out);
        let mut table = Table::new(&[
            ("venue", Align::Left),
            ("requests", Align::Right),
            ("weight", Align::Right),
            ("every ms", Align::Right),
            ("budget %", Align::Point),
            ("paths", Align::Left),
        ]);
        for v in venues {
            let tone = if v.slow { Tone::Bad } else { Tone::Plain };
            table.push(vec![
                Cell::plain(v.venue),
                Cell::plain(v.requests),
                Cell::plain(v.weight),
                Cell::new(&v.interval_ms.to_string(), tone),
                Cell::plain(format!("{}.{}", v.budget_share_permille / 10, v.budget_share_permille % 10)),
                Cell::plain(v.paths.join(" ")),
            ]);
        }
        out + &table.render(look)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_enabled_venue_has_a_plan_within_half_of_its_budget() {
        let explained = explain(&Config::defaults().unwrap());
        assert_eq!((explained.venues.len(), explained.pairs.len(), explained.simulated), (venues::VENUES.len(), 17, false));
        for v in &explained.venues {
            assert!(v.requests > 0 && !v.paths.is_empty() && v.weight > 0 && v.budget_share_permille <= 500, "{v:?}");
        }
        assert_eq!(explained.warnings, [""; 0]);
        let text = explained.text(Look::Lines);
        assert!(text.starts_with("the configuration is right: 17 pairs at 12 venues\nlisten: 127.0.0.1:8080, "), "{text}");
        assert!(text.contains("\nbinance\t1\t") && text.contains("pairs: BTC-USD BTC-USDT "), "{text}");
    }

    #[test]
    fn an_interval_beyond_half_of_the_staleness_limit_is_warned_of() {
        let mut config = Config::defaults().unwrap();
        config.venues.get_mut("kraken").unwrap().poll = Some(Duration::from_secs(15));
        config.venues.get_mut("okx").unwrap().enabled = false;
        assert_eq!(explain(&config).warnings, [""; 0], "half itself will do");
        config.venues.get_mut("kraken").unwrap().poll = Some(Duration::from_millis(15_001));
        let explained = explain(&config);
        let want = "warning: kraken is polled every 15001 ms, expected at most 15000 (half of rate.max_age_polled_ms): ";
        assert!(explained.warnings.len() == 1 && explained.warnings[0].starts_with(want), "{:?}", explained.warnings);
        assert!(explained.text(Look::Lines).contains("venues not enabled: okx\n"));
        let json: serde_json::Value = serde_json::from_str(&explained.json()).unwrap();
        assert_eq!(json["venues"].as_array().unwrap().iter().filter(|v| v["slow"] == true).count(), 1);
    }
}
