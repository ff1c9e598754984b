//! Names by the convention of the texts, and names in dashboards and alerts that are held to the table.

use super::{super::families, sample};
use crate::http::admin::metrics::{Family, Format, Kind, render};
use std::collections::BTreeSet;

/// Gives every name that a sample of a family may have.
fn names(family: &Family) -> Vec<String> {
    let suffixes: &[&str] = match family.kind {
        Kind::Counter => &["_total"],
        Kind::Gauge => &[""],
        Kind::Histogram => &["_bucket", "_sum", "_count"],
        Kind::Info => &["_info"],
    };
    suffixes.iter().map(|suffix| format!("{}{suffix}", family.name)).collect()
}

#[test]
fn names_follow_the_convention() {
    let mut seen = BTreeSet::new();
    for family in families::all() {
        let Family { name, unit, help, .. } = family;
        assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') && !name.ends_with("_total"), "{name}");
        assert!(unit.is_empty() || name.ends_with(&format!("_{unit}")), "{name} is in {unit}");
        assert!(["", "seconds", "bytes", "ratio"].contains(unit), "{name}: {unit} is no base unit");
        for unit in ["seconds", "bytes", "ratio"] {
            assert_eq!(name.ends_with(&format!("_{unit}")), family.unit == unit, "{name}");
        }
        assert!(help.ends_with('.') && !help.contains(['\n', '\\']), "{name}: {help}");
        for name in names(family) {
            assert!(seen.insert(name.clone()), "{name} is there twice");
        }
    }
    assert!(seen.len() > 90, "{}", seen.len());
}

#[test]
fn every_sample_stands_under_its_family_and_openmetrics_has_units_and_an_end() {
    for format in [Format::Prometheus, Format::OpenMetrics] {
        let text = String::from_utf8(render(&sample::snapshot(), format)).unwrap();
        let mut families = families::all();
        let mut present: Vec<String> = Vec::new();
        for line in text.lines().filter(|line| *line != "# EOF") {
            if line.starts_with("# HELP ") {
                let family = families.next().unwrap();
                present = names(family);
                let shown = if format == Format::OpenMetrics { family.name } else { line.split(' ').nth(2).unwrap() };
                assert!(line.starts_with(&format!("# HELP {shown} ")), "{line}");
                assert!(shown == family.name || present == [shown], "{line}");
            } else if !line.starts_with('#') {
                let name = line.split(['{', ' ']).next().unwrap();
                assert!(present.iter().any(|known| known == name), "{line} stands under {present:?}");
            }
        }
        assert!(families.next().is_none(), "every family is told");
        assert_eq!(text.ends_with("# EOF\n"), format == Format::OpenMetrics);
        assert_eq!(text.contains("# UNIT quorate_actor_busy_seconds seconds\n"), format == Format::OpenMetrics);
        let kind = if format == Format::OpenMetrics { "# TYPE quorate_build info\n" } else { "# TYPE quorate_build_info gauge\n" };
        assert!(text.contains(kind) && text.contains("quorate_build_info{version=\"1\",commit=\"abc\"} 1\n"));
    }
}

#[test]
fn dashboards_and_alerts_name_only_metrics_that_are_there() {
    let known: BTreeSet<String> = families::all().flat_map(names).collect();
    for path in ["docs/grafana-dashboard.json", "docs/alerts.yml", "README.md"] {
        let text = std::fs::read_to_string(format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap();
        let words = text.split(|c: char| !c.is_ascii_lowercase() && c != '_' && !c.is_ascii_digit());
        let named: BTreeSet<&str> = words.filter(|word| word.starts_with("quorate_") || word.starts_with("process_")).collect();
        let unknown: Vec<_> = named.iter().filter(|name| !known.contains(**name) && **name != "quorate_actors").collect();
        assert!(unknown.is_empty(), "{path} names {unknown:?}");
        assert!(path == "README.md" || named.len() > 8, "{path} names {named:?}");
    }
    let dashboard = std::fs::read(format!("{}/docs/grafana-dashboard.json", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let dashboard: serde_json::Value = serde_json::from_slice(&dashboard).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    assert!(panels.len() > 8 && panels.iter().all(|panel| panel["targets"].as_array().is_some_and(|targets| !targets.is_empty())));
}
