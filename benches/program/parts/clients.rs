//! Twelve exchanges asked one after the other or all at once, each by a client of its own for every request or by one that is reused. No engine: the bare
//! transport that ours has, so that nothing else differs.

use super::{lines, nanoseconds};
use crate::support::{floor::decoded, market};
use futures_util::future::join_all;
use quorate_actors::{
    model::VenueId,
    transport::{AwcConnect, Connect, Limits, Transport},
    venue::{Endpoint, Kind, Reach, Scratch, Venue},
};
use rustls::pki_types::{CertificateDer, pem::PemObject};
use serde::Deserialize;
use serde_json::Value;
use std::{collections::BTreeMap, path::PathBuf, rc::Rc, time::Duration};
use tokio::time::Instant;

#[derive(Deserialize)]
struct Settings {
    origins: BTreeMap<String, String>,
    /// A certificate to trust besides the usual ones.
    certificate: Option<PathBuf>,
}

struct Asked {
    venue: &'static dyn Venue,
    endpoint: &'static Endpoint,
    url: Rc<str>,
    kept: Rc<dyn Transport>,
}

#[derive(Clone, Copy)]
struct Way {
    new_client: bool,
    at_once: bool,
}

pub(super) async fn serve() {
    let mut lines = lines();
    let settings: Settings = serde_json::from_str(&lines.next().expect("a line of settings")).unwrap();
    let connect = || {
        let trusted = settings.certificate.as_ref().map(|file| CertificateDer::from_pem_file(file).unwrap());
        AwcConnect::new(trusted).unwrap()
    };
    let shared = connect();
    let asked: Vec<Asked> = market::venues(12).iter().filter_map(|copied| asked(copied.inner, &settings.origins, &shared)).collect();
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let ["rounds", count, client, manner] = words.as_slice() else { panic!("{line:?} is no command") };
        let way = Way { new_client: *client == "new", at_once: *manner == "at_once" };
        let mut times = Vec::new();
        for _ in 0..count.parse::<usize>().unwrap() {
            let began = Instant::now();
            round(&asked, &connect, way).await;
            times.push(nanoseconds(began.elapsed()));
        }
        println!("{}", Value::Array(times));
    }
}

fn asked(venue: &'static dyn Venue, origins: &BTreeMap<String, String>, connect: &AwcConnect) -> Option<Asked> {
    let profile = venue.profile();
    let origin = origins.get(profile.id)?;
    let endpoint = profile.endpoints.iter().find(|e| e.kind == Kind::Ticker && e.reach == Reach::One && e.encode.is_some()).unwrap();
    let url = format!("{origin}{}", endpoint.path.replace("{symbol}", &venue.spell(&market::pair()))).into();
    Some(Asked { venue, endpoint, url, kept: connect.transport(&limits(venue)) })
}

fn limits(venue: &dyn Venue) -> Limits {
    Limits { venue: VenueId::new(venue.profile().id), body_max: 1 << 20 }
}

async fn round(asked: &[Asked], connect: &impl Fn() -> AwcConnect, way: Way) {
    let one = async |asked: &Asked| {
        // A new client has its own connections and its own TLS sessions, as one that is made where it is used.
        let transport = if way.new_client { connect().transport(&limits(asked.venue)) } else { Rc::clone(&asked.kept) };
        let answer = transport.get(&asked.url, Instant::now() + Duration::from_secs(30)).await.unwrap();
        assert_eq!(answer.status, 200, "{}", asked.url);
        assert!(decoded(asked.venue, asked.endpoint, &answer.body, &mut Scratch::default()).bid.is_some(), "{}", asked.url);
    };
    if way.at_once {
        join_all(asked.iter().map(one)).await;
    } else {
        for asked in asked {
            one(asked).await;
        }
    }
}
