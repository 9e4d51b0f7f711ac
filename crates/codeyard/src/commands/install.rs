//! `codeyard install`: enters codeyard into a client in the place of the servers that it has, and takes that back.

mod diff;
mod file;
mod undo;

use std::path::{Path, PathBuf};

use clients::{Change, Client, Found, Taken};
use config::{Machine, Secrets, ServerFile, Use};
use serde_json::{Value, json};

use super::adopt::{client, own_file, servers, surroundings, text_of};
use super::import::variables;
use super::servers::{kept_failure, open, secrets};
use crate::ask::agreed;
use crate::cli::InstallArguments;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::harmless;
use file::ClientFile;

/// Installs, or undoes it.
pub fn run(context: &Context, arguments: &InstallArguments) -> anyhow::Result<Exit> {
    let client = client(&arguments.client)?;
    let here = surroundings()?;
    let place = own_file(client, &here);
    if arguments.undo {
        return undo::run(context, &place, &here, arguments);
    }
    let file = ClientFile::open(&place.path, client)?;
    let before = text_of(&file.path, file.bytes())?;
    let found = servers(&place, &here, &before)?;
    let (ours, data) = open(context)?;
    let secrets = secrets(&data)?;
    let sorted = sort(context, &found, &ours, &secrets)?;
    let change = change(context, &ours, &secrets, &sorted.taken)?;
    let refused = |error| {
        let why = format!("{}: {error}; nothing was changed", file.path.display());
        Failure::new(Exit::Usage, why)
    };
    let after = clients::change(client, &before, &change).map_err(refused)?;
    let done = Done {
        client,
        file: &file,
        taken: sorted.taken.iter().map(|taken| taken.name.as_str()).collect(),
        left: &sorted.left,
        backup: file.backup(),
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
        let hidden = diff::secrets(&found);
        context
            .output
            .print(&done.told(&diff::shown(&before, &after, &hidden)))?;
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
    write(&file, &data, &after, done.backup.as_deref())?;
    let told = format!(
        "codeyard is installed in {client}; restart {client} if it runs. `codeyard install {} --undo` restores the file",
        client.id()
    );
    let exit = done.tell(context, arguments, true, &told)?;
    if !change.passed.is_empty() && !client.names_variables() && !arguments.json {
        context.output.tell(&format!(
            "{client} must hand codeyard these variables, which its servers refer to: {}",
            change.passed.join(", ")
        ));
    }
    Ok(exit)
}

/// Servers of the client that codeyard has, and those that it has not, with why.
struct Sorted {
    taken: Vec<Taken>,
    left: Vec<(String, String)>,
}

fn sort(
    context: &Context,
    found: &[Found],
    ours: &ServerFile,
    secrets: &Secrets<'_>,
) -> anyhow::Result<Sorted> {
    let own = context.program()?.executable;
    let all = config::defined(&context.sources(), &Machine);
    let used = all
        .iter()
        .filter(|known| known.use_ == Use::Used && known.file == ours.path);
    let used: Vec<&str> = used.map(|known| known.name.as_str()).collect();
    let meaning = |entry: &Value| config::meaning(&ours.path, entry, secrets);
    let known: Vec<(Option<String>, bool)> = ours
        .names()
        .filter_map(|name| Some((meaning(&ours.entry(name)?), used.contains(&name))))
        .collect();
    let mut sorted = Sorted {
        taken: Vec::new(),
        left: Vec::new(),
    };
    for server in found.iter().filter(|server| server.is_enabled) {
        let entry = match &server.definition {
            Ok(definition) => Value::Object(definition.clone()),
            Err(why) => {
                sorted.left.push((server.name.clone(), why.clone()));
                continue;
            }
        };
        let written = config::as_written(&ours.path, &server.name, &entry);
        if written.is_some_and(|server| server::servers::check_self(&server, &own).is_err()) {
            continue;
        }
        let theirs = meaning(&entry);
        let same = known.iter().find(|(ours, _)| ours.is_some() && *ours == theirs);
        let why = match same {
            Some((_, true)) => {
                sorted.taken.push(Taken {
                    list: server.list.clone(),
                    name: server.name.clone(),
                });
                continue;
            }
            Some((_, false)) => "codeyard has it and does not use it",
            None => "codeyard does not have it; `codeyard import` takes it over",
        };
        sorted.left.push((server.name.clone(), why.to_owned()));
    }
    Ok(sorted)
}

/// How the client is to start codeyard: as it was started now.
fn change(
    context: &Context,
    ours: &ServerFile,
    secrets: &Secrets<'_>,
    taken: &[Taken],
) -> anyhow::Result<Change> {
    let sources = context.sources();
    let mut args = vec!["mcp".to_owned()];
    let mut option = |name: &str, path: &Path| {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        args.extend([name.to_owned(), path.to_string_lossy().into_owned()]);
    };
    for file in &sources.servers {
        option("--config", file);
    }
    if let Some(settings) = &sources.settings {
        option("--settings", settings);
    }
    if let Some(data) = &sources.data {
        option("--data", data);
    }
    // Where these say that our files are, they must say it there too.
    let env = ["XDG_CONFIG_HOME", "XDG_DATA_HOME"]
        .into_iter()
        .filter_map(|name| {
            let value = config::Host::var(&Machine, name).ok().flatten()?;
            (!value.is_empty()).then(|| (name.to_owned(), value))
        });
    let entries: Vec<Value> = ours
        .names()
        .filter_map(|name| ours.entry(name))
        .filter(|entry| entry["disabled"] != true)
        .collect();
    let is_there = |name: &String| {
        !matches!(
            name.as_str(),
            "HOME" | "PATH" | "XDG_CONFIG_HOME" | "XDG_DATA_HOME"
        )
    };
    Ok(Change {
        command: context.program()?.executable.display().to_string(),
        args,
        env: env.collect(),
        passed: variables(&entries, secrets)
            .into_iter()
            .filter(is_there)
            .collect(),
        take: taken.to_vec(),
    })
}

/// The original beside it first, then what is needed to undo, then the file.
fn write(file: &ClientFile, data: &Path, after: &str, backup: Option<&Path>) -> anyhow::Result<()> {
    let turn = config::turn(data, &Machine).map_err(kept_failure)?;
    if let Some(backup) = backup {
        file.save_as(backup)?;
    }
    let mut all = config::installations(&file.path, data, &Machine).map_err(kept_failure)?;
    all.push(config::Installation::new(
        backup.map(Path::to_path_buf),
        after.as_bytes(),
    ));
    let written = config::keep_installations(&file.path, &all, &turn)
        .map_err(|error| kept_failure(error).into())
        .and_then(|()| file.replace(after.as_bytes()));
    if written.is_err() {
        // The first error is the one to tell.
        all.pop();
        let _ = config::keep_installations(&file.path, &all, &turn);
        if let Some(backup) = backup {
            let _ = std::fs::remove_file(backup);
        }
    }
    written
}

/// What is done to a file, for people and programs.
struct Done<'a> {
    client: Client,
    file: &'a ClientFile,
    taken: Vec<&'a str>,
    left: &'a [(String, String)],
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
                format!("disabled there, used by codeyard: {names}\n")
            } else {
                format!("taken out there ({client} cannot disable one), used by codeyard: {names}\n")
            });
        }
        for (name, why) in self.left {
            out.push_str(&format!("`{name}` stays as it is: {why}\n"));
        }
        if let Some(backup) = &self.backup {
            out.push_str(&format!(
                "the file as it is now is kept as {}\n",
                backup.display()
            ));
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
            let backup = self.backup.as_ref().filter(|_| is_changed);
            context.output.json(&json!({
                "client": self.client.id(), "file": self.file.path, "changed": is_changed, "taken": self.taken,
                "disabled_in_place": self.client.can_disable(), "left": left, "backup": backup,
            }))?;
        } else {
            context.output.line(told)?;
        }
        Ok(Exit::Done)
    }
}
