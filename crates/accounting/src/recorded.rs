//! Recorded costs of runs, which `store` writes and reads, and which savings and advice sum.

use std::collections::BTreeMap;

use types::ToolRef;

use crate::direct::ToolTokens;
use crate::estimates;
use crate::receipt::Receipt;

/// The recorded numbers of a receipt. Tokens of o200k.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedReceipt {
    /// The visible tools and the instructions.
    pub definitions: u64,
    /// Written by the model.
    pub written: u64,
    /// Sent to the model.
    pub read: u64,
    /// Text of the receipt, part of `read`; `None` in records of an older codeyard.
    pub receipt_text: Option<u64>,
    /// Searches since the previous run.
    pub searched: u64,
    /// Definitions of all tools that the model could have called itself.
    pub direct_definitions: u64,
    /// Number of these tools.
    pub direct_tools: u64,
    /// Cost of the calls for the model.
    pub calls: BTreeMap<ToolRef, ToolTokens>,
}

/// A recorded run of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct RunCost {
    /// Id of the run.
    pub run: String,
    /// Number of the codeyard process, which serves one session of a client.
    pub process: i64,
    /// The client's own name.
    pub client: Option<String>,
    /// `mcp`, `run` or `task`.
    pub front: String,
    /// Time of the request, in milliseconds since 1970.
    pub asked_ms: i64,
    /// Whether the program completed.
    pub completed: bool,
    /// Length of the program.
    pub code_bytes: u64,
    /// Bytes of the result, standard output and standard error.
    pub shown_bytes: u64,
    /// Bytes of queries and answers since the previous run.
    pub search_bytes: u64,
    /// The receipt, if tokens were counted.
    pub receipt: Option<RecordedReceipt>,
    /// Calls of servers' tools, one entry for each tool.
    pub calls: Vec<CallBytes>,
    /// Number of other calls: tool files, resources and prompts, which a client would not call as tools.
    pub other_calls: u64,
}

/// The recorded calls of one tool in one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallBytes {
    /// The tool called.
    pub tool: ToolRef,
    /// Number of calls.
    pub calls: u64,
    /// Bytes of the arguments as JSON.
    pub arguments_bytes: u64,
    /// Bytes of the answers as sent.
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
    /// Whether a model requested the run. Runs of the command line and of tasks cost no model tokens.
    pub fn is_of_model(&self) -> bool {
        self.front == "mcp"
    }

    /// Tokens written, read and searched by the model.
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

    /// Tokens of the calls for a model without codeyard.
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
