//! Sends a sink's entries over any transport.

use std::time::Duration;

use store::sinks::SentRecord;
use tokio::time::timeout;

use crate::Sender;
use crate::cloudwatch::CloudWatch;
use crate::config::SinkTarget;
use crate::error::SendError;
use crate::execution_log::ExecutionLog;
use crate::fields::SinkEntry;
use crate::otlp::Collector;
use crate::syslog::Syslog;

/// Deadline of one batch, including the connection. Shorter than the lease of a sink.
const SENDING: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(crate) enum Outlet {
    Syslog(Syslog),
    Otlp(Box<Collector>),
    File(ExecutionLog),
    CloudWatch(Box<CloudWatch>),
}

// === impl Outlet ===

impl Outlet {
    pub(crate) fn new(target: &SinkTarget, sender: Sender) -> Outlet {
        match target {
            SinkTarget::Syslog(target) => Outlet::Syslog(Syslog::new(target.clone(), sender)),
            SinkTarget::Otlp(target) => Outlet::Otlp(Box::new(Collector::new(target.clone(), sender))),
            SinkTarget::File(target) => Outlet::File(ExecutionLog::new(target.clone())),
            SinkTarget::CloudWatch(target) => {
                Outlet::CloudWatch(Box::new(CloudWatch::new(target.as_ref().clone())))
            }
        }
    }

    /// Sends all records in order. Returns the number of records that the collector refused.
    pub(crate) async fn send(&mut self, records: &[SentRecord]) -> Result<u64, SendError> {
        let entries = || records.iter().map(SinkEntry::of).collect::<Vec<_>>();
        let sent = async {
            match self {
                Outlet::Syslog(syslog) => syslog.send(&entries()).await.map(|()| 0),
                Outlet::Otlp(collector) => collector.send(&entries()).await,
                Outlet::File(log) => log.send(records).await.map(|()| 0),
                Outlet::CloudWatch(cloudwatch) => cloudwatch.send(records).await.map(|()| 0),
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
