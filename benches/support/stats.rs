//! Medians, quantiles, and the geometric mean.

use std::time::Duration;

/// Gives the value below which a share of all lies; `share` is in per cent.
pub fn quantile(times: &mut [Duration], share: usize) -> Duration {
    times.sort_unstable();
    times[(times.len() * share / 100).min(times.len() - 1)]
}

pub fn median(times: &mut [Duration]) -> Duration {
    quantile(times, 50)
}

pub fn ratio(ours: Duration, other: Duration) -> f64 {
    ours.as_secs_f64() / other.as_secs_f64()
}

pub fn geometric_mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp()
}
