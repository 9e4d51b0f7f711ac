//! Finds, opens and changes server definitions for the commands.

use std::path::{Path, PathBuf};

use environment::{ChangeLock, Machine, StateError};
use registry::{Definition, DefinitionFile, Secrets};

use crate::context::Context;
use crate::exit::{Exit, Failure};

/// The file that commands change, and the directory of consent.
pub(crate) fn open(context: &Context) -> anyhow::Result<(DefinitionFile, PathBuf)> {
    let data = context.load_settings()?.data_dir;
    Ok((open_file(context)?, data))
}

pub(crate) fn open_file(context: &Context) -> anyhow::Result<DefinitionFile> {
    let path = registry::file_to_edit(&context.sources(), &Machine).map_err(Failure::from)?;
    Ok(DefinitionFile::open(path, &Machine).map_err(Failure::from)?)
}

/// Edits the file under the lock that all commands take. Ask the person before the call, never inside `edit`.
pub(crate) fn edit<T>(
    path: &Path,
    data: &Path,
    edit: impl FnOnce(&mut DefinitionFile, &ChangeLock<'_>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let lock = ChangeLock::acquire(data, &Machine).map_err(state_failure)?;
    let mut file = DefinitionFile::open(path.to_path_buf(), &Machine).map_err(Failure::from)?;
    edit(&mut file, &lock)
}

/// The definition in effect for that name.
pub(crate) fn find(context: &Context, name: &str) -> anyhow::Result<Definition> {
    let all = registry::list_definitions(&context.sources(), &Machine);
    let names: Vec<&str> = all.iter().map(|defined| defined.name.as_str()).collect();
    let found = all.iter().find(|defined| defined.name == name);
    found
        .cloned()
        .ok_or_else(|| Failure::new(Exit::Usage, unknown(name, &names)).into())
}

pub(super) fn unknown(name: &str, names: &[&str]) -> String {
    let there = match names {
        [] => "none is defined; `codeyard servers add` adds one".to_owned(),
        names => format!("there is {}", names.join(", ")),
    };
    let nearest =
        environment::nearest(name, names.iter().copied()).map(|near| format!("did you mean `{near}`? "));
    format!(
        "MCP server '{name}' not found in configuration; {}{there}",
        nearest.unwrap_or_default()
    )
}

/// The secrets that definitions refer to, layered over this machine's variables.
pub(crate) fn secrets(data: &Path) -> anyhow::Result<Secrets<'static>> {
    Ok(Secrets::load(data, &Machine).map_err(|mistakes| Failure::new(Exit::Usage, mistakes))?)
}

pub(crate) fn state_failure(error: StateError) -> Failure {
    Failure::new(Exit::Broken, error)
}
