//! What the system says of this process.

use std::time::Duration;

/// Holds the figures of the process; those that the system does not give are `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) version: &'static str,
    pub(crate) commit: &'static str,
    pub(crate) uptime_ms: u64,
    /// Resident memory.
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) threads: Option<u64>,
}

/// Reads them.
pub(super) fn read(uptime: Duration) -> Process {
    // There on Linux alone. The kernel makes the text on the spot: no disk is read.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    Process {
        version: env!("CARGO_PKG_VERSION"),
        commit: env!("BUILD_COMMIT"),
        uptime_ms: super::snapshot::millis(uptime),
        memory_bytes: number(&status, "\nVmRSS:").and_then(|kib| kib.checked_mul(1024)),
        threads: number(&status, "\nThreads:"),
    }
}

/// Gives the number behind a name, which begins with the end of the line before it.
fn number(status: &str, name: &str) -> Option<u64> {
    status.split_once(name)?.1.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_from_the_lines_of_their_names() {
        let text = "Name:\tquorate\nVmHWM:\t   30000 kB\nVmRSS:\t   23260 kB\nThreads:\t7\n";
        assert_eq!((number(text, "\nVmRSS:"), number(text, "\nThreads:"), number(text, "\nVmSwap:")), (Some(23_260), Some(7), None));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_has_memory_and_threads() {
        let process = read(Duration::from_millis(1500));
        assert!(process.memory_bytes > Some(1 << 20) && process.threads > Some(0), "{process:?}");
        assert_eq!(process.uptime_ms, 1500);
    }
}
