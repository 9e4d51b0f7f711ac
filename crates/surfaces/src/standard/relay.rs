//! Relays a request to a server, with its progress and the server's questions, in either era.

use rmcp::RoleServer;
use rmcp::model::{CustomNotification, ServerNotification};
use rmcp::service::RequestContext;
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use types::Limits;
use upstream::RelayRequest;
use upstream_wire::DownstreamClient as _;

use super::handler::{HandlerResult, StandardHandler};
use super::input_router::ClientTerms;
use super::results;
use super::service::StandardService;
use super::suspended::{Call, Resumed};
use super::upstream_call::{Event, UpstreamCall};
use crate::error::RequestError;
use crate::request::{declared_capabilities, is_modern, meta};

/// Maximum rounds of input for a modern server, and maximum questions of a legacy server, in one call.
const MAX_ROUNDS: usize = 10;
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// Requests whose answer may be `input_required`.
const MAY_REQUIRE_INPUT: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];

impl<S: StandardService> StandardHandler<S> {
    pub(super) async fn relay(
        &self,
        server: &str,
        method: &str,
        params: Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> HandlerResult {
        let request = self.upstream_request(server, method, params, context);
        if is_modern(context) {
            self.relay_modern(request, context).await
        } else {
            self.relay_legacy(request, context).await
        }
    }

    /// Relays a call of a legacy client. The server's questions reach the client as requests, in either era of the
    /// server.
    async fn relay_legacy(
        &self,
        mut request: RelayRequest,
        context: &RequestContext<RoleServer>,
    ) -> HandlerResult {
        for _ in 0..MAX_ROUNDS {
            let mut call = UpstreamCall::start(&self.service, request.clone(), None);
            let raw = loop {
                match call.next().await {
                    Event::Progress(progress) => report(progress, context).await,
                    // The call is not in the input router, so no question arrives here.
                    Event::Input(_) => {}
                    Event::Answer(answer) => break answer?,
                }
            };
            let Some(required) = results::input_required(raw.get()) else {
                return Ok(raw.get().to_owned());
            };
            let mut responses = Map::new();
            for (key, input) in required.requests {
                let method = input["method"].as_str().unwrap_or_default().to_owned();
                let params = input.get("params").cloned();
                let answer = self.client.ask_client(&request.server, method, params).await;
                let answer = answer.map_err(|error| RequestError::Upstream(error.into()))?;
                responses.insert(key, answer);
            }
            request
                .params
                .insert("inputResponses".to_owned(), Value::Object(responses));
            if let Some(state) = required.state {
                request.params.insert("requestState".to_owned(), state);
            }
        }
        Err(too_many_questions(&request.server))
    }

    /// Relays a call of a modern client. A modern server's `input_required` passes unchanged. A legacy server sends a
    /// request during the call; the call is suspended until the client returns with the answers.
    async fn relay_modern(
        &self,
        request: RelayRequest,
        context: &RequestContext<RoleServer>,
    ) -> HandlerResult {
        let server = request.server.clone();
        let mut call = match self.suspended.resume(&request.method, &request.params)? {
            Some(Resumed::Complete(call)) => call,
            Some(Resumed::Incomplete(call)) => return self.suspended.suspend(call),
            None => {
                let terms = terms(&request.method, &request.meta);
                let open = self.client.input_router.open(&server, terms);
                let (method, params) = (request.method.clone(), request.params.clone());
                let upstream = UpstreamCall::start(&self.service, request, Some(open));
                Call::new(upstream, method, params)
            }
        };
        loop {
            let mut count = match call.upstream.next().await {
                Event::Progress(progress) => {
                    report(progress, context).await;
                    continue;
                }
                Event::Answer(answer) => return answer.map(|raw| raw.get().to_owned()),
                Event::Input(request) => call.add(request),
            };
            while let Some(request) = call.upstream.try_input() {
                count = call.add(request);
            }
            if count > MAX_ROUNDS {
                return Err(too_many_questions(&server));
            }
            return self.suspended.suspend(call);
        }
    }

    pub(super) fn upstream_request(
        &self,
        server: &str,
        method: &str,
        params: Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> RelayRequest {
        let mut meta = meta(context);
        if let Some(level) = self.client.log_level() {
            meta.entry(LOG_LEVEL).or_insert(json!(level));
        }
        RelayRequest {
            server: server.to_owned(),
            method: method.to_owned(),
            params,
            meta,
            progress: None,
            // A person may take long to answer, so the server's own `timeout` is paused.
            deadline: Instant::now() + Limits::MAX_WALL_TIME,
        }
    }
}

/// Sends a progress notification; does nothing without a progress token.
async fn report(mut progress: Value, context: &RequestContext<RoleServer>) {
    let Some(token) = context.meta.get_progress_token() else {
        return;
    };
    progress["progressToken"] = json!(token);
    let notification = CustomNotification::new("notifications/progress", Some(progress));
    // The call of a disconnected client is cancelled elsewhere.
    let _ = context
        .peer
        .send_notification(ServerNotification::CustomNotification(notification))
        .await;
}

fn terms(method: &str, meta: &Map<String, Value>) -> ClientTerms {
    let capabilities = match declared_capabilities(meta) {
        Value::Object(declared) if MAY_REQUIRE_INPUT.contains(&method) => declared,
        _ => Map::new(),
    };
    ClientTerms {
        capabilities,
        wants_logs: meta.contains_key(LOG_LEVEL),
    }
}

fn too_many_questions(server: &str) -> RequestError {
    RequestError::TooManyQuestions {
        server: server.to_owned(),
        most: MAX_ROUNDS,
    }
}
