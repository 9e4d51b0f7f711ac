//! Encodes messages to a client: results as text, and errors of requests that never reached the surface.

use rmcp::RoleServer;
use rmcp::model::{ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::TxJsonRpcMessage;
use serde::Serialize;
use serde_json::value::RawValue;
use surfaces::raw_result_text;

use crate::message::Rejection;

/// A response whose result is written unchanged.
#[derive(Serialize)]
struct RawResponse<'a> {
    jsonrpc: &'static str,
    id: &'a RequestId,
    result: &'a RawValue,
}

/// JSON-RPC requires `null` for an unknown id; `rmcp` would leave the field out.
#[derive(Serialize)]
struct ErrorResponse<'a> {
    jsonrpc: &'static str,
    id: &'a Option<RequestId>,
    error: &'a ErrorData,
}

/// A message's JSON; `None` if it cannot be encoded, which is logged.
pub(crate) fn encode(message: &TxJsonRpcMessage<RoleServer>) -> Option<Vec<u8>> {
    if let JsonRpcMessage::Response(response) = message
        && let Some(result) = raw_result_text(&response.result)
    {
        return to_json(&RawResponse {
            jsonrpc: "2.0",
            id: &response.id,
            result: &result,
        });
    }
    to_json(message)
}

/// The JSON of the error that answers a rejected message.
pub(crate) fn encode_rejection(rejection: &Rejection) -> Option<Vec<u8>> {
    encode_error(&rejection.error, &rejection.id)
}

pub(crate) fn encode_error(error: &ErrorData, id: &Option<RequestId>) -> Option<Vec<u8>> {
    to_json(&ErrorResponse {
        jsonrpc: "2.0",
        id,
        error,
    })
}

fn to_json(message: &impl Serialize) -> Option<Vec<u8>> {
    match serde_json::to_vec(message) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            tracing::error!(%error, "an answer cannot be encoded");
            None
        }
    }
}
