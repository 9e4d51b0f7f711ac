//! Accepted commands: a server added by `codeyard servers add` starts only the command that a person saw.
//!
//! The state file holds a fingerprint for each file and server name: a hash of the command and its permissions. The
//! fingerprint covers the definition with unexpanded variables. A server without a fingerprint counts as accepted,
//! because its author accepted the command by writing it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use environment::{ChangeLock, Diagnostics, Environment, StateError, StateFile};
use serde_json::json;
use types::ToolRules;
use upstream::ServerConfig;
use upstream_wire::{Http, LoginOwner, OAuth, ServerLimits, Stdio, Transport};

use crate::digest::digest;

const ACCEPTED: StateFile = StateFile {
    name: "consent.json",
    what: "agreed commands",
    remedy: "remove it; commands then count as agreed until they are added again",
};

/// Fingerprint by server name.
type Fingerprints = BTreeMap<String, String>;

/// Commands that people accepted, by file.
#[derive(Debug, Default)]
pub struct AcceptedCommands(BTreeMap<PathBuf, Fingerprints>);

/// Stores a person's acceptance of this definition, with unexpanded variables.
///
/// # Errors
/// If the list is damaged or cannot be written.
pub fn accept_command(file: &Path, server: &ServerConfig, lock: &ChangeLock<'_>) -> Result<(), StateError> {
    ACCEPTED.change::<Fingerprints>(lock, |files| {
        let accepted = files.entry(file.to_path_buf()).or_default();
        accepted.insert(server.name.clone(), fingerprint(server));
    })
}

/// The files with accepted definitions.
///
/// # Errors
/// If the list is damaged.
pub fn files_with_accepted_commands(data: &Path, env: &dyn Environment) -> Result<Vec<PathBuf>, StateError> {
    let files = ACCEPTED.load::<Fingerprints>(data, env)?;
    Ok(files.into_keys().collect())
}

/// Deletes the fingerprint of a removed server.
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

/// Hash of everything that decides about the program, its input and its permissions.
pub fn fingerprint(server: &ServerConfig) -> String {
    // Name every field, so that a new field does not compile here.
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
            login,
        }) => {
            let mut fields = json!([server.trusted, url, headers, bearer_token_file]);
            // Omit the field if empty, so that fingerprints from before this field stay valid.
            if *oauth != OAuth::default()
                && let Some(fields) = fields.as_array_mut()
            {
                fields.push(json!([oauth.client_id, oauth.client_secret_file, oauth.scopes]));
            }
            if *login == LoginOwner::User
                && let Some(fields) = fields.as_array_mut()
            {
                fields.push(json!("login of users"));
            }
            fields
        }
    };
    let ToolRules {
        place: _,
        allow,
        deny,
    } = &server.tools;
    // Omit empty rules for the same reason.
    if !(allow.is_empty() && deny.is_empty())
        && let Some(fields) = definition.as_array_mut()
    {
        fields.push(json!({"allow": allow, "deny": deny}));
    }
    digest(definition.to_string().as_bytes())
}

// === impl AcceptedCommands ===

impl AcceptedCommands {
    /// Path of the state file.
    pub fn path(data: &Path) -> PathBuf {
        ACCEPTED.path(data)
    }

    /// Reads the state file. A damaged file causes a warning and counts as empty, so all commands count as accepted.
    pub fn load(data: &Path, env: &dyn Environment, diagnostics: &mut Diagnostics) -> AcceptedCommands {
        match ACCEPTED.read(data, env) {
            Ok(files) => AcceptedCommands(files),
            Err(cause) => {
                let warning =
                    format!("{cause}; codeyard detects no changed commands until the file is removed");
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

    /// Whether the definition, with unexpanded variables, differs from the accepted definition. Ignores new tool rules,
    /// which only deny tools.
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
