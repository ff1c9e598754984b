//! The `quorate` program.

use std::process::ExitCode;

/// Takes less CPU for a fetch than glibc's: docs/claims.md says how much.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    env_logger::Builder::from_env(env_logger::Env::new().filter_or("QUORATE_LOG", "warn").write_style("QUORATE_LOG_STYLE")).init();
    quorate::cli::run()
}
