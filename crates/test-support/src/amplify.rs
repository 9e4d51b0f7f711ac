//! Input of any size that makes a parser allocate more than the input's bytes.

use std::str::FromStr;

use anyhow::{Result, bail};

/// Levels of nesting of `Deep` and `Fanned`, just below the limit of parsers.
const LEVELS: usize = 60;
/// Bytes of a name in `LongKeys`.
const NAME: usize = 16 * 1024;

/// What makes the input costly to parse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A list of the smallest values.
    Wide,
    /// An object with the shortest names.
    Members,
    /// Nested lists.
    Deep,
    /// One name, repeated.
    Duplicated,
    /// Names of many kilobytes.
    LongKeys,
    /// A text made only of escapes.
    Escapes,
    /// References to references; as JSON, nested objects.
    Fanned,
}

impl Shape {
    /// Every shape.
    pub const ALL: [Shape; 7] = [
        Shape::Wide,
        Shape::Members,
        Shape::Deep,
        Shape::Duplicated,
        Shape::LongKeys,
        Shape::Escapes,
        Shape::Fanned,
    ];

    /// The name that [`Shape::from_str`] reads.
    pub fn name(self) -> &'static str {
        match self {
            Shape::Wide => "wide",
            Shape::Members => "members",
            Shape::Deep => "deep",
            Shape::Duplicated => "duplicated",
            Shape::LongKeys => "long keys",
            Shape::Escapes => "escapes",
            Shape::Fanned => "fanned",
        }
    }

    /// A JSON object of about this many bytes.
    pub fn json(self, bytes: usize) -> String {
        match self {
            Shape::Wide => format!("{{\"a\":[{}]}}", repeated("0", bytes)),
            Shape::Members => format!("{{{}}}", numbered(bytes, |number| format!("\"{number:x}\":0"))),
            Shape::Deep => {
                let deep = format!("{}{}", "[".repeat(LEVELS), "]".repeat(LEVELS));
                format!("{{\"a\":[{}]}}", repeated(&deep, bytes))
            }
            Shape::Duplicated => format!("{{{}}}", repeated("\"a\":0", bytes)),
            Shape::LongKeys => {
                let name = "k".repeat(NAME);
                format!(
                    "{{{}}}",
                    numbered(bytes, |number| format!("\"{name}{number}\":0"))
                )
            }
            Shape::Escapes => format!("{{\"a\":\"{}\"}}", "\\u00e9".repeat(bytes / 6)),
            Shape::Fanned => format!("{{\"a\":[{}]}}", repeated("{\"a\":{\"b\":{}}}", bytes)),
        }
    }

    /// A tool definition of about this many bytes whose input schema has this shape.
    pub fn definition(self, tool: &str, bytes: usize) -> String {
        let properties = match self {
            Shape::Wide => repeated("{\"type\":\"integer\"}", bytes),
            Shape::Members => numbered(bytes, |number| format!("\"{number:x}\":{{}}")),
            Shape::Deep => {
                let deep = format!(
                    "{}{{}}{}",
                    "{\"items\":".repeat(LEVELS / 2),
                    "}".repeat(LEVELS / 2)
                );
                numbered(bytes, |number| format!("\"{number}\":{deep}"))
            }
            Shape::Duplicated => repeated("\"a\":{\"type\":\"integer\"}", bytes),
            Shape::LongKeys => {
                // A compiler that writes every place in full repeats the long name for each place below it.
                let parts = numbered(bytes / 2, |number| format!("\"{number:x}\":{{}}"));
                format!("\"{}\":{{\"properties\":{{{parts}}}}}", "k".repeat(bytes / 2))
            }
            Shape::Escapes => format!("\"a\":{{\"description\":\"{}\"}}", "\\u00e9".repeat(bytes / 6)),
            Shape::Fanned => {
                let part = |number: usize| {
                    let next = format!("{{\"$ref\":\"#/properties/p{}\"}}", number + 1);
                    format!("\"p{number}\":{{\"allOf\":[{next},{next},{next},{next}]}}")
                };
                numbered(bytes, part)
            }
        };
        let schema = match self {
            Shape::Wide => format!("{{\"properties\":{{\"a\":{{\"anyOf\":[{properties}]}}}}}}"),
            _ => format!("{{\"properties\":{{{properties}}}}}"),
        };
        format!("{{\"name\":\"{tool}\",\"inputSchema\":{schema}}}")
    }
}

impl FromStr for Shape {
    type Err = anyhow::Error;

    fn from_str(name: &str) -> Result<Shape> {
        let mut shapes = Shape::ALL.into_iter();
        match shapes.find(|shape| shape.name() == name) {
            Some(shape) => Ok(shape),
            None => bail!("unknown shape {name}"),
        }
    }
}

fn repeated(item: &str, bytes: usize) -> String {
    vec![item; (bytes / (item.len() + 1)).max(1)].join(",")
}

/// Items that differ by their number, separated by commas.
fn numbered(bytes: usize, item: impl Fn(usize) -> String) -> String {
    let mut text = item(0);
    for number in 1.. {
        if text.len() >= bytes {
            break;
        }
        text.push(',');
        text.push_str(&item(number));
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn every_shape_is_json_of_about_its_size() {
        for shape in Shape::ALL {
            for bytes in [4 * 1024, 64 * 1024] {
                for text in [shape.json(bytes), shape.definition("shaped", bytes)] {
                    assert!(
                        serde_json::from_str::<Value>(&text).is_ok(),
                        "{shape:?}: {text:.200}"
                    );
                    let most = bytes + 2 * NAME;
                    assert!(
                        (bytes / 2..most).contains(&text.len()),
                        "{shape:?}: {}",
                        text.len()
                    );
                }
            }
            assert_eq!(shape.name().parse::<Shape>().expect("a name"), shape);
        }
    }
}
