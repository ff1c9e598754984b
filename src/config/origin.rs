//! Where a venue may be asked: over https, or over http on this machine.

use std::net::IpAddr;

/// What an origin must be.
const EXPECTED: &str = "https, or http on loopback, without user, query or fragment, such as https://api.kraken.com";

/// Reads scheme, host, and possibly port and path; a slash at the end is dropped.
pub(super) fn read(text: &str) -> Result<String, &'static str> {
    let uri: actix_web::http::Uri = text.parse().map_err(|_| EXPECTED)?;
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else { return Err(EXPECTED) };
    let lawful_scheme = scheme == "https" || (scheme == "http" && is_loopback_host(authority.host()));
    let lawful_port = authority.port_u16().is_some() || !authority.as_str().ends_with(':');
    if !lawful_scheme || !lawful_port || authority.as_str().contains('@') || uri.query().is_some() || text.contains('#') {
        return Err(EXPECTED);
    }
    Ok(text.trim_end_matches('/').to_owned())
}

/// Tells whether an origin is on this machine.
pub fn is_loopback(origin: &str) -> bool {
    origin.parse::<actix_web::http::Uri>().is_ok_and(|uri| uri.host().is_some_and(is_loopback_host))
}

fn is_loopback_host(host: &str) -> bool {
    let plain = host.trim_start_matches('[').trim_end_matches(']');
    plain.eq_ignore_ascii_case("localhost") || plain.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn https_anywhere_and_http_on_loopback_alone() {
        for (text, want) in [
            ("https://api.kraken.com", "https://api.kraken.com"),
            ("https://example.com:8443/base/", "https://example.com:8443/base"),
            ("http://127.0.0.1:8090/kraken", "http://127.0.0.1:8090/kraken"),
            ("http://localhost:1", "http://localhost:1"),
            ("http://[::1]:8090", "http://[::1]:8090"),
        ] {
            assert_eq!(read(text), Ok(want.to_owned()), "{text}");
        }
        for text in [
            "",
            "api.kraken.com",
            "http://api.kraken.com",
            "http://127.0.0.1.example.com",
            "http://localhost.example.com",
            "ftp://127.0.0.1",
            "https://",
            "https://user:secret@api.kraken.com",
            "https://api.kraken.com?x=1",
            "https://api.kraken.com#x",
            "https://api.kraken.com:",
            "/path",
            "https://a b",
        ] {
            assert_eq!(read(text), Err(EXPECTED), "{text}");
        }
    }

    #[test]
    fn loopback_is_told_from_the_host() {
        assert!(is_loopback("http://127.0.0.1:8090/kraken") && is_loopback("https://[::1]") && is_loopback("http://LOCALHOST:1"));
        assert!(!is_loopback("https://api.kraken.com") && !is_loopback("https://127.0.0.1.example.com") && !is_loopback(""));
    }
}
