//! The way to each venue, step by step: its name, its port, its answer, its clock.

use super::{Finding, Verdict};
use crate::{
    cli::{
        once::{sentence, start_for_one},
        output::Exit,
    },
    config::Config,
    http::quotes,
};
use actix_web::http::Uri;
use futures_util::future::join_all;
use quorate_actors::{
    model::{Fault, Pair},
    terms::Terms,
};
use std::{io, net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    net::{TcpStream, lookup_host},
    time::{Instant, timeout},
};

/// How long one step may take.
const STEP: Duration = Duration::from_secs(5);
/// How far our clock may be from the venues' before a rate is made without their times.
const SKEW_WARN_MS: u64 = 2000;
/// What is asked for: every built-in venue lists it.
const ASKED: &str = "BTC-USDT";

/// Looks at every enabled venue, all at once.
pub(super) async fn findings(config: &Config) -> Result<Vec<Finding>, Exit> {
    let enabled = config.venues.iter().filter(|(_, venue)| venue.enabled);
    let ways = join_all(enabled.map(|(id, venue)| way(id, &venue.origin))).await;
    let mut findings: Vec<Finding> = ways.into_iter().flatten().collect();
    findings.extend(answers(config).await?);
    Ok(findings)
}

/// Looks up a venue's name and opens a connection to it.
async fn way(id: &str, origin: &str) -> Vec<Finding> {
    let Some((host, port)) = host_and_port(origin) else {
        return vec![Finding::new("name", id, Verdict::Bad, format!("{origin} has no host"))];
    };
    let began = Instant::now();
    let found = timeout(STEP, lookup_host((host.as_str(), port))).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    let addresses: Vec<SocketAddr> = match found {
        Ok(addresses) => addresses.collect(),
        Err(error) => return vec![Finding::new("name", id, Verdict::Bad, format!("{host}: {error}"))],
    };
    let name =
        Finding::new("name", id, Verdict::Ok, format!("{host}, addresses: {}, in {} ms", addresses.len(), began.elapsed().as_millis()));
    let began = Instant::now();
    let reached = timeout(STEP, TcpStream::connect(addresses.as_slice())).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    let reach = match reached.and_then(|stream| stream.peer_addr()) {
        Ok(address) => Finding::new("reach", id, Verdict::Ok, format!("{address} in {} ms", began.elapsed().as_millis())),
        Err(error) => Finding::new("reach", id, Verdict::Bad, format!("{host}:{port}: {error}")),
    };
    vec![name, reach]
}

fn host_and_port(origin: &str) -> Option<(String, u16)> {
    let uri: Uri = origin.parse().ok()?;
    let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("http") { 80 } else { 443 });
    // An address of the sixth version stands in brackets there.
    Some((uri.host()?.trim_matches(['[', ']']).to_owned(), port))
}

/// Asks every venue once, and compares the clocks.
async fn answers(config: &Config) -> Result<Vec<Finding>, Exit> {
    let state = start_for_one(config)?;
    let Ok(pair) = ASKED.parse::<Pair>() else { return Ok(Vec::new()) };
    let deadline = config.fetch_timeout.saturating_add(Duration::from_millis(500));
    let terms = Terms { fresh: true, deadline, ..state.engine.terms().clone() };
    let mut findings = Vec::new();
    match quotes::ask_for_any(&state, pair, &terms).await {
        Ok(published) => {
            let view = &published.view;
            let given = view.rows.iter().map(|row| {
                let ms = row.quote.latency.as_millis();
                match row.refused {
                    None => Finding::new("answer", &row.quote.venue, Verdict::Ok, format!("{pair} in {ms} ms")),
                    Some(reason) => Finding::new(
                        "answer",
                        &row.quote.venue,
                        Verdict::Warn,
                        format!("{pair} in {ms} ms, which does not count: {reason}"),
                    ),
                }
            });
            let missing = view.misses.iter().map(|miss| {
                let said: &Arc<Fault> = &miss.fault;
                Finding::new("answer", &miss.venue, Verdict::Bad, format!("{pair}: {}: {}", said.reason, said.detail))
            });
            findings.extend(given.chain(missing));
            findings.sort_by(|a: &Finding, b| a.subject.cmp(&b.subject));
        }
        Err(error) => findings.push(Finding::new("answer", pair, Verdict::Bad, sentence(&error))),
    }
    findings.push(clock(state.engine.skew_ms()));
    Ok(findings)
}

/// Judges our clock by how far the venues' are ahead of it.
fn clock(ahead_ms: Option<i64>) -> Finding {
    let (verdict, detail) = match ahead_ms {
        None => (Verdict::Warn, "not known: too few venues said their time".to_owned()),
        Some(ms) => {
            let side = if ms > 0 { "behind" } else { "ahead of" };
            let verdict = if ms.unsigned_abs() > SKEW_WARN_MS { Verdict::Warn } else { Verdict::Ok };
            (verdict, format!("{} ms {side} the venues'", ms.unsigned_abs()))
        }
    };
    Finding::new("clock", "ours", verdict, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_says_where_to_connect() {
        let of = |origin: &str| host_and_port(origin).map(|(host, port)| format!("{host} {port}"));
        assert_eq!(of("https://api.kraken.com").as_deref(), Some("api.kraken.com 443"));
        assert_eq!(of("http://127.0.0.1:8090/kraken").as_deref(), Some("127.0.0.1 8090"));
        assert_eq!(of("http://[::1]:8090").as_deref(), Some("::1 8090"));
        assert_eq!(of("/x"), None);
    }

    #[test]
    fn a_clock_is_judged_by_most_of_the_venues() {
        assert_eq!(clock(Some(40)), Finding::new("clock", "ours", Verdict::Ok, "40 ms behind the venues'"));
        assert_eq!(clock(Some(-2500)), Finding::new("clock", "ours", Verdict::Warn, "2500 ms ahead of the venues'"));
        assert_eq!(clock(None).verdict, Verdict::Warn);
    }
}
