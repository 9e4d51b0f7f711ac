//! Makes data directories for Postgres: `initdb` takes a second, so it runs once, and each server gets a copy.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

use super::{PASSWORD, USER, command, other_user, own};
use crate::programs::target_directory;

/// Part of the template's name. To be increased when the options of `initdb` change.
const FORMAT: u32 = 1;

/// Makes a cluster in `<directory>/data`, for the server programs in `programs`.
pub(super) fn make(programs: &Path, directory: &Path) -> anyhow::Result<()> {
    let data = directory.join("data");
    let Some(template) = template(programs, directory)? else {
        return initialize(programs, directory);
    };
    copy(&template, &data)?;
    if let Some((user, group)) = other_user() {
        let owner = format!("{user}:{group}");
        succeed(Command::new("chown").args(["--recursive", &owner]).arg(&data))?;
    }
    Ok(())
}

/// The cluster that this version's tests share, made if it is missing; `None` if `target` is not writable.
fn template(programs: &Path, directory: &Path) -> anyhow::Result<Option<PathBuf>> {
    let version = programs.parent().and_then(Path::file_name).unwrap_or_default();
    let name = format!("postgres-{}-{FORMAT}", version.display());
    let template = target_directory().join(&name);
    let Ok(lock) = File::create(template.with_extension("lock")) else {
        return Ok(None);
    };
    lock.lock()?;
    if !template.exists() {
        initialize(programs, directory)?;
        let unfinished = template.with_extension("new");
        if unfinished.exists() {
            fs::remove_dir_all(&unfinished)?;
        }
        copy(&directory.join("data"), &unfinished)?;
        fs::remove_dir_all(directory.join("data"))?;
        fs::rename(&unfinished, &template)?;
    }
    Ok(Some(template))
}

/// Runs `initdb`.
fn initialize(programs: &Path, directory: &Path) -> anyhow::Result<()> {
    let password = directory.join("password");
    fs::write(&password, PASSWORD)?;
    own(&password)?;
    succeed(
        command(&programs.join("initdb"))
            .arg("--pgdata")
            .arg(directory.join("data"))
            .args([
                "--username",
                USER,
                "--auth=md5",
                "--encoding=UTF8",
                "--locale=C.UTF-8",
            ])
            .args(["--no-sync", "--no-instructions", "--pwfile"])
            .arg(&password),
    )
}

fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    succeed(Command::new("cp").arg("--archive").args([from, to]))
}

fn succeed(command: &mut Command) -> anyhow::Result<()> {
    let program = command.get_program().to_owned();
    let output = command.output().with_context(|| format!("{program:?}"))?;
    ensure!(
        output.status.success(),
        "{program:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}
