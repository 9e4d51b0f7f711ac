//! `ExportTraceServiceRequest` of OTLP 1, whose field numbers are fixed by opentelemetry-proto.

use std::time::UNIX_EPOCH;

use traces::{EndedSpan, SpanKind, SpanValue};

use super::message::{attribute, resource};
use super::protobuf::ProtobufMessage;
use crate::Sender;
use crate::fields::Field;

/// `STATUS_CODE_ERROR`.
const ERROR: u64 = 2;

/// All spans as one request.
pub(super) fn request(spans: &[EndedSpan], sender: &Sender) -> Vec<u8> {
    let mut scope = ProtobufMessage::default();
    scope
        .text(1, "codeyard.traces")
        .text(2, env!("CARGO_PKG_VERSION"));
    let mut scoped = ProtobufMessage::default();
    scoped.message(1, &scope);
    for span in spans {
        scoped.message(2, &message(span));
    }
    let mut resource_spans = ProtobufMessage::default();
    resource_spans.message(1, &resource(sender)).message(2, &scoped);
    let mut request = ProtobufMessage::default();
    request.message(1, &resource_spans);
    request.into_bytes()
}

fn message(span: &EndedSpan) -> ProtobufMessage {
    let context = &span.context;
    let begun = span.begun.duration_since(UNIX_EPOCH).unwrap_or_default();
    let nanoseconds = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let mut message = ProtobufMessage::default();
    message
        .bytes(1, &context.trace.to_be_bytes())
        .bytes(2, &context.span.to_be_bytes());
    if let Some(state) = &context.state {
        message.text(3, state);
    }
    if let Some(parent) = span.parent {
        message.bytes(4, &parent.to_be_bytes());
    }
    message
        .text(5, span.name)
        .varint(6, kind(span.kind))
        .fixed64(7, nanoseconds(begun))
        .fixed64(8, nanoseconds(begun + span.duration));
    for (name, value) in &span.attributes {
        let field = match value {
            SpanValue::Text(text) => Field::Text(text.clone()),
            SpanValue::Number(number) => Field::Number(*number),
        };
        message.message(9, &attribute(name, &field));
    }
    if let Some(failure) = &span.failure {
        let mut status = ProtobufMessage::default();
        status.text(2, failure).varint(3, ERROR);
        message.message(15, &status);
    }
    message
}

fn kind(kind: SpanKind) -> u64 {
    match kind {
        SpanKind::Server => 2,
        SpanKind::Client => 3,
    }
}
