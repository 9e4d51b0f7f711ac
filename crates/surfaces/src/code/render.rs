//! Renders an outcome for the model: short text in reading order, images, and structured content.

use std::time::Duration;

use accounting::usage_json;
use broker::{FoundTool, SearchAnswer, ServerSummary};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};
use session::default_name;
use types::{Format, SessionFate, Status, Text, spelled_out};

use super::{files, handle, value};
use crate::content::block;
use crate::report::{RunReport, error_text};
use crate::{toon, truncate};

#[derive(Debug, Clone, Copy)]
pub(super) struct RenderOptions {
    pub(super) format: Format,
    pub(super) receipt: bool,
    /// Maximum bytes of printed output.
    pub(super) printed: u64,
    /// The run's time limit.
    pub(super) wall_time: Duration,
}

pub(super) fn executed(mut run: RunReport, options: RenderOptions) -> CallToolResult {
    value::replace_binary(&mut run);
    truncate::output(&mut run.outcome, options.printed);
    let error = error_text(&run.outcome, options.wall_time);
    let structured = structured(&run, error.as_deref(), &options);
    let text = match options.format {
        Format::Text => text(&run, error.as_deref()),
        Format::Toon => {
            let fields = Value::Object(for_model(structured.clone()));
            toon::encode(&fields).unwrap_or_else(|| fields.to_string())
        }
        Format::Json => Value::Object(for_model(structured.clone())).to_string(),
    };
    let mut content = Vec::new();
    // If the answer has only an image, omit the empty text.
    if !text.is_empty() || run.outcome.content.is_empty() {
        content.push(ContentBlock::text(text));
    }
    content.extend(run.outcome.content.into_iter().map(block));
    match run.outcome.status {
        Status::Completed => result(content, structured),
        _ => failed(content, structured),
    }
}

pub(super) fn refused(why: String) -> CallToolResult {
    let mut structured = Map::new();
    structured.insert("status".to_owned(), json!(Status::Refused.name()));
    structured.insert("error".to_owned(), json!(why));
    failed(vec![ContentBlock::text(why)], structured)
}

pub(super) fn search_failed(why: String) -> CallToolResult {
    let mut structured = Map::new();
    structured.insert("error".to_owned(), json!(why));
    failed(vec![ContentBlock::text(why)], structured)
}

/// The found tools, one per line.
pub(super) fn found(answer: &SearchAnswer) -> CallToolResult {
    listed(search_text(answer), json!(answer))
}

/// The servers, one per line.
pub(super) fn server_summaries(servers: &[ServerSummary]) -> CallToolResult {
    listed(summaries_text(servers), json!({"servers": servers}))
}

fn listed(text: String, structured: Value) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(structured);
    result
}

fn result(content: Vec<ContentBlock>, structured: Map<String, Value>) -> CallToolResult {
    let mut result = CallToolResult::success(content);
    result.structured_content = Some(Value::Object(structured));
    result
}

fn failed(content: Vec<ContentBlock>, structured: Map<String, Value>) -> CallToolResult {
    let mut result = result(content, structured);
    result.is_error = Some(true);
    result
}

fn structured(run: &RunReport, error: Option<&str>, options: &RenderOptions) -> Map<String, Value> {
    let outcome = &run.outcome;
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    put("status", json!(outcome.status.name()));
    match (&outcome.result, &outcome.kept) {
        (Some(result), _) => put("result", result.clone()),
        (None, Some(kept)) => put("handle", handle::structured(kept)),
        (None, None) => None,
    };
    for (name, stream) in [("stdout", &outcome.stdout), ("stderr", &outcome.stderr)] {
        if !stream.is_empty() {
            put(name, json!(stream.shown()));
        }
    }
    if let Some(error) = error {
        put("error", json!(error));
    }
    if let Status::LimitExceeded { limit } = outcome.status {
        put("limit", json!(limit.name()));
    }
    let artifacts = outcome.artifacts();
    if !artifacts.is_empty() {
        put("artifacts", json!(artifacts));
    }
    if !outcome.files.is_empty() {
        put("files", files::fields(&outcome.files));
    }
    if !outcome.unused.is_empty() {
        put("unused", json!(outcome.unused));
    }
    put("session", json!(run.session));
    if outcome.status != Status::Completed || outcome.session == SessionFate::Lost {
        put("session_state", json!(outcome.session));
    }
    put("run_id", json!(run.run_id));
    if let Some(backend) = run.backend {
        put("backend", json!(backend));
    }
    if !run.findings.is_empty() {
        put("check", json!(run.findings));
    }
    if let Some(changes) = run.changed_before_failure() {
        put("changes", json!(changes));
    }
    if let Some(notice) = &run.notice {
        put("notice", json!(notice));
    }
    if options.receipt {
        put("receipt", usage_json(&outcome.usage));
    }
    fields
}

/// The fields for a model; the receipt is added after it is counted.
fn for_model(mut fields: Map<String, Value>) -> Map<String, Value> {
    fields.remove("receipt");
    fields
}

/// Result, standard output, standard error and error, in this order. A single part has no heading.
fn text(run: &RunReport, error: Option<&str>) -> String {
    let outcome = &run.outcome;
    let result = match (&outcome.result, &outcome.kept) {
        (Some(result), _) => Some(value::plain(result)),
        (None, Some(kept)) => Some(handle::text(kept, &run.session)),
        (None, None) => None,
    };
    let stream = |text: &Text| Some(text.shown().into_owned());
    let parts: Vec<(&str, String)> = [
        ("result", result),
        ("stdout", stream(&outcome.stdout)),
        ("stderr", stream(&outcome.stderr)),
        ("error", error.map(str::to_owned)),
    ]
    .into_iter()
    .filter_map(|(name, text)| Some((name, text.filter(|text| !text.is_empty())?)))
    .collect();
    let footer = footer(run);
    let mut out = match parts.as_slice() {
        [] if outcome.content.is_empty() && footer.is_empty() => "(no output)".to_owned(),
        [] => String::new(),
        [("result" | "stdout" | "error", text)] => text.clone(),
        parts => parts
            .iter()
            .map(|(name, text)| section(name, text))
            .collect::<Vec<_>>()
            .join("\n"),
    };
    for line in footer {
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        out.push_str(&line);
    }
    out
}

fn section(name: &str, text: &str) -> String {
    let text = text.strip_suffix('\n').unwrap_or(text);
    if text.contains('\n') {
        format!("{name}:\n{text}")
    } else {
        format!("{name}: {text}")
    }
}

fn footer(run: &RunReport) -> Vec<String> {
    let mut lines = Vec::new();
    if !run.outcome.files.is_empty() {
        lines.push(files::line(&run.outcome.files));
    }
    lines.extend(run.outcome.unused.iter().map(|line| format!("unused: {line}")));
    lines.extend(run.changed_before_failure());
    if run.outcome.session != SessionFate::Lost && run.session != default_name() {
        // A client that reads only the text needs the session's name to continue the session.
        lines.push(format!("session: {}", run.session));
    }
    if run.outcome.session == SessionFate::Lost {
        let gone = if run.keeps_files {
            "its variables are gone"
        } else {
            "its variables and files are gone"
        };
        lines.push(format!("session {} is lost: {gone}", run.session));
    }
    // A refused program's error contains the findings.
    if run.outcome.status != Status::Refused {
        lines.extend(run.findings.iter().map(|finding| format!("check: {finding}")));
    }
    if let Some(notice) = &run.notice {
        lines.push(format!("notice: {}", spelled_out(notice)));
    }
    lines
}

fn search_text(answer: &SearchAnswer) -> String {
    let SearchAnswer {
        tools,
        more,
        nearest,
        pending,
        note,
    } = answer;
    let mut lines: Vec<String> = Vec::new();
    match (tools.is_empty(), nearest.is_empty()) {
        (true, true) => lines.push("no tool matches".to_owned()),
        (true, false) => lines.push("no tool seems to do this; the nearest:".to_owned()),
        (false, _) => {}
    }
    lines.extend(tools.iter().chain(nearest).map(tool_line));
    match *more {
        0 => {}
        1 => lines.push("1 more tool matches; narrow the query or raise limit".to_owned()),
        more => lines.push(format!(
            "{more} more tools match; narrow the query or raise limit"
        )),
    }
    if !pending.is_empty() {
        lines.push(format!(
            "still starting, search again for their tools: {}",
            pending.join(", ")
        ));
    }
    lines.extend(note.clone());
    lines.join("\n")
}

/// One line per server, then how to find the tools of a server.
fn summaries_text(servers: &[ServerSummary]) -> String {
    if servers.is_empty() {
        return "no server is connected".to_owned();
    }
    let line = |server: &ServerSummary| {
        let count = match (&server.problem, server.tools) {
            (Some(problem), _) => format!("does not work: {}", spelled_out(problem)),
            (None, Some(1)) => "1 tool".to_owned(),
            (None, Some(count)) => format!("{count} tools"),
            (None, None) => "still starting".to_owned(),
        };
        let name = &server.server;
        match &server.description {
            Some(description) => format!("{name}: {count}  # {}", spelled_out(description)),
            None => format!("{name}: {count}"),
        }
    };
    let mut lines: Vec<String> = servers.iter().map(line).collect();
    lines.push(
        "Search for what you want to do, or list a server's tools in a program: dir(tools.NAME)".to_owned(),
    );
    lines.join("\n")
}

/// `signature  # description`, then the stub if there is one.
fn tool_line(tool: &FoundTool) -> String {
    let mut line = match &tool.signature {
        Some(signature) => signature.clone(),
        None => format!("{}.{}", tool.server, tool.tool),
    };
    if let Some(description) = tool.description.as_deref().filter(|text| !text.is_empty()) {
        line.push_str(&format!("  # {}", description.replace('\n', " ")));
    }
    if let Some(stub) = &tool.stub {
        line.push('\n');
        line.push_str(stub.trim_end());
    }
    line
}

#[cfg(test)]
mod tests {
    use types::{Content, GuestError, Limit, Outcome, RunId, SessionName, Usage, WrittenFile};

    use super::*;

    fn run(status: Status) -> RunReport {
        RunReport {
            run_id: RunId::new("r1"),
            session: default_name(),
            outcome: Outcome::bare(status, SessionFate::Kept, None),
            findings: Vec::new(),
            notice: None,
            backend: None,
            keeps_files: true,
            direct: None,
            changes: None,
        }
    }

    fn failed(status: Status, kind: &str, message: &str, traceback: &str) -> RunReport {
        let mut run = run(status);
        run.outcome.error = Some(GuestError {
            kind: kind.to_owned(),
            message: message.to_owned(),
            traceback: traceback.to_owned(),
            exit: None,
        });
        run
    }

    fn out(text: &str) -> Text {
        Text::whole(text)
    }

    fn options(format: Format, receipt: bool) -> RenderOptions {
        RenderOptions {
            format,
            receipt,
            printed: 16 * 1024,
            wall_time: Duration::from_millis(1500),
        }
    }

    fn seen(run: RunReport) -> String {
        let result = serde_json::to_value(executed(run, options(Format::Text, false))).unwrap();
        let blocks = result["content"].as_array().unwrap();
        let blocks: Vec<String> = blocks
            .iter()
            .map(|block| match block["type"].as_str().unwrap() {
                "text" => block["text"].as_str().unwrap().to_owned(),
                kind => format!(
                    "<{kind} {} {}>",
                    block["mimeType"].as_str().unwrap(),
                    block["data"]
                ),
            })
            .collect();
        format!(
            "{}\n---\n{} {}",
            blocks.join("\n<next block>\n"),
            result["isError"],
            result["structuredContent"]
        )
    }

    #[test]
    fn completed_programs() {
        let mut value = run(Status::Completed);
        value.outcome.result = Some(json!({"sum": 6, "rows": [1, 2]}));
        let mut text = run(Status::Completed);
        text.outcome.result = Some(json!("two\nlines"));
        let mut printed = run(Status::Completed);
        printed.outcome.stdout = out("awaited\n");
        let mut both = run(Status::Completed);
        both.outcome.result = Some(Value::Null);
        both.outcome.stdout = out("a\nb\n");
        both.outcome.stderr = out("warning\n");
        let mut picture = run(Status::Completed);
        picture.outcome.content = vec![Content::Image {
            mime: "image/jpeg".to_owned(),
            data: "/9j/".to_owned(),
        }];
        let mut chart = run(Status::Completed);
        chart.outcome.content = vec![Content::Image {
            mime: "image/png".to_owned(),
            data: "iVBO".to_owned(),
        }];
        chart.outcome.files = vec![WrittenFile {
            path: "/results/chart.png".to_owned(),
            size: 48_123,
        }];
        chart.outcome.unused = vec!["crm.photo gave 1 image (png, 48 KB): value.content[1]".to_owned()];
        chart.notice = Some("the session was lost before".to_owned());
        let all = [run(Status::Completed), value, text, printed, both, picture, chart].map(seen);
        insta::assert_snapshot!(all.join("\n=====\n"));
    }

    #[test]
    fn failed_programs() {
        let traceback = "Traceback (most recent call last):\n  line 3\n    print(x/y)\nZeroDivisionError: division by zero\n";
        let mut raised = failed(Status::Failed, "ZeroDivisionError", "division by zero", traceback);
        raised.outcome.stdout = out("before\n");
        let exited = failed(Status::Failed, "SystemExit", "exit status 3", "");
        let mut timed_out = failed(
            Status::TimedOut,
            "Timeout",
            "whatever",
            "  line 3\nKeyboardInterrupt\n",
        );
        timed_out.outcome.stdout = out("partial\n");
        let mut killed = run(Status::TimedOut);
        killed.outcome.session = SessionFate::Lost;
        let memory = Status::LimitExceeded { limit: Limit::Memory };
        let mut memory = failed(memory, "MemoryError", "", "");
        memory.outcome.session = SessionFate::Lost;
        let all = [raised, exited, timed_out, killed, memory, run(Status::Cancelled)].map(seen);
        insta::assert_snapshot!(all.join("\n=====\n"));
    }

    #[test]
    fn a_session_that_is_not_the_default_is_named_in_the_text() {
        let named = |mut run: RunReport| {
            run.session = SessionName::new("report");
            run
        };
        let mut printed = run(Status::Completed);
        printed.outcome.stdout = out("4\n");
        let seen =
            [printed, failed(Status::Failed, "ValueError", "x", "")].map(|run| text(&named(run), None));
        assert_eq!(seen, ["4\nsession: report", "session: report"]);
    }

    #[test]
    fn formats_and_receipt() {
        let mut value = run(Status::Completed);
        value.outcome.result = Some(json!([1]));
        value.outcome.usage = Usage {
            wall: Duration::from_micros(1500),
            cpu: Some(Duration::from_millis(1)),
            peak_memory: Some(4096),
            bytes_written: None,
            host_calls: 2,
        };
        let result = executed(value, options(Format::Json, true));
        let mut expected = json!({
            "status": "completed", "result": [1], "session": "default", "run_id": "r1",
            "receipt": {"wall_ms": 1.5, "cpu_ms": 1.0, "peak_memory_bytes": 4096, "host_calls": 2},
        });
        assert_eq!(result.structured_content, Some(expected.clone()));
        // The text gets its receipt after it is counted.
        expected.as_object_mut().expect("an object").remove("receipt");
        assert_eq!(result.content, [ContentBlock::text(expected.to_string())]);
    }

    #[test]
    fn searches() {
        let tool = |name: &str| FoundTool {
            server: "crm".to_owned(),
            tool: name.to_owned(),
            signature: None,
            description: None,
            score: None,
            stub: None,
        };
        let nothing = SearchAnswer {
            tools: Vec::new(),
            more: 0,
            nearest: Vec::new(),
            pending: Vec::new(),
            note: None,
        };
        let find = FoundTool {
            signature: Some("await tools.crm.find(name: str) -> dict".to_owned()),
            description: Some("Finds\na customer.".to_owned()),
            score: Some(2.5),
            ..tool("find")
        };
        let answer = SearchAnswer {
            tools: vec![find, tool("list")],
            more: 3,
            pending: vec!["mail".to_owned()],
            note: Some("Text: a str".to_owned()),
            ..nothing.clone()
        };
        assert_eq!(
            search_text(&answer),
            "await tools.crm.find(name: str) -> dict  # Finds a customer.\ncrm.list\n\
             3 more tools match; narrow the query or raise limit\n\
             still starting, search again for their tools: mail\nText: a str"
        );
        assert_eq!(search_text(&nothing), "no tool matches");
        let one_more = SearchAnswer {
            tools: vec![tool("list")],
            more: 1,
            ..nothing.clone()
        };
        assert_eq!(
            search_text(&one_more),
            "crm.list\n1 more tool matches; narrow the query or raise limit"
        );
        let far = SearchAnswer {
            nearest: vec![tool("list")],
            ..nothing
        };
        assert_eq!(
            search_text(&far),
            "no tool seems to do this; the nearest:\ncrm.list"
        );
    }
}
