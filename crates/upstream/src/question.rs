//! Any request of the protocol, passed on as it is: the answer comes back as the server wrote it.

use rmcp::model::{ClientRequest, CustomRequest, GetExtensions, RequestMetaObject};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::calls::Asked;
use crate::connection::Connection;
use crate::error::UpstreamError;
use crate::hub::{Era, Hub};
use crate::server::Server;

const METHOD_NOT_FOUND: i64 = -32601;

/// A request of the protocol. Dropping its future cancels it upstream.
#[derive(Debug, Clone)]
pub struct Question {
    /// The server's name in the configuration.
    pub server: String,
    /// The method, such as `resources/read`.
    pub method: String,
    /// Its parameters, without `_meta`.
    pub params: Map<String, Value>,
    /// What `_meta` holds beside the library's own; the token of progress is never passed on.
    pub meta: Map<String, Value>,
    /// The parameters of each notification of progress go here; those that find no room are dropped.
    pub progress: Option<mpsc::Sender<Value>>,
    /// When the caller stops waiting, whatever progress the server reports.
    pub deadline: Instant,
}

/// What goes along with a request beside its own fields.
#[derive(Debug, Clone, Default)]
pub(crate) struct Along {
    pub(crate) meta: Map<String, Value>,
    pub(crate) progress: Option<mpsc::Sender<Value>>,
}

impl Hub {
    /// Asks a server; the answer is the text of its result, also where that asks for input.
    ///
    /// # Errors
    /// [`UpstreamError::Refused`] with the server's own code and words; the code of an unknown method also, without
    /// asking, where it has not said that it offers what is asked for.
    pub async fn ask(&self, question: Question) -> Result<Box<RawValue>, UpstreamError> {
        let server = self.server(&question.server)?;
        let is_call = question.is_call();
        let answer = self.ask_server(&server, question);
        if is_call {
            server.link.tally.counted(answer).await
        } else {
            answer.await
        }
    }

    async fn ask_server(&self, server: &Server, question: Question) -> Result<Box<RawValue>, UpstreamError> {
        let tool = text(&question.params, "name");
        let name = if question.is_call() {
            format!("the call of '{tool}'")
        } else {
            question.method.clone()
        };
        let may_repeat = question.is_call() && server.link.may_repeat(tool);
        let asked = Asked {
            name: &name,
            deadline: question.deadline,
            may_repeat,
        };
        server
            .ask(
                asked,
                |connection| question.request(connection, &name),
                |connection, raw| connection.raw_object(raw, &name),
            )
            .await
    }
}

// === impl Question ===

impl Question {
    fn is_call(&self) -> bool {
        self.method == "tools/call"
    }

    /// The request as this server takes it, if it has said that it knows it.
    fn request(&self, connection: &Connection, name: &str) -> Result<ClientRequest, UpstreamError> {
        if !connection.offers(&self.method) {
            return Err(UpstreamError::Refused {
                server: self.server.clone(),
                request: name.to_owned(),
                code: METHOD_NOT_FOUND,
                message: format!("Method not found: {}", self.method),
                data: None,
            });
        }
        let params = Some(Value::Object(self.params.clone()));
        let mut request = CustomRequest::new(self.method.clone(), params);
        let mut meta = self.meta.clone();
        if connection.era == Era::Legacy {
            // Those words have a meaning in the other lifecycle only.
            meta.retain(|key, _| !key.starts_with("io.modelcontextprotocol/"));
        }
        request.extensions_mut().insert(Along {
            meta,
            progress: self.progress.clone(),
        });
        Ok(ClientRequest::CustomRequest(request))
    }
}

// === impl Along ===

impl Along {
    /// What the request was sent along with.
    pub(crate) fn take(request: &mut ClientRequest) -> Along {
        request.extensions_mut().remove::<Along>().unwrap_or_default()
    }

    /// The `_meta` that takes precedence over what the library puts there.
    pub(crate) fn meta(&self) -> Option<RequestMetaObject> {
        let own = ["protocolVersion", "clientInfo"];
        let mut meta = self.meta.clone();
        meta.retain(|key, _| {
            let word = key.strip_prefix("io.modelcontextprotocol/");
            key != "progressToken" && !word.is_some_and(|word| own.contains(&word))
        });
        let meta = (!meta.is_empty()).then(|| serde_json::from_value(Value::Object(meta)));
        meta.and_then(Result::ok)
    }
}

fn text<'a>(params: &'a Map<String, Value>, name: &str) -> &'a str {
    params.get(name).and_then(Value::as_str).unwrap_or_default()
}
