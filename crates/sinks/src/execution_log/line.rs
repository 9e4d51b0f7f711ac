//! A record as a line of JSON: ends of runs as execution logs have them, everything else by its named values.

use chrono::{DateTime, SecondsFormat, Utc};
use serde::Serialize;
use serde_json::{Map, Value, json};
use store::RunView;
use store::sinks::{CalledTool, SentRecord, SentRun};
use types::{Principal, Status};

use crate::fields::{Field, SinkEntry};

/// Exit statuses of runs that were ended, as shells report them.
const TIMED_OUT: u8 = 124;
const INTERRUPTED: u8 = 130;
const KILLED: u8 = 137;

/// One run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ExecutionLine<'r> {
    execution_id: &'r str,
    /// Of the request.
    timestamp: String,
    status: &'r str,
    code_hash: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'r str>,
    language: Option<&'r str>,
    files_accessed: &'r [String],
    network_calls: Vec<NetworkCall<'r>>,
    resource_usage: ResourceUsage,
    exit_code: Option<u8>,
    errors: Vec<String>,
    /// Of the program, in milliseconds.
    duration_ms: Option<f64>,
    tenant: String,
    user: String,
    server_id: Option<&'r str>,
    session: Option<&'r str>,
    client: Option<&'r str>,
}

#[derive(Debug, Serialize)]
struct NetworkCall<'r> {
    server: &'r str,
    tool: &'r str,
    calls: i64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceUsage {
    /// In milliseconds.
    cpu_time: Option<f64>,
    /// In bytes.
    memory_peak: Option<i64>,
    /// In bytes.
    disk_writes: Option<u64>,
}

/// Appends the record and the end of its line.
pub(super) fn write(record: &SentRecord, lines: &mut Vec<u8>) -> serde_json::Result<()> {
    match record {
        SentRecord::Run(sent) => serde_json::to_writer(&mut *lines, &ExecutionLine::of(sent))?,
        other => serde_json::to_writer(&mut *lines, &named_values(&SinkEntry::of(other)))?,
    }
    lines.push(b'\n');
    Ok(())
}

fn named_values(entry: &SinkEntry) -> Map<String, Value> {
    let mut values = Map::new();
    values.insert("timestamp".to_owned(), json!(time(entry.at_ms)));
    values.insert("severity".to_owned(), json!(entry.severity.name()));
    values.insert("summary".to_owned(), json!(entry.summary));
    for (name, field) in &entry.fields {
        let value = match field {
            Field::Text(text) => json!(text),
            Field::Number(number) => json!(number),
        };
        values.insert((*name).to_owned(), value);
    }
    values
}

fn time(at_ms: i64) -> String {
    let time: DateTime<Utc> = DateTime::from_timestamp_millis(at_ms).unwrap_or_default();
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

// === impl ExecutionLine ===

impl<'r> ExecutionLine<'r> {
    fn of(sent: &'r SentRun) -> ExecutionLine<'r> {
        let (run, facts) = (&sent.run, sent.execution.as_ref());
        let principal = run.principal.parse::<Principal>().ok();
        let of_principal = |part: fn(&Principal) -> &str| {
            principal
                .as_ref()
                .map_or_else(|| run.principal.clone(), |principal| part(principal).to_owned())
        };
        ExecutionLine {
            execution_id: &run.id,
            timestamp: time(run.asked_ms),
            status: &run.status,
            code_hash: run.code_hash.as_deref(),
            code: facts.and_then(|facts| facts.code.as_deref()),
            language: run.language.as_deref(),
            files_accessed: facts.map(|facts| facts.files.as_slice()).unwrap_or_default(),
            network_calls: sent.called.iter().map(NetworkCall::of).collect(),
            resource_usage: ResourceUsage {
                cpu_time: run.cpu_us.map(milliseconds),
                memory_peak: run.peak_memory,
                disk_writes: facts.and_then(|facts| facts.bytes_written),
            },
            exit_code: exit_code(&run.status, facts.and_then(|facts| facts.exit)),
            errors: error(run, facts.and_then(|facts| facts.message.as_deref()))
                .into_iter()
                .collect(),
            duration_ms: run.duration_us.map(milliseconds),
            tenant: of_principal(|principal| principal.tenant().as_str()),
            user: of_principal(|principal| principal.user().as_str()),
            server_id: run.virtual_server.as_deref(),
            session: run.session.as_deref(),
            client: run.client.as_deref(),
        }
    }
}

// === impl NetworkCall ===

impl<'r> NetworkCall<'r> {
    fn of(called: &'r CalledTool) -> NetworkCall<'r> {
        NetworkCall {
            server: &called.server,
            tool: &called.tool,
            calls: called.calls,
        }
    }
}

fn milliseconds(microseconds: i64) -> f64 {
    microseconds as f64 / 1000.0
}

/// `None` for a run that did not begin or whose end nobody saw.
fn exit_code(status: &str, exit: Option<u8>) -> Option<u8> {
    let is = |other: Status| status == other.name();
    match exit {
        Some(exit) => Some(exit),
        None if is(Status::Completed) => Some(0),
        None if is(Status::Failed) => Some(1),
        None if is(Status::TimedOut) => Some(TIMED_OUT),
        None if is(Status::Cancelled) => Some(INTERRUPTED),
        None if status == "limit_exceeded" => Some(KILLED),
        None => None,
    }
}

/// The class of the error with its message, the limit, or the status.
fn error(run: &RunView, message: Option<&str>) -> Option<String> {
    if run.status == Status::Completed.name() {
        return None;
    }
    let class = run.error_kind.as_deref().filter(|class| !class.is_empty());
    let class = match (class, &run.limit) {
        (_, Some(limit)) => format!("{}: {limit}", run.status),
        (Some(class), None) => class.to_owned(),
        (None, None) => run.status.clone(),
    };
    Some(match message {
        Some(message) => format!("{class}: {message}"),
        None => class,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_has_the_exit_status_of_a_shell() {
        for (status, exit, expected) in [
            ("completed", None, Some(0)),
            ("failed", None, Some(1)),
            ("failed", Some(3), Some(3)),
            ("timed_out", None, Some(124)),
            ("cancelled", None, Some(130)),
            ("limit_exceeded", None, Some(137)),
            ("refused", None, None),
            ("interrupted", None, None),
        ] {
            assert_eq!(exit_code(status, exit), expected, "{status}");
        }
    }

    #[test]
    fn times_are_those_of_rfc_3339() {
        assert_eq!(time(1_700_000_000_123), "2023-11-14T22:13:20.123Z");
    }
}
