//! `[surface.sandbox_policy]`: what programs of the surface `server` may use, under system 0's names.

use std::ops::RangeInclusive;
use std::time::Duration;

use policy::PolicyConfig;
use types::{Language, Limits};

use super::table::{Value, unknown};

const MIB: u64 = 1024 * 1024;

const KEYS: [&str; 8] = [
    "runtime",
    "max_execution_time_ms",
    "max_memory_mb",
    "max_cpu_percent",
    "max_network_connections",
    "max_file_size_mb",
    "max_total_disk_mb",
    "allow_raw_http",
];

/// System 0's `sandbox_policy`, with its defaults and bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SandboxPolicy {
    /// Language of programs whose call names none.
    pub language: Language,
    /// Longest run, which is also the usual one, in milliseconds.
    max_execution_time_ms: u64,
    /// In MiB.
    max_memory_mb: u64,
    /// Of one core.
    max_cpu_percent: u32,
    max_network_connections: u32,
    /// In MiB.
    max_file_size_mb: u64,
    /// In MiB, of `/scratch` and `/results`.
    max_total_disk_mb: u64,
    allow_raw_http: bool,
}

impl Default for SandboxPolicy {
    fn default() -> Self {
        Self {
            language: Language::TypeScript,
            max_execution_time_ms: 30_000,
            max_memory_mb: 256,
            max_cpu_percent: 50,
            max_network_connections: 0,
            max_file_size_mb: 10,
            max_total_disk_mb: 100,
            allow_raw_http: false,
        }
    }
}

impl SandboxPolicy {
    /// Reads the table; the first mistake is named with its key.
    pub(super) fn read(table: &Value<'_>) -> Result<Self, String> {
        let Some(section) = table.table() else {
            return Err(format!("expected a table, found {}", table.kind()));
        };
        let mut policy = Self::default();
        for (key, value) in section.entries() {
            policy
                .set(key, &value)
                .map_err(|message| format!("`{key}`: {message}"))?;
        }
        Ok(policy)
    }

    fn set(&mut self, key: &str, value: &Value<'_>) -> Result<(), String> {
        match key {
            "runtime" => {
                self.language =
                    value.one_of([("deno", Language::TypeScript), ("python", Language::Python)])?;
            }
            "max_execution_time_ms" => self.max_execution_time_ms = count(value, 100..=300_000)?,
            "max_memory_mb" => self.max_memory_mb = count(value, 16..=4096)?,
            "max_cpu_percent" => self.max_cpu_percent = count(value, 1..=100)?,
            "max_network_connections" => self.max_network_connections = count(value, 0..=32)?,
            "max_file_size_mb" => self.max_file_size_mb = count(value, 1..=1024)?,
            "max_total_disk_mb" => self.max_total_disk_mb = count(value, 10..=8192)?,
            "allow_raw_http" => self.allow_raw_http = value.boolean()?,
            _ => return Err(unknown("key", key, KEYS)),
        }
        Ok(())
    }

    /// Whether programs were promised a network, which the sandbox does not have.
    pub fn wants_network(self) -> bool {
        self.allow_raw_http || self.max_network_connections > 0
    }

    /// Lowers the limits to this policy's.
    pub(crate) fn bind(self, policy: &mut PolicyConfig) {
        let wall_time = Duration::from_millis(self.max_execution_time_ms);
        policy.max_wall_time = policy.max_wall_time.min(wall_time);
        let limits = &mut policy.limits;
        *limits = Limits {
            wall_time: policy.max_wall_time,
            memory: limits.memory.min(self.max_memory_mb * MIB),
            cpu_rate: limits.cpu_rate.min(f64::from(self.max_cpu_percent) / 100.0),
            file_size: limits.file_size.min(self.max_file_size_mb * MIB),
            disk: limits.disk.min(self.max_total_disk_mb * MIB),
            ..limits.clone()
        };
    }
}

fn count<T: TryFrom<u64>>(value: &Value<'_>, range: RangeInclusive<u64>) -> Result<T, String> {
    value.written().count(range)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a policy of these keys makes of the usual limits.
    fn bound(keys: &str) -> Result<PolicyConfig, String> {
        let text = format!("[surface.sandbox_policy]\n{keys}");
        let (file, diagnostics) = super::super::read("codeyard.toml".as_ref(), &text);
        let mistakes: Vec<String> = diagnostics.mistakes.iter().map(ToString::to_string).collect();
        if !mistakes.is_empty() {
            return Err(mistakes.join("; "));
        }
        let mut policy = file.settings.policy;
        file.settings
            .surface
            .sandbox_policy
            .expect("a policy")
            .bind(&mut policy);
        Ok(policy)
    }

    #[test]
    fn s0_11_the_keys_are_limits_and_left_out_ones_have_the_original_s_defaults() {
        let usual = bound("").unwrap();
        assert_eq!(usual.max_wall_time, Duration::from_secs(30));
        assert_eq!(usual.limits.wall_time, Duration::from_secs(30));
        assert_eq!((usual.limits.memory, usual.limits.cpu_rate), (256 * MIB, 0.5));
        assert_eq!((usual.limits.file_size, usual.limits.disk), (10 * MIB, 100 * MIB));
        let other = bound(
            "max_execution_time_ms = 500\nmax_memory_mb = 128\nmax_cpu_percent = 7\nmax_total_disk_mb = 12",
        )
        .unwrap();
        assert_eq!(other.limits.wall_time, Duration::from_millis(500));
        assert_eq!((other.limits.memory, other.limits.cpu_rate), (128 * MIB, 0.07));
        assert_eq!((other.limits.file_size, other.limits.disk), (10 * MIB, 12 * MIB));
    }

    #[test]
    fn nobody_gets_more_than_the_operator_s_limits() {
        let least = Limits {
            memory: 64 * MIB,
            cpu_rate: 0.1,
            file_size: MIB,
            disk: 2 * MIB,
            ..Limits::default()
        };
        let mut policy = PolicyConfig {
            limits: least.clone(),
            max_wall_time: Duration::from_secs(2),
            ..PolicyConfig::default()
        };
        SandboxPolicy::default().bind(&mut policy);
        let expected = Limits {
            wall_time: Duration::from_secs(2),
            ..least
        };
        assert_eq!(policy.limits, expected);
    }

    #[test]
    fn s0_11_values_out_of_bounds_and_unknown_keys_are_mistakes() {
        for (keys, message) in [
            (
                "max_memory_mb = 8",
                "`max_memory_mb`: 8 is out of range; write 16 to 4096",
            ),
            (
                "max_cpu_percent = 101",
                "`max_cpu_percent`: 101 is out of range; write 1 to 100",
            ),
            (
                "max_network_connections = 33",
                "33 is out of range; write 0 to 32",
            ),
            (
                "max_execution_time_ms = true",
                "`max_execution_time_ms`: expected a whole number",
            ),
            ("runtime = \"node\"", "`runtime`: expected \"deno\" or \"python\""),
            ("permissions = {}", "unknown key `permissions`"),
            ("max_runs_per_minute = 5", "unknown key `max_runs_per_minute`"),
        ] {
            let mistake = bound(keys).unwrap_err();
            assert!(
                mistake.contains("surface.sandbox_policy") && mistake.contains(message),
                "{mistake}"
            );
        }
    }
}
