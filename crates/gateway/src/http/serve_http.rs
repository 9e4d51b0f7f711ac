//! Serves one surface at one address, for `codeyard mcp --listen`.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::Connector;
use super::endpoint::Endpoint;
use super::event_log::EventBudget;
use super::forwarded::TrustedProxies;
use super::guard::{EntryGuard, Token};
use super::listener::{Acceptor, HttpListener};
use super::sessions::Conversations;
use super::single::{self, SingleSurface};

/// Limit on the sessions of an address.
const MOST_SESSIONS: usize = 1024;

/// Address and access of the HTTP server.
#[derive(Debug)]
pub struct HttpConfig {
    /// Socket that accepts connections.
    pub listener: HttpListener,
    /// Token that clients must send; `None` serves every client that can reach the address.
    pub token: Option<Token>,
}

/// Why an address is not served.
#[derive(Debug, thiserror::Error)]
pub enum HttpConfigError {
    /// The address cannot be determined.
    #[error("the address cannot be determined: {0}")]
    NoAddress(#[source] std::io::Error),
    /// Other machines can reach the address, and no token is required.
    #[error(
        "{0} can be reached from other machines, so a token is needed; give --token-file FILE, or listen on 127.0.0.1"
    )]
    OpenToAll(SocketAddr),
    /// A proxy passes on requests of other machines, and no token is required.
    #[error(
        "`[http] trusted_proxies` says that other machines reach this address through a proxy, so a token is needed; give --token-file FILE"
    )]
    OpenBehindProxy,
}

/// Serves clients until `shutdown` is triggered. When this returns, every conversation has ended.
///
/// # Errors
/// If the address cannot be determined, or other machines could reach it without a token.
pub async fn serve_http(
    config: HttpConfig,
    connector: impl Connector,
    shutdown: CancellationToken,
) -> Result<(), HttpConfigError> {
    let HttpConfig { listener, token } = config;
    let address = listener.socket.local_addr().map_err(HttpConfigError::NoAddress)?;
    if token.is_none() && !address.ip().is_loopback() {
        return Err(HttpConfigError::OpenToAll(address));
    }
    if token.is_none() && !listener.trusted_proxies.is_empty() {
        return Err(HttpConfigError::OpenBehindProxy);
    }
    let proxies = TrustedProxies::new(listener.trusted_proxies.clone());
    let service = HttpService::guarded(EntryGuard::new(address, token, proxies), connector);
    tokio::select! {
        () = service.acceptor.accept(&listener) => {}
        () = service.surface.endpoint.conversations.sweep() => {}
        () = shutdown.cancelled() => {}
    }
    drop(listener);
    service.close().await;
    Ok(())
}

/// Serves the clients of one address over HTTP.
#[derive(Debug)]
pub struct HttpService {
    surface: Arc<SingleSurface>,
    acceptor: Acceptor,
}

impl HttpService {
    /// Serves connections to this address. `serve_http` refuses an address that requires a token if no token is set.
    pub fn new(address: SocketAddr, token: Option<Token>, connector: impl Connector) -> HttpService {
        HttpService::guarded(
            EntryGuard::new(address, token, TrustedProxies::default()),
            connector,
        )
    }

    fn guarded(guard: EntryGuard, connector: impl Connector) -> HttpService {
        let conversations = Conversations::new(
            Box::new(connector),
            MOST_SESSIONS,
            EventBudget::default(),
            // All clients belong to one user; each conversation has its own limit.
            Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
        );
        let surface = SingleSurface::new(guard, Endpoint::new(conversations));
        HttpService {
            acceptor: Acceptor::new(single::router(Arc::clone(&surface))),
            surface,
        }
    }

    /// Serves one connection until it closes, in its own task.
    pub fn serve(&self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        self.acceptor.serve(stream, None);
    }

    /// Ends every conversation and every connection. A client that does not read is disconnected when the process
    /// ends.
    pub async fn close(self) {
        self.surface.endpoint.conversations.close().await;
        self.acceptor.close().await;
    }
}
