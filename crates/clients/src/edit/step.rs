//! What is to be changed in a client's file, the steps of it, and why it is refused.

use std::fmt;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::client::Client;
use crate::document::Unreadable;

/// Name of our entry.
pub(crate) const OURS: &str = "codeyard";

/// What is to be changed.
#[derive(Debug, Clone)]
pub struct Change {
    /// How the client reaches codeyard.
    pub entry: OwnEntry,
    /// Servers that the client is not to use any more.
    pub take: Vec<Taken>,
}

/// How a client reaches codeyard.
#[derive(Debug, Clone)]
pub enum OwnEntry {
    /// It starts codeyard and speaks over standard input and output.
    Process(ProcessEntry),
    /// It connects to a codeyard that is running.
    Http(HttpEntry),
}

/// How a client starts codeyard.
#[derive(Debug, Clone, Default)]
pub struct ProcessEntry {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables that it is given with these values.
    pub env: Vec<(String, String)>,
    /// The home directory, below which our files are unless variables say otherwise.
    pub home: PathBuf,
    /// Names of variables that it is handed from the client's own environment, where the client hands over only named ones.
    pub passed: Vec<String>,
}

/// Where a client connects to codeyard.
#[derive(Debug, Clone)]
pub struct HttpEntry {
    /// The address.
    pub url: String,
    /// What codeyard asks for there.
    pub token: Option<BearerToken>,
}

/// A token that only a client's file may show.
#[derive(Clone, PartialEq, Eq)]
pub struct BearerToken(pub String);

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
    /// Another server has our name.
    #[error("there is a server named `codeyard` that does not start codeyard; give it another name first")]
    Taken,
    /// The codeyard that is entered there uses other files, so it has other servers.
    #[error(
        "the entry there starts codeyard {there}, and this command was called {wanted}; give the same options, or undo that installation first"
    )]
    Elsewhere {
        /// The options there.
        there: String,
        /// Those of the wish.
        wanted: String,
    },
    /// The entry there connects to another address.
    #[error(
        "the entry `codeyard` there connects to {0}; give the same --url, undo that installation first, or give that server another name"
    )]
    Connects(String),
    /// The client's file names no addresses.
    #[error(
        "{0} cannot connect to an address from its file; leave out --url, so that {0} starts codeyard itself"
    )]
    NoHttp(Client),
    /// It is not any more what was written.
    #[error("{0}")]
    Differs(String),
}

// === impl Refused ===

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
pub(super) enum Step<'a> {
    /// Sets a member of the object at these keys, which is made where it is not there.
    Set(&'a [String], &'a str, Value),
    /// Removes a member.
    Remove(&'a [String], &'a str),
    /// Adds an item to the list at these keys.
    Append(&'a [String], &'a str, Value),
    /// Takes an item out of it.
    Drop(&'a [String], &'a str, Value),
}

// === impl BearerToken ===

impl fmt::Debug for BearerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BearerToken")
    }
}

// === impl Taken ===

impl Taken {
    /// The keys of its entry, from the top.
    pub(super) fn path(&self) -> Vec<String> {
        let name = std::iter::once(&self.name);
        self.list.iter().chain(name).cloned().collect()
    }
}

// === impl Step ===

impl Step<'_> {
    /// Does it to a value; `false` if it was so already.
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

/// The object at these keys, made where it is not there.
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
