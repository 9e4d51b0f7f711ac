//! What becomes of each server of a client: new, already there, or left.

use std::path::Path;

use clients::{Found, Place, hide};
use config::{Machine, Secrets, ServerConfig, ServerFile};
use serde_json::Value;

use crate::commands::servers::add;
use crate::context::Context;

/// What becomes of the servers of one file.
pub(super) struct Plan {
    /// The file.
    pub(super) place: Place,
    /// Our own file, which they are added to.
    pub(super) ours: String,
    /// The file of the secrets.
    pub(super) secrets: String,
    /// Each server, in the order of the file.
    pub(super) all: Vec<Planned>,
}

/// What becomes of one server.
pub(super) struct Planned {
    /// As the client has it.
    pub(super) found: Found,
    /// Its name with us.
    pub(super) name: String,
    /// What becomes of it.
    pub(super) fate: Fate,
    /// Our entry, without secrets.
    pub(super) entry: Value,
    /// The entry with variables as they are written.
    pub(super) written: Option<ServerConfig>,
    /// The entry as it would be used now; none if it is not used.
    pub(super) server: Option<ServerConfig>,
    /// Secrets that the entry refers to, by their names.
    pub(super) secrets: Vec<(String, String)>,
    /// Why it cannot be used before somebody does something.
    pub(super) gaps: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is added.
    New,
    /// It is there already.
    Known,
    /// It is not taken over.
    Left(String),
}

impl Plan {
    /// Decides over each server. New ones are set in `file`, which is not saved.
    pub(super) fn make(
        context: &Context,
        place: &Place,
        found: Vec<Found>,
        file: &mut ServerFile,
        mut secrets: Secrets<'_>,
    ) -> anyhow::Result<Plan> {
        let own = context.program()?.executable;
        let all = found
            .into_iter()
            .map(|found| plan_one(context, place, found, file, &mut secrets, &own));
        Ok(Plan {
            all: all.collect(),
            place: place.clone(),
            ours: file.path.display().to_string(),
            secrets: secrets.path().display().to_string(),
        })
    }

    pub(super) fn news(&self) -> impl Iterator<Item = &Planned> {
        self.all.iter().filter(|planned| planned.fate == Fate::New)
    }

    pub(super) fn known(&self) -> impl Iterator<Item = &Planned> {
        self.all.iter().filter(|planned| planned.fate == Fate::Known)
    }

    /// Names and secrets of what is added.
    pub(super) fn secrets_of_news(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.news().flat_map(|new| &new.secrets);
        all.map(|(name, secret)| (name.as_str(), secret.as_str()))
    }

    /// Does not take a new one over.
    pub(super) fn leave(&mut self, name: &str, why: &str) {
        for planned in &mut self.all {
            if planned.name == name && planned.fate == Fate::New {
                planned.fate = Fate::Left(why.to_owned());
            }
        }
    }
}

fn plan_one(
    context: &Context,
    place: &Place,
    found: Found,
    file: &mut ServerFile,
    secrets: &mut Secrets<'_>,
    own: &Path,
) -> Planned {
    let mut planned = Planned {
        name: found.name.clone(),
        fate: Fate::New,
        entry: Value::Null,
        written: None,
        server: None,
        secrets: Vec::new(),
        gaps: Vec::new(),
        found,
    };
    let mut definition = match &planned.found.definition {
        Ok(definition) => definition.clone(),
        Err(why) => {
            planned.fate = Fate::Left(why.clone());
            return planned;
        }
    };
    let written = config::as_written(&file.path, &planned.name, &Value::Object(definition.clone()));
    if let Some(why) = written.and_then(|server| server::servers::check_self(&server, own).err()) {
        planned.fate = Fate::Left(why);
        return planned;
    }
    hide(&planned.found.name, &mut definition, &mut |wanted, secret| {
        let name = secrets.keep(wanted, secret);
        planned.secrets.push((name.clone(), secret.to_owned()));
        name
    });
    planned.entry = Value::Object(definition);
    let (name, fate) = name_for(context, place, &planned, file, secrets);
    (planned.name, planned.fate) = (name, fate);
    match planned.fate {
        Fate::New => enter(&mut planned, file, secrets),
        Fate::Known => planned.server = file.server(&planned.name, secrets).ok().flatten(),
        Fate::Left(_) => {}
    }
    planned
}

/// The client's name, or that with the client's own behind it where ours has another server of the name.
fn name_for(
    context: &Context,
    place: &Place,
    planned: &Planned,
    file: &ServerFile,
    secrets: &Secrets<'_>,
) -> (String, Fate) {
    let meaning = |entry: &Value| config::meaning(&file.path, entry, secrets);
    let name = planned.found.name.clone();
    let other = format!("{name}-{}", place.client.id());
    let mut why = String::new();
    for candidate in [name.clone(), other] {
        match file.entry(&candidate) {
            Some(entry) if meaning(&entry) == meaning(&planned.entry) => return (candidate, Fate::Known),
            _ => match add::judge_name(context, &candidate, file) {
                Ok(()) => return (candidate, Fate::New),
                Err(failure) if why.is_empty() => why = failure.message,
                Err(_) => {}
            },
        }
    }
    (name, Fate::Left(why))
}

/// Sets it in the file; what could not be used as things are is set as not to be used.
fn enter(planned: &mut Planned, file: &mut ServerFile, secrets: &Secrets<'_>) {
    let name = planned.name.clone();
    file.set(&name, &planned.entry);
    let mistakes = file.server(&name, secrets).err();
    let fields = mistakes.into_iter().flat_map(|mistakes| mistakes.0);
    planned.gaps = planned.found.gaps.clone();
    // What the client's own forms lack has been said in its words.
    let is_said = |gap: &String| !planned.found.gaps.is_empty() && gap.contains("workspaceFolder");
    let gaps = fields.map(|mistake| mistake.message);
    planned
        .gaps
        .extend(gaps.filter(|gap| !gap.contains("another program's form") && !is_said(gap)));
    if (!planned.gaps.is_empty() || !planned.found.is_enabled)
        && let Some(fields) = planned.entry.as_object_mut()
    {
        fields.insert("disabled".to_owned(), true.into());
        file.set(&name, &planned.entry);
    }
    planned.written = config::as_written(&file.path, &name, &planned.entry);
    planned.server = file.server(&name, secrets).ok().flatten();
    if planned.written.is_none() {
        // An entry that is wrong in itself would stop codeyard.
        let why = planned
            .gaps
            .first()
            .cloned()
            .unwrap_or_else(|| "is no definition of a server".to_owned());
        planned.fate = Fate::Left(why);
        file.remove(&name);
    }
}

/// The machine's own variables that used servers refer to, each once.
pub(in crate::commands) fn variables(entries: &[Value], secrets: &Secrets<'_>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for entry in entries {
        let text = entry.to_string();
        for reference in text.split("${").skip(1) {
            let end = reference.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let name = &reference[..end.unwrap_or(reference.len())];
            let is_set = config::Host::var(&Machine, name).ok().flatten().is_some();
            if is_set && secrets.get(name).is_none() && !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
    }
    names
}
