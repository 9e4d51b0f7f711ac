//! Consent in commands: a server that was added by `codeyard servers add` is started by the command that a person saw.
//!
//! The hash of what is started and what it may (command, arguments, directory, names of variables, confinement, limits; or
//! address, names of headers, the token's file) is kept under the file and the name of the server. Definitions that nobody added this way are taken as agreed: whoever writes the file
//! agrees by writing it.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::json;
use upstream::{Http, OAuth, ServerConfig, ServerLimits, Stdio, Transport};

use crate::host::Host;
use crate::mistakes::Findings;
use crate::trust::digest;

/// Version of `consent.json`; a field more is a version more.
const VERSION: u32 = 1;

/// Why consent could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum ConsentError {
    /// The list is damaged.
    #[error("{file}: {cause}; remove it, and commands count as agreed until they are added again", file = .file.display())]
    Damaged {
        /// The list.
        file: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
    /// The list could not be written.
    #[error("{file}: {cause}; make the data directory writable or choose another with --data", file = .file.display())]
    Write {
        /// The list.
        file: PathBuf,
        /// Why.
        cause: io::Error,
    },
}

/// What people agreed to.
#[derive(Debug, Default)]
pub(crate) struct Consent(BTreeMap<PathBuf, BTreeMap<String, String>>);

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    version: u32,
    /// File, name of the server, hash of what is started.
    files: BTreeMap<PathBuf, BTreeMap<String, String>>,
}

/// Keeps that a person has seen and agreed to what this definition starts; its variables are as they are written.
pub fn agree(file: &Path, server: &ServerConfig, data: &Path, host: &dyn Host) -> Result<(), ConsentError> {
    change(data, host, |files| {
        let agreed = files.entry(file.to_path_buf()).or_default();
        agreed.insert(server.name.clone(), fingerprint(server));
    })
}

/// Forgets a server that was removed.
pub fn forget(file: &Path, name: &str, data: &Path, host: &dyn Host) -> Result<(), ConsentError> {
    let is_known = |files: &BTreeMap<PathBuf, BTreeMap<String, String>>| {
        files.get(file).is_some_and(|agreed| agreed.contains_key(name))
    };
    match read(data, host) {
        Ok(files) if !is_known(&files) => Ok(()),
        _ => change(data, host, |files| {
            if let Some(agreed) = files.get_mut(file) {
                agreed.remove(name);
            }
        }),
    }
}

fn change(
    data: &Path,
    host: &dyn Host,
    change: impl FnOnce(&mut BTreeMap<PathBuf, BTreeMap<String, String>>),
) -> Result<(), ConsentError> {
    let file = path(data);
    let mut files = read(data, host).map_err(|cause| ConsentError::Damaged {
        file: file.clone(),
        cause,
    })?;
    change(&mut files);
    let stored = Stored {
        version: VERSION,
        files,
    };
    let text = serde_json::to_vec_pretty(&stored).map_err(io::Error::from);
    text.and_then(|text| host.replace(&file, &text))
        .map_err(|cause| ConsentError::Write { file, cause })
}

/// The list of what was agreed to.
pub(crate) fn path(data: &Path) -> PathBuf {
    data.join("consent.json")
}

fn read(data: &Path, host: &dyn Host) -> Result<BTreeMap<PathBuf, BTreeMap<String, String>>, String> {
    let bytes = match host.read(&path(data)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(error.to_string()),
    };
    match serde_json::from_slice::<Stored>(&bytes) {
        Ok(stored) if stored.version == VERSION => Ok(stored.files),
        Ok(stored) => Err(format!("version {} is of another codeyard", stored.version)),
        Err(error) => Err(format!("the list of agreed commands is damaged: {error}")),
    }
}

/// A number of everything that decides what runs and what it may; values of variables and headers may change, as a
/// token does.
fn fingerprint(server: &ServerConfig) -> String {
    // Each field by its name, so that a new one is not forgotten.
    let definition = match &server.transport {
        Transport::Stdio(Stdio {
            command,
            args,
            env,
            cwd,
            sandbox,
            limits: ServerLimits { memory, processes },
        }) => {
            let variables: Vec<&String> = env.keys().collect();
            json!([
                server.trusted,
                command,
                args,
                cwd,
                variables,
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
            let headers: Vec<&String> = headers.keys().collect();
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
    digest(definition.to_string().as_bytes())
}

// === impl Consent ===

impl Consent {
    /// The list; a damaged one agrees to nothing and holds nothing back, and is a warning.
    pub(crate) fn load(data: &Path, host: &dyn Host, findings: &mut Findings) -> Consent {
        match read(data, host) {
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

    /// Whether the definition starts something else than what was agreed to; its variables are as they are written.
    pub(crate) fn is_changed(&self, file: &Path, server: &ServerConfig) -> bool {
        let agreed = self.0.get(file).and_then(|agreed| agreed.get(&server.name));
        agreed.is_some_and(|agreed| *agreed != fingerprint(server))
    }
}
