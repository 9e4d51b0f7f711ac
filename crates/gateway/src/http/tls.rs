//! The certificate of an address, replaceable while the address serves.

use std::fmt;
use std::sync::Arc;

use parking_lot::RwLock;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, crypto::ring};
use tokio_rustls::TlsAcceptor;

/// The only supported protocol.
const HTTP_1: &[u8] = b"http/1.1";

/// A certificate chain and its key, checked against each other.
#[derive(Clone)]
pub struct TlsIdentity(Arc<ServerConfig>);

/// The certificate with which new connections are encrypted.
#[derive(Clone)]
pub struct Tls(Arc<RwLock<TlsIdentity>>);

/// Why two PEM files cannot serve as certificate and key.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The certificate file contains no certificate.
    #[error("contains no certificate; name a PEM file that begins with the server's certificate")]
    NoCertificate,
    /// The certificate cannot be read.
    #[error("its certificate cannot be used: {0}")]
    BadCertificate(String),
    /// The key file contains no key.
    #[error("contains no private key; name a PEM file with a key that has no passphrase")]
    NoKey,
    /// The key cannot be read, or its kind is not supported.
    #[error("its key cannot be used: {0}")]
    BadKey(String),
    /// The key belongs to another certificate.
    #[error("the key does not belong to the first certificate of the certificate's file")]
    OtherKey,
}

// === impl TlsIdentity ===

impl TlsIdentity {
    /// Reads both files' texts.
    ///
    /// # Errors
    /// If one of them cannot be used, or they do not match.
    pub fn from_pem(certificates: &[u8], key: &[u8]) -> Result<TlsIdentity, TlsError> {
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificates).collect();
        let chain = chain.map_err(|error| TlsError::BadCertificate(error.to_string()))?;
        if chain.is_empty() {
            return Err(TlsError::NoCertificate);
        }
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| match error {
            rustls::pki_types::pem::Error::NoItemsFound => TlsError::NoKey,
            error => TlsError::BadKey(error.to_string()),
        })?;
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| TlsError::BadKey(error.to_string()))?;
        let config = builder.with_no_client_auth().with_single_cert(chain, key);
        let mut config = config.map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => TlsError::OtherKey,
            rustls::Error::InvalidCertificate(why) => TlsError::BadCertificate(format!("{why:?}")),
            error => TlsError::BadKey(error.to_string()),
        })?;
        config.alpn_protocols = vec![HTTP_1.to_vec()];
        Ok(TlsIdentity(Arc::new(config)))
    }
}

impl fmt::Debug for TlsIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TlsIdentity")
    }
}

// === impl Tls ===

impl Tls {
    /// Starts with this certificate.
    pub fn new(identity: TlsIdentity) -> Tls {
        Tls(Arc::new(RwLock::new(identity)))
    }

    /// Uses another certificate for new connections; open connections continue.
    pub fn replace(&self, identity: TlsIdentity) {
        *self.0.write() = identity;
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        Arc::clone(&self.0.read().0).into()
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}

// === impl TlsError ===

impl TlsError {
    /// Whether the error is in the key file.
    pub fn is_of_key(&self) -> bool {
        matches!(self, TlsError::NoKey | TlsError::BadKey(_) | TlsError::OtherKey)
    }
}
