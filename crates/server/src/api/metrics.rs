//! `/metrics`: requests, runs, sessions, upstream servers and sinks of this process as text for Prometheus.
//!
//! No label holds what a client has written, so their number is bounded.

mod sinks;

use gateway::ApiReply;
use identity::Route;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;
use rest::RestError;
use upstream::{ServerState, Status};

use ::sinks::SinkFigures;

use self::sinks::SinkMetrics;
use super::errors::unavailable;
use crate::cpu_quota::CpuSeconds;
use crate::run_counts::RunCounts;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The label of requests to pages that do not exist.
const NO_ROUTE: &str = "none";

/// What the gateway counts.
pub(super) struct ApiMetrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    sessions: Gauge,
    upstreams: Family<StateLabels, Gauge>,
    sinks: SinkMetrics,
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
        let (sessions, upstreams) = (Gauge::default(), Family::default());
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("codeyard_build", "The running version", build);
        registry.register(
            "codeyard_requests",
            "Answered requests by route and status",
            Family::clone(&requests),
        );
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
        let sinks = SinkMetrics::new(&mut registry);
        ApiMetrics {
            registry,
            requests,
            sessions,
            upstreams,
            sinks,
        }
    }

    pub(super) fn answered(&self, route: Option<Route>, status: u16) {
        let labels = RequestLabels {
            method: route.map_or(NO_ROUTE, |route| route.method().name()),
            route: route.map_or(NO_ROUTE, Route::path),
            status: u32::from(status),
        };
        self.requests.get_or_create(&labels).inc();
    }

    /// The answer, with these counts of this moment.
    pub(super) fn reply(
        &self,
        sessions: usize,
        servers: &[ServerState],
        sinks: &[(String, SinkFigures)],
    ) -> Result<ApiReply, RestError> {
        self.sinks.set(sinks);
        let text = self
            .text(sessions, servers)
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
        runs.note(&Err(SessionError::Dismissed));
        for status in [200, 200, 403] {
            metrics.answered(Some(Route::ReadServer), status);
        }
        metrics.answered(None, 404);
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
