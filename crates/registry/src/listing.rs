//! Lists all definitions, used or not, for people who manage servers.

use std::path::{Path, PathBuf};

use consent::{AcceptedCommands, fingerprint};
use environment::{Diagnostics, Environment};
use serde_json::Value;
use upstream::ServerConfig;

use crate::edit::raw_entries;
use crate::entries::{self, Expansion, LIST};
use crate::json::JsonValue;
use crate::secrets::Secrets;
use crate::sources::{Origin, Sources};
use crate::url_variables::{UrlVariable, url_variables};

/// A definition with unexpanded variables.
#[derive(Debug, Clone)]
pub struct Definition {
    /// Name of the server.
    pub name: String,
    /// The file, or the variable.
    pub file: PathBuf,
    /// Whether the definition receives stored secrets; false for project files.
    pub receives_secrets: bool,
    /// Whether the definition is used.
    pub status: DefinitionStatus,
    /// The command differs from the accepted command, even if the definition is unused.
    pub is_changed: bool,
    /// `None` if the entry has mistakes.
    pub server: Option<ServerConfig>,
    /// The entry as written.
    pub entry: Value,
}

/// Whether a definition is used, or why not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefinitionStatus {
    /// In use.
    Used,
    /// The entry says `"disabled": true`.
    Disabled,
    /// The command differs from the accepted command.
    Changed,
    /// The entry has mistakes.
    Mistaken,
    /// A variable is unset.
    Unset,
    /// A file with higher precedence defines a server of this name.
    Shadowed,
    /// The project file is not trusted.
    Untrusted,
}

impl DefinitionStatus {
    /// One word, for people and programs.
    pub fn name(self) -> &'static str {
        match self {
            DefinitionStatus::Used => "used",
            DefinitionStatus::Disabled => "disabled",
            DefinitionStatus::Changed => "changed",
            DefinitionStatus::Mistaken => "mistaken",
            DefinitionStatus::Unset => "unset",
            DefinitionStatus::Shadowed => "shadowed",
            DefinitionStatus::Untrusted => "untrusted",
        }
    }
}

/// All definitions in order of precedence. Omits unreadable files, which [`crate::load_servers`] reports.
pub fn list_definitions(sources: &Sources, env: &dyn Environment) -> Vec<Definition> {
    let mut ignored = Diagnostics::of(None);
    let data = sources.data_directory(env).unwrap_or_default();
    let accepted = AcceptedCommands::load(&data, env, &mut ignored);
    let secrets = Secrets::read(&data, env, &mut ignored);
    let mut all: Vec<Definition> = Vec::new();
    for file in sources.read(&data, env) {
        let variables = file.origin.variables(&secrets);
        for (name, entry) in raw_entries(&file.bytes) {
            let server = parse_unexpanded(&file.path, &name, &entry);
            let is_changed = server
                .as_ref()
                .is_some_and(|server| accepted.is_changed(&file.path, server));
            let status = if !file.is_trusted {
                DefinitionStatus::Untrusted
            } else if all.iter().any(|known| known.name == name) {
                DefinitionStatus::Shadowed
            } else if entry["disabled"] == true {
                DefinitionStatus::Disabled
            } else {
                match &server {
                    None => DefinitionStatus::Mistaken,
                    Some(_) if is_changed => DefinitionStatus::Changed,
                    Some(_) if is_unset(&file.path, &entry, &variables) => DefinitionStatus::Unset,
                    Some(_) => DefinitionStatus::Used,
                }
            };
            all.push(Definition {
                name,
                file: file.path.clone(),
                receives_secrets: file.origin != Origin::Project,
                status,
                is_changed,
                server,
                entry,
            });
        }
    }
    for UrlVariable {
        variable,
        server,
        entry,
    } in url_variables(env, &mut ignored)
    {
        let is_shadowed = all.iter().any(|known| known.name == server.name);
        all.push(Definition {
            name: server.name.clone(),
            file: variable,
            receives_secrets: false,
            status: if is_shadowed {
                DefinitionStatus::Shadowed
            } else {
                DefinitionStatus::Used
            },
            is_changed: false,
            server: Some(server),
            entry,
        });
    }
    all
}

fn is_unset(file: &Path, entry: &Value, env: &dyn Environment) -> bool {
    let Ok(node) = serde_json::from_value::<JsonValue>(entry.clone()) else {
        return false;
    };
    let member = (String::from("_"), node);
    let (entry, _) = entries::read_entry(file, LIST, &member, Expansion::LeaveOutUnset(env));
    !entry.left_out.is_empty()
}

/// Fingerprint of an entry with expanded variables, without `disabled`, `allow`, `deny` and `tags`: entries that
/// start the same server are equal. References to unset variables stay unexpanded.
pub fn expanded_fingerprint(file: &Path, entry: &Value, env: &dyn Environment) -> Option<String> {
    let mut entry = entry.clone();
    if let Some(fields) = entry.as_object_mut() {
        fields.retain(|field, _| !["disabled", "allow", "deny", "tags"].contains(&field.as_str()));
    }
    let node: JsonValue = serde_json::from_value(entry.clone()).ok()?;
    let (read, _) = entries::read_entry(file, LIST, &(String::new(), node), Expansion::Required(env));
    let server = read.server.or_else(|| parse_unexpanded(file, "_", &entry));
    server.map(|server| fingerprint(&server))
}

/// An entry's definition, disabled or not, with unexpanded variables.
pub fn parse_unexpanded(file: &Path, name: &str, entry: &Value) -> Option<ServerConfig> {
    let mut entry = entry.clone();
    if let Some(fields) = entry.as_object_mut() {
        fields.shift_remove("disabled");
    }
    let node: JsonValue = serde_json::from_value(entry).ok()?;
    let (entry, diagnostics) = entries::read_entry(file, LIST, &(name.to_owned(), node), Expansion::Off);
    entry.server.filter(|_| diagnostics.mistakes.is_empty())
}
