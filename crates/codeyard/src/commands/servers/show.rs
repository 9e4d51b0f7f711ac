//! One server's command, tools and state, without starting it.

use serde_json::{Value, json};
use server::servers::Offer;

use super::definition_text;
use super::definitions::find;
use super::list::{self, ServerRow, protocol};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::{OutputFormat, Tone, harmless, one_line};

/// Most characters of a tool's description.
const MOST: usize = 80;

pub(super) async fn run(context: &Context, name: &str, format: OutputFormat) -> anyhow::Result<Exit> {
    let known = list::load_table(context).await?;
    let Some(row) = known.rows.iter().find(|row| row.name == name) else {
        // The error lists the known names.
        find(context, name)?;
        return Ok(Exit::Done);
    };
    let offer = known.offers.iter().find(|offer| offer.name == name);
    let tools = offer.and_then(|offer| offer.tools.as_deref()).unwrap_or_default();
    let start = find(context, name).ok().and_then(|defined| defined.server);
    let start = start.map(|server| definition_text::start(&server, definition_text::Literals::Masked));
    let output = &context.output;
    if format == OutputFormat::Json {
        let mut object = row.json();
        object["starts"] = json!(start.as_deref().map(str::trim));
        object["tool_names"] = tools.iter().map(|tool| tool["name"].clone()).collect();
        output.json(&object)?;
        return Ok(Exit::Done);
    }
    let mut out = format!("{}\n", output.paint(Tone::Title, &one_line(name)));
    if let Some(start) = start {
        out.push_str(&harmless(&start));
    }
    for (title, value) in facts(row, offer) {
        out.push_str(&format!("  {title:10}  {}\n", one_line(&value)));
    }
    for tool in tools {
        out.push_str(&tool_line(tool));
    }
    if let Some(error) = &row.last_error {
        out.push_str(&harmless(&format!("  {:10}  {error}\n", "last error")));
    }
    output.print(&out)?;
    Ok(Exit::Done)
}

fn facts(row: &ServerRow, offer: Option<&Offer>) -> Vec<(&'static str, String)> {
    let count = |number: usize| match row.tokens {
        Some(tokens) => format!("{number}, whose definitions take {tokens} tokens"),
        None => number.to_string(),
    };
    let unknown = || format!("not listed yet; run `codeyard servers test {}`", row.name);
    let warnings = offer.map(|offer| offer.warnings.as_slice()).unwrap_or_default();
    let mut facts = vec![("state", row.state_text())];
    facts.extend(row.file.clone().map(|file| ("file", file)));
    facts.extend(row.transport.clone().map(|transport| ("transport", transport)));
    facts.extend(row.era.map(|era| ("protocol", protocol(era).to_owned())));
    facts.push(("calls", row.calls.to_string()));
    facts.extend(warnings.iter().map(|warning| ("warning", warning.clone())));
    facts.push(("tools", row.tools.map_or_else(unknown, count)));
    facts
}

fn tool_line(tool: &Value) -> String {
    let text = |field: &str| tool[field].as_str().unwrap_or_default().to_owned();
    let description = text("description");
    let line = one_line(description.trim().lines().next().unwrap_or_default());
    let line = match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    };
    format!("    {}  {line}", one_line(&text("name")))
        .trim_end()
        .to_owned()
        + "\n"
}
