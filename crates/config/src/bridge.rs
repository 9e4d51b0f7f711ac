//! The surface `bridge`: what the variables `MCP_BRIDGE_*` say, laid over the settings.
//!
//! The variables are those of the server that this surface takes the place of, so that its users change the command and
//! nothing else. Each is described in `docs/bridge-variables.md`.

mod values;
mod variables;

use std::path::PathBuf;
use std::time::Duration;

use jail::spec::Appearance;
use types::Limit;
use workspace::Keeping;

use crate::mistakes::Findings;
use crate::settings::NamedLimits;
use crate::settings::Settings;

pub(crate) use variables::Variables;

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
const DEFAULT_MAX_TIMEOUT: Duration = Duration::from_secs(120);
const DEFAULT_IDLE_TIME: Duration = Duration::from_secs(300);
const DEFAULT_MEMORY: u64 = 512 * 1024 * 1024;
const DEFAULT_PROCESSES: u32 = 128;
/// Bytes of the two places that programs may write.
const WORKSPACE: u64 = 128 * 1024 * 1024;
const TMP: u64 = 64 * 1024 * 1024;
/// Nobody at all, by the number that most systems give it.
const NOBODY: u32 = 65534;
/// As good as never, and short enough to be added to any moment.
const NEVER: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// How the bridge serves. What concerns limits and sessions has been laid over the settings already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bridge {
    /// How long a run may take that does not say; whole seconds, at most `max_timeout`.
    pub timeout: Duration,
    /// The longest that a run may ask for; whole seconds.
    pub max_timeout: Duration,
    /// The number of the user that a program sees itself as; never 0.
    pub user: u32,
    /// The number of its group; never 0.
    pub group: u32,
    /// What results look like.
    pub output: OutputMode,
    /// `MCP_BRIDGE_STATE_DIR`: where what programs save is kept, if not in the data directory.
    pub state_dir: Option<PathBuf>,
    /// The variables that ask for a container, as in `MCP_BRIDGE_RUNTIME=podman`.
    pub container: Option<String>,
    /// Whether servers that would start codeyard again are used too.
    pub allow_self: bool,
    /// `MCP_SERVERS_CONFIG`: one more file of definitions.
    pub servers_config: Option<PathBuf>,
    /// Whether the configuration files of other clients are looked at too.
    pub extra_config: bool,
}

/// What the text of a result looks like.
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
    /// What a program finds around itself.
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
    /// Lays what the variables say over the settings. Where a variable is absent the settings stay the most there is;
    /// `--limit` goes before both.
    pub(crate) fn lay_over(
        self,
        settings: &mut Settings,
        named: &NamedLimits,
        findings: &mut Findings,
    ) -> Bridge {
        let (timeout, max_timeout) = self.timeouts(settings, named, findings);
        let policy = &mut settings.policy;
        policy.max_wall_time = max_timeout;
        let limits = &mut policy.limits;
        limits.wall_time = timeout;
        limits.memory = match self.memory {
            _ if named.command_line.contains(&Limit::Memory) => limits.memory,
            Some(memory) => memory,
            None => limits.memory.min(DEFAULT_MEMORY),
        };
        limits.processes = match self.processes {
            _ if named.command_line.contains(&Limit::Processes) => limits.processes,
            Some(processes) => processes,
            None if named.settings.contains(&Limit::Processes) => limits.processes.min(DEFAULT_PROCESSES),
            None => DEFAULT_PROCESSES,
        };
        if let Some(rate) = self.cpu_rate
            && !named.command_line.contains(&Limit::CpuRate)
        {
            limits.cpu_rate = rate;
        }
        if !named.has(Limit::CpuTime) {
            // Here a run has no bound of its own but its time.
            limits.cpu_time = limits.cpu_time.max(max_timeout.mul_f64(limits.cpu_rate.max(1.0)));
        }
        let idle_time = self.idle_time.unwrap_or(DEFAULT_IDLE_TIME);
        // Nothing is for ever.
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

    /// How long a run may take that does not say, and the longest that it may ask for.
    fn timeouts(
        &self,
        settings: &Settings,
        named: &NamedLimits,
        findings: &mut Findings,
    ) -> (Duration, Duration) {
        let policy = &settings.policy;
        let bound = |given: Option<Duration>, default: Duration, most: Duration| match given {
            Some(given) if !named.command_line.contains(&Limit::WallTime) => given,
            given => given.unwrap_or(default).min(values::whole_seconds(most)),
        };
        let max = bound(self.max_timeout, DEFAULT_MAX_TIMEOUT, policy.max_wall_time);
        let timeout = bound(self.timeout, DEFAULT_TIMEOUT, policy.limits.wall_time);
        if timeout > max && self.timeout.is_some() {
            findings.warning(
                variables::TIMEOUT,
                format!(
                    "{}s is more than {}, so that is used: {}s",
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
