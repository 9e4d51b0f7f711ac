//! Builds the parts and joins them.
//!
//! Building starts nothing and reads nothing: the first answer must not wait.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use broker::{Broker, RunScope};
use config::Parts;
use policy::Policy;
use sandbox::{Backend, HostCalls};
use sandbox_landlock::Landlock;
use sandbox_process::{Appearance, Process, Requirement};
use session::Sessions;
use store::{Attempt, Code, Front, Recording, Records, Saved, Searched};
use surfaces::Receipts;
use tokens::Counter;
use tool_files::Scanner;
use types::{Answers, CheckMode, Limits, Principal};
use upstream::{Hub, ServerConfig};
use workspace::{Keeping, WorkspaceError, Workspaces};

use crate::calls::adopting::Adopting;
use crate::check::BeforeRun;
use crate::files::{SessionFiles, ToolFiles};
use crate::recording::{CallLog, RecordedCall};

/// How long sessions and servers have to end.
const DRAIN: Duration = Duration::from_secs(10);

/// Everything that serves one process. Cheap to clone.
#[derive(Clone)]
pub struct Server {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) hub: Hub,
    /// For limits; who may call what is for the broker to say.
    pub(crate) policy: Arc<Policy>,
    pub(crate) broker: Broker,
    pub(crate) backend: Arc<dyn Backend>,
    /// Whether that is what runs where nothing is said of it.
    default_backend: bool,
    pub(crate) sessions: Sessions,
    /// What is done with what the check before a run finds, where nothing is said of it.
    pub(crate) check: CheckMode,
    /// How results are written for models, where nothing is said of it.
    pub(crate) answers: Answers,
    /// What sessions see of the host's files.
    pub(crate) files: Arc<SessionFiles>,
    pub(crate) workspaces: Workspaces,
    /// Keeps the tool calls of programs, if somebody wants to see them.
    pub(crate) log: Option<CallLog>,
    /// What is written down of everything that runs.
    pub(crate) records: Records,
    /// What programs keep for later sessions.
    saved: Saved,
    /// How what runs cost is counted.
    pub(crate) receipts: Receipts,
    /// Whether clients of the surface `code` see the names of servers.
    pub(crate) names_servers: bool,
    /// Tools that clients of the surface `code` see themselves.
    pub(crate) expose: config::Expose,
    /// Whoever started this process: over standard input and on the command line nobody else asks.
    pub(crate) principal: Principal,
    /// What the client calls itself, once it has said so.
    pub(crate) client: Arc<OnceLock<String>>,
}

/// Why the parts could not be joined.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A setting is wrong.
    #[error(transparent)]
    Policy(#[from] policy::ConfigError),
    /// The files of sessions cannot be kept as the settings want it.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}

impl Server {
    /// Joins the parts; starts nothing. Needs a runtime around it.
    pub fn new(parts: Parts) -> Result<Server, StartError> {
        Server::join(parts, None)
    }

    /// Joins the parts and keeps every tool call of programs for [`Server::recorded`].
    pub fn recording(parts: Parts) -> Result<Server, StartError> {
        Server::join(parts, Some(CallLog::default()))
    }

    fn join(parts: Parts, log: Option<CallLog>) -> Result<Server, StartError> {
        let Parts {
            upstream,
            policy,
            backend,
            sandbox,
            mut workspace,
            sessions,
            check,
            answers,
            records,
            receipts,
            expose,
            surface,
            saved,
            learning,
            tools,
        } = parts;
        let records = match records.recording {
            Recording::Off => Records::off(),
            Recording::On { .. } => Records::new(records),
        };
        let policy = Policy::new(policy)?.with_servers(upstream.servers.iter().map(ServerConfig::rules));
        let policy = Arc::new(policy);
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
        let needs_kernel_quota = shows_files_apart(&sandbox);
        let default_backend = backend == config::Backend::default();
        let backend: Arc<dyn Backend> = match backend {
            config::Backend::Process => Arc::new(Process::new(sandbox)),
            config::Backend::Landlock => {
                if !sandbox_landlock::keeps_files() {
                    workspace.keeping = Keeping::Own;
                }
                Arc::new(Landlock::new(sandbox))
            }
        };
        let principal = Principal::local();
        let workspaces = Workspaces::new(workspace);
        workspaces.check()?;
        if needs_kernel_quota {
            workspaces.check_enforced()?;
        }
        let files = Arc::new(SessionFiles::new(
            workspaces.clone(),
            ToolFiles::new(hub.clone(), broker.clone(), principal.clone()),
        ));
        let sessions = Sessions::new(
            backend.clone(),
            files.clone(),
            Arc::new(BeforeRun(broker.clone())),
            sessions,
        );
        Ok(Server {
            shared: Arc::new(Shared {
                hub,
                policy,
                broker,
                backend,
                default_backend,
                sessions,
                check,
                answers,
                files,
                workspaces,
                log,
                records,
                saved,
                receipts: Receipts {
                    default: receipts,
                    counter: Counter::default(),
                },
                names_servers: surface.names,
                expose,
                principal,
                client: Arc::default(),
            }),
        })
    }

    /// The tool calls of programs since the last time; none unless they are being recorded.
    pub fn recorded(&self) -> Vec<RecordedCall> {
        self.shared.log.as_ref().map(CallLog::take).unwrap_or_default()
    }

    /// The backend's name for results, if it is another than the default.
    pub(crate) fn chosen_backend(&self) -> Option<&'static str> {
        (!self.shared.default_backend).then(|| self.shared.backend.name())
    }

    /// An attempt as it is recorded.
    pub(crate) fn attempt(
        &self,
        front: Front,
        language: Option<&'static str>,
        code: Option<&str>,
        limits: Option<Limits>,
    ) -> Attempt {
        let records = &self.shared.records;
        Attempt {
            run: session::mint_run(),
            principal: self.shared.principal.clone(),
            front,
            language,
            // Looking at all of a program is not for nothing only where it is recorded.
            code: code.filter(|_| records.is_on()).map(Code::of),
            limits,
            backend: self.shared.backend.name(),
            client: self.shared.client.get().cloned(),
            searched: Searched::default(),
        }
    }

    /// What answers the host calls of one run.
    pub(crate) fn calls(&self, scope: RunScope) -> Arc<dyn HostCalls> {
        let shared = &self.shared;
        let calls = shared.broker.calls(shared.principal.clone(), scope);
        let calls = match &shared.log {
            Some(log) => log.record(calls),
            None => calls,
        };
        match shared.workspaces.place_of_others(&shared.principal) {
            Some(place) => Arc::new(Adopting {
                calls,
                workspaces: shared.workspaces.clone(),
                principal: shared.principal.clone(),
                place,
            }),
            None => calls,
        }
    }

    /// Ends all sessions and servers, within a deadline. What is left then ends with this process.
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
                "not everything ended within {} s; it ends with this process",
                DRAIN.as_secs()
            );
        }
        self.shared.saved.close().await;
        self.shared.broker.close().await;
        // Last, because everything that ends is recorded.
        self.shared.records.close().await;
    }
}

/// Whether sessions of tenants that must not touch each other write files of the host: root's alone do.
pub(crate) fn shows_files_apart(sandbox: &sandbox_process::Config) -> bool {
    sandbox.require == Requirement::TenantIsolation
        && sandbox.appearance == Appearance::Codeyard
        && crate::doctor::is_root()
}
