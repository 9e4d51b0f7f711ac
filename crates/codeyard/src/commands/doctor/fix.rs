//! `codeyard doctor --fix`: explains how an administrator can strengthen the sandbox; `--yes` applies the steps.

use std::fmt::Write as _;
use std::path::Path;

use environment::{Environment as _, Machine};
use sandbox_host::fix::{Action, FixFacts, FixStep, apply, plan};
use serde_json::json;

use crate::cli::DoctorArguments;
use crate::context::Context;
use crate::exit::{Exit, Failure};

const STEPS: [&str; 5] = ["sysctls", "apparmor", "helpers", "ranges", "delegation"];

pub fn run(context: &Context, arguments: &DoctorArguments) -> anyhow::Result<Exit> {
    if let Some(unknown) = arguments.only.iter().find(|name| !STEPS.contains(&name.as_str())) {
        let message = format!(
            "--only {unknown}: unknown step; the steps are {}",
            STEPS.join(", ")
        );
        return Err(Failure::new(Exit::Usage, message).into());
    }
    let is_root = server::doctor::is_root();
    let steps = find(context, arguments)?;
    if arguments.yes && !is_root && !steps.is_empty() {
        let message =
            "--yes changes files of the system, which needs root: `sudo codeyard doctor --fix --yes`";
        return Err(Failure::new(Exit::Usage, message).into());
    }
    if arguments.yes {
        return carry_out(context, &steps, arguments);
    }
    if arguments.json {
        context.output.json(&json!({"steps": steps}))?;
    } else {
        context.output.print(&steps_text(&steps))?;
    }
    Ok(Exit::Done)
}

/// The steps that this user lacks on this machine.
fn find(context: &Context, arguments: &DoctorArguments) -> anyhow::Result<Vec<FixStep>> {
    let executable = context.program()?.executable;
    let look = |account: Option<&str>| FixFacts::look(Path::new("/"), executable.clone(), account);
    let sudo = Machine.var("SUDO_USER").ok().flatten();
    let asking = sudo
        .filter(|name| name != "root")
        .or_else(server::doctor::asking_user);
    let facts = match &arguments.user {
        Some(named) => look(Some(named)),
        // A user without a name, as in a container, cannot be given a range.
        None => look(asking.as_deref()).or_else(|_| look(None)),
    };
    let facts = facts.map_err(|error| Failure::new(Exit::Usage, error))?;
    let mut steps = plan(&facts);
    if !arguments.only.is_empty() {
        steps.retain(|step| arguments.only.iter().any(|name| name == step.name));
    }
    Ok(steps)
}

/// Applies each possible step; a failed step does not stop the rest.
fn carry_out(context: &Context, steps: &[FixStep], arguments: &DoctorArguments) -> anyhow::Result<Exit> {
    let mut done = Vec::new();
    let mut failed = Vec::new();
    for step in steps {
        match apply(step, Path::new("/")) {
            Ok(()) => done.push(step),
            Err(error) => failed.push((step, error.to_string())),
        }
    }
    if arguments.json {
        let failed: Vec<_> = failed
            .iter()
            .map(|(step, error)| json!({"name": step.name, "error": error}))
            .collect();
        context.output.json(&json!({"done": done, "failed": failed}))?;
    } else {
        context.output.print(&result_text(&done, &failed))?;
    }
    Ok(if failed.is_empty() {
        Exit::Done
    } else {
        Exit::Broken
    })
}

fn result_text(done: &[&FixStep], failed: &[(&FixStep, String)]) -> String {
    let mut out = String::new();
    for step in done {
        // Writing to a string cannot fail.
        let _ = match (step.actions.is_empty(), &step.then) {
            (true, _) => writeln!(out, "left to you  {}: {}", step.name, step.what),
            (false, _) => writeln!(out, "done    {}: {}", step.name, step.what),
        };
        if let Some(then) = &step.then {
            let _ = writeln!(out, "        then: {then}");
        }
    }
    for (step, error) in failed {
        let _ = writeln!(out, "failed  {}: {error}", step.name);
    }
    if out.is_empty() {
        out.push_str(NOTHING);
    }
    out
}

const NOTHING: &str = "nothing is left to do here\n";

fn steps_text(steps: &[FixStep]) -> String {
    if steps.is_empty() {
        return NOTHING.to_owned();
    }
    let mut out = String::new();
    for step in steps {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}: {}", step.name, step.what);
        let _ = writeln!(out, "  why: {}", step.why);
        let weakens = step.weakens.as_deref().unwrap_or("nothing");
        let _ = writeln!(out, "  weakens: {weakens}");
        for action in &step.actions {
            let _ = match action {
                Action::Write { path, content } => {
                    let content = content.trim_end().replace('\n', "\n    | ");
                    writeln!(out, "  write {}\n    | {content}", path.display())
                }
                Action::Append { path, line } => {
                    writeln!(out, "  append to {}\n    | {line}", path.display())
                }
                Action::Run { command } => writeln!(out, "  run {}", command.join(" ")),
            };
        }
        if let Some(then) = &step.then {
            let _ = writeln!(out, "  then: {then}");
        }
        out.push('\n');
    }
    out.push_str("`sudo codeyard doctor --fix --yes` does this; nothing has been changed yet\n");
    out
}
