//! Servers that answer by script: bytes as they are, in the order and at the pace that a test wants.

use flate2::{Compression, write::GzEncoder};
use rustls::{ServerConfig, ServerConnection, StreamOwned, crypto::ring, pki_types::CertificateDer, pki_types::PrivatePkcs8KeyDer};
use std::{
    io::{BufRead as _, BufReader, Write as _},
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};

/// One thing that the server does, in the order of the script.
#[derive(Clone)]
pub(crate) enum Do {
    /// Reads one request.
    Read,
    /// Reads so many bytes.
    Take(usize),
    /// Writes bytes.
    Say(Vec<u8>),
    /// Writes the bytes one by one, with a rest after each.
    Drip(Vec<u8>, Duration),
    /// Writes the same bytes until nobody takes them.
    Flood(Vec<u8>),
    /// Waits.
    Rest(Duration),
    /// Says no more, but keeps listening.
    Finish,
    /// Breaks the connection with a reset.
    Break,
    /// Begins the script anew on the same connection.
    Again,
}

/// Writes `text`.
pub(crate) fn say(text: impl AsRef<[u8]>) -> Do {
    Do::Say(text.as_ref().to_vec())
}

/// Answers 200 with a body of known length; each of the `headers` ends in CR LF.
pub(crate) fn ok_with(headers: &str, body: impl AsRef<[u8]>) -> Do {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n{headers}\r\n", body.as_ref().len());
    Do::Say([head.as_bytes(), body.as_ref()].concat())
}

/// Packs with gzip.
pub(crate) fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A server that plays one script on each connection; after the last step it closes.
pub(crate) struct Server {
    pub(crate) origin: String,
    /// The heads of the requests that came.
    pub(crate) requests: mpsc::UnboundedReceiver<String>,
    /// One for each connection whose script has ended.
    pub(crate) closed: mpsc::UnboundedReceiver<()>,
    connections: Arc<AtomicUsize>,
}

impl Server {
    pub(crate) async fn start(script: Vec<Do>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let connections = Arc::new(AtomicUsize::new(0));
        let ((seen, requests), (ended, closed)) = (mpsc::unbounded_channel(), mpsc::unbounded_channel());
        let counted = Arc::clone(&connections);
        actix_rt::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counted.fetch_add(1, SeqCst);
                let (script, seen, ended) = (script.clone(), seen.clone(), ended.clone());
                actix_rt::spawn(async move {
                    play(stream, script, seen).await;
                    ended.send(()).ok()
                });
            }
        });
        Self { origin, requests, closed, connections }
    }

    pub(crate) fn url(&self, path: &str) -> Rc<str> {
        format!("{}{path}", self.origin).into()
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(SeqCst)
    }
}

async fn play(mut stream: TcpStream, script: Vec<Do>, seen: mpsc::UnboundedSender<String>) -> Option<()> {
    let mut at = 0;
    while let Some(step) = script.get(at) {
        at += 1;
        match step {
            Do::Read => seen.send(read_request(&mut stream).await?).ok()?,
            Do::Take(count) => drop(stream.read_exact(&mut vec![0; *count]).await.ok()?),
            Do::Say(bytes) => stream.write_all(bytes).await.ok()?,
            Do::Drip(bytes, gap) => {
                for byte in bytes {
                    stream.write_u8(*byte).await.ok()?;
                    tokio::time::sleep(*gap).await;
                }
            }
            Do::Flood(bytes) => loop {
                stream.write_all(bytes).await.ok()?;
            },
            Do::Rest(time) => tokio::time::sleep(*time).await,
            Do::Finish => stream.shutdown().await.ok()?,
            Do::Break => {
                stream.set_zero_linger().ok()?;
                return None;
            }
            Do::Again => at = 0,
        }
    }
    None
}

async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    String::from_utf8(head).ok()
}

/// Serves over TLS, on threads of its own, with a certificate for `name` made on the spot; each answer is the protocol that ALPN chose.
/// Gives the port, the certificate and the number of connections.
pub(crate) fn serve_tls(name: &str) -> (u16, CertificateDer<'static>, Arc<AtomicUsize>) {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
    let (certificate, key) = (made.cert.der().clone(), PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider())).with_safe_default_protocol_versions().unwrap();
    let mut config = builder.with_no_client_auth().with_single_cert(vec![certificate.clone()], key.into()).unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let config = Arc::new(config);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    std::thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            counted.fetch_add(1, SeqCst);
            let session = ServerConnection::new(Arc::clone(&config)).unwrap();
            std::thread::spawn(move || answer_all(BufReader::new(StreamOwned::new(session, stream))));
        }
    });
    (port, certificate, connections)
}

fn answer_all(mut stream: BufReader<StreamOwned<ServerConnection, std::net::TcpStream>>) -> Option<()> {
    loop {
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            if stream.read_line(&mut line).ok()? == 0 {
                return None;
            }
        }
        let alpn = String::from_utf8(stream.get_ref().conn.alpn_protocol()?.to_vec()).ok()?;
        let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{alpn}", alpn.len());
        stream.get_mut().write_all(answer.as_bytes()).ok()?;
    }
}
