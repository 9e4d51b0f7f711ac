//! Prints records: a table, a line, one run in full, JSON.

use std::collections::HashMap;

use accounting::{RecordedReceipt, ToolTokens};
use serde_json::{Map, Value, json};
use store::{CallView, EventView, RunDeeds, RunDetail, RunView};

use crate::output::{Output, OutputFormat, Tone, harmless, one_line, table};
use crate::times::{exact, when};

/// Most tools named in a line.
const MOST_TOOLS: usize = 2;

/// Most characters of a task in a line.
const MOST_WORDS: usize = 48;

pub fn list(output: &Output, runs: &[RunView], deeds: &HashMap<String, RunDeeds>) -> anyhow::Result<()> {
    if runs.is_empty() {
        output.tell("no run of that kind is recorded");
        return Ok(());
    }
    let mut rows = vec![
        ["run", "asked (UTC)", "status", "took", "what", "by", "session"]
            .map(str::to_owned)
            .to_vec(),
    ];
    let none = RunDeeds::default();
    rows.extend(
        runs.iter()
            .map(|run| cells(run, deeds.get(&run.id).unwrap_or(&none))),
    );
    output.print(&table(&rows))
}

pub fn line(output: &Output, run: &RunView, deeds: &RunDeeds) -> anyhow::Result<()> {
    let cells: Vec<String> = cells(run, deeds).iter().map(|cell| one_line(cell)).collect();
    output.line(&cells.join("  "))
}

fn cells(run: &RunView, deeds: &RunDeeds) -> Vec<String> {
    vec![
        harmless(&run.id),
        when(run.asked_ms),
        status(run),
        run.duration_us.map_or_else(|| "-".to_owned(), duration),
        what(run, deeds),
        harmless(&run.front),
        harmless(run.session.as_deref().unwrap_or("-")),
    ]
}

/// A run in a few words: its task or its tools, else its program's length.
fn what(run: &RunView, deeds: &RunDeeds) -> String {
    if let Some(task) = &deeds.task {
        return format!("task: {}", shortened(&one_line(task), MOST_WORDS));
    }
    let tool = |(name, calls): &(String, i64)| match calls {
        1 => one_line(name),
        calls => format!("{} x{calls}", one_line(name)),
    };
    let shown: Vec<String> = deeds.tools.iter().take(MOST_TOOLS).map(tool).collect();
    match (deeds.tools.len().saturating_sub(MOST_TOOLS), run.code_bytes) {
        (0, Some(bytes)) if shown.is_empty() => {
            let language = run.language.as_deref().unwrap_or("program");
            format!("{language}, {bytes} bytes, no tool")
        }
        (0, None) if shown.is_empty() => "-".to_owned(),
        (0, _) => shown.join(", "),
        (more, _) => format!("{}, {more} more", shown.join(", ")),
    }
}

/// The first `most` characters, with dots if the text goes on.
fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

pub fn detail(output: &Output, detail: &RunDetail, format: OutputFormat) -> anyhow::Result<()> {
    if format == OutputFormat::Json {
        let mut run = json(&detail.run);
        run["calls"] = detail.calls.iter().map(call_json).collect();
        run["events"] = detail.events.iter().map(event_json).collect();
        if let Some(receipt) = &detail.receipt {
            run["receipt"] = receipt_json(receipt);
        }
        return output.json(&run);
    }
    let run = &detail.run;
    let mut out = format!(
        "{}\n",
        output.paint(Tone::Title, &format!("run {}", harmless(&run.id)))
    );
    let facts: Vec<Vec<String>> = facts(run)
        .into_iter()
        .map(|(name, value)| vec![format!("  {name}"), harmless(&value)])
        .collect();
    out.push_str(&table(&facts));
    if !detail.calls.is_empty() {
        let calls: Vec<Vec<String>> = detail.calls.iter().map(call_cells).collect();
        out.push_str(&format!(
            "\n{}\n{}",
            output.paint(Tone::Title, "calls"),
            table(&calls)
        ));
    }
    if let Some(receipt) = &detail.receipt {
        out.push_str(&format!(
            "\n{}\n{}",
            output.paint(Tone::Title, "tokens"),
            receipt_text(receipt)
        ));
    }
    if !detail.events.is_empty() {
        let events: Vec<Vec<String>> = detail.events.iter().map(event_cells).collect();
        out.push_str(&format!(
            "\n{}\n{}",
            output.paint(Tone::Title, "events"),
            table(&events)
        ));
    }
    output.print(&out)
}

fn facts(run: &RunView) -> Vec<(&'static str, String)> {
    let text = |value: &Option<String>| value.clone();
    let number = |value: Option<i64>| value.map(|value| value.to_string());
    let bytes = |value: Option<i64>| value.map(|value| format!("{value} bytes"));
    let all = [
        ("status", Some(status(run))),
        ("asked", Some(when(run.asked_ms))),
        ("ended", run.ended_ms.map(when)),
        ("waited", run.waited_us.map(duration)),
        ("took", run.duration_us.map(duration)),
        ("by", Some(format!("{} of {}", run.front, run.principal))),
        ("client", text(&run.client)),
        ("session", text(&run.session)),
        ("afterwards", text(&run.session_fate)),
        ("language", text(&run.language)),
        (
            "code",
            run.code_hash.as_ref().map(|hash| format!("sha256 {hash}")),
        ),
        ("code size", bytes(run.code_bytes)),
        (
            "sandbox",
            Some(format!(
                "{}{}",
                run.backend,
                run.mode
                    .as_ref()
                    .map_or(String::new(), |mode| format!(", {mode}"))
            )),
        ),
        ("result", bytes(run.result_bytes)),
        ("stdout", bytes(run.stdout_bytes)),
        ("stderr", bytes(run.stderr_bytes)),
        ("host calls", number(run.host_calls)),
        ("cpu", run.cpu_us.map(duration)),
        ("peak memory", bytes(run.peak_memory)),
        ("threads of earlier runs", number(run.earlier_threads)),
        ("limits", run.limits.as_ref().map(|limits| limits_text(limits))),
    ];
    all.into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
}

/// A run's cost beside the cost of direct calls.
fn receipt_text(receipt: &RecordedReceipt) -> String {
    let direct = |tokens: fn(&ToolTokens) -> u64| receipt.calls.values().map(tokens).sum::<u64>();
    let row = |name: &str, codeyard: u64, direct: u64| {
        vec![format!("  {name}"), codeyard.to_string(), direct.to_string()]
    };
    table(&[
        vec!["  o200k".to_owned(), "codeyard".to_owned(), "direct".to_owned()],
        row("written", receipt.written, direct(|calls| calls.written)),
        row("read", receipt.read, direct(|calls| calls.read)),
        row("searched", receipt.searched, 0),
        row("definitions", receipt.definitions, receipt.direct_definitions),
    ])
}

fn receipt_json(receipt: &RecordedReceipt) -> Value {
    let calls = receipt.calls.iter().map(|(tool, calls)| {
        json!({"server": tool.server, "tool": tool.tool, "calls": calls.calls, "written": calls.written, "read": calls.read})
    });
    json!({
        "definitions": receipt.definitions,
        "written": receipt.written,
        "read": receipt.read,
        "searched": receipt.searched,
        "direct_definitions": receipt.direct_definitions,
        "direct_tools": receipt.direct_tools,
        "calls": calls.collect::<Vec<_>>(),
    })
}

fn call_cells(call: &CallView) -> Vec<String> {
    let arguments = call.arguments.as_ref().unwrap_or(&call.shape);
    [
        format!("  {}.{}", call.server, call.tool),
        call.outcome.clone(),
        duration(call.duration_us),
        arguments.clone(),
    ]
    .map(|cell| harmless(&cell).replace('\n', " "))
    .to_vec()
}

fn event_cells(event: &EventView) -> Vec<String> {
    [
        format!("  {}", when(event.at_ms)),
        event.kind.clone(),
        event.detail.clone(),
    ]
    .map(|cell| harmless(&cell).replace('\n', " "))
    .to_vec()
}

pub fn json_with(run: &RunView, deeds: Option<&RunDeeds>) -> Value {
    let mut value = json(run);
    let tools = deeds.map(|deeds| deeds.tools.as_slice()).unwrap_or_default();
    let tool = |(name, calls): &(String, i64)| json!({"tool": name, "calls": calls});
    value["tools"] = tools.iter().map(tool).collect();
    if let Some(task) = deeds.and_then(|deeds| deeds.task.as_ref()) {
        value["task"] = json!(task);
    }
    value
}

/// Unknown fields are left out.
fn json(run: &RunView) -> Value {
    let mut value = filled(json!(run));
    if let Some(limits) = &run.limits {
        value["limits"] = parsed(limits);
    }
    value["asked_at"] = json!(exact(run.asked_ms));
    if let Some(ended) = run.ended_ms {
        value["ended_at"] = json!(exact(ended));
    }
    value
}

fn call_json(call: &CallView) -> Value {
    let mut value = filled(json!(call));
    value["shape"] = parsed(&call.shape);
    if let Some(arguments) = &call.arguments {
        value["arguments"] = parsed(arguments);
    }
    value
}

fn event_json(event: &EventView) -> Value {
    let mut value = json!(event);
    value["at"] = json!(exact(event.at_ms));
    value
}

/// Without null fields.
fn filled(value: Value) -> Value {
    let Value::Object(fields) = value else {
        return value;
    };
    Value::Object(fields.into_iter().filter(|(_, value)| !value.is_null()).collect())
}

/// Parses recorded JSON; other text becomes a JSON string.
fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
}

fn limits_text(limits: &str) -> String {
    let limits: Map<String, Value> = serde_json::from_str(limits).unwrap_or_default();
    let shown: Vec<String> = limits
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    shown.join(" ")
}

fn status(run: &RunView) -> String {
    let why = run.limit.as_ref().or(run.error_kind.as_ref());
    match why.map(String::as_str) {
        Some("caller") => format!("{}: call refused", run.status),
        Some("upstream") => format!("{}: server", run.status),
        Some("tool_error") => format!("{}: tool", run.status),
        Some(why) => harmless(&format!("{}: {why}", run.status)),
        None => harmless(&run.status),
    }
}

fn duration(micros: i64) -> String {
    match micros {
        0..1_000 => format!("{micros} us"),
        1_000..1_000_000 => format!("{}.{} ms", micros / 1_000, micros % 1_000 / 100),
        _ => format!("{}.{} s", micros / 1_000_000, micros % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_short() {
        for (micros, shown) in [
            (0, "0 us"),
            (999, "999 us"),
            (1_250, "1.2 ms"),
            (61_500_000, "61.5 s"),
        ] {
            assert_eq!(duration(micros), shown);
        }
    }
}
