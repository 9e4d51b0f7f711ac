//! Restores a client's file as it was before codeyard was installed, if it is still as that left it.

use std::path::Path;

use clients::{Place, Surroundings};
use config::{Host, Installation, Machine};
use serde_json::json;

use super::diff;
use super::file::ClientFile;
use crate::ask::agreed;
use crate::cli::InstallArguments;
use crate::commands::servers::kept_failure;
use crate::context::Context;
use crate::exit::{Exit, Failure};

/// Undoes the last installation.
pub(super) fn run(
    context: &Context,
    place: &Place,
    here: &Surroundings,
    arguments: &InstallArguments,
) -> anyhow::Result<Exit> {
    let data = context.load_settings()?.data_dir;
    let file = ClientFile::open(&place.path, place.client)?;
    let mut all = config::installations(&file.path, &data, &Machine).map_err(kept_failure)?;
    let Some(last) = all.pop() else {
        let path = file.path.display();
        let why = format!("there is nothing to undo: codeyard was not installed in {path}");
        return Err(Failure::new(Exit::Usage, why).into());
    };
    let before = last.backup.as_deref().map(original).transpose()?;
    let is_restored = before.as_deref() == file.held();
    let differs = changes(place, here, &file, before.as_deref());
    if !is_restored && !last.wrote(file.bytes()) {
        return Err(changed(&file, &last, &differs));
    }
    let output = &context.output;
    if !arguments.json {
        output.print(&differs)?;
    }
    let told = if arguments.dry_run {
        "this was a dry run: nothing was changed"
    } else {
        let question = format!("restore {}?", file.path.display());
        if !arguments.yes && !agreed(output, &question)? {
            output.tell("nothing was changed");
            return Ok(Exit::Done);
        }
        let turn = config::turn(&data, &Machine).map_err(kept_failure)?;
        match &before {
            _ if is_restored => {}
            Some(bytes) => file.replace(bytes)?,
            None => file.remove()?,
        }
        config::keep_installations(&file.path, &all, &turn).map_err(kept_failure)?;
        if let Some(backup) = &last.backup {
            // It is where it belongs again; a copy that stays does no harm.
            let _ = std::fs::remove_file(backup);
        }
        "the file is as it was before"
    };
    if arguments.json {
        let is_restored = !arguments.dry_run;
        let client = place.client.id();
        output.json(&json!({"client": client, "file": file.path, "restored": is_restored}))?;
    } else {
        output.line(&format!("{}: {told}", file.path.display()))?;
    }
    Ok(Exit::Done)
}

/// What restoring changes, without the secrets of either text.
fn changes(place: &Place, here: &Surroundings, file: &ClientFile, before: Option<&[u8]>) -> String {
    let texts = [file.bytes(), before.unwrap_or_default()].map(String::from_utf8_lossy);
    let servers = |text: &str| clients::read(place, &here.current, text).unwrap_or_default();
    let hidden: Vec<String> = texts
        .iter()
        .flat_map(|text| diff::secrets(&servers(text)))
        .collect();
    diff::shown(&texts[0], &texts[1], &hidden)
}

/// What the file held.
fn original(backup: &Path) -> anyhow::Result<Vec<u8>> {
    Machine.read(backup).map_err(|error| {
        let why = format!(
            "{}: {}; it held the file as it was, so nothing can be restored",
            backup.display(),
            config::why_unreadable(&error)
        );
        Failure::new(Exit::Usage, why).into()
    })
}

/// Somebody has changed the file since: their work is worth more than ours.
fn changed(file: &ClientFile, last: &Installation, differs: &str) -> anyhow::Error {
    let kept = match &last.backup {
        Some(backup) => format!("as it was before, it is in {}", backup.display()),
        None => "before, it was not there".to_owned(),
    };
    let why = format!(
        "{}: was changed since codeyard was installed, so nothing was restored; {kept}. Restoring it would change:\n{}",
        file.path.display(),
        differs.trim_end()
    );
    Failure::new(Exit::Usage, why).into()
}
