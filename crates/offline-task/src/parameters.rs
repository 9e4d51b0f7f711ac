//! A tool's parameters from its schema: type, choices, and the meaning of values from names,
//! descriptions and examples.

use serde_json::{Map, Value};

use crate::places;
use crate::verbs::stem;
use crate::vocabulary::WordList;
use crate::words::{Word, WordKind, first_value};

#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    /// Words of the name, in lower case.
    words: Vec<String>,
    pub(crate) value_type: ValueType,
    pub(crate) role: Role,
    pub(crate) is_required: bool,
    /// Values of an `enum`; usually empty.
    pub(crate) choices: Vec<Value>,
    /// A value shown by the tool's author.
    pub(crate) example: Option<Value>,
    /// The value names a time zone, such as `Europe/Paris`.
    is_zone: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ValueType {
    Text,
    Number,
    Boolean,
    List,
    Object,
    Any,
}

/// Meaning of a text parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A value of this kind: a path, a day, an id.
    Is(WordKind),
    /// Free text.
    Prose,
    /// A machine language, accepted only in quotation marks.
    Verbatim,
    Unknown,
}

/// An id, a key, a version.
pub(crate) const ID: Role = Role::Is(WordKind::Code);
/// A place, a person, a title.
pub(crate) const NAME: Role = Role::Is(WordKind::Name);

/// Roles with a line of words in `data/roles.txt`, in the order of the lines.
#[rustfmt::skip]
const ROLES: [Role; 9] = [
    Role::Is(WordKind::Email), Role::Is(WordKind::Url), Role::Is(WordKind::Path), Role::Verbatim, Role::Is(WordKind::Expression),
    Role::Is(WordKind::Date), ID, NAME, Role::Prose,
];
const ROLE_WORDS: &str = include_str!("../data/roles.txt");
/// Words in the names of switches that do not name what is switched.
const SWITCHING: WordList = WordList("allow do enable include is make only should use with");

/// Phrases before an example in a description.
const EXAMPLES: [&str; 4] = ["such as ", "e.g. ", "e.g., ", "for example "];

/// References and alternatives followed from one schema.
const MAX_REFERENCES: usize = 8;

pub(crate) fn parameters(schema: &Value) -> Vec<Parameter> {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let read = |(name, property): (&String, &Value)| Parameter {
        is_required: required.contains(&Value::from(name.as_str())),
        ..Parameter::read(name, &resolved(schema, property))
    };
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties.map(read).collect()
}

// === impl Parameter ===

impl Parameter {
    fn read(name: &str, schema: &Map<String, Value>) -> Parameter {
        let text = |key: &str| schema.get(key).and_then(Value::as_str).unwrap_or_default();
        let description = text("description");
        let words: Vec<String> = catalog::words(name).map(str::to_lowercase).collect();
        let items = schema.get("items").and_then(Value::as_object).unwrap_or(schema);
        let choices = schema.get("enum").or_else(|| items.get("enum"));
        let choices = choices.and_then(Value::as_array);
        let example = example(schema, description);
        let shown = example.as_ref().and_then(Value::as_str).unwrap_or_default();
        let is_named = words.iter().any(|word| word == "timezone" || word == "tz");
        let format = items.get("format").and_then(Value::as_str).unwrap_or_default();
        Parameter {
            name: name.to_owned(),
            value_type: value_type(schema),
            role: role(format, &words, description),
            is_required: false,
            choices: choices.cloned().unwrap_or_default(),
            is_zone: is_named && (description.contains("IANA") || places::is_zone_name(shown)),
            example,
            words,
        }
    }

    /// The time zone of a place, where the parameter takes time zones.
    pub(crate) fn zone(&self, place: Option<&str>) -> Option<&'static str> {
        place.filter(|_| self.is_zone).and_then(places::zone)
    }

    /// Whether the name contains this word, in singular or plural.
    pub(crate) fn is_called(&self, word: &str) -> bool {
        let wanted = stem(word);
        self.words.iter().any(|own| own == word || stem(own) == wanted)
    }

    pub(crate) fn is_one_of(&self, list: WordList) -> bool {
        self.words.iter().any(|word| list.has(word))
    }

    /// The choice that a word names, or `true` if the word names the switch.
    pub(crate) fn choice(&self, word: &Word) -> Option<Value> {
        if self.value_type == ValueType::Boolean {
            let begins = |own: &String| own.len() > 4 && word.lower.starts_with(own);
            let is_it = |own: &String| begins(own) || stem(own) == stem(&word.lower);
            let mut names = self.words.iter().filter(|own| !SWITCHING.has(own));
            return names.any(is_it).then_some(true.into());
        }
        let text = word.text().unwrap_or_default();
        let is_it = |choice: &&Value| match choice.as_str() {
            Some(own) => own.eq_ignore_ascii_case(text) || stem(own) == stem(&word.lower),
            None => **choice == word.value,
        };
        let mut choices = self.choices.iter().filter(|_| word.key.is_none());
        choices.find(is_it).cloned()
    }

    /// The value of `parameter=value` for an `enum` or a switch.
    pub(crate) fn keyed(&self, text: &str) -> Option<Value> {
        let is_it = |choice: &&Value| choice.as_str().is_some_and(|own| own.eq_ignore_ascii_case(text));
        match (&self.value_type, text.to_lowercase().parse::<bool>()) {
            (ValueType::Boolean, Ok(is_on)) => Some(is_on.into()),
            _ => self.choices.iter().find(is_it).cloned(),
        }
    }

    /// The value, as a one-item list if the parameter takes a list.
    pub(crate) fn wrapped(&self, value: Value) -> Value {
        let is_item = matches!(self.value_type, ValueType::List) && !value.is_array();
        if is_item { vec![value].into() } else { value }
    }
}

/// The effective schema: follows references, and takes the first alternative that is not null.
fn resolved(root: &Value, schema: &Value) -> Map<String, Value> {
    let mut own = schema.as_object().cloned().unwrap_or_default();
    for _ in 0..MAX_REFERENCES {
        let reference = own.remove("$ref");
        let pointer = reference.as_ref().and_then(|to| to.as_str()?.strip_prefix('#'));
        let alternatives = ["anyOf", "oneOf", "allOf"]
            .iter()
            .find_map(|name| own.remove(*name));
        let is_value = |one: &&Value| one["type"] != "null";
        let one = alternatives.and_then(|all| all.as_array()?.iter().find(is_value).cloned());
        let Some(Value::Object(inner)) = pointer.and_then(|to| root.pointer(to)).cloned().or(one) else {
            break;
        };
        for (name, value) in inner {
            own.entry(name).or_insert(value);
        }
    }
    own
}

fn value_type(schema: &Map<String, Value>) -> ValueType {
    let declared = match schema.get("type") {
        Some(Value::Array(names)) => names.iter().find(|name| *name != "null"),
        one => one,
    };
    match declared.and_then(Value::as_str) {
        Some("string") => ValueType::Text,
        Some("integer" | "number") => ValueType::Number,
        Some("boolean") => ValueType::Boolean,
        Some("array") => ValueType::List,
        Some("object") => ValueType::Object,
        _ if schema.contains_key("properties") => ValueType::Object,
        _ => ValueType::Any,
    }
}

/// The author's example, from the schema or the description.
fn example(schema: &Map<String, Value>, description: &str) -> Option<Value> {
    let listed = schema.get("examples").and_then(|examples| examples.get(0));
    listed.or_else(|| schema.get("example")).cloned().or_else(|| {
        let begins = |phrase: &&str| description.find(*phrase).map(|at| at + phrase.len());
        let at = EXAMPLES.iter().find_map(begins)?;
        first_value(&description[at..]).map(|word| word.value)
    })
}

fn role(format: &str, words: &[String], description: &str) -> Role {
    match format {
        "email" => return Role::Is(WordKind::Email),
        "uri" | "url" => return Role::Is(WordKind::Url),
        "date" | "date-time" => return Role::Is(WordKind::Date),
        "uuid" => return ID,
        _ => {}
    }
    let described: Vec<String> = catalog::words(description)
        .take(12)
        .map(str::to_lowercase)
        .collect();
    let role = |word: &String| {
        let mut roles = ROLES.into_iter().zip(ROLE_WORDS.lines());
        roles
            .find(|(_, words)| words.split(' ').any(|own| own == word))
            .map(|(role, _)| role)
    };
    // The last word of a name says most, except that "name" in `file_name` says less than "file".
    let (last, first): (Vec<&String>, _) = words.iter().rev().partition(|word| *word == "name");
    let mut words = first.into_iter().chain(last).chain(&described);
    words.find_map(role).unwrap_or(Role::Unknown)
}
