//! `codeyard install`: enters codeyard into a client in the place of the servers that it has, and takes that back.

mod diff;
mod file;
mod overview;
mod undo;

use std::path::{Path, PathBuf};

use clients::{Change, Client, Found, Place, Surroundings, Taken};
use environment::Machine;
use registry::{DefinitionFile, Secrets};
use serde_json::{Value, json};
use settings::Loaded;
use upstream::ServerConfig;

use super::adopt::{client, own_file, restart, running, servers, surroundings, text_of, used, with_env_file};
use super::import::{narrowed, open_filters, variables};
use super::servers::{open_file, secrets, state_failure};
use crate::ask::agreed;
use crate::cli::InstallArguments;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::harmless;
use file::ClientFile;

/// Installs, or undoes it.
pub fn run(context: &Context, arguments: &InstallArguments) -> anyhow::Result<Exit> {
    let here = surroundings()?;
    let Some(name) = &arguments.client else {
        return overview::run(context, &here, arguments);
    };
    let client = client(name)?;
    let place = own_file(client, &here);
    if arguments.undo {
        return undo::run(context, &place, arguments);
    }
    let file = ClientFile::open(&place.path, client)?;
    let before = text_of(&file.path, file.bytes())?;
    let found = servers(&place, &here, &before)?;
    let loaded = context.load_settings()?;
    let (ours, data) = (open_file(context)?, loaded.data_dir.clone());
    let secrets = secrets(&data)?;
    let sorter = Sorter {
        context,
        loaded: &loaded,
        here: &here,
        place: &place,
        ours: &ours,
        secrets: &secrets,
    };
    let sorted = sorter.sort(&found)?;
    let change = change(context, &here, &ours, &secrets, &sorted.taken)?;
    let refused = |error| {
        let why = format!("{}: {error}; nothing was changed", file.path.display());
        Failure::new(Exit::Usage, why)
    };
    let after = clients::change(client, &before, &change).map_err(refused)?;
    let mut done = Done {
        client,
        file: &file,
        taken: sorted.taken.iter().map(|taken| taken.name.as_str()).collect(),
        left: &sorted.left,
        notes: &sorted.notes,
        variables: &change.passed,
        running: running(client),
        backup: None,
    };
    if after == before {
        return done.tell(
            context,
            arguments,
            false,
            "codeyard is installed there already; nothing was changed",
        );
    }
    if !arguments.json {
        let mut shown = clients::own_texts(client, &clients::fresh(client, &change));
        shown.extend(change.take.iter().map(|taken| taken.name.clone()));
        let diff = diff::diff(client, &before, &after, &shown);
        context.output.print(&done.told(&diff))?;
    }
    if arguments.dry_run {
        return done.tell(
            context,
            arguments,
            false,
            "this was a dry run: nothing was changed",
        );
    }
    if !arguments.yes && !agreed(&context.output, &format!("change {}?", file.path.display()))? {
        context.output.tell("nothing was changed");
        return Ok(Exit::Done);
    }
    done.backup = write(&file, &data, client, &after, &sorted.taken)?;
    let told = format!(
        "codeyard is installed in {client}; {}. `codeyard install {} --undo` takes it back",
        restart(client, &done.running),
        client.id()
    );
    done.tell(context, arguments, true, &told)
}

/// Servers of the client that codeyard has, and those that it has not, with why.
struct Sorted {
    taken: Vec<Taken>,
    left: Vec<(String, String)>,
    /// What to know of those that codeyard has.
    notes: Vec<String>,
}

/// Decides which servers of a client codeyard takes the place of.
struct Sorter<'a> {
    context: &'a Context,
    loaded: &'a Loaded,
    here: &'a Surroundings,
    place: &'a Place,
    ours: &'a DefinitionFile,
    secrets: &'a Secrets<'static>,
}

/// A server of ours.
struct Known {
    /// What it comes to, as [`registry::expanded_fingerprint`] has it.
    meaning: Option<String>,
    /// As it is used, or why it is not.
    server: Result<ServerConfig, String>,
}

impl Sorter<'_> {
    fn sort(&self, found: &[Found]) -> anyhow::Result<Sorted> {
        let own = self.context.program()?.executable;
        let known = self.known();
        let mut sorted = Sorted {
            taken: Vec::new(),
            left: Vec::new(),
            notes: Vec::new(),
        };
        for server in found.iter().filter(|server| server.is_enabled) {
            let written = server.definition.as_ref().ok().and_then(|definition| {
                let entry = Value::Object(definition.clone());
                registry::parse_unexpanded(&self.ours.path, &server.name, &entry)
            });
            if written.is_some_and(|server| server::servers::check_self(&server, &own).is_err()) {
                continue;
            }
            match self.judge(server, &known) {
                Ok(note) => {
                    sorted.taken.push(Taken {
                        list: server.list.clone(),
                        name: server.name.clone(),
                    });
                    sorted.notes.extend(note);
                }
                Err(why) => sorted.left.push((server.name.clone(), why)),
            }
        }
        Ok(sorted)
    }

    fn known(&self) -> Vec<Known> {
        let all = registry::list_definitions(&self.context.sources(), &Machine);
        let known = all.iter().filter(|known| known.file == self.ours.path);
        let known = known.map(|known| Known {
            meaning: self.meaning(&known.entry),
            server: used(known, self.secrets).cloned(),
        });
        known.collect()
    }

    fn meaning(&self, entry: &Value) -> Option<String> {
        registry::expanded_fingerprint(&self.ours.path, entry, self.secrets)
    }

    /// Whether codeyard does all that a server of the client does, and guards it as well; gives what to know of it.
    fn judge(&self, server: &Found, known: &[Known]) -> Result<Option<String>, String> {
        let definition = server.definition.as_ref().map_err(Clone::clone)?;
        let entry = Value::Object(with_env_file(server, definition, self.place, self.here)?);
        let theirs = self.meaning(&entry);
        let same = |ours: &&Known| ours.meaning.is_some() && ours.meaning == theirs;
        let Some(first) = known.iter().find(same) else {
            return Err("codeyard does not have it; `codeyard import` takes it over".to_owned());
        };
        let used = known.iter().filter(same).find(|ours| ours.server.is_ok());
        let ours = used.unwrap_or(first).server.as_ref().map_err(Clone::clone)?;
        let open = open_filters(self.loaded, server, ours);
        match server.gaps.iter().chain(&open).next() {
            None => Ok(narrowed(self.place, server, ours)),
            Some(gap) => Err(format!("codeyard has it without what guards it here: {gap}")),
        }
    }
}

/// How the client is to start codeyard: as it was started now.
fn change(
    context: &Context,
    here: &Surroundings,
    ours: &DefinitionFile,
    secrets: &Secrets<'_>,
    taken: &[Taken],
) -> anyhow::Result<Change> {
    let arguments = context.settings_arguments();
    let mut args = vec!["mcp".to_owned()];
    let mut option = |name: &str, path: &Path| {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        args.extend([name.to_owned(), path.to_string_lossy().into_owned()]);
    };
    for file in &arguments.sources.files {
        option("--config", file);
    }
    if let Some(settings) = &arguments.settings {
        option("--settings", settings);
    }
    if let Some(data) = &arguments.sources.data {
        option("--data", data);
    }
    // Where these say that our files are, they must say it there too.
    let env = ["XDG_CONFIG_HOME", "XDG_DATA_HOME"]
        .into_iter()
        .filter_map(|name| {
            let value = environment::Environment::var(&Machine, name).ok().flatten()?;
            (!value.is_empty()).then(|| (name.to_owned(), value))
        });
    let entries: Vec<Value> = ours
        .names()
        .filter_map(|name| ours.entry(name))
        .filter(|entry| entry["disabled"] != true)
        .collect();
    Ok(Change {
        command: context.program()?.executable.display().to_string(),
        args,
        env: env.collect(),
        home: here.home.clone(),
        passed: variables(&entries, secrets),
        take: taken.to_vec(),
    })
}

/// The original beside it first, then what is needed to undo, then the file; gives the name of the original's copy. Others
/// that install wait until all is written.
fn write(
    file: &ClientFile,
    data: &Path,
    client: Client,
    after: &str,
    taken: &[Taken],
) -> anyhow::Result<Option<PathBuf>> {
    let lock = environment::ChangeLock::acquire(data, &Machine).map_err(state_failure)?;
    file.unchanged()?;
    let mut all = consent::installations(&file.path, data, &Machine).map_err(state_failure)?;
    let document = client.format().parse(after)?;
    let entry = clients::installed(client, &document).cloned().unwrap_or_default();
    let keys = |taken: &Taken| taken.list.iter().chain([&taken.name]).cloned().collect();
    let taken = taken.iter().map(keys).collect();
    let backup = file.keep()?;
    let before = all.clone();
    all.push(consent::Installation::new(
        backup.clone(),
        file.bytes(),
        after.as_bytes(),
        entry,
        taken,
    ));
    let written = consent::store_installations(&file.path, &all, &lock)
        .map_err(|error| state_failure(error).into())
        .and_then(|()| file.replace(after.as_bytes()));
    if let Err(error) = written {
        // The first error is the one to tell.
        let _ = consent::store_installations(&file.path, &before, &lock);
        if let Some(backup) = &backup {
            let _ = std::fs::remove_file(backup);
        }
        return Err(error);
    }
    Ok(backup)
}

/// What is done to a file, for people and programs.
struct Done<'a> {
    client: Client,
    file: &'a ClientFile,
    taken: Vec<&'a str>,
    left: &'a [(String, String)],
    /// What to know of those that codeyard has.
    notes: &'a [String],
    /// Variables of this environment that its servers refer to.
    variables: &'a [String],
    /// Processes of the client.
    running: Vec<u32>,
    /// The copy of the file as it was, once there is one.
    backup: Option<PathBuf>,
}

impl Done<'_> {
    /// Everything before the question.
    fn told(&self, diff: &str) -> String {
        let client = self.client;
        let mut out = format!("{client}: {}\n", self.file.path.display());
        if let Some(link) = &self.file.link {
            out.push_str(&format!("it is a link at {}, which stays\n", link.display()));
        }
        out.push_str(diff);
        if !self.taken.is_empty() {
            let names = self.taken.join(", ");
            out.push_str(&if client.can_disable() {
                format!("disabled in {client}, and used by codeyard: {names}\n")
            } else {
                format!("taken out of {client}, which cannot disable one, and used by codeyard: {names}\n")
            });
        }
        for note in self.notes {
            out.push_str(&format!("{note}\n"));
        }
        for (name, why) in self.left {
            out.push_str(&format!("`{name}` stays as it is: {why}\n"));
        }
        if !self.variables.is_empty() {
            let names = self.variables.join(", ");
            out.push_str(&if client.hands_on() {
                format!("{client} hands codeyard these variables, which servers refer to; they must be set where {client} is started: {names}\n")
            } else {
                format!("{client} hands on only what it is started with: a server that refers to one of these is not used where it is not set: {names}\n")
            });
        }
        harmless(&out)
    }

    fn tell(
        &self,
        context: &Context,
        arguments: &InstallArguments,
        is_changed: bool,
        told: &str,
    ) -> anyhow::Result<Exit> {
        if arguments.json {
            let left: Vec<Value> = self
                .left
                .iter()
                .map(|(name, why)| json!({"name": name, "why": why}))
                .collect();
            context.output.json(&json!({
                "client": self.client.id(), "file": self.file.path, "changed": is_changed, "taken": self.taken,
                "disabled_in_place": self.client.can_disable(), "left": left, "notes": self.notes, "backup": self.backup,
                "variables": self.variables, "running": self.running,
            }))?;
        } else {
            if let Some(backup) = &self.backup {
                context
                    .output
                    .line(&format!("the file as it was is kept as {}", backup.display()))?;
            }
            context.output.line(told)?;
        }
        Ok(Exit::Done)
    }
}
