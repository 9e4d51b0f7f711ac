//! `codeyard servers`: lists, adds, changes and tries the servers whose tools programs call.

pub(crate) mod add;
mod change;
pub(crate) mod definitions;
mod list;
mod logs;
mod show;
pub mod shown;
mod test;

use crate::cli::{ServersArguments, ServersCommand};
use crate::context::Context;
use crate::exit::Exit;

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
