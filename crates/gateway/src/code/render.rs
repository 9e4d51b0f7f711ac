//! Writes an outcome for the model: short text in reading order, images as images, and the same as structured content.

use std::time::Duration;

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};
use types::{Format, GuestError, Outcome, SessionFate, Status, Text, spelled_out};

use super::service::Executed;
use super::{files, handle, shown};
use crate::blocks::block;
use crate::printed;
use crate::receipt::used;

/// How a result is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner {
    pub(super) format: Format,
    /// Whether it says what the run used.
    pub(super) receipt: bool,
    /// What may be shown of what was printed, in bytes.
    pub(super) printed: u64,
    /// Longest duration that the run had.
    pub(super) wall_time: Duration,
}

/// The result of one program.
pub(super) fn executed(mut run: Executed, manner: Manner) -> CallToolResult {
    shown::spare_result(&mut run);
    printed::bound(&mut run.outcome, manner.printed);
    let error = error_text(&run.outcome, manner.wall_time);
    let structured = structured(&run, error.as_deref(), manner.receipt);
    let text = match manner.format {
        Format::Text => text(&run, error.as_deref()),
        Format::Toon => {
            let fields = Value::Object(for_model(structured.clone()));
            crate::toon::encode(&fields).unwrap_or_else(|| fields.to_string())
        }
        Format::Json => Value::Object(for_model(structured.clone())).to_string(),
    };
    let mut content = Vec::new();
    // An image that is all there is needs no empty text before it.
    if !text.is_empty() || run.outcome.content.is_empty() {
        content.push(ContentBlock::text(text));
    }
    content.extend(run.outcome.content.into_iter().map(block));
    result(content, structured, run.outcome.status != Status::Completed)
}

/// The result of a program that was not run.
pub(super) fn refused(why: String) -> CallToolResult {
    let mut structured = Map::new();
    structured.insert("status".to_owned(), json!(Status::Refused.name()));
    structured.insert("error".to_owned(), json!(why));
    result(vec![ContentBlock::text(why)], structured, true)
}

/// The result of a search that failed.
pub(super) fn search_failed(why: String) -> CallToolResult {
    let mut structured = Map::new();
    structured.insert("error".to_owned(), json!(why));
    result(vec![ContentBlock::text(why)], structured, true)
}

/// The result of a search: one line a tool.
pub(super) fn found(answer: Value) -> CallToolResult {
    let text = found_text(&answer);
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(answer);
    result
}

fn result(content: Vec<ContentBlock>, structured: Map<String, Value>, is_error: bool) -> CallToolResult {
    let mut result = CallToolResult::success(content);
    result.is_error = Some(is_error);
    result.structured_content = Some(Value::Object(structured));
    result
}

fn structured(run: &Executed, error: Option<&str>, receipt: bool) -> Map<String, Value> {
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
    if receipt {
        put("receipt", used(&outcome.usage));
    }
    fields
}

/// The fields for a model; its receipt comes when it is counted.
fn for_model(mut fields: Map<String, Value>) -> Map<String, Value> {
    fields.remove("receipt");
    fields
}

/// What a run that did not complete says of itself, traceback first as Python has it; `None` if it completed.
pub fn error_text(outcome: &Outcome, wall_time: Duration) -> Option<String> {
    let given = outcome.error.as_ref();
    let says = |fallback: &str| given.map_or_else(|| fallback.to_owned(), sentence);
    let headline = match outcome.status {
        Status::Completed => return None,
        Status::TimedOut => format!("Execution timed out after {}ms", wall_time.as_millis()),
        Status::Failed => says("The program failed"),
        Status::LimitExceeded { limit } => says(&format!("The limit {limit} was exceeded")),
        Status::Cancelled => says("Execution was cancelled"),
        Status::Refused => says("The program was not run"),
    };
    let mut traceback = given.map_or("", |error| error.traceback.trim_end());
    if matches!(outcome.status, Status::TimedOut | Status::Cancelled) {
        // It shows where the program was; that it was interrupted there is what the headline says.
        traceback = traceback.trim_end_matches("KeyboardInterrupt").trim_end();
    }
    Some(match traceback {
        "" => headline,
        // Python's traceback ends with the error itself.
        traceback if traceback.ends_with(&headline) => traceback.to_owned(),
        traceback => match traceback.rsplit_once('\n') {
            // The headline says the same and more.
            Some((frames, last)) if headline.starts_with(unqualified(last)) => {
                format!("{frames}\n{headline}")
            }
            _ => format!("{traceback}\n{headline}"),
        },
    })
}

/// The last line of a traceback without the module of the exception's class.
fn unqualified(line: &str) -> &str {
    let kind = line.split_once(": ").map_or(line, |(kind, _)| kind);
    kind.rfind('.').map_or(line, |dot| &line[dot + 1..])
}

fn sentence(error: &GuestError) -> String {
    match (error.kind.as_str(), error.message.as_str()) {
        ("", message) => message.to_owned(),
        (kind, "") => kind.to_owned(),
        (kind, message) => format!("{kind}: {message}"),
    }
}

/// Result, standard output, standard error, error: named only where there is more than one of them.
fn text(run: &Executed, error: Option<&str>) -> String {
    let outcome = &run.outcome;
    let result = match (&outcome.result, &outcome.kept) {
        (Some(result), _) => Some(shown::plain(result)),
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
    let asides = asides(run);
    let mut out = match parts.as_slice() {
        [] if outcome.content.is_empty() && asides.is_empty() => "(no output)".to_owned(),
        [] => String::new(),
        [("result" | "stdout" | "error", text)] => text.clone(),
        parts => parts
            .iter()
            .map(|(name, text)| section(name, text))
            .collect::<Vec<_>>()
            .join("\n"),
    };
    for line in asides {
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

/// What is said beside the output, one line each.
fn asides(run: &Executed) -> Vec<String> {
    let mut lines = Vec::new();
    if !run.outcome.files.is_empty() {
        lines.push(files::line(&run.outcome.files));
    }
    lines.extend(run.outcome.unused.iter().map(|line| format!("unused: {line}")));
    lines.extend(run.changed_before_failure());
    if run.outcome.session == SessionFate::Lost {
        let gone = if run.keeps_files {
            "its variables are gone"
        } else {
            "its variables and files are gone"
        };
        lines.push(format!("session {} is lost: {gone}", run.session));
    }
    // The error of a program that was refused tells them.
    if run.outcome.status != Status::Refused {
        lines.extend(run.findings.iter().map(|finding| format!("check: {finding}")));
    }
    if let Some(notice) = &run.notice {
        lines.push(format!("notice: {}", spelled_out(notice)));
    }
    lines
}

fn found_text(answer: &Value) -> String {
    if let Some(servers) = answer["servers"].as_array() {
        return overview_text(servers);
    }
    let empty = Vec::new();
    let tools = answer["tools"].as_array().unwrap_or(&empty);
    let nearest = answer["nearest"].as_array().unwrap_or(&empty);
    let mut lines: Vec<String> = Vec::new();
    match (tools.is_empty(), nearest.is_empty()) {
        (true, true) => lines.push("no tool matches".to_owned()),
        (true, false) => lines.push("no tool seems to do this; the nearest:".to_owned()),
        (false, _) => {}
    }
    lines.extend(tools.iter().chain(nearest).map(tool_line));
    if let Some(more) = answer["more"].as_u64().filter(|more| *more > 0) {
        lines.push(format!("{more} more match; narrow the query or raise limit"));
    }
    let pending: Vec<&str> = answer["pending"]
        .as_array()
        .unwrap_or(&empty)
        .iter()
        .filter_map(Value::as_str)
        .collect();
    if !pending.is_empty() {
        lines.push(format!(
            "still starting, search again for their tools: {}",
            pending.join(", ")
        ));
    }
    lines.join("\n")
}

/// A line for each server, then how to find a tool of one.
fn overview_text(servers: &[Value]) -> String {
    if servers.is_empty() {
        return "no server is connected".to_owned();
    }
    let line = |server: &Value| {
        let count = match (server["problem"].as_str(), server["tools"].as_u64()) {
            (Some(problem), _) => format!("does not work: {}", spelled_out(problem)),
            (None, Some(1)) => "1 tool".to_owned(),
            (None, Some(count)) => format!("{count} tools"),
            (None, None) => "still starting".to_owned(),
        };
        let name = server["server"].as_str().unwrap_or_default();
        match server["description"].as_str() {
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
fn tool_line(tool: &Value) -> String {
    let field = |name: &str| tool[name].as_str().unwrap_or_default();
    let name = match field("signature") {
        "" => format!("{}.{}", field("server"), field("tool")),
        signature => signature.to_owned(),
    };
    let mut line = match field("description") {
        "" => name,
        description => format!("{name}  # {}", description.replace('\n', " ")),
    };
    if !field("stub").is_empty() {
        line.push('\n');
        line.push_str(field("stub").trim_end());
    }
    line
}

#[cfg(test)]
mod tests {
    use types::{Content, Limit, RunId, SessionName, Usage, WrittenFile};

    use super::*;

    fn run(status: Status) -> Executed {
        Executed {
            run_id: RunId::new("r1"),
            session: SessionName::new("main"),
            outcome: Outcome::bare(status, SessionFate::Kept, None),
            findings: Vec::new(),
            notice: None,
            backend: None,
            keeps_files: true,
            direct: None,
            changes: None,
        }
    }

    fn failed(status: Status, kind: &str, message: &str, traceback: &str) -> Executed {
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

    fn manner(format: Format, receipt: bool) -> Manner {
        Manner {
            format,
            receipt,
            printed: 16 * 1024,
            wall_time: Duration::from_millis(1500),
        }
    }

    /// Text, structured content and `isError` as the client sees them.
    fn seen(run: Executed) -> String {
        let result = serde_json::to_value(executed(run, manner(Format::Text, false))).unwrap();
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
        let result = executed(value, manner(Format::Json, true));
        let mut expected = json!({
            "status": "completed", "result": [1], "session": "main", "run_id": "r1",
            "receipt": {"wall_ms": 1.5, "cpu_ms": 1.0, "peak_memory_bytes": 4096, "host_calls": 2},
        });
        assert_eq!(result.structured_content, Some(expected.clone()));
        // The text has its receipt once that is counted.
        expected.as_object_mut().expect("an object").remove("receipt");
        assert_eq!(result.content, [ContentBlock::text(expected.to_string())]);
    }

    #[test]
    fn searches() {
        let answer = json!({
            "tools": [
                {"server": "crm", "tool": "find", "signature": "await tools.crm.find(name: str) -> dict", "description": "Finds\na customer.", "score": 2.5},
                {"server": "crm", "tool": "list"},
            ],
            "more": 3,
            "pending": ["mail"],
        });
        assert_eq!(
            found_text(&answer),
            "await tools.crm.find(name: str) -> dict  # Finds a customer.\ncrm.list\n\
             3 more match; narrow the query or raise limit\n\
             still starting, search again for their tools: mail"
        );
        assert_eq!(found_text(&json!({"tools": [], "more": 0})), "no tool matches");
        let far = json!({"tools": [], "more": 0, "nearest": [{"server": "crm", "tool": "list"}]});
        assert_eq!(
            found_text(&far),
            "no tool seems to do this; the nearest:\ncrm.list"
        );
    }
}
