//! `codeyard servers`: lists, adds, changes and tries the servers whose tools programs call.

pub(crate) mod add;
mod change;
mod list;
mod logs;
mod show;
pub mod shown;
mod test;

use std::path::{Path, PathBuf};

use environment::{ChangeLock, Machine, StateError};
use registry::{Definition, DefinitionFile, Secrets};

use crate::cli::{ServersArguments, ServersCommand};
use crate::context::Context;
use crate::exit::{Exit, Failure};

/// Does what was asked for.
pub async fn run(context: &Context, arguments: &ServersArguments) -> anyhow::Result<Exit> {
    let json = arguments.json;
    match &arguments.command {
        None | Some(ServersCommand::List) => list::run(context, json).await,
        Some(ServersCommand::Show(named)) => show::run(context, &named.name, json).await,
        Some(ServersCommand::Add(add)) => add::run(context, add, json).await,
        Some(ServersCommand::Remove(change)) => change::remove(context, change, json),
        Some(ServersCommand::Enable(change)) => change::enable(context, change, json),
        Some(ServersCommand::Disable(change)) => change::disable(context, &change.name, json),
        Some(ServersCommand::Test(change)) => test::run(context, change, json).await,
        Some(ServersCommand::Logs(logs)) => logs::run(context, logs).await,
    }
}

/// The file that commands change, and the directory where consent is kept.
pub(crate) fn open(context: &Context) -> anyhow::Result<(DefinitionFile, PathBuf)> {
    let data = context.load_settings()?.data_dir;
    Ok((open_file(context)?, data))
}

/// The file that commands change.
pub(crate) fn open_file(context: &Context) -> anyhow::Result<DefinitionFile> {
    let path = registry::file_to_edit(&context.sources(), &Machine).map_err(Failure::from)?;
    Ok(DefinitionFile::open(path, &Machine).map_err(Failure::from)?)
}

/// Changes the file as it is by now, while no other command changes anything; nobody is asked anything meanwhile.
pub(crate) fn edit<T>(
    path: &Path,
    data: &Path,
    edit: impl FnOnce(&mut DefinitionFile, &ChangeLock<'_>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let lock = environment::ChangeLock::acquire(data, &Machine).map_err(state_failure)?;
    let mut file = DefinitionFile::open(path.to_path_buf(), &Machine).map_err(Failure::from)?;
    edit(&mut file, &lock)
}

/// The definition of that name that counts.
pub(super) fn find(context: &Context, name: &str) -> anyhow::Result<Definition> {
    let all = registry::list_definitions(&context.sources(), &Machine);
    let names: Vec<&str> = all.iter().map(|defined| defined.name.as_str()).collect();
    let found = all.iter().find(|defined| defined.name == name);
    found
        .cloned()
        .ok_or_else(|| Failure::new(Exit::Usage, unknown(name, &names)).into())
}

fn unknown(name: &str, names: &[&str]) -> String {
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

/// The secrets that definitions refer to, over this machine's variables.
pub(crate) fn secrets(data: &Path) -> anyhow::Result<Secrets<'static>> {
    Ok(Secrets::load(data, &Machine).map_err(|mistakes| Failure::new(Exit::Usage, mistakes))?)
}

pub(crate) fn state_failure(error: StateError) -> Failure {
    Failure::new(Exit::Broken, error)
}
