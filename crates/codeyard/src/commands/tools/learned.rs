//! `codeyard tools learned` and `codeyard tools forget`: types observed in results.

use serde_json::{Value, json};
use store::learned::{Forget, ShapeView};
use store::{EventView, Opened, Reader, Shapes, Trouble};
use types::numbers::counted;

use super::counted_calls;
use crate::ask::agreed;
use crate::cli::{ForgetArguments, LearnedArguments};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{Output, OutputFormat, Tone, harmless, table};
use crate::times::{exact, when};

/// Most events shown.
const MOST_DRIFT: u32 = 1000;

/// Shows learned types, or results that differed from them.
pub(super) async fn show(context: &Context, arguments: &LearnedArguments) -> anyhow::Result<Exit> {
    let loaded = context.load_settings()?;
    if arguments.drift {
        let events = match Reader::open(&loaded.records(), &crate::context::principal())
            .await
            .map_err(failure)?
        {
            Opened::Open(mut reader) => reader
                .drift(arguments.name.as_deref(), MOST_DRIFT)
                .await
                .map_err(failure)?,
            Opened::Empty => Vec::new(),
        };
        return drift(&context.output, &events, arguments.json.into());
    }
    let rows = rows(&Shapes::new(loaded.records().database)).await?;
    let meant: Vec<&ShapeView> = rows
        .iter()
        .filter(|row| arguments.name.as_deref().is_none_or(|name| is_meant(row, name)))
        .collect();
    if arguments.json {
        let tools: Vec<Value> = meant.iter().map(|row| as_json(row)).collect();
        context.output.json(&json!({ "tools": tools }))?;
        return Ok(Exit::Done);
    }
    match &arguments.name {
        _ if meant.is_empty() => context.output.tell(&nothing(arguments.name.as_deref())),
        Some(name) if meant.iter().any(|row| tool(row) == *name) => {
            for row in meant {
                context.output.print(&one(row, &context.output)?)?;
            }
        }
        _ => context.output.print(&list(&meant))?,
    }
    Ok(Exit::Done)
}

pub(super) async fn forget(context: &Context, arguments: &ForgetArguments) -> anyhow::Result<Exit> {
    let shapes = Shapes::new(context.load_settings()?.records().database);
    let rows = rows(&shapes).await?;
    let (what, told) = match &arguments.name {
        None => (Forget::All, "every tool".to_owned()),
        Some(name) => {
            let is_server = |row: &&ShapeView| row.subject.server == *name;
            let what = match rows.iter().find(|row| tool(row) == *name) {
                Some(row) => Forget::Tool(&row.subject.server, &row.subject.tool),
                None if rows.iter().any(|row| is_server(&row)) => Forget::Server(name),
                None => return Err(Failure::new(Exit::Usage, nothing(Some(name))).into()),
            };
            (what, format!("`{}`", harmless(name)))
        }
    };
    let question = format!("forget what was observed of the results of {told}?");
    if !arguments.yes && !agreed(&context.output, &question)? {
        context.output.tell("nothing was forgotten");
        return Ok(Exit::Done);
    }
    let forgotten = shapes.forget(what).await.map_err(failure)?;
    shapes.close().await;
    let tools = counted(forgotten, "tool");
    context.output.line(&format!("forgot the results of {tools}"))?;
    Ok(Exit::Done)
}

async fn rows(shapes: &Shapes) -> anyhow::Result<Vec<ShapeView>> {
    let all = shapes.all().await.map_err(failure)?;
    Ok(all.rows)
}

fn failure(trouble: Trouble) -> Failure {
    Failure::new(Exit::Broken, trouble)
}

fn nothing(name: Option<&str>) -> String {
    match name {
        Some(name) => format!(
            "nothing was learned about `{}`; `codeyard tools learned` lists the tools with learned types",
            harmless(name)
        ),
        None => "nothing has been learned yet; codeyard learns from the results of tools without an output schema as they are called"
            .to_owned(),
    }
}

fn tool(row: &ShapeView) -> String {
    format!("{}.{}", row.subject.server, row.subject.tool)
}

fn is_meant(row: &ShapeView, name: &str) -> bool {
    row.subject.server == name || tool(row) == name
}

fn list(rows: &[&ShapeView]) -> String {
    let mut cells = vec![
        ["TOOL", "RESULT", "CALLS", "SINCE LAST CHANGE", "LAST (UTC)"]
            .map(str::to_owned)
            .to_vec(),
    ];
    cells.extend(rows.iter().map(|row| {
        vec![
            harmless(&tool(row)),
            in_short(&row.observed.shape),
            row.observed.calls.to_string(),
            row.observed.steady.to_string(),
            when(row.last_ms),
        ]
    }));
    table(&cells)
}

/// A result's type and its number of keys.
fn in_short(shape: &Value) -> String {
    let types = match &shape["type"] {
        Value::String(name) => name.clone(),
        Value::Array(names) => {
            let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
            names.join(" or ")
        }
        _ => "anything".to_owned(),
    };
    let keys = |shape: &Value| shape["properties"].as_object().map(serde_json::Map::len);
    match (keys(shape), keys(&shape["items"])) {
        (Some(keys), _) => format!("{types} with {}", counted(keys, "key")),
        (None, Some(keys)) => format!("{types} of objects with {}", counted(keys, "key")),
        (None, None) => types,
    }
}

fn one(row: &ShapeView, output: &Output) -> anyhow::Result<String> {
    let mut facts = format!(
        "observed in {}, {} of them different ones since the last change; first {}, last {}",
        counted_calls(row.observed.calls),
        row.observed.steady,
        when(row.first_ms),
        when(row.last_ms)
    );
    if let Some(principal) = &row.subject.principal {
        facts.push_str(&format!(", for `{}`", harmless(&principal.to_string())));
    }
    Ok(format!(
        "{}\n{facts}\ndefinition {}\n{}\n",
        output.paint(Tone::Title, &harmless(&tool(row))),
        harmless(row.subject.definition.get(..12).unwrap_or_default()),
        serde_json::to_string_pretty(&row.observed.shape)?
    ))
}

fn as_json(row: &ShapeView) -> Value {
    json!({
        "server": row.subject.server,
        "tool": row.subject.tool,
        "principal": row.subject.principal.as_ref().map_or_else(String::new, ToString::to_string),
        "definition": row.subject.definition,
        "calls": row.observed.calls,
        "steady": row.observed.steady,
        "first": exact(row.first_ms),
        "last": exact(row.last_ms),
        "schema": row.observed.shape,
    })
}

fn drift(output: &Output, events: &[EventView], format: OutputFormat) -> anyhow::Result<Exit> {
    if format == OutputFormat::Json {
        let events = events.iter().map(|event| {
            // Paths and kinds have no spaces.
            let mut parts = event.detail.rsplitn(3, ' ');
            let (path, kind, tool) = (parts.next(), parts.next(), parts.next());
            json!({"at": exact(event.at_ms), "tool": tool, "kind": kind, "path": path})
        });
        output.json(&json!({ "events": events.collect::<Vec<_>>() }))?;
        return Ok(Exit::Done);
    }
    if events.is_empty() {
        output.tell("no recorded result differed from earlier ones");
    }
    for event in events {
        output.line(&format!("{}  {}", when(event.at_ms), harmless(&event.detail)))?;
    }
    Ok(Exit::Done)
}
