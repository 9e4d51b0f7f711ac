//! An attempt to run a program, as these tests record it.

use store::{Attempt, Front, Records, RunRecord};
use types::{Principal, RunId, SessionName};

/// The attempt with this id, of the local principal.
pub fn attempt(id: impl Into<String>) -> Attempt {
    Attempt {
        run: RunId::new(id),
        principal: Principal::local(),
        server: None,
        front: Front::Mcp,
        language: Some("python"),
        code: None,
        limits: None,
        backend: "process",
        client: None,
        searched: store::Searched::default(),
    }
}

/// Records the attempt as accepted for the session `default`.
pub fn accept(records: &Records, attempt: Attempt) -> RunRecord {
    let mut record = records.attempt(attempt);
    record.accepted(Some(&SessionName::new("default")));
    record
}
