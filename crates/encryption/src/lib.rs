//! Encrypts what the database keeps of programs and users, with keys from a file or a variable.
//!
//! The cipher is AES-256-GCM. Each text is bound to a context, such as a run's id: a sealed text that is moved to another
//! row does not open there.

mod key;
mod key_file;
mod rotation;
mod sealed;

pub use key_file::FileState;
pub use key_file::{DATA_KEY_VARIABLE, KEY_FILE, KeyError};
pub use rotation::KeyRotation;
pub use sealed::{KeyMark, MARK};

use key::DataKey;
use sealed::{NONCE, Sealed};

/// The keys of an installation. The first one encrypts; all of them decrypt.
#[derive(Debug)]
pub struct DataKeys {
    current: DataKey,
    older: Vec<DataKey>,
}

/// Why a sealed text does not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// It was encrypted with a key that is not here.
    #[error("its key is not among the keys of this installation")]
    UnknownKey,
    /// It was changed, cut short, or sealed for another context.
    #[error("it was changed after it was encrypted")]
    Altered,
}

// === impl DataKeys ===

impl DataKeys {
    /// Encrypts `text` for this context. The result grows by 37 bytes.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn seal(&self, context: &str, text: Vec<u8>) -> Result<Vec<u8>, KeyError> {
        let nonce = key::random::<NONCE>()?;
        let key = &self.current;
        Ok(Sealed::new(key.id(), nonce, key.encrypt(nonce, context, text)?).into_bytes())
    }

    /// The marks of all keys, the newest first.
    pub fn marks(&self) -> Vec<KeyMark> {
        let keys = std::iter::once(&self.current).chain(&self.older);
        keys.map(|key| KeyMark::new(key.id())).collect()
    }

    /// Decrypts what [`DataKeys::seal`] returned for the same context.
    ///
    /// # Errors
    /// If the key is unknown, or the bytes or the context are others.
    pub fn open(&self, context: &str, sealed: &[u8]) -> Result<Vec<u8>, OpenError> {
        let sealed = Sealed::read(sealed).ok_or(OpenError::Altered)?;
        let mut keys = std::iter::once(&self.current).chain(&self.older);
        let key = keys
            .find(|key| key.id() == sealed.key)
            .ok_or(OpenError::UnknownKey)?;
        key.decrypt(sealed.nonce, context, sealed.content.to_vec())
            .ok_or(OpenError::Altered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(keys: &[[u8; 32]]) -> DataKeys {
        let mut keys = keys.iter().map(|bytes| DataKey::new(*bytes));
        DataKeys {
            current: keys.next().expect("a key"),
            older: keys.collect(),
        }
    }

    #[test]
    fn a_text_opens_only_with_its_key_and_context() {
        let old = keys(&[[1; 32]]);
        let sealed = old.seal("run r-1", b"secret".to_vec()).expect("sealed");
        assert!(!sealed.windows(6).any(|bytes| bytes == b"secret"));
        assert_eq!(old.open("run r-1", &sealed), Ok(b"secret".to_vec()));
        assert_eq!(old.open("run r-2", &sealed), Err(OpenError::Altered));
        let rotated = keys(&[[2; 32], [1; 32]]);
        assert_eq!(rotated.open("run r-1", &sealed), Ok(b"secret".to_vec()));
        assert_eq!(
            keys(&[[2; 32]]).open("run r-1", &sealed),
            Err(OpenError::UnknownKey)
        );
    }

    #[test]
    fn every_changed_or_missing_byte_is_noticed() {
        let keys = keys(&[[1; 32]]);
        let sealed = keys.seal("c", b"text".to_vec()).expect("sealed");
        for place in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[place] ^= 1;
            assert!(keys.open("c", &changed).is_err(), "byte {place}");
            assert!(keys.open("c", &sealed[..place]).is_err(), "{place} bytes");
        }
        let again = keys.seal("c", b"text".to_vec()).expect("sealed");
        assert_ne!(sealed, again, "equal texts look different");
    }
}
