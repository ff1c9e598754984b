//! Profiles of the built program under load, over its admin listener.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects)]

mod program;

use awc::{Client, Connector, http::header::HeaderMap};
use flate2::read::GzDecoder;
use futures_util::future::join;
use pprof::protos::{Message, Profile};
use program::quorate;
use serde_json::Value;
use std::{
    cell::Cell,
    io::{BufRead, BufReader, Read},
    process::{Child, Stdio},
    rc::Rc,
    time::Duration,
};

/// `quorate demo` on free ports, and who asks it.
struct Demo {
    child: Child,
    public: String,
    admin: String,
    client: Client,
}

struct Got {
    status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Got {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    fn problem(&self) -> (u16, String, String) {
        assert_eq!(self.header("content-type"), "application/problem+json");
        let body: Value = serde_json::from_slice(&self.body).unwrap();
        (self.status, body["code"].as_str().unwrap().to_owned(), body["detail"].as_str().unwrap().to_owned())
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

impl Demo {
    fn start(more: &[&str]) -> Self {
        let any = "127.0.0.1:0";
        let ports = ["demo", "--sim-listen", any, "--listen", any, "--admin-listen", any, "--latency", "1-5"];
        let mut child = quorate(&[&ports, more].concat()).stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let said = lines.find(|line| line.starts_with("quorate serves ")).expect("it says where it serves");
        // What it says later is read, so that it never waits to say it.
        std::thread::spawn(move || lines.for_each(drop));
        let (public, admin) = said.trim_start_matches("quorate serves ").split_once(", admin ").unwrap();
        let client = Client::builder().connector(Connector::new().limit(0)).timeout(Duration::from_secs(120)).finish();
        Self { child, public: public.to_owned(), admin: admin.to_owned(), client }
    }

    async fn ask(&self, path: &str, headers: &[(&str, &str)]) -> Got {
        let request = self.client.get(format!("{}{path}", self.admin));
        let mut response = headers.iter().fold(request, |request, header| request.insert_header(*header)).send().await.unwrap();
        let body = response.body().limit(64 << 20).await.unwrap().to_vec();
        Got { status: response.status().as_u16(), headers: response.headers().clone(), body }
    }

    /// Asks for quotes again and again, from memory and by rounds, until it is told to end.
    fn load(&self, end: &Rc<Cell<bool>>) {
        for path in ["/v1/quotes/BTC-USDT?fresh=true", "/v1/quotes/ETH-USDT", "/v1/quotes?pairs=BTC-USD,SOL-EUR", "/v1/rates/BTC-USD"] {
            let (client, url, end) = (self.client.clone(), format!("{}{path}", self.public), Rc::clone(end));
            actix_web::rt::spawn(async move {
                while !end.get() {
                    let _ = client.get(&url).send().await.unwrap().body().await.unwrap();
                }
            });
        }
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Tells how many samples there are, how many of them were taken inside functions of ours or of what those called, and the names of ours.
fn ours(packed: &[u8]) -> (i64, i64, Vec<String>) {
    let mut bytes = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut bytes).expect("a profile is packed by gzip");
    let profile = Profile::decode(&*bytes).expect("a profile is protobuf");
    let text = |at: i64| &*profile.string_table[usize::try_from(at).unwrap()];
    assert_eq!([0, 1].map(|at| text(profile.sample_type[at].ty)), ["samples", "cpu"]);
    let name = |location: u64| {
        let line = &profile.location.iter().find(|known| known.id == location).unwrap().line[0];
        text(profile.function.iter().find(|known| known.id == line.function_id).unwrap().name)
    };
    let is_ours = |name: &str| ["quorate::", "quorate_actors::"].iter().any(|own| name.trim_start_matches('<').starts_with(own));
    let (mut all, mut own, mut names) = (0, 0, Vec::new());
    for sample in &profile.sample {
        let found: Vec<&str> = sample.location_id.iter().map(|location| name(*location)).filter(|name| is_ours(name)).collect();
        all += sample.value[0];
        own += if found.is_empty() { 0 } else { sample.value[0] };
        names.extend(found.into_iter().map(str::to_owned));
    }
    names.sort();
    names.dedup();
    (all, own, names)
}

#[actix_web::test]
async fn a_profile_under_load_is_of_our_functions_and_one_is_taken_at_a_time() {
    let (demo, end) = (Demo::start(&[]), Rc::new(Cell::new(false)));
    demo.load(&end);
    let mut seen = Vec::new();
    let got = loop {
        // Whichever comes first is taken; a machine that stands still between the two may let both in.
        let wanted = "/debug/pprof/profile?seconds=2&hz=199";
        let (one, other) = join(demo.ask(wanted, &[]), demo.ask(wanted, &[])).await;
        let (taken, refused) = if one.status == 200 { (one, other) } else { (other, one) };
        assert_eq!(taken.status, 200);
        let (all, own, names) = ours(&taken.body);
        let named = ["quorate::http::", "quorate_actors::exchange::"].iter().all(|room| names.iter().any(|name| name.contains(room)));
        seen.push(format!("{all} samples, {own} ours, {} names, then {}", names.len(), refused.status));
        if refused.status == 409 && named && own * 2 > all {
            assert_eq!(refused.problem().1, "conflict");
            assert_eq!(refused.header("retry-after"), "1");
            break taken;
        }
        assert!(seen.len() < 5, "{seen:#?}, {names:#?}");
    };
    assert_eq!(got.header("content-type"), "application/octet-stream");
    assert_eq!(got.header("content-disposition"), "attachment; filename=\"profile.pb.gz\"");
    assert_eq!(got.header("content-encoding"), "", "the tools of pprof unpack it themselves");
    assert_eq!((got.header("cache-control"), got.header("x-content-type-options")), ("no-store", "nosniff"));

    let graph = demo.ask("/debug/pprof/flamegraph?seconds=1", &[]).await;
    end.set(true);
    assert_eq!((graph.status, graph.header("content-type")), (200, "image/svg+xml"));
    let policy = graph.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'; ") && policy.ends_with("; sandbox allow-scripts"), "{policy}");
    let svg = graph.text();
    assert!(svg.contains("<svg ") && svg.trim_end().ends_with("</svg>") && svg.contains("quorate::http::"), "{} bytes", svg.len());
    assert!(!svg.contains("href=\"http") && !svg.contains("src="), "nothing is asked of others");
}

#[actix_web::test]
async fn what_is_not_lawful_is_refused_and_secrets_are_not_told() {
    let token = program::File::new("0123456789abcdef0123");
    let demo = Demo::start(&["--set", &format!("admin_token_file={}", token.path()), "--set=deadline_ms=900"]);
    let bearer = ("authorization", "Bearer 0123456789abcdef0123");
    for (query, code, said) in [
        ("seconds=61", "invalid_parameter", "seconds is \"61\", expected a whole number from 1 to 60"),
        ("seconds=0", "invalid_parameter", "seconds is \"0\", expected a whole number from 1 to 60"),
        ("seconds=1.5", "invalid_parameter", "seconds is \"1.5\", expected a whole number from 1 to 60"),
        ("hz=200", "invalid_parameter", "hz is \"200\", expected a whole number from 1 to 199"),
        ("debug=1", "unknown_parameter", "parameter \"debug\" is not known, expected \"seconds\" or \"hz\""),
        ("hz=9&hz=9", "duplicate_parameter", "parameter \"hz\" is given more than once"),
    ] {
        for path in ["profile", "flamegraph"] {
            let got = demo.ask(&format!("/debug/pprof/{path}?{query}"), &[bearer]).await;
            assert_eq!(got.problem(), (400, code.to_owned(), said.to_owned()), "{path}?{query}");
        }
    }
    for path in ["profile?seconds=1", "flamegraph?seconds=1", "cmdline", "heap"].map(|path| format!("/debug/pprof/{path}")) {
        assert_eq!(demo.ask(&path, &[]).await.problem().1, "unauthorized", "{path}");
        assert_eq!(demo.ask(&path, &[bearer, ("host", "evil.example")]).await.problem().1, "wrong_host", "{path}");
        assert_eq!(demo.ask(&path, &[bearer, ("sec-fetch-site", "cross-site")]).await.problem().1, "forbidden", "{path}");
    }
    let said = demo.ask("/debug/pprof/cmdline", &[bearer]).await;
    assert_eq!((said.status, said.header("content-type")), (200, "text/plain; charset=utf-8"));
    let words: Vec<&str> = said.text().split_terminator('\0').collect();
    assert_eq!(
        (&words[1..3], &words[words.len() - 3..]),
        (&["demo", "--sim-listen"][..], &["--set", "admin_token_file=…", "--set=deadline_ms=…"][..])
    );
    let page = demo.ask("/debug/pprof/", &[]).await;
    assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
    assert!(page.header("content-security-policy").starts_with("default-src 'none'; script-src 'self'; "));
    for link in page.text().split('"').filter(|part| part.starts_with("/debug/pprof/")) {
        let path = link.split('?').next().unwrap();
        let known = ["profile", "flamegraph", "heap", "cmdline"].iter().any(|name| path == format!("/debug/pprof/{name}"));
        assert!(known, "{link}");
    }
    assert_eq!(demo.ask("/debug/pprof/heap", &[bearer]).await.problem().0, 501);
}
