//! Text, numbers and times pushed onto a buffer: the inner loop of every body.

use crate::model::UnixMs;
use rust_decimal::Decimal;

/// `00` to `99`, side by side.
const PAIRS_OF_DIGITS: &[u8; 200] = b"0001020304050607080910111213141516171819\
2021222324252627282930313233343536373839\
4041424344454647484950515253545556575859\
6061626364656667686970717273747576777879\
8081828384858687888990919293949596979899";

/// The digits of the largest number of 128 bits (39).
const DIGITS_MAX: usize = 39;
/// The room for a number that is written in one go: at most twenty digits, or the longest fraction with a zero and a point before it.
const ROOM: usize = 40;
/// The longest fraction that is written in one go: a decimal's scale is 28 at most.
const SCALE_MAX: u32 = 32;
const EIGHT_DIGITS: u64 = 100_000_000;

/// Pushes a whole number.
pub fn push_u64(out: &mut Vec<u8>, number: u64) {
    push_short(out, number, 0);
}

/// Pushes a decimal in plain notation, without quotes: no exponent, trailing zeros of the fraction trimmed.
#[inline]
pub fn push_decimal(out: &mut Vec<u8>, number: Decimal) {
    let (mut mantissa, mut scale) = (number.mantissa().unsigned_abs(), number.scale());
    while scale > 0 && ends_in_zero(mantissa) {
        mantissa /= 10;
        scale = scale.saturating_sub(1);
    }
    push_scaled(out, number.is_sign_negative() && mantissa != 0, mantissa, scale);
}

/// Tells whether the last digit is zero: 64 bits are divided much faster than 128.
fn ends_in_zero(number: u128) -> bool {
    match u64::try_from(number) {
        Ok(number) => number.is_multiple_of(10),
        Err(_) => number.is_multiple_of(10),
    }
}

/// Pushes `mantissa / 10^scale` with all `scale` decimals.
#[inline]
pub fn push_scaled(out: &mut Vec<u8>, negative: bool, mantissa: u128, scale: u32) {
    if negative {
        out.push(b'-');
    }
    push_number(out, mantissa, 0i32.saturating_sub_unsigned(scale));
}

/// Pushes `mantissa · 10^exponent` in plain notation, without quotes: no exponent is written, however large it is.
#[inline]
pub(crate) fn push_number(out: &mut Vec<u8>, mantissa: u128, exponent: i32) {
    let scale = exponent.min(0).unsigned_abs();
    match u64::try_from(mantissa) {
        Ok(mantissa) if scale <= SCALE_MAX => push_short(out, mantissa, scale),
        _ => push_long(out, mantissa, scale as usize),
    }
    if exponent > 0 {
        out.resize(out.len().saturating_add(exponent.unsigned_abs() as usize), b'0');
    }
}

/// Pushes digits with a point before the last `scale` of them, in one go: they are written where they end up in a room that is copied whole.
fn push_short(out: &mut Vec<u8>, number: u64, scale: u32) {
    if number < 10 && scale == 0 {
        return out.push(b'0' | number as u8);
    }
    if number < EIGHT_DIGITS && scale < 8 {
        return push_eight(out, number, scale);
    }
    let digits = digits_of(number).max(scale.saturating_add(1));
    let len = digits.saturating_add(u32::from(scale > 0)) as usize;
    let (mut room, mut at, mut number, mut left) = ([0; ROOM], len, number, scale);
    while left >= 2 {
        at = put_two(&mut room, at, number % 100);
        number /= 100;
        left = left.saturating_sub(2);
    }
    if left == 1 {
        at = put_one(&mut room, at, number % 10);
        number /= 10;
    }
    if scale > 0 {
        at = at.saturating_sub(1);
        put(&mut room, at, b'.');
    }
    write_low(&mut room, at, number);
    push_room(out, &room, len);
}

/// Pushes a number below 10^8 with a scale below 8.
#[inline]
fn push_eight(out: &mut Vec<u8>, number: u64, scale: u32) {
    let digits = eight_digits(number);
    // The first digit is in the lowest byte. Zeros before the first that counts are left out; the last one before the point counts in any case.
    let last = 7u32.wrapping_sub(scale).wrapping_mul(8);
    let zeros = ((digits & 0x0F0F_0F0F_0F0F_0F0F) | 1u64.wrapping_shl(last)).trailing_zeros() & !7;
    let whole = 8u32.wrapping_sub(scale).wrapping_sub(zeros / 8) as usize;
    // What is behind the digits that count is overwritten, or cut off.
    let mut room = [0; 2 * size_of::<u64>()];
    put_eight(&mut room, 0, digits >> zeros);
    let mut len = whole;
    if scale > 0 {
        put(&mut room, whole, b'.');
        len = whole.saturating_add(1);
        put_eight(&mut room, len, digits.wrapping_shr(last.wrapping_add(8)));
        len = len.saturating_add(scale as usize);
    }
    push_room(out, &room, len);
}

#[inline]
fn put_eight(room: &mut [u8], at: usize, digits: u64) {
    if let Some(to) = room.get_mut(at..).and_then(|room| room.first_chunk_mut()) {
        *to = digits.to_le_bytes();
    }
}

/// Pushes the first bytes of a room. Copying a fixed length takes few steps; a vector does not grow for it.
#[inline]
pub fn push_room<const ROOM: usize>(out: &mut Vec<u8>, room: &[u8; ROOM], len: usize) {
    let end = out.len().wrapping_add(len);
    // As the vector asks itself, so that it is asked once.
    if out.capacity().wrapping_sub(out.len()) < ROOM {
        return push_exactly(out, room.get(..len).unwrap_or_default());
    }
    out.extend_from_slice(room);
    out.truncate(end);
}

#[cold]
#[inline(never)]
fn push_exactly(out: &mut Vec<u8>, text: &[u8]) {
    out.extend_from_slice(text);
}

/// Gives the eight digits of a number below 10^8 as text, the first in the lowest byte: all are divided at once.
#[inline]
fn eight_digits(number: u64) -> u64 {
    let (high, low) = (number / 10_000, number % 10_000);
    // Two numbers below 10^4, then four below 100, then eight below 10: each times the reciprocal of its divisor, so that none runs into the next.
    let fours = high | (low << 32);
    let hundreds = (fours.wrapping_mul(10_486) >> 20) & 0x0000_007F_0000_007F;
    let twos = hundreds | (fours.wrapping_sub(hundreds.wrapping_mul(100)) << 16);
    let tens = (twos.wrapping_mul(103) >> 10) & 0x000F_000F_000F_000F;
    (tens | (twos.wrapping_sub(tens.wrapping_mul(10)) << 8)) | 0x3030_3030_3030_3030
}

fn put(room: &mut [u8], at: usize, byte: u8) {
    if let Some(to) = room.get_mut(at) {
        *to = byte;
    }
}

/// Counts the digits of a number; zero has one.
pub(crate) fn digits_of(number: u64) -> u32 {
    // log10(2) is a little more than 1233 / 4096: of 64 bits, the quotient is the count of digits or one less.
    let least = (u64::BITS.wrapping_sub((number | 1).leading_zeros()).wrapping_mul(1233)) >> 12;
    let next = POWERS_OF_TEN.get(least as usize).copied().unwrap_or(u64::MAX);
    least.wrapping_add(u32::from((number | 1) >= next))
}

/// The powers of ten that 64 bits hold.
#[allow(clippy::indexing_slicing, reason = "a wrong index of a constant is no panic: it does not compile")]
const POWERS_OF_TEN: [u64; 20] = {
    let mut powers = [1; 20];
    let mut at = 1;
    while at < powers.len() {
        powers[at] = 10u64.pow(at as u32);
        at += 1;
    }
    powers
};

/// Pushes what is too long to be written in one go.
fn push_long(out: &mut Vec<u8>, mantissa: u128, decimals: usize) {
    let mut room = [0; DIGITS_MAX];
    let from = write_digits(&mut room, mantissa);
    let digits = room.get(from..).unwrap_or_default();
    match digits.len().checked_sub(decimals).filter(|at| *at > 0).and_then(|at| digits.split_at_checked(at)) {
        Some((whole, [])) => out.extend_from_slice(whole),
        Some((whole, fraction)) => {
            out.extend_from_slice(whole);
            out.push(b'.');
            out.extend_from_slice(fraction);
        }
        None => {
            out.extend_from_slice(b"0.");
            out.resize(out.len().saturating_add(decimals.saturating_sub(digits.len())), b'0');
            out.extend_from_slice(digits);
        }
    }
}

/// Writes digits so that they end with the room, and gives where they start; at least one digit is written.
fn write_digits(room: &mut [u8; DIGITS_MAX], mut number: u128) -> usize {
    // Division of 128 bits is slow: nineteen digits at a time go through 64.
    const CHUNK: u128 = 10_000_000_000_000_000_000;
    let mut at = DIGITS_MAX;
    loop {
        let Ok(low) = u64::try_from(number % CHUNK) else { return at };
        number /= CHUNK;
        let chunk_start = at.saturating_sub(19);
        at = write_low(room, at, low);
        if number == 0 {
            return at;
        }
        while at > chunk_start {
            at = put_one(room, at, 0);
        }
    }
}

/// Writes digits so that they end before `end`, and gives where they start; at least one digit is written.
fn write_low(room: &mut [u8], end: usize, mut number: u64) -> usize {
    let mut at = end;
    while number >= 100 {
        at = put_two(room, at, number % 100);
        number /= 100;
    }
    if number >= 10 { put_two(room, at, number) } else { put_one(room, at, number) }
}

fn put_two(room: &mut [u8], end: usize, number: u64) -> usize {
    let (at, from) = (end.saturating_sub(2), (number as usize).saturating_mul(2));
    if let (Some(to), Some(digits)) = (room.get_mut(at..end), PAIRS_OF_DIGITS.get(from..from.saturating_add(2))) {
        to.copy_from_slice(digits);
    }
    at
}

fn put_one(room: &mut [u8], end: usize, number: u64) -> usize {
    let at = end.saturating_sub(1);
    put(room, at, b'0' | (number as u8 & 0x0F));
    at
}

/// Pushes a text as a JSON string, escaped where that is needed.
#[inline]
pub fn push_str(out: &mut Vec<u8>, text: &str) {
    if is_plain(text.as_bytes()) {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        // Writing to a vector does not fail.
        let _ = serde_json::to_writer(out, text);
    }
}

/// Tells whether nothing needs an escape, eight bytes at a time: no control character, quote or backslash.
pub fn is_plain(bytes: &[u8]) -> bool {
    const ONES: u64 = u64::MAX / 255;
    const HIGHS: u64 = ONES << 7;
    let (words, rest) = bytes.as_chunks::<8>();
    // The high bit of a byte comes up where the byte is below the number: exactly in the lowest such byte, and never where there is none.
    let below = |word: u64, number: u64| word.wrapping_sub(ONES.wrapping_mul(number)) & !word & HIGHS;
    let needs = |word: u64| below(word, 0x20) | below(word ^ ONES.wrapping_mul(0x22), 1) | below(word ^ ONES.wrapping_mul(0x5C), 1);
    words.iter().all(|word| needs(u64::from_le_bytes(*word)) == 0) && rest.iter().all(|b| *b >= 0x20 && *b != b'"' && *b != b'\\')
}

/// Writes times, of which most lie in one minute: what they have in common is written once.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    minute: i64,
    text: Option<[u8; TIME_LEN]>,
}

const MINUTE_MS: i64 = 60_000;
/// `"2026-11-30T11:00:00.123Z"`
const TIME_LEN: usize = 26;

impl Times {
    /// Pushes RFC 3339 UTC with milliseconds, in quotes.
    pub(crate) fn push(&mut self, out: &mut Vec<u8>, time: UnixMs) {
        let minute = time.0.div_euclid(MINUTE_MS);
        let Some(text) = self.text.as_mut().filter(|_| self.minute == minute) else {
            let from = out.len();
            push_time(out, time);
            self.minute = minute;
            self.text = out.get(from..).and_then(|text| text.try_into().ok());
            return;
        };
        let ms = time.0.rem_euclid(MINUTE_MS).unsigned_abs();
        put_two(text, 20, ms / 1000);
        put_two(text, 23, ms / 10 % 100);
        put_one(text, 24, ms % 10);
        out.extend_from_slice(text);
    }
}

/// Pushes RFC 3339 UTC with milliseconds, in quotes.
pub fn push_time(out: &mut Vec<u8>, time: UnixMs) {
    const DAY_MS: i64 = 86_400_000;
    let (days, of_day) = (time.0.div_euclid(DAY_MS), time.0.rem_euclid(DAY_MS));
    let Some((year, month, day)) = civil(days) else { return push_str(out, &time.to_string()) };
    let ms = of_day.unsigned_abs();
    let mut text = *b"\"0000-00-00T00:00:00.000Z\"";
    for (end, number) in [
        (3, year / 100),
        (5, year % 100),
        (8, month),
        (11, day),
        (14, ms / 3_600_000),
        (17, ms / 60_000 % 60),
        (20, ms / 1000 % 60),
        (23, ms / 10 % 100),
    ] {
        put_two(&mut text, end, number);
    }
    put_one(&mut text, 24, ms % 10);
    out.extend_from_slice(&text);
}

/// Gives year, month and day of a count of days since 1970-01-01; `None` before 1970 and at the end of the year 9999, which are written the slow way.
///
/// The method is Howard Hinnant's `civil_from_days`: eras of 400 years that start in March.
fn civil(days: i64) -> Option<(u64, u64, u64)> {
    let days = u64::try_from(days).ok().filter(|d| *d <= 2_932_894)?;
    let shifted = days.checked_add(719_468)?;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = of_era.checked_add(of_era / 36_524)?.checked_sub((of_era / 1460).checked_add(of_era / 146_096)?)? / 365;
    let year_start = year_of_era.checked_mul(365)?.checked_add(year_of_era / 4)?.checked_sub(year_of_era / 100)?;
    let of_year = of_era.checked_sub(year_start)?;
    let march_month = of_year.checked_mul(5)?.checked_add(2)? / 153;
    let day = of_year.checked_sub(march_month.checked_mul(153)?.checked_add(2)? / 5)?.checked_add(1)?;
    let month = if march_month < 10 { march_month.checked_add(3)? } else { march_month.checked_sub(9)? };
    let year = year_of_era.checked_add(era.checked_mul(400)?)?.checked_add(u64::from(month <= 2))?;
    Some((year, month, day))
}

#[cfg(test)]
mod tests;
