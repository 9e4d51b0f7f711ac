//! The layout of a sealed text: a version byte, the key's id, the nonce, then the ciphertext with its tag.

/// Bytes of a key's id.
pub(crate) const KEY_ID: usize = 8;
/// Bytes of a nonce.
pub(crate) const NONCE: usize = 12;

const VERSION: u8 = 1;

/// Bytes of a [`KeyMark`].
pub const MARK: usize = 1 + KEY_ID;

/// The first bytes of every text that a key has encrypted: the version and the key's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyMark([u8; MARK]);

/// The parts of a sealed text.
#[derive(Debug)]
pub(crate) struct Sealed<C> {
    pub(crate) key: [u8; KEY_ID],
    pub(crate) nonce: [u8; NONCE],
    pub(crate) content: C,
}

// === impl KeyMark ===

impl KeyMark {
    pub(crate) fn new(key: [u8; KEY_ID]) -> KeyMark {
        let mut mark = [VERSION; MARK];
        mark[1..].copy_from_slice(&key);
        KeyMark(mark)
    }

    /// Of a sealed text, or of its beginning; `None` if it is too short.
    pub fn of(sealed: &[u8]) -> Option<KeyMark> {
        sealed.first_chunk().copied().map(KeyMark)
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

// === impl Sealed ===

impl Sealed<Vec<u8>> {
    pub(crate) fn new(key: [u8; KEY_ID], nonce: [u8; NONCE], content: Vec<u8>) -> Self {
        Self { key, nonce, content }
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        [[VERSION].as_slice(), &self.key, &self.nonce, &self.content].concat()
    }
}

impl<'a> Sealed<&'a [u8]> {
    /// `None` if the bytes are too few, or of another version.
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        let (version, rest) = bytes.split_first()?;
        let (key, rest) = rest.split_first_chunk()?;
        let (nonce, content) = rest.split_first_chunk()?;
        (*version == VERSION).then_some(Self {
            key: *key,
            nonce: *nonce,
            content,
        })
    }
}
