//! Installs codeyard in a client: selects the client's servers that codeyard replaces, and changes the client's file.

use std::path::{Path, PathBuf};

use clients::{Client, ClientFile, ClientServer, ProcessEntry, Refused, ReplacedServer, Surroundings};
use environment::{ChangeLock, Environment, Machine, why_unreadable};
use registry::{DefinitionFile, Secrets, expanded_fingerprint, parse_unexpanded};
use serde_json::Value;
use upstream::ServerConfig;

use crate::coverage::{KnownServers, check_connection, narrowed, used_server};
use crate::edited_file::{EditedFile, FileMode};
use crate::env_file::with_env_file;
use crate::error::AdoptionError;
use crate::installations::{Installation, installations, store_installations};
use crate::references::own_variables;

/// Selects the servers of a client that codeyard replaces.
pub struct Installer<'a> {
    /// Codeyard's servers.
    pub known: &'a KnownServers<'a>,
    /// The facts that decide the paths of clients' files.
    pub here: &'a Surroundings,
    /// The client's file.
    pub place: &'a ClientFile,
    /// Codeyard's file.
    pub file: &'a DefinitionFile,
    /// The stored secrets.
    pub secrets: &'a Secrets<'a>,
}

/// A client's servers, replaced and skipped.
pub struct Replacement {
    /// The servers that codeyard replaces.
    pub taken: Vec<ReplacedServer>,
    /// The others, each with the reason.
    pub skipped: Vec<(String, String)>,
    /// Notes about the replaced servers.
    pub notes: Vec<String>,
}

struct KnownServer {
    /// The definition's [`expanded_fingerprint`].
    fingerprint: Option<String>,
    /// The server, or the reason why codeyard does not use it.
    server: Result<ServerConfig, String>,
}

impl Replacement {
    /// Skips each server that the client uses, for this reason.
    pub fn none(found: &[ClientServer], why: &str) -> Replacement {
        let others = found
            .iter()
            .filter(|server| server.is_enabled && check_connection(server).is_ok());
        Replacement {
            taken: Vec::new(),
            skipped: others
                .map(|server| (server.name.clone(), why.to_owned()))
                .collect(),
            notes: Vec::new(),
        }
    }
}

impl Installer<'_> {
    /// Decides for each server that the client uses.
    pub fn decide(&self, found: &[ClientServer]) -> Replacement {
        let known = self.known_servers();
        let mut decided = Replacement {
            taken: Vec::new(),
            skipped: Vec::new(),
            notes: Vec::new(),
        };
        for server in found.iter().filter(|server| server.is_enabled) {
            let definition = server.definition.as_ref().ok().and_then(|definition| {
                let entry = Value::Object(definition.clone());
                parse_unexpanded(&self.file.path, &server.name, &entry)
            });
            let is_own = definition.is_some_and(|server| self.known.check_self(&server).is_err());
            if is_own || check_connection(server).is_err() {
                continue;
            }
            match self.check(server, &known) {
                Ok(note) => {
                    decided.taken.push(ReplacedServer {
                        list: server.list.clone(),
                        name: server.name.clone(),
                    });
                    decided.notes.extend(note);
                }
                Err(why) => decided.skipped.push((server.name.clone(), why)),
            }
        }
        decided
    }

    fn known_servers(&self) -> Vec<KnownServer> {
        let definitions = self.known.definitions.iter();
        let known = definitions.filter(|known| known.file == self.file.path);
        let known = known.map(|known| KnownServer {
            fingerprint: self.fingerprint(&known.entry),
            server: used_server(known, self.secrets).cloned(),
        });
        known.collect()
    }

    fn fingerprint(&self, entry: &Value) -> Option<String> {
        expanded_fingerprint(&self.file.path, entry, self.secrets)
    }

    /// Checks that codeyard has the client's server with at least the same restrictions. Returns a note about the
    /// server, or the reason of a failure.
    fn check(&self, server: &ClientServer, known: &[KnownServer]) -> Result<Option<String>, String> {
        let definition = server.definition.as_ref().map_err(Clone::clone)?;
        let entry = Value::Object(with_env_file(server, definition, self.place, self.here)?);
        let theirs = self.fingerprint(&entry);
        let same = |ours: &&KnownServer| ours.fingerprint.is_some() && ours.fingerprint == theirs;
        let Some(first) = known.iter().find(same) else {
            return Err("codeyard does not have this server; `codeyard import` adds it".to_owned());
        };
        let used = known.iter().filter(same).find(|ours| ours.server.is_ok());
        let ours = used.unwrap_or(first).server.as_ref().map_err(Clone::clone)?;
        let open = self.known.open_filters(server, ours);
        match server.gaps.iter().chain(&open).next() {
            None => Ok(narrowed(self.place, server, ours)),
            Some(gap) => Err(format!(
                "codeyard has this server, but lacks a guard of the client: {gap}"
            )),
        }
    }

    /// The entry with which the client starts codeyard.
    pub fn process_entry(&self, args: Vec<String>) -> ProcessEntry {
        // The client must start codeyard with the same files as this process.
        let env = ["XDG_CONFIG_HOME", "XDG_DATA_HOME"]
            .into_iter()
            .filter_map(|name| {
                let value = Machine.var(name).ok().flatten()?;
                (!value.is_empty()).then(|| (name.to_owned(), value))
            });
        let entries: Vec<Value> = self
            .file
            .names()
            .filter_map(|name| self.file.entry(name))
            .filter(|entry| entry["disabled"] != true)
            .collect();
        ProcessEntry {
            command: self.known.executable.display().to_string(),
            args,
            env: env.collect(),
            home: self.here.home.clone(),
            passed: own_variables(&entries, self.secrets),
        }
    }
}

/// Writes the backup, then the record for the undo, then the file; returns the backup's path. Holds the lock of
/// installations.
///
/// # Errors
/// If a file changed in the meantime or cannot be written. Then nothing is changed.
pub fn install(
    file: &EditedFile,
    data: &Path,
    client: Client,
    after: &str,
    taken: &[ReplacedServer],
    mode: FileMode,
) -> Result<Option<PathBuf>, AdoptionError> {
    let lock = ChangeLock::acquire(data, &Machine)?;
    file.check_unchanged()?;
    let before = installations(&file.path, data, &Machine)?;
    let document = client
        .format()
        .parse(after)
        .map_err(|error| AdoptionError::Unusual {
            file: file.path.clone(),
            cause: Refused::Unreadable(error),
        })?;
    let entry = clients::installed(client, &document).cloned().unwrap_or_default();
    let keys = |taken: &ReplacedServer| taken.list.iter().chain([&taken.name]).cloned().collect();
    let taken = taken.iter().map(keys).collect();
    let backup = file.back_up()?;
    let mut all = before.clone();
    all.push(Installation::new(
        backup.clone(),
        file.bytes(),
        after.as_bytes(),
        entry,
        taken,
    ));
    let written = store_installations(&file.path, &all, &lock)
        .map_err(AdoptionError::from)
        .and_then(|()| match mode {
            FileMode::Kept => Ok(()),
            FileMode::Private => file.make_private(),
        })
        .and_then(|()| file.replace(after.as_bytes()));
    if let Err(error) = written {
        // Report the first error.
        let _ = store_installations(&file.path, &before, &lock);
        if let Some(backup) = &backup {
            let _ = std::fs::remove_file(backup);
        }
        return Err(error);
    }
    Ok(backup)
}

/// Whether a client's file has an entry for codeyard; a missing file has none.
///
/// # Errors
/// A text for a person with the reason.
pub fn is_installed(client: Client, path: &Path) -> Result<bool, String> {
    if !path.exists() {
        return Ok(false);
    }
    let bytes = Machine.read(path).map_err(|error| why_unreadable(&error))?;
    let text = String::from_utf8(bytes).map_err(|_| "holds bytes that are not valid UTF-8".to_owned())?;
    let document = client.format().parse(&text).map_err(|error| error.to_string())?;
    Ok(clients::installed(client, &document).is_some())
}
