//! The whole service on the simulated exchanges, over real sockets on free ports.
#![allow(dead_code, unreachable_pub, missing_docs, reason = "each test file uses its part")]

use awc::{Client, ClientRequest, Connector, http::header::HeaderMap};
use quorate::{
    config::{Config, From, Layers},
    serve::{Listeners, run_with},
    sim::Sim,
};
use quorate_actors::{Engine, sim::Options};
use serde_json::Value;
use std::time::Duration;
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

/// Holds a running simulation and the service on it.
pub struct Service {
    pub sim: Sim,
    pub public: String,
    pub admin: String,
    pub engine: Engine,
    client: Client,
    /// The longest that a venue takes to answer.
    slowest: Duration,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<()>,
}

/// An answer, read whole; a body that is no JSON is null.
#[derive(Debug)]
pub struct Got {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Value,
    /// The body as it came.
    pub text: String,
}

impl Service {
    /// Starts both: venues answer within `latency_ms`, and `keys` are laid over the default configuration.
    pub async fn start(latency_ms: (u64, u64), keys: &[(&str, &str)]) -> Self {
        let latency = (Duration::from_millis(latency_ms.0), Duration::from_millis(latency_ms.1));
        let sim = Sim::start(Options { latency, ..Options::default() }, TcpListener::bind("127.0.0.1:0").await.unwrap()).unwrap();
        let mut layers = Layers::defaults().unwrap();
        let origins = sim.own.iter().map(|(venue, origin)| (format!("venues.{venue}.origin"), origin.clone()));
        let ports = ["listen", "admin_listen"].map(|key| (key.to_owned(), "127.0.0.1:0".to_owned()));
        let keys = keys.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        for (key, value) in origins.chain(ports).chain(keys) {
            layers.set(&key, &value, &From::Flag("test".to_owned())).unwrap();
        }
        let config = Config::of(&layers).unwrap();
        let listeners = Listeners::bind(&config).unwrap();
        let address = |listener: &std::net::TcpListener| format!("http://{}", listener.local_addr().unwrap());
        let (public, admin) = (address(&listeners.public), address(&listeners.admin));
        let (stop, stopped) = oneshot::channel::<()>();
        let (tell, told) = oneshot::channel::<Engine>();
        let started = move |engine: &Engine| drop(tell.send(engine.clone()));
        let ended = actix::spawn(async move { run_with(config, listeners, async { drop(stopped.await) }, started).await.unwrap() });
        let engine = told.await.unwrap();
        // A thousand callers at once are a thousand connections.
        let client = Client::builder().connector(Connector::new().limit(0)).timeout(Duration::from_secs(30)).finish();
        Self { sim, public, admin, engine, client, slowest: latency.1, stop, ended }
    }

    /// Asks the public listener.
    pub async fn get(&self, path: &str) -> Got {
        self.ask(&format!("{}{path}", self.public)).await
    }

    /// Asks any address.
    pub async fn ask(&self, url: &str) -> Got {
        self.send(self.client.get(url)).await
    }

    /// Asks the public listener for the head alone.
    pub async fn head(&self, path: &str) -> Got {
        self.send(self.client.head(format!("{}{path}", self.public))).await
    }

    /// Asks the public listener for what is not known already.
    pub async fn get_unless(&self, path: &str, tag: &str) -> Got {
        self.send(self.client.get(format!("{}{path}", self.public)).insert_header(("if-none-match", tag))).await
    }

    pub async fn ask_with(&self, url: &str, headers: &[(&str, &str)]) -> Got {
        self.send(headers.iter().fold(self.client.get(url), |request, header| request.insert_header(*header))).await
    }

    async fn send(&self, request: ClientRequest) -> Got {
        let mut response = request.send().await.unwrap();
        let body = response.body().limit(16 << 20).await.unwrap();
        Got {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            body: serde_json::from_slice(&body).unwrap_or_default(),
            text: String::from_utf8_lossy(&body).into_owned(),
        }
    }

    /// Gives every figure, and the rows of one actor's messages.
    pub async fn figures(&self, open: &str) -> Value {
        self.ask(&format!("{}/admin/api/actors.json?open={open}", self.admin)).await.body
    }

    /// Tells the admin listener something; gives the status.
    pub async fn order(&self, path: &str) -> u16 {
        let request = self.client.post(format!("{}/admin/api/{path}", self.admin)).insert_header(("Quorate-Admin", "1"));
        request.send().await.unwrap().status().as_u16()
    }

    /// Looks at the figures again and again until they are as wanted; gives those. Bounded.
    pub async fn seen(&self, open: &str, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..1_200 {
            let figures = self.figures(open).await;
            if is_so(&figures) {
                return figures;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!("never seen: {what}; last {}", self.figures(open).await);
    }

    /// Tells the simulation something.
    pub async fn tell_sim(&self, path: &str, body: Value) -> Value {
        let mut response = self.client.post(format!("{}{path}", self.sim.origin)).send_json(&body).await.unwrap();
        let body = response.body().await.unwrap();
        assert!(response.status().is_success(), "{path}: {body:?}");
        serde_json::from_slice(&body).unwrap()
    }

    /// Removes all faults.
    pub async fn mend(&self) {
        self.client.delete(format!("{}/_sim/faults", self.sim.origin)).send().await.unwrap();
    }

    /// Forgets what was counted at the venues.
    pub async fn reset_stats(&self) {
        self.client.delete(format!("{}/_sim/stats", self.sim.origin)).send().await.unwrap();
    }

    /// Gives what was counted at the venues.
    pub async fn stats(&self) -> Value {
        self.ask(&format!("{}/_sim/stats", self.sim.origin)).await.body
    }

    /// Asks again and again until the answer is as wanted; gives that one. Bounded.
    pub async fn until(&self, path: &str, what: &str, is_so: impl Fn(&Got) -> bool) -> Got {
        let mut last = None;
        for _ in 0..1_200 {
            let got = self.get(path).await;
            if is_so(&got) {
                return got;
            }
            last = Some(got);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("never happened: {what}; last {last:?}");
    }

    /// Waits until no venue is being asked: what begins afterwards meets the faults that are set now.
    pub async fn quiet(&self) {
        let requests = async || -> Vec<(String, Value)> {
            self.stats().await.as_object().unwrap().iter().map(|(venue, stats)| (venue.clone(), stats["requests"].clone())).collect()
        };
        let mut before = requests().await;
        for _ in 0..200 {
            tokio::time::sleep(self.slowest + Duration::from_millis(200)).await;
            let now = requests().await;
            if now == before {
                return;
            }
            before = now;
        }
        panic!("the venues are asked again and again");
    }

    /// Stops the service and the simulation.
    pub async fn stop(self) {
        self.stop.send(()).unwrap();
        self.ended.await.unwrap();
        self.sim.stop().await;
    }
}

impl Got {
    /// Gives a header's text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Gives the status and the code of a problem.
    pub fn code(&self) -> (u16, &str) {
        (self.status, self.body["code"].as_str().unwrap_or_default())
    }

    /// Asserts that it is a problem with all members, and gives its code.
    pub fn problem(&self) -> &str {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        assert!(["type", "title", "detail", "request_id"].iter().all(|name| self.body[name].is_string()), "{self:?}");
        assert_eq!(self.body["status"], self.status, "{self:?}");
        self.body["code"].as_str().unwrap()
    }

    /// Gives the row of a venue.
    pub fn quote(&self, venue: &str) -> Option<&Value> {
        self.body["quotes"].as_array()?.iter().find(|q| q["venue"] == venue)
    }

    /// Gives why a venue is a miss, or why its quote does not count; `in` where it does.
    pub fn word_of(&self, venue: &str) -> Option<&str> {
        let miss = self.body["misses"].as_array().and_then(|m| m.iter().find(|m| m["venue"] == venue));
        miss.map(|m| m["reason"].as_str().unwrap()).or_else(|| Some(self.quote(venue)?["decision"].as_str().unwrap()))
    }

    /// Asserts that every venue that was asked is answered for.
    pub fn is_whole(&self) -> bool {
        let count = |name: &str| self.body[name].as_array().map_or(0, Vec::len);
        self.body["venues"]["asked"] == count("quotes") + count("misses")
    }
}
