//! How far a day's last price stands from its opening one, as exchanges state it.

use crate::model::Ticker;
use rust_decimal::Decimal;

/// Holds a day's change, for the simulation's dialects: zero where the ticker lacks the last or the opening price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Last less open, exact.
    pub by: Decimal,
    open: Decimal,
}

impl Change {
    /// Gives the change of a ticker.
    pub fn of(ticker: &Ticker) -> Self {
        let (Some(last), Some(open)) = (ticker.last, ticker.open) else { return Self::default() };
        Self { by: last.get().checked_sub(open.get()).unwrap_or_default(), open: open.get() }
    }

    /// Gives the change as a share of the opening price, rounded half-even to so many places.
    pub fn share(&self, places: u32) -> Decimal {
        self.by.checked_div(self.open).unwrap_or_default().round_dp(places)
    }

    /// Gives the change in percent of the opening price, rounded half-even to so many places.
    pub fn percent(&self, places: u32) -> Decimal {
        self.share(places.saturating_add(2)).checked_mul(Decimal::ONE_HUNDRED).unwrap_or_default().round_dp(places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Price;

    #[test]
    fn a_change_is_stated_in_three_ways() {
        let price = |text: &str| Price::parse(text).unwrap();
        let of = |open, last| Change::of(&Ticker { open: price(open), last: price(last), ..Ticker::default() });
        let down = of("67807.2", "67041.37");
        assert_eq!(down.by.to_string(), "-765.83");
        assert_eq!(down.share(4).to_string(), "-0.0113");
        assert_eq!(down.percent(3).to_string(), "-1.129");
        assert_eq!(of("", "1"), Change::default());
        assert_eq!(of("1", ""), Change::default());
        assert_eq!((Change::default().share(4), Change::default().percent(2)), (Decimal::ZERO, Decimal::ZERO));
        // The widest prices there are make no panic.
        let wide = of("0.000000000000000001", "999999999999999");
        assert!(wide.by > Decimal::ZERO && wide.share(4) >= Decimal::ZERO && wide.percent(2) >= Decimal::ZERO);
    }
}
