//! `codeyard tools generate`: writes Python modules that call the servers' tools.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use catalog::SHARED_MODULE;
use server::{Caller, Wrappers};
use tool_files::MARK as GENERATED;
use types::numbers::counted;

use super::written::Plan;
use crate::cli::GenerateArguments;
use crate::commands::call;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::harmless;

/// The Python module through which the generated modules call tools.
const CLIENT: &str = include_str!("generate/__client__.py");

/// Holds one directory for each server.
const SERVERS: &str = "servers";

/// Asks the servers for their tools and writes one module for each.
pub async fn write(
    context: &Context,
    server: &Caller,
    arguments: &GenerateArguments,
) -> anyhow::Result<Exit> {
    context.output.progress("asking the servers for their tools ...");
    let listing = match &arguments.server {
        Some(name) => server.list_one(name).await,
        None => server.list().await,
    };
    let wrappers = server.wrappers(arguments.server.as_deref()).await;
    let mut wrappers = wrappers.map_err(call::failure)?;
    if arguments.server.is_none() {
        add_gone(&arguments.directory, &mut wrappers);
    }
    let files = marked(wrappers.files);
    let plan = Plan::of(&arguments.directory, &files, &wrappers.directories, &is_ours)?;
    plan.carry_out()?;
    let output = &context.output;
    output.line(&format!(
        "{} below {}: {} written, {} removed, the others were up to date",
        counted(plan.ours, "file"),
        arguments.directory.join(SERVERS).display(),
        plan.changed.len(),
        plan.old.len()
    ))?;
    for path in &plan.foreign {
        let message = format!(
            "warning: {} is left alone: it was not written by this command; move it away to have it written",
            path.display()
        );
        output.tell(&harmless(&message));
    }
    let mut exit = Exit::Done;
    for server in &listing.servers {
        if let Some(problem) = &server.problem {
            let problem = format!("warning: nothing is written for {}: {problem}", server.name);
            output.tell(&harmless(&problem));
            exit = Exit::Upstream;
        }
    }
    Ok(exit)
}

/// Adds directories of servers no longer configured, so that they are removed. A link's target is not ours.
fn add_gone(directory: &Path, wrappers: &mut Wrappers) {
    let Ok(entries) = fs::read_dir(directory.join(SERVERS)) else {
        return;
    };
    let is_directory = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    for entry in entries.flatten().filter(is_directory) {
        let name = format!("{SERVERS}/{}", entry.file_name().to_string_lossy());
        if !wrappers.directories.contains(&name) && !wrappers.unknown.contains(&name) {
            wrappers.directories.push(name);
        }
    }
}

/// All files, each with the mark that identifies it as ours.
fn marked(wrappers: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut files = wrappers;
    files.insert(format!("{SERVERS}/__init__.py"), String::new());
    files.insert(format!("{SERVERS}/{SHARED_MODULE}.py"), CLIENT.to_owned());
    let words = GENERATED.trim_start_matches("# ");
    for (name, text) in &mut files {
        let mark = match name.ends_with(".md") {
            true => format!("<!-- {words}: changes are lost. -->\n\n"),
            false => format!("{GENERATED}: changes are lost.\n"),
        };
        text.insert_str(0, &mark);
    }
    files
}

fn is_ours(content: &[u8]) -> bool {
    let words = GENERATED.trim_start_matches("# ");
    content.starts_with(GENERATED.as_bytes()) || content.starts_with(format!("<!-- {words}").as_bytes())
}
