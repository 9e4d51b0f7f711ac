//! The HTTP client of one remote server: no proxy, no redirects of its own, checked addresses, checked certificates.

use std::error::Error as _;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Client;
use reqwest::redirect::Policy;
use rustls::{CertificateError, ClientConfig, RootCertStore};

use super::address::Resolver;

const CONNECT: Duration = Duration::from_secs(10);

/// Makes the client; reads the machine's certificate authorities if they are needed, which takes a while.
pub(super) fn build(is_secure: bool) -> Result<Client, String> {
    let roots = if is_secure {
        authorities()?
    } else {
        RootCertStore::empty()
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Client::builder()
        .tls_backend_preconfigured(tls)
        .dns_resolver(Resolver)
        .redirect(Policy::none())
        .no_proxy()
        .http1_only()
        .connect_timeout(CONNECT)
        .user_agent(concat!("codeyard/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| describe(&error))
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

/// What went wrong, without the URL, which may hold secrets: the innermost cause says most.
pub(super) fn describe(error: &reqwest::Error) -> String {
    let mut cause = error.source();
    let mut text = match cause {
        Some(cause) => cause.to_string(),
        // Only the outermost error names the URL.
        None if error.is_timeout() => "it took too long".to_owned(),
        None => "the request failed".to_owned(),
    };
    while let Some(inner) = cause.and_then(std::error::Error::source) {
        text = inner.to_string();
        cause = Some(inner);
    }
    let no_tls = "it does not speak TLS there; is it `http:`?";
    let is_cut_off = cause
        .and_then(|cause| cause.downcast_ref::<io::Error>())
        .is_some_and(|cause| cause.kind() == io::ErrorKind::UnexpectedEof);
    if error.is_connect() && is_cut_off {
        return no_tls.to_owned();
    }
    match cause.and_then(of_tls) {
        Some(rustls::Error::InvalidMessage(_)) => no_tls.to_owned(),
        Some(rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer)) => {
            "no authority that this machine trusts has signed its certificate; that of your own goes into a file which \
             the variable SSL_CERT_FILE names"
                .to_owned()
        }
        _ => text,
    }
}

fn of_tls<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a rustls::Error> {
    let error = error.downcast_ref::<io::Error>()?.get_ref()?;
    error.downcast_ref()
}
