//! Asks the person in front of a client to open a link, as the client's revision of the protocol allows
//! (elicitation in the mode `url`).

use std::sync::Arc;

use broker::{LinkQuestion, Person, PersonAnswer};
use futures_util::future::BoxFuture;
use rmcp::RoleServer;
use rmcp::model::{CustomNotification, CustomRequest, ServerNotification, ServerRequest};
use rmcp::service::{Peer, RequestContext};
use serde_json::{Value, json};

use crate::paused_calls::Questions;
use crate::request::{declared_capabilities, is_modern, meta};

pub(crate) const METHOD: &str = "elicitation/create";

/// The person behind a client that accepts requests.
#[derive(Debug)]
struct AskedDirectly {
    peer: Peer<RoleServer>,
}

/// The person behind a client that returns with the answer.
#[derive(Debug)]
struct AskedByResponse {
    questions: Questions,
}

/// The person whom the client of this request can ask; `None` if it can ask nobody.
pub(crate) fn of(context: &RequestContext<RoleServer>) -> Option<Arc<dyn Person>> {
    if let Some(questions) = context.extensions.get::<Questions>() {
        let questions = questions.clone();
        return Some(Arc::new(AskedByResponse { questions }));
    }
    let info = context.peer.peer_info()?;
    let elicitation = info.capabilities.elicitation.as_ref()?;
    if is_modern(context) || elicitation.url.is_none() {
        return None;
    }
    let peer = context.peer.clone();
    Some(Arc::new(AskedDirectly { peer }))
}

/// Whether the client of this request can show a link, and return with the answer.
pub(crate) fn can_return(context: &RequestContext<RoleServer>) -> bool {
    is_modern(context) && declared_capabilities(&meta(context))["elicitation"]["url"].is_object()
}

/// The parameters of the elicitation.
pub(crate) fn params(question: &LinkQuestion) -> Value {
    json!({
        "mode": "url",
        "elicitationId": question.id,
        "message": question.message,
        "url": question.url,
    })
}

/// What the result of the elicitation says.
pub(crate) fn answer(result: &Value) -> PersonAnswer {
    match result["action"] == "accept" {
        true => PersonAnswer::Agreed,
        false => PersonAnswer::Declined,
    }
}

// === impl AskedDirectly ===

impl Person for AskedDirectly {
    fn ask<'a>(&'a self, question: &'a LinkQuestion) -> BoxFuture<'a, PersonAnswer> {
        let request = CustomRequest::new(METHOD, Some(params(question)));
        Box::pin(async move {
            let request = ServerRequest::CustomRequest(request);
            let result = self.peer.send_request(request).await;
            let result = result.ok().and_then(|result| serde_json::to_value(result).ok());
            result.map_or(PersonAnswer::Declined, |result| answer(&result))
        })
    }

    fn done<'a>(&'a self, question: &'a LinkQuestion) -> BoxFuture<'a, ()> {
        let params = json!({"elicitationId": question.id});
        let notification = CustomNotification::new("notifications/elicitation/complete", Some(params));
        Box::pin(async move {
            let notification = ServerNotification::CustomNotification(notification);
            // A client that has gone needs no notification.
            let _ = self.peer.send_notification(notification).await;
        })
    }
}

// === impl AskedByResponse ===

impl Person for AskedByResponse {
    fn ask<'a>(&'a self, question: &'a LinkQuestion) -> BoxFuture<'a, PersonAnswer> {
        Box::pin(self.questions.ask(question))
    }

    /// Sends nothing: the client sees the end of the wait in the response to its request.
    fn done<'a>(&'a self, _question: &'a LinkQuestion) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }
}
