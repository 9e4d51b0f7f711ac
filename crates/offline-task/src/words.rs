//! Step 1: the words of a task.
//!
//! A value, such as a quotation, a number or a name, counts as one word.

mod values;

use std::ops::Range;

use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordKind {
    /// Not a value.
    Plain,
    /// Text in quotation marks.
    Quoted,
    /// An array or object of JSON.
    Json,
    Url,
    Email,
    /// ISO 8601 date, optionally with a time.
    Date,
    /// File or directory.
    Path,
    /// With digits or underscores: an id, a version, a time of day.
    Code,
    /// Arithmetic.
    Expression,
    Number,
    /// Capitalised words.
    Name,
}

/// Punctuation after a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pause {
    None,
    Comma,
    /// End of a sentence or a line.
    Sentence,
    Question,
}

/// A word with its place in the task.
#[derive(Debug, Clone)]
pub(crate) struct Word {
    pub(crate) span: Range<usize>,
    pub(crate) kind: WordKind,
    /// Lower case; empty for a value.
    pub(crate) lower: String,
    /// The argument that the word becomes.
    pub(crate) value: Value,
    /// The parameter of `parameter=value`.
    pub(crate) key: Option<String>,
    pub(crate) pause: Pause,
}

// === impl Word ===

impl Word {
    fn new(span: Range<usize>, kind: WordKind, value: impl Into<Value>) -> Word {
        Word {
            span,
            kind,
            lower: String::new(),
            value: value.into(),
            key: None,
            pause: Pause::None,
        }
    }

    pub(crate) fn is_value(&self) -> bool {
        self.kind != WordKind::Plain
    }

    /// The value, if it is a text.
    pub(crate) fn text(&self) -> Option<&str> {
        self.value.as_str()
    }

    pub(crate) fn ends_sentence(&self) -> bool {
        matches!(self.pause, Pause::Sentence | Pause::Question)
    }
}

/// The words of a text. `is_verb` recognizes words that begin an instruction.
pub(crate) fn words(text: &str, is_verb: &dyn Fn(&str) -> bool) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut at = 0;
    while let Some(skipped) = text[at..].find(|c: char| !c.is_whitespace()) {
        let start = at + skipped;
        if let (Some(last), true) = (words.last_mut(), text[at..start].contains('\n')) {
            last.pause = Pause::Sentence;
        }
        at = start + text[start..].chars().next().map_or(1, char::len_utf8);
        if let Some(mut word) = values::value(text, start, is_verb).or_else(|| plain(text, start)) {
            at = word.span.end;
            word.pause = pause(&text[at..], &word.lower);
            words.push(word);
        }
    }
    words
}

/// The value at the start of a text.
pub(crate) fn first_value(text: &str) -> Option<Word> {
    values::value(text, 0, &|_| false)
}

fn plain(text: &str, start: usize) -> Option<Word> {
    if !text[start..].starts_with(char::is_alphanumeric) {
        return None;
    }
    let rest = &text[start..];
    let end = rest.find(|c: char| c.is_whitespace() || ",;(\"".contains(c));
    let word = rest[..end.unwrap_or(rest.len())].trim_end_matches(|c: char| !c.is_alphanumeric());
    let mut found = Word::new(start..start + word.len(), WordKind::Plain, word);
    found.lower = word.to_lowercase();
    Some(found)
}

/// Punctuation at the start of `rest`; an abbreviation's full stop does not count.
fn pause(rest: &str, word: &str) -> Pause {
    let rest = rest.trim_start_matches(['"', '\'', ')', '\u{201d}', '\u{2026}']);
    let ends = |mark| rest.starts_with(mark) && !rest[1..].starts_with(char::is_alphanumeric);
    let is_short = word.chars().count() == 1 || matches!(word, "e.g" | "i.e" | "etc" | "dr" | "mr" | "ms");
    match () {
        () if rest.starts_with('?') => Pause::Question,
        () if rest.starts_with(['!', ';']) || ends('.') && !is_short => Pause::Sentence,
        () if ends(',') || ends(':') => Pause::Comma,
        () => Pause::None,
    }
}
