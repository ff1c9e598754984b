//! The arithmetic of a rate: decimals that are never negative, exact up to 28 significant digits however small or large they are.
//!
//! A `Decimal` counts its digits from the point: of a price of 1e-15 converted, too few of them would be left. Here all of them count from the first.

mod middle;

pub use middle::median;
pub(in crate::rate) use middle::range;

use super::wide::{Wide, digits_of, div_rem, half_even, pow10, rounded};
use rust_decimal::Decimal;
use std::{cmp::Ordering, fmt, str::FromStr};

/// Holds a decimal that is zero or positive: `mantissa · 10^exponent`.
///
/// The mantissa is kept in two halves: a row of a pass holds several numbers, and is a third smaller without the alignment of 128 bits.
#[derive(Clone, Copy)]
pub struct Num {
    high: u64,
    low: u64,
    exponent: i32,
}

/// How many significant digits sums keep.
pub(super) const DIGITS: u32 = 28;
/// How many a product and a quotient keep.
const PRODUCT_DIGITS: u32 = 18;
/// Beyond these a number in a text is none that a rate could be made of; it keeps every sum of exponents small.
const EXPONENT_MAX: i32 = 200;

impl Num {
    /// Zero.
    pub const ZERO: Self = Self::new(0, 0);
    /// One.
    pub const ONE: Self = Self::new(1, 0);

    /// Makes `mantissa · 10^exponent`.
    pub const fn new(mantissa: u64, exponent: i32) -> Self {
        Self { high: 0, low: mantissa, exponent }
    }

    pub(super) const fn of(mantissa: u128, exponent: i32) -> Self {
        Self { high: (mantissa >> 64) as u64, low: mantissa as u64, exponent }
    }

    fn mantissa(self) -> u128 {
        (u128::from(self.high) << 64) | u128::from(self.low)
    }

    /// Gives the number as a whole number of `10^exponent`, where 127 bits hold it; the exponent is not above its own.
    #[inline]
    fn at(self, exponent: i32) -> Option<u128> {
        let places = self.exponent.abs_diff(exponent);
        let shifted = match self.high {
            _ if places == 0 => self.mantissa(),
            // Two numbers of 64 bits have a product of 128.
            0 if places < 20 => u128::from(self.low).wrapping_mul(pow10(places)),
            _ => self.mantissa().checked_mul(pow10(places))?,
        };
        (shifted <= u128::MAX / 2).then_some(shifted)
    }

    fn of_wide(number: Wide, exponent: i32, digits: u32) -> Self {
        let (mantissa, cut) = number.rounded(digits);
        Self::of(mantissa, exponent.saturating_add_unsigned(cut))
    }

    #[inline]
    pub(super) fn of_narrow(number: u128, exponent: i32, digits: u32) -> Self {
        let (mantissa, cut) = rounded(number, digits);
        Self::of(mantissa, exponent.saturating_add_unsigned(cut))
    }

    /// Tells whether it is zero.
    pub fn is_zero(self) -> bool {
        self.high | self.low == 0
    }

    /// Adds: exact up to 28 significant digits, half-even beyond.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        match aligned(self, other) {
            Some((a, b, exponent)) => Self::of_narrow(a.wrapping_add(b), exponent, DIGITS),
            None => self.combined(other, Wide::plus),
        }
    }

    /// Gives how far apart two numbers are, as exact as [`Num::plus`].
    #[must_use]
    #[inline]
    pub fn distance(self, other: Self) -> Self {
        match aligned(self, other) {
            Some((a, b, exponent)) => Self::of_narrow(a.abs_diff(b), exponent, DIGITS),
            None if self >= other => self.combined(other, Wide::minus),
            None => other.combined(self, Wide::minus),
        }
    }

    /// Gives whether it is below another, and how far apart they are.
    #[inline]
    pub(super) fn apart(self, other: Self) -> (bool, Self) {
        match aligned(self, other) {
            Some((a, b, exponent)) => (a < b, Self::of_narrow(a.abs_diff(b), exponent, DIGITS)),
            None => (self < other, self.distance(other)),
        }
    }

    /// Combines two numbers of which the first is the larger, or the order does not matter.
    fn combined(self, other: Self, combine: fn(Wide, Wide) -> Wide) -> Self {
        let (larger, smaller) = if self >= other { (self, other) } else { (other, self) };
        // So far below, it is less than half of the last of 28 digits, however it is written.
        if smaller.is_zero() || larger.order().saturating_sub(smaller.order()) > 32 {
            return Self::of_narrow(larger.mantissa(), larger.exponent, DIGITS);
        }
        // 29 digits each, 32 orders apart: 61 digits at most.
        let exponent = self.exponent.min(other.exponent);
        let up = |number: Self| Wide::of(number.mantissa()).times_pow10(number.exponent.abs_diff(exponent));
        Self::of_wide(combine(up(self), up(other)), exponent, DIGITS)
    }

    /// Gives the half, as exact as [`Num::plus`].
    #[must_use]
    pub fn half(self) -> Self {
        if self.mantissa() & 1 == 0 {
            return Self::of(self.mantissa() >> 1, self.exponent);
        }
        Self::of_wide(Wide::product(self.mantissa(), 5), self.exponent.saturating_sub(1), DIGITS)
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
        Self::of(self.mantissa().wrapping_mul(2), self.exponent)
    }

    /// Gives the order of magnitude: the exponent of the first digit.
    pub(super) fn order(self) -> i32 {
        self.exponent.saturating_add_unsigned(digits_of(self.mantissa())).saturating_sub(1)
    }

    /// Multiplies by ten as often as `places` says.
    #[must_use]
    pub fn shifted(self, places: i32) -> Self {
        Self { exponent: self.exponent.saturating_add(places), ..self }
    }

    /// Multiplies, as exact as [`Num::plus`].
    #[must_use]
    pub fn product(self, other: Self) -> Self {
        let product = Wide::product(self.mantissa(), other.mantissa());
        Self::of_wide(product, self.exponent.saturating_add(other.exponent), DIGITS)
    }

    /// Multiplies and rounds half-even to 18 significant digits.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        let exponent = self.exponent.saturating_add(other.exponent);
        match self.mantissa().checked_mul(other.mantissa()) {
            Some(product) => Self::of_narrow(product, exponent, PRODUCT_DIGITS),
            None => Self::of_wide(Wide::product(self.mantissa(), other.mantissa()), exponent, PRODUCT_DIGITS),
        }
    }

    /// Multiplies without rounding; `None` where the product is beyond 128 bits.
    pub(super) fn times_exactly(self, other: Self) -> Option<Self> {
        let mantissa = self.mantissa().checked_mul(other.mantissa())?;
        Some(Self::of(mantissa, self.exponent.saturating_add(other.exponent)))
    }

    /// Gives 1 / the number, rounded half-even to 18 significant digits; `None` of zero.
    pub fn inverse(self) -> Option<Self> {
        let digits = i32::try_from(digits_of(self.mantissa())).ok()?;
        // Twenty-seven digits behind the first, and whether anything is left: enough to round to 18.
        let (quotient, rest) = divided(pow10(digits.unsigned_abs()), self.mantissa(), 27)?;
        let sticky = quotient.checked_mul(10)?.checked_add(u128::from(rest.is_some()))?;
        let exponent = self.exponent.saturating_neg().saturating_sub(digits).saturating_sub(28);
        Some(Self::of_wide(Wide::of(sticky), exponent, PRODUCT_DIGITS))
    }

    /// Gives `self / other` as a whole number of `10^-decimals`, rounded half-even; `None` where `other` is zero or the number beyond 128 bits.
    pub fn ratio(self, other: Self, decimals: u32) -> Option<u128> {
        if other.mantissa() == 0 {
            return None;
        }
        let up = self.exponent.saturating_sub(other.exponent).saturating_add_unsigned(decimals);
        let (quotient, rest) = if up >= 0 {
            divided(self.mantissa(), other.mantissa(), up.unsigned_abs())?
        } else {
            match other.mantissa().checked_mul(pow10(up.unsigned_abs())).filter(|divisor| *divisor <= u128::MAX / 2) {
                Some(divisor) => divided(self.mantissa(), divisor, 0)?,
                // A divisor of 127 bits is more than twice any number of 28 digits.
                None => (0, None),
            }
        };
        Some(half_even(quotient, rest))
    }

    /// Compares `a · b` with `c · d`, exactly.
    pub fn cmp_products(a: Self, b: Self, c: Self, d: Self) -> Ordering {
        let product = |x: Self, y: Self| (Wide::product(x.mantissa(), y.mantissa()), x.exponent.saturating_add(y.exponent));
        let (left, right) = (product(a, b), product(c, d));
        let narrow = |(number, exponent): (Wide, i32)| Some(Self::of(number.narrow()?, exponent));
        let both = narrow(left).zip(narrow(right)).and_then(|(left, right)| aligned(left, right));
        both.map_or_else(|| compare(left, right), |(left, right, _)| left.cmp(&right))
    }

    /// Gives the number as mantissa and exponent, without zeros at the mantissa's end.
    fn normal(self) -> (u128, i32) {
        let (mut mantissa, mut exponent) = (self.mantissa(), self.exponent);
        if mantissa == 0 {
            return (0, 0);
        }
        while u64::try_from(mantissa).is_err() && mantissa.is_multiple_of(10) {
            mantissa /= 10;
            exponent = exponent.saturating_add(1);
        }
        let Ok(mut small) = u64::try_from(mantissa) else { return (mantissa, exponent) };
        let mut strip = |unit: u64, digits: i32| {
            while small.is_multiple_of(unit) {
                small = small.checked_div(unit).unwrap_or(1);
                exponent = exponent.saturating_add(digits);
            }
        };
        strip(10_000, 4);
        strip(10, 1);
        (small.into(), exponent)
    }

    /// Pushes the number in plain notation: no exponent, no zeros at the end.
    pub fn push(self, out: &mut Vec<u8>) {
        let (mantissa, exponent) = self.normal();
        crate::text::push_number(out, mantissa, exponent);
    }
}

/// Gives two numbers as whole numbers of one power of ten, where 127 bits hold both: how they are written makes no difference to what follows.
#[inline]
pub(super) fn aligned(a: Num, b: Num) -> Option<(u128, u128, i32)> {
    let exponent = a.exponent.min(b.exponent);
    Some((a.at(exponent)?, b.at(exponent)?, exponent))
}

/// Divides, with so many decimals more: the quotient as a whole number of those, and how the rest compares with half. `None` beyond 128 bits.
fn divided(number: u128, divisor: u128, decimals: u32) -> Option<(u128, Option<Ordering>)> {
    if divisor == 0 {
        return None;
    }
    // As many decimals at once as fit; what is left goes nine at a time: a rest of 29 digits at most takes nine more within 128 bits, and a larger
    // divisor is only met with no decimals.
    let at_once = if decimals <= 38 { number.checked_mul(pow10(decimals)) } else { None };
    let (mut quotient, mut rest) = div_rem(at_once.unwrap_or(number), divisor);
    let mut left = if at_once.is_some() { 0 } else { decimals };
    while left > 0 {
        let step = left.min(9);
        let (more, after) = div_rem(rest.checked_mul(pow10(step))?, divisor);
        quotient = quotient.checked_mul(pow10(step))?.checked_add(more)?;
        rest = after;
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

impl Ord for Num {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        if self.exponent == other.exponent {
            return (self.high, self.low).cmp(&(other.high, other.low));
        }
        match aligned(*self, *other) {
            Some((a, b, _)) => a.cmp(&b),
            None => compare((Wide::of(self.mantissa()), self.exponent), (Wide::of(other.mantissa()), other.exponent)),
        }
    }
}

impl PartialOrd for Num {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Num {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Num {}

impl From<Decimal> for Num {
    /// Takes the magnitude; prices and amounts are never negative.
    fn from(number: Decimal) -> Self {
        Self::of(number.mantissa().unsigned_abs(), 0i32.saturating_sub_unsigned(number.scale()))
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
        if fits { Ok(Self::of(mantissa, exponent)) } else { Err(NumError) }
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
mod tests;
