//! Typed access to TOML.
//!
//! Messages name the expected and the found type.

use std::ops::RangeInclusive;

use environment::{Diagnostics, nearest};
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use types::Written;
use types::bulk::{self, Tree};

pub(super) struct Table<'a>(DeTable<'a>);

pub(super) struct Value<'a>(&'a DeValue<'a>);

impl<'a> Table<'a> {
    /// Parses a whole file; a syntax error is a mistake with line and column.
    pub(super) fn parse(text: &'a str, diagnostics: &mut Diagnostics) -> Option<Self> {
        if let Err(refused) = bulk::check_file(text.as_bytes(), Tree::Toml) {
            diagnostics.mistake("", refused.to_string());
            return None;
        }
        match DeTable::parse(text) {
            Ok(table) => Some(Self(table.into_inner())),
            Err(error) => {
                let position = error.span().map(|span| position(text, span.start));
                let message = format!("not valid TOML: {}", error.message());
                diagnostics.mistake(&position.unwrap_or_default(), message);
                None
            }
        }
    }

    pub(super) fn entries(&self) -> Vec<(&str, Value<'_>)> {
        entries(&self.0)
    }
}

/// Entries in file order, which is also the order of mistakes.
fn entries<'t>(table: &'t DeTable<'_>) -> Vec<(&'t str, Value<'t>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
        .into_iter()
        .map(|(key, value)| (key.get_ref().as_ref(), Value(value.get_ref())))
        .collect()
}

fn position(text: &str, offset: usize) -> String {
    let before = &text[..text.floor_char_boundary(offset)];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("line {line}, column {column}")
}

/// A table inside another.
pub(super) struct Section<'t>(&'t DeTable<'t>);

impl<'t> Section<'t> {
    pub(super) fn entries(&self) -> Vec<(&'t str, Value<'t>)> {
        entries(self.0)
    }
}

impl<'a> Value<'a> {
    pub(super) fn table(&self) -> Option<Section<'a>> {
        self.0.as_table().map(Section)
    }

    /// The tables of an array of tables.
    pub(super) fn tables(&self) -> Option<Vec<Section<'a>>> {
        let array = self.0.as_array()?;
        array
            .iter()
            .map(|item| item.get_ref().as_table().map(Section))
            .collect()
    }

    pub(super) fn boolean(&self) -> Result<bool, String> {
        self.0.as_bool().ok_or_else(|| self.wrong("true or false"))
    }

    pub(super) fn kind(&self) -> &'static str {
        match self.0 {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "an integer",
            DeValue::Float(_) => "a float",
            DeValue::Boolean(_) => "a boolean",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "an array",
            DeValue::Table(_) => "a table",
        }
    }

    pub(super) fn string(&self) -> Result<&'a str, String> {
        self.0.as_str().ok_or_else(|| self.wrong("a string"))
    }

    pub(super) fn strings(&self) -> Result<Vec<String>, String> {
        let array = self
            .0
            .as_array()
            .ok_or_else(|| self.wrong("an array of strings"))?;
        array
            .iter()
            .map(Spanned::get_ref)
            .enumerate()
            .map(|(index, item)| {
                item.as_str().map(str::to_owned).ok_or_else(|| {
                    let found = Value(item).kind();
                    format!(
                        "expected an array of strings, found {found} at position {}",
                        index + 1
                    )
                })
            })
            .collect()
    }

    /// The value for readers of limits and counts.
    pub(super) fn written(&self) -> Written<'a> {
        let number = |text: &str| text.parse().map_or(Written::Other(self.kind()), Written::Number);
        match self.0 {
            DeValue::String(text) => Written::Text(text),
            DeValue::Integer(integer) => u64::from_str_radix(integer.as_str(), integer.radix())
                .map_or_else(|_| number(integer.as_str()), Written::Whole),
            DeValue::Float(float) => number(float.as_str()),
            _ => Written::Other(self.kind()),
        }
    }

    /// A number within a range.
    pub(super) fn share(&self, range: RangeInclusive<f64>) -> Result<f64, String> {
        let wrong = || format!("write a number from {} to {}", range.start(), range.end());
        let share = match self.0 {
            DeValue::Float(float) => float.as_str().parse().map_err(|_| wrong())?,
            DeValue::Integer(integer) => integer.as_str().parse().map_err(|_| wrong())?,
            _ => return Err(self.wrong("a number")),
        };
        if range.contains(&share) {
            Ok(share)
        } else {
            Err(wrong())
        }
    }

    pub(super) fn one_of<T: Copy, const N: usize>(&self, choices: [(&str, T); N]) -> Result<T, String> {
        let word = self.string()?;
        if let Some((_, value)) = choices.iter().find(|(name, _)| *name == word) {
            return Ok(*value);
        }
        let names = choices.map(|(name, _)| name);
        let hint = nearest(word, names).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        Err(format!(
            "expected \"{}\", found \"{word}\"{hint}",
            names.join("\" or \"")
        ))
    }

    fn wrong(&self, expected: &str) -> String {
        format!("expected {expected}, found {}", self.kind())
    }
}

/// The message for an unknown name, with the nearest known name.
pub(crate) fn unknown<const N: usize>(what: &str, name: &str, known: [&str; N]) -> String {
    match nearest(name, known) {
        Some(near) => format!("unknown {what} `{name}`; did you mean `{near}`?"),
        None => format!(
            "unknown {what} `{name}`; expected one of `{}`",
            known.join("`, `")
        ),
    }
}
