//! Whether a value of a schema can have a field: the schema of results, read by who checks programs.

use serde_json::{Map, Value};

use crate::schema::{array, follow, object};

/// Forms of one value that are told apart.
const MAX_FORMS: usize = 32;

/// Nesting of alternatives.
const MAX_NESTING: usize = 8;

/// A step from a value to a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The value under a key.
    Key(String),
    /// Any item of a list.
    Item,
}

/// Why a value has no such field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoField {
    /// It has these and no others.
    Others(Vec<String>),
    /// It is a list.
    List,
    /// It has no fields at all; the type as Python calls it.
    Plain(&'static str),
}

/// One form that a value may have.
enum Form<'a> {
    Object(&'a Map<String, Value>),
    List(&'a Map<String, Value>),
    Plain(&'static str),
}

/// Why the value at `path` in a value of this schema can never have the field; `None` if it may have it, as far as the
/// schema says.
pub fn no_field(schema: &Value, path: &[Step], field: &str) -> Option<NoField> {
    let mut forms = vec![schema];
    for step in path {
        let mut next = Vec::new();
        for form in &forms {
            next.extend(parts(schema, form, step)?);
        }
        forms = next;
    }
    let mut names: Vec<String> = Vec::new();
    let mut otherwise = None;
    for form in forms.iter().flat_map(|form| expanded(schema, form)) {
        match form? {
            Form::Object(object) => {
                let known = closed(object)?;
                if known.iter().any(|name| *name == field) {
                    return None;
                }
                names.extend(known.into_iter().cloned());
            }
            Form::List(_) => otherwise = Some(NoField::List),
            Form::Plain(kind) => otherwise = otherwise.or(Some(NoField::Plain(kind))),
        }
    }
    names.dedup();
    if names.is_empty() {
        otherwise
    } else {
        Some(NoField::Others(names))
    }
}

/// The schemas of a part of a value; `None` if anything may be there.
fn parts<'a>(root: &'a Value, schema: &'a Value, step: &Step) -> Option<Vec<&'a Value>> {
    let mut found = Vec::new();
    for form in expanded(root, schema) {
        found.push(match (form?, step) {
            (Form::Object(form), Step::Key(name)) => form.get("properties")?.get(name)?,
            (Form::List(form), Step::Item) if !form.contains_key("prefixItems") => form.get("items")?,
            _ => return None,
        });
    }
    (!found.is_empty() && found.len() <= MAX_FORMS).then_some(found)
}

/// The forms of a value, without null: a field of what is not there is no question. A `None` among them is a form of
/// which nothing is known.
fn expanded<'a>(root: &'a Value, schema: &'a Value) -> Vec<Option<Form<'a>>> {
    let mut forms = Vec::new();
    expand(root, schema, MAX_NESTING, &mut forms);
    if forms.len() > MAX_FORMS {
        return vec![None];
    }
    forms
}

fn expand<'a>(root: &'a Value, schema: &'a Value, depth: usize, forms: &mut Vec<Option<Form<'a>>>) {
    let Some(schema) = follow(root, schema).and_then(Value::as_object) else {
        return forms.push(None);
    };
    let alternatives = ["anyOf", "oneOf"].map(|word| array(schema, word));
    let is_mixed = ["allOf", "if", "not", "dependentSchemas", "$dynamicRef"]
        .iter()
        .any(|word| schema.contains_key(*word));
    let count = alternatives.iter().filter(|list| !list.is_empty()).count();
    if depth == 0 || is_mixed || forms.len() > MAX_FORMS || (count > 0 && schema.contains_key("properties")) {
        return forms.push(None);
    }
    if count > 0 {
        for alternative in alternatives.into_iter().flatten() {
            expand(root, alternative, depth - 1, forms);
        }
        return;
    }
    match schema.get("type") {
        Some(Value::String(name)) => forms.extend(form(name, schema)),
        Some(Value::Array(names)) => {
            for name in names {
                forms.extend(form(name.as_str().unwrap_or_default(), schema));
            }
        }
        _ if schema.contains_key("properties") => forms.push(Some(Form::Object(schema))),
        _ => forms.push(None),
    }
}

fn form<'a>(name: &str, schema: &'a Map<String, Value>) -> Option<Option<Form<'a>>> {
    Some(match name {
        "null" => return None,
        "object" => Some(Form::Object(schema)),
        "array" => Some(Form::List(schema)),
        "string" => Some(Form::Plain("str")),
        "integer" => Some(Form::Plain("int")),
        "number" => Some(Form::Plain("float")),
        "boolean" => Some(Form::Plain("bool")),
        _ => None,
    })
}

/// The keys of an object that lists them and does not say that there are others.
fn closed(schema: &Map<String, Value>) -> Option<Vec<&String>> {
    let others = |word: &str| matches!(schema.get(word), None | Some(Value::Bool(false)));
    let is_closed = others("additionalProperties")
        && others("unevaluatedProperties")
        && !schema.contains_key("patternProperties");
    let names: Vec<&String> = object(schema, "properties").map(|(name, _)| name).collect();
    (is_closed && !names.is_empty()).then_some(names)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn path(steps: &str) -> Vec<Step> {
        let steps = steps.split('.').filter(|step| !step.is_empty());
        let step = |step: &str| match step {
            "*" => Step::Item,
            key => Step::Key(key.to_owned()),
        };
        steps.map(step).collect()
    }

    #[test]
    fn only_what_cannot_be_there_is_missing() {
        let schema = json!({
            "type": "object",
            "properties": {
                "rows": {"type": "array", "items": {"$ref": "#/$defs/row"}},
                "open": {"type": "object", "properties": {"a": {}}, "additionalProperties": true},
                "maybe": {"anyOf": [{"$ref": "#/$defs/row"}, {"type": "null"}]},
                "either": {"anyOf": [{"$ref": "#/$defs/row"}, {}]},
                "text": {"type": ["string", "null"]},
                "any": {},
            },
            "$defs": {"row": {"type": "object", "properties": {"id": {"type": "integer"}, "up": {"$ref": "#/$defs/row"}}}},
        });
        let others = |names: &[&str]| {
            Some(NoField::Others(
                names.iter().map(|name| (*name).to_owned()).collect(),
            ))
        };
        let check = |steps: &str, field: &str, expected: Option<NoField>| {
            assert_eq!(
                no_field(&schema, &path(steps), field),
                expected,
                "{steps}.{field}"
            );
        };
        check("", "rows", None);
        check(
            "",
            "row",
            others(&["rows", "open", "maybe", "either", "text", "any"]),
        );
        check("rows", "id", Some(NoField::List));
        check("rows.*", "id", None);
        check("rows.*", "name", others(&["id", "up"]));
        check("rows.*.up.up", "name", others(&["id", "up"]));
        check("rows.*.up.down", "name", None);
        check("maybe", "name", others(&["id", "up"]));
        check("either", "name", None);
        check("open", "b", None);
        check("any", "b", None);
        check("text", "b", Some(NoField::Plain("str")));
        check("*", "b", None);
    }
}
