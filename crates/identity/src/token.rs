//! API tokens: the secret, which is shown once, the stored hash, and the id in lists and commands.

use std::fmt;
use std::hash::{Hash, Hasher};

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// Prefix of every token, so that people and scanners for leaked secrets recognize tokens.
pub const PREFIX: &str = "cyd_";

const SECRET: usize = 32;
const ID: usize = 12;

/// 256 random bits. Only [`TokenSecret::reveal`] shows them.
#[derive(Clone)]
pub struct TokenSecret([u8; SECRET]);

/// SHA-256 of a token's text. Comparison takes constant time.
#[derive(Clone)]
pub struct TokenHash([u8; 32]);

/// Identifies a token in lists and commands; not a secret.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TokenId(String);

// === impl TokenSecret ===

impl TokenSecret {
    /// A new token from bytes of the operating system's generator.
    pub fn new(random: [u8; SECRET]) -> Self {
        Self(random)
    }

    /// Reads a token from a client; `None` if the text is not a token.
    pub fn read(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(PREFIX)?;
        // Each token has one text, so refuse upper case.
        if digits.len() != 2 * SECRET || digits.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return None;
        }
        let mut secret = [0; SECRET];
        hex::decode_to_slice(digits, &mut secret).ok()?;
        Some(Self(secret))
    }

    /// The token's text, to be shown once and never stored.
    pub fn reveal(&self) -> String {
        format!("{PREFIX}{}", hex::encode(self.0))
    }

    /// The stored hash: `printf %s TOKEN | sha256sum` prints the same value.
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(&self.reveal())
    }
}

impl fmt::Debug for TokenSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenSecret(..)")
    }
}

// === impl TokenHash ===

impl TokenHash {
    /// Of any text, such as an issuer's token.
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text).into())
    }

    /// 64 hexadecimal digits, for the database.
    pub fn to_hex(&self) -> String {
        hex::encode(self.0)
    }

    /// Reverses [`TokenHash::to_hex`].
    pub fn from_hex(text: &str) -> Option<Self> {
        let mut hash = [0; 32];
        hex::decode_to_slice(text, &mut hash).ok()?;
        Some(Self(hash))
    }
}

impl Hash for TokenHash {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl PartialEq for TokenHash {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for TokenHash {}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash(..)")
    }
}

// === impl TokenId ===

impl TokenId {
    /// A new id from random bytes other than the secret's.
    pub fn new(random: [u8; ID]) -> Self {
        Self(hex::encode(random))
    }

    /// Reads an id from a person; `None` if the text is not an id.
    pub fn read(text: &str) -> Option<Self> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
        (text.len() == 2 * ID && text.bytes().all(is_digit)).then(|| Self(text.to_owned()))
    }

    /// 24 hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn other_texts_are_not_tokens() {
        let right = TokenSecret::new([0xab; SECRET]).reveal();
        assert_eq!(right, format!("cyd_{}", "ab".repeat(SECRET)));
        assert!(TokenSecret::read(&right).is_some());
        for wrong in [
            "",
            "x",
            "cyd_",
            &right[4..],
            &right[..right.len() - 1],
            &format!("{right}0"),
            &format!(" {right}"),
            &format!("{right}\n"),
            &right.to_uppercase(),
            &right.replace("cyd_", "CYD_"),
            &right.replace("ab", "AB"),
            &right.replace("ab", "xy"),
            &format!("cyd_{}", "\u{e4}".repeat(SECRET)),
            &"cyd_0".repeat(1_000_000),
        ] {
            assert!(TokenSecret::read(wrong).is_none(), "{:?}", wrong.get(..80));
        }
    }

    #[test]
    fn a_hash_equals_sha256sum_s() {
        let secret = TokenSecret::new([0; SECRET]);
        let hash = secret.hash();
        let digest = Sha256::digest(format!("cyd_{}", "0".repeat(64)));
        assert_eq!(hash.to_hex(), hex::encode(digest));
        for wrong in ["", "ab", &"x".repeat(64), &"a".repeat(65)] {
            assert!(TokenHash::from_hex(wrong).is_none());
        }
    }

    #[test]
    fn nothing_secret_is_in_debug_texts() {
        let secret = TokenSecret::new([0xab; SECRET]);
        let shown = format!("{secret:?} {:?} {:?}", secret.hash(), Some(&secret));
        assert_eq!(shown, "TokenSecret(..) TokenHash(..) Some(TokenSecret(..))");
    }

    #[test]
    fn ids_are_read_as_they_are_written() {
        let id = TokenId::new([7; ID]);
        assert_eq!(id.as_str(), "07".repeat(ID));
        assert_eq!(TokenId::read(id.as_str()), Some(id));
        for wrong in [
            "",
            "07",
            &"0G".repeat(ID),
            &"0A".repeat(ID),
            &"07".repeat(ID + 1),
            "%' OR 1=1 --",
        ] {
            assert_eq!(TokenId::read(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn different_secrets_have_different_texts_and_hashes(one: [u8; SECRET], other: [u8; SECRET]) {
            let (first, second) = (TokenSecret::new(one), TokenSecret::new(other));
            prop_assert_eq!(one == other, first.reveal() == second.reveal());
            prop_assert_eq!(one == other, first.hash() == second.hash());
            let read = TokenSecret::read(&first.reveal()).map(|read| read.hash());
            prop_assert_eq!(read.as_ref(), Some(&first.hash()));
            prop_assert_eq!(TokenHash::from_hex(&first.hash().to_hex()), Some(first.hash()));
        }
    }
}
