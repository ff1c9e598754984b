//! The page itself: files of ours, served from the binary. They hold no figures, so that they need no token; what they show is asked for with it.

use actix_web::{
    HttpResponse,
    http::header::{HeaderName, HeaderValue},
};

/// One file.
pub(super) struct Asset {
    pub(super) path: &'static str,
    kind: &'static str,
    body: &'static [u8],
}

/// Every file of the page.
const ASSETS: &[Asset] = &[
    Asset { path: "/admin", kind: "text/html; charset=utf-8", body: include_bytes!("../../assets/admin/index.html") },
    Asset { path: "/admin/admin.css", kind: "text/css; charset=utf-8", body: include_bytes!("../../assets/admin/admin.css") },
    Asset { path: "/admin/admin.js", kind: "text/javascript; charset=utf-8", body: include_bytes!("../../assets/admin/admin.js") },
    Asset { path: "/debug/pprof", kind: "text/html; charset=utf-8", body: include_bytes!("../../assets/admin/pprof.html") },
    Asset { path: "/admin/icon.svg", kind: "image/svg+xml", body: include_bytes!("../../assets/admin/icon.svg") },
];

/// What a browser may do with them: nothing from elsewhere, nothing inline, no frame around it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

/// What it may do with any answer that is no data.
const HEADERS: [(&str, &str); 5] = [
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// Tells a browser what it may do with an answer, and whether it may keep it.
pub(super) fn restrict(mut response: HttpResponse, policy: &'static str, caching: &'static str) -> HttpResponse {
    for (name, value) in HEADERS.into_iter().chain([("content-security-policy", policy), ("cache-control", caching)]) {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

/// Finds a file by its path.
pub(super) fn find(path: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.path == path || asset.path == path.trim_end_matches('/'))
}

impl Asset {
    /// Makes the response.
    pub(super) fn response(&self) -> HttpResponse {
        restrict(HttpResponse::Ok().content_type(self.kind).body(self.body), POLICY, "no-cache")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(asset: &Asset) -> &'static str {
        std::str::from_utf8(asset.body).unwrap()
    }

    #[test]
    fn nothing_is_inline_and_nothing_is_asked_of_others() {
        for page in ["/admin/", "/debug/pprof/"].map(|path| text(find(path).unwrap())) {
            for forbidden in ["<style", " style=", " onclick", " onload", "javascript:", "http:", "https:", "//"] {
                assert!(!page.contains(forbidden), "the page has {forbidden:?}");
            }
            assert_eq!(page.matches("<script").count(), page.matches("<script src=\"/admin/").count());
            for path in page.split(['"', '\'']).filter(|part| part.starts_with("/admin/")) {
                assert!(find(path).is_some(), "{path} is no file of the page");
            }
        }
        let script = text(find("/admin/admin.js").unwrap());
        // `outerHTML` is read there, to compare, and never set.
        for forbidden in ["innerHTML", "outerHTML =", "insertAdjacentHTML", "document.write", "eval(", "localStorage", "cookie", ".style"] {
            assert!(!script.contains(forbidden), "the script has {forbidden:?}");
        }
        let urls: Vec<_> = script.split('\'').filter(|part| part.starts_with("http")).collect();
        assert_eq!(urls, ["http://www.w3.org/2000/svg"], "a name, which nobody asks for");
        assert!(!text(find("/admin/admin.css").unwrap()).contains("url("));
    }
}
