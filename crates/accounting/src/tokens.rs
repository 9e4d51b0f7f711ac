//! Counts texts, tool definitions and tool answers in tokens of o200k.

mod answer;
mod pieces;

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tiktoken_rs::CoreBPE;
use types::Tool;

pub use self::answer::answer_text;
use self::pieces::pieces;

/// Official name of the encoding.
pub const ENCODING: &str = "o200k_base";

/// Maximum cached counts, because a server may change its list any number of times.
const MAX_REMEMBERED: usize = 1024;

/// Counts tokens.
pub struct Tokenizer(CoreBPE);

/// The table of the encoding is damaged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("tokens cannot be counted: {0}")]
pub struct TokenTableError(String);

/// Tokens of counted definition lists, by a hash of the list.
#[derive(Debug, Default)]
pub struct DefinitionCounts(HashMap<[u8; 32], u64>);

// === impl Tokenizer ===

impl Tokenizer {
    /// Decodes the compiled-in table: tens of milliseconds and about 20 MB of memory.
    ///
    /// # Errors
    /// If the compiled-in table is damaged. A retry does not help.
    pub fn load() -> Result<Tokenizer, TokenTableError> {
        let ranks = tiktoken_rs::o200k_base().map_err(|error| TokenTableError(error.to_string()))?;
        Ok(Tokenizer(ranks))
    }

    /// Tokens of a text of any length, in bounded memory. Counts a long word in parts, which adds at most two
    /// tokens for each 64 KiB.
    pub fn text(&self, text: &str) -> u64 {
        pieces(text).map(|piece| self.piece(piece)).sum()
    }

    /// Tokens of one server's definitions as clients send them: one array; 0 without definitions.
    pub fn definitions(&self, tools: &[Value]) -> u64 {
        if tools.is_empty() {
            return 0;
        }
        let sent: Vec<Value> = tools.iter().map(model_view).collect();
        self.text(&Value::from(sent).to_string())
    }

    fn piece(&self, piece: &str) -> u64 {
        // The infallible variant panics on white space that is too long for the pattern.
        if let Ok((tokens, _)) = self.0.encode(piece, &HashSet::new()) {
            return tokens.len() as u64;
        }
        // Count the text in halves. Each cut adds at most one token.
        let (left, right) = piece.split_at(piece.floor_char_boundary(piece.len() / 2));
        if left.is_empty() || right.is_empty() {
            return piece.len() as u64;
        }
        self.piece(left) + self.piece(right)
    }
}

impl std::fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokenizer").finish_non_exhaustive()
    }
}

// === impl DefinitionCounts ===

impl DefinitionCounts {
    /// [`Tokenizer::definitions`] for parsed tools; caches counts of lists.
    pub fn count(&mut self, tokenizer: &Tokenizer, tools: &[&Tool]) -> u64 {
        let key = key(tools);
        if let Some(tokens) = self.0.get(&key) {
            return *tokens;
        }
        // A `Tool` was parsed before, so its text is JSON.
        let parsed = |tool: &&Tool| serde_json::from_str(tool.definition().get()).unwrap_or_default();
        let definitions: Vec<Value> = tools.iter().map(parsed).collect();
        let tokens = tokenizer.definitions(&definitions);
        if self.0.len() >= MAX_REMEMBERED {
            self.0.clear();
        }
        self.0.insert(key, tokens);
        tokens
    }
}

/// The three fields of a definition that a client sends its model: no titles, annotations or output schemas.
fn model_view(definition: &Value) -> Value {
    json!({
        "name": definition["name"],
        "description": definition["description"],
        "inputSchema": definition["inputSchema"],
    })
}

fn key(tools: &[&Tool]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for tool in tools {
        let text = tool.definition().get();
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::to_raw_value;

    use super::*;

    fn tokenizer() -> Tokenizer {
        Tokenizer::load().expect("a table")
    }

    #[test]
    fn counts_of_texts_and_definitions_equal_the_reference_counts() {
        let tokenizer = tokenizer();
        let mut counts = DefinitionCounts::default();
        let check = |text: &str, tokens: u64| assert_eq!(tokenizer.text(text), tokens, "{text}");
        check("", 0);
        check("one two three", 3);
        check("<|endoftext|>", 7);
        check("{\"limit\":2}", 5);
        let tool = json!({"name": "list", "description": "Lists.", "inputSchema": {"type": "object"},
            "outputSchema": {"long": "schema"}, "title": "List"});
        let sent = r#"[{"name":"list","description":"Lists.","inputSchema":{"type":"object"}}]"#;
        assert_eq!(
            tokenizer.definitions(std::slice::from_ref(&tool)),
            tokenizer.text(sent)
        );
        let parsed = Tool::parse(to_raw_value(&tool).expect("JSON")).expect("a tool");
        for _ in 0..2 {
            assert_eq!(counts.count(&tokenizer, &[&parsed]), tokenizer.text(sent));
        }
        assert_eq!(
            (tokenizer.definitions(&[]), counts.count(&tokenizer, &[])),
            (0, 0)
        );
    }

    #[test]
    fn pieces_of_a_long_text_sum_to_its_count() {
        let tokenizer = tokenizer();
        let whole = |text: &str| tokenizer.0.encode_ordinary(text).len() as u64;
        let check = |text: &str| assert_eq!(tokenizer.text(text), whole(text), "{}", &text[..40]);
        check(&"{\"name\":\"Ann O'Neill's\", \"n\": 1234.5, \"t\":\"x\\ny\"}\n".repeat(5000));
        check(&"Größe, señor; naïve 42% a1b2 I'LL  \n\n  we'd\t".repeat(5000));
        check(&"x".repeat(200_000));
        let words = prop::collection::vec("[a-zA-Z0-9äß漢 '\"{}:,.\n\t/-]{1,12}", 20_000..30_000);
        let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(3));
        let held = runner.run(&words, |words| {
            let text = words.concat();
            prop_assert_eq!(tokenizer.text(&text), whole(&text));
            Ok(())
        });
        held.expect("the same count");
    }

    #[test]
    fn text_that_is_too_long_for_the_pattern_is_counted_in_halves() {
        let tokens = tokenizer().text(&" ".repeat(1_200_000));
        assert!((1..100_000).contains(&tokens), "{tokens}");
    }
}
