//! A spread in basis points of the middle, exact, rounded half-even to four decimals.

use rust_decimal::Decimal;

/// Gives `(ask - bid) / mid` in basis points as a sign and a whole number of ten-thousandths; `None` where the middle is zero.
///
/// Decimal's own division rounds at 28 digits, and rounding that again would be wrong at a tie: this is long division, digit by digit.
pub(super) fn spread(bid: Decimal, ask: Decimal, mid: Decimal) -> Option<(bool, u128)> {
    let difference = ask.checked_sub(bid)?;
    let (numerator, divisor) = (difference.mantissa().unsigned_abs(), mid.mantissa().unsigned_abs());
    if divisor == 0 {
        return None;
    }
    // 10^4 for basis points, 10^4 for four decimals.
    let exponent = 8i64.checked_add(i64::from(mid.scale()))?.checked_sub(i64::from(difference.scale()))?;
    let (quotient, rest, divisor) = if exponent >= 0 {
        let (mut quotient, mut rest) = (numerator.checked_div(divisor)?, numerator.checked_rem(divisor)?);
        for _ in 0..exponent {
            // Below 2^96 times ten: no overflow in 128 bits.
            let shifted = rest.checked_mul(10)?;
            quotient = quotient.checked_mul(10)?.checked_add(shifted.checked_div(divisor)?)?;
            rest = shifted.checked_rem(divisor)?;
        }
        (quotient, rest, divisor)
    } else {
        let shift = u32::try_from(exponent.checked_neg()?).ok()?;
        match 10u128.checked_pow(shift).and_then(|s| divisor.checked_mul(s)).filter(|d| *d <= u128::MAX / 2) {
            Some(divisor) => (numerator.checked_div(divisor)?, numerator.checked_rem(divisor)?, divisor),
            // A divisor of over 127 bits is more than twice any numerator of 96.
            None => (0, 0, 1),
        }
    };
    let doubled = rest.checked_mul(2)?;
    let up = doubled > divisor || (doubled == divisor && quotient % 2 == 1);
    let rounded = quotient.checked_add(u128::from(up))?;
    Some((difference.is_sign_negative() && rounded != 0, rounded))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bps(bid: &str, ask: &str) -> String {
        let of = |text: &str| Decimal::from_str_exact(text).unwrap();
        let mid = quorate_actors::model::Price::new(of(bid)).unwrap().mid(quorate_actors::model::Price::new(of(ask)).unwrap());
        let (negative, number) = spread(of(bid), of(ask), mid).unwrap();
        let mut out = Vec::new();
        super::super::text::push_scaled(&mut out, negative, number, 4);
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
