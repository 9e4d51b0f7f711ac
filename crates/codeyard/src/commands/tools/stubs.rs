//! `codeyard tools stubs`: writes files that declare tools.

use std::path::{Path, PathBuf};

use server::{Caller, Declarations};
use types::numbers::counted;

use super::written::Plan;
use crate::cli::{Language, StubsArguments};
use crate::commands::call;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::harmless;

/// First words of a file written by this command.
const MARK: &str = "Written by `codeyard tools stubs`: changes are lost.";

/// Most foreign files named in a refusal.
const MOST_NAMED: usize = 3;

/// Asks the servers for their tools and writes one file for each.
pub async fn write(context: &Context, server: &Caller, arguments: &StubsArguments) -> anyhow::Result<Exit> {
    context.output.progress("asking the servers for their tools ...");
    let listing = match &arguments.server {
        Some(name) => server.list_one(name).await,
        None => server.list().await,
    };
    let language = arguments.language;
    let declared = server
        .declarations(language.into(), arguments.server.as_deref())
        .await;
    let declared = declared.map_err(call::failure)?;
    let (written, removed) = replace(&arguments.directory, language, &declared)?;
    context.output.line(&format!(
        "{} below {}: {written} written, {removed} removed, the others were up to date",
        counted(declared.files.len(), "file"),
        arguments.directory.join("tools").display()
    ))?;
    let mut exit = Exit::Done;
    for server in &listing.servers {
        if let Some(problem) = &server.problem {
            let problem = format!("warning: nothing is written for {}: {problem}", server.name);
            context.output.tell(&harmless(&problem));
            exit = Exit::Upstream;
        }
    }
    Ok(exit)
}

/// Makes the directory hold exactly these files; returns the numbers of written and removed files. If a foreign file
/// is in the way, changes nothing.
fn replace(directory: &Path, language: Language, declared: &Declarations) -> anyhow::Result<(usize, usize)> {
    let mark = first_line(language);
    let marked = |(name, text): (&String, &String)| (name.clone(), format!("{mark}{text}"));
    let files = declared.files.iter().map(marked).collect();
    let is_ours = |content: &[u8]| content.starts_with(mark.as_bytes());
    let plan = Plan::of(directory, &files, &declared.directories, &is_ours)?;
    if !plan.foreign.is_empty() {
        return Err(Failure::new(Exit::Usage, refusal(&plan.foreign)).into());
    }
    plan.carry_out()?;
    Ok((plan.changed.len(), plan.old.len()))
}

fn first_line(language: Language) -> String {
    match language {
        Language::Python => format!("# {MARK}\n"),
        Language::Typescript => format!("// {MARK}\n"),
    }
}

fn refusal(foreign: &[PathBuf]) -> anyhow::Error {
    let named: Vec<String> = foreign
        .iter()
        .take(MOST_NAMED)
        .map(|path| path.display().to_string())
        .collect();
    let more = match foreign.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    anyhow::anyhow!(
        "{}{more} would be overwritten and was not written by this command; move it away or name another directory",
        named.join(", ")
    )
}
