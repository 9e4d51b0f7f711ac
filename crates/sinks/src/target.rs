//! Sends a sink's entries over any transport.

use std::time::Duration;

use tokio::time::timeout;

use crate::Sender;
use crate::config::SinkTarget;
use crate::error::SendError;
use crate::fields::SinkEntry;
use crate::otlp::Collector;
use crate::syslog::Syslog;

/// Deadline of one batch, including the connection. Shorter than the lease of a sink.
const SENDING: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(crate) enum Outlet {
    Syslog(Syslog),
    Otlp(Box<Collector>),
}

// === impl Outlet ===

impl Outlet {
    pub(crate) fn new(target: &SinkTarget, sender: Sender) -> Outlet {
        match target {
            SinkTarget::Syslog(target) => Outlet::Syslog(Syslog::new(target.clone(), sender)),
            SinkTarget::Otlp(target) => Outlet::Otlp(Box::new(Collector::new(target.clone(), sender))),
        }
    }

    /// Sends all entries in order. Returns the number of entries that the collector refused.
    pub(crate) async fn send(&mut self, entries: &[SinkEntry]) -> Result<u64, SendError> {
        let sent = async {
            match self {
                Outlet::Syslog(syslog) => syslog.send(entries).await.map(|()| 0),
                Outlet::Otlp(collector) => collector.send(entries).await,
            }
        };
        let Ok(sent) = timeout(SENDING, sent).await else {
            // Half a message may be sent, so close the connection.
            if let Outlet::Syslog(syslog) = self {
                syslog.disconnect();
            }
            return Err(SendError::unavailable(format!(
                "no answer within {} s",
                SENDING.as_secs()
            )));
        };
        sent
    }
}
