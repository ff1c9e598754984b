//! `quorate sim`: the simulated exchanges alone, with faults.

use super::{
    output::{Exit, fail},
    serve::told,
};
use crate::sim::{Sim, Tls};
use quorate_actors::sim::{FaultError, FaultFile, Options};
use std::{fmt::Write as _, future::Future, io, net::SocketAddr, path::PathBuf, time::Duration};
use tokio::net::TcpListener;

/// Serves simulated exchanges on loopback, with faults, until Ctrl-C
#[derive(Clone, Debug, clap::Args)]
pub struct SimArgs {
    /// Listens here for all venues, at /<venue><the venue's own path>; each venue also gets a port of its own
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8090")]
    pub listen: SocketAddr,
    #[command(flatten)]
    /// The market
    pub market: MarketArgs,
    /// Makes a certificate, writes it here as PEM for clients to trust, and serves each venue's own port over TLS with it
    #[arg(long, value_name = "FILE")]
    pub tls: Option<PathBuf>,
    /// Prints the addresses as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Holds what the simulated market is like.
#[derive(Clone, Debug, clap::Args)]
pub struct MarketArgs {
    /// Makes one world for one number
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Moves the market so many times faster than the clock, 0 to 1000
    #[arg(long, default_value_t = 1.0)]
    pub speed: f64,
    /// Answers after a time between these, in milliseconds
    #[arg(long, value_name = "MS-MS", default_value = "50-300", value_parser = latency)]
    pub latency: (Duration, Duration),
    /// Sets the faults in this file from the start: TOML, or JSON where the name ends in .json
    #[arg(long, value_name = "FILE")]
    pub faults: Option<PathBuf>,
}

/// Says why the simulation does not run.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// The address cannot be listened at.
    #[error("cannot listen at {0}: {1}")]
    Listen(SocketAddr, #[source] io::Error),
    /// The simulation did not start.
    #[error("the simulation does not start: {0}")]
    Start(#[source] io::Error),
    /// The fault file cannot be read.
    #[error("fault file {0:?}: {1}")]
    File(PathBuf, #[source] io::Error),
    /// The fault file is not one.
    #[error("fault file {0:?}: {1}")]
    Parse(PathBuf, String),
    /// A fault in the file is refused.
    #[error("fault file {0:?}: {1}")]
    Fault(PathBuf, #[source] FaultError),
    /// No certificate could be made.
    #[error("tls: {0}")]
    Tls(#[source] io::Error),
    /// The certificate cannot be written.
    #[error("certificate file {0:?}: {1}")]
    Certificate(PathBuf, #[source] io::Error),
    /// The addresses cannot be printed.
    #[error("cannot print: {0}")]
    Print(#[source] io::Error),
}

/// Reads `50-300` or `50`.
fn latency(text: &str) -> Result<(Duration, Duration), String> {
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    let ms = |text: &str| text.trim().parse().map(Duration::from_millis).map_err(|_| "expected milliseconds, like 50-300".to_owned());
    let (low, high) = (ms(low)?, ms(high)?);
    if low > high { Err("expected the shorter time first, like 50-300".to_owned()) } else { Ok((low, high)) }
}

/// Reads a fault file.
///
/// # Errors
/// [`SimError`] naming the file and what is wrong in it.
pub fn fault_file(path: &PathBuf) -> Result<FaultFile, SimError> {
    let text = std::fs::read_to_string(path).map_err(|error| SimError::File(path.clone(), error))?;
    let json = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("json"));
    let parsed =
        if json { serde_json::from_str(&text).map_err(|e| e.to_string()) } else { toml::from_str(&text).map_err(|e| e.to_string()) };
    parsed.map_err(|error| SimError::Parse(path.clone(), error))
}

/// Runs the command and gives the process's exit code.
pub(super) fn main(args: SimArgs) -> Exit {
    match actix::System::new().block_on(run(args)) {
        Ok(()) => Exit::Ok,
        Err(error) => fail(Exit::Failure, &error.to_string()),
    }
}

/// Runs the command: prints the addresses to standard output and serves until Ctrl-C.
///
/// # Errors
/// [`SimError`].
pub async fn run(args: SimArgs) -> Result<(), SimError> {
    match told() {
        Ok(told) => run_until(args, &mut io::stdout(), told).await,
        // Where no signal can be had, the process is ended by other means.
        Err(_) => run_until(args, &mut io::stdout(), std::future::pending()).await,
    }
}

/// Runs the command until a future is ready, and prints to a writer.
///
/// # Errors
/// [`SimError`].
pub async fn run_until(args: SimArgs, out: &mut impl io::Write, stop: impl Future<Output = ()>) -> Result<(), SimError> {
    let tls = args.tls.as_ref().map(certified).transpose()?;
    let sim = start(args.listen, &args.market, tls).await?;
    let text = if args.json { format!("{}\n", as_json(&sim)) } else { as_text(&sim) };
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(SimError::Print)?;
    stop.await;
    sim.stop().await;
    Ok(())
}

/// Makes a certificate and writes it to a file.
fn certified(file: &PathBuf) -> Result<Tls, SimError> {
    let tls = Tls::new().map_err(SimError::Tls)?;
    std::fs::write(file, &tls.pem).map_err(|error| SimError::Certificate(file.clone(), error))?;
    Ok(tls)
}

/// Starts the simulation on the current runtime.
///
/// # Errors
/// [`SimError`].
pub async fn start(listen: SocketAddr, market: &MarketArgs, tls: Option<Tls>) -> Result<Sim, SimError> {
    let faults = market.faults.as_ref().map(|path| fault_file(path).map(|file| (path.clone(), file.faults))).transpose()?;
    let listener = TcpListener::bind(listen).await.map_err(|error| SimError::Listen(listen, error))?;
    let options = Options { seed: market.seed, speed: market.speed, latency: market.latency };
    let sim = Sim::start_over(options, listener, tls).map_err(SimError::Start)?;
    if let Some((path, specs)) = faults {
        sim.set_faults(specs).map_err(|error| SimError::Fault(path, error))?;
    }
    Ok(sim)
}

fn as_text(sim: &Sim) -> String {
    let mut text = format!("SIMULATED exchanges at {}  (control at {}/_sim/)\n", sim.origin, sim.origin);
    for (venue, own) in &sim.own {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{venue:<18}{}/{venue:<18}{own}", sim.origin);
    }
    text
}

fn as_json(sim: &Sim) -> serde_json::Value {
    let row = |(venue, own): &(quorate_actors::model::VenueId, String)| {
        (venue.as_str().to_owned(), serde_json::json!({"origin": format!("{}/{venue}", sim.origin), "own_origin": own}))
    };
    serde_json::json!({"simulated": true, "origin": sim.origin, "venues": sim.own.iter().map(row).collect::<serde_json::Map<_, _>>()})
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorate_actors::sim::FaultName;

    #[test]
    fn latencies_are_a_range_or_one_number() {
        let ms = Duration::from_millis;
        assert_eq!(latency("50-300"), Ok((ms(50), ms(300))));
        assert_eq!(latency("0"), Ok((ms(0), ms(0))));
        assert!(latency("300-50").is_err() && latency("a-b").is_err() && latency("").is_err());
    }

    #[test]
    fn a_fault_is_the_same_in_toml_and_json() {
        let toml = "[[faults]]\nvenue = \"kraken\"\npair = \"BTC-USD\"\nfault = \"rate_limited\"\nshare = 1\nfor_ms = 10000\nparams = { retry_after_s = 7 }\n";
        let json = r#"{"faults":[{"venue":"kraken","pair":"BTC-USD","fault":"rate_limited","share":1.0,"after_ms":0,"for_ms":10000,"params":{"retry_after_s":7}}]}"#;
        let (toml, json): (FaultFile, FaultFile) = (toml::from_str(toml).unwrap(), serde_json::from_str(json).unwrap());
        assert_eq!(toml, json);
        assert_eq!(toml.faults[0].fault, FaultName::RateLimited);
        let unknown = toml::from_str::<FaultFile>("[[faults]]\nvenue = \"*\"\nfault = \"slowly\"\n").unwrap_err().to_string();
        assert!(unknown.contains("unknown fault \"slowly\""), "{unknown}");
        let unknown = toml::from_str::<FaultFile>("[[faults]]\nvenue = \"*\"\nfault = \"slow\"\nshere = 1\n").unwrap_err().to_string();
        assert!(unknown.contains("shere"), "{unknown}");
    }
}
