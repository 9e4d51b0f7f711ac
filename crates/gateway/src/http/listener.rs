//! Accepts connections, with limits on their number, their heads and their idle time.

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

use super::connections::{ConnectionPlace, Connections};

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

/// The limit on connections: at most half of the process's open-file limit, because programs and servers need the rest.
fn most_connections() -> usize {
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let most = files.map_or(MOST_CONNECTIONS, |files| MOST_CONNECTIONS.min(files / 2));
    usize::try_from(most).unwrap_or(usize::MAX)
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
    pub(super) fn serve(&self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        match self.connections.add() {
            Some(place) => {
                let router = self.router.clone();
                self.tasks
                    .spawn(serve(stream, router, place, self.closing.clone()));
            }
            None => tracing::debug!("a request is under way on every connection; another one was closed"),
        }
    }

    /// Serves every connection to the address. Never returns.
    pub(super) async fn accept(&self, listener: &TcpListener) {
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
