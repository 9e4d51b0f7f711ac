//! How upstream servers are, for answers.

use std::collections::HashMap;

use rest::UpstreamHealth;
use upstream::{Hub, ServerState, Status};
use upstream_wire::Era;

use crate::api::metrics::word;

/// The states of all servers at one moment, by name.
#[derive(Debug, Default)]
pub(super) struct HealthOf(HashMap<String, ServerState>);

impl HealthOf {
    pub(super) fn now(hub: &Hub) -> HealthOf {
        let states = hub.states().into_iter();
        HealthOf(states.map(|state| (state.name.clone(), state)).collect())
    }

    pub(super) fn of(&self, server: &str) -> UpstreamHealth {
        let Some(state) = self.0.get(server) else {
            return UpstreamHealth {
                state: word(&Status::Idle),
                ..UpstreamHealth::default()
            };
        };
        let cause = match &state.status {
            Status::Suspended { cause } | Status::NeedsLogin { cause } | Status::Failed { cause } => {
                Some(cause.clone())
            }
            Status::Idle | Status::Starting | Status::Running => None,
        };
        UpstreamHealth {
            state: word(&state.status),
            tools: state.tools,
            protocol: state.era.map(Era::name),
            last_error: cause.or_else(|| state.last_error.clone()),
            checked_at: state.checked_ms.map(rest::time),
        }
    }
}

/// A server whose definition cannot be used.
pub(super) fn unusable(why: &str) -> UpstreamHealth {
    UpstreamHealth {
        state: "failed",
        last_error: Some(why.to_owned()),
        ..UpstreamHealth::default()
    }
}

pub(super) fn disabled() -> UpstreamHealth {
    UpstreamHealth {
        state: "disabled",
        ..UpstreamHealth::default()
    }
}

/// Errors may name addresses and programs, so only those who manage the server see them.
pub(super) fn without_error(health: UpstreamHealth) -> UpstreamHealth {
    UpstreamHealth {
        last_error: None,
        ..health
    }
}
