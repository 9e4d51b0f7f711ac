//! Every server with its number of tools, or with its error.

use serde::Serialize;
use types::Principal;
use upstream::Status;

use crate::core::Core;

/// Summary of one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServerSummary {
    /// Name in programs, as in `tools.<server>`.
    pub server: String,
    /// Number of callable tools; absent while unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<usize>,
    /// Purpose, if the definition or the server states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Why the server does not work, in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl Core {
    /// All names of servers and tool file directories, as configured and as in programs.
    pub(crate) fn all_names(&self) -> Vec<String> {
        let listed = self.lists.now();
        let names = listed.iter().map(|server| server.name.as_str());
        let aliases = catalog::aliases(names.clone());
        names.map(str::to_owned).chain(aliases).collect()
    }

    /// Program names of all servers with something visible to `principal`, sorted.
    pub(crate) fn server_names(&self, principal: &Principal) -> Vec<String> {
        let listed = self.lists.now();
        let names = listed.iter().map(|server| server.name.as_str());
        let policy = self.policy();
        let mut seen: Vec<String> = names
            .clone()
            .zip(catalog::aliases(names))
            .filter_map(|(name, alias)| {
                let is_visible = self.hub.may_use(principal, name) && policy.may_see(principal, name);
                is_visible.then_some(alias)
            })
            .collect();
        seen.sort_unstable();
        seen
    }

    /// All servers by name; requests unknown tool lists.
    pub(crate) async fn server_summaries(&self, principal: &Principal) -> Vec<ServerSummary> {
        self.look().await;
        let catalog = self.discovered().await;
        let states = self.hub.states();
        let problem = |name: &str| {
            let state = states.iter().find(|state| state.name == name)?;
            match &state.status {
                Status::Suspended { cause } | Status::NeedsLogin { cause } | Status::Failed { cause } => {
                    Some(cause.lines().next().unwrap_or_default().to_owned())
                }
                Status::Idle | Status::Starting | Status::Running => None,
            }
        };
        let mut servers: Vec<ServerSummary> = catalog
            .servers()
            .filter_map(|server| {
                let callable = server.entries().filter(|entry| self.may_call(principal, entry));
                let callable = callable.count();
                // A server whose tools are all denied is hidden.
                let is_hidden = !self.hub.may_use(principal, &server.name)
                    || callable == 0 && server.entries().next().is_some();
                (!is_hidden).then(|| ServerSummary {
                    server: server.alias.clone(),
                    tools: server.listed.then_some(callable),
                    description: server.description.clone(),
                    problem: problem(&server.name),
                })
            })
            .collect();
        servers.sort_by(|one, other| one.server.cmp(&other.server));
        servers
    }
}
