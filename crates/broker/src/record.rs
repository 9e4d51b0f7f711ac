//! What is recorded of a call, also of one that is given up.

use catalog::Entry;
use sandbox::HostCallError;
use serde_json::Value;
use serde_json::value::RawValue;
use store::{Arguments, CallMade, Records};
use tokio::time::Instant;
use types::{Principal, RunId, ToolRef};

use crate::call::is_tool_error;

/// How the call of a tool file ends in the records: the sandbox ran it.
const IN_SANDBOX: &str = "in_sandbox";

/// The record of one call. A call is given up by dropping its future, so the record is written when it is dropped.
pub(crate) struct Record<'a> {
    records: &'a Records,
    principal: &'a Principal,
    run: &'a RunId,
    /// As asked for until the tool is resolved.
    pub(crate) tool: ToolRef,
    arguments: Arguments,
    pub(crate) started: Instant,
    /// How it ended and how long the answer is; absent if nobody waited for its end.
    end: Option<(String, Option<u64>)>,
}

// === impl Record ===

impl<'a> Record<'a> {
    pub(crate) fn new(records: &'a Records, principal: &'a Principal, run: &'a RunId, tool: ToolRef) -> Self {
        Self {
            records,
            principal,
            run,
            tool,
            arguments: Arguments::default(),
            started: Instant::now(),
            end: None,
        }
    }

    /// Takes in what is kept of the arguments, and the tool if it was found.
    pub(crate) fn know(&mut self, arguments: &Value, entry: Option<&Entry>) {
        if let Some(entry) = entry {
            self.tool.clone_from(&entry.tool);
        }
        let is_declared = |name: &str| entry.is_some_and(|entry| entry.declares(name));
        self.arguments = self.records.arguments(arguments, is_declared);
    }

    pub(crate) fn answered(&mut self, answer: &RawValue) {
        let (milliseconds, bytes) = (self.milliseconds(), answer.get().len());
        let (tool, principal) = (&self.tool, self.principal);
        tracing::debug!(%tool, %principal, milliseconds, bytes, "tool call answered");
        let outcome = if is_tool_error(answer) {
            "tool_error"
        } else {
            "answered"
        };
        self.end = Some((outcome.to_owned(), Some(bytes as u64)));
    }

    /// The guest goes on with the call: what becomes of it is a matter of the program.
    pub(crate) fn handed_over(&mut self) {
        let (tool, principal) = (&self.tool, self.principal);
        tracing::debug!(%tool, %principal, "tool file allowed");
        self.end = Some((IN_SANDBOX.to_owned(), None));
    }

    pub(crate) fn is_handed_over(&self) -> bool {
        self.end.is_some()
    }

    pub(crate) fn failed(&mut self, error: &HostCallError) {
        let milliseconds = self.milliseconds();
        // The message may repeat arguments, which belong to the program.
        let (tool, principal, kind) = (&self.tool, self.principal, error.kind.as_str());
        tracing::info!(%tool, %principal, milliseconds, kind, "tool call failed");
        self.end = Some((kind.to_owned(), None));
    }

    fn milliseconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64() * 1000.0
    }
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        if !self.records.is_on() {
            return;
        }
        let (outcome, result_bytes) = self.end.take().unwrap_or_else(|| ("cancelled".to_owned(), None));
        self.records.call(
            self.run,
            CallMade {
                server: std::mem::take(&mut self.tool.server),
                tool: std::mem::take(&mut self.tool.tool),
                arguments: std::mem::take(&mut self.arguments),
                duration: self.started.elapsed(),
                outcome,
                result_bytes,
            },
        );
    }
}
