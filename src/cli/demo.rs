//! `demo`: the simulated exchanges behind real HTTP on loopback, and the service on them. Needs no network.

use super::{
    config::{LoadError, SourceArgs, load, process_environment},
    serve::{self, EXIT_CONFIG},
    sim::{self, MarketArgs, SimError},
};
use crate::{
    config::{Config, From},
    serve::ServeError,
};
use actix::Arbiter;
use quorate_actors::model::VenueId;
use std::{net::SocketAddr, process::ExitCode};
use tokio::sync::oneshot;

/// Serves a simulated market: no network is needed, and SIMULATED is said everywhere
#[derive(Debug, clap::Args)]
pub struct DemoArgs {
    #[command(flatten)]
    source: SourceArgs,
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
pub fn run(args: DemoArgs) -> ExitCode {
    match actix::System::new().block_on(demo(args)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            if matches!(error, DemoError::Config(_)) { ExitCode::from(EXIT_CONFIG) } else { ExitCode::FAILURE }
        }
    }
}

async fn demo(args: DemoArgs) -> Result<(), DemoError> {
    let mut layers = load(&args.source, process_environment())?;
    let own = simulate(args.sim_listen, args.market).await?;
    for (venue, origin) in &own {
        layers.set(&format!("venues.{venue}.origin"), origin, &From::Flag("demo".to_owned())).map_err(LoadError::Config)?;
    }
    let config = Config::of(&layers).map_err(LoadError::Config)?;
    eprintln!("SIMULATED market of {} exchanges; faults and prices at http://{}/_sim/", own.len(), args.sim_listen);
    Ok(serve::until_told(config).await?)
}

/// Runs the simulation on a thread of its own, so that its work is not taken for ours; gives each venue's own address.
async fn simulate(listen: SocketAddr, market: MarketArgs) -> Result<Vec<(VenueId, String)>, DemoError> {
    let (tell, told) = oneshot::channel();
    Arbiter::new().spawn(async move {
        match sim::start(listen, &market).await {
            Ok(sim) => {
                tell.send(Ok(sim.own.clone())).ok();
                // It serves until the process ends.
                std::future::pending::<()>().await;
                drop(sim);
            }
            Err(error) => drop(tell.send(Err(error))),
        }
    });
    Ok(told.await.map_err(|_| DemoError::Gone)??)
}
