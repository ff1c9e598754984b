//! A spread in basis points of the middle, exact, rounded half-even to four decimals.

use quorate_actors::rate::Num;
use rust_decimal::Decimal;

/// Gives `(ask - bid) / mid` in basis points as a sign and a whole number of ten-thousandths; `None` where the middle is zero.
pub(super) fn spread(bid: Decimal, ask: Decimal, mid: Decimal) -> Option<(bool, u128)> {
    // 10^4 for basis points, 10^4 for four decimals.
    let rounded = Num::from(ask).distance(Num::from(bid)).ratio(Num::from(mid), 8)?;
    Some((ask < bid && rounded != 0, rounded))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bps(bid: &str, ask: &str) -> String {
        let of = |text: &str| Decimal::from_str_exact(text).unwrap();
        let mid = quorate_actors::model::Price::new(of(bid)).unwrap().mid(quorate_actors::model::Price::new(of(ask)).unwrap());
        let (negative, number) = spread(of(bid), of(ask), mid).unwrap();
        let mut out = Vec::new();
        quorate_actors::text::push_scaled(&mut out, negative, number, 4);
        String::from_utf8(out).unwrap()
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
