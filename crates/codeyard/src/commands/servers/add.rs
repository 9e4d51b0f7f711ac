//! Adds a server after every possible check.

use std::path::Path;

use environment::Machine;
use registry::DefinitionFile;
use serde_json::{Map, Value, json};
use upstream::ServerConfig;

use super::definition_text;
use super::definitions::{edit, open, secrets};
use crate::ask::agreed;
use crate::cli::{AddServer, RemoteKind};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{OutputFormat, harmless, one_line};

/// Names with a meaning of their own.
const RESERVED: [&str; 3] = ["codeyard", "mcp", "tools"];

/// Shell syntax, which codeyard does not interpret.
const SHELL: [&str; 8] = ["&&", "||", "|", ";", ">", "<", "`", "$("];

pub(super) async fn run(context: &Context, add: &AddServer, format: OutputFormat) -> anyhow::Result<Exit> {
    let (mut file, data) = open(context)?;
    judge_name(context, &add.name, &file, None)?;
    judge_command(&add.command)?;
    let entry = entry(add);
    file.set(&add.name, &entry);
    let server = file
        .server(&add.name, &secrets(&data)?)
        .map_err(|mistakes| Failure::new(Exit::Usage, mistakes))?;
    if let Some(server) = &server {
        check_not_self(context, server)?;
        if !add.no_check {
            check_works(server).await?;
        }
    }
    let written = registry::parse_unexpanded(&file.path, &add.name, &entry);
    let output = &context.output;
    let path = file.path.display().to_string();
    if let Some(server) = &written {
        output.tell(&description(server));
    }
    if !add.yes && !agreed(output, &format!("add it to {path}?"))? {
        output.tell("nothing was added");
        return Ok(Exit::Done);
    }
    edit(&file.path, &data, |file, lock| {
        // Another process may have added this name meanwhile.
        judge_name(context, &add.name, file, None)?;
        file.set(&add.name, &entry);
        Ok(adoption::save_accepted(file, written.as_ref(), lock).map_err(Failure::from)?)
    })?;
    if format == OutputFormat::Json {
        output.json(&json!({"added": add.name, "file": path}))?;
    } else {
        output.line(&harmless(&format!("added `{}` to {path}", add.name)))?;
        output.progress(&format!(
            "`codeyard servers test {}` starts it and lists its tools",
            add.name
        ));
    }
    Ok(Exit::Done)
}

/// The exact command, for the person's decision.
pub(crate) fn description(server: &ServerConfig) -> String {
    let start = definition_text::start(server, definition_text::Literals::Hidden);
    let what = if server.transport.stdio().is_some() {
        "runs this command on this machine, with your rights, when a program needs it"
    } else {
        "is connected to when a program needs it"
    };
    format!("`{}` {what}:\n{}", one_line(&server.name), start.trim_end())
}

/// Refuses names that look like existing ones in programs. Names in the file `besides` are exempt.
pub(crate) fn judge_name(
    context: &Context,
    name: &str,
    file: &DefinitionFile,
    besides: Option<&Path>,
) -> Result<(), Failure> {
    let refuse = |why: String| Err(Failure::new(Exit::Usage, why));
    if name.trim().is_empty() || name.trim() != name {
        return refuse(format!(
            "the name `{name}` is empty or has blanks around it; give another"
        ));
    }
    if RESERVED.contains(&name.to_lowercase().as_str()) {
        return refuse(format!("the name `{name}` is reserved; give another"));
    }
    if file.names().any(|known| known == name) {
        let path = file.path.display();
        return refuse(format!(
            "there is a server `{name}` in {path}; `codeyard servers remove {name}` first, or give another name"
        ));
    }
    let all = registry::list_definitions(&context.sources(), &Machine);
    let others = all
        .iter()
        .filter(|defined| besides != Some(defined.file.as_path()));
    let known = others.map(|defined| defined.name.as_str());
    let alias = catalog::normalise(name);
    if let Some(other) = known
        .chain(file.names())
        .find(|known| catalog::normalise(known) == alias)
    {
        return refuse(format!(
            "`{name}` and `{other}` have the same name in programs (`{alias}`); give another name"
        ));
    }
    Ok(())
}

/// Refuses a whole shell line in one word, because no shell reads the command.
fn judge_command(command: &[String]) -> anyhow::Result<()> {
    let Some(program) = command.first() else {
        return Ok(());
    };
    let is_line = command.len() == 1 && program.contains(char::is_whitespace);
    if is_line && !Path::new(program).exists() {
        let hint = match SHELL.into_iter().find(|word| program.contains(word)) {
            Some(word) => {
                format!(
                    "; it runs without a shell, so `{word}` has no effect: use -- sh -c '…' if you need one"
                )
            }
            None => format!("; write -- {program}"),
        };
        let why = format!("the command is one word with blanks in it{hint}");
        return Err(Failure::new(Exit::Usage, why).into());
    }
    Ok(())
}

/// Refuses a server that is codeyard itself.
fn check_not_self(context: &Context, server: &ServerConfig) -> anyhow::Result<()> {
    let executable = context.program()?.executable;
    Ok(server::servers::check_self(server, &executable).map_err(|why| nothing_saved(&why))?)
}

/// Refuses a server whose program is missing or whose address does not answer. Does not start the server.
async fn check_works(server: &ServerConfig) -> anyhow::Result<()> {
    let checked = server::servers::check(server).await;
    Ok(checked.map_err(|why| nothing_saved(&format!("{why}; --no-check saves it anyway")))?)
}

fn nothing_saved(why: &str) -> Failure {
    Failure::new(Exit::Usage, format!("nothing was saved: {why}"))
}

fn entry(add: &AddServer) -> Value {
    let object = |pairs: &[(String, String)]| {
        let pairs = pairs.iter().cloned();
        Value::Object(pairs.map(|(name, value)| (name, Value::from(value))).collect())
    };
    let mut entry = Map::new();
    let mut set = |field: &str, value: Value| entry.insert(field.to_owned(), value);
    if let Some(url) = &add.url {
        match add.kind {
            Some(RemoteKind::Http) => drop(set("type", "http".into())),
            Some(RemoteKind::Sse) => drop(set("type", "sse".into())),
            None => {}
        }
        set("url", url.as_str().into());
        if !add.header.is_empty() {
            set("headers", object(&add.header));
        }
    } else if let Some((command, args)) = add.command.split_first() {
        set("command", command.as_str().into());
        if !args.is_empty() {
            set("args", args.into());
        }
        if !add.env.is_empty() {
            set("env", object(&add.env));
        }
        if let Some(cwd) = &add.cwd {
            // Relative to the person's current directory, not to the file's.
            let cwd = std::path::absolute(cwd).unwrap_or_else(|_| cwd.clone());
            set("cwd", cwd.to_string_lossy().into());
        }
    }
    if let Some(description) = &add.description {
        set("description", description.as_str().into());
    }
    Value::Object(entry)
}
