//! Chance that can be repeated: everything follows from one number.

/// A source of numbers (SplitMix64).
pub struct Dice(u64);

impl Dice {
    /// The same for the same name and number.
    pub fn new(name: &str, seed: u64) -> Self {
        Self(name.bytes().fold(seed, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into())))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).unwrap()
    }

    /// Whether something happens that happens so many times in a hundred.
    pub fn in_hundred(&mut self, times: usize) -> bool {
        self.below(100) < times
    }

    /// One of several.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// One of several, each as often as its weight says.
    pub fn weighted<'a, T>(&mut self, of: &'a [(usize, T)]) -> &'a T {
        let mut left = self.below(of.iter().map(|(weight, _)| weight).sum());
        for (weight, value) in of {
            match left.checked_sub(*weight) {
                Some(rest) => left = rest,
                None => return value,
            }
        }
        unreachable!("a number below the sum of the weights")
    }
}
