//! The program `mcp`: calls tools, and finds them.

mod arguments;
mod print;

use std::io::{self, Read, Write};
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::requests::{Requests, ask};
use arguments::{CallArguments, McpCommand, parse};

/// Exit statuses.
const DONE: i32 = 0;
const FAILED: i32 = 1;
const MISUSED: i32 = 2;

const HELP: &str = include_str!("command/help.txt");

/// Longest arguments on standard input, in bytes.
const MAX_INPUT: u64 = 16 * 1024 * 1024;

/// Runs the program; returns its exit status.
pub fn run(arguments: &[String]) -> i32 {
    let ended = match parse(arguments) {
        Ok(McpCommand::Help) => print::text(HELP),
        Ok(McpCommand::Manual) => manual(),
        Ok(McpCommand::Call(call)) => tool(&call),
        Ok(McpCommand::Search { words, limit }) => search(&words, limit),
        Ok(McpCommand::Show { name }) => show(&name),
        Err(problem) => {
            print::problem(&format!("{problem}; see `mcp --help`"));
            return MISUSED;
        }
    };
    match ended {
        Ok(()) => DONE,
        // The reader has closed the pipe.
        Err(Problem::Output) => FAILED,
        Err(Problem::Message(text)) => {
            print::problem(&text);
            FAILED
        }
    }
}

/// Why the program fails.
#[derive(Debug)]
pub enum Problem {
    /// A message for people.
    Message(String),
    /// The reader has closed the output.
    Output,
}

fn tool(call: &CallArguments) -> Result<(), Problem> {
    let mut arguments = call.arguments.clone();
    if call.reads_input {
        arguments.extend(input()?);
    }
    let (server, tool) = split(&call.name);
    let args = json!({"server": server, "tool": tool, "args": arguments, "words": call.words});
    let answer = request("tool", &args).map_err(|problem| named(problem, &call.name))?;
    print::answer(&call.name, &answer, call.form)
}

/// Arguments as JSON on standard input.
fn input() -> Result<Map<String, Value>, Problem> {
    let mut text = String::new();
    let read = io::stdin().take(MAX_INPUT + 1).read_to_string(&mut text);
    read.map_err(|error| Problem::Message(format!("standard input: {error}")))?;
    let object = serde_json::from_str(&text);
    object.map_err(|error| Problem::Message(format!("standard input: expected a JSON object: {error}")))
}

fn search(words: &str, limit: Option<u64>) -> Result<(), Problem> {
    let mut args = json!({"query": words, "language": "shell"});
    if let Some(limit) = limit {
        args["limit"] = limit.into();
    }
    print::found(&request("search", &args)?)
}

fn show(name: &str) -> Result<(), Problem> {
    let (server, tool) = split(name);
    let described = request(
        "describe",
        &json!({"server": server, "tool": tool, "language": "shell"}),
    )?;
    print::text(described["page"].as_str().unwrap_or_default())
}

fn manual() -> Result<(), Problem> {
    let manual = request("manual", &json!({"language": "shell"}))?;
    print::text(manual["text"].as_str().unwrap_or_default())
}

/// Server and tool of `server.tool`.
fn split(name: &str) -> (Option<&str>, &str) {
    match name.split_once('.') {
        Some((server, tool)) => (Some(server), tool),
        None => (None, name),
    }
}

/// The value of a host call.
fn request(name: &str, args: &Value) -> Result<Value, Problem> {
    let answer = ask(&directory(), name, args.to_string())
        .map_err(|error| Problem::Message(format!("the session takes no requests: {error}")))?;
    let mut answer: Value = serde_json::from_str(&answer)
        .map_err(|error| Problem::Message(format!("the answer cannot be read: {error}")))?;
    let error = answer["err"].take();
    if error.is_null() {
        return Ok(answer["ok"].take());
    }
    let message = error["message"].as_str().unwrap_or("the request failed");
    let message = match error["hint"].as_str() {
        Some(hint) => format!("{message}; {hint}"),
        None => message.to_owned(),
    };
    Err(Problem::Message(message))
}

/// Prefixes the problem with the tool's name, unless the problem contains the name.
fn named(problem: Problem, name: &str) -> Problem {
    match problem {
        Problem::Message(text) if !text.contains(name) => Problem::Message(format!("{name}: {text}")),
        other => other,
    }
}

/// The directory of the session's requests. Without the session's environment, the default directory.
fn directory() -> PathBuf {
    #[expect(
        clippy::disallowed_methods,
        reason = "the environment is the session's, and this process belongs to a program"
    )]
    let named = std::env::var_os(Requests::VARIABLE);
    named.map_or_else(|| Requests::new("/tmp").directory().to_owned(), PathBuf::from)
}

impl From<io::Error> for Problem {
    fn from(_: io::Error) -> Self {
        Problem::Output
    }
}

fn write(mut to: impl Write, text: &str) -> Result<(), Problem> {
    to.write_all(text.as_bytes())?;
    Ok(to.flush()?)
}
