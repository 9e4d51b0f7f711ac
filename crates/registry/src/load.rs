//! Merges the definitions of all files and variables by precedence, trust and accepted commands.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use consent::{AcceptedCommands, TrustState, trust_state};
use environment::{Diagnostics, Environment, without_links};
use upstream::ServerConfig;

use crate::entries::{self, Expansion, ServerEntry};
use crate::secrets::Secrets;
use crate::sources::{Origin, Sources};
use crate::url_variables::{UrlVariable, url_variables};

/// Treatment of a name that an earlier file defines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Duplicates {
    /// `--config` names both files, so the name is a mistake.
    Refuse,
    /// The user's file takes precedence over the project's.
    FirstWins,
}

/// All usable servers from files and variables, in order of precedence.
pub fn load_servers(
    sources: &Sources,
    data: &Path,
    env: &dyn Environment,
    diagnostics: &mut Diagnostics,
) -> Vec<ServerConfig> {
    let mut merger = Merger {
        accepted: AcceptedCommands::load(data, env, diagnostics),
        ..Merger::default()
    };
    let secrets = Secrets::read(data, env, diagnostics);
    for file in sources.files(env) {
        let read = file.read(env);
        // Trust and accepted commands are stored under the path without links.
        let path = without_links(&file.path, env);
        let (bytes, duplicates) = match file.origin {
            Origin::Option => (diagnostics.required(&path, read), Duplicates::Refuse),
            Origin::User => (diagnostics.optional(&path, read), Duplicates::FirstWins),
            Origin::Project => {
                let bytes = diagnostics.optional(&path, read);
                let trusted = bytes.filter(|bytes| is_trusted(&path, bytes, data, env, diagnostics));
                (trusted, Duplicates::FirstWins)
            }
        };
        if let Some(bytes) = bytes {
            let variables = file.origin.variables(&secrets);
            merger.add_file(&path, &bytes, duplicates, &variables, diagnostics);
        }
    }
    merger.add_url_variables(env, diagnostics);
    merger.servers
}

/// The servers merged so far.
#[derive(Default)]
struct Merger {
    servers: Vec<ServerConfig>,
    /// The file of each name.
    names: HashMap<String, PathBuf>,
    accepted: AcceptedCommands,
}

impl Merger {
    fn add_file(
        &mut self,
        file: &Path,
        bytes: &[u8],
        duplicates: Duplicates,
        variables: &dyn Environment,
        diagnostics: &mut Diagnostics,
    ) {
        let (entries, mut found) = entries::read_file(file, bytes, Expansion::LeaveOutUnset(variables));
        let mut names = HashMap::new();
        let held_back = self.held_back(file, bytes);
        for ServerEntry {
            name,
            field,
            server,
            left_out,
        } in entries
        {
            if let Some(first) = self.names.get(&name) {
                let first = first.display();
                match duplicates {
                    Duplicates::Refuse => found.mistake(
                        &field,
                        format!("{first} also defines a server of this name; rename one of them"),
                    ),
                    Duplicates::FirstWins => found.warning(
                        &field,
                        format!("is not used: {first} also defines this server and takes precedence"),
                    ),
                }
                continue;
            }
            let is_valid = server.is_some() || !left_out.is_empty();
            if is_valid && held_back.contains(&name) {
                found.warning(
                    &field,
                    "is not used: its definition has changed since you agreed to it; `codeyard servers enable` shows it and asks",
                );
            } else {
                self.servers.extend(server);
                found.left_out.extend(left_out);
            }
            names.insert(name, file.to_path_buf());
        }
        self.names.extend(names);
        diagnostics.merge(found);
    }

    /// Adds servers from variables, which files override.
    fn add_url_variables(&mut self, env: &dyn Environment, diagnostics: &mut Diagnostics) {
        for UrlVariable { variable, server, .. } in url_variables(env, diagnostics) {
            match self.names.get(&server.name) {
                Some(file) => diagnostics.warning(
                    &variable.to_string_lossy(),
                    format!(
                        "is not used: {} also defines this server and takes precedence",
                        file.display()
                    ),
                ),
                None => self.servers.push(server),
            }
        }
    }

    /// Names whose command is unreadable or differs from the accepted command.
    fn held_back(&self, file: &Path, bytes: &[u8]) -> Vec<String> {
        if !self.accepted.has_file(file) {
            return Vec::new();
        }
        let (entries, _) = entries::read_file(file, bytes, Expansion::Off);
        let is_held_back = |entry: &ServerEntry| match &entry.server {
            Some(server) => self.accepted.is_changed(file, server),
            None => self.accepted.has_server(file, &entry.name),
        };
        let held_back = entries.into_iter().filter(is_held_back);
        held_back.map(|entry| entry.name).collect()
    }
}

/// Whether a person trusts exactly this content of the project file; otherwise adds a warning.
fn is_trusted(
    file: &Path,
    bytes: &[u8],
    data: &Path,
    env: &dyn Environment,
    diagnostics: &mut Diagnostics,
) -> bool {
    let message = match trust_state(file, bytes, data, env, diagnostics) {
        TrustState::Trusted => return true,
        TrustState::Changed => "has changed since it was trusted, so its servers are not used",
        TrustState::Unknown => "is not trusted, so its servers are not used",
    };
    diagnostics.warning_in(file, "", format!("{message}; read it, then run `codeyard trust`"));
    false
}
