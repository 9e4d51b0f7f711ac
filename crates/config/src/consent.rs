//! Consent in commands: a server that was added by `codeyard servers add` is started by the command that a person saw.
//!
//! The hash of everything that decides what is started and what it may, as it is written (values of variables and headers
//! too: `${VAR}` stays what it is whatever the variable holds), is kept under the file and the name of the server.
//! Definitions that nobody added this way are taken as agreed: whoever writes the file agrees by writing it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::json;
use types::ToolRules;
use upstream::ServerConfig;
use upstream_wire::{Http, OAuth, ServerLimits, Stdio, Transport};

use crate::host::Host;
use crate::kept::{KeptError, List, Turn};
use crate::mistakes::Findings;
use crate::trust::digest;

const AGREED: List = List {
    name: "consent.json",
    what: "agreed commands",
    remedy: "remove it, and commands count as agreed until they are added again",
};

/// Name of the server, hash of what is started.
type Agreed = BTreeMap<String, String>;

/// What people agreed to.
#[derive(Debug, Default)]
pub(crate) struct Consent(BTreeMap<PathBuf, Agreed>);

/// Keeps that a person has seen and agreed to what this definition starts; its variables are as they are written.
pub fn agree(file: &Path, server: &ServerConfig, turn: &Turn<'_>) -> Result<(), KeptError> {
    AGREED.change::<Agreed>(turn, |files| {
        let agreed = files.entry(file.to_path_buf()).or_default();
        agreed.insert(server.name.clone(), fingerprint(server));
    })
}

/// The files with definitions that people agreed to.
///
/// # Errors
/// If the list is damaged.
pub fn agreed_files(data: &Path, host: &dyn Host) -> Result<Vec<PathBuf>, KeptError> {
    let files = AGREED
        .read::<Agreed>(data, host)
        .map_err(|cause| KeptError::Damaged {
            file: path(data),
            cause,
            remedy: AGREED.remedy,
        })?;
    Ok(files.into_keys().collect())
}

/// Forgets a server that was removed.
pub fn forget(file: &Path, name: &str, turn: &Turn<'_>) -> Result<(), KeptError> {
    AGREED.change::<Agreed>(turn, |files| {
        if let Some(agreed) = files.get_mut(file) {
            agreed.remove(name);
        }
    })
}

/// The list of what was agreed to.
pub(crate) fn path(data: &Path) -> PathBuf {
    AGREED.path(data)
}

/// A number of everything that decides what runs, what it is told and what it may.
pub(crate) fn fingerprint(server: &ServerConfig) -> String {
    // Each field by its name, so that a new one is not forgotten.
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
            // What was agreed to before there was this field stays agreed to.
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
    // This came later, too.
    if !(allow.is_empty() && deny.is_empty())
        && let Some(fields) = definition.as_array_mut()
    {
        fields.push(json!({"allow": allow, "deny": deny}));
    }
    digest(definition.to_string().as_bytes())
}

// === impl Consent ===

impl Consent {
    /// The list; a damaged one agrees to nothing and holds nothing back, and is a warning.
    pub(crate) fn load(data: &Path, host: &dyn Host, findings: &mut Findings) -> Consent {
        match AGREED.read(data, host) {
            Ok(files) => Consent(files),
            Err(cause) => {
                let mut damaged = Findings::of(Some(&path(data)));
                damaged.warning(
                    "",
                    format!("{cause}; until it is removed, changed commands are not noticed"),
                );
                findings.absorb(damaged);
                Consent::default()
            }
        }
    }

    /// Whether anything of this file was agreed to, so that looking closer is worth it.
    pub(crate) fn knows(&self, file: &Path) -> bool {
        self.0.get(file).is_some_and(|agreed| !agreed.is_empty())
    }

    /// Whether anything of this name was agreed to.
    pub(crate) fn has(&self, file: &Path, name: &str) -> bool {
        self.0.get(file).is_some_and(|agreed| agreed.contains_key(name))
    }

    /// Whether the definition starts something else, or has other rules, than what was agreed to; its variables are as they
    /// are written. Rules where there were none only keep tools back.
    pub(crate) fn is_changed(&self, file: &Path, server: &ServerConfig) -> bool {
        let Some(agreed) = self.0.get(file).and_then(|agreed| agreed.get(&server.name)) else {
            return false;
        };
        let without_rules = ServerConfig {
            tools: ToolRules::default(),
            ..server.clone()
        };
        ![server, &without_rules].map(fingerprint).contains(agreed)
    }
}
