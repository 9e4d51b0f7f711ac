//! Plans an import: a decision for each server of a client.

use clients::{ClientFile, ClientServer, Surroundings, hide};
use registry::{Definition, DefinitionFile, Secrets, expanded_fingerprint, parse_unexpanded};
use serde_json::Value;
use upstream::ServerConfig;

use crate::coverage::{KnownServers, check_connection, narrowed, used_server};
use crate::env_file::with_env_file;
use crate::references::{own_variables, references};

/// The plan for one file's servers.
pub struct ImportPlan {
    /// The client's file.
    pub place: ClientFile,
    /// Path of codeyard's file for new servers.
    pub destination: String,
    /// Path of the file of secrets.
    pub secrets: String,
    /// Servers in the order of the file.
    pub servers: Vec<PlannedServer>,
}

/// The plan for one server.
pub struct PlannedServer {
    /// The server as defined in the client's file.
    pub found: ClientServer,
    /// Name in codeyard.
    pub name: String,
    /// The decision about the server.
    pub decision: Decision,
    /// Codeyard's entry, without secrets.
    pub entry: Value,
    /// The entry's definition, without expanded variables.
    pub unexpanded: Option<ServerConfig>,
    /// The definition with current variables; `None` if codeyard does not use the server.
    pub server: Option<ServerConfig>,
    /// Names and values of the secrets in the entry.
    pub secrets: Vec<(String, String)>,
    /// Steps that a person must take before the server can be used.
    pub gaps: Vec<String>,
    /// Variables of this process that the entry refers to. They must be set wherever codeyard starts.
    pub variables: Vec<String>,
}

/// The decision about a client's server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Codeyard adds the server.
    New,
    /// Codeyard already has the server.
    AlreadyDefined,
    /// Codeyard does not add the server, for this reason.
    Skipped(String),
}

impl ImportPlan {
    /// The servers to add.
    pub fn new_servers(&self) -> impl Iterator<Item = &PlannedServer> {
        self.servers
            .iter()
            .filter(|planned| planned.decision == Decision::New)
    }

    /// Servers that codeyard already has.
    pub fn already_defined(&self) -> impl Iterator<Item = &PlannedServer> {
        self.servers
            .iter()
            .filter(|planned| planned.decision == Decision::AlreadyDefined)
    }

    /// Names and values of new servers' secrets.
    pub fn new_secrets(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.new_servers().flat_map(|new| &new.secrets);
        all.map(|(name, secret)| (name.as_str(), secret.as_str()))
    }

    /// Adds a new server as disabled, for this reason.
    pub fn disable(&mut self, name: &str, why: &str) {
        let news = self
            .servers
            .iter_mut()
            .filter(|planned| planned.decision == Decision::New);
        for planned in news.filter(|planned| planned.name == name) {
            planned.gaps.push(why.to_owned());
            if let Some(fields) = planned.entry.as_object_mut() {
                fields.insert("disabled".to_owned(), true.into());
            }
        }
    }

    /// Skips a new server, for this reason.
    pub fn skip(&mut self, name: &str, why: &str) {
        for planned in &mut self.servers {
            if planned.name == name && planned.decision == Decision::New {
                planned.decision = Decision::Skipped(why.to_owned());
            }
        }
    }
}

/// Plans the import of one file.
pub struct Planner<'a, 's> {
    /// Codeyard's servers.
    pub known: &'a KnownServers<'a>,
    /// Refuses a name that codeyard cannot give to a new server in this file.
    pub check_name: &'a dyn Fn(&str, &DefinitionFile) -> Result<(), String>,
    /// The facts that decide the paths of clients' files.
    pub here: &'a Surroundings,
    /// The client's file.
    pub place: &'a ClientFile,
    /// Codeyard's file; new servers are added to it, but not saved.
    pub file: &'a mut DefinitionFile,
    /// Stored secrets; new ones are added, but not saved.
    pub secrets: Secrets<'s>,
}

struct References {
    /// Variables of codeyard's servers, with the server's name.
    owned: Vec<(String, String)>,
    /// Variables of any definition.
    all: Vec<String>,
}

impl Planner<'_, '_> {
    /// Plans every server of the file.
    pub fn plan_all(mut self, found: Vec<ClientServer>) -> ImportPlan {
        let definitions = &self.known.definitions;
        let others = definitions.iter().filter(|known| known.file != self.place.path);
        let owned = others.flat_map(|known| {
            let names = references(&known.entry).into_iter();
            names.map(|name| (name, known.name.clone()))
        });
        let theirs = found.iter().filter_map(|found| found.definition.as_ref().ok());
        let theirs = theirs.flat_map(|definition| references(&Value::Object(definition.clone())));
        let ours = definitions.iter().flat_map(|known| references(&known.entry));
        let referred = References {
            owned: owned.collect(),
            all: ours.chain(theirs).collect(),
        };
        let servers = found
            .into_iter()
            .map(|found| self.plan(found, &referred))
            .collect();
        ImportPlan {
            servers,
            place: self.place.clone(),
            destination: self.file.path.display().to_string(),
            secrets: self.secrets.path().display().to_string(),
        }
    }

    fn plan(&mut self, found: ClientServer, referred: &References) -> PlannedServer {
        let mut planned = PlannedServer {
            name: found.name.clone(),
            decision: Decision::New,
            entry: Value::Null,
            unexpanded: None,
            server: None,
            secrets: Vec::new(),
            gaps: found.gaps.clone(),
            variables: Vec::new(),
            found,
        };
        if let Err(why) = check_connection(&planned.found) {
            planned.decision = Decision::Skipped(why);
            return planned;
        }
        let definition = match &planned.found.definition {
            Ok(definition) => definition,
            Err(why) => {
                planned.decision = Decision::Skipped(why.clone());
                return planned;
            }
        };
        let mut definition = match with_env_file(&planned.found, definition, self.place, self.here) {
            Ok(whole) => whole,
            Err(why) => {
                planned.gaps.push(why);
                definition.clone()
            }
        };
        let written = parse_unexpanded(&self.file.path, &planned.name, &Value::Object(definition.clone()));
        if let Some(why) = written.and_then(|server| self.known.check_self(&server).err()) {
            planned.decision = Decision::Skipped(why);
            return planned;
        }
        let foreign_secrets = self.foreign_secrets(&Value::Object(definition.clone()), referred);
        let secrets = &mut self.secrets;
        let stayed = hide(&planned.found.name, &mut definition, &mut |wanted, secret| {
            let name = secrets.insert_unique(wanted, secret, &referred.all);
            planned.secrets.push((name.clone(), secret.to_owned()));
            name
        });
        planned.found.notes.extend(stayed.iter().map(ToString::to_string));
        if let Some(file) = planned
            .found
            .env_file
            .as_ref()
            .filter(|_| planned.gaps == planned.found.gaps)
        {
            let note = format!("the variables of `envFile` ({file}) are copied with their current values");
            planned.found.notes.push(note);
        }
        planned.entry = Value::Object(definition);
        let (name, decision) = self.name_for(&planned);
        (planned.name, planned.decision) = (name, decision);
        match planned.decision {
            Decision::New => {
                planned.gaps.extend(foreign_secrets);
                self.add(&mut planned);
            }
            Decision::AlreadyDefined => {
                let mut definitions = self.known.definitions.iter();
                let is_it = |known: &&Definition| known.name == planned.name && known.file == self.file.path;
                if let Some(ours) = definitions.find(is_it).filter(|_| planned.found.is_enabled) {
                    planned.gaps.extend(used_server(ours, &self.secrets).err());
                }
                let entry = self.file.entry(&planned.name).unwrap_or_default();
                let ours = parse_unexpanded(&self.file.path, &planned.name, &entry);
                if let Some(ours) = ours {
                    let open = self.known.open_filters(&planned.found, &ours);
                    planned.gaps.extend(open);
                    let narrowed = narrowed(self.place, &planned.found, &ours);
                    planned.found.notes.extend(narrowed);
                }
                planned.server = self.file.server(&planned.name, &self.secrets).ok().flatten();
            }
            Decision::Skipped(_) => {}
        }
        planned
    }

    /// Other servers' secrets that the definition would receive. Knowledge of a secret's name must not give access to
    /// the secret.
    fn foreign_secrets(&self, definition: &Value, referred: &References) -> Vec<String> {
        let known = references(definition)
            .into_iter()
            .filter(|name| self.secrets.get(name).is_some());
        let told = known.filter_map(|name| {
            let owner = referred.owned.iter().find(|(known, _)| *known == name);
            match owner {
                Some((_, owner)) => Some(format!("takes the secret of `{owner}`: {name}")),
                // In a user's own file, a reference such as `${input:...}` is intended.
                None if self.place.project.is_none() => None,
                None => Some(format!("takes a stored secret of other servers: {name}")),
            }
        });
        told.collect()
    }

    /// The name in the client. If codeyard has another server with this name, the client's name is appended.
    fn name_for(&self, planned: &PlannedServer) -> (String, Decision) {
        let meaning = |entry: &Value| expanded_fingerprint(&self.file.path, entry, &self.secrets);
        let name = planned.found.name.clone();
        let other = format!("{name}-{}", self.place.client.id());
        let mut why = String::new();
        for candidate in [name.clone(), other] {
            match self.file.entry(&candidate) {
                Some(entry) if meaning(&entry) == meaning(&planned.entry) => {
                    return (candidate, Decision::AlreadyDefined);
                }
                _ => match (self.check_name)(&candidate, self.file) {
                    Ok(()) => return (candidate, Decision::New),
                    Err(refusal) if why.is_empty() => why = refusal,
                    Err(_) => {}
                },
            }
        }
        (name, Decision::Skipped(why))
    }

    /// Sets the entry in the file. A server that cannot be used yet is disabled.
    fn add(&mut self, planned: &mut PlannedServer) {
        let name = planned.name.clone();
        self.file.set(&name, &planned.entry);
        let mistakes = self.file.server(&name, &self.secrets).err();
        let mistakes: Vec<String> = mistakes
            .into_iter()
            .flat_map(|mistakes| mistakes.0)
            .map(|mistake| mistake.message)
            .collect();
        let is_mistaken = !mistakes.is_empty();
        // Report gaps about the client's variable syntax in the client's words.
        let is_foreign =
            |gap: &String| gap.contains("another program's form") || gap.contains("workspaceFolder");
        let is_said = |gap: &String| !planned.found.gaps.is_empty() && is_foreign(gap);
        let unsaid: Vec<String> = mistakes.into_iter().filter(|gap| !is_said(gap)).collect();
        planned.gaps.extend(unsaid);
        if (is_mistaken || !planned.gaps.is_empty() || !planned.found.is_enabled)
            && let Some(fields) = planned.entry.as_object_mut()
        {
            fields.insert("disabled".to_owned(), true.into());
            self.file.set(&name, &planned.entry);
        }
        planned.variables = own_variables(std::slice::from_ref(&planned.entry), &self.secrets);
        planned.unexpanded = parse_unexpanded(&self.file.path, &name, &planned.entry);
        planned.server = self.file.server(&name, &self.secrets).ok().flatten();
        if planned.unexpanded.is_none() {
            // An invalid entry would prevent codeyard's start.
            let why = planned
                .gaps
                .first()
                .cloned()
                .unwrap_or_else(|| "is not a server definition".to_owned());
            planned.decision = Decision::Skipped(why);
            self.file.remove(&name);
        }
    }
}
