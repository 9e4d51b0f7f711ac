//! Sends records elsewhere: to syslog, as logs of OpenTelemetry (OTLP), to a file, or as metrics to CloudWatch.
//!
//! ```text
//! store::Sinks ─► delivery ─► fields ─► syslog::format ─► UDP, TCP, TLS, a socket of this machine
//!  (database)      (loop)    │    └──► otlp::message ──► HTTP
//!                            ├─► execution_log::line ──► a file
//!                            └─► cloudwatch::request ──► HTTP
//! ```
//!
//! Spans have a bounded queue in memory, and go to a collector of their own (`span_delivery`).
//!
//! The database is the queue: a sink reads a page of records, sends the page, and stores the position. So a run never
//! waits for a sink, a page bounds memory, and an outage of a collector loses only records that retention removes.
//! After a failure to store the position, the page is sent again. Receivers detect duplicates by the record's id.

mod cloudwatch;
mod config;
mod counts;
mod delivery;
mod error;
mod execution_log;
mod fields;
mod http_answer;
mod losses;
mod otlp;
mod span_delivery;
mod syslog;
mod target;

pub use config::{
    AwsCredentials, AwsCredentialsSource, CloudWatchTarget, FileTarget, LOGS, MetricDimension,
    NetworkAddress, OtlpTarget, RecordKind, SinkConfig, SinkTarget, SyslogTarget, TRACES,
};
pub use counts::{SinkCounts, SinkFigures};
pub use delivery::Delivery;
pub use span_delivery::SpanDelivery;

/// Identifies the sending process to collectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sender {
    /// Unique for each start of a process.
    pub id: String,
    /// Name of this machine; empty if unknown.
    pub host: String,
}

// === impl Sender ===

impl Sender {
    /// This process, with a random id.
    pub fn new(id: String) -> Sender {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        Sender {
            id,
            host: host.trim().to_owned(),
        }
    }
}
