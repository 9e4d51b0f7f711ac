//! Masks TOML at the positions that its parser reports.

use std::ops::Range;

use toml_edit::{Document, Item, TableLike, Value};

use super::shown::{HIDDEN, Mask, comment};

/// The masked text; invalid TOML is hidden completely.
pub(super) fn masked(mask: &Mask<'_>, text: &str) -> String {
    let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Ok(document) = Document::parse(bare) else {
        let lines = text.split_inclusive('\n');
        return lines.map(|_| format!("{HIDDEN}\n")).collect();
    };
    let mut values = Vec::new();
    of_table(mask, document.as_table(), &mut values);
    values.sort_by_key(|span| span.start);
    let mut out = String::with_capacity(text.len());
    let mut end = 0;
    for span in values {
        out.push_str(&between(bare.get(end..span.start).unwrap_or_default()));
        out.push_str(&format!("\"{HIDDEN}\""));
        end = span.end;
    }
    out.push_str(&between(bare.get(end..).unwrap_or_default()));
    out
}

/// Positions of values to hide.
fn of_table(mask: &Mask<'_>, table: &dyn TableLike, found: &mut Vec<Range<usize>>) {
    for (_, item) in table.iter() {
        match item {
            Item::None => {}
            Item::Value(value) => of_value(mask, value, found),
            Item::Table(table) => of_table(mask, table, found),
            Item::ArrayOfTables(tables) => tables.iter().for_each(|table| of_table(mask, table, found)),
        }
    }
}

fn of_value(mask: &Mask<'_>, value: &Value, found: &mut Vec<Range<usize>>) {
    let is_shown = match value {
        Value::Array(items) => return items.iter().for_each(|item| of_value(mask, item, found)),
        Value::InlineTable(table) => return of_table(mask, table, found),
        Value::Boolean(_) => true,
        Value::String(text) => mask.is_shown(text.value()),
        Value::Integer(number) => mask.is_shown(&number.value().to_string()),
        Value::Float(number) => mask.is_shown(&number.value().to_string()),
        Value::Datetime(_) => false,
    };
    if !is_shown {
        found.extend(value.span());
    }
}

/// The text between hidden values: keys, punctuation, shown values and comments.
fn between(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut quote = None;
    let mut is_escaped = false;
    let mut rest = text;
    while let Some(sign) = rest.chars().next() {
        let length = sign.len_utf8();
        match (quote, sign) {
            (None, '#') => {
                let length = rest.find(['\r', '\n']).unwrap_or(rest.len());
                out.push_str(&comment(&rest[..length]));
                rest = &rest[length..];
                continue;
            }
            (None, '"' | '\'') => quote = Some(sign),
            (Some(open), sign) if sign == open && !is_escaped => quote = None,
            _ => {}
        }
        is_escaped = quote == Some('"') && sign == '\\' && !is_escaped;
        out.push(sign);
        rest = &rest[length..];
    }
    out
}
