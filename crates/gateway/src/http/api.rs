//! The gateway over HTTP: REST, JSON-RPC and virtual servers of many users at one address.
//!
//! ```text
//! connection ─► listener ─► guard (host, origin) ─► route ─► token ─► permission ─► body ─┬─► Api::answer
//!                                                                                         └─► Api::surface ─► endpoint
//! ```
//!
//! The router is built from the rows of [`Route::ALL`]. The clients of a token at a virtual server have an endpoint of
//! their own: no other token can name their sessions.

mod principals;
mod refusal;
mod serving;
mod watch;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use futures_util::future::BoxFuture;
use identity::{Identity, Route};
use rest::RestError;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use types::ServerId;

use super::Connector;
use super::listener::Acceptor;
use super::service::HttpConfigError;
use serving::ApiService;

/// What the gateway serves: the owners of tokens, REST, and a surface for each virtual server.
pub trait Api: Send + Sync + 'static {
    /// The owner of a token; `None` if the token is not valid. An error means that nobody knows at the moment.
    fn identify<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Option<Identity>, RestError>>;

    /// Answers a request that is neither MCP nor a health probe. Dropping the future cancels the request.
    fn answer(&self, request: ApiRequest) -> BoxFuture<'_, Result<ApiReply, RestError>>;

    /// The surface of a virtual server for this caller. Asked for every request, so that a deleted server and a lost
    /// right take effect at once. Unknown and foreign ids are the same error.
    fn surface<'a>(
        &'a self,
        identity: &'a Identity,
        server: &'a ServerId,
    ) -> BoxFuture<'a, Result<ApiSurface, RestError>>;

    /// Whether requests can be served, for `/readyz`.
    fn ready(&self) -> BoxFuture<'_, Result<(), RestError>>;
}

/// The surface of a virtual server for one caller.
pub struct ApiSurface {
    /// Opens the conversations. Used if the endpoint is new.
    pub connector: Box<dyn Connector>,
    /// Another version ends the conversations with the surface. Equal as long as the settings of the server are equal.
    pub version: u64,
}

/// A request to a route, admitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiRequest {
    /// The row of the table.
    pub route: Route,
    /// `None` if the route admits anyone.
    pub identity: Option<Identity>,
    /// The segments of the path that stand for `{name}`, decoded.
    pub parameters: BTreeMap<String, String>,
    /// What follows `?`, not decoded; empty without a query.
    pub query: String,
    /// Empty for GET and DELETE; otherwise empty or of type JSON, at most 16 MiB.
    pub body: Vec<u8>,
}

/// An answer of REST or JSON-RPC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiReply {
    status: u16,
    content_type: Option<&'static str>,
    body: Bytes,
}

/// Address and periods of the gateway.
#[derive(Debug)]
pub struct ApiConfig {
    /// Socket that accepts connections.
    pub listener: TcpListener,
    /// Interval at which an open stream's token and virtual server are checked again.
    pub recheck_every: Duration,
    /// Time limit for requests under way to end once `shutdown` is triggered.
    pub drain: Duration,
}

/// Serves clients until `shutdown` is triggered and the requests under way have ended. When this returns, every
/// conversation has ended.
///
/// # Errors
/// If the address cannot be determined.
pub async fn serve_api(
    config: ApiConfig,
    api: Arc<dyn Api>,
    shutdown: CancellationToken,
) -> Result<(), HttpConfigError> {
    let address = config.listener.local_addr();
    let address = address.map_err(HttpConfigError::NoAddress)?;
    let service = ApiService::new(api, address, config.recheck_every);
    let acceptor = Acceptor::new(serving::router(&service));
    tokio::select! {
        () = acceptor.accept(&config.listener) => {}
        () = service.principals.sweep() => {}
        () = shutdown.cancelled() => {}
    }
    drop(config.listener);
    service.draining.cancel();
    acceptor.drain(config.drain).await;
    service.principals.close().await;
    acceptor.close().await;
    Ok(())
}

// === impl ApiConfig ===

impl ApiConfig {
    /// With a check every 30 seconds, and 10 seconds for requests under way.
    pub fn new(listener: TcpListener) -> ApiConfig {
        ApiConfig {
            listener,
            recheck_every: Duration::from_secs(30),
            drain: Duration::from_secs(10),
        }
    }
}

// === impl ApiRequest ===

impl ApiRequest {
    /// A parameter of the path; empty if the route has no such parameter.
    pub fn parameter(&self, name: &str) -> &str {
        self.parameters.get(name).map_or("", String::as_str)
    }
}

// === impl ApiReply ===

impl ApiReply {
    /// A body of another type, such as `text/csv`.
    pub fn of_type(status: u16, content_type: &'static str, body: impl Into<Vec<u8>>) -> ApiReply {
        ApiReply {
            status,
            content_type: Some(content_type),
            body: Bytes::from(body.into()),
        }
    }

    /// A body that is JSON already.
    pub fn json(status: u16, body: impl Into<Vec<u8>>) -> ApiReply {
        ApiReply::of_type(status, "application/json", body)
    }

    /// Plain text.
    pub fn text(status: u16, body: impl Into<Vec<u8>>) -> ApiReply {
        ApiReply::of_type(status, "text/plain; charset=utf-8", body)
    }

    /// A page for people. Pages of other sites cannot frame it.
    pub fn html(status: u16, body: impl Into<Vec<u8>>) -> ApiReply {
        ApiReply::of_type(status, "text/html; charset=utf-8", body)
    }

    /// 204, without a body.
    pub fn no_content() -> ApiReply {
        ApiReply {
            status: 204,
            content_type: None,
            body: Bytes::new(),
        }
    }
}
