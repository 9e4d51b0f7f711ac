//! Turns text into comparable words: split at separators and case, in lower case, without common words and endings.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Words that say nothing about the purpose of a tool.
const COMMON: [&str; 44] = [
    "a", "about", "all", "an", "and", "any", "are", "as", "at", "be", "by", "can", "do", "does", "for",
    "from", "how", "i", "if", "in", "into", "is", "it", "its", "me", "my", "of", "on", "or", "our", "please",
    "so", "that", "the", "their", "them", "this", "to", "want", "what", "which", "will", "with", "you",
];

/// Words of everyday speech. Tools may have them in their names, but almost every query in sentence form has some.
const EVERYDAY: [&str; 102] = [
    "above",
    "actually",
    "after",
    "again",
    "against",
    "already",
    "also",
    "anybody",
    "anything",
    "because",
    "been",
    "before",
    "being",
    "below",
    "between",
    "both",
    "but",
    "could",
    "did",
    "doing",
    "down",
    "during",
    "each",
    "everyone",
    "everything",
    "few",
    "further",
    "get",
    "got",
    "had",
    "has",
    "have",
    "having",
    "he",
    "her",
    "here",
    "him",
    "his",
    "just",
    "let",
    "like",
    "lot",
    "make",
    "may",
    "might",
    "more",
    "most",
    "must",
    "need",
    "no",
    "nor",
    "not",
    "now",
    "off",
    "once",
    "one",
    "only",
    "other",
    "out",
    "over",
    "own",
    "really",
    "same",
    "shall",
    "she",
    "should",
    "some",
    "somebody",
    "someone",
    "something",
    "still",
    "stuff",
    "such",
    "sure",
    "than",
    "then",
    "there",
    "these",
    "they",
    "thing",
    "things",
    "those",
    "through",
    "too",
    "under",
    "until",
    "up",
    "us",
    "very",
    "was",
    "we",
    "were",
    "when",
    "where",
    "while",
    "who",
    "whom",
    "whose",
    "why",
    "would",
    "yet",
    "your",
];

/// Longest word in bytes; a longer run is data.
const MAX_WORD: usize = 40;

/// The stems of a text's first `max` bytes, in order, without common words.
pub(super) fn stems(text: &str, max: usize) -> Vec<String> {
    let text = &text[..text.floor_char_boundary(max)];
    let words = words(text).map(|word| word.to_lowercase());
    words
        .filter(|word| !COMMON.contains(&word.as_str()))
        .map(stem)
        .collect()
}

/// Whether a word describes the requested tool, rather than being everyday speech.
pub(super) fn is_telling(word: &str) -> bool {
    let word = word.to_lowercase();
    !COMMON.contains(&word.as_str()) && EVERYDAY.binary_search(&word.as_str()).is_err()
}

/// Splits a text into words: `createIssue`, `create_issue` and `create issue` give the same two.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    let runs = text.split(|c: char| !c.is_alphanumeric());
    runs.flat_map(split_case)
        .filter(|word| !word.is_empty() && word.len() <= MAX_WORD)
}

/// Splits before a capital letter that follows a small letter, or that starts a word after an abbreviation
/// (`HTTPServer`).
fn split_case(run: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut before: Option<char> = None;
    let mut chars = run.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next_is_small = chars.peek().is_some_and(|(_, next)| next.is_lowercase());
        let begins = match before {
            Some(before) if c.is_uppercase() => {
                before.is_lowercase() || (before.is_uppercase() && next_is_small)
            }
            _ => false,
        };
        if begins {
            parts.push(&run[start..at]);
            start = at;
        }
        before = Some(c);
    }
    parts.push(&run[start..]);
    parts
}

/// Lower case without accents: `L\u{f6}schen` and `loschen` match.
pub(super) fn folded(word: &str) -> String {
    let parts = word.nfd().filter(|c| !is_combining_mark(*c));
    parts.collect::<String>().to_lowercase().replace('\u{df}', "ss")
}

/// Drops the endings of plural and verb forms: `files`, `filing`, `filed` and `file` match.
pub fn stem(word: String) -> String {
    if !word.is_ascii() || word.len() < 4 || word.ends_with(|c: char| c.is_ascii_digit()) {
        return word;
    }
    let mut stem = singular(&word);
    for ending in ["ing", "ed"] {
        if let Some(rest) = stem.strip_suffix(ending)
            && rest.len() >= 3
            && rest.contains(['a', 'e', 'i', 'o', 'u', 'y'])
        {
            stem = undoubled(rest).to_owned();
            break;
        }
    }
    match stem.strip_suffix('e') {
        Some(rest) if rest.len() >= 3 => rest.to_owned(),
        _ => stem,
    }
}

fn singular(word: &str) -> String {
    if let Some(rest) = word.strip_suffix("ies") {
        return format!("{rest}y");
    }
    for ending in ["sses", "xes", "zes", "ches", "shes"] {
        if word.ends_with(ending) {
            return word[..word.len() - 2].to_owned();
        }
    }
    match word.strip_suffix('s') {
        Some(rest) if !rest.ends_with(['s', 'u', 'i']) => rest.to_owned(),
        _ => word.to_owned(),
    }
}

/// `stopp` becomes `stop`; `ll`, `ss` and `zz` belong to the word (`call`, `miss`).
fn undoubled(word: &str) -> &str {
    let bytes = word.as_bytes();
    match bytes {
        [.., a, b] if a == b && b.is_ascii_alphabetic() && !b"aeiolsz".contains(b) => &word[..word.len() - 1],
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_split_at_separators_and_case() {
        let check =
            |text: &str, expected: &[&str]| assert_eq!(words(text).collect::<Vec<_>>(), expected, "{text}");
        check("create_issue-comment v2", &["create", "issue", "comment", "v2"]);
        check("getHTTPServer", &["get", "HTTP", "Server"]);
        check("PHPVersionV1", &["PHP", "Version", "V1"]);
        check("naïve Größe", &["naïve", "Größe"]);
        check(" -- ", &[]);
        check(&"x".repeat(100), &[]);
    }

    #[test]
    fn forms_of_a_word_meet() {
        let same = |words: &[&str]| {
            let stems: Vec<_> = words.iter().map(|word| stem((*word).to_owned())).collect();
            assert!(
                stems.windows(2).all(|pair| pair[0] == pair[1]),
                "{words:?} became {stems:?}"
            );
        };
        same(&["file", "files", "filed", "filing"]);
        same(&["create", "creates", "created", "creating"]);
        same(&["query", "queries"]);
        same(&["stop", "stops", "stopped", "stopping"]);
        same(&["branch", "branches"]);
        same(&["call", "calls", "called", "calling"]);
        same(&["miss", "misses", "missing"]);
    }

    #[test]
    fn short_words_and_numbers_stay() {
        for word in ["string", "status", "redis", "dns", "s3", "365", "bus", "thing"] {
            assert_eq!(stem(word.to_owned()), word);
        }
    }

    #[test]
    fn common_words_do_not_count() {
        assert_eq!(
            stems("How do I list the files of a folder", 1000),
            ["list", "fil", "folder"]
        );
    }
}
