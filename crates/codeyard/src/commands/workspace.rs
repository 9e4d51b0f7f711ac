//! `codeyard workspace`: finds, counts and removes the files of sessions.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use workspace::{Extent, Holding, Quota, Usage, WorkspaceError, Workspaces};

use crate::ask::agreed;
use crate::cli::{CleanArguments, PathArguments, WorkspaceArguments, WorkspaceCommand};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{Output, OutputFormat, harmless, size, table};

pub fn run(context: &Context, arguments: &WorkspaceArguments) -> anyhow::Result<Exit> {
    let loaded = context.load_settings()?;
    let workspaces = Workspaces::new(loaded.workspace());
    let (output, format) = (&context.output, OutputFormat::from(arguments.json));
    match arguments.command.as_ref().unwrap_or(&WorkspaceCommand::List) {
        WorkspaceCommand::Path(arguments) => path(output, &workspaces, arguments, format),
        WorkspaceCommand::List => list(output, &workspaces, format),
        WorkspaceCommand::Clean(arguments) => clean(output, &workspaces, arguments, format),
    }
}

fn path(
    output: &Output,
    workspaces: &Workspaces,
    arguments: &PathArguments,
    format: OutputFormat,
) -> anyhow::Result<Exit> {
    let principal = &arguments.principal;
    // The image stays mounted for the user until the next codeyard that uses it ends.
    workspaces.mount(principal).map_err(failure)?;
    let path = workspaces.path(principal);
    if format == OutputFormat::Json {
        output.json(&json!({ "path": path.to_string_lossy(), "exists": path.is_dir() }))?;
    } else {
        output.line(&path.to_string_lossy())?;
    }
    Ok(Exit::Done)
}

fn list(output: &Output, workspaces: &Workspaces, format: OutputFormat) -> anyhow::Result<Exit> {
    let holdings = workspaces.list().map_err(failure)?;
    let quota = workspaces.quota();
    if format == OutputFormat::Json {
        let described: Vec<Value> = holdings.iter().map(|holding| described(holding, quota)).collect();
        output.json(&json!({ "workspaces": described }))?;
        return Ok(Exit::Done);
    }
    if holdings.is_empty() {
        output.line("no session has kept files yet")?;
        return Ok(Exit::Done);
    }
    let mut rows = vec![
        ["NAME", "SIZE", "QUOTA", "FILES", "LAST USE"]
            .map(str::to_owned)
            .to_vec(),
    ];
    rows.extend(holdings.iter().map(|holding| {
        let (bytes, files) = counted(holding.usage);
        let used = match (holding.in_use, holding.last_use) {
            (true, _) => "now".to_owned(),
            (false, Some(time)) => ago(time),
            (false, None) => "unknown".to_owned(),
        };
        vec![harmless(&holding.name), bytes, bound(quota), files, used]
    }));
    output.print(&table(&rows))?;
    Ok(Exit::Done)
}

fn clean(
    output: &Output,
    workspaces: &Workspaces,
    arguments: &CleanArguments,
    format: OutputFormat,
) -> anyhow::Result<Exit> {
    let name = &arguments.principal.to_string();
    let holdings = workspaces.list().map_err(failure)?;
    let Some(holding) = holdings.iter().find(|holding| holding.name == *name) else {
        if holdings.is_empty() || arguments.principal == crate::context::principal() {
            output.line(&format!("`{}` has no files", harmless(name)))?;
            return Ok(Exit::Done);
        }
        let message = format!(
            "`{}` has no files; `codeyard workspace list` shows the owners of files",
            harmless(name)
        );
        return Err(Failure::new(Exit::Usage, message).into());
    };
    let (extent, what) = if arguments.results {
        (Extent::Sessions, "the results and scratch files of all sessions")
    } else {
        (Extent::Everything, "the workspace and the files of all sessions")
    };
    let (bytes, files) = counted(holding.usage);
    let question = format!(
        "remove {what} of `{}` in {}? In all there are {files} files with {bytes}.",
        harmless(name),
        harmless(&holding.path.to_string_lossy())
    );
    if !arguments.yes && !agreed(output, &question)? {
        output.tell("nothing was removed");
        return Ok(Exit::Done);
    }
    workspaces.clean(holding, extent).map_err(failure)?;
    if format == OutputFormat::Json {
        output.json(&json!({ "removed": holding.name, "results_only": arguments.results }))?;
    } else {
        output.line(&format!("removed {what} of `{}`", harmless(name)))?;
    }
    Ok(Exit::Done)
}

fn failure(error: WorkspaceError) -> Failure {
    Failure::new(Exit::Broken, error)
}

fn described(holding: &Holding, quota: Quota) -> Value {
    let seconds = |time: SystemTime| {
        time.duration_since(SystemTime::UNIX_EPOCH)
            .ok()
            .map(|since| since.as_secs())
    };
    let bound = |bound: u64| (bound > 0).then_some(bound);
    json!({
        "name": holding.name,
        "path": holding.path.to_string_lossy(),
        "bytes": holding.usage.bytes,
        "files": holding.usage.files,
        "complete": holding.usage.complete,
        "last_use": holding.last_use.and_then(seconds),
        "in_use": holding.in_use,
        "quota": { "bytes": bound(quota.bytes), "files": bound(quota.files) },
    })
}

/// Size and number for a person; an incomplete count says `over`.
fn counted(usage: Usage) -> (String, String) {
    let more = if usage.complete { "" } else { "over " };
    (
        format!("{more}{}", size(usage.bytes)),
        format!("{more}{}", usage.files),
    )
}

fn bound(quota: Quota) -> String {
    match quota.bytes {
        0 => "none".to_owned(),
        bytes => size(bytes),
    }
}

fn ago(time: SystemTime) -> String {
    let minutes = time.elapsed().unwrap_or(Duration::ZERO).as_secs() / 60;
    match minutes {
        0 => "just now".to_owned(),
        1..60 => format!("{minutes} min ago"),
        60..2880 => format!("{} h ago", minutes / 60),
        _ => format!("{} days ago", minutes / 60 / 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_coarse() {
        let before = |seconds| ago(SystemTime::now() - Duration::from_secs(seconds));
        assert_eq!(before(5), "just now");
        assert_eq!(before(300), "5 min ago");
        assert_eq!(before(2 * 3600 + 5), "2 h ago");
        assert_eq!(before(5 * 86_400), "5 days ago");
        assert_eq!(ago(SystemTime::now() + Duration::from_secs(900)), "just now");
    }
}
