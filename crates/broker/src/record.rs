//! The record of a call, and the ways a call ends.

use catalog::Entry;
use serde_json::Value;
use serde_json::value::RawValue;
use store::{Arguments, CallMade, Records};
use tokio::time::Instant;
use types::{HostCallError, Principal, RunId, ToolRef};

/// The record of one call, from its start to [`CallRecord::end`].
pub(crate) struct CallRecord<'a> {
    records: &'a Records,
    principal: &'a Principal,
    run: &'a RunId,
    /// The tool as requested, until it is resolved.
    pub(crate) tool: ToolRef,
    /// Whether a definition has the tool.
    pub(crate) is_known: bool,
    arguments: Arguments,
    started: Instant,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Ending<'a> {
    /// The server answered, even if the tool reports an error.
    Answered(&'a RawValue),
    /// The tool is a file: the guest runs its function, and the program sees the result.
    InSandbox,
    Failed(&'a HostCallError),
    /// The run ended first, or the client cancelled.
    Cancelled,
}

// === impl CallRecord ===

impl<'a> CallRecord<'a> {
    pub(crate) fn new(records: &'a Records, principal: &'a Principal, run: &'a RunId, tool: ToolRef) -> Self {
        Self {
            records,
            principal,
            run,
            tool,
            is_known: false,
            arguments: Arguments::default(),
            started: Instant::now(),
        }
    }

    /// Adds the arguments' record, and the tool if found.
    pub(crate) fn know(&mut self, arguments: &Value, entry: Option<&Entry>) {
        if let Some(entry) = entry {
            self.tool.clone_from(&entry.tool);
            self.is_known = true;
        }
        let is_declared = |name: &str| entry.is_some_and(|entry| entry.declares(name));
        self.arguments = self.records.arguments(arguments, is_declared);
    }

    pub(crate) fn end(self, ending: Ending<'_>) {
        let duration = self.started.elapsed();
        self.log(ending, duration.as_secs_f64() * 1000.0);
        if !self.records.is_on() {
            return;
        }
        let call = CallMade {
            server: self.tool.server,
            tool: self.tool.tool,
            arguments: self.arguments,
            duration,
            outcome: ending.name().to_owned(),
            result_bytes: ending.bytes().map(|bytes| bytes as u64),
        };
        self.records.call(self.run, call);
    }

    fn log(&self, ending: Ending<'_>, milliseconds: f64) {
        let (tool, principal, bytes) = (&self.tool, self.principal, ending.bytes());
        match ending {
            Ending::Answered(_) => {
                tracing::debug!(%tool, %principal, milliseconds, bytes, "tool call answered")
            }
            Ending::InSandbox => tracing::debug!(%tool, %principal, "tool file allowed"),
            Ending::Cancelled => tracing::debug!(%tool, %principal, milliseconds, "tool call cancelled"),
            // The message may repeat arguments, and arguments are private to the program.
            Ending::Failed(error) => {
                let kind = error.kind.name();
                tracing::info!(%tool, %principal, milliseconds, kind, "tool call failed");
            }
        }
    }
}

// === impl Ending ===

impl Ending<'_> {
    fn name(self) -> &'static str {
        match self {
            Ending::Answered(answer) if is_tool_error(answer) => "tool_error",
            Ending::Answered(_) => "answered",
            Ending::InSandbox => "in_sandbox",
            Ending::Failed(error) => error.kind.name(),
            Ending::Cancelled => "cancelled",
        }
    }

    /// The kind of a failure, for spans.
    pub(crate) fn failure(self) -> Option<&'static str> {
        match self.name() {
            "answered" | "in_sandbox" => None,
            failure => Some(failure),
        }
    }

    /// Bytes of the answer.
    fn bytes(self) -> Option<usize> {
        match self {
            Ending::Answered(answer) => Some(answer.get().len()),
            Ending::InSandbox | Ending::Failed(_) | Ending::Cancelled => None,
        }
    }
}

/// Whether the tool reports an error. Searches the text first: most answers lack the field.
pub(crate) fn is_tool_error(answer: &RawValue) -> bool {
    #[derive(serde::Deserialize)]
    struct ResultFlags {
        #[serde(default, rename = "isError")]
        is_error: bool,
    }
    answer.get().contains("\"isError\"")
        && serde_json::from_str::<ResultFlags>(answer.get()).is_ok_and(|flags| flags.is_error)
}
