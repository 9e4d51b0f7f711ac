//! The trait behind the gateway: callers, requests, answers and surfaces.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::body::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use identity::{Identity, Permission, Route};
use rest::RestError;
use types::ServerId;

use super::Connector;
use super::login_page::{LoginPage, LoginVisit};

/// The application behind the gateway: owners of tokens, REST, and a surface for each virtual server.
pub trait Api: Send + Sync + 'static {
    /// The owner of a token; `None` if the token is not valid. An error means that the lookup failed.
    fn identify<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Option<Identity>, RestError>>;

    /// The identity again, while a request of its token is answered; `None` once the token is revoked or its user has
    /// signed out. The end of an issuer's token does not matter here: it lives for minutes.
    fn recheck<'a>(
        &'a self,
        token: &'a str,
        _identity: &'a Identity,
    ) -> BoxFuture<'a, Result<Option<Identity>, RestError>> {
        self.identify(token)
    }

    /// RFC 9728: the metadata of the resource at this URL, as JSON; `None` if no issuer is set.
    fn resource_metadata(&self, _resource: &str) -> Option<Vec<u8>> {
        None
    }

    /// An issuer's report that a user has signed out, with the token that proves it.
    fn sign_out<'a>(&'a self, _token: &'a str) -> BoxFuture<'a, Result<(), RestError>> {
        Box::pin(async { Err(RestError::NotFound("no issuer is set".to_owned())) })
    }

    /// A browser's visit during a login to an upstream server.
    fn visit_login<'a>(&'a self, _visit: LoginVisit<'a>) -> BoxFuture<'a, LoginPage> {
        Box::pin(async { LoginPage::told(404, "No login is under way here.") })
    }

    /// Answers a request that is neither MCP nor a health probe. Dropping the future cancels the request.
    fn answer(&self, request: ApiRequest) -> BoxFuture<'_, Result<ApiReply, RestError>>;

    /// Records a refused request at an audited route, before the refusal is sent. If recording fails, the client
    /// receives that error instead.
    fn refused<'a>(&'a self, attempt: RefusedAttempt<'a>) -> BoxFuture<'a, Result<(), RestError>>;

    /// The surface of a virtual server for this caller, with a check of the permission. Called for every request, so
    /// that a deleted server or a revoked right takes effect at once. Unknown and foreign ids give the same error.
    fn surface<'a>(
        &'a self,
        identity: &'a Identity,
        server: &'a ServerId,
        permission: Permission,
    ) -> BoxFuture<'a, Result<ApiSurface, RestError>>;

    /// The process that runs the caller's sessions at a virtual server. If no process does, this one takes the
    /// sessions over. `gone` is the id of a process that refused the connection. The caller may use the server.
    fn place<'a>(
        &'a self,
        identity: &'a Identity,
        server: &'a ServerId,
        gone: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Place, RestError>>;

    /// The other processes that serve the same users.
    fn others(&self) -> BoxFuture<'_, Result<Vec<OtherProcess>, RestError>>;

    /// Counts a response; `None` for a path or a method without a route. `duration` is the time until the response began.
    fn answered(&self, route: Option<Route>, status: u16, duration: Duration);

    /// Whether requests can be served, for `/readyz`.
    fn ready(&self) -> BoxFuture<'_, Result<(), RestError>>;
}

/// The process that serves a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// This process.
    Here,
    /// Another process.
    At(OtherProcess),
}

/// Another process that serves the same users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherProcess {
    /// Id of the process.
    pub id: String,
    /// Its URL for this process, without a path.
    pub url: String,
}

/// A refused request of an identified caller.
#[derive(Debug, Clone, Copy)]
pub struct RefusedAttempt<'a> {
    /// The requested route.
    pub route: Route,
    /// The caller.
    pub identity: &'a Identity,
    /// As in [`ApiRequest`].
    pub parameters: &'a BTreeMap<String, String>,
    /// The status of the refusal.
    pub status: u16,
    /// The refusal's error; `None` if the body was not read.
    pub problem: Option<&'a RestError>,
}

/// The surface of a virtual server for one caller.
pub struct ApiSurface {
    /// Opens the conversations of a new endpoint.
    pub connector: Box<dyn Connector>,
    /// A new version ends the conversations with the surface. The version is the same for equal settings of the
    /// server.
    pub version: u64,
    /// Whether the surface has its own tools, instead of those of upstream servers.
    pub has_own_tools: bool,
}

/// An admitted request to a route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiRequest {
    /// The requested route.
    pub route: Route,
    /// `None` if the route admits anyone.
    pub identity: Option<Identity>,
    /// The segments of the path that stand for `{name}`, decoded.
    pub parameters: BTreeMap<String, String>,
    /// The text after `?`, not decoded; empty without a query.
    pub query: String,
    /// The header `Accept`; empty without one.
    pub accept: String,
    /// Empty for GET and DELETE; otherwise empty or of type JSON, at most 16 MiB.
    pub body: Vec<u8>,
}

/// Parts of a streamed body. After an error, the connection closes without the end of the body.
pub type ReplyParts = BoxStream<'static, Result<Vec<u8>, RestError>>;

/// An answer to REST or JSON-RPC.
pub struct ApiReply {
    pub(super) status: u16,
    pub(super) content_type: Option<&'static str>,
    pub(super) body: ReplyBody,
    /// Header `X-Next-Cursor`: the start of a list's next page.
    pub(super) next_cursor: Option<String>,
}

/// The body of an answer.
pub(super) enum ReplyBody {
    Whole(Bytes),
    Parts(ReplyParts),
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
    /// A body of another media type, such as `text/csv`.
    pub fn of_type(status: u16, content_type: &'static str, body: impl Into<Vec<u8>>) -> ApiReply {
        ApiReply {
            status,
            content_type: Some(content_type),
            body: ReplyBody::Whole(Bytes::from(body.into())),
            next_cursor: None,
        }
    }

    /// 200, with a streamed body.
    pub fn streamed(content_type: &'static str, parts: ReplyParts) -> ApiReply {
        ApiReply {
            status: 200,
            content_type: Some(content_type),
            body: ReplyBody::Parts(parts),
            next_cursor: None,
        }
    }

    /// The same answer, with the parts of a streamed body mapped.
    pub(super) fn map_parts(mut self, map: impl FnOnce(ReplyParts) -> ReplyParts) -> ApiReply {
        self.body = match self.body {
            ReplyBody::Parts(parts) => ReplyBody::Parts(map(parts)),
            whole @ ReplyBody::Whole(_) => whole,
        };
        self
    }

    /// The same answer, as one page of a list.
    #[must_use]
    pub fn with_next_cursor(mut self, cursor: Option<String>) -> ApiReply {
        self.next_cursor = cursor;
        self
    }

    /// A body that is already JSON.
    pub fn json(status: u16, body: impl Into<Vec<u8>>) -> ApiReply {
        ApiReply::of_type(status, "application/json", body)
    }

    /// Plain text.
    pub fn text(status: u16, body: impl Into<Vec<u8>>) -> ApiReply {
        ApiReply::of_type(status, "text/plain; charset=utf-8", body)
    }

    /// An HTML page, which pages of other sites cannot frame.
    pub fn html(status: u16, body: impl Into<Vec<u8>>) -> ApiReply {
        ApiReply::of_type(status, "text/html; charset=utf-8", body)
    }

    /// The HTTP status.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The body as it is sent; empty if it is streamed.
    pub fn body(&self) -> &[u8] {
        match &self.body {
            ReplyBody::Whole(body) => body,
            ReplyBody::Parts(_) => &[],
        }
    }

    /// 204, without a body.
    pub fn no_content() -> ApiReply {
        ApiReply {
            status: 204,
            content_type: None,
            body: ReplyBody::Whole(Bytes::new()),
            next_cursor: None,
        }
    }
}
