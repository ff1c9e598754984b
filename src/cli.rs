//! The command line: one command a file. Data goes to stdout, all else to stderr.

pub mod config;
pub mod decode;
pub mod demo;
pub mod serve;
pub mod sim;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Asks every crypto exchange for a price at once, and answers with proof.
#[derive(Debug, Parser)]
#[command(name = "quorate", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Decode(decode::DecodeArgs),
    Serve(serve::ServeArgs),
    Demo(demo::DemoArgs),
    Sim(sim::SimArgs),
    /// Writes, checks and shows the configuration
    Config(config::ConfigArgs),
}

/// Reads the process's arguments and runs the command that they name. Usage errors end the process with code 2.
pub fn run() -> ExitCode {
    match Cli::parse().command {
        Command::Decode(args) => decode::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Demo(args) => demo::run(args),
        Command::Sim(args) => sim::main(args),
        Command::Config(args) => config::run(&args),
    }
}
