//! Parses the three formats of clients' files into one type of value.

use std::collections::HashMap;
use std::fmt;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::CstRootNode;
use saphyr::{LoadableYamlNode, MarkedYaml, Scalar, YamlData};
use saphyr_parser::{Event, Parser, ScanError};
use serde_json::{Map, Value};
use toml_edit::{DocumentMut, Item};
use types::bulk::{self, Tree};

/// Maximum nesting of a YAML file.
const DEEPEST: usize = 128;

/// Maximum number of values in a YAML file; each alias counts its values again.
const MOST_NODES: usize = 50_000;

/// Format of a client's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON with comments and trailing commas.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

/// An error in the text of a client's file; contains no values of the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Unreadable {
    /// The first wrong line, from 1.
    pub line: Option<usize>,
    /// The error in the text.
    pub what: String,
}

impl Unreadable {
    pub(crate) fn new(what: impl Into<String>) -> Unreadable {
        Unreadable {
            line: None,
            what: what.into(),
        }
    }

    pub(crate) fn at(line: usize, what: impl Into<String>) -> Unreadable {
        Unreadable {
            line: Some(line),
            what: what.into(),
        }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

impl Format {
    /// Parses the text; an empty text is an empty object.
    ///
    /// # Errors
    /// The text is not in this format, or not an object.
    pub fn parse(self, text: &str) -> Result<Value, Unreadable> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let value = match self {
            Format::Json => json(text)?.to_serde_value().unwrap_or(Value::Null),
            Format::Toml => of_table(toml(text)?.as_table()),
            Format::Yaml => yaml(text)?.map_or(Value::Null, |node| of_yaml(&node)),
        };
        match value {
            Value::Null => Ok(Value::Object(Map::new())),
            Value::Object(_) => Ok(value),
            _ => Err(Unreadable::at(1, "expected an object")),
        }
    }
}

/// Refuses a text whose tree would be too large.
fn small(text: &str, tree: Tree) -> Result<(), Unreadable> {
    bulk::check_file(text.as_bytes(), tree).map_err(|refused| Unreadable::new(refused.to_string()))
}

pub(crate) fn json(text: &str) -> Result<CstRootNode, Unreadable> {
    small(text, Tree::Json)?;
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        ..ParseOptions::default()
    };
    CstRootNode::parse(text, &options)
        .map_err(|error| Unreadable::at(error.line_display(), format!("not valid JSON: {}", error.kind())))
}

pub(crate) fn toml(text: &str) -> Result<DocumentMut, Unreadable> {
    small(text, Tree::Toml)?;
    text.parse::<DocumentMut>().map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let before = text.get(..start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        Unreadable::at(line, format!("not valid TOML: {}", error.message()))
    })
}

pub(crate) fn yaml(text: &str) -> Result<Option<MarkedYaml<'_>>, Unreadable> {
    bounded(text)?;
    let loaded = MarkedYaml::load_from_str(text).map_err(|error| no_yaml(&error))?;
    match loaded.len() {
        0 => Ok(None),
        1 => Ok(loaded.into_iter().next()),
        _ => Err(Unreadable::new("holds more than one YAML document")),
    }
}

fn no_yaml(error: &ScanError) -> Unreadable {
    Unreadable::at(error.marker().line(), format!("not valid YAML: {}", error.info()))
}

/// A YAML list or mapping that is still open.
#[derive(Default)]
struct Open {
    anchor: usize,
    /// Its deepest level so far, counted from the root.
    deepest: usize,
    /// Its nodes so far, itself included.
    nodes: usize,
}

/// The size of a YAML alias's target.
#[derive(Clone, Copy, Default)]
struct Anchored {
    height: usize,
    nodes: usize,
}

/// Refuses a text whose tree would be too deep or too large, by reading only events. Deep nesting would exhaust the
/// recursive parser's stack. Each alias becomes a copy, so nested aliases would exhaust memory.
fn bounded(text: &str) -> Result<(), Unreadable> {
    let mut open = vec![Open::default()];
    let mut anchors: HashMap<usize, Anchored> = HashMap::new();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| no_yaml(&error))?;
        let level = open.len() - 1;
        let (deepest, nodes) = match event {
            Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) => {
                open.push(Open {
                    anchor,
                    deepest: level + 1,
                    nodes: 1,
                });
                (level + 1, 0)
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let ended = open.pop().unwrap_or_default();
                let anchored = Anchored {
                    height: (ended.deepest + 1).saturating_sub(level),
                    nodes: ended.nodes,
                };
                anchors.insert(ended.anchor, anchored);
                (ended.deepest, ended.nodes)
            }
            Event::Alias(anchor) => {
                let anchored = anchors.get(&anchor).copied().unwrap_or_default();
                (level + anchored.height, anchored.nodes.max(1))
            }
            Event::Scalar(..) => (level, 1),
            _ => continue,
        };
        let Some(around) = open.last_mut() else { continue };
        around.deepest = around.deepest.max(deepest);
        around.nodes = around.nodes.saturating_add(nodes);
        if deepest > DEEPEST {
            let what = format!("is nested more than {DEEPEST} levels deep");
            return Err(Unreadable::at(span.start.line(), what));
        }
        if around.nodes > MOST_NODES {
            let what =
                format!("holds more than {MOST_NODES} values; a value counts once for each alias of it");
            return Err(Unreadable::at(span.start.line(), what));
        }
    }
    Ok(())
}

fn of_table(table: &toml_edit::Table) -> Value {
    let members = table.iter().map(|(key, item)| (key.to_owned(), of_item(item)));
    Value::Object(members.collect())
}

pub(crate) fn of_item(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => of_toml(value),
        Item::Table(table) => of_table(table),
        Item::ArrayOfTables(tables) => tables.iter().map(of_table).collect(),
    }
}

fn of_toml(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => text.value().as_str().into(),
        toml_edit::Value::Integer(number) => (*number.value()).into(),
        toml_edit::Value::Float(number) => (*number.value()).into(),
        toml_edit::Value::Boolean(flag) => (*flag.value()).into(),
        toml_edit::Value::Datetime(time) => time.value().to_string().into(),
        toml_edit::Value::Array(items) => items.iter().map(of_toml).collect(),
        toml_edit::Value::InlineTable(table) => {
            let members = table.iter().map(|(key, value)| (key.to_owned(), of_toml(value)));
            Value::Object(members.collect())
        }
    }
}

fn of_yaml(node: &MarkedYaml<'_>) -> Value {
    match &node.data {
        YamlData::Value(scalar) => of_scalar(scalar),
        YamlData::Sequence(items) => items.iter().map(of_yaml).collect(),
        YamlData::Mapping(members) => {
            let members = members.iter().map(|(key, value)| (key_of(key), of_yaml(value)));
            Value::Object(members.collect())
        }
        YamlData::Tagged(_, inner) => of_yaml(inner),
        YamlData::Representation(text, ..) => text.as_ref().into(),
        YamlData::Alias(_) | YamlData::BadValue => Value::Null,
    }
}

/// A key as text; clients use no other keys.
pub(crate) fn key_of(node: &MarkedYaml<'_>) -> String {
    match of_yaml(node) {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

fn of_scalar(scalar: &Scalar<'_>) -> Value {
    match scalar {
        Scalar::Null => Value::Null,
        Scalar::Boolean(flag) => (*flag).into(),
        Scalar::Integer(number) => (*number).into(),
        Scalar::FloatingPoint(number) => number.into_inner().into(),
        Scalar::String(text) => text.as_ref().into(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_three_formats_give_equal_values() {
        let expected = json!({"a": {"b": [1, true, "x"], "c": 1.5}});
        for (format, text) in [
            (
                Format::Json,
                "\u{feff}// c\n{\"a\": {\"b\": [1, true, \"x\",], /* d */ \"c\": 1.5}}\r\n",
            ),
            (Format::Toml, "# c\n[a]\nb = [1, true, 'x']\nc = 1.5\n"),
            (Format::Yaml, "# c\na:\n  b: [1, true, x]\n  c: 1.5\n"),
        ] {
            assert_eq!(format.parse(text).unwrap(), expected, "{format:?}");
            assert_eq!(format.parse("").unwrap(), json!({}), "{format:?}");
        }
    }

    #[test]
    fn errors_have_a_line_and_no_value() {
        for (format, text, line) in [
            (Format::Json, "{\n  \"a\": \"secret\",\n  \"b\": \n", 3),
            (Format::Json, "{\n \"a\": \"secret\" \"b\"}", 2),
            (Format::Json, "[]", 1),
            (Format::Toml, "a = 1\nb = \"secret\n", 2),
            (Format::Yaml, "a: 1\nb: \"secret\n", 2),
        ] {
            let error = format.parse(text).unwrap_err();
            let shown = error.to_string();
            assert!(!shown.contains("secret"), "{shown}");
            assert!(
                error.line.is_some_and(|found| found.abs_diff(line) <= 2),
                "{shown}"
            );
        }
    }

    #[test]
    fn deep_nesting_is_refused_with_its_line() {
        let rep = |text: &str, number: usize| text.repeat(number);
        let anchors: String = (1..60)
            .map(|n| format!("a{n}: &a{n} {}*a{}{}\n", rep("[", 60), n - 1, rep("]", 60)))
            .collect();
        for (format, text, line) in [
            (
                Format::Yaml,
                format!("extensions:\n  a:\n    {}", rep("- ", 4000)),
                3,
            ),
            (Format::Yaml, format!("a:\n  {}", rep("[", 4000)), 2),
            (Format::Yaml, format!("a: {}", rep("{a: ", 4000)), 1),
            (Format::Yaml, format!("a0: &a0 x\n{anchors}"), 4),
            (Format::Json, format!("\n{}", rep("[", 10_000)), 2),
            (Format::Json, rep("{\"a\":", 10_000), 1),
            (Format::Toml, format!("\na = {}", rep("[", 10_000)), 2),
            (Format::Toml, format!("a = {}", rep("{a = ", 10_000)), 1),
            (Format::Toml, format!("a{} = 1", rep(".a", 10_000)), 1),
            (Format::Toml, format!("[a{}]", rep(".a", 10_000)), 1),
        ] {
            let start: String = text.chars().take(40).collect();
            let found = format.parse(&text).map_err(|error| error.line);
            assert_eq!(found, Err(Some(line)), "{format:?}: {start}");
            assert!(!crate::masked(format, &text, &[]).is_empty(), "{start}");
        }
        let deep = format!("a: {}1{}", rep("[", 100), rep("]", 100));
        assert!(Format::Yaml.parse(&deep).is_ok());
    }

    #[test]
    fn aliases_of_aliases_are_refused_before_they_are_copied() {
        let line = |n: usize| format!("a{n}: &a{n} [{}]\n", format!("*a{},", n - 1).repeat(9));
        let lines = |levels: usize| (1..=levels).map(line).collect::<String>();
        // 9^30 values in a kilobyte.
        let error = Format::Yaml
            .parse(&format!("a0: &a0 [x]\n{}", lines(30)))
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 6: holds more than 50000 values; a value counts once for each alias of it"
        );
        let few = Format::Yaml.parse(&format!("a0: &a0 [x]\n{}", lines(3))).unwrap();
        assert_eq!(few["a3"][8][8][8], json!(["x"]));
        let wide = format!("a: [{}]", "0,".repeat(60_000));
        assert_eq!(Format::Yaml.parse(&wide).unwrap_err().line, Some(1));
    }

    #[test]
    fn a_text_with_too_large_a_tree_is_refused() {
        for (format, text) in [
            (Format::Json, format!("[{}0]", "0,".repeat(500_000))),
            (Format::Toml, "a=0\n".repeat(200_000)),
        ] {
            let error = format.parse(&text).unwrap_err().to_string();
            assert!(error.contains("parts, more than"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "[ \\t\\n:{}\\[\\],\"'a-c0-9#&*!|>-]{0,60}") {
            for format in [Format::Json, Format::Toml, Format::Yaml] {
                let _ = format.parse(&text);
            }
        }
    }
}
