//! From the settings of all pairs to the rule of one, and the markets that its rate is made of.

use super::{AdmissionRules, Band, Class, Num, Rules, rules::is_fiat};
use crate::model::{Asset, Pair};
use std::{collections::HashSet, time::Duration};

/// Holds the settings from which the rule of every pair follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The limits of each class, in the order of [`Class::ALL`].
    pub bands: [Band; 3],
    /// The bases of the class [`Class::Major`].
    pub majors: Vec<Asset>,
    /// Assets declared to be worth the same.
    pub par: Vec<(Asset, Asset)>,
    /// How long the last good rate is given when no quote is left.
    pub stale: Duration,
    /// Which quotes are admitted.
    pub admission: AdmissionRules,
    /// The currencies whose markets of a base count for its rate, besides those that are configured.
    pub through: Vec<Asset>,
}

/// Holds what the configuration of one pair says of its rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Own {
    /// The class; by the pair where it is not set.
    pub class: Option<Class>,
    /// What a vote may always be away from the median.
    pub floor: Option<Num>,
    /// What it may never be.
    pub cap: Option<Num>,
}

/// Names the markets that a rate is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Markets {
    /// Those that price the base.
    pub base: Vec<Pair>,
    /// Those between the currencies in which it is priced and the target.
    pub conversion: Vec<Pair>,
}

/// The money that coins are priced in, and the markets between it that exchanges list.
const MONEY: [&str; 4] = ["USD", "USDT", "USDC", "EUR"];
const MONEY_MARKETS: [(&str, &str); 8] = [
    ("USDT", "USD"),
    ("USDC", "USD"),
    ("EUR", "USD"),
    ("USDC", "USDT"),
    ("USDT", "EUR"),
    ("EUR", "USDT"),
    ("USDC", "EUR"),
    ("EUR", "USDC"),
];
/// Coins that stand for another one, with what they stand for.
const WRAPPED: [(&str, &str); 8] = [
    ("WBTC", "BTC"),
    ("CBBTC", "BTC"),
    ("TBTC", "BTC"),
    ("WETH", "ETH"),
    ("STETH", "ETH"),
    ("WSOL", "SOL"),
    ("PAXG", "XAUT"),
    ("EURC", "EUR"),
];
/// Between these a conversion of two steps may lead.
const ANCHORS: [&str; 2] = ["USD", "EUR"];

fn assets(codes: &[&str]) -> Vec<Asset> {
    codes.iter().filter_map(|code| Asset::new(code).ok()).collect()
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            bands: Class::ALL.map(Class::band),
            majors: assets(&["BTC", "ETH"]),
            par: Vec::new(),
            stale: super::rules::MINUTE,
            admission: AdmissionRules::default(),
            through: assets(&MONEY),
        }
    }
}

impl Settings {
    /// Gives the limits of a class.
    pub fn band(&self, class: Class) -> Band {
        Class::ALL.iter().zip(self.bands).find(|(known, _)| **known == class).map_or_else(|| class.band(), |(_, band)| band)
    }

    /// Gives the rule of a pair.
    pub fn rules(&self, pair: Pair, own: &Own) -> Rules {
        let base = Rules { par: self.par.clone(), stale: self.stale, admission: self.admission, ..Rules::of(Class::Other) };
        let class = own.class.unwrap_or_else(|| self.class_of(pair, &base));
        let band = self.band(class);
        let band = Band { floor: own.floor.unwrap_or(band.floor), cap: own.cap.unwrap_or(band.cap) };
        Rules { class, band, peg: self.band(Class::Peg), other: self.band(Class::Other), ..base }
    }

    /// Gives the markets that the rates of some pairs are made of and that are not `known`, each once.
    pub fn followed(&self, rated: impl Iterator<Item = Pair>, known: &[Pair]) -> Vec<Pair> {
        let mut seen: HashSet<Pair> = known.iter().copied().collect();
        rated.flat_map(|pair| self.markets(pair, known).all().collect::<Vec<_>>()).filter(|market| seen.insert(*market)).collect()
    }

    fn class_of(&self, pair: Pair, rules: &Rules) -> Class {
        let wraps = |(coin, of): &(&str, &str)| pair.base == *coin && pair.quote == *of;
        if rules.is_peg(pair.base, pair.quote) || WRAPPED.iter().any(wraps) {
            Class::Peg
        } else if self.majors.contains(&pair.base) {
            Class::Major
        } else {
            Class::Other
        }
    }

    /// Gives the markets of a pair's rate: its own, its base in every currency in which that is `configured`, or may be counted, and those between these and
    /// the target.
    pub fn markets(&self, pair: Pair, configured: &[Pair]) -> Markets {
        let Pair { base, quote: target } = pair;
        let mut quotes: Vec<Asset> = vec![target];
        let others = configured.iter().filter(|other| other.base == base).map(|other| other.quote).chain(self.through.iter().copied());
        for quote in others.filter(|quote| *quote != base) {
            if !quotes.contains(&quote) {
                quotes.push(quote);
            }
        }
        let mut markets = Markets { base: quotes.iter().map(|quote| Pair { base, quote: *quote }).collect(), conversion: Vec::new() };
        // Money is listed against money either way, and a coin against a coin; a coin is never what money is counted in.
        if is_money(base) || !is_money(target) {
            let inverse = Pair { base: target, quote: base };
            if !MONEY_MARKETS.iter().any(|known| is_named(pair, *known)) || MONEY_MARKETS.iter().any(|known| is_named(inverse, *known)) {
                markets.base.push(inverse);
            }
        }
        for from in quotes.iter().copied().filter(|from| *from != target) {
            let by_way =
                assets(&ANCHORS).into_iter().filter(|via| ![from, target, base].contains(via)).flat_map(|via| [(from, via), (via, target)]);
            for (a, b) in std::iter::once((from, target)).chain(by_way) {
                for market in between(a, b) {
                    if !markets.conversion.contains(&market) && !markets.base.contains(&market) {
                        markets.conversion.push(market);
                    }
                }
            }
        }
        markets
    }
}

impl Markets {
    /// Gives all of them, those of the base first.
    pub fn all(&self) -> impl Iterator<Item = Pair> {
        self.base.iter().chain(&self.conversion).copied()
    }
}

fn is_money(asset: Asset) -> bool {
    is_fiat(asset) || Rules::of(Class::Other).is_stablecoin(asset)
}

fn is_named(pair: Pair, (base, quote): (&str, &str)) -> bool {
    pair.base == base && pair.quote == quote
}

/// Gives the markets in which two currencies may be traded for each other: as they are known to be listed, or either way.
fn between(a: Asset, b: Asset) -> Vec<Pair> {
    let ways = [Pair { base: a, quote: b }, Pair { base: b, quote: a }];
    let known: Vec<Pair> = ways.into_iter().filter(|way| MONEY_MARKETS.iter().any(|market| is_named(*way, *market))).collect();
    if known.is_empty() { ways.to_vec() } else { known }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(text: &str) -> Pair {
        text.parse().unwrap()
    }

    fn names(pairs: &[Pair]) -> Vec<String> {
        pairs.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_pair_has_the_class_of_its_assets_unless_set_otherwise() {
        let settings = Settings::default();
        for (name, class) in [
            ("BTC-USD", Class::Major),
            ("ETH-BTC", Class::Major),
            ("SOL-USD", Class::Other),
            ("USDT-USD", Class::Peg),
            ("WBTC-BTC", Class::Peg),
            ("WBTC-USD", Class::Other),
            ("EUR-USD", Class::Other),
        ] {
            assert_eq!(settings.rules(pair(name), &Own::default()).class, class, "{name}");
        }
        let own = Own { class: Some(Class::Peg), floor: None, cap: Some(Num::new(3, -2)) };
        let rules = settings.rules(pair("SOL-USD"), &own);
        assert_eq!((rules.class, rules.band), (Class::Peg, Band { floor: Num::new(5, -3), cap: Num::new(3, -2) }));
    }

    #[test]
    fn a_rate_is_made_of_the_base_in_every_currency_and_of_what_leads_to_the_target() {
        let settings = Settings::default();
        let markets = settings.markets(pair("BTC-USD"), &[]);
        assert_eq!(names(&markets.base), ["BTC-USD", "BTC-USDT", "BTC-USDC", "BTC-EUR"]);
        assert_eq!(names(&markets.conversion), ["USDT-USD", "USDT-EUR", "EUR-USDT", "EUR-USD", "USDC-USD", "USDC-EUR", "EUR-USDC"]);
        let alone = Settings { through: Vec::new(), ..settings.clone() };
        assert_eq!(alone.markets(pair("A-USDT"), &[pair("B-USD")]), Markets { base: vec![pair("A-USDT")], conversion: vec![] });
        assert_eq!(names(&alone.markets(pair("A-USD"), &[pair("A-BRL")]).base), ["A-USD", "A-BRL"]);
        assert_eq!(
            names(&alone.markets(pair("A-USD"), &[pair("A-BRL")]).conversion),
            ["BRL-USD", "USD-BRL", "BRL-EUR", "EUR-BRL", "EUR-USD"]
        );
    }

    #[test]
    fn money_and_coins_are_looked_for_upside_down_where_they_are_listed_so() {
        let alone = Settings { through: Vec::new(), ..Settings::default() };
        for (name, base) in [
            ("USD-EUR", vec!["USD-EUR", "EUR-USD"]),
            ("EUR-USD", vec!["EUR-USD"]),
            ("ETH-BTC", vec!["ETH-BTC", "BTC-ETH"]),
            ("USD-GEL", vec!["USD-GEL", "GEL-USD"]),
            ("EUR-USDT", vec!["EUR-USDT", "USDT-EUR"]),
            ("BTC-USD", vec!["BTC-USD"]),
        ] {
            assert_eq!(names(&alone.markets(pair(name), &[]).base), base, "{name}");
        }
    }
}
