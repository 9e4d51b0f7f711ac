//! Restores a client's file as it was before codeyard was installed, or takes codeyard's part out of one that changed since.

use std::path::Path;

use clients::{Place, Restored, Taken};
use config::{Host, Installation, Machine};
use serde_json::json;

use super::diff;
use super::file::ClientFile;
use crate::ask::agreed;
use crate::cli::InstallArguments;
use crate::commands::adopt::{restart, running, text_of};
use crate::commands::servers::kept_failure;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::harmless;

/// What undoing comes to.
enum Undoing {
    /// The file as it was, byte for byte; none if it was not there.
    Whole(Option<Vec<u8>>),
    /// The file as it is now, without codeyard's part.
    Part(Restored),
}

/// Undoes the last installation.
pub(super) fn run(context: &Context, place: &Place, arguments: &InstallArguments) -> anyhow::Result<Exit> {
    let data = context.load_settings()?.data_dir;
    let client = place.client;
    let file = ClientFile::open(&place.path, client)?;
    let all = config::installations(&file.path, &data, &Machine).map_err(kept_failure)?;
    let Some((last, earlier)) = all.split_last() else {
        let path = file.path.display();
        let why = format!("there is nothing to undo: codeyard was not installed in {path}");
        return Err(Failure::new(Exit::Usage, why).into());
    };
    let undoing = decide(place, &file, last)?;
    let output = &context.output;
    if !arguments.json {
        output.print(&undoing.told(place, &file)?)?;
    }
    if !arguments.dry_run {
        let question = format!("change {}?", file.path.display());
        if !arguments.yes && !agreed(output, &question)? {
            output.tell("nothing was changed");
            return Ok(Exit::Done);
        }
        write(&undoing, &file, &data, last, earlier)?;
    }
    if arguments.json {
        let (part, left) = match &undoing {
            Undoing::Whole(_) => (false, Vec::new()),
            Undoing::Part(restored) => (true, restored.left.clone()),
        };
        let left: Vec<_> = left
            .iter()
            .map(|(name, why)| json!({"name": name, "why": why}))
            .collect();
        output.json(&json!({
            "client": client.id(), "file": file.path, "restored": !arguments.dry_run, "only_own_part": part, "left": left,
            "running": running(client),
        }))?;
        return Ok(Exit::Done);
    }
    let restart = restart(client, &running(client));
    let path = file.path.display();
    output.line(&match (&undoing, arguments.dry_run) {
        (_, true) => "this was a dry run: nothing was changed".to_owned(),
        (Undoing::Whole(_), _) => format!("{path}: the file is as it was before; {restart}"),
        (Undoing::Part(_), _) => format!("{path}: codeyard is out of it; {restart}"),
    })?;
    Ok(Exit::Done)
}

/// The whole file where nobody has changed it since, else our part of it where that is as we wrote it.
fn decide(place: &Place, file: &ClientFile, last: &Installation) -> anyhow::Result<Undoing> {
    let before = last.backup.as_deref().map(original).transpose()?;
    if before.as_deref() == file.held() || last.wrote(file.bytes()) {
        return Ok(Undoing::Whole(before));
    }
    let now = text_of(&file.path, file.bytes())?;
    let then = text_of(&file.path, before.as_deref().unwrap_or_default())?;
    let taken = last.taken.iter().filter_map(|keys| {
        let (name, list) = keys.split_last()?;
        Some(Taken {
            list: list.to_vec(),
            name: name.clone(),
        })
    });
    let taken: Vec<Taken> = taken.collect();
    let restored = clients::restore(place.client, &now, &then, &taken, &last.entry);
    Ok(Undoing::Part(restored.map_err(|error| {
        let differs = diff::diff(place.client, &now, &then, &["codeyard".to_owned()]);
        changed(file, last, &error, &differs)
    })?))
}

fn write(
    undoing: &Undoing,
    file: &ClientFile,
    data: &Path,
    last: &Installation,
    earlier: &[Installation],
) -> anyhow::Result<()> {
    let turn = config::turn(data, &Machine).map_err(kept_failure)?;
    let all = config::installations(&file.path, data, &Machine).map_err(kept_failure)?;
    if all.split_last() != Some((last, earlier)) {
        let why = format!(
            "{}: another codeyard has changed it meanwhile; nothing was changed, try again",
            file.path.display()
        );
        return Err(Failure::new(Exit::Broken, why).into());
    }
    match undoing {
        Undoing::Whole(before) if before.as_deref() == file.held() => {}
        Undoing::Whole(Some(bytes)) => file.replace(bytes)?,
        Undoing::Whole(None) => file.remove()?,
        Undoing::Part(restored) => file.replace(restored.text.as_bytes())?,
    }
    config::keep_installations(&file.path, earlier, &turn).map_err(kept_failure)?;
    if let (Undoing::Whole(_), Some(backup)) = (undoing, &last.backup) {
        // It is where it belongs again; a copy that stays does no harm.
        let _ = std::fs::remove_file(backup);
    }
    Ok(())
}

impl Undoing {
    /// What changes, without what the file holds.
    fn told(&self, place: &Place, file: &ClientFile) -> anyhow::Result<String> {
        let now = text_of(&file.path, file.bytes())?;
        let shown = ["codeyard".to_owned()];
        Ok(match self {
            Undoing::Whole(before) => {
                let before = text_of(&file.path, before.as_deref().unwrap_or_default())?;
                diff::diff(place.client, &now, &before, &shown)
            }
            Undoing::Part(restored) => {
                let mut out = diff::diff(place.client, &now, &restored.text, &shown);
                out.push_str("the file was changed since codeyard was installed, so only codeyard's part is taken back; all else stays as it is now\n");
                for (name, why) in &restored.left {
                    out.push_str(&harmless(&format!("`{name}` stays as it is: {why}\n")));
                }
                out.push_str("the copy of the file as it was before stays beside it\n");
                out
            }
        })
    }
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

/// Somebody has changed our part since: their work is worth more than ours.
fn changed(file: &ClientFile, last: &Installation, error: &clients::Refused, differs: &str) -> anyhow::Error {
    let kept = match &last.backup {
        Some(backup) => format!("as it was before, it is in {}", backup.display()),
        None => "before, it was not there".to_owned(),
    };
    let why = format!(
        "{}: was changed since codeyard was installed: {error}. Nothing was changed; {kept}. To restore that would change:\n{}",
        file.path.display(),
        differs.trim_end()
    );
    Failure::new(Exit::Usage, why).into()
}
