//! TLS on the venues' own ports, with a certificate made at the start: no private key lies in the tree, and nobody trusts it who was not told to.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivatePkcs8KeyDer},
};
use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

/// What the certificate is for.
const NAMES: [&str; 2] = ["127.0.0.1", "localhost"];
/// How long a handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Holds a new key, and the certificate that clients must be told to trust.
#[derive(Clone)]
pub struct Tls {
    /// The certificate.
    pub certificate: CertificateDer<'static>,
    /// The same as a PEM file has it.
    pub pem: String,
    acceptor: TlsAcceptor,
}

impl Tls {
    /// Makes a key and a certificate for 127.0.0.1 and localhost.
    ///
    /// # Errors
    /// What the generator or rustls says.
    pub fn new() -> io::Result<Self> {
        let made = rcgen::generate_simple_self_signed(NAMES.map(str::to_owned)).map_err(io::Error::other)?;
        let (certificate, key) = (made.cert.der().clone(), PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(vec![certificate.clone()], key.into()))
            .map_err(io::Error::other)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let pem = pem(&certificate);
        Ok(Self { certificate, pem, acceptor: TlsAcceptor::from(Arc::new(config)) })
    }

    /// Shakes hands.
    pub(super) async fn accept(&self, stream: TcpStream) -> io::Result<Stream> {
        let stream = timeout(HANDSHAKE, self.acceptor.accept(stream)).await.map_err(|_| io::ErrorKind::TimedOut)??;
        Ok(Stream::Tls(Box::new(stream)))
    }
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").field("names", &NAMES).finish_non_exhaustive()
    }
}

/// Writes a certificate as a PEM file has it, in lines of 64 letters.
fn pem(certificate: &[u8]) -> String {
    // 48 bytes are 64 letters, so that only the last line is filled up.
    let lines: String = certificate.chunks(48).map(|chunk| STANDARD.encode(chunk) + "\n").collect();
    format!("-----BEGIN CERTIFICATE-----\n{lines}-----END CERTIFICATE-----\n")
}

/// A connection, plain or not.
pub(super) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Stream {
    /// Makes the connection end in a reset.
    pub(super) fn set_zero_linger(&self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.set_zero_linger(),
            Self::Tls(stream) => stream.get_ref().0.set_zero_linger(),
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
