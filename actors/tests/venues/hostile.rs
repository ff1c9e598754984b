//! Answers that are cut, changed or absurd: every decode returns, and none makes a number up.

use super::{
    common::{Rows, field, find, rows, wanted},
    every, every_with,
    fixtures::{self, Fixture},
    round_trip::{market, written},
    seeds,
};
use quorate_actors::{
    model::{Amount, Fault, Reason},
    venue::{Reach, Venue},
};
use rust_decimal::Decimal;

/// Up to this size a fixture is cut and changed at every place.
const SMALL: usize = 2 << 10;

#[test]
fn an_answer_cut_short_is_a_fault() {
    every(|venue| {
        for fixture in fixtures::of(venue.profile().id).iter().filter(|fixture| fixture.body.len() <= SMALL) {
            let endpoint = fixture.endpoint(venue);
            for end in 0..fixture.body.trim_ascii_end().len() {
                let fault = rows(venue, endpoint, fixture.status, &fixture.body[..end]).expect_err(&fixture.name);
                let explained = fixture.status != 200 || fault.reason.is_fault();
                assert!(explained, "{} cut at {end}: {fault}", fixture.name);
            }
        }
    });
}

#[test]
fn an_answer_changed_anywhere_returns() {
    every(|venue| {
        for fixture in fixtures::of(venue.profile().id).iter().filter(|fixture| fixture.body.len() <= SMALL) {
            let (endpoint, mut body) = (fixture.endpoint(venue), fixture.body.clone());
            for at in 0..body.len() {
                for byte in *b"09-.e\",:[]{}\\ \0\xFF" {
                    body[at] = byte;
                    let _ = rows(venue, endpoint, fixture.status, &body);
                }
                body[at] = fixture.body[at];
            }
        }
    });
}

#[test]
fn a_list_cut_and_changed_at_random_returns() {
    every(|venue| {
        let mut rng = fastrand::Rng::with_seed(11);
        let profile = venue.profile();
        let mut bodies = Vec::new();
        for fixture in fixtures::of(profile.id) {
            if !fixture.is_one() && fixture.kind != "error" {
                bodies.push((fixture.endpoint(venue), fixture.body));
            }
        }
        for endpoint in profile.endpoints.iter().filter(|e| e.reach != Reach::One) {
            if let Some(encode) = endpoint.encode {
                bodies.push((endpoint, written(venue, encode, &market(&mut rng, endpoint)).into_bytes()));
            }
        }
        for (endpoint, whole) in bodies {
            assert!(rows(venue, endpoint, 200, &whole).is_ok(), "{}: {}", profile.id, endpoint.path);
            for _ in 0..seeds() {
                let mut body = whole[..rng.usize(0..=whole.len())].to_vec();
                for _ in 0..rng.usize(0..4).min(body.len()) {
                    let at = rng.usize(0..body.len());
                    body[at] = if rng.bool() { b"09-.e\",:[]{}\\ \0\xFF"[rng.usize(0..16)] } else { rng.u8(..) };
                }
                if rng.bool() {
                    // A piece of the middle goes missing, as in a lost packet.
                    let from = rng.usize(0..=body.len());
                    body.drain(from..(from + rng.usize(0..64)).min(body.len()));
                }
                let _ = rows(venue, endpoint, 200, &body);
            }
        }
    });
}

/// Texts that are no price, and what they are as a size where they are one.
fn absurd() -> [(&'static str, Option<Decimal>); 11] {
    [
        ("1e28", None),
        ("1e-28", Some(Decimal::new(1, 28))),
        ("1234567890123456789012345678901234567890", None),
        ("-0", Some(Decimal::ZERO)),
        ("1_000", None),
        ("NaN", None),
        ("Infinity", None),
        ("1e999", None),
        ("", None),
        ("null", None),
        ("٣٤", None),
    ]
}

#[test]
fn an_absurd_number_is_a_fault_or_no_number() {
    every(|venue| {
        let mut tried = 0;
        for fixture in fixtures::of(venue.profile().id).iter().filter(|fixture| fixture.kind != "error") {
            for key in ["bid", "ask", "last", "bid_size", "ask_size"] {
                for pair in &fixture.pairs {
                    let Some(number) = wanted(&fixture.want_of(pair)[key]) else { continue };
                    let places = places(&fixture.body, number);
                    assert!(!places.is_empty(), "{}: {key} {number} does not stand in the answer", fixture.name);
                    for (text, as_size) in absurd() {
                        for quoted in [false, true] {
                            let body = replaced(&fixture.body, &places, text, quoted);
                            judge(venue, fixture, number, as_size, &body);
                            tried += 1;
                        }
                    }
                }
            }
        }
        assert!(tried >= 3 * 22, "{}: only {tried} numbers tried", venue.profile().id);
    });
}

/// After `number` was replaced everywhere: each field that held it has no number, or the exact size, or is a fault.
fn judge(venue: &'static dyn Venue, fixture: &Fixture, number: Decimal, as_size: Option<Decimal>, body: &[u8]) {
    let text = || format!("{}: {}", fixture.name, String::from_utf8_lossy(body));
    let faulty = |fault: &Fault| assert_eq!(fault.reason, Reason::Decode, "{fault}: {}", text());
    let read: Rows = match rows(venue, fixture.endpoint(venue), fixture.status, body) {
        Err(fault) => return faulty(&fault),
        Ok(read) => read,
    };
    for pair in &fixture.pairs {
        match find(venue, pair, &read).unwrap_or_else(|| panic!("no row for {pair} in {}", text())) {
            Err(fault) => faulty(fault),
            Ok(ticker) => {
                for key in ["bid", "ask", "last", "bid_size", "ask_size"] {
                    if wanted(&fixture.want_of(pair)[key]) == Some(number) {
                        let lawful = as_size.filter(|_| key.ends_with("_size"));
                        assert!([None, lawful].contains(&field(ticker, key)), "{key} {:?}: {}", field(ticker, key), text());
                    }
                }
            }
        }
    }
}

#[test]
fn a_row_without_its_bid_is_the_only_fault_of_its_list() {
    let mut tried = 0;
    every_with(|venue| {
        for fixture in fixtures::of(venue.profile().id).iter().filter(|fixture| fixture.kind != "error") {
            for pair in &fixture.pairs {
                let Some(bid) = wanted(&fixture.want_of(pair)["bid"]) else { continue };
                let [place] = places(&fixture.body, bid)[..] else { continue };
                let Some(body) = without_key(&fixture.body, place) else { continue };
                tried += 1;
                let text = || format!("{} {pair}: {}", fixture.name, String::from_utf8_lossy(&body));
                let read = match rows(venue, fixture.endpoint(venue), fixture.status, &body) {
                    Err(fault) => {
                        assert!(fixture.is_one() && fault.reason == Reason::Decode, "{fault}: {}", text());
                        continue;
                    }
                    Ok(read) => read,
                };
                for other in &fixture.pairs {
                    let row = find(venue, other, &read).unwrap_or_else(|| panic!("no row for {other}: {}", text()));
                    match row {
                        Err(_) if fixture.want_of(other)["error"].is_string() => {}
                        Err(fault) => assert!(other == pair && fault.reason == Reason::Decode, "{other}: {fault}: {}", text()),
                        Ok(ticker) => {
                            assert_ne!(other, pair, "{}", text());
                            assert_eq!(field(ticker, "bid"), wanted(&fixture.want_of(other)["bid"]), "{other}: {}", text());
                        }
                    }
                }
            }
        }
    });
    assert!(tried > 40, "only {tried} rows tried");
}

/// Gives the answer with another name for the field whose number stands at `place`; `None` where the number has no name.
fn without_key(body: &[u8], (start, _): (usize, usize)) -> Option<Vec<u8>> {
    let before = body[..start].strip_suffix(b"\"").unwrap_or(&body[..start]);
    let key = before.trim_ascii_end().strip_suffix(b":")?.trim_ascii_end().strip_suffix(b"\"")?;
    Some([key, b"_of_old", &body[key.len()..]].concat())
}

/// Finds where a number stands in an answer, however it is written.
fn places(body: &[u8], number: Decimal) -> Vec<(usize, usize)> {
    let part_of_number = |b: &u8| b.is_ascii_digit() || b".eE+-".contains(b);
    let (mut places, mut at) = (Vec::new(), 0);
    while at < body.len() {
        let end = at + body[at..].iter().take_while(|b| part_of_number(b)).count();
        let text = std::str::from_utf8(&body[at..end]).unwrap();
        let alone = |b: Option<&u8>| b.is_none_or(|b| !b.is_ascii_alphanumeric() && *b != b'_');
        let stands_alone = alone(at.checked_sub(1).map(|before| &body[before])) && alone(body.get(end));
        if stands_alone && !text.is_empty() && Amount::parse(text).ok().flatten().map(|a| a.get()) == Some(number) {
            places.push((at, end));
        }
        at = end.max(at + 1);
    }
    places
}

/// Puts `text` in each place, as JSON text or bare, whichever the number was before.
fn replaced(body: &[u8], places: &[(usize, usize)], text: &str, quoted: bool) -> Vec<u8> {
    let mut body = body.to_vec();
    for (start, end) in places.iter().rev() {
        let was_quoted = body[..*start].ends_with(b"\"") && body[*end..].starts_with(b"\"");
        let around = usize::from(was_quoted);
        let new = if quoted { format!("\"{text}\"") } else { text.to_owned() };
        body.splice(start - around..end + around, new.bytes());
    }
    body
}
