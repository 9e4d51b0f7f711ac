//! The configuration of each part, from validated settings.

use std::ffi::OsString;
use std::path::PathBuf;

use encryption::DATA_KEY_VARIABLE;
use environment::Environment;
use registry::BridgeSources;
use sinks::SinkTarget;
use store::{Database, ExecutionDetail};
use types::{Answers, CheckMode, Principal, RequiredIsolation, ToolRef, ToolRules};
use upstream_wire::oauth::Logins;

use crate::bridge::Bridge;
use crate::file::{Backend, Expose, Settings, SurfaceSettings};
use crate::load::{Arguments, Loaded};
use crate::mounts;

/// Facts about the running program.
#[derive(Debug, Clone)]
pub struct Program {
    /// Also runs the helper processes.
    pub executable: PathBuf,
    /// The principal that started the program. Guests also see this principal's workspace at its host path.
    pub principal: Principal,
}

/// The configuration of each part.
#[derive(Debug, Clone)]
pub struct Parts {
    /// Directory of all stored data.
    pub data_dir: PathBuf,
    /// The hub.
    pub upstream: upstream::HubConfig,
    /// The policy.
    pub policy: policy::PolicyConfig,
    /// The sandbox backend.
    pub backend: Backend,
    /// The sandbox, for each backend.
    pub sandbox: sandbox_process::ProcessConfig,
    /// Files of sessions.
    pub workspace: workspace::WorkspaceConfig,
    /// Sessions.
    pub sessions: session::SessionsConfig,
    /// Treatment of findings of the check before a run.
    pub check: CheckMode,
    /// Format of results for models.
    pub answers: Answers,
    /// Records.
    pub records: store::RecordsConfig,
    /// Execution logs in files; none if nothing is recorded.
    pub logs: Vec<sinks::SinkConfig>,
    /// Keys of recordings in place of those in the data directory.
    pub data_key: Option<String>,
    /// Results have a receipt by default.
    pub receipts: bool,
    /// Further tools that the surface `code` lists.
    pub expose: Expose,
    /// The surface `code`.
    pub surface: SurfaceSettings,
    /// Learned types of results.
    pub learning: store::Learning,
    /// Database of the tools and memories that programs save.
    pub saved: Database,
    /// Directories of tool files.
    pub tools: Vec<PathBuf>,
}

impl Loaded {
    /// Configuration of sessions' files.
    pub fn workspace(&self) -> workspace::WorkspaceConfig {
        let settings = &self.settings.workspace;
        workspace::WorkspaceConfig {
            quota: settings.quota,
            inodes: settings.inodes,
            enforce: settings.enforce,
            keeping: settings.keeping,
            owner: settings
                .owner
                .map_or(workspace::Owner::DataDirectory, workspace::Owner::User),
            mounts: self.settings.mounts.clone(),
            scratch_time: self.settings.sessions.idle_time,
            ..workspace::WorkspaceConfig::below(&self.data_dir)
        }
    }

    /// Configuration of the records.
    pub fn records(&self) -> store::RecordsConfig {
        let settings = &self.settings.records;
        store::RecordsConfig {
            database: self.database.clone(),
            recording: settings.recording.unwrap_or_default(),
            execution: execution_detail(&self.settings.sinks),
            keep_for: settings.keep_for,
            keep_size: settings.keep_size,
        }
    }

    /// Execution logs in files; none if nothing is recorded.
    fn logs(&self) -> Vec<sinks::SinkConfig> {
        let records = self.records();
        let sinks = self.settings.sinks.iter();
        let logs = sinks.filter(|sink| matches!(sink.target, SinkTarget::File(_)));
        match records.recording {
            store::Recording::Off => Vec::new(),
            store::Recording::On { .. } => logs.cloned().collect(),
        }
    }

    /// Whether types are learned. Learned types are stored in the database of records, if records are on.
    pub fn learning(&self) -> store::Learning {
        let records = self.records();
        let is_stored = records.recording != store::Recording::Off;
        store::Learning {
            enabled: self.settings.learned.enabled,
            shared: self.settings.learned.shared,
            database: is_stored.then_some(records.database),
        }
    }

    /// Database of the tools and memories that programs save.
    pub fn saved(&self) -> Database {
        self.database.clone()
    }

    /// Whether `[policy]` or the server's own rules deny a tool to every program.
    pub fn forbids(&self, principal: &Principal, (server, rules): (&str, &ToolRules), tool: &str) -> bool {
        let Ok(policy) = policy::Policy::new(self.settings.policy.clone()) else {
            return false;
        };
        let policy = policy.with_servers([(server, rules)]);
        let tool = ToolRef::new(server, tool);
        policy.admit(principal, &tool).is_err()
    }

    /// The logins of `principal` to remote servers.
    pub fn logins(&self, principal: &Principal) -> Logins {
        Logins::of(principal, &self.data_dir.join("logins"))
    }

    /// The configuration of each part.
    pub fn into_parts(self, program: Program, env: &dyn Environment) -> Parts {
        let python = python_settings(&self.settings, env);
        let typescript = typescript_settings(&self.settings, env);
        let workspace = self.workspace();
        let records = self.records();
        let logs = self.logs();
        let saved = self.saved();
        let learning = self.learning();
        let logins = self.logins(&program.principal);
        let Settings {
            policy,
            backend,
            exec,
            python: chosen,
            mounts,
            pool,
            sessions,
            check,
            answers,
            tools,
            receipts,
            surface,
            expose,
            ..
        } = self.settings;
        let helper = vec![program.executable.clone().into_os_string()];
        let reveals_host_paths = policy.require == RequiredIsolation::SingleTenant;
        let host_links = match reveals_host_paths {
            true => mounts::host_links(&program.principal, &workspace, &mounts),
            false => Vec::new(),
        };
        let require = policy.require;
        let data_key = data_key(env);
        Parts {
            data_dir: self.data_dir.clone(),
            upstream: upstream::HubConfig {
                servers: self.servers,
                cache_dir: Some(self.data_dir.join("cache").join("tools")),
                asks_anew: false,
                log_dir: Some(self.data_dir.join("logs")),
                logins: Some(logins),
                supervisor: Vec::new(),
                own_executable: program.executable,
                allow_self: self.allow_self,
            },
            backend,
            sandbox: sandbox_process::ProcessConfig {
                profile: chosen.profile,
                pool,
                mounts: mounts.into_iter().map(|mount| mount.target).collect(),
                reveals_host_paths,
                host_links,
                owner: workspace.owner_on_disk(),
                ..sandbox_process::ProcessConfig::new(sandbox_host::HostConfig {
                    require,
                    typescript,
                    exec,
                    limits: policy.limits.clone(),
                    throttled_directories: workspace.on_disk(),
                    ..sandbox_host::HostConfig::new(self.data_dir, python, helper)
                })
            },
            workspace,
            sessions: session::SessionsConfig {
                max_sessions: sessions.max,
                idle_time: sessions.idle_time,
                idle_memory: sessions.idle_memory,
                ..session::SessionsConfig::default()
            },
            check,
            answers,
            records,
            logs,
            data_key,
            receipts,
            expose,
            surface,
            learning,
            saved,
            tools: tools.directories,
            policy,
        }
    }
}

/// The keys of recordings that the variable holds; `None` if it is unset or empty.
pub fn data_key(env: &dyn Environment) -> Option<String> {
    match env.var(DATA_KEY_VARIABLE) {
        Ok(value) => value.filter(|value| !value.trim().is_empty()),
        // A text that is no key: whoever needs the keys reports it.
        Err(_) => Some(String::new()),
    }
}

impl Loaded {
    /// The configuration of each part for the surface `server`, whose `sandbox_policy` lowers the limits.
    pub fn into_server_parts(mut self, program: Program, env: &dyn Environment) -> Parts {
        let surface = &mut self.settings.surface;
        if let Some(sandbox) = &surface.sandbox_policy {
            surface.language = sandbox.runtime.language();
            self.settings.policy.bind(sandbox);
        }
        self.into_parts(program, env)
    }

    /// The configuration of each part for the surface `bridge`.
    pub fn into_bridge_parts(self, bridge: &Bridge, program: Program, env: &dyn Environment) -> Parts {
        let mut parts = self.into_parts(program, env);
        parts.sandbox.host.appearance = bridge.appearance();
        // Programs of this surface reach only the servers that the call names.
        parts.tools = Vec::new();
        if let Some(state) = &bridge.state_dir {
            parts.saved = state.join(store::FILE).into();
        }
        parts
    }
}

/// Sources of server definitions for the surface `bridge`.
pub fn bridge_sources(bridge: &Bridge, arguments: &Arguments, program: &Program) -> BridgeSources {
    let files = arguments.sources.files.iter().chain(&bridge.servers_config);
    BridgeSources {
        files: files.cloned().collect(),
        other_clients: bridge.extra_config,
        allow_self: bridge.allow_self,
        own_executable: program.executable.clone(),
    }
}

/// The engine of TypeScript, and settings to find it.
pub fn typescript_settings(settings: &Settings, env: &dyn Environment) -> sandbox_host::typescript::Settings {
    sandbox_host::typescript::Settings {
        engine: settings.typescript.engine,
        packages: settings.typescript.packages.clone(),
        search_path: env.var("PATH").ok().flatten().map(OsString::from),
        modules: Vec::new(),
    }
}

/// What the execution log with the most detail needs.
fn execution_detail(sinks: &[sinks::SinkConfig]) -> ExecutionDetail {
    let logs = sinks
        .iter()
        .filter(|sink| matches!(sink.target, SinkTarget::File(_)));
    match logs.map(|sink| sink.payloads).max() {
        Some(true) => ExecutionDetail::Texts,
        Some(false) => ExecutionDetail::Facts,
        None => ExecutionDetail::Omitted,
    }
}

/// Settings to find Python.
pub fn python_settings(settings: &Settings, env: &dyn Environment) -> sandbox_host::python::Settings {
    sandbox_host::python::Settings {
        path: settings.python.path.clone(),
        search_path: env.var("PATH").ok().flatten().map(OsString::from),
    }
}
