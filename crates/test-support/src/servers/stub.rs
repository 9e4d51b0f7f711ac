//! The `stub` server of the acceptance cases, with further tools for tests of the hub (`--extras`).

use std::fs::OpenOptions;
use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::offers;
use super::protocol::{Answer, Connection, ToolCall, Tools, structured, text, tool};

const INVALID_PARAMS: i64 = -32602;

pub(super) struct Stub {
    extras: bool,
    calls: AtomicU64,
    grown: AtomicU64,
}

impl Stub {
    pub(super) fn new(extras: bool) -> Stub {
        Stub {
            extras,
            calls: AtomicU64::new(0),
            grown: AtomicU64::new(0),
        }
    }

    fn call_extra(&self, call: &ToolCall<'_>) -> Option<Answer> {
        let ToolCall {
            arguments,
            connection,
            ..
        } = call;
        Some(match call.name {
            "calls" => structured(json!({"calls": self.calls.load(Ordering::SeqCst)})),
            "cancelled" => structured(json!({"ids": connection.cancelled()})),
            "environment" => {
                let variables: serde_json::Map<String, Value> = std::env::vars()
                    .map(|(name, value)| (name, value.into()))
                    .collect();
                structured(Value::Object(variables))
            }
            "raw" => Answer::Result(arguments["result"].clone()),
            "refuse" => Answer::Error(
                arguments["code"].as_i64()?,
                arguments["message"].as_str()?.to_owned(),
            ),
            "complain" => {
                let _ = writeln!(std::io::stderr(), "{}", arguments["text"].as_str()?);
                text("said")
            }
            "ask" => structured(connection.ask(arguments["method"].as_str()?, &json!({}))),
            "grow" => {
                self.grown.fetch_add(1, Ordering::SeqCst);
                connection.tools_changed();
                text("grown")
            }
            "shrink" => {
                let shrunk = self
                    .grown
                    .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |grown| grown.checked_sub(1));
                connection.tools_changed();
                text(if shrunk.is_ok() {
                    "shrunk"
                } else {
                    "nothing to remove"
                })
            }
            name if name.starts_with("grown_") => text(name),
            "progress" => progress(call),
            "spawn" => text(spawn_daemon()),
            "steady" | "shaky" => once_more(arguments["file"].as_str()?),
            "read" => told(std::fs::read_to_string(arguments["path"].as_str()?)),
            "write" => told(std::fs::write(arguments["path"].as_str()?, "x").map(|()| "written".to_owned())),
            "connect" => {
                let address = arguments["address"].as_str()?;
                told(std::net::TcpStream::connect(address).map(|_| "connected".to_owned()))
            }
            "take" => {
                let taken = vec![1_u8; usize::try_from(arguments["bytes"].as_u64()?).ok()?];
                text(taken.len().to_string())
            }
            "fork" => told(fork(arguments["times"].as_u64()?)),
            _ => return offers::call(call),
        })
    }
}

impl Tools for Stub {
    fn list(&self, _cursor: Option<&str>) -> Value {
        let mut tools = acceptance_tools();
        if self.extras {
            tools.extend(extra_tools());
            let grown = 1..=self.grown.load(Ordering::SeqCst);
            tools.extend(grown.map(|number| tool(&format!("grown_{number}"), "Came later.", &[])));
        }
        match ttl() {
            Some(ttl) => json!({"tools": tools, "ttlMs": ttl}),
            None => json!({"tools": tools}),
        }
    }

    fn call(&self, call: &ToolCall<'_>) -> Answer {
        self.calls.fetch_add(1, Ordering::SeqCst);
        if self.extras
            && let Some(answer) = self.call_extra(call)
        {
            return answer;
        }
        call_tool(call).unwrap_or_else(|| {
            Answer::Error(
                INVALID_PARAMS,
                format!("no tool {} with these arguments", call.name),
            )
        })
    }

    fn is_slow(&self, tool: &str) -> bool {
        matches!(tool, "slow" | "progress" | "ask" | "inquire" | "pester")
    }

    fn capabilities(&self) -> Value {
        if ttl().is_some() {
            json!({"tools": {}})
        } else if self.extras {
            offers::capabilities()
        } else {
            json!({"tools": {"listChanged": true}})
        }
    }

    fn other(&self, method: &str, params: &Value, connection: &Connection) -> Option<Answer> {
        self.extras
            .then(|| offers::answer(method, params, connection))
            .flatten()
    }

    fn instructions(&self) -> &'static str {
        "Answers with what it is given."
    }
}

fn acceptance_tools() -> Vec<Value> {
    let mut add = tool("add", "Adds two numbers.", &["a:number", "b:number"]);
    add["outputSchema"] =
        json!({"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]});
    add["annotations"] = json!({"readOnlyHint": true});
    vec![
        tool("echo", "Returns the message.", &["message:string"]),
        add,
        tool("slow", "Answers after some seconds.", &["seconds:number"]),
        tool("fail", "Reports an error.", &["message:string"]),
        tool("big", "Returns a text of that many bytes.", &["bytes:integer"]),
        tool("contact", "Returns a person's contact data.", &[]),
        tool("send", "Sends a message to somebody.", &["to:string"]),
        tool("pid", "Returns the server's process number.", &[]),
        tool("cwd", "Returns the server's working directory.", &[]),
        tool("crash", "Ends the server.", &[]),
        tool("list-things", "Lists things.", &[]),
    ]
}

fn extra_tools() -> Vec<Value> {
    let mut steady = tool("steady", "The same, and may be repeated.", &["file:string"]);
    steady["annotations"] = json!({"idempotentHint": true});
    vec![
        tool("calls", "Counts the calls so far, this one included.", &[]),
        tool("cancelled", "Lists the requests that were cancelled.", &[]),
        tool("environment", "Returns the server's environment.", &[]),
        tool("raw", "Answers with exactly this result.", &["result:object"]),
        tool(
            "refuse",
            "Answers with a protocol error.",
            &["code:integer", "message:string"],
        ),
        tool("complain", "Writes to standard error.", &["text:string"]),
        tool(
            "ask",
            "Sends a request to the client and returns its answer.",
            &["method:string"],
        ),
        tool("grow", "Adds a tool.", &[]),
        tool("shrink", "Removes the tool that came last.", &[]),
        tool(
            "progress",
            "Reports progress every so many milliseconds.",
            &["times:integer", "every:integer"],
        ),
        tool("inquire", "Asks the client something.", &[]),
        tool("pester", "Asks a person again and again.", &["times:integer"]),
        tool("say", "Logs a text to the client.", &["text:string"]),
        tool("change_prompts", "Says that the prompts have changed.", &[]),
        tool("meta", "Returns what came along with the call.", &[]),
        tool("spawn", "Leaves a process behind and returns its number.", &[]),
        steady,
        tool("shaky", "Ends the server at the first call.", &["file:string"]),
        tool("read", "Returns a file's text, or why not.", &["path:string"]),
        tool("write", "Writes to a file, or says why not.", &["path:string"]),
        tool(
            "connect",
            "Opens a connection, or says why not.",
            &["address:string"],
        ),
        tool("take", "Takes that much memory.", &["bytes:integer"]),
        tool(
            "fork",
            "Starts that many processes, or says why not.",
            &["times:integer"],
        ),
    ]
}

fn call_tool(call: &ToolCall<'_>) -> Option<Answer> {
    let arguments = call.arguments;
    Some(match call.name {
        "echo" => text(arguments["message"].as_str()?),
        "add" => {
            let sum = arguments["a"].as_f64()? + arguments["b"].as_f64()?;
            // Whole numbers stay integers: a program that prints 1 + 1 expects 2.
            let whole = format!("{sum:.0}").parse::<i64>().ok();
            let whole = whole.filter(|_| sum.fract() == 0.0 && sum.abs() < 9e15);
            structured(whole.map_or(json!({"sum": sum}), |sum| json!({"sum": sum})))
        }
        "slow" => {
            let time = Duration::try_from_secs_f64(arguments["seconds"].as_f64()?).ok()?;
            if call.connection.sleep(call.id, time) {
                text("done")
            } else {
                Answer::None
            }
        }
        "fail" => Answer::Result(json!({
            "content": [{"type": "text", "text": arguments["message"].as_str()?}],
            "isError": true,
        })),
        "big" => text("x".repeat(usize::try_from(arguments["bytes"].as_u64()?).ok()?)),
        "contact" => structured(json!({
            "name": "Alice Doe", "email": "alice@example.com", "phone": "555-123-4567",
            "ssn": "123-45-6789", "card": "4111 1111 1111 1111", "note": "meet at 10",
        })),
        "send" => {
            log(arguments["to"].as_str()?);
            text("sent")
        }
        "pid" => structured(json!({"pid": std::process::id()})),
        "cwd" => text(std::env::current_dir().ok()?.to_string_lossy()),
        "crash" => {
            let _ = writeln!(std::io::stderr(), "stub: crash was called");
            std::process::abort();
        }
        "list-things" => structured(json!({"things": ["lamp", "table", "chair"]})),
        _ => return None,
    })
}

/// The list's time to live in milliseconds (`STUB_TTL`); with it, the stub announces no change.
fn ttl() -> Option<u64> {
    std::env::var("STUB_TTL").ok()?.parse().ok()
}

/// Appends to `STUB_LOG`, else to `stub.log` in the temporary directory.
fn log(line: &str) {
    let path = std::env::var_os("STUB_LOG").map_or_else(|| std::env::temp_dir().join("stub.log"), Into::into);
    let file = OpenOptions::new().append(true).create(true).open(path);
    let _ = file.and_then(|mut file| writeln!(file, "{line}"));
}

fn progress(call: &ToolCall<'_>) -> Answer {
    let number = |name: &str| call.arguments[name].as_u64().unwrap_or_default();
    for step in 1..=number("times") {
        if !call
            .connection
            .sleep(call.id, Duration::from_millis(number("every")))
        {
            return Answer::None;
        }
        let params =
            json!({"progressToken": call.progress_token, "progress": step, "total": number("times")});
        call.connection
            .send(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}));
    }
    text("done")
}

/// Ends the server at the first call with this file; the file counts the calls.
fn once_more(file: &str) -> Answer {
    let calls = std::fs::read_to_string(file).map_or(0, |calls| calls.len());
    let counted = std::fs::write(file, "x".repeat(calls + 1));
    if calls == 0 || counted.is_err() {
        std::process::abort();
    }
    text((calls + 1).to_string())
}

fn told(result: std::io::Result<String>) -> Answer {
    text(result.unwrap_or_else(|error| error.to_string()))
}

/// Starts processes that run until the server ends.
fn fork(times: u64) -> std::io::Result<String> {
    let mut last: Option<std::process::Child> = None;
    for _ in 0..times {
        match std::process::Command::new("sleep").arg("1000").spawn() {
            Ok(child) => last = Some(child),
            Err(refused) => {
                // Gives the next request's thread room before the thread of this request ends.
                if let Some(mut child) = last {
                    child.kill()?;
                    child.wait()?;
                }
                return Err(refused);
            }
        }
    }
    Ok("forked".to_owned())
}

/// Starts a process in its own session and group, as a careless server would.
fn spawn_daemon() -> String {
    let script = "setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo $!";
    let output = std::process::Command::new("sh").args(["-c", script]).output();
    output
        .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        .unwrap_or_default()
}
