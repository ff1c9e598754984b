//! What the public routes have served: one count in one histogram for each request, over all workers.

use super::router::Route;
use actix_web::http::StatusCode;
use quorate_actors::meter::{BucketCounts, Buckets};
use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

/// The bounds under which the time of a request is counted, in microseconds: from memory, after a round, at the longest deadline.
const BOUNDS_US: &[u64] = &[
    25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000,
    10_000_000,
];

/// The classes of status that are told apart.
const CLASSES: [&str; 4] = ["2xx", "3xx", "4xx", "5xx"];

/// Counts requests by route and class of status.
#[derive(Debug)]
pub(crate) struct Served {
    routes: Vec<Row>,
    /// Requests that the framework refused below every route.
    bare: AtomicU64,
}

#[derive(Debug)]
struct Row {
    route: &'static str,
    classes: [Buckets; 4],
}

/// Holds what one route has answered with one class of status.
#[derive(Clone, Debug)]
pub(crate) struct RouteFigures {
    pub(crate) route: &'static str,
    pub(crate) status: &'static str,
    pub(crate) time: BucketCounts,
}

impl Served {
    /// Makes room for every route, and one row for requests that fit none.
    pub(super) fn new(routes: &'static [Route]) -> Self {
        let names = routes.iter().map(|route| route.path).chain(["other"]);
        let routes = names.map(|route| Row { route, classes: CLASSES.map(|_| Buckets::new(BOUNDS_US)) }).collect();
        Self { routes, bare: AtomicU64::new(0) }
    }

    /// Counts an answer by its route's number.
    pub(super) fn count(&self, route: usize, status: StatusCode, took: Duration) {
        let class = usize::from(status.as_u16() / 100).saturating_sub(2).min(CLASSES.len().saturating_sub(1));
        if let Some(buckets) = self.routes.get(route).and_then(|row| row.classes.get(class)) {
            buckets.record(took);
        }
    }

    /// Counts a request that was refused below every route.
    pub(crate) fn count_bare(&self) {
        self.bare.fetch_add(1, Relaxed);
    }

    /// Gives how many were refused below every route.
    pub(crate) fn bare(&self) -> u64 {
        self.bare.load(Relaxed)
    }

    /// Gives the rows that something was counted in.
    pub(crate) fn figures(&self) -> Vec<RouteFigures> {
        let all = self.routes.iter().flat_map(|row| CLASSES.iter().zip(&row.classes).map(|(status, time)| (row.route, *status, time)));
        let counted = all.filter(|(_, _, time)| !time.is_empty());
        counted.map(|(route, status, time)| RouteFigures { route, status, time: time.counts() }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{super::*, *};

    #[test]
    fn each_answer_is_counted_once_by_route_and_class() {
        let served = Served::new(ROUTES);
        for (route, status) in [(QUOTES, 200), (QUOTES, 304), (QUOTES, 404), (RATES, 503), (ROUTES.len(), 404), (RATES, 204)] {
            served.count(route, StatusCode::from_u16(status).unwrap(), Duration::from_micros(30));
        }
        let rows: Vec<_> = served.figures().iter().map(|row| (row.route, row.status, row.time.total(), row.time.sum_us)).collect();
        let (quotes, rates) = ("/v1/quotes/{pair}", "/v1/rates/{pair}");
        let row = |route, status| (route, status, 1, 30);
        assert_eq!(
            rows,
            [row(quotes, "2xx"), row(quotes, "3xx"), row(quotes, "4xx"), row(rates, "2xx"), row(rates, "5xx"), row("other", "4xx")]
        );
    }
}
