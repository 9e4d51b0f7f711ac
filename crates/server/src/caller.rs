//! One principal on a host: who asks, with the client and the defaults.

use std::sync::{Arc, OnceLock};

use broker::RunScope;
use gateway::Clients;
use sandbox::HostCalls;
use store::{Attempt, Code, Front, Searched};
use types::{Answers, CheckMode, Limits, Principal, Selector, SessionName};
use upstream_wire::DownstreamClient;

use crate::calls::adopting::Adopting;
use crate::host::{Host, HostParts};

/// A principal with its client and its defaults. Everything that runs, reads or calls goes through one. Cheap to clone.
#[derive(Clone)]
pub struct Caller {
    pub(crate) shared: Arc<HostParts>,
    pub(crate) principal: Principal,
    pub(crate) defaults: Arc<Defaults>,
    /// The name of the client, once the client has said it.
    pub(crate) client: Arc<OnceLock<String>>,
    /// The client as servers reach it, on the surface `standard`.
    pub(crate) downstream: Arc<OnceLock<Arc<dyn DownstreamClient>>>,
    /// The session of runs that name none; without it that is the principal's default one.
    pub(crate) own_session: Option<SessionName>,
}

/// What a caller gets who asks for nothing else.
pub(crate) struct Defaults {
    /// What happens with the findings of the check before a run.
    pub(crate) check: CheckMode,
    /// How results are written for models.
    pub(crate) answers: Answers,
    /// Whether the tokens of runs are counted.
    pub(crate) receipt: bool,
    /// Whether clients of the surface `code` see the names of servers.
    pub(crate) names_servers: bool,
    /// Tools that clients of the surface `code` see beside its own.
    pub(crate) expose: settings::Expose,
}

impl Caller {
    /// The host of this caller.
    pub fn host(&self) -> Host {
        Host {
            shared: self.shared.clone(),
        }
    }

    /// The same for another connection. One client's own has a session of its own.
    pub(crate) fn for_connection(&self, clients: Clients) -> Caller {
        Caller {
            client: Arc::default(),
            downstream: Arc::default(),
            own_session: match clients {
                Clients::One => Some(session::mint_own_session()),
                Clients::Many => None,
            },
            ..self.clone()
        }
    }

    /// The session of a run that asks for this one.
    pub(crate) fn session_of(&self, asked: Selector) -> Selector {
        match (asked, &self.own_session) {
            (Selector::Default, Some(own)) => Selector::Named(own.clone()),
            (asked, _) => asked,
        }
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
            principal: self.principal.clone(),
            front,
            language,
            // Looking at all of a program is not for nothing only where it is recorded.
            code: code.filter(|_| records.is_on()).map(Code::of),
            limits,
            backend: self.shared.backend.name(),
            client: self.client.get().cloned(),
            searched: Searched::default(),
        }
    }

    /// What answers the host calls of one run.
    pub(crate) fn calls(&self, scope: RunScope) -> Arc<dyn HostCalls> {
        let shared = &self.shared;
        let calls = shared.broker.calls(self.principal.clone(), scope);
        let calls = match &shared.log {
            Some(log) => log.record(calls),
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
