//! The operator's settings, with a check that reports all mistakes.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use types::{Limit, Limits, Network, RequiredIsolation, Written};

use crate::Policy;
use crate::access::Access;
use crate::mistake::Mistake;
use crate::rules::Rules;
use crate::values;

/// The operator's settings.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyConfig {
    /// Globs on `server.tool` or `server/tool` that may be called; empty means all.
    pub allow: Vec<String>,
    /// Globs on tools that may not be called, even if `allow` matches.
    pub deny: Vec<String>,
    /// Limits of every session; a caller may request another wall time.
    pub limits: Limits,
    /// Longest wall time that a caller may request.
    pub max_wall_time: Duration,
    /// The isolation that a sandbox must provide.
    pub require: RequiredIsolation,
}

/// Every wrong setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// In the order of the fields of [`PolicyConfig`]; never empty.
    pub mistakes: Vec<Mistake>,
}

// === impl PolicyConfig ===

impl Default for PolicyConfig {
    fn default() -> Self {
        Self {
            allow: Vec::new(),
            deny: Vec::new(),
            limits: Limits::default(),
            max_wall_time: Limits::DEFAULT_MAX_WALL_TIME,
            require: RequiredIsolation::default(),
        }
    }
}

impl PolicyConfig {
    /// Sets a limit to the operator's value.
    ///
    /// # Errors
    /// A text with the mistake and a valid form.
    pub fn set(&mut self, limit: Limit, value: Written<'_>) -> Result<(), String> {
        values::set(&mut self.limits, limit, value, &values::highest())
    }

    /// Sets a limit of one server, at most the limit in `operator`. A wall time also bounds requests of the server's
    /// callers.
    ///
    /// # Errors
    /// As [`PolicyConfig::set`].
    pub fn restrict(
        &mut self,
        limit: Limit,
        value: Written<'_>,
        operator: &PolicyConfig,
    ) -> Result<(), String> {
        let most = Limits {
            wall_time: operator.max_wall_time,
            ..operator.limits.clone()
        };
        values::set(&mut self.limits, limit, value, &most)?;
        if limit == Limit::WallTime {
            self.max_wall_time = self.limits.wall_time;
        }
        Ok(())
    }

    /// Sets the longest wall time that a caller may request.
    ///
    /// # Errors
    /// As [`PolicyConfig::set`].
    pub fn set_max_wall_time(&mut self, value: Written<'_>) -> Result<(), String> {
        let mut limits = Limits::default();
        values::set(&mut limits, Limit::WallTime, value, &values::highest())?;
        self.max_wall_time = limits.wall_time;
        Ok(())
    }
}

pub(crate) fn check(config: PolicyConfig) -> Result<Policy, ConfigError> {
    let mut mistakes = Vec::new();
    let allow = Rules::read("policy.allow", &config.allow, &mut mistakes);
    let deny = Rules::read("policy.deny", &config.deny, &mut mistakes);
    check_limits(&config, &mut mistakes);
    if !mistakes.is_empty() {
        return Err(ConfigError { mistakes });
    }
    Ok(Policy {
        access: Access::new(allow, deny),
        servers: HashMap::new(),
        virtual_server: None,
        limits: config.limits,
        max_wall_time: config.max_wall_time,
    })
}

fn check_limits(config: &PolicyConfig, mistakes: &mut Vec<Mistake>) {
    for limit in Limit::ALL {
        if let Some(message) = wrong_limit(limit, config) {
            mistakes.push(Mistake {
                field: format!("limits.{limit}"),
                message,
            });
        }
    }
    let highest = Limits::MAX_WALL_TIME;
    if config.max_wall_time.is_zero() || config.max_wall_time > highest {
        mistakes.push(Mistake {
            field: "limits.max_wall_time".to_owned(),
            message: format!("must be above 0 and at most {} s", highest.as_secs()),
        });
    }
}

/// The mistake in a limit, if any. Zero is wrong, because it would refuse every program.
fn wrong_limit(limit: Limit, config: &PolicyConfig) -> Option<String> {
    let limits = &config.limits;
    let nothing = match limit {
        Limit::WallTime if limits.wall_time > config.max_wall_time => {
            return Some(format!("must be at most {} ms", config.max_wall_time.as_millis()));
        }
        Limit::Network if limits.network != Network::None => {
            return Some(
                "'allow-list' needs the proxy, which this version does not have; write 'none' and reach hosts \
                 through tools"
                    .to_owned(),
            );
        }
        Limit::WallTime => limits.wall_time.is_zero(),
        Limit::CpuTime => limits.cpu_time.is_zero(),
        Limit::CpuRate => !(limits.cpu_rate.is_finite() && limits.cpu_rate > 0.0),
        Limit::Memory => limits.memory == 0,
        Limit::Processes => limits.processes == 0,
        Limit::OpenFiles => limits.open_files == 0,
        Limit::FileSize => limits.file_size == 0,
        Limit::Disk => limits.disk == 0,
        Limit::Inodes => limits.inodes == 0,
        Limit::DiskRate => limits.disk_rate == Some(0),
        Limit::Output => limits.output == 0,
        Limit::HostCalls => limits.host_calls == 0,
        Limit::ConcurrentHostCalls => limits.concurrent_host_calls == 0,
        Limit::Network | Limit::Workspace => false,
    };
    nothing.then(|| "must be above 0".to_owned())
}

// === impl ConfigError ===

impl std::error::Error for ConfigError {}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mistake) in self.mistakes.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{}: {}", mistake.field, mistake.message)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(change: impl FnOnce(&mut PolicyConfig), expected: &str) {
        let mut config = PolicyConfig::default();
        change(&mut config);
        let said = Policy::new(config).map_or_else(|error| error.to_string(), |_| "ok".to_owned());
        assert_eq!(said, expected);
    }

    #[test]
    fn the_defaults_are_valid() {
        check(|_| {}, "ok");
        assert_eq!(PolicyConfig::default().require, RequiredIsolation::SingleTenant);
    }

    #[test]
    fn each_limit_is_checked() {
        check(|c| c.limits.memory = 0, "limits.memory: must be above 0");
        check(
            |c| c.limits.cpu_rate = f64::NAN,
            "limits.cpu_rate: must be above 0",
        );
        check(
            |c| c.limits.wall_time = Duration::from_secs(301),
            "limits.wall_time: must be at most 300000 ms",
        );
        check(|c| c.limits.wall_time = Duration::from_secs(300), "ok");
        check(
            |c| c.max_wall_time = Duration::from_secs(3601),
            "limits.max_wall_time: must be above 0 and at most 3600 s",
        );
        check(
            |c| c.limits.network = Network::AllowList,
            "limits.network: 'allow-list' needs the proxy, which this version does not have; write 'none' and \
             reach hosts through tools",
        );
    }

    #[test]
    fn all_mistakes_are_reported_together() {
        check(
            |c| {
                c.allow = vec!["github".to_owned(), "a.*".to_owned(), String::new()];
                c.deny = vec!["x.[".to_owned()];
                c.limits.processes = 0;
                c.limits.host_calls = 0;
            },
            "policy.allow[0]: 'github' is not a tool name; write 'github.*' for all tools of a server\n\
             policy.allow[2]: is empty; write 'server.tool', with '*' for any text\n\
             policy.deny[0]: 'x.[' is not a valid pattern: unclosed character class; missing ']'\n\
             limits.processes: must be above 0\n\
             limits.host_calls: must be above 0",
        );
    }
}
