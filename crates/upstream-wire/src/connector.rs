//! What a connection to one server needs, and what it asks of the hub.

use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;

use types::Tool;

use crate::client::ClientSlot;
use crate::control_groups::ControlGroups;
use crate::definition::{SecretValues, Transport};
use crate::environment::Environment;
use crate::logs::Log;
use crate::oauth::Logins;
use crate::pause::Pause;

/// Everything that a connection to one server needs.
#[derive(Debug)]
pub struct Connector {
    /// Name in the configuration.
    pub server: String,
    /// Process or HTTP.
    pub transport: Transport,
    /// Secret values of the definition.
    pub secrets: SecretValues,
    /// Variables that the process inherits.
    pub environment: Arc<Environment>,
    /// First words of the command that runs `jail::supervise`.
    pub supervisor: Arc<[OsString]>,
    /// Makes the control group of a process with limits.
    pub control_groups: Arc<ControlGroups>,
    /// Log file of the process's standard error.
    pub log: Option<Log>,
    /// Logins to remote servers; if absent, no login is used.
    pub logins: Option<Logins>,
    /// The client that answers the server's requests.
    pub client: ClientSlot,
    /// Begins when a remote server answers that it receives too many requests.
    pub pause: Pause,
}

/// The tools of a server, some of whose arguments a remote server may require in headers.
pub trait ToolDefinitions: fmt::Debug + Send + Sync {
    /// The tool, if the server has listed it.
    fn tool(&self, name: &str) -> Option<Arc<Tool>>;
}
