//! Searches of a client's model since its last run.
//!
//! Texts stay uncounted until a receipt is needed.

use crate::tokens::Tokenizer;

/// Maximum bytes of stored texts. Stores text instead of tokens, to load the tokenizer only for receipts.
const MAX_TEXTS: usize = 64 * 1024;

/// Queries and answers of searches.
#[derive(Debug, Default)]
pub struct SearchTexts {
    /// Number of searches.
    pub searches: u64,
    /// Bytes of all queries and answers.
    pub bytes: u64,
    texts: String,
}

// === impl SearchTexts ===

impl SearchTexts {
    /// Adds one search.
    pub fn add(&mut self, query: &str, answer: &str) {
        self.searches += 1;
        self.bytes += (query.len() + answer.len()) as u64;
        // Query and answer are separate messages, so a line break prevents a token across both.
        for text in [query, "\n", answer, "\n"] {
            self.push(text);
        }
    }

    /// Adds later searches.
    pub fn append(&mut self, later: &SearchTexts) {
        self.searches += later.searches;
        self.bytes += later.bytes;
        self.push(&later.texts);
    }

    /// Tokens of all searches. Dropped bytes count at the ratio of the stored bytes.
    pub(crate) fn tokens(&self, tokenizer: &Tokenizer) -> u64 {
        match self.texts.len() as u64 {
            0 => 0,
            kept => tokenizer.text(&self.texts) * self.bytes.max(kept) / kept,
        }
    }

    fn push(&mut self, text: &str) {
        let room = MAX_TEXTS.saturating_sub(self.texts.len());
        self.texts.push_str(&text[..text.floor_char_boundary(room)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_of_a_refused_run_count_for_the_next_run() {
        let mut before = SearchTexts::default();
        before.add("a", "b");
        let mut later = SearchTexts::default();
        later.add("c", "d");
        before.append(&later);
        assert_eq!(
            (before.searches, before.bytes, before.texts.as_str()),
            (2, 4, "a\nb\nc\nd\n")
        );
    }

    #[test]
    fn searches_beyond_the_bound_count_by_their_bytes() {
        let mut searches = SearchTexts::default();
        for _ in 0..4 {
            searches.add("{\"query\":\"mail\"}", &"a tool ".repeat(MAX_TEXTS / 14));
        }
        let tokens = searches.tokens(&Tokenizer::load().expect("a table"));
        assert_eq!(searches.searches, 4);
        assert!(searches.texts.len() <= MAX_TEXTS);
        assert!(tokens > 4 * (MAX_TEXTS as u64 / 14), "{tokens}");
    }
}
