//! Certificates of a test's own authority, good ones and all that a client must not accept.

use std::sync::Arc;

use anyhow::Result;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio_rustls::TlsAcceptor;

/// What is the matter with a server's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certificate {
    /// Nothing: it is for `localhost` and `127.0.0.1`.
    Good,
    /// It ended long ago.
    Expired,
    /// It begins in a hundred years.
    TooEarly,
    /// It is for another name.
    OtherName,
    /// It is for authorities only.
    OfAnAuthority,
}

/// A server's certificate and key.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) certificate: rcgen::Certificate,
    pub(crate) key: KeyPair,
    /// The certificate of its authority, in PEM.
    pub(crate) authority: String,
}

/// A server's end of TLS, and the certificate of its authority in PEM.
pub(super) fn acceptor(certificate: Certificate) -> Result<(TlsAcceptor, String)> {
    let identity = identity(certificate)?;
    let key = PrivateKeyDer::try_from(identity.key.serialize_der()).map_err(anyhow::Error::msg)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![identity.certificate.der().clone()], key)?;
    Ok((TlsAcceptor::from(Arc::new(config)), identity.authority))
}

/// A certificate of an authority of its own.
pub(crate) fn identity(certificate: Certificate) -> Result<Identity> {
    let mut authority = CertificateParams::new(Vec::new())?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority
        .distinguished_name
        .push(DnType::CommonName, "authority of a test");
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate()?)?;
    let names = match certificate {
        Certificate::OtherName => vec!["other.example".to_owned()],
        _ => vec!["localhost".to_owned(), "127.0.0.1".to_owned()],
    };
    let mut own = CertificateParams::new(names)?;
    match certificate {
        Certificate::Expired => own.not_after = date_time_ymd(2020, 1, 1),
        Certificate::TooEarly => own.not_before = date_time_ymd(2126, 1, 1),
        Certificate::OfAnAuthority => own.is_ca = IsCa::Ca(BasicConstraints::Unconstrained),
        Certificate::Good | Certificate::OtherName => {}
    }
    let key = KeyPair::generate()?;
    Ok(Identity {
        certificate: own.signed_by(&key, &authority)?,
        key,
        authority: authority.pem(),
    })
}
