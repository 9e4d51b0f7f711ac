//! Executions by status and agent, their durations and peak memory, under names and with buckets that dashboards of
//! other systems know (S3-37 to S3-39).

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use types::{Outcome, Status};

/// In seconds.
const DURATIONS: [f64; 6] = [0.1, 0.5, 1.0, 5.0, 10.0, 30.0];
/// In bytes.
const MEMORY: [f64; 5] = [1e6, 10e6, 100e6, 500e6, 1e9];

/// Most agents with a label of their own. The names come from clients, so anybody can invent more.
const MAX_AGENTS: usize = 50;
/// Longest label of an agent, in bytes.
const MAX_AGENT: usize = 64;
/// The label of all other agents.
const OTHERS: &str = "other";
/// The label of clients without a name.
const UNNAMED: &str = "unknown";

/// Executions of a host and of all its virtual servers. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct ExecutionMetrics {
    executions: Family<ExecutionLabels, Counter>,
    durations: Histogram,
    memory: Histogram,
    agents: AgentLabels,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ExecutionLabels {
    status: &'static str,
    agent_id: String,
}

/// The agents with a label of their own.
#[derive(Debug, Clone, Default)]
struct AgentLabels(Arc<Mutex<BTreeSet<String>>>);

// === impl ExecutionMetrics ===

impl ExecutionMetrics {
    /// Counts a run by its outcome.
    pub(crate) fn ended(&self, agent: Option<&String>, outcome: &Outcome) {
        self.count(agent, outcome.status);
        if outcome.status == Status::Refused {
            return;
        }
        self.durations.observe(outcome.usage.wall.as_secs_f64());
        if let Some(bytes) = outcome.usage.peak_memory {
            self.memory.observe(bytes as f64);
        }
    }

    /// Counts a run that did not begin.
    pub(crate) fn refused(&self, agent: Option<&String>) {
        self.count(agent, Status::Refused);
    }

    fn count(&self, agent: Option<&String>, status: Status) {
        let labels = ExecutionLabels {
            status: status.name(),
            agent_id: self.agents.label(agent),
        };
        self.executions.get_or_create(&labels).inc();
    }
}

impl Default for ExecutionMetrics {
    fn default() -> Self {
        Self {
            executions: Family::default(),
            durations: Histogram::new(DURATIONS),
            memory: Histogram::new(MEMORY),
            agents: AgentLabels::default(),
        }
    }
}

/// A collector, because a registry would end the help texts with a full stop.
impl Collector for ExecutionMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let metrics: [(&str, &str, &dyn EncodeMetric); 3] = [
            (
                "mcp_executions",
                "Total number of code executions",
                &self.executions,
            ),
            (
                "mcp_execution_duration_seconds",
                "Code execution duration",
                &self.durations,
            ),
            (
                "mcp_execution_memory_bytes",
                "Peak memory usage during execution",
                &self.memory,
            ),
        ];
        for (name, help, metric) in metrics {
            metric.encode(encoder.encode_descriptor(name, help, None, metric.metric_type())?)?;
        }
        Ok(())
    }
}

// === impl AgentLabels ===

impl AgentLabels {
    fn label(&self, agent: Option<&String>) -> String {
        let Some(name) = agent.filter(|name| !name.trim().is_empty()) else {
            return UNNAMED.to_owned();
        };
        let shown: String = name[..name.floor_char_boundary(MAX_AGENT)]
            .chars()
            .map(|character| match character {
                'a'..='z' | 'A'..='Z' | '0'..='9' | ' ' | '.' | '_' | '-' | '/' | '@' => character,
                _ => '_',
            })
            .collect();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < MAX_AGENTS || known.contains(&shown) {
            known.insert(shown.clone());
            return shown;
        }
        OTHERS.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use prometheus_client::encoding::text::encode;
    use prometheus_client::registry::Registry;
    use types::SessionFate;

    use super::*;

    fn text(metrics: &ExecutionMetrics) -> String {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(metrics.clone()));
        let mut text = String::new();
        encode(&mut text, &registry).expect("text");
        text
    }

    fn outcome(status: Status, wall: Duration, memory: u64) -> Outcome {
        let mut outcome = Outcome::bare(status, SessionFate::Kept, None);
        outcome.usage.wall = wall;
        outcome.usage.peak_memory = Some(memory);
        outcome
    }

    #[test]
    fn s3_37_to_s3_39_names_help_texts_and_buckets_are_those_of_dashboards() {
        let metrics = ExecutionMetrics::default();
        let agent = "claude\"\n".to_owned();
        metrics.ended(
            Some(&agent),
            &outcome(Status::Completed, Duration::from_millis(700), 20_000_000),
        );
        metrics.ended(
            None,
            &outcome(Status::TimedOut, Duration::from_secs(60), 2_000_000_000),
        );
        metrics.refused(Some(&agent));
        let text = text(&metrics);
        for line in [
            "# HELP mcp_executions Total number of code executions",
            "# TYPE mcp_executions counter",
            r#"mcp_executions_total{status="completed",agent_id="claude__"} 1"#,
            r#"mcp_executions_total{status="refused",agent_id="claude__"} 1"#,
            r#"mcp_executions_total{status="timed_out",agent_id="unknown"} 1"#,
            "# HELP mcp_execution_duration_seconds Code execution duration",
            "# TYPE mcp_execution_duration_seconds histogram",
            "mcp_execution_duration_seconds_count 2",
            r#"mcp_execution_duration_seconds_bucket{le="0.1"} 0"#,
            r#"mcp_execution_duration_seconds_bucket{le="0.5"} 0"#,
            r#"mcp_execution_duration_seconds_bucket{le="1.0"} 1"#,
            r#"mcp_execution_duration_seconds_bucket{le="5.0"} 1"#,
            r#"mcp_execution_duration_seconds_bucket{le="10.0"} 1"#,
            r#"mcp_execution_duration_seconds_bucket{le="30.0"} 1"#,
            r#"mcp_execution_duration_seconds_bucket{le="+Inf"} 2"#,
            "# HELP mcp_execution_memory_bytes Peak memory usage during execution",
            r#"mcp_execution_memory_bytes_bucket{le="1000000.0"} 0"#,
            r#"mcp_execution_memory_bytes_bucket{le="10000000.0"} 0"#,
            r#"mcp_execution_memory_bytes_bucket{le="100000000.0"} 1"#,
            r#"mcp_execution_memory_bytes_bucket{le="500000000.0"} 1"#,
            r#"mcp_execution_memory_bytes_bucket{le="1000000000.0"} 1"#,
            r#"mcp_execution_memory_bytes_bucket{le="+Inf"} 2"#,
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        let buckets = text.lines().filter(|line| line.contains("_bucket")).count();
        assert_eq!(buckets, 7 + 6);
    }

    #[test]
    fn invented_agents_share_one_label() {
        let metrics = ExecutionMetrics::default();
        for number in 0..1000 {
            metrics.refused(Some(&format!("agent-{number}{}", "x".repeat(200))));
        }
        let text = text(&metrics);
        let labels = text.lines().filter(|line| line.contains("agent_id=")).count();
        assert_eq!(labels, MAX_AGENTS + 1);
        let others = format!("agent_id=\"other\"}} {}", 1000 - MAX_AGENTS);
        assert!(text.contains(&others), "{text}");
        assert!(text.lines().all(|line| line.len() < 200), "{text}");
    }
}
