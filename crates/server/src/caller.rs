//! A principal on a host, with its client and its defaults.

use std::sync::{Arc, OnceLock};

use broker::RunScope;
use gateway::Clients;
use sandbox::HostCalls;
use store::{Attempt, Front, Searched};
use types::{Answers, CheckMode, FileBounds, Language, Limits, Principal, Selector, ServerId, SessionName};
use upstream_wire::DownstreamClient;

use crate::calls::adopting::Adopting;
use crate::host::{Host, HostParts};

/// A principal with its client and its defaults. Every run, read and call goes through a `Caller`.
/// Cheap to clone.
#[derive(Clone)]
pub struct Caller {
    pub(crate) shared: Arc<HostParts>,
    pub(crate) principal: Principal,
    pub(crate) defaults: Arc<Defaults>,
    /// The client's own name, set once the client sends it.
    pub(crate) client: Arc<OnceLock<String>>,
    /// The agent that acts for the principal, if the token names one.
    pub(crate) agent: Option<Arc<str>>,
    /// The client that upstreams can call back on the surface `standard`.
    pub(crate) downstream: Arc<OnceLock<Arc<dyn DownstreamClient>>>,
    /// The session of runs that name none; `None` means the principal's default session.
    pub(crate) own_session: Option<SessionName>,
}

/// Settings of callers that request no others.
#[derive(Debug, Clone)]
pub(crate) struct Defaults {
    /// Treatment of findings of the check before a run.
    pub(crate) check: CheckMode,
    /// Format of results for models.
    pub(crate) answers: Answers,
    /// Count the tokens of runs.
    pub(crate) receipt: bool,
    /// Show server names to clients of the surface `code`.
    pub(crate) names_servers: bool,
    /// Language of programs of the surface `server` whose call names none.
    pub(crate) language: Language,
    /// Tell clients of the surface `server` that its policy's network is missing.
    pub(crate) lacks_network: bool,
    /// How much the surface `server` reads and lists at once.
    pub(crate) file_bounds: FileBounds,
    /// Tools of the surface `server` that the operator has switched off.
    pub(crate) disabled_tools: Vec<&'static str>,
    /// Tools shown to clients of the surface `code` beside its own.
    pub(crate) expose: settings::Expose,
}

impl Caller {
    /// The host that this caller belongs to.
    pub fn host(&self) -> Host {
        Host {
            shared: self.shared.clone(),
        }
    }

    /// The same caller for another connection; `Clients` decides whether the connection has its own session.
    pub(crate) fn for_connection(&self, clients: Clients) -> Caller {
        Caller {
            client: Arc::default(),
            downstream: Arc::default(),
            own_session: match clients {
                // S0-53: the user's session at a virtual server is the same over every way in.
                Clients::One if self.shared.served.is_some() => None,
                Clients::One => Some(session::mint_own_session()),
                Clients::Many => None,
            },
            ..self.clone()
        }
    }

    /// The same caller, for whom this agent acts.
    pub(crate) fn by_agent(self, agent: Option<&str>) -> Caller {
        Caller {
            agent: agent.map(Arc::from),
            ..self
        }
    }

    /// The client's own name, and the agent behind it.
    fn recorded_client(&self) -> Option<String> {
        let client = self.client.get();
        match (&self.agent, client) {
            (None, client) => client.cloned(),
            (Some(agent), None) => Some(format!("agent {agent}")),
            (Some(agent), Some(client)) => Some(format!("{client} (agent {agent})")),
        }
    }

    /// The virtual server that the caller uses.
    pub(crate) fn server(&self) -> Option<&ServerId> {
        self.shared.served.as_ref().map(|served| &served.server)
    }

    pub(crate) fn session_of(&self, asked: Selector) -> Selector {
        match (asked, &self.own_session) {
            (Selector::Default, Some(own)) => Selector::Named(own.clone()),
            (asked, _) => asked,
        }
    }

    /// The backend's name, unless it is the default.
    pub(crate) fn chosen_backend(&self) -> Option<&'static str> {
        (!self.shared.default_backend).then(|| self.shared.backend.name())
    }

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
            principal: self.principal.clone(),
            server: self.server().cloned(),
            front,
            language,
            code: code.and_then(|text| records.code(text)),
            limits,
            backend: self.shared.backend.name(),
            client: self.recorded_client(),
            searched: Searched::default(),
        }
    }

    /// The handler of one run's host calls.
    pub(crate) fn calls(&self, scope: RunScope) -> Arc<dyn HostCalls> {
        let shared = &self.shared;
        let calls = shared.broker.calls(self.principal.clone(), scope);
        let calls = match &shared.log {
            Some(log) => log.around(calls),
            None => calls,
        };
        match shared.workspaces.place_of_others(&self.principal) {
            Some(directory) => Arc::new(Adopting {
                calls,
                workspaces: shared.workspaces.clone(),
                principal: self.principal.clone(),
                directory,
            }),
            None => calls,
        }
    }
}
