//! Accepts connections, with limits on their number, their heads and their idle time.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::Connector;
use super::connections::{ConnectionPlace, Connections};
use super::endpoint::{self, Endpoint};
use super::guard::{EntryGuard, Token};
use super::sessions::Conversations;

/// Limit on concurrent connections.
const MOST_CONNECTIONS: u64 = 2048;

/// Time limit for the head of the next request, and therefore for an idle connection.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// Longest time that sent data may stay unread by the client.
const UNREAD_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum bytes of a head, and of the data read ahead of a body.
const MAX_HEAD: usize = 64 * 1024;

/// Maximum number of fields in a head.
const MOST_HEADERS: usize = 100;

/// Time limit for streams to end when the process ends.
const CLOSING: Duration = Duration::from_secs(2);

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
        () = service.accept(&listener) => {}
        () = service.endpoint.conversations.sweep() => {}
        () = shutdown.cancelled() => {}
    }
    drop(listener);
    service.close().await;
    Ok(())
}

/// The limit on connections: at most half of the process's open-file limit, because programs and servers need the rest.
fn most_connections() -> usize {
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let most = files.map_or(MOST_CONNECTIONS, |files| MOST_CONNECTIONS.min(files / 2));
    usize::try_from(most).unwrap_or(usize::MAX)
}

/// Serves the clients of one address over HTTP.
#[derive(Debug)]
pub struct HttpService {
    router: Router,
    endpoint: Arc<Endpoint>,
    connections: Arc<Connections>,
    tasks: TaskTracker,
    closing: CancellationToken,
}

impl HttpService {
    /// Serves connections to this address. `serve_http` refuses an address that requires a token if no token is set.
    pub fn new(address: SocketAddr, token: Option<Token>, connector: impl Connector) -> HttpService {
        let conversations = Conversations::new(Box::new(connector));
        let endpoint = Arc::new(Endpoint::new(EntryGuard::new(address, token), conversations));
        HttpService {
            router: endpoint::router(Arc::clone(&endpoint)),
            endpoint,
            connections: Connections::new(most_connections()),
            tasks: TaskTracker::new(),
            closing: CancellationToken::new(),
        }
    }

    /// Serves one connection until it closes, in its own task.
    pub fn serve(&self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        match self.connections.add() {
            Some(place) => {
                let router = self.router.clone();
                self.tasks
                    .spawn(serve(stream, router, place, self.closing.clone()));
            }
            None => tracing::debug!("a request is under way on every connection; another one was closed"),
        }
    }

    async fn accept(&self, listener: &TcpListener) {
        loop {
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(%error, "a connection cannot be accepted");
                    // Usually descriptors have run out, and other connections may close meanwhile.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            };
            bound_waiting(&stream);
            self.serve(stream);
        }
    }

    /// Ends every conversation and every connection. A client that does not read is disconnected when the process
    /// ends.
    pub async fn close(self) {
        self.endpoint.conversations.close().await;
        self.closing.cancel();
        self.tasks.close();
        let _ = tokio::time::timeout(CLOSING, self.tasks.wait()).await;
    }
}

/// Sends small events at once, and bounds how long unread data keeps a connection open. If the kernel rejects these
/// options, serving works without them.
fn bound_waiting(stream: &TcpStream) {
    let unread = u32::try_from(UNREAD_TIMEOUT.as_millis()).unwrap_or(u32::MAX);
    let no_delay = stream.set_nodelay(true);
    let unread = rustix::net::sockopt::set_tcp_user_timeout(stream, unread);
    if no_delay.is_err() || unread.is_err() {
        tracing::debug!("the kernel takes no options of this connection");
    }
}

/// Serves one connection until it closes. Builds the state of an idle connection once, here: an async function would
/// store it twice.
fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    place: ConnectionPlace,
    closing: CancellationToken,
) -> impl Future<Output = ()> + Send {
    let router = TowerToHyperService::new(router);
    let handle = place.handle.clone();
    // A layer of axum would copy the routes for each connection.
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(handle.clone());
        router.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD)
        .max_headers(MOST_HEADERS)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = Box::pin(connection);
    async move {
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = place.closing.cancelled() => return,
            () = closing.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection has ended");
        }
    }
}
