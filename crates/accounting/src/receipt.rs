//! A run's cost for a model in tokens, and the cost of the same calls without codeyard.

use std::time::Duration;

use serde_json::{Map, Value, json};
use types::Usage;
use types::numbers::counted;

use crate::difference;
use crate::direct::DirectCost;
use crate::searches::SearchTexts;
use crate::tokens::{ENCODING, Tokenizer};

/// Cost of one run. Tokens of o200k.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Receipt {
    /// Codeyard's visible tools and the instructions, once per session.
    pub definitions: u64,
    /// Arguments that the model wrote.
    pub written: u64,
    /// Text sent to the model, including this receipt.
    pub read: u64,
    /// Text of this receipt, part of `read`.
    pub receipt_text: u64,
    /// Searches for tools since the previous run.
    pub searches: u64,
    /// Queries and answers of these searches.
    pub searched: u64,
    /// Cost without codeyard.
    pub direct: DirectCost,
    /// Bytes of answers not sent to the model.
    pub bytes_kept_out: u64,
}

/// Inputs of a receipt.
#[derive(Debug)]
pub struct ReceiptInput {
    /// Codeyard's tools that the model sees, as listed.
    pub tools: Vec<Value>,
    /// The surface's instructions.
    pub instructions: &'static str,
    /// Arguments of the call as JSON.
    pub written: String,
    /// Texts of the answer without a receipt.
    pub read: String,
    /// Searches since the previous run.
    pub searches: SearchTexts,
    /// Cost without codeyard.
    pub direct: DirectCost,
    /// The run's use of the machine's resources, also part of a receipt.
    pub usage: Usage,
    /// The receipt's form for the model.
    pub form: ReceiptForm,
}

/// The form of a receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiptForm {
    /// Lines below the text.
    Lines,
    /// The field `receipt` of a JSON text.
    Field,
}

/// Tokens of a surface's tools and instructions, paid once per session.
pub fn surface_tokens(tokenizer: &Tokenizer, tools: &[Value], instructions: &str) -> u64 {
    tokenizer.definitions(tools) + tokenizer.text(instructions)
}

// === impl Receipt ===

impl Receipt {
    /// Counts a run's cost.
    pub fn count(tokenizer: &Tokenizer, input: ReceiptInput) -> Receipt {
        let read = tokenizer.text(&input.read);
        let read_bytes = input.read.len() as u64;
        let mut receipt = Receipt {
            definitions: surface_tokens(tokenizer, &input.tools, input.instructions),
            written: tokenizer.text(&input.written),
            read,
            receipt_text: 0,
            searches: input.searches.searches,
            searched: input.searches.tokens(tokenizer),
            bytes_kept_out: input.direct.calls.read_bytes.saturating_sub(read_bytes),
            direct: input.direct,
        };
        // The receipt counts itself, which changes its length. Two rounds give a stable count.
        for _ in 0..2 {
            let text = match input.form {
                ReceiptForm::Lines => receipt.lines(&input.usage),
                ReceiptForm::Field => json!({"receipt": receipt.json(&input.usage)}).to_string(),
            };
            receipt.receipt_text = tokenizer.text(&text);
            receipt.read = read + receipt.receipt_text;
        }
        receipt
    }

    /// Tokens with codeyard.
    pub fn total(&self) -> u64 {
        self.definitions + self.written + self.read + self.searched
    }

    /// Tokens without codeyard.
    pub fn direct_total(&self) -> u64 {
        self.direct.definitions.tokens + self.direct.calls.written + self.direct.calls.read
    }

    /// Tokens saved; negative if the run cost more.
    pub fn saved(&self) -> i64 {
        difference(self.direct_total(), self.total())
    }

    /// Tokens saved by the run and its calls alone; negative if the run cost more.
    pub fn saved_without_definitions(&self) -> i64 {
        let direct = self.direct.calls.written + self.direct.calls.read;
        difference(direct, self.total() - self.definitions)
    }

    /// The fields of structured content.
    pub fn fields(&self) -> Value {
        let (calls, definitions) = (&self.direct.calls, &self.direct.definitions);
        json!({
            "tokens": {
                "encoding": ENCODING,
                "codeyard": {
                    "definitions": self.definitions,
                    "written": self.written,
                    "read": self.read,
                    "searched": self.searched,
                    "total": self.total(),
                },
                "direct": {
                    "definitions": definitions.tokens,
                    "written": calls.written,
                    "read": calls.read,
                    "total": self.direct_total(),
                },
                "saved": self.saved(),
                "saved_without_definitions": self.saved_without_definitions(),
            },
            "definitions_of": {
                "tools": definitions.tools,
                "servers": definitions.servers,
                "unlisted_servers": definitions.unlisted,
            },
            "calls": {"made": calls.calls, "failed": calls.failed, "uncounted": calls.uncounted},
            "searches": self.searches,
            "bytes_kept_out": self.bytes_kept_out,
        })
    }

    /// The run's use of resources, followed by [`Receipt::fields`].
    pub fn json(&self, usage: &Usage) -> Value {
        let mut json = usage_json(usage);
        if let (Value::Object(json), Value::Object(fields)) = (&mut json, self.fields()) {
            json.extend(fields);
        }
        json
    }

    /// Two lines for a model or a person.
    pub fn lines(&self, usage: &Usage) -> String {
        let (calls, definitions) = (&self.direct.calls, &self.direct.definitions);
        let asides = [(calls.failed, "failed"), (calls.uncounted, "not counted whole")];
        let asides = asides.into_iter().filter(|(number, _)| *number > 0);
        let asides: Vec<String> = asides.map(|(number, what)| format!("{number} {what}")).collect();
        let asides = match asides.as_slice() {
            [] => String::new(),
            asides => format!(" ({})", asides.join(", ")),
        };
        let searched = match self.searches {
            0 => String::new(),
            _ => format!(" + {} searched", self.searched),
        };
        let unlisted = match definitions.unlisted {
            0 => String::new(),
            unlisted => format!(", {unlisted} not listed yet"),
        };
        format!(
            "receipt: {}{asides} in {} ms; {} tokens written + {} read{searched}; direct calls {} + {}; {}; {} bytes kept out\n\
             definitions once a session: {} tokens; direct {} ({} of {}{unlisted}); with them {}",
            counted(calls.calls, "call"),
            rounded(usage.wall),
            self.written,
            self.read,
            calls.written,
            calls.read,
            balance(self.saved_without_definitions()),
            self.bytes_kept_out,
            self.definitions,
            definitions.tokens,
            counted(definitions.tools, "tool"),
            counted(definitions.servers, "server"),
            balance(self.saved()),
        )
    }
}

/// A run's use of resources, without resources that the machine cannot measure.
pub fn usage_json(usage: &Usage) -> Value {
    let mut fields = Map::new();
    fields.insert("wall_ms".to_owned(), ms(usage.wall));
    if let Some(cpu) = usage.cpu {
        fields.insert("cpu_ms".to_owned(), ms(cpu));
    }
    if let Some(bytes) = usage.peak_memory {
        fields.insert("peak_memory_bytes".to_owned(), json!(bytes));
    }
    if let Some(bytes) = usage.bytes_written {
        fields.insert("bytes_written".to_owned(), json!(bytes));
    }
    fields.insert("host_calls".to_owned(), json!(usage.host_calls));
    Value::Object(fields)
}

fn ms(duration: Duration) -> Value {
    json!((duration.as_secs_f64() * 1e6).round() / 1e3)
}

fn rounded(duration: Duration) -> String {
    format!("{:.1}", duration.as_secs_f64() * 1000.0)
}

fn balance(saved: i64) -> String {
    match saved {
        0.. => format!("saved {saved}"),
        more => format!("cost {} more", more.unsigned_abs()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::direct::{DirectCalls, DirectDefinitions};

    fn input(read: &str, direct: DirectCost) -> ReceiptInput {
        let mut searches = SearchTexts::default();
        searches.add("{\"query\":\"mail\"}", "mailbox.send_mail");
        ReceiptInput {
            tools: vec![json!({"name": "execute_code", "description": "Runs.", "inputSchema": {}})],
            instructions: "Call tools.",
            written: "{\"code\":\"1\"}".to_owned(),
            read: read.to_owned(),
            searches,
            direct,
            usage: Usage {
                wall: Duration::from_micros(1540),
                ..Usage::default()
            },
            form: ReceiptForm::Lines,
        }
    }

    fn direct(calls: u64, read: u64) -> DirectCost {
        DirectCost {
            calls: DirectCalls {
                calls,
                failed: calls / 2,
                written: 30,
                read,
                read_bytes: read * 4,
                uncounted: 0,
                tools: BTreeMap::new(),
            },
            definitions: DirectDefinitions {
                tokens: 900,
                tools: 12,
                servers: 1,
                unlisted: calls.try_into().expect("few"),
            },
        }
    }

    #[test]
    fn everything_that_a_model_reads_counts_the_receipt_itself_too() {
        let tokenizer = Tokenizer::load().expect("a table");
        for (calls, read) in [(0, 0), (2, 5000)] {
            let input = input("four words of text", direct(calls, read));
            let usage = input.usage;
            let receipt = Receipt::count(&tokenizer, input);
            assert_eq!(
                receipt.read,
                4 + tokenizer.text(&receipt.lines(&usage)),
                "{receipt:?}"
            );
            assert_eq!(
                receipt.total(),
                receipt.definitions + receipt.written + receipt.read + receipt.searched
            );
        }
    }

    #[test]
    fn a_receipt_reports_savings_and_extra_costs() {
        let receipt = Receipt {
            definitions: 190,
            written: 40,
            read: 60,
            receipt_text: 50,
            searches: 2,
            searched: 100,
            direct: direct(2, 5000),
            bytes_kept_out: 19_000,
        };
        let usage = Usage {
            wall: Duration::from_micros(1540),
            ..Usage::default()
        };
        assert_eq!(
            receipt.lines(&usage),
            "receipt: 2 calls (1 failed) in 1.5 ms; 40 tokens written + 60 read + 100 searched; direct calls 30 + 5000; saved \
             4830; 19000 bytes kept out\ndefinitions once a session: 190 tokens; direct 900 (12 tools of 1 server, 2 not \
             listed yet); with them saved 5540"
        );
        let small = Receipt {
            direct: direct(0, 10),
            ..receipt
        };
        assert!(
            small.lines(&usage).contains("; cost 160 more; "),
            "{}",
            small.lines(&usage)
        );
        assert_eq!(small.fields()["tokens"]["saved_without_definitions"], -160);
        let mut partly = small;
        partly.direct.calls.uncounted = 1;
        assert_eq!(partly.fields()["calls"]["uncounted"], 1);
        let lines = partly.lines(&usage);
        assert!(
            lines.starts_with("receipt: 0 calls (1 not counted whole) in "),
            "{lines}"
        );
    }
}
