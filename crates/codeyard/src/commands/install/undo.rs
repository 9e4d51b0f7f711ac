//! Restores a client's file as it was before codeyard was installed, or takes codeyard's part out of one that changed since.

use std::path::{Path, PathBuf};

use clients::{Place, Taken};
use consent::Installation;
use environment::{Environment, Machine};
use serde_json::json;

use super::diff;
use super::file::ClientFile;
use crate::ask::agreed;
use crate::cli::InstallArguments;
use crate::commands::adopt::{restart, running, text_of};
use crate::commands::servers::state_failure;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::harmless;

/// What undoing comes to: every installation of a file is taken back, the latest first.
struct Undoing {
    /// What the file holds then; none if it is not there.
    after: Option<Vec<u8>>,
    /// Whether somebody has changed the file since, so that only codeyard's part is taken out.
    is_part: bool,
    /// Servers that stay as they are now, with why.
    left: Vec<(String, String)>,
    /// Copies of the file that are not needed any more.
    copies: Vec<PathBuf>,
}

/// Undoes what was installed.
pub(super) fn run(context: &Context, place: &Place, arguments: &InstallArguments) -> anyhow::Result<Exit> {
    let data = context.load_settings()?.data_dir;
    let client = place.client;
    let file = ClientFile::open(&place.path, client)?;
    let all = consent::installations(&file.path, &data, &Machine).map_err(state_failure)?;
    if all.is_empty() {
        return Err(not_installed(place, &file)?.into());
    }
    let undoing = Undoing::of(place, &file, &all)?;
    let output = &context.output;
    if !arguments.json {
        output.print(&undoing.told(place, &file, &all)?)?;
    }
    if !arguments.dry_run {
        let question = format!("change {}?", file.path.display());
        if !arguments.yes && !agreed(output, &question)? {
            output.tell("nothing was changed");
            return Ok(Exit::Done);
        }
        undoing.write(&file, &data, &all)?;
    }
    if arguments.json {
        let left: Vec<_> = undoing
            .left
            .iter()
            .map(|(name, why)| json!({"name": name, "why": why}))
            .collect();
        output.json(&json!({
            "client": client.id(), "file": file.path, "restored": !arguments.dry_run, "only_own_part": undoing.is_part,
            "left": left, "running": running(client),
        }))?;
        return Ok(Exit::Done);
    }
    let restart = restart(client, &running(client));
    let path = file.path.display();
    output.line(&match (undoing.is_part, arguments.dry_run) {
        (_, true) => "this was a dry run: nothing was changed".to_owned(),
        (false, _) => format!("{path}: the file is as it was before; {restart}"),
        (true, _) => format!("{path}: codeyard is out of it; {restart}"),
    })?;
    Ok(Exit::Done)
}

/// Why there is nothing to undo: codeyard is not there, or another data directory knows how it came there.
fn not_installed(place: &Place, file: &ClientFile) -> anyhow::Result<Failure> {
    let path = file.path.display();
    let document = text_of(&file.path, file.bytes())?;
    let document = place.client.format().parse(&document).unwrap_or_default();
    let why = match clients::installed(place.client, &document) {
        None => format!("there is nothing to undo: codeyard was not installed in {path}"),
        Some(entry) => {
            let data = clients::data(entry).map(|data| format!("`{data}`"));
            let data = data.unwrap_or_else(|| "another `--data`, or by hand".to_owned());
            format!(
                "{path}: has an entry `codeyard` that was not installed with this data directory; it was with {data}: give the same, or take the entry out yourself"
            )
        }
    };
    Ok(Failure::new(Exit::Usage, why))
}

impl Undoing {
    fn of(place: &Place, file: &ClientFile, all: &[Installation]) -> anyhow::Result<Undoing> {
        let mut undoing = Undoing {
            after: file.held().map(<[u8]>::to_vec),
            is_part: false,
            left: Vec::new(),
            copies: Vec::new(),
        };
        for installation in all.iter().rev() {
            undoing.take_back(place, file, installation)?;
        }
        Ok(undoing)
    }

    /// The whole file where nobody has changed it since, else our part of it where that is as we wrote it.
    fn take_back(
        &mut self,
        place: &Place,
        file: &ClientFile,
        installation: &Installation,
    ) -> anyhow::Result<()> {
        let before = match &installation.backup {
            Some(backup) => Some(original(file, installation, backup)?),
            None => None,
        };
        let is_ours = self
            .after
            .as_deref()
            .is_some_and(|bytes| installation.wrote(bytes));
        if before == self.after || is_ours {
            self.after = before;
            self.copies.extend(installation.backup.clone());
            return Ok(());
        }
        let now = text_of(&file.path, self.after.as_deref().unwrap_or_default())?;
        let then = text_of(&file.path, before.as_deref().unwrap_or_default())?;
        let taken = installation.taken.iter().filter_map(|keys| {
            let (name, list) = keys.split_last()?;
            Some(Taken {
                list: list.to_vec(),
                name: name.clone(),
            })
        });
        let taken: Vec<Taken> = taken.collect();
        let restored = clients::restore(place.client, &now, &then, &taken, &installation.entry);
        let restored = restored.map_err(|error| {
            let differs = diff::diff(
                place.client,
                &now,
                &then,
                &clients::own_texts(place.client, &installation.entry),
            );
            changed(file, installation, &error, &differs)
        })?;
        self.after = Some(restored.text.into_bytes());
        self.is_part = true;
        self.left.extend(restored.left);
        Ok(())
    }

    fn write(&self, file: &ClientFile, data: &Path, all: &[Installation]) -> anyhow::Result<()> {
        let lock = environment::ChangeLock::acquire(data, &Machine).map_err(state_failure)?;
        if consent::installations(&file.path, data, &Machine).map_err(state_failure)? != all {
            let why = format!(
                "{}: another codeyard has changed it meanwhile; nothing was changed, try again",
                file.path.display()
            );
            return Err(Failure::new(Exit::Broken, why).into());
        }
        match &self.after {
            after if after.as_deref() == file.held() => {}
            Some(bytes) => file.replace(bytes)?,
            None => file.remove()?,
        }
        consent::store_installations(&file.path, &[], &lock).map_err(state_failure)?;
        for copy in &self.copies {
            // It is where it belongs again, or was only in between; a copy that stays does no harm.
            let _ = std::fs::remove_file(copy);
        }
        Ok(())
    }

    /// What changes, without what the file holds.
    fn told(&self, place: &Place, file: &ClientFile, all: &[Installation]) -> anyhow::Result<String> {
        let now = text_of(&file.path, file.bytes())?;
        let after = text_of(&file.path, self.after.as_deref().unwrap_or_default())?;
        let own = |installation: &Installation| clients::own_texts(place.client, &installation.entry);
        let shown: Vec<String> = all.iter().flat_map(own).collect();
        let mut out = diff::diff(place.client, &now, &after, &shown);
        if self.is_part {
            out.push_str("the file was changed since codeyard was installed, so only codeyard's part is taken back; all else stays as it is now\n");
            for (name, why) in &self.left {
                out.push_str(&harmless(&format!("`{name}` stays as it is: {why}\n")));
            }
            out.push_str("the copy of the file as it was before stays beside it\n");
        }
        Ok(out)
    }
}

/// What the file held, if the copy of it is still that.
fn original(file: &ClientFile, installation: &Installation, backup: &Path) -> anyhow::Result<Vec<u8>> {
    let copy = backup.display();
    let bytes = Machine.read(backup).map_err(|error| {
        let why = environment::why_unreadable(&error);
        let why = format!("{copy}: {why}; it held the file as it was, so nothing can be restored");
        Failure::new(Exit::Usage, why)
    })?;
    if installation.replaced(&bytes) {
        return Ok(bytes);
    }
    let why = format!(
        "{copy}: was changed since it was made, so it is not what {file} held; nothing was changed. Put back into it what it held, or take the entry `codeyard` out of {file} and your servers back into it yourself",
        file = file.path.display()
    );
    Err(Failure::new(Exit::Usage, why).into())
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
