//! The HTTP socket of a command, and its certificate, reloaded when the files change.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use environment::{Environment as _, Machine, why_unreadable};
use gateway::{HttpListener, Tls, TlsIdentity};
use settings::Http;
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

use crate::context::Context;
use crate::exit::{Exit, Failure};

/// Polling interval of the certificate's files.
const REREAD_EVERY: Duration = Duration::from_secs(2);

/// A socket that accepts connections.
pub struct OpenListener {
    pub listener: HttpListener,
    /// `http://127.0.0.1:4444`.
    pub url: String,
    /// Reloads the certificate.
    _rereading: Option<AbortOnDropHandle<()>>,
}

/// The paths of the certificate and its key.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    certificate: NamedFile,
    key: NamedFile,
}

#[derive(Debug, Clone)]
struct NamedFile {
    /// The option or setting of the path.
    named_by: &'static str,
    path: PathBuf,
}

/// The texts of both files.
#[derive(PartialEq)]
struct Pem {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

/// Binds the address, and loads the certificate if there is one.
pub async fn open(
    context: &Context,
    listen: SocketAddr,
    tls: Option<TlsFiles>,
    http: Http,
) -> Result<OpenListener, Failure> {
    let wrong = |why| Failure::new(Exit::Usage, why);
    let certificate = match tls {
        Some(files) => {
            let pem = files.read().map_err(wrong)?;
            let tls = Tls::new(files.identity(&pem).map_err(wrong)?);
            Some((files, pem, tls))
        }
        None => None,
    };
    let socket = TcpListener::bind(listen)
        .await
        .map_err(|error| wrong(format!("--listen {listen}: {error}; choose another port")))?;
    let address = socket.local_addr().map_err(|error| wrong(error.to_string()))?;
    let scheme = if certificate.is_some() { "https" } else { "http" };
    let is_open = certificate.is_none() && http.trusted_proxies.is_empty();
    if is_open && !address.ip().is_loopback() {
        context.output.tell(&format!(
            "warning: other machines reach {address}, and tokens and data travel without encryption; give --tls-cert and \
             --tls-key, or name your TLS proxy in `[http] trusted_proxies`"
        ));
    }
    Ok(OpenListener {
        listener: HttpListener {
            socket,
            tls: certificate.as_ref().map(|(_, _, tls)| tls.clone()),
            trusted_proxies: http.trusted_proxies,
        },
        url: format!("{scheme}://{address}"),
        _rereading: certificate
            .map(|(files, pem, tls)| AbortOnDropHandle::new(tokio::spawn(files.follow(tls, pem)))),
    })
}

// === impl TlsFiles ===

impl TlsFiles {
    /// The files of the command line, else those of the settings.
    pub fn new(certificate: Option<&Path>, key: Option<&Path>, http: &Http) -> Option<TlsFiles> {
        let file = |named_by, path: &Path| NamedFile {
            named_by,
            path: path.to_path_buf(),
        };
        if let (Some(certificate), Some(key)) = (certificate, key) {
            return Some(TlsFiles {
                certificate: file("--tls-cert", certificate),
                key: file("--tls-key", key),
            });
        }
        Some(TlsFiles {
            certificate: file("[http] tls_cert", http.tls_cert.as_deref()?),
            key: file("[http] tls_key", http.tls_key.as_deref()?),
        })
    }

    fn read(&self) -> Result<Pem, String> {
        let certificate = self.certificate.read()?;
        let key = self.key.read()?;
        match Machine.is_private(&self.key.path) {
            true => Ok(Pem { certificate, key }),
            false => {
                let path = self.key.path.display();
                let why = format!("other users may read it; run `chmod 600 {path}`");
                Err(self.key.mistake(&why))
            }
        }
    }

    fn identity(&self, pem: &Pem) -> Result<TlsIdentity, String> {
        TlsIdentity::from_pem(&pem.certificate, &pem.key).map_err(|error| {
            let file = if error.is_of_key() {
                &self.key
            } else {
                &self.certificate
            };
            file.mistake(&error.to_string())
        })
    }

    /// Replaces the certificate whenever the files have changed. After an invalid change, the current certificate
    /// stays in use.
    async fn follow(self, tls: Tls, first: Pem) {
        let mut last = Ok(first);
        let mut ticks = tokio::time::interval(REREAD_EVERY);
        loop {
            ticks.tick().await;
            let files = self.clone();
            // Fails only when the process ends.
            let Ok(now) = tokio::task::spawn_blocking(move || files.read()).await else {
                return;
            };
            if now == last {
                continue;
            }
            let identity = match &now {
                Ok(pem) => self.identity(pem),
                Err(why) => Err(why.clone()),
            };
            match identity {
                Ok(identity) => {
                    tls.replace(identity);
                    tracing::info!("the certificate was reloaded");
                }
                Err(why) => tracing::warn!("{why}; the certificate in use stays"),
            }
            last = now;
        }
    }
}

// === impl NamedFile ===

impl NamedFile {
    fn read(&self) -> Result<Vec<u8>, String> {
        let read = Machine.read_protected(&self.path);
        read.map_err(|error| self.mistake(&why_unreadable(&error)))
    }

    fn mistake(&self, why: &str) -> String {
        format!("{} {}: {why}", self.named_by, self.path.display())
    }
}
