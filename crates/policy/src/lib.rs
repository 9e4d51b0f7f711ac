//! Pure decisions: which tool may be called, and within which limits a program runs; no I/O, no lock.

mod access;
mod config;
mod limits;
mod mistake;
mod permit;
mod rules;
mod values;

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Map, Value};
use types::{Granted, Limits, Principal, ToolRef, ToolRules};

pub use access::Denied;
pub use config::{ConfigError, PolicyConfig};
pub use limits::{LimitError, LimitErrors, LimitRequest, TimeoutError};
pub use mistake::Mistake;
pub use permit::{Admission, Permit};

use access::Access;

/// The operator's rules and those of the servers' definitions, checked once; every decision is a lookup.
#[derive(Debug, Clone)]
pub struct Policy {
    access: Access,
    /// By the name of the server; those without rules of their own are not here.
    servers: HashMap<String, Access>,
    limits: Limits,
    max_wall_time: Duration,
}

/// What is wrong with the rules of a server's definition for its own tools; fields are `allow[0]` and so on.
///
/// # Errors
/// Every mistake, never none.
pub fn check_rules(server: &str, rules: &ToolRules) -> Result<(), Vec<Mistake>> {
    Access::of_server(server, rules).map(drop)
}

impl Policy {
    /// Checks the configuration; the error holds every mistake in it.
    pub fn new(config: PolicyConfig) -> Result<Policy, ConfigError> {
        config::check(config)
    }

    /// The same with the rules of these servers for their own tools in the place of those there are. A server whose rules
    /// are wrong, which [`check_rules`] says, may not be called at all.
    #[must_use]
    pub fn with_servers<'a>(&self, servers: impl IntoIterator<Item = (&'a str, &'a ToolRules)>) -> Policy {
        let with_rules = servers.into_iter().filter(|(_, rules)| !rules.is_empty());
        let read = with_rules.map(|(server, rules)| {
            let access = Access::of_server(server, rules).unwrap_or_else(|_| Access::none(rules));
            (server.to_owned(), access)
        });
        Policy {
            servers: read.collect(),
            ..self.clone()
        }
    }

    /// Decides whether `principal` may know `tool` and call it with some arguments: by the operator's rules and by those of
    /// the server's definition. A deny rule wins over every allow rule; without allow rules all tools are allowed.
    ///
    /// # Errors
    /// The rule that refuses the tool.
    pub fn admit(&self, principal: &Principal, tool: &ToolRef) -> Result<Admission, Denied> {
        self.access.decide(principal, tool)?;
        if let Some(own) = self.servers.get(&tool.server) {
            own.decide(principal, tool)?;
        }
        Ok(Admission::of(tool))
    }

    /// Decides whether `principal` may call the admitted tool with these arguments. Rules name tools only, so every admitted
    /// call is allowed.
    ///
    /// # Errors
    /// The rule that refuses the arguments.
    pub fn authorize(
        &self,
        _principal: &Principal,
        admission: Admission,
        arguments: &Map<String, Value>,
    ) -> Result<Permit, Denied> {
        Ok(admission.with(arguments))
    }

    /// Decides whether it is worth while to ask a server for its list: whether `principal` may call a tool that a program
    /// may spell so.
    pub fn admit_unconfirmed(&self, principal: &Principal, tool: &ToolRef) -> Result<(), Denied> {
        self.access.decide_unconfirmed(principal, tool)?;
        match self.servers.get(&tool.server) {
            Some(own) => own.decide_unconfirmed(principal, tool),
            None => Ok(()),
        }
    }

    /// Whether there may be a tool of this server that `principal` may call: what a rule says of all its tools is known before
    /// any is.
    pub fn may_see(&self, principal: &Principal, server: &str) -> bool {
        let own = self.servers.get(server);
        self.access.reaches(principal, server) && own.is_none_or(|own| own.reaches(principal, server))
    }

    /// The limits of one run: the operator's, with what the caller asked for where that is permitted.
    pub fn limits(&self, asked: &LimitRequest) -> Result<Granted, LimitErrors> {
        limits::decide(&self.limits, self.max_wall_time, asked)
    }

    /// The operator's limits with another wall time, if one is given.
    pub fn limits_within(&self, timeout: Option<Duration>) -> Result<Limits, TimeoutError> {
        limits::within(&self.limits, self.max_wall_time, timeout)
    }

    /// The longest wall time that a caller may ask for.
    pub fn longest(&self) -> Duration {
        self.max_wall_time
    }
}
