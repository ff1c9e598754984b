//! `/debug/pprof/`: where the processor's time goes, in the form of `go tool pprof` and as a flame graph; and what was said on the command line.

#[cfg(feature = "profile")]
mod taken;

use super::assets::restrict;
use crate::{
    error::{ApiError, Code},
    http::{Call, terms::invalid},
};
use actix_web::{
    HttpResponse,
    http::header::{CONTENT_DISPOSITION, HeaderValue},
};
use std::time::Duration;

/// The longest profile, in seconds.
const SECONDS_MAX: u64 = 60;
/// How long one is where nothing is said: what other servers of such profiles take.
const SECONDS: u64 = 30;
/// The most samples of a second of processor time.
const HZ_MAX: u64 = 199;
/// How many are taken where nothing is said: no round number, so that it does not beat with what happens regularly.
const HZ: u64 = 99;
/// After so long a profile that is being taken may be done.
const AGAIN: Duration = Duration::from_secs(1);

/// What a browser may do with data: nothing.
const DATA: &str = "default-src 'none'; frame-ancestors 'none'; sandbox";
/// What it may do with a flame graph: its own script finds and enlarges, in an origin of its own, from where nothing can be asked.
const GRAPH: &str =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox allow-scripts";

/// Tells how a profile is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The protobuf of pprof, packed by gzip, as its tools expect it.
    Protobuf,
    /// SVG.
    Flamegraph,
}

/// Takes a profile of the processor's time: `seconds=`, `hz=`.
pub(super) async fn cpu(call: Call<'_>, form: Form) -> Result<HttpResponse, ApiError> {
    let [seconds, hz] = call.given(["seconds", "hz"])?;
    let seconds = whole("seconds", seconds.as_deref(), SECONDS, SECONDS_MAX)?;
    let hz = whole("hz", hz.as_deref(), HZ, HZ_MAX)?;
    let Some(_only) = call.state.admin.profiling() else { return Err(busy()) };
    let body = taken(Duration::from_secs(seconds), i32::try_from(hz).unwrap_or(1), form).await?;
    Ok(match form {
        Form::Protobuf => attached(body, "application/octet-stream", "attachment; filename=\"profile.pb.gz\""),
        Form::Flamegraph => restrict(HttpResponse::Ok().content_type("image/svg+xml").body(body), GRAPH, "no-store"),
    })
}

#[cfg(feature = "profile")]
async fn taken(time: Duration, hz: i32, form: Form) -> Result<Vec<u8>, ApiError> {
    taken::taken(time, hz, form).await
}

#[cfg(not(feature = "profile"))]
async fn taken(_: Duration, _: i32, _: Form) -> Result<Vec<u8>, ApiError> {
    Err(not_built("profile"))
}

/// Says that memory is not profiled.
pub(super) fn heap(call: Call<'_>) -> Result<HttpResponse, ApiError> {
    call.no_query()?;
    Err(ApiError::new(Code::NotBuilt, "the allocator keeps no profile, expected one that does"))
}

/// Shows how the program was called, each word ended by a NUL as Go's servers do, without what may be secret.
pub(super) fn cmdline(call: Call<'_>) -> Result<HttpResponse, ApiError> {
    call.no_query()?;
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    Ok(restrict(HttpResponse::Ok().content_type("text/plain; charset=utf-8").body(told(words)), DATA, "no-store"))
}

/// Leaves out the values of `--set`, and addresses that name a user.
fn told(words: impl Iterator<Item = String>) -> Vec<u8> {
    let (mut out, mut is_value) = (Vec::new(), false);
    for word in words {
        let is_set = word.starts_with("--set=");
        let kept = match word.match_indices('=').nth(usize::from(is_set)) {
            Some((at, _)) if is_value || is_set => word.get(..=at).unwrap_or_default(),
            _ if is_value || is_set || (word.contains("://") && word.contains('@')) => "",
            _ => &word,
        };
        out.extend_from_slice(kept.as_bytes());
        if kept.len() < word.len() {
            out.extend_from_slice("…".as_bytes());
        }
        out.push(0);
        is_value = word == "--set";
    }
    out
}

fn whole(name: &str, text: Option<&str>, otherwise: u64, most: u64) -> Result<u64, ApiError> {
    let Some(text) = text else { return Ok(otherwise) };
    let number = text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    number.filter(|number| (1..=most).contains(number)).ok_or_else(|| invalid(name, text, format_args!("a whole number from 1 to {most}")))
}

fn busy() -> ApiError {
    ApiError::new(Code::Conflict, "a profile is being taken, expected one at a time").retry_after(AGAIN)
}

#[cfg(not(feature = "profile"))]
fn not_built(feature: &str) -> ApiError {
    ApiError::new(Code::NotBuilt, format!("the program is built without {feature}, expected the feature {feature:?}"))
}

fn attached(body: Vec<u8>, kind: &'static str, name: &'static str) -> HttpResponse {
    let mut response = restrict(HttpResponse::Ok().content_type(kind).body(body), DATA, "no-store");
    response.headers_mut().insert(CONTENT_DISPOSITION, HeaderValue::from_static(name));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_shown_without_secrets() {
        let words = [
            "quorate",
            "serve",
            "--listen",
            "127.0.0.1:8080",
            "--set",
            "admin_token=hunter2hunter2hu",
            "--set=venues.okx.origin=https://me:hunter2@proxy/?key=hunter2",
            "--set",
            "hunter2",
            "--set=hunter2",
            "https://me:hunter2@x",
            "--config=a=b",
        ];
        let told = String::from_utf8(told(words.into_iter().map(str::to_owned))).unwrap();
        let shown: Vec<_> = told.split_terminator('\0').collect();
        assert_eq!(
            shown,
            [
                "quorate",
                "serve",
                "--listen",
                "127.0.0.1:8080",
                "--set",
                "admin_token=…",
                "--set=venues.okx.origin=…",
                "--set",
                "…",
                "…",
                "…",
                "--config=a=b"
            ]
        );
    }

    #[test]
    fn numbers_are_whole_and_within_bounds() {
        let of = |text| whole("seconds", text, 30, 60).map_err(|e| e.to_string());
        assert_eq!([of(None), of(Some("1")), of(Some("60"))], [Ok(30), Ok(1), Ok(60)]);
        for wrong in ["0", "61", "-1", "1.5", "", "99999999999999999999999"] {
            let said = of(Some(wrong)).unwrap_err();
            assert!(
                said.starts_with("invalid_parameter: seconds is ") && said.ends_with(", expected a whole number from 1 to 60"),
                "{said}"
            );
        }
    }
}
