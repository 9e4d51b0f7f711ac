//! The check before a run, answered by the broker.

use std::sync::Arc;
use std::time::Duration;

use broker::Broker;
use check::{Program, Report};
use sandbox::BoxFuture;
use session::Check;
use types::Principal;

pub(crate) struct BeforeRun(pub(crate) Broker);

impl Check for BeforeRun {
    fn check<'a>(
        &'a self,
        principal: &'a Principal,
        program: Arc<Program>,
        patience: Duration,
    ) -> BoxFuture<'a, Report> {
        Box::pin(self.0.check(principal, program, patience))
    }
}
