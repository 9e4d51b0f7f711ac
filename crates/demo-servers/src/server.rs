//! What the three servers have in common: definitions from a file, arguments decoded, results in both forms.

use std::ops::RangeInclusive;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation,
    JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// One server's tools.
pub(crate) trait Service: Send + Sync + 'static {
    /// The server's name.
    const NAME: &'static str;
    /// Its tool definitions, a JSON list.
    const DEFINITIONS: &'static str;
    /// What it says of itself.
    const INSTRUCTIONS: &'static str;

    /// Runs a tool.
    fn call(&self, tool: &str, arguments: JsonObject) -> Result<Value, CallError>;
}

/// Why a tool gave no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// There is no such tool.
    #[error("no tool named '{0}'")]
    UnknownTool(String),
    /// The arguments do not fit its schema.
    #[error("{0}")]
    Arguments(#[from] serde_json::Error),
    /// A number is out of its range.
    #[error("`{field}` must lie between {min} and {max}")]
    Range {
        field: &'static str,
        min: usize,
        max: usize,
    },
    /// A text or a list is too short or too long.
    #[error("`{field}` must be {min} to {max} long")]
    Length {
        field: &'static str,
        min: usize,
        max: usize,
    },
    /// There is no such customer.
    #[error("no customer has the number '{0}'")]
    UnknownCustomer(String),
    /// The mailbox holds as many mails as it can.
    #[error("the mailbox is full: it keeps {0} mails")]
    Full(usize),
}

/// A service as the MCP library drives it.
#[derive(Clone)]
pub(crate) struct Handler<S> {
    service: Arc<S>,
    tools: Arc<[Tool]>,
}

impl<S: Service> Handler<S> {
    pub(crate) fn new(service: S) -> Result<Handler<S>, serde_json::Error> {
        let tools: Vec<Tool> = serde_json::from_str(S::DEFINITIONS)?;
        Ok(Handler {
            service: Arc::new(service),
            tools: tools.into(),
        })
    }
}

impl<S: Service> ServerHandler for Handler<S> {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(
                format!("codeyard-demo-{}", S::NAME),
                env!("CARGO_PKG_VERSION"),
            ))
            .with_instructions(S::INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match self
            .service
            .call(&request.name, request.arguments.unwrap_or_default())
        {
            Ok(value) => Ok(CallToolResult::structured(value).into()),
            Err(CallError::UnknownTool(name)) => Err(ErrorData::invalid_params(
                CallError::UnknownTool(name).to_string(),
                None,
            )),
            Err(error) => Ok(CallToolResult::error(vec![ContentBlock::text(error.to_string())]).into()),
        }
    }
}

/// The arguments as a type; unknown and missing ones are errors that name them.
pub(crate) fn arguments<T: DeserializeOwned>(arguments: JsonObject) -> Result<T, CallError> {
    Ok(serde_json::from_value(Value::Object(arguments))?)
}

/// A value of our own as JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<Value, CallError> {
    Ok(serde_json::to_value(value)?)
}

/// Checks the length of a text or a list.
pub(crate) fn length(
    field: &'static str,
    found: usize,
    range: RangeInclusive<usize>,
) -> Result<usize, CallError> {
    if range.contains(&found) {
        return Ok(found);
    }
    let (min, max) = range.into_inner();
    Err(CallError::Length { field, min, max })
}

/// Checks a number of rows.
pub(crate) fn within(field: &'static str, value: usize, max: usize) -> Result<usize, CallError> {
    if value == 0 || value > max {
        return Err(CallError::Range { field, min: 1, max });
    }
    Ok(value)
}
