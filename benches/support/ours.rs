//! The engine as an embedder starts it, with the canned server as every venue.

use super::{canned::seen, floor::Floor, market};
use quorate_actors::{Builder, Engine, VenueConfig, rate::AdmissionRules, transport::AwcConnect, venue::Venue};
use std::{sync::Arc, time::Duration};

/// Starts an engine on a canned server.
pub async fn start(ports: &[u16], place: fn(Builder) -> Builder) -> Engine {
    let origins: Vec<String> = ports.iter().map(|port| format!("http://127.0.0.1:{port}")).collect();
    start_at(&origins, AwcConnect::new([]).unwrap(), place).await
}

/// Starts an engine that polls once and then waits to be asked; gives it once it has every venue's quote.
pub async fn start_at(origins: &[String], connect: AwcConnect, place: fn(Builder) -> Builder) -> Engine {
    let mut builder = Engine::builder().pairs([market::pair().to_string()]).poll(Duration::from_secs(86_400)).rounds_per_s(u32::MAX);
    for (venue, origin) in market::venues(origins.len()).into_iter().zip(origins) {
        let config = VenueConfig { origin: Some(origin.clone()), ..VenueConfig::default() };
        builder = builder.venue_config(venue.profile().id, config).venue(venue);
    }
    // The canned quotes grow old.
    let rules = AdmissionRules { max_age: Duration::from_secs(86_400), ..AdmissionRules::default() };
    let engine = place(builder.rules(rules).connect(Arc::new(connect))).start().unwrap();
    let polled = || engine.venues().iter().all(|venue| venue.answers >= 2);
    for _ in 0..2000 {
        if polled() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let faults: Vec<_> = engine.venues().into_iter().filter_map(|venue| venue.last_fault).collect();
    assert!(polled(), "not every venue answered: {faults:?}");
    round(&engine, origins.len()).await;
    engine
}

/// Asks every venue; each must answer.
pub async fn round(engine: &Engine, venues: usize) {
    let published = engine.quote(&market::pair()).await.unwrap();
    assert_eq!(published.view.rows.len(), venues, "{:?}", published.view.misses);
}

/// Connects the floor, to send what an engine of ours sends.
pub async fn floor(ports: &[u16]) -> Floor {
    start(ports, Builder::here).await.shutdown().await;
    let requests = ports.iter().map(|port| seen(*port)).collect();
    Floor::connect(&market::venues(ports.len()), ports, requests).await
}
