//! The stage `log in` of a call: waits until its user has logged in to the server.

use std::future::pending;
use std::time::Duration;

use sandbox::CallContext;
use tokio::time::{sleep, timeout};
use types::{Principal, ToolRef};

use crate::call::ToolCall;
use crate::client::{LinkQuestion, PersonAnswer, RunPerson};
use crate::core::Core;
use crate::scope::RunScope;

/// Longest wait for one login.
const PATIENCE: Duration = Duration::from_secs(5 * 60);
/// Time limit for notifying the client of a finished login.
const TELLING: Duration = Duration::from_secs(2);

impl Core {
    /// Asks the person behind the client to log in, if the server takes each user's own login and this user has none.
    /// Stops the run's clock during the wait. If the person declines or takes too long, the call goes on and fails with
    /// the link.
    pub(crate) async fn log_in(
        &self,
        principal: &Principal,
        run: &RunScope,
        call: &ToolCall,
        context: &CallContext,
    ) {
        let Some(person) = &run.client.person else {
            return;
        };
        let catalog = self.snapshot.current().await;
        let Ok(server) = catalog.server(&call.server) else {
            return;
        };
        let tool = ToolRef::new(server.name.as_str(), call.tool.as_str());
        let is_allowed = self.rules.allow_calls() && self.admit_unconfirmed(principal, &tool).is_ok();
        if !is_allowed || !self.hub.awaits_login(principal, &server.name).await {
            return;
        }
        let _stopped = context.clock.stop();
        let mut asked = person.asked.lock().await;
        // An earlier call of the run may have asked meanwhile.
        if self.hub.awaits_login(principal, &server.name).await && asked.insert(server.name.clone()) {
            self.ask_for_login(principal, run, person, &server.name).await;
        }
    }

    async fn ask_for_login(&self, principal: &Principal, run: &RunScope, person: &RunPerson, server: &str) {
        // The call fails with the reason.
        let Ok(url) = self.hub.login_link(principal, server).await else {
            return;
        };
        let question = LinkQuestion {
            id: format!("{}-{server}", run.run),
            message: format!(
                "A program calls '{server}' as you. Log in at '{server}', and the program goes on."
            ),
            url,
        };
        let declined = async {
            match person.person.ask(&question).await {
                PersonAnswer::Declined => {}
                PersonAnswer::Agreed => pending().await,
            }
        };
        tokio::select! {
            () = self.hub.logged_in(principal, server) => {
                // A client that does not read must not delay the call.
                let _ = timeout(TELLING, person.person.done(&question)).await;
            }
            () = declined => {}
            () = sleep(PATIENCE) => {}
        }
    }
}
