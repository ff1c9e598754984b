//! A quote answered from memory beside a plain handler of the same server that sends as many bytes, and beside itself without figures: instructions a
//! request, counted by callgrind. With figures, one scrape and one pull of the admin page come with every thousand requests.
//!
//! Each server is this program again, under callgrind, with its sockets; its client is this process, so that nothing of the client is counted.
//!
//! `cargo bench --bench memory` (valgrind must be installed)

#![allow(missing_docs, reason = "a bench has no readers of its docs but these")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::arithmetic_side_effects,
    reason = "a bench that cannot measure ends"
)]

use actix::System;
use actix_web::{App, HttpResponse, HttpServer, web};
use bytes::Bytes;
use quorate::{
    config::Config,
    serve::{self, Listeners},
};
use quorate_actors::{
    clock::Clock,
    model::Pair,
    sim::{Control, MemoryConnect, Options, World},
};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{ChildStdout, Command, Stdio},
    sync::Arc,
    time::Duration,
};
use tokio::sync::oneshot;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const PATH: &str = "/v1/quotes/BTC-USDT";
const PAIR: &str = "BTC-USDT";
/// How many requests are sent, one after the other over one connection: few and many; the difference is what is measured.
const TIMES: [usize; 2] = [2_000, 10_000];
/// What an answer from memory may take, nothing counted, as a multiple of the plain handler's.
const RATIO_MAX: f64 = 1.15;
/// What counting, timing and showing may add, as a multiple of the same without.
const FIGURES_MAX: f64 = 1.03;
/// How often each is measured: the least counts, since what the engine does each second is more where the machine is slow.
const RUNS: usize = 5;
/// How many requests go with one scrape and one pull of the page.
const LOOK_EVERY: usize = 1_000;
/// Nothing changes while it is measured: the venues are asked once an hour.
const HOUR: Duration = Duration::from_secs(3_600);

fn main() {
    let args: Vec<String> = std::env::args().collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [_, "measured", "ours", _] => System::new().block_on(ours(true)),
        [_, "measured", "bare", _] => System::new().block_on(ours(false)),
        [_, "measured", "plain", length] => System::new().block_on(plain(length.parse().unwrap())),
        _ => report(),
    }
}

/// Serves an engine on the simulation in memory, whose market stands still.
async fn ours(metrics: bool) {
    let mut config = Config::defaults().unwrap();
    let any = "127.0.0.1:0".parse().unwrap();
    (config.listen, config.admin_listen, config.metrics) = (any, any, metrics);
    (config.max_age, config.rates.admission.max_age, config.poll) = (HOUR, HOUR, HOUR);
    let pair: Pair = PAIR.parse().unwrap();
    config.pairs.retain(|configured| configured.pair == pair);
    let clock = Clock::start();
    let world = World::new(Options::default(), clock.now()).unwrap();
    world.control(&Control { frozen: Some(true), ..Control::default() }, clock.now()).unwrap();
    let (builder, boot) = serve::builder(&config);
    let engine = builder.connect(Arc::new(MemoryConnect::new(world, clock.clone()))).clock(clock).start().unwrap();
    boot.set(engine.boot().to_owned()).unwrap();
    let known = || engine.latest(&pair).is_some_and(|latest| latest.view.misses.is_empty() && latest.view.unknown == 0);
    while !known() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let listeners = Listeners::bind(&config).unwrap();
    let told = told(&[&listeners.public, &listeners.admin]);
    serve::serve(engine.clone(), &config, listeners, told).await.unwrap();
    engine.shutdown().await;
}

/// Serves as many bytes by a handler that does nothing else, under the same settings of the server.
async fn plain(length: usize) {
    let body = Bytes::from(vec![b' '; length]);
    let handler = move || {
        let body = body.clone();
        async move { HttpResponse::Ok().content_type("application/json").body(body) }
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let told = told(&[&listener]);
    let server = HttpServer::new(move || App::new().route(PATH, web::get().to(handler.clone())))
        .workers(1)
        .keep_alive(Duration::from_secs(75))
        .client_request_timeout(Duration::from_secs(5))
        .client_disconnect_timeout(Duration::from_secs(1))
        .tcp_nodelay(true)
        .shutdown_timeout(5)
        .disable_signals()
        .listen(listener)
        .unwrap()
        .run();
    let handle = server.handle();
    actix::spawn(async move {
        told.await;
        handle.stop(true).await;
    });
    server.await.unwrap();
}

/// Tells whoever started this where it listens, and waits for standard input to end.
fn told(listeners: &[&TcpListener]) -> impl Future<Output = ()> + use<> {
    let addresses: Vec<String> = listeners.iter().map(|listener| listener.local_addr().unwrap().to_string()).collect();
    println!("{}", addresses.join(" "));
    let (tell, told) = oneshot::channel();
    std::thread::spawn(move || {
        std::io::stdin().read_to_end(&mut Vec::new()).ok();
        tell.send(()).ok();
    });
    async { drop(told.await) }
}

fn report() {
    let (ours, length) = each("ours", 0);
    let (bare, _) = each("bare", 0);
    let (plain, plain_length) = each("plain", length);
    assert_eq!(plain_length, length, "both answer with as many bytes");
    let ratio = bare as f64 / plain as f64;
    let verdict = if ratio <= RATIO_MAX { "ok" } else { "TOO MANY" };
    println!("instructions a request                    ours     beside   ratio");
    println!("a plain handler, {length} bytes           {bare:9} {plain:10} {ratio:7.3}   {verdict} (at most {RATIO_MAX})");
    let ratio = ours as f64 / bare as f64;
    let verdict = if ratio <= FIGURES_MAX { "ok" } else { "TOO MANY" };
    println!("without figures, scrapes and page pulls {ours:9} {bare:10} {ratio:7.3}   {verdict} (at most {FIGURES_MAX})");
}

/// Gives the instructions of one request, by the difference between few and many, and the length of its body.
fn each(part: &str, length: usize) -> (u64, usize) {
    let least = |times| (0..RUNS).map(|_| counted(part, length, times)).min().unwrap();
    let [few, many] = TIMES.map(least);
    // Ages and latencies differ by a digit or two between runs.
    assert!(few.1.abs_diff(many.1) < 50, "{} bytes, then {}", few.1, many.1);
    (many.0.saturating_sub(few.0) / (TIMES[1] - TIMES[0]) as u64, many.1)
}

/// Starts a server under callgrind and sends it so many requests; gives its instructions, and the length of a body.
fn counted(part: &str, length: usize, times: usize) -> (u64, usize) {
    let out = std::env::var_os("CALLGRIND_OUT").unwrap_or_else(|| "/dev/null".into());
    let mut server = Command::new("valgrind")
        .args(["--tool=callgrind".to_owned(), format!("--callgrind-out-file={}", out.display())])
        .arg(std::env::current_exe().unwrap())
        .args(["measured", part, &length.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("valgrind must be installed");
    let got = requests(server.stdout.take().unwrap(), times, part == "ours");
    drop(server.stdin.take());
    let run = server.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{said}");
    let collected = said.lines().find_map(|line| line.split_once("Collected : ")).expect("callgrind says what it collected").1;
    (collected.trim().parse().unwrap(), got)
}

/// Sends requests one after the other to the address that a server says, and looks at its figures now and then; gives the length of the last body.
fn requests(said: ChildStdout, times: usize, looked_at: bool) -> usize {
    let mut line = String::new();
    BufReader::new(said).read_line(&mut line).unwrap();
    let mut streams: Vec<TcpStream> = line.split_whitespace().map(connect).collect();
    let (mut buffer, mut length) = (vec![0; 512 << 10], 0);
    for sent in 0..times {
        length = ask(&mut streams[0], PATH, &mut buffer);
        if looked_at && sent % LOOK_EVERY == 0 {
            for path in ["/metrics", "/admin/api/actors.json"] {
                let length = ask(&mut streams[1], path, &mut buffer);
                if sent == 0 && std::env::var_os("CALLGRIND_OUT").is_some() {
                    eprintln!("{path}: {length} bytes");
                }
            }
        }
    }
    length
}

fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the server says where it listens");
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream
}

fn ask(stream: &mut TcpStream, path: &str, buffer: &mut [u8]) -> usize {
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).unwrap();
    answer(stream, buffer)
}

/// Reads one answer to its end; gives the length of its body.
fn answer(stream: &mut TcpStream, buffer: &mut [u8]) -> usize {
    let mut held = 0;
    loop {
        let read = stream.read(&mut buffer[held..]).unwrap();
        assert!(read > 0, "the server closed the connection");
        held += read;
        let mut headers = [httparse::EMPTY_HEADER; 16];
        let mut head = httparse::Response::new(&mut headers);
        let httparse::Status::Complete(start) = head.parse(&buffer[..held]).unwrap() else { continue };
        assert_eq!(head.code, Some(200));
        let length = head.headers.iter().find(|h| h.name.eq_ignore_ascii_case("content-length")).unwrap();
        let length = std::str::from_utf8(length.value).unwrap().parse().unwrap();
        if held >= start + length {
            assert_eq!(held, start + length);
            return length;
        }
    }
}
