//! Builds and joins the parts of one process.
//!
//! Construction starts no process and reads no file, so that the first answer is fast.

use std::path::PathBuf;
use std::sync::{Arc, Once};
use std::time::Duration;

use broker::Broker;
use policy::{Policy, PolicyConfig};
use sandbox::Backend;
use sandbox_landlock::Landlock;
use sandbox_process::Process;
use session::{Sessions, SessionsConfig};
use settings::{Parts, Traces};
use store::{Recording, Records, Saved, Trouble};
use tokio::sync::Semaphore;
use tool_files::Scanner;
use types::{FileBounds, Principal, SandboxPolicy};
use upstream::{Hub, ServerConfig};
use workspace::{Keeping, WorkspaceConfig, WorkspaceError, Workspaces};

use crate::api::SinkStartError;
use crate::caller::{Caller, Defaults};
use crate::calls::{HostCallLog, RecordedCall};
use crate::check::BeforeRun;
use crate::counter::TokenCounter;
use crate::doctor;
use crate::downstreams::Downstreams;
use crate::files::{SessionFiles, ToolFiles};
use crate::guest_files::with_guest_files;
use crate::local_log::LocalLog;
use crate::run_counts::RunCounts;
use crate::run_recordings::{KeyDoubt, KeysError, RunRecordings};
use crate::run_traces::RunTraces;
use crate::served::Served;
use crate::span_outlet::SpanOutlet;

/// Longest time for sessions and servers to end.
const DRAIN: Duration = Duration::from_secs(10);

/// Lines of the constrained commands that are evaluated at once.
const COMMAND_LINES: usize = 16;

/// All parts of one process, shared by its callers. Cheap to clone.
#[derive(Clone)]
pub struct Host {
    pub(crate) shared: Arc<HostParts>,
}

/// Cheap to clone.
#[derive(Clone)]
pub(crate) struct HostParts {
    pub(crate) hub: Hub,
    pub(crate) downstreams: Arc<Downstreams>,
    pub(crate) attached: Arc<Once>,
    /// Used for limits only; the broker decides who may call what.
    pub(crate) policy: Arc<Policy>,
    pub(crate) broker: Broker,
    pub(crate) backend: Arc<dyn Backend>,
    /// Whether `backend` is the settings' default.
    pub(crate) default_backend: bool,
    pub(crate) sessions: Sessions,
    pub(crate) files: Arc<SessionFiles>,
    pub(crate) workspaces: Workspaces,
    /// Turns of lines of the constrained commands, each of which takes a thread and some memory.
    pub(crate) command_lines: Arc<Semaphore>,
    /// Logs programs' tool calls, if requested.
    pub(crate) log: Option<HostCallLog>,
    pub(crate) records: Records,
    pub(crate) recordings: RunRecordings,
    pub(crate) local_log: Arc<LocalLog>,
    pub(crate) saved: Saved,
    pub(crate) counter: Arc<TokenCounter>,
    pub(crate) runs: RunCounts,
    pub(crate) traces: RunTraces,
    /// Settings of callers that request no others.
    pub(crate) defaults: Arc<Defaults>,
    /// From which the parts of virtual servers are made.
    pub(crate) configs: Arc<PartConfigs>,
    /// The virtual server that these parts belong to.
    pub(crate) served: Option<Served>,
}

/// Configurations from which the gateway makes parts of its own.
pub(crate) struct PartConfigs {
    pub(crate) policy: PolicyConfig,
    pub(crate) workspace: WorkspaceConfig,
    pub(crate) sessions: SessionsConfig,
    /// The operator's upstream servers, beside which the gateway stores those of its users.
    pub(crate) servers: Vec<ServerConfig>,
    /// Directory of everything that codeyard stores.
    pub(crate) data_dir: PathBuf,
}

/// Why the parts could not be joined.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A setting is wrong.
    #[error(transparent)]
    Policy(#[from] policy::ConfigError),
    /// The session files cannot be kept as the settings require.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}

impl Host {
    /// Joins the parts; starts nothing. Needs a runtime.
    pub fn new(parts: Parts) -> Result<Host, StartError> {
        Host::join(parts, None)
    }

    /// The same host, which records spans of runs and calls. Called before the first run.
    #[must_use]
    pub fn traced(self, traces: Traces) -> (Host, SpanOutlet) {
        let (traces, outlet) = RunTraces::new(traces);
        let parts = HostParts {
            traces,
            ..HostParts::clone(&self.shared)
        };
        let host = Host {
            shared: Arc::new(parts),
        };
        (host, outlet)
    }

    /// Like `new`, and logs programs' tool calls for [`Host::recorded`].
    pub fn recording(parts: Parts) -> Result<Host, StartError> {
        Host::join(parts, Some(HostCallLog::default()))
    }

    fn join(parts: Parts, log: Option<HostCallLog>) -> Result<Host, StartError> {
        let Parts {
            data_dir,
            upstream,
            policy,
            backend,
            sandbox,
            mut workspace,
            sessions,
            check,
            answers,
            records,
            logs,
            data_key,
            receipts,
            expose,
            surface,
            saved,
            learning,
            tools,
        } = parts;
        let database = records.database.clone();
        let local_log = Arc::new(LocalLog::new(database.clone(), logs));
        let records = match records.recording {
            Recording::Off => Records::off(),
            Recording::On { .. } => Records::new(records),
        };
        let recordings = RunRecordings::new(records.clone(), database, data_dir.clone(), data_key);
        let policy_config = policy.clone();
        let policy = Policy::new(policy)?.with_servers(upstream.servers.iter().map(ServerConfig::rules));
        let policy = Arc::new(policy);
        let servers = upstream.servers.clone();
        let hub = Hub::new(upstream);
        let saved = Saved::new(saved);
        let broker = Broker::new(
            hub.clone(),
            Scanner::new(tools),
            policy.clone(),
            records.clone(),
            saved.clone(),
            learning,
        );
        let needs_kernel_quota = doctor::shows_files_apart(&sandbox.host);
        let sandbox = with_guest_files(sandbox);
        let default_backend = backend == settings::Backend::default();
        let backend: Arc<dyn Backend> = match backend {
            settings::Backend::Process => Arc::new(Process::new(sandbox)),
            settings::Backend::Landlock => {
                if !sandbox_landlock::keeps_files() {
                    workspace.keeping = Keeping::Own;
                }
                Arc::new(Landlock::new(sandbox.host))
            }
        };
        let configs = PartConfigs {
            policy: policy_config,
            workspace: workspace.clone(),
            sessions: sessions.clone(),
            servers,
            data_dir,
        };
        let workspaces = Workspaces::new(workspace);
        workspaces.check()?;
        if needs_kernel_quota {
            workspaces.check_enforced()?;
        }
        let files = Arc::new(SessionFiles::new(
            workspaces.clone(),
            ToolFiles::new(hub.clone(), broker.clone()),
            None,
        ));
        let sessions = Sessions::new(
            backend.clone(),
            files.clone(),
            Arc::new(BeforeRun(broker.clone())),
            sessions,
            None,
        );
        Ok(Host {
            shared: Arc::new(HostParts {
                hub,
                downstreams: Arc::default(),
                attached: Arc::new(Once::new()),
                policy,
                broker,
                backend,
                default_backend,
                sessions,
                files,
                workspaces,
                command_lines: Arc::new(Semaphore::new(COMMAND_LINES)),
                log,
                records,
                recordings,
                local_log,
                saved,
                counter: Arc::default(),
                runs: RunCounts::default(),
                traces: RunTraces::default(),
                configs: Arc::new(configs),
                served: None,
                defaults: Arc::new(Defaults {
                    check,
                    answers,
                    receipt: receipts,
                    names_servers: surface.names,
                    language: surface.language,
                    lacks_network: surface
                        .sandbox_policy
                        .as_ref()
                        .is_some_and(SandboxPolicy::wants_network),
                    file_bounds: FileBounds::default(),
                    disabled_tools: Vec::new(),
                    expose,
                }),
            }),
        })
    }

    /// Reads the keys of recordings, if runs are recorded for replay.
    ///
    /// # Errors
    /// If there is no usable key.
    pub fn check_keys(&self) -> Result<(), KeysError> {
        self.shared.recordings.check().map_err(KeysError)
    }

    /// Reasons why this process may be unable to replay runs of other processes, or they its runs.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn key_doubts(&self) -> Result<Vec<KeyDoubt>, Trouble> {
        self.shared.recordings.doubts().await
    }

    /// Writes the execution logs of the settings until the host is closed. `codeyard serve` opens all its sinks instead.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn open_logs(&self) -> Result<(), SinkStartError> {
        self.shared.local_log.open().await
    }

    /// This principal as a caller with the default settings.
    pub fn caller(&self, principal: Principal) -> Caller {
        Caller {
            shared: self.shared.clone(),
            principal,
            defaults: self.shared.defaults.clone(),
            client: Arc::default(),
            agent: None,
            downstream: Arc::default(),
            own_session: None,
        }
    }

    /// Ends a principal's sessions, cancels its runs and releases its leases. The principal's files and records
    /// remain.
    pub async fn dismiss(&self, principal: &Principal) {
        self.shared.sessions.dismiss(principal).await;
        self.shared.files.forget(principal).await;
        self.shared.broker.forget(principal);
    }

    /// Programs' tool calls since the last call of this function; empty unless the host is recording.
    pub fn recorded(&self) -> Vec<RecordedCall> {
        let calls = self.shared.log.as_ref().map(HostCallLog::take);
        calls.into_iter().flatten().filter_map(RecordedCall::of).collect()
    }

    /// Ends all sessions and servers within a deadline. The operating system ends the rest with this process.
    pub async fn close(&self) {
        let ended = async {
            let sandbox = async {
                self.shared.sessions.close().await;
                self.shared.files.close().await;
                self.shared.backend.close().await;
            };
            tokio::join!(sandbox, self.shared.hub.shutdown());
        };
        if tokio::time::timeout(DRAIN, ended).await.is_err() {
            tracing::warn!(
                "some sessions or servers did not end within {} s; they end with this process",
                DRAIN.as_secs()
            );
        }
        self.shared.saved.close().await;
        self.shared.broker.close().await;
        self.shared.recordings.close().await;
        // Every ending session writes a record, so the records close after the sessions; the logs read the records.
        self.shared.records.close().await;
        self.shared.local_log.close().await;
    }
}
