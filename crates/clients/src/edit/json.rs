//! Edits JSON with comments on its concrete syntax tree.

use jsonc_parser::cst::{CstInputValue, CstObject};
use serde_json::Value;

use super::step::{Refused, Step};
use crate::document;

pub(super) fn edit(text: &str, steps: &[Step<'_>]) -> Result<String, Refused> {
    let root = document::json(text)?;
    let top = root.object_value_or_set();
    for step in steps {
        match step {
            Step::Set(path, name, value) => {
                let object = at(&top, path)?;
                match object.get(name) {
                    Some(member) => member.set_value(input(value)),
                    None => drop(object.append(name, input(value))),
                }
            }
            Step::Remove(path, name) => {
                if let Some(member) = at(&top, path)?.get(name) {
                    member.remove();
                }
            }
            Step::Append(path, name, item) => {
                let list = at(&top, path)?.array_value_or_create(name);
                let list = list.ok_or_else(|| Refused::new("a list is written as something else"))?;
                list.append(input(item));
            }
            Step::Drop(path, name, item) => {
                let list = at(&top, path)?.array_value(name);
                let elements = list.map(|list| list.elements()).unwrap_or_default();
                for element in elements {
                    if element.to_serde_value().as_ref() == Some(item) {
                        element.remove();
                    }
                }
            }
        }
    }
    Ok(root.to_string())
}

fn at(top: &CstObject, path: &[String]) -> Result<CstObject, Refused> {
    let mut place = top.clone();
    for key in path {
        // Some files contain `null` for a missing value.
        let is_null = place
            .get(key)
            .and_then(|member| member.value())
            .is_some_and(|value| value.as_null_keyword().is_some());
        let inner = if is_null {
            Some(place.object_value_or_set(key))
        } else {
            place.object_value_or_create(key)
        };
        place = inner.ok_or_else(|| Refused::new(&format!("`{key}` is not an object")))?;
    }
    Ok(place)
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| (name.clone(), input(value)));
            CstInputValue::Object(members.collect())
        }
    }
}
