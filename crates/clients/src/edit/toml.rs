//! Edits TOML and preserves line ends.

use serde_json::{Map, Value};
use toml_edit::{Array, Item, Table, TableLike};

use super::step::{Refused, Step};
use crate::document;

pub(super) fn edit(text: &str, steps: &[Step<'_>]) -> Result<String, Refused> {
    // The library writes no carriage returns. This code removes and restores them, so all lines must end alike.
    let has_returns = text.contains('\r');
    let plain = text.replace("\r\n", "\n");
    if has_returns && plain.replace('\n', "\r\n") != text {
        return Err(Refused::new("the file mixes line ends of Windows and Unix"));
    }
    let mut file = document::toml(&plain)?;
    // The library terminates the last line.
    if file.to_string().trim_end_matches('\n') != plain.trim_end_matches('\n') {
        return Err(Refused::new("an edit would change other parts of the file"));
    }
    for step in steps {
        match step {
            Step::Set(path, name, value) => {
                let table = at(file.as_table_mut(), path)?;
                match value {
                    Value::Object(members) => match table.get_mut(name).and_then(Item::as_table_like_mut) {
                        Some(there) => merge(there, members),
                        None => drop(table.insert(name, Item::Table(table_of(value)))),
                    },
                    _ => set(table, name, value_of(value)),
                }
            }
            Step::Remove(path, name) => drop(at(file.as_table_mut(), path)?.remove(name)),
            Step::Append(path, name, item) => {
                let table = at(file.as_table_mut(), path)?;
                let list = table
                    .entry(name)
                    .or_insert_with(|| toml_edit::value(Array::new()));
                let list = list
                    .as_array_mut()
                    .ok_or_else(|| Refused::new("a list is written as something else"))?;
                list.push(value_of(item));
            }
            // Codex has no such list.
            Step::Drop(..) => {
                return Err(Refused::new(
                    "codeyard cannot remove items from lists of this file",
                ));
            }
        }
    }
    let edited = file.to_string();
    Ok(if has_returns {
        edited.replace('\n', "\r\n")
    } else {
        edited
    })
}

/// Gives a table these members; members with the right value keep their spelling.
fn merge(table: &mut dyn TableLike, members: &Map<String, Value>) {
    let names: Vec<String> = table.iter().map(|(name, _)| name.to_owned()).collect();
    for name in names.iter().filter(|name| !members.contains_key(*name)) {
        table.remove(name);
    }
    for (name, value) in members {
        let there = table.get_mut(name);
        if there
            .as_ref()
            .is_some_and(|item| document::of_item(item) == *value)
        {
            continue;
        }
        match (there.and_then(Item::as_table_like_mut), value) {
            (Some(inner), Value::Object(members)) => merge(inner, members),
            _ => set(table, name, value_of(value)),
        }
    }
}

/// Sets a value and keeps the comment after the old value.
fn set(table: &mut dyn TableLike, name: &str, mut value: toml_edit::Value) {
    match table.get_mut(name).and_then(Item::as_value_mut) {
        Some(old) => {
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        None => drop(table.insert(name, Item::Value(value))),
    }
}

fn at<'a>(top: &'a mut Table, path: &[String]) -> Result<&'a mut dyn TableLike, Refused> {
    let mut place: &mut dyn TableLike = top;
    for key in path {
        let made = || {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        };
        place = place
            .entry(key)
            .or_insert_with(made)
            .as_table_like_mut()
            .ok_or_else(|| Refused::new(&format!("`{key}` is not a table")))?;
    }
    Ok(place)
}

fn table_of(value: &Value) -> Table {
    let mut table = Table::new();
    for (name, value) in value.as_object().into_iter().flatten() {
        table.insert(name, Item::Value(value_of(value)));
    }
    table
}

fn value_of(value: &Value) -> toml_edit::Value {
    match value {
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(number), _) => number.into(),
            (None, number) => number.unwrap_or_default().into(),
        },
        Value::Array(items) => toml_edit::Value::Array(items.iter().map(value_of).collect()),
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(name, value)| (name.as_str(), value_of(value)));
            toml_edit::Value::InlineTable(members.collect())
        }
        Value::String(text) => text.as_str().into(),
        // TOML has no null, and no entry of ours contains it.
        Value::Null => "".into(),
    }
}
