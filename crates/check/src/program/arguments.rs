//! Reads a call's arguments, as far as they are written out.

use catalog::StaticArguments;
use ruff_python_ast::Arguments;
use serde_json::{Map, Value as Json};

use super::reading::Given;
use super::value::{Dict, Value};
use super::walker::Walker;

// === impl Walker ===

impl<'a> Walker<'a> {
    /// Keyword arguments, or one mapping.
    pub(super) fn given(&mut self, arguments: &'a Arguments) -> Given {
        let positional: Vec<Value> = arguments
            .args
            .iter()
            .map(|argument| self.value(argument))
            .collect();
        let named = dict(self, arguments);
        if arguments.args.iter().any(ruff_python_ast::Expr::is_starred_expr) {
            return Given::Unknown;
        }
        match positional.as_slice() {
            [] => self.mapping(&named),
            [one] if arguments.keywords.is_empty() => Given::Positional(Box::new(self.mapping(one))),
            _ => Given::Positional(Box::new(Given::Wrong("positional arguments".into()))),
        }
    }

    /// Arguments given as one value.
    pub(super) fn mapping(&mut self, value: &Value) -> Given {
        match value {
            Value::Dict(_) => {
                self.take_steps(value.weight());
                let mut partial = StaticArguments::default();
                match fill(value, &mut Vec::new(), &mut partial) {
                    Json::Object(arguments) if !self.is_spent() => {
                        partial.arguments = arguments;
                        Given::Mapping(partial)
                    }
                    _ => Given::Unknown,
                }
            }
            Value::Scalar(Json::Null) => none(),
            Value::Scalar(Json::String(_)) | Value::Text => Given::Wrong("a text".into()),
            Value::Scalar(_) => Given::Wrong("a number".into()),
            Value::List(_) | Value::Each(_) => Given::Wrong("a list".into()),
            _ => Given::Unknown,
        }
    }
}

pub(super) fn dict<'a>(walker: &mut Walker<'a>, arguments: &'a Arguments) -> Value {
    let mut made = Dict::default();
    for keyword in &arguments.keywords {
        let value = walker.value(&keyword.value);
        match &keyword.arg {
            Some(name) => made.put(name.as_str().to_owned(), value),
            None => walker.take(&mut made, &value),
        }
    }
    Value::dict(made)
}

pub(super) fn none() -> Given {
    Given::Mapping(StaticArguments::default())
}

/// Converts a value to JSON; its unknown parts are noted and become null.
fn fill(value: &Value, path: &mut Vec<String>, partial: &mut StaticArguments) -> Json {
    match value {
        Value::Scalar(json) => json.clone(),
        Value::List(items) => {
            let mut array = Vec::with_capacity(items.len());
            for (at, item) in items.iter().enumerate() {
                path.push(at.to_string());
                array.push(fill(item, path, partial));
                path.pop();
            }
            Json::Array(array)
        }
        Value::Dict(dict) => {
            if dict.open {
                partial.open.push(path.clone());
            }
            let mut object = Map::new();
            for (name, item) in &dict.items {
                path.push(name.clone());
                object.insert(name.clone(), fill(item, path, partial));
                path.pop();
            }
            Json::Object(object)
        }
        _ => {
            partial.unknown.push(path.clone());
            Json::Null
        }
    }
}
