//! Exact numbers from text. Every price, size and volume is made here, and nowhere else.

use rust_decimal::Decimal;
use std::fmt;

/// Holds a price: 1e-18 ≤ price < 1e15, at most 28 significant digits. Zero is no price.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Price(Decimal);

/// Holds a size or a volume: 0 ≤ amount < 1e24, at most 28 significant digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Amount(Decimal);

/// Says why a text gives no number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    /// Something else than digits, one point and an optional exponent.
    #[error("not a number")]
    NotANumber,
    /// Too large, too small, or more digits than can be kept exactly.
    #[error("number out of range")]
    OutOfRange,
}

impl Price {
    /// Reads a price. Empty text and zero are no price: `None`.
    ///
    /// # Errors
    /// [`NumberError`] where the text is no number, or one that no price can be (negative ones too).
    pub fn parse(text: &str) -> Result<Option<Self>, NumberError> {
        match parse(text)? {
            Some(number) if !number.is_zero() => Self::new(number).map(Some).ok_or(NumberError::OutOfRange),
            _ => Ok(None),
        }
    }

    /// Makes a price of a decimal; `None` where it is outside the range.
    pub fn new(number: Decimal) -> Option<Self> {
        let range = Decimal::from_parts(1, 0, 0, false, 18)..Decimal::from_parts(0xA4C6_8000, 0x0003_8D7E, 0, false, 0);
        range.contains(&number).then(|| Self(number.normalize()))
    }

    /// Gives the number.
    pub fn get(self) -> Decimal {
        self.0
    }

    /// Gives the middle between two prices, exact up to 28 significant digits and half-even beyond.
    pub fn mid(self, other: Self) -> Decimal {
        // Both are below 1e15, so the sum is far from the largest decimal.
        let sum = self.0.checked_add(other.0).unwrap_or(Decimal::MAX);
        sum.checked_mul(Decimal::from_parts(5, 0, 0, false, 1)).unwrap_or(Decimal::MAX).normalize()
    }
}

impl Amount {
    /// Reads a size or a volume. Empty text is none; zero is an amount.
    ///
    /// # Errors
    /// [`NumberError`] where the text is no number, or one that no amount can be (negative ones too).
    pub fn parse(text: &str) -> Result<Option<Self>, NumberError> {
        parse(text)?.map(|number| Self::new(number).ok_or(NumberError::OutOfRange)).transpose()
    }

    /// Makes an amount of a decimal; `None` where it is outside the range.
    pub fn new(number: Decimal) -> Option<Self> {
        // 1e24 = 0xD3C2_1BCE_CCED_A100_0000
        let range = Decimal::ZERO..Decimal::from_parts(0xA100_0000, 0x1BCE_CCED, 0x0000_D3C2, false, 0);
        range.contains(&number).then(|| Self(number.normalize()))
    }

    /// Gives the number.
    pub fn get(self) -> Decimal {
        self.0
    }
}

macro_rules! shown {
    ($($number:ty),+) => { $(
        impl fmt::Display for $number {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
        impl fmt::Debug for $number {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    )+ };
}
shown!(Price, Amount);

/// The most significant digits that a [`Decimal`] always keeps.
const DIGITS_MAX: u32 = 28;

/// Reads `[-]digits[.digits][e[±]digits]` exactly: no rounding, no separators, no blanks, ASCII digits only. Empty text is `None`.
///
/// One pass over the text: this is the inner loop of every decode, and a normalised result is what makes formatting cheap later.
fn parse(text: &str) -> Result<Option<Decimal>, NumberError> {
    if text.is_empty() {
        return Ok(None);
    }
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (plain, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => unsigned.split_at_checked(at).ok_or(NumberError::NotANumber)?,
        None => (unsigned, ""),
    };
    let (mantissa, scale) = digits(plain)?;
    let scale = scale.saturating_sub(exponent_of(exponent)?);
    let mut number = assemble(mantissa, scale)?;
    number.set_sign_negative(negative && !number.is_zero());
    Ok(Some(number))
}

/// Reads digits with at most one point among them: the digits as one integer, trailing zeros of the fraction left out, and how many of them stand behind the point.
fn digits(plain: &str) -> Result<(u128, i64), NumberError> {
    let (mut mantissa, mut kept, mut zeros) = (0u128, 0u32, 0u32);
    let (mut scale, mut point, mut any) = (0i64, false, false);
    for byte in plain.bytes() {
        match byte {
            b'0' => zeros = zeros.saturating_add(1),
            b'1'..=b'9' => {
                let gained = zeros.saturating_add(1);
                kept = if mantissa == 0 { 1 } else { kept.saturating_add(gained) };
                if kept > DIGITS_MAX {
                    return overlong(plain);
                }
                // At most 28 digits: no overflow in 128 bits.
                let shift = if mantissa == 0 { 10 } else { pow10(gained) };
                mantissa = mantissa.wrapping_mul(shift).wrapping_add(u128::from(byte & 0x0F));
                if point {
                    scale = scale.saturating_add(i64::from(gained));
                }
                zeros = 0;
            }
            b'.' if !point && any => {
                point = true;
                // Zeros before the point are part of the integer, not of what may be trimmed.
                if mantissa != 0 {
                    scale = scale.saturating_sub(i64::from(zeros));
                }
                zeros = if mantissa == 0 { 0 } else { zeros };
                continue;
            }
            _ => return Err(NumberError::NotANumber),
        }
        any = true;
    }
    if !any || plain.ends_with('.') {
        return Err(NumberError::NotANumber);
    }
    if !point && mantissa != 0 {
        scale = scale.saturating_sub(i64::from(zeros));
    }
    Ok((mantissa, scale))
}

/// More digits than can be kept: out of range when the rest is a number at all.
fn overlong(plain: &str) -> Result<(u128, i64), NumberError> {
    let lawful =
        plain.bytes().all(|b| b.is_ascii_digit() || b == b'.') && plain.bytes().filter(|b| *b == b'.').count() < 2 && !plain.ends_with('.');
    Err(if lawful { NumberError::OutOfRange } else { NumberError::NotANumber })
}

fn exponent_of(text: &str) -> Result<i64, NumberError> {
    let Some(signed) = text.get(1..) else { return Ok(0) };
    let (sign, number) = match signed.as_bytes().first() {
        Some(b'-') => (-1, signed.get(1..).unwrap_or_default()),
        Some(b'+') => (1, signed.get(1..).unwrap_or_default()),
        _ => (1, signed),
    };
    if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
        return Err(NumberError::NotANumber);
    }
    // Ten digits are beyond any number that could be kept: the sign decides what it is.
    Ok(number.parse::<i32>().map_or(i64::from(i32::MAX), i64::from).saturating_mul(sign))
}

fn assemble(mantissa: u128, scale: i64) -> Result<Decimal, NumberError> {
    if mantissa == 0 {
        return Ok(Decimal::ZERO);
    }
    let out = NumberError::OutOfRange;
    let (mantissa, scale) = match u32::try_from(scale) {
        Ok(scale) => (mantissa, scale),
        Err(_) => {
            let up = u32::try_from(scale.saturating_neg()).map_err(|_| out)?;
            let shifted = if up > DIGITS_MAX { None } else { mantissa.checked_mul(pow10(up)) };
            (shifted.ok_or(out)?, 0)
        }
    };
    let signed = i128::try_from(mantissa).map_err(|_| out)?;
    Decimal::try_from_i128_with_scale(signed, scale).map_err(|_| out)
}

fn pow10(exponent: u32) -> u128 {
    10u128.saturating_pow(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price(text: &str) -> Result<Option<String>, NumberError> {
        Price::parse(text).map(|p| p.map(|p| p.to_string()))
    }

    #[test]
    fn prices_are_exact_and_plain() {
        for (text, plain) in [
            ("67234.12", "67234.12"),
            ("0067234.1200", "67234.12"),
            ("100", "100"),
            ("1000.00100", "1000.001"),
            ("0.00001180", "0.0000118"),
            ("5.313E-5", "0.00005313"),
            ("2.38E8", "238000000"),
            ("1e2", "100"),
            ("1E+2", "100"),
            ("9e-08", "0.00000009"),
            ("0.000000000000000001", "0.000000000000000001"),
            ("999999999999999.9999999999999", "999999999999999.9999999999999"),
            ("1000000000000000e-1", "100000000000000"),
            ("123456789.1234567890123456789", "123456789.1234567890123456789"),
            ("0.10000000000000000000000000000000000000000", "0.1"),
            ("100000000000000000000000000000000000000e-30", "100000000"),
        ] {
            assert_eq!(price(text), Ok(Some(plain.to_owned())), "{text}");
        }
    }

    #[test]
    fn zero_and_empty_are_no_price() {
        for text in ["", "0", "0.0", "0.00000000", "-0", "0e5", "000"] {
            assert_eq!(price(text), Ok(None), "{text:?}");
        }
        assert_eq!(Amount::parse("0.000").unwrap().unwrap().to_string(), "0");
        assert_eq!(Amount::parse("").unwrap(), None);
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in [
            "1_000",
            "NaN",
            "Infinity",
            "-Infinity",
            "null",
            "٣٤",
            "1,000",
            " 1",
            "1 ",
            "+1",
            ".5",
            "5.",
            "1.2.3",
            "1e",
            "1e+",
            "e5",
            "-",
            "--1",
            "0x10",
            "1e5.0",
            "1_0e5",
            "1e1_0",
            "12345678901234567890123456789012345_6",
        ] {
            assert_eq!(price(text), Err(NumberError::NotANumber), "{text:?}");
        }
    }

    #[test]
    fn what_cannot_be_kept_exactly_is_refused() {
        for text in [
            "1e15",
            "1e28",
            "1e-19",
            "1e-28",
            "1e999",
            "1e-999",
            "1e99999999999",
            "1e-99999999999",
            "-1",
            "-0.5",
            "1234567890123456789012345678901234567890",
            "1.2345678901234567890123456789",
        ] {
            assert_eq!(price(text), Err(NumberError::OutOfRange), "{text}");
        }
        assert_eq!(Amount::parse("1e24"), Err(NumberError::OutOfRange));
        assert_eq!(Amount::parse("-1"), Err(NumberError::OutOfRange));
        assert_eq!(Amount::parse("999999999999999999999999").unwrap().unwrap().to_string(), "999999999999999999999999");
    }

    #[test]
    fn every_text_that_a_decimal_writes_is_read_back() {
        let mut seed = fastrand::Rng::with_seed(1);
        for _ in 0..20_000 {
            let below = 10i128.pow(seed.u32(1..=28));
            let number = Decimal::from_i128_with_scale(seed.i128(0..below), seed.u32(0..=28));
            assert_eq!(parse(&number.to_string()), Ok(Some(number)), "{number}");
        }
    }

    #[test]
    fn the_middle_is_exact() {
        let of = |text: &str| Price::parse(text).unwrap().unwrap();
        assert_eq!(of("67234.12").mid(of("67234.13")).to_string(), "67234.125");
        assert_eq!(of("1").mid(of("3")).to_string(), "2");
    }
}
