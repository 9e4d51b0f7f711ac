//! Sends records elsewhere: to syslog, or as logs of OpenTelemetry (OTLP).
//!
//! ```text
//! store::Sinks ─► delivery ─► fields ─► syslog::format ─► UDP, TCP, TLS, a socket of this machine
//!  (database)      (loop)         └──► otlp::message ──► HTTP
//! ```
//!
//! The database is the queue: a sink reads a page of records, sends the page, and stores the position. So a run never
//! waits for a sink, a page bounds memory, and an outage of a collector loses only records that retention removes.
//! After a failure to store the position, the page is sent again. Receivers detect duplicates by the record's id.

mod config;
mod counts;
mod delivery;
mod error;
mod fields;
mod losses;
mod otlp;
mod syslog;
mod target;

pub use config::{NetworkAddress, OtlpTarget, RecordKind, SinkConfig, SinkTarget, SyslogTarget};
pub use counts::{SinkCounts, SinkFigures};
pub use delivery::Delivery;

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
