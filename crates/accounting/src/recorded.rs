//! What is on record of the cost of a run: `store` writes and reads it, savings and advice add it up.

use std::collections::BTreeMap;

use types::ToolRef;

use crate::direct::ToolTokens;
use crate::estimates;
use crate::receipt::Receipt;

/// The numbers of a receipt that are recorded. Tokens of o200k.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedReceipt {
    /// The tools that the model sees and the instructions.
    pub definitions: u64,
    /// What the model wrote.
    pub written: u64,
    /// What the model was sent.
    pub read: u64,
    /// The text of the receipt, which is part of `read`; `None` in records of an older codeyard.
    pub receipt_text: Option<u64>,
    /// The searches since the run before.
    pub searched: u64,
    /// The definitions of all tools that the model could have called itself.
    pub direct_definitions: u64,
    /// Number of these tools.
    pub direct_tools: u64,
    /// What the calls would have cost the model.
    pub calls: BTreeMap<ToolRef, ToolTokens>,
}

/// One recorded run of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct RunCost {
    /// The id of the run.
    pub run: String,
    /// Number of the codeyard process that ran it. A process serves one session of a client.
    pub process: i64,
    /// The name by which the client introduced itself.
    pub client: Option<String>,
    /// `mcp`, `run` or `task`.
    pub front: String,
    /// Time of the request, in milliseconds since 1970.
    pub asked_ms: i64,
    /// Whether the program ran to its end.
    pub completed: bool,
    /// Bytes of the program.
    pub code_bytes: u64,
    /// Bytes of its result, its standard output and its standard error.
    pub shown_bytes: u64,
    /// Bytes of the queries and answers of searches since the run before.
    pub search_bytes: u64,
    /// The receipt, if tokens were counted.
    pub receipt: Option<RecordedReceipt>,
    /// The calls of servers' tools, one entry for each tool.
    pub calls: Vec<CallBytes>,
    /// Number of other calls: of tool files, which no client could make, and of resources and prompts, for which a client
    /// has other ways.
    pub other_calls: u64,
}

/// The recorded calls of one tool in one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallBytes {
    /// The tool.
    pub tool: ToolRef,
    /// Number of calls.
    pub calls: u64,
    /// Bytes of the arguments as JSON.
    pub arguments_bytes: u64,
    /// Bytes of the answers as the server sent them.
    pub answer_bytes: u64,
    /// Calls with an answer that is not an error.
    pub answered: u64,
}

impl From<&Receipt> for RecordedReceipt {
    fn from(receipt: &Receipt) -> RecordedReceipt {
        RecordedReceipt {
            definitions: receipt.definitions,
            written: receipt.written,
            read: receipt.read,
            receipt_text: Some(receipt.receipt_text),
            searched: receipt.searched,
            direct_definitions: receipt.direct.definitions.tokens,
            direct_tools: receipt.direct.definitions.tools as u64,
            calls: receipt.direct.calls.tools.clone(),
        }
    }
}

// === impl RunCost ===

impl RunCost {
    /// Whether a model asked for the run. Runs of the command line and of tasks cost no model anything.
    pub fn is_of_model(&self) -> bool {
        self.front == "mcp"
    }

    /// Tokens that the model wrote, was sent and searched.
    pub(crate) fn tokens(&self) -> u64 {
        match &self.receipt {
            Some(receipt) => receipt.written + receipt.read + receipt.searched,
            None => self.estimated_tokens(),
        }
    }

    pub(crate) fn estimated_tokens(&self) -> u64 {
        estimates::program(self.code_bytes)
            + estimates::shown(self.shown_bytes)
            + estimates::searched(self.search_bytes)
    }

    /// Tokens that the calls would have cost the model.
    pub(crate) fn direct_tokens(&self) -> u64 {
        match &self.receipt {
            Some(receipt) => receipt
                .calls
                .values()
                .map(|calls| calls.written + calls.read)
                .sum(),
            None => self.calls.iter().map(CallBytes::estimated_tokens).sum(),
        }
    }
}

// === impl CallBytes ===

impl CallBytes {
    pub(crate) fn estimated_tokens(&self) -> u64 {
        estimates::arguments(self.arguments_bytes) + estimates::answers(self.answer_bytes)
    }
}
