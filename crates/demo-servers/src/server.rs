//! Common parts of the three servers: definitions from a file, decoded arguments, results in both forms.

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

pub(crate) trait Service: Send + Sync + 'static {
    const NAME: &'static str;
    /// A JSON list.
    const DEFINITIONS: &'static str;
    const INSTRUCTIONS: &'static str;

    fn call(&self, tool: &str, arguments: JsonObject) -> Result<Value, CallError>;
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    #[error("no tool named '{0}'")]
    UnknownTool(String),
    #[error("{0}")]
    Arguments(#[from] serde_json::Error),
    #[error("`{field}` must lie between {min} and {max}")]
    Range {
        field: &'static str,
        min: usize,
        max: usize,
    },
    #[error("`{field}` must be {min} to {max} long")]
    Length {
        field: &'static str,
        min: usize,
        max: usize,
    },
    #[error("no customer has the number '{0}'")]
    UnknownCustomer(String),
    #[error("the mailbox is full: it keeps {0} mails")]
    Full(usize),
}

/// Adapts a service to the MCP library.
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

/// Unknown and missing arguments are errors that name them.
pub(crate) fn arguments<T: DeserializeOwned>(arguments: JsonObject) -> Result<T, CallError> {
    Ok(serde_json::from_value(Value::Object(arguments))?)
}

pub(crate) fn json(value: &impl Serialize) -> Result<Value, CallError> {
    Ok(serde_json::to_value(value)?)
}

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

pub(crate) fn within(field: &'static str, value: usize, max: usize) -> Result<usize, CallError> {
    if value == 0 || value > max {
        return Err(CallError::Range { field, min: 1, max });
    }
    Ok(value)
}
