//! What a run cost a model in tokens, beside what the same calls would have cost it without codeyard.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use broker::{Definitions, DirectCalls};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};
use tokens::{Counter, ENCODING, Tokenizer, difference};
use types::Usage;
use types::numbers::counted;

/// Bytes of searches that are kept until the next run; what is beyond counts as many tokens a byte as they have. Their text is
/// kept because only a receipt is worth loading the tokenizer.
const MOST_SEARCHED: usize = 64 * 1024;

/// How receipts are taken.
#[derive(Debug, Clone, Default)]
pub struct Receipts {
    /// Whether one is taken where the caller does not say.
    pub default: bool,
    /// What counts.
    pub counter: Counter,
}

/// What a model would have paid without codeyard.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DirectCost {
    /// For the calls.
    pub calls: DirectCalls,
    /// For knowing the tools.
    pub definitions: Definitions,
}

/// What a run cost. Tokens of o200k.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Receipt {
    /// Of the tools that the model sees here and the instructions, once a session.
    pub definitions: u64,
    /// Of what the model wrote: the arguments of the call.
    pub written: u64,
    /// Of the text that it is sent, this receipt included.
    pub read: u64,
    /// Of this receipt, as it is read.
    pub own: u64,
    /// SearchLog for tools since the run before.
    pub searches: u64,
    /// Of these, both ways.
    pub searched: u64,
    /// What it would have paid without codeyard.
    pub direct: DirectCost,
    /// Bytes of answers that it is not sent.
    pub bytes_kept_out: u64,
}

/// What is counted, and in which form the receipt is read.
pub(crate) struct ReceiptInput {
    /// The tools that the model sees, as they are listed.
    pub(crate) tools: Value,
    pub(crate) instructions: &'static str,
    /// The arguments of the call as JSON.
    pub(crate) written: String,
    /// The texts of the answer without a receipt.
    pub(crate) read: String,
    pub(crate) searched: SearchTexts,
    pub(crate) direct: DirectCost,
    pub(crate) usage: Usage,
    pub(crate) form: ReceiptForm,
}

/// How a model reads a receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReceiptForm {
    /// As lines below the text.
    Lines,
    /// As a field of the text, which is JSON.
    Field,
}

/// The searches of a client's model since its last run.
#[derive(Debug, Default)]
pub(crate) struct SearchLog(Mutex<SearchTexts>);

/// Some searches: what was asked and what was answered.
#[derive(Debug, Default)]
pub(crate) struct SearchTexts {
    pub(crate) searches: u64,
    pub(crate) bytes: u64,
    texts: String,
}

// === impl SearchLog ===

impl SearchLog {
    pub(crate) fn add(&self, asked: &str, answered: &str) {
        let bytes = (asked.len() + answered.len()) as u64;
        let mut searched = self.searched();
        searched.searches += 1;
        searched.bytes += bytes;
        // They are two messages: no token reaches over a line's end.
        for text in [asked, "\n", answered, "\n"] {
            searched.keep(text);
        }
    }

    /// What was searched since the last time this was asked.
    pub(crate) fn take(&self) -> SearchTexts {
        std::mem::take(&mut self.searched())
    }

    /// Gives back what was taken for a run that came to nothing.
    pub(crate) fn put_back(&self, mut before: SearchTexts) {
        let mut searched = self.searched();
        before.searches += searched.searches;
        before.bytes += searched.bytes;
        before.keep(&searched.texts);
        *searched = before;
    }

    fn searched(&self) -> std::sync::MutexGuard<'_, SearchTexts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl SearchTexts ===

impl SearchTexts {
    /// Keeps as much of a text as there is room for.
    fn keep(&mut self, text: &str) {
        let room = MOST_SEARCHED.saturating_sub(self.texts.len());
        self.texts.push_str(&text[..text.floor_char_boundary(room)]);
    }

    fn tokens(&self, tokenizer: &Tokenizer) -> u64 {
        let counted = tokenizer.text(&self.texts);
        // What was not kept has as many tokens a byte as what was.
        match self.texts.len() as u64 {
            0 => 0,
            kept => counted * self.bytes.max(kept) / kept,
        }
    }
}

// === impl Receipt ===

impl Receipt {
    /// Counts on a thread for blocking work; `None` if tokens cannot be counted, which is told in the log.
    pub(crate) async fn take(counter: Counter, input: ReceiptInput) -> Option<Receipt> {
        let counted = tokio::task::spawn_blocking(move || {
            let tokenizer = counter.load()?;
            Ok::<_, tokens::Unloadable>(Receipt::count(tokenizer, input))
        });
        match counted.await.ok()? {
            Ok(receipt) => Some(receipt),
            Err(error) => {
                tracing::warn!("there is no receipt: {error}");
                None
            }
        }
    }

    pub(crate) fn count(tokenizer: &Tokenizer, input: ReceiptInput) -> Receipt {
        let tools = input.tools.as_array().map(Vec::as_slice).unwrap_or_default();
        let sent_bytes = input.read.len() as u64;
        let read = tokenizer.text(&input.read);
        let mut receipt = Receipt {
            definitions: tokenizer.definitions(tools) + tokenizer.text(input.instructions),
            written: tokenizer.text(&input.written),
            read,
            own: 0,
            searches: input.searched.searches,
            searched: input.searched.tokens(tokenizer),
            bytes_kept_out: input.direct.calls.read_bytes.saturating_sub(sent_bytes),
            direct: input.direct,
        };
        // What it says of itself counts too; its length changes with its numbers, and not a second time.
        for _ in 0..2 {
            let own = match input.form {
                ReceiptForm::Lines => receipt.lines(&input.usage),
                ReceiptForm::Field => json!({"receipt": receipt.field(&input.usage)}).to_string(),
            };
            receipt.own = tokenizer.text(&own);
            receipt.read = read + receipt.own;
        }
        receipt
    }

    /// What it cost with codeyard.
    pub fn total(&self) -> u64 {
        self.definitions + self.written + self.read + self.searched
    }

    /// What it would have cost without.
    pub fn direct_total(&self) -> u64 {
        self.direct.definitions.tokens + self.direct.calls.written + self.direct.calls.read
    }

    /// How much less it cost, all in all; below zero if it cost more.
    pub fn saved(&self) -> i64 {
        difference(self.direct_total(), self.total())
    }

    /// The same for the run and its calls only.
    pub fn saved_without_definitions(&self) -> i64 {
        let direct = self.direct.calls.written + self.direct.calls.read;
        difference(direct, self.total() - self.definitions)
    }

    /// The fields that structured content has.
    pub fn fields(&self) -> Map<String, Value> {
        let (calls, definitions) = (&self.direct.calls, &self.direct.definitions);
        let fields = json!({
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
        });
        match fields {
            Value::Object(fields) => fields,
            _ => Map::new(),
        }
    }

    /// These, and what the run used.
    fn field(&self, usage: &Usage) -> Value {
        let mut field = usage_json(usage);
        if let Value::Object(field) = &mut field {
            field.extend(self.fields());
        }
        field
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

    /// Adds it to an answer, with what the run used.
    pub(crate) fn add_to(&self, result: &mut CallToolResult, usage: &Usage, form: ReceiptForm) {
        let own = self.field(usage);
        if let Some(Value::Object(structured)) = &mut result.structured_content {
            structured.insert("receipt".to_owned(), own.clone());
        }
        match form {
            ReceiptForm::Lines => result.content.push(ContentBlock::text(self.lines(usage))),
            ReceiptForm::Field => {
                let first = result.content.first_mut();
                let read = first
                    .as_ref()
                    .and_then(|first| serde_json::from_str(&first.as_text()?.text).ok());
                if let (Some(first), Some(Value::Object(mut fields))) = (first, read) {
                    fields.insert("receipt".to_owned(), own);
                    *first = ContentBlock::text(Value::Object(fields).to_string());
                }
            }
        }
    }
}

/// The texts of an answer, as a client puts them before its model.
pub(crate) fn texts(result: &CallToolResult) -> String {
    let texts = result.content.iter().filter_map(ContentBlock::as_text);
    let texts: Vec<&str> = texts.map(|text| text.text.as_str()).collect();
    texts.join("\n")
}

/// What a run used; what the machine cannot tell is left out.
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
    use super::*;

    fn input(read: &str, direct: DirectCost) -> ReceiptInput {
        let searches = SearchLog::default();
        searches.add("{\"query\":\"mail\"}", "mailbox.send_mail");
        ReceiptInput {
            tools: json!([{"name": "execute_code", "description": "Runs.", "inputSchema": {}}]),
            instructions: "Call tools.",
            written: "{\"code\":\"1\"}".to_owned(),
            read: read.to_owned(),
            searched: searches.take(),
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
                tools: Vec::new(),
            },
            definitions: Definitions {
                tokens: 900,
                tools: 12,
                servers: 1,
                unlisted: calls.try_into().expect("few"),
            },
        }
    }

    #[test]
    fn everything_that_a_model_reads_counts_the_receipt_itself_too() {
        let counter = Counter::default();
        let tokenizer = counter.load().expect("a table");
        for (calls, read) in [(0, 0), (2, 5000)] {
            let input = input("four words of text", direct(calls, read));
            let usage = input.usage;
            let receipt = Receipt::count(tokenizer, input);
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
    fn a_receipt_says_what_was_saved_and_what_cost_more() {
        let receipt = Receipt {
            definitions: 190,
            written: 40,
            read: 60,
            own: 50,
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

    #[test]
    fn searches_of_a_run_that_came_to_nothing_belong_to_the_next() {
        let searches = SearchLog::default();
        searches.add("a", "b");
        let taken = searches.take();
        searches.add("c", "d");
        searches.put_back(taken);
        let all = searches.take();
        assert_eq!(
            (all.searches, all.bytes, all.texts.as_str()),
            (2, 4, "a\nb\nc\nd\n")
        );
    }

    #[test]
    fn searches_beyond_what_is_kept_count_by_their_bytes() {
        let searches = SearchLog::default();
        for _ in 0..4 {
            searches.add("{\"query\":\"mail\"}", &"a tool ".repeat(MOST_SEARCHED / 14));
        }
        let searched = searches.take();
        let counter = Counter::default();
        let tokens = searched.tokens(counter.load().expect("a table"));
        assert_eq!(searched.searches, 4);
        assert!(searched.texts.len() <= MOST_SEARCHED);
        assert!(tokens > 4 * (MOST_SEARCHED as u64 / 14), "{tokens}");
        assert_eq!(searches.take().searches, 0);
    }
}
