//! Bounds and usage of one group.

use std::fmt;
use std::time::Duration;

/// Limits of one group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Bytes of memory, kernel memory and files of tmpfs included.
    pub memory: u64,
    /// Processes and threads.
    pub processes: u32,
    /// Cores.
    pub cpu_rate: f64,
    /// Bytes per second on each disk, the same for reading and for writing.
    pub disk_rate: Option<u64>,
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            memory,
            processes,
            cpu_rate,
            disk_rate,
        } = self;
        write!(f, "{memory} bytes, {processes} processes and {cpu_rate} cores")?;
        match disk_rate {
            Some(rate) => write!(f, ", {rate} bytes a second of each disk"),
            None => Ok(()),
        }
    }
}

/// Resources that a group has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GroupUsage {
    /// CPU time of every process that was ever in the group.
    pub cpu: Duration,
    /// Highest memory in bytes.
    pub peak_memory: u64,
    /// Processes that the kernel killed at the memory bound.
    pub out_of_memory: u64,
}

/// Priority of a group in the kernel's scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CpuPriority {
    /// Shares the processors equally with sibling groups.
    Normal,
    /// Sibling groups run first.
    Idle,
}

/// Period of CPU bandwidth in microseconds, the kernel's default.
pub(super) const CPU_PERIOD: u32 = 100_000;

pub(super) fn quota(cores: f64) -> String {
    let micros = Duration::from_micros(u64::from(CPU_PERIOD))
        .mul_f64(cores.clamp(0.01, 4096.0))
        .as_micros();
    micros.max(1_000).to_string()
}

pub(super) fn cores(quota: f64) -> f64 {
    quota / f64::from(CPU_PERIOD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_are_microseconds_of_a_period() {
        assert_eq!(quota(1.0), "100000");
        assert_eq!(quota(0.5), "50000");
        assert_eq!(quota(0.0), "1000");
    }
}
