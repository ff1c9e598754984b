//! `config init`, `config check` and `config show`.

mod explain;
mod made;

use super::{
    output::{Exit, fail, finish, look, say},
    table::Look,
};
use crate::config::{Config, ConfigError, DEFAULT, From, Layers};
use clap::{Args, Subcommand};
use explain::explain;
use std::{fmt::Write as _, path::PathBuf};
use toml::{Table, Value};

/// Writes, checks and shows the configuration
///
/// A flag wins over the environment (QUORATE_LISTEN; nesting by __: QUORATE_VENUES__KRAKEN__ORIGIN), that over the file, this over the default.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 ok, 1 failure, 2 usage, 5 configuration")]
pub struct ConfigArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Writes a file with every key and its default to standard output
    Init,
    /// Reads the configuration, says whether it is right, and how each venue would be polled
    Check {
        #[command(flatten)]
        service: ServiceArgs,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Prints the configuration that is in force
    Show {
        #[command(flatten)]
        service: ServiceArgs,
        /// Adds to each value where it comes from
        #[arg(long)]
        origin: bool,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
}

/// Holds where the configuration comes from, for every command that reads it.
#[derive(Clone, Debug, Default, Args)]
pub struct SourceArgs {
    /// The configuration file (TOML)
    #[arg(long, short, env = "QUORATE_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Sets a key, whatever file and environment say: --set venues.kraken.enabled=false
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// Holds where the configuration of a service comes from.
#[derive(Clone, Debug, Default, Args)]
pub struct ServiceArgs {
    /// The configuration.
    #[command(flatten)]
    pub source: SourceArgs,
    /// Listens there
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<String>,
    /// Serves the admin routes there
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub admin_listen: Option<String>,
}

/// Says why a configuration could not be had.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file could not be read.
    #[error("file {0}: {1}")]
    Read(String, std::io::Error),
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A `--set` has no `=`.
    #[error("--set {0:?}, expected KEY=VALUE")]
    Set(String),
}

/// Merges defaults, file, environment and flags.
///
/// # Errors
/// [`LoadError`], naming the file, the variable or the flag.
pub fn load(source: &SourceArgs, environment: impl Iterator<Item = (String, String)>) -> Result<Layers, LoadError> {
    let mut layers = Layers::defaults()?;
    if let Some(path) = &source.config {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|e| LoadError::Read(shown.clone(), e))?;
        layers.file(&text, &From::File(shown))?;
    }
    layers.environment(environment)?;
    for pair in &source.set {
        let (key, value) = pair.split_once('=').ok_or_else(|| LoadError::Set(pair.clone()))?;
        layers.set(key.trim(), value.trim(), &From::Flag(format!("--set {}", key.trim())))?;
    }
    Ok(layers)
}

/// Merges the same, and the flags of a service.
///
/// # Errors
/// As [`load`].
pub fn load_service(args: &ServiceArgs, environment: impl Iterator<Item = (String, String)>) -> Result<Layers, LoadError> {
    let mut layers = load(&args.source, environment)?;
    for (key, flag, value) in [("listen", "--listen", &args.listen), ("admin_listen", "--admin-listen", &args.admin_listen)] {
        if let Some(value) = value {
            layers.set(key, value, &From::Flag(flag.to_owned()))?;
        }
    }
    Ok(layers)
}

/// Runs the command: data to standard output, warnings and errors to standard error.
pub(super) fn run(args: &ConfigArgs) -> Exit {
    match text(args, process_environment(), look()) {
        Ok(Said { data, warnings }) => {
            warnings.iter().for_each(|warning| say(warning));
            finish(&data, Exit::Ok)
        }
        Err(error) => fail(Exit::Config, &error.to_string()),
    }
}

/// Holds what a command has to say.
struct Said {
    data: String,
    warnings: Vec<String>,
}

/// Gives the process's environment; a variable that is no UTF-8 is none of ours.
pub(super) fn process_environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

fn text(args: &ConfigArgs, environment: impl Iterator<Item = (String, String)>, look: Look) -> Result<Said, LoadError> {
    let only = |data: String| Said { data, warnings: Vec::new() };
    let checked = |service: &ServiceArgs| -> Result<(Layers, Config), LoadError> {
        let layers = load_service(service, environment)?;
        let config = Config::of(&layers)?;
        Ok((layers, config))
    };
    Ok(match &args.command {
        Command::Init => only(DEFAULT.to_owned()),
        Command::Show { service, origin, json } => {
            let (layers, _) = checked(service)?;
            only(if *json { show_json(&layers, *origin) } else { show(&layers, *origin) })
        }
        Command::Check { service, json } => {
            let explained = explain(&checked(service)?.1);
            Said { data: if *json { explained.json() } else { explained.text(look) }, warnings: explained.warnings }
        }
    })
}

/// Prints merged values as TOML that reads back to the same; with where each comes from, if asked.
pub fn show(layers: &Layers, origin: bool) -> String {
    let mut out = String::new();
    show_table(&mut out, &layers.values, "", layers, origin);
    out
}

fn show_table(out: &mut String, table: &Table, path: &str, layers: &Layers, origin: bool) {
    let full = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    for (name, value) in table.iter().filter(|(_, v)| !v.is_table()) {
        let from = layers.origins.get(&full(name)).filter(|_| origin);
        match value {
            // One item a line: a list of tables is long.
            Value::Array(items) if items.iter().any(Value::is_table) => {
                let note = from.map(|f| format!(" # {f}")).unwrap_or_default();
                let _ = writeln!(out, "{name} = [{note}");
                items.iter().for_each(|item| {
                    let _ = writeln!(out, "    {item},");
                });
                let _ = writeln!(out, "]");
            }
            value => {
                let line = format!("{name} = {value}");
                let _ = match from {
                    Some(from) => writeln!(out, "{line:<44} # {from}"),
                    None => writeln!(out, "{line}"),
                };
            }
        }
    }
    for (name, value) in table {
        if let Value::Table(inner) = value {
            if inner.values().any(|v| !v.is_table()) {
                let _ = writeln!(out, "\n[{}]", full(name));
            }
            show_table(out, inner, &full(name), layers, origin);
        }
    }
}

/// Prints merged values as JSON; with `origins` by path, if asked.
pub fn show_json(layers: &Layers, origin: bool) -> String {
    let origins = |layers: &Layers| layers.origins.iter().map(|(path, from)| (path.clone(), from.to_string().into())).collect();
    let values = serde_json::to_value(&layers.values).unwrap_or_default();
    let shown =
        if origin { serde_json::json!({ "values": values, "origins": serde_json::Value::Object(origins(layers)) }) } else { values };
    format!("{shown:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn none() -> std::iter::Empty<(String, String)> {
        std::iter::empty()
    }

    #[test]
    fn what_is_shown_reads_back_to_the_same() {
        let source = SourceArgs { set: vec!["deadline_ms=700".into(), "venues.kraken.enabled=false".into()], ..SourceArgs::default() };
        let layers = load(&source, none()).unwrap();
        for origin in [false, true] {
            let mut again = Layers::default();
            again.file(&show(&layers, origin), &From::Default).unwrap();
            assert_eq!(Config::of(&again).unwrap(), Config::of(&layers).unwrap());
        }
    }

    #[test]
    fn the_origin_of_each_value_is_shown() {
        let source = SourceArgs { set: vec!["poll_ms=900".into()], ..SourceArgs::default() };
        let service = ServiceArgs { source, listen: Some("127.0.0.1:9".into()), admin_listen: None };
        let variables = [("QUORATE_VENUES__KRAKEN__ORIGIN".to_owned(), "http://127.0.0.1:1".to_owned())];
        let layers = load_service(&service, variables.into_iter()).unwrap();
        let shown = show(&layers, true);
        let has = |key: &str, from: &str| shown.lines().any(|l| l.starts_with(key) && l.ends_with(from));
        assert!(has("listen = \"127.0.0.1:9\"", "# flag --listen"), "{shown}");
        assert!(has("poll_ms = 900", "# flag --set poll_ms"), "{shown}");
        assert!(has("deadline_ms = 1000", "# default"), "{shown}");
        assert!(has("origin = \"http://127.0.0.1:1\"", "# environment QUORATE_VENUES__KRAKEN__ORIGIN"), "{shown}");
        let json: serde_json::Value = serde_json::from_str(&show_json(&layers, true)).unwrap();
        assert_eq!((&json["values"]["poll_ms"], &json["origins"]["poll_ms"]), (&900.into(), &"flag --set poll_ms".into()));
        assert!(explain(&Config::of(&layers).unwrap()).text(Look::Lines).starts_with("SIMULATED"));
    }

    #[test]
    fn what_init_writes_is_the_default() {
        let mut again = Layers::defaults().unwrap();
        again.file(DEFAULT, &From::File("f".into())).unwrap();
        assert_eq!(Config::of(&again).unwrap(), Config::defaults().unwrap());
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let missing = SourceArgs { config: Some("/no/such/file.toml".into()), ..SourceArgs::default() };
        assert!(load(&missing, none()).unwrap_err().to_string().starts_with("file /no/such/file.toml: "));
        let bad = SourceArgs { set: vec!["poll_ms".into()], ..SourceArgs::default() };
        assert_eq!(load(&bad, none()).unwrap_err().to_string(), "--set \"poll_ms\", expected KEY=VALUE");
        let wrong = ServiceArgs { listen: Some("here".into()), ..ServiceArgs::default() };
        let want = "flag --listen: listen: \"here\", expected an address and a port such as 127.0.0.1:8080";
        assert_eq!(load_service(&wrong, none()).unwrap_err().to_string(), want);
    }
}
