//! `codeyard saved`: tools and memories that the bridge's programs saved for later sessions.

mod functions;
mod import;
mod items;
mod remove;
mod show;

use store::{FILE, Recording, Records, Saved};

use crate::cli::{SavedArguments, SavedCommand};
use crate::context::Context;
use crate::exit::Exit;

use self::items::SavedStore;

pub async fn run(context: &Context, arguments: &SavedArguments) -> anyhow::Result<Exit> {
    let loaded = context.load_settings()?;
    let database = match &arguments.state {
        Some(directory) => std::path::absolute(directory)?.join(FILE).into(),
        None => loaded.saved(),
    };
    let config = loaded.records();
    let store = SavedStore {
        output: &context.output,
        saved: Saved::new(database),
        principal: arguments.principal.clone(),
        records: match config.recording {
            Recording::Off => Records::off(),
            Recording::On { .. } => Records::new(config),
        },
        json: arguments.json,
    };
    let done = match &arguments.command {
        None => show::list(&store).await,
        Some(SavedCommand::Show(arguments)) => show::one(&store, arguments).await,
        Some(SavedCommand::Remove(arguments)) => remove::run(&store, arguments).await,
        Some(SavedCommand::Import(arguments)) => import::run(&store, arguments).await,
    };
    store.saved.close().await;
    store.records.close().await;
    done
}
