//! Syslog: messages to a collector or to the local daemon.

mod connection;
mod format;

use crate::Sender;
use crate::config::SyslogTarget;
use crate::error::SendError;
use crate::fields::SinkEntry;
use connection::SyslogConnection;
use format::Form;

/// Longest message in a datagram to another machine, in bytes. RFC 5426 asks receivers to accept 2048.
const MAX_DATAGRAM: usize = 2048;

/// Longest other message, in bytes. Daemons accept this length with default settings.
const MAX_MESSAGE: usize = 8192;

/// One receiver and its connection.
#[derive(Debug)]
pub(crate) struct Syslog {
    target: SyslogTarget,
    sender: Sender,
    connection: Option<SyslogConnection>,
}

// === impl Syslog ===

impl Syslog {
    pub(crate) fn new(target: SyslogTarget, sender: Sender) -> Syslog {
        Syslog {
            target,
            sender,
            connection: None,
        }
    }

    /// Sends all entries. After a failure, some of them may have arrived.
    pub(crate) async fn send(&mut self, entries: &[SinkEntry]) -> Result<(), SendError> {
        let network = Form::Rfc5424 {
            host: &self.sender.host,
        };
        let (form, most) = match self.target {
            SyslogTarget::Udp(_) => (network, MAX_DATAGRAM),
            SyslogTarget::Tcp(_) | SyslogTarget::Tls(_) => (network, MAX_MESSAGE),
            SyslogTarget::Unix(_) => (Form::Local, MAX_MESSAGE),
        };
        let messages: Vec<Vec<u8>> = entries
            .iter()
            .map(|entry| format::message(entry, form, most))
            .collect();
        let mut open = self.connection.take();
        if open.as_mut().is_some_and(SyslogConnection::is_closed) {
            open = None;
        }
        let mut connection = match open {
            Some(open) => open,
            None => SyslogConnection::open(&self.target).await?,
        };
        connection.send(&messages).await?;
        self.connection = Some(connection);
        Ok(())
    }

    pub(crate) fn disconnect(&mut self) {
        self.connection = None;
    }
}
