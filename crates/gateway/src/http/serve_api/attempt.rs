//! Records a refused attempt at an administrative change before the refusal is sent.

use std::collections::BTreeMap;

use identity::{Identity, Route};
use rest::RestError;

use super::refusal::ApiRefusal;
use crate::http::api::{Api, RefusedAttempt};

/// A request of an identified caller at a route whose refusals are recorded.
pub(super) struct Attempt {
    route: Route,
    identity: Identity,
    parameters: BTreeMap<String, String>,
}

impl Attempt {
    /// `None` if the route's refusals are not recorded.
    pub(super) fn of(
        route: Route,
        identity: &Identity,
        parameters: &BTreeMap<String, String>,
    ) -> Option<Attempt> {
        route.audited()?;
        Some(Attempt {
            route,
            identity: identity.clone(),
            parameters: parameters.clone(),
        })
    }
}

/// The refusal, once recorded; otherwise the error of the recording.
pub(super) async fn recorded(api: &dyn Api, attempt: Option<&Attempt>, refusal: ApiRefusal) -> ApiRefusal {
    let Some(attempt) = attempt else {
        return refusal;
    };
    let problem: Option<&RestError> = match &refusal {
        ApiRefusal::Rest(problem) | ApiRefusal::Scope(problem, _) => Some(problem),
        _ => None,
    };
    let refused = RefusedAttempt {
        route: attempt.route,
        identity: &attempt.identity,
        parameters: &attempt.parameters,
        status: refusal.status(),
        problem,
    };
    match api.refused(refused).await {
        Ok(()) => refusal,
        Err(problem) => problem.into(),
    }
}
