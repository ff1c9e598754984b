//! What of this machine serving depends on.

use super::{Finding, Verdict};
use crate::{config::Config, serve};
use std::{fs, io::ErrorKind, net::TcpListener};

/// What is open besides connections: listeners, logs, the runtime's own.
const BESIDES: u64 = 64;
/// Connections that one venue may have open.
const EACH_VENUE: u64 = 16;

/// Looks at the machine.
pub(super) fn findings(config: &Config) -> Vec<Finding> {
    let mut findings = vec![open_files(fs::read_to_string("/proc/self/limits").ok().as_deref().and_then(open_files_limit), config)];
    findings.extend([("listen", config.listen), ("admin_listen", config.admin_listen)].map(|(key, address)| {
        let (verdict, detail) = match TcpListener::bind(address) {
            Ok(_) => (Verdict::Ok, "is free".to_owned()),
            Err(error) if error.kind() == ErrorKind::AddrInUse => (Verdict::Warn, "is in use, perhaps by a quorate that runs".to_owned()),
            Err(error) => (Verdict::Bad, error.to_string()),
        };
        Finding::new("address", format!("{key} {address}"), verdict, detail)
    }));
    let (verdict, detail) = match (serve::guard(config, config.admin_listen), &config.admin_token_file) {
        (Err(error), _) => (Verdict::Bad, error.to_string()),
        (Ok(_), Some(file)) => (Verdict::Ok, format!("asks for the token in {}", file.display())),
        (Ok(_), None) => (Verdict::Ok, "asks for no token, on loopback".to_owned()),
    };
    findings.push(Finding::new("admin", config.admin_listen, verdict, detail));
    findings
}

/// Reads the soft limit of open files from Linux's list of limits.
fn open_files_limit(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Judges the limit against what the configuration may open.
fn open_files(limit: Option<u64>, config: &Config) -> Finding {
    let venues = config.venues.values().filter(|venue| venue.enabled).count();
    let of_venues = u64::try_from(venues).unwrap_or(u64::MAX).saturating_mul(EACH_VENUE);
    let clients = u64::try_from(config.limits.connections).unwrap_or(u64::MAX);
    let needed = clients.saturating_add(of_venues).saturating_add(BESIDES);
    let (verdict, detail) = match limit {
        None => (Verdict::Warn, format!("not known here, {needed} may be needed")),
        Some(limit) if limit < needed => {
            (Verdict::Warn, format!("{limit}, and {needed} may be needed: ulimit -n {needed}, or fewer limits.connections"))
        }
        Some(limit) => (Verdict::Ok, format!("{limit}, and {needed} may be needed")),
    };
    Finding::new("open files", "limit", verdict, detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Layers;

    #[test]
    fn the_limit_is_read_and_judged() {
        let text = "Limit                     Soft Limit           Hard Limit           Units     \nMax open files            1024                 524288               files     \n";
        assert_eq!((open_files_limit(text), open_files_limit("")), (Some(1024), None));
        let config = Config::of(&Layers::defaults().unwrap()).unwrap();
        let verdict = |limit: Option<u64>| open_files(limit, &config).verdict;
        // 4096 clients, twelve venues with sixteen connections, and the rest.
        assert_eq!((verdict(Some(4351)), verdict(Some(4352)), verdict(None)), (Verdict::Warn, Verdict::Ok, Verdict::Warn));
    }
}
