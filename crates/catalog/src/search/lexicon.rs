//! Words that people use instead of the tools' words: synonyms and translations.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::LazyLock;

use super::words::{folded, stem};

/// Longest phrase, in words.
const LONGEST_PHRASE: usize = 3;

static LEXICON: LazyLock<Lexicon> =
    LazyLock::new(|| Lexicon::parse(include_str!("../../assets/lexicon.txt")));

/// Maps each word or phrase of people to the tools' words that it may mean.
#[derive(Debug, Default)]
pub(super) struct Lexicon(HashMap<String, BTreeSet<&'static str>>);

#[derive(Debug)]
pub(super) struct Meaning<'a> {
    /// Position in the query; several words are a phrase.
    pub(super) said: Range<usize>,
    /// Words of tools.
    pub(super) words: &'a BTreeSet<&'static str>,
}

impl Lexicon {
    /// The compiled-in lexicon, parsed at the first use.
    pub(super) fn get() -> &'static Lexicon {
        &LEXICON
    }

    fn parse(text: &'static str) -> Lexicon {
        let mut lexicon: HashMap<String, BTreeSet<&'static str>> = HashMap::new();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        for (word, said) in lines.filter_map(|line| line.split_once('=')) {
            for said in said.split_whitespace().filter(|said| *said != "|") {
                let key = said.split('-').map(key).collect::<Vec<_>>().join(" ");
                lexicon.entry(key).or_default().insert(word.trim());
            }
        }
        Lexicon(lexicon)
    }

    /// The meanings of a query's words and phrases, in their order.
    pub(super) fn meanings(&self, query: &[&str]) -> Vec<Meaning<'_>> {
        let keys: Vec<String> = query.iter().map(|word| key(word)).collect();
        let mut meanings = Vec::new();
        for start in 0..keys.len() {
            for end in start + 1..=keys.len().min(start + LONGEST_PHRASE) {
                if let Some(words) = self.0.get(&keys[start..end].join(" ")) {
                    let said = start..end;
                    meanings.push(Meaning { said, words });
                }
            }
        }
        meanings
    }
}

/// The key of a word; ignores case, accents and endings.
fn key(word: &str) -> String {
    stem(folded(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_phrases_are_found_in_every_form() {
        let check = |query: &[&str], expected: &str| {
            let meanings = Lexicon::get().meanings(query);
            let found = meanings.iter().flat_map(|meaning| meaning.words.iter());
            assert!(
                found.into_iter().any(|word| *word == expected),
                "{query:?}: {meanings:?}"
            );
        };
        check(&["Ordner"], "folder");
        check(&["Loeschen"], "delete");
        check(&["l\u{f6}schen"], "delete");
        check(&["erasing"], "delete");
        check(&["crear"], "create");
        check(&["please", "set", "up", "x"], "create");
    }

    #[test]
    fn nothing_else_is_found() {
        let meanings = Lexicon::get().meanings(&["xylophone", "up", "set", ""]);
        assert!(
            meanings.iter().all(|meaning| meaning.said.len() == 1),
            "{meanings:?}"
        );
        assert!(Lexicon::get().meanings(&[]).is_empty());
    }
}
