//! Pure decisions: which tool may be called, and within which limits a program runs; no I/O, no lock.

mod access;
mod config;
mod limits;
mod rules;
mod values;

use std::time::Duration;

use types::{Granted, Limits, Principal, ToolRef};

pub use access::{Denied, Permit};
pub use config::{Config, ConfigError, Mistake, Requirement};
pub use limits::{Asked, LimitError, LimitErrors, TimeoutError};

use access::Access;

/// The operator's rules, checked once; every decision is a lookup.
#[derive(Debug, Clone)]
pub struct Policy {
    access: Access,
    limits: Limits,
    max_wall_time: Duration,
    require: Requirement,
}

impl Policy {
    /// Checks the configuration; the error holds every mistake in it.
    pub fn new(config: Config) -> Result<Policy, ConfigError> {
        config::check(config)
    }

    /// Decides whether `principal` may call `tool`. A deny rule wins over every allow rule; without allow rules
    /// all tools are allowed.
    pub fn authorize(&self, principal: &Principal, tool: &ToolRef) -> Result<Permit, Denied> {
        self.access.decide(principal, tool)
    }

    /// The limits of one run: the operator's, with what the caller asked for where that is permitted.
    pub fn limits(&self, asked: &Asked) -> Result<Granted, LimitErrors> {
        limits::decide(&self.limits, self.max_wall_time, asked)
    }

    /// The operator's limits with another wall time, if one is given.
    pub fn limits_within(&self, timeout: Option<Duration>) -> Result<Limits, TimeoutError> {
        limits::within(&self.limits, self.max_wall_time, timeout)
    }

    /// What a sandbox must give.
    pub fn requirement(&self) -> Requirement {
        self.require
    }
}
