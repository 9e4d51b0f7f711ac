//! Makes foreign text safe to show: no control characters, bounded length, escaped where it becomes Python or
//! TypeScript.

use std::fmt::Write;

use serde_json::Value;
use types::{is_reordering, is_unseen};

use crate::learned::Learned;
use crate::shapes::Type;

/// Longest description in a list.
const SUMMARY_CHARS: usize = 240;

/// Longest description written beside a field.
const MAX_REMARK: usize = 100;

/// Words whose period does not end a sentence.
const ABBREVIATIONS: [&str; 4] = ["e.g", "i.e", "etc", "vs"];

/// Longest default value that is written.
const MAX_DEFAULT: usize = 40;

/// Longest sentence read for its meaning.
const MAX_SENTENCE: usize = 400;

/// The first paragraph of a description on one line, cut at a word if long.
pub fn summary(description: &str) -> String {
    line(first_paragraph(description), SUMMARY_CHARS)
}

/// The first sentence of a description on one line, cut at a word if long; `None` if it adds nothing.
pub(crate) fn remark(description: &str) -> Option<String> {
    let paragraph = first_paragraph(description);
    let paragraph = &paragraph[..paragraph.floor_char_boundary(MAX_SENTENCE)];
    let is_end = |at: usize| {
        let (before, after) = paragraph.split_at(at);
        after.chars().nth(1).is_none_or(char::is_whitespace)
            && !ABBREVIATIONS.iter().any(|short| before.ends_with(short))
    };
    let mut marks = paragraph.match_indices(['.', '!', '?']);
    let end = marks.find(|(at, _)| is_end(*at));
    let sentence = end.map_or(paragraph, |(at, mark)| &paragraph[..at + mark.len()]);
    Some(line(sentence, MAX_REMARK)).filter(|line| !line.is_empty())
}

/// The text on one line, cut at a word above `max` bytes.
fn line(text: &str, max: usize) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        let word = clean(word);
        if word.is_empty() {
            continue;
        }
        if line.len() + word.len() + 1 > max {
            if line.is_empty() {
                line = cut(&word, max);
            } else {
                line.push('…');
            }
            return line;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
    }
    line
}

/// The text up to the end of the first sentence or paragraph; a few hundred bytes at most.
pub(crate) fn first_sentence(description: &str) -> &str {
    let paragraph = first_paragraph(description);
    let paragraph = &paragraph[..paragraph.floor_char_boundary(MAX_SENTENCE)];
    let end = paragraph
        .match_indices(['.', '!', '?'])
        .find(|(at, _)| paragraph[at + 1..].chars().next().is_none_or(char::is_whitespace));
    end.map_or(paragraph, |(at, _)| &paragraph[..at])
}

/// The text up to the first empty line, without leading empty lines.
fn first_paragraph(text: &str) -> &str {
    let text = text.trim_start();
    let end = text.match_indices('\n').find(|(at, _)| {
        text[at + 1..]
            .lines()
            .next()
            .is_none_or(|line| line.trim().is_empty())
    });
    end.map_or(text, |(at, _)| &text[..at])
}

/// As many first sentences as fit into `max` bytes, but at least one, cut if too long. Line breaks are kept.
pub(crate) fn sentences(description: &str, max: usize) -> String {
    let text = description.trim();
    // Do not clean a megabyte to show one line; characters that cleaning removes are rare.
    let text = clean(&text[..text.floor_char_boundary(2 * max)]);
    let text = text.trim();
    if text.len() <= max {
        return text.to_owned();
    }
    let head = &text[..text.floor_char_boundary(max)];
    let is_end = |at: usize| text[at..].chars().next().is_none_or(char::is_whitespace);
    let mut ends = head.match_indices(['.', '!', '?', ':', '\n']);
    let end = ends.rfind(|(at, mark)| *mark == "\n" || is_end(at + 1));
    match end {
        Some((at, _)) if at * 2 > max => format!("{} …", head[..=at].trim_end()),
        _ => format!("{head}…"),
    }
}

/// Removes control characters (except line feed and tab) and marks that reorder displayed text.
pub(crate) fn clean(text: &str) -> String {
    text.chars()
        .filter(|&c| c == '\n' || c == '\t' || !(c.is_control() || is_reordering(c)))
        .collect()
}

/// Appends the words of a cleaned text, each after a space.
pub(crate) fn push_words(line: &mut String, text: &str) {
    for word in text.split_ascii_whitespace() {
        line.push(' ');
        match word.bytes().all(|byte| byte.is_ascii_graphic()) {
            true => line.push_str(word),
            false => line.extend(word.chars().filter(|&c| !(c.is_control() || is_reordering(c)))),
        }
    }
}

/// At most `max` bytes and an ellipsis.
pub(crate) fn cut(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(max)])
}

/// A scalar as Python writes it, on one line; a text has at most `max` characters.
pub fn python_scalar(value: &Value, max: usize) -> Option<String> {
    match value {
        Value::Null => Some("None".to_owned()),
        Value::Bool(true) => Some("True".to_owned()),
        Value::Bool(false) => Some("False".to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(python_string(text, max)),
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// A default as Python writes it, if it is short and of this type.
pub(crate) fn short_default(kind: &Type, value: &Value) -> Option<String> {
    let fits = match kind {
        Type::Union(parts) => return parts.iter().find_map(|part| short_default(part, value)),
        Type::Literal(values) => values.contains(value),
        Type::Any => true,
        Type::Text => value.is_string(),
        Type::Whole => value.is_i64() || value.is_u64(),
        Type::Number => value.is_number(),
        Type::Truth => value.is_boolean(),
        Type::Null => value.is_null(),
        Type::List(_) | Type::Map(_) | Type::Shape(_) | Type::Answer => false,
    };
    let is_short = value.as_str().is_none_or(|text| text.len() <= MAX_DEFAULT);
    python_scalar(value, MAX_DEFAULT).filter(|_| fits && is_short)
}

/// The number of observed calls, and the blocks that came with the value.
pub(crate) fn observed_in(learned: &Learned) -> String {
    let calls = learned.calls;
    let observed = format!("observed in {calls} call{}", if calls == 1 { "" } else { "s" });
    match learned.blocks() {
        kinds if kinds.is_empty() => observed,
        kinds => format!("{observed} with {} blocks", kinds.join(", ")),
    }
}

/// A Python string literal in single quotes on one line, of at most `max` bytes of text.
pub fn python_string(text: &str, max: usize) -> String {
    let mut literal = String::from("'");
    for c in cut(text, max).chars() {
        match c {
            '\\' => literal.push_str("\\\\"),
            '\'' => literal.push_str("\\'"),
            '\n' => literal.push_str("\\n"),
            c if is_unseen(c) => {
                let code = u32::from(c);
                let _ = if code > 0xffff {
                    write!(literal, "\\U{code:08x}")
                } else {
                    write!(literal, "\\u{code:04x}")
                };
            }
            c => literal.push(c),
        }
    }
    literal.push('\'');
    literal
}

/// A TypeScript string literal in double quotes, on one line.
pub(crate) fn typescript_string(text: &str) -> String {
    let mut literal = String::from("\"");
    for c in text.chars() {
        match c {
            '\\' => literal.push_str("\\\\"),
            '"' => literal.push_str("\\\""),
            '\n' => literal.push_str("\\n"),
            c if is_unseen(c) => {
                let _ = write!(literal, "\\u{{{:x}}}", u32::from(c));
            }
            c => literal.push(c),
        }
    }
    literal.push('"');
    literal
}

/// Escapes every sequence that could end a docstring: no two quotes are adjacent, and the last character is not a
/// quote.
fn docstring_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut rest = text.trim_end().chars().peekable();
    while let Some(c) = rest.next() {
        let matters = c == '\\' || (c == '"' && rest.peek().is_none_or(|next| *next == '"'));
        if matters {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// A docstring that its text cannot end.
pub(crate) fn docstring(text: &str, indent: &str) -> String {
    let text = docstring_text(clean(text).trim());
    let mut doc = String::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_end();
        match (index, line.is_empty()) {
            (0, _) => {
                let _ = writeln!(doc, "{indent}\"\"\"{line}");
            }
            (_, true) => doc.push('\n'),
            (_, false) => {
                let _ = writeln!(doc, "{indent}{line}");
            }
        }
    }
    // A single-line docstring ends with its quotes on the same line.
    if text.lines().count() <= 1 {
        if doc.is_empty() {
            let _ = write!(doc, "{indent}\"\"\"");
        }
        doc.truncate(doc.trim_end().len());
        let _ = writeln!(doc, "\"\"\"");
    } else {
        let _ = writeln!(doc, "{indent}\"\"\"");
    }
    doc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_the_first_paragraph_on_one_line() {
        let check = |text: &str, expected: &str| assert_eq!(summary(text), expected);
        check("", "");
        check("Adds\n  two numbers.\n\nUse it for sums.", "Adds two numbers.");
        check("\n\n One.\n \t\nTwo.", "One.");
        check("Ends here.\n", "Ends here.");
        check("a\u{202e}b\u{0}c", "abc");
        let long = summary(&"word ".repeat(100));
        assert!(
            long.len() <= SUMMARY_CHARS + 3 && long.ends_with("word…"),
            "{long}"
        );
        assert_eq!(summary(&"x".repeat(1000)).len(), SUMMARY_CHARS + 3);
    }

    #[test]
    fn a_remark_is_the_first_sentence_on_one_line() {
        let check =
            |text: &str, expected: Option<&str>| assert_eq!(remark(text).as_deref(), expected, "{text}");
        check("", None);
        check(" \u{200e} \n", None);
        check(
            "Column letters sized to their text. More.",
            Some("Column letters sized to their text."),
        );
        check("A range, e.g. 'A1:B2'. More.", Some("A range, e.g. 'A1:B2'."));
        check("Version 1.2 of\n  it!\n\nMore.", Some("Version 1.2 of it!"));
        check("a\u{2028}b\u{202e}c\rd", Some("a bc d"));
        let long = remark(&"word ".repeat(100)).expect("a line");
        assert!(long.len() <= MAX_REMARK + 3 && long.ends_with("word…"), "{long}");
    }

    #[test]
    fn whole_sentences_are_kept() {
        let check = |text: &str, expected: &str| assert_eq!(sentences(text, 30), expected);
        check(" Short.\n\nTwo. ", "Short.\n\nTwo.");
        check(
            "One sentence. Another one. A third.",
            "One sentence. Another one. …",
        );
        check(
            "Version 1.2 of a sentence that is long",
            "Version 1.2 of a sentence that…",
        );
        check("A first line of text\nand a second one", "A first line of text …");
        check(&"é".repeat(100), &format!("{}…", "é".repeat(15)));
    }

    #[test]
    fn nothing_ends_a_docstring() {
        let check = |text: &str, expected: &str| assert_eq!(docstring(text, ""), format!("{expected}\n"));
        check(r#"say "hi" twice"#, r#""""say "hi" twice""""#);
        check(r#"say "hi""#, r#""""say "hi\"""""#);
        check(r#"""" and """"#, r#""""\"\"" and \"\"\"""""#);
        check(r"path\", r#""""path\\""""#);
        check("\u{200e} \u{200e}", "\"\"\"\"\"\"");
        check("\u{0}\n\n\u{0}", "\"\"\"\"\"\"");
        check("two\nlines\"\" ", "\"\"\"two\nlines\\\"\\\"\n\"\"\"");
    }

    #[test]
    fn a_typescript_string_stays_on_its_line() {
        let check = |text: &str, expected: &str| assert_eq!(typescript_string(text), expected);
        check("it's \"a\" \\ \n", r#""it's \"a\" \\ \n""#);
        check("\u{0}\u{2028}", r#""\u{0}\u{2028}""#);
    }

    #[test]
    fn a_python_string_stays_on_its_line() {
        let check = |text: &str, expected: &str| assert_eq!(python_string(text, 20), expected);
        check("open", "'open'");
        check("it's \\ \n", "'it\\'s \\\\ \\n'");
        check("\u{0}\u{2028}\u{e0041}", "'\\u0000\\u2028\\U000e0041'");
        check(&"é".repeat(30), &format!("'{}…'", "é".repeat(10)));
    }
}
