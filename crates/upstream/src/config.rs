//! The hub's configuration: definitions of servers, and where the hub keeps what it learns of them.

use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use types::ToolRules;
use upstream_wire::oauth::Logins;
use upstream_wire::{SecretValues, Transport};

/// Everything the hub needs to know, validated by `registry`.
#[derive(Debug, Clone, Default)]
pub struct HubConfig {
    /// The servers, in the order of the configuration; names are unique.
    pub servers: Vec<ServerConfig>,
    /// Directory of cached tool lists; without it the hub asks each server again in every process.
    pub cache_dir: Option<PathBuf>,
    /// Whether the hub ignores cached tool lists and asks every server.
    pub asks_anew: bool,
    /// Directory of log files with the servers' standard error; without it only the last bytes are kept, for messages.
    pub log_dir: Option<PathBuf>,
    /// The logins of the one principal who may log in to remote servers; without them no login is used.
    pub logins: Option<Logins>,
    /// First words of the command that runs `jail::supervise`; empty means this executable with `__supervise`.
    pub supervisor: Vec<OsString>,
    /// The running executable, to recognise definitions that would start it again.
    pub own_executable: PathBuf,
    /// Whether such definitions are used all the same, up to a small depth.
    pub allow_self: bool,
}

/// The definition of one server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerConfig {
    /// The server's name in the configuration.
    pub name: String,
    /// What the server is for; if absent, the server's own description.
    pub description: Option<String>,
    /// Longest time without an answer or progress; 60 seconds if absent.
    pub timeout: Option<Duration>,
    /// Whether annotations of tools are trusted: a call that is read-only or idempotent by its annotations is repeated after a
    /// failure of the connection.
    pub trusted: bool,
    /// Concurrent calls; 128 if absent. Further calls wait.
    pub max_calls: Option<NonZeroU32>,
    /// Time without a call after which the process is stopped until the next call; 10 minutes if absent, never if zero.
    pub idle_stop: Option<Duration>,
    /// Which of the tools may be called. The hub itself does not check this.
    pub tools: ToolRules,
    /// How the server is reached.
    pub transport: Transport,
    /// Secret values of the definition.
    pub secrets: SecretValues,
}

impl ServerConfig {
    /// The server's name with its rules about tools.
    pub fn rules(&self) -> (&str, &ToolRules) {
        (&self.name, &self.tools)
    }
}
