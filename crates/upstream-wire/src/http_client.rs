//! Builds HTTP clients for remote servers: no proxy, no automatic redirects, checked addresses and certificates.

pub(crate) mod address;

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Url};
use rustls::{CertificateError, ClientConfig, RootCertStore};

use address::Resolver;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// A message shows this many of a certificate's names.
const MAX_NAMES: usize = 3;
const NO_TLS: &str = "it does not speak TLS there; is it `http:`?";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    Https,
    Http,
}

impl Scheme {
    pub(crate) fn of(url: &Url) -> Scheme {
        match url.scheme() {
            "https" => Scheme::Https,
            _ => Scheme::Http,
        }
    }
}

/// For `https`, this reads the machine's certificate authorities.
pub(crate) async fn build(scheme: Scheme) -> Result<Client, String> {
    let built = tokio::task::spawn_blocking(move || build_blocking(scheme)).await;
    built.unwrap_or_else(|panic| Err(panic.to_string()))
}

/// A client for other processes of the gateway, whose addresses the operator wrote: names may resolve to private
/// addresses. Without certificate authorities on this machine, only `http` works.
///
/// # Errors
/// If no client can be made.
pub async fn gateway_client() -> Result<Client, String> {
    let built = tokio::task::spawn_blocking(|| {
        let roots = authorities().unwrap_or_else(|_| RootCertStore::empty());
        let client = builder(roots)?.build();
        client.map_err(|error| describe(&error))
    });
    built.await.unwrap_or_else(|panic| Err(panic.to_string()))
}

/// A client for addresses that a server names: names may not lead to private addresses. Without certificate authorities
/// on this machine, only `http` works.
///
/// # Errors
/// If no client can be made.
pub async fn public_client() -> Result<Client, String> {
    let built = tokio::task::spawn_blocking(|| {
        let roots = authorities().unwrap_or_else(|_| RootCertStore::empty());
        let client = builder(roots)?.dns_resolver(Resolver).build();
        client.map_err(|error| describe(&error))
    });
    built.await.unwrap_or_else(|panic| Err(panic.to_string()))
}

fn build_blocking(scheme: Scheme) -> Result<Client, String> {
    let roots = match scheme {
        Scheme::Https => authorities()?,
        Scheme::Http => RootCertStore::empty(),
    };
    let client = builder(roots)?.dns_resolver(Resolver).build();
    client.map_err(|error| describe(&error))
}

/// For encrypted connections to receivers that the operator named: this machine's certificate authorities.
///
/// # Errors
/// If the machine has none.
pub async fn client_tls() -> Result<ClientConfig, String> {
    let read = tokio::task::spawn_blocking(|| tls(authorities()?)).await;
    read.unwrap_or_else(|panic| Err(panic.to_string()))
}

fn tls(roots: RootCertStore) -> Result<ClientConfig, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    Ok(ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth())
}

fn builder(roots: RootCertStore) -> Result<ClientBuilder, String> {
    Ok(Client::builder()
        .tls_backend_preconfigured(tls(roots)?)
        .redirect(Policy::none())
        .no_proxy()
        .http1_only()
        .connect_timeout(CONNECT_TIMEOUT)
        .user_agent(concat!("codeyard/", env!("CARGO_PKG_VERSION"))))
}

fn authorities() -> Result<RootCertStore, String> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (good, _odd) = roots.add_parsable_certificates(found.certs);
    if good == 0 {
        let why = found.errors.first().map(|error| format!(" ({error})"));
        return Err(format!(
            "this machine has no certificate authorities{}, so that no certificate can be checked; install \
             ca-certificates or name a file of them in the variable SSL_CERT_FILE",
            why.unwrap_or_default()
        ));
    }
    Ok(roots)
}

/// Names the innermost cause, without the URL, which may hold secrets.
pub fn describe(error: &reqwest::Error) -> String {
    if error.is_connect() && error.is_timeout() {
        return format!("nobody answers there within {} s", CONNECT_TIMEOUT.as_secs());
    }
    let Some(cause) = error.source().map(innermost) else {
        // Only the outermost error names the URL.
        let text = if error.is_timeout() {
            "it took too long"
        } else {
            "the request failed"
        };
        return text.to_owned();
    };
    let is_cut_off = cause
        .downcast_ref::<io::Error>()
        .is_some_and(|cause| cause.kind() == io::ErrorKind::UnexpectedEof);
    match cause.downcast_ref::<rustls::Error>() {
        Some(rustls::Error::InvalidMessage(_)) => NO_TLS.to_owned(),
        Some(rustls::Error::InvalidCertificate(why)) => certificate(why),
        None if error.is_connect() && is_cut_off => NO_TLS.to_owned(),
        _ => cause.to_string(),
    }
}

/// Why the server's certificate is rejected, and the remedy.
fn certificate(why: &CertificateError) -> String {
    match why {
        // `BadSignature` means that an unknown authority has the name of a trusted one.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "its certificate is not signed by an authority that this machine trusts; to use an authority of your own, write \
             its certificate to the file that the variable SSL_CERT_FILE names"
                .to_owned()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "its certificate has expired; the operator of the server must renew it".to_owned()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "its certificate is not valid yet; is the clock of this machine right?".to_owned()
        }
        CertificateError::NotValidForName => {
            "its certificate is for another name; write that name in `url`".to_owned()
        }
        CertificateError::NotValidForNameContext { presented, .. } => format!(
            "its certificate is for another name ({}); write that name in `url`",
            presented.iter().take(MAX_NAMES).map(|name| bare(name)).collect::<Vec<_>>().join(", ")
        ),
        other => format!("its certificate is not accepted ({other}); the operator of the server must fix it"),
    }
}

/// Removes the type that `rustls` adds to a certificate's name.
fn bare(name: &str) -> &str {
    let of_host = name
        .strip_prefix("DnsName(\"")
        .and_then(|name| name.strip_suffix("\")"));
    of_host.unwrap_or(name)
}

/// The innermost cause. `io::Error` does not return its inner error as its source.
fn innermost<'a>(mut error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    loop {
        let wrapped = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref)
            .map(|wrapped| wrapped as &(dyn Error + 'static))
            // Other inner errors hold only a text.
            .filter(|wrapped| wrapped.is::<io::Error>() || wrapped.is::<rustls::Error>());
        match wrapped.or_else(|| error.source()) {
            Some(inner) => error = inner,
            None => return error,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};

    use rustix::net::{AddressFamily, SocketAddrV4, SocketType, bind, listen, socket};
    use tokio::time::Instant;

    use super::*;

    /// An address that accepts no further connection while the other two values live.
    fn full() -> (SocketAddr, TcpListener, Vec<TcpStream>) {
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
        bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).expect("an address");
        listen(&socket, 0).expect("a listener");
        let listener = TcpListener::from(socket);
        let address = listener.local_addr().expect("an address");
        let taken =
            std::iter::from_fn(|| TcpStream::connect_timeout(&address, Duration::from_millis(200)).ok());
        let taken = taken.take(100).collect();
        (address, listener, taken)
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_has_ten_seconds() {
        let (address, _listener, _taken) = full();
        let client = build(Scheme::Http).await.expect("a client");
        let start = Instant::now();
        let sent = client.get(format!("http://{address}/")).send().await;
        let error = sent.expect_err("nobody answers");
        assert!(error.is_connect(), "{error:?}");
        let took = start.elapsed();
        assert!(took >= CONNECT_TIMEOUT && took < CONNECT_TIMEOUT * 2, "{took:?}");
        assert_eq!(describe(&error), "nobody answers there within 10 s");
    }
}
