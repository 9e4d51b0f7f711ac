//! Serves one surface at one address, for `codeyard mcp --listen`.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::Connector;
use super::endpoint::Endpoint;
use super::event_log::EventBudget;
use super::guard::{EntryGuard, Token};
use super::listener::Acceptor;
use super::sessions::Conversations;
use super::single::{self, SingleSurface};

/// Limit on the sessions of an address.
const MOST_SESSIONS: usize = 1024;

/// Address and access of the HTTP server.
#[derive(Debug)]
pub struct HttpConfig {
    /// Socket that accepts connections.
    pub listener: TcpListener,
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
    let address = listener.local_addr().map_err(HttpConfigError::NoAddress)?;
    if token.is_none() && !address.ip().is_loopback() {
        return Err(HttpConfigError::OpenToAll(address));
    }
    let service = HttpService::new(address, token, connector);
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
        let conversations = Conversations::new(
            Box::new(connector),
            MOST_SESSIONS,
            EventBudget::default(),
            // One user serves all clients; each conversation has its own bound.
            Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
        );
        let surface = SingleSurface::new(EntryGuard::new(address, token), Endpoint::new(conversations));
        HttpService {
            acceptor: Acceptor::new(single::router(Arc::clone(&surface))),
            surface,
        }
    }

    /// Serves one connection until it closes, in its own task.
    pub fn serve(&self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        self.acceptor.serve(stream);
    }

    /// Ends every conversation and every connection. A client that does not read is disconnected when the process
    /// ends.
    pub async fn close(self) {
        self.surface.endpoint.conversations.close().await;
        self.acceptor.close().await;
    }
}
