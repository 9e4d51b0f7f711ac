//! The first words with a server: finds out which lifecycle it speaks, without a second process where that is possible.
//!
//! `server/discover` goes first. A modern server answers it. A legacy server refuses it, and `initialize` follows on the
//! same pipe. A server that is slow to start or never answers what it does not know says nothing: after a while
//! `initialize` follows too, and whichever answer comes decides. The library's own probe gives up after ten seconds and
//! then fails on the late answer, so that this one takes its place.

use std::time::Duration;

use rmcp::model::{ErrorData, JsonRpcMessage, ProtocolVersion, ServerPeerInfo, ServerRequest};
use serde_json::{Value, json};

use crate::hub::Era;
use crate::transport::{Answer, Frame, HANDSHAKE_IDS, Pipes};

/// Silence after which `initialize` is sent on top of `server/discover`. Servers in Python take some seconds to start,
/// and it does a modern one no harm.
const PATIENCE: Duration = Duration::from_secs(5);
/// The words of a server about itself are shown in lists, so that only a few of them are kept.
const MAX_DESCRIPTION: usize = 300;

/// The error of a server that does not speak the version of a request.
const UNSUPPORTED_VERSION: i32 = -32022;

const DISCOVER: i64 = *HANDSHAKE_IDS.start();
const DISCOVER_AGAIN: i64 = DISCOVER + 1;
const INITIALIZE: i64 = *HANDSHAKE_IDS.end();

/// What a server said of itself.
#[derive(Debug, Clone)]
pub(crate) struct Greeting {
    pub(crate) era: Era,
    pub(crate) info: ServerPeerInfo,
    /// What it is for.
    pub(crate) description: Option<String>,
    /// Whether it tells when its tools change.
    pub(crate) tells_changes: bool,
}

/// What to try with one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Probe {
    /// Discover first, then initialize.
    Both,
    /// Initialize only: some servers end at an unknown request, and some refuse `initialize` once they have seen one.
    Initialize,
}

/// Why there was no greeting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Silence {
    /// The server closed its stdout.
    Closed,
    /// It refused, in these words.
    Refused(String),
}

struct Handshake<'a> {
    pipes: &'a mut Pipes,
    capabilities: &'a Value,
    initialize_sent: bool,
    /// Why `server/discover` came to nothing.
    not_modern: Option<String>,
    /// Why `initialize` came to nothing.
    not_legacy: Option<String>,
}

/// Greets the server with what the client behind us can do; waits as long as it takes.
pub(crate) async fn greet(
    pipes: &mut Pipes,
    probe: Probe,
    capabilities: &Value,
) -> Result<Greeting, Silence> {
    let mut handshake = Handshake {
        pipes,
        capabilities,
        initialize_sent: false,
        not_modern: None,
        not_legacy: None,
    };
    match probe {
        Probe::Both => handshake.send_discover(DISCOVER).await?,
        Probe::Initialize => {
            handshake.not_modern = Some("it was not asked to".to_owned());
            handshake.send_initialize().await?;
        }
    }
    let patience = tokio::time::sleep(PATIENCE);
    tokio::pin!(patience);
    loop {
        tokio::select! {
            frame = handshake.pipes.read() => {
                let frame = frame.ok_or(Silence::Closed)?;
                if let Some(greeting) = handshake.take(frame).await? {
                    return Ok(greeting);
                }
            }
            () = &mut patience, if !handshake.initialize_sent => handshake.send_initialize().await?,
        }
    }
}

// === impl Handshake ===

impl Handshake<'_> {
    async fn take(&mut self, frame: Frame) -> Result<Option<Greeting>, Silence> {
        match frame {
            Frame::Answer(Answer {
                id: Some(DISCOVER),
                outcome: Err(error),
            }) if takes_ours(&error) => self.send_discover(DISCOVER_AGAIN).await?,
            Frame::Answer(Answer {
                id: Some(DISCOVER | DISCOVER_AGAIN),
                outcome,
            }) => {
                let answer = outcome.map_err(|error| error.message.into_owned());
                match answer.and_then(|raw| modern(&raw)) {
                    Ok(greeting) => return Ok(Some(greeting)),
                    Err(cause) => self.not_modern = Some(cause),
                }
                if !self.initialize_sent {
                    self.send_initialize().await?;
                }
            }
            Frame::Answer(Answer {
                id: Some(INITIALIZE),
                outcome,
            }) => {
                let answer = outcome.map_err(|error| error.message.into_owned());
                match answer.and_then(|raw| legacy(&raw)) {
                    Ok(greeting) => {
                        self.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
                            .await?;
                        return Ok(Some(greeting));
                    }
                    Err(cause) => self.not_legacy = Some(cause),
                }
            }
            Frame::Request(request) => self.answer(*request).await?,
            Frame::Notification { method, params } => self.pipes.notice(&method, params),
            Frame::Answer(_) | Frame::Broken { .. } | Frame::Noise => {}
        }
        match (&self.not_modern, &self.not_legacy) {
            (Some(discover), Some(initialize)) => Err(Silence::Refused(format!(
                "server/discover: {discover}; initialize: {initialize}"
            ))),
            // A modern server that started slowly refuses `initialize`; its answer to the first question comes as well.
            _ => Ok(None),
        }
    }

    async fn send_discover(&mut self, id: i64) -> Result<(), Silence> {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": ProtocolVersion::V_2026_07_28,
            "io.modelcontextprotocol/clientInfo": client_info(),
            "io.modelcontextprotocol/clientCapabilities": self.capabilities,
        });
        let params = json!({"_meta": meta});
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": "server/discover", "params": params}))
            .await
    }

    async fn send_initialize(&mut self) -> Result<(), Silence> {
        self.initialize_sent = true;
        let params = json!({
            "protocolVersion": ProtocolVersion::LATEST_WITH_INITIALIZE,
            "capabilities": self.capabilities,
            "clientInfo": client_info(),
        });
        self.write(&json!({"jsonrpc": "2.0", "id": INITIALIZE, "method": "initialize", "params": params}))
            .await
    }

    /// A server may ping before the handshake is over; all else has to wait for the end of it.
    async fn answer(&mut self, message: rmcp::model::ServerJsonRpcMessage) -> Result<(), Silence> {
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

    async fn write(&mut self, message: &Value) -> Result<(), Silence> {
        self.pipes.write(message).await.map_err(|_closed| Silence::Closed)
    }
}

/// Whether a server that refused the version takes it, by its own words: one of several behind an address may be older.
fn takes_ours(error: &ErrorData) -> bool {
    let supported = error.data.as_ref().and_then(|data| data["supported"].as_array());
    let ours = ProtocolVersion::V_2026_07_28;
    error.code.0 == UNSUPPORTED_VERSION
        && supported.is_some_and(|versions| versions.iter().any(|version| version == ours.as_str()))
}

/// Who we are, for servers.
pub(crate) fn client_info() -> rmcp::model::Implementation {
    rmcp::model::Implementation::new("codeyard", env!("CARGO_PKG_VERSION"))
}

fn modern(raw: &str) -> Result<Greeting, String> {
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
    Ok(greeting(Era::Modern, ours, &answer, server))
}

fn legacy(raw: &str) -> Result<Greeting, String> {
    let answer: Value = serde_json::from_str(raw).map_err(|error| error.to_string())?;
    let version = answer
        .get("protocolVersion")
        .filter(|version| version.is_string())
        .ok_or("no protocolVersion")?;
    let version = serde_json::from_value(version.clone()).map_err(|error| error.to_string())?;
    Ok(greeting(Era::Legacy, version, &answer, answer.get("serverInfo")))
}

fn greeting(era: Era, version: ProtocolVersion, answer: &Value, server: Option<&Value>) -> Greeting {
    // What is odd in the capabilities costs nothing but the capability.
    let capabilities = answer.get("capabilities").cloned().unwrap_or_default();
    let tells_changes = capabilities.pointer("/tools/listChanged") == Some(&Value::Bool(true));
    let info = ServerPeerInfo::new(version, serde_json::from_value(capabilities).unwrap_or_default());
    let description = server
        .and_then(|server| server.get("description"))
        .or_else(|| answer.get("instructions"))
        .and_then(Value::as_str)
        .and_then(first_paragraph);
    Greeting {
        era,
        info,
        description,
        tells_changes,
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
    fn a_greeting_is_read_however_odd_its_capabilities_are() {
        let raw = r#"{"protocolVersion":"2024-11-05","capabilities":{"tools":{"listChanged":true},"prompts":7},
            "serverInfo":{"name":"x"},"instructions":"  Keeps\n notes.\n\nMore."}"#;
        let greeting = legacy(raw).expect("a greeting");
        assert_eq!(greeting.era, Era::Legacy);
        assert!(greeting.tells_changes);
        assert_eq!(greeting.description.as_deref(), Some("Keeps notes."));
        assert_eq!(greeting.info.protocol_version, ProtocolVersion::V_2024_11_05);
        assert_eq!(legacy("{}").expect_err("no version"), "no protocolVersion");
    }

    #[test]
    fn a_server_that_only_speaks_other_versions_is_not_modern() {
        let raw = r#"{"supportedVersions":["2027-01-01"],"capabilities":{}}"#;
        let cause = modern(raw).expect_err("another version");
        assert!(cause.contains("does not speak 2026-07-28"), "{cause}");
        let raw = r#"{"supportedVersions":["2027-01-01","2026-07-28"],
            "_meta":{"io.modelcontextprotocol/serverInfo":{"name":"x","description":"Says the time"}}}"#;
        let greeting = modern(raw).expect("a greeting");
        assert_eq!(greeting.description.as_deref(), Some("Says the time"));
        assert!(!greeting.tells_changes);
    }

    #[test]
    fn a_refused_version_is_tried_again_if_the_server_takes_it() {
        let check = |code: i32, data: Value, expected: bool| {
            let error = ErrorData::new(ErrorCode(code), "unsupported", Some(data));
            assert_eq!(takes_ours(&error), expected, "{error:?}");
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
