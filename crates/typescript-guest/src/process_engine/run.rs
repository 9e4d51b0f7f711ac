//! One program in the engine, from its text to its result.

use std::collections::BTreeSet;
use std::io;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use typescript::Script;

use super::ProcessEngine;
use super::link::{Answer, Done, Link, Message, printed};
use super::program::EngineKind;
use super::tool_modules;
use crate::failure::{self, Failure, INTERRUPTED, program_name};
use crate::json::{MAX_DEPTH, depth, well_formed};
use crate::native::python_literal;
use crate::output;
use crate::places::{Places, RESULTS, SCRATCH, WORKSPACE};
use crate::report::RunReport;
use crate::resolve::{self, ImportTarget, ImportedTool};
use crate::run::value_on;
use crate::sources::{ProgramText, Sources};
use guest_session::{CallQueue, Channel, Frame, Limits, Output, Reply, RunFrame, Surface, Written};

/// A run under way.
struct EngineRun<'a> {
    link: &'a mut Link,
    channel: &'a Channel,
    kind: EngineKind,
    sources: &'a mut Sources,
    has_tool_modules: &'a mut bool,
    calls: CallQueue,
    output: Output,
    number: u64,
}

/// Runs a program and returns the frame that reports its end.
///
/// # Errors
/// If the host or the engine is gone.
pub fn run(
    engine: &mut ProcessEngine,
    channel: &Channel,
    frame: &RunFrame,
    limits: Limits,
) -> io::Result<Vec<u8>> {
    jail::own_zygote::forget_interrupt();
    match read(engine, channel, frame)? {
        Ok(script) => execute(engine, channel, frame, &script, limits),
        Err(error) => {
            let mut report = RunReport::new(frame.id);
            report.fail(error);
            report.into_frame(&[], &[])
        }
    }
}

/// The program in the engine's form, or why the program does not run: its text is wrong, or the host refuses it.
fn read(
    engine: &mut ProcessEngine,
    channel: &Channel,
    frame: &RunFrame,
) -> io::Result<Result<Script, Value>> {
    let script = match typescript::script(&frame.code, value_on(frame.surface)) {
        Ok(script) => script,
        Err(error) => return Ok(Err(failure::syntax_error(&error))),
    };
    let must_stop = &jail::own_zygote::is_interrupted;
    let found = typescript::calls(&frame.code, &engine.bound);
    if guest_session::is_refused(channel, &found, must_stop)? {
        return Ok(Err(guest_session::refused()));
    }
    engine.bound.extend(script.names.iter().cloned());
    let source = ProgramText {
        text: frame.code.clone(),
        lines: Some(script.lines.clone()),
    };
    engine.sources.get_mut().add(&program_name(frame.id), source);
    Ok(Ok(script))
}

fn execute(
    engine: &mut ProcessEngine,
    channel: &Channel,
    frame: &RunFrame,
    script: &Script,
    limits: Limits,
) -> io::Result<Vec<u8>> {
    let written = Written::since_now(roots());
    let kind = engine.program.kind;
    engine.started(channel)?;
    let Some(link) = engine.link.as_mut() else {
        return Err(io::ErrorKind::NotFound.into());
    };
    let mut run = EngineRun {
        link,
        channel,
        kind,
        sources: engine.sources.get_mut(),
        has_tool_modules: &mut engine.has_tool_modules,
        calls: CallQueue {
            most: limits.concurrent_calls,
            ..CallQueue::default()
        },
        output: output::of(RESULTS.to_owned()),
        number: frame.id,
    };
    run.output.begin(frame.id, limits.output);
    run.start(frame, script, limits);
    let ended = run.until_done();
    // Also print the last output of an ended engine.
    run.print();
    let ended = ended?;
    let copied = run.output.copied();
    let mut report = RunReport::new(frame.id);
    if let Some(failure) = put(*ended, &mut report) {
        report.fail(failure.frame(engine.sources.get_mut(), frame.id));
    }
    report.into_frame(&copied, &written.files())
}

/// The directories whose files a run reports. Documented and real paths are the same.
fn roots() -> Vec<(String, String)> {
    [WORKSPACE, RESULTS, SCRATCH]
        .map(|root| (root.to_owned(), root.to_owned()))
        .into()
}

/// Adds a run's end to its report; returns the failure, if any.
fn put(ended: Done, report: &mut RunReport) -> Option<Failure> {
    match ended.exit {
        Some(0) => return None,
        Some(status) => return Some(Failure::new("SystemExit", format!("exit status {status}"))),
        None => {}
    }
    let unsent = ended.finished.and_then(|finished| report.finish(finished));
    ended.failed.or(unsent)
}

impl EngineRun<'_> {
    /// Sends the program to the engine.
    fn start(&mut self, frame: &RunFrame, script: &Script, limits: Limits) {
        // Drop output of earlier runs.
        printed(&self.link.stdout);
        printed(&self.link.stderr);
        // The names may contain a server twice: as configured, and as in programs.
        let servers: BTreeSet<&String> = frame.names.iter().flatten().collect();
        self.link.push(&json!({
            "t": "run",
            "id": self.number,
            "name": program_name(self.number),
            "code": script.with_import_function(),
            "names": script.names,
            "servers": servers,
            "isOnServer": frame.surface == Surface::Server,
            "assignsResult": script.assigns_result,
            "most": limits.result,
        }));
    }

    /// Carries messages between engine and host until the run has ended.
    fn until_done(&mut self) -> io::Result<Box<Done>> {
        let mut is_told = false;
        loop {
            while let Some(message) = self.link.next()? {
                if let Some(ended) = self.take(message) {
                    return Ok(ended);
                }
            }
            self.print();
            while let Some(frame) = self.channel.next()? {
                if let Frame::Reply(reply) = frame {
                    self.reply(&reply);
                }
            }
            while let Some(call) = self.calls.take() {
                self.channel.push(&call);
            }
            self.channel.flush()?;
            if jail::own_zygote::is_interrupted() && !is_told {
                is_told = true;
                self.link
                    .push(&json!({"t": "stop", "kind": INTERRUPTED, "message": "the run was interrupted"}));
            }
            self.link.flush()?;
            self.link.wait(self.channel.as_fd())?;
        }
    }

    fn take(&mut self, message: Message) -> Option<Box<Done>> {
        match message {
            Message::Call { id, name, args } => self.call(id, &name, args),
            Message::Module { id, from, specifier } => {
                let answer = self.module(&from, &specifier);
                self.link
                    .push(&json!({"t": "module", "id": id, "module": answer}));
            }
            Message::Done(done) if done.id == self.number => return Some(done),
            Message::Ready | Message::Done(_) => {}
        }
        None
    }

    /// Queues a call for the host; a call that no frame can hold fails at once.
    fn call(&mut self, id: u64, name: &str, args: String) {
        if depth(&args) > MAX_DEPTH {
            let message = "the arguments are nested too deeply: 100 levels are the most";
            let error = json!({"kind": "invalid_arguments", "message": message}).to_string();
            let err = RawValue::from_string(error).ok();
            self.link.answer(&Answer {
                id,
                ok: None,
                err: err.as_deref(),
                literal: None,
            });
            return;
        }
        let (name, args) = (Value::from(name), well_formed(args));
        let body = format!(r#"{{"t":"call","id":{id},"name":{name},"args":{args}}}"#);
        self.calls.waiting.push_back(body.into_bytes());
    }

    fn reply(&mut self, reply: &Reply) {
        self.calls.flying = self.calls.flying.saturating_sub(1);
        self.link.answer(&Answer {
            id: reply.id,
            ok: reply.ok.as_deref(),
            err: reply.err.as_deref(),
            literal: reply.ok.as_deref().and_then(literal),
        });
    }

    /// Resolves a specifier: to a server or tool, a file with its text, or a module of the engine.
    fn module(&mut self, from: &str, specifier: &str) -> Value {
        match resolve::module(&Places::default(), from, specifier) {
            Ok(ImportTarget::Builtin(name)) => json!({"kind": "builtin", "name": name}),
            Ok(ImportTarget::Tool(name)) => match ImportedTool::of(&name) {
                Some(Ok(imported)) => json!({
                    "kind": "tool",
                    "server": imported.server,
                    "tool": imported.tool,
                    "exports": imported.exports(&Places::default()),
                }),
                Some(Err(message)) => missing(&message),
                None => missing(&format!("Cannot find module '{name}'")),
            },
            Ok(ImportTarget::File(path)) => self.file(path),
            Err(message) => missing(&message),
        }
    }

    fn file(&mut self, path: String) -> Value {
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => return missing(&format!("Cannot read module '{path}': {error}")),
        };
        if self.kind == EngineKind::Deno && !*self.has_tool_modules {
            *self.has_tool_modules = true;
            if let Err(error) = tool_modules::write() {
                return missing(&format!("the modules of tools cannot be written: {error}"));
            }
        }
        // Deno reads TypeScript itself.
        if path.ends_with(".json") || self.kind == EngineKind::Deno {
            let source = ProgramText {
                text: text.clone(),
                lines: None,
            };
            self.sources.add(&path, source);
            return json!({"kind": "file", "path": path, "text": text});
        }
        match typescript::module(&text) {
            Ok(module) => {
                let lines = Some(module.lines);
                self.sources.add(&path, ProgramText { text, lines });
                json!({"kind": "file", "path": path, "text": module.code})
            }
            Err(error) => json!({"kind": "error", "message": format!("{path}:{}: {error}", error.line)}),
        }
    }

    /// Forwards the engine's output.
    fn print(&mut self) {
        for (descriptor, text) in [(1, printed(&self.link.stdout)), (2, printed(&self.link.stderr))] {
            if !text.is_empty() {
                self.output.write(descriptor, &text);
            }
        }
    }
}

fn missing(message: &str) -> Value {
    json!({"kind": "error", "code": "ERR_MODULE_NOT_FOUND", "message": message})
}

/// JSON of a result whose only text is a list or dict in Python's notation.
fn literal(answer: &RawValue) -> Option<String> {
    let answer: Value = serde_json::from_str(answer.get()).ok()?;
    if answer
        .get("structuredContent")
        .is_some_and(|content| !content.is_null())
    {
        return None;
    }
    let texts: Vec<&str> = match answer.get("content")? {
        Value::String(text) => vec![text],
        Value::Array(blocks) => blocks
            .iter()
            .map(|block| block["text"].as_str())
            .collect::<Option<_>>()?,
        _ => return None,
    };
    python_literal::json(&texts.join("\n"))
}
