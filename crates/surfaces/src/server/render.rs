//! Turns outcomes into system 0's results: an object, and the same object as text.

use std::time::{Duration, SystemTime};

use chrono::{DateTime, SecondsFormat, Utc};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};
use types::{GuestError, Outcome, SessionFate, Status, Text};
use workspace::virtual_files::{DirectoryListing, FileText, Listed, ListedKind, WrittenText};

use super::metrics::{Metrics, milliseconds};
use super::report::{MadeCall, MetaToolRun};
use crate::content::block;
use crate::report::error_text;
use crate::truncate;

/// Prefix of the message of a program that exited, before its status.
const EXITED: &str = "exit status ";

/// A finished run, with at most `most` bytes of output and error.
pub(super) fn ran(mut run: MetaToolRun, code: &str, wall_time: Duration, most: u64) -> CallToolResult {
    if let Some(value) = run.outcome.result.take() {
        add_line(&mut run.outcome.stdout, &value.to_string());
    }
    truncate::output(&mut run.outcome, most);
    let output = run.outcome.stdout.shown().into_owned();
    let error = error_of(&run, wall_time);
    let metrics = Metrics::of(&run, code, &output, error.as_deref());
    let calls: Vec<Value> = run.calls.listed.iter().map(call).collect();
    let mut result = result(&json!({
        "output": output,
        "error": error,
        "metrics": metrics,
        "tool_calls_made": calls,
        "run_id": run.run_id,
    }));
    let notes = notes(&run);
    result.content.extend(run.outcome.content.into_iter().map(block));
    result.content.extend(notes.map(ContentBlock::text));
    result
}

/// A refused or failed request.
pub(super) fn failed(why: &str) -> CallToolResult {
    let failure = json!({"output": "", "error": why, "metrics": {}, "tool_calls_made": []});
    result(&failure)
}

pub(super) fn listing(listing: &DirectoryListing) -> CallToolResult {
    let entries: Vec<Value> = listing.entries.iter().map(entry).collect();
    result(&json!({"path": listing.path, "entries": entries, "truncated": listing.truncated}))
}

pub(super) fn text(file: &FileText) -> CallToolResult {
    result(&json!({
        "path": file.path,
        "content": file.content,
        "size_bytes": file.size_bytes,
        "modified_at": time(file.modified_at),
    }))
}

pub(super) fn written(file: &WrittenText) -> CallToolResult {
    let modified_at = time(file.modified_at);
    result(&json!({"path": file.path, "size_bytes": file.size_bytes, "modified_at": modified_at}))
}

/// An object as a result; an error if and only if the object has a text `error`.
fn result(value: &Value) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(format!("{value:#}"))]);
    result.is_error = Some(value["error"].is_string());
    result.structured_content = Some(value.clone());
    result
}

fn entry(entry: &Listed) -> Value {
    let kind = match entry.kind {
        ListedKind::File => "file",
        ListedKind::Directory => "directory",
    };
    let mut shown = json!({"name": entry.name, "path": entry.path, "type": kind});
    if let Some(description) = entry.description {
        shown["description"] = json!(description);
    }
    shown["size_bytes"] = json!(entry.size_bytes);
    if let Some(modified_at) = entry.modified_at {
        shown["modified_at"] = json!(time(modified_at));
    }
    shown
}

fn call(call: &MadeCall) -> Value {
    json!({
        "name": call.name,
        "started_at": time(call.started_at),
        "latency_ms": milliseconds(call.latency),
        "success": call.error.is_none(),
        "error": call.error,
    })
}

/// ISO 8601 in UTC.
fn time(time: SystemTime) -> String {
    DateTime::<Utc>::from(time).to_rfc3339_opts(SecondsFormat::Micros, false)
}

/// Appends a line to a stream.
fn add_line(stream: &mut Text, line: &str) {
    let end = match stream.cut {
        0 => &mut stream.head,
        _ => &mut stream.tail,
    };
    if !end.is_empty() && !end.ends_with('\n') {
        end.push('\n');
    }
    end.push_str(line);
    end.push('\n');
}

/// The error: standard error, the program's error, and the exceeded limit on files.
fn error_of(run: &MetaToolRun, wall_time: Duration) -> Option<String> {
    let printed = run.outcome.stderr.shown();
    let raised = raised(&run.outcome, wall_time).filter(|_| printed.is_empty() || !has_exited(&run.outcome));
    let mut error = printed.into_owned();
    for part in [raised, run.blocked.clone()].into_iter().flatten() {
        if !error.is_empty() && !error.ends_with('\n') {
            error.push('\n');
        }
        error.push_str(&part);
    }
    (!error.is_empty()).then_some(error)
}

fn raised(outcome: &Outcome, wall_time: Duration) -> Option<String> {
    if let Some(status) = exit_status(outcome) {
        return Some(format!("Execution exited with status {status}"));
    }
    if outcome.status == Status::TimedOut {
        // System 0's message has no further detail.
        let bare = Outcome::bare(Status::TimedOut, outcome.session, None);
        return error_text(&bare, wall_time);
    }
    error_text(outcome, wall_time)
}

fn has_exited(outcome: &Outcome) -> bool {
    exit_status(outcome).is_some()
}

/// The status with which a program exited.
fn exit_status(outcome: &Outcome) -> Option<u8> {
    let GuestError {
        kind, message, exit, ..
    } = outcome.error.as_ref()?;
    if outcome.status != Status::Failed || kind != "SystemExit" {
        return None;
    }
    exit.or_else(|| {
        let rest = message.strip_prefix(EXITED)?;
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..digits].parse().ok()
    })
}

/// Notes that system 0's result lacks.
fn notes(run: &MetaToolRun) -> Option<String> {
    let lost = (run.outcome.session == SessionFate::Lost)
        .then_some("the sandbox was restarted: variables are gone, /scratch and /results stay");
    let notes: Vec<&str> = lost
        .into_iter()
        .chain(run.notes.iter().map(String::as_str))
        .collect();
    (!notes.is_empty()).then(|| format!("notice: {}", notes.join("; ")))
}

#[cfg(test)]
mod tests {
    use types::{Limit, RunId};

    use super::*;
    use crate::server::report::MadeCalls;

    fn run(status: Status, error: Option<(&str, &str)>) -> MetaToolRun {
        let error = error.map(|(kind, message)| GuestError {
            kind: kind.to_owned(),
            message: message.to_owned(),
            ..GuestError::default()
        });
        MetaToolRun {
            run_id: RunId::new("r1"),
            outcome: Outcome::bare(status, SessionFate::Kept, error),
            calls: MadeCalls::default(),
            blocked: None,
            notes: Vec::new(),
        }
    }

    fn answered(run: MetaToolRun) -> Value {
        let result = ran(run, "print(1)", Duration::from_millis(1500), 10_000);
        let text = result.content[0].as_text().unwrap().text.clone();
        let structured = result.structured_content.unwrap();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), structured);
        let has_error = structured["error"]
            .as_str()
            .is_some_and(|error| !error.is_empty());
        assert_eq!(result.is_error, Some(has_error), "{structured}");
        structured
    }

    #[test]
    fn s0_19_to_s0_21_a_result_has_exactly_these_fields() {
        let mut made = run(Status::Completed, None);
        made.outcome.stdout = Text::whole("out\n");
        made.calls = MadeCalls {
            listed: vec![MadeCall {
                name: "stub/fail".to_owned(),
                started_at: SystemTime::UNIX_EPOCH + Duration::from_micros(1_700_000_000_123_456),
                latency: Duration::from_millis(12),
                error: Some("nope".to_owned()),
            }],
            latencies: vec![Duration::from_millis(12), Duration::from_millis(20)],
            failed: 1,
        };
        insta::assert_snapshot!(format!("{:#}", answered(made)));
    }

    #[test]
    fn errors_have_the_messages_of_system_0() {
        #[track_caller]
        fn check(status: Status, error: Option<(&str, &str)>, stderr: &str, expected: Option<&str>) {
            let mut run = run(status, error);
            run.outcome.stderr = Text::whole(stderr);
            assert_eq!(answered(run)["error"].as_str(), expected);
        }
        check(Status::Completed, None, "", None);
        check(Status::Completed, None, "warned\n", Some("warned\n"));
        let exit = Some(("SystemExit", "exit status 3"));
        check(Status::Failed, exit, "", Some("Execution exited with status 3"));
        check(Status::Failed, exit, "why\n", Some("why\n"));
        check(
            Status::Failed,
            Some(("ValueError", "boom")),
            "warned",
            Some("warned\nValueError: boom"),
        );
        check(
            Status::TimedOut,
            Some(("KeyboardInterrupt", "")),
            "",
            Some("Execution timed out after 1500ms"),
        );
        let memory = Status::LimitExceeded { limit: Limit::Memory };
        check(memory, Some(("MemoryError", "")), "", Some("MemoryError"));
        check(
            Status::Failed,
            Some(("", "jq: missing filter")),
            "",
            Some("jq: missing filter"),
        );
    }

    #[test]
    fn s0_46_a_broken_limit_of_files_is_an_error() {
        let mut run = run(Status::Completed, None);
        run.blocked = Some("EACCES: total disk usage limit exceeded".to_owned());
        assert_eq!(answered(run)["error"], "EACCES: total disk usage limit exceeded");
    }

    #[test]
    fn s0_30_a_value_is_the_last_line() {
        #[track_caller]
        fn check(stdout: &str, expected: &str) {
            let mut run = run(Status::Completed, None);
            run.outcome.stdout = Text::whole(stdout);
            run.outcome.result = Some(json!({"a": 1}));
            assert_eq!(answered(run)["output"], expected);
        }
        check("", "{\"a\":1}\n");
        check("x\n", "x\n{\"a\":1}\n");
        check("x", "x\n{\"a\":1}\n");
    }

    #[test]
    fn notes_are_beside_the_result() {
        let mut lost = run(Status::TimedOut, None);
        lost.outcome.session = SessionFate::Lost;
        lost.notes = vec!["another".to_owned()];
        let result = ran(lost, "1", Duration::from_secs(1), 1000);
        assert_eq!(
            result.content[1].as_text().unwrap().text,
            "notice: the sandbox was restarted: variables are gone, /scratch and /results stay; another"
        );
    }

    #[test]
    fn s0_26_a_refusal_has_its_envelope() {
        let result = failed("code is required");
        assert_eq!(result.is_error, Some(true));
        assert_eq!(
            result.structured_content.unwrap().to_string(),
            r#"{"output":"","error":"code is required","metrics":{},"tool_calls_made":[]}"#
        );
    }
}
