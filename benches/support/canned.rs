//! A server of fixed bytes in a process of its own: a port for each venue, a thread for each connection.

use super::market;
use quorate_actors::{clock::Clock, venue::Venue};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

/// Answers with the last other request that its port was sent, letter by letter.
const SEEN: &str = "/_seen";

/// How long the venues take to answer: nothing at all, or 50 to 300 ms, each its own time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delay {
    None,
    Seeded(u64),
}

impl Delay {
    /// Gives the delay of a venue by its place.
    pub fn of(self, place: usize) -> Duration {
        match self {
            Self::None => Duration::ZERO,
            Self::Seeded(seed) => Duration::from_micros(fastrand::Rng::with_seed(seed ^ place as u64).u64(50_000..300_000)),
        }
    }

    pub fn longest(self, venues: usize) -> Duration {
        (0..venues).map(|place| self.of(place)).max().unwrap_or_default()
    }
}

/// A running server. It ends with this value.
pub struct Server {
    child: Child,
    pub ports: Vec<u16>,
    pub delay: Delay,
}

impl Server {
    /// Starts this very program again as a server.
    pub fn start(venues: usize, delay: Delay) -> Self {
        let seed = if let Delay::Seeded(seed) = delay { seed.to_string() } else { "none".to_owned() };
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["server", &venues.to_string(), &seed])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ports = line.split_whitespace().map(|port| port.parse().unwrap()).collect();
        Self { child, ports, delay }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Gives the bytes of the last request that a port was sent.
pub fn seen(port: u16) -> Vec<u8> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(stream, "GET {SEEN} HTTP/1.1\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    answer
}

/// Runs the server when the program was started as one; tells whether it was.
pub fn serve_if_asked() -> bool {
    let args: Vec<String> = std::env::args().collect();
    let [_, word, venues, seed] = args.as_slice() else { return false };
    if word != "server" {
        return false;
    }
    let delay = seed.parse().map_or(Delay::None, Delay::Seeded);
    let mut ports = String::new();
    let clock = Clock::start();
    for (place, venue) in market::venues(venues.parse().unwrap()).into_iter().enumerate() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        ports.push_str(&format!("{} ", listener.local_addr().unwrap().port()));
        let (delay, clock, last) = (delay.of(place), clock.clone(), Arc::new(Mutex::new(Vec::new())));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (clock, last) = (clock.clone(), Arc::clone(&last));
                thread::spawn(move || talk(stream.unwrap(), venue.inner, delay, &clock, &last));
            }
        });
    }
    println!("{ports}");
    // Until whoever started it is gone.
    std::io::stdin().read_to_end(&mut Vec::new()).ok();
    true
}

fn talk(mut stream: TcpStream, venue: &dyn Venue, delay: Duration, clock: &Clock, last: &Mutex<Vec<u8>>) {
    stream.set_nodelay(true).unwrap();
    let (mut buffer, mut held) = ([0; 4096], 0);
    let (mut request, mut answer) = (Vec::new(), Vec::new());
    loop {
        match stream.read(&mut buffer[held..]) {
            Ok(0) | Err(_) => return,
            Ok(read) => held += read,
        }
        if !buffer[..held].ends_with(b"\r\n\r\n") {
            continue;
        }
        if request != buffer[..held] {
            request = buffer[..held].to_vec();
            let text = String::from_utf8(request.clone()).unwrap();
            let target = text.split(' ').nth(1).unwrap();
            if target == SEEN {
                stream.write_all(&last.lock().unwrap()).ok();
                return;
            }
            last.lock().unwrap().clone_from(&request);
            answer = written(venue, target, clock);
        }
        held = 0;
        if !delay.is_zero() {
            thread::sleep(delay);
        }
        if stream.write_all(&answer).is_err() {
            return;
        }
    }
}

fn written(venue: &dyn Venue, target: &str, clock: &Clock) -> Vec<u8> {
    let body = market::body(venue, target, clock.now());
    let date = jiff::Timestamp::from_millisecond(clock.now().0).unwrap().strftime("%a, %d %b %Y %H:%M:%S GMT");
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nDate: {date}\r\nContent-Length: {length}\r\n\r\n{body}").into_bytes()
}
