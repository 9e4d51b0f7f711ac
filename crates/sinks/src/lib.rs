//! Sends records elsewhere: to syslog, or as logs of OpenTelemetry (OTLP).
//!
//! ```text
//! store::Sinks ─► delivery ─► fields ─► syslog::format ─► UDP, TCP, TLS, a socket of this machine
//!  (database)      (loop)         └──► otlp::message ──► HTTP
//! ```
//!
//! The database is the queue: a sink reads a page of records, sends it, and notes the position. So a run never waits for
//! a sink, memory is bounded by a page, and a collector that is down loses nothing that retention keeps. A page whose
//! position could not be noted is sent again, so a record arrives at least once; its id tells a repeated one.

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

/// Who sends, for collectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sender {
    /// Another one for each start of a process.
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
