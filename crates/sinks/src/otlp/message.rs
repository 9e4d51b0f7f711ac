//! `ExportLogsServiceRequest` of OTLP 1, with the field numbers of opentelemetry-proto.

use std::time::{SystemTime, UNIX_EPOCH};

use super::protobuf::ProtobufMessage;
use crate::Sender;
use crate::config::RecordKind;
use crate::fields::{Field, Severity, SinkEntry};

const NANOSECONDS_IN_MS: u64 = 1_000_000;

/// All entries as one request.
pub(super) fn request(entries: &[SinkEntry], sender: &Sender) -> Vec<u8> {
    let observed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let observed = u64::try_from(observed.as_nanos()).unwrap_or(u64::MAX);
    let mut scope = ProtobufMessage::default();
    scope
        .text(1, "codeyard.records")
        .text(2, env!("CARGO_PKG_VERSION"));
    let mut scoped = ProtobufMessage::default();
    scoped.message(1, &scope);
    for entry in entries {
        scoped.message(2, &log_record(entry, observed));
    }
    let mut resource_logs = ProtobufMessage::default();
    resource_logs.message(1, &resource(sender)).message(2, &scoped);
    let mut request = ProtobufMessage::default();
    request.message(1, &resource_logs);
    request.into_bytes()
}

pub(super) fn resource(sender: &Sender) -> ProtobufMessage {
    let mut resource = ProtobufMessage::default();
    for (name, value) in [
        ("service.name", "codeyard"),
        ("service.version", env!("CARGO_PKG_VERSION")),
        ("service.instance.id", &sender.id),
        ("host.name", &sender.host),
    ] {
        if !value.is_empty() {
            resource.message(1, &attribute(name, &Field::Text(value.to_owned())));
        }
    }
    resource
}

fn log_record(entry: &SinkEntry, observed: u64) -> ProtobufMessage {
    let (number, text) = severity(entry.severity);
    let mut record = ProtobufMessage::default();
    record
        .fixed64(
            1,
            u64::try_from(entry.at_ms)
                .unwrap_or_default()
                .saturating_mul(NANOSECONDS_IN_MS),
        )
        .varint(2, number)
        .text(3, text)
        .message(5, &any_value(&Field::Text(entry.summary.clone())));
    for (name, field) in &entry.fields {
        record.message(6, &attribute(name, field));
    }
    record.fixed64(11, observed).text(12, event_name(entry.kind));
    record
}

pub(super) fn attribute(name: &str, field: &Field) -> ProtobufMessage {
    let mut attribute = ProtobufMessage::default();
    attribute.text(1, name).message(2, &any_value(field));
    attribute
}

fn any_value(field: &Field) -> ProtobufMessage {
    let mut value = ProtobufMessage::default();
    match field {
        Field::Text(text) => value.text(1, text),
        // Protobuf writes a negative number as its two's complement.
        Field::Number(number) => value.varint(3, number.cast_unsigned()),
    };
    value
}

fn severity(severity: Severity) -> (u64, &'static str) {
    match severity {
        Severity::Info => (9, "INFO"),
        Severity::Notice => (10, "INFO2"),
        Severity::Warning => (13, "WARN"),
        Severity::Error => (17, "ERROR"),
    }
}

fn event_name(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::Runs => "codeyard.run",
        RecordKind::Calls => "codeyard.call",
        RecordKind::Events => "codeyard.event",
        RecordKind::Audit => "codeyard.audit",
    }
}
