//! Decides whether a value of a schema can have a field.
//!
//! The check of programs uses this for result schemas.

use serde_json::{Map, Value};

use crate::schema::{array, follow, object};

/// Limit on the forms of one value.
const MAX_FORMS: usize = 32;

/// Limit on nested alternatives.
const MAX_NESTING: usize = 8;

/// Schemas read for one field; above the limit, the field counts as possible.
const MAX_STEPS: usize = 1_000;

/// One step from a value to a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The value under a key.
    Key(String),
    /// Any item of a list.
    Item,
}

/// Why a value cannot have a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoField {
    /// The value has only these other fields.
    Others(Vec<String>),
    /// The value is a list.
    List,
    /// The value has no fields; holds its type in Python's words.
    Plain(&'static str),
}

enum Form<'a> {
    Object(&'a Map<String, Value>),
    List(&'a Map<String, Value>),
    Plain(&'static str),
}

/// Reads forms while steps are left.
struct FormReader<'a> {
    root: &'a Value,
    steps: usize,
}

/// Why the value at `path` in a value of this schema can never have the field; `None` if the schema may allow
/// it.
pub fn no_field(schema: &Value, path: &[Step], field: &str) -> Option<NoField> {
    let mut reader = FormReader {
        root: schema,
        steps: MAX_STEPS,
    };
    let mut places = vec![schema];
    for step in path {
        places = reader.parts(&places, step)?;
    }
    let mut names: Vec<String> = Vec::new();
    let mut otherwise = None;
    for form in reader.forms(&places)? {
        match form {
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

// === impl FormReader ===

impl<'a> FormReader<'a> {
    /// The distinct schemas of a part of such values; `None` if the part may have any value.
    fn parts(&mut self, places: &[&'a Value], step: &Step) -> Option<Vec<&'a Value>> {
        let mut found: Vec<&Value> = Vec::new();
        for form in self.forms(places)? {
            let part = match (form, step) {
                (Form::Object(form), Step::Key(name)) => form.get("properties")?.get(name)?,
                (Form::List(form), Step::Item) if !form.contains_key("prefixItems") => form.get("items")?,
                _ => return None,
            };
            let part = follow(self.root, part)?;
            if !found.iter().any(|known| std::ptr::eq(*known, part)) {
                found.push(part);
            }
        }
        (!found.is_empty()).then_some(found)
    }

    /// The forms of values of these schemas, or `None` if a form is unknown. Ignores null: fields of null are not
    /// checked.
    fn forms(&mut self, places: &[&'a Value]) -> Option<Vec<Form<'a>>> {
        let mut forms = Vec::new();
        for place in places {
            self.expand(place, MAX_NESTING, &mut forms)?;
        }
        Some(forms)
    }

    fn expand(&mut self, schema: &'a Value, depth: usize, forms: &mut Vec<Form<'a>>) -> Option<()> {
        self.steps = self.steps.checked_sub(1)?;
        let schema = follow(self.root, schema)?.as_object()?;
        let alternatives = ["anyOf", "oneOf"].map(|word| array(schema, word));
        let is_mixed = ["allOf", "if", "not", "dependentSchemas", "$dynamicRef"]
            .iter()
            .any(|word| schema.contains_key(*word));
        let is_choice = alternatives.iter().any(|list| !list.is_empty());
        if depth == 0 || is_mixed || (is_choice && schema.contains_key("properties")) {
            return None;
        }
        if is_choice {
            for alternative in alternatives.into_iter().flatten() {
                self.expand(alternative, depth - 1, forms)?;
            }
            return Some(());
        }
        match schema.get("type") {
            Some(Value::String(name)) => forms.extend(form(name, schema)?),
            Some(Value::Array(names)) => {
                if names.len() > MAX_FORMS {
                    return None;
                }
                for name in names {
                    forms.extend(form(name.as_str().unwrap_or_default(), schema)?);
                }
            }
            _ if schema.contains_key("properties") => forms.push(Form::Object(schema)),
            _ => return None,
        }
        (forms.len() <= MAX_FORMS).then_some(())
    }
}

/// The form of one type. The inner `None` means null, the outer `None` an unknown form.
fn form<'a>(name: &str, schema: &'a Map<String, Value>) -> Option<Option<Form<'a>>> {
    Some(Some(match name {
        "null" => return Some(None),
        "object" => Form::Object(schema),
        "array" => Form::List(schema),
        "string" => Form::Plain("str"),
        "integer" => Form::Plain("int"),
        "number" => Form::Plain("float"),
        "boolean" => Form::Plain("bool"),
        _ => return None,
    }))
}

/// The keys of an object whose schema lists its keys and forbids others.
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
