//! `codeyard typescript`: installs and shows the engine of TypeScript programs and its packages.

use environment::Machine;
use sandbox_host::typescript::{self, Found, Package, SyncError, SyncRequest, Synced};
use serde_json::json;
use types::numbers::counted;

use crate::cli::{InfoArguments, TypescriptCommand};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{Tone, table};

/// The engine that is part of this program.
const OWN: &str = "QuickJS, which is part of codeyard";

pub fn run(context: &Context, command: &TypescriptCommand) -> anyhow::Result<Exit> {
    match command {
        TypescriptCommand::Sync => sync(context),
        TypescriptCommand::Info(arguments) => info(context, arguments),
    }
}

fn sync(context: &Context) -> anyhow::Result<Exit> {
    let loaded = context.load_settings()?;
    let program = context.program()?;
    let request = SyncRequest {
        settings: settings::typescript_settings(&loaded.settings, &Machine),
        data: loaded.data_dir.clone(),
        supervisor: server::supervisor(&program.executable),
    };
    let output = context.output;
    match typescript::sync(&request, &mut |step| output.tell(step)).map_err(failure)? {
        Synced::Nothing => output.line(&format!(
            "nothing to install: programs run on {OWN}; `[typescript] engine` chooses another"
        ))?,
        Synced::Engine(found) => {
            let packages = typescript::packages(&found).len();
            let text = format!("{}, {}", name(&found), counted(packages, "package"));
            output.line(&output.paint(Tone::Good, &text))?;
        }
    }
    Ok(Exit::Done)
}

fn info(context: &Context, arguments: &InfoArguments) -> anyhow::Result<Exit> {
    let loaded = context.load_settings()?;
    let settings = settings::typescript_settings(&loaded.settings, &Machine);
    let found = match typescript::find(&settings, &loaded.data_dir) {
        Ok(found) => found,
        Err(missing) => return Err(Failure::new(Exit::Refused, missing).into()),
    };
    let packages = found.as_ref().map(typescript::packages).unwrap_or_default();
    if arguments.json {
        let engine = settings.engine.name();
        let (executable, version) = found
            .as_ref()
            .map(|found| (&found.executable, &found.version))
            .unzip();
        context.output.json(&json!({
            "engine": engine,
            "version": version,
            "executable": executable,
            "packages": packages,
        }))?;
    } else {
        context.output.print(&text(found.as_ref(), &packages))?;
    }
    Ok(Exit::Done)
}

fn text(found: Option<&Found>, packages: &[Package]) -> String {
    let Some(found) = found else {
        return format!("{OWN}; it imports no packages\n");
    };
    let mut text = format!("{} at {}\n", name(found), found.executable.display());
    let rows: Vec<Vec<String>> = packages
        .iter()
        .map(|package| vec![format!("  {}", package.name), package.version.clone()])
        .collect();
    match &found.packages {
        Some(directory) => text.push_str(&format!("packages in {}:\n{}", directory.display(), table(&rows))),
        None => text.push_str("no packages; `[typescript] packages` names a directory with a lock file\n"),
    }
    text
}

fn name(found: &Found) -> String {
    let engine = match found.engine {
        typescript::Engine::Node => "Node.js",
        typescript::Engine::Deno => "Deno",
        typescript::Engine::QuickJs => "QuickJS",
    };
    format!("{engine} {}", found.version)
}

/// An error that the settings can fix is a usage error.
fn failure(error: SyncError) -> Failure {
    let exit = match &error {
        SyncError::NoLockFile { .. } => Exit::Usage,
        _ => Exit::Broken,
    };
    let source = std::error::Error::source(&error).map(|source| format!(": {source}"));
    Failure::new(exit, format!("{error}{}", source.unwrap_or_default()))
}
