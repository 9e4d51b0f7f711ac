//! `codeyard config`: mistakes, values in effect, and file paths.

use std::path::Path;

use environment::Machine;
use serde_json::{Value, json};
use types::numbers::counted;

use crate::cli::{ConfigArguments, ConfigCommand};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::table;

pub fn run(context: &Context, command: &ConfigCommand) -> anyhow::Result<Exit> {
    match command {
        ConfigCommand::Check(arguments) => check(context, arguments),
        ConfigCommand::Show(arguments) => show(context, arguments),
        ConfigCommand::Path(arguments) => path(context, arguments),
    }
}

fn check(context: &Context, arguments: &ConfigArguments) -> anyhow::Result<Exit> {
    if !arguments.json {
        let loaded = context.load()?;
        context.output.line(&format!(
            "no mistakes; {} {} used",
            counted(loaded.servers.len(), "server"),
            if loaded.servers.len() == 1 { "is" } else { "are" }
        ))?;
        return Ok(Exit::Done);
    }
    let (mistakes, warnings) = match settings::load(&context.settings_arguments(), &Machine) {
        Ok(loaded) => (Vec::new(), loaded.warnings),
        Err(mistakes) => (mistakes.0, Vec::new()),
    };
    let as_json = |all: &[environment::Mistake]| -> Vec<Value> {
        let all = all.iter();
        all.map(|mistake| json!({"file": mistake.file, "field": mistake.field, "message": mistake.message}))
            .collect()
    };
    context
        .output
        .json(&json!({"mistakes": as_json(&mistakes), "warnings": as_json(&warnings)}))?;
    Ok(if mistakes.is_empty() {
        Exit::Done
    } else {
        Exit::Usage
    })
}

fn show(context: &Context, arguments: &ConfigArguments) -> anyhow::Result<Exit> {
    let shown = settings::values_with_origins(&context.settings_arguments(), context.log(), &Machine);
    let shown = shown.map_err(|mistakes| Failure::new(Exit::Usage, mistakes))?;
    if arguments.json {
        let all: Vec<Value> = shown
            .iter()
            .map(|shown| json!({"key": shown.key, "value": shown.value, "from": shown.from}))
            .collect();
        context.output.json(&all)?;
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = shown
        .iter()
        .map(|shown| {
            vec![
                shown.key.clone(),
                format!("= {}", shown.value),
                format!("# {}", shown.from),
            ]
        })
        .collect();
    context.output.print(&table(&rows))?;
    Ok(Exit::Done)
}

fn path(context: &Context, arguments: &ConfigArguments) -> anyhow::Result<Exit> {
    let places = settings::paths(&context.settings_arguments(), &Machine);
    if arguments.json {
        let all: Vec<Value> = places
            .iter()
            .map(|(what, path)| json!({"what": what, "path": path, "exists": path.exists()}))
            .collect();
        context.output.json(&all)?;
        return Ok(Exit::Done);
    }
    let there = |path: &Path| if path.exists() { "" } else { "(not there)" };
    let rows: Vec<Vec<String>> = places
        .iter()
        .map(|(what, path)| {
            vec![
                (*what).to_owned(),
                path.display().to_string(),
                there(path).to_owned(),
            ]
        })
        .collect();
    context.output.print(&table(&rows))?;
    Ok(Exit::Done)
}
