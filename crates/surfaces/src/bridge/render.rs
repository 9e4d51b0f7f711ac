//! Turns an outcome into the answer of `run_python`: status, streams line by line, exit status, error.

use std::collections::BTreeSet;
use std::time::Duration;

use rmcp::model::{CallToolResult, ContentBlock};
use types::{Outcome, SessionFate, Status};

use super::text::{self, BridgeAnswer};
use crate::content::block;
use crate::report::{RunReport, error_text};

/// The form of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Output {
    /// Plain text; status and exit code only if the run failed.
    #[default]
    Compact,
    /// Every non-empty field, in TOON.
    Toon,
    /// Every non-empty field, in JSON.
    Json,
}

/// Exit status of a killed program, as in a shell: 128 plus the number of SIGKILL.
const KILLED: u8 = 137;

const FAILED: u8 = 1;

pub(super) fn ran(
    run: RunReport,
    servers: &BTreeSet<String>,
    timeout: Duration,
    output: Output,
) -> CallToolResult {
    let outcome = &run.outcome;
    let mut answer = BridgeAnswer {
        servers: servers.iter().cloned().collect(),
        stdout: lines(&outcome.stdout.shown()),
        stderr: lines(&outcome.stderr.shown()),
        ..answer_of(outcome, timeout)
    };
    answer.stderr.extend(explanation(outcome, timeout));
    answer.printed = !(answer.stdout.is_empty() && answer.stderr.is_empty());
    answer.stderr.extend(notices(&run));
    if answer.status == "success" {
        let printed = !(answer.stdout.is_empty() && answer.stderr.is_empty() && outcome.content.is_empty());
        answer.summary = if printed { "Success" } else { "Success (no output)" }.to_owned();
    }
    let mut result = result(&answer, output);
    result.content.extend(run.outcome.content.into_iter().map(block));
    result
}

pub(super) fn invalid(why: &str, output: Output) -> CallToolResult {
    let answer = BridgeAnswer {
        status: "validation_error",
        summary: why.to_owned(),
        error: Some(why.to_owned()),
        ..BridgeAnswer::default()
    };
    result(&answer, output)
}

pub(super) fn unknown_tool(name: &str, output: Output) -> CallToolResult {
    let why = format!("Unknown tool: {name}");
    let answer = BridgeAnswer {
        status: "error",
        summary: why.clone(),
        error: Some(why),
        ..BridgeAnswer::default()
    };
    result(&answer, output)
}

pub(super) fn failed(why: &str, output: Output) -> CallToolResult {
    result(&error(why.to_owned()), output)
}

fn result(answer: &BridgeAnswer, output: Output) -> CallToolResult {
    let (text, structured) = match output {
        Output::Compact => (text::compact(answer), answer.sparse()),
        Output::Toon => (text::toon(answer), answer.full()),
        Output::Json => (text::json(answer), answer.full()),
    };
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.is_error = Some(answer.status != "success");
    result.structured_content = Some(structured.into());
    result
}

/// Status, summary, exit status and error of the answer, without the output.
fn answer_of(outcome: &Outcome, timeout: Duration) -> BridgeAnswer {
    let seconds = timeout.as_secs();
    match outcome.status {
        Status::Completed => BridgeAnswer {
            exit: Some(0),
            ..BridgeAnswer::default()
        },
        Status::TimedOut => BridgeAnswer {
            status: "timeout",
            summary: format!("Timeout: execution exceeded {seconds}s"),
            error: Some(format!("Execution timed out after {seconds}s")),
            timeout: Some(seconds),
            ..BridgeAnswer::default()
        },
        Status::Cancelled => error("Execution was cancelled".to_owned()),
        Status::Refused => error(message(outcome)),
        // A lost session has no exit status.
        Status::Failed if outcome.session == SessionFate::Lost => error(message(outcome)),
        Status::Failed | Status::LimitExceeded { .. } => {
            let exit = outcome.error.as_ref().and_then(|error| error.exit);
            let killed = outcome.session == SessionFate::Lost;
            let exit = exit.unwrap_or(if killed { KILLED } else { FAILED });
            BridgeAnswer {
                exit: Some(exit),
                ..error(format!("Sandbox exited with code {exit}"))
            }
        }
    }
}

fn error(why: String) -> BridgeAnswer {
    BridgeAnswer {
        status: "error",
        summary: format!("Sandbox error: {why}"),
        error: Some(why),
        ..BridgeAnswer::default()
    }
}

fn message(outcome: &Outcome) -> String {
    let message = outcome.error.as_ref().map(|error| error.message.clone());
    message.unwrap_or_else(|| "the program was not run".to_owned())
}

/// The text that Python wrote to standard error about the failure.
fn explanation(outcome: &Outcome, timeout: Duration) -> Vec<String> {
    let failed = matches!(outcome.status, Status::Failed | Status::LimitExceeded { .. });
    if !failed || exited(outcome) {
        return Vec::new();
    }
    lines(&error_text(outcome, timeout).unwrap_or_default())
}

/// Notes for the client beside the output.
fn notices(run: &RunReport) -> Vec<String> {
    let lost = run.outcome.session == SessionFate::Lost;
    let lost = lost.then(|| "notice: the session is lost: its variables and files are gone".to_owned());
    let notice = run.notice.as_ref().map(|notice| format!("notice: {notice}"));
    let changed = run.changed_before_failure();
    lost.into_iter().chain(notice).chain(changed).collect()
}

/// Whether the program called `exit`, which needs no explanation.
fn exited(outcome: &Outcome) -> bool {
    outcome.error.as_ref().is_some_and(|error| error.exit.is_some())
}

/// The lines of a text, without an empty one after the last line end.
fn lines(text: &str) -> Vec<String> {
    if text.is_empty() {
        return Vec::new();
    }
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.split('\n').map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use types::{GuestError, Limit, RunId, SessionName, Text};

    use super::*;

    fn run(status: Status, stdout: &str) -> RunReport {
        let mut outcome = Outcome::bare(status, SessionFate::Kept, None);
        outcome.stdout = Text::whole(stdout);
        RunReport {
            run_id: RunId::new("r1"),
            session: SessionName::new("default"),
            outcome,
            findings: Vec::new(),
            notice: None,
            backend: None,
            keeps_files: false,
            direct: None,
            changes: None,
        }
    }

    fn failing(mut run: RunReport, error: GuestError) -> RunReport {
        run.outcome.error = Some(error);
        run
    }

    fn raised() -> RunReport {
        let traceback =
            "Traceback (most recent call last):\n  line 2\n    1/0\nZeroDivisionError: division by zero\n";
        let error = GuestError {
            kind: "ZeroDivisionError".to_owned(),
            message: "division by zero".to_owned(),
            traceback: traceback.to_owned(),
            exit: None,
        };
        failing(run(Status::Failed, "before\n"), error)
    }

    fn exited(exit: u8) -> RunReport {
        let error = GuestError {
            kind: "SystemExit".to_owned(),
            message: format!("exit status {exit}"),
            exit: Some(exit),
            ..GuestError::default()
        };
        failing(run(Status::Failed, "a\n"), error)
    }

    fn lost(status: Status, message: &str) -> RunReport {
        let error = GuestError {
            kind: "SandboxLost".to_owned(),
            message: message.to_owned(),
            ..GuestError::default()
        };
        let mut run = failing(run(status, "partial\n"), error);
        run.outcome.session = SessionFate::Lost;
        run
    }

    fn afresh() -> RunReport {
        let mut run = run(Status::Completed, "");
        run.notice = Some("session 'default' started afresh".to_owned());
        run
    }

    fn seen(run: RunReport, servers: &[&str], output: Output) -> (String, Value, bool) {
        let servers: BTreeSet<String> = servers.iter().map(|name| (*name).to_owned()).collect();
        let result = ran(run, &servers, Duration::from_secs(3), output);
        let result = serde_json::to_value(result).unwrap();
        (
            result["content"][0]["text"].as_str().unwrap().to_owned(),
            result["structuredContent"].clone(),
            result["isError"].as_bool().unwrap(),
        )
    }

    #[track_caller]
    fn check(run: RunReport, text: &str, structured: Value) {
        let is_error = structured.get("status").is_some();
        assert_eq!(
            seen(run, &[], Output::Compact),
            (text.to_owned(), structured, is_error)
        );
    }

    #[test]
    fn compact() {
        check(
            run(Status::Completed, "alpha\nbeta\n"),
            "alpha\nbeta",
            json!({"stdout": ["alpha", "beta"]}),
        );
        check(
            run(Status::Completed, ""),
            "Success (no output)",
            json!({"summary": "Success (no output)"}),
        );
        // C290
        let lines = json!({"stdout": ["a", "", "()", "  b  "]});
        check(
            run(Status::Completed, "a\n\n()\n  b  \n"),
            "a\n\n()\n  b  ",
            lines,
        );
        check(run(Status::Completed, "\n"), "", json!({"stdout": [""]}));
        let traceback = [
            "Traceback (most recent call last):",
            "  line 2",
            "    1/0",
            "ZeroDivisionError: division by zero",
        ];
        check(
            raised(),
            &format!(
                "[status: error]\n[exit: 1]\nbefore\nstderr:\n{}",
                traceback.join("\n")
            ),
            json!({
                "status": "error", "summary": "Sandbox error: Sandbox exited with code 1", "exitCode": 1,
                "stdout": ["before"], "stderr": traceback, "error": "Sandbox exited with code 1",
            }),
        );
        check(
            exited(3),
            "[status: error]\n[exit: 3]\na",
            json!({
                "status": "error", "summary": "Sandbox error: Sandbox exited with code 3", "exitCode": 3,
                "stdout": ["a"], "error": "Sandbox exited with code 3",
            }),
        );
        check(
            run(Status::TimedOut, "partial\n"),
            "[status: timeout]\npartial\nerror: Execution timed out after 3s",
            json!({
                "status": "timeout", "summary": "Timeout: execution exceeded 3s", "stdout": ["partial"],
                "error": "Execution timed out after 3s", "timeoutSeconds": 3,
            }),
        );
        check(
            afresh(),
            "stderr:\nnotice: session 'default' started afresh",
            json!({"summary": "Success", "stderr": ["notice: session 'default' started afresh"]}),
        );
    }

    #[test]
    fn what_ended_the_session() {
        let gone = "notice: the session is lost: its variables and files are gone";
        let memory = Status::LimitExceeded { limit: Limit::Memory };
        let (text, structured, _) = seen(lost(memory, "too much"), &[], Output::Compact);
        assert_eq!(
            text,
            format!("[status: error]\n[exit: 137]\npartial\nstderr:\nSandboxLost: too much\n{gone}")
        );
        assert_eq!(structured["error"], "Sandbox exited with code 137");
        let (text, structured, _) = seen(lost(Status::Failed, "it went"), &[], Output::Compact);
        assert_eq!(
            text,
            format!("[status: error]\npartial\nstderr:\nSandboxLost: it went\n{gone}")
        );
        assert_eq!(structured["error"], "it went");
        let (text, ..) = seen(lost(Status::TimedOut, ""), &[], Output::Compact);
        let timed_out = "error: Execution timed out after 3s";
        assert_eq!(
            text,
            format!("[status: timeout]\npartial\nstderr:\n{gone}\n{timed_out}")
        );
    }

    #[test]
    fn a_notice_hides_no_reason() {
        let mut cancelled = run(Status::Cancelled, "");
        cancelled.notice = Some("it started afresh".to_owned());
        let (text, ..) = seen(cancelled, &[], Output::Compact);
        let reason = "error: Execution was cancelled";
        assert_eq!(
            text,
            format!("[status: error]\nstderr:\nnotice: it started afresh\n{reason}")
        );
    }

    #[test]
    fn whole_answers() {
        let (text, structured, _) = seen(run(Status::Completed, "line1\nline2\n"), &["stub"], Output::Toon);
        let toon = "status: success\nsummary: Success\nexitCode: 0\nservers[1]: stub\nstdout[2]: line1,line2";
        assert_eq!(text, format!("```toon\n{toon}\n```"));
        let fields = json!({
            "status": "success", "summary": "Success", "exitCode": 0, "servers": ["stub"], "stdout": ["line1", "line2"],
        });
        assert_eq!(structured, fields);
        let (text, ..) = seen(run(Status::Completed, "a\n"), &[], Output::Json);
        let json = "{\n  \"exitCode\": 0,\n  \"status\": \"success\",\n  \"stdout\": [\n    \"a\"\n  ],\n  \"summary\": \"Success\"\n}";
        assert_eq!(text, format!("```json\n{json}\n```"));
    }

    #[test]
    fn what_was_not_run() {
        let text =
            |result: CallToolResult| serde_json::to_value(result).unwrap()["content"][0]["text"].clone();
        assert_eq!(
            text(failed("Unknown MCP server: nope", Output::Compact)),
            "[status: error]\nerror: Unknown MCP server: nope"
        );
        assert_eq!(
            text(unknown_tool("run_bash", Output::Compact)),
            "[status: error]\nerror: Unknown tool: run_bash"
        );
        assert_eq!(
            text(invalid("'servers' must be a list", Output::Compact)),
            "[status: validation_error]\nerror: 'servers' must be a list"
        );
    }
}
