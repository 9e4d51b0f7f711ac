//! The hub's configuration: definitions of servers, and where the hub stores what it learns about them.

use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use types::{Ownership, ToolRules};
use upstream_wire::oauth::Logins;
use upstream_wire::{SecretValues, Transport};

/// The hub's configuration, validated by `registry`.
#[derive(Debug, Clone, Default)]
pub struct HubConfig {
    /// In the order of the configuration; names are unique.
    pub servers: Vec<ServerConfig>,
    /// Directory of cached tool lists; without it, every process requests each server's list again.
    pub cache_dir: Option<PathBuf>,
    /// Whether to ignore cached tool lists and request every server's list.
    pub asks_anew: bool,
    /// Directory for the servers' standard error; without it, only the last bytes are kept, for error messages.
    pub log_dir: Option<PathBuf>,
    /// Logins of the one principal who may log in to remote servers; `None` means that no login is used.
    pub logins: Option<Logins>,
    /// First words of the command that runs `jail::supervise`; if empty, this executable with `__supervise`.
    pub supervisor: Vec<OsString>,
    /// The running executable, to recognise definitions that would start it again.
    pub own_executable: PathBuf,
    /// Whether to use such definitions nevertheless, up to a small depth.
    pub allow_self: bool,
}

/// The definition of one server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerConfig {
    /// Name in the configuration.
    pub name: String,
    /// The server's purpose; by default the server's own description.
    pub description: Option<String>,
    /// Longest time without a response or progress; by default 60 seconds.
    pub timeout: Option<Duration>,
    /// Whether tools' annotations are trusted. If so, read-only and idempotent calls are repeated after a
    /// failure of the connection.
    pub trusted: bool,
    /// Concurrent calls; by default 128. Further calls wait.
    pub max_calls: Option<NonZeroU32>,
    /// Requests within any minute, over all servers with the same credential; by default any number.
    pub max_calls_per_minute: Option<NonZeroU32>,
    /// Time without a call after which the process stops until the next call; by default 10 minutes, never if
    /// zero.
    pub idle_stop: Option<Duration>,
    /// Which tools may be called. The hub itself does not check this.
    pub tools: ToolRules,
    /// Words by which virtual servers mount or leave out the server's tools.
    pub tags: Vec<String>,
    /// Owner, if a gateway user defined the server. All callers see servers of the operator's files.
    pub ownership: Option<Ownership>,
    /// Process or HTTP.
    pub transport: Transport,
    /// Secret values of the definition.
    pub secrets: SecretValues,
}

impl ServerConfig {
    /// Whether each gateway user has an own login there.
    pub(crate) fn is_of_users(&self) -> bool {
        matches!(&self.transport, Transport::Http(http) if http.is_of_users())
    }

    /// The server's name with its rules about tools.
    pub fn rules(&self) -> (&str, &ToolRules) {
        (&self.name, &self.tools)
    }
}
