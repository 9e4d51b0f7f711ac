//! `codeyard runs replay` and `codeyard runs export`: recorded runs, repeated or printed.

use std::path::Path;

use ::replay::{Difference, ExportedRun};
use environment::Machine;
use serde_json::{Value, json};
use server::{Caller, Host, NotRun, RepeatedRun, ReplayMode};
use settings::Loaded;
use store::{Opened, Reader};
use types::RunId;

use super::{failure, resolved, unknown};
use crate::cli::{ExportRun, ReplayRun};
use crate::commands::run::{Live, Shown, exit_of, not_run, show};
use crate::context::{Context, principal, read_input};
use crate::exit::{Exit, Failure};
use crate::interrupt::Interrupt;
use crate::output::{Output, harmless};

pub async fn run(context: &Context, arguments: &ReplayRun) -> anyhow::Result<Exit> {
    let loaded = context.load_serving(&[], &[])?;
    let source = match (&arguments.id, &arguments.file) {
        (Some(id), _) => RecordedSource::Run(run_id(&loaded, id).await?),
        (None, Some(file)) => RecordedSource::Exported(Box::new(read(file)?)),
        (None, None) => return Err(Failure::new(Exit::Usage, "name a run, or a file with --file").into()),
    };
    let caller = caller(context, loaded)?;
    let interrupt = Interrupt::watch()?;
    let (live, heard) = match arguments.json || arguments.diff {
        true => (None, None),
        false => {
            let (live, heard) = Live::start(context.output);
            (Some(live), Some(heard))
        }
    };
    let mode = match arguments.recorded {
        true => ReplayMode::Recorded,
        false => ReplayMode::Live,
    };
    let repeating = async {
        let recorded = match source {
            RecordedSource::Run(id) if mode == ReplayMode::Live => caller.recording(&id).await?,
            RecordedSource::Run(id) => caller.recording_with_session(&id).await?,
            RecordedSource::Exported(recorded) => *recorded,
        };
        caller
            .repeat(recorded, mode, heard, interrupt.token.clone())
            .await
    };
    let repeated = repeating.await;
    caller.host().close().await;
    let shown = live.map(Live::finish).transpose()?.unwrap_or_default();
    let repeated = repeated.map_err(not_run)?;
    print(&context.output, arguments, &repeated, &shown)?;
    let exit = match (arguments.diff, repeated.differences.is_empty()) {
        (true, true) => Exit::Done,
        (true, false) => Exit::ProgramFailed,
        (false, _) => exit_of(repeated.result.outcome.status),
    };
    Ok(interrupt.exit(exit))
}

pub async fn export(context: &Context, arguments: &ExportRun) -> anyhow::Result<Exit> {
    let loaded = context.load_settings()?;
    let id = run_id(&loaded, &arguments.id).await?;
    let caller = caller(context, loaded)?;
    let exported = caller.recording_with_session(&id).await;
    caller.host().close().await;
    let exported = exported.map_err(|error| not_run(NotRun::Replay(error)))?;
    context.output.json(&exported)?;
    Ok(Exit::Done)
}

/// The run that is repeated.
enum RecordedSource {
    Run(RunId),
    Exported(Box<ExportedRun>),
}

fn caller(context: &Context, loaded: Loaded) -> anyhow::Result<Caller> {
    let parts = loaded.into_parts(context.program()?, &Machine);
    let host = Host::new(parts).map_err(|error| Failure::new(Exit::Usage, error))?;
    Ok(host.caller(principal()))
}

async fn run_id(loaded: &Loaded, asked: &str) -> anyhow::Result<RunId> {
    let opened = Reader::open(&loaded.records(), &principal())
        .await
        .map_err(failure)?;
    let Opened::Open(mut reader) = opened else {
        return Err(unknown(asked));
    };
    Ok(RunId::new(resolved(&mut reader, asked).await?))
}

fn read(file: &Path) -> anyhow::Result<ExportedRun> {
    let text = read_input(file)?;
    ExportedRun::read(&text).map_err(|error| {
        let file = file.display();
        let message = format!("{file} is not a run that `codeyard runs export` wrote: {error}");
        Failure::new(Exit::Usage, harmless(&message)).into()
    })
}

fn print(
    output: &Output,
    arguments: &ReplayRun,
    repeated: &RepeatedRun,
    shown: &Shown,
) -> anyhow::Result<()> {
    let found = &repeated.differences;
    if arguments.json {
        return output.json(&described(repeated));
    }
    if arguments.diff {
        for difference in found {
            output.foreign(&format!("{}\n", harmless(&difference.to_string())))?;
        }
        if found.is_empty() {
            output.tell("the run is as recorded");
        }
        return Ok(());
    }
    show(output, &repeated.result, shown, None, &[])?;
    match found.len() {
        0 => {}
        1 => output.tell("note: 1 thing differs from the recording; --diff shows it"),
        count => output.tell(&format!(
            "note: {count} things differ from the recording; --diff shows them"
        )),
    }
    Ok(())
}

fn described(repeated: &RepeatedRun) -> Value {
    let outcome = &repeated.result.outcome;
    let difference = |difference: &Difference| json!({"what": difference.what, "recorded": difference.before, "repeated": difference.after});
    json!({
        "run_id": repeated.result.run_id,
        "status": outcome.status.name(),
        "result": outcome.result,
        "stdout": outcome.stdout.shown(),
        "stderr": outcome.stderr.shown(),
        "differences": repeated.differences.iter().map(difference).collect::<Vec<_>>(),
    })
}
