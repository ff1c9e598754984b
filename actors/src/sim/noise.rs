//! Seeded noise as a pure function of time: asked twice for the same instant it says the same, however often it was asked between.

/// The periods of [`wander`], in milliseconds: each is four times the one before, its swing twice as wide, which is how a random walk spreads.
const OCTAVES: u32 = 9;
const SHORTEST_MS: f64 = 1000.0;

/// Mixes numbers into one that looks random (SplitMix64's finaliser over a chain).
pub(super) fn hash(parts: &[u64]) -> u64 {
    parts.iter().fold(0x9E37_79B9_7F4A_7C15, |sum, part| {
        let mut x = (sum ^ part).wrapping_add(0x9E37_79B9_7F4A_7C15);
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    })
}

/// Turns a text into a number to hash with (FNV-1a).
pub(super) fn hash_text(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3))
}

/// Maps a hash to 0 ≤ u < 1.
pub(super) fn unit(hash: u64) -> f64 {
    // 53 bits: what a double holds exactly.
    (hash >> 11) as f64 / (1u64 << 53) as f64
}

/// Gives a value in -1..=1 that changes smoothly with `x`, one turn for each whole number.
fn smooth(seed: u64, x: f64) -> f64 {
    let cell = x.floor();
    let at = x - cell;
    let corner = |cell: f64| 2.0 * unit(hash(&[seed, (cell as i64).cast_unsigned()])) - 1.0;
    let (left, right) = (corner(cell), corner(cell + 1.0));
    left + (right - left) * at * at * (3.0 - 2.0 * at)
}

/// Gives the relative distance from the start of something that wanders: about `per_second` after a second, twice that after four, bounded by 511 times that.
pub(super) fn wander(seed: u64, time_ms: i64, per_second: f64) -> f64 {
    let (mut sum, mut period, mut swing) = (0.0, SHORTEST_MS, per_second);
    for octave in 0..OCTAVES {
        sum += swing * smooth(hash(&[seed, u64::from(octave)]), time_ms as f64 / period);
        period *= 4.0;
        swing *= 2.0;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_a_function_of_seed_and_time_and_moves_without_jumps() {
        assert_eq!(wander(1, 12_345, 1e-4), wander(1, 12_345, 1e-4));
        assert_ne!(wander(1, 12_345, 1e-4), wander(2, 12_345, 1e-4));
        let (mut before, mut moved) = (wander(7, -5_000, 1e-4), 0.0f64);
        for time in (-4_990..60_000).step_by(10) {
            let now = wander(7, time, 1e-4);
            assert!((now - before).abs() < 5e-5, "{time}");
            moved = moved.max((now - wander(7, -5_000, 1e-4)).abs());
            before = now;
        }
        assert!(moved > 1e-4 && moved < 0.1, "{moved}");
    }

    #[test]
    fn units_fill_their_range() {
        let units: Vec<f64> = (0..1000).map(|n| unit(hash(&[1, n]))).collect();
        assert!(units.iter().all(|u| (0.0..1.0).contains(u)));
        let mean = units.iter().sum::<f64>() / 1000.0;
        assert!((0.45..0.55).contains(&mean), "{mean}");
    }
}
