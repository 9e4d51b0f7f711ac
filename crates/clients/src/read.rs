//! Finds the servers in a client's file.

use std::path::Path;

use serde_json::{Map, Value};

use crate::client::{Client, Switch};
use crate::client_file::ClientFile;
use crate::document::Unreadable;
use crate::edit::OURS;
use crate::entry::translate;
use crate::filter::{Filter, rules};

/// A server in a client's file.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientServer {
    /// Its name in the client's file.
    pub name: String,
    /// Keys of its list, from the top.
    pub list: Vec<String>,
    /// Whether the client uses the server.
    pub is_enabled: bool,
    /// The entry in the form of our `mcpServers`, including secrets, or the reason why codeyard cannot use it.
    pub definition: Result<Map<String, Value>, String>,
    /// Path of a file of further variables, in our variable syntax.
    pub env_file: Option<String>,
    /// The client's lists of tools; the definition has equivalent rules.
    pub filters: Vec<Filter>,
    /// Notes about omitted and changed parts.
    pub notes: Vec<String>,
    /// Steps that a person must take before the server can be used.
    pub gaps: Vec<String>,
}

impl ClientServer {
    /// Whether the entry connects to a codeyard, as `codeyard install --url` writes it.
    pub fn is_codeyard_over_http(&self) -> bool {
        let has_address = |definition: &Map<String, Value>| definition.contains_key("url");
        self.name == OURS && self.definition.as_ref().is_ok_and(has_address)
    }
}

/// The servers of a file, in order. `current` selects Claude Code's servers for one directory in the user's file.
///
/// # Errors
/// The file is not in the client's format.
pub fn read(place: &ClientFile, current: &Path, text: &str) -> Result<Vec<ClientServer>, Unreadable> {
    let document = place.client.format().parse(text)?;
    let mut all = Vec::new();
    for list in lists(place.client, current) {
        let project = (list.len() > 1).then_some(current).or(place.project.as_deref());
        for (name, entry) in servers(&document, &list)? {
            let translated = translate(place.client, project, entry);
            let mut found = ClientServer {
                name: name.clone(),
                list: list.clone(),
                is_enabled: true,
                definition: Ok(Map::new()),
                env_file: None,
                filters: Vec::new(),
                notes: Vec::new(),
                gaps: Vec::new(),
            };
            match translated {
                Ok(translated) => {
                    let mut definition = translated.definition;
                    definition.extend(rules(&translated.filters, name));
                    found.definition = Ok(definition);
                    found.is_enabled = translated.is_enabled;
                    found.env_file = translated.env_file;
                    found.notes = translated.notes;
                    found.filters = translated.filters;
                    found.gaps = translated.gaps;
                }
                Err(why) => found.definition = Err(why),
            }
            found.is_enabled &= !is_excluded(place.client, &document, &list, name);
            all.push(found);
        }
    }
    Ok(all)
}

/// Keys of each active list, from the top; codeyard is added to the first list.
pub(crate) fn lists(client: Client, current: &Path) -> Vec<Vec<String>> {
    let own = vec![client.list().to_owned()];
    if client != Client::ClaudeCode {
        return vec![own];
    }
    let local = ["projects", &current.to_string_lossy(), client.list()].map(str::to_owned);
    vec![own, local.to_vec()]
}

/// The members of a list; none if the list is missing.
pub(crate) fn servers<'a>(
    document: &'a Value,
    list: &[String],
) -> Result<impl Iterator<Item = (&'a String, &'a Value)>, Unreadable> {
    let found = list.iter().try_fold(document, |value, key| value.get(key));
    let members = match found {
        None | Some(Value::Null) => None,
        Some(Value::Object(members)) => Some(members),
        Some(_) => {
            return Err(Unreadable::new(format!("`{}` is not an object", list.join("."))));
        }
    };
    Ok(members.into_iter().flatten())
}

/// Whether a list outside the entry disables the server.
fn is_excluded(client: Client, document: &Value, list: &[String], name: &str) -> bool {
    let holds = |value: &Value| {
        value
            .as_array()
            .is_some_and(|names| names.iter().any(|known| known == name))
    };
    match client {
        _ if client.switch() == Switch::Excluded => {
            let mcp = &document["mcp"];
            holds(&mcp["excluded"]) || (mcp["allowed"].is_array() && !holds(&mcp["allowed"]))
        }
        Client::ClaudeCode => match list {
            [projects, project, _] => holds(&document[projects][project]["disabledMcpServers"]),
            _ => false,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(client: Client, text: &str) -> Vec<(String, bool)> {
        let place = ClientFile {
            client,
            path: "/f".into(),
            project: None,
        };
        let all = read(&place, Path::new("/p/shop"), text).unwrap();
        all.into_iter()
            .map(|found| (found.name, found.is_enabled))
            .collect()
    }

    #[test]
    fn disabled_servers_are_recognised() {
        let gemini =
            r#"{"mcp": {"excluded": ["b"]}, "mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}}}"#;
        assert_eq!(
            found(Client::GeminiCli, gemini),
            [("a".to_owned(), true), ("b".to_owned(), false)]
        );
        let gemini =
            r#"{"mcp": {"allowed": ["b"]}, "mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}}}"#;
        assert_eq!(
            found(Client::GeminiCli, gemini),
            [("a".to_owned(), false), ("b".to_owned(), true)]
        );
        let codex = "[mcp_servers.a]\ncommand = 'a'\nenabled = false\n";
        assert_eq!(found(Client::Codex, codex), [("a".to_owned(), false)]);
    }

    #[test]
    fn claude_code_has_servers_of_the_directory_too() {
        let text = r#"{"mcpServers": {"a": {"command": "a"}}, "projects": {
            "/p/shop": {"mcpServers": {"b": {"command": "b"}, "c": {"command": "c"}}, "disabledMcpServers": ["c"]},
            "/p/other": {"mcpServers": {"d": {"command": "d"}}}}}"#;
        let expected = [("a", true), ("b", true), ("c", false)].map(|(name, on)| (name.to_owned(), on));
        assert_eq!(found(Client::ClaudeCode, text), expected);
    }

    #[test]
    fn a_list_of_another_type_is_an_error() {
        let place = ClientFile {
            client: Client::Cursor,
            path: "/f".into(),
            project: None,
        };
        assert!(read(&place, Path::new("/"), "{}").unwrap().is_empty());
        assert!(read(&place, Path::new("/"), "").unwrap().is_empty());
        let error = read(&place, Path::new("/"), "{\"mcpServers\": []}").unwrap_err();
        assert_eq!(error.to_string(), "`mcpServers` is not an object");
    }
}
