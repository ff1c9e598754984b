//! Who may use the admin listener: by host name, by token, and by a header that no page elsewhere can send.

use crate::error::{ApiError, Code, shown};
use actix_web::{
    HttpRequest,
    http::{
        Method,
        header::{self, HeaderName},
    },
};

/// The shortest token that is accepted, in bytes.
pub const TOKEN_MIN: usize = 16;

/// The names under which it answers without being told.
const OWN_HOSTS: &[&str] = &["localhost", "127.0.0.1", "[::1]"];

/// Holds whom the admin listener answers.
#[derive(Debug, Default)]
pub struct Guard {
    hosts: Vec<String>,
    token: Option<String>,
}

impl Guard {
    /// Makes a guard that answers under `hosts` besides this machine's own names, and only to who knows the token, where there is one.
    pub fn new(hosts: Vec<String>, token: Option<String>) -> Self {
        Self { hosts, token }
    }

    /// Checks under which name a request came: all that is checked of one for what is no secret.
    ///
    /// # Errors
    /// `wrong_host`.
    pub fn check_host(&self, request: &HttpRequest) -> Result<(), ApiError> {
        let host = named(request, header::HOST).unwrap_or_default();
        // A request line with a whole address names the host too, and both must be ours.
        let authority = request.uri().authority().map(|a| a.as_str());
        if let Some(wrong) = [Some(host), authority].into_iter().flatten().find(|h| !self.is_own(h)) {
            let detail = format!("host {}, expected localhost, 127.0.0.1, [::1] or a name in admin_hosts", shown(wrong));
            return Err(ApiError::new(Code::WrongHost, detail));
        }
        Ok(())
    }

    /// Checks a request.
    ///
    /// # Errors
    /// `wrong_host`, `unauthorized`, `forbidden`.
    pub fn check(&self, request: &HttpRequest) -> Result<(), ApiError> {
        self.check_host(request)?;
        if let Some(token) = &self.token {
            let given = named(request, header::AUTHORIZATION).and_then(|a| a.strip_prefix("Bearer ")).unwrap_or_default();
            if !equal(given.as_bytes(), token.as_bytes()) {
                return Err(ApiError::new(Code::Unauthorized, "the bearer token is missing or wrong"));
            }
        }
        // What a browser says by itself, and no page can change: a site elsewhere may not even have a profile begun that it could not read.
        let site = HeaderName::from_static("sec-fetch-site");
        if let Some(site) = named(request, site).filter(|site| !matches!(*site, "same-origin" | "none")) {
            return Err(ApiError::new(Code::Forbidden, format!("sec-fetch-site {}, expected same-origin or none", shown(site))));
        }
        if matches!(*request.method(), Method::GET | Method::HEAD) {
            return Ok(());
        }
        if request.headers().get("quorate-admin").is_none_or(|v| v != "1") {
            return Err(ApiError::new(Code::Forbidden, "the header Quorate-Admin is missing, expected 1"));
        }
        let host = named(request, header::HOST).unwrap_or_default();
        match named(request, header::ORIGIN) {
            Some(origin) if !origin.split_once("://").is_some_and(|(_, rest)| rest.eq_ignore_ascii_case(host)) => {
                Err(ApiError::new(Code::Forbidden, format!("origin {}, expected that of the admin page", shown(origin))))
            }
            _ => Ok(()),
        }
    }

    fn is_own(&self, host: &str) -> bool {
        let name = without_port(host);
        OWN_HOSTS.iter().copied().chain(self.hosts.iter().map(String::as_str)).any(|own| own.eq_ignore_ascii_case(name))
    }
}

fn named(request: &HttpRequest, name: header::HeaderName) -> Option<&str> {
    request.headers().get(name).map(|value| value.to_str().unwrap_or_default())
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port))
            if !name.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) && (!name.contains(':') || name.ends_with(']')) =>
        {
            name
        }
        _ => host,
    }
}

/// Compares in a time that tells nothing of where the two differ.
fn equal(given: &[u8], token: &[u8]) -> bool {
    let mut different = usize::from(given.len() != token.len());
    for (at, byte) in token.iter().enumerate() {
        different |= usize::from(byte ^ given.get(at).copied().unwrap_or_default());
    }
    std::hint::black_box(different) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;

    fn code(guard: &Guard, method: Method, headers: &[(&'static str, &str)]) -> Option<Code> {
        let request = headers.iter().fold(TestRequest::default().method(method), |r, (name, value)| r.insert_header((*name, *value)));
        guard.check(&request.to_http_request()).err().map(|e| e.code())
    }

    #[test]
    fn only_own_names_are_answered() {
        let guard = Guard::new(vec!["admin.example".into()], None);
        for host in ["localhost", "LOCALHOST:8081", "127.0.0.1:8081", "[::1]:8081", "[::1]", "admin.example", "admin.example:443"] {
            assert_eq!(code(&guard, Method::GET, &[("host", host)]), None, "{host}");
        }
        for host in
            ["", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example:8081", "::1", "[::2]", "localhost:", ":8081", "10.0.0.1"]
        {
            let wanted = if host == "localhost:" { None } else { Some(Code::WrongHost) };
            assert_eq!(code(&guard, Method::GET, &[("host", host)]), wanted, "{host}");
        }
        assert_eq!(code(&guard, Method::GET, &[]), Some(Code::WrongHost));
        let absolute = TestRequest::get().uri("http://evil.example/admin").insert_header(("host", "localhost")).to_http_request();
        assert_eq!(guard.check(&absolute).unwrap_err().code(), Code::WrongHost);
    }

    #[test]
    fn a_token_is_wanted_where_there_is_one() {
        let guard = Guard::new(Vec::new(), Some("0123456789abcdef".into()));
        let with = |value| code(&guard, Method::GET, &[("host", "localhost"), ("authorization", value)]);
        assert_eq!(with("Bearer 0123456789abcdef"), None);
        for wrong in ["Bearer 0123456789abcdeg", "Bearer 0123456789abcde", "Bearer 0123456789abcdef0", "Bearer ", "0123456789abcdef", ""] {
            assert_eq!(with(wrong), Some(Code::Unauthorized), "{wrong}");
        }
        assert_eq!(code(&guard, Method::GET, &[("host", "localhost")]), Some(Code::Unauthorized));
    }

    #[test]
    fn a_change_needs_the_header_and_no_foreign_origin() {
        let guard = Guard::default();
        let host = ("host", "localhost:8081");
        assert_eq!(code(&guard, Method::POST, &[host]), Some(Code::Forbidden));
        assert_eq!(code(&guard, Method::POST, &[host, ("quorate-admin", "0")]), Some(Code::Forbidden));
        assert_eq!(code(&guard, Method::POST, &[host, ("quorate-admin", "1")]), None);
        assert_eq!(code(&guard, Method::POST, &[host, ("quorate-admin", "1"), ("origin", "http://localhost:8081")]), None);
        for foreign in ["https://evil.example", "null", "http://localhost:9999", ""] {
            let headers = [host, ("quorate-admin", "1"), ("origin", foreign)];
            assert_eq!(code(&guard, Method::POST, &headers), Some(Code::Forbidden), "{foreign}");
        }
        assert_eq!(code(&guard, Method::DELETE, &[host]), Some(Code::Forbidden));
    }

    #[test]
    fn a_page_elsewhere_has_nothing_answered() {
        let of = |site| code(&Guard::default(), Method::GET, &[("host", "localhost:8081"), ("sec-fetch-site", site)]);
        assert_eq!([of("same-origin"), of("none")], [None, None]);
        for site in ["cross-site", "same-site", "", "Same-Origin"] {
            assert_eq!(of(site), Some(Code::Forbidden), "{site}");
        }
    }
}
