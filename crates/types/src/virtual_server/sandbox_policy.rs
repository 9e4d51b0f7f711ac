//! What the programs of a virtual server may use, under system 0's names.

use std::ops::RangeInclusive;

use crate::Written;

/// System 0's `sandbox_policy`. `codeyard.toml` and requests are read into the same type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxPolicy {
    /// Of programs whose call names no language.
    pub runtime: Runtime,
    /// By [`PolicyNumber`], each within its range.
    numbers: [u64; PolicyNumber::ALL.len()],
    /// Whether programs may open connections of their own.
    pub allow_raw_http: bool,
    /// Whether programs may call tools.
    pub allow_tool_calls: bool,
    /// Paths that `fs_browse`, `fs_read` and `fs_write` reach.
    pub files: FileGlobs,
    /// Which of the mounted tools programs may call.
    pub tools: ToolGlobs,
}

/// The engine of a server's programs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Runtime {
    /// TypeScript.
    #[default]
    Deno,
    /// Python.
    Python,
}

/// Globs on virtual paths such as `/scratch/a.txt`. `deny` wins; `X/**` also matches `X`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileGlobs {
    /// What may be read.
    pub read: Vec<String>,
    /// What may be written.
    pub write: Vec<String>,
    /// What may not be reached at all.
    pub deny: Vec<String>,
}

/// Globs on `server/tool`. `deny` wins; an empty `allow` allows all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolGlobs {
    /// What may be called.
    pub allow: Vec<String>,
    /// What may not be called.
    pub deny: Vec<String>,
}

/// A key of the policy whose value is a whole number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PolicyNumber {
    /// Longest run, which is also the usual one, in milliseconds.
    MaxExecutionTimeMs,
    /// In MiB.
    MaxMemoryMb,
    /// Of one core.
    MaxCpuPercent,
    /// 0 for none.
    MaxNetworkConnections,
    /// In MiB.
    MaxFileSizeMb,
    /// In MiB, of `/scratch` and `/results`.
    MaxTotalDiskMb,
    /// Per user and server.
    MaxRunsPerMinute,
    /// After its last run, an idle session is closed.
    SessionTtlSeconds,
}

// === impl SandboxPolicy ===

impl Default for SandboxPolicy {
    fn default() -> Self {
        Self {
            runtime: Runtime::default(),
            numbers: PolicyNumber::ALL.map(PolicyNumber::default_value),
            allow_raw_http: false,
            allow_tool_calls: true,
            files: FileGlobs::default(),
            tools: ToolGlobs::default(),
        }
    }
}

impl SandboxPolicy {
    /// One of its numbers, within [`PolicyNumber::range`].
    pub fn number(&self, number: PolicyNumber) -> u64 {
        self.numbers[number as usize]
    }

    /// Sets a number to the value written for it.
    ///
    /// # Errors
    /// What is wrong with the value, and what to write.
    pub fn set_number(&mut self, number: PolicyNumber, value: Written<'_>) -> Result<(), String> {
        self.numbers[number as usize] = value.count(number.range())?;
        Ok(())
    }

    /// Whether programs were promised a network.
    pub fn wants_network(&self) -> bool {
        self.allow_raw_http || self.number(PolicyNumber::MaxNetworkConnections) > 0
    }
}

// === impl Runtime ===

impl Runtime {
    /// In the order of the variants.
    pub const ALL: [Runtime; 2] = [Runtime::Deno, Runtime::Python];

    /// The word in settings and requests.
    pub fn name(self) -> &'static str {
        match self {
            Runtime::Deno => "deno",
            Runtime::Python => "python",
        }
    }
}

// === impl FileGlobs ===

impl Default for FileGlobs {
    fn default() -> Self {
        let globs = |globs: &[&str]| globs.iter().map(|glob| (*glob).to_owned()).collect();
        Self {
            read: globs(&["/tools/**", "/skills/**", "/scratch/**", "/results/**"]),
            write: globs(&["/scratch/**", "/results/**"]),
            deny: globs(&["/etc/**", "/proc/**", "/sys/**"]),
        }
    }
}

// === impl PolicyNumber ===

impl PolicyNumber {
    /// In the order of the variants.
    pub const ALL: [PolicyNumber; 8] = [
        PolicyNumber::MaxExecutionTimeMs,
        PolicyNumber::MaxMemoryMb,
        PolicyNumber::MaxCpuPercent,
        PolicyNumber::MaxNetworkConnections,
        PolicyNumber::MaxFileSizeMb,
        PolicyNumber::MaxTotalDiskMb,
        PolicyNumber::MaxRunsPerMinute,
        PolicyNumber::SessionTtlSeconds,
    ];

    /// The key.
    pub fn name(self) -> &'static str {
        match self {
            PolicyNumber::MaxExecutionTimeMs => "max_execution_time_ms",
            PolicyNumber::MaxMemoryMb => "max_memory_mb",
            PolicyNumber::MaxCpuPercent => "max_cpu_percent",
            PolicyNumber::MaxNetworkConnections => "max_network_connections",
            PolicyNumber::MaxFileSizeMb => "max_file_size_mb",
            PolicyNumber::MaxTotalDiskMb => "max_total_disk_mb",
            PolicyNumber::MaxRunsPerMinute => "max_runs_per_minute",
            PolicyNumber::SessionTtlSeconds => "session_ttl_seconds",
        }
    }

    /// The number with this key.
    pub fn from_name(name: &str) -> Option<PolicyNumber> {
        Self::ALL.into_iter().find(|number| number.name() == name)
    }

    /// The values that a policy may have.
    pub fn range(self) -> RangeInclusive<u64> {
        match self {
            PolicyNumber::MaxExecutionTimeMs => 100..=300_000,
            PolicyNumber::MaxMemoryMb => 16..=4096,
            PolicyNumber::MaxCpuPercent => 1..=100,
            PolicyNumber::MaxNetworkConnections => 0..=32,
            PolicyNumber::MaxFileSizeMb => 1..=1024,
            PolicyNumber::MaxTotalDiskMb => 10..=8192,
            PolicyNumber::MaxRunsPerMinute => 1..=1000,
            PolicyNumber::SessionTtlSeconds => 60..=86_400,
        }
    }

    /// The value where neither the operator nor the server sets one.
    pub fn default_value(self) -> u64 {
        match self {
            PolicyNumber::MaxExecutionTimeMs => 30_000,
            PolicyNumber::MaxMemoryMb => 256,
            PolicyNumber::MaxCpuPercent => 50,
            PolicyNumber::MaxNetworkConnections => 0,
            PolicyNumber::MaxFileSizeMb => 10,
            PolicyNumber::MaxTotalDiskMb => 100,
            PolicyNumber::MaxRunsPerMinute => 20,
            PolicyNumber::SessionTtlSeconds => 900,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_number_has_its_place_and_a_default_within_its_range() {
        for (place, number) in PolicyNumber::ALL.into_iter().enumerate() {
            assert_eq!(number as usize, place);
            assert!(number.range().contains(&number.default_value()), "{number:?}");
            assert_eq!(PolicyNumber::from_name(number.name()), Some(number));
        }
        assert_eq!(PolicyNumber::from_name("runtime"), None);
    }

    #[test]
    fn raw_requests_and_connections_want_a_network() {
        let mut policy = SandboxPolicy::default();
        assert!(!policy.wants_network());
        let set = policy.set_number(PolicyNumber::MaxNetworkConnections, Written::Whole(1));
        assert!(set.is_ok() && policy.wants_network());
    }

    proptest! {
        #[test]
        fn no_number_leaves_its_range(number in 0..8_usize, value: u64, low in 0..400_000_u64, other: f64) {
            let number = PolicyNumber::ALL[number];
            let mut policy = SandboxPolicy::default();
            for written in [Written::Whole(value), Written::Whole(low), Written::Number(other), Written::Text("7")] {
                let before = policy.number(number);
                let set = policy.set_number(number, written);
                prop_assert!(number.range().contains(&policy.number(number)));
                prop_assert!(set.is_ok() || policy.number(number) == before);
            }
        }
    }
}
