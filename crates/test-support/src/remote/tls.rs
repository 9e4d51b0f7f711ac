//! Certificates of a test's own authority: a good one, and those that a client must reject.

use std::sync::Arc;

use anyhow::Result;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// The defect of a server's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certificate {
    /// None: valid for `localhost` and `127.0.0.1`.
    Good,
    /// Expired long ago.
    Expired,
    /// Valid only in a hundred years.
    TooEarly,
    /// For another host name.
    OtherName,
    /// Only for certificate authorities.
    OfAnAuthority,
}

/// A server's certificate and key.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) certificate: rcgen::Certificate,
    pub(crate) key: KeyPair,
    /// The authority's certificate, in PEM.
    pub(crate) authority: String,
}

/// The TLS acceptor of a server, and its authority's certificate in PEM.
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

/// A certificate from a new authority.
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

/// Certificate files of a server and its clients, in PEM.
#[derive(Debug)]
pub struct CertificateFiles {
    /// The server's certificate.
    pub certificate: String,
    /// Its key.
    pub key: String,
    /// The authority's certificate.
    pub authority: String,
}

impl CertificateFiles {
    /// Files of a good certificate from a new authority.
    pub fn new() -> Result<CertificateFiles> {
        let identity = identity(Certificate::Good)?;
        Ok(CertificateFiles {
            certificate: identity.certificate.pem(),
            key: identity.key.serialize_pem(),
            authority: identity.authority,
        })
    }

    /// The TLS acceptor of a server.
    ///
    /// # Errors
    /// If the certificate cannot be used.
    pub fn acceptor(&self) -> Result<TlsAcceptor> {
        let certificate = CertificateDer::from_pem_slice(self.certificate.as_bytes())?;
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes())?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)?;
        Ok(TlsAcceptor::from(Arc::new(config)))
    }

    /// Connects as a client that trusts only this authority, and offers these protocols.
    ///
    /// # Errors
    /// If the connection fails, or the server has another certificate.
    pub async fn connect(&self, address: &str, protocols: &[&str]) -> Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.authority.as_bytes())?)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        let stream = TcpStream::connect(address).await?;
        let connector = TlsConnector::from(Arc::new(config));
        Ok(connector
            .connect(ServerName::try_from("localhost")?, stream)
            .await?)
    }
}
