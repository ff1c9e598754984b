//! The built program as a child, what it says, and `quorate sim` for it to ask.
#![allow(dead_code, unreachable_pub, missing_docs, reason = "each test file uses its part")]

use quorate_actors::venues::VENUES;
use serde_json::Value;
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::Duration,
};

/// A run that takes longer than this is ended, and its test fails.
const STEPS_MAX: u32 = 6000;
const STEP: Duration = Duration::from_millis(10);

/// A run, come to its end.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub fn lines(&self) -> Vec<Vec<&str>> {
        self.out.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect()).collect()
    }
}

/// The program, with nothing in its environment that changes what it does.
pub fn quorate(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quorate"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("QUORATE_")) {
        command.env_remove(name);
    }
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub fn run_with(mut command: Command, input: &[u8]) -> Ran {
    let mut child = command.spawn().unwrap();
    // A program that does not read it may have ended before it is written.
    let _ = child.stdin.take().unwrap().write_all(input);
    let read = |pipe: Option<Box<dyn Read + Send>>| {
        thread::spawn(move || {
            let mut text = String::new();
            pipe.map(|mut pipe| pipe.read_to_string(&mut text));
            text
        })
    };
    let out = read(child.stdout.take().map(|p| Box::new(p) as _));
    let err = read(child.stderr.take().map(|p| Box::new(p) as _));
    let status = (0..STEPS_MAX).find_map(|_| {
        let status = child.try_wait().unwrap();
        if status.is_none() {
            thread::sleep(STEP);
        }
        status
    });
    if status.is_none() {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let (out, err) = (out.join().unwrap(), err.join().unwrap());
    let status = status.unwrap_or_else(|| panic!("{command:?} does not end: {out}{err}"));
    Ran { code: status.code().unwrap_or_else(|| panic!("{status}: {out}{err}")), out, err }
}

pub fn run(args: &[&str]) -> Ran {
    run_with(quorate(args), b"")
}

/// A file that goes with the test.
pub struct File(PathBuf);

impl File {
    pub fn new(text: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("quorate-cli-{}-{}.toml", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).unwrap();
        Self(path)
    }

    pub fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// `quorate sim` on a free port, and a configuration whose venues are there.
pub struct Sim {
    child: Child,
    origin: String,
    config: File,
}

impl Sim {
    /// Starts it with the faults of a TOML text.
    pub fn start(faults: &str) -> Self {
        let file = File::new(faults);
        let mut command = quorate(&["sim", "--listen", "127.0.0.1:0", "--latency", "0-20", "--json", "--faults", file.path()]);
        let mut child = command.stderr(Stdio::inherit()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        let venues = said["venues"].as_object().unwrap();
        assert_eq!((venues.len(), &said["simulated"]), (VENUES.len(), &Value::Bool(true)));
        let tables = venues.iter().map(|(id, at)| format!("[venues.{id}]\norigin = {}\n", at["origin"]));
        let pairs = "pairs = [{ name = \"BTC-USDT\" }, { name = \"ETH-USDC\" }, { name = \"BTC-EUR\" }]\n";
        let config = File::new(&format!("{pairs}{}", tables.collect::<String>()));
        Self { child, origin: said["origin"].as_str().unwrap().to_owned(), config }
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        run(&[args, &["--config", self.config.path()]].concat())
    }

    /// Gives how many requests each venue was sent.
    pub fn requests(&self) -> Vec<(String, u64)> {
        let host = self.origin.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.write_all(b"GET /_sim/stats HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        let stats: Value = serde_json::from_str(body).unwrap();
        let venues = stats.get("venues").unwrap_or(&stats).as_object().unwrap();
        venues.iter().map(|(id, venue)| (id.clone(), venue["requests"].as_u64().unwrap())).collect()
    }
}

impl Drop for Sim {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
