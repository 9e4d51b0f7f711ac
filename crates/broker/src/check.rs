//! Checks a program against its principal's tools before the program runs.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use catalog::{ArgumentValidator, Catalog, Entry};
use check::{Program, Report, View};
use futures_util::future::join_all;
use types::{Principal, ToolRef};

use crate::broker::Broker;
use crate::call::SURFACE_TOOLS;
use crate::checks::Checks;
use crate::core::Core;
use crate::learner::LearnedTypes;

/// A small program with at most this many calls is checked without a thread if all schemas are compiled.
const FEW: usize = 50;

// === impl Broker ===

impl Broker {
    /// Finds calls of a program that would fail. Waits up to `patience` for the lists of servers that the program
    /// names, unless an earlier wait failed. Unknown tools pass.
    pub async fn check(&self, principal: &Principal, program: Arc<Program>, patience: Duration) -> Report {
        let core = &self.core;
        let catalog = core.listing(principal, &program, patience).await;
        let judging = ProgramCheck {
            program,
            catalog,
            learned: core.learner.learned(principal).await,
            core: core.clone(),
            principal: principal.clone(),
        };
        let checks = core.checks.clone();
        if let Some(ready) = judging.ready(&checks) {
            let check = |entry: &Entry| ready.get(&entry.tool).cloned();
            return judging.judge(&|entry| check(entry).unwrap_or_else(|| checks.of(entry)));
        }
        let judged = tokio::task::spawn_blocking(move || judging.judge(&|entry| checks.of(entry)));
        judged.await.unwrap_or_default()
    }
}

// === impl Core ===

impl Core {
    /// A catalog with the tools of the servers that the program calls, if the servers list them in time.
    async fn listing(&self, principal: &Principal, program: &Program, patience: Duration) -> Arc<Catalog> {
        let catalog = self.snapshot.current().await;
        let unlisted: BTreeSet<&str> = program
            .tools()
            .filter_map(|(server, tool)| {
                let server = catalog.find_server(server).filter(|server| !server.listed)?;
                // As in a call, a server whose tools are all forbidden is not started.
                let named = ToolRef::new(server.name.as_str(), tool);
                self.admit_unconfirmed(principal, &named)
                    .is_ok()
                    .then_some(server.name.as_str())
            })
            .collect();
        if unlisted.is_empty() {
            return catalog;
        }
        // The call will meet the same failure and report it.
        let lists = unlisted
            .into_iter()
            .map(|server| self.hub.list_in_time(principal, server, patience));
        join_all(lists).await;
        self.snapshot.current().await
    }
}

struct ProgramCheck {
    program: Arc<Program>,
    catalog: Arc<Catalog>,
    learned: LearnedTypes,
    core: Arc<Core>,
    principal: Principal,
}

// === impl ProgramCheck ===

impl ProgramCheck {
    fn judge(&self, check: &dyn Fn(&Entry) -> Arc<ArgumentValidator>) -> Report {
        let may_call = |entry: &Entry| self.core.may_call(&self.principal, entry);
        let view = View {
            catalog: &self.catalog,
            may_call: &may_call,
            check,
            learned: &|entry| self.learned.of(entry),
            takes_positional: &|entry| self.core.lists.file(&entry.tool).is_some(),
            own_tools: &SURFACE_TOOLS,
        };
        check::judge(&self.program, &view)
    }

    /// The checks of all tools that the program calls, if the check takes only microseconds.
    fn ready(&self, checks: &Checks) -> Option<HashMap<ToolRef, Arc<ArgumentValidator>>> {
        let tools = || self.program.tools();
        if !self.program.is_light() || tools().count() > FEW {
            return None;
        }
        // A wrong name needs a search over all names for the nearest name.
        let ready = tools().map(|(server, tool)| {
            let entry = self.catalog.find(server, tool)?;
            Some((entry.tool.clone(), checks.ready(entry)?))
        });
        ready.collect()
    }
}
