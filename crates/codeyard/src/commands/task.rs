//! `codeyard task`: plans a task in words and runs the plan, without a language model.

mod show;

use std::path::Path;

use environment::Machine;
use offline_task::{ProgramOverrides, ToolNames};
use serde_json::Value;
use server::{Host, TaskReport, TaskRequest, TaskResult};

use crate::cli::TaskArguments;
use crate::context::{Context, principal, read_input};
use crate::exit::{Exit, Failure};
use crate::interrupt::Interrupt;

pub async fn run(context: &Context, arguments: &TaskArguments) -> anyhow::Result<Exit> {
    let request = request(arguments)?;
    let loaded = context.load_serving_and_tell(&[], &[])?;
    let parts = loaded.into_parts(context.program()?, &Machine);
    let interrupt = Interrupt::watch()?;
    let server = Host::new(parts)
        .map_err(|error| Failure::new(Exit::Usage, error))?
        .caller(principal());
    context.open_logs(&server.host()).await;
    let report = tokio::select! {
        report = server.task(request, interrupt.token.clone()) => Some(report),
        () = cancelled_before_the_run(&interrupt, arguments) => None,
    };
    let failed = server.host().failed();
    server.host().close().await;
    let Some(report) = report else {
        return Ok(interrupt.exit(Exit::Done));
    };
    tell_failed(context, &failed);
    let report = report.map_err(|error| Failure::new(Exit::Usage, error))?;
    if arguments.json {
        context.output.json(&serde_json::to_value(&report)?)?;
    } else {
        show::report(&context.output, &report, arguments)?;
    }
    Ok(interrupt.exit(exit(&report)))
}

/// Names the servers whose tools are unknown; `codeyard servers` gives the reasons.
fn tell_failed(context: &Context, failed: &[String]) {
    if let [first, ..] = failed {
        let names = failed.join(", ");
        context.output.tell(&format!(
            "note: the tools of {names} are missing: not started; `codeyard servers test {first}` shows the reason"
        ));
    }
}

/// Only for plans: a run has its own cancellation token.
async fn cancelled_before_the_run(interrupt: &Interrupt, arguments: &TaskArguments) {
    interrupt.token.cancelled().await;
    if !arguments.plan {
        std::future::pending::<()>().await;
    }
}

fn exit(report: &TaskReport) -> Exit {
    match report.result {
        TaskResult::Success => Exit::Done,
        TaskResult::Failure => Exit::ProgramFailed,
        TaskResult::Blocked => Exit::Refused,
        TaskResult::Timeout => Exit::TimedOut,
    }
}

fn request(arguments: &TaskArguments) -> anyhow::Result<TaskRequest> {
    let description = match arguments.text.as_str() {
        "-" => read_input(Path::new("-"))?,
        text => text.to_owned(),
    };
    let calls = match &arguments.task_specific_calls {
        Some(given) => calls(given)?,
        None => Vec::new(),
    };
    Ok(TaskRequest {
        threshold: arguments.threshold,
        required: arguments.required_tools.as_deref().map(required).transpose()?,
        overrides: ProgramOverrides {
            header: arguments.header.clone(),
            calls,
        },
        timeout: arguments.timeout,
        plan_only: arguments.plan,
        ..TaskRequest::new(description)
    })
}

fn required(given: &str) -> anyhow::Result<ToolNames> {
    let form = "a JSON object of servers with lists of tools, such as '{\"files\": [\"read\"]}'";
    let tools: ToolNames = serde_json::from_str(&text_or_file(given)?)
        .map_err(|error| wrong("--required-tools", form, &error))?;
    if tools.values().all(Vec::is_empty) {
        let message = format!("--required-tools names no tool; write {form}, or leave it out");
        return Err(Failure::new(Exit::Usage, message).into());
    }
    Ok(tools)
}

fn calls(given: &str) -> anyhow::Result<Vec<(String, String)>> {
    let form = "a JSON object of servers with programs, such as '{\"files\": \"print(read(path=...))\"}'";
    let calls: serde_json::Map<String, Value> = serde_json::from_str(&text_or_file(given)?)
        .map_err(|error| wrong("--task-specific-calls", form, &error))?;
    let code = |(server, code): (String, Value)| match code {
        Value::String(code) => Ok((server, text_or_file(&code)?)),
        _ => Err(Failure::new(
            Exit::Usage,
            format!("--task-specific-calls: the program of `{server}` is not a string; write {form}"),
        )
        .into()),
    };
    calls.into_iter().map(code).collect()
}

/// The text, or the contents of the file after `@`. A program may begin with `@` too, but has more lines.
fn text_or_file(given: &str) -> anyhow::Result<String> {
    match given.strip_prefix('@') {
        Some(file) if !file.contains('\n') => read_input(Path::new(file)),
        _ => Ok(given.to_owned()),
    }
}

fn wrong(option: &str, form: &str, error: &serde_json::Error) -> Failure {
    Failure::new(
        Exit::Usage,
        format!("{option} cannot be read: {error}; write {form}"),
    )
}
