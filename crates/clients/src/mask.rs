//! A client's file as it may be shown: every text in it that could be a secret is hidden, its structure is not.

use serde_json::Value;

use crate::document::Format;

/// What stands in the place of a text.
const HIDDEN: &str = "[hidden]";

/// Words that say what an entry is.
const PLAIN: [&str; 7] = ["", "stdio", "http", "sse", "streamable_http", "local", "remote"];

/// The text, as lines that stand for its own, with every value that is a text hidden but those that are `shown`. Comments are
/// hidden too where they hold more than words.
pub fn masked(format: Format, text: &str, shown: &[String]) -> String {
    let mask = Mask { shown };
    match format {
        Format::Json => mask.scanned(text, &["//"], false),
        Format::Toml => mask.scanned(text, &["#"], true),
        Format::Yaml => text.split_inclusive('\n').map(|line| mask.yaml(line)).collect(),
    }
}

struct Mask<'a> {
    shown: &'a [String],
}

impl Mask<'_> {
    fn is_shown(&self, value: &str) -> bool {
        PLAIN.contains(&value) || self.shown.iter().any(|known| known == value)
    }

    /// JSON and TOML: quoted texts are found wherever they stand.
    fn scanned(&self, text: &str, comments: &[&str], is_toml: bool) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        let mut depth = 0_usize;
        while let Some(sign) = rest.chars().next() {
            let is_line_start = out.is_empty() || out.ends_with('\n');
            let (length, shown) = if comments.iter().any(|mark| rest.starts_with(mark)) {
                let end = rest.find('\n').unwrap_or(rest.len());
                (end, comment(&rest[..end]))
            } else if !is_toml && rest.starts_with("/*") {
                let end = rest.find("*/").map_or(rest.len(), |end| end + 2);
                let lines: Vec<String> = rest[..end].split('\n').map(comment).collect();
                (end, lines.join("\n"))
            } else if is_toml && depth == 0 && is_line_start && sign == '[' {
                // The name of a table.
                let end = rest.find('\n').unwrap_or(rest.len());
                (end, rest[..end].to_owned())
            } else if sign == '"' || (is_toml && sign == '\'') {
                let (literal, value) = quoted(rest, is_toml);
                let after = rest[literal.len()..].trim_start_matches([' ', '\t', '\r', '\n']);
                let is_key = after.starts_with(if is_toml { ['=', '.'] } else { [':', ':'] });
                let shown = if is_key || value.is_some_and(|value| self.is_shown(&value)) {
                    literal.to_owned()
                } else {
                    format!("\"{HIDDEN}\"")
                };
                (literal.len(), shown)
            } else {
                match sign {
                    '[' | '{' => depth += 1,
                    ']' | '}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                (sign.len_utf8(), sign.to_string())
            };
            out.push_str(&shown);
            rest = &rest[length..];
        }
        out
    }

    /// One line of YAML: what follows a key or a dash, or stands alone.
    fn yaml(&self, line: &str) -> String {
        let bare = line.trim_end_matches(['\r', '\n']);
        let end = &line[bare.len()..];
        let mut start = bare.len() - bare.trim_start().len();
        while bare[start..].starts_with("- ") {
            start += 2;
            start += bare[start..].len() - bare[start..].trim_start().len();
        }
        if bare[start..].is_empty() {
            return line.to_owned();
        }
        if bare[start..].starts_with('#') {
            return format!("{}{}{end}", &bare[..start], comment(&bare[start..]));
        }
        let colon = bare[start..]
            .find(": ")
            .or_else(|| bare[start..].strip_suffix(':').map(str::len));
        let value_at = colon.map_or(start, |colon| start + colon + 1);
        let value = bare[value_at..].trim();
        if self.is_plain_yaml(value) {
            return line.to_owned();
        }
        let blank = if colon.is_some() { " " } else { "" };
        format!("{}{blank}{HIDDEN}{end}", &bare[..value_at])
    }

    fn is_plain_yaml(&self, value: &str) -> bool {
        let value = value
            .split_once(" #")
            .map_or(value, |(value, _)| value.trim_end());
        let is_block = value.starts_with(['|', '>']) && value.len() <= 3;
        let is_literal = matches!(value, "true" | "false" | "null" | "~" | "---" | "...");
        let is_empty = value.is_empty() || value.starts_with('#') || value == "[]" || value == "{}";
        let is_json = serde_json::from_str::<Value>(value).is_ok_and(|value| self.is_shown_value(&value));
        is_block || is_literal || is_empty || is_json || self.is_shown(value)
    }

    fn is_shown_value(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.is_shown(text),
            Value::Array(items) => items.iter().all(|item| self.is_shown_value(item)),
            Value::Object(members) => members.values().all(|value| self.is_shown_value(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => true,
        }
    }
}

/// A comment that could hold a value is hidden from its first such sign on.
fn comment(text: &str) -> String {
    let holds_value = |word: &str| word.len() > 16 || word.contains(['"', '\'', '=', ':', '@']);
    let mut out = String::new();
    for word in text.split_inclusive([' ', '\t']) {
        if holds_value(word.trim_end()) && !word.starts_with("//") {
            out.push_str(HIDDEN);
            return out;
        }
        out.push_str(word);
    }
    out
}

/// The literal that a text begins with, to its closing quote or to the end of its line, and what it means.
fn quoted(text: &str, is_toml: bool) -> (&str, Option<String>) {
    let quote = if text.starts_with('\'') { "'" } else { "\"" };
    let triple = quote.repeat(3);
    if is_toml && text.starts_with(&triple) {
        let end = text[3..].find(&triple).map_or(text.len(), |end| end + 6);
        return (&text[..end], None);
    }
    let mut is_escaped = false;
    for (index, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return (&text[..index], None),
            '\\' if quote == "\"" => {
                is_escaped = !is_escaped;
                continue;
            }
            _ if quote.starts_with(c) && !is_escaped => {
                let literal = &text[..=index];
                let value = if quote == "'" {
                    Some(literal[1..index].to_owned())
                } else {
                    serde_json::from_str(literal).ok()
                };
                return (literal, value);
            }
            _ => {}
        }
        is_escaped = false;
    }
    (text, None)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(format: Format, text: &str, expected: &str) {
        let shown = ["/bin/codeyard", "mcp", "crm"].map(str::to_owned);
        assert_eq!(masked(format, text, &shown), expected);
    }

    #[test]
    fn values_are_hidden_and_structure_is_not() {
        check(
            Format::Json,
            "{\n  // the team's\n  \"a\": {\"command\": \"npx\", \"args\": [\"s3cret\", \"mcp\"], \"n\": 1},\n  \"x\": \"/bin/codeyard\"\n}\n",
            "{\n  // the [hidden]\n  \"a\": {\"command\": \"[hidden]\", \"args\": [\"[hidden]\", \"mcp\"], \"n\": 1},\n  \"x\": \"/bin/codeyard\"\n}\n",
        );
        check(
            Format::Toml,
            "# all mine\n[mcp_servers.\"a\"]\ncommand = 'x'\nargs = [\n  \"y\",\n  'mcp'\n]\nenv = { \"K\" = \"v\" } # s3cret-s3cret-s3cret\n",
            "# all mine\n[mcp_servers.\"a\"]\ncommand = \"[hidden]\"\nargs = [\n  \"[hidden]\",\n  'mcp'\n]\nenv = { \"K\" = \"[hidden]\" } # [hidden]\n",
        );
        check(
            Format::Yaml,
            "# mine\nextensions:\n  a:\n    cmd: npx # x\n    args: [a, b]\n    list:\n    - s3cret\n    enabled: true\n    key: |\n      s3cret\n  codeyard:\n    cmd: \"/bin/codeyard\"\n    args: [\"mcp\"]\n    timeout: 300\n",
            "# mine\nextensions:\n  a:\n    cmd: [hidden]\n    args: [hidden]\n    list:\n    - [hidden]\n    enabled: true\n    key: |\n      [hidden]\n  codeyard:\n    cmd: \"/bin/codeyard\"\n    args: [\"mcp\"]\n    timeout: 300\n",
        );
    }

    #[test]
    fn no_spelling_shows_one() {
        for (format, text) in [
            (Format::Json, "{\"TOKEN\": \"s3c\\u0072et-\\\"x\"}"),
            (Format::Json, "{\"a\": \"s3cret-open\n}"),
            (Format::Json, "/* \"TOKEN\": \"s3cret\"\n s3cret=1 */{}"),
            (Format::Json, "// \"TOKEN\": \"s3cret\""),
            (Format::Toml, "a = \"\"\"\ns3cret\n\"\"\"\n"),
            (Format::Toml, "a = [['s3cret']]\n"),
            (
                Format::Yaml,
                "a: \"s3cret\"\nb: {c: s3cret}\nd:\n  - e: s3cret\n  - - s3cret\n  s3cret\n",
            ),
        ] {
            let shown = masked(format, text, &[]);
            assert!(
                !shown.contains("s3c") && !shown.contains("cret"),
                "{text}: {shown}"
            );
        }
    }

    proptest! {
        #[test]
        fn nothing_panics_and_lines_stay(text in "[ \\t\\n:{}\\[\\],\"'a-cé/*#=\\\\-]{0,60}") {
            for format in [Format::Json, Format::Toml, Format::Yaml] {
                masked(format, &text, &[]);
            }
            prop_assert_eq!(masked(Format::Yaml, &text, &[]).lines().count(), text.lines().count());
        }
    }
}
