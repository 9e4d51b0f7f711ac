//! `[[gateway.sinks]]`: receivers of records in addition to the database.

use std::path::{Path, PathBuf};

use ::sinks::{OtlpTarget, RecordKind, SinkConfig, SinkTarget, SyslogTarget};
use environment::Diagnostics;
use store::Recording;

use super::table::{Section, Value, unknown};

const KEYS: [&str; 6] = ["name", "syslog", "otlp", "headers_file", "records", "payloads"];

/// Maximum number of sinks. Each polls the database twice a second.
const MAX: usize = 16;

/// Maximum bytes of a name, which is a label of metrics.
const MAX_NAME: usize = 64;

#[derive(Debug, Default)]
struct WrittenSink {
    name: Option<String>,
    syslog: Option<SyslogTarget>,
    otlp: Option<OtlpTarget>,
    headers_file: Option<PathBuf>,
    records: Option<Vec<RecordKind>>,
    payloads: bool,
}

/// All valid sinks. Reports the mistakes of the others.
pub(super) fn read(value: &Value<'_>, directory: &Path, diagnostics: &mut Diagnostics) -> Vec<SinkConfig> {
    let Some(tables) = value.tables() else {
        diagnostics.mistake(
            "gateway.sinks",
            "write each sink as a separate section `[[gateway.sinks]]`",
        );
        return Vec::new();
    };
    if tables.len() > MAX {
        let message = format!("{} sinks are too many; write at most {MAX}", tables.len());
        diagnostics.mistake("gateway.sinks", message);
        return Vec::new();
    }
    let mut sinks: Vec<SinkConfig> = Vec::new();
    for (index, table) in tables.into_iter().enumerate() {
        let field = format!("gateway.sinks[{index}]");
        let Some(sink) = sink(&table, &field, directory, diagnostics) else {
            continue;
        };
        if sinks.iter().any(|other| other.name == sink.name) {
            let message = format!(
                "another sink has the name \"{}\"; names must be unique",
                sink.name
            );
            diagnostics.mistake(&format!("{field}.name"), message);
        }
        sinks.push(sink);
    }
    sinks
}

/// Without records, only the audit table can be sent.
pub(super) fn check(sinks: &[SinkConfig], recording: Recording, diagnostics: &mut Diagnostics) {
    if recording != Recording::Off {
        return;
    }
    for sink in sinks {
        if sink.records.iter().any(|kind| *kind != RecordKind::Audit) {
            let message = format!(
                "sink \"{}\": `[records] record = \"off\"` leaves only the audit table; write `records = [\"audit\"]`, or \
                 turn records on",
                sink.name
            );
            diagnostics.mistake("gateway.sinks", message);
        }
    }
}

fn sink(
    table: &Section<'_>,
    field: &str,
    directory: &Path,
    diagnostics: &mut Diagnostics,
) -> Option<SinkConfig> {
    let mut written = WrittenSink::default();
    let before = diagnostics.mistakes.len();
    for (key, value) in table.entries() {
        if let Err(message) = written.set(key, &value, directory) {
            diagnostics.mistake(&format!("{field}.{key}"), message);
        }
    }
    if diagnostics.mistakes.len() > before {
        return None;
    }
    written.finish(field, diagnostics)
}

// === impl WrittenSink ===

impl WrittenSink {
    fn set(&mut self, key: &str, value: &Value<'_>, directory: &Path) -> Result<(), String> {
        match key {
            "name" => self.name = Some(name(value.string()?)?),
            "syslog" => self.syslog = Some(SyslogTarget::read(value.string()?)?),
            "otlp" => self.otlp = Some(OtlpTarget::read(value.string()?)?),
            "headers_file" => self.headers_file = Some(directory.join(value.string()?)),
            "records" => self.records = Some(kinds(value)?),
            "payloads" => self.payloads = value.boolean()?,
            _ => return Err(unknown("key", key, KEYS)),
        }
        Ok(())
    }

    /// The sink, unless a field is missing or invalid.
    fn finish(self, field: &str, diagnostics: &mut Diagnostics) -> Option<SinkConfig> {
        if self.name.is_none() {
            diagnostics.mistake(
                field,
                "`name` is missing; the database stores the sink's position under this name, as in name = \"siem\"",
            );
        }
        let target = target(self.syslog, self.otlp, self.headers_file);
        let target = target.map_err(|(key, message)| diagnostics.mistake(&format!("{field}{key}"), message));
        Some(SinkConfig {
            name: self.name?,
            target: target.ok()?,
            records: self
                .records
                .unwrap_or_else(|| RecordKind::ALL.map(|(_, kind)| kind).to_vec()),
            payloads: self.payloads,
        })
    }
}

/// The target, or the suffix of the wrong field with the message.
fn target(
    syslog: Option<SyslogTarget>,
    otlp: Option<OtlpTarget>,
    headers_file: Option<PathBuf>,
) -> Result<SinkTarget, (&'static str, &'static str)> {
    match (syslog, otlp) {
        (Some(_), None) if headers_file.is_some() => {
            Err((".headers_file", "only `otlp` has headers; remove it"))
        }
        (Some(syslog), None) => Ok(SinkTarget::Syslog(syslog)),
        (None, Some(otlp)) => {
            let otlp = OtlpTarget { headers_file, ..otlp };
            match otlp.exposes_headers() {
                true => Err((
                    ".otlp",
                    "the headers would cross the network without encryption; write https://",
                )),
                false => Ok(SinkTarget::Otlp(otlp)),
            }
        }
        (None, None) => Err((
            "",
            "the target is missing; write syslog = \"udp://HOST:514\" or otlp = \"http://HOST:4318\"",
        )),
        (Some(_), Some(_)) => Err((
            "",
            "`syslog` and `otlp` are two targets; write a section for each",
        )),
    }
}

fn name(text: &str) -> Result<String, String> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    match (1..=MAX_NAME).contains(&text.len()) && text.bytes().all(allowed) {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "a name is 1 to {MAX_NAME} of the characters A-Z a-z 0-9 _ . -"
        )),
    }
}

fn kinds(value: &Value<'_>) -> Result<Vec<RecordKind>, String> {
    let mut kinds = Vec::new();
    for word in value.strings()? {
        let Some((_, kind)) = RecordKind::ALL.into_iter().find(|(known, _)| *known == word) else {
            return Err(unknown("kind", &word, RecordKind::ALL.map(|(known, _)| known)));
        };
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    match kinds.is_empty() {
        true => Err("the array is empty; remove the sink to send nothing".to_owned()),
        false => Ok(kinds),
    }
}
