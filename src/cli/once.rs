//! What commands share that ask once and end: an engine of their own, which asks nobody unasked, and their reading of arguments.

use super::{
    config::{SourceArgs, load, process_environment},
    output::{Exit, fail},
};
use crate::{config::Config, error::ApiError, http::State, serve};
use quorate_actors::{
    StartError,
    model::VenueId,
    terms::{Terms, VenueFilter},
};
use std::{future::Future, time::Duration};

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

/// Starts an engine that polls nothing and opens no connection ahead, on this thread, for so many pairs.
pub(super) fn start(config: &Config, pairs: usize) -> Result<State, Exit> {
    let started = || -> Result<State, StartError> {
        let (builder, boot) = serve::builder(&Config { pairs: Vec::new(), ..config.clone() });
        let engine = builder.background(false).on_demand(pairs).rounds_per_s(u32::MAX).here().start()?;
        // Nobody else has set it.
        let _ = boot.set(engine.boot().to_owned());
        Ok(State::new(engine, serve::options(config)))
    };
    started().map_err(|error| fail(Exit::Failure, &format!("engine: {error}")))
}

/// Gives the terms of somebody who asks now.
pub(super) fn terms(state: &State, deadline: Duration, venues: VenueFilter) -> Terms {
    Terms { fresh: true, deadline, venues, ..state.engine.terms().clone() }
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
