//! State of all codeyards of a data directory at one moment.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use server::control::{self, Activity, ProcessReply, ServerReport, Status};
use store::{Filter, Opened, Reader, RecordsConfig, RunView, Traffic, Trouble};
use tokio::sync::watch;

use crate::times;

/// Interval between snapshots.
const PERIOD: Duration = Duration::from_secs(1);
/// Runs read for a snapshot.
const RUNS: u32 = 100;
/// Period of the sums.
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

#[derive(Debug, Clone, Default)]
pub(super) struct Snapshot {
    /// Milliseconds since 1970.
    pub(super) at_ms: i64,
    /// The codeyards that answered.
    pub(super) processes: Vec<Status>,
    /// Servers of all of them.
    pub(super) servers: Vec<ServerSummary>,
    /// Newest first.
    pub(super) runs: Vec<RunView>,
    /// The last day's runs; `None` without records.
    pub(super) day: Option<Traffic>,
    /// Errors of this snapshot.
    pub(super) problems: Vec<String>,
}

/// A server across all codeyards.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ServerSummary {
    pub(super) name: String,
    /// The most active state.
    pub(super) state: Activity,
    /// Number of codeyards that run it.
    pub(super) running: usize,
    pub(super) tools: Option<usize>,
    pub(super) calls: u64,
    pub(super) last_error: Option<String>,
}

pub(super) struct Observer {
    data: PathBuf,
    records: RecordsConfig,
    reader: Option<Box<Reader>>,
}

impl Observer {
    pub(super) fn new(data: PathBuf, records: RecordsConfig) -> Observer {
        Observer {
            data,
            records,
            reader: None,
        }
    }

    /// Takes snapshots until the receiver is dropped; `None` until the first.
    pub(super) fn watch(mut self) -> watch::Receiver<Option<Snapshot>> {
        let (told, snapshots) = watch::channel(None);
        tokio::spawn(async move {
            while told.send(Some(self.look().await)).is_ok() {
                tokio::time::sleep(PERIOD).await;
            }
        });
        snapshots
    }

    pub(super) async fn look(&mut self) -> Snapshot {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut snapshot = Snapshot {
            at_ms: i64::try_from(now.as_millis()).unwrap_or(i64::MAX),
            ..Snapshot::default()
        };
        let (statuses, servers) = tokio::join!(control::statuses(&self.data), control::servers(&self.data));
        match statuses {
            Ok(statuses) => snapshot.add_processes(statuses),
            Err(error) => snapshot
                .problems
                .push(format!("{}: {error}", self.data.display())),
        }
        // The failures were reported already.
        for asked in servers.into_iter().flatten() {
            for report in asked.answer.into_iter().flatten() {
                snapshot.add_server(report);
            }
        }
        if let Err(trouble) = self.add_runs(&mut snapshot).await {
            self.reader = None;
            snapshot.problems.push(trouble.to_string());
        }
        snapshot
    }

    async fn add_runs(&mut self, snapshot: &mut Snapshot) -> Result<(), Trouble> {
        if self.reader.is_none() {
            self.reader = match Reader::open(&self.records, &crate::context::principal()).await? {
                Opened::Empty => None,
                Opened::Open(reader) => Some(reader),
            };
        }
        let Some(reader) = &mut self.reader else {
            return Ok(());
        };
        let filter = Filter {
            limit: Some(RUNS),
            ..Filter::default()
        };
        snapshot.runs = reader.runs(&filter).await?;
        snapshot.day = Some(reader.traffic(snapshot.at_ms - DAY_MS).await?);
        Ok(())
    }
}

impl Snapshot {
    fn add_processes(&mut self, statuses: Vec<ProcessReply<Status>>) {
        for asked in statuses {
            match asked.answer {
                Ok(status) => self.processes.push(status),
                Err(why) => self
                    .problems
                    .push(format!("codeyard {} does not answer: {why}", asked.pid)),
            }
        }
    }

    fn add_server(&mut self, report: ServerReport) {
        let is_running = usize::from(report.state == Activity::Running);
        match self.servers.iter_mut().find(|known| known.name == report.name) {
            Some(known) => {
                known.state = known.state.max(report.state);
                known.running += is_running;
                known.tools = report.tools.or(known.tools);
                known.calls += report.calls;
                known.last_error = report.last_error.or_else(|| known.last_error.take());
            }
            None => self.servers.push(ServerSummary {
                name: report.name,
                state: report.state,
                running: is_running,
                tools: report.tools,
                calls: report.calls,
                last_error: report.last_error,
            }),
        }
    }

    /// Open sessions across all codeyards.
    pub(super) fn sessions(&self) -> usize {
        self.processes.iter().map(|process| process.sessions).sum()
    }

    pub(super) fn json(&self) -> Value {
        let server = |server: &ServerSummary| {
            json!({
                "name": server.name, "state": server.state.name(), "running": server.running, "tools": server.tools,
                "calls": server.calls, "last_error": server.last_error,
            })
        };
        let day = self.day.map(|day| {
            json!({
                "runs": day.runs, "calls": day.calls, "answered_bytes": day.answered_bytes, "shown_bytes": day.shown_bytes,
                "kept_out_bytes": day.kept_out(), "counted_runs": day.counted,
                "saved_tokens": (day.counted > 0).then_some(day.saved),
            })
        });
        json!({
            "at": times::exact(self.at_ms),
            "processes": self.processes,
            "servers": self.servers.iter().map(server).collect::<Vec<_>>(),
            "runs": self.runs,
            "last_day": day,
            "problems": self.problems,
        })
    }
}
