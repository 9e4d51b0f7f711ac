//! Tokens of the demo's programs for a model, and tokens of direct calls.

use accounting::{Tokenizer, surface_tokens};
use serde_json::Value;
use server::RecordedCall;

use super::peer::{Exchange, Introduction};

/// Tokens by purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// Tool definitions and instructions, sent before the first question.
    pub definitions: u64,
    /// Arguments of calls.
    pub written: u64,
    /// Texts of results.
    pub read: u64,
}

impl Cost {
    pub fn total(self) -> u64 {
        self.definitions + self.written + self.read
    }
}

pub fn of_programs(tokenizer: &Tokenizer, introduction: &Introduction, exchanges: &[&Exchange]) -> Cost {
    let written = exchanges
        .iter()
        .map(|exchange| tokenizer.text(&exchange.written.to_string()));
    let read = exchanges.iter().map(|exchange| tokenizer.text(&exchange.read));
    Cost {
        definitions: surface_tokens(tokenizer, &introduction.tools, &introduction.instructions),
        written: written.sum(),
        read: read.sum(),
    }
}

/// The cost of the same tool calls made directly by the model.
pub fn of_direct_calls(tokenizer: &Tokenizer, tools: &[Value], calls: &[RecordedCall]) -> Cost {
    let written = calls
        .iter()
        .map(|call| tokenizer.text(&call.arguments.to_string()));
    let read = calls.iter().map(|call| tokenizer.text(&answer_text(call)));
    Cost {
        definitions: tokenizer.definitions(tools),
        written: written.sum(),
        read: read.sum(),
    }
}

/// The part of a server's answer that a client shows its model.
pub fn answer_text(call: &RecordedCall) -> String {
    match &call.answer {
        Err(error) => error.message.clone(),
        Ok(raw) => accounting::answer_text(raw),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn costs_add_up() {
        let tokenizer = Tokenizer::load().unwrap();
        let tools = [json!({"name": "list", "description": "Lists.", "inputSchema": {}})];
        let answer = json!({"content": [{"type": "text", "text": "one two three"}]});
        let call = RecordedCall {
            server: "crm".to_owned(),
            tool: "list".to_owned(),
            arguments: json!({"limit": 2}),
            answer: Ok(answer.to_string()),
        };
        let cost = of_direct_calls(&tokenizer, &tools, &[call]);
        assert_eq!(cost.read, 3);
        assert_eq!(cost.written, tokenizer.text("{\"limit\":2}"));
        assert_eq!(cost.total(), cost.definitions + cost.written + 3);
    }
}
