//! What a text says literally: quotations, numbers with their units, expressions, names, paths, addresses, dates.

mod comparison;
mod dates;
mod expression;
mod names;
mod numbers;
mod tokens;

use std::ops::Range;

use serde_json::Value;

use crate::vocabulary;
use tokens::{Token, token};

/// What a piece of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Text in quotation marks.
    Quoted,
    /// An array or object of JSON.
    Json,
    /// An address of the web.
    Url,
    /// An address of mail.
    Email,
    /// A day, perhaps with a time, as ISO 8601 has it.
    Date,
    /// A time of day.
    Time,
    /// A file or directory.
    Path,
    /// Something of letters and digits or with underscores: an id, a version, a name in a program.
    Code,
    /// Arithmetic.
    Expression,
    /// A number; its unit is the word after it.
    Number,
    /// Words with capitals.
    Name,
    /// Plain words after a preposition or a verb.
    Phrase,
    /// The unit of a number.
    Unit,
}

/// A piece of text that says a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Literal {
    /// Where it stands.
    pub(crate) span: Range<usize>,
    pub(crate) kind: Kind,
    /// What it says: a text, a number, or JSON.
    pub(crate) value: Value,
    /// What the text itself says that it is: `key=value`.
    pub(crate) key: Option<String>,
    /// The words before it, the nearest first, in small letters.
    pub(crate) before: Vec<String>,
    /// The word after it, in small letters.
    pub(crate) after: Option<String>,
}

/// Words before a literal that are looked at.
const WORDS_BEFORE: usize = 3;

// === impl Kind ===

impl Kind {
    /// What a search is asked for in the place of such a literal; the literal's own words would mislead it.
    pub(crate) fn spoken(self) -> &'static str {
        match self {
            Kind::Path => "file",
            Kind::Url => "url",
            Kind::Email => "email",
            Kind::Date => "date",
            Kind::Time => "time",
            Kind::Expression => "expression",
            Kind::Phrase | Kind::Unit => "",
            Kind::Quoted | Kind::Json | Kind::Code | Kind::Number | Kind::Name => "",
        }
    }

    /// Whether the text marks it as a value, so that it must be used or told to be unused.
    pub(crate) fn is_marked(self) -> bool {
        !matches!(self, Kind::Phrase | Kind::Unit)
    }
}

// === impl Literal ===

impl Literal {
    fn new(span: Range<usize>, kind: Kind, value: impl Into<Value>) -> Literal {
        let value = value.into();
        Literal {
            span,
            kind,
            value,
            key: None,
            before: Vec::new(),
            after: None,
        }
    }

    /// Its text, if it is one.
    pub(crate) fn text(&self) -> Option<&str> {
        self.value.as_str()
    }

    /// The same words with what stands around them in the text.
    pub(crate) fn placed(mut self, text: &str) -> Literal {
        self.before = words_before(&text[..self.span.start]);
        self.after = word_after(&text[self.span.end..]);
        self
    }
}

/// The literals of a text in their order; they do not overlap. `is_verb` knows the words that begin an instruction.
pub(crate) fn literals(text: &str, is_verb: &dyn Fn(&str) -> bool) -> Vec<Literal> {
    let mut found: Vec<Literal> = Vec::new();
    let mut at = 0;
    while let Some(skipped) = text[at..].find(|c: char| !c.is_whitespace()) {
        let start = at + skipped;
        match literal_at(text, start, is_verb) {
            Some(literal) => {
                at = literal.span.end;
                found.push(literal.placed(text));
            }
            None => at = tokens::after(text, start),
        }
    }
    found
}

/// What a text is as a whole, if it is one literal.
pub(crate) fn kind_of(text: &str) -> Option<Kind> {
    let found = literals(text, &|_| false);
    let whole = found.into_iter().find(|literal| literal.span == (0..text.len()));
    whole.map(|literal| literal.kind)
}

fn literal_at(text: &str, start: usize, is_verb: &dyn Fn(&str) -> bool) -> Option<Literal> {
    keyed(text, start)
        .or_else(|| quoted(text, start))
        .or_else(|| json(text, start))
        .or_else(|| dates::date(text, start))
        .or_else(|| comparison::comparison(text, start))
        .or_else(|| expression::expression(text, start))
        .or_else(|| of_token(token(text, start)?).map(|literal| with_half(text, literal)))
        .or_else(|| names::name(text, start, is_verb))
}

/// `key=value`, where the value is quoted, a token of its own, or a plain word.
fn keyed(text: &str, start: usize) -> Option<Literal> {
    let rest = &text[start..];
    let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))?;
    let follows = rest[length..].strip_prefix('=')?;
    if length == 0 || !rest.starts_with(|c: char| c.is_ascii_alphabetic()) || follows.starts_with(['=', ' '])
    {
        return None;
    }
    let value_at = start + length + 1;
    let plain = || {
        let token = token(text, value_at)?;
        Some(Literal::new(token.span, Kind::Quoted, token.text))
    };
    let value = quoted(text, value_at)
        .or_else(|| json(text, value_at))
        .or_else(|| of_token(token(text, value_at)?))
        .or_else(plain)?;
    Some(Literal {
        span: start..value.span.end,
        key: Some(rest[..length].to_lowercase()),
        ..value
    })
}

/// Text in quotation marks; an apostrophe within a word is none.
fn quoted(text: &str, start: usize) -> Option<Literal> {
    let open = text[start..].chars().next()?;
    let close = match open {
        '"' | '\'' | '`' => open,
        '\u{201c}' => '\u{201d}',
        '\u{201e}' => '\u{201c}',
        '\u{2018}' => '\u{2019}',
        '\u{ab}' => '\u{bb}',
        _ => return None,
    };
    let inner = start + open.len_utf8();
    let ends = |(at, _): &(usize, &str)| {
        let after = text[inner + at + close.len_utf8()..].chars().next();
        close != '\'' || !after.is_some_and(char::is_alphanumeric)
    };
    let (length, _) = text[inner..].match_indices(close).find(ends)?;
    let end = inner + length + close.len_utf8();
    (length > 0).then(|| Literal::new(start..end, Kind::Quoted, &text[inner..inner + length]))
}

/// An array or object of JSON.
fn json(text: &str, start: usize) -> Option<Literal> {
    if !text[start..].starts_with(['{', '[']) {
        return None;
    }
    let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some(Literal::new(
        start..start + values.byte_offset(),
        Kind::Json,
        value,
    ))
}

/// What one word without spaces is, if it is more than a word.
fn of_token(token: Token<'_>) -> Option<Literal> {
    let Token { span, text } = token;
    let kind = if text.starts_with("http://") || text.starts_with("https://") || text.starts_with("www.") {
        Kind::Url
    } else if is_email(text) {
        Kind::Email
    } else if is_time(text) {
        Kind::Time
    } else if let Some(number) = numbers::number(text) {
        return Some(Literal::new(
            span.start..span.start + number.length,
            Kind::Number,
            number.value,
        ));
    } else if is_path(text) {
        Kind::Path
    } else if is_code(text) {
        Kind::Code
    } else {
        return None;
    };
    Some(Literal::new(span, kind, text))
}

fn is_email(text: &str) -> bool {
    text.split_once('@').is_some_and(|(who, host)| {
        let is_host = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-');
        !who.is_empty() && host.contains('.') && !host.starts_with('.') && host.chars().all(is_host)
    })
}

/// `9:30`, `14:05:00`.
fn is_time(text: &str) -> bool {
    let parts: Vec<&str> = text.split(':').collect();
    let digits = |part: &&str| (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    matches!(parts.len(), 2 | 3) && parts.iter().all(digits)
}

/// A time of day with "am" or "pm" after it, as one of 24 hours.
fn with_half(text: &str, literal: Literal) -> Literal {
    let rest = &text[literal.span.end..];
    let bare = rest.trim_start_matches(' ');
    let is_half = |(half, _): &&(&str, u32)| {
        let is_it = bare
            .get(..half.len())
            .is_some_and(|said| said.eq_ignore_ascii_case(half));
        is_it && !bare[half.len()..].starts_with(char::is_alphanumeric)
    };
    let halves = [("a.m.", 0), ("p.m.", 12), ("am", 0), ("pm", 12)];
    let said = literal.text().unwrap_or_default();
    let parsed = said
        .split_once(':')
        .and_then(|(hour, minutes)| Some((hour.parse::<u32>().ok()?, minutes)));
    match (halves.iter().find(is_half), parsed) {
        (Some((half, first)), Some((hour @ 1..=12, minutes))) if literal.kind == Kind::Time => {
            let end = literal.span.end + (rest.len() - bare.len()) + half.len();
            let time = format!("{:02}:{minutes}", hour % 12 + first);
            Literal::new(literal.span.start..end, Kind::Time, time)
        }
        _ => literal,
    }
}

/// Something with slashes, or a name with an extension of letters.
fn is_path(text: &str) -> bool {
    let has_letters = text.contains(|c: char| c.is_alphanumeric());
    if text.contains('/') {
        return has_letters && !matches!(text.to_lowercase().as_str(), "and/or" | "he/she" | "w/o" | "n/a");
    }
    let Some((stem, extension)) = text.rsplit_once('.') else {
        return false;
    };
    let is_extension = (2..=5).contains(&extension.len())
        && extension.bytes().all(|b| b.is_ascii_alphanumeric())
        && extension.contains(|c: char| c.is_ascii_alphabetic());
    // `J.Smith` is a name; one of a single letter such as `n.txt` is a file's, and so is `.bashrc`.
    is_extension && (stem.chars().count() != 1 || extension.bytes().all(|b| !b.is_ascii_uppercase()))
        || extension.len() == 1 && "chrRm".contains(extension) && stem.len() > 2
}

/// Letters and digits together, or words joined by underscores.
fn is_code(text: &str) -> bool {
    let has = |wanted: fn(char) -> bool| text.contains(wanted);
    let digits = has(|c| c.is_ascii_digit());
    let is_ordinal = || {
        let letters = text.trim_start_matches(|c: char| c.is_ascii_digit());
        matches!(letters, "st" | "nd" | "rd" | "th")
    };
    let joined = text.trim_matches('_').contains('_');
    digits && !is_ordinal() || joined || text.starts_with('#') && text.len() > 1
}

/// The nearest words before the end of a text, up to the end of a sentence.
pub(crate) fn words_before(text: &str) -> Vec<String> {
    let from = text.rfind(['.', ';', '!', '?', '\n']).map_or(0, |at| at + 1);
    let mut words: Vec<&str> = text[from..].split_whitespace().collect();
    words.reverse();
    let words = words.into_iter().take(WORDS_BEFORE);
    words
        .map(|word| {
            word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_')
                .to_lowercase()
        })
        .collect()
}

/// The word that follows directly, if it is one.
pub(crate) fn word_after(text: &str) -> Option<String> {
    let rest = text.strip_prefix([' ', '-']).unwrap_or(text);
    let end = rest
        .find(|c: char| !(c.is_alphabetic() || "%$\u{b0}\u{20ac}\u{a3}".contains(c)))
        .unwrap_or(rest.len());
    let word = rest[..end].to_lowercase();
    let says = !word.is_empty() && !vocabulary::is_small(&word) && !vocabulary::is_preposition(&word);
    says.then_some(word)
}
