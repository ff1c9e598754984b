//! What each pair's rate will be made of, as far as that is known without asking anybody.

use crate::config::{Config, PairConfig};
use quorate_actors::{model::Pair, rate::Num, venues};
use serde::Serialize;
use std::{collections::BTreeSet, fmt};

/// Holds what the rate of one pair will be made of.
#[derive(Debug, Serialize)]
pub(super) struct Made {
    pair: String,
    class: &'static str,
    floor: String,
    cap: String,
    required: bool,
    quorum: usize,
    /// The venues whose markets of the base may vote.
    venues: Vec<String>,
    /// How many votes these have: one for each operator.
    votes_max: usize,
    /// The markets that price the base.
    markets: Vec<String>,
    /// The rates by which those in other currencies are converted.
    conversions: Vec<Through>,
    /// The markets that these are made of.
    conversion_markets: Vec<String>,
    /// Whether the pair's own market may be listed upside down.
    inverse: bool,
}

/// Holds a conversion that a rate may need.
#[derive(Debug, Serialize)]
struct Through {
    pair: String,
    /// Whether it is one by declaration.
    par: bool,
}

/// Explains every pair.
pub(super) fn made(config: &Config) -> Vec<Made> {
    let listed: Vec<Pair> = config.pairs.iter().map(|pair| pair.pair).collect();
    let mut known = listed.clone();
    known.extend(config.rates.followed(listed.iter().copied(), &listed));
    config.pairs.iter().map(|pair| made_of(config, pair, &known)).collect()
}

fn made_of(config: &Config, of: &PairConfig, known: &[Pair]) -> Made {
    let (pair, rules, markets) = (of.pair, config.rates.rules(of.pair, &of.own), config.rates.markets(of.pair, known));
    let names = |markets: &[Pair]| markets.iter().map(ToString::to_string).collect();
    let others = markets.base.iter().filter(|market| market.base == pair.base && market.quote != pair.quote);
    let through = others.map(|market| Through {
        pair: Pair { base: market.quote, quote: pair.quote }.to_string(),
        par: rules.is_par(market.quote, pair.quote),
    });
    let (venues, operators) = members(config, of);
    Made {
        pair: pair.to_string(),
        class: rules.class.slug(),
        floor: rules.band.floor.to_string(),
        cap: rules.band.cap.to_string(),
        required: of.required,
        quorum: of.quorum,
        venues,
        votes_max: operators.len(),
        conversions: through.collect(),
        markets: names(&markets.base),
        conversion_markets: names(&markets.conversion),
        inverse: markets.base.contains(&Pair { base: pair.quote, quote: pair.base }),
    }
}

/// Gives the venues that are asked for a pair and may vote on it, and who runs them: not those behind a wall that the pair is not behind.
fn members(config: &Config, of: &PairConfig) -> (Vec<String>, BTreeSet<String>) {
    let enabled = config.venues.iter().filter(|(id, venue)| venue.enabled && (of.venues.is_empty() || of.venues.contains(id)));
    let voting = enabled.filter_map(|(id, set)| {
        let profile = venues::by_id(id)?.profile();
        let walled = set.region.or(profile.region).is_some_and(|region| of.pair.quote != region.currency());
        (!walled).then(|| (id.clone(), set.operator.clone().unwrap_or_else(|| profile.operator.to_owned())))
    });
    voting.unzip()
}

fn count(number: usize, word: &str) -> String {
    format!("{number} {word}{}", if number == 1 { "" } else { "s" })
}

impl fmt::Display for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |fraction: &str| fraction.parse::<Num>().map(|fraction| fraction.shifted(2).to_string()).unwrap_or_default();
        let Self { pair, class, floor, cap, quorum, venues, votes_max, .. } = self;
        write!(f, "{pair}: {class}, limit {} % to {} %", percent(floor), percent(cap))?;
        match self.required {
            true => write!(f, ", ready with {}", count(*quorum, "quote"))?,
            false => write!(f, ", not required")?,
        }
        write!(f, "; at up to {}", count(venues.len(), "venue"))?;
        if *votes_max != venues.len() {
            write!(f, " with {}", count(*votes_max, "vote"))?;
        }
        write!(f, " direct{}", if self.inverse { " or upside down" } else { "" })?;
        let through: Vec<String> = self
            .conversions
            .iter()
            .map(|through| format!("{}{}", through.pair.replace('-', "/"), if through.par { " at par" } else { "" }))
            .collect();
        if through.is_empty() { Ok(()) } else { write!(f, ", and through {}", through.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{From, Layers};

    fn explained(text: &str) -> Vec<Made> {
        let mut layers = Layers::defaults().unwrap();
        layers.file(text, &From::File("f".into())).unwrap();
        made(&Config::of(&layers).unwrap())
    }

    #[test]
    fn each_pair_says_its_class_its_limits_and_what_it_is_made_of() {
        let all = explained("");
        let line = |pair: &str| all.iter().find(|made| made.pair == pair).unwrap().to_string();
        assert_eq!(
            line("BTC-USD"),
            "BTC-USD: major, limit 2 % to 5 %, ready with 3 quotes; at up to 12 venues direct, and through USDT/USD, USDC/USD, EUR/USD"
        );
        let peg = "USDC-USDT: peg, limit 0.5 % to 1 %, not required; at up to 12 venues direct";
        assert!(line("USDC-USDT").starts_with(peg), "{}", line("USDC-USDT"));
        let btc = all.iter().find(|made| made.pair == "BTC-USD").unwrap();
        assert_eq!(btc.markets, ["BTC-USD", "BTC-USDT", "BTC-USDC", "BTC-EUR"]);
        assert!(btc.conversion_markets.contains(&"USDT-USD".to_owned()) && btc.venues.len() == 12 && btc.votes_max == 12);
    }

    #[test]
    fn membership_limits_par_and_an_inverse_are_said() {
        let all = explained(
            "pairs = [{ name = \"SOL-USD\", venues = [\"kraken\", \"okx\", \"bybit\"], floor = \"0.004\", quorum = 1 }, { name = \"ETH-BTC\" }, { name = \"SOL-USD1\" }]\n\
             [venues.okx]\noperator = \"bybit\"\n[venues.kraken]\nregion = \"KR\"\n[rate]\npar = [\"USD1=USD\"]\n",
        );
        assert_eq!(
            all.iter().map(ToString::to_string).collect::<Vec<_>>(),
            [
                "SOL-USD: other, limit 0.4 % to 10 %, ready with 1 quote; at up to 2 venues with 1 vote direct, and through USD1/USD at par",
                "ETH-BTC: major, limit 2 % to 5 %, ready with 3 quotes; at up to 11 venues with 10 votes direct or upside down",
                "SOL-USD1: other, limit 3 % to 10 %, ready with 3 quotes; at up to 11 venues with 10 votes direct, and through USD/USD1 at par",
            ]
        );
    }
}
