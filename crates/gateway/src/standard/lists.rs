//! Lists of all servers as one: the names that clients see, page by page, every definition as its server sent it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rmcp::model::ErrorData;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::directory::{Directory, Place};
use super::names::exposed;
use super::service::Upstream;

/// Definitions of one page, and their bytes: a client must be able to read the line.
const MOST_OF_A_PAGE: usize = 1000;
const BYTES_OF_A_PAGE: usize = 4 * 1024 * 1024;
/// What a cursor begins with; the rest is the number of definitions before the page.
const CURSOR: &str = "after-";

/// A kind of list that servers keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Resources,
    Templates,
    Prompts,
}

/// What one server lists.
#[derive(Debug)]
pub(super) struct Contribution<'a> {
    pub(super) upstream: &'a Upstream,
    pub(super) definitions: Vec<Box<RawValue>>,
}

/// One page of one server.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Page {
    #[serde(default, alias = "resources", alias = "resourceTemplates", alias = "prompts")]
    pub(super) definitions: Vec<Box<RawValue>>,
    #[serde(rename = "nextCursor")]
    pub(super) next: Option<String>,
}

// === impl Kind ===

impl Kind {
    pub(super) fn of(method: &str) -> Option<Kind> {
        Some(match method {
            "resources/list" => Kind::Resources,
            "resources/templates/list" => Kind::Templates,
            "prompts/list" => Kind::Prompts,
            _ => return None,
        })
    }

    pub(super) fn method(self) -> &'static str {
        match self {
            Kind::Resources => "resources/list",
            Kind::Templates => "resources/templates/list",
            Kind::Prompts => "prompts/list",
        }
    }

    pub(super) fn key(self) -> &'static str {
        match self {
            Kind::Resources => "resources",
            Kind::Templates => "resourceTemplates",
            Kind::Prompts => "prompts",
        }
    }

    /// Takes the lists of all servers into the directory, and gives the definitions as clients see them.
    pub(super) fn learn(self, directory: &mut Directory, lists: &[Contribution<'_>]) -> Vec<String> {
        match self {
            Kind::Resources => {
                directory.resources.clear();
                keep_first(lists, "uri", |uri, server| {
                    let holder = directory.resources.entry(uri.to_owned());
                    match holder {
                        Entry::Vacant(free) => Ok(_ = free.insert(server.to_owned())),
                        Entry::Occupied(taken) => Err(taken.get().clone()),
                    }
                })
            }
            Kind::Templates => {
                directory.templates.clear();
                keep_first(lists, "uriTemplate", |template, server| {
                    directory.templates.push((template.to_owned(), server.to_owned()));
                    Ok(())
                })
            }
            Kind::Prompts => {
                let (prompts, definitions) = prompts(lists);
                directory.prompts = prompts;
                definitions
            }
        }
    }
}

/// The tools of all servers by the names that clients see, with their definitions.
pub(super) fn tools(upstreams: &[Upstream]) -> (HashMap<String, Place>, Vec<String>) {
    let all: Vec<(&Upstream, &str, &RawValue)> = upstreams
        .iter()
        .flat_map(|upstream| {
            let tools = upstream.tools.iter();
            tools.map(move |tool| (upstream, tool.name.as_str(), tool.definition()))
        })
        .collect();
    named(&all, upstreams.len() > 1)
}

/// The page of these definitions that the parameters ask for, and whether it is the last.
pub(super) fn page(
    key: &str,
    definitions: &[String],
    params: &Map<String, Value>,
) -> Result<(String, bool), ErrorData> {
    let start = match params.get("cursor") {
        None | Some(Value::Null) => 0,
        Some(cursor) => cursor
            .as_str()
            .and_then(|cursor| cursor.strip_prefix(CURSOR)?.parse().ok())
            .ok_or_else(|| {
                ErrorData::invalid_params(
                    "`cursor` is none that this list gave; leave it out to begin with the first page",
                    Some(json!({"cursor": cursor})),
                )
            })?,
    };
    let mut bytes = 0;
    let rest = definitions.get(start..).unwrap_or_default();
    let fitting = rest.iter().take(MOST_OF_A_PAGE).take_while(|definition| {
        let is_first = bytes == 0;
        bytes += definition.len();
        is_first || bytes <= BYTES_OF_A_PAGE
    });
    let shown: Vec<&str> = fitting.map(String::as_str).collect();
    let end = start + shown.len();
    let is_last = end >= definitions.len();
    let next = if is_last {
        String::new()
    } else {
        format!(",\"nextCursor\":\"{CURSOR}{end}\"")
    };
    Ok((format!("{{\"{key}\":[{}]{next}}}", shown.join(",")), is_last))
}

/// The definitions as they came, without those whose name `take` says is taken, and by which server.
fn keep_first(
    lists: &[Contribution<'_>],
    field: &str,
    mut take: impl FnMut(&str, &str) -> Result<(), String>,
) -> Vec<String> {
    let mut kept = Vec::new();
    for Contribution {
        upstream,
        definitions,
    } in lists
    {
        for definition in definitions {
            let server = upstream.name.as_str();
            let Some(name) = text(definition, field) else {
                tracing::warn!(server, "a definition without {field} is left out");
                continue;
            };
            match take(&name, server) {
                Ok(()) => kept.push(definition.get().to_owned()),
                Err(holder) => {
                    tracing::warn!(server, "{name} is left out: it is listed by '{holder}' already")
                }
            }
        }
    }
    kept
}

fn prompts(lists: &[Contribution<'_>]) -> (HashMap<String, Place>, Vec<String>) {
    let names: Vec<Vec<(String, &RawValue)>> = lists
        .iter()
        .map(|list| {
            let named = list.definitions.iter();
            named
                .filter_map(|definition| Some((text(definition, "name")?, definition.as_ref())))
                .collect()
        })
        .collect();
    let all: Vec<(&Upstream, &str, &RawValue)> = lists
        .iter()
        .zip(&names)
        .flat_map(|(list, names)| {
            let names = names.iter();
            names.map(|(name, definition)| (list.upstream, name.as_str(), *definition))
        })
        .collect();
    named(&all, true)
}

/// Definitions under the names that clients see.
fn named(all: &[(&Upstream, &str, &RawValue)], with_server: bool) -> (HashMap<String, Place>, Vec<String>) {
    let pairs: Vec<(&str, &str)> = all
        .iter()
        .map(|(upstream, name, _)| (upstream.alias.as_str(), *name))
        .collect();
    let names = if with_server {
        exposed(&pairs, &[])
    } else {
        pairs.iter().map(|(_, name)| (*name).to_owned()).collect()
    };
    let mut places = HashMap::with_capacity(all.len());
    let mut definitions = Vec::with_capacity(all.len());
    for (exposed, (upstream, name, definition)) in names.into_iter().zip(all) {
        definitions.push(if exposed == *name {
            definition.get().to_owned()
        } else {
            renamed(definition, &exposed)
        });
        let (server, name) = (upstream.name.clone(), (*name).to_owned());
        places.insert(exposed, Place { server, name });
    }
    (places, definitions)
}

/// The definition under another name; all else as it came, to the last digit.
fn renamed(definition: &RawValue, name: &str) -> String {
    let text = definition.get();
    let fields: HashMap<Cow<'_, str>, &RawValue> = serde_json::from_str(text).unwrap_or_default();
    let Some(old) = fields.get("name").map(|old| old.get()) else {
        return text.to_owned();
    };
    // The value is a part of the text.
    let start = old.as_ptr().addr() - text.as_ptr().addr();
    let (before, after) = (&text[..start], &text[start + old.len()..]);
    format!("{before}{}{after}", json!(name))
}

fn text(definition: &RawValue, field: &str) -> Option<String> {
    let fields: HashMap<String, &RawValue> = serde_json::from_str(definition.get()).ok()?;
    serde_json::from_str(fields.get(field)?.get()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_name_leaves_all_else_as_it_was() {
        let text = r#"{ "x" : 12345678901234567890123, "n\u0061me" :"a","y":{"name":1.50} }"#;
        let definition = RawValue::from_string(text.to_owned()).unwrap();
        assert_eq!(renamed(&definition, "b\"c"), text.replace(r#""a""#, r#""b\"c""#));
    }

    #[test]
    fn pages_follow_each_other_to_the_end() {
        let definitions: Vec<String> = (0..2500).map(|number| number.to_string()).collect();
        let mut params = Map::new();
        let mut seen = 0;
        loop {
            let (page, is_last) = page("tools", &definitions, &params).unwrap();
            let page: Value = serde_json::from_str(&page).unwrap();
            assert_eq!(is_last, page.get("nextCursor").is_none());
            seen += page["tools"].as_array().unwrap().len();
            match page.get("nextCursor") {
                Some(cursor) => params.insert("cursor".to_owned(), cursor.clone()),
                None => break,
            };
        }
        assert_eq!(seen, 2500);
        params.insert("cursor".to_owned(), json!("elsewhere"));
        assert!(page("tools", &definitions, &params).is_err());
        let large = vec!["x".repeat(BYTES_OF_A_PAGE + 1), "y".to_owned()];
        let (first, _) = page("tools", &large, &Map::new()).unwrap();
        assert!(first.ends_with(r#""nextCursor":"after-1"}"#));
    }
}
