//! The arithmetic of a rate: decimals that are never negative, exact up to 28 significant digits however small or large they are.
//!
//! A `Decimal` counts its digits from the point: of a price of 1e-15 converted, too few of them would be left. Here all of them count from the first.

use super::wide::{Wide, digits_of, half_even, pow10};
use rust_decimal::Decimal;
use std::{cmp::Ordering, fmt, str::FromStr};

/// Holds a decimal that is zero or positive: `mantissa · 10^exponent`.
#[derive(Clone, Copy)]
pub struct Num {
    mantissa: u128,
    exponent: i32,
}

/// How many significant digits sums keep.
const DIGITS: u32 = 28;
/// How many a product and a quotient keep.
const PRODUCT_DIGITS: u32 = 18;
/// Beyond these a number in a text is none that a rate could be made of; it keeps every sum of exponents small.
const EXPONENT_MAX: i32 = 200;

impl Num {
    /// Zero.
    pub const ZERO: Self = Self { mantissa: 0, exponent: 0 };
    /// One.
    pub const ONE: Self = Self { mantissa: 1, exponent: 0 };

    /// Makes `mantissa · 10^exponent`.
    pub const fn new(mantissa: u64, exponent: i32) -> Self {
        Self { mantissa: mantissa as u128, exponent }
    }

    fn of_wide(number: Wide, exponent: i32, digits: u32) -> Self {
        let (mantissa, cut) = number.rounded(digits);
        Self { mantissa, exponent: exponent.saturating_add_unsigned(cut) }
    }

    /// Tells whether it is zero.
    pub fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    /// Adds: exact up to 28 significant digits, half-even beyond.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.combined(other, Wide::plus)
    }

    /// Gives how far apart two numbers are, as exact as [`Num::plus`].
    #[must_use]
    pub fn distance(self, other: Self) -> Self {
        let (larger, smaller) = if self >= other { (self, other) } else { (other, self) };
        larger.combined(smaller, Wide::minus)
    }

    fn combined(self, other: Self, combine: fn(Wide, Wide) -> Wide) -> Self {
        let exponent = self.exponent.min(other.exponent);
        let (up_self, up_other) = (self.exponent.abs_diff(exponent), other.exponent.abs_diff(exponent));
        // Beyond 38 places one of them is too small to matter for 28 digits, and too small to be half of the last.
        match (up_self > 38, up_other > 38) {
            (true, _) if self.mantissa != 0 => self,
            (_, true) if other.mantissa != 0 => other,
            (true, _) => other,
            (_, true) => self,
            _ => {
                let (a, b) = (Wide::product(self.mantissa, pow10(up_self)), Wide::product(other.mantissa, pow10(up_other)));
                Self::of_wide(combine(a, b), exponent, DIGITS)
            }
        }
    }

    /// Gives the half, as exact as [`Num::plus`].
    #[must_use]
    pub fn half(self) -> Self {
        let halved = if self.mantissa & 1 == 0 {
            return Self { mantissa: self.mantissa >> 1, ..self };
        } else {
            Wide::product(self.mantissa, 5)
        };
        Self::of_wide(halved, self.exponent.saturating_sub(1), DIGITS)
    }

    /// Gives the mean of two numbers.
    #[must_use]
    pub fn mean(self, other: Self) -> Self {
        self.plus(other).half()
    }

    /// Gives twice the number.
    #[must_use]
    pub fn doubled(self) -> Self {
        // 29 digits at most: far from 128 bits.
        Self { mantissa: self.mantissa.wrapping_mul(2), ..self }
    }

    /// Gives the order of magnitude: the exponent of the first digit.
    pub(super) fn order(self) -> i32 {
        self.exponent.saturating_add_unsigned(digits_of(self.mantissa)).saturating_sub(1)
    }

    /// Multiplies by ten as often as `places` says.
    #[must_use]
    pub fn shifted(self, places: i32) -> Self {
        Self { exponent: self.exponent.saturating_add(places), ..self }
    }

    /// Multiplies, as exact as [`Num::plus`].
    #[must_use]
    pub fn product(self, other: Self) -> Self {
        let product = Wide::product(self.mantissa, other.mantissa);
        Self::of_wide(product, self.exponent.saturating_add(other.exponent), DIGITS)
    }

    /// Multiplies and rounds half-even to 18 significant digits.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        let product = Wide::product(self.mantissa, other.mantissa);
        Self::of_wide(product, self.exponent.saturating_add(other.exponent), PRODUCT_DIGITS)
    }

    /// Gives 1 / the number, rounded half-even to 18 significant digits; `None` of zero.
    pub fn inverse(self) -> Option<Self> {
        let digits = i32::try_from(digits_of(self.mantissa)).ok()?;
        // Twenty-seven digits behind the first, and whether anything is left: enough to round to 18.
        let (quotient, rest) = divided(pow10(digits.unsigned_abs()), self.mantissa, 27)?;
        let sticky = quotient.checked_mul(10)?.checked_add(u128::from(rest.is_some()))?;
        let exponent = self.exponent.saturating_neg().saturating_sub(digits).saturating_sub(28);
        Some(Self::of_wide(Wide::of(sticky), exponent, PRODUCT_DIGITS))
    }

    /// Gives `self / other` as a whole number of `10^-decimals`, rounded half-even; `None` where `other` is zero or the number beyond 128 bits.
    pub fn ratio(self, other: Self, decimals: u32) -> Option<u128> {
        if other.mantissa == 0 {
            return None;
        }
        let up = self.exponent.saturating_sub(other.exponent).saturating_add_unsigned(decimals);
        let (quotient, rest) = if up >= 0 {
            divided(self.mantissa, other.mantissa, up.unsigned_abs())?
        } else {
            match other.mantissa.checked_mul(pow10(up.unsigned_abs())).filter(|divisor| *divisor <= u128::MAX / 2) {
                Some(divisor) => divided(self.mantissa, divisor, 0)?,
                // A divisor of 127 bits is more than twice any number of 28 digits.
                None => (0, None),
            }
        };
        Some(half_even(quotient, rest))
    }

    /// Compares `a · b` with `c · d`, exactly.
    pub fn cmp_products(a: Self, b: Self, c: Self, d: Self) -> Ordering {
        let product = |x: Self, y: Self| (Wide::product(x.mantissa, y.mantissa), x.exponent.saturating_add(y.exponent));
        compare(product(a, b), product(c, d))
    }

    /// Gives the number as mantissa and exponent, without zeros at the mantissa's end.
    fn normal(self) -> (u128, i32) {
        let (mut mantissa, mut exponent) = (self.mantissa, self.exponent);
        if mantissa == 0 {
            return (0, 0);
        }
        for step in [16, 8, 4, 2, 1] {
            while mantissa.is_multiple_of(pow10(step)) {
                mantissa = mantissa.checked_div(pow10(step)).unwrap_or(mantissa);
                exponent = exponent.saturating_add_unsigned(step);
            }
        }
        (mantissa, exponent)
    }

    /// Pushes the number in plain notation: no exponent, no zeros at the end.
    pub fn push(self, out: &mut Vec<u8>) {
        let (mantissa, exponent) = self.normal();
        crate::text::push_number(out, mantissa, exponent);
    }
}

/// Divides, with so many decimals more: the quotient as a whole number of those, and how the rest compares with half. `None` beyond 128 bits.
fn divided(number: u128, divisor: u128, decimals: u32) -> Option<(u128, Option<Ordering>)> {
    let (mut quotient, mut rest) = (number.checked_div(divisor)?, number.checked_rem(divisor)?);
    // A rest of 29 digits at most takes nine more within 128 bits; a larger divisor is only met with no decimals.
    let mut left = decimals;
    while left > 0 {
        let step = left.min(9);
        let shifted = rest.checked_mul(pow10(step))?;
        quotient = quotient.checked_mul(pow10(step))?.checked_add(shifted.checked_div(divisor)?)?;
        rest = shifted.checked_rem(divisor)?;
        left = left.saturating_sub(step);
    }
    let rest = if rest == 0 { None } else { Some(rest.checked_mul(2)?.cmp(&divisor)) };
    Some((quotient, rest))
}

fn compare((a, a_exponent): (Wide, i32), (b, b_exponent): (Wide, i32)) -> Ordering {
    if a_exponent == b_exponent {
        return a.cmp(&b);
    }
    let (a_digits, b_digits) = (a.digits(), b.digits());
    if a_digits == 0 || b_digits == 0 {
        return a_digits.min(1).cmp(&b_digits.min(1));
    }
    let order = a_exponent.saturating_add_unsigned(a_digits).cmp(&b_exponent.saturating_add_unsigned(b_digits));
    // Of one order of magnitude: at the same exponent both have as many digits as the longer one, 58 at most.
    order.then_with(|| {
        let exponent = a_exponent.min(b_exponent);
        a.times_pow10(a_exponent.abs_diff(exponent)).cmp(&b.times_pow10(b_exponent.abs_diff(exponent)))
    })
}

/// Gives the median of sorted numbers; of an even count, the mean of the middle two.
pub fn median(sorted: &[Num]) -> Option<Num> {
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len() % 2 == 1 { Some(upper) } else { Some(sorted.get(middle.checked_sub(1)?)?.mean(upper)) }
}

impl Ord for Num {
    fn cmp(&self, other: &Self) -> Ordering {
        compare((Wide::of(self.mantissa), self.exponent), (Wide::of(other.mantissa), other.exponent))
    }
}

impl PartialOrd for Num {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Num {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Num {}

impl From<Decimal> for Num {
    /// Takes the magnitude; prices and amounts are never negative.
    fn from(number: Decimal) -> Self {
        Self { mantissa: number.mantissa().unsigned_abs(), exponent: 0i32.saturating_sub_unsigned(number.scale()) }
    }
}

/// Says that a text is no number that a rate could be made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a plain decimal that is not negative, of 28 significant digits at most")]
pub struct NumError;

impl FromStr for Num {
    type Err = NumError;

    /// Reads what [`Num::push`] writes: digits, with a point among them or not.
    fn from_str(text: &str) -> Result<Self, NumError> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if !is_digits(whole) || !is_digits(fraction) {
            return Err(NumError);
        }
        let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
        let (mut mantissa, mut exponent) = (0u128, 0i32.saturating_sub_unsigned(u32::try_from(fraction.len()).map_err(|_| NumError)?));
        let (digits, zeros) = if fraction.is_empty() {
            let digits = whole.trim_end_matches('0');
            (digits, whole.len().saturating_sub(digits.len()))
        } else {
            (whole, 0)
        };
        exponent = exponent.saturating_add_unsigned(u32::try_from(zeros).map_err(|_| NumError)?);
        for byte in digits.bytes().chain(fraction.bytes()) {
            mantissa = mantissa.checked_mul(10).and_then(|m| m.checked_add(u128::from(byte & 0x0F))).ok_or(NumError)?;
        }
        // One more than 28: a mean that was rounded up to the next power of ten.
        let fits = digits_of(mantissa) <= DIGITS.saturating_add(1) && exponent.abs() <= EXPONENT_MAX;
        if fits { Ok(Self { mantissa, exponent }) } else { Err(NumError) }
    }
}

impl fmt::Display for Num {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::with_capacity(40);
        self.push(&mut out);
        f.pad(std::str::from_utf8(&out).unwrap_or_default())
    }
}

impl fmt::Debug for Num {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn num(text: &str) -> Num {
        text.parse().unwrap()
    }

    #[test]
    fn numbers_are_written_plain_and_read_back() {
        for text in
            ["0", "1", "67234.125", "1000", "0.0000118", "0.0000000000000000000000000000000000123", "12340000000000000000000000000000000"]
        {
            assert_eq!(num(text).to_string(), text);
        }
        for (text, want) in [("0100.500", "100.5"), ("0.0", "0"), ("000", "0"), ("100.0", "100")] {
            assert_eq!(num(text).to_string(), want);
        }
        for bad in ["", ".", "1.", ".5", "-1", "+1", "1e3", "1_0", "12345678901234567890123456789012345", "١", " 1"] {
            assert_eq!(bad.parse::<Num>(), Err(NumError), "{bad}");
        }
        assert_eq!(Num::from(Decimal::from_str_exact("12.50").unwrap()), num("12.5"));
    }

    #[test]
    fn sums_are_exact_to_28_digits_and_half_even_beyond() {
        assert_eq!(num("0.1").plus(num("0.2")), num("0.3"));
        assert_eq!(num("67234.12").mean(num("67234.13")), num("67234.125"));
        assert_eq!(num("1234567890123456789012345678").plus(num("0.5")), num("1234567890123456789012345678"));
        assert_eq!(num("1234567890123456789012345679").plus(num("0.5")), num("1234567890123456789012345680"));
        assert_eq!(num("1234567890123456789012345678").plus(num("0.500001")), num("1234567890123456789012345679"));
        assert_eq!(num("1000000000000000000000000000000").plus(num("0.000000000000000001")), num("1000000000000000000000000000000"));
        assert_eq!(num("5").distance(num("7.25")), num("2.25"));
        assert_eq!(num("0").plus(num("0.000000000000000000000000000000000000000000001")).to_string().len(), 47);
        assert_eq!(num("3").half(), num("1.5"));
        assert_eq!(num("67234.123456789012345").product(num("1.00075")), num("67284.54904938160410425875"));
        assert_eq!(num("1.0000000000000000000000000005").product(num("1.0000000000000000000000000001")).to_string().len(), 29);
    }

    #[test]
    fn products_and_inverses_have_18_digits_rounded_once() {
        assert_eq!(num("60003").times(num("0.9990503495")), num("59946.0181210485"));
        assert_eq!(num("3").inverse(), Some(num("0.333333333333333333")));
        assert_eq!(num("0.0000166667").inverse(), Some(num("59999.8800002399995")));
        assert_eq!(num("7").inverse(), Some(num("0.142857142857142857")));
        assert_eq!(num("1000").inverse(), Some(num("0.001")));
        assert_eq!(Num::ZERO.inverse(), None);
        // Digits 19 to 28 are exactly half, and what is beyond decides.
        assert_eq!(num("1.0000000000000000050000000001").times(Num::ONE), num("1.00000000000000001"));
        assert_eq!(num("1.000000000000000005").times(Num::ONE), num("1"));
        assert_eq!(num("1.00000000000000001500").times(Num::ONE), num("1.00000000000000002"));
        assert_eq!(num("0.000000000000000001").times(num("0.000000000000000001")).to_string(), format!("0.{}1", "0".repeat(35)));
    }

    #[test]
    fn comparisons_and_ratios_are_exact() {
        assert!(num("0.00000000000000000000000000000001") < num("10000000000000000000000"));
        assert!(num("1") < num("1.0000000000000000000000000001"));
        assert_eq!(Num::cmp_products(num("0.02"), num("100"), num("2"), Num::ONE), Ordering::Equal);
        assert_eq!(Num::cmp_products(num("0.02"), num("100.0000000000000000000000001"), num("2"), Num::ONE), Ordering::Greater);
        assert_eq!(Num::cmp_products(Num::ZERO, num("100"), num("2"), Num::ONE), Ordering::Less);
        assert_eq!(num("1").ratio(num("3"), 4), Some(3333));
        assert_eq!(num("0.5").ratio(num("10000"), 4), Some(0), "a tie goes to the even");
        assert_eq!(num("1.5").ratio(num("10000"), 4), Some(2));
        assert_eq!(num("1").ratio(Num::ZERO, 4), None);
        assert_eq!(num("1000000000000000000000000000000").ratio(num("0.00000000000000000001"), 4), None, "beyond 128 bits");
        assert_eq!(num("0.000000000000000000000000000000000000000001").ratio(num("1000000000000000"), 4), Some(0));
    }

    #[test]
    fn a_median_is_the_middle_or_the_mean_of_two() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[num("1"), num("2"), num("9")]), Some(num("2")));
        assert_eq!(median(&[num("1"), num("2")]), Some(num("1.5")));
    }
}
