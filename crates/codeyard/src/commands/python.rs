//! `codeyard python`: makes and shows the Python that programs run on.

use config::Machine;
use server::python::{self, Info, Refresh, SyncRequest};

use crate::cli::{InfoArguments, PythonCommand, SyncArguments};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{Tone, table};

/// Runs a subcommand.
pub fn run(context: &Context, command: &PythonCommand) -> anyhow::Result<Exit> {
    match command {
        PythonCommand::Sync(arguments) => sync(context, arguments),
        PythonCommand::Info(arguments) => info(context, arguments),
    }
}

fn sync(context: &Context, arguments: &SyncArguments) -> anyhow::Result<Exit> {
    let loaded = context.load_settings()?;
    let program = context.program()?;
    let request = SyncRequest {
        settings: config::python_settings(&loaded.settings, &Machine),
        data: loaded.data_dir.clone(),
        requirements: arguments.requirements.clone(),
        refresh: if arguments.refresh {
            Refresh::Always
        } else {
            Refresh::IfChanged
        },
        supervisor: server::supervisor(&program.executable),
    };
    let output = context.output;
    let made = python::sync(&request, &mut |step| output.tell(step)).map_err(|error| {
        let mut message = error.to_string();
        if let Some(source) = std::error::Error::source(&error) {
            message.push_str(&format!(": {source}"));
        }
        Failure::new(Exit::Broken, message)
    })?;
    output.line(&output.paint(
        Tone::Good,
        &format!("{} packages in {}", made.packages.len(), made.root.display()),
    ))?;
    Ok(Exit::Done)
}

fn info(context: &Context, arguments: &InfoArguments) -> anyhow::Result<Exit> {
    let loaded = context.load_settings()?;
    let settings = config::python_settings(&loaded.settings, &Machine);
    let info = python::info(&settings, &loaded.data_dir);
    if arguments.json {
        context.output.json(&info)?;
    } else {
        context.output.print(&shown(&info))?;
    }
    Ok(match info.interpreter {
        Some(_) => Exit::Done,
        None => Exit::Refused,
    })
}

fn shown(info: &Info) -> String {
    let mut out = match &info.interpreter {
        Some(found) => format!(
            "Python {} at {}\n",
            found.version_text(),
            found.executable.display()
        ),
        None => {
            "no usable Python 3.10 or newer was found (on Debian: apt-get install python3 python3-venv)\n"
                .to_owned()
        }
    };
    for skipped in &info.skipped {
        out.push_str(&format!("skipped: {skipped}\n"));
    }
    match &info.environment {
        Some(environment) => {
            out.push_str(&format!("packages in {}:\n", environment.root.display()));
            let rows: Vec<Vec<String>> = environment
                .packages
                .iter()
                .map(|package| vec![format!("  {}", package.name), package.version.clone()])
                .collect();
            out.push_str(&table(&rows));
        }
        None => out.push_str(
            "no packages beyond the standard library; `codeyard python sync` adds numpy, pandas and more\n",
        ),
    }
    out
}
