//! An issuer's public keys (RFC 7517), and what they verify.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    self, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};
use serde::Deserialize;
use serde_json::Value;

use crate::Algorithm;

/// Further keys are left out.
const MAX_KEYS: usize = 100;

/// One public key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PublicKey {
    pub(crate) id: Option<String>,
    /// The one algorithm that the key is for, if it says so.
    algorithm: Option<String>,
    material: Material,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Material {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

#[derive(Debug, Deserialize)]
struct WrittenSet {
    keys: Vec<Value>,
}

#[derive(Debug, Deserialize)]
struct WrittenKey {
    kty: String,
    #[serde(default)]
    kid: Option<String>,
    #[serde(default)]
    alg: Option<String>,
    #[serde(default, rename = "use")]
    purpose: Option<String>,
    #[serde(default)]
    crv: Option<String>,
    #[serde(default)]
    n: Option<String>,
    #[serde(default)]
    e: Option<String>,
    #[serde(default)]
    x: Option<String>,
    #[serde(default)]
    y: Option<String>,
}

/// The usable keys of a JWKS; `None` if the text is not one. Keys of other kinds and for other uses are left out.
pub(crate) fn read_keys(text: &[u8]) -> Option<Vec<PublicKey>> {
    let set: WrittenSet = serde_json::from_slice(text).ok()?;
    let keys = set.keys.into_iter().take(MAX_KEYS);
    let read = keys.filter_map(|key| serde_json::from_value::<WrittenKey>(key).ok()?.read());
    Some(read.collect())
}

// === impl WrittenKey ===

impl WrittenKey {
    fn read(self) -> Option<PublicKey> {
        if self.purpose.as_deref().is_some_and(|purpose| purpose != "sig") {
            return None;
        }
        let material = match (self.kty.as_str(), self.crv.as_deref()) {
            ("RSA", _) => Material::Rsa {
                n: bytes(self.n.as_ref())?,
                e: bytes(self.e.as_ref())?,
            },
            ("EC", Some("P-256")) => Material::P256(self.point(32)?),
            ("EC", Some("P-384")) => Material::P384(self.point(48)?),
            ("OKP", Some("Ed25519")) => Material::Ed25519(bytes(self.x.as_ref())?),
            _ => return None,
        };
        Some(PublicKey {
            id: self.kid,
            algorithm: self.alg,
            material,
        })
    }

    /// A point without compression, as the verifier reads it.
    fn point(&self, length: usize) -> Option<Vec<u8>> {
        let (x, y) = (bytes(self.x.as_ref())?, bytes(self.y.as_ref())?);
        let is_whole = x.len() == length && y.len() == length;
        is_whole.then(|| [&[4], x.as_slice(), y.as_slice()].concat())
    }
}

fn bytes(text: Option<&String>) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text?.trim_end_matches('=')).ok()
}

// === impl PublicKey ===

impl PublicKey {
    /// Whether the key may verify signatures of this algorithm.
    pub(crate) fn fits(&self, algorithm: Algorithm) -> bool {
        let is_kind = match &self.material {
            Material::Rsa { .. } => rsa(algorithm).is_some(),
            Material::P256(_) => algorithm == Algorithm::Es256,
            Material::P384(_) => algorithm == Algorithm::Es384,
            Material::Ed25519(_) => algorithm == Algorithm::EdDsa,
        };
        let own = self.algorithm.as_deref();
        is_kind
            && own.is_none_or(|own| {
                own == algorithm.name() || (own == "Ed25519" && algorithm == Algorithm::EdDsa)
            })
    }

    /// Whether the key made the signature.
    pub(crate) fn verifies(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        let point = |verification: &'static dyn VerificationAlgorithm, point: &[u8]| {
            UnparsedPublicKey::new(verification, point)
                .verify(message, signature)
                .is_ok()
        };
        match (&self.material, algorithm) {
            (Material::Rsa { n, e }, algorithm) => rsa(algorithm).is_some_and(|parameters| {
                let key = RsaPublicKeyComponents { n, e };
                key.verify(parameters, message, signature).is_ok()
            }),
            (Material::P256(key), Algorithm::Es256) => point(&signature::ECDSA_P256_SHA256_FIXED, key),
            (Material::P384(key), Algorithm::Es384) => point(&signature::ECDSA_P384_SHA384_FIXED, key),
            (Material::Ed25519(key), Algorithm::EdDsa) => point(&signature::ED25519, key),
            _ => false,
        }
    }
}

/// RSA keys have at least 2048 bits.
fn rsa(algorithm: Algorithm) -> Option<&'static RsaParameters> {
    Some(match algorithm {
        Algorithm::Rs256 => &signature::RSA_PKCS1_2048_8192_SHA256,
        Algorithm::Rs384 => &signature::RSA_PKCS1_2048_8192_SHA384,
        Algorithm::Rs512 => &signature::RSA_PKCS1_2048_8192_SHA512,
        Algorithm::Ps256 => &signature::RSA_PSS_2048_8192_SHA256,
        Algorithm::Ps384 => &signature::RSA_PSS_2048_8192_SHA384,
        Algorithm::Ps512 => &signature::RSA_PSS_2048_8192_SHA512,
        Algorithm::Es256 | Algorithm::Es384 | Algorithm::EdDsa => return None,
    })
}
