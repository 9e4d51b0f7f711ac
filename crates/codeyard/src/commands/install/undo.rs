//! `codeyard install CLIENT --undo`: shows the undo, asks, and writes it.

use adoption::{EditedFile, Undo};
use clients::ClientFile;
use serde_json::json;

use super::restart;
use crate::ask::agreed;
use crate::cli::InstallArguments;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::harmless;

pub(super) fn run(
    context: &Context,
    place: &ClientFile,
    arguments: &InstallArguments,
) -> anyhow::Result<Exit> {
    let data = context.load_settings()?.data_dir;
    let client = place.client;
    let file = EditedFile::open(&place.path, client).map_err(Failure::from)?;
    let undo = adoption::undo(place, &file, &data).map_err(Failure::from)?;
    let output = &context.output;
    if !arguments.json {
        let diff = undo.diff(place, &file).map_err(Failure::from)?;
        output.print(&undo_text(&undo, &diff))?;
    }
    if !arguments.dry_run {
        let question = format!("change {}?", file.path.display());
        if !arguments.yes && !agreed(output, &question)? {
            output.tell("nothing was changed");
            return Ok(Exit::Done);
        }
        undo.write(&file, &data).map_err(Failure::from)?;
    }
    if arguments.json {
        let left: Vec<_> = undo
            .skipped
            .iter()
            .map(|(name, why)| json!({"name": name, "why": why}))
            .collect();
        output.json(&json!({
            "client": client.id(), "file": file.path, "restored": !arguments.dry_run, "only_own_part": undo.is_partial,
            "left": left, "running": adoption::running_processes(client),
        }))?;
        return Ok(Exit::Done);
    }
    let restart = restart(client, &adoption::running_processes(client));
    let path = file.path.display();
    output.line(&match (undo.is_partial, arguments.dry_run) {
        (_, true) => "this was a dry run: nothing was changed".to_owned(),
        (false, _) => format!("{path}: the original file is restored; {restart}"),
        (true, _) => format!("{path}: codeyard was removed from it; {restart}"),
    })?;
    Ok(Exit::Done)
}

fn undo_text(undo: &Undo, diff: &str) -> String {
    let mut out = harmless(diff);
    if undo.is_partial {
        out.push_str("the file was changed since codeyard was installed, so only codeyard's part is undone; the rest stays as it is now\n");
        for (name, why) in &undo.skipped {
            out.push_str(&harmless(&format!("`{name}` stays as it is: {why}\n")));
        }
        out.push_str("the copy of the original file stays beside it\n");
    }
    out
}
