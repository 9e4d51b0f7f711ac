//! The metrics of a run, computed as system 0 computes them.

use std::time::Duration;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::report::MetaToolRun;

/// Times are whole milliseconds.
#[derive(Debug, Serialize)]
pub(super) struct Metrics<'a> {
    run_id: &'a str,
    code_hash: String,
    wall_time_ms: u64,
    /// CPU time of the sandbox; absent where the machine does not measure it.
    cpu_time_ms: Option<u64>,
    tool_call_count: usize,
    tool_latency_p50_ms: u64,
    tool_latency_p95_ms: u64,
    tool_latency_p99_ms: u64,
    error_rate: f64,
    bytes_written: usize,
    bytes_error: usize,
}

impl<'a> Metrics<'a> {
    pub(super) fn of(run: &'a MetaToolRun, code: &str, output: &str, error: Option<&str>) -> Metrics<'a> {
        let mut latencies = run.calls.latencies.clone();
        latencies.sort_unstable();
        let percentile = |percent| milliseconds(percentile(&latencies, percent));
        Metrics {
            run_id: run.run_id.as_str(),
            code_hash: hash(code),
            wall_time_ms: milliseconds(run.outcome.usage.wall),
            cpu_time_ms: run.outcome.usage.cpu.map(milliseconds),
            tool_call_count: latencies.len(),
            tool_latency_p50_ms: percentile(50),
            tool_latency_p95_ms: percentile(95),
            tool_latency_p99_ms: percentile(99),
            error_rate: rate(run.calls.failed, latencies.len()),
            bytes_written: output.len(),
            bytes_error: error.map_or(0, str::len),
        }
    }
}

pub(super) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// SHA-256 in hexadecimal digits.
fn hash(code: &str) -> String {
    let digest = Sha256::digest(code.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Interpolates linearly between the nearest sorted durations; zero without any.
fn percentile(sorted: &[Duration], percent: u32) -> Duration {
    let Some(last) = sorted
        .len()
        .checked_sub(1)
        .and_then(|last| u32::try_from(last).ok())
    else {
        return Duration::ZERO;
    };
    let place = u64::from(last) * u64::from(percent);
    let (below, rest) = (place / 100, place % 100);
    let at = |index: u64| {
        usize::try_from(index)
            .ok()
            .and_then(|index| sorted.get(index))
            .copied()
    };
    let low = at(below).unwrap_or_default();
    let high = at(below + 1).unwrap_or(low);
    low + high.saturating_sub(low) * u32::try_from(rest).unwrap_or_default() / 100
}

#[expect(clippy::cast_precision_loss, reason = "numbers of calls are small")]
fn rate(failed: usize, calls: usize) -> f64 {
    match calls {
        0 => 0.0,
        calls => failed as f64 / calls as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_interpolated() {
        #[track_caller]
        fn check(latencies: &[u64], expected: [u64; 3]) {
            let sorted: Vec<Duration> = latencies.iter().copied().map(Duration::from_millis).collect();
            let found = [50, 95, 99].map(|percent| milliseconds(percentile(&sorted, percent)));
            assert_eq!(found, expected, "{latencies:?}");
        }
        check(&[], [0, 0, 0]);
        check(&[7], [7, 7, 7]);
        check(&[10, 20], [15, 19, 19]);
        check(&[0, 100, 200, 300, 400], [200, 380, 396]);
    }

    #[test]
    fn c045_the_hash_is_that_of_the_code() {
        assert_eq!(
            hash("print(1)"),
            "d287bb7f9d15abdc5b6e98536263815744b6ef21c8f3c839fc434ca70d8efe99"
        );
    }
}
