//! Who asks less than another bids: every two venues against each other, in basis points, before fees and after.

use super::{Num, Side, Top};
use crate::text::push_scaled;
use std::time::Duration;

/// A spread is offered as an opportunity only where both quotes are younger than this.
const YOUNG: Duration = Duration::from_secs(2);
/// How many decimals basis points have.
const DECIMALS: u32 = 4;

/// Holds basis points, exact and then rounded half-even to four decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bps {
    negative: bool,
    ten_thousandths: u128,
}

impl Bps {
    /// Gives `(to - from) / of`; `None` where `of` is zero, or the number beyond 128 bits.
    pub fn between(from: Num, to: Num, of: Num) -> Option<Self> {
        // Four places more make it basis points.
        let ten_thousandths = to.distance(from).ratio(of, DECIMALS.saturating_add(4))?;
        Some(Self { negative: to < from && ten_thousandths != 0, ten_thousandths })
    }

    /// Pushes the number with all of its decimals.
    pub fn push(self, out: &mut Vec<u8>) {
        push_scaled(out, self.negative, self.ten_thousandths, DECIMALS);
    }
}

impl std::fmt::Display for Bps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = Vec::with_capacity(16);
        self.push(&mut out);
        f.pad(std::str::from_utf8(&out).unwrap_or_default())
    }
}

/// Holds what it comes to, to buy at one venue and to sell at another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The place among the tops of where it is bought.
    pub buy: usize,
    /// The place of where it is sold.
    pub sell: usize,
    /// The bid there over the ask here; `None` where no number holds it.
    pub gross: Option<Bps>,
    /// The same after both takers' fees.
    pub net: Option<Bps>,
    /// Whether something is left after the fees, and both quotes are young.
    pub opportunity: bool,
}

/// Holds the spreads of every ordered pair of tops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matrix {
    /// One for each two, sorted by where it is bought, then by where it is sold.
    pub cells: Vec<Cell>,
    /// How long from now until the first opportunity is none any more, were nothing to change; `None` where there is none.
    pub lasts: Option<Duration>,
}

/// Sets every ask against the bid of every other top.
pub fn matrix(tops: &[Top<'_>]) -> Matrix {
    // The price after the fee is the same in every cell.
    let prices: Vec<_> = tops.iter().map(|top| (top, top.after_fee(Side::Buy), top.after_fee(Side::Sell))).collect();
    let mut made = Matrix::default();
    for (buy, (here, cost, _)) in prices.iter().enumerate() {
        for (sell, (there, _, proceeds)) in prices.iter().enumerate().filter(|(sell, _)| *sell != buy) {
            let older = here.age.max(there.age);
            let opportunity = proceeds > cost && older < YOUNG;
            if opportunity {
                let left = YOUNG.saturating_sub(older);
                made.lasts = Some(made.lasts.map_or(left, |lasts| lasts.min(left)));
            }
            let gross = Bps::between(here.ask, there.bid, here.ask);
            made.cells.push(Cell { buy, sell, gross, net: Bps::between(*cost, *proceeds, *cost), opportunity });
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bps(bid: &str, ask: &str) -> String {
        let of = |text: &str| text.parse::<Num>().unwrap();
        Bps::between(of(bid), of(ask), of(bid).mean(of(ask))).unwrap().to_string()
    }

    #[test]
    fn four_decimals_half_even() {
        assert_eq!(bps("67234.12", "67234.13"), "0.0015");
        assert_eq!(bps("99.5", "100.5"), "100.0000");
        assert_eq!(bps("100", "100"), "0.0000");
        assert_eq!(bps("100.5", "99.5"), "-100.0000");
        // 1 / 2^n of a middle that is a power of ten: exact ties at the fifth decimal.
        assert_eq!(bps("0.999999997500", "1.000000002500"), "0.0000");
        assert_eq!(bps("0.9999999925", "1.0000000075"), "0.0002");
        assert_eq!(bps("0.9999999975", "1.0000000025000000000000000001"), "0.0001");
        assert_eq!(bps("1.0000000025", "0.9999999975"), "0.0000");
    }

    #[test]
    fn the_widest_and_the_smallest_numbers_are_held() {
        assert_eq!(bps("0.000000000000000001", "999999999999999.9999999999999"), "20000.0000");
        assert_eq!(bps("0.000000000000000001", "0.000000000000000003"), "10000.0000");
        assert_eq!(bps("999999999999999.9999999999998", "999999999999999.9999999999999"), "0.0000");
    }
}
