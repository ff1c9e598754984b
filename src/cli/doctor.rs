//! `doctor`: whether this machine and its network are fit to serve, on one page.

mod network;
mod system;

use super::{
    config::SourceArgs,
    once::{configured, run as run_once},
    output::{Exit, finish, look},
    quote::{SIMULATED, warn_simulated},
    table::{Align, Cell, Look, Table, Tone, paint},
};
use crate::config::Config;
use clap::Args;
use serde::Serialize;

/// Looks whether this machine and its network are fit to serve, and says so on one page
///
/// It looks at the limit of open files, at the addresses to listen on, at the file with the admin token, and for each venue at its name, at the way to it, at its
/// answer and at our clock against its own. On a terminal it prints a table; elsewhere one line a finding with tabs between: check, subject, verdict (ok, warn or
/// bad), detail. No server is needed, and one that runs already is no fault.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 fit, 1 failure, 2 usage, 3 something is bad, 5 configuration")]
pub(super) struct DoctorArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Tells what a finding comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Ok,
    /// Something works less well than it could.
    Warn,
    /// Something does not work.
    Bad,
}

/// Holds what was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Finding {
    check: &'static str,
    subject: String,
    verdict: Verdict,
    detail: String,
}

impl Finding {
    fn new(check: &'static str, subject: impl ToString, verdict: Verdict, detail: impl Into<String>) -> Self {
        Self { check, subject: subject.to_string(), verdict, detail: detail.into() }
    }
}

#[derive(Serialize)]
struct Report<'a> {
    simulated: bool,
    verdict: Verdict,
    findings: &'a [Finding],
}

/// Runs the command.
pub(super) fn run(args: &DoctorArgs) -> Exit {
    match configured(&args.source) {
        Ok(config) => run_once(examine(args, &config)),
        Err(exit) => exit,
    }
}

async fn examine(args: &DoctorArgs, config: &Config) -> Result<Exit, Exit> {
    let mut findings = vec![Finding::new("version", "quorate", Verdict::Ok, super::VERSION)];
    findings.extend(system::findings(config));
    findings.extend(network::findings(config).await?);
    let verdict = findings.iter().map(|finding| finding.verdict).max().unwrap_or(Verdict::Ok);
    let exit = if verdict == Verdict::Bad { Exit::Partial } else { Exit::Ok };
    let simulated = config.simulated();
    if args.json {
        warn_simulated(simulated);
        let report = Report { simulated, verdict, findings: &findings };
        return Ok(finish(&format!("{}\n", String::from_utf8_lossy(&crate::wire::json(&report))), exit));
    }
    Ok(finish(&render(&findings, verdict, simulated, look()), exit))
}

fn render(findings: &[Finding], verdict: Verdict, simulated: bool, look: Look) -> String {
    let mut table = Table::new(&[("check", Align::Left), ("subject", Align::Left), ("verdict", Align::Left), ("detail", Align::Left)]);
    for Finding { check, subject, verdict, detail } in findings {
        let tone = if *verdict == Verdict::Ok { Tone::Plain } else { Tone::Bad };
        table.push(vec![Cell::plain(check), Cell::plain(subject), Cell::new(word(*verdict), tone), Cell::plain(detail)]);
    }
    let first = match look {
        Look::Lines if simulated => format!("# {SIMULATED}\n"),
        Look::Lines => String::new(),
        Look::Table { color } => {
            let made_up = if simulated { format!("{}  ", paint("SIMULATED", "1;33", color)) } else { String::new() };
            format!("{made_up}{}\n\n", paint(&sentence(findings, verdict), "1", color))
        }
    };
    first + &table.render(look)
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Ok => "ok",
        Verdict::Warn => "warn",
        Verdict::Bad => "bad",
    }
}

/// Says what all of it comes to.
fn sentence(findings: &[Finding], verdict: Verdict) -> String {
    let count = |verdict: Verdict| findings.iter().filter(|finding| finding.verdict == verdict).count();
    match verdict {
        Verdict::Ok => "fit to serve".to_owned(),
        Verdict::Warn => format!("fit to serve, with {} warnings", count(Verdict::Warn)),
        Verdict::Bad => format!("{} of {} findings are bad", count(Verdict::Bad), findings.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_finding_is_the_verdict_and_every_one_has_a_line() {
        let findings = [
            Finding::new("open files", "limit", Verdict::Ok, "1024"),
            Finding::new("name", "kraken", Verdict::Bad, "api.kraken.com is not found"),
        ];
        assert_eq!(
            render(&findings, Verdict::Bad, true, Look::Lines),
            "# SIMULATED: a venue's origin is on loopback\nopen files\tlimit\tok\t1024\nname\tkraken\tbad\tapi.kraken.com is not found\n"
        );
        let table = render(&findings, Verdict::Bad, false, Look::Table { color: false });
        assert!(table.starts_with("1 of 2 findings are bad\n\ncheck"), "{table}");
        assert_eq!(sentence(&findings[..1], Verdict::Ok), "fit to serve");
    }
}
