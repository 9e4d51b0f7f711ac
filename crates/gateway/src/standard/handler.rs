//! The MCP handler of the `standard` surface: finds the server of each request and passes it on, in both eras.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use rmcp::RoleServer;
use rmcp::model::{ErrorCode, ErrorData};
use rmcp::service::RequestContext;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use upstream::{MAX_LIST_BYTES, Question};

use super::client::Downstream;
use super::directory::{Directory, Place};
use super::lists::{self, Contribution, Kind, Page};
use super::parked::Parked;
use super::service::{Listing, StandardService, Upstream};
use crate::running::{self, is_modern};

/// How long one server may take for a list that is joined with those of others.
const LIST_PATIENCE: Duration = Duration::from_secs(20);
/// Pages of a list that are asked for.
const MOST_PAGES: usize = 100;
/// How much a client may want to hear, as the protocol has it.
const LOG_LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];

/// One connection of a client that sees the `standard` surface.
pub(crate) struct StandardHandler<S> {
    pub(super) service: Arc<S>,
    pub(super) client: Arc<Downstream>,
    directory: Arc<Mutex<Directory>>,
    /// Calls of a client of the modern era whose servers have asked something.
    pub(super) parked: Parked,
    pub(super) closed: CancellationToken,
}

pub(super) type Answer = Result<String, ErrorData>;

impl<S: StandardService> StandardHandler<S> {
    /// `closed` ends everything that is under way for this connection.
    pub(crate) fn new(service: S, client: Arc<Downstream>, closed: CancellationToken) -> Self {
        service.attach(client.clone());
        Self {
            service: Arc::new(service),
            client,
            directory: Arc::default(),
            parked: Parked::default(),
            closed,
        }
    }

    /// Tells the client when the tools are others than those that it was shown last; never ends.
    pub(crate) fn watch_tools(&self) -> impl Future<Output = ()> + Send + use<S> {
        let (client, directory) = (self.client.clone(), self.directory.clone());
        let mut listed = self.service.listed();
        async move {
            while listed.changed().await.is_ok() {
                let now = listed.borrow_and_update().clone();
                let is_currents = {
                    let mut directory = directory.lock().unwrap_or_else(PoisonError::into_inner);
                    directory
                        .shown
                        .take_if(|shown| !Arc::ptr_eq(shown, &now))
                        .is_some()
                };
                if is_currents {
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
    ) -> Answer {
        if let Some(kind) = Kind::of(method) {
            return self.list(kind, params, context).await;
        }
        match method {
            "tools/list" => {
                let definitions = self.tools().await;
                self.show_tools();
                Ok(lists::page("tools", &definitions, &params)?.0)
            }
            "tools/call" => {
                let name = text(&params, "name")?;
                let place = self.tool(&name).await?;
                params.insert("name".to_owned(), json!(place.name));
                self.relay(&place.server, method, params, context).await
            }
            "prompts/get" => {
                let name = text(&params, "name")?;
                let place = self.prompt(&name, context).await?;
                params.insert("name".to_owned(), json!(place.name));
                self.relay(&place.server, method, params, context).await
            }
            "resources/read" => self.by_uri(method, params, context).await,
            "resources/subscribe" | "resources/unsubscribe" if !is_modern(context) => {
                self.by_uri(method, params, context).await
            }
            "completion/complete" => self.complete(params, context).await,
            "logging/setLevel" if !is_modern(context) => self.set_level(&params).await,
            _ => Err(running::not_understood(method, is_modern(context))),
        }
    }

    /// Has a client that has seen the tools hear of the next change, as if it had been shown those of now.
    pub(super) fn expect_change_of_tools(&self) {
        let now = self.service.listed().borrow().clone();
        let mut directory = self.directory();
        if directory.listed.is_some() {
            directory.shown.get_or_insert(now);
        }
    }

    /// The tools of all servers as clients see them.
    async fn tools(&self) -> Vec<String> {
        let Listing { upstreams, listed } = self.upstreams().await;
        let (tools, definitions) = lists::tools(&upstreams);
        let mut directory = self.directory();
        directory.tools = tools;
        directory.listed = Some(listed);
        definitions
    }

    /// Remembers what the client is shown, so that it hears of changes; also of one that has just been made.
    fn show_tools(&self) {
        let now = self.service.listed().borrow().clone();
        let mut directory = self.directory();
        let is_old = directory
            .listed
            .as_ref()
            .is_some_and(|listed| !Arc::ptr_eq(listed, &now));
        directory.shown = directory.listed.clone().filter(|_| !is_old);
        drop(directory);
        if is_old {
            self.client.changed(|changes| changes.tools += 1);
        }
    }

    async fn tool(&self, name: &str) -> Result<Place, ErrorData> {
        let listed = self.service.listed().borrow().clone();
        let known = {
            let directory = self.directory();
            let is_current = directory
                .listed
                .as_ref()
                .is_some_and(|known| Arc::ptr_eq(known, &listed));
            directory.tools.get(name).filter(|_| is_current).cloned()
        };
        if let Some(place) = known {
            return Ok(place);
        }
        self.tools().await;
        if let Some(place) = self.directory().tools.get(name).cloned() {
            return Ok(place);
        }
        let upstreams = self.upstreams().await.upstreams;
        match upstreams.as_slice() {
            // It may have tools that it does not list to everybody.
            [only] => Ok(Place {
                server: only.name.clone(),
                name: name.to_owned(),
            }),
            _ => Err(ErrorData::invalid_params(format!("Unknown tool: {name}"), None)),
        }
    }

    async fn prompt(&self, name: &str, context: &RequestContext<RoleServer>) -> Result<Place, ErrorData> {
        let upstreams = self.upstreams().await.upstreams;
        if let [only] = upstreams.as_slice() {
            return Ok(Place {
                server: only.name.clone(),
                name: name.to_owned(),
            });
        }
        let known = self.directory().prompts.get(name).cloned();
        if let Some(place) = known {
            return Ok(place);
        }
        self.learn(Kind::Prompts, &upstreams, context).await;
        let known = self.directory().prompts.get(name).cloned();
        known.ok_or_else(|| ErrorData::invalid_params(format!("Unknown prompt: {name}"), None))
    }

    async fn by_uri(
        &self,
        method: &str,
        params: Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> Answer {
        let uri = text(&params, "uri")?;
        let server = self.server_of(&uri, context).await?;
        self.relay(&server, method, params, context).await
    }

    async fn server_of(&self, uri: &str, context: &RequestContext<RoleServer>) -> Result<String, ErrorData> {
        let upstreams = self.upstreams().await.upstreams;
        if let [only] = upstreams.as_slice() {
            return Ok(only.name.clone());
        }
        let known = self.directory().server_of(uri).map(str::to_owned);
        if let Some(server) = known {
            return Ok(server);
        }
        for kind in [Kind::Resources, Kind::Templates] {
            self.learn(kind, &upstreams, context).await;
        }
        let known = self.directory().server_of(uri).map(str::to_owned);
        known.ok_or_else(|| {
            let message =
                format!("Resource not found: {uri}; no connected server lists it or a template for it");
            let code = if is_modern(context) {
                ErrorCode::INVALID_PARAMS
            } else {
                ErrorCode::RESOURCE_NOT_FOUND
            };
            ErrorData::new(code, message, Some(json!({"uri": uri})))
        })
    }

    async fn complete(&self, mut params: Map<String, Value>, context: &RequestContext<RoleServer>) -> Answer {
        let reference = params.get("ref").cloned().unwrap_or_default();
        let server = if let Some(name) = reference["name"].as_str() {
            let place = self.prompt(name, context).await?;
            params["ref"]["name"] = json!(place.name);
            place.server
        } else if let Some(uri) = reference["uri"].as_str() {
            self.server_of(uri, context).await?
        } else {
            let message = "`ref` must name a prompt (`name`) or a resource template (`uri`)";
            return Err(ErrorData::invalid_params(message, None));
        };
        self.relay(&server, "completion/complete", params, context).await
    }

    /// Notes how much the client of the legacy era wants to hear of what servers log, and tells them.
    async fn set_level(&self, params: &Map<String, Value>) -> Answer {
        let level = text(params, "level")?;
        if !LOG_LEVELS.contains(&level.as_str()) {
            let message = format!("Invalid params: `level` must be one of {}", LOG_LEVELS.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        }
        self.client.set_log_level(level);
        self.service.tell_log_level().await;
        Ok("{}".to_owned())
    }

    async fn list(
        &self,
        kind: Kind,
        params: Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> Answer {
        let upstreams = self.upstreams().await.upstreams;
        if let [only] = upstreams.as_slice() {
            return match self.relay(&only.name, kind.method(), params, context).await {
                // It was declared for whatever server there is.
                Err(error) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                    Ok(format!("{{\"{}\":[]}}", kind.key()))
                }
                answer => answer,
            };
        }
        // Further pages are those of the same list; it is kept until the last of them.
        let begun = params
            .contains_key("cursor")
            .then(|| self.directory().begun.remove(&kind));
        let definitions = match begun.flatten() {
            Some(definitions) => definitions,
            None => self.learn(kind, &upstreams, context).await,
        };
        let (page, is_last) = lists::page(kind.key(), &definitions, &params)?;
        if !is_last {
            self.directory().begun.insert(kind, definitions);
        }
        Ok(page)
    }

    /// Asks all servers for such a list and takes the answers in; those that fail are left out.
    async fn learn(
        &self,
        kind: Kind,
        upstreams: &[Upstream],
        context: &RequestContext<RoleServer>,
    ) -> Vec<String> {
        let asked = upstreams.iter().map(|upstream| async move {
            Contribution {
                upstream,
                definitions: self.whole_list(kind, upstream, context).await,
            }
        });
        let lists = join_all(asked).await;
        kind.learn(&mut self.directory(), &lists)
    }

    /// All pages of one server, or as many as there were before something went wrong.
    async fn whole_list(
        &self,
        kind: Kind,
        upstream: &Upstream,
        context: &RequestContext<RoleServer>,
    ) -> Vec<Box<RawValue>> {
        let (server, method) = (&upstream.name, kind.method());
        let deadline = Instant::now() + LIST_PATIENCE;
        let mut definitions = Vec::new();
        let mut params = Map::new();
        let mut bytes = 0;
        for _ in 0..MOST_PAGES {
            let question = self.question(server, method, std::mem::take(&mut params), context);
            let answer = self.service.relay(Question { deadline, ..question }).await;
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
        self.client.know(listing.upstreams.len());
        listing
    }

    fn directory(&self) -> MutexGuard<'_, Directory> {
        self.directory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn text(params: &Map<String, Value>, name: &str) -> Result<String, ErrorData> {
    let value = params.get(name).and_then(Value::as_str);
    value
        .map(str::to_owned)
        .ok_or_else(|| ErrorData::invalid_params(format!("Invalid params: `{name}` must be a string"), None))
}
