//! What is connected: every server with the number of its tools, or with what went wrong.

use serde::Serialize;
use types::Principal;
use upstream::Status;

use crate::core::Core;

/// One server, for somebody who asks what there is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServerSummary {
    /// Its name in programs, as in `tools.<server>`.
    pub server: String,
    /// How many of its tools may be called; absent while they are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<usize>,
    /// What it is for, if its definition or the server itself says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Why it does not work, in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl Core {
    /// Every name of a server or a directory of tool files, as it is written and as programs write it.
    pub(crate) fn all_names(&self) -> Vec<String> {
        let listed = self.lists.now();
        let names = listed.iter().map(|server| server.name.as_str());
        let aliases = catalog::aliases(names.clone());
        names.map(str::to_owned).chain(aliases).collect()
    }

    /// The names in programs of all servers of which `principal` may see something, sorted.
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

    /// All servers by name; asks those that were never asked for their tools.
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
                // A server of which the policy denies everything is not shown.
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
