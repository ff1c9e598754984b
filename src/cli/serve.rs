//! `serve`: the service, until it is told to stop.

use super::config::{LoadError, SourceArgs, load, process_environment};
use crate::{
    config::Config,
    serve::{self, Listeners, ServeError},
};
use clap::Args;
use std::process::ExitCode;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The exit code for a configuration that is wrong.
pub(super) const EXIT_CONFIG: u8 = 5;
/// The exit code after a second Ctrl-C, as shells give it.
const EXIT_INTERRUPTED: i32 = 130;

/// Serves quotes over HTTP
#[derive(Debug, Args)]
pub struct ServeArgs {
    #[command(flatten)]
    source: SourceArgs,
}

/// Runs the service and gives the process's exit code.
pub fn run(args: &ServeArgs) -> ExitCode {
    let config = match configured(args) {
        Ok(config) => config,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(EXIT_CONFIG);
        }
    };
    match actix::System::new().block_on(until_told(config)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn configured(args: &ServeArgs) -> Result<Config, LoadError> {
    Ok(Config::of(&load(&args.source, process_environment())?)?)
}

pub(super) async fn until_told(config: Config) -> Result<(), ServeError> {
    let listeners = Listeners::bind(&config)?;
    let (public, admin) = (listeners.public.local_addr()?, listeners.admin.local_addr()?);
    let (interrupt, terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    if config.simulated() {
        eprintln!("SIMULATED: a venue's origin is on loopback");
    }
    eprintln!("quorate serves http://{public}, admin http://{admin}");
    serve::run(config, listeners, told(interrupt, terminate)).await
}

/// Waits for Ctrl-C or SIGTERM; a second one then ends the process at once.
async fn told(mut interrupt: Signal, mut terminate: Signal) {
    either(&mut interrupt, &mut terminate).await;
    actix::spawn(async move {
        either(&mut interrupt, &mut terminate).await;
        std::process::exit(EXIT_INTERRUPTED);
    });
}

async fn either(interrupt: &mut Signal, terminate: &mut Signal) {
    let (interrupt, terminate) = (std::pin::pin!(interrupt.recv()), std::pin::pin!(terminate.recv()));
    futures_util::future::select(interrupt, terminate).await;
}
