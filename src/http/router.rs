//! The table of routes: from method and path to a handler.

use super::Call;
use crate::error::{ApiError, Code, shown};
use actix_web::{HttpResponse, http::Method};
use futures_util::future::LocalBoxFuture;

/// Handles a request.
pub type Handler = for<'a> fn(Call<'a>) -> LocalBoxFuture<'a, Result<HttpResponse, ApiError>>;

/// Holds one path and what it answers to. `{…}` stands for one segment that is not empty.
pub(crate) struct Route {
    pub(crate) path: &'static str,
    get: Option<Handler>,
    post: Option<Handler>,
}

/// Makes a route for GET, and with it HEAD: the server leaves the body out.
pub(crate) const fn get(path: &'static str, handler: Handler) -> Route {
    Route { path, get: Some(handler), post: None }
}

/// Makes a route for GET, HEAD and POST.
pub(crate) const fn get_or_post(path: &'static str, get: Handler, post: Handler) -> Route {
    Route { path, get: Some(get), post: Some(post) }
}

/// Makes a route for POST.
pub(crate) const fn post(path: &'static str, handler: Handler) -> Route {
    Route { path, get: None, post: Some(handler) }
}

impl Route {
    /// Gives what stands in the path for `{…}` (empty where the route has none); `None` where it is another path.
    fn capture<'p>(&self, path: &'p str) -> Option<&'p str> {
        let (mut want, mut have) = (self.path.split('/'), path.split('/'));
        let mut captured = "";
        loop {
            match (want.next(), have.next()) {
                (None, None) => return Some(captured),
                (Some(want), Some(have)) if want.starts_with('{') && !have.is_empty() => captured = have,
                (Some(want), Some(have)) if want == have => {}
                _ => return None,
            }
        }
    }

    fn handler(&self, method: &Method) -> Option<Handler> {
        match *method {
            Method::GET | Method::HEAD => self.get,
            Method::POST => self.post,
            _ => None,
        }
    }

    /// Tells whether it answers to a method.
    #[cfg(test)]
    pub(crate) fn answers(&self, method: &Method) -> bool {
        self.handler(method).is_some()
    }

    fn allow(&self) -> &'static str {
        match (self.get, self.post) {
            (Some(_), Some(_)) => "GET, HEAD, POST",
            (Some(_), None) => "GET, HEAD",
            _ => "POST",
        }
    }
}

/// A route that fits a path, with what its `{…}` stands for.
pub(crate) struct Found<'p> {
    pub(crate) number: usize,
    route: &'static Route,
    captured: &'p str,
}

/// Finds the route of a path.
pub(crate) fn find<'p>(routes: &'static [Route], path: &'p str) -> Option<Found<'p>> {
    routes.iter().enumerate().find_map(|(number, route)| Some(Found { number, route, captured: route.capture(path)? }))
}

/// Finds the route of a request and handles it.
pub(super) async fn dispatch(routes: &'static [Route], call: Call<'_>) -> Result<HttpResponse, ApiError> {
    let request = call.request;
    // In a scope, the scope's own part of the path is processed already.
    let Some(Found { route, captured, .. }) = find(routes, request.match_info().unprocessed()) else {
        let known = routes.iter().map(|r| r.path.to_owned());
        let detail = format!("path {} is not known, expected one of the suggestions", shown(request.path()));
        return Err(ApiError::new(Code::NotFound, detail).suggest(known));
    };
    let Some(handler) = route.handler(request.method()) else {
        let detail = format!("method {}, expected one of {}", shown(request.method().as_str()), route.allow());
        return Err(ApiError::new(Code::MethodNotAllowed, detail).allow(route.allow()));
    };
    handler(Call { captured, ..call }).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_fits_whole_or_not_at_all() {
        let never: Handler = |_| unreachable!();
        let route = get("/v1/quotes/{pair}", never);
        assert_eq!(route.capture("/v1/quotes/BTC-USD"), Some("BTC-USD"));
        for other in ["/v1/quotes", "/v1/quotes/", "/v1/quotes/a/b", "/V1/quotes/a", "v1/quotes/a", "", "//v1/quotes/a"] {
            assert_eq!(route.capture(other), None, "{other}");
        }
        assert_eq!(get("/healthz", never).capture("/healthz"), Some(""));
        assert!(
            route.handler(&Method::HEAD).is_some() && route.handler(&Method::POST).is_none() && route.handler(&Method::DELETE).is_none()
        );
    }
}
