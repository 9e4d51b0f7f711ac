//! OTLP over HTTP: entries as logs of OpenTelemetry, and spans as traces.

mod client;
mod message;
mod protobuf;
mod response;
mod spans;

use traces::EndedSpan;

use crate::Sender;
use crate::config::OtlpTarget;
use crate::error::SendError;
use crate::fields::SinkEntry;
use client::OtlpClient;

/// One address of a collector.
#[derive(Debug)]
pub(crate) struct Collector {
    client: OtlpClient,
    sender: Sender,
}

// === impl Collector ===

impl Collector {
    pub(crate) fn new(target: OtlpTarget, sender: Sender) -> Collector {
        Collector {
            client: OtlpClient::new(target),
            sender,
        }
    }

    /// Posts all entries. Returns the number of entries that the collector refused.
    pub(crate) async fn send(&mut self, entries: &[SinkEntry]) -> Result<u64, SendError> {
        self.client.post(message::request(entries, &self.sender)).await
    }

    /// Posts all spans. Returns how many of them the collector refused.
    pub(crate) async fn send_spans(&mut self, spans: &[EndedSpan]) -> Result<u64, SendError> {
        self.client.post(spans::request(spans, &self.sender)).await
    }
}
