//! Signature algorithms of tokens: only those whose keys an issuer can publish.

use std::fmt;
use std::str::FromStr;

/// An algorithm of RFC 7518 or RFC 8037.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// RSA with PKCS #1 and SHA-256.
    Rs256,
    /// RSA with PKCS #1 and SHA-384.
    Rs384,
    /// RSA with PKCS #1 and SHA-512.
    Rs512,
    /// RSA with PSS and SHA-256.
    Ps256,
    /// RSA with PSS and SHA-384.
    Ps384,
    /// RSA with PSS and SHA-512.
    Ps512,
    /// The curve P-256 with SHA-256.
    Es256,
    /// The curve P-384 with SHA-384.
    Es384,
    /// Ed25519.
    EdDsa,
}

/// Why an algorithm is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadAlgorithm {
    /// `none`, or symmetric: whoever can verify such a signature can also forge it.
    #[error(
        "`{0}` proves nothing about who made a token; name algorithms with public keys, such as \"RS256\""
    )]
    NotAsymmetric(String),
    /// The name is unknown.
    #[error("unknown algorithm `{0}`; known are {known}", known = names())]
    Unknown(String),
}

// === impl Algorithm ===

impl Algorithm {
    /// All of them, with their names.
    pub const ALL: [(&'static str, Algorithm); 9] = [
        ("RS256", Algorithm::Rs256),
        ("RS384", Algorithm::Rs384),
        ("RS512", Algorithm::Rs512),
        ("PS256", Algorithm::Ps256),
        ("PS384", Algorithm::Ps384),
        ("PS512", Algorithm::Ps512),
        ("ES256", Algorithm::Es256),
        ("ES384", Algorithm::Es384),
        ("EdDSA", Algorithm::EdDsa),
    ];

    /// As in a token's header.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Rs256 => "RS256",
            Algorithm::Rs384 => "RS384",
            Algorithm::Rs512 => "RS512",
            Algorithm::Ps256 => "PS256",
            Algorithm::Ps384 => "PS384",
            Algorithm::Ps512 => "PS512",
            Algorithm::Es256 => "ES256",
            Algorithm::Es384 => "ES384",
            Algorithm::EdDsa => "EdDSA",
        }
    }
}

impl FromStr for Algorithm {
    type Err = BadAlgorithm;

    fn from_str(text: &str) -> Result<Algorithm, BadAlgorithm> {
        if let Some((_, found)) = Algorithm::ALL.iter().find(|(name, _)| *name == text) {
            return Ok(*found);
        }
        let lower = text.to_ascii_lowercase();
        match lower == "none" || lower.starts_with("hs") {
            true => Err(BadAlgorithm::NotAsymmetric(text.to_owned())),
            false => Err(BadAlgorithm::Unknown(text.to_owned())),
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn names() -> String {
    Algorithm::ALL.map(|(name, _)| name).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_exactly_and_symmetric_ones_are_refused() {
        for (name, algorithm) in Algorithm::ALL {
            assert_eq!(name.parse(), Ok(algorithm));
            assert_eq!(algorithm.name(), name);
        }
        for wrong in ["none", "None", "NONE", "HS256", "hs512"] {
            let refused = wrong.parse::<Algorithm>();
            assert_eq!(refused, Err(BadAlgorithm::NotAsymmetric(wrong.to_owned())));
        }
        for wrong in ["", "rs256", "ES512", "RS256 "] {
            assert_eq!(
                wrong.parse::<Algorithm>(),
                Err(BadAlgorithm::Unknown(wrong.to_owned()))
            );
        }
    }
}
