//! Counts tokens of the real messages with the tokenizer of current models.

use serde_json::{Value, json};
use server::RecordedCall;
use tiktoken_rs::CoreBPE;

use super::peer::{Exchange, Introduction};

/// Counts in o200k.
pub struct Counter(CoreBPE);

/// What one way of working costs a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// Definitions of tools and instructions, sent before the first question.
    pub definitions: usize,
    /// What the model writes: arguments of its calls.
    pub written: usize,
    /// What the model reads: texts of the results.
    pub read: usize,
}

impl Cost {
    pub fn total(self) -> usize {
        self.definitions + self.written + self.read
    }
}

impl Counter {
    pub fn new() -> anyhow::Result<Self> {
        Ok(Self(tiktoken_rs::o200k_base()?))
    }

    fn count(&self, text: &str) -> usize {
        self.0.encode_ordinary(text).len()
    }

    /// What a model is sent of tools: names, descriptions and input schemas.
    pub fn definitions(&self, tools: &[Value]) -> usize {
        if tools.is_empty() {
            return 0;
        }
        let sent: Vec<Value> = tools
            .iter()
            .map(|tool| {
                json!({"name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"]})
            })
            .collect();
        self.count(&Value::from(sent).to_string())
    }

    /// The cost of the programs.
    pub fn of_programs(&self, introduction: &Introduction, exchanges: &[&Exchange]) -> Cost {
        Cost {
            definitions: self.definitions(&introduction.tools) + self.count(&introduction.instructions),
            written: exchanges
                .iter()
                .map(|exchange| self.count(&exchange.written.to_string()))
                .sum(),
            read: exchanges.iter().map(|exchange| self.count(&exchange.read)).sum(),
        }
    }

    /// The cost of the same tool calls made by the model itself.
    pub fn of_direct_calls(&self, tools: &[Value], calls: &[RecordedCall]) -> Cost {
        Cost {
            definitions: self.definitions(tools),
            written: calls
                .iter()
                .map(|call| self.count(&call.arguments.to_string()))
                .sum(),
            read: calls.iter().map(|call| self.count(&answer_text(call))).sum(),
        }
    }
}

/// The text of a server's answer that a client puts before its model.
pub fn answer_text(call: &RecordedCall) -> String {
    match &call.answer {
        Err(error) => error.message.clone(),
        Ok(raw) => {
            let answer: Value = serde_json::from_str(raw).unwrap_or_default();
            let blocks = answer["content"].as_array().cloned().unwrap_or_default();
            let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
            texts.join("\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(answer: Value) -> RecordedCall {
        RecordedCall {
            server: "crm".to_owned(),
            tool: "list".to_owned(),
            arguments: json!({"limit": 2}),
            answer: Ok(answer.to_string()),
        }
    }

    #[test]
    fn what_a_model_reads_is_the_text() {
        let answer = json!({"content": [{"type": "text", "text": "a b"}, {"type": "text", "text": "c"}], "structuredContent": {"x": 1}});
        assert_eq!(answer_text(&call(answer)), "a b\nc");
    }

    #[test]
    fn costs_add_up() {
        let counter = Counter::new().unwrap();
        let tools = [
            json!({"name": "list", "description": "Lists.", "inputSchema": {}, "outputSchema": {"long": "schema"}}),
        ];
        let cost = counter.of_direct_calls(
            &tools,
            &[call(
                json!({"content": [{"type": "text", "text": "one two three"}]}),
            )],
        );
        assert_eq!(cost.read, 3);
        assert_eq!(cost.written, counter.count("{\"limit\":2}"));
        assert_eq!(cost.total(), cost.definitions + cost.written + 3);
    }
}
