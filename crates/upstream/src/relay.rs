//! Relays protocol requests: parameters and results pass undecoded.

use rmcp::model::{ClientRequest, CustomRequest, ErrorCode, GetExtensions};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio::time::Instant;
use types::Principal;
use upstream_wire::Era;

use crate::calls::RequestOptions;
use crate::connection::{Connection, RequestMeta};
use crate::error::UpstreamError;
use crate::hub::Hub;
use crate::server::ManagedServer;

/// A request to relay. Dropping its future cancels the request upstream.
#[derive(Debug, Clone)]
pub struct RelayRequest {
    /// Name in the configuration.
    pub server: String,
    /// Method of the request, such as `resources/read`.
    pub method: String,
    /// Without `_meta`.
    pub params: Map<String, Value>,
    /// Fields of `_meta` in addition to the library's. The progress token is never passed on.
    pub meta: Map<String, Value>,
    /// Receives the parameters of progress notifications; a full channel drops them.
    pub progress: Option<mpsc::Sender<Value>>,
    /// When the caller stops waiting, regardless of progress.
    pub deadline: Instant,
}

impl Hub {
    /// Sends a request to a server; returns the text of the result, even if the result asks for input.
    ///
    /// # Errors
    /// [`UpstreamError::Refused`] with the server's code and message. If the server does not offer the
    /// method, nothing is sent, and the error is "method not found".
    pub async fn ask(&self, request: RelayRequest) -> Result<Box<RawValue>, UpstreamError> {
        let server = self.common_server(&request.server)?;
        self.ask_counted(&server, &server, request).await
    }

    /// Like [`Hub::ask`], with the login of this user where the definition asks for it.
    ///
    /// # Errors
    /// As [`Hub::ask`], or if the user has no login.
    pub async fn ask_as(
        &self,
        user: &Principal,
        request: RelayRequest,
    ) -> Result<Box<RawValue>, UpstreamError> {
        let name = request.server.clone();
        let (defined, server) = (self.server(&name)?, self.server_of(user, &name).await?);
        match self.ask_counted(&defined, &server, request).await {
            Ok(answer) => Ok(answer),
            Err(error) => Err(self.explain(user, &name, error).await),
        }
    }

    async fn ask_counted(
        &self,
        defined: &ManagedServer,
        server: &ManagedServer,
        request: RelayRequest,
    ) -> Result<Box<RawValue>, UpstreamError> {
        let is_call = request.is_call();
        let answer = self.ask_server(server, request);
        if is_call {
            defined.shared.stats.count_call(answer).await
        } else {
            answer.await
        }
    }

    async fn ask_server(
        &self,
        server: &ManagedServer,
        request: RelayRequest,
    ) -> Result<Box<RawValue>, UpstreamError> {
        let tool = text(&request.params, "name");
        let name = if request.is_call() {
            format!("the call of '{tool}'")
        } else {
            request.method.clone()
        };
        let may_repeat = request.is_call() && server.shared.may_repeat(tool);
        let options = RequestOptions {
            name: &name,
            deadline: request.deadline,
            may_repeat,
        };
        server
            .ask(
                options,
                |connection| request.request(connection, &name),
                |connection, raw| connection.raw_object(raw, &name),
            )
            .await
    }
}

// === impl RelayRequest ===

impl RelayRequest {
    fn is_call(&self) -> bool {
        self.method == "tools/call"
    }

    /// The request in the form of the server's era; an error if the server does not offer the method.
    fn request(&self, connection: &Connection, name: &str) -> Result<ClientRequest, UpstreamError> {
        if !connection.offers(&self.method) {
            return Err(UpstreamError::Refused {
                server: self.server.clone(),
                request: name.to_owned(),
                code: i64::from(ErrorCode::METHOD_NOT_FOUND.0),
                message: format!("Method not found: {}", self.method),
                data: None,
            });
        }
        let params = Some(Value::Object(self.params.clone()));
        let mut request = CustomRequest::new(self.method.clone(), params);
        let mut fields = self.meta.clone();
        if connection.era == Era::Legacy {
            // These fields exist only in the modern era.
            fields.retain(|key, _| !key.starts_with("io.modelcontextprotocol/"));
        }
        request.extensions_mut().insert(RequestMeta {
            fields,
            progress: self.progress.clone(),
        });
        Ok(ClientRequest::CustomRequest(request))
    }
}

fn text<'a>(params: &'a Map<String, Value>, name: &str) -> &'a str {
    params.get(name).and_then(Value::as_str).unwrap_or_default()
}
