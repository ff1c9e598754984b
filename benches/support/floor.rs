//! The least that a round can take: one task, kept connections, the very bytes that ours sends, one reused buffer; no timer, no allocation.

use super::market::{self, Copied};
use quorate_actors::{
    model::Ticker,
    venue::{self, Endpoint, Scratch, Venue},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

pub struct Floor {
    lines: Vec<Line>,
    buffer: Vec<u8>,
    scratch: Scratch,
}

struct Line {
    stream: TcpStream,
    request: Vec<u8>,
    venue: &'static dyn Venue,
    endpoint: &'static Endpoint,
}

impl Floor {
    /// Connects to the venues, to send each what it was sent by ours.
    pub async fn connect(venues: &[Copied], ports: &[u16], requests: Vec<Vec<u8>>) -> Self {
        let mut lines = Vec::new();
        for ((venue, port), request) in venues.iter().zip(ports).zip(requests) {
            let stream = TcpStream::connect(("127.0.0.1", *port)).await.unwrap();
            stream.set_nodelay(true).unwrap();
            let target = std::str::from_utf8(&request).unwrap().split(' ').nth(1).unwrap();
            let endpoint = market::asked(venue.inner.profile().endpoints, target).unwrap();
            lines.push(Line { stream, request, venue: venue.inner, endpoint });
        }
        Self { lines, buffer: vec![0; 64 << 10], scratch: Scratch::default() }
    }

    /// Asks all, then reads all; gives the number of tickers.
    pub async fn round(&mut self) -> usize {
        for line in &mut self.lines {
            line.stream.write_all(&line.request).await.unwrap();
        }
        let mut tickers = 0;
        for line in &mut self.lines {
            let body = answer(&mut line.stream, &mut self.buffer).await;
            tickers += usize::from(decoded(line.venue, line.endpoint, body, &mut self.scratch).bid.is_some());
        }
        tickers
    }

    /// Gives the bodies that the venues answer.
    pub async fn bodies(&mut self) -> Vec<(&'static dyn Venue, &'static Endpoint, Vec<u8>)> {
        let mut bodies = Vec::new();
        for line in &mut self.lines {
            line.stream.write_all(&line.request).await.unwrap();
            bodies.push((line.venue, line.endpoint, answer(&mut line.stream, &mut self.buffer).await.to_vec()));
        }
        bodies
    }
}

/// Decodes the first row of a body.
pub fn decoded(venue: &dyn Venue, endpoint: &Endpoint, body: &[u8], scratch: &mut Scratch) -> Ticker {
    let mut found = None;
    venue::read(venue, endpoint, 200, body, scratch, &mut |_, ticker| found = found.or_else(|| ticker().ok())).unwrap();
    found.unwrap()
}

async fn answer<'b>(stream: &mut TcpStream, buffer: &'b mut [u8]) -> &'b [u8] {
    let mut held = 0;
    loop {
        held += stream.read(&mut buffer[held..]).await.unwrap();
        if let Some((start, end)) = bounds(&buffer[..held])
            && held >= end
        {
            return &buffer[start..end];
        }
    }
}

/// Gives where the body begins and ends, once the head is whole.
fn bounds(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut headers = [httparse::EMPTY_HEADER; 16];
    let mut head = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(start) = head.parse(bytes).unwrap() else { return None };
    let length = head.headers.iter().find(|h| h.name.eq_ignore_ascii_case("content-length")).unwrap();
    Some((start, start + std::str::from_utf8(length.value).unwrap().parse::<usize>().unwrap()))
}
