//! Text in a fixed buffer: mount options and the frame that reports a failed step.

/// At most `N` bytes of text; more is dropped.
pub struct Text<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Text<N> {
    pub const fn new() -> Self {
        Self {
            bytes: [0; N],
            len: 0,
        }
    }

    pub fn push(&mut self, bytes: &[u8]) -> &mut Self {
        for byte in bytes {
            if let Some(place) = self.bytes.get_mut(self.len) {
                *place = *byte;
                self.len += 1;
            }
        }
        self
    }

    pub fn number(&mut self, value: u64) -> &mut Self {
        const LARGEST_POWER: u64 = 10_000_000_000_000_000_000;
        let mut power = LARGEST_POWER;
        while power > 1 && value / power == 0 {
            power /= 10;
        }
        while power > 0 {
            let [digit, ..] = (value / power % 10).to_le_bytes();
            self.push(&[b'0' + digit]);
            power /= 10;
        }
        self
    }

    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&[])
    }
}
