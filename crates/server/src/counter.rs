//! The tokenizer of this process, loaded by the first count, with remembered counts of definitions.

use std::sync::{LazyLock, Mutex, PoisonError};

use accounting::{DefinitionCounts, TokenTableError, Tokenizer};
use types::Tool;

/// Counts on blocking threads; the first count loads the tokenizer.
#[derive(Debug)]
pub(crate) struct TokenCounter {
    tokenizer: LazyLock<Result<Tokenizer, TokenTableError>>,
    definitions: Mutex<DefinitionCounts>,
}

impl Default for TokenCounter {
    fn default() -> TokenCounter {
        TokenCounter {
            tokenizer: LazyLock::new(Tokenizer::load),
            definitions: Mutex::default(),
        }
    }
}

impl TokenCounter {
    pub(crate) fn tokenizer(&self) -> Result<&Tokenizer, TokenTableError> {
        self.tokenizer.as_ref().map_err(Clone::clone)
    }

    /// Tokens of one server's definitions; an unchanged list is not counted again.
    pub(crate) fn definitions(&self, tools: &[&Tool]) -> Result<u64, TokenTableError> {
        let tokenizer = self.tokenizer()?;
        let mut counts = self.definitions.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(counts.count(tokenizer, tools))
    }
}
