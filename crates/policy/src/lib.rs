//! Pure decisions about calls of tools and limits of programs; no I/O, no lock.

mod access;
mod config;
mod limits;
mod mistake;
mod permit;
mod rules;
mod sandbox;
mod values;

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Map, Value};
use types::{Granted, Limits, Principal, ToolGlobs, ToolRef, ToolRules};

pub use access::Denied;
pub use config::{ConfigError, PolicyConfig};
pub use limits::{LimitError, LimitErrors, LimitRequest, TimeoutError};
pub use mistake::Mistake;
pub use permit::{Admission, Permit};
pub use sandbox::{FileAccess, check_globs};

use access::Access;

/// The rules of the operator and of the servers' definitions, checked once.
#[derive(Debug, Clone)]
pub struct Policy {
    access: Access,
    /// Rules by server name; only servers with their own rules.
    servers: HashMap<String, Access>,
    /// The rules of the policy's virtual server.
    virtual_server: Option<Access>,
    limits: Limits,
    max_wall_time: Duration,
}

/// Checks the rules of a server's definition for its own tools.
///
/// # Errors
/// Every mistake, at least one; its field is `allow[0]` and so on.
pub fn check_rules(server: &str, rules: &ToolRules) -> Result<(), Vec<Mistake>> {
    Access::of_server(server, rules).map(drop)
}

impl Policy {
    /// Checks the configuration; the error holds every mistake in it.
    pub fn new(config: PolicyConfig) -> Result<Policy, ConfigError> {
        config::check(config)
    }

    /// Replaces all servers' own rules. A server with wrong rules (see [`check_rules`]) may not be called.
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

    /// This policy for one virtual server, whose globs must also allow a call.
    ///
    /// # Errors
    /// Every wrong glob, at least one; its field is `tools.allow[0]` and so on.
    pub fn for_virtual_server(&self, globs: &ToolGlobs) -> Result<Policy, Vec<Mistake>> {
        Ok(Policy {
            virtual_server: Some(Access::of_virtual_server(globs)?),
            ..self.clone()
        })
    }

    /// This policy without any tool.
    #[must_use]
    pub fn without_tools(&self) -> Policy {
        Policy {
            virtual_server: Some(Access::none(&ToolRules::default())),
            ..self.clone()
        }
    }

    /// Decides whether `principal` may know `tool` and call it with some arguments. The operator, the server's
    /// definition and the virtual server must all allow the tool. A deny rule overrides every allow rule. Without allow
    /// rules, all tools are allowed.
    ///
    /// # Errors
    /// The rule that refuses the tool.
    pub fn admit(&self, principal: &Principal, tool: &ToolRef) -> Result<Admission, Denied> {
        self.access.decide(principal, tool)?;
        if let Some(own) = self.servers.get(&tool.server) {
            own.decide(principal, tool)?;
        }
        if let Some(virtual_server) = &self.virtual_server {
            virtual_server.decide(principal, tool)?;
        }
        Ok(Admission::of(tool))
    }

    /// Decides whether `principal` may call the admitted tool with these arguments. Rules name only tools, so
    /// every admitted call is allowed.
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

    /// Whether `principal` may call a tool that a program may spell this way. Otherwise, the server's tool list is not
    /// needed.
    pub fn admit_unconfirmed(&self, principal: &Principal, tool: &ToolRef) -> Result<(), Denied> {
        self.access.decide_unconfirmed(principal, tool)?;
        let others = [self.servers.get(&tool.server), self.virtual_server.as_ref()];
        let mut others = others.into_iter().flatten();
        others.try_for_each(|other| other.decide_unconfirmed(principal, tool))
    }

    /// Whether `principal` may call some tool of this server. Only rules that cover all its tools can refuse the server
    /// before its tools are known.
    pub fn may_see(&self, principal: &Principal, server: &str) -> bool {
        let others = [self.servers.get(server), self.virtual_server.as_ref()];
        let mut all = others.into_iter().flatten().chain([&self.access]);
        all.all(|access| access.reaches(principal, server))
    }

    /// The limits of one run: the operator's limits, with permitted changes by the caller.
    pub fn limits(&self, asked: &LimitRequest) -> Result<Granted, LimitErrors> {
        limits::decide(&self.limits, self.max_wall_time, asked)
    }

    /// The operator's limits with this wall time, if given.
    pub fn limits_within(&self, timeout: Option<Duration>) -> Result<Limits, TimeoutError> {
        limits::within(&self.limits, self.max_wall_time, timeout)
    }

    /// Longest wall time that a caller may request.
    pub fn longest(&self) -> Duration {
        self.max_wall_time
    }
}
