//! Accepts connections, encrypted if the address has a certificate, with limits on their number, their heads and their
//! idle time.

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
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use types::AddressRange;

use super::connections::{ConnectionPlace, Connections};
use super::forwarded::Peer;
use super::tls::Tls;

/// Limit on concurrent connections.
const MOST_CONNECTIONS: u64 = 2048;

/// Time limit for the handshake of an encrypted connection.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

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

/// The limit on connections: at most half of the process's open-file limit, because programs and servers need the rest.
fn most_connections() -> usize {
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let most = files.map_or(MOST_CONNECTIONS, |files| MOST_CONNECTIONS.min(files / 2));
    usize::try_from(most).unwrap_or(usize::MAX)
}

/// A socket that accepts connections.
#[derive(Debug)]
pub struct HttpListener {
    /// Accepts connections.
    pub socket: TcpListener,
    /// Encrypts them; `None` serves plain HTTP.
    pub tls: Option<Tls>,
    /// Peers whose `X-Forwarded-*` headers are believed.
    pub trusted_proxies: Vec<AddressRange>,
}

/// Plain HTTP without proxies.
impl From<TcpListener> for HttpListener {
    fn from(socket: TcpListener) -> HttpListener {
        HttpListener {
            socket,
            tls: None,
            trusted_proxies: Vec::new(),
        }
    }
}

/// Serves connections with one router.
#[derive(Debug)]
pub(super) struct Acceptor {
    router: Router,
    connections: Arc<Connections>,
    tasks: TaskTracker,
    closing: CancellationToken,
}

impl Acceptor {
    pub(super) fn new(router: Router) -> Acceptor {
        Acceptor {
            router,
            connections: Connections::new(most_connections()),
            tasks: TaskTracker::new(),
            closing: CancellationToken::new(),
        }
    }

    /// Serves one connection until it closes, in its own task.
    pub(super) fn serve(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        peer: Option<Peer>,
    ) {
        if let Some(connection) = self.connection(peer) {
            self.tasks.spawn(connection.serve(stream));
        }
    }

    /// The same for a connection that begins with a handshake.
    fn serve_encrypted(&self, stream: TcpStream, acceptor: TlsAcceptor, peer: Option<Peer>) {
        if let Some(connection) = self.connection(peer) {
            self.tasks.spawn(connection.serve_encrypted(stream, acceptor));
        }
    }

    fn connection(&self, peer: Option<Peer>) -> Option<AcceptedConnection> {
        let Some(place) = self.connections.add() else {
            tracing::debug!("a request is under way on every connection; another one was closed");
            return None;
        };
        Some(AcceptedConnection {
            router: self.router.clone(),
            peer,
            place,
            closing: self.closing.clone(),
        })
    }

    /// Serves every connection to the address. Never returns.
    pub(super) async fn accept(&self, listener: &HttpListener) {
        loop {
            let (stream, address) = match listener.socket.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "a connection cannot be accepted");
                    // Usually no descriptor is free; other connections may close meanwhile.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            };
            bound_waiting(&stream);
            let peer = Some(Peer {
                address: address.ip().to_canonical(),
                is_encrypted: listener.tls.is_some(),
            });
            match &listener.tls {
                Some(tls) => self.serve_encrypted(stream, tls.acceptor(), peer),
                None => self.serve(stream, peer),
            }
        }
    }

    /// Closes idle connections at once and the others after their response, waiting at most this long.
    pub(super) async fn drain(&self, most: Duration) {
        self.closing.cancel();
        self.tasks.close();
        // A client that does not read is disconnected when the process ends.
        let _ = tokio::time::timeout(most, self.tasks.wait()).await;
    }

    /// Closes all connections whose responses are ending.
    pub(super) async fn close(&self) {
        self.drain(CLOSING).await;
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

/// One connection, with the state that serves it.
struct AcceptedConnection {
    router: Router,
    peer: Option<Peer>,
    place: ConnectionPlace,
    closing: CancellationToken,
}

impl AcceptedConnection {
    /// Until the handshake is done, the connection counts as idle, so that unfinished handshakes make room for
    /// others.
    async fn serve_encrypted(self, stream: TcpStream, acceptor: TlsAcceptor) {
        let handshake = tokio::time::timeout(HANDSHAKE_TIMEOUT, acceptor.accept(stream));
        let stream = tokio::select! {
            done = handshake => match done {
                Ok(Ok(stream)) => stream,
                Ok(Err(error)) => return tracing::debug!(%error, "a handshake has failed"),
                Err(_) => return tracing::debug!("a handshake took too long"),
            },
            () = self.place.closing.cancelled() => return,
            () = self.closing.cancelled() => return,
        };
        self.serve(stream).await;
    }

    /// Serves until the connection closes. Builds the state of an idle connection once, here: an async function would
    /// store it twice.
    fn serve(
        self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    ) -> impl Future<Output = ()> + Send {
        let AcceptedConnection {
            router,
            peer,
            place,
            closing,
        } = self;
        let router = TowerToHyperService::new(router);
        let handle = place.handle.clone();
        // A layer of axum would copy the routes for each connection.
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(handle.clone());
            if let Some(peer) = peer {
                request.extensions_mut().insert(peer);
            }
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
}
