//! What a tool's parameters take, read from its schema: type, choices, and what their names, descriptions and examples say.

use serde_json::{Map, Value};

use crate::literals::{Kind, Literal, kind_of, literals};
use crate::vocabulary;

/// One parameter of a tool.
#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    /// The words of the name, in small letters.
    pub(crate) words: Vec<String>,
    pub(crate) takes: Takes,
    pub(crate) role: Role,
    /// Whether a call without it is refused.
    pub(crate) is_required: bool,
    /// Values of which it must be one; empty for most.
    pub(crate) choices: Vec<Value>,
    /// Texts that its description shows, of which it may be one.
    pub(crate) shown: Vec<Value>,
    /// What the tool takes where nothing is said.
    pub(crate) default: Option<Value>,
    /// A value that the tool's author shows.
    pub(crate) example: Option<Value>,
    /// What the author says of it.
    pub(crate) about: String,
    /// Whether it takes the name of a time zone, such as `Europe/Paris`.
    pub(crate) is_zone: bool,
}

/// The type of a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Takes {
    Text,
    Integer,
    Number,
    Boolean,
    List(Box<Takes>),
    Object,
    Anything,
}

/// What the values of a parameter of texts are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Path,
    Url,
    Email,
    Date,
    Time,
    Expression,
    /// Something that names one thing: an id, a key, a version.
    Id,
    /// A place, a person, a title.
    Name,
    /// What people write or look for.
    Prose,
    /// A text in a language of machines, taken only in quotation marks.
    Verbatim,
    Unit,
    Unknown,
}

/// Words of names and descriptions, and what they say of the values; the first that is met counts.
const ROLES: &[(Role, &[&str])] = &[
    (Role::Email, &["bcc", "cc", "email", "mail"]),
    (
        Role::Url,
        &["endpoint", "href", "link", "uri", "url", "webpage", "website"],
    ),
    (
        Role::Path,
        &[
            "dir",
            "directory",
            "file",
            "filename",
            "filepath",
            "folder",
            "path",
            "pathname",
        ],
    ),
    (
        Role::Verbatim,
        &[
            "code",
            "command",
            "cypher",
            "html",
            "javascript",
            "jq",
            "markdown",
            "pattern",
            "regex",
            "regexp",
            "script",
            "sql",
            "statement",
            "xpath",
            "yaml",
        ],
    ),
    (
        Role::Expression,
        &[
            "arithmetic",
            "equation",
            "expr",
            "expression",
            "formula",
            "condition",
            "conditions",
            "criteria",
            "filter",
            "predicate",
            "where",
        ],
    ),
    (
        Role::Date,
        &["birthday", "date", "day", "deadline", "due", "since", "until"],
    ),
    (Role::Time, &["clock", "hour", "time"]),
    (Role::Unit, &["currency", "unit", "units"]),
    (
        Role::Id,
        &[
            "branch",
            "hash",
            "id",
            "identifier",
            "isbn",
            "key",
            "number",
            "ref",
            "reference",
            "repo",
            "repository",
            "sha",
            "sku",
            "slug",
            "ticket",
            "uuid",
            "version",
        ],
    ),
    (
        Role::Name,
        &[
            "address",
            "airport",
            "artist",
            "author",
            "city",
            "company",
            "country",
            "customer",
            "location",
            "name",
            "organization",
            "owner",
            "person",
            "place",
            "product",
            "region",
            "room",
            "state",
            "team",
            "town",
            "user",
            "username",
        ],
    ),
    (
        Role::Prose,
        &[
            "body",
            "caption",
            "comment",
            "content",
            "description",
            "keyword",
            "keywords",
            "message",
            "note",
            "phrase",
            "prompt",
            "q",
            "query",
            "question",
            "sentence",
            "search",
            "subject",
            "summary",
            "term",
            "text",
            "title",
            "topic",
            "word",
        ],
    ),
];

/// Languages of machines: a query in one of them is no text that people write.
const LANGUAGES: &[&str] = &[
    "cypher",
    "graphql",
    "insert",
    "javascript",
    "jq",
    "regex",
    "select",
    "sparql",
    "sql",
    "xpath",
];

/// Phrases before an example in a description.
const EXAMPLES: &[&str] = &[
    "such as ",
    "e.g. ",
    "e.g., ",
    "for example ",
    "for example, ",
    "example: ",
    "like ",
];

/// The parameters of a schema in their order.
pub(crate) fn parameters(schema: &Value) -> Vec<Parameter> {
    let required = schema["required"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties
        .map(|(name, property)| {
            let is_required = required.iter().any(|required| required == name);
            Parameter::read(name, &resolved(schema, property), is_required)
        })
        .collect()
}

/// The fields of a result, by the schema that declares it: name and type.
pub(crate) fn fields(schema: &Value) -> Vec<(String, Takes)> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties
        .map(|(name, property)| (name.clone(), takes(&resolved(schema, property))))
        .collect()
}

/// What a result is, by the schema that declares it. An object with the one field `result` stands for that field's value.
pub(crate) fn of_result(schema: &Value) -> Takes {
    match fields(schema).as_slice() {
        [(name, takes)] if name == "result" => takes.clone(),
        _ => takes(&resolved(schema, schema)),
    }
}

// === impl Parameter ===

impl Parameter {
    fn read(name: &str, schema: &Map<String, Value>, is_required: bool) -> Parameter {
        let about = schema
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let words: Vec<String> = catalog::words(name).map(str::to_lowercase).collect();
        let listed = |schema: &Value| schema["enum"].as_array().cloned();
        let choices = schema.get("enum").and_then(Value::as_array).cloned();
        let choices = choices
            .or_else(|| schema.get("items").and_then(listed))
            .unwrap_or_default();
        let choices = schema.get("const").map_or(choices, |only| vec![only.clone()]);
        let example = example(schema, about);
        let takes = takes(schema);
        Parameter {
            name: name.to_owned(),
            shown: if takes == Takes::Text {
                shown_in(about)
            } else {
                Vec::new()
            },
            takes: takes.clone(),
            role: role(
                schema.get("items").and_then(Value::as_object).unwrap_or(schema),
                &words,
                about,
                example.as_ref(),
            ),
            words: words.clone(),
            is_required,
            choices,
            default: schema
                .get("default")
                .filter(|default| !default.is_null())
                .cloned(),
            is_zone: takes == Takes::Text && is_zone(&words, about, example.as_ref()),
            example,
            about: about.to_owned(),
        }
    }

    /// The time zone of a place, where zones are taken.
    pub(crate) fn zone(&self, literal: &Literal) -> Option<&'static str> {
        let is_name = matches!(literal.kind, Kind::Name | Kind::Phrase | Kind::Quoted);
        let place = literal.text().filter(|_| self.is_zone && is_name);
        place.and_then(crate::places::zone)
    }

    /// Whether its paths are those of directories.
    pub(crate) fn is_directory(&self) -> bool {
        let names = ["dir", "directory", "folder", "repo", "repository"];
        names.iter().any(|name| self.is_called(name))
    }

    /// Whether the name has this word, or its singular or plural.
    pub(crate) fn is_called(&self, word: &str) -> bool {
        let stem = catalog::stem(word.to_owned());
        self.words
            .iter()
            .any(|own| own == word || catalog::stem(own.clone()) == stem)
    }
}

/// Whether a name says that a time zone is meant, and the description or an example that its name is one of IANA.
fn is_zone(words: &[String], about: &str, example: Option<&Value>) -> bool {
    let is_named = words
        .iter()
        .any(|word| matches!(word.as_str(), "timezone" | "tz" | "zone"));
    let example = example.and_then(Value::as_str).unwrap_or_default();
    is_named && (about.contains("IANA") || crate::places::is_zone_name(example))
}

/// The schema that counts: a reference followed, of alternatives the first that is not null, with the description kept.
fn resolved(root: &Value, schema: &Value) -> Map<String, Value> {
    let mut own = schema.as_object().cloned().unwrap_or_default();
    for _ in 0..8 {
        let target = own
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|to| to.strip_prefix('#'));
        let alternatives = ["anyOf", "oneOf", "allOf"]
            .iter()
            .find_map(|name| own.get(*name)?.as_array());
        let inner = match (target, alternatives) {
            (Some(pointer), _) => root.pointer(pointer),
            (None, Some(those)) => those.iter().find(|one| one["type"] != "null"),
            (None, None) => return own,
        };
        let Some(inner) = inner.and_then(Value::as_object).cloned() else {
            return own;
        };
        for name in ["$ref", "anyOf", "oneOf", "allOf"] {
            own.remove(name);
        }
        for (name, value) in inner {
            own.entry(name).or_insert(value);
        }
    }
    own
}

fn takes(schema: &Map<String, Value>) -> Takes {
    let named = match schema.get("type") {
        Some(Value::String(name)) => Some(name.as_str()),
        Some(Value::Array(names)) => names
            .iter()
            .filter_map(Value::as_str)
            .find(|name| *name != "null"),
        _ => None,
    };
    match named {
        Some("string") => Takes::Text,
        Some("integer") => Takes::Integer,
        Some("number") => Takes::Number,
        Some("boolean") => Takes::Boolean,
        Some("array") => {
            let items = schema.get("items").and_then(Value::as_object);
            Takes::List(Box::new(items.map_or(Takes::Anything, takes)))
        }
        Some("object") => Takes::Object,
        _ if schema.contains_key("properties") => Takes::Object,
        _ => Takes::Anything,
    }
}

/// What the author shows as a value: in the schema, or in the description.
fn example(schema: &Map<String, Value>, about: &str) -> Option<Value> {
    let listed = schema.get("examples").and_then(Value::as_array);
    let first = listed
        .and_then(|examples| examples.first())
        .or_else(|| schema.get("example"));
    first.cloned().or_else(|| {
        let lower = about.to_lowercase();
        let shown = EXAMPLES
            .iter()
            .find_map(|phrase| Some(lower.find(phrase)? + phrase.len()))?;
        let shown = about.get(shown..)?;
        let literal = literals(shown, &|_| false).into_iter().next()?;
        (literal.span.start == 0).then_some(literal.value)
    })
}

/// The words that a description lists as values: "north or south", "for example main or harbour".
fn shown_in(about: &str) -> Vec<Value> {
    let about = about.to_lowercase();
    let sentences = about
        .split(['.', ';', '\n'])
        .filter(|sentence| sentence.contains(" or "));
    let parts = sentences.flat_map(|sentence| {
        let after = EXAMPLES
            .iter()
            .filter_map(|phrase| Some(sentence.find(phrase)? + phrase.len()))
            .max();
        let listed = &sentence[after.unwrap_or_default()..];
        listed.split([',', ':']).flat_map(|part| part.split(" or "))
    });
    let word = |part: &str| part.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let is_word = |word: &String| {
        word.len() > 1 && word.chars().all(char::is_alphanumeric) && !vocabulary::is_small(word)
    };
    parts.map(word).filter(is_word).map(Value::from).collect()
}

fn role(schema: &Map<String, Value>, words: &[String], about: &str, example: Option<&Value>) -> Role {
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    match format {
        "email" => return Role::Email,
        "uri" | "url" => return Role::Url,
        "date" | "date-time" => return Role::Date,
        "time" => return Role::Time,
        "uuid" => return Role::Id,
        _ => {}
    }
    let words = &without_counting(words.to_vec());
    // The last word says most, but of `file_name` the first.
    let (named, first): (Vec<String>, _) = words.iter().rev().cloned().partition(|word| word == "name");
    let about = without_counting(catalog::words(about).take(12).map(str::to_lowercase).collect());
    let is_language = about.iter().any(|word| LANGUAGES.contains(&word.as_str()));
    match said(&first).or_else(|| said(&named)) {
        Some(Role::Prose) if is_language => return Role::Verbatim,
        Some(role) => return role,
        None => {}
    }
    let shown = example.and_then(Value::as_str).and_then(shown);
    let is_receiver = |word: &String| matches!(word.as_str(), "recipient" | "recipients");
    let otherwise = if words.iter().any(is_receiver) {
        Role::Email
    } else {
        Role::Unknown
    };
    shown.or_else(|| said(&about)).unwrap_or(otherwise)
}

/// Without "number" before "of", which counts things and is no id.
fn without_counting(mut words: Vec<String>) -> Vec<String> {
    while let Some(at) = words
        .windows(2)
        .position(|pair| pair[0] == "number" && pair[1] == "of")
    {
        words.remove(at);
    }
    words
}

/// What the first word that says something says.
fn said(words: &[String]) -> Option<Role> {
    let of = |word: &String| ROLES.iter().find(|(_, said)| said.contains(&word.as_str()));
    words.iter().find_map(of).map(|(role, _)| *role)
}

/// What an example is an example of.
fn shown(example: &str) -> Option<Role> {
    match kind_of(example)? {
        Kind::Path => Some(Role::Path),
        Kind::Url => Some(Role::Url),
        Kind::Email => Some(Role::Email),
        Kind::Date => Some(Role::Date),
        Kind::Time => Some(Role::Time),
        Kind::Expression => Some(Role::Expression),
        Kind::Code | Kind::Number => Some(Role::Id),
        Kind::Name => Some(Role::Name),
        _ => None,
    }
}
