//! The handler of the `standard` surface: finds the server of each request and relays the request, in both eras.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use rmcp::model::ErrorCode;
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use upstream::{MAX_LIST_BYTES, RelayRequest};

use super::client::{Downstream, forward};
use super::lists::{self, ListKind, Page, ServerList};
use super::routes::{Route, Routes};
use super::service::{Listing, StandardService, Upstream};
use super::suspended::SuspendedCalls;
use crate::error::RequestError;
use crate::request::{self, is_modern};
use crate::surface::{Surface, WireRules};

/// Time limit of one server's part of a joined list.
const LIST_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum number of pages of one server's list.
const MAX_PAGES: usize = 100;
/// The protocol's log levels, most verbose first.
pub const LOG_LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];

/// The `standard` surface for one client. `closed` ends every request of the client.
pub fn standard<S: StandardService>(service: S, closed: CancellationToken) -> Surface<impl ServerHandler> {
    let (client, notifications) = Downstream::new();
    service.attach(client.clone());
    let handler = StandardHandler {
        service: Arc::new(service),
        client: client.clone(),
        routes: Arc::default(),
        suspended: SuspendedCalls::default(),
        closed,
    };
    let tools = handler.watch_tools();
    Surface {
        handler,
        wire: WireRules::RELAY,
        background: Box::pin(async {
            tokio::join!(forward(client, notifications), tools);
        }),
    }
}

pub(super) struct StandardHandler<S> {
    pub(super) service: Arc<S>,
    pub(super) client: Arc<Downstream>,
    routes: Arc<Mutex<Routes>>,
    /// A modern client's calls whose servers asked for input.
    pub(super) suspended: SuspendedCalls,
    pub(super) closed: CancellationToken,
}

/// Text of the result.
pub(super) type HandlerResult = Result<String, RequestError>;

impl<S: StandardService> StandardHandler<S> {
    /// Notifies the client when the tools differ from the tools last sent. Never ends.
    fn watch_tools(&self) -> impl Future<Output = ()> + Send + use<S> {
        let (client, routes) = (self.client.clone(), self.routes.clone());
        let mut listed = self.service.listed();
        async move {
            while listed.changed().await.is_ok() {
                let current = listed.borrow_and_update().clone();
                let is_outdated = {
                    let mut routes = routes.lock().unwrap_or_else(PoisonError::into_inner);
                    let outdated = routes.sent.take_if(|sent| !Arc::ptr_eq(sent, &current));
                    outdated.is_some()
                };
                if is_outdated {
                    client.changed(|changes| changes.tools += 1);
                }
            }
        }
    }

    pub(super) async fn answer(
        &self,
        method: &str,
        mut params: Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> HandlerResult {
        if let Some(kind) = ListKind::of(method) {
            return self.list(kind, params, context).await;
        }
        match method {
            "tools/list" => {
                let definitions = self.tools().await;
                self.note_tools_sent();
                Ok(lists::page("tools", &definitions, &params)?.0)
            }
            "tools/call" => {
                let name = text(&params, "name")?;
                let route = self.tool(&name).await?;
                params.insert("name".to_owned(), json!(route.name));
                self.relay(&route.server, method, params, context).await
            }
            "prompts/get" => {
                let name = text(&params, "name")?;
                let route = self.prompt(&name, context).await?;
                params.insert("name".to_owned(), json!(route.name));
                self.relay(&route.server, method, params, context).await
            }
            "resources/read" => self.by_uri(method, params, context).await,
            "resources/subscribe" | "resources/unsubscribe" if !is_modern(context) => {
                self.by_uri(method, params, context).await
            }
            "completion/complete" => self.complete(params, context).await,
            "logging/setLevel" if !is_modern(context) => self.set_level(&params).await,
            _ => Err(request::not_understood(method, context)),
        }
    }

    /// Treats the current tools as sent, so that a new subscriber is notified of the next change.
    pub(super) fn expect_tool_change(&self) {
        let current = self.service.listed().borrow().clone();
        let mut routes = self.routes();
        if routes.listed.is_some() {
            routes.sent.get_or_insert(current);
        }
    }

    /// All servers' tools under the clients' names.
    async fn tools(&self) -> Vec<String> {
        let Listing { upstreams, listed } = self.upstreams().await;
        let (tools, definitions) = lists::tools(&upstreams);
        let mut routes = self.routes();
        routes.tools = tools;
        routes.listed = Some(listed);
        definitions
    }

    /// Stores the list of tools being sent, to detect changes. Notifies at once if the tools have changed meanwhile.
    fn note_tools_sent(&self) {
        let current = self.service.listed().borrow().clone();
        let mut routes = self.routes();
        let is_outdated = routes
            .listed
            .as_ref()
            .is_some_and(|listed| !Arc::ptr_eq(listed, &current));
        routes.sent = routes.listed.clone().filter(|_| !is_outdated);
        drop(routes);
        if is_outdated {
            self.client.changed(|changes| changes.tools += 1);
        }
    }

    async fn tool(&self, name: &str) -> Result<Route, RequestError> {
        let listed = self.service.listed().borrow().clone();
        let known = {
            let routes = self.routes();
            let is_current = routes
                .listed
                .as_ref()
                .is_some_and(|known| Arc::ptr_eq(known, &listed));
            routes.tools.get(name).filter(|_| is_current).cloned()
        };
        if let Some(route) = known {
            return Ok(route);
        }
        self.tools().await;
        if let Some(route) = self.routes().tools.get(name).cloned() {
            return Ok(route);
        }
        let upstreams = self.upstreams().await.upstreams;
        match upstreams.as_slice() {
            // The only server may have unlisted tools, so every name is routed to it.
            [only] => Ok(Route {
                server: only.name.clone(),
                name: name.to_owned(),
            }),
            _ => Err(RequestError::UnknownTool(name.to_owned())),
        }
    }

    async fn prompt(&self, name: &str, context: &RequestContext<RoleServer>) -> Result<Route, RequestError> {
        let upstreams = self.upstreams().await.upstreams;
        if let [only] = upstreams.as_slice() {
            return Ok(Route {
                server: only.name.clone(),
                name: name.to_owned(),
            });
        }
        let known = self.routes().prompts.get(name).cloned();
        if let Some(route) = known {
            return Ok(route);
        }
        self.fetch(ListKind::Prompts, &upstreams, context).await;
        let known = self.routes().prompts.get(name).cloned();
        known.ok_or_else(|| RequestError::UnknownPrompt(name.to_owned()))
    }

    async fn by_uri(
        &self,
        method: &str,
        params: Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> HandlerResult {
        let uri = text(&params, "uri")?;
        let server = self.server_of(&uri, context).await?;
        self.relay(&server, method, params, context).await
    }

    async fn server_of(
        &self,
        uri: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<String, RequestError> {
        let upstreams = self.upstreams().await.upstreams;
        if let [only] = upstreams.as_slice() {
            return Ok(only.name.clone());
        }
        let known = self.routes().server_of(uri).map(str::to_owned);
        if let Some(server) = known {
            return Ok(server);
        }
        for kind in [ListKind::Resources, ListKind::Templates] {
            self.fetch(kind, &upstreams, context).await;
        }
        let known = self.routes().server_of(uri).map(str::to_owned);
        known.ok_or_else(|| RequestError::UnlistedResource {
            uri: uri.to_owned(),
            code: match is_modern(context) {
                true => ErrorCode::INVALID_PARAMS,
                false => ErrorCode::RESOURCE_NOT_FOUND,
            },
        })
    }

    async fn complete(
        &self,
        mut params: Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> HandlerResult {
        let reference = params.get("ref").cloned().unwrap_or_default();
        let server = if let Some(name) = reference["name"].as_str() {
            let route = self.prompt(name, context).await?;
            params["ref"]["name"] = json!(route.name);
            route.server
        } else if let Some(uri) = reference["uri"].as_str() {
            self.server_of(uri, context).await?
        } else {
            return Err(RequestError::CompletionReference);
        };
        self.relay(&server, "completion/complete", params, context).await
    }

    /// Sets a legacy client's log level and passes it on to the servers.
    async fn set_level(&self, params: &Map<String, Value>) -> HandlerResult {
        let level = text(params, "level")?;
        if !LOG_LEVELS.contains(&level.as_str()) {
            return Err(RequestError::LogLevel(LOG_LEVELS.join(", ")));
        }
        self.client.set_log_level(level);
        self.service.tell_log_level().await;
        Ok("{}".to_owned())
    }

    async fn list(
        &self,
        kind: ListKind,
        params: Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> HandlerResult {
        let upstreams = self.upstreams().await.upstreams;
        if let [only] = upstreams.as_slice() {
            return match self.relay(&only.name, kind.method(), params, context).await {
                // We declare every capability to the client, but this server may lack it.
                Err(RequestError::Upstream(refusal)) if refusal.code == ErrorCode::METHOD_NOT_FOUND.0 => {
                    Ok(format!("{{\"{}\":[]}}", kind.key()))
                }
                answer => answer,
            };
        }
        // All pages are cut from one list, stored until the client has read the last page.
        let unfinished = params
            .contains_key("cursor")
            .then(|| self.routes().unfinished.remove(&kind));
        let definitions = match unfinished.flatten() {
            Some(definitions) => definitions,
            None => self.fetch(kind, &upstreams, context).await,
        };
        let (page, is_last) = lists::page(kind.key(), &definitions, &params)?;
        if !is_last {
            self.routes().unfinished.insert(kind, definitions);
        }
        Ok(page)
    }

    /// Requests a list from all servers and updates the routes. Leaves out servers that fail.
    async fn fetch(
        &self,
        kind: ListKind,
        upstreams: &[Upstream],
        context: &RequestContext<RoleServer>,
    ) -> Vec<String> {
        let requests = upstreams.iter().map(|upstream| async move {
            ServerList {
                upstream,
                definitions: self.whole_list(kind, upstream, context).await,
            }
        });
        let lists = join_all(requests).await;
        kind.update(&mut self.routes(), &lists)
    }

    /// All pages of one server's list; after an error, the pages before it.
    async fn whole_list(
        &self,
        kind: ListKind,
        upstream: &Upstream,
        context: &RequestContext<RoleServer>,
    ) -> Vec<Box<RawValue>> {
        let (server, method) = (&upstream.name, kind.method());
        let deadline = Instant::now() + LIST_TIMEOUT;
        let mut definitions = Vec::new();
        let mut params = Map::new();
        let mut bytes = 0;
        for _ in 0..MAX_PAGES {
            let request = self.upstream_request(server, method, std::mem::take(&mut params), context);
            let request = RelayRequest { deadline, ..request };
            let answer = self.service.relay(request, CancellationToken::new()).await;
            let page = match answer {
                Ok(page) => page,
                Err(refusal) => {
                    if refusal.code != ErrorCode::METHOD_NOT_FOUND.0 {
                        tracing::warn!(%server, method, "left out of the list: {}", refusal.message);
                    }
                    return definitions;
                }
            };
            bytes += page.get().len();
            if bytes > MAX_LIST_BYTES {
                break;
            }
            let page: Page = match serde_json::from_str(page.get()) {
                Ok(page) => page,
                Err(error) => {
                    tracing::warn!(%server, method, "left out of the list: {error}");
                    return definitions;
                }
            };
            definitions.extend(page.definitions);
            match page.next {
                Some(next) => params.insert("cursor".to_owned(), json!(next)),
                None => return definitions,
            };
        }
        let used = definitions.len();
        tracing::warn!(%server, method, "its list is too long; only the first {used} are used");
        definitions
    }

    async fn upstreams(&self) -> Listing {
        let listing = self.service.upstreams().await;
        self.client.set_server_count(listing.upstreams.len());
        listing
    }

    fn routes(&self) -> MutexGuard<'_, Routes> {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn text(params: &Map<String, Value>, name: &'static str) -> Result<String, RequestError> {
    let value = params.get(name).and_then(Value::as_str);
    value.map(str::to_owned).ok_or(RequestError::NotAString(name))
}
