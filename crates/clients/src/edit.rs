//! Enters codeyard into a client's file and has the client not use other servers; all else stays byte for byte.
//!
//! Whatever an edit did is read again and compared with what it should have done: a text that means anything else is never
//! given back.

mod json;
#[cfg(test)]
mod tests;
mod toml;
mod yaml;

use serde_json::{Map, Value, json};

use crate::client::{Client, Switch};
use crate::document::{Format, Unreadable};

/// Name of our entry.
const OURS: &str = "codeyard";

/// What is to be changed.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables that it is given with these values.
    pub env: Vec<(String, String)>,
    /// Names of variables that it is handed from the client's own environment, where the client hands over only named ones.
    pub passed: Vec<String>,
    /// Servers that the client is not to use any more.
    pub take: Vec<Taken>,
}

/// A server that the client is not to use any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The keys of its list, from the top.
    pub list: Vec<String>,
    /// Its name.
    pub name: String,
}

/// Why a file is not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It cannot be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// It is written in a way that cannot be changed without touching other things.
    #[error("{0}; change it by hand")]
    Unusual(Unreadable),
}

impl Refused {
    pub(crate) fn at(line: usize, what: &str) -> Refused {
        Refused::Unusual(Unreadable::at(line, what))
    }

    pub(crate) fn new(what: &str) -> Refused {
        Refused::Unusual(Unreadable::new(what))
    }
}

/// One step of an edit, in the words of the three formats.
#[derive(Debug)]
enum Step<'a> {
    /// Sets a member of the object at these keys, which is made where it is not there.
    Set(&'a [String], &'a str, Value),
    /// Removes a member.
    Remove(&'a [String], &'a str),
    /// Adds a text to the list at these keys.
    Append(&'a [String], &'a str, &'a str),
}

/// The text of the file with the change made; the same text where there is nothing to change.
///
/// # Errors
/// If the file cannot be read, or not be changed without touching anything else.
pub fn change(client: Client, text: &str, wish: &Change) -> Result<String, Refused> {
    let format = client.format();
    let mut expected = format.parse(text)?;
    let before = expected.clone();
    let own_list = vec![client.list().to_owned()];
    let mcp = vec!["mcp".to_owned()];
    let mut steps = Vec::new();
    let inner: Vec<Vec<String>> = wish.take.iter().map(path_of).collect();
    for (taken, path) in wish.take.iter().zip(&inner) {
        steps.push(match client.switch() {
            Switch::Disabled => Step::Set(path, "disabled", true.into()),
            Switch::Enabled => Step::Set(path, "enabled", false.into()),
            Switch::Excluded => Step::Append(&mcp, "excluded", &taken.name),
            Switch::None => Step::Remove(&taken.list, &taken.name),
        });
    }
    steps.push(Step::Set(&own_list, OURS, entry(client, wish)));
    if client.switch() == Switch::Excluded && before["mcp"]["allowed"].is_array() {
        steps.push(Step::Append(&mcp, "allowed", OURS));
    }
    let is_new = |step: &Step<'_>| step.apply(&mut expected).map_err(Refused::Unusual);
    let is_changed = steps.iter().map(is_new).collect::<Result<Vec<bool>, Refused>>()?;
    let mut is_changed = is_changed.into_iter();
    steps.retain(|_| is_changed.next().unwrap_or(false));
    if expected == before {
        return Ok(text.to_owned());
    }
    let (mark, bare) = match text.strip_prefix('\u{feff}') {
        Some(bare) => ("\u{feff}", bare),
        None => ("", text),
    };
    let edited = match format {
        Format::Json => json::edit(bare, &steps)?,
        Format::Toml => toml::edit(bare, &steps)?,
        Format::Yaml => yaml::edit(bare, &steps)?,
    };
    match format.parse(&edited) {
        Ok(found) if found == expected => Ok(format!("{mark}{edited}")),
        _ => Err(Refused::new(
            "the file is written in a way that codeyard cannot change without touching other things",
        )),
    }
}

fn path_of(taken: &Taken) -> Vec<String> {
    let name = std::iter::once(&taken.name);
    taken.list.iter().chain(name).cloned().collect()
}

/// Codeyard's entry as the client wants it.
fn entry(client: Client, wish: &Change) -> Value {
    let Change {
        command,
        args,
        env,
        passed,
        ..
    } = wish;
    let env: Map<String, Value> = env
        .iter()
        .map(|(name, value)| (name.clone(), value.as_str().into()))
        .collect();
    let mut entry = match client {
        Client::ClaudeCode | Client::VsCode => json!({"type": "stdio", "command": command, "args": args}),
        Client::Opencode => {
            let words: Vec<&String> = std::iter::once(command).chain(args).collect();
            json!({"type": "local", "command": words, "enabled": true})
        }
        Client::Goose => json!({
            "enabled": true, "type": "stdio", "name": OURS, "description": "Programs that call MCP tools",
            "cmd": command, "args": args, "timeout": 300,
        }),
        Client::ClaudeDesktop
        | Client::Cursor
        | Client::Windsurf
        | Client::GeminiCli
        | Client::Codex
        | Client::Zed => json!({"command": command, "args": args}),
    };
    let mut env = env;
    if client == Client::GeminiCli {
        env.extend(
            passed
                .iter()
                .map(|name| (name.clone(), format!("${{{name}}}").into())),
        );
    }
    if let Some(fields) = entry.as_object_mut() {
        if !env.is_empty() {
            let key = match client {
                Client::Opencode => "environment",
                Client::Goose => "envs",
                _ => "env",
            };
            fields.insert(key.to_owned(), Value::Object(env));
        }
        if client == Client::Codex && !passed.is_empty() {
            fields.insert("env_vars".to_owned(), passed.clone().into());
        }
    }
    entry
}

// === impl Step ===

impl Step<'_> {
    /// Does it to a value; `false` if it was so already.
    fn apply(&self, document: &mut Value) -> Result<bool, Unreadable> {
        match self {
            Step::Set(path, name, value) => {
                let members = object(document, path)?;
                Ok(members.insert((*name).to_owned(), value.clone()).as_ref() != Some(value))
            }
            Step::Remove(path, name) => Ok(object(document, path)?.shift_remove(*name).is_some()),
            Step::Append(path, name, text) => {
                let members = object(document, path)?;
                let list = members.entry(*name).or_insert_with(|| json!([]));
                let list = list
                    .as_array_mut()
                    .ok_or_else(|| Unreadable::new(format!("`{}.{name}` is no list", path.join("."))))?;
                let is_new = !list.iter().any(|known| known == text);
                if is_new {
                    list.push((*text).into());
                }
                Ok(is_new)
            }
        }
    }
}

/// The object at these keys, made where it is not there.
fn object<'a>(document: &'a mut Value, path: &[String]) -> Result<&'a mut Map<String, Value>, Unreadable> {
    let wrong = || Unreadable::new(format!("`{}` is no object", path.join(".")));
    let mut place = document;
    for key in path {
        let members = place.as_object_mut().ok_or_else(wrong)?;
        place = members.entry(key.as_str()).or_insert(Value::Null);
        if place.is_null() {
            *place = json!({});
        }
    }
    place.as_object_mut().ok_or_else(wrong)
}
