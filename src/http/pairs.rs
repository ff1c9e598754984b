//! A pair as callers write it, and what they may have meant.

use crate::error::{ApiError, Code, shown};
use quorate_actors::{
    model::{Pair, PairError},
    venue::percent_decoded,
};

/// The most suggestions in an answer.
const SUGGESTIONS_MAX: usize = 5;
/// Texts beyond this are not compared with known pairs: two codes of 16 characters and a separator.
const PAIR_BYTES_MAX: usize = 33;
/// How many characters may differ in what is suggested.
const DISTANCE_MAX: usize = 2;

/// Reads a pair: any case, `-`, `_`, `:`, `/` or `%2F` between, old codes mapped; without a separator only where `known` has it.
///
/// # Errors
/// `invalid_pair`, with the closest of the known pairs.
pub fn parse(text: &str, known: impl Fn() -> Vec<Pair>) -> Result<Pair, ApiError> {
    let decoded;
    let text = match text.contains('%') {
        true => {
            decoded = percent_decoded(text).unwrap_or_default();
            decoded.as_str()
        }
        false => text,
    };
    match text.parse() {
        Ok(pair) => Ok(pair),
        Err(error) => {
            let known = known();
            let bare = if error == PairError::Separator { split_by_table(text, &known) } else { None };
            bare.ok_or_else(|| {
                let detail = format!("pair is {}, {}", shown(text), expectation(error));
                ApiError::new(Code::InvalidPair, detail).suggest(closest(text, &known))
            })
        }
    }
}

fn expectation(error: PairError) -> &'static str {
    match error {
        PairError::Separator => "expected BASE-QUOTE such as BTC-USDT",
        PairError::Asset(_) => "expected two codes of 1 to 16 characters of A-Z and 0-9, such as BTC-USDT",
        PairError::Same => "expected two different assets, such as BTC-USDT",
    }
}

/// Splits `BTCUSDT` where a known pair reads so, old codes included.
fn split_by_table(text: &str, known: &[Pair]) -> Option<Pair> {
    if text.len() > PAIR_BYTES_MAX || !text.is_ascii() {
        return None;
    }
    (1..text.len()).find_map(|at| {
        let (base, quote) = text.split_at_checked(at)?;
        let pair: Pair = format!("{base}-{quote}").parse().ok()?;
        known.contains(&pair).then_some(pair)
    })
}

/// Gives the known pairs closest to a text, best first.
pub fn closest(text: &str, known: &[Pair]) -> Vec<String> {
    if text.is_empty() || text.len() > PAIR_BYTES_MAX {
        return Vec::new();
    }
    let plain: String = text.to_ascii_uppercase().chars().map(|c| if "_:/".contains(c) { '-' } else { c }).collect();
    let base = plain.split('-').next().unwrap_or_default();
    let mut ranked: Vec<(usize, String)> = known
        .iter()
        .filter_map(|pair| {
            let name = pair.to_string();
            // A missing separator is no difference of meaning.
            let distance = if plain.contains('-') { distance(&plain, &name) } else { distance(&plain, &name.replace('-', "")) };
            (distance <= DISTANCE_MAX || pair.base == base).then_some((distance, name))
        })
        .collect();
    ranked.sort();
    ranked.dedup();
    ranked.into_iter().map(|(_, name)| name).take(SUGGESTIONS_MAX).collect()
}

/// Gives the one of `known` that is closest to a word, where one is close.
pub fn closest_word<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<String> {
    if word.len() > PAIR_BYTES_MAX {
        return None;
    }
    let word = word.to_ascii_lowercase();
    let near = |k: &&str| distance(&word, k) <= DISTANCE_MAX || (word.len() >= 3 && k.starts_with(&word));
    known.filter(near).min_by_key(|k| distance(&word, k)).map(str::to_owned)
}

/// Counts the characters to change, insert or leave out (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i.saturating_add(1);
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (cell, y) in row.iter_mut().skip(1).zip(b.chars()) {
            let best = diagonal.saturating_add(usize::from(x != y)).min(left.min(*cell).saturating_add(1));
            diagonal = std::mem::replace(cell, best);
            left = best;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Vec<Pair> {
        ["BTC-USD", "BTC-USDT", "ETH-USDT", "SOL-USDC", "DOGE-USDT"].iter().map(|p| p.parse().unwrap()).collect()
    }

    #[test]
    fn every_accepted_spelling_gives_the_canonical_pair() {
        for text in ["BTC-USDT", "btc_usdt", "Btc:Usdt", "BTC%2FUSDT", "btc%2fusdt", "XBT-USDT", "btcusdt", "XBTUSDT", "%42TC-USDT"] {
            assert_eq!(parse(text, known).unwrap().to_string(), "BTC-USDT", "{text}");
        }
        assert_eq!(parse("XDGUSDT", known).unwrap().to_string(), "DOGE-USDT");
        assert_eq!(parse("ABC-XYZ", known).unwrap().to_string(), "ABC-XYZ");
    }

    #[test]
    fn what_is_no_pair_is_refused_with_the_closest_known() {
        for text in ["ADAUSDT", "BTC", "", "BTC-", "-", "BTC-USD-T", "BTC-BTC", "BTC%2", "BTC%FF-USD", "牛来-USD", "A B-USD"] {
            assert_eq!(parse(text, known).unwrap_err().code(), Code::InvalidPair, "{text}");
        }
        assert_eq!(parse(&"A".repeat(10_000), known).unwrap_err().code(), Code::InvalidPair);
        assert_eq!(parse("BTC", known).unwrap_err().to_string(), "invalid_pair: pair is \"BTC\", expected BASE-QUOTE such as BTC-USDT");
        assert_eq!(closest("BTCUSTD", &known()), ["BTC-USD", "BTC-USDT"]);
    }

    #[test]
    fn suggestions_are_near_first_and_never_far() {
        assert_eq!(closest("BTC-USDX", &known()), ["BTC-USD", "BTC-USDT"]);
        assert_eq!(closest("eth/usdc", &known()), ["ETH-USDT"]);
        assert!(closest("ZZZZ-QQQQ", &known()).is_empty());
        assert_eq!(closest_word("krakn", ["kraken", "binance"].into_iter()), Some("kraken".to_owned()));
        assert_eq!(closest_word("coinbase", ["kraken", "coinbaseexchange"].into_iter()), Some("coinbaseexchange".to_owned()));
        assert_eq!(closest_word("nasdaq", ["kraken", "binance"].into_iter()), None);
    }

    #[test]
    fn distances_are_levenshteins() {
        assert_eq!((distance("kitten", "sitting"), distance("", "abc"), distance("abc", "abc")), (3, 3, 0));
    }
}
