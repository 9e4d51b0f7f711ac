//! Removes, enables and disables servers.

use std::path::{Path, PathBuf};

use adoption::references;
use environment::{ChangeLock, Machine};
use registry::{Definition, DefinitionFile, Sources};
use serde_json::{Value, json};

use super::add;
use super::definitions::{edit, find, open, secrets, state_failure, unknown};
use crate::ask::{Confirmation, agreed};
use crate::cli::ChangeServer;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{OutputFormat, harmless};

pub(super) fn remove(context: &Context, wish: &ChangeServer, format: OutputFormat) -> anyhow::Result<Exit> {
    let (file, data) = open(context)?;
    let name = &wish.name;
    in_file(context, &file, name)?;
    let path = file.path.display().to_string();
    if !wish.yes && !agreed(&context.output, &format!("remove `{name}` from {path}?"))? {
        context.output.tell("nothing was removed");
        return Ok(Exit::Done);
    }
    let dropped = edit(&file.path, &data, |file, lock| {
        in_file(context, file, name)?;
        let entry = file.entry(name).unwrap_or_default();
        file.remove(name);
        file.save(lock).map_err(Failure::from)?;
        let broken = |error: anyhow::Error| {
            Failure::new(Exit::Broken, format!("removed `{name}` from {path}, but {error}"))
        };
        consent::forget_command(&file.path, name, lock).map_err(|error| broken(error.into()))?;
        Ok(drop_secrets(context, &data, &entry, lock).map_err(broken)?)
    })?;
    let mut told = format!("removed `{name}` from {path}");
    if !dropped.names.is_empty() {
        told.push_str(&format!(", and {} from secrets.json", dropped.names.join(", ")));
    }
    for (name, file) in &dropped.retained {
        told.push_str(&format!("\n{name} stays in secrets.json: {file}"));
    }
    done(context, format, "removed", name, &told)
}

/// The secrets of a removed entry.
#[derive(Default)]
struct DroppedSecrets {
    names: Vec<String>,
    /// Name and reason of each secret that another file still uses.
    retained: Vec<(String, String)>,
}

/// Drops the removed entry's secrets, except those that other entries refer to.
fn drop_secrets(
    context: &Context,
    data: &Path,
    entry: &Value,
    lock: &ChangeLock<'_>,
) -> anyhow::Result<DroppedSecrets> {
    let left = registry::list_definitions(&context.sources(), &Machine).into_iter();
    // A project's file receives no secrets, so its references keep none.
    let left = left.filter(|known| known.receives_secrets);
    let referred: Vec<String> = left.flat_map(|known| references(&known.entry)).collect();
    let mut secrets = secrets(data)?;
    // A person wrote the other names.
    let is_ours = |name: &String| name.starts_with("CODEYARD_") && !referred.contains(name);
    let ours = references(entry).into_iter().filter(is_ours);
    let ours: Vec<String> = ours.filter(|name| secrets.get(name).is_some()).collect();
    if ours.is_empty() {
        return Ok(DroppedSecrets::default());
    }
    let others = other_files(data)?;
    let mut dropped = DroppedSecrets::default();
    for name in ours {
        match others.iter().find_map(|other| other.needs(&name)) {
            Some(why) => dropped.retained.push((name, why)),
            None => dropped.names.push(name),
        }
    }
    if !secrets.remove(&dropped.names).is_empty() {
        secrets.save(lock).map_err(Failure::from)?;
    }
    Ok(dropped)
}

/// A definition file, perhaps one that the command line does not name.
struct OtherFile {
    path: PathBuf,
    /// The variables that the file refers to; `None` if it cannot be read.
    referred: Option<Vec<String>>,
}

impl OtherFile {
    /// Why the file needs the secret; an unreadable file may need any.
    fn needs(&self, name: &String) -> Option<String> {
        let path = self.path.display();
        match &self.referred {
            Some(referred) => referred.contains(name).then(|| format!("{path} refers to it")),
            None => Some(format!("{path} cannot be read, and may refer to it")),
        }
    }
}

/// Every file with accepted commands, and the usual one. A missing file refers to nothing.
fn other_files(data: &Path) -> anyhow::Result<Vec<OtherFile>> {
    let mut paths = consent::files_with_accepted_commands(data, &Machine).map_err(state_failure)?;
    paths.extend(registry::file_to_edit(&Sources::default(), &Machine).ok());
    let others = paths.into_iter().map(|path| {
        let file = DefinitionFile::open(path.clone(), &Machine);
        let referred = file.ok().map(|file| {
            let entries = file.names().filter_map(|name| file.entry(name));
            entries.flat_map(|entry| references(&entry)).collect()
        });
        OtherFile { path, referred }
    });
    Ok(others.collect())
}

/// Asks if the command differs from the accepted one.
pub(super) fn enable(context: &Context, wish: &ChangeServer, format: OutputFormat) -> anyhow::Result<Exit> {
    let (file, data) = open(context)?;
    let name = &wish.name;
    in_file(context, &file, name)?;
    let defined = find(context, name)?;
    if !consented(context, &defined, wish.yes.into(), &data)? {
        context.output.tell("nothing was changed");
        return Ok(Exit::Done);
    }
    let enabled = edit(&file.path, &data, |file, lock| {
        in_file(context, file, name)?;
        let wrong = |mistakes| Failure::new(Exit::Usage, mistakes);
        let enabled = file.enable(name).map_err(wrong)?;
        // A server with mistakes cannot be enabled.
        file.server(name, &secrets(&data)?).map_err(wrong)?;
        if enabled {
            file.save(lock).map_err(Failure::from)?;
        }
        Ok(enabled)
    })?;
    let already = if enabled || defined.is_changed {
        "is used from now on"
    } else {
        "is used already"
    };
    done(context, format, "enabled", name, &format!("`{name}` {already}"))
}

pub(super) fn disable(context: &Context, name: &str, format: OutputFormat) -> anyhow::Result<Exit> {
    let (file, data) = open(context)?;
    let disabled = edit(&file.path, &data, |file, lock| {
        in_file(context, file, name)?;
        let wrong = |mistakes| Failure::new(Exit::Usage, mistakes);
        let disabled = file.disable(name).map_err(wrong)?;
        if disabled {
            file.save(lock).map_err(Failure::from)?;
        }
        Ok(disabled)
    })?;
    let told = if disabled {
        format!("`{name}` is not used any more; `codeyard servers enable {name}` enables it")
    } else {
        format!("`{name}` is disabled already")
    };
    done(context, format, "disabled", name, &told)
}

/// Whether a person accepts the server's command; asks if it changed since they last did.
pub(super) fn consented(
    context: &Context,
    defined: &Definition,
    confirmation: Confirmation,
    data: &Path,
) -> anyhow::Result<bool> {
    let Some(server) = defined.server.as_ref().filter(|_| defined.is_changed) else {
        return Ok(true);
    };
    let output = &context.output;
    output.tell(&format!(
        "{}\nthis differs from the command that you accepted",
        add::description(server)
    ));
    if confirmation == Confirmation::Needed && !agreed(output, "use this from now on?")? {
        return Ok(false);
    }
    let lock = environment::ChangeLock::acquire(data, &Machine).map_err(state_failure)?;
    consent::accept_command(&defined.file, server, &lock).map_err(state_failure)?;
    Ok(true)
}

/// Requires the server in the file being changed; the error names another file with the server.
fn in_file(context: &Context, file: &DefinitionFile, name: &str) -> anyhow::Result<()> {
    if file.names().any(|known| known == name) {
        return Ok(());
    }
    let elsewhere = registry::list_definitions(&context.sources(), &Machine);
    let message = match elsewhere.iter().find(|defined| defined.name == name) {
        Some(defined) => format!(
            "`{name}` is defined in {}; change it there, or name that file with --config",
            defined.file.display()
        ),
        None => unknown(name, &file.names().collect::<Vec<_>>()),
    };
    Err(Failure::new(Exit::Usage, message).into())
}

fn done(context: &Context, format: OutputFormat, what: &str, name: &str, told: &str) -> anyhow::Result<Exit> {
    if format == OutputFormat::Json {
        context.output.json(&json!({ what: name }))?;
    } else {
        context.output.line(&harmless(told))?;
    }
    Ok(Exit::Done)
}
