//! `codeyard import`: takes over the servers of another client, and shows what that saves.

mod overview;
mod plan;
mod probe;
mod shown;

use std::io;
use std::path::{Path, PathBuf};

use clients::{Client, Place, Surroundings};
use environment::{Environment, Machine};

use super::adopt::{client, own_file, servers, surroundings, text_of, unreadable};
use super::servers::{add, edit, edit_failure, open_file, secrets};
use crate::ask::agreed;
use crate::cli::ImportArguments;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::interrupt::Interrupt;
use crate::output::{counted, harmless};
use plan::{Plan, Planned};
pub(super) use plan::{narrowed, open_filters, references, variables};
use probe::Bill;

/// Lists clients, or takes one's servers over.
pub async fn run(context: &Context, arguments: &ImportArguments) -> anyhow::Result<Exit> {
    let here = surroundings()?;
    let Some(from) = &arguments.from else {
        return overview::run(context, &here, arguments.json);
    };
    let (place, text) = read(from, &here)?;
    let found = servers(&place, &here, &text)?;
    let loaded = context.load_settings_and_tell()?;
    let data = loaded.data_dir.clone();
    let mut file = open_file(context)?;
    let mut plan = Plan::make(context, &loaded, &here, &place, found, &mut file, secrets(&data)?)?;
    let output = &context.output;
    if !arguments.json {
        output.print(&shown::plan(&plan))?;
    }
    if plan.news().next().is_none() || arguments.dry_run {
        return finish(context, &plan, None, false, arguments);
    }
    output.tell(&shown::commands(&plan));
    let number = counted(plan.news().count(), "server");
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
        output.print(&harmless(&bill.table()))?;
    }
    judge_failed(context, &mut plan, &bill, arguments)?;
    save(context, &file.path, &data, &plan)?;
    finish(context, &plan, Some(&bill), true, arguments)
}

/// The file of a client, or the one at a path: a word is a client, whatever files are here.
fn read(from: &str, here: &Surroundings) -> anyhow::Result<(Place, String)> {
    let place = if from.contains(['/', '\\', '.']) {
        let path = real(&here.current.join(from));
        let text = text_of(&path, &bytes(&path)?)?;
        // Links and `..` lead to a user's own file too.
        let is_it = |place: &Place| {
            real(&place.path) == path || place.path.canonicalize().ok() == path.canonicalize().ok()
        };
        let own = Client::ALL.map(|client| own_file(client, here));
        match own.into_iter().find(is_it) {
            Some(own) => own,
            None => here
                .place_of(&path, &text)
                .map_err(|error| unreadable(&path, &error))?,
        }
    } else {
        let known = client(from).map_err(|error| match here.current.join(from).exists() {
            true => Failure::new(
                Exit::Usage,
                format!("{error}; a file is given as a path: `./{from}`"),
            )
            .into(),
            false => error,
        })?;
        own_file(known, here)
    };
    let text = text_of(&place.path, &bytes(&place.path)?)?;
    Ok((place, text))
}

/// A path whose directory is without links and `..`; the file may be a link, for its project is where the link is.
fn real(path: &Path) -> PathBuf {
    let directory = path.parent().and_then(|directory| directory.canonicalize().ok());
    match (directory, path.file_name()) {
        (Some(directory), Some(name)) => directory.join(name),
        _ => path.to_path_buf(),
    }
}

fn bytes(path: &Path) -> anyhow::Result<Vec<u8>> {
    Machine.read(path).map_err(|error| {
        let why = match error.kind() {
            io::ErrorKind::NotFound => {
                "is not there; `codeyard import` lists the clients that have servers here".to_owned()
            }
            _ => environment::why_unreadable(&error),
        };
        Failure::new(Exit::Usage, format!("{}: {why}", path.display())).into()
    })
}

/// What did not answer is left out if that is wished, else added so that it is not used: its client keeps it.
fn judge_failed(
    context: &Context,
    plan: &mut Plan,
    bill: &Bill,
    arguments: &ImportArguments,
) -> anyhow::Result<()> {
    let failed: Vec<String> = plan
        .news()
        .filter(|new| bill.has_failed(&new.name))
        .map(|new| new.name.clone())
        .collect();
    if failed.is_empty() {
        return Ok(());
    }
    let names = failed.join(", ");
    let question = format!("add {names} all the same, not to be used for now?");
    let is_left = arguments.leave_failed || (!arguments.yes && !agreed(&context.output, &question)?);
    for name in &failed {
        if is_left {
            plan.leave(name, "could not be connected to");
        } else {
            plan.disable(name, "could not be connected to");
        }
    }
    if !is_left {
        context.output.tell(&harmless(&format!(
            "added as disabled, because they could not be connected to: {names}; mend each, then `codeyard servers enable NAME`"
        )));
    }
    Ok(())
}

/// Secrets first, then consent, then the entries: none is used without the others.
fn save(context: &Context, path: &Path, data: &Path, plan: &Plan) -> anyhow::Result<()> {
    let news: Vec<&Planned> = plan.news().collect();
    if news.is_empty() {
        return Ok(());
    }
    edit(path, data, |file, lock| {
        let mut kept = secrets(data)?;
        for (name, secret) in plan.secrets_of_news() {
            let is_taken = match kept.get(name) {
                Some(known) => known != secret,
                None => file
                    .names()
                    .filter_map(|other| file.entry(other))
                    .any(|entry| references(&entry).iter().any(|known| known == name)),
            };
            if is_taken {
                return Err(edit_failure(registry::EditError::Changed(kept.path().to_path_buf())).into());
            }
            kept.insert(name, secret);
        }
        for new in &news {
            // Somebody may have added one meanwhile.
            add::judge_name(context, &new.name, file, Some(&plan.place.path))?;
            file.set(&new.name, &new.entry);
        }
        if plan.secrets_of_news().next().is_some() {
            kept.save(lock).map_err(edit_failure)?;
        }
        let agreed = news.iter().filter_map(|new| new.written.as_ref());
        add::save(file, agreed, lock)
    })
}

/// What was done, and what comes next.
fn finish(
    context: &Context,
    plan: &Plan,
    bill: Option<&Bill>,
    is_saved: bool,
    arguments: &ImportArguments,
) -> anyhow::Result<Exit> {
    let output = &context.output;
    if arguments.json {
        output.json(&shown::json(plan, bill, is_saved))?;
        return Ok(Exit::Done);
    }
    if is_saved {
        output.line(&harmless(&shown::saved(plan)))?;
    }
    if let Some(totals) = bill.and_then(|bill| bill.totals(plan.place.client)) {
        output.line(&totals)?;
    }
    let next = match (plan.news().next().is_some(), arguments.dry_run) {
        (true, true) => "this was a dry run: nothing was started or changed".to_owned(),
        (false, _) if plan.known().next().is_none() => "there is nothing to take over".to_owned(),
        (_, _) if plan.place.project.is_some() => return Ok(Exit::Done),
        _ => format!(
            "next: `codeyard install {}` puts codeyard in their place",
            plan.place.client.id()
        ),
    };
    output.line(&next)?;
    Ok(Exit::Done)
}
