//! Tells the program which commit it is built from; `unknown` where there is no git, or no repository of ours.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

fn main() {
    let commit = commit().unwrap_or_else(|| "unknown".to_owned());
    println!("cargo:rustc-env=BUILD_COMMIT={commit}");
    println!("cargo:rerun-if-changed=build.rs");
    // What changes with every commit and every checkout.
    for name in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", name]).filter(|path| Path::new(path).exists()) {
            println!("cargo:rerun-if-changed={path}");
        }
    }
}

/// Gives the commit, unless these sources lie unpacked inside somebody else's repository.
fn commit() -> Option<String> {
    let ours = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR")?).canonicalize().ok()?;
    let top = PathBuf::from(git(&["rev-parse", "--show-toplevel"])?).canonicalize().ok()?;
    if top == ours { git(&["rev-parse", "--short=12", "HEAD"]) } else { None }
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (!text.is_empty()).then_some(text)
}
