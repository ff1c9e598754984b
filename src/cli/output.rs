//! How commands speak: data to stdout, all else to stderr, one table of exit codes. A closed pipe is no failure and no panic.

use super::table::Look;
use std::{
    ffi::OsStr,
    io::{self, ErrorKind, IsTerminal, Write},
    process::ExitCode,
};

/// Names how a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// As it should.
    Ok = 0,
    /// It failed.
    Failure = 1,
    /// It was called wrongly.
    Usage = 2,
    /// Some venue gave nothing, and `--strict` says that this is not enough.
    Partial = 3,
    /// No venue gave a quote.
    NoQuote = 4,
    /// The configuration is wrong.
    Config = 5,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Writes to stderr; with that gone there is nobody left to tell.
pub(super) fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Writes to stderr and gives the exit, for the ends of commands.
pub(super) fn fail(exit: Exit, text: &str) -> Exit {
    say(text);
    exit
}

/// Writes data to stdout and gives `exit`; a reader who has seen enough and went is no failure.
pub(super) fn finish(data: &str, exit: Exit) -> Exit {
    finish_to(&mut io::stdout(), data, exit)
}

fn finish_to(out: &mut impl Write, data: &str, exit: Exit) -> Exit {
    match out.write_all(data.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => fail(Exit::Failure, &format!("standard output: {error}")),
        _ => exit,
    }
}

/// Tells how to print: tables are for terminals, plain lines for programs.
pub(super) fn look() -> Look {
    if !io::stdout().is_terminal() {
        return Look::Lines;
    }
    let variable = |name: &str| std::env::var_os(name);
    Look::Table { color: wants_color(variable("NO_COLOR").as_deref(), variable("TERM").as_deref()) }
}

/// <https://no-color.org>: any value but the empty one.
fn wants_color(no_color: Option<&OsStr>, term: Option<&OsStr>) -> bool {
    no_color.is_none_or(OsStr::is_empty) && term.is_some_and(|term| term != "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Broken(ErrorKind);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_closed_pipe_is_no_failure_and_a_full_disk_is() {
        assert_eq!(finish_to(&mut Broken(ErrorKind::BrokenPipe), "x", Exit::Partial), Exit::Partial);
        assert_eq!(finish_to(&mut Broken(ErrorKind::StorageFull), "x", Exit::Ok), Exit::Failure);
        let mut out = Vec::new();
        assert_eq!((finish_to(&mut out, "x", Exit::NoQuote), out), (Exit::NoQuote, b"x".to_vec()));
    }

    #[test]
    fn color_is_for_terminals_that_have_it_and_people_who_want_it() {
        let wants = |no: Option<&str>, term: Option<&str>| wants_color(no.map(OsStr::new), term.map(OsStr::new));
        assert!(wants(None, Some("xterm")) && wants(Some(""), Some("xterm")));
        assert!(!wants(Some("1"), Some("xterm")) && !wants(None, Some("dumb")) && !wants(None, None));
    }
}
