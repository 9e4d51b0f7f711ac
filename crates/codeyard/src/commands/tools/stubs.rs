//! `codeyard tools stubs`: writes files that declare tools.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use server::{Declarations, Server};

use crate::cli::{Language, StubsArguments};
use crate::commands::call;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{counted, harmless};

/// What a file of ours begins with.
const MARK: &str = "Written by `codeyard tools stubs`: changes are lost.";

/// Files that are not ours and are named in a refusal.
const MOST_NAMED: usize = 3;

/// Asks the servers for their tools and writes one file for each.
pub async fn write(context: &Context, server: &Server, arguments: &StubsArguments) -> anyhow::Result<Exit> {
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

/// Brings the directory to these files; returns how many were written and how many removed. Nothing is touched if one of them
/// is not ours.
fn replace(directory: &Path, language: Language, declared: &Declarations) -> anyhow::Result<(usize, usize)> {
    let mut changed = Vec::new();
    let mut foreign = Vec::new();
    for (name, text) in &declared.files {
        let path = directory.join(name);
        let text = format!("{}{text}", first_line(language));
        match present(&path)? {
            Some(before) if before == text.as_bytes() => {}
            Some(before) if !before.starts_with(first_line(language).as_bytes()) => foreign.push(path),
            _ => changed.push((path, text)),
        }
    }
    if !foreign.is_empty() {
        return Err(Failure::new(Exit::Usage, refusal(&foreign)).into());
    }
    let old = outdated(directory, language, declared)?;
    for (path, text) in &changed {
        let parent = path.parent().unwrap_or(directory);
        fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    for path in &old {
        fs::remove_file(path).with_context(|| format!("cannot remove {}", path.display()))?;
    }
    Ok((changed.len(), old.len()))
}

fn first_line(language: Language) -> String {
    match language {
        Language::Python => format!("# {MARK}\n"),
        Language::Typescript => format!("// {MARK}\n"),
    }
}

fn present(path: &Path) -> anyhow::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// Files of ours for tools that are gone.
fn outdated(directory: &Path, language: Language, declared: &Declarations) -> anyhow::Result<Vec<PathBuf>> {
    let mut old = Vec::new();
    for name in &declared.directories {
        let Ok(entries) = fs::read_dir(directory.join(name)) else {
            continue;
        };
        for entry in entries {
            let entry = entry.with_context(|| format!("cannot list {name}"))?;
            let known = format!("{name}/{}", entry.file_name().to_string_lossy());
            if declared.files.contains_key(&known) || !entry.path().is_file() {
                continue;
            }
            let content = present(&entry.path())?.unwrap_or_default();
            if content.starts_with(first_line(language).as_bytes()) {
                old.push(entry.path());
            }
        }
    }
    Ok(old)
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
