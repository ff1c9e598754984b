//! The settings of the rule: how far votes may be apart, which coins are meant to be worth a dollar, and for how long things count.

use super::{AdmissionRules, Num};
use crate::model::{Asset, Pair};
use std::time::Duration;

/// Classes a pair by how far apart its honest votes may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// What trades everywhere: bitcoin and ether unless set otherwise.
    Major,
    /// Everything else.
    Other,
    /// What is meant to be worth the same: stablecoins, wrapped coins.
    Peg,
}

impl Class {
    /// Every class.
    pub const ALL: [Self; 3] = [Self::Major, Self::Other, Self::Peg];

    /// Gives the word for it.
    pub fn slug(self) -> &'static str {
        match self {
            Self::Major => "major",
            Self::Other => "other",
            Self::Peg => "peg",
        }
    }

    /// Gives its limits, unless they are set otherwise.
    pub fn band(self) -> Band {
        let (floor, cap) = match self {
            Self::Major => (Num::new(2, -2), Num::new(5, -2)),
            Self::Other => (Num::new(3, -2), Num::new(1, -1)),
            Self::Peg => (Num::new(5, -3), Num::new(1, -2)),
        };
        Band { floor, cap }
    }
}

/// Holds how far from the median a vote may be, as fractions of it: never less than the floor, never more than the cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Band {
    /// What is always allowed.
    pub floor: Num,
    /// What is never exceeded.
    pub cap: Num,
}

/// Holds the settings of one pair's rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The pair's class.
    pub class: Class,
    /// The limits of the pair's own votes.
    pub band: Band,
    /// The limits of conversion rates between a stablecoin and what it is pegged to.
    pub peg: Band,
    /// The limits of every other conversion rate.
    pub other: Band,
    /// Which quotes are admitted.
    pub admission: AdmissionRules,
    /// How long the last good rate is given when no quote is left.
    pub stale: Duration,
    /// Assets declared to be worth the same.
    pub par: Vec<(Asset, Asset)>,
    /// Assets meant to be worth a dollar.
    pub stablecoins: Vec<Asset>,
}

/// How long a vote must behave before it is believed again, how long ago a vote that was out still speaks against two, and how long a hold lasts.
pub(super) const MINUTE: Duration = Duration::from_secs(60);
/// How long after a value was held back another confirms it.
pub(super) const CONFIRMED_AFTER: Duration = Duration::from_secs(1);
/// How long after a hold began whatever comes passes.
pub(super) const HELD_MAX: Duration = Duration::from_secs(5);
/// With so many votes a jump is believed at once.
pub(super) const ENOUGH_FOR_A_JUMP: usize = 5;

/// The assets that are tried, in this order, for a conversion of two steps.
pub(super) const BRIDGES: [&str; 4] = ["USD", "EUR", "USDT", "BTC"];

const STABLECOINS: [&str; 10] = ["USDT", "USDC", "DAI", "USDS", "TUSD", "FDUSD", "USDE", "BUSD", "USD1", "PYUSD"];

impl Rules {
    /// Gives the rule of a class as it is unless set otherwise.
    pub fn of(class: Class) -> Self {
        Self {
            class,
            band: class.band(),
            peg: Class::Peg.band(),
            other: Class::Other.band(),
            admission: AdmissionRules::default(),
            stale: MINUTE,
            par: Vec::new(),
            stablecoins: STABLECOINS.iter().filter_map(|code| Asset::new(code).ok()).collect(),
        }
    }

    /// Tells whether an asset is a stablecoin.
    pub fn is_stablecoin(&self, asset: Asset) -> bool {
        self.stablecoins.contains(&asset)
    }

    /// Tells whether two assets are declared to be worth the same.
    pub fn is_par(&self, a: Asset, b: Asset) -> bool {
        self.par.iter().any(|(x, y)| (*x, *y) == (a, b) || (*y, *x) == (a, b))
    }

    /// Tells whether a rate between two assets is one of a peg.
    pub fn is_peg(&self, a: Asset, b: Asset) -> bool {
        let pegged = |asset: Asset| self.is_stablecoin(asset) || asset == "USD" || asset == "EUR";
        pegged(a) && pegged(b) && (self.is_stablecoin(a) || self.is_stablecoin(b))
    }

    /// Gives the limits of a conversion rate.
    pub fn band_between(&self, a: Asset, b: Asset) -> Band {
        if self.is_peg(a, b) { self.peg } else { self.other }
    }
}

/// How far a rate may jump before it is held: a quarter, and a tenth between two currencies of states.
pub(super) fn jump_max(pair: Pair) -> Num {
    if is_fiat(pair.base) && is_fiat(pair.quote) { Num::new(1, -1) } else { Num::new(25, -2) }
}

/// Tells whether an asset is the currency of a state or of several, by its ISO 4217 code.
pub(super) fn is_fiat(asset: Asset) -> bool {
    FIAT.split_ascii_whitespace().any(|code| asset == code)
}

/// ISO 4217 as of 2026: no metals, no units of account, no codes for tests.
const FIAT: &str = "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP CNY COP CRC \
CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR \
KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP \
PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS \
VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG";

#[cfg(test)]
mod tests {
    use super::*;

    fn asset(code: &str) -> Asset {
        Asset::new(code).unwrap()
    }

    #[test]
    fn a_peg_needs_a_stablecoin_and_its_anchor() {
        let rules = Rules::of(Class::Major);
        for (a, b, want) in
            [("USDT", "USD", true), ("EUR", "USDC", true), ("USDT", "USDC", true), ("EUR", "USD", false), ("USDT", "BRL", false)]
        {
            assert_eq!(rules.is_peg(asset(a), asset(b)), want, "{a} {b}");
        }
    }

    #[test]
    fn currencies_of_states_jump_less() {
        assert!(["USD", "EUR", "GEL", "XOF"].iter().all(|code| is_fiat(asset(code))));
        assert!(["XAU", "XDR", "USDT", "BTC", "XXX", "US"].iter().all(|code| !is_fiat(asset(code))));
        assert_eq!(jump_max(Pair::new("EUR", "USD").unwrap()), Num::new(1, -1));
        assert_eq!(jump_max(Pair::new("BTC", "USD").unwrap()), Num::new(25, -2));
    }

    #[test]
    fn par_holds_either_way() {
        let rules = Rules { par: vec![(asset("USD1"), asset("USD"))], ..Rules::of(Class::Major) };
        assert!(rules.is_par(asset("USD"), asset("USD1")) && rules.is_par(asset("USD1"), asset("USD")));
        assert!(!rules.is_par(asset("USD1"), asset("USDT")));
    }
}
