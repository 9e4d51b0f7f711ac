//! One key of AES-256-GCM.

use std::fmt;

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::key_file::KeyError;
use crate::sealed::{KEY_ID, NONCE};

/// Bytes of a key.
pub(crate) const KEY: usize = 32;

/// A key with its id, which is derived from the key and says nothing about it.
pub(crate) struct DataKey {
    id: [u8; KEY_ID],
    key: LessSafeKey,
}

/// Random bytes of the system.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], KeyError> {
    let mut bytes = [0; N];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map(|()| bytes).map_err(|_| KeyError::NoRandomness)
}

// === impl DataKey ===

impl DataKey {
    pub(crate) fn new(bytes: [u8; KEY]) -> DataKey {
        let named = [b"codeyard data key ".as_slice(), &bytes].concat();
        let mut id = [0; KEY_ID];
        id.copy_from_slice(&digest(&SHA256, &named).as_ref()[..KEY_ID]);
        let key = UnboundKey::new(&AES_256_GCM, &bytes).expect("a key of this cipher has 32 bytes");
        DataKey {
            id,
            key: LessSafeKey::new(key),
        }
    }

    pub(crate) fn id(&self) -> [u8; KEY_ID] {
        self.id
    }

    /// The ciphertext with its tag. A nonce must never be used twice; random ones suffice for 2^32 texts.
    pub(crate) fn encrypt(
        &self,
        nonce: [u8; NONCE],
        context: &str,
        mut text: Vec<u8>,
    ) -> Result<Vec<u8>, KeyError> {
        let nonce = Nonce::assume_unique_for_key(nonce);
        let context = Aad::from(context.as_bytes());
        let sealed = self.key.seal_in_place_append_tag(nonce, context, &mut text);
        sealed.map(|()| text).map_err(|_| KeyError::TooLong)
    }

    /// `None` if the tag does not match.
    pub(crate) fn decrypt(&self, nonce: [u8; NONCE], context: &str, mut content: Vec<u8>) -> Option<Vec<u8>> {
        let nonce = Nonce::assume_unique_for_key(nonce);
        let context = Aad::from(context.as_bytes());
        let length = self.key.open_in_place(nonce, context, &mut content).ok()?.len();
        content.truncate(length);
        Some(content)
    }
}

impl fmt::Debug for DataKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DataKey").finish_non_exhaustive()
    }
}
