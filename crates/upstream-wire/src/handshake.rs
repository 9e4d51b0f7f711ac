//! Finds out which lifecycle a server speaks, if possible without a second process.
//!
//! `server/discover` goes first. A modern server answers it. A legacy server refuses it, and `initialize`
//! follows on the same connection. Some servers start slowly, and some never answer an unknown request. So
//! after a while `initialize` is sent as well, and the first good answer decides.
//!
//! `rmcp`'s own handshake gives up after ten seconds and then fails on the late answer, so Codeyard does
//! not use it.

use std::time::Duration;

use rmcp::model::{ErrorData, JsonRpcMessage, ProtocolVersion, ServerPeerInfo, ServerRequest};
use serde_json::{Value, json};

use crate::era::Era;
use crate::transport::{Frame, HANDSHAKE_IDS, JsonRpcResponse, ServerTransport};

/// If no answer comes for this long, `initialize` is sent as well. Servers in Python take some seconds to
/// start; a modern server just refuses the extra request.
const INITIALIZE_DELAY: Duration = Duration::from_secs(5);
/// In characters; lists show the description.
const MAX_DESCRIPTION: usize = 300;

/// Error code of a server that does not support the request's protocol version.
const UNSUPPORTED_VERSION: i32 = -32022;

const DISCOVER: i64 = *HANDSHAKE_IDS.start();
const DISCOVER_AGAIN: i64 = DISCOVER + 1;
const INITIALIZE: i64 = *HANDSHAKE_IDS.end();

/// A server's answer to the handshake.
#[derive(Debug, Clone)]
pub struct ServerHello {
    /// The lifecycle that the server speaks.
    pub era: Era,
    /// Protocol version and capabilities.
    pub info: ServerPeerInfo,
    /// First paragraph of the server's description or instructions.
    pub description: Option<String>,
    /// Whether the server announces changes of its tool list.
    pub notifies_list_changes: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HandshakeOrder {
    /// `server/discover`, then `initialize`.
    DiscoverFirst,
    /// `initialize` alone. Some servers exit at an unknown request; some refuse `initialize` after one.
    InitializeOnly,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HandshakeError {
    Closed,
    Refused(String),
}

struct Handshake<'a> {
    transport: &'a mut ServerTransport,
    capabilities: &'a Value,
    initialize_sent: bool,
    discover_error: Option<String>,
    initialize_error: Option<String>,
}

/// Completes the handshake, without a time-out.
pub(crate) async fn shake_hands(
    transport: &mut ServerTransport,
    order: HandshakeOrder,
    capabilities: &Value,
) -> Result<ServerHello, HandshakeError> {
    let mut handshake = Handshake {
        transport,
        capabilities,
        initialize_sent: false,
        discover_error: None,
        initialize_error: None,
    };
    match order {
        HandshakeOrder::DiscoverFirst => handshake.send_discover(DISCOVER).await?,
        HandshakeOrder::InitializeOnly => {
            handshake.discover_error = Some("it was not asked to".to_owned());
            handshake.send_initialize().await?;
        }
    }
    let delay = tokio::time::sleep(INITIALIZE_DELAY);
    tokio::pin!(delay);
    loop {
        tokio::select! {
            frame = handshake.transport.read() => {
                let frame = frame.ok_or(HandshakeError::Closed)?;
                if let Some(hello) = handshake.take(frame).await? {
                    return Ok(hello);
                }
            }
            () = &mut delay, if !handshake.initialize_sent => handshake.send_initialize().await?,
        }
    }
}

// === impl Handshake ===

impl Handshake<'_> {
    async fn take(&mut self, frame: Frame) -> Result<Option<ServerHello>, HandshakeError> {
        match frame {
            Frame::Answer(JsonRpcResponse {
                id: Some(DISCOVER),
                outcome: Err(error),
            }) if supports_our_version(&error) => self.send_discover(DISCOVER_AGAIN).await?,
            Frame::Answer(JsonRpcResponse {
                id: Some(DISCOVER | DISCOVER_AGAIN),
                outcome,
            }) => {
                let answer = outcome.map_err(|error| error.message.into_owned());
                match answer.and_then(|raw| modern(&raw)) {
                    Ok(hello) => return Ok(Some(hello)),
                    Err(cause) => self.discover_error = Some(cause),
                }
                if !self.initialize_sent {
                    self.send_initialize().await?;
                }
            }
            Frame::Answer(JsonRpcResponse {
                id: Some(INITIALIZE),
                outcome,
            }) => {
                let answer = outcome.map_err(|error| error.message.into_owned());
                match answer.and_then(|raw| legacy(&raw)) {
                    Ok(hello) => {
                        self.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
                            .await?;
                        return Ok(Some(hello));
                    }
                    Err(cause) => self.initialize_error = Some(cause),
                }
            }
            Frame::Request(request) => self.answer(*request).await?,
            Frame::Notification { method, params } => self.transport.receive_notification(&method, params),
            Frame::Answer(_) | Frame::Broken { .. } | Frame::Noise => {}
        }
        match (&self.discover_error, &self.initialize_error) {
            (Some(discover), Some(initialize)) => Err(HandshakeError::Refused(format!(
                "server/discover: {discover}; initialize: {initialize}"
            ))),
            // A modern server that started slowly refuses `initialize` and still answers `server/discover`.
            _ => Ok(None),
        }
    }

    async fn send_discover(&mut self, id: i64) -> Result<(), HandshakeError> {
        self.write(&discover(id, self.capabilities)).await
    }

    async fn send_initialize(&mut self) -> Result<(), HandshakeError> {
        self.initialize_sent = true;
        let params = json!({
            "protocolVersion": ProtocolVersion::LATEST_WITH_INITIALIZE,
            "capabilities": self.capabilities,
            "clientInfo": client_info(),
        });
        self.write(&json!({"jsonrpc": "2.0", "id": INITIALIZE, "method": "initialize", "params": params}))
            .await
    }

    /// Answers pings; the server's other requests wait for the end of the handshake.
    async fn answer(&mut self, message: rmcp::model::ServerJsonRpcMessage) -> Result<(), HandshakeError> {
        let JsonRpcMessage::Request(request) = message else {
            return Ok(());
        };
        let id = request.id.into_json_value();
        let answer = match request.request {
            ServerRequest::PingRequest(_) => json!({"jsonrpc": "2.0", "id": id, "result": {}}),
            _ => json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "not supported"}}),
        };
        self.write(&answer).await
    }

    async fn write(&mut self, message: &Value) -> Result<(), HandshakeError> {
        self.transport
            .write(message)
            .await
            .map_err(|_closed| HandshakeError::Closed)
    }
}

/// Whether a server that refused our version lists it as supported. One address may lead to several servers,
/// some of them older.
fn supports_our_version(error: &ErrorData) -> bool {
    let supported = error.data.as_ref().and_then(|data| data["supported"].as_array());
    let ours = ProtocolVersion::V_2026_07_28;
    error.code.0 == UNSUPPORTED_VERSION
        && supported.is_some_and(|versions| versions.iter().any(|version| version == ours.as_str()))
}

pub(crate) fn discover(id: i64, capabilities: &Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": ProtocolVersion::V_2026_07_28,
        "io.modelcontextprotocol/clientInfo": client_info(),
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    json!({"jsonrpc": "2.0", "id": id, "method": "server/discover", "params": {"_meta": meta}})
}

/// The name and version that servers see.
pub(crate) fn client_info() -> rmcp::model::Implementation {
    rmcp::model::Implementation::new("codeyard", env!("CARGO_PKG_VERSION"))
}

fn modern(raw: &str) -> Result<ServerHello, String> {
    let answer: Value = serde_json::from_str(raw).map_err(|error| error.to_string())?;
    let versions = answer
        .get("supportedVersions")
        .and_then(Value::as_array)
        .ok_or("no supportedVersions")?;
    let ours = ProtocolVersion::V_2026_07_28;
    if !versions.iter().any(|version| version == ours.as_str()) {
        return Err(format!("it does not speak {ours}, only {versions:?}"));
    }
    let server = answer.pointer("/_meta/io.modelcontextprotocol~1serverInfo");
    Ok(hello(Era::Modern, ours, &answer, server))
}

fn legacy(raw: &str) -> Result<ServerHello, String> {
    let answer: Value = serde_json::from_str(raw).map_err(|error| error.to_string())?;
    let version = answer
        .get("protocolVersion")
        .filter(|version| version.is_string())
        .ok_or("no protocolVersion")?;
    let version = serde_json::from_value(version.clone()).map_err(|error| error.to_string())?;
    Ok(hello(Era::Legacy, version, &answer, answer.get("serverInfo")))
}

fn hello(era: Era, version: ProtocolVersion, answer: &Value, server: Option<&Value>) -> ServerHello {
    // An unreadable capability counts as absent.
    let capabilities = answer.get("capabilities").cloned().unwrap_or_default();
    let notifies_list_changes = capabilities.pointer("/tools/listChanged") == Some(&Value::Bool(true));
    let info = ServerPeerInfo::new(version, serde_json::from_value(capabilities).unwrap_or_default());
    let description = server
        .and_then(|server| server.get("description"))
        .or_else(|| answer.get("instructions"))
        .and_then(Value::as_str)
        .and_then(first_paragraph);
    ServerHello {
        era,
        info,
        description,
        notifies_list_changes,
    }
}

fn first_paragraph(text: &str) -> Option<String> {
    let paragraph = text
        .trim()
        .split("\n\n")
        .next()?
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    if paragraph.is_empty() {
        return None;
    }
    match paragraph.char_indices().nth(MAX_DESCRIPTION) {
        Some((end, _)) => Some(format!("{}…", &paragraph[..end])),
        None => Some(paragraph),
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::ErrorCode;

    use super::*;

    #[test]
    fn a_handshake_is_read_despite_odd_capabilities() {
        let raw = r#"{"protocolVersion":"2024-11-05","capabilities":{"tools":{"listChanged":true},"prompts":7},
            "serverInfo":{"name":"x"},"instructions":"  Keeps\n notes.\n\nMore."}"#;
        let hello = legacy(raw).expect("a greeting");
        assert_eq!(hello.era, Era::Legacy);
        assert!(hello.notifies_list_changes);
        assert_eq!(hello.description.as_deref(), Some("Keeps notes."));
        assert_eq!(hello.info.protocol_version, ProtocolVersion::V_2024_11_05);
        assert_eq!(legacy("{}").expect_err("no version"), "no protocolVersion");
    }

    #[test]
    fn a_server_with_only_other_versions_is_an_error() {
        let raw = r#"{"supportedVersions":["2027-01-01"],"capabilities":{}}"#;
        let cause = modern(raw).expect_err("another version");
        assert!(cause.contains("does not speak 2026-07-28"), "{cause}");
        let raw = r#"{"supportedVersions":["2027-01-01","2026-07-28"],
            "_meta":{"io.modelcontextprotocol/serverInfo":{"name":"x","description":"Says the time"}}}"#;
        let hello = modern(raw).expect("a greeting");
        assert_eq!(hello.description.as_deref(), Some("Says the time"));
        assert!(!hello.notifies_list_changes);
    }

    #[test]
    fn a_refused_version_is_tried_again_if_the_server_takes_it() {
        let check = |code: i32, data: Value, expected: bool| {
            let error = ErrorData::new(ErrorCode(code), "unsupported", Some(data));
            assert_eq!(supports_our_version(&error), expected, "{error:?}");
        };
        check(-32022, json!({"supported": ["2026-07-28"]}), true);
        check(-32022, json!({"supported": ["2025-11-25"]}), false);
        check(-32022, json!({}), false);
        check(-32601, json!({"supported": ["2026-07-28"]}), false);
    }

    #[test]
    fn long_descriptions_are_cut() {
        let cut = first_paragraph(&"é".repeat(1000)).expect("a paragraph");
        assert_eq!(cut.chars().count(), MAX_DESCRIPTION + 1);
    }
}
