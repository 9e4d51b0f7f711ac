//! `codeyard python`: creates, shows and changes the Python environment of programs.

use environment::Machine;
use sandbox_host::python::{
    self, Change, Info, Package, Refresh, Requirement, StagedEnvironment, SyncError, Synced,
};
use serde_json::json;
use types::numbers::counted;

use crate::ask::{Confirmation, agreed};
use crate::cli::{
    AddPackages, InfoArguments, PackagesArguments, PythonCommand, RemovePackages, SyncArguments,
};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{Tone, table};

const NO_PACKAGES: &str =
    "no packages beyond the standard library; `codeyard python sync` adds numpy, pandas and more";

pub fn run(context: &Context, command: &PythonCommand) -> anyhow::Result<Exit> {
    match command {
        PythonCommand::Sync(arguments) => sync(context, arguments),
        PythonCommand::List(arguments) => list(context, arguments),
        PythonCommand::Add(arguments) => add(context, arguments),
        PythonCommand::Remove(arguments) => remove(context, arguments),
        PythonCommand::Info(arguments) => info(context, arguments),
    }
}

fn sync(context: &Context, arguments: &SyncArguments) -> anyhow::Result<Exit> {
    let request = python::SyncRequest {
        target: target(context)?,
        requirements: arguments.requirements.clone(),
        refresh: if arguments.refresh {
            Refresh::Always
        } else {
            Refresh::IfChanged
        },
    };
    let output = context.output;
    let made = match python::sync(&request, &mut |step| output.tell(step)).map_err(failure)? {
        Synced::UpToDate(environment) => environment,
        Synced::Staged(draft) => {
            if !may_replace(context, &draft, arguments.yes.into())? {
                output.tell("nothing was changed");
                return Ok(Exit::Done);
            }
            draft.put_in_place().map_err(failure)?
        }
    };
    let left_out = made.set.left_out();
    if !left_out.is_empty() {
        output.tell(&format!(
            "left out, because they were removed: {}; `codeyard python add {}` adds them again",
            left_out.join(", "),
            left_out.join(" ")
        ));
    }
    output.line(&output.paint(
        Tone::Good,
        &format!("{} in {}", packages(made.packages.len()), made.root.display()),
    ))?;
    Ok(Exit::Done)
}

/// Lists the packages that a new environment lacks; asks if the user had requested any of them.
fn may_replace(
    context: &Context,
    draft: &StagedEnvironment,
    confirmation: Confirmation,
) -> anyhow::Result<bool> {
    let output = context.output;
    let lost = draft.lost();
    if lost.is_empty() {
        return Ok(true);
    }
    let rows: Vec<Vec<String>> = lost
        .iter()
        .map(|package| vec![format!("  {}", package.name), package.version.clone()])
        .collect();
    output.tell(&format!(
        "the new set lacks {} of the present one:\n{}",
        packages(lost.len()),
        table(&rows).trim_end()
    ));
    if confirmation == Confirmation::Given || !draft.loses_what_was_asked_for() {
        return Ok(true);
    }
    agreed(&output, &format!("remove {}?", packages(lost.len())))
}

fn add(context: &Context, arguments: &AddPackages) -> anyhow::Result<Exit> {
    let requirements =
        Requirement::parse_all(&arguments.names).map_err(|error| Failure::new(Exit::Usage, error))?;
    let output = context.output;
    let target = target(context)?;
    let change = python::add(&target, &requirements, &mut |step| output.progress(step)).map_err(failure)?;
    print_change(context, &change)
}

fn remove(context: &Context, arguments: &RemovePackages) -> anyhow::Result<Exit> {
    let mut names = Vec::new();
    for requirement in
        Requirement::parse_all(&arguments.names).map_err(|error| Failure::new(Exit::Usage, error))?
    {
        if !requirement.is_name_only() {
            let message = format!(
                "`{requirement}` has more than a name; write `codeyard python remove {}`",
                requirement.name()
            );
            return Err(Failure::new(Exit::Usage, message).into());
        }
        names.push(requirement.name().to_owned());
    }
    let output = context.output;
    let target = target(context)?;
    let change = python::remove(&target, &names, &mut |step| output.progress(step)).map_err(failure)?;
    print_change(context, &change)
}

fn print_change(context: &Context, change: &Change) -> anyhow::Result<Exit> {
    let output = context.output;
    let named = |list: &[Package]| {
        let names: Vec<String> = list
            .iter()
            .map(|package| format!("{} {}", package.name, package.version))
            .collect();
        names.join(", ")
    };
    if change.installed.is_empty() && change.removed.is_empty() {
        output.line("nothing to install: every package is there already")?;
        return Ok(Exit::Done);
    }
    for (what, list) in [("removed", &change.removed), ("installed", &change.installed)] {
        if !list.is_empty() {
            output.line(&output.paint(Tone::Good, &format!("{what} {}", named(list))))?;
        }
    }
    output.tell("a codeyard that already serves a client keeps its packages until it is started again");
    Ok(Exit::Done)
}

fn list(context: &Context, arguments: &PackagesArguments) -> anyhow::Result<Exit> {
    let loaded = context.load_settings()?;
    let settings = settings::python_settings(&loaded.settings, &Machine);
    let info = python::info(&settings, &loaded.data_dir);
    let Some(interpreter) = &info.interpreter else {
        return Err(failure(SyncError::NoPython {
            skipped: info.skipped,
        })
        .into());
    };
    let output = context.output;
    match (&info.environment, arguments.json) {
        (found, true) => {
            let (root, packages, set) = found.as_ref().map_or((None, &[][..], None), |found| {
                (
                    Some(&found.root),
                    found.packages.as_slice(),
                    Some(&found.requirements),
                )
            });
            let described: Vec<_> = packages
                .iter()
                .map(|package| {
                    json!({
                        "name": package.name,
                        "version": package.version,
                        "requirement": set.and_then(|set| set.line_of(&package.name)),
                    })
                })
                .collect();
            let python = interpreter.version_text();
            output.json(&json!({ "python": python, "root": root, "packages": described }))?;
        }
        (Some(found), false) => {
            let rows: Vec<Vec<String>> = found
                .packages
                .iter()
                .map(|package| {
                    let added = found.requirements.added_line_of(&package.name);
                    let why = added.map_or_else(String::new, |line| format!("added as `{line}`"));
                    vec![package.name.clone(), package.version.clone(), why]
                })
                .collect();
            output.print(&table(&rows))?;
        }
        (None, false) => output.line(NO_PACKAGES)?,
    }
    Ok(Exit::Done)
}

fn info(context: &Context, arguments: &InfoArguments) -> anyhow::Result<Exit> {
    let loaded = context.load_settings()?;
    let settings = settings::python_settings(&loaded.settings, &Machine);
    let info = python::info(&settings, &loaded.data_dir);
    if arguments.json {
        context.output.json(&info)?;
    } else {
        context.output.print(&info_text(&info))?;
    }
    Ok(match info.interpreter {
        Some(_) => Exit::Done,
        None => Exit::Refused,
    })
}

fn info_text(info: &Info) -> String {
    let mut out = match &info.interpreter {
        Some(found) => format!(
            "Python {} at {}\n",
            found.version_text(),
            found.executable.display()
        ),
        None => {
            "no usable Python 3.10 or newer was found (on Debian: apt-get install python3 python3-venv)\n"
                .to_owned()
        }
    };
    for skipped in &info.skipped {
        out.push_str(&format!("skipped: {skipped}\n"));
    }
    match &info.environment {
        Some(environment) => {
            out.push_str(&format!("packages in {}:\n", environment.root.display()));
            let rows: Vec<Vec<String>> = environment
                .packages
                .iter()
                .map(|package| vec![format!("  {}", package.name), package.version.clone()])
                .collect();
            out.push_str(&table(&rows));
        }
        None => out.push_str(&format!("{NO_PACKAGES}\n")),
    }
    out
}

fn target(context: &Context) -> anyhow::Result<python::Target> {
    let loaded = context.load_settings()?;
    let program = context.program()?;
    Ok(python::Target {
        settings: settings::python_settings(&loaded.settings, &Machine),
        data: loaded.data_dir.clone(),
        supervisor: server::supervisor(&program.executable),
    })
}

fn packages(count: usize) -> String {
    counted(count, "package")
}

/// An error that the command line or requirements file can fix is a usage error.
fn failure(error: SyncError) -> Failure {
    let exit = match &error {
        SyncError::NotFound { .. }
        | SyncError::Conflict { .. }
        | SyncError::NoEnvironment
        | SyncError::NotInstalled { .. }
        | SyncError::Needed { .. } => Exit::Usage,
        _ => Exit::Broken,
    };
    let mut message = error.to_string();
    if let Some(source) = std::error::Error::source(&error) {
        message.push_str(&format!(": {source}"));
    }
    if let SyncError::NotInstalled { name, installed } = &error {
        let near = environment::nearest(name, installed.iter().map(String::as_str));
        message.push_str(&match near {
            Some(near) => format!("; did you mean `{near}`?"),
            None => "; `codeyard python list` shows what is".to_owned(),
        });
    }
    Failure::new(exit, message)
}
