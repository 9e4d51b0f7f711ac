//! Accepted commands: a server that was added by `codeyard servers add` only starts the command that a person saw.
//!
//! The state file holds a fingerprint for each file and server name: a hash of everything that decides what starts and what
//! it may do. The fingerprint is of the definition as it is written: `${VAR}` stays the same whatever the variable holds. A
//! server without a fingerprint counts as accepted, because whoever writes the definition accepts the command by writing it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use environment::{ChangeLock, Diagnostics, Environment, StateError, StateFile};
use serde_json::json;
use types::ToolRules;
use upstream::ServerConfig;
use upstream_wire::{Http, OAuth, ServerLimits, Stdio, Transport};

use crate::digest::digest;

const ACCEPTED: StateFile = StateFile {
    name: "consent.json",
    what: "agreed commands",
    remedy: "remove it, and commands count as agreed until they are added again",
};

/// Maps the name of a server to its fingerprint.
type Fingerprints = BTreeMap<String, String>;

/// The commands that people accepted, by file.
#[derive(Debug, Default)]
pub struct AcceptedCommands(BTreeMap<PathBuf, Fingerprints>);

/// Stores that a person accepted this definition. Its variables are not expanded.
///
/// # Errors
/// If the list is damaged or cannot be written.
pub fn accept_command(file: &Path, server: &ServerConfig, lock: &ChangeLock<'_>) -> Result<(), StateError> {
    ACCEPTED.change::<Fingerprints>(lock, |files| {
        let accepted = files.entry(file.to_path_buf()).or_default();
        accepted.insert(server.name.clone(), fingerprint(server));
    })
}

/// The files with definitions that people accepted.
///
/// # Errors
/// If the list is damaged.
pub fn files_with_accepted_commands(data: &Path, env: &dyn Environment) -> Result<Vec<PathBuf>, StateError> {
    let files = ACCEPTED.load::<Fingerprints>(data, env)?;
    Ok(files.into_keys().collect())
}

/// Removes the fingerprint of a server that was removed.
///
/// # Errors
/// If the list is damaged or cannot be written.
pub fn forget_command(file: &Path, name: &str, lock: &ChangeLock<'_>) -> Result<(), StateError> {
    ACCEPTED.change::<Fingerprints>(lock, |files| {
        if let Some(accepted) = files.get_mut(file) {
            accepted.remove(name);
        }
    })
}

/// The hash of everything that decides what runs, what it receives and what it may do.
pub fn fingerprint(server: &ServerConfig) -> String {
    // Destructured by name, so that a new field is a compile error here.
    let mut definition = match &server.transport {
        Transport::Stdio(Stdio {
            command,
            args,
            env,
            cwd,
            sandbox,
            limits: ServerLimits { memory, processes },
        }) => {
            json!([
                server.trusted,
                command,
                args,
                cwd,
                env,
                sandbox,
                memory,
                processes
            ])
        }
        Transport::Http(Http {
            url,
            kind: _,
            headers,
            bearer_token_file,
            oauth,
        }) => {
            let mut fields = json!([server.trusted, url, headers, bearer_token_file]);
            // Left out if empty: fingerprints from before this field existed stay valid.
            if *oauth != OAuth::default()
                && let Some(fields) = fields.as_array_mut()
            {
                fields.push(json!([oauth.client_id, oauth.client_secret_file, oauth.scopes]));
            }
            fields
        }
    };
    let ToolRules {
        place: _,
        allow,
        deny,
    } = &server.tools;
    // Left out if empty, for the same reason.
    if !(allow.is_empty() && deny.is_empty())
        && let Some(fields) = definition.as_array_mut()
    {
        fields.push(json!({"allow": allow, "deny": deny}));
    }
    digest(definition.to_string().as_bytes())
}

// === impl AcceptedCommands ===

impl AcceptedCommands {
    /// The state file.
    pub fn path(data: &Path) -> PathBuf {
        ACCEPTED.path(data)
    }

    /// Reads the state file. A damaged one holds no fingerprints, so that nothing is held back, and is a warning.
    pub fn load(data: &Path, env: &dyn Environment, diagnostics: &mut Diagnostics) -> AcceptedCommands {
        match ACCEPTED.read(data, env) {
            Ok(files) => AcceptedCommands(files),
            Err(cause) => {
                let warning = format!("{cause}; until it is removed, changed commands are not noticed");
                diagnostics.warning_in(&AcceptedCommands::path(data), "", warning);
                AcceptedCommands::default()
            }
        }
    }

    /// Whether any server of this file has a fingerprint.
    pub fn has_file(&self, file: &Path) -> bool {
        self.0.get(file).is_some_and(|accepted| !accepted.is_empty())
    }

    /// Whether the server has a fingerprint.
    pub fn has_server(&self, file: &Path, name: &str) -> bool {
        self.0
            .get(file)
            .is_some_and(|accepted| accepted.contains_key(name))
    }

    /// Whether the definition differs from the accepted one. Its variables are not expanded. New tool rules are no
    /// difference: they only keep tools back.
    pub fn is_changed(&self, file: &Path, server: &ServerConfig) -> bool {
        let Some(accepted) = self.0.get(file).and_then(|accepted| accepted.get(&server.name)) else {
            return false;
        };
        let without_rules = ServerConfig {
            tools: ToolRules::default(),
            ..server.clone()
        };
        ![server, &without_rules].map(fingerprint).contains(accepted)
    }
}
