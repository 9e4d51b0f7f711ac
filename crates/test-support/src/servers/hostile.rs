//! Servers that each break one rule of the protocol.

use std::io::{Read as _, Write as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::protocol::{self, Answer, Connection, Era, ToolCall, Tools, response, text, tool};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Noise,
    Garbage,
    NoResult,
    NoSchema,
    UnknownContent,
    Huge,
    EndlessLine,
    WrongIds,
    Duplicate,
    Dies,
    DiesLoudly,
    CircularPages,
    DeafAfterList,
    DiesOnDiscover,
    MuteOnDiscover,
    NoTools,
    AnswersNumbers,
    Crowd,
    Wordy,
    Restless,
    Drip,
    Deep,
    RemoteSchema,
    NotText,
    HalfAnAnswer,
    Storm,
    EndlessProgress,
    EndlessPages,
}

const MODES: [(&str, Mode); 28] = [
    ("noise", Mode::Noise),
    ("garbage", Mode::Garbage),
    ("no-result", Mode::NoResult),
    ("no-schema", Mode::NoSchema),
    ("unknown-content", Mode::UnknownContent),
    ("huge", Mode::Huge),
    ("endless-line", Mode::EndlessLine),
    ("wrong-ids", Mode::WrongIds),
    ("duplicate", Mode::Duplicate),
    ("dies", Mode::Dies),
    ("dies-loudly", Mode::DiesLoudly),
    ("circular-pages", Mode::CircularPages),
    ("deaf", Mode::DeafAfterList),
    ("dies-on-discover", Mode::DiesOnDiscover),
    ("mute-on-discover", Mode::MuteOnDiscover),
    ("no-tools", Mode::NoTools),
    ("answers-numbers", Mode::AnswersNumbers),
    ("crowd", Mode::Crowd),
    ("wordy", Mode::Wordy),
    ("restless", Mode::Restless),
    ("drip", Mode::Drip),
    ("deep", Mode::Deep),
    ("remote-schema", Mode::RemoteSchema),
    ("not-text", Mode::NotText),
    ("half-an-answer", Mode::HalfAnAnswer),
    ("storm", Mode::Storm),
    ("endless-progress", Mode::EndlessProgress),
    ("endless-pages", Mode::EndlessPages),
];

/// Levels of a schema nested too deeply for any reader.
const LEVELS: usize = 120;
/// The pause between two bytes of an answer that never ends.
const DRIP: Duration = Duration::from_millis(10);

const CROWD: usize = 12_000;
/// Bytes of an overlong description.
const WORDS: usize = 4 * 1024 * 1024;
/// Changes that are announced together, before a pause.
const ANNOUNCED: usize = 200;
const PAUSE: Duration = Duration::from_millis(20);

/// Questions sent at once.
const STORM: usize = 2_000;
/// Bytes of one page of endless resources.
const PAGE: usize = 1024 * 1024;

/// Bytes of an answer too long for any client.
const HUGE: usize = 50 * 1024 * 1024;

/// Runs the server of that mode; `exit`, `hang` and `slow-start:SECONDS` misbehave before the first message.
pub(super) fn serve(mode: &str, era: Era) -> Result<()> {
    if let Some(seconds) = mode.strip_prefix("slow-start:") {
        std::thread::sleep(Duration::from_secs_f64(seconds.parse()?));
        return protocol::serve(era, &Hostile(Mode::Duplicate, AtomicUsize::new(0)));
    }
    match mode {
        "exit" => {
            complain("fatal: the API key is missing\n");
            bail!("cannot start");
        }
        "hang" => {
            std::io::stdin().read_to_end(&mut Vec::new())?;
            return Ok(());
        }
        _ => {}
    }
    let Some((_, mode)) = MODES.iter().find(|(name, _)| *name == mode) else {
        bail!("unknown mode {mode}");
    };
    if *mode == Mode::Noise {
        Connection::default().write(b"Starting up...\n\n{not json}\n");
    }
    protocol::serve(era, &Hostile(*mode, AtomicUsize::new(0)))
}

struct Hostile(Mode, AtomicUsize);

impl Tools for Hostile {
    fn list(&self, cursor: Option<&str>) -> Value {
        let good = tool("echo", "Returns the message.", &["message:string"]);
        match self.0 {
            Mode::NoSchema => {
                json!({"tools": [{"name": "bare", "description": "No schema."}, good, {"x": 1}]})
            }
            Mode::CircularPages => {
                let name = format!("echo_{}", cursor.unwrap_or("first"));
                json!({"tools": [tool(&name, "", &[])], "nextCursor": "again"})
            }
            Mode::Crowd => {
                let mut tools = vec![good];
                tools.extend((0..CROWD).map(|number| tool(&format!("tool_{number}"), "One of many.", &[])));
                json!({ "tools": tools })
            }
            Mode::Wordy => {
                let long = tool("long", &"word ".repeat(WORDS / 5), &["message:string"]);
                let again = tool("echo", "Another of that name.", &[]);
                let clashing = ["do-it", "do_it", "do it"].map(|name| tool(name, "", &[]));
                let mut tools = vec![good, long, again];
                tools.extend(clashing);
                json!({ "tools": tools })
            }
            Mode::Deep => {
                let inner = (0..LEVELS).fold(
                    json!({"type": "string"}),
                    |inner, _| json!({"type": "object", "properties": {"x": inner}}),
                );
                json!({"tools": [{"name": "deep", "inputSchema": inner}, good]})
            }
            Mode::RemoteSchema => {
                let elsewhere = std::env::var("ELSEWHERE").unwrap_or_default();
                let schema = json!({"type": "object", "properties": {"message": {"$ref": elsewhere}}});
                json!({"tools": [{"name": "elsewhere", "inputSchema": schema}, good]})
            }
            Mode::Restless => {
                let times = self.1.fetch_add(1, Ordering::SeqCst);
                json!({"tools": [good, tool(&format!("listed_{times}"), "", &[])]})
            }
            _ => json!({"tools": [good], "unknown": {"kept": true}}),
        }
    }

    fn call(&self, call: &ToolCall<'_>) -> Answer {
        let ToolCall { id, connection, .. } = call;
        let good = response(
            id,
            json!({"content": [{"type": "text", "text": call.arguments["message"]}]}),
        );
        match self.0 {
            Mode::Noise => {
                connection.write(b"DEBUG: about to answer\n\x07\x00\xff\n[1,2]\n");
                connection.send(&good);
            }
            Mode::Garbage => {
                connection.write(
                    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[\n").as_bytes(),
                );
            }
            Mode::NoResult => connection.send(&json!({"jsonrpc": "2.0", "id": id})),
            Mode::UnknownContent => {
                return Answer::Result(json!({
                    "content": [{"type": "hologram", "beams": [1, 2.5, 12_345_678_901_234_567_890_u64]}],
                    "vendor": {"z": 1, "a": null},
                    "_meta": {"trace": "t-1"},
                }));
            }
            Mode::Huge => return text("x".repeat(HUGE)),
            Mode::EndlessLine => {
                connection.write(&vec![b'x'; HUGE]);
                connection.write(b"\n");
                connection.send(&good);
            }
            Mode::WrongIds => connection.send(&response(&json!(1_000_000), json!({"content": []}))),
            Mode::Duplicate => {
                connection.send(&good);
                connection.send(&good);
            }
            Mode::Dies => {
                complain("panic: out of luck\n");
                std::process::abort();
            }
            Mode::DiesLoudly => {
                complain(&"a line of a very long trace\n".repeat(40_000));
                complain("the last words\n");
                std::process::abort();
            }
            Mode::Wordy => return text(call.name),
            Mode::Drip => {
                while !connection.is_over() {
                    connection.write(b"{");
                    std::thread::sleep(DRIP);
                }
            }
            Mode::NotText => {
                connection.write(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"").as_bytes());
                connection.write(b"\xff\xfe\x80\"}]}}\n");
            }
            Mode::HalfAnAnswer => {
                connection.write(
                    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[").as_bytes(),
                );
                complain("panic: in the middle of a word\n");
                std::process::abort();
            }
            Mode::Storm => {
                for number in 0..STORM {
                    connection.send(&json!({
                        "jsonrpc": "2.0", "id": format!("storm-{number}"), "method": "elicitation/create",
                        "params": {"message": "And?", "requestedSchema": {"type": "object", "properties": {}}},
                    }));
                }
                connection.send(&good);
            }
            Mode::EndlessProgress => {
                let mut done = 0;
                while connection.sleep(id, Duration::ZERO) {
                    done += 1;
                    let params = json!({"progressToken": call.progress_token, "progress": done});
                    connection.notify("notifications/progress", params);
                }
            }
            Mode::AnswersNumbers => return Answer::Result(json!(42)),
            Mode::DeafAfterList => loop {
                std::thread::park();
            },
            Mode::NoSchema
            | Mode::CircularPages
            | Mode::DiesOnDiscover
            | Mode::MuteOnDiscover
            | Mode::NoTools
            | Mode::Crowd
            | Mode::Deep
            | Mode::RemoteSchema
            | Mode::EndlessPages
            | Mode::Restless => {
                connection.send(&good);
            }
        }
        Answer::None
    }

    fn is_slow(&self, _tool: &str) -> bool {
        matches!(self.0, Mode::Drip | Mode::EndlessProgress)
    }

    fn capabilities(&self) -> Value {
        match self.0 {
            Mode::EndlessPages => json!({"tools": {}, "resources": {}}),
            _ => json!({"tools": {"listChanged": true}}),
        }
    }

    fn other(&self, method: &str, params: &Value, _connection: &Connection) -> Option<Answer> {
        if self.0 != Mode::EndlessPages || method != "resources/list" {
            return None;
        }
        let page = params["cursor"]
            .as_str()
            .unwrap_or("0")
            .parse()
            .unwrap_or(0_usize);
        let resource = json!({
            "uri": format!("endless://{page}"), "name": format!("page {page}"), "description": "x".repeat(PAGE),
        });
        Some(Answer::Result(
            json!({"resources": [resource], "nextCursor": (page + 1).to_string()}),
        ))
    }

    fn beside(&self, connection: &Connection) {
        while self.0 == Mode::Restless && !connection.is_over() {
            for _ in 0..ANNOUNCED {
                connection.tools_changed();
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn intercept(&self, message: &Value, connection: &Connection) -> bool {
        let method = message["method"].as_str().unwrap_or_default();
        match (self.0, method) {
            (Mode::DiesOnDiscover, "server/discover") => std::process::abort(),
            (Mode::MuteOnDiscover, "server/discover") => true,
            (Mode::NoTools, "tools/list") => {
                connection.send(&protocol::error(&message["id"], -32601, "method not found"));
                true
            }
            _ => false,
        }
    }
}

fn complain(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
