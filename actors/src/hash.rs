//! A hasher for maps that are small by a bound of their own: a few instructions for eight bytes, where std's takes dozens.
//!
//! std's hasher withstands keys that are chosen to collide. Here a map holds a few hundred pairs or a few thousand addresses at most, whoever asks for
//! them, so that the worst that such keys can do is a short walk.

use std::{
    collections::{HashMap, HashSet},
    hash::{BuildHasherDefault, Hasher},
};

pub(crate) type SmallMap<K, V> = HashMap<K, V, BuildHasherDefault<Folding>>;
pub(crate) type SmallSet<K> = HashSet<K, BuildHasherDefault<Folding>>;

/// Multiplies eight bytes at a time into 128 bits and folds the halves.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Folding(u64);

impl Folding {
    fn fold(&mut self, word: u64) {
        // Digits of pi, as everybody's. They are odd, and neither half of a product is lost.
        let mixed = u128::from(self.0 ^ word ^ 0x243f_6a88_85a3_08d3).wrapping_mul(0x1319_8a2e_0370_7345);
        let [low, high] = [mixed, mixed >> 64].map(|half| u64::try_from(half & u128::from(u64::MAX)).unwrap_or_default());
        self.0 = low ^ high.rotate_left(23);
    }
}

impl Hasher for Folding {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.fold(u64::from_le_bytes(*word)));
        if !rest.is_empty() {
            let mut word = [0; 8];
            word.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            self.fold(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, n: u8) {
        self.fold(n.into());
    }

    fn write_u64(&mut self, n: u64) {
        self.fold(n);
    }

    fn write_usize(&mut self, n: usize) {
        self.fold(n as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::model::Pair;
    use std::hash::{BuildHasher, Hash};

    /// How full the fullest of 256 buckets is, by the lowest and by the highest bits, which a map uses.
    fn fullest<K: Hash>(keys: impl Iterator<Item = K>) -> [usize; 2] {
        let (mut low, mut high) = ([0; 256], [0; 256]);
        for key in keys {
            let hash = BuildHasherDefault::<Folding>::default().hash_one(key);
            low[usize::try_from(hash & 0xff).unwrap()] += 1;
            high[usize::try_from(hash >> 56).unwrap()] += 1;
        }
        [low, high].map(|counts| counts.into_iter().max().unwrap())
    }

    #[test]
    fn what_is_kept_here_spreads_over_the_buckets() {
        // 4096 keys in 256 buckets: 16 in each on average, and 40 is six deviations away.
        let pairs = (0..4096).map(|n| Pair::new(&format!("A{n}"), "USDT").unwrap());
        let urls = (0..4096).map(|n| format!("https://api.example.com/ticker?symbol=A{n}USDT"));
        for most in [fullest(pairs), fullest(urls), fullest(0..4096_u64), fullest((0..4096_usize).map(|n| (0_usize, n % 3, n)))] {
            assert!(most.into_iter().all(|most| most < 40), "{most:?}");
        }
    }
}
