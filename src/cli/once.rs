//! What commands share that ask once and end: an engine of their own, and their reading of arguments.

use super::{
    config::{SourceArgs, load, process_environment},
    output::{Exit, fail},
};
use crate::{
    config::Config,
    error::{ApiError, Code},
    http::{State, pairs},
    serve,
};
use clap::Args;
use quorate_actors::{
    Builder, PairConfig,
    model::{Pair, VenueId},
    terms::{Terms, VenueFilter},
};
use std::{future::Future, sync::OnceLock, time::Duration};

/// Holds what every command takes that asks about one pair.
#[derive(Debug, Args)]
pub(super) struct AskingArgs {
    #[command(flatten)]
    pub(super) source: SourceArgs,
    /// Waits so long, 50 to 10000 ms; deadline_ms of the configuration where it is not given
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(50..=10_000))]
    deadline_ms: Option<u64>,
    /// Asks these venues alone (a,b), or all but these (-a,-b)
    #[arg(long, value_name = "IDS", value_delimiter = ',', allow_hyphen_values = true)]
    venues: Vec<String>,
}

impl AskingArgs {
    /// Gives the terms: nothing from memory will do, as there is none.
    pub(super) fn terms(&self, config: &Config, state: &State) -> Result<Terms, Exit> {
        let venues = selection(&self.venues, &state.basis.venues).map_err(|error| fail(Exit::Usage, &error))?;
        let deadline = self.deadline_ms.map_or(config.deadline, Duration::from_millis);
        Ok(Terms { fresh: true, deadline, venues, ..state.engine.terms().clone() })
    }
}

/// Reads the configuration.
pub(super) fn configured(source: &SourceArgs) -> Result<Config, Exit> {
    let config = load(source, process_environment()).and_then(|layers| Ok(Config::of(&layers)?));
    config.map_err(|error| fail(Exit::Config, &error.to_string()))
}

/// Runs a command to its end, and waits for nothing beyond.
pub(super) fn run(command: impl Future<Output = Result<Exit, Exit>>) -> Exit {
    let system = actix::System::new();
    let exit = system.block_on(command);
    // To drop it would be to wait for names that are being looked up, which nothing cuts short. The process ends next, and all of it.
    std::mem::forget(system);
    exit.unwrap_or_else(|exit| exit)
}

/// Starts an engine that asks nobody unasked, for one pair.
pub(super) fn start_for_one(config: &Config) -> Result<State, Exit> {
    let (builder, boot) = serve::builder(&Config { pairs: Vec::new(), ..config.clone() });
    start(config, builder.background(false).on_demand(1), &boot)
}

/// Starts an engine that asks nobody unasked, for the rate of one pair: made as the service would make it, of what is configured.
pub(super) fn start_for_rate(config: &Config) -> Result<State, Exit> {
    let (builder, boot) = serve::builder(config);
    start(config, builder.background(false).on_demand(MARKETS_MAX), &boot)
}

/// More markets than any rate is made of.
const MARKETS_MAX: usize = 4096;

/// Starts an engine that polls every configured pair once, at the pace that each venue's budget allows, and remembers what it heard.
pub(super) fn start_for_all(config: &Config) -> Result<State, Exit> {
    let mut once = Config { poll: LONG, max_age: LONG, ..config.clone() };
    once.rates.admission.max_age = LONG;
    once.venues.values_mut().for_each(|venue| venue.poll = None);
    let (builder, boot) = serve::builder(&once);
    start(config, builder, &boot)
}

/// Starts an engine that polls one pair.
pub(super) fn start_for_watch(config: &Config, pair: Pair, venues: VenueFilter) -> Result<State, Exit> {
    let (builder, boot) = serve::builder(&Config { pairs: Vec::new(), ..config.clone() });
    start(config, builder.pair(PairConfig { pair, required: false, quorum: 1, venues, rate: None }), &boot)
}

/// Longer than any command that asks once.
const LONG: Duration = Duration::from_secs(3600);

fn start(config: &Config, builder: Builder, boot: &OnceLock<String>) -> Result<State, Exit> {
    let engine = builder.rounds_per_s(u32::MAX).here().start().map_err(|error| fail(Exit::Failure, &format!("engine: {error}")))?;
    // Nobody else has set it.
    let _ = boot.set(engine.boot().to_owned());
    Ok(State::new(engine, serve::options(config)))
}

/// Reads `a,b` or `-a,-b` against the venues that there are.
///
/// # Errors
/// A text that names the word and what was expected.
pub(super) fn selection(words: &[String], known: &[VenueId]) -> Result<VenueFilter, String> {
    let (except, only): (Vec<&str>, Vec<&str>) = words.iter().map(|word| word.trim()).partition(|word| word.starts_with('-'));
    if !except.is_empty() && !only.is_empty() {
        return Err(format!("--venues {:?}, expected ids alone (a,b) or exclusions alone (-a,-b)", words.join(",")));
    }
    let find = |word: &&str| {
        let id = word.trim_start_matches('-');
        let found = known.iter().find(|venue| venue.as_str().eq_ignore_ascii_case(id)).cloned();
        found.ok_or_else(|| {
            let ids = known.iter().map(VenueId::as_str).collect::<Vec<_>>().join(", ");
            format!("--venues {id:?}, expected venues that are enabled: {ids}")
        })
    };
    let ids = |words: &[&str]| words.iter().map(find).collect::<Result<Vec<_>, _>>();
    Ok(match (only.as_slice(), except.as_slice()) {
        ([], []) => VenueFilter::All,
        ([], except) => VenueFilter::Except(ids(except)?),
        (only, _) => VenueFilter::Only(ids(only)?),
    })
}

/// Adds to the error of a pair that no venue lists what may have been meant: the engine of one command may know no other pair.
pub(super) fn unknown(config: &Config, pair: Pair, error: ApiError) -> ApiError {
    if error.code() != Code::UnknownPair || !error.suggestions().is_empty() {
        return error;
    }
    let (name, known) = (pair.to_string(), config.pairs.iter().map(|p| p.pair).collect::<Vec<_>>());
    error.suggest(pairs::closest(&name, &known).into_iter().filter(|s| *s != name))
}

/// Gives an error as a sentence for a person.
pub(super) fn sentence(error: &ApiError) -> String {
    match error.suggestions() {
        [] => error.detail().to_owned(),
        suggestions => format!("{}; did you mean {}?", error.detail(), suggestions.join(" or ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn venues_are_selected_or_excluded_never_both() {
        let known = ["binance", "kraken"].map(VenueId::new);
        let of = |text: &str| selection(&text.split(',').filter(|w| !w.is_empty()).map(str::to_owned).collect::<Vec<_>>(), &known);
        let ids = |id: &str| vec![VenueId::new(id)];
        assert_eq!((of(""), of("Kraken")), (Ok(VenueFilter::All), Ok(VenueFilter::Only(ids("kraken")))));
        assert_eq!(of("-kraken"), Ok(VenueFilter::Except(ids("kraken"))));
        assert_eq!(
            of("kraken,-binance").unwrap_err(),
            "--venues \"kraken,-binance\", expected ids alone (a,b) or exclusions alone (-a,-b)"
        );
        assert_eq!(of("nasdaq").unwrap_err(), "--venues \"nasdaq\", expected venues that are enabled: binance, kraken");
    }
}
