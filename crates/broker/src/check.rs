//! Holds a program against the tools that its principal may call, before it runs.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use catalog::{Catalog, Entry};
use check::{Program, Report, View};
use futures_util::future::join_all;
use policy::Policy;
use types::{Principal, ToolRef};

use crate::broker::{Broker, Shared};
use crate::call::OWN_TOOLS;
use crate::learner::LearnedTypes;
use crate::local::Lists;

/// Calls up to which a light program is held against the tools at once, where all schemas are compiled.
const FEW: usize = 50;

// === impl Broker ===

impl Broker {
    /// Finds the calls of a program that would fail. Servers that it names and that have not listed their tools are
    /// asked for them and waited for that long, unless that was in vain before; what is not known then is let through.
    pub async fn check(&self, principal: &Principal, program: Arc<Program>, patience: Duration) -> Report {
        let shared = &self.shared;
        let catalog = shared.listing(principal, &program, patience).await;
        let learned = shared.learner.learned(principal).await;
        let (policy, principal) = (shared.policy(), principal.clone());
        let lists = shared.lists.clone();
        if is_quick(&program, &catalog) {
            return judge(&program, &catalog, &learned, &lists, &policy, &principal);
        }
        let judged = tokio::task::spawn_blocking(move || {
            judge(&program, &catalog, &learned, &lists, &policy, &principal)
        });
        judged.await.unwrap_or_default()
    }
}

// === impl Shared ===

impl Shared {
    /// A catalog in which the servers that the program calls have listed their tools, as far as they do so in time.
    async fn listing(&self, principal: &Principal, program: &Program, patience: Duration) -> Arc<Catalog> {
        let catalog = self.snapshot.current().await;
        let policy = self.policy();
        let unlisted: BTreeSet<&str> = program
            .tools()
            .filter_map(|(server, tool)| {
                let server = catalog.find_server(server).filter(|server| !server.listed)?;
                // As for a call: a server of which nothing may be called is not started.
                let named = ToolRef::new(server.name.as_str(), tool);
                policy
                    .authorize_unconfirmed(principal, &named)
                    .is_ok()
                    .then_some(server.name.as_str())
            })
            .collect();
        if unlisted.is_empty() {
            return catalog;
        }
        // What fails here fails again at the call, which says why.
        let lists = unlisted
            .into_iter()
            .map(|server| self.hub.list_in_time(server, patience));
        join_all(lists).await;
        self.snapshot.current().await
    }
}

fn judge(
    program: &Program,
    catalog: &Catalog,
    learned: &LearnedTypes,
    lists: &Lists,
    policy: &Policy,
    principal: &Principal,
) -> Report {
    let may_call = |entry: &Entry| policy.authorize(principal, &entry.tool).is_ok();
    let view = View {
        catalog,
        may_call: &may_call,
        learned: &|entry| learned.of(entry),
        takes_positional: &|entry| lists.file(&entry.tool).is_some(),
        own_tools: &OWN_TOOLS,
    };
    check::judge(program, &view)
}

/// Whether the program is held against the tools within microseconds.
fn is_quick(program: &Program, catalog: &Catalog) -> bool {
    let tools = || program.tools();
    // For a wrong name the nearest right one is looked for among all.
    let is_compiled = |(server, tool)| {
        catalog
            .find(server, tool)
            .is_some_and(|entry| entry.is_compiled())
    };
    program.is_light() && tools().count() <= FEW && tools().all(is_compiled)
}
