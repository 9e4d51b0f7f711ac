//! `[[gateway.sinks]]`: receivers of records in addition to the database.

mod cloudwatch;

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use ::sinks::{FileTarget, LOGS, OtlpTarget, RecordKind, SinkConfig, SinkTarget, SyslogTarget};
use environment::Diagnostics;
use store::Recording;

use self::cloudwatch::WrittenCloudWatch;
pub(crate) use self::cloudwatch::complete;
use super::table::{Section, Value, unknown};

const KEYS: [&str; 14] = [
    "name",
    "syslog",
    "otlp",
    "file",
    "cloudwatch",
    "headers_file",
    "max_size",
    "max_files",
    "region",
    "namespace",
    "dimensions",
    "credentials_file",
    "records",
    "payloads",
];

/// Maximum number of sinks. Each polls the database twice a second.
const MAX: usize = 16;

/// Maximum bytes of a name, which is a label of metrics.
const MAX_NAME: usize = 64;

/// The name of the file, if only its directory is written.
const FILE_NAME: &str = "executions.log";

/// Most bytes of a file: by default, and what may be written. A batch of records has up to 200 lines.
const DEFAULT_MAX_SIZE: u64 = 64 * 1024 * 1024;
const MAX_SIZE: RangeInclusive<u64> = 64 * 1024..=1024 * 1024 * 1024 * 1024;

/// Most files: by default, and what may be written.
const DEFAULT_MAX_FILES: u32 = 5;
const MAX_FILES: RangeInclusive<u64> = 1..=1000;

#[derive(Debug, Default)]
struct WrittenSink {
    name: Option<String>,
    targets: WrittenTargets,
    records: Option<Vec<RecordKind>>,
    payloads: bool,
}

#[derive(Debug, Default)]
struct WrittenTargets {
    syslog: Option<SyslogTarget>,
    otlp: Option<OtlpTarget>,
    file: Option<PathBuf>,
    headers_file: Option<PathBuf>,
    max_size: Option<u64>,
    max_files: Option<u32>,
    cloudwatch: WrittenCloudWatch,
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
        if let SinkTarget::File(file) = &sink.target
            && let Some(other) = sinks.iter().find(|other| is_file(other, &file.path))
        {
            let message = format!("sink \"{}\" writes this file already; name another", other.name);
            diagnostics.mistake(&format!("{field}.file"), message);
        }
        sinks.push(sink);
    }
    sinks
}

fn is_file(sink: &SinkConfig, path: &Path) -> bool {
    matches!(&sink.target, SinkTarget::File(file) if file.path == path)
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
            "records" => self.records = Some(kinds(value)?),
            "payloads" => self.payloads = value.boolean()?,
            _ => return self.targets.set(key, value, directory),
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
        let target = self.targets.target();
        let target = target.map_err(|(key, message)| diagnostics.mistake(&format!("{field}{key}"), message));
        let target = target.ok()?;
        let all = match target {
            SinkTarget::File(_) | SinkTarget::CloudWatch(_) => vec![RecordKind::Runs],
            SinkTarget::Syslog(_) | SinkTarget::Otlp(_) => RecordKind::ALL.map(|(_, kind)| kind).to_vec(),
        };
        Some(SinkConfig {
            name: self.name?,
            target,
            records: self.records.unwrap_or(all),
            payloads: self.payloads,
        })
    }
}

// === impl WrittenTargets ===

impl WrittenTargets {
    fn set(&mut self, key: &str, value: &Value<'_>, directory: &Path) -> Result<(), String> {
        match key {
            "syslog" => self.syslog = Some(SyslogTarget::read(value.string()?)?),
            "otlp" => self.otlp = Some(OtlpTarget::read(value.string()?, LOGS)?),
            "file" => self.file = Some(file(value.string()?, directory)?),
            "headers_file" => self.headers_file = Some(directory.join(value.string()?)),
            "max_size" => self.max_size = Some(value.written().size(MAX_SIZE)?),
            "max_files" => self.max_files = Some(value.written().count(MAX_FILES)?),
            _ if self.cloudwatch.set(key, value, directory)? => {}
            _ => return Err(unknown("key", key, KEYS)),
        }
        Ok(())
    }

    /// The target, or the suffix of the wrong field with the message.
    fn target(self) -> Result<SinkTarget, (&'static str, &'static str)> {
        if self.headers_file.is_some() && self.otlp.is_none() {
            return Err((".headers_file", "only `otlp` has headers; remove it"));
        }
        if self.file.is_none() && (self.max_size.is_some() || self.max_files.is_some()) {
            return Err(("", "only `file` has `max_size` and `max_files`; remove them"));
        }
        let cloudwatch = self.cloudwatch.target()?;
        match (self.syslog, self.otlp, self.file, cloudwatch) {
            (Some(syslog), None, None, None) => Ok(SinkTarget::Syslog(syslog)),
            (None, Some(otlp), None, None) => with_headers(otlp, self.headers_file).map(SinkTarget::Otlp),
            (None, None, Some(path), None) => Ok(SinkTarget::File(FileTarget {
                path,
                max_size: self.max_size.unwrap_or(DEFAULT_MAX_SIZE),
                max_files: self.max_files.unwrap_or(DEFAULT_MAX_FILES),
            })),
            (None, None, None, Some(cloudwatch)) => Ok(SinkTarget::CloudWatch(Box::new(cloudwatch))),
            (None, None, None, None) => Err((
                "",
                "the target is missing; write syslog = \"udp://HOST:514\", otlp = \"http://HOST:4318\", file = \
                 \"executions.log\" or cloudwatch = \"eu-central-1\"",
            )),
            _ => Err(("", "a sink has one target; write a section for each")),
        }
    }
}

fn with_headers(
    otlp: OtlpTarget,
    headers_file: Option<PathBuf>,
) -> Result<OtlpTarget, (&'static str, &'static str)> {
    let otlp = OtlpTarget { headers_file, ..otlp };
    match otlp.exposes_headers() {
        true => Err((
            ".otlp",
            "the headers would cross the network without encryption; write https://",
        )),
        false => Ok(otlp),
    }
}

/// A path that ends in `/` is the directory of the file.
fn file(written: &str, directory: &Path) -> Result<PathBuf, String> {
    let path = directory.join(written);
    match written {
        "" | "." | ".." => Err("write the path of a file".to_owned()),
        _ if written.ends_with('/') => Ok(path.join(FILE_NAME)),
        _ => Ok(path),
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
