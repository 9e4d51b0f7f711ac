//! `codeyard servers`: lists, adds, changes and tests upstream servers.

pub(crate) mod add;
mod change;
pub mod definition_text;
pub(crate) mod definitions;
mod list;
mod logs;
mod show;
mod test;

use crate::cli::{ServersArguments, ServersCommand};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::OutputFormat;

pub async fn run(context: &Context, arguments: &ServersArguments) -> anyhow::Result<Exit> {
    let format = OutputFormat::from(arguments.json);
    match &arguments.command {
        None | Some(ServersCommand::List) => list::run(context, format).await,
        Some(ServersCommand::Show(named)) => show::run(context, &named.name, format).await,
        Some(ServersCommand::Add(add)) => add::run(context, add, format).await,
        Some(ServersCommand::Remove(change)) => change::remove(context, change, format),
        Some(ServersCommand::Enable(change)) => change::enable(context, change, format),
        Some(ServersCommand::Disable(change)) => change::disable(context, &change.name, format),
        Some(ServersCommand::Test(change)) => test::run(context, change, format).await,
        Some(ServersCommand::Logs(logs)) => logs::run(context, logs).await,
    }
}
