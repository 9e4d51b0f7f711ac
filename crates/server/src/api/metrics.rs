//! `/metrics`: requests, runs, sessions, upstream servers and sinks of this process as text for Prometheus.
//!
//! Labels that clients write, their own names, are bounded in number and length.

mod process;
mod sinks;

use std::time::Duration;

use gateway::ApiReply;
use identity::Route;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;
use rest::RestError;
use upstream::{ServerState, Status};

use ::sinks::SinkFigures;

pub(super) use self::process::ProcessFigures;
use self::process::ProcessMetrics;
use self::sinks::SinkMetrics;
use super::errors::unavailable;
use crate::cpu_quota::CpuSeconds;
use crate::run_counts::RunCounts;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The label of requests to pages that do not exist.
const NO_ROUTE: &str = "none";

/// Bounds of the durations of requests, in seconds.
const DURATIONS: [f64; 9] = [0.001, 0.005, 0.02, 0.1, 0.5, 1.0, 5.0, 30.0, 300.0];

/// What the gateway counts.
pub(super) struct ApiMetrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    durations: Family<RouteLabels, Histogram, fn() -> Histogram>,
    sessions: Gauge,
    upstreams: Family<StateLabels, Gauge>,
    process: ProcessMetrics,
    sinks: SinkMetrics,
}

/// What a process says of itself at one moment.
pub(super) struct MetricsMoment<'m> {
    /// Number of open sessions.
    pub(super) sessions: usize,
    pub(super) servers: &'m [ServerState],
    pub(super) process: ProcessFigures,
    pub(super) sinks: &'m [(String, SinkFigures)],
    /// Sent and lost spans.
    pub(super) spans: Option<(u64, u64)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    method: &'static str,
    route: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: &'static str,
    route: &'static str,
    status: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabels {
    state: &'static str,
}

// === impl ApiMetrics ===

impl ApiMetrics {
    /// Adds the metrics to this registry.
    pub(super) fn new(mut registry: Registry, runs: &RunCounts, cpu: CpuSeconds) -> ApiMetrics {
        let requests = Family::default();
        let durations = Family::new_with_constructor((|| Histogram::new(DURATIONS)) as fn() -> Histogram);
        let (sessions, upstreams) = (Gauge::default(), Family::default());
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("codeyard_build", "The running version", build);
        registry.register(
            "codeyard_requests",
            "Answered requests by route and status",
            Family::clone(&requests),
        );
        registry.register(
            "codeyard_request_duration_seconds",
            "Time until the answer of a request began",
            Family::clone(&durations),
        );
        registry.register_collector(Box::new(runs.executions()));
        registry.register("codeyard_runs", "Runs of programs by outcome", runs.family());
        registry.register(
            "codeyard_cpu_seconds",
            "CPU time for programs, by sandboxed processes (guest) and by the gateway (host)",
            cpu,
        );
        registry.register(
            "codeyard_sessions_open",
            "Sessions that are open now",
            sessions.clone(),
        );
        registry.register(
            "codeyard_upstream_servers",
            "Upstream servers by state",
            Family::clone(&upstreams),
        );
        let process = ProcessMetrics::new(&mut registry);
        let sinks = SinkMetrics::new(&mut registry);
        ApiMetrics {
            registry,
            requests,
            durations,
            sessions,
            upstreams,
            process,
            sinks,
        }
    }

    pub(super) fn answered(&self, route: Option<Route>, status: u16, duration: Duration) {
        let method = route.map_or(NO_ROUTE, |route| route.method().name());
        let route = route.map_or(NO_ROUTE, Route::path);
        let labels = RequestLabels {
            method,
            route,
            status: u32::from(status),
        };
        self.requests.get_or_create(&labels).inc();
        self.durations
            .get_or_create(&RouteLabels { method, route })
            .observe(duration.as_secs_f64());
    }

    /// The answer, with the counts of this moment.
    pub(super) fn reply(&self, moment: &MetricsMoment<'_>) -> Result<ApiReply, RestError> {
        self.sinks.set(moment.sinks, moment.spans);
        self.process.set(&moment.process);
        let text = self
            .text(moment.sessions, moment.servers)
            .map_err(|error| unavailable(&error))?;
        Ok(ApiReply::of_type(200, OPEN_METRICS, text))
    }

    fn text(&self, sessions: usize, servers: &[ServerState]) -> Result<String, std::fmt::Error> {
        self.sessions.set(gauge(sessions));
        for state in STATES {
            let count = servers
                .iter()
                .filter(|server| word(&server.status) == state)
                .count();
            self.upstreams
                .get_or_create(&StateLabels { state })
                .set(gauge(count));
        }
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

/// All that [`word`] says.
const STATES: [&str; 6] = [
    "idle",
    "starting",
    "running",
    "suspended",
    "needs_login",
    "failed",
];

pub(super) fn word(status: &Status) -> &'static str {
    match status {
        Status::Idle => "idle",
        Status::Starting => "starting",
        Status::Running => "running",
        Status::Suspended { .. } => "suspended",
        Status::NeedsLogin { .. } => "needs_login",
        Status::Failed { .. } => "failed",
    }
}

fn gauge(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use session::SessionError;

    use super::*;

    #[test]
    fn the_text_has_what_was_counted_and_every_state() {
        let runs = RunCounts::default();
        let metrics = ApiMetrics::new(Registry::default(), &runs, CpuSeconds::default());
        runs.note(None, &Err(SessionError::Dismissed));
        for status in [200, 200, 403] {
            metrics.answered(Some(Route::ReadServer), status, Duration::from_millis(3));
        }
        metrics.answered(None, 404, Duration::ZERO);
        let server = |status| ServerState {
            status,
            ..ServerState::default()
        };
        let cause = String::new;
        let servers = [
            server(Status::Running),
            server(Status::Running),
            server(Status::Failed { cause: cause() }),
            server(Status::Suspended { cause: cause() }),
            server(Status::NeedsLogin { cause: cause() }),
        ];
        let text = metrics.text(3, &servers).expect("text");
        for line in [
            r#"codeyard_requests_total{method="GET",route="/servers/{id}",status="200"} 2"#,
            r#"codeyard_requests_total{method="GET",route="/servers/{id}",status="403"} 1"#,
            r#"codeyard_requests_total{method="none",route="none",status="404"} 1"#,
            r#"codeyard_request_duration_seconds_bucket{le="0.001",method="GET",route="/servers/{id}"} 0"#,
            r#"codeyard_request_duration_seconds_bucket{le="0.005",method="GET",route="/servers/{id}"} 3"#,
            "codeyard_sessions_open 3",
            r#"codeyard_upstream_servers{state="running"} 2"#,
            r#"codeyard_upstream_servers{state="failed"} 1"#,
            r#"codeyard_upstream_servers{state="suspended"} 1"#,
            r#"codeyard_upstream_servers{state="needs_login"} 1"#,
            r#"codeyard_upstream_servers{state="idle"} 0"#,
            r#"codeyard_upstream_servers{state="starting"} 0"#,
            concat!(
                r#"codeyard_build_info{version=""#,
                env!("CARGO_PKG_VERSION"),
                r#""} 1"#
            ),
            r#"codeyard_runs_total{outcome="not_begun"} 1"#,
            "# EOF",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        let later = metrics.text(0, &[]).expect("text");
        assert!(
            later.contains("codeyard_upstream_servers{state=\"running\"} 0"),
            "{later}"
        );
    }
}
