//! Servers' resources and prompts for programs: listed, read and filled in.

use std::time::Duration;

use futures_util::future::join_all;
use sandbox::CallContext;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use types::{HostCallError, Reach};
use upstream::{MAX_LIST_BYTES, RelayRequest, UpstreamError};

use crate::call::{RelayError, as_host_call};
use crate::error;
use crate::run::{Args, HostCallResult, RunCalls, raw};

/// Longest wait for each server when several servers are listed.
const LIST_PATIENCE: Duration = Duration::from_secs(20);
/// Maximum number of pages requested of one list.
const MOST_PAGES: usize = 100;
const METHOD_NOT_FOUND: i64 = -32601;

#[derive(Deserialize)]
struct Page {
    #[serde(default, alias = "resources", alias = "resourceTemplates", alias = "prompts")]
    items: Vec<Value>,
    #[serde(rename = "nextCursor")]
    next: Option<String>,
}

impl RunCalls {
    /// Answers the host calls `resources`, `resource`, `prompts`, `prompt` and `completion`.
    pub(crate) async fn answer_offer(
        &self,
        call: &str,
        mut args: Args,
        context: &CallContext,
    ) -> HostCallResult {
        let server = args.optional_text("server")?;
        match call {
            "resources" => {
                let resources = self.listed(server.as_deref(), "resources/list", context).await?;
                let templates = self
                    .listed(server.as_deref(), "resources/templates/list", context)
                    .await?;
                raw(&json!({"resources": resources, "templates": templates}))
            }
            "prompts" => {
                let prompts = self.listed(server.as_deref(), "prompts/list", context).await?;
                raw(&json!({"prompts": prompts}))
            }
            "resource" => {
                let uri = args.text("uri")?;
                let server = match server {
                    Some(server) => self.reachable(&server).await?,
                    None => self.server_of(&uri, context).await?,
                };
                self.ask(&server, "resources/read", object(json!({"uri": uri})), context)
                    .await
            }
            "completion" => {
                let server = match (server, args.optional_text("template")?) {
                    (Some(server), template) => (self.reachable(&server).await?, template),
                    (None, Some(template)) => (self.server_of(&template, context).await?, Some(template)),
                    (None, None) => return Err(error::bad_call("'server' is missing")),
                };
                self.complete(server, args, context).await
            }
            _ => {
                let name = args.text("name")?;
                let server = server.ok_or_else(|| error::bad_call("'server' is missing"))?;
                let server = self.reachable(&server).await?;
                let arguments = args.take("args").unwrap_or_else(|| json!({}));
                let params = object(json!({"name": name, "arguments": arguments}));
                self.ask(&server, "prompts/get", params, context).await
            }
        }
    }

    /// The list of one server, or of all servers that the run reaches; each item has its server's name.
    async fn listed(
        &self,
        server: Option<&str>,
        method: &str,
        context: &CallContext,
    ) -> Result<Vec<Value>, HostCallError> {
        if let Some(server) = server {
            let server = self.reachable(server).await?;
            return self.list_of(&server, method, context).await;
        }
        let catalog = self.core.snapshot.current().await;
        let reach = &self.run.profile.reach;
        let names = catalog.servers().map(|server| server.name.clone());
        let names: Vec<String> = names.filter(|name| reach.holds(name)).collect();
        let lists = join_all(names.iter().map(|name| self.list_of(name, method, context))).await;
        // A failing server loses only its own items; if the program named the server, it gets the error. If all
        // servers fail, the list fails too.
        match lists
            .iter()
            .all(Result::is_err)
            .then(|| lists.first().cloned())
            .flatten()
        {
            Some(failed) => failed,
            None => Ok(lists.into_iter().flatten().flatten().collect()),
        }
    }

    async fn list_of(
        &self,
        server: &str,
        method: &str,
        context: &CallContext,
    ) -> Result<Vec<Value>, HostCallError> {
        let mut items = Vec::new();
        let mut params = Map::new();
        let deadline = context.clock.deadline().min(Instant::now() + LIST_PATIENCE);
        let mut bytes = 0;
        for _ in 0..MOST_PAGES {
            let question = question(server, method, std::mem::take(&mut params), deadline);
            let answer = self
                .core
                .relay(&self.principal, None, question, &context.cancel)
                .await;
            let page = match answer {
                Ok(answer) => answer,
                Err(RelayError::Upstream(UpstreamError::Refused {
                    code: METHOD_NOT_FOUND,
                    ..
                })) => return Ok(items),
                Err(failed) => return Err(as_host_call(&failed)),
            };
            bytes += page.get().len();
            if bytes > MAX_LIST_BYTES {
                break;
            }
            let page: Page = serde_json::from_str(page.get())
                .map_err(|_| error::internal("the server's list could not be read"))?;
            items.extend(page.items.into_iter().filter(Value::is_object).map(|mut item| {
                item["server"] = json!(server);
                item
            }));
            match page.next {
                Some(next) => params.insert("cursor".to_owned(), json!(next)),
                None => return Ok(items),
            };
        }
        Err(error::endless(server, method, MOST_PAGES))
    }

    /// The server that lists this resource, or a template with the same beginning.
    async fn server_of(&self, uri: &str, context: &CallContext) -> Result<String, HostCallError> {
        let server = |item: &Value| item["server"].as_str().map(str::to_owned);
        let resources = self.listed(None, "resources/list", context).await?;
        if let Some(server) = resources.iter().find(|item| item["uri"] == uri).and_then(server) {
            return Ok(server);
        }
        let templates = self.listed(None, "resources/templates/list", context).await?;
        let fixed = |item: &Value| {
            let template = item["uriTemplate"].as_str().unwrap_or_default();
            template.split('{').next().unwrap_or_default().len()
        };
        let fitting = templates.iter().filter(|item| {
            let template = item["uriTemplate"].as_str().unwrap_or_default();
            let length = fixed(item);
            length > 0 && uri.starts_with(&template[..length])
        });
        // Among equal matches, take the first in the configuration.
        let found = fitting.rev().max_by_key(|item| fixed(item)).and_then(server);
        found.ok_or_else(|| {
            error::bad_call(format!(
                "no server lists the resource {uri:?}; name its server, as in read(uri, server=\"name\")"
            ))
        })
    }

    /// The configured name of a server that the run may call.
    async fn reachable(&self, server: &str) -> Result<String, HostCallError> {
        let catalog = self.core.snapshot.current().await;
        let reach = &self.run.profile.reach;
        match catalog.server(server) {
            Ok(found) if reach.holds(&found.name) => Ok(found.name.clone()),
            Err(unknown) if matches!(reach, Reach::All) => Err(error::unknown(&unknown)),
            _ => Err(error::not_loaded(server)),
        }
    }

    /// The server's completions for an argument of a prompt, or for a variable of a URI template.
    async fn complete(
        &self,
        (server, template): (String, Option<String>),
        mut args: Args,
        context: &CallContext,
    ) -> HostCallResult {
        let reference = match template {
            Some(template) => json!({"type": "ref/resource", "uri": template}),
            None => json!({"type": "ref/prompt", "name": args.text("name")?}),
        };
        let argument = json!({"name": args.text("argument")?, "value": args.text("value")?});
        let mut params = object(json!({"ref": reference, "argument": argument}));
        if let Some(others) = args.take("args") {
            params.insert("context".to_owned(), json!({"arguments": others}));
        }
        self.ask(&server, "completion/complete", params, context).await
    }

    async fn ask(
        &self,
        server: &str,
        method: &str,
        params: Map<String, Value>,
        context: &CallContext,
    ) -> HostCallResult {
        let question = question(server, method, params, context.clock.deadline());
        let answer = self
            .core
            .relay(&self.principal, Some(&self.run.run), question, &context.cancel)
            .await;
        answer.map_err(|failed| as_host_call(&failed))
    }
}

fn question(server: &str, method: &str, params: Map<String, Value>, deadline: Instant) -> RelayRequest {
    RelayRequest {
        server: server.to_owned(),
        method: method.to_owned(),
        params,
        meta: Map::new(),
        progress: None,
        deadline,
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
