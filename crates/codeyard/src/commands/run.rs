//! `codeyard run`: runs a program and prints its output, as an interpreter would.

mod live;

use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::Path;

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use environment::Machine;
use serde_json::{Value, json};
use server::{Host, NotRun, Program, ProgramResult, ReplayError};
use types::{Content, Format, Language, SessionFate, Status, WrittenFile, size_in_words};

pub(super) use self::live::{Live, Shown};
use super::mcp;
use crate::cli::{Cli, RunArguments};
use crate::context::{Context, principal, read_input};
use crate::exit::{Exit, Failure};
use crate::interrupt::Interrupt;
use crate::output::{Output, harmless, one_line};

enum Source<'a> {
    Code(&'a str),
    File(&'a Path),
}

pub async fn run(context: &Context, arguments: &RunArguments) -> anyhow::Result<Exit> {
    let source = match (&arguments.code, &arguments.file) {
        (Some(code), _) => Source::Code(code),
        (None, Some(file)) => Source::File(file),
        (None, None) => return without_program(context, arguments).await,
    };
    let loaded = context.load_serving(&arguments.mount, &arguments.limit)?;
    let code = source.read()?;
    let parts = loaded.into_parts(context.program()?, &Machine);
    let interrupt = Interrupt::watch()?;
    let server = Host::new(parts)
        .map_err(|error| Failure::new(Exit::Usage, error))?
        .caller(principal());
    context.open_logs(&server.host()).await;
    let (live, heard) = match arguments.json {
        true => (None, None),
        false => {
            let (live, heard) = Live::start(context.output);
            (Some(live), Some(heard))
        }
    };
    let program = Program {
        language: arguments.language.unwrap_or_else(|| source.language()),
        code,
        timeout: arguments.timeout,
        check: arguments.check,
        receipt: arguments.receipt.then_some(true),
        output: heard,
    };
    let ran = server.run(program, interrupt.token.clone()).await;
    server.host().close().await;
    let shown = live.map(Live::finish).transpose()?.unwrap_or_default();
    let ran = ran.map_err(not_run)?;
    if let Some(backend) = ran.backend {
        context
            .output
            .tell(&format!("note: the program ran in the backend `{backend}`, which is weaker than the default; see `codeyard doctor`"));
    }
    let images = match &arguments.images {
        Some(directory) => save_images(&ran.outcome.content, directory)?,
        None => Vec::new(),
    };
    if arguments.json {
        context.output.json(&described(&ran, &images))?;
    } else {
        show(&context.output, &ran, &shown, arguments.format, &images)?;
    }
    Ok(interrupt.exit(exit_of(ran.outcome.status)))
}

/// The exit code of a program that has run.
pub(super) fn exit_of(status: Status) -> Exit {
    match status {
        Status::Completed => Exit::Done,
        Status::Refused => Exit::Refused,
        Status::TimedOut => Exit::TimedOut,
        Status::Failed | Status::LimitExceeded { .. } | Status::Cancelled => Exit::ProgramFailed,
    }
}

// === impl Source ===

impl Source<'_> {
    /// The language by the ending of the file's name.
    fn language(&self) -> Language {
        match self {
            Source::Code(_) => Language::Python,
            Source::File(file) => Language::of_file(file),
        }
    }

    fn read(&self) -> anyhow::Result<String> {
        match self {
            Source::Code(code) => Ok((*code).to_owned()),
            Source::File(file) => read_program(file),
        }
    }
}

/// A missing program file counts as a failed program.
fn read_program(file: &Path) -> anyhow::Result<String> {
    let what = match fs::metadata(file) {
        _ if file.as_os_str() == "-" => return read_input(file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => "Script not found",
        Ok(found) if found.is_dir() => "Not a file",
        _ => return read_input(file),
    };
    let message = harmless(&format!("{what}: {}", file.display()));
    Err(Failure::new(Exit::ProgramFailed, message).into())
}

/// Serves the surface `bridge` to clients that started the original bridge by this command.
async fn without_program(context: &Context, arguments: &RunArguments) -> anyhow::Result<Exit> {
    let asks_for_a_run = arguments.language.is_some()
        || arguments.timeout.is_some()
        || arguments.check.is_some()
        || arguments.images.is_some()
        || arguments.format.is_some()
        || arguments.json;
    if asks_for_a_run || std::io::stdin().is_terminal() {
        let usage = Cli::usage_of("run");
        return Err(Failure::new(
            Exit::Usage,
            format!("FILE is missing: name a program, give it as `-c CODE`, or write `-` to read standard input\n\n{usage}"),
        )
        .into());
    }
    let request = mcp::BridgeRequest {
        mounts: &arguments.mount,
        limits: &arguments.limit,
        receipt: arguments.receipt,
        listen: None,
    };
    mcp::bridge(context, request).await
}

/// The exit code depends on the cause.
pub(super) fn not_run(error: NotRun) -> Failure {
    match error {
        NotRun::Timeout(wrong) => Failure::new(
            Exit::Usage,
            format!(
                "--timeout must be {}ms to {}ms, not {}ms; use {}ms",
                wrong.lowest, wrong.highest, wrong.given, wrong.nearest
            ),
        ),
        NotRun::Session(error) => Failure::new(Exit::Refused, error),
        NotRun::Replay(error @ (ReplayError::NotRecorded | ReplayError::EarlierNotRecorded(_))) => {
            let remedy =
                "runs are recorded for replay with `record = \"replay\"` in `[records]` of codeyard.toml";
            Failure::new(Exit::Usage, format!("{error}; {remedy}"))
        }
        NotRun::Replay(error) => Failure::new(Exit::Usage, error),
    }
}

pub(super) fn show(
    output: &Output,
    ran: &ProgramResult,
    shown: &Shown,
    format: Option<Format>,
    images: &[String],
) -> anyhow::Result<()> {
    let outcome = &ran.outcome;
    let (stdout, stderr) = shown.rest(&outcome.stdout, &outcome.stderr);
    output.foreign(&stdout)?;
    if !stderr.is_empty() {
        output.tell(stderr.trim_end_matches('\n'));
    }
    match &outcome.result {
        None | Some(Value::Null) => {}
        Some(value) if let Some(format) = format => {
            output.foreign(&format!("{}\n", surfaces::value_text(value, format)))?;
        }
        Some(Value::String(text)) => output.foreign(&format!("{text}\n"))?,
        Some(value) => output.line(&serde_json::to_string_pretty(value)?)?,
    }
    for content in &outcome.content {
        if let Content::Text { text } = content {
            output.foreign(&format!("{text}\n"))?;
        }
    }
    for image in images {
        output.tell(&format!("saved {image}"));
    }
    for file in &outcome.files {
        output.tell(&file_line(ran, file));
    }
    for line in &outcome.unused {
        output.tell(&format!("unused: {}", one_line(line)));
    }
    let figures = outcome
        .content
        .iter()
        .filter(|content| content.data().is_some())
        .count();
    if figures > images.len() {
        let made = if figures == 1 {
            "1 image was made; --images DIR saves it".to_owned()
        } else {
            format!("{figures} images were made; --images DIR saves them")
        };
        output.tell(&made);
    }
    if let Some(error) = ran.error_text() {
        output.tell(&harmless(&error));
    }
    if let Some(changes) = ran.changed_before_failure() {
        output.tell(&changes);
    }
    // A refused program's error already lists the findings.
    if outcome.status != Status::Refused {
        for finding in &ran.findings {
            output.tell(&harmless(&format!("check: {finding}")));
        }
    }
    if let Some(notice) = &ran.notice {
        output.tell(&format!("notice: {}", one_line(notice)));
    }
    if let Some(receipt) = &ran.receipt {
        output.tell(&receipt.lines(&outcome.usage));
    }
    Ok(())
}

/// `file: /workspace/a.csv (csv, 1.2 KB): <path on the host>`.
fn file_line(ran: &ProgramResult, file: &WrittenFile) -> String {
    let (path, size) = (one_line(&file.path), size_in_words(file.size));
    let line = format!("file: {path} ({}, {size})", file.kind());
    match ran.host_path(file) {
        Some(host) => format!("{line}: {}", one_line(&host.to_string_lossy())),
        None => format!("{line}, gone with the session"),
    }
}

fn described(ran: &ProgramResult, images: &[String]) -> Value {
    let outcome = &ran.outcome;
    let limit = match outcome.status {
        Status::LimitExceeded { limit } => Some(limit),
        _ => None,
    };
    let files: Vec<Value> = outcome
        .files
        .iter()
        .map(|file| {
            let host = ran.host_path(file);
            json!({"path": file.path, "size": file.size, "kind": file.kind(), "host_path": host})
        })
        .collect();
    let mut described = json!({
        "status": outcome.status.name(),
        "limit": limit,
        "result": outcome.result,
        "stdout": outcome.stdout.shown(),
        "stderr": outcome.stderr.shown(),
        "error": ran.error_text(),
        "changes": ran.changed_before_failure(),
        "check": ran.findings,
        "images": images,
        "artifacts": outcome.artifacts(),
        "files": files,
        "unused": outcome.unused,
        "session_lost": outcome.session == SessionFate::Lost,
        "run_id": ran.run_id,
        "usage": accounting::usage_json(&outcome.usage),
    });
    if let Some(backend) = ran.backend {
        described["backend"] = json!(backend);
    }
    if let Some(receipt) = &ran.receipt {
        described["receipt"] = receipt.fields();
    }
    described
}

/// Saves every image and returns the paths. The bytes come from a guest and are not parsed.
pub fn save_images(content: &[Content], directory: &Path) -> anyhow::Result<Vec<String>> {
    fs::create_dir_all(directory).with_context(|| format!("{} cannot be made", directory.display()))?;
    let mut saved = Vec::new();
    for content in content {
        let Some(data) = content.data() else {
            continue;
        };
        let name = format!("figure-{}.{}", saved.len() + 1, ending(content.mime()));
        let path = directory.join(name);
        let bytes = STANDARD
            .decode(data)
            .with_context(|| format!("image {} is damaged", saved.len() + 1))?;
        fs::write(&path, bytes).with_context(|| format!("{} cannot be written", path.display()))?;
        saved.push(path.display().to_string());
    }
    Ok(saved)
}

/// File name ending for a media type.
fn ending(mime: Option<&str>) -> &str {
    let kind = mime.unwrap_or_default().rsplit('/').next().unwrap_or_default();
    match kind {
        "jpeg" => "jpg",
        "svg+xml" => "svg",
        "mpeg" => "mp3",
        "x-wav" => "wav",
        kind if !kind.is_empty()
            && kind.len() <= 4
            && kind.bytes().all(|byte| byte.is_ascii_alphanumeric()) =>
        {
            kind
        }
        _ => "bin",
    }
}
