//! Cost of a run's calls and its tools' definitions for a model that calls the tools itself.

use std::collections::BTreeMap;

use types::ToolRef;

use crate::tokens::{Tokenizer, answer_text};

/// Maximum tools of one run with their own sum, because a program can invent any number of names.
const MAX_TOOLS: usize = 4096;

/// A model's cost without codeyard.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DirectCost {
    /// Cost of the calls.
    pub calls: DirectCalls,
    /// Cost of the definitions.
    pub definitions: DirectDefinitions,
}

/// A run's calls as direct calls of the model. Tokens of o200k.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DirectCalls {
    /// All calls, including failed ones.
    pub calls: u64,
    /// Calls that were refused, unanswered, or answered with an error.
    pub failed: u64,
    /// Tokens of the arguments as JSON.
    pub written: u64,
    /// Tokens of the answers' texts.
    pub read: u64,
    /// Bytes of these texts.
    pub read_bytes: u64,
    /// Calls with uncounted arguments or answer, because counting had no capacity in time.
    pub uncounted: u64,
    /// Sums by tool. Tools beyond the limit are one tool of the server `(others)`.
    pub tools: BTreeMap<ToolRef, ToolTokens>,
}

/// The calls of one tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolTokens {
    /// Number of calls.
    pub calls: u64,
    /// Tokens of the arguments.
    pub written: u64,
    /// Tokens of the answers' texts.
    pub read: u64,
}

/// Definitions that a directly connected client would send its model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DirectDefinitions {
    /// Tokens of names, descriptions and input schemas.
    pub tokens: u64,
    /// Tools that the policy allows.
    pub tools: usize,
    /// Servers that have listed their tools.
    pub servers: usize,
    /// Servers that have not listed their tools; `tokens` excludes their definitions.
    pub unlisted: usize,
}

/// A call with its counts.
#[derive(Debug)]
pub struct CountedCall {
    /// The tool called.
    pub tool: ToolRef,
    /// The call failed.
    pub failed: bool,
    /// Tokens of the arguments; `None` if uncounted.
    pub arguments: Option<u64>,
    /// The answer; `None` if uncounted.
    pub answer: Option<AnswerTokens>,
}

/// Tokens of one answer for a model.
#[derive(Debug, Default)]
pub struct AnswerTokens {
    tokens: u64,
    bytes: u64,
}

// === impl AnswerTokens ===

impl AnswerTokens {
    /// Counts a `CallToolResult`.
    pub fn of_result(tokenizer: &Tokenizer, result: &str) -> AnswerTokens {
        AnswerTokens::of_text(tokenizer, &answer_text(result))
    }

    /// Counts the message of an unanswered call.
    pub fn of_text(tokenizer: &Tokenizer, text: &str) -> AnswerTokens {
        AnswerTokens {
            tokens: tokenizer.text(text),
            bytes: text.len() as u64,
        }
    }
}

// === impl DirectCalls ===

impl DirectCalls {
    /// Adds one call.
    pub fn add(&mut self, call: CountedCall) {
        let is_whole = call.arguments.is_some() && call.answer.is_some();
        let (written, answer) = (
            call.arguments.unwrap_or_default(),
            call.answer.unwrap_or_default(),
        );
        self.calls += 1;
        self.failed += u64::from(call.failed);
        self.written += written;
        self.read += answer.tokens;
        self.read_bytes += answer.bytes;
        self.uncounted += u64::from(!is_whole);
        let has_room = self.tools.len() < MAX_TOOLS || self.tools.contains_key(&call.tool);
        let tool = match has_room {
            true => call.tool,
            false => ToolRef::new("(others)", ""),
        };
        let tool = self.tools.entry(tool).or_default();
        tool.calls += 1;
        tool.written += written;
        tool.read += answer.tokens;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(tool: &str, arguments: Option<u64>, answer: Option<AnswerTokens>) -> CountedCall {
        CountedCall {
            tool: ToolRef::new("crm", tool),
            failed: false,
            arguments,
            answer,
        }
    }

    #[test]
    fn tools_beyond_the_bound_are_one_sum() {
        let mut calls = DirectCalls::default();
        for number in 0..MAX_TOOLS + 6 {
            calls.add(call(
                &format!("tool_{number}"),
                Some(1),
                Some(AnswerTokens::default()),
            ));
        }
        calls.add(call("tool_0", Some(1), Some(AnswerTokens::default())));
        assert_eq!(calls.tools.len(), MAX_TOOLS + 1);
        assert_eq!(calls.tools[&ToolRef::new("(others)", "")].calls, 6);
        assert_eq!(calls.tools[&ToolRef::new("crm", "tool_0")].calls, 2);
        assert_eq!((calls.written, calls.uncounted), (MAX_TOOLS as u64 + 7, 0));
    }

    #[test]
    fn a_partly_counted_call_counts_as_uncounted() {
        let mut calls = DirectCalls::default();
        calls.add(call("find", Some(5), None));
        calls.add(call("find", None, Some(AnswerTokens { tokens: 3, bytes: 13 })));
        assert_eq!((calls.calls, calls.uncounted), (2, 2));
        assert_eq!((calls.written, calls.read, calls.read_bytes), (5, 3, 13));
    }
}
