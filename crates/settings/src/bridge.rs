//! The surface `bridge`: variables `MCP_BRIDGE_*`, which override the settings.
//!
//! The program that this surface replaces has the same variables, so its users only change the command.
//! `docs/surfaces.md` describes each variable.

pub(crate) mod values;
mod variables;

use std::path::PathBuf;
use std::time::Duration;

use environment::Diagnostics;
use jail::spec::Appearance;
use types::Limit;
use workspace::Keeping;

use crate::file::{ExplicitLimits, Settings};

pub(crate) use variables::Variables;

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
const DEFAULT_MAX_TIMEOUT: Duration = Duration::from_secs(120);
const DEFAULT_IDLE_TIME: Duration = Duration::from_secs(300);
const DEFAULT_MEMORY: u64 = 512 * 1024 * 1024;
const DEFAULT_PROCESSES: u32 = 128;
/// Bytes of `/workspace` and `/tmp`.
const WORKSPACE: u64 = 128 * 1024 * 1024;
const TMP: u64 = 64 * 1024 * 1024;
/// User and group `nobody` of most systems.
const NOBODY: u32 = 65534;
/// A year instead of infinity, so that additions to a time cannot overflow.
const NEVER: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Configuration of the surface `bridge`. The variables for limits and sessions are already in the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bridge {
    /// Default wall time of a run, in whole seconds; at most `max_timeout`.
    pub timeout: Duration,
    /// Longest wall time that a run may request, in whole seconds.
    pub max_timeout: Duration,
    /// User id that a program sees; never 0.
    pub user: u32,
    /// Group id that a program sees; never 0.
    pub group: u32,
    /// Format of results.
    pub output: OutputMode,
    /// `MCP_BRIDGE_STATE_DIR`: directory for saved tools and memories, if not the data directory.
    pub state_dir: Option<PathBuf>,
    /// Variables that request a container, such as `MCP_BRIDGE_RUNTIME=podman`.
    pub container: Option<String>,
    /// Also use servers that would start codeyard again.
    pub allow_self: bool,
    /// `MCP_SERVERS_CONFIG`: another file of definitions.
    pub servers_config: Option<PathBuf>,
    /// Also read other clients' configuration files.
    pub extra_config: bool,
}

/// Format of a result's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutputMode {
    /// Plain text.
    #[default]
    Compact,
    /// A block of Token-Oriented Object Notation.
    Toon,
    /// A block of JSON.
    Json,
}

impl Bridge {
    /// The sandbox as a program sees it.
    pub(crate) fn appearance(&self) -> Appearance {
        Appearance::Container {
            user: self.user,
            group: self.group,
            workspace: WORKSPACE,
            tmp: TMP,
        }
    }
}

impl Variables {
    /// Overrides settings by variables. Without a variable the bridge's default applies, up to the
    /// setting. `--limit` takes precedence over both.
    pub(crate) fn apply(
        self,
        settings: &mut Settings,
        explicit: &ExplicitLimits,
        diagnostics: &mut Diagnostics,
    ) -> Bridge {
        let (timeout, max_timeout) = self.timeouts(settings, explicit, diagnostics);
        let policy = &mut settings.policy;
        policy.max_wall_time = max_timeout;
        let limits = &mut policy.limits;
        limits.wall_time = timeout;
        limits.memory = match self.memory {
            _ if explicit.command_line.contains(&Limit::Memory) => limits.memory,
            Some(memory) => memory,
            None => limits.memory.min(DEFAULT_MEMORY),
        };
        limits.processes = match self.processes {
            _ if explicit.command_line.contains(&Limit::Processes) => limits.processes,
            Some(processes) => processes,
            None if explicit.settings.contains(&Limit::Processes) => limits.processes.min(DEFAULT_PROCESSES),
            None => DEFAULT_PROCESSES,
        };
        if let Some(rate) = self.cpu_rate
            && !explicit.command_line.contains(&Limit::CpuRate)
        {
            limits.cpu_rate = rate;
        }
        if !explicit.has(Limit::CpuTime) {
            // On this surface, only wall time limits a run.
            limits.cpu_time = limits.cpu_time.max(max_timeout.mul_f64(limits.cpu_rate.max(1.0)));
        }
        let idle_time = self.idle_time.unwrap_or(DEFAULT_IDLE_TIME);
        settings.sessions.idle_time = if idle_time.is_zero() { NEVER } else { idle_time };
        settings.workspace.keeping = Keeping::Own;
        if let Some(filter) = self.log {
            settings.log = Some(filter.to_owned());
        }
        let (user, group) = self.user.unwrap_or((NOBODY, NOBODY));
        Bridge {
            timeout,
            max_timeout,
            user,
            group,
            output: self.output.unwrap_or_default(),
            state_dir: self.state_dir,
            container: self.container,
            allow_self: self.allow_self.unwrap_or_default(),
            servers_config: self.servers_config,
            extra_config: self.extra_config.unwrap_or_default(),
        }
    }

    fn timeouts(
        &self,
        settings: &Settings,
        explicit: &ExplicitLimits,
        diagnostics: &mut Diagnostics,
    ) -> (Duration, Duration) {
        let policy = &settings.policy;
        let bound = |given: Option<Duration>, default: Duration, most: Duration| match given {
            Some(given) if !explicit.command_line.contains(&Limit::WallTime) => given,
            given => given.unwrap_or(default).min(values::whole_seconds(most)),
        };
        let max = bound(self.max_timeout, DEFAULT_MAX_TIMEOUT, policy.max_wall_time);
        let timeout = bound(self.timeout, DEFAULT_TIMEOUT, policy.limits.wall_time);
        if timeout > max && self.timeout.is_some() {
            diagnostics.warning(
                variables::TIMEOUT,
                format!(
                    "{}s exceeds {}; the run time is {}s",
                    timeout.as_secs(),
                    variables::MAX_TIMEOUT,
                    max.as_secs()
                ),
            );
        }
        (timeout.min(max), max)
    }
}

#[cfg(test)]
mod tests;
