//! How to ask a venue for many pairs: singles, the venue's own lists, or everything, whichever weighs least; and how often.

use crate::venue::{Budget, Endpoint, Kind, Reach};
use std::time::Duration;

/// Holds one request to make: an endpoint, and which of the wanted pairs it covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The endpoint's place in the profile.
    pub endpoint: usize,
    /// The wanted pairs that it covers.
    pub pairs: Vec<usize>,
}

/// Holds the requests that cover all wanted pairs once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// What to send.
    pub requests: Vec<Planned>,
    /// What that weighs in the venue's budget.
    pub weight: u32,
    /// What it typically brings, in bytes.
    pub bytes: u64,
}

/// Names a pair that is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// How the caller of [`plan`] knows it.
    pub pair: usize,
    /// Whether the venue is known to list it. One unknown symbol makes some venues refuse a whole list, so only these are listed together.
    pub proven: bool,
}

/// Plans how to ask for the wanted pairs: the least weight, then the least bytes, then the fewest requests.
pub fn plan(endpoints: &[Endpoint], wanted: &[Wanted]) -> Plan {
    if wanted.is_empty() {
        return Plan::default();
    }
    let is_asked = |e: &Endpoint| e.is_asked() && matches!(e.kind, Kind::Ticker | Kind::Tickers);
    let asked = |reach: fn(&Reach) -> bool| endpoints.iter().position(|e| is_asked(e) && reach(&e.reach));
    let one = asked(|r| *r == Reach::One);
    let all = asked(|r| *r == Reach::All);
    let listed = asked(|r| matches!(r, Reach::Listed(_)));
    let everyone: Vec<usize> = wanted.iter().map(|w| w.pair).collect();
    let singles = |pairs: &[usize]| -> Option<Vec<Planned>> {
        one.map(|endpoint| pairs.iter().map(|pair| Planned { endpoint, pairs: vec![*pair] }).collect())
    };
    let mut ways = Vec::new();
    ways.extend(singles(&everyone));
    ways.extend(all.map(|endpoint| vec![Planned { endpoint, pairs: everyone.clone() }]));
    if let Some((endpoint, Reach::Listed(list))) = listed.and_then(|at| Some((at, endpoints.get(at)?.reach))) {
        let (proven, unproven): (Vec<&Wanted>, Vec<&Wanted>) = wanted.iter().partition(|w| w.proven);
        let pairs: Vec<usize> = proven.iter().map(|w| w.pair).collect();
        let mut requests: Vec<Planned> =
            pairs.chunks(usize::from(list.most).max(1)).map(|chunk| Planned { endpoint, pairs: chunk.to_vec() }).collect();
        if let Some(rest) = singles(&unproven.iter().map(|w| w.pair).collect::<Vec<_>>()) {
            requests.extend(rest);
            ways.push(requests);
        }
    }
    let weighed = ways.into_iter().map(|requests| weigh(endpoints, requests));
    weighed.min_by_key(|p| (p.weight, p.bytes, p.requests.len())).unwrap_or_default()
}

fn weigh(endpoints: &[Endpoint], requests: Vec<Planned>) -> Plan {
    let (mut weight, mut bytes) = (0u32, 0u64);
    for request in &requests {
        let Some(endpoint) = endpoints.get(request.endpoint) else { continue };
        weight = weight.saturating_add(endpoint.weight_of(request.pairs.len()));
        let rows = if endpoint.reach == Reach::All { u64::from(endpoint.rows) } else { request.pairs.len() as u64 };
        bytes = bytes.saturating_add(rows.saturating_mul(u64::from(endpoint.row_bytes)));
    }
    Plan { requests, weight, bytes }
}

impl Plan {
    /// Gives how often it may be carried out: every `poll`, or as half of the venue's budget allows, whichever is rarer.
    pub fn interval(&self, budget: &Budget, poll: Duration) -> Duration {
        poll.max(self.shortest(budget))
    }

    /// Gives how long half of the budget needs for one cycle.
    pub fn shortest(&self, budget: &Budget) -> Duration {
        let per_half = u64::from(budget.weight.max(1));
        let micros = u64::try_from(budget.per.as_micros()).unwrap_or(u64::MAX).saturating_mul(u64::from(self.weight)).saturating_mul(2);
        Duration::from_micros(micros.div_ceil(per_half))
    }

    /// Gives the share of the budget that it takes when carried out every `interval`, in thousandths.
    pub fn share_permille(&self, budget: &Budget, interval: Duration) -> u64 {
        let used = u128::from(self.weight).saturating_mul(budget.per.as_micros()).saturating_mul(1000);
        let allowed = u128::from(budget.weight).saturating_mul(interval.as_micros()).max(1);
        u64::try_from(used.checked_div(allowed).unwrap_or(0)).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::venues::by_id;

    fn wanted(count: usize, proven: bool) -> Vec<Wanted> {
        (0..count).map(|pair| Wanted { pair, proven }).collect()
    }

    fn planned(venue: &str, count: usize, proven: bool) -> (Vec<usize>, u32) {
        let plan = plan(by_id(venue).unwrap().profile().endpoints, &wanted(count, proven));
        let mut covered: Vec<_> = plan.requests.iter().flat_map(|r| r.pairs.clone()).collect();
        covered.sort_unstable();
        assert_eq!(covered, (0..count).collect::<Vec<_>>(), "{venue} {count}: each pair once");
        (plan.requests.iter().map(|r| r.endpoint).collect(), plan.weight)
    }

    #[test]
    fn the_least_weight_wins_then_the_least_bytes() {
        assert_eq!(planned("binance", 1, false), (vec![0], 2));
        assert_eq!(planned("binance", 3, false), (vec![0; 3], 6), "unproven pairs are not listed together");
        assert_eq!(planned("binance", 20, true), (vec![1], 2));
        assert_eq!(planned("binance", 60, true), (vec![1], 40));
        assert_eq!(planned("binance", 1000, true), (vec![2], 80), "the whole list");
        assert_eq!(planned("coinbaseexchange", 20, true), (vec![0; 20], 20), "what is only read is not asked, and weighs nothing");
        assert_eq!(planned("kraken", 1, true), (vec![0], 1));
        assert_eq!(planned("kraken", 20, false), (vec![2], 1), "the whole list teaches what is listed");
        assert_eq!(planned("kraken", 20, true), (vec![1], 1));
        assert_eq!(plan(by_id("kraken").unwrap().profile().endpoints, &[]), Plan::default());
    }

    #[test]
    fn half_of_the_budget_sets_the_pace() {
        let budget = Budget { weight: 10, per: Duration::from_secs(1) };
        let plan = Plan { weight: 20, ..Plan::default() };
        assert_eq!(plan.interval(&budget, Duration::from_secs(2)), Duration::from_secs(4));
        assert_eq!(plan.interval(&budget, Duration::from_secs(9)), Duration::from_secs(9));
        assert_eq!(plan.shortest(&budget), Duration::from_secs(4));
        assert_eq!(plan.share_permille(&budget, Duration::from_secs(4)), 500);
    }
}
