//! The middle and the ends of numbers.

use super::{DIGITS, Num, pow10};

/// Gives numbers as whole numbers of one power of ten, and that, where 28 digits are enough: then they are compared in one step.
fn level(numbers: impl ExactSizeIterator<Item = Num> + Clone) -> Option<(Vec<(u64, u64)>, i32)> {
    let exponent = numbers.clone().map(|number| number.exponent).min()?;
    let mut mantissas = Vec::with_capacity(numbers.len());
    for number in numbers {
        let mantissa = number.at(exponent).filter(|mantissa| *mantissa < pow10(DIGITS))?;
        mantissas.push(((mantissa >> 64) as u64, mantissa as u64));
    }
    Some((mantissas, exponent))
}

/// Gives the median; of an even count, the mean of the middle two.
pub fn median(numbers: impl ExactSizeIterator<Item = Num> + Clone) -> Option<Num> {
    let (lower, upper) = match level(numbers.clone()) {
        Some((mut mantissas, exponent)) => {
            let of = |(high, low): (u64, u64)| Num { high, low, exponent };
            middle_two(&mut mantissas).map(|(lower, upper)| (of(lower), of(upper)))?
        }
        None => middle_two(&mut numbers.collect::<Vec<_>>())?,
    };
    // The middle two of an odd count are one and the same.
    Some(if lower == upper { upper } else { lower.mean(upper) })
}

/// Gives the least and the largest.
pub(in crate::rate) fn range(numbers: impl ExactSizeIterator<Item = Num> + Clone) -> Option<(Num, Num)> {
    match level(numbers.clone()) {
        Some((mantissas, exponent)) => {
            let of = |(high, low): (u64, u64)| Num { high, low, exponent };
            Some((of(mantissas.iter().copied().min()?), of(mantissas.iter().copied().max()?)))
        }
        None => Some((numbers.clone().min()?, numbers.max()?)),
    }
}

/// Gives the middle two; of an odd count, the middle one twice.
fn middle_two<T: Ord + Copy>(values: &mut [T]) -> Option<(T, T)> {
    let (middle, is_odd) = (values.len() / 2, values.len() % 2 == 1);
    if middle >= values.len() {
        return None;
    }
    let (below, upper, _) = values.select_nth_unstable(middle);
    let upper = *upper;
    Some((if is_odd { upper } else { below.iter().copied().max()? }, upper))
}
