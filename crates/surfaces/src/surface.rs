//! The contract between a surface and the transport that carries it.
//!
//! A transport serves [`Surface::handler`] with the MCP library and adds four things:
//!
//! - it applies the [`WireRules`] to the client's messages,
//! - puts a [`Ticket`](crate::Ticket) into the extensions of every decoded `tools/call`,
//! - writes the text of [`raw_result_text`] where a result has one,
//! - and runs [`Surface::background`] until the connection ends.

use futures_util::future::BoxFuture;
use rmcp::RoleServer;
use rmcp::model::{ClientRequest, CustomRequest, CustomResult, JsonRpcMessage, ServerResult};
use rmcp::service::RxJsonRpcMessage;
use serde_json::Value;
use serde_json::value::RawValue;

/// One surface for one client.
pub struct Surface<H> {
    /// Answers the client's requests.
    pub handler: H,
    /// How the client's messages reach the handler.
    pub wire: WireRules,
    /// Sends notifications to the client. Never ends.
    pub background: BoxFuture<'static, ()>,
}

/// How a client's messages reach a surface.
#[derive(Debug, Clone, Copy)]
pub struct WireRules {
    /// Methods whose parameters the handler receives as the client wrote them.
    pub undecoded: &'static [&'static str],
}

impl WireRules {
    /// For surfaces that run programs. Requests of undeclared capabilities stay undecoded, since
    /// `rmcp` would answer them with empty lists.
    pub(crate) const PROGRAMS: WireRules = WireRules {
        undecoded: &["completion/complete", "prompts/list"],
    };

    /// For a surface that relays to servers.
    pub(crate) const RELAY: WireRules = WireRules {
        undecoded: &[
            "tools/list",
            "tools/call",
            "resources/list",
            "resources/templates/list",
            "resources/read",
            "resources/subscribe",
            "resources/unsubscribe",
            "prompts/list",
            "prompts/get",
            "completion/complete",
            "logging/setLevel",
        ],
    };

    /// Replaces a request by its undecoded form if the surface requires it; `json` is the message. `rmcp`'s types drop
    /// unknown fields, so relayed requests must bypass them.
    pub fn undecode(
        self,
        message: RxJsonRpcMessage<RoleServer>,
        json: &[u8],
    ) -> RxJsonRpcMessage<RoleServer> {
        let JsonRpcMessage::Request(mut request) = message else {
            return message;
        };
        if self.undecoded.contains(&request.request.method())
            && let Ok(undecoded) = serde_json::from_slice::<CustomRequest>(json)
        {
            request.request = ClientRequest::CustomRequest(undecoded);
        }
        JsonRpcMessage::Request(request)
    }
}

/// A result that is already text. A JSON string carries the text: `rmcp` has no type for it, and no protocol result is
/// a string.
pub(crate) fn raw_result(text: String) -> CustomResult {
    CustomResult(Value::String(text))
}

/// A result's text to write unchanged.
pub fn raw_result_text(result: &ServerResult) -> Option<Box<RawValue>> {
    let ServerResult::CustomResult(CustomResult(Value::String(text))) = result else {
        return None;
    };
    RawValue::from_string(text.clone()).ok()
}
