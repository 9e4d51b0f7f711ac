//! Routes a request through its checks to the answer.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, HttpBody as _};
use axum::extract::{FromRequestParts as _, RawPathParams, Request};
use axum::response::Response;
use axum::routing::any;
use futures_util::future::BoxFuture;
use http::header::ACCEPT;
use http::request::Parts;
use identity::{Identity, Method, Permission, Route};
use rest::RestError;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use types::ServerId;

use super::attempt::{Attempt, recorded};
use super::challenge::{Challenge, RequestedUrl};
use super::forward::{self, Forwarder};
use super::principals::Principals;
use super::refusal::{self, ApiRefusal};
use super::rpc;
use super::token_turns::TokenTurns;
use super::watch::StreamWatch;
use crate::http::api::{Api, ApiReply, ApiRequest, ApiSurface};
use crate::http::body::BodyReader;
use crate::http::connections::under_way;
use crate::http::endpoint::Endpoint;
use crate::http::guard::{self, EntryGuard};
use crate::http::sse;

/// `Retry-After` while the process shuts down.
const RESTART: Duration = Duration::from_secs(2);

/// Issuers' reports that are processed at the same time.
const SIGN_OUTS: usize = 4;

/// Limit on concurrent requests for login pages. They need no token, and share a database connection with calls.
const LOGIN_PAGES: usize = 32;

/// State for every request of the address.
pub(super) struct ApiService {
    pub(super) api: Arc<dyn Api>,
    guard: EntryGuard,
    bodies: BodyReader,
    pub(super) principals: Principals,
    token_turns: TokenTurns,
    pub(super) forwarder: Forwarder,
    pub(super) recheck_every: Duration,
    /// Permits for reports of issuers.
    pub(super) sign_outs: Semaphore,
    pub(super) login_pages: Semaphore,
    /// Triggered at shutdown: new requests are refused, standing streams end.
    pub(super) draining: CancellationToken,
}

/// The owner of a valid token, with the permission for the route.
#[derive(Clone)]
pub(super) struct Caller {
    pub(super) identity: Identity,
    pub(super) token: String,
}

/// A request with its route, caller and parameters.
struct Admitted {
    route: Route,
    caller: Option<Caller>,
    parameters: BTreeMap<String, String>,
    head: Parts,
    body: Body,
}

/// Serves only the rows of the table.
pub(super) fn router(service: &Arc<ApiService>) -> Router {
    let mut paths: BTreeMap<&'static str, Vec<Route>> = BTreeMap::new();
    for route in Route::ALL {
        paths.entry(route.path()).or_default().push(*route);
    }
    let mut router = Router::new();
    for (path, rows) in paths {
        router = router.route(path, any(page(service, rows)));
    }
    router.fallback(page(service, Vec::new()))
}

/// The handler of a path with these rows.
fn page(
    service: &Arc<ApiService>,
    rows: Vec<Route>,
) -> impl Fn(Request) -> BoxFuture<'static, Response> + Clone + use<> {
    let (service, rows): (_, Arc<[Route]>) = (Arc::clone(service), rows.into());
    move |request| {
        let (service, rows) = (Arc::clone(&service), Arc::clone(&rows));
        Box::pin(async move {
            let route = row_of(&rows, request.method());
            let begun = Instant::now();
            let url = RequestedUrl::of(&request, &service.guard.source(&request));
            let challenge = Challenge::of(&*service.api, &request, url.as_ref());
            let response = service.respond(rows, request, url).await;
            let mut response = response.unwrap_or_else(ApiRefusal::into_response);
            if let Some(challenge) = challenge {
                challenge.complete(&mut response);
            }
            service
                .api
                .answered(route, response.status().as_u16(), begun.elapsed());
            response
        })
    }
}

/// The row with this method.
fn row_of(rows: &[Route], method: &http::Method) -> Option<Route> {
    rows.iter()
        .find(|row| row.method().name() == method.as_str())
        .copied()
}

// === impl ApiService ===

impl ApiService {
    pub(super) fn new(api: Arc<dyn Api>, guard: EntryGuard, recheck_every: Duration) -> Arc<ApiService> {
        Arc::new(ApiService {
            forwarder: Forwarder::new(Arc::clone(&api)),
            api,
            guard,
            bodies: BodyReader::new(),
            principals: Principals::default(),
            token_turns: TokenTurns::default(),
            recheck_every,
            sign_outs: Semaphore::new(SIGN_OUTS),
            login_pages: Semaphore::new(LOGIN_PAGES),
            draining: CancellationToken::new(),
        })
    }

    /// The virtual server's surface. If the caller may not use the server, its conversations there end.
    pub(super) async fn surface(
        &self,
        identity: &Identity,
        server: &ServerId,
        permission: Permission,
    ) -> Result<ApiSurface, RestError> {
        let surface = self.api.surface(identity, server, permission).await;
        if let Err(RestError::NotFound(_) | RestError::Forbidden(_)) = &surface {
            self.principals.state(identity).forget(identity, server);
        }
        surface
    }

    async fn respond(
        self: &Arc<Self>,
        rows: Arc<[Route]>,
        request: Request,
        url: Option<RequestedUrl>,
    ) -> Result<Response, ApiRefusal> {
        let admitted = self.admit(rows, request).await?;
        match admitted.route {
            Route::Health => Ok(refusal::reply(ApiReply::text(200, "ok\n"))),
            Route::Ready => {
                self.api.ready().await?;
                Ok(refusal::reply(ApiReply::text(200, "ready\n")))
            }
            Route::ResourceMetadata | Route::McpResourceMetadata | Route::SseResourceMetadata => {
                let metadata = url.and_then(|url| self.api.resource_metadata(&url.described()));
                let metadata = metadata.ok_or_else(no_page)?;
                Ok(refusal::reply(ApiReply::json(200, metadata)))
            }
            route @ (Route::LoginLink | Route::LoginStart | Route::LoginCallback) => {
                let secret = admitted.parameters.get("secret").map_or("", String::as_str);
                let url = url.map(|url| url.described());
                let request = (&admitted.head, admitted.body);
                self.login_page(route, secret, request, url).await
            }
            Route::BackChannelLogout => self.sign_out(&admitted.head.headers, admitted.body).await,
            route if is_mcp(route) => self.mcp(admitted).await,
            _ => self.rest(admitted).await,
        }
    }

    /// Decides by the request's head, before reading the body.
    async fn admit(&self, rows: Arc<[Route]>, request: Request) -> Result<Admitted, ApiRefusal> {
        self.guard.check(&request)?;
        let client = self.guard.client(&request);
        if rows.is_empty() {
            return Err(no_page().into());
        }
        let (mut head, body) = request.into_parts();
        let Some(route) = row_of(&rows, &head.method) else {
            return Err(ApiRefusal::Method(rows));
        };
        // A process that shuts down is still healthy.
        if self.draining.is_cancelled() && route != Route::Health {
            return Err(draining().into());
        }
        let parameters = parameters(&mut head).await?;
        let caller = self.caller(route, &parameters, &head).await;
        let caller = caller.inspect_err(|refusal| note_refusal(refusal, client))?;
        Ok(Admitted {
            route,
            caller,
            parameters,
            head,
            body,
        })
    }

    /// The caller, if the route needs one.
    async fn caller(
        &self,
        route: Route,
        parameters: &BTreeMap<String, String>,
        head: &Parts,
    ) -> Result<Option<Caller>, ApiRefusal> {
        if route.admit(None).is_ok() {
            return Ok(None);
        }
        let token = guard::bearer(&head.headers).ok_or(RestError::Unauthenticated)?;
        let identified = self.token_turns.in_turn(token, self.api.identify(token));
        let identity = identified.await?;
        let identity = identity.ok_or(RestError::Unauthenticated)?;
        if !identity.is_for_path(head.uri.path()) {
            let why = "the token is for another virtual server; ask for one with this URL as its resource";
            return Err(RestError::InvalidToken(why.to_owned()).into());
        }
        if let Err(refusal) = route.admit(Some(&identity)) {
            let attempt = Attempt::of(route, &identity, parameters);
            let refusal = ApiRefusal::from(refusal).with_scopes(&identity);
            return Err(recorded(&*self.api, attempt.as_ref(), refusal).await);
        }
        let token = token.to_owned();
        Ok(Some(Caller { identity, token }))
    }

    async fn rest(self: &Arc<Self>, admitted: Admitted) -> Result<Response, ApiRefusal> {
        let Admitted {
            route,
            caller,
            parameters,
            head,
            body,
        } = admitted;
        let identity = caller.as_ref().map(|caller| caller.identity.clone());
        let watched = caller.clone();
        let attempt = identity
            .as_ref()
            .and_then(|identity| Attempt::of(route, identity, &parameters));
        let server = ServerId::new(parameters.get("id").map_or("", String::as_str));
        let state = identity.as_ref().map(|identity| self.principals.state(identity));
        let place = state.as_ref().map(|state| state.place()).transpose()?;
        let has_body = matches!(route.method(), Method::Post | Method::Put) && !body.is_end_stream();
        let body = match &state {
            Some(state) if has_body => {
                let read = self.bodies.read_shared(&state.bodies, &head.headers, body).await;
                match read {
                    Ok(body) => body,
                    Err(broken) => return Err(recorded(&*self.api, attempt.as_ref(), broken.into()).await),
                }
            }
            _ => Vec::new(),
        };
        let answering = async {
            let answered = match (route, identity) {
                (Route::Rpc, Some(identity)) => rpc::answer(self, &identity, (&head, &body)).await,
                (Route::ListServerTools, Some(identity)) => rpc::tools(self, &identity, &server).await,
                (route, identity) => {
                    let query = head.uri.query().unwrap_or_default().to_owned();
                    let accept = head.headers.get_all(ACCEPT).iter();
                    let accept: Vec<&str> = accept.filter_map(|accept| accept.to_str().ok()).collect();
                    let request = ApiRequest {
                        route,
                        identity,
                        parameters,
                        query,
                        accept: accept.join(","),
                        body,
                    };
                    let answered = match (route, &state) {
                        (Route::ReplayRun, _) => self.replay(&server, request, &head).await,
                        // `TestUpstream` waits for the upstream server.
                        (Route::TestUpstream, _) | (_, None) => self.api.answer(request).await,
                        (_, Some(state)) => state.in_turn(self.api.answer(request)).await,
                    };
                    match (route, answered) {
                        (Route::ListSessions, Ok(own)) => self.forwarder.with_others(&head, own).await,
                        (_, answered) => answered,
                    }
                }
            };
            match answered {
                Ok(reply) => refusal::reply(self.while_admitted(caller, reply)),
                Err(problem) => recorded(&*self.api, attempt.as_ref(), problem.into())
                    .await
                    .into_response(),
            }
        };
        let answering = self.while_valid(watched, answering);
        Ok(under_way(&head.extensions, place, answering).await)
    }

    async fn mcp(self: &Arc<Self>, admitted: Admitted) -> Result<Response, ApiRefusal> {
        let Admitted {
            route,
            caller,
            parameters,
            head,
            body,
        } = admitted;
        let caller = caller.ok_or(RestError::Unauthenticated)?;
        let watched = caller.clone();
        let Caller { identity, token } = caller;
        let scoped = identity.clone();
        let server = ServerId::new(parameters.get("id").map_or("", String::as_str));
        let state = self.principals.state(&identity);
        let place = state.place()?;
        let body = match route.method() {
            Method::Post => {
                self.bodies
                    .read_shared(&state.bodies, &head.headers, body)
                    .await?
            }
            _ => Vec::new(),
        };
        let answering = async {
            let surface = state.in_turn(self.surface(&identity, &server, Permission::ServersUse));
            let surface = surface.await?;
            let version = surface.version;
            let elsewhere = self
                .forwarder
                .elsewhere(&identity, &server, (&head, &body))
                .await?;
            let response = match elsewhere {
                Some(answer) => forward::response(route, answer),
                None => {
                    let endpoint = state.endpoint(&identity, &server, surface)?;
                    served_here(&endpoint, route, &head, &body).await
                }
            };
            let watch = StreamWatch {
                service: Arc::clone(self),
                token,
                identity,
                route,
                server,
                version,
            };
            Ok(watch.over(response))
        };
        let answering = async {
            let answered: Result<Response, ApiRefusal> = answering.await;
            answered.unwrap_or_else(|refusal| refusal.with_scopes(&scoped).into_response())
        };
        let answering = self.while_valid(Some(watched), answering);
        Ok(under_way(&head.extensions, Some(place), answering).await)
    }
}

/// Answers a request of MCP by the surface in this process.
async fn served_here(endpoint: &Arc<Endpoint>, route: Route, head: &Parts, body: &[u8]) -> Response {
    match route {
        Route::McpMessage => endpoint.answer(&head.headers, body).await,
        Route::McpStream => endpoint.stream(&head.headers),
        Route::McpEnd => endpoint.end(&head.headers),
        Route::SseMessage => sse::message(endpoint, head.uri.query().unwrap_or_default(), body).await,
        _ => sse::open(endpoint, &messages_path(head.uri.path())),
    }
}

fn note_refusal(refusal: &ApiRefusal, client: Option<IpAddr>) {
    if refusal.status() == 401 {
        guard::note_refused_token(client);
    }
}

fn is_mcp(route: Route) -> bool {
    matches!(
        route,
        Route::McpMessage | Route::McpStream | Route::McpEnd | Route::SseStream | Route::SseMessage
    )
}

/// The path for the messages of the stream at `/servers/{id}/sse`, as the client encoded the id.
fn messages_path(stream: &str) -> String {
    format!("{}/message", stream.strip_suffix("/sse").unwrap_or(stream))
}

async fn parameters(head: &mut Parts) -> Result<BTreeMap<String, String>, RestError> {
    let parameters = RawPathParams::from_request_parts(head, &()).await;
    let parameters = parameters.map_err(|problem| RestError::BadRequest(problem.body_text()))?;
    let owned = parameters
        .iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let owned: BTreeMap<String, String> = owned.collect();
    match owned.values().any(String::is_empty) {
        true => Err(no_page()),
        false => Ok(owned),
    }
}

fn no_page() -> RestError {
    RestError::NotFound("unknown path; `/openapi.json` lists the paths".to_owned())
}

fn draining() -> RestError {
    RestError::Unavailable {
        message: "the server is shutting down".to_owned(),
        retry_after: RESTART,
    }
}
