//! Everything that is defined, used or not, for people who manage their servers.

use std::path::{Path, PathBuf};

use serde_json::Value;
use upstream::ServerConfig;

use crate::consent::{self, Consent};
use crate::edit;
use crate::host::Host;
use crate::json::Node;
use crate::load::{Sources, data_directory};
use crate::mistakes::Findings;
use crate::named::{Named, named};
use crate::secrets::Secrets;
use crate::servers::{self, LIST, Variables};
use crate::sources::{Origin, server_files};

/// One definition as it is written.
#[derive(Debug, Clone)]
pub struct Defined {
    /// Its name.
    pub name: String,
    /// The file it is in, or the variable.
    pub file: PathBuf,
    /// Whether its variables are given the secrets that are kept: those of a project's file are not.
    pub is_given_secrets: bool,
    /// Whether it is used.
    pub use_: Use,
    /// Whether it starts something else than what a person agreed to, used or not.
    pub is_changed: bool,
    /// The definition with variables as they are written; `None` if it has mistakes.
    pub server: Option<ServerConfig>,
    /// The entry as it is written.
    pub entry: Value,
}

/// Whether a definition is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// It is.
    Used,
    /// It says itself that it is not to be used.
    Disabled,
    /// It starts something else than what a person agreed to.
    Changed,
    /// It has mistakes.
    Mistaken,
    /// A variable that it refers to is not set here.
    Unset,
    /// A file that goes before it has a server of this name.
    Shadowed,
    /// It is in a project's file that nobody has trusted.
    Untrusted,
}

impl Use {
    /// In a word, for people and programs.
    pub fn name(self) -> &'static str {
        match self {
            Use::Used => "used",
            Use::Disabled => "disabled",
            Use::Changed => "changed",
            Use::Mistaken => "mistaken",
            Use::Unset => "unset",
            Use::Shadowed => "shadowed",
            Use::Untrusted => "untrusted",
        }
    }
}

/// All definitions of all files and variables, in the order in which they count. Files that cannot be read are left out: what is
/// wrong with them is said by [`crate::load`].
pub fn defined(sources: &Sources, host: &dyn Host) -> Vec<Defined> {
    let mut ignored = Findings::of(None);
    let data = data_directory(sources, host);
    let consent = Consent::load(&data, host, &mut ignored);
    let secrets = Secrets::read(&data, host, &mut ignored);
    let mut all: Vec<Defined> = Vec::new();
    for file in server_files(sources, &data, host) {
        let variables = file.origin.variables(&secrets);
        for (name, entry) in edit::entries(&file.bytes) {
            let server = as_written(&file.path, &name, &entry);
            let is_changed = server
                .as_ref()
                .is_some_and(|server| consent.is_changed(&file.path, server));
            let use_ = if !file.is_trusted {
                Use::Untrusted
            } else if all.iter().any(|known| known.name == name) {
                Use::Shadowed
            } else if entry["disabled"] == true {
                Use::Disabled
            } else {
                match &server {
                    None => Use::Mistaken,
                    Some(_) if is_changed => Use::Changed,
                    Some(_) if is_unset(&file.path, &entry, &variables) => Use::Unset,
                    Some(_) => Use::Used,
                }
            };
            all.push(Defined {
                name,
                file: file.path.clone(),
                is_given_secrets: file.origin != Origin::Project,
                use_,
                is_changed,
                server,
                entry,
            });
        }
    }
    for Named {
        variable,
        server,
        entry,
    } in named(host, &mut ignored)
    {
        let is_shadowed = all.iter().any(|known| known.name == server.name);
        all.push(Defined {
            name: server.name.clone(),
            file: variable,
            is_given_secrets: false,
            use_: if is_shadowed { Use::Shadowed } else { Use::Used },
            is_changed: false,
            server: Some(server),
            entry,
        });
    }
    all
}

/// Whether an entry refers to a variable that is not set.
fn is_unset(file: &Path, entry: &Value, host: &dyn Host) -> bool {
    let Ok(node) = serde_json::from_value::<Node>(entry.clone()) else {
        return false;
    };
    let named = (String::from("_"), node);
    let (entry, _) = servers::read_entry(file, LIST, &named, Variables::ExpandOrLeave(host));
    !entry.left_out.is_empty()
}

/// What an entry comes to with the variables as they are now, used or not and whatever its rules keep back: two entries that
/// do the same have the same. Where a variable is not set, it is as it is written.
pub fn meaning(file: &Path, entry: &Value, host: &dyn Host) -> Option<String> {
    let mut entry = entry.clone();
    if let Some(fields) = entry.as_object_mut() {
        fields.retain(|field, _| !["disabled", "allow", "deny"].contains(&field.as_str()));
    }
    let node: Node = serde_json::from_value(entry.clone()).ok()?;
    let (read, _) = servers::read_entry(file, LIST, &(String::new(), node), Variables::Expand(host));
    let server = read.server.or_else(|| as_written(file, "_", &entry));
    server.map(|server| consent::fingerprint(&server))
}

/// The definition of an entry with variables as they are written, also if it is not to be used.
pub fn as_written(file: &Path, name: &str, entry: &Value) -> Option<ServerConfig> {
    let mut entry = entry.clone();
    if let Some(fields) = entry.as_object_mut() {
        fields.shift_remove("disabled");
    }
    let node: Node = serde_json::from_value(entry).ok()?;
    let (entry, findings) = servers::read_entry(file, LIST, &(name.to_owned(), node), Variables::Keep);
    entry.server.filter(|_| findings.mistakes.is_empty())
}
