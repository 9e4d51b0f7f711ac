//! The path of a request that is passed on as it came: authorize, ask, record.

use policy::Denied;
use sandbox::HostCallError;
use serde_json::Value;
use serde_json::value::RawValue;
use types::{Principal, RunId, ToolRef};
use upstream::{Question, UpstreamError};

use crate::broker::{Broker, Shared};
use crate::call::Record;
use crate::error;

/// Why a request came to nothing.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RelayError {
    /// The policy refused.
    #[error("{0}")]
    Denied(Denied),
    /// The server failed or refused.
    #[error(transparent)]
    Upstream(#[from] UpstreamError),
}

impl Broker {
    /// Passes a request on to a server. A call of a tool needs what a program would need for it; any other request is
    /// judged as a tool of the name of its method, such as `resources/read`. It is recorded with `run`, if there is one.
    pub async fn relay(
        &self,
        principal: &Principal,
        run: Option<&RunId>,
        question: Question,
    ) -> Result<Box<RawValue>, RelayError> {
        self.shared.relay(principal, run, question).await
    }
}

impl Shared {
    pub(crate) async fn relay(
        &self,
        principal: &Principal,
        run: Option<&RunId>,
        question: Question,
    ) -> Result<Box<RawValue>, RelayError> {
        let tool = subject(&question);
        let Some(run) = run else {
            return self.ask(principal, tool, question).await;
        };
        self.records.room().await;
        let mut record = Record::new(&self.records, principal, run, tool.clone());
        let arguments = match question.method.as_str() {
            "tools/call" => question.params.get("arguments").cloned().unwrap_or_default(),
            _ => Value::Object(question.params.clone()),
        };
        let catalog = self.snapshot.current().await;
        let entry = catalog.resolve(&tool.server, &tool.tool).ok();
        record.know(&arguments, entry.map(AsRef::as_ref));
        let answer = self.ask(principal, tool, question).await;
        match &answer {
            Ok(answer) => record.answered(answer),
            Err(failed) => record.failed(&as_host_call(failed)),
        }
        answer
    }

    async fn ask(
        &self,
        principal: &Principal,
        tool: ToolRef,
        question: Question,
    ) -> Result<Box<RawValue>, RelayError> {
        let permit = self
            .policy()
            .authorize(principal, &tool)
            .map_err(RelayError::Denied)?;
        let question = Question {
            server: permit.into_tool().server,
            ..question
        };
        Ok(self.hub.ask(question).await?)
    }
}

/// The same failure as a program sees it.
pub(crate) fn as_host_call(failed: &RelayError) -> HostCallError {
    match failed {
        RelayError::Denied(denied) => error::denied(denied),
        RelayError::Upstream(failed) => error::upstream(failed),
    }
}

/// What the policy is asked about.
fn subject(question: &Question) -> ToolRef {
    let name = match question.method.as_str() {
        "tools/call" => question
            .params
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default(),
        method => method,
    };
    ToolRef::new(question.server.as_str(), name)
}
