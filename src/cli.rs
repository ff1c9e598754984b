//! The command line: one command a file. Data goes to stdout, all else to stderr.

mod body;
mod check;
pub mod config;
pub mod decode;
pub mod demo;
mod doctor;
mod once;
mod output;
mod paper;
mod quote;
mod rate;
mod receipt;
pub mod replay;
pub mod serve;
pub mod sim;
mod table;
mod venues;
pub mod verify;
mod watch;

pub use output::Exit;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// The version, and the commit that it is built from.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("BUILD_COMMIT"), ")");

/// Asks every crypto exchange for a price at once, and answers with proof
#[derive(Debug, Parser)]
#[command(name = "quorate", version = VERSION)]
#[command(
    after_help = "Data goes to stdout, all else to stderr; tables are for terminals, elsewhere lines have tabs; NO_COLOR is heard.\n\
                  QUORATE_LOG sets what is logged: error, warn, info, debug.\n\
                  Try it without a network: quorate demo"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::ServeArgs),
    Demo(demo::DemoArgs),
    Quote(quote::QuoteArgs),
    Rate(rate::RateArgs),
    Watch(watch::WatchArgs),
    Check(check::CheckArgs),
    Doctor(doctor::DoctorArgs),
    Venues(venues::VenuesArgs),
    Config(config::ConfigArgs),
    Sim(sim::SimArgs),
    Decode(decode::DecodeArgs),
    Replay(replay::ReplayArgs),
    Verify(verify::VerifyArgs),
    Completions(paper::CompletionsArgs),
    Man(paper::ManArgs),
}

/// Reads the process's arguments and runs the command that they name. Usage errors end the process with code 2.
pub fn run() -> ExitCode {
    let command = Cli::parse().command;
    if matches!(command, Command::Quote(_) | Command::Rate(_) | Command::Watch(_) | Command::Check(_) | Command::Doctor(_))
        && std::env::var_os("QUORATE_LOG").is_none()
    {
        // What a venue did wrong stands in their output.
        log::set_max_level(log::LevelFilter::Error);
    }
    let exit = match command {
        Command::Serve(args) => serve::run(&args),
        Command::Demo(args) => demo::run(args),
        Command::Quote(args) => quote::run(&args),
        Command::Rate(args) => rate::run(&args),
        Command::Watch(args) => watch::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Venues(args) => venues::run(&args),
        Command::Config(args) => config::run(&args),
        Command::Sim(args) => sim::main(args),
        Command::Decode(args) => decode::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Completions(args) => paper::completions(&args),
        Command::Man(args) => paper::man(&args),
    };
    exit.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_sound() {
        Cli::command().debug_assert();
    }
}
