//! A handler that reads a JSON object and answers with one: objects made for each request, taken from a pool, or borrowed from the request's bytes.
//!
//! The request is what `POST /v1/quotes` takes; the answer repeats it, so that each variant does the same work and only the memory differs.

use super::by_turns;
use actix_web::{App, HttpResponse, HttpServer, dev::ServerHandle, web};
use bytes::Bytes;
use quorate::http::terms::{Basis, from_json};
use quorate_actors::{
    model::VenueId,
    terms::{Terms, VenueFilter},
    venues::VENUES,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::{
    borrow::Cow,
    cell::RefCell,
    hint::black_box,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    time::Duration,
};

const REQUEST: &[u8] = br#"{"pairs":["BTC-USDT","ETH-USDT","SOL-USDT","XRP-USDT"],"venues":["binance","kraken","okx"],"max_age_ms":2000,"min_sources":2,"deadline_ms":800,"fresh":true}"#;

/// What is read of a request; texts of its own, or borrowed ones.
#[derive(Default, Deserialize, Serialize)]
struct Order<T> {
    pairs: Vec<T>,
    venues: Vec<T>,
    max_age_ms: u64,
    min_sources: u64,
    deadline_ms: u64,
    fresh: bool,
}

#[derive(Deserialize, Serialize)]
struct Borrowed<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Default)]
struct Pooled {
    order: Order<String>,
    answer: Vec<u8>,
}

thread_local! {
    // A worker runs one handler at a time: a pool of one.
    static POOL: RefCell<Pooled> = RefCell::default();
}

/// Handles a request; answers with nothing where it is not told to encode.
type Handler = fn(&[u8], encode: bool) -> Bytes;

const HANDLERS: [(&str, Handler); 5] =
    [("tree", tree), ("new", new), ("pooled", pooled), ("pooled_in_place", pooled_in_place), ("borrowed", borrowed)];

fn tree(request: &[u8], encode: bool) -> Bytes {
    let order: Value = serde_json::from_slice(request).unwrap();
    assert!(order["fresh"] == true);
    if encode { serde_json::to_vec(&order).unwrap().into() } else { Bytes::new() }
}

fn new(request: &[u8], encode: bool) -> Bytes {
    let order: Order<String> = serde_json::from_slice(request).unwrap();
    assert!(order.fresh);
    if encode { serde_json::to_vec(&order).unwrap().into() } else { Bytes::new() }
}

/// As one pools at first: the object goes back into the pool, but what is read is a new one that takes its place. So is what serde's derived code does unless
/// its feature `deserialize_in_place` is on.
fn pooled(request: &[u8], encode: bool) -> Bytes {
    in_pool(encode, |order| *order = serde_json::from_slice(request).unwrap())
}

fn pooled_in_place(request: &[u8], encode: bool) -> Bytes {
    in_pool(encode, |order| Deserialize::deserialize_in_place(&mut serde_json::Deserializer::from_slice(request), order).unwrap())
}

fn in_pool(encode: bool, read: impl FnOnce(&mut Order<String>)) -> Bytes {
    POOL.with_borrow_mut(|Pooled { order, answer }| {
        read(order);
        assert!(order.fresh);
        if !encode {
            return Bytes::new();
        }
        answer.clear();
        serde_json::to_writer(&mut *answer, order).unwrap();
        Bytes::copy_from_slice(answer)
    })
}

fn borrowed(request: &[u8], encode: bool) -> Bytes {
    let order: Order<Borrowed<'_>> = serde_json::from_slice(request).unwrap();
    assert!(order.fresh);
    if !encode {
        return Bytes::new();
    }
    POOL.with_borrow_mut(|Pooled { answer, .. }| {
        answer.clear();
        serde_json::to_writer(&mut *answer, &order).unwrap();
        Bytes::copy_from_slice(answer)
    })
}

fn basis() -> Basis {
    let (max_age, deadline) = (Duration::from_secs(5), Duration::from_secs(1));
    let terms = Terms { max_age, min_sources: None, deadline, venues: VenueFilter::All, fresh: false };
    Basis { terms, venues: VENUES.iter().map(|venue| VenueId::new(venue.profile().id)).collect() }
}

/// Handles the request again and again, for whoever counts allocations: a name with `+encode` encodes too, and `ours` reads it as `POST /v1/quotes` does.
pub(super) fn repeated(variant: &str, times: usize) {
    let (name, encode) = variant.strip_suffix("+encode").map_or((variant, false), |name| (name, true));
    let basis = basis();
    let handler = HANDLERS.iter().find(|(known, _)| *known == name).map(|(_, handler)| handler);
    for _ in 0..times {
        match handler {
            Some(handler) => drop(black_box(handler(black_box(REQUEST), encode))),
            None => drop(black_box(from_json(black_box(REQUEST), &basis).unwrap())),
        }
    }
}

/// Measures every handler: its own nanoseconds, reading alone and answering too, and those of a whole request over loopback.
pub(super) fn report() -> Value {
    let basis = basis();
    let [tree_, new_, pooled_, in_place, borrowed_] = HANDLERS.map(|(_, handler)| handler);
    let codec = |encode| {
        let call = |handler: Handler| move || drop(black_box(handler(black_box(REQUEST), encode)));
        let (mut a, mut b, mut c, mut d, mut e) = (call(tree_), call(new_), call(pooled_), call(in_place), call(borrowed_));
        let mut ours = || drop(black_box(from_json(black_box(REQUEST), &basis).unwrap()));
        by_turns(15, 20_000, [&mut a, &mut b, &mut c, &mut d, &mut e, &mut ours])
    };
    let (read, both) = (codec(false), codec(true));
    let whole = over_http();
    let mut rows = Map::new();
    for (at, (name, _)) in HANDLERS.iter().enumerate() {
        rows.insert((*name).to_owned(), json!({"read_ns": read[at], "both_ns": both[at], "request_ns": whole[at]}));
    }
    rows.insert("ours".to_owned(), json!({"read_ns": read[5]}));
    rows.insert("nothing".to_owned(), json!({"request_ns": whole[5]}));
    json!({"bytes": REQUEST.len(), "rows": rows})
}

/// Gives the nanoseconds of a request over one kept connection, for each handler, and for one that takes the body and answers with as many bytes.
fn over_http() -> [f64; 6] {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, told) = mpsc::channel();
    let server = std::thread::spawn(move || actix::System::new().block_on(serve(listener, tell)));
    let handle = told.recv().unwrap();
    let stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    let stream = RefCell::new(stream);
    let ask = |name: &'static str| {
        let (head, stream) = (format!("POST /{name} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n", REQUEST.len()), &stream);
        let request = [head.as_bytes(), REQUEST].concat();
        move || answered(&mut stream.borrow_mut(), &request)
    };
    let [mut a, mut b, mut c, mut d, mut e] = HANDLERS.map(|(name, _)| ask(name));
    let mut nothing = ask("nothing");
    let found = by_turns(15, 2_000, [&mut a, &mut b, &mut c, &mut d, &mut e, &mut nothing]);
    actix::System::new().block_on(handle.stop(true));
    server.join().unwrap();
    found
}

async fn serve(listener: TcpListener, tell: mpsc::Sender<ServerHandle>) {
    let app = || {
        let nothing = web::post().to(|body: web::Bytes| async move { HttpResponse::Ok().body(body) });
        HANDLERS.iter().fold(App::new().route("/nothing", nothing), |app, (name, handler)| {
            let handle = move |body: web::Bytes| async move { HttpResponse::Ok().body(handler(&body, true)) };
            app.route(&format!("/{name}"), web::post().to(handle))
        })
    };
    let server = HttpServer::new(app).workers(1).tcp_nodelay(true).disable_signals().listen(listener).unwrap().run();
    tell.send(server.handle()).unwrap();
    server.await.unwrap();
}

fn answered(stream: &mut TcpStream, request: &[u8]) {
    stream.write_all(request).unwrap();
    let (mut buffer, mut held) = ([0; 2048], 0);
    loop {
        let read = stream.read(&mut buffer[held..]).unwrap();
        assert!(read > 0, "the server closed the connection");
        held += read;
        // The answer ends with the object that it repeats.
        if buffer[..held].ends_with(b"}") {
            assert!(buffer.starts_with(b"HTTP/1.1 200"));
            return;
        }
    }
}
