//! Joins the lists of all servers in pages, under client names; each definition is otherwise as its server sent it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::routes::{Route, Routes};
use super::service::Upstream;
use crate::error::RequestError;
use crate::tool_names::prefixed;

/// Maximum definitions and bytes of a page, so that clients can read a page as one message.
const PAGE_DEFINITIONS: usize = 1000;
const PAGE_BYTES: usize = 4 * 1024 * 1024;
/// Prefix of a cursor, before the number of definitions on earlier pages.
const CURSOR: &str = "after-";

/// A list fetched on request. Tool lists are already known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ListKind {
    Resources,
    Templates,
    Prompts,
}

#[derive(Debug)]
pub(super) struct ServerList<'a> {
    pub(super) upstream: &'a Upstream,
    pub(super) definitions: Vec<Box<RawValue>>,
}

/// Naming of tools and prompts for clients.
#[derive(Debug, Clone, Copy)]
enum Naming {
    /// The name of the only server's tool, unchanged.
    Plain,
    /// The name with the server's alias as a prefix.
    Prefixed,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Page {
    #[serde(default, alias = "resources", alias = "resourceTemplates", alias = "prompts")]
    pub(super) definitions: Vec<Box<RawValue>>,
    #[serde(rename = "nextCursor")]
    pub(super) next: Option<String>,
}

// === impl ListKind ===

impl ListKind {
    pub(super) fn of(method: &str) -> Option<ListKind> {
        let mut kinds = [ListKind::Resources, ListKind::Templates, ListKind::Prompts].into_iter();
        kinds.find(|kind| kind.method() == method)
    }

    pub(super) fn method(self) -> &'static str {
        match self {
            ListKind::Resources => "resources/list",
            ListKind::Templates => "resources/templates/list",
            ListKind::Prompts => "prompts/list",
        }
    }

    pub(super) fn key(self) -> &'static str {
        match self {
            ListKind::Resources => "resources",
            ListKind::Templates => "resourceTemplates",
            ListKind::Prompts => "prompts",
        }
    }

    /// Updates the routes from all servers' lists. Returns the definitions under client names.
    pub(super) fn update(self, routes: &mut Routes, lists: &[ServerList<'_>]) -> Vec<String> {
        match self {
            ListKind::Resources => {
                routes.resources.clear();
                first_of_each(lists, "uri", |uri, server| {
                    match routes.resources.entry(uri.to_owned()) {
                        Entry::Vacant(entry) => Ok(_ = entry.insert(server.to_owned())),
                        Entry::Occupied(entry) => Err(entry.get().clone()),
                    }
                })
            }
            ListKind::Templates => {
                routes.templates.clear();
                first_of_each(lists, "uriTemplate", |template, server| {
                    routes.templates.push((template.to_owned(), server.to_owned()));
                    Ok(())
                })
            }
            ListKind::Prompts => {
                let (prompts, definitions) = prompts(lists);
                routes.prompts = prompts;
                definitions
            }
        }
    }
}

/// The routes of all servers' tools by client name, with the definitions.
pub(super) fn tools(upstreams: &[Upstream]) -> (HashMap<String, Route>, Vec<String>) {
    let all: Vec<(&Upstream, &str, &RawValue)> = upstreams
        .iter()
        .flat_map(|upstream| {
            let tools = upstream.tools.iter();
            tools.map(move |tool| (upstream, tool.name.as_str(), tool.definition()))
        })
        .collect();
    let naming = if upstreams.len() > 1 {
        Naming::Prefixed
    } else {
        Naming::Plain
    };
    with_names(&all, naming)
}

/// The requested page, and whether the page is the last.
pub(super) fn page(
    key: &str,
    definitions: &[String],
    params: &Map<String, Value>,
) -> Result<(String, bool), RequestError> {
    let start = match params.get("cursor") {
        None | Some(Value::Null) => 0,
        Some(cursor) => cursor
            .as_str()
            .and_then(|cursor| cursor.strip_prefix(CURSOR)?.parse().ok())
            .ok_or_else(|| RequestError::ListCursor(cursor.clone()))?,
    };
    let mut bytes = 0;
    let rest = definitions.get(start..).unwrap_or_default();
    let fitting = rest.iter().take(PAGE_DEFINITIONS).take_while(|definition| {
        let is_first = bytes == 0;
        bytes += definition.len();
        is_first || bytes <= PAGE_BYTES
    });
    let page: Vec<&str> = fitting.map(String::as_str).collect();
    let end = start + page.len();
    let is_last = end >= definitions.len();
    let next = if is_last {
        String::new()
    } else {
        format!(",\"nextCursor\":\"{CURSOR}{end}\"")
    };
    Ok((format!("{{\"{key}\":[{}]{next}}}", page.join(",")), is_last))
}

/// The definitions, unchanged, without those that an earlier server listed. For such a duplicate, `take` fails with
/// the name of the earlier server.
fn first_of_each(
    lists: &[ServerList<'_>],
    field: &str,
    mut take: impl FnMut(&str, &str) -> Result<(), String>,
) -> Vec<String> {
    let mut first = Vec::new();
    for ServerList {
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
                Ok(()) => first.push(definition.get().to_owned()),
                Err(holder) => {
                    tracing::warn!(server, "{name} is left out: it is listed by '{holder}' already")
                }
            }
        }
    }
    first
}

fn prompts(lists: &[ServerList<'_>]) -> (HashMap<String, Route>, Vec<String>) {
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
    with_names(&all, Naming::Prefixed)
}

/// Routes and definitions under client names.
fn with_names(all: &[(&Upstream, &str, &RawValue)], naming: Naming) -> (HashMap<String, Route>, Vec<String>) {
    let pairs: Vec<(&str, &str)> = all
        .iter()
        .map(|(upstream, name, _)| (upstream.alias.as_str(), *name))
        .collect();
    let names = match naming {
        Naming::Prefixed => prefixed(&pairs, &[]),
        Naming::Plain => pairs.iter().map(|(_, name)| (*name).to_owned()).collect(),
    };
    let mut routes = HashMap::with_capacity(all.len());
    let mut definitions = Vec::with_capacity(all.len());
    for (client_name, (upstream, name, definition)) in names.into_iter().zip(all) {
        definitions.push(if client_name == *name {
            definition.get().to_owned()
        } else {
            renamed(definition, &client_name)
        });
        let (server, name) = (upstream.name.clone(), (*name).to_owned());
        routes.insert(client_name, Route { server, name });
    }
    (routes, definitions)
}

/// The definition under another name, otherwise byte for byte unchanged.
fn renamed(definition: &RawValue, name: &str) -> String {
    let text = definition.get();
    let fields: HashMap<Cow<'_, str>, &RawValue> = serde_json::from_str(text).unwrap_or_default();
    let Some(old) = fields.get("name").map(|old| old.get()) else {
        return text.to_owned();
    };
    // `old` borrows from `text`.
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
    fn another_name_leaves_the_rest_unchanged() {
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
        let large = vec!["x".repeat(PAGE_BYTES + 1), "y".to_owned()];
        let (first, _) = page("tools", &large, &Map::new()).unwrap();
        assert!(first.ends_with(r#""nextCursor":"after-1"}"#));
    }
}
