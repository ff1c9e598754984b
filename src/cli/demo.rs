//! `demo`: the simulated exchanges behind real HTTP on loopback, and the service on them. Needs no network.

use super::{
    config::{LoadError, ServiceArgs, load_service, process_environment},
    output::{Exit, fail, say},
    serve,
    sim::{self, MarketArgs, SimError},
};
use crate::{
    config::{Config, From},
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
    let from = From::Flag("demo".to_owned());
    for (venue, origin) in &own {
        layers.set(&format!("venues.{venue}.origin"), origin, &from).map_err(LoadError::Config)?;
        let budget = format!("venues.{venue}.budget");
        if !layers.origins.contains_key(&budget) {
            layers.set(&budget, BUDGET, &from).map_err(LoadError::Config)?;
        }
    }
    let config = Config::of(&layers).map_err(LoadError::Config)?;
    say(&format!("SIMULATED market of {} exchanges; faults and prices at {origin}/_sim/", own.len()));
    Ok(serve::until_told(config).await?)
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
