//! What becomes of each server of a client: new, already there, or left.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clients::{Found, Place, Surroundings, hide};
use environment::{Environment as _, Machine};
use registry::{Definition, DefinitionFile, Secrets};
use serde_json::Value;
use settings::Loaded;
use upstream::ServerConfig;

use crate::commands::adopt::{used, with_env_file};
use crate::commands::servers::add;
use crate::context::{Context, principal};

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
    /// Variables of this environment that it refers to: they must be set where codeyard is started, too.
    pub(super) variables: Vec<String>,
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
        loaded: &Loaded,
        here: &Surroundings,
        place: &Place,
        found: Vec<Found>,
        file: &mut DefinitionFile,
        secrets: Secrets<'_>,
    ) -> anyhow::Result<Plan> {
        let defined = registry::list_definitions(&context.sources(), &Machine);
        let owned = defined.iter().filter(|known| known.file != place.path);
        let owned = owned.flat_map(|known| {
            let names = references(&known.entry).into_iter();
            names.map(|name| (name, known.name.clone()))
        });
        let theirs = found.iter().filter_map(|found| found.definition.as_ref().ok());
        let theirs = theirs.flat_map(|definition| references(&Value::Object(definition.clone())));
        let referred = defined
            .iter()
            .flat_map(|known| references(&known.entry))
            .chain(theirs);
        let mut planner = Planner {
            context,
            loaded,
            here,
            place,
            owned: owned.collect(),
            referred: referred.collect(),
            defined: &defined,
            own: context.program()?.executable,
            file,
            secrets,
        };
        let all: Vec<Planned> = found.into_iter().map(|found| planner.plan(found)).collect();
        let Planner { file, secrets, .. } = planner;
        Ok(Plan {
            all,
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

    /// Takes a new one over so that it is not used yet.
    pub(super) fn disable(&mut self, name: &str, why: &str) {
        let news = self.all.iter_mut().filter(|planned| planned.fate == Fate::New);
        for planned in news.filter(|planned| planned.name == name) {
            planned.gaps.push(why.to_owned());
            if let Some(fields) = planned.entry.as_object_mut() {
                fields.insert("disabled".to_owned(), true.into());
            }
        }
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

/// Decides over one server after the other.
struct Planner<'a, 's> {
    context: &'a Context,
    loaded: &'a Loaded,
    here: &'a Surroundings,
    place: &'a Place,
    /// Variables that servers of ours refer to, each with the server.
    owned: Vec<(String, String)>,
    /// Every definition of ours.
    defined: &'a [Definition],
    /// Variables that any definition refers to.
    referred: Vec<String>,
    own: PathBuf,
    file: &'a mut DefinitionFile,
    secrets: Secrets<'s>,
}

impl Planner<'_, '_> {
    fn plan(&mut self, found: Found) -> Planned {
        let mut planned = Planned {
            name: found.name.clone(),
            fate: Fate::New,
            entry: Value::Null,
            written: None,
            server: None,
            secrets: Vec::new(),
            gaps: found.gaps.clone(),
            variables: Vec::new(),
            found,
        };
        let definition = match &planned.found.definition {
            Ok(definition) => definition,
            Err(why) => {
                planned.fate = Fate::Left(why.clone());
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
        let written =
            registry::parse_unexpanded(&self.file.path, &planned.name, &Value::Object(definition.clone()));
        if let Some(why) = written.and_then(|server| server::servers::check_self(&server, &self.own).err()) {
            planned.fate = Fate::Left(why);
            return planned;
        }
        let taken = self.taken(&Value::Object(definition.clone()));
        let (secrets, referred) = (&mut self.secrets, &self.referred);
        let stayed = hide(&planned.found.name, &mut definition, &mut |wanted, secret| {
            let name = secrets.insert_unique(wanted, secret, referred);
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
            let note = format!("the variables of `envFile` ({file}) are taken as they are now");
            planned.found.notes.push(note);
        }
        planned.entry = Value::Object(definition);
        let (name, fate) = self.name_for(&planned);
        (planned.name, planned.fate) = (name, fate);
        match planned.fate {
            Fate::New => {
                planned.gaps.extend(taken);
                self.enter(&mut planned);
            }
            Fate::Known => {
                let mut defined = self.defined.iter();
                let is_it = |known: &&Definition| known.name == planned.name && known.file == self.file.path;
                if let Some(ours) = defined.find(is_it).filter(|_| planned.found.is_enabled) {
                    planned.gaps.extend(used(ours, &self.secrets).err());
                }
                let entry = self.file.entry(&planned.name).unwrap_or_default();
                let ours = registry::parse_unexpanded(&self.file.path, &planned.name, &entry);
                if let Some(ours) = ours {
                    let open = open_filters(self.loaded, &planned.found, &ours);
                    planned.gaps.extend(open);
                    let narrowed = narrowed(self.place, &planned.found, &ours);
                    planned.found.notes.extend(narrowed);
                }
                planned.server = self.file.server(&planned.name, &self.secrets).ok().flatten();
            }
            Fate::Left(_) => {}
        }
        planned
    }

    /// Secrets of other servers that a definition would be given: whoever wrote it must not have them by knowing their names.
    fn taken(&self, definition: &Value) -> Vec<String> {
        let known = references(definition)
            .into_iter()
            .filter(|name| self.secrets.get(name).is_some());
        let told = known.filter_map(|name| {
            let owner = self.owned.iter().find(|(known, _)| *known == name);
            match owner {
                Some((_, owner)) => Some(format!("takes the secret of `{owner}`: {name}")),
                // In a user's own file it is how that is meant: `${input:...}` is looked for there.
                None if self.place.project.is_none() => None,
                None => Some(format!("takes a secret that is kept for others: {name}")),
            }
        });
        told.collect()
    }

    /// The client's name, or that with the client's own behind it where ours has another server of the name.
    fn name_for(&self, planned: &Planned) -> (String, Fate) {
        let meaning = |entry: &Value| registry::expanded_fingerprint(&self.file.path, entry, &self.secrets);
        let name = planned.found.name.clone();
        let other = format!("{name}-{}", self.place.client.id());
        let mut why = String::new();
        for candidate in [name.clone(), other] {
            match self.file.entry(&candidate) {
                Some(entry) if meaning(&entry) == meaning(&planned.entry) => return (candidate, Fate::Known),
                _ => match add::judge_name(self.context, &candidate, self.file, Some(&self.place.path)) {
                    Ok(()) => return (candidate, Fate::New),
                    Err(failure) if why.is_empty() => why = failure.message,
                    Err(_) => {}
                },
            }
        }
        (name, Fate::Left(why))
    }

    /// Sets it in the file; what could not be used as things are is set as not to be used.
    fn enter(&mut self, planned: &mut Planned) {
        let name = planned.name.clone();
        self.file.set(&name, &planned.entry);
        let mistakes = self.file.server(&name, &self.secrets).err();
        let mistakes: Vec<String> = mistakes
            .into_iter()
            .flat_map(|mistakes| mistakes.0)
            .map(|mistake| mistake.message)
            .collect();
        let is_mistaken = !mistakes.is_empty();
        // What the client's own forms lack has been said in its words.
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
        planned.variables = variables(std::slice::from_ref(&planned.entry), &self.secrets);
        planned.written = registry::parse_unexpanded(&self.file.path, &name, &planned.entry);
        planned.server = self.file.server(&name, &self.secrets).ok().flatten();
        if planned.written.is_none() {
            // An entry that is wrong in itself would stop codeyard.
            let why = planned
                .gaps
                .first()
                .cloned()
                .unwrap_or_else(|| "is no definition of a server".to_owned());
            planned.fate = Fate::Left(why);
            self.file.remove(&name);
        }
    }
}

/// What is to be done so that codeyard keeps as many tools of a server of ours from the model as the client does.
pub(in crate::commands) fn open_filters(loaded: &Loaded, found: &Found, ours: &ServerConfig) -> Vec<String> {
    let forbidden = |tool: &str| loaded.forbids(&principal(), ours.rules(), tool);
    let open = found
        .filters
        .iter()
        .filter(|filter| !filter.is_met(&ours.name, &ours.tools.allow, forbidden));
    open.map(|filter| filter.told(&ours.name)).collect()
}

/// What to know of a server of ours whose own rules keep back more than those that come of the client's lists.
pub(in crate::commands) fn narrowed(place: &Place, found: &Found, ours: &ServerConfig) -> Option<String> {
    let definition = found.definition.as_ref().ok()?;
    let keeps_more = |(field, ours): &(&str, &[String])| {
        let theirs = definition.get(*field).and_then(Value::as_array);
        let theirs: BTreeSet<&str> = theirs.into_iter().flatten().filter_map(Value::as_str).collect();
        let ours: BTreeSet<&str> = ours.iter().map(String::as_str).collect();
        match *field {
            "allow" => !ours.is_empty() && (theirs.is_empty() || !theirs.is_subset(&ours)),
            _ => !ours.is_subset(&theirs),
        }
    };
    let (name, rules) = ours.rules();
    let all = [("allow", &*rules.allow), ("deny", &*rules.deny)];
    let other = all.into_iter().find(keeps_more)?;
    Some(format!(
        "`{}` of the entry of `{name}` keeps tools back that {} shows",
        other.0, place.client
    ))
}

/// The variables that an entry refers to, each once.
pub(in crate::commands) fn references(entry: &Value) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for reference in entry.to_string().split("${").skip(1) {
        let end = reference.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let name = &reference[..end.unwrap_or(reference.len())];
        if !name.is_empty() && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// The machine's own variables that servers refer to, each once; not those that are set wherever a program is started.
pub(in crate::commands) fn variables(entries: &[Value], secrets: &Secrets<'_>) -> Vec<String> {
    let is_own = |name: &String| {
        let is_everywhere = matches!(
            name.as_str(),
            "HOME" | "PATH" | "XDG_CONFIG_HOME" | "XDG_DATA_HOME"
        );
        !is_everywhere && secrets.get(name).is_none() && Machine.var(name).ok().flatten().is_some()
    };
    let mut names: Vec<String> = entries.iter().flat_map(references).filter(is_own).collect();
    let mut seen = std::collections::HashSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names
}
