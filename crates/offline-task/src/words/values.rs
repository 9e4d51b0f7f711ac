//! Values that a text marks: quotations, JSON, dates, numbers, arithmetic, paths, addresses, ids, names.

use std::ops::Range;

use serde_json::{Number, Value};

use super::{Word, WordKind};
use crate::vocabulary::{self, CONDITIONS, COURTESY, QUESTIONS};

/// Punctuation that ends a sentence or closes a bracket, not part of the word before.
const CLOSING: &str = ".,;:!?)]}\"'\u{201d}\u{2019}";

/// Operators in words, with their signs.
const SPOKEN: [&str; 4] = ["plus ", "minus ", "times ", "divided by "];
const SIGNS: [&str; 4] = ["+ ", "- ", "* ", "/ "];

/// Words of one name.
const MAX_NAME: usize = 6;

/// The value that begins at `start`.
pub(super) fn value(text: &str, start: usize, is_verb: &dyn Fn(&str) -> bool) -> Option<Word> {
    let marked = marked(text, start).or_else(|| keyed(text, start));
    let of_token = || of_token(token(text, start)?, text);
    let arithmetic = || expression(text, start).or_else(of_token);
    marked.or_else(arithmetic).or_else(|| name(text, start, is_verb))
}

/// A word up to a space, comma or semicolon, without trailing punctuation.
fn token(text: &str, start: usize) -> Option<Range<usize>> {
    let rest = &text[start..];
    let digit = |at: usize| rest.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let ends = |(at, c): &(usize, char)| {
        // The comma of `1,000` or `1,5` belongs to the number.
        c.is_whitespace() || *c == ';' || *c == ',' && !(*at > 0 && digit(at - 1) && digit(at + 1))
    };
    let end = rest.char_indices().find(ends).map_or(rest.len(), |(at, _)| at);
    let word = rest[..end].trim_end_matches(|c| CLOSING.contains(c));
    (!word.is_empty()).then(|| start..start + word.len())
}

/// `parameter=value`.
fn keyed(text: &str, start: usize) -> Option<Word> {
    let rest = &text[start..];
    let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "_-".contains(c)))?;
    let follows = rest[length..].strip_prefix('=')?;
    if !rest.starts_with(|c: char| c.is_ascii_alphabetic()) || follows.starts_with(['=', ' ']) {
        return None;
    }
    let at = start + length + 1;
    let span = token(text, at)?;
    let marked = marked(text, at).or_else(|| of_token(span.clone(), text));
    let value = marked.unwrap_or_else(|| Word::new(span.clone(), WordKind::Quoted, &text[span]));
    Some(Word {
        span: start..value.span.end,
        key: Some(rest[..length].to_lowercase()),
        ..value
    })
}

fn marked(text: &str, start: usize) -> Option<Word> {
    quoted(text, start).or_else(|| json(text, start))
}

/// Text in quotation marks. An apostrophe inside a word does not count.
fn quoted(text: &str, start: usize) -> Option<Word> {
    let open = text[start..].chars().next()?;
    let close = match open {
        '"' | '\'' | '`' => open,
        '\u{201c}' => '\u{201d}',
        '\u{2018}' => '\u{2019}',
        _ => return None,
    };
    let inner = start + open.len_utf8();
    let is_inside = text[..start].ends_with(char::is_alphanumeric) && open == '\'';
    let ends =
        |(at, _): &(usize, &str)| close != '\'' || !text[inner + at + 1..].starts_with(char::is_alphanumeric);
    let (length, _) = text[inner..].match_indices(close).find(ends)?;
    let end = inner + length + close.len_utf8();
    (length > 0 && !is_inside).then(|| Word::new(start..end, WordKind::Quoted, &text[inner..inner + length]))
}

fn json(text: &str, start: usize) -> Option<Word> {
    let rest = text[start..].starts_with(['{', '[']).then_some(&text[start..])?;
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some(Word::new(
        start..start + values.byte_offset(),
        WordKind::Json,
        value,
    ))
}

/// Numbers with operators and parentheses. Without spaces and other signs, `5-3-1` is not arithmetic.
fn expression(text: &str, start: usize) -> Option<Word> {
    let (mut rest, mut said) = (&text[start..], String::new());
    let is_part = |c: char| c.is_ascii_digit() || " .,+-*/^%()\u{d7}\u{f7}".contains(c);
    loop {
        let end = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        said.push_str(&rest[..end]);
        rest = &rest[end..];
        let begins = |next: &str| said.ends_with(' ') && next.starts_with(|c: char| c.is_ascii_digit());
        let spoken = |(word, sign)| {
            rest.strip_prefix(word)
                .filter(|next| begins(next))
                .zip(Some(sign))
        };
        let Some((next, sign)) = SPOKEN.into_iter().zip(SIGNS).find_map(spoken) else {
            break;
        };
        said.push_str(sign);
        rest = next;
    }
    let written = said.trim_end_matches(|c: char| !c.is_ascii_digit() && c != ')');
    let end = text.len() - rest.len() - (said.len() - written.len());
    let is_operator = |c: char| "+-*/^%\u{d7}\u{f7}".contains(c);
    let operators = written.trim_start_matches('-').matches(is_operator).count();
    let is_certain =
        operators == 1 || operators > 1 && written.contains([' ', '(', '*', '+', '^', '\u{d7}', '\u{f7}']);
    // "Between 5 -3" contains two numbers, and "5, 3" is a list.
    let is_list = written.contains(", ") || written.contains(" -") && !written.contains(" - ");
    let is_closed = written.matches('(').count() == written.matches(')').count();
    let begins = written.starts_with(|c: char| c.is_ascii_digit() || "(-".contains(c));
    let ends = said.ends_with(' ') || !rest.starts_with(|c: char| c.is_alphanumeric() || "_@=".contains(c));
    let is_one = begins && ends && is_certain && is_closed && !is_list && !is_date(written);
    is_one.then(|| Word::new(start..end, WordKind::Expression, written))
}

/// The value of a word without spaces, if it is one.
fn of_token(span: Range<usize>, text: &str) -> Option<Word> {
    let word = &text[span.clone()];
    if let Some(number) = number(word) {
        return Some(Word::new(span, WordKind::Number, number));
    }
    let is_web = word.starts_with("http://") || word.starts_with("https://");
    let kind = match () {
        () if is_web => WordKind::Url,
        () if is_email(word) => WordKind::Email,
        () if is_date(word) => WordKind::Date,
        () if is_path(word) => WordKind::Path,
        () if is_code(word) => WordKind::Code,
        () => return None,
    };
    Some(Word::new(span, kind, word))
}

/// A bare number: `5`, `-3.5`, `1,000`. Currency, unit and percent signs disqualify it.
fn number(word: &str) -> Option<Value> {
    let (whole, fraction) = word.split_once('.').unwrap_or((word, "0"));
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let mut groups = whole.trim_start_matches(['-', '+']).split(',');
    let is_whole =
        groups.next().is_some_and(is_digits) && groups.all(|group| group.len() == 3 && is_digits(group));
    let plain = word.replace([',', '+'], "");
    match (is_whole && is_digits(fraction), plain.parse::<i64>()) {
        (false, _) => None,
        (true, Ok(number)) => Some(number.into()),
        (true, Err(_)) => Number::from_f64(plain.parse().ok()?).map(Value::Number),
    }
}

/// `2026-01-31`, optionally with a time.
fn is_date(word: &str) -> bool {
    let is_part = |(at, c): (usize, char)| {
        if at == 4 || at == 7 {
            c == '-'
        } else {
            c.is_ascii_digit()
        }
    };
    let is_day = word.len() >= 10 && word.char_indices().take(10).all(is_part);
    is_day && matches!(word.as_bytes().get(10), None | Some(b'T'))
}

fn is_email(word: &str) -> bool {
    let is_host =
        |host: &str| host.contains('.') && host.chars().all(|c| c.is_alphanumeric() || ".-".contains(c));
    let parts = word.split_once('@');
    parts.is_some_and(|(user, host)| !user.is_empty() && is_host(host))
}

/// A word with slashes, or a name whose extension has a letter.
fn is_path(word: &str) -> bool {
    let is_extension = |extension: &str| {
        let has_letter = extension.contains(|c: char| c.is_ascii_lowercase());
        has_letter
            && (2..=5).contains(&extension.len())
            && extension.bytes().all(|b| b.is_ascii_alphanumeric())
    };
    let extension = word.rsplit_once('.');
    let is_file = extension.is_some_and(|(_, extension)| is_extension(extension));
    let is_phrase = matches!(word, "and/or" | "he/she" | "w/o" | "n/a");
    is_file || word.contains('/') && word.contains(char::is_alphanumeric) && !is_phrase
}

/// A word with a digit, an inner underscore or a leading hash sign, but not an ordinal such as `3rd`.
fn is_code(word: &str) -> bool {
    let letters = word.trim_start_matches(|c: char| c.is_ascii_digit());
    let has_digit = word.contains(|c: char| c.is_ascii_digit());
    let is_ordinal = matches!(letters, "st" | "nd" | "rd" | "th");
    has_digit && !is_ordinal
        || word.trim_matches('_').contains('_')
        || word.starts_with('#') && word.len() > 1
}

/// Capitalised words. A single one at the start of a sentence does not count, and a verb there is
/// not part of a name.
fn name(text: &str, start: usize, is_verb: &dyn Fn(&str) -> bool) -> Option<Word> {
    let mut end = capitalised(text, start)?;
    let word = text[start..end].to_lowercase();
    let before = text[..start].trim_end_matches([' ', '\t', '(']);
    let begins = before.is_empty() || before.ends_with(['.', '!', '?', ';', ':', '\n', ')', '-', '*']);
    if is_function_word(&word) || begins && is_verb(&word) {
        return None;
    }
    let mut count = 1;
    while let Some(next) =
        capitalised(text, end + 1).filter(|_| text[end..].starts_with(' ') && count < MAX_NAME)
    {
        (end, count) = (next, count + 1);
    }
    let name = &text[start..end];
    let name = name
        .strip_suffix("'s")
        .or(name.strip_suffix("\u{2019}s"))
        .unwrap_or(name);
    (!begins || count > 1).then(|| Word::new(start..start + name.len(), WordKind::Name, name))
}

/// End of the capitalised word at `start`.
fn capitalised(text: &str, start: usize) -> Option<usize> {
    let word = text.get(start..).and_then(|_| token(text, start))?;
    let is_inside = |c: char| c.is_alphanumeric() || "'-.&\u{2019}".contains(c);
    let said = &text[word.clone()];
    let is_name = said.starts_with(char::is_uppercase) && said.chars().all(is_inside) && !is_code(said);
    is_name.then_some(word.end)
}

/// Whether the word is grammatical, so that no name begins with it.
fn is_function_word(word: &str) -> bool {
    let is_listed = COURTESY.has(word) || QUESTIONS.has(word) || CONDITIONS.has(word);
    is_listed || vocabulary::is_negation(word) || !vocabulary::is_content(word)
}
