//! `codeyard import`: imports the servers of another client, and shows the tokens saved.

mod client_list;
mod probe;
mod text;

use std::path::Path;

use adoption::{Bill, ImportPlan, KnownServers, Planner};
use clients::{ClientFile, Surroundings};
use environment::Machine;
use types::numbers::counted;

use super::servers::add;
use super::servers::definitions::{edit, open_file, secrets};
use crate::ask::agreed;
use crate::cli::ImportArguments;
use crate::context::{Context, principal};
use crate::exit::{Exit, Failure};
use crate::interrupt::Interrupt;
use crate::output::harmless;

pub async fn run(context: &Context, arguments: &ImportArguments) -> anyhow::Result<Exit> {
    let here = adoption::surroundings().map_err(Failure::from)?;
    let Some(from) = &arguments.from else {
        return client_list::run(context, &here, arguments.json.into());
    };
    let (place, text) = read(from, &here)?;
    let found = adoption::read_servers(&place, &here, &text).map_err(Failure::from)?;
    let loaded = context.load_settings_and_tell()?;
    let data = loaded.data_dir.clone();
    let mut file = open_file(context)?;
    let planner = Planner {
        known: &KnownServers {
            definitions: registry::list_definitions(&context.sources(), &Machine),
            executable: context.program()?.executable,
            forbids: &|server, tool| loaded.forbids(&principal(), server, tool),
        },
        check_name: &|name, file| check_name(context, &place, name, file),
        here: &here,
        place: &place,
        file: &mut file,
        secrets: secrets(&data)?,
    };
    let mut plan = planner.plan_all(found);
    let output = &context.output;
    if !arguments.json {
        output.print(&text::plan(&plan))?;
    }
    if plan.new_servers().next().is_none() || arguments.dry_run {
        return finish(context, &plan, None, arguments);
    }
    output.tell(&text::commands(&plan));
    let number = counted(plan.new_servers().count(), "server");
    let question = format!(
        "add {number} to {}, after connecting to each once?",
        file.path.display()
    );
    if !arguments.yes && !agreed(output, &question)? {
        output.tell("nothing was added");
        return Ok(Exit::Done);
    }
    let interrupt = Interrupt::watch()?;
    output.progress(&format!("connecting to {number} ..."));
    let bill = tokio::select! {
        bill = probe::run(context, loaded, &plan) => Some(bill?),
        () = interrupt.token.cancelled() => None,
    };
    let Some(bill) = bill else {
        output.tell("nothing was added");
        return Ok(interrupt.exit(Exit::Done));
    };
    if !arguments.json {
        output.print(&harmless(&text::bill(&bill)))?;
    }
    settle_failed(context, &mut plan, &bill, arguments)?;
    save(context, &file.path, &data, &plan)?;
    finish(context, &plan, Some(&bill), arguments)
}

/// Reads a client's file or the file at a path. A plain word is always a client's name.
fn read(from: &str, here: &Surroundings) -> anyhow::Result<(ClientFile, String)> {
    let place = if from.contains(['/', '\\', '.']) {
        adoption::place_of(Path::new(from), here).map_err(Failure::from)?
    } else {
        let known =
            adoption::client_by_name(from).map_err(|error| match here.current.join(from).exists() {
                true => Failure::new(
                    Exit::Usage,
                    format!("{error}; for a file, write a path: `./{from}`"),
                ),
                false => error.into(),
            })?;
        adoption::own_file(known, here)
    };
    let text = adoption::read_text(&place.path).map_err(Failure::from)?;
    Ok((place, text))
}

/// Refuses a name that a new server cannot have. Names in the client's own file do not count.
fn check_name(
    context: &Context,
    place: &ClientFile,
    name: &str,
    file: &registry::DefinitionFile,
) -> Result<(), String> {
    add::judge_name(context, name, file, Some(&place.path)).map_err(|failure| failure.message)
}

/// Omits the failed servers with `--leave-failed`; else adds them as disabled. The client keeps them.
fn settle_failed(
    context: &Context,
    plan: &mut ImportPlan,
    bill: &Bill,
    arguments: &ImportArguments,
) -> anyhow::Result<()> {
    let failed: Vec<String> = plan
        .new_servers()
        .filter(|new| bill.has_failed(&new.name))
        .map(|new| new.name.clone())
        .collect();
    if failed.is_empty() {
        return Ok(());
    }
    let names = failed.join(", ");
    let question = format!("add {names} as disabled anyway?");
    let is_left = arguments.leave_failed || (!arguments.yes && !agreed(&context.output, &question)?);
    for name in &failed {
        if is_left {
            plan.skip(name, "could not be connected to");
        } else {
            plan.disable(name, "could not be connected to");
        }
    }
    if !is_left {
        context.output.tell(&harmless(&format!(
            "added as disabled, because connecting failed: {names}; fix each, then run `codeyard servers enable NAME`"
        )));
    }
    Ok(())
}

fn save(context: &Context, path: &Path, data: &Path, plan: &ImportPlan) -> anyhow::Result<()> {
    if plan.new_servers().next().is_none() {
        return Ok(());
    }
    edit(path, data, |file, lock| {
        let check =
            |name: &str, file: &registry::DefinitionFile| check_name(context, &plan.place, name, file);
        let saved = adoption::save_plan(plan, file, secrets(data)?, lock, check);
        Ok(saved.map_err(Failure::from)?)
    })
}

/// Reports the import and the next command; the import is saved if there is a bill.
fn finish(
    context: &Context,
    plan: &ImportPlan,
    bill: Option<&Bill>,
    arguments: &ImportArguments,
) -> anyhow::Result<Exit> {
    let output = &context.output;
    if arguments.json {
        output.json(&text::json(plan, bill))?;
        return Ok(Exit::Done);
    }
    if bill.is_some() {
        output.line(&harmless(&text::saved(plan)))?;
    }
    if let Some(totals) = bill.and_then(|bill| text::totals(bill, plan.place.client)) {
        output.line(&totals)?;
    }
    let next = match (plan.new_servers().next().is_some(), arguments.dry_run) {
        (true, true) => "this was a dry run: nothing was started or changed".to_owned(),
        (false, _) if plan.already_defined().next().is_none() => "there is nothing to take over".to_owned(),
        (_, _) if plan.place.project.is_some() => return Ok(Exit::Done),
        _ => format!(
            "next: `codeyard install {}` puts codeyard in their place",
            plan.place.client.id()
        ),
    };
    output.line(&next)?;
    Ok(Exit::Done)
}
