//! Exports of lists: CSV as in RFC 4180, and one JSON object a line.

use csv::{Terminator, WriterBuilder};
use serde::Serialize;
use serde_json::Value;

use crate::audit::{RunView, SecurityEventView};

/// Format of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ListFormat {
    /// One page, as a JSON array.
    #[default]
    Json,
    /// All entries after a line of column names.
    Csv,
    /// All entries, one JSON object a line.
    JsonLines,
}

/// An entry of a list that can be exported.
pub trait ExportRow: Serialize {
    /// The columns of CSV: a name, and the place of the value in the entry's JSON.
    const COLUMNS: &'static [(&'static str, &'static str)];
}

/// A failure to write entries.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// An entry cannot be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A line cannot be written as CSV.
    #[error(transparent)]
    Csv(#[from] csv::Error),
}

impl ExportRow for RunView {
    const COLUMNS: &'static [(&'static str, &'static str)] = &[
        ("id", "/id"),
        ("server_id", "/server_id"),
        ("session_id", "/session_id"),
        ("user_email", "/user_email"),
        ("language", "/language"),
        ("code_hash", "/code_hash"),
        ("status", "/status"),
        ("created_at", "/created_at"),
        ("started_at", "/started_at"),
        ("finished_at", "/finished_at"),
        ("wall_time_ms", "/metrics/wall_time_ms"),
        ("cpu_time_ms", "/metrics/cpu_time_ms"),
        ("tool_call_count", "/metrics/tool_call_count"),
        ("tool_latency_p50_ms", "/metrics/tool_latency_p50_ms"),
        ("tool_latency_p95_ms", "/metrics/tool_latency_p95_ms"),
        ("tool_latency_p99_ms", "/metrics/tool_latency_p99_ms"),
        ("error_rate", "/metrics/error_rate"),
        ("bytes_written", "/metrics/bytes_written"),
        ("bytes_error", "/metrics/bytes_error"),
        ("tool_calls_made", "/tool_calls_made"),
        ("security_events", "/security_events"),
    ];
}

impl ExportRow for SecurityEventView {
    const COLUMNS: &'static [(&'static str, &'static str)] = &[
        ("timestamp", "/timestamp"),
        ("event", "/event"),
        ("message", "/message"),
        ("tool", "/tool"),
        ("run_id", "/run_id"),
        ("run_status", "/run_status"),
        ("server_id", "/server_id"),
        ("created_at", "/created_at"),
    ];
}

// === impl ListFormat ===

impl ListFormat {
    /// In the order of the variants.
    pub const ALL: [ListFormat; 3] = [ListFormat::Json, ListFormat::Csv, ListFormat::JsonLines];

    /// The word in queries.
    pub fn name(self) -> &'static str {
        match self {
            ListFormat::Json => "json",
            ListFormat::Csv => "csv",
            ListFormat::JsonLines => "jsonl",
        }
    }

    /// The answer's `Content-Type`.
    pub fn content_type(self) -> &'static str {
        match self {
            ListFormat::Json => "application/json",
            ListFormat::Csv => "text/csv; charset=utf-8; header=present",
            ListFormat::JsonLines => "application/x-ndjson",
        }
    }

    /// The supported format with the highest quality in an `Accept` header; JSON if the header names none.
    pub(crate) fn accepted(accept: &str) -> ListFormat {
        let mut best = (0.0, ListFormat::Json);
        for range in accept.split(',') {
            let mut parts = range.split(';').map(str::trim);
            let format = match parts.next().unwrap_or_default().to_ascii_lowercase().as_str() {
                "text/csv" => ListFormat::Csv,
                "application/x-ndjson" | "application/jsonl" => ListFormat::JsonLines,
                "application/json" | "application/*" | "*/*" => ListFormat::Json,
                _ => continue,
            };
            let quality = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f32>().ok());
            let quality = quality.unwrap_or(1.0);
            if quality > best.0 {
                best = (quality, format);
            }
        }
        best.1
    }

    /// The text before the entries: the column names for CSV.
    ///
    /// # Errors
    /// If the names cannot be written.
    pub fn head<V: ExportRow>(self) -> Result<Vec<u8>, ExportError> {
        match self {
            ListFormat::Csv => csv_names(V::COLUMNS),
            ListFormat::Json | ListFormat::JsonLines => Ok(Vec::new()),
        }
    }

    /// Entries of an export.
    ///
    /// # Errors
    /// If an entry cannot be written.
    pub fn write<V: ExportRow>(self, entries: &[V]) -> Result<Vec<u8>, ExportError> {
        match self {
            ListFormat::Json => Ok(serde_json::to_vec(entries)?),
            ListFormat::JsonLines => lines(entries),
            ListFormat::Csv => {
                let values: Result<Vec<Value>, _> = entries.iter().map(serde_json::to_value).collect();
                csv(V::COLUMNS, &values?)
            }
        }
    }
}

fn lines(entries: &[impl Serialize]) -> Result<Vec<u8>, ExportError> {
    let mut written = Vec::new();
    for entry in entries {
        serde_json::to_writer(&mut written, entry)?;
        written.push(b'\n');
    }
    Ok(written)
}

/// The line of CSV with the names of the columns.
///
/// # Errors
/// If the line cannot be written.
pub fn csv_names(columns: &[(&str, &str)]) -> Result<Vec<u8>, ExportError> {
    csv_lines([columns.iter().map(|(name, _)| *name)])
}

/// Lines of CSV: a column is a name, and the place of its value in each entry. An absent value is an empty cell, a list
/// or an object is JSON.
///
/// # Errors
/// If a line cannot be written.
pub fn csv(columns: &[(&str, &str)], entries: &[Value]) -> Result<Vec<u8>, ExportError> {
    let cells = |entry| move |(_, place): &(&str, &str)| cell(Value::pointer(entry, place));
    csv_lines(entries.iter().map(|entry| columns.iter().map(cells(entry))))
}

fn csv_lines<L>(lines: impl IntoIterator<Item = L>) -> Result<Vec<u8>, ExportError>
where
    L: IntoIterator<Item: AsRef<[u8]>>,
{
    let mut writer = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(Vec::new());
    for line in lines {
        writer.write_record(line)?;
    }
    let written = writer
        .into_inner()
        .map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(written)
}

/// Adds a leading `'` to a text that a spreadsheet would run as a formula, or that begins with `'`. So readers restore
/// the text by removing one leading `'`.
fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) if text.starts_with(['=', '+', '-', '@', '\t', '\r', '\'']) => {
            format!("'{text}")
        }
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const COLUMNS: [(&str, &str); 3] = [("a", "/a"), ("b", "/in/b"), ("c", "/c")];

    fn written(entries: &[Value]) -> String {
        let mut bytes = csv_names(&COLUMNS).expect("CSV");
        bytes.extend(csv(&COLUMNS, entries).expect("CSV"));
        String::from_utf8(bytes).expect("a text")
    }

    #[test]
    fn cells_are_quoted_as_in_rfc_4180() {
        assert_eq!(written(&[]), "a,b,c\r\n");
        let entries = [
            json!({"a": "x, \"y\"", "in": {"b": 1}, "c": null}),
            json!({"a": "two\r\nlines", "in": {"b": [1, {"d": "e"}]}}),
            json!({"a": -1, "in": null, "c": true}),
        ];
        assert_eq!(
            written(&entries),
            "a,b,c\r\n\"x, \"\"y\"\"\",1,\r\n\"two\r\nlines\",\"[1,{\"\"d\"\":\"\"e\"\"}]\",\r\n-1,,true\r\n"
        );
    }

    #[test]
    fn a_spreadsheet_runs_no_cell() {
        for text in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "'=1"] {
            let entries = [json!({ "a": text })];
            let bytes = csv(&COLUMNS, &entries).expect("CSV");
            let mut reader = ::csv::ReaderBuilder::new()
                .has_headers(false)
                .from_reader(&*bytes);
            let record = reader.records().next().expect("a line").expect("CSV");
            assert_eq!(&record[0], format!("'{text}"));
        }
    }

    #[test]
    fn the_type_with_the_highest_quality_is_used() {
        let check = |accept: &str, expected| assert_eq!(ListFormat::accepted(accept), expected, "{accept}");
        check("", ListFormat::Json);
        check("*/*", ListFormat::Json);
        check("text/html, image/png", ListFormat::Json);
        check("text/csv", ListFormat::Csv);
        check("Text/CSV; charset=utf-8", ListFormat::Csv);
        check("application/x-ndjson", ListFormat::JsonLines);
        check("text/csv;q=0.5, application/x-ndjson", ListFormat::JsonLines);
        check("text/csv, */*;q=0.1", ListFormat::Csv);
        check("text/csv;q=0", ListFormat::Json);
        check("text/csv;q=x, application/json", ListFormat::Csv);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(texts in proptest::collection::vec("[=+@'\t\r\n,\"a -]{0,6}", 0..5)) {
            let entries: Vec<Value> = texts.iter().map(|text| json!({"a": text, "c": "end"})).collect();
            let text = written(&entries);
            let mut reader = ::csv::Reader::from_reader(text.as_bytes());
            let read = reader.records().map(|record| {
                let cell = record.expect("CSV")[0].to_owned();
                cell.strip_prefix('\'').map_or(cell.clone(), str::to_owned)
            });
            prop_assert_eq!(read.collect::<Vec<_>>(), texts);
        }
    }
}
