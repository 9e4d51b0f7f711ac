//! The tokenizer, loaded when it is first asked for, and what was counted of definitions.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tiktoken_rs::CoreBPE;
use types::Tool;

use crate::definition::model_view;
use crate::pieces::pieces;

/// Lists of definitions whose count is remembered; a server that changes its list forever does not fill the memory.
const MOST_REMEMBERED: usize = 1024;

/// A handle of the tokenizer. Cheap to make and to clone; the first [`Counter::load`] takes a while and some memory.
#[derive(Clone, Default)]
pub struct Counter(Arc<OnceLock<Result<Tokenizer, Unloadable>>>);

/// The tokenizer's table could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("tokens cannot be counted: {0}")]
pub struct Unloadable(String);

/// Counts tokens.
pub struct Tokenizer {
    ranks: CoreBPE,
    /// Counts of lists of definitions by a hash of their texts.
    definitions: Mutex<HashMap<[u8; 32], u64>>,
}

// === impl Counter ===

impl Counter {
    /// The tokenizer. The first call reads its table; only from a thread that may block.
    ///
    /// # Errors
    /// If its table is damaged, which cannot be mended at run time.
    pub fn load(&self) -> Result<&Tokenizer, Unloadable> {
        let loaded = self.0.get_or_init(|| {
            let ranks = tiktoken_rs::o200k_base().map_err(|error| Unloadable(error.to_string()))?;
            Ok(Tokenizer {
                ranks,
                definitions: Mutex::default(),
            })
        });
        loaded.as_ref().map_err(Clone::clone)
    }
}

impl std::fmt::Debug for Counter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Counter")
            .field("loaded", &self.0.get().is_some())
            .finish()
    }
}

// === impl Tokenizer ===

impl Tokenizer {
    /// Tokens of a text of any length, in memory that does not grow with it; a long stretch without a border between words
    /// is counted in parts, a token or two too many for each 64 KiB.
    pub fn text(&self, text: &str) -> u64 {
        pieces(text).map(|piece| self.piece(piece)).sum()
    }

    /// Tokens of the definitions that one server listed, as a model is sent them: one array. None for none.
    pub fn definitions(&self, tools: &[Value]) -> u64 {
        if tools.is_empty() {
            return 0;
        }
        let sent: Vec<Value> = tools.iter().map(model_view).collect();
        self.text(&Value::from(sent).to_string())
    }

    /// The same of tools as they are kept; what was counted before is remembered by content.
    pub fn tools(&self, tools: &[&Tool]) -> u64 {
        let key = key(tools);
        let remembered = || self.definitions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(counted) = remembered().get(&key) {
            return *counted;
        }
        // What was kept as a definition has been read before.
        let read = |tool: &&Tool| serde_json::from_str(tool.definition().get()).unwrap_or_default();
        let definitions: Vec<Value> = tools.iter().map(read).collect();
        let counted = self.definitions(&definitions);
        let mut known = remembered();
        if known.len() >= MOST_REMEMBERED {
            known.clear();
        }
        known.insert(key, counted);
        counted
    }

    fn piece(&self, piece: &str) -> u64 {
        // Not the infallible form: it panics where a text of white space only is too long for the pattern.
        if let Ok((tokens, _)) = self.ranks.encode(piece, &HashSet::new()) {
            return tokens.len() as u64;
        }
        // Such a text is counted in halves, a token too many for each cut at most.
        let (left, right) = piece.split_at(piece.floor_char_boundary(piece.len() / 2));
        if left.is_empty() || right.is_empty() {
            return piece.len() as u64;
        }
        self.piece(left) + self.piece(right)
    }
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
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;

    fn tokenizer(counter: &Counter) -> &Tokenizer {
        counter.load().expect("a table")
    }

    #[test]
    fn texts_and_definitions_are_counted_as_their_makers_count_them() {
        let counter = Counter::default();
        let tokenizer = tokenizer(&counter);
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
        let kept = Tool::parse(to_raw_value(&tool).expect("JSON")).expect("a tool");
        assert_eq!(tokenizer.tools(&[&kept]), tokenizer.text(sent));
        assert_eq!(tokenizer.tools(&[&kept]), tokenizer.text(sent));
        assert_eq!((tokenizer.definitions(&[]), tokenizer.tools(&[])), (0, 0));
    }

    #[test]
    fn long_texts_have_the_tokens_of_the_whole() {
        let counter = Counter::default();
        let tokenizer = tokenizer(&counter);
        let whole = |text: &str| tokenizer.ranks.encode_ordinary(text).len() as u64;
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
    fn what_the_pattern_cannot_take_is_counted_in_halves() {
        let counter = Counter::default();
        let tokens = tokenizer(&counter).text(&" ".repeat(1_200_000));
        assert!((1..100_000).contains(&tokens), "{tokens}");
    }
}
