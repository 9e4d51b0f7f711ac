//! The host as a virtual server has it: its own policy, view of the catalog, sessions and session files.
//!
//! The hub, the sandbox, the records and the principals' workspaces are those of the host.

use std::sync::Arc;
use std::time::Duration;

use broker::{CallRules, VisibleServers};
use policy::Policy;
use session::Sessions;
use settings::CodeExecution;
use tokio_util::sync::CancellationToken;
use types::{PolicyNumber, Principal, SandboxPolicy, ToolGlobs, VirtualServer};
use workspace::Workspaces;
use workspace::virtual_files::FilePolicy;

use crate::caller::Defaults;
use crate::check::BeforeRun;
use crate::files::{SessionFiles, ToolFiles};
use crate::host::{Host, HostParts, StartError};
use crate::served::{RunAdmission, Served};

impl Host {
    /// This host as the virtual server has it, for callers who may see these upstream servers.
    ///
    /// # Errors
    /// If a glob is invalid. Requests that create servers check the globs first.
    pub(crate) fn of_virtual_server(
        &self,
        server: &VirtualServer,
        visible: &VisibleServers,
        settings: &CodeExecution,
        admission: &RunAdmission,
    ) -> Result<Host, StartError> {
        let shared = &self.shared;
        let code = server.settings.kind.code();
        let defaults = &settings.defaults;
        let sandbox = code.map(|code| code.sandbox_policy(defaults));
        let usual = SandboxPolicy::default();
        let sandbox_or_usual = sandbox.unwrap_or(&usual);
        let broker = shared.broker.of_virtual_server(
            code.and_then(|code| code.mount_rules.clone()),
            visible,
            sandbox.map_or_else(|| CallRules::Narrowed(ToolGlobs::default()), calls),
        );
        let mut policy = shared.configs.policy.clone();
        let mut sessions = shared.configs.sessions.clone();
        if let Some(sandbox) = sandbox {
            policy.bind(sandbox);
            let time = Duration::from_secs(sandbox.number(PolicyNumber::SessionTtlSeconds));
            sessions.idle_time = sessions.idle_time.min(time);
        }
        let policy = Arc::new(Policy::new(policy)?);
        // Another value than the host's: each server publishes its own files below /tools.
        let workspaces = Workspaces::new(shared.configs.workspace.clone());
        let files = Arc::new(SessionFiles::new(
            workspaces.clone(),
            ToolFiles::new(shared.hub.clone(), broker.clone()),
            Some(server.id.clone()),
        ));
        let sessions = Sessions::new(
            shared.backend.clone(),
            files.clone(),
            Arc::new(BeforeRun(broker.clone())),
            sessions,
            Some(admission.sessions.clone()),
        );
        let own = Defaults {
            language: code.map_or(shared.defaults.language, |code| code.stub_language),
            lacks_network: sandbox.is_some_and(SandboxPolicy::wants_network),
            file_bounds: settings.file_bounds,
            disabled_tools: settings.disabled_tools.clone(),
            ..Defaults::clone(&shared.defaults)
        };
        Ok(Host {
            shared: Arc::new(HostParts {
                policy,
                broker,
                sessions,
                files,
                workspaces,
                defaults: Arc::new(own),
                served: Some(Served {
                    server: server.id.clone(),
                    files: file_policy(sandbox_or_usual),
                    runs_per_minute: u32::try_from(sandbox_or_usual.number(PolicyNumber::MaxRunsPerMinute))
                        .unwrap_or(u32::MAX),
                    admission: admission.clone(),
                    ended: CancellationToken::new(),
                }),
                ..HostParts::clone(shared)
            }),
        })
    }
}

impl Host {
    /// Ends the sessions of a virtual server; the host's other parts go on.
    pub(crate) async fn close_sessions(&self) {
        if let Some(served) = &self.shared.served {
            served.ended.cancel();
        }
        self.shared.files.keep_scratch();
        self.shared.sessions.close().await;
        self.shared.files.close().await;
    }
}

impl Host {
    /// Ends the sessions of a principal whose lease another process has. Their files stay.
    pub(crate) async fn hand_over_sessions(&self, principal: &Principal) {
        self.shared.files.hand_over(principal);
        self.shared.sessions.hand_over(principal).await;
        self.shared.files.handed_over(principal);
    }
}

fn calls(sandbox: &SandboxPolicy) -> CallRules {
    match sandbox.allow_tool_calls {
        true => CallRules::Narrowed(sandbox.tools.clone()),
        false => CallRules::Off,
    }
}

/// The globs were checked when the server was made; those that no longer compile reach nothing.
fn file_policy(sandbox: &SandboxPolicy) -> FilePolicy {
    FilePolicy::new(&sandbox.files).unwrap_or_else(|_| FilePolicy::nothing())
}
