//! `POST /rpc` and the list of a virtual server's tools: requests that the server's surface answers.
//!
//! The requests use the conversation that MCP clients without a session share.

use std::time::Duration;

use http::HeaderMap;
use http::request::Parts;
use identity::{Identity, Permission};
use rest::{RestError, RpcError, RpcId, RpcRefusal, RpcRequest, ToolView, rpc_result};
use rmcp::model::Tool;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use types::ServerId;

use super::forward;
use super::serving::ApiService;
use crate::http::api::ApiReply;
use crate::http::conversation::{Delivery, OnLeave};
use crate::http::endpoint::{self, Endpoint};
use crate::http::trace_header;

/// Pages of a list of tools, each of up to 1,000.
const MOST_PAGES: usize = 100;

/// The revision without sessions.
const VERSION: &str = "2026-07-28";

/// An answer of the surface.
#[derive(Debug, Deserialize)]
struct SurfaceAnswer {
    result: Option<Value>,
    error: Option<SurfaceError>,
}

#[derive(Debug, Deserialize)]
struct SurfaceError {
    code: i64,
    message: String,
    #[serde(default)]
    data: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct ToolPage {
    tools: Vec<Tool>,
    #[serde(default, rename = "nextCursor")]
    next_cursor: Option<String>,
}

/// Answers the body of a request to `/rpc`.
pub(super) async fn answer(
    service: &ApiService,
    identity: &Identity,
    (head, body): (&Parts, &[u8]),
) -> Result<ApiReply, RestError> {
    let request = match rest::read_rpc(body) {
        Ok(request) => request,
        Err(RpcRefusal { id, error }) => return Ok(refused(id.as_ref(), &error)),
    };
    let state = service.principals.state(identity);
    let Some(id) = request.id.clone() else {
        if request.method == "notifications/cancelled" {
            state.rpc_calls.cancel(identity.token(), &request.params);
            service.forwarder.tell_others(head, body).await;
        }
        return Ok(ApiReply::json(202, Vec::new()));
    };
    if request.method == "ping" {
        return Ok(reply(&rpc_result(&id, json!({}))));
    }
    let Some(server) = request.server.clone() else {
        let why = "params.server_id: is required; name a virtual server".to_owned();
        return Ok(refused(Some(&id), &RpcError::InvalidParams(why)));
    };
    let surface = state.in_turn(service.surface(identity, &server, Permission::ServersUse));
    let surface = surface.await?;
    let call = state.rpc_calls.begin(identity.token(), id.clone());
    let tool = request
        .params
        .get("name")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let cancelled = tool.clone();
    let answering = async {
        // Only calls of tools have a session.
        if request.method == "tools/call"
            && let Some(answer) = service
                .forwarder
                .elsewhere(identity, &server, (head, body))
                .await?
        {
            return forward::reply(answer).await;
        }
        let endpoint = state.endpoint(identity, &server, surface)?;
        let request = traced(&head.headers, request);
        Ok(match ask(&endpoint, &id, request).await {
            None => refused(Some(&id), &RpcError::Internal),
            Some(answer) => told(&id, &tool, answer),
        })
    };
    let answered = call.cancel.run_until_cancelled(answering).await;
    answered.unwrap_or_else(|| Ok(refused(Some(&id), &RpcError::Cancelled(cancelled))))
}

/// The request with the trace that its headers name, unless it names one itself.
fn traced(headers: &HeaderMap, mut request: RpcRequest) -> RpcRequest {
    let fields = trace_header::fields(headers);
    let meta = request.params.entry("_meta").or_insert_with(|| json!({}));
    if let Value::Object(meta) = meta
        && !meta.contains_key("traceparent")
    {
        meta.extend(
            fields
                .into_iter()
                .map(|(name, value)| (name.to_owned(), Value::String(value))),
        );
    }
    request
}

/// S0-17: the tools that clients of the virtual server see.
pub(super) async fn tools(
    service: &ApiService,
    identity: &Identity,
    server: &ServerId,
) -> Result<ApiReply, RestError> {
    let state = service.principals.state(identity);
    let surface = state.in_turn(service.surface(identity, server, Permission::ServersRead));
    let surface = surface.await?;
    let view = match surface.has_own_tools {
        true => ToolView::of_surface,
        false => ToolView::of_upstream,
    };
    let endpoint = state.endpoint(identity, server, surface)?;
    let tools = all_tools(&endpoint).await;
    let tools = tools.ok_or_else(|| RestError::Unavailable {
        message: "the tools cannot be listed at the moment".to_owned(),
        retry_after: Duration::from_secs(1),
    })?;
    let views = tools.into_iter().map(|tool| {
        let description = tool.description.as_deref().unwrap_or_default();
        let schema = Map::clone(&tool.input_schema);
        view(server, &tool.name, description, schema)
    });
    let views: Vec<ToolView> = views.collect();
    Ok(ApiReply::json(
        200,
        serde_json::to_vec(&views).unwrap_or_default(),
    ))
}

/// Every page of the surface's list.
async fn all_tools(endpoint: &Endpoint) -> Option<Vec<Tool>> {
    let mut tools = Vec::new();
    let mut params = Map::new();
    for _ in 0..MOST_PAGES {
        let request = RpcRequest {
            id: None,
            method: "tools/list".to_owned(),
            server: None,
            params: std::mem::take(&mut params),
        };
        let answer = ask(endpoint, &RpcId::Number(1), request).await?;
        let page: ToolPage = serde_json::from_value(answer.result?).ok()?;
        tools.extend(page.tools);
        match page.next_cursor {
            Some(cursor) => params.insert("cursor".to_owned(), Value::String(cursor)),
            None => return Some(tools),
        };
    }
    None
}

/// Sends a request to the surface; `None` if the conversation ends before the answer.
async fn ask(endpoint: &Endpoint, id: &RpcId, request: RpcRequest) -> Option<SurfaceAnswer> {
    let mut params = request.params;
    let meta = params.entry("_meta").or_insert_with(|| json!({}));
    if let Value::Object(meta) = meta {
        meta.insert(
            "io.modelcontextprotocol/protocolVersion".to_owned(),
            json!(VERSION),
        );
        meta.entry("io.modelcontextprotocol/clientCapabilities")
            .or_insert_with(|| json!({}));
    }
    let message = json!({"jsonrpc": "2.0", "id": id, "method": request.method, "params": params});
    let message = message.to_string();
    let mut fields = endpoint::parse(message.as_bytes()).ok()?;
    let conversation = endpoint.conversations.shared();
    let mut exchange = endpoint::ask(&conversation, &mut fields, OnLeave::Cancel)
        .await
        .ok()?;
    loop {
        match exchange.next().await? {
            Delivery::Answer(answer) => return serde_json::from_slice(&answer).ok(),
            // The answer cannot carry progress.
            Delivery::Message(_) => {}
        }
    }
}

fn told(id: &RpcId, tool: &str, answer: SurfaceAnswer) -> ApiReply {
    let error = match (answer.result, answer.error) {
        (Some(mut result), _) => {
            // This member is newer than `/rpc`.
            if let Value::Object(members) = &mut result {
                members.shift_remove("resultType");
            }
            return reply(&rpc_result(id, result));
        }
        (None, Some(error)) => error,
        (None, None) => return refused(Some(id), &RpcError::Internal),
    };
    if error.message.starts_with("Unknown tool") {
        return refused(Some(id), &RpcError::ToolNotFound(tool.to_owned()));
    }
    let mut object = json!({"code": error.code, "message": error.message});
    if let Some(data) = error.data {
        object["data"] = data;
    }
    reply(&json!({"jsonrpc": "2.0", "id": id, "error": object}))
}

fn refused(id: Option<&RpcId>, error: &RpcError) -> ApiReply {
    ApiReply::json(error.status(), error.answer(id).to_string())
}

fn reply(body: &Value) -> ApiReply {
    ApiReply::json(200, body.to_string())
}
