//! What is priced in what.

use super::{Asset, AssetError};
use std::{fmt, str::FromStr};

/// Names a market by what is traded and what it is paid in: `BTC/USDT` is the price of one BTC in USDT.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pair {
    /// What is traded.
    pub base: Asset,
    /// What it is paid in.
    pub quote: Asset,
}

/// Says why a text is no pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PairError {
    /// No separator was found, or more than one.
    #[error("a pair is written BASE-QUOTE, like BTC-USDT")]
    Separator,
    /// One side is no asset code.
    #[error("{0}, like BTC in BTC-USDT")]
    Asset(#[from] AssetError),
    /// Both sides are the same asset.
    #[error("base and quote are the same asset")]
    Same,
}

/// Codes that people still type for an asset which has another canonical one.
const OLD_CODES: &[(&str, &str)] =
    &[("XBT", "BTC"), ("XDG", "DOGE"), ("BCC", "BCH"), ("BCHABC", "BCH"), ("DRK", "DASH"), ("STR", "XLM"), ("MIOTA", "IOTA")];

impl Pair {
    /// Makes a pair of two codes in any case.
    ///
    /// # Errors
    /// [`PairError`] where one side is no code, or both are the same.
    pub fn new(base: &str, quote: &str) -> Result<Self, PairError> {
        let (base, quote) = (Asset::new(base)?, Asset::new(quote)?);
        if base == quote { Err(PairError::Same) } else { Ok(Self { base, quote }) }
    }
}

fn current(code: &str) -> &str {
    OLD_CODES.iter().find(|(old, _)| old.eq_ignore_ascii_case(code)).map_or(code, |(_, new)| new)
}

impl Asset {
    /// Gives the asset under the code that it has now, where this is an old one.
    #[must_use]
    pub fn current(self) -> Self {
        Self::new(current(self.as_str())).unwrap_or(self)
    }
}

impl FromStr for Pair {
    type Err = PairError;

    /// Reads `BTC-USDT`, in any case, with `-`, `_`, `:` or `/` between, and old codes mapped (`XBT`).
    fn from_str(text: &str) -> Result<Self, PairError> {
        let (base, quote) = text.split_once(['-', '_', ':', '/']).ok_or(PairError::Separator)?;
        Self::new(current(base), current(quote))
    }
}

impl fmt::Display for Pair {
    /// Writes the canonical form of paths and JSON, `BTC-USDT`; the alternate form (`{:#}`) is `BTC/USDT`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.base, if f.alternate() { '/' } else { '-' }, self.quote)
    }
}

impl fmt::Debug for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_read_in_every_accepted_spelling_and_written_in_one() {
        for text in ["BTC-USDT", "btc_usdt", "Btc:Usdt", "XBT/USDT", "xbt-usdt"] {
            assert_eq!(text.parse::<Pair>().unwrap().to_string(), "BTC-USDT", "{text}");
        }
        assert_eq!(format!("{:#}", Pair::new("eth", "btc").unwrap()), "ETH/BTC");
    }

    #[test]
    fn what_is_no_pair_says_why() {
        assert_eq!("BTCUSDT".parse::<Pair>(), Err(PairError::Separator));
        assert_eq!("BTC-".parse::<Pair>(), Err(PairError::Asset(AssetError)));
        assert_eq!("BTC-USD-T".parse::<Pair>(), Err(PairError::Asset(AssetError)));
        assert_eq!("XBT-BTC".parse::<Pair>(), Err(PairError::Same));
    }
}
