//! Numbers that look random and repeat with their seed.

/// SplitMix64: small, and good enough to schedule a test. Never for secrets.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of `seed`.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `most`, both included.
    pub fn up_to(&mut self, most: u64) -> u64 {
        match most.checked_add(1) {
            Some(bound) => self.draw() % bound,
            None => self.draw(),
        }
    }

    /// True once in `n` times on average; never where `n` is 0.
    pub fn one_in(&mut self, n: u64) -> bool {
        n > 0 && self.draw().is_multiple_of(n)
    }

    /// 32 bytes.
    pub fn bytes(&mut self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for part in bytes.chunks_exact_mut(8) {
            part.copy_from_slice(&self.draw().to_le_bytes());
        }
        bytes
    }
}
