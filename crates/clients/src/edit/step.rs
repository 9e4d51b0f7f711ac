//! Changes of a client's file, their steps and refusals.

use std::fmt;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::client::Client;
use crate::document::Unreadable;

pub(crate) const OURS: &str = "codeyard";

/// A change of a client's file.
#[derive(Debug, Clone)]
pub struct Change {
    /// Codeyard's entry.
    pub entry: OwnEntry,
    /// Servers that the client must stop using.
    pub take: Vec<ReplacedServer>,
}

/// Codeyard's entry in a client's file.
#[derive(Debug, Clone)]
pub enum OwnEntry {
    /// The client starts codeyard and uses standard input and output.
    Process(ProcessEntry),
    /// The client connects to a running codeyard.
    Http(HttpEntry),
}

/// An entry with which a client starts codeyard.
#[derive(Debug, Clone, Default)]
pub struct ProcessEntry {
    /// The program.
    pub command: String,
    /// Arguments of `command`.
    pub args: Vec<String>,
    /// Variables set for the process.
    pub env: Vec<(String, String)>,
    /// The home directory, which contains our files by default.
    pub home: PathBuf,
    /// Variables to pass from the client's environment, for clients that pass only named variables.
    pub passed: Vec<String>,
}

/// An entry with which a client connects to a running codeyard.
#[derive(Debug, Clone)]
pub struct HttpEntry {
    /// The address.
    pub url: String,
    /// The token that codeyard requires at the address.
    pub token: Option<BearerToken>,
}

/// A token that only a client's file may contain; `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct BearerToken(pub String);

/// A server that the client must stop using.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplacedServer {
    /// Keys of its list, from the top.
    pub list: Vec<String>,
    /// Its name.
    pub name: String,
}

/// Why a file stays unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The file cannot be parsed.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// The file's style prevents an edit that leaves other parts unchanged.
    #[error("{0}; change it by hand")]
    NotEditable(Unreadable),
    /// Another server uses our name.
    #[error("there is a server named `codeyard` that does not start codeyard; give it another name first")]
    Taken,
    /// The existing entry starts codeyard with other files and thus other servers.
    #[error(
        "the entry there starts codeyard {there}, and this command was called {wanted}; give the same options, or undo that installation first"
    )]
    OtherOptions {
        /// The entry's options.
        there: String,
        /// The command's options.
        wanted: String,
    },
    /// The existing entry connects to another address.
    #[error(
        "the entry `codeyard` there connects to {0}; give the same --url, undo that installation first, or give that server another name"
    )]
    OtherAddress(String),
    /// The client's file cannot name addresses.
    #[error(
        "{0}'s configuration file cannot hold a server address; leave out `--url`, and {0} starts codeyard itself, or list the \
         address in a FILE like mcp.json and enter `codeyard mcp --surface standard --config FILE` by hand"
    )]
    NoHttp(Client),
    /// The entry has changed since it was written.
    #[error("{0}")]
    Differs(String),
}

// === impl Refused ===

impl Refused {
    pub(crate) fn at(line: usize, what: &str) -> Refused {
        Refused::NotEditable(Unreadable::at(line, what))
    }

    pub(crate) fn new(what: &str) -> Refused {
        Refused::NotEditable(Unreadable::new(what))
    }
}

/// A step of an edit, the same for all formats.
#[derive(Debug)]
pub(super) enum Step<'a> {
    /// Sets a member of the object at these keys, which is created if missing.
    Set(&'a [String], &'a str, Value),
    /// Removes a member.
    Remove(&'a [String], &'a str),
    /// Adds an item to the list at these keys.
    Append(&'a [String], &'a str, Value),
    /// Removes an item from the list at these keys.
    Drop(&'a [String], &'a str, Value),
}

// === impl BearerToken ===

impl fmt::Debug for BearerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BearerToken")
    }
}

// === impl ReplacedServer ===

impl ReplacedServer {
    /// Keys of its entry, from the top.
    pub(super) fn path(&self) -> Vec<String> {
        let name = std::iter::once(&self.name);
        self.list.iter().chain(name).cloned().collect()
    }
}

// === impl Step ===

impl Step<'_> {
    /// Applies the step to a value; `false` if nothing changed.
    pub(super) fn apply(&self, document: &mut Value) -> Result<bool, Unreadable> {
        match self {
            Step::Set(path, name, value) => {
                let members = object(document, path)?;
                Ok(members.insert((*name).to_owned(), value.clone()).as_ref() != Some(value))
            }
            Step::Remove(path, name) => Ok(object(document, path)?.shift_remove(*name).is_some()),
            Step::Append(path, name, item) => {
                let members = object(document, path)?;
                let list = members.entry(*name).or_insert_with(|| json!([]));
                let list = list
                    .as_array_mut()
                    .ok_or_else(|| Unreadable::new(format!("`{}.{name}` is not a list", path.join("."))))?;
                let is_new = !list.contains(item);
                if is_new {
                    list.push(item.clone());
                }
                Ok(is_new)
            }
            Step::Drop(path, name, item) => {
                let list = object(document, path)?.get_mut(*name);
                let Some(list) = list.and_then(Value::as_array_mut) else {
                    return Ok(false);
                };
                let before = list.len();
                list.retain(|known| known != item);
                Ok(list.len() < before)
            }
        }
    }
}

/// The object at these keys, created if missing.
fn object<'a>(document: &'a mut Value, path: &[String]) -> Result<&'a mut Map<String, Value>, Unreadable> {
    let wrong = || Unreadable::new(format!("`{}` is not an object", path.join(".")));
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
