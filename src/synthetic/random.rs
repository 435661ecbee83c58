//! Seeded pseudo-random numbers whose sequence never changes.
//!
//! `rand` keeps its sequences stable only within a release, and stored files, their digests and expected counts
//! hang on ours. SplitMix64 (Steele, Lea and Flood, 2014) is public, eight lines long and passes BigCrush.

/// A SplitMix64 generator.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    /// The stream of one thing: equal numbers give an equal stream, whatever was drawn elsewhere before.
    pub(super) fn of(seed: u64, purpose: u64, index: u64) -> Self {
        Self(mix(mix(seed ^ mix(purpose)).wrapping_add(index)))
    }

    /// 64 random bits.
    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// Uniform in `0 <= x && x < 1`.
    pub(super) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in `lower <= x && x < upper`.
    pub(super) fn between(&mut self, lower: f64, upper: f64) -> f64 {
        lower + (upper - lower) * self.unit()
    }
}

/// SplitMix64's finisher: every input bit reaches every output bit.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First outputs for seed 1234567, as published with the algorithm's reference implementation.
    #[test]
    fn sequence_is_that_of_splitmix64() {
        let mut random = Random(1_234_567);
        assert_eq!(random.bits(), 6_457_827_717_110_365_317);
        assert_eq!(random.bits(), 3_203_168_211_198_807_973);
        assert_eq!(random.bits(), 9_817_491_932_198_370_423);
    }

    #[test]
    fn streams_are_independent_of_each_other() {
        let first = |seed, purpose, index| Random::of(seed, purpose, index).bits();
        let all = [first(1, 1, 1), first(2, 1, 1), first(1, 2, 1), first(1, 1, 2)];
        let distinct: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
        assert_eq!(first(1, 1, 1), first(1, 1, 1));
    }
}
