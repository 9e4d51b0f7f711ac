//! Parses lists and dicts in Python's notation, in which some servers answer.

use rquickjs::{Ctx, Function, Object, Result};
use serde_json::{Map, Number, Value};

/// Maximum nesting of lists and dicts.
const MAX_DEPTH: usize = 100;

pub fn define<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    native.set(
        "pythonLiteral",
        Function::new(ctx.clone(), |text: String| json(&text))?,
    )
}

/// The JSON of a list or dict of literals; `None` for any other text.
pub fn json(text: &str) -> Option<String> {
    parse(text).map(|value| value.to_string())
}

/// The value of a list or dict of literals; `None` for any other text.
fn parse(text: &str) -> Option<Value> {
    let mut reader = Reader { rest: text.trim() };
    if !reader.rest.starts_with(['[', '{']) {
        return None;
    }
    let value = reader.value(0)?;
    reader.rest.is_empty().then_some(value)
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        let value = match self.rest.chars().next()? {
            '[' => self.list(']', depth)?,
            '(' => self.list(')', depth)?,
            '{' => self.dict(depth)?,
            '\'' | '"' => Value::String(self.text()?),
            _ => self.word()?,
        };
        self.rest = self.rest.trim_start();
        Some(value)
    }

    /// Consumes a character and the white space after it.
    fn take(&mut self, wanted: char) -> bool {
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn list(&mut self, end: char, depth: usize) -> Option<Value> {
        self.take(if end == ']' { '[' } else { '(' });
        let mut items = Vec::new();
        while !self.take(end) {
            items.push(self.value(depth + 1)?);
            if !self.take(',') && !self.rest.starts_with(end) {
                return None;
            }
        }
        Some(Value::Array(items))
    }

    fn dict(&mut self, depth: usize) -> Option<Value> {
        self.take('{');
        let mut items = Map::new();
        while !self.take('}') {
            let key = match self.value(depth + 1)? {
                Value::String(key) => key,
                Value::Array(_) | Value::Object(_) => return None,
                other => other.to_string(),
            };
            if !self.take(':') {
                return None;
            }
            items.insert(key, self.value(depth + 1)?);
            if !self.take(',') && !self.rest.starts_with('}') {
                return None;
            }
        }
        Some(Value::Object(items))
    }

    fn text(&mut self) -> Option<String> {
        let quote = self.rest.chars().next()?;
        let mut text = String::new();
        let mut chars = self.rest[1..].char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                c if c == quote => {
                    self.rest = &self.rest[1 + at + 1..];
                    return Some(text);
                }
                '\\' => {
                    let (_, escape) = chars.next()?;
                    let width = match escape {
                        'x' => 2,
                        'u' => 4,
                        'U' => 8,
                        _ => 0,
                    };
                    let digits: String = chars.by_ref().take(width).map(|(_, digit)| digit).collect();
                    text.push(match escape {
                        'n' => '\n',
                        't' => '\t',
                        'r' => '\r',
                        '\\' | '\'' | '"' => escape,
                        _ => char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?,
                    });
                }
                c => text.push(c),
            }
        }
        None
    }

    /// A name or a number.
    fn word(&mut self) -> Option<Value> {
        let end = self
            .rest
            .find(|c: char| !c.is_ascii_alphanumeric() && !"+-._".contains(c))
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        let value = match word {
            "True" => Value::Bool(true),
            "False" => Value::Bool(false),
            "None" => Value::Null,
            number => match number.parse::<i64>() {
                Ok(whole) => Value::from(whole),
                Err(_) if number.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
                    Value::Number(Number::from_f64(number.parse().ok()?)?)
                }
                Err(_) => return None,
            },
        };
        self.rest = rest;
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(text: &str, expected: Option<Value>) {
        assert_eq!(parse(text), expected, "{text}");
    }

    #[test]
    fn lists_and_dicts_are_read() {
        check("[]", Some(json!([])));
        check(
            "[{'a': 1, 'b': 'it\\'s', \"c\": None}, {'d': (1, -2.5, True,)}]",
            Some(json!([{"a": 1, "b": "it's", "c": null}, {"d": [1, -2.5, true]}])),
        );
        check(
            r"{'x': '\n\xe4\u00e9', 1: 1e3}",
            Some(json!({"x": "\n\u{e4}\u{e9}", "1": 1000.0})),
        );
        check(" ['a' , 'b' ] ", Some(json!(["a", "b"])));
    }

    #[test]
    fn other_texts_are_left() {
        for text in [
            "",
            "draft",
            "'a'",
            "[draft]",
            "[1",
            "[1] and more",
            "{'a'}",
            "[Decimal('1')]",
            "{'a': 1 'b': 2}",
            "['a",
        ] {
            check(text, None);
        }
        check(&"[".repeat(5_000), None);
    }
}
