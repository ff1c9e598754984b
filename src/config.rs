//! The configuration: what is typed (TOML, environment, flags), and what it means.

mod layers;
mod origin;
mod raw;

pub use layers::{DEFAULT, From, Layers};
pub use origin::is_loopback;

use quorate_actors::{
    model::Pair,
    rate::{self, AdmissionRules, Band, Class, Num, Own},
    venue::{Budget, Region},
};
use raw::{Raw, RawPair, RawRate, RawVenue, Share};
use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf, time::Duration};

/// How many quotes a required pair needs where the configuration does not say.
const QUORUM: usize = 3;
/// The most pairs in a configuration.
const PAIRS_MAX: usize = 1000;

/// Says what is wrong with a configuration, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct ConfigError {
    place: String,
    what: String,
}

impl ConfigError {
    fn new(from: &From, what: &str) -> Self {
        Self { place: from.to_string(), what: what.to_owned() }
    }

    fn whole(what: String) -> Self {
        Self { place: "configuration".to_owned(), what }
    }
}

/// Holds the configuration as the service uses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Where the public routes listen.
    pub listen: SocketAddr,
    /// Where the admin routes listen.
    pub admin_listen: SocketAddr,
    /// The file that holds the admin token.
    pub admin_token_file: Option<PathBuf>,
    /// The names under which the admin listener answers, besides `localhost` and its addresses.
    pub admin_hosts: Vec<String>,
    /// How long a caller waits who names no deadline.
    pub deadline: Duration,
    /// How long a venue may take.
    pub fetch_timeout: Duration,
    /// How old a venue's word may be for a caller who says nothing.
    pub max_age: Duration,
    /// How often a venue is asked where its budget allows.
    pub poll: Duration,
    /// Whether pairs that are not listed are served.
    pub on_demand: bool,
    /// Whether what is served is counted and timed.
    pub metrics: bool,
    /// The pairs that are followed.
    pub pairs: Vec<PairConfig>,
    /// The venues by id, those that are not enabled included.
    pub venues: BTreeMap<String, VenueConfig>,
    /// What every pair's rule follows from.
    pub rates: rate::Settings,
    /// How much memory receipts may take that somebody was given.
    pub receipts_mib: usize,
    /// The limits of the service.
    pub limits: Limits,
}

/// Holds a pair that is followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairConfig {
    /// The pair.
    pub pair: Pair,
    /// Whether the service is not ready without it.
    pub required: bool,
    /// How many admitted quotes it needs to be ready.
    pub quorum: usize,
    /// The venues to ask for it; empty: all.
    pub venues: Vec<String>,
    /// What is its own of the rule by which its rate is made.
    pub own: Own,
}

/// Holds what the configuration says of a venue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VenueConfig {
    /// Whether it is asked at all.
    pub enabled: bool,
    /// Where it is asked.
    pub origin: String,
    /// Where it is asked next.
    pub mirrors: Vec<String>,
    /// The taker fee as a fraction, where that differs from what the venue publishes.
    pub taker: Option<Num>,
    /// How often it is asked, where that differs.
    pub poll: Option<Duration>,
    /// How much may be asked, where that differs from what it publishes.
    pub budget: Option<Budget>,
    /// How long it may take, where that differs.
    pub fetch_timeout: Option<Duration>,
    /// Who runs it, where that differs from what the venue's profile says.
    pub operator: Option<String>,
    /// The region that walls it off, where that differs.
    pub region: Option<Region>,
}

/// Holds the limits of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections open at once.
    pub connections: usize,
    /// Bytes in a request's body.
    pub body_bytes: usize,
    /// Pairs in one request.
    pub pairs_per_request: usize,
    /// Rounds started in a second.
    pub rounds_per_s: u32,
    /// Pairs kept that are not listed.
    pub on_demand_pairs: usize,
}

impl Config {
    /// Gives the defaults.
    ///
    /// # Errors
    /// [`ConfigError`] where the file of defaults is wrong, which the tests rule out.
    pub fn defaults() -> Result<Self, ConfigError> {
        Self::of(&Layers::defaults()?)
    }

    /// Reads merged layers.
    ///
    /// # Errors
    /// [`ConfigError`] where values that are right alone do not go together.
    pub fn of(layers: &Layers) -> Result<Self, ConfigError> {
        let raw: Raw = layers.values.clone().try_into().map_err(|e: toml::de::Error| ConfigError::whole(e.to_string()))?;
        Self::of_raw(raw).map_err(ConfigError::whole)
    }

    fn of_raw(raw: Raw) -> Result<Self, String> {
        let (rate, limits) = (raw.rate.unwrap_or_default(), raw.limits.unwrap_or_default());
        let config = Self {
            listen: given("listen", raw.listen)?.0,
            admin_listen: given("admin_listen", raw.admin_listen)?.0,
            admin_token_file: raw.admin_token_file.filter(|p| !p.is_empty()).map(PathBuf::from),
            admin_hosts: raw.admin_hosts.unwrap_or_default(),
            deadline: millis(given("deadline_ms", raw.deadline_ms)?.0),
            fetch_timeout: millis(given("fetch_timeout_ms", raw.fetch_timeout_ms)?.0),
            max_age: millis(given("max_age_ms", raw.max_age_ms)?.0),
            poll: millis(given("poll_ms", raw.poll_ms)?.0),
            on_demand: given("on_demand", raw.on_demand)?,
            metrics: given("metrics", raw.metrics)?,
            pairs: pairs(given("pairs", raw.pairs)?)?,
            venues: raw
                .venues
                .unwrap_or_default()
                .into_iter()
                .map(|(key, venue)| Ok((key.0, venue_of(venue)?)))
                .collect::<Result<_, String>>()?,
            rates: rates(rate)?,
            receipts_mib: count("receipts.memory_mib", raw.receipts.unwrap_or_default().memory_mib.map(|n| n.0))?,
            limits: Limits {
                connections: count("limits.connections", limits.connections.map(|n| n.0))?,
                body_bytes: count("limits.body_bytes", limits.body_bytes.map(|n| n.0))?,
                pairs_per_request: count("limits.pairs_per_request", limits.pairs_per_request.map(|n| n.0))?,
                rounds_per_s: count("limits.rounds_per_s", limits.rounds_per_s.map(|n| n.0))?,
                on_demand_pairs: count("limits.on_demand_pairs", limits.on_demand_pairs.map(|n| n.0))?,
            },
        };
        config.check()?;
        Ok(config)
    }

    /// Refuses values that are right alone and wrong together.
    fn check(&self) -> Result<(), String> {
        if self.listen == self.admin_listen && self.listen.port() != 0 {
            return Err(format!("admin_listen is {}, expected another address than listen", self.admin_listen));
        }
        if !self.venues.values().any(|v| v.enabled) {
            return Err("no venue is enabled, expected one at least".to_owned());
        }
        if !self.admin_listen.ip().is_loopback() && self.admin_token_file.is_none() {
            return Err(format!("admin_listen is {}, expected a loopback address, or admin_token_file set", self.admin_listen));
        }
        for class in Class::ALL {
            let Band { floor, cap } = self.rates.band(class);
            if floor > cap {
                return Err(format!("rate.class.{}.floor is {floor}, expected at most the cap of {cap}", class.slug()));
            }
        }
        for pair in &self.pairs {
            let Band { floor, cap } = self.rates.rules(pair.pair, &pair.own).band;
            if floor > cap {
                return Err(format!("pair {} has a floor of {floor}, expected at most its cap of {cap}", pair.pair));
            }
            let off = |id: &&String| self.venues.get(*id).is_none_or(|v| !v.enabled);
            if let Some(id) = pair.venues.iter().find(off) {
                return Err(format!("pair {} names venue {id}, expected one that is enabled", pair.pair));
            }
        }
        Ok(())
    }

    /// Tells whether quotes come from a simulation: a venue that is asked has its origin on this machine.
    pub fn simulated(&self) -> bool {
        self.venues.values().any(|v| v.enabled && is_loopback(&v.origin))
    }
}

/// Every key has a default, so that nothing is missing in what was merged over them.
fn given<T>(key: &str, value: Option<T>) -> Result<T, String> {
    value.ok_or_else(|| format!("{key} is missing, expected a value"))
}

fn count<N: TryFrom<u64>>(key: &str, value: Option<u64>) -> Result<N, String> {
    N::try_from(given(key, value)?).map_err(|_| format!("{key} is out of range"))
}

fn millis(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn pairs(raw: Vec<RawPair>) -> Result<Vec<PairConfig>, String> {
    if raw.len() > PAIRS_MAX {
        return Err(format!("{} pairs, expected at most {PAIRS_MAX}", raw.len()));
    }
    let mut pairs: Vec<PairConfig> = Vec::with_capacity(raw.len());
    for RawPair { name, required, quorum, venues, class, floor, cap } in raw {
        if pairs.iter().any(|p| p.pair == name.0) {
            return Err(format!("pair {} is listed twice, expected once", name.0));
        }
        let quorum = quorum.and_then(|q| usize::try_from(q.0).ok()).unwrap_or(QUORUM);
        let venues = venues.unwrap_or_default().into_iter().map(|v| v.0).collect();
        let own = Own { class: class.map(|c| c.0), floor: floor.map(|f| f.0), cap: cap.map(|c| c.0) };
        pairs.push(PairConfig { pair: name.0, required: required.unwrap_or(true), quorum, venues, own });
    }
    Ok(pairs)
}

fn rates(raw: RawRate) -> Result<rate::Settings, String> {
    let classes = raw.class.unwrap_or_default();
    let (major, other, peg) = (classes.major.unwrap_or_default(), classes.other.unwrap_or_default(), classes.peg.unwrap_or_default());
    let band = |class: &str, floor: Option<Share>, cap: Option<Share>| {
        let key = |name: &str| format!("rate.class.{class}.{name}");
        Ok::<_, String>(Band { floor: given(&key("floor"), floor)?.0, cap: given(&key("cap"), cap)?.0 })
    };
    let codes = |codes: Vec<raw::AssetCode>| codes.into_iter().map(|code| code.0).collect();
    Ok(rate::Settings {
        bands: [band("major", major.floor, major.cap)?, band("other", other.floor, other.cap)?, band("peg", peg.floor, peg.cap)?],
        majors: codes(given("rate.class.major.assets", major.assets)?),
        par: raw.par.unwrap_or_default().into_iter().map(|par| (par.0.base, par.0.quote)).collect(),
        stale: millis(given("rate.stale_ms", raw.stale_ms)?.0),
        admission: AdmissionRules {
            max_age: millis(given("rate.max_age_polled_ms", raw.max_age_polled_ms)?.0),
            ..AdmissionRules::default()
        },
        through: codes(raw.through.unwrap_or_default()),
    })
}

fn venue_of(raw: RawVenue) -> Result<VenueConfig, String> {
    Ok(VenueConfig {
        enabled: given("enabled", raw.enabled)?,
        origin: given("origin", raw.origin)?.0,
        mirrors: raw.mirrors.unwrap_or_default().into_iter().map(|m| m.0).collect(),
        taker: raw.taker.map(|t| t.0),
        poll: raw.poll_ms.map(|ms| millis(ms.0)),
        budget: raw.budget.map(|b| b.0),
        fetch_timeout: raw.fetch_timeout_ms.map(|ms| millis(ms.0)),
        operator: raw.operator.map(|o| o.0),
        region: raw.region.map(|r| r.0),
    })
}

#[cfg(test)]
mod tests;
