//! `quorate verify`: a receipt proved or refuted, offline.

use super::output::{Exit, fail, finish};
use clap::Args;
use quorate_actors::rate::{self, Verified};
use serde::Serialize;
use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

/// Makes the rate of a receipt again from the receipt alone, and compares rate, decisions and id
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// The receipt, or an answer that bears one; `-` reads standard input
    pub file: PathBuf,
    /// Prints JSON
    #[arg(long)]
    pub json: bool,
}

/// The longest input that is read: longer than any receipt.
const BYTES_MAX: u64 = 16 << 20;

#[derive(Serialize)]
struct Report {
    verified: bool,
    id: Option<String>,
    pair: Option<String>,
    status: Option<&'static str>,
    rate: Option<String>,
    error: Option<String>,
}

/// Reads the input, prints what it is worth, and gives the exit.
pub(super) fn run(args: &VerifyArgs) -> Exit {
    let read = if args.file == Path::new("-") { bytes(io::stdin()) } else { File::open(&args.file).and_then(bytes) };
    let input = match read {
        Ok(input) => input,
        Err(error) => return fail(Exit::Failure, &format!("quorate verify: {}: {error}", args.file.display())),
    };
    let verified = rate::verify(&input);
    if args.json {
        let exit = if verified.is_ok() { Exit::Ok } else { Exit::Failure };
        let report = match verified {
            Ok(Verified { id, pair, status, rate }) => Report {
                verified: true,
                id: Some(id),
                pair: Some(pair.to_string()),
                status: Some(status.slug()),
                rate: rate.map(|rate| rate.to_string()),
                error: None,
            },
            Err(error) => Report { verified: false, id: None, pair: None, status: None, rate: None, error: Some(error.to_string()) },
        };
        return finish(&format!("{}\n", String::from_utf8_lossy(&crate::wire::json(&report))), exit);
    }
    match verified {
        Ok(Verified { id, pair, status, rate }) => {
            let rate = rate.map_or_else(|| "no rate".to_owned(), |rate| rate.to_string());
            finish(&format!("verified {id} {pair} {} {rate}\n", status.slug()), Exit::Ok)
        }
        Err(error) => fail(Exit::Failure, &format!("quorate verify: not verified: {error}")),
    }
}

fn bytes(input: impl Read) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    input.take(BYTES_MAX).read_to_end(&mut all)?;
    Ok(all)
}
