//! Serves the surface `standard`: the hub's servers, with each request judged by policy and recorded.

use std::sync::Arc;
use std::time::Duration;

use broker::RelayError;
use serde_json::value::RawValue;
use store::{Front, Refused};
use surfaces::{Listing, StandardService, Upstream};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use types::{GuestError, Outcome, ServerTools, SessionFate, Status};
use upstream::{RelayRequest, UpstreamError};
use upstream_wire::{DownstreamClient, JsonRpcError};

use crate::Caller;

/// Longest wait of a list for servers that never listed their tools; later tools are announced as a change.
const DISCOVERY: Duration = Duration::from_secs(20);

/// Requests that act for a client; other requests only list.
const RECORDED: [&str; 3] = ["tools/call", "resources/read", "prompts/get"];

const INVALID_PARAMS: i32 = -32602;
const INTERNAL_ERROR: i32 = -32603;

impl StandardService for Caller {
    async fn upstreams(&self) -> Listing {
        let shared = &self.shared;
        shared.broker.discover(DISCOVERY).await;
        let listed = shared.broker.followed_lists().borrow().clone();
        let catalog = shared.broker.catalog().await;
        let upstreams = catalog.servers().map(|server| {
            let tools = server
                .entries()
                .filter(|entry| shared.broker.may_call(&self.principal, entry));
            Upstream {
                name: server.name.clone(),
                alias: server.alias.clone(),
                tools: tools.map(|entry| entry.definition.clone()).collect(),
            }
        });
        let upstreams = upstreams.collect();
        Listing { upstreams, listed }
    }

    async fn relay(
        &self,
        request: RelayRequest,
        cancel: CancellationToken,
    ) -> Result<Box<RawValue>, JsonRpcError> {
        let shared = &self.shared;
        let downstream = self.downstream.get();
        let _open = downstream.map(|client| shared.downstreams.open(&request.server, client));
        if !RECORDED.contains(&request.method.as_str()) {
            let answer = shared.broker.relay(&self.principal, None, request, &cancel);
            return answer.await.map_err(refusal);
        }
        let mut record = shared.records.attempt(self.attempt(Front::Mcp, None, None, None));
        record.accepted(None);
        if let Err(error) = record.begin().await {
            // Do not wait for this record.
            let _ = record.refuse(Refused::NotRecorded).await;
            return Err(internal(format!("the server was not asked: {error}")));
        }
        record.begun();
        let run = record.run().clone();
        let answer = shared
            .broker
            .relay(&self.principal, Some(&run), request, &cancel)
            .await;
        let recorded = record.ended(&outcome(&answer), None).await;
        recorded.map_err(|error| {
            internal(format!(
                "the server was asked and its answer is withheld: {error}"
            ))
        })?;
        answer.map_err(refusal)
    }

    fn listed(&self) -> watch::Receiver<Arc<Vec<ServerTools>>> {
        self.shared.broker.followed_lists()
    }

    async fn tell_log_level(&self) {
        self.shared.hub.tell_log_level().await;
    }

    fn attach(&self, client: Arc<dyn DownstreamClient>) {
        let shared = &self.shared;
        if shared.served.is_some() {
            // An upstream serves all users, and a question does not say for whose call it is.
            return;
        }
        // A caller serves one connection.
        let client = self.downstream.get_or_init(|| client);
        shared.downstreams.connect(Arc::clone(client));
        shared
            .attached
            .call_once(|| shared.hub.attach(shared.downstreams.clone()));
    }
}

/// The outcome of the request, as a run with one host call.
fn outcome(answer: &Result<Box<RawValue>, RelayError>) -> Outcome {
    let error = |kind: &str| {
        let kind = kind.to_owned();
        Some(GuestError {
            kind,
            ..GuestError::default()
        })
    };
    let (status, error) = match answer {
        Ok(_) => (Status::Completed, None),
        Err(RelayError::Denied(_)) => (Status::Failed, error("caller")),
        Err(RelayError::Upstream(_)) => (Status::Failed, error("upstream")),
        Err(RelayError::Cancelled) => (Status::Cancelled, error("Withdrawn")),
    };
    let mut outcome = Outcome::bare(status, SessionFate::Kept, error);
    outcome.usage.host_calls = 1;
    outcome
}

/// The failure for the client; a server's own error is passed on unchanged.
fn refusal(failed: RelayError) -> JsonRpcError {
    match failed {
        RelayError::Upstream(UpstreamError::Refused {
            code, message, data, ..
        }) => JsonRpcError {
            code: i32::try_from(code).unwrap_or(INTERNAL_ERROR),
            message,
            data: data.map(|data| *data),
        },
        RelayError::Denied(denied) => JsonRpcError {
            code: INVALID_PARAMS,
            message: denied.to_string(),
            data: None,
        },
        RelayError::Upstream(_) | RelayError::Cancelled => internal(failed.to_string()),
    }
}

fn internal(message: String) -> JsonRpcError {
    JsonRpcError {
        code: INTERNAL_ERROR,
        message,
        data: None,
    }
}
