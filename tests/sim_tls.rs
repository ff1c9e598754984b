//! The simulation over TLS: heard by who was told to trust its certificate, and by nobody else.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects)]

use quorate::{
    cli::sim::{MarketArgs, SimArgs, SimError, run_until},
    sim::{Sim, Tls},
};
use quorate_actors::{
    model::{Fault, Reason, VenueId},
    sim::Options,
    transport::{Answer, AwcConnect, Connect, Limits},
};
use std::{rc::Rc, time::Duration};
use tokio::{
    net::TcpListener,
    time::{Instant, timeout},
};

const KRAKEN: &str = "/0/public/Ticker?pair=XBTUSDT";

async fn start() -> (Sim, Tls) {
    let (tls, listener) = (Tls::new().unwrap(), TcpListener::bind("127.0.0.1:0").await.unwrap());
    let options = Options { latency: (Duration::ZERO, Duration::ZERO), ..Options::default() };
    (Sim::start_over(options, listener, Some(tls.clone())).unwrap(), tls)
}

fn own(sim: &Sim, path: &str) -> Rc<str> {
    format!("{}{path}", sim.own.iter().find(|(id, _)| id.as_str() == "kraken").unwrap().1).into()
}

async fn get(connect: &AwcConnect, url: &Rc<str>) -> Result<Answer, Fault> {
    let transport = connect.transport(&Limits { venue: VenueId::new("kraken"), body_max: 1 << 20 });
    transport.get(url, Instant::now() + Duration::from_secs(20)).await
}

#[actix::test]
async fn own_ports_speak_tls_to_who_trusts_the_certificate() {
    let (sim, tls) = start().await;
    let url = own(&sim, KRAKEN);
    assert!(url.starts_with("https://127.0.0.1:"), "{url}");
    let trusting = AwcConnect::new([tls.certificate]).unwrap();
    assert_eq!(get(&trusting, &url).await.unwrap().status, 200);
    let localhost = url.replace("127.0.0.1", "localhost").into();
    assert_eq!(get(&trusting, &localhost).await.unwrap().status, 200);
    let fault = get(&AwcConnect::new([]).unwrap(), &url).await.unwrap_err();
    assert_eq!(fault.reason, Reason::Tls, "{fault}");
    // Another start has another key.
    let fault = get(&AwcConnect::new([Tls::new().unwrap().certificate]).unwrap(), &url).await.unwrap_err();
    assert_eq!(fault.reason, Reason::Tls, "{fault}");
    let shared = format!("{}/kraken{KRAKEN}", sim.origin).into();
    assert_eq!(get(&trusting, &shared).await.unwrap().status, 200, "the shared port stays plain");
    sim.stop().await;
}

#[actix::test]
async fn who_says_nothing_of_tls_keeps_nobody_waiting_and_is_let_go_with_the_simulation() {
    let (sim, tls) = start().await;
    let url = own(&sim, KRAKEN);
    let address = url.strip_prefix("https://").unwrap().split('/').next().unwrap().to_owned();
    let silent = tokio::net::TcpStream::connect(&address).await.unwrap();
    assert_eq!(get(&AwcConnect::new([tls.certificate]).unwrap(), &url).await.unwrap().status, 200);
    sim.stop().await;
    let gone = async {
        silent.readable().await.unwrap();
        silent.try_read(&mut [0; 1])
    };
    assert!(!matches!(timeout(Duration::from_secs(20), gone).await.unwrap(), Ok(1..)));
}

#[actix::test]
async fn the_command_writes_the_certificate_and_names_a_file_that_it_cannot_write() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let args = |file: &std::path::Path| SimArgs {
        listen: "127.0.0.1:0".parse().unwrap(),
        market: MarketArgs { seed: 1, speed: 1.0, latency: (Duration::ZERO, Duration::ZERO), faults: None },
        tls: Some(file.to_owned()),
        json: true,
    };
    let file = folder.join("sim_tls.pem");
    let mut said = Vec::new();
    run_until(args(&file), &mut said, async {}).await.unwrap();
    let said: serde_json::Value = serde_json::from_slice(&said).unwrap();
    assert!(said["venues"]["kraken"]["own_origin"].as_str().unwrap().starts_with("https://127.0.0.1:"));
    let pem = std::fs::read_to_string(&file).unwrap();
    assert!(pem.starts_with("-----BEGIN CERTIFICATE-----") && !pem.contains("PRIVATE"), "{pem}");
    let error = run_until(args(&folder.join("no-folder/sim.pem")), &mut Vec::new(), async {}).await.unwrap_err();
    assert!(matches!(error, SimError::Certificate(..)) && error.to_string().contains("no-folder"), "{error}");
}
