//! Whole numbers of 256 bits, as far as exact products of two prices need them.

use std::cmp::Ordering;

/// Holds a whole number as two halves of 128 bits, the high one first: the derived order is the order of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Wide {
    high: u128,
    low: u128,
}

const LOW: u128 = u64::MAX as u128;
/// The largest power of ten that 64 bits hold.
const CHUNK_DIGITS: u32 = 19;

/// The powers of ten that 128 bits hold.
#[allow(clippy::indexing_slicing, reason = "a wrong index of a constant is no panic: it does not compile")]
const POWERS: [u128; 39] = {
    let mut powers = [1; 39];
    let mut at = 1;
    while at < powers.len() {
        powers[at] = 10u128.pow(at as u32);
        at += 1;
    }
    powers
};

/// Gives 10^exponent, the largest number where that is beyond 128 bits.
pub(super) fn pow10(exponent: u32) -> u128 {
    POWERS.get(exponent as usize).copied().unwrap_or(u128::MAX)
}

/// Counts the digits of a number; zero has none.
pub(super) fn digits_of(number: u128) -> u32 {
    // log10(2) is a little more than 1233 / 4096: of 128 bits, the quotient is the count of digits or one less.
    let bits = u128::BITS.saturating_sub(number.leading_zeros());
    let least = bits.wrapping_mul(1233) >> 12;
    least.wrapping_add(u32::from(number >= pow10(least)))
}

/// Divides by what is not zero: quotient and rest, in one division.
pub(super) fn div_rem(number: u128, divisor: u128) -> (u128, u128) {
    if let (Ok(number), Ok(divisor)) = (u64::try_from(number), u64::try_from(divisor)) {
        let quotient = number.checked_div(divisor).unwrap_or_default();
        return (quotient.into(), number.wrapping_sub(quotient.wrapping_mul(divisor)).into());
    }
    let quotient = number.checked_div(divisor).unwrap_or_default();
    (quotient, number.wrapping_sub(quotient.wrapping_mul(divisor)))
}

impl Wide {
    pub(super) const fn of(low: u128) -> Self {
        Self { high: 0, low }
    }

    /// Multiplies exactly: two numbers of 128 bits have a product of 256 at most.
    pub(super) fn product(a: u128, b: u128) -> Self {
        if let Some(low) = a.checked_mul(b) {
            return Self::of(low);
        }
        let (a1, a0, b1, b0) = (a >> 64, a & LOW, b >> 64, b & LOW);
        // Products of two halves of 64 bits, and their sums with a carry of less than 64, fit in 128.
        let (low, mid1, mid2, high) = (a0.wrapping_mul(b0), a0.wrapping_mul(b1), a1.wrapping_mul(b0), a1.wrapping_mul(b1));
        let carry = (low >> 64).wrapping_add(mid1 & LOW).wrapping_add(mid2 & LOW);
        let high = high.wrapping_add(mid1 >> 64).wrapping_add(mid2 >> 64).wrapping_add(carry >> 64);
        Self { high, low: (carry << 64) | (low & LOW) }
    }

    /// Adds; both are far below 2^255.
    pub(super) fn plus(self, other: Self) -> Self {
        let (low, carried) = self.low.overflowing_add(other.low);
        Self { high: self.high.wrapping_add(other.high).wrapping_add(u128::from(carried)), low }
    }

    /// Subtracts what is not larger.
    pub(super) fn minus(self, other: Self) -> Self {
        let (low, borrowed) = self.low.overflowing_sub(other.low);
        Self { high: self.high.wrapping_sub(other.high).wrapping_sub(u128::from(borrowed)), low }
    }

    /// Multiplies by a power of ten; the caller sees to it that the product has 76 digits at most.
    pub(super) fn times_pow10(self, exponent: u32) -> Self {
        let mut result = self;
        let mut left = exponent;
        while left > 0 {
            let step = left.min(38);
            let factor = pow10(step);
            let low = Self::product(result.low, factor);
            result = Self { high: low.high.wrapping_add(result.high.wrapping_mul(factor)), low: low.low };
            left = left.saturating_sub(step);
        }
        result
    }

    /// Counts the digits; zero has none.
    pub(super) fn digits(self) -> u32 {
        if self.high == 0 {
            return digits_of(self.low);
        }
        let (quotient, _) = self.divided_by_pow10(38);
        // Of 78 digits at most, 40 are left at most: they may need another step.
        if quotient.high == 0 { digits_of(quotient.low).saturating_add(38) } else { quotient.digits().saturating_add(38) }
    }

    /// Divides by a power of ten: the quotient, and how the rest compares with half of the divisor, for rounding; `None` where there is no rest.
    pub(super) fn divided_by_pow10(self, exponent: u32) -> (Self, Option<Ordering>) {
        let Some(before_last) = exponent.checked_sub(1) else { return (self, None) };
        let (mut number, mut left, mut sticky) = (self, before_last, false);
        while left > 0 {
            let step = left.min(CHUNK_DIGITS);
            let rest;
            (number, rest) = number.divided_by(pow10(step));
            sticky |= rest != 0;
            left = left.saturating_sub(step);
        }
        let (quotient, last) = number.divided_by(10);
        let rest = match last.cmp(&5) {
            Ordering::Equal if sticky => Some(Ordering::Greater),
            Ordering::Less if last == 0 && !sticky => None,
            order => Some(order),
        };
        (quotient, rest)
    }

    /// Divides by a number of 64 bits that is not zero.
    fn divided_by(self, divisor: u128) -> (Self, u128) {
        if self.high == 0 {
            let (quotient, rest) = div_rem(self.low, divisor);
            return (Self::of(quotient), rest);
        }
        let step = |rest: u128, limb: u128| div_rem((rest << 64) | limb, divisor);
        let (q3, rest) = step(0, self.high >> 64);
        let (q2, rest) = step(rest, self.high & LOW);
        let (q1, rest) = step(rest, self.low >> 64);
        let (q0, rest) = step(rest, self.low & LOW);
        (Self { high: (q3 << 64) | q2, low: (q1 << 64) | q0 }, rest)
    }

    /// Gives the number where 128 bits hold it.
    pub(super) fn narrow(self) -> Option<u128> {
        (self.high == 0).then_some(self.low)
    }

    /// Rounds half-even to so many digits, 38 at most: the digits, and how many were cut off.
    pub(super) fn rounded(self, digits_max: u32) -> (u128, u32) {
        match self.narrow() {
            Some(number) => rounded(number, digits_max),
            None => {
                let cut = self.digits().saturating_sub(digits_max);
                let (quotient, rest) = self.divided_by_pow10(cut);
                (half_even(quotient.low, rest), cut)
            }
        }
    }
}

/// Rounds a number of 128 bits half-even to so many digits: the digits, and how many were cut off.
pub(super) fn rounded(number: u128, digits_max: u32) -> (u128, u32) {
    if number < pow10(digits_max) {
        return (number, 0);
    }
    let cut = digits_of(number).saturating_sub(digits_max);
    let divisor = pow10(cut);
    let (quotient, rest) = div_rem(number, divisor);
    // A rest is below 10^38, so that its double fits.
    let order = (rest != 0).then(|| rest.wrapping_mul(2).cmp(&divisor));
    (half_even(quotient, order), cut)
}

/// Rounds a quotient up where its rest is over half, or half and the quotient odd.
pub(super) fn half_even(quotient: u128, rest: Option<Ordering>) -> u128 {
    let up = match rest {
        None | Some(Ordering::Less) => false,
        Some(Ordering::Equal) => quotient & 1 == 1,
        Some(Ordering::Greater) => true,
    };
    quotient.saturating_add(u128::from(up))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_quotients_are_exact() {
        let max = Wide::product(u128::MAX, u128::MAX);
        assert_eq!(max, Wide { high: u128::MAX - 1, low: 1 });
        assert_eq!(max.digits(), 78);
        let number = Wide::product(123_456_789_012_345_678_901_234_567, 10u128.pow(28));
        assert_eq!(number.digits(), 55);
        assert_eq!(number.divided_by_pow10(28), (Wide::of(123_456_789_012_345_678_901_234_567), None));
        assert_eq!(Wide::of(7).times_pow10(70).divided_by_pow10(70), (Wide::of(7), None));
        assert_eq!(Wide::of(0).digits(), 0);
        let mut seed = fastrand::Rng::with_seed(1);
        for _ in 0..5_000 {
            let (a, b, cut) = (seed.u128(..) >> seed.u32(0..128), seed.u128(..) >> seed.u32(0..128), seed.u32(1..60));
            let (quotient, rest) = Wide::product(a, b).divided_by_pow10(cut);
            if quotient.digits() + cut < 76 {
                let back = quotient.times_pow10(cut);
                let left = Wide::product(a, b).minus(back);
                assert_eq!(rest.is_none(), left == Wide::of(0));
                assert_eq!(back.plus(left), Wide::product(a, b));
                assert!(left < Wide::of(1).times_pow10(cut));
                let half = Wide::of(5).times_pow10(cut - 1);
                assert_eq!(rest.unwrap_or(Ordering::Less), left.cmp(&half));
            }
        }
    }

    #[test]
    fn digits_are_counted_as_the_library_counts_them() {
        assert_eq!(digits_of(0), 0);
        for power in 0..=38 {
            let round = 10u128.pow(power);
            for number in [round - 1, round, round + 1, round.saturating_mul(9)] {
                assert_eq!(digits_of(number), number.checked_ilog10().map_or(0, |log| log + 1), "{number}");
            }
        }
        assert_eq!(digits_of(u128::MAX), 39);
    }

    #[test]
    fn rounding_is_half_even_on_all_digits_at_once() {
        assert_eq!(Wide::of(125).rounded(2), (12, 1));
        assert_eq!(Wide::of(135).rounded(2), (14, 1));
        assert_eq!(Wide::of(1_250_001).rounded(2), (13, 5));
        assert_eq!(Wide::of(1_249_999).rounded(2), (12, 5));
        assert_eq!(Wide::of(999).rounded(2), (100, 1));
        assert_eq!(Wide::of(99).rounded(2), (99, 0));
    }
}
