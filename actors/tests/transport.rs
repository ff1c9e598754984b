//! The awc transport over real loopback sockets, against a server that answers by script.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects)]

mod scripted;

use quorate_actors::{
    model::{Fault, Phase, Reason, Retry, UnixMs, VenueId},
    transport::{Answer, AwcConnect, Connect, Limits, Transport},
};
use scripted::{Do, Do::*, Server, ok_with, packed, say};
use std::{rc::Rc, time::Duration};
use tokio::{net::TcpListener, time::Instant};

const BODY_MAX: usize = 100_000;
const LONG: Duration = Duration::from_secs(60);

fn limits() -> Limits {
    Limits { venue: VenueId::new("test"), body_max: BODY_MAX }
}

fn transport() -> Rc<dyn Transport> {
    AwcConnect::new([]).unwrap().transport(&limits())
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn soon(n: u64) -> Instant {
    Instant::now() + ms(n)
}

async fn ask(script: Vec<Do>) -> Result<Answer, Fault> {
    let server = Server::start(script).await;
    transport().get(&server.url("/"), soon(5000)).await
}

async fn expect_fault(script: Vec<Do>, reason: Reason, phase: Phase) -> Fault {
    let fault = ask(script).await.expect_err(reason.slug());
    assert_eq!((fault.reason, fault.phase), (reason, Some(phase)), "{fault}");
    fault
}

#[actix_rt::test]
async fn an_answer_comes_with_status_body_and_times() {
    let head = "date: Mon, 30 Nov 2026 11:00:00 GMT\r\nretry-after: 7\r\n";
    let answer = ask(vec![Read, ok_with(head, r#"{"price":"1.5"}"#), Rest(LONG)]).await.unwrap();
    assert_eq!((answer.status, &*answer.body), (200, br#"{"price":"1.5"}"#.as_slice()));
    assert_eq!(answer.date, Some(UnixMs(1_796_036_400_000)));
    assert_eq!(answer.retry, Some(Retry::After(Duration::from_secs(7))));
}

#[actix_rt::test]
async fn a_refusal_is_an_answer_and_keeps_its_retry_after() {
    for (value, retry) in [
        ("120", Some(Retry::After(Duration::from_secs(120)))),
        ("Mon, 30 Nov 2026 11:00:00 GMT", Some(Retry::At(UnixMs(1_796_036_400_000)))),
        ("later", None),
    ] {
        let text = format!("HTTP/1.1 429 Too Many Requests\r\nretry-after: {value}\r\ncontent-length: 2\r\n\r\nno");
        let answer = ask(vec![Read, say(text)]).await.unwrap();
        assert_eq!((answer.status, &*answer.body, answer.retry), (429, b"no".as_slice(), retry));
    }
    // Its status says more than that awc does not read its body.
    let answer = ask(vec![Read, say("HTTP/1.1 503 Unavailable\r\n\r\n<html>")]).await.unwrap();
    assert_eq!((answer.status, answer.body.len()), (503, 0));
}

#[actix_rt::test]
async fn a_request_is_one_get_with_the_headers_that_are_due() {
    let mut server = Server::start(vec![Read, ok_with("", "{}"), Again]).await;
    transport().get(&server.url("/a/b?c=%5Bd%5D"), soon(5000)).await.unwrap();
    let request = server.requests.recv().await.unwrap();
    assert!(request.starts_with("GET /a/b?c=%5Bd%5D HTTP/1.1\r\n"), "{request}");
    let host = format!("host: {}\r\n", server.origin.trim_start_matches("http://"));
    let agent = format!("user-agent: quorate/{} (", env!("CARGO_PKG_VERSION"));
    for due in [host.as_str(), "accept-encoding: gzip\r\n", agent.as_str()] {
        assert_eq!(request.matches(due).count(), 1, "{due} in {request}");
    }
    for undue in ["content-length", "transfer-encoding", "connection"] {
        assert!(!request.contains(undue), "{undue} in {request}");
    }
}

#[actix_rt::test]
async fn a_connection_is_used_again_whatever_the_form_of_the_body() {
    let script = vec![
        Read,
        ok_with("", "[1]"),
        Read,
        say("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n[1\r\n1\r\n]\r\n0\r\n\r\n"),
        Read,
        ok_with("content-encoding: gzip\r\n", packed(b"[1,2]")),
        Read,
        ok_with("", ""),
        Read,
        say("HTTP/1.1 204 No Content\r\n\r\n"),
        Again,
    ];
    let (server, transport) = (Server::start(script).await, transport());
    for _ in 0..3 {
        for expected in ["[1]", "[1]", "[1,2]", "", ""] {
            let answer = transport.get(&server.url("/"), soon(5000)).await.unwrap();
            assert_eq!(answer.body, expected);
        }
    }
    assert_eq!(server.connections(), 1);
}

#[actix_rt::test]
async fn an_idle_connection_is_kept_as_long_as_it_is_told() {
    for (idle, connections) in [(LONG, 1), (ms(20), 3)] {
        let server = Server::start(vec![Read, ok_with("", "{}"), Again]).await;
        let transport = AwcConnect::new([]).unwrap().keep(idle, LONG).transport(&limits());
        for _ in 0..3 {
            transport.get(&server.url("/"), soon(5000)).await.unwrap();
            tokio::time::sleep(ms(60)).await;
        }
        assert_eq!(server.connections(), connections);
    }
}

#[actix_rt::test]
async fn a_connection_that_the_server_closed_is_replaced() {
    let (mut server, transport) = (Server::start(vec![Read, ok_with("", "{}")]).await, transport());
    for n in 1..=3 {
        assert_eq!(transport.get(&server.url("/"), soon(5000)).await.unwrap().body, "{}");
        server.closed.recv().await.unwrap();
        assert_eq!(server.connections(), n);
    }
}

#[actix_rt::test]
async fn requests_run_side_by_side() {
    let server = Server::start(vec![Read, Rest(ms(100)), ok_with("", "{}"), Again]).await;
    let (transport, url, begun) = (transport(), server.url("/"), Instant::now());
    // awc's own limit is 100 connections.
    let all = futures_util::future::join_all((0..150).map(|_| transport.get(&url, soon(5000)))).await;
    assert!(all.iter().all(Result::is_ok));
    assert!(begun.elapsed() < ms(2000), "{:?}", begun.elapsed());
    assert_eq!(server.connections(), 150);
}

#[actix_rt::test]
async fn the_deadline_is_total_and_tells_where_the_request_stood() {
    let drip = || Drip(vec![b' '; 100], ms(500));
    let chunk_line = vec![Read, say("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;"), Flood(vec![b'x'; 60_000])];
    for (script, phase) in [
        (vec![Rest(LONG)], Phase::Request),
        (vec![Read, Rest(LONG)], Phase::Request),
        (vec![Read, say("HTTP/1.1 200 OK\r\n"), Rest(LONG)], Phase::Request),
        (vec![Read, say("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n"), drip()], Phase::Body),
        (vec![Read, say("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n64\r\n"), drip()], Phase::Body),
        (chunk_line, Phase::Body),
    ] {
        let server = Server::start(script).await;
        let begun = Instant::now();
        let fault = transport().get(&server.url("/"), soon(700)).await.unwrap_err();
        assert_eq!((fault.reason, fault.phase), (Reason::Timeout, Some(phase)), "{fault}");
        assert!((690..1500).contains(&begun.elapsed().as_millis()), "{phase:?} {:?}", begun.elapsed());
    }
}

#[actix_rt::test]
async fn a_deadline_in_the_past_sends_nothing() {
    let server = Server::start(vec![Read, ok_with("", "{}"), Again]).await;
    let fault = transport().get(&server.url("/"), Instant::now()).await.unwrap_err();
    assert_eq!((fault.reason, fault.phase), (Reason::Timeout, None));
    assert_eq!(server.connections(), 0);
}

/// Fills the queue of a listener that accepts nothing, so that a further connect hangs.
fn full_listener() -> (std::net::TcpListener, Vec<std::net::TcpStream>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let held = std::iter::from_fn(|| std::net::TcpStream::connect_timeout(&address, ms(100)).ok()).take(5000).collect();
    (listener, held)
}

#[actix_rt::test]
async fn a_connect_that_hangs_is_given_up_in_time_for_a_mirror() {
    let (listener, _held) = full_listener();
    let url: Rc<str> = format!("http://{}/", listener.local_addr().unwrap()).into();
    for deadline in [5000, 100] {
        let begun = Instant::now();
        let fault = transport().get_within(&url, soon(deadline), soon(100)).await.unwrap_err();
        assert_eq!((fault.reason, fault.phase), (Reason::Timeout, Some(Phase::Connect)), "{fault}");
        assert!(begun.elapsed() < ms(900), "{:?}", begun.elapsed());
    }
}

#[actix_rt::test]
async fn once_connected_the_answer_has_until_the_deadline() {
    let server = Server::start(vec![Read, Rest(ms(150)), ok_with("", "{}"), Again]).await;
    let transport = transport();
    for _ in 0..2 {
        transport.get_within(&server.url("/"), soon(5000), soon(50)).await.unwrap();
    }
    let fault = transport.get_within(&server.url("/"), soon(100), soon(50)).await.unwrap_err();
    assert_eq!((fault.reason, fault.phase), (Reason::Timeout, Some(Phase::Request)));
}

#[actix_rt::test]
async fn bodies_that_end_early_are_found() {
    let short = "HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n{\"price\":";
    expect_fault(vec![Read, say(short)], Reason::Truncated, Phase::Body).await;
    let gzip = packed(&b"{} ".repeat(1000));
    let (cut, head) = (&gzip[..gzip.len() - 5], "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n");
    let sized = [format!("{head}content-length: {}\r\n\r\n", gzip.len()).as_bytes(), cut].concat();
    expect_fault(vec![Read, Say(sized)], Reason::Truncated, Phase::Body).await;
    let chunked = [format!("{head}transfer-encoding: chunked\r\n\r\n{:x}\r\n", gzip.len()).as_bytes(), cut].concat();
    expect_fault(vec![Read, Say(chunked)], Reason::Truncated, Phase::Body).await;
    // awc takes the end of the stream for the end of the chunks: the decoder has to find it.
    let plain = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n20\r\n{\"price\":";
    assert_eq!(ask(vec![Read, say(plain)]).await.unwrap().body, "{\"price\":");
}

#[actix_rt::test]
async fn a_body_without_a_length_is_found() {
    expect_fault(vec![Read, say("HTTP/1.1 200 OK\r\n\r\n{\"price\":\"1\"}")], Reason::Empty, Phase::Body).await;
    expect_fault(vec![Read, say("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{}")], Reason::Empty, Phase::Body).await;
    // HTTP/1.0 has no other form, and awc reads that.
    let old = vec![Read, say("HTTP/1.0 200 OK\r\n\r\n{\"price\":"), Rest(ms(20)), say("\"1\"}")];
    assert_eq!(ask(old).await.unwrap().body, "{\"price\":\"1\"}");
}

#[actix_rt::test]
async fn a_late_body_is_never_read_as_the_next_answer() {
    for head in ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n", "HTTP/1.1 500 No\r\n\r\n"] {
        let script = vec![Read, say(head), Read, ok_with("", "{\"price\":\"stale\"}"), Rest(LONG)];
        let (server, transport) = (Server::start(script).await, transport());
        for _ in 0..2 {
            if let Ok(answer) = transport.get(&server.url("/"), soon(5000)).await {
                assert_eq!((answer.status, answer.body.len()), (500, 0));
            }
        }
        assert_eq!(server.connections(), 2, "{head}");
    }
}

#[actix_rt::test]
async fn large_bodies_stop_at_the_limit() {
    let fits = vec![b'x'; BODY_MAX];
    assert_eq!(ask(vec![Read, ok_with("", &fits)]).await.unwrap().body, fits);
    let announced = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", BODY_MAX + 1);
    expect_fault(vec![Read, say(announced), Rest(LONG)], Reason::Oversize, Phase::Body).await;
    let chunk = [b"1000\r\n".as_slice(), &[b'x'; 4096], b"\r\n"].concat();
    let endless = vec![Read, say("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"), Flood(chunk)];
    expect_fault(endless, Reason::Oversize, Phase::Body).await;
    let gzip = "content-encoding: gzip\r\n";
    assert_eq!(ask(vec![Read, ok_with(gzip, packed(&fits))]).await.unwrap().body, fits);
    let bomb = packed(&vec![b' '; 64 << 20]);
    assert!(bomb.len() < BODY_MAX);
    expect_fault(vec![Read, ok_with(gzip, bomb)], Reason::Oversize, Phase::Body).await;
}

#[actix_rt::test]
async fn redirects_are_not_followed() {
    let elsewhere = Server::start(vec![Read, ok_with("", "{}"), Again]).await;
    for status in [301, 302, 307, 308] {
        let text = format!("HTTP/1.1 {status} Moved\r\nlocation: {}/x\r\ncontent-length: 0\r\n\r\n", elsewhere.origin);
        let fault = expect_fault(vec![Read, say(text)], Reason::Redirect, Phase::Request).await;
        assert_eq!(fault.detail, format!("HTTP {status} to {}/x", elsewhere.origin));
    }
    assert_eq!(elsewhere.connections(), 0);
}

#[actix_rt::test]
async fn broken_connections_are_typed() {
    expect_fault(vec![Read, Break], Reason::Reset, Phase::Request).await;
    expect_fault(vec![Read], Reason::Reset, Phase::Request).await;
    expect_fault(vec![Read, say("HTTP/1.1 200 OK\r\ndate")], Reason::Reset, Phase::Request).await;
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n{";
    expect_fault(vec![Read, say(head), Rest(ms(50)), Break], Reason::Reset, Phase::Body).await;
}

#[actix_rt::test]
async fn what_is_not_http_is_a_protocol_fault() {
    for text in [
        "SSH-2.0-OpenSSH_9.2\r\n",
        "\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}\u{8}\r\n\r\n",
        "HTTP/1.1 9999 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n",
    ] {
        expect_fault(vec![Read, say(text)], Reason::Protocol, Phase::Request).await;
    }
    let chunk = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n";
    expect_fault(vec![Read, say(chunk)], Reason::Protocol, Phase::Body).await;
    expect_fault(vec![Read, ok_with("content-encoding: br\r\n", "{}")], Reason::Protocol, Phase::Body).await;
    expect_fault(vec![Read, ok_with("content-encoding: gzip\r\n", "{}")], Reason::Decode, Phase::Body).await;
    expect_fault(vec![Read, say("HTTP/1.1 200 OK\r\n"), Flood(b"x: y\r\n".repeat(1000))], Reason::Protocol, Phase::Request).await;
}

#[actix_rt::test]
async fn a_closed_port_is_refused_and_a_name_that_is_none_is_dns() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    for (url, reason, phase) in [
        (format!("http://{closed}/"), Reason::Refused, Phase::Connect),
        (format!("https://{closed}/"), Reason::Refused, Phase::Connect),
        ("http://no-such-host.invalid/".to_owned(), Reason::Dns, Phase::Resolve),
    ] {
        let fault = transport().get(&url.as_str().into(), soon(20_000)).await.unwrap_err();
        assert_eq!((fault.reason, fault.phase), (reason, Some(phase)), "{url} {fault}");
    }
}

#[actix_rt::test]
async fn a_trusted_certificate_is_served_over_one_connection_of_http_1() {
    let (port, certificate, connections) = scripted::serve_tls("localhost");
    let transport = AwcConnect::new([certificate]).unwrap().transport(&limits());
    for _ in 0..3 {
        let answer = transport.get(&format!("https://localhost:{port}/").into(), soon(5000)).await.unwrap();
        assert_eq!(answer.body, "http/1.1");
    }
    assert_eq!(connections.load(std::sync::atomic::Ordering::SeqCst), 1);
}

#[actix_rt::test]
async fn a_certificate_that_is_not_trusted_or_of_another_name_is_a_tls_fault() {
    let (port, ..) = scripted::serve_tls("localhost");
    let (other_port, other, _) = scripted::serve_tls("elsewhere.example");
    for (roots, port) in [(vec![], port), (vec![other], other_port)] {
        let transport = AwcConnect::new(roots).unwrap().transport(&limits());
        let fault = transport.get(&format!("https://localhost:{port}/").into(), soon(5000)).await.unwrap_err();
        assert_eq!((fault.reason, fault.phase), (Reason::Tls, Some(Phase::Tls)), "{fault}");
        assert!(fault.detail.contains("certificate"), "{fault}");
    }
}

#[actix_rt::test]
async fn a_handshake_that_fails_is_typed() {
    for (script, reason, phase) in [
        (vec![say("HTTP/1.1 400 Bad Request\r\n\r\n"), Rest(LONG)], Reason::Tls, Phase::Tls),
        (vec![Take(1), Rest(ms(50)), Break], Reason::Reset, Phase::Tls),
        (vec![Take(100), Finish, Rest(LONG)], Reason::Reset, Phase::Tls),
        (vec![Rest(LONG)], Reason::Timeout, Phase::Connect),
    ] {
        let server = Server::start(script).await;
        let url = server.url("/").replace("http:", "https:").into();
        let fault = transport().get(&url, soon(500)).await.unwrap_err();
        assert_eq!((fault.reason, fault.phase), (reason, Some(phase)), "{fault}");
    }
}
