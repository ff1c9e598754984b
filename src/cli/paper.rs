//! `completions` and `man`: what shells and manuals are told of the commands, written from the commands themselves.

use super::output::{Exit, fail, finish};
use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;
use std::{fs, io, path::PathBuf};

/// Prints a shell's completions
///
/// For bash: quorate completions bash > /etc/bash_completion.d/quorate
#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Prints the manual page of quorate or of one of its commands, or writes them all to a folder
///
/// To read one: quorate man quote | man -l -
#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// The command; quorate itself where none is named
    command: Option<String>,
    /// Writes every page to this folder: quorate.1, quorate-quote.1, ...
    #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
    dir: Option<PathBuf>,
}

/// Runs `completions`.
pub(super) fn completions(args: &CompletionsArgs) -> Exit {
    let mut out = Vec::new();
    clap_complete::generate(args.shell, &mut super::Cli::command(), "quorate", &mut out);
    finish(&String::from_utf8_lossy(&out), Exit::Ok)
}

/// Runs `man`.
pub(super) fn man(args: &ManArgs) -> Exit {
    let root = super::Cli::command();
    if let Some(dir) = &args.dir {
        let written = fs::create_dir_all(dir).and_then(|()| {
            every_page(root).into_iter().try_for_each(|(name, command)| fs::write(dir.join(format!("{name}.1")), page(&name, command)?))
        });
        return match written {
            Ok(()) => Exit::Ok,
            Err(error) => fail(Exit::Failure, &format!("folder {}: {error}", dir.display())),
        };
    }
    let wanted = args.command.as_ref().map_or_else(|| "quorate".to_owned(), |command| format!("quorate-{command}"));
    let pages = every_page(root);
    let known = pages.iter().filter_map(|(name, _)| name.strip_prefix("quorate-")).map(str::to_owned).collect::<Vec<_>>().join(", ");
    match pages.into_iter().find(|(name, _)| *name == wanted) {
        None => fail(Exit::Usage, &format!("command {:?}, expected one of {known}", args.command.as_deref().unwrap_or_default())),
        Some((name, command)) => match page(&name, command) {
            Ok(page) => finish(&String::from_utf8_lossy(&page), Exit::Ok),
            Err(error) => fail(Exit::Failure, &error.to_string()),
        },
    }
}

/// Gives every command that is shown, with the name of its page.
fn every_page(root: Command) -> Vec<(String, Command)> {
    let of = |command: &Command| (format!("quorate-{}", command.get_name()), command.clone());
    let commands: Vec<_> = root.get_subcommands().filter(|command| !command.is_hide_set()).map(of).collect();
    std::iter::once(("quorate".to_owned(), root)).chain(commands).collect()
}

fn page(name: &str, command: Command) -> io::Result<Vec<u8>> {
    // clap_mangen takes the name of the page, and the name that is typed, from the command.
    let typed = name.replacen('-', " ", 1);
    let mut out = Vec::new();
    clap_mangen::Man::new(command.display_name(name).bin_name(typed)).render(&mut out)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_that_names_its_options() {
        let pages = every_page(super::super::Cli::command());
        assert!(pages.len() > 10);
        for (name, command) in pages {
            let options: Vec<String> = command.get_arguments().filter_map(|argument| argument.get_long().map(str::to_owned)).collect();
            let page = String::from_utf8(page(&name, command).unwrap()).unwrap();
            assert!(page.contains(".TH quorate"), "{name}");
            // Roff writes a hyphen as \-.
            assert!(options.iter().all(|option| page.contains(&option.replace('-', "\\-"))), "{name}: {options:?}");
        }
    }
}
