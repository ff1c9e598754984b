//! `serve`: the service, until it is told to stop.

use super::{
    config::{LoadError, ServiceArgs, load_service, process_environment},
    output::{Exit, fail, say},
    quote::warn_simulated,
};
use crate::{
    config::Config,
    serve::{self, Listeners, ServeError},
};
use clap::Args;
use std::{future::Future, io};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The exit code after a second Ctrl-C, as shells give it.
const EXIT_INTERRUPTED: i32 = 130;

/// Serves quotes over HTTP until it is told to stop
///
/// One Ctrl-C (or SIGTERM) lets requests under way come to their end, for five seconds at most; a second one quits.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 ok, 1 failure (a port in use is named), 2 usage, 5 configuration")]
pub struct ServeArgs {
    #[command(flatten)]
    service: ServiceArgs,
}

/// Runs the service and gives the process's exit code.
pub(super) fn run(args: &ServeArgs) -> Exit {
    let config = match configured(args) {
        Ok(config) => config,
        Err(error) => return fail(Exit::Config, &error.to_string()),
    };
    match actix::System::new().block_on(until_told(config)) {
        Ok(()) => Exit::Ok,
        Err(error) => fail(Exit::Failure, &error.to_string()),
    }
}

fn configured(args: &ServeArgs) -> Result<Config, LoadError> {
    Ok(Config::of(&load_service(&args.service, process_environment())?)?)
}

pub(super) async fn until_told(config: Config) -> Result<(), ServeError> {
    let listeners = Listeners::bind(&config)?;
    let (public, admin) = (listeners.public.local_addr()?, listeners.admin.local_addr()?);
    let told = told()?;
    warn_simulated(config.simulated());
    say(&format!("quorate serves http://{public}, admin http://{admin}"));
    serve::run(config, listeners, told).await
}

/// Listens for Ctrl-C and SIGTERM from now on, and waits for one; a second one then ends the process at once.
pub(super) fn told() -> io::Result<impl Future<Output = ()>> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        either(&mut interrupt, &mut terminate).await;
        actix::spawn(async move {
            either(&mut interrupt, &mut terminate).await;
            std::process::exit(EXIT_INTERRUPTED);
        });
    })
}

async fn either(interrupt: &mut Signal, terminate: &mut Signal) {
    let (interrupt, terminate) = (std::pin::pin!(interrupt.recv()), std::pin::pin!(terminate.recv()));
    futures_util::future::select(interrupt, terminate).await;
}
