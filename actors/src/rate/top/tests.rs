use super::*;
use crate::{
    model::{Asset, Fault, Quote, Reason, Source, Ticker},
    rate::{
        Bps, FeeSource, How, Made, MarketMiss, Matrix, Memory, Offer, Ranked, Settings, Side, best_ask, best_bid, convert, matrix, pass,
        rank, read_fee,
    },
    venue::{Basis, Member, TimeOf},
    view::ViewRow,
};
use std::sync::Arc;
use tokio::time::Instant;

const NOW: UnixMs = UnixMs(1_796_036_400_000);
const MINUTE: Duration = Duration::from_secs(60);

fn num(text: &str) -> Num {
    text.parse().unwrap()
}

fn pair(text: &str) -> Pair {
    text.parse().unwrap()
}

fn member(venue: &str, basis: Basis, time_of: TimeOf) -> Arc<Member> {
    Arc::new(Member { venue: VenueId::new(venue), operator: venue.into(), region: None, basis, time_of })
}

/// Makes an offer of `bid/size ask/size`, received so many milliseconds ago.
fn offer(venue: &str, market: &str, book: &str, ago_ms: u64) -> Offer {
    let (bid, ask) = book.split_once(' ').unwrap();
    let side = |text: &str| {
        let (price, size) = text.split_once('/').unwrap_or((text, ""));
        (Price::parse(price).unwrap(), Amount::parse(size).unwrap())
    };
    let ((bid, bid_size), (ask, ask_size)) = (side(bid), side(ask));
    Offer {
        member: member(venue, Basis::Mid, TimeOf::Book),
        pair: pair(market),
        ticker: Ticker { bid, bid_size, ask, ask_size, ..Ticker::default() },
        received: UnixMs(NOW.0.saturating_sub_unsigned(ago_ms)),
        latency: Duration::ZERO,
        source: Source::Rest,
    }
}

fn receipt(target: &str, offers: Vec<Offer>) -> Receipt {
    let rules = Settings::default().rules(pair(target), &crate::rate::Own::default());
    let outcome = pass(pair(target), &rules, offers, NOW, &mut Memory::default());
    Receipt::new(outcome, Arc::new(rules), Vec::new(), Made::Memory, true)
}

const PLAIN: Wanted<'_> = Wanted { convert: false, takers: None, now: NOW, max_age: MINUTE };

fn takers(fees: &[(&str, &str)]) -> Takers {
    fees.iter().map(|(venue, fee)| (VenueId::new(venue), Taker { rate: read_fee(fee).unwrap(), source: FeeSource::Caller })).collect()
}

fn venues<'r>(ranked: &'r [Ranked<'_>]) -> Vec<&'r str> {
    ranked.iter().map(|ranked| ranked.top.row.offer.member.venue.as_str()).collect()
}

#[test]
fn equal_prices_are_ranked_by_size_then_age_then_id() {
    let receipt = receipt(
        "BTC-USD",
        vec![
            offer("a", "BTC-USD", "100/1 101/9", 10),
            offer("b", "BTC-USD", "100/2 101", 500),
            offer("c", "BTC-USD", "100/2 101/9", 10),
            offer("d", "BTC-USD", "100 101/9", 10),
            offer("e", "BTC-USD", "100.5/0 100.9/0", 10),
        ],
    );
    let found = tops(&receipt, &PLAIN).tops;
    assert_eq!(venues(&rank(&found, Side::Sell)), ["e", "c", "b", "a", "d"]);
    assert_eq!(venues(&rank(&found, Side::Buy)), ["e", "a", "c", "d", "b"]);
    let buy = rank(&found, Side::Buy);
    assert_eq!(buy.iter().map(|r| r.covers(num("9"))).collect::<Vec<_>>(), [Some(false), Some(true), Some(true), Some(true), None]);
    assert_eq!((buy[1].price, buy[1].after_fee, buy[1].top.age), (num("101"), num("101"), Duration::from_millis(10)));
}

#[test]
fn fees_are_exact_and_change_who_is_first() {
    let offers = vec![offer("a", "BTC-USD", "67000.123456789 67000.123456789", 0), offer("b", "BTC-USD", "66990 67010", 0)];
    let receipt = receipt("BTC-USD", offers);
    let fees = takers(&[("a", "0.0016"), ("b", "0.00075")]);
    let found = tops(&receipt, &Wanted { takers: Some(&fees), ..PLAIN }).tops;
    let buy = rank(&found, Side::Buy);
    assert_eq!(venues(&buy), ["b", "a"]);
    assert_eq!((buy[0].after_fee, buy[1].after_fee), (num("67060.2575"), num("67107.3236543198624")));
    let sell = rank(&found, Side::Sell);
    assert_eq!((venues(&sell), sell[0].after_fee, sell[1].after_fee), (vec!["b", "a"], num("66939.7575"), num("66892.9232592581376")));
    let plain = tops(&receipt, &PLAIN).tops;
    assert_eq!((venues(&rank(&plain, Side::Buy)), venues(&rank(&plain, Side::Sell))), (vec!["a", "b"], vec!["a", "b"]));
}

#[test]
fn what_does_not_count_is_left_out_with_its_reason_and_every_market_is_answered_for() {
    let mut last_only = offer("d", "BTC-USD", "100 101", 0);
    last_only.member = member("d", Basis::Last, TimeOf::None);
    last_only.ticker = Ticker { last: Price::parse("100.4").unwrap(), ..Ticker::default() };
    let offers = vec![
        offer("a", "BTC-USD", "100 101", 0),
        offer("b", "BTC-USD", "100 101", 20_000),
        offer("c", "BTC-USD", "102 101", 0),
        last_only,
        offer("e", "BTC-USD", "200 201", 0),
        offer("f", "BTC-USDT", "100 101", 0),
    ];
    let mut receipt = receipt("BTC-USD", offers);
    let miss = |venue: &str, market: &str| {
        let fault = Arc::new(Fault::new(Reason::Timeout, "late"));
        MarketMiss { venue: VenueId::new(venue), pair: pair(market), fault }
    };
    receipt.misses = vec![miss("aa", "BTC-USD"), miss("g", "USDT-USD"), miss("h", "BTC-USDT")];
    let of = |wanted: &Wanted<'_>| {
        let found = tops(&receipt, wanted);
        let out = found.left_out.iter().map(|out| format!("{} {} {}", out.venue, out.pair, out.reason)).collect::<Vec<_>>();
        (found.tops.iter().map(|top| top.row.offer.member.venue.to_string()).collect::<Vec<_>>(), out)
    };
    let (there, out) = of(&Wanted { max_age: Duration::from_secs(10), ..PLAIN });
    assert_eq!(there, ["a"]);
    assert_eq!(out, ["aa BTC-USD timeout", "b BTC-USD stale", "c BTC-USD crossed", "d BTC-USD no_book", "e BTC-USD outlier"]);
    let (there, out) = of(&Wanted { convert: true, ..PLAIN });
    assert_eq!(there, ["a", "b"]);
    assert_eq!(out[3..], ["e BTC-USD outlier", "f BTC-USDT no_conversion", "h BTC-USDT timeout"]);
    let none = Takers::new();
    assert_eq!(of(&Wanted { takers: Some(&none), ..PLAIN }).1.iter().filter(|line| line.ends_with("no_fee")).count(), 2);
}

#[test]
fn other_currencies_are_converted_on_the_receipts_paths_and_an_inverse_market_is_turned() {
    let offers = vec![
        offer("a", "BTC-USD", "59990 60010", 0),
        offer("a", "USDT-USD", "0.999 0.9991", 0),
        offer("b", "BTC-USDT", "60000.1/2 60060.1/3", 0),
        offer("b", "USDT-USD", "0.999 0.9991", 0),
        offer("c", "USD-BTC", "0.0000166666/600 0.0000166667/1200", 0),
    ];
    let receipt = receipt("BTC-USD", offers);
    let found = tops(&receipt, &Wanted { convert: true, ..PLAIN }).tops;
    let [a, b, c] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((a.path.is_none(), a.bid, a.ask), (true, num("59990"), num("60010")));
    assert_eq!((b.path.unwrap().rate, b.bid, b.ask), (num("0.99905"), num("59943.099905"), num("60003.042905")));
    assert_eq!((b.bid_size, b.ask_size), (Some(num("2")), Some(num("3"))));
    assert_eq!((c.bid, c.ask), (num("59999.8800002399995"), num("60000.2400009600038")));
    // Who sells USD for BTC at the bid buys BTC.
    assert_eq!((c.bid_size, c.ask_size), (Some(num("0.02000004")), Some(num("0.00999996"))));
    assert_eq!(tops(&receipt, &PLAIN).tops.len(), 1, "unless the caller asks to convert, in its own currency alone");
}

/// Makes quotes of a few venues within a per cent, many of them alike; and what the view of them is.
fn random(seed: &mut fastrand::Rng) -> (Receipt, Vec<ViewRow>) {
    let (at, mut offers, mut rows) = (Instant::now() + MINUTE, Vec::new(), Vec::new());
    for number in 0..seed.usize(1..10) {
        let digit = |seed: &mut fastrand::Rng, most: u32| seed.u32(0..most);
        let (bid, spread) = (digit(seed, 8), digit(seed, 3));
        let size = |seed: &mut fastrand::Rng| if seed.bool() { format!("/{}", seed.u8(0..3)) } else { String::new() };
        let book = format!("100.0{bid}{} 100.{:02}{}", size(seed), bid + spread, size(seed));
        let ago = u64::from(digit(seed, 3)) * 1500;
        let offer = offer(&format!("v{number}"), "BTC-USD", &book, ago);
        let quote = Quote {
            venue: offer.member.venue.clone(),
            pair: offer.pair,
            symbol: "X".into(),
            ticker: offer.ticker,
            received: at - Duration::from_millis(ago),
            received_time: offer.received,
            latency: Duration::ZERO,
            source: Source::Rest,
        };
        rows.push(ViewRow { quote: Arc::new(quote), member: Arc::clone(&offer.member), refused: None });
        offers.push(offer);
    }
    (receipt("BTC-USD", offers), rows)
}

#[test]
fn without_fees_the_first_of_the_ranking_is_the_best_of_the_view() {
    let mut seed = fastrand::Rng::with_seed(1);
    for _ in 0..500 {
        let (receipt, rows) = random(&mut seed);
        let found = tops(&receipt, &PLAIN).tops;
        assert_eq!(found.len(), rows.len());
        let id = |at: Option<usize>| rows[at.unwrap()].quote.venue.as_str();
        assert_eq!(venues(&rank(&found, Side::Sell))[0], id(best_bid(&rows)), "{rows:?}");
        assert_eq!(venues(&rank(&found, Side::Buy))[0], id(best_ask(&rows)), "{rows:?}");
    }
}

#[test]
fn the_matrix_is_consistent() {
    let mut seed = fastrand::Rng::with_seed(2);
    for _ in 0..300 {
        let (receipt, _) = random(&mut seed);
        let fees: Takers = (0..10)
            .map(|number| {
                let rate = Num::new(seed.u64(0..2000), -6);
                (VenueId::new(&format!("v{number}")), Taker { rate, source: FeeSource::Configured })
            })
            .collect();
        let with = tops(&receipt, &Wanted { takers: Some(&fees), ..PLAIN }).tops;
        let Matrix { cells, lasts } = matrix(&with);
        assert_eq!(cells.len(), with.len() * (with.len() - 1));
        assert!(cells.is_sorted_by_key(|cell| (cell.buy, cell.sell)) && cells.iter().all(|cell| cell.buy != cell.sell));
        let value = |bps: Option<Bps>| bps.unwrap().to_string().parse::<rust_decimal::Decimal>().unwrap();
        for cell in &cells {
            let (ask, bid) = (with[cell.buy].ask, with[cell.sell].bid);
            assert!(value(cell.net) <= value(cell.gross), "{cell:?}");
            assert_eq!(value(cell.gross).is_sign_negative() && bid != ask, bid < ask, "{cell:?}");
            assert!(!cell.opportunity || bid > ask && [cell.buy, cell.sell].iter().all(|at| with[*at].age < Duration::from_secs(2)));
        }
        assert_eq!(lasts.is_some(), cells.iter().any(|cell| cell.opportunity));
        // Without fees, what is left is all there is.
        assert!(matrix(&tops(&receipt, &PLAIN).tops).cells.iter().all(|cell| cell.net == cell.gross));
        // The unit of the price is nothing to a spread.
        for places in [-15, -3, 1, 8, 14] {
            let scaled: Vec<_> =
                with.iter().map(|top| Top { bid: top.bid.shifted(places), ask: top.ask.shifted(places), ..*top }).collect();
            assert_eq!(matrix(&scaled), Matrix { cells: cells.clone(), lasts }, "{places}");
        }
        // The widest spread is that of the best bid over the best ask, unless one venue has both.
        let (buy, sell) = (rank(&with, Side::Buy), rank(&with, Side::Sell));
        let apart = buy[0].top.row.offer.member.venue != sell[0].top.row.offer.member.venue;
        if apart {
            let most = cells.iter().map(|cell| value(cell.net)).max();
            assert_eq!(most, Some(value(Bps::between(buy[0].after_fee, sell[0].after_fee, buy[0].after_fee))));
        }
    }
}

#[test]
fn an_opportunity_outlives_the_fees_and_is_young_by_the_venues_clock_too() {
    let cells = |fee: &str, ages: [u64; 2], venue_ms: Option<u64>, now: UnixMs| {
        let mut offers = vec![offer("a", "BTC-USD", "100 100.1", ages[0]), offer("b", "BTC-USD", "100.4 100.5", ages[1])];
        offers[1].ticker.venue_time = venue_ms.map(|ms| UnixMs(NOW.0.saturating_sub_unsigned(ms)));
        let receipt = receipt("BTC-USD", offers);
        let fees = takers(&[("a", fee), ("b", fee)]);
        let made = matrix(&tops(&receipt, &Wanted { takers: Some(&fees), now, ..PLAIN }).tops);
        let [ab, ba] = made.cells.as_slice() else { panic!("{made:?}") };
        assert!(!ba.opportunity);
        (ab.gross.unwrap().to_string(), ab.net.unwrap().to_string(), ab.opportunity, made.lasts.map(|lasts| lasts.as_millis()))
    };
    let of = |gross: &str, net: &str, opportunity, lasts| (gross.to_owned(), net.to_owned(), opportunity, lasts);
    assert_eq!(cells("0.001", [0, 600], None, NOW), of("29.9700", "9.9301", true, Some(1400)));
    assert_eq!(cells("0.0015", [0, 600], None, NOW), of("29.9700", "-0.0748", false, None));
    assert_eq!(cells("0.001", [0, 1999], None, NOW), of("29.9700", "9.9301", true, Some(1)));
    assert!(!cells("0.001", [2000, 0], None, NOW).2);
    assert!(!cells("0.001", [0, 0], Some(2000), NOW).2);
    assert!(!cells("0.001", [0, 0], None, UnixMs(NOW.0 + 2000)).2, "time passes after the pass, too");
}

#[test]
fn an_amount_is_converted_by_the_rate_or_by_the_best_there_is_either_way() {
    let usd = |venue: &str, book: &str| offer(venue, "BTC-USD", book, 0);
    let offers = vec![
        usd("a", "59990 60010"),
        usd("c", "59980 60020"),
        offer("a", "USDT-USD", "0.999 0.9991", 0),
        offer("b", "BTC-USDT", "60100 60110", 0),
        offer("b", "USDT-USD", "0.999 0.9991", 0),
    ];
    let receipt = receipt("BTC-USD", offers);
    let asset = |code: &str| Asset::new(code).unwrap();
    let of = |from: &str, how| {
        let made = convert(&receipt, asset(from), how, NOW, MINUTE).unwrap();
        let legs: Vec<_> = made
            .legs
            .iter()
            .map(|leg| {
                let venue = leg.venue.as_ref().map_or("-", |venue| venue.as_str());
                format!("{}>{} {} {} {venue}", leg.from, leg.to, leg.rate, leg.pair)
            })
            .collect();
        (made.rate, legs, made.top.map(|top| top.row.offer.member.venue.to_string()))
    };
    assert_eq!(of("BTC", How::Mid), (num("60000"), vec!["BTC>USD 60000 BTC-USD -".to_owned()], None));
    let inverse = "USD>BTC 0.0000166666666666666667 BTC-USD -".to_owned();
    assert_eq!(of("USD", How::Mid), (num("0.0000166666666666666667"), vec![inverse], None));
    let (rate, legs, venue) = of("BTC", How::Taking(Side::Sell));
    assert_eq!((rate, venue.as_deref()), (num("60042.905"), Some("b")));
    assert_eq!(legs, ["BTC>USDT 60100 BTC-USDT b", "USDT>USD 0.99905 USDT-USD -"]);
    let (rate, legs, venue) = of("BTC", How::Taking(Side::Buy));
    assert_eq!((rate, legs, venue.as_deref()), (num("60010"), vec!["BTC>USD 60010 BTC-USD a".to_owned()], Some("a")));
    // Who buys USD sells BTC.
    let (rate, legs, _) = of("USD", How::Taking(Side::Buy));
    assert_eq!((rate, legs.len()), (num("60042.905").inverse().unwrap(), 2));
    assert_eq!(legs[0], format!("USD>USDT {} USDT-USD -", num("0.99905").inverse().unwrap()));
    assert_eq!(legs[1], format!("USDT>BTC {} BTC-USDT b", num("60100").inverse().unwrap()));
    let paths: Vec<_> = receipt.paths_used().map(|path| path.from.to_string()).collect();
    assert_eq!(paths, ["USDT"]);
    let none = convert(&receipt, asset("BTC"), How::Taking(Side::Buy), UnixMs(NOW.0 + 61_000), MINUTE);
    assert!(none.is_none(), "what is older than the caller takes is not traded at");
}
