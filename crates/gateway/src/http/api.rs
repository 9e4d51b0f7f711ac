//! What the gateway serves, as a trait: callers, requests, answers and surfaces.

use std::collections::BTreeMap;

use axum::body::Bytes;
use futures_util::future::BoxFuture;
use identity::{Identity, Permission, Route};
use rest::RestError;
use types::ServerId;

use super::Connector;

/// What the gateway serves: the owners of tokens, REST, and a surface for each virtual server.
pub trait Api: Send + Sync + 'static {
    /// The owner of a token; `None` if the token is not valid. An error means that the lookup failed.
    fn identify<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Option<Identity>, RestError>>;

    /// Answers a request that is neither MCP nor a health probe. Dropping the future cancels the request.
    fn answer(&self, request: ApiRequest) -> BoxFuture<'_, Result<ApiReply, RestError>>;

    /// The surface of a virtual server for this caller, who needs the permission for it. Asked for every request, so that
    /// a deleted server and a lost right take effect at once. Unknown and foreign ids are the same error.
    fn surface<'a>(
        &'a self,
        identity: &'a Identity,
        server: &'a ServerId,
        permission: Permission,
    ) -> BoxFuture<'a, Result<ApiSurface, RestError>>;

    /// The process that runs the caller's sessions at a virtual server; from now on this one, unless another has them.
    /// `gone` is the id of one that did not answer. The caller may use the server.
    fn place<'a>(
        &'a self,
        identity: &'a Identity,
        server: &'a ServerId,
        gone: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Place, RestError>>;

    /// The other processes that serve the same users.
    fn others(&self) -> BoxFuture<'_, Result<Vec<OtherProcess>, RestError>>;

    /// Told of every response, for counters; `None` for a path or a method without a route.
    fn answered(&self, route: Option<Route>, status: u16);

    /// Whether requests can be served, for `/readyz`.
    fn ready(&self) -> BoxFuture<'_, Result<(), RestError>>;
}

/// Where requests are served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In this process.
    Here,
    /// In another one.
    At(OtherProcess),
}

/// Another process that serves the same users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherProcess {
    /// Its id.
    pub id: String,
    /// Where this process reaches it, without a path.
    pub url: String,
}

/// The surface of a virtual server for one caller.
pub struct ApiSurface {
    /// Opens the conversations. Used if the endpoint is new.
    pub connector: Box<dyn Connector>,
    /// Another version ends the conversations with the surface. Equal as long as the settings of the server are equal.
    pub version: u64,
    /// Whether its tools are the surface's own, and not those of upstream servers.
    pub has_own_tools: bool,
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
    pub(super) status: u16,
    pub(super) content_type: Option<&'static str>,
    pub(super) body: Bytes,
    /// Header `X-Next-Cursor`: where the next page of a list begins.
    pub(super) next_cursor: Option<String>,
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
            next_cursor: None,
        }
    }

    /// The same answer, as one page of a list.
    #[must_use]
    pub fn with_next_cursor(mut self, cursor: Option<String>) -> ApiReply {
        self.next_cursor = cursor;
        self
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

    /// The status of HTTP.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The body as it is sent.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// 204, without a body.
    pub fn no_content() -> ApiReply {
        ApiReply {
            status: 204,
            content_type: None,
            body: Bytes::new(),
            next_cursor: None,
        }
    }
}
