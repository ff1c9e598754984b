//! `demo`: the simulated exchanges behind real HTTP on loopback, and the service on them. Needs no network.

use super::{
    config::{LoadError, ServiceArgs, load_service, process_environment},
    output::{Exit, fail, say},
    serve,
    sim::{self, MarketArgs, SimError},
};
use crate::{
    config::{Config, ConfigError, From, Layers},
    serve::ServeError,
};
use actix::Arbiter;
use quorate_actors::model::VenueId;
use std::net::SocketAddr;
use tokio::sync::oneshot;

/// What a simulated exchange lets be asked: it has nobody to protect, so that `poll_ms` holds for each.
const BUDGET: &str = "10000/1s";

/// Serves a simulated market: no network is needed, and SIMULATED is said everywhere
#[derive(Debug, clap::Args)]
pub struct DemoArgs {
    #[command(flatten)]
    service: ServiceArgs,
    /// Listens here for the simulated exchanges and their control
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8090")]
    sim_listen: SocketAddr,
    #[command(flatten)]
    market: MarketArgs,
}

/// Says why the demo does not run.
#[derive(Debug, thiserror::Error)]
enum DemoError {
    #[error(transparent)]
    Config(#[from] LoadError),
    #[error(transparent)]
    Sim(#[from] SimError),
    #[error("the simulation's thread ended before it began")]
    Gone,
    #[error(transparent)]
    Serve(#[from] ServeError),
}

/// Runs the demo and gives the process's exit code.
pub(super) fn run(args: DemoArgs) -> Exit {
    match actix::System::new().block_on(demo(args)) {
        Ok(()) => Exit::Ok,
        Err(error) => fail(if matches!(error, DemoError::Config(_)) { Exit::Config } else { Exit::Failure }, &error.to_string()),
    }
}

async fn demo(args: DemoArgs) -> Result<(), DemoError> {
    let mut layers = load_service(&args.service, process_environment())?;
    let (origin, own) = simulate(args.sim_listen, args.market).await?;
    direct(&mut layers, &own).map_err(LoadError::Config)?;
    let config = Config::of(&layers).map_err(LoadError::Config)?;
    say(&format!("SIMULATED market of {} exchanges; faults and prices at {origin}/_sim/", own.len()));
    Ok(serve::until_told(config).await?)
}

/// Has the venues asked at these addresses, and as often as anybody likes where nobody has set a budget.
fn direct(layers: &mut Layers, own: &[(VenueId, String)]) -> Result<(), ConfigError> {
    let from = From::Flag("demo".to_owned());
    for (venue, origin) in own {
        layers.set(&format!("venues.{venue}.origin"), origin, &from)?;
        let budget = format!("venues.{venue}.budget");
        if !layers.origins.contains_key(&budget) {
            layers.set(&budget, BUDGET, &from)?;
        }
    }
    Ok(())
}

/// Runs the simulation on a thread of its own, so that its work is not taken for ours; gives its address and each venue's own.
async fn simulate(listen: SocketAddr, market: MarketArgs) -> Result<(String, Vec<(VenueId, String)>), DemoError> {
    let (tell, told) = oneshot::channel();
    Arbiter::new().spawn(async move {
        match sim::start(listen, &market, None).await {
            Ok(sim) => {
                tell.send(Ok((sim.origin.clone(), sim.own.clone()))).ok();
                // It serves until the process ends.
                std::future::pending::<()>().await;
                drop(sim);
            }
            Err(error) => drop(tell.send(Err(error))),
        }
    });
    Ok(told.await.map_err(|_| DemoError::Gone)??)
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorate_actors::venue::Budget;
    use std::time::Duration;

    #[test]
    fn budgets_are_lifted_but_for_those_that_somebody_set() {
        let mut layers = Layers::defaults().unwrap();
        layers.set("venues.kraken.budget", "15/15s", &From::Flag("--set".to_owned())).unwrap();
        let own = ["kraken", "bitfinex"].map(|id| (VenueId::new(id), format!("http://127.0.0.1:9000/{id}")));
        direct(&mut layers, &own).unwrap();
        let config = Config::of(&layers).unwrap();
        let budget = |weight, seconds| Some(Budget { weight, per: Duration::from_secs(seconds) });
        let [kraken, bitfinex, okx] = ["kraken", "bitfinex", "okx"].map(|id| &config.venues[id]);
        assert_eq!((kraken.budget, bitfinex.budget, okx.budget), (budget(15, 15), budget(10_000, 1), None));
        assert_eq!(bitfinex.origin, "http://127.0.0.1:9000/bitfinex");
        assert!(config.simulated());
    }
}
