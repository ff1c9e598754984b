//! `quorate replay`: frames of quotes through the rule, offline.

use super::output::{Exit, fail, finish};
use crate::replay::{Line, Replay};
use clap::Args;
use std::{fs, path::PathBuf};

/// Runs recorded frames of quotes through the rule of the rate, and prints one outcome a line as JSON
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The file with the frames
    pub file: PathBuf,
    /// Prints JSON, as it does anyway
    #[arg(long)]
    pub json: bool,
}

/// The longest file that is read.
const BYTES_MAX: u64 = 256 << 20;

pub(super) fn run(args: &ReplayArgs) -> Exit {
    let shown = args.file.display();
    let text = match fs::metadata(&args.file)
        .and_then(|facts| if facts.len() > BYTES_MAX { Ok(None) } else { fs::read_to_string(&args.file).map(Some) })
    {
        Ok(Some(text)) => text,
        Ok(None) => return fail(Exit::Failure, &format!("quorate replay: {shown} is longer than {BYTES_MAX} bytes")),
        Err(error) => return fail(Exit::Failure, &format!("quorate replay: {shown}: {error}")),
    };
    let replay = match Replay::read(&text) {
        Ok(replay) => replay,
        Err(error) => return fail(Exit::Failure, &format!("quorate replay: {shown}: {error}")),
    };
    let mut lines = String::new();
    for outcome in replay.run() {
        lines.push_str(&serde_json::to_string(&Line::of(&outcome)).unwrap_or_default());
        lines.push('\n');
    }
    finish(&lines, Exit::Ok)
}
