//! The execution log of a process that serves one user, such as `codeyard mcp` and `codeyard run`.

use ::sinks::SinkConfig;
use store::{Database, Sinks};

use crate::api::sinks::{GatewaySinks, SinkStartError};

/// Writes nothing until it is open.
pub(crate) struct LocalLog {
    table: Sinks,
    logs: Vec<SinkConfig>,
    sinks: GatewaySinks,
}

// === impl LocalLog ===

impl LocalLog {
    pub(crate) fn new(database: Database, logs: Vec<SinkConfig>) -> LocalLog {
        LocalLog {
            table: Sinks::new(database),
            logs,
            sinks: GatewaySinks::default(),
        }
    }

    /// Writes the lines of further runs in the background. Without a log, opens no database.
    pub(crate) async fn open(&self) -> Result<(), SinkStartError> {
        match self.logs.is_empty() {
            true => Ok(()),
            false => self.sinks.open(&self.table, self.logs.clone()).await,
        }
    }

    /// Writes the last lines, once all records are in the database.
    pub(crate) async fn close(&self) {
        self.sinks.close().await;
        self.table.close().await;
    }
}
